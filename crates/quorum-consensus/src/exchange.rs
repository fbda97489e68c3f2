//! What agents are told about each other's findings.

use quorum_model::outcome::Message;

use crate::decide::{Deliberation, Input};
use crate::error::ConsensusError;
use crate::verdict::title;

/// The longest title that is passed on, in characters.
const TITLE: usize = 120;

/// What `reader` is told under a protocol with an exchange or a ballot: its own findings, and those
/// of its peers that are at places that it was shown. Nothing under other protocols.
pub fn messages(input: &Input<'_>, reader: &str) -> Result<Vec<Message>, ConsensusError> {
    let asked = input.policy.protocol.requirements();
    let deliberation = Deliberation::open(input)?;
    let seat = deliberation.seats.iter().position(|seat| seat.name() == reader);
    let Some(seat) = seat.filter(|_| asked.exchange || asked.ballot) else {
        return Ok(Vec::new());
    };
    let mut messages = Vec::new();
    for cluster in &deliberation.clusters {
        let leader = cluster.leader();
        let own = cluster.members.iter().find(|member| member.seat == seat);
        let shown = deliberation.covers.saw(seat, leader.file, leader.lines());
        let (speaker, fingerprint) = match own {
            // A ballot asks about others' findings alone.
            Some(_) if asked.ballot => continue,
            Some(own) => (own, &own.fingerprint),
            None if shown => (leader, &cluster.fingerprint),
            None => continue,
        };
        messages.push(Message {
            fingerprint: fingerprint.clone(),
            severity: speaker.severity,
            file: speaker.file.to_owned(),
            line: speaker.line,
            title: title(&speaker.source.issue).chars().take(TITLE).collect(),
            own: own.is_some(),
        });
    }
    messages
        .sort_by(|a, b| (&a.file, a.line, &a.fingerprint).cmp(&(&b.file, b.line, &b.fingerprint)));
    Ok(messages)
}
