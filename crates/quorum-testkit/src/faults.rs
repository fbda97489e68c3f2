//! Faults at random, the same ones for the same seed.

use std::time::Duration;

use crate::answer::Turn;
use crate::server::Reply;

/// Spoils a share of the answers.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// Which answers, and how.
    pub seed: u64,
    /// How many of a hundred.
    pub percent: u64,
}

impl Faults {
    /// The answer to request `number`, or a fault in its place.
    pub fn spoil(&self, number: usize, turn: Turn) -> Reply {
        let dice = mixed(self.seed, number as u64);
        if dice % 100 >= self.percent {
            return Reply::Say(turn);
        }
        match (dice / 100) % 8 {
            0 => Reply::Refuse(500, None),
            1 => Reply::Refuse(503, None),
            2 => Reply::Refuse(429, Some(0)),
            3 => Reply::Break(turn),
            4 => Reply::Garbage("<html>bad gateway</html>".to_owned()),
            5 => Reply::Flood(11 * 1024 * 1024),
            6 => Reply::Say(Turn::text("I looked at it and it is fine.")),
            _ => Reply::Drip(Duration::from_millis(20)),
        }
    }
}

/// Numbers that look random (splitmix64).
fn mixed(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
