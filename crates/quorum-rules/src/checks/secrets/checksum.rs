//! Checksums that providers put into their tokens, so that scanners need not guess.

use serde::Deserialize;

/// How a token carries its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Checksum {
    /// After the prefix: 30 characters, then their CRC-32 in six digits of base 62, as GitHub and
    /// npm have it.
    Base62Crc32,
}

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SUM: usize = 6;

impl Checksum {
    /// Whether the checksum of what follows the prefix holds.
    pub(super) fn holds(self, rest: &[u8]) -> bool {
        match self {
            Self::Base62Crc32 => rest
                .split_last_chunk::<SUM>()
                .is_some_and(|(body, sum)| *sum == base62(crc32fast::hash(body))),
        }
    }

    /// The checksum for `body`.
    #[cfg(test)]
    pub(super) fn of(self, body: &[u8]) -> String {
        match self {
            Self::Base62Crc32 => {
                String::from_utf8_lossy(&base62(crc32fast::hash(body))).into_owned()
            }
        }
    }
}

fn base62(mut number: u32) -> [u8; SUM] {
    let mut digits = [b'0'; SUM];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(number % 62) as usize];
        number /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_holds_for_its_own_body_alone() {
        let body = "aB3".repeat(10);
        let sum = Checksum::Base62Crc32.of(body.as_bytes());
        assert!(Checksum::Base62Crc32.holds(format!("{body}{sum}").as_bytes()));
        assert!(!Checksum::Base62Crc32.holds(format!("{}X{sum}", &body[1..]).as_bytes()));
        assert!(!Checksum::Base62Crc32.holds(b"short"));
    }

    #[test]
    fn base_62_counts_like_any_base() {
        assert_eq!(&base62(0), b"000000");
        assert_eq!(&base62(61), b"00000z");
        assert_eq!(&base62(62), b"000010");
        assert_eq!(&base62(u32::MAX), b"4gfFC3");
    }
}
