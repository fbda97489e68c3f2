//! What can go wrong between here and a code host.

use std::fmt;

use quorum_model::config::ForgeKind;
use thiserror::Error;

/// Why a code host gave no answer. Each message is one line that names the cause;
/// [`ForgeError::hint`] names the way out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ForgeError {
    /// Nothing says which interface to speak.
    #[error("{}", unknown_host(host.as_deref()))]
    UnknownHost {
        /// The remote's host, where there is a remote.
        host: Option<String>,
    },
    /// Nothing says which repository it is about.
    #[error("neither a setting nor a remote names the repository on {}", name(*kind))]
    NoRepository {
        /// The host's interface.
        kind: ForgeKind,
    },
    /// A repository's name that no host of that kind could have.
    #[error("`{}` is not the name of a repository on {}", name.escape_debug(), self::name(*kind))]
    InvalidRepository {
        /// The name.
        name: String,
        /// The host's interface.
        kind: ForgeKind,
    },
    /// An address that cannot be used, or that it would be unsafe to use.
    #[error("the address in {setting} {problem}")]
    InvalidAddress {
        /// The setting or variable that it comes from. The address itself may hold a password.
        setting: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A token with characters that no token has.
    #[error("the token in {variable} holds characters that cannot be sent")]
    InvalidToken {
        /// The variable that it comes from.
        variable: &'static str,
    },
    /// The machine has no usable network client.
    #[error("cannot set up a network client: {reason}")]
    Client {
        /// What failed.
        reason: String,
    },
    /// 401: the token is missing or wrong.
    #[error("{}", unauthorized(peer))]
    Unauthorized {
        /// Who was asked.
        peer: Peer,
    },
    /// The host answers no more requests for a while.
    #[error("{peer} allows no more requests {reset}")]
    RateLimited {
        /// Who was asked.
        peer: Peer,
        /// When it answers again.
        reset: Reset,
    },
    /// 403: the token may not do this.
    #[error("{peer} forbids reading {subject}{}", because(reason))]
    Forbidden {
        /// Who was asked.
        peer: Peer,
        /// What was asked for.
        subject: String,
        /// What the host says, empty where it says nothing.
        reason: String,
    },
    /// 404: it is not there, or it is hidden.
    #[error("{peer} shows no {subject}")]
    NotFound {
        /// Who was asked.
        peer: Peer,
        /// What was asked for.
        subject: String,
    },
    /// 5xx, after all attempts.
    #[error("{peer} failed with status {status}, {attempts} times in a row")]
    Server {
        /// Who was asked.
        peer: Peer,
        /// The last status.
        status: u16,
        /// How often it was asked.
        attempts: u32,
    },
    /// Any other refusal.
    #[error("{peer} answered {subject} with status {status}{}", because(reason))]
    Rejected {
        /// Who was asked.
        peer: Peer,
        /// What was asked for.
        subject: String,
        /// The status.
        status: u16,
        /// What the host says, empty where it says nothing.
        reason: String,
    },
    /// A redirect that is not followed.
    #[error("{peer} redirects to {to}, which is not followed")]
    Redirected {
        /// Who was asked.
        peer: Peer,
        /// The host that it names.
        to: String,
    },
    /// No connection: no such host, refused, or no trusted certificate.
    #[error("cannot connect to {peer}: {reason}")]
    Unreachable {
        /// Who was asked.
        peer: Peer,
        /// What failed.
        reason: String,
    },
    /// No complete answer in time.
    #[error("{peer} gave no complete answer within {} s", limit.as_secs_f32())]
    TimedOut {
        /// Who was asked.
        peer: Peer,
        /// How long it had.
        limit: std::time::Duration,
    },
    /// The connection broke in the middle.
    #[error("the connection to {peer} broke: {reason}")]
    Interrupted {
        /// Who was asked.
        peer: Peer,
        /// What failed.
        reason: String,
    },
    /// More text than is taken in.
    #[error("{peer} sent more than {limit} bytes for {subject}")]
    TooLarge {
        /// Who was asked.
        peer: Peer,
        /// What was asked for.
        subject: String,
        /// The most that is taken.
        limit: usize,
    },
    /// An answer that is not what the interface promises.
    #[error("{peer} answered {subject} with something else: {reason}")]
    Malformed {
        /// Who was asked.
        peer: Peer,
        /// What was asked for.
        subject: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The host has not worked out the diff yet.
    #[error("{peer} is still preparing {subject}")]
    NotReady {
        /// Who was asked.
        peer: Peer,
        /// What was asked for.
        subject: String,
    },
    /// The host does not list all files, and does not name the others.
    #[error("{peer} lists only {listed} of the files in {subject}")]
    Truncated {
        /// Who was asked.
        peer: Peer,
        /// What was asked for.
        subject: String,
        /// The number of files that it lists.
        listed: usize,
    },
}

/// Who was asked, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The host, with its port where that is not the usual one.
    pub host: String,
    /// The interface that it was taken to speak.
    pub kind: ForgeKind,
    /// Whether a token went with the request.
    pub access: Access,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)
    }
}

/// Whether a token goes with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// There is none.
    Anonymous,
    /// The one in this variable.
    Token(&'static str),
    /// There is one in this variable, but nothing vouches for the host.
    Withheld(&'static str),
}

/// When a host answers again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// At this time, in seconds since 1970.
    At(u64),
    /// After so many seconds.
    After(u64),
    /// It does not say.
    Unknown,
}

impl fmt::Display for Reset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            // Hosts count by the hour or the minute, so the time of day says enough.
            Self::At(seconds) => {
                let minutes = seconds % 86_400 / 60;
                write!(f, "until {:02}:{:02} UTC", minutes / 60, minutes % 60)
            }
            Self::After(seconds) => write!(f, "for {seconds} s"),
            Self::Unknown => f.write_str("for now"),
        }
    }
}

/// How people call an interface.
pub(crate) fn name(kind: ForgeKind) -> &'static str {
    match kind {
        ForgeKind::GitHub => "GitHub",
        ForgeKind::GitLab => "GitLab",
    }
}

fn unknown_host(host: Option<&str>) -> String {
    match host {
        Some(host) => format!("cannot tell whether `{host}` is GitHub or GitLab"),
        None => "neither a setting nor a remote names the code host".to_owned(),
    }
}

fn unauthorized(peer: &Peer) -> String {
    match peer.access {
        Access::Token(variable) => format!("{peer} does not accept the token in {variable}"),
        Access::Withheld(variable) => {
            format!("{peer} asks for a token, and the one in {variable} was not sent there")
        }
        Access::Anonymous => format!("{peer} asks for a token, and there is none"),
    }
}

fn because(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}
