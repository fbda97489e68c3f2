//! What people tell Quorum in comments on a pull request.

/// A person's word on a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `/quorum dismiss SEC-003 the key is a test key`.
    Dismiss {
        /// The finding.
        id: String,
        /// Why.
        reason: String,
    },
    /// `/quorum dismiss --undo SEC-003`.
    Undo {
        /// The finding.
        id: String,
    },
}

/// How a dismissal is written, for messages.
pub const DISMISS: &str = "/quorum dismiss ID reason";

/// The commands in a comment: lines that begin with `/quorum`, outside of quotes and fences. What
/// cannot be read says why.
pub fn commands(text: &str) -> Vec<Result<Command, String>> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced
            && let Some(rest) = line.strip_prefix("/quorum")
            && rest.chars().next().is_none_or(char::is_whitespace)
        {
            found.push(parse(rest.trim()));
        }
    }
    found
}

fn parse(text: &str) -> Result<Command, String> {
    let usage = || format!("`/quorum {text}` is not understood; write `{DISMISS}`");
    let rest = text.strip_prefix("dismiss").ok_or_else(usage)?;
    let mut words = rest.split_whitespace();
    let first = words.next().ok_or_else(usage)?;
    if first == "--undo" {
        let id = words.next().ok_or_else(usage)?;
        return Ok(Command::Undo { id: id.to_owned() });
    }
    let reason = words.collect::<Vec<_>>().join(" ");
    if reason.is_empty() {
        return Err(format!("`/quorum {text}` gives no reason; write `{DISMISS}`"));
    }
    Ok(Command::Dismiss { id: first.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_at_the_beginning_of_a_line() {
        let text = "Thanks.\n/quorum dismiss SEC-003 a  test key\n> /quorum dismiss SEC-1 no\n\
                    see /quorum dismiss SEC-2 no\n```\n/quorum dismiss SEC-4 no\n```\n\
                    /quorum dismiss --undo SEC-005\n/quorums dismiss SEC-6 no\r\n";
        let read: Vec<Command> = commands(text).into_iter().map(Result::unwrap).collect();
        let dismissed =
            Command::Dismiss { id: "SEC-003".to_owned(), reason: "a test key".to_owned() };
        assert_eq!(read, [dismissed, Command::Undo { id: "SEC-005".to_owned() }]);
    }

    #[test]
    fn what_is_not_understood_says_how_to_write_it() {
        for text in ["/quorum", "/quorum dismiss", "/quorum dismiss SEC-001", "/quorum approve"] {
            let error = commands(text).remove(0).unwrap_err();
            assert!(error.contains(DISMISS), "{error}");
        }
    }
}
