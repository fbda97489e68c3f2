//! The helper on Linux: namespaces, Landlock, seccomp, limits, and a watch over all of it.

mod confine;
mod filter;
mod limits;
mod namespaces;
mod view;
mod watch;
mod wrapped;

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread;

use quorum_model::gate::Isolation;
use rustix::process::{Pid, Signal};

use super::{End, HELPER, Message, Spec, tell};
pub use watch::Family;

/// What stands for "in namespaces" among the arguments of the second stage.
const APART: &str = "apart";

/// What stands for "in namespaces that bubblewrap made".
const WRAPPED: &str = "wrapped";

/// The first stage, in bubblewrap's namespaces.
pub(super) fn wrap(spec: &Spec, text: &str) -> u8 {
    _ = rustix::process::setsid();
    die_with_parent();
    step(-AHEAD);
    let started = wrapped::program().map(|program| wrapped::run(program, spec, text));
    match started {
        Some(Ok(code)) => code,
        Some(Err(error)) => {
            tell(&Message::Broken(format!("bubblewrap: {error}")));
            2
        }
        None => {
            tell(&Message::Broken("bubblewrap is not there any more".to_owned()));
            2
        }
    }
}

/// The first stage: enters the namespaces, and starts the second, which is the first process there.
pub(super) fn enter(spec: &Spec, text: &str) -> u8 {
    // Without a terminal it has none to write to or to read from.
    _ = rustix::process::setsid();
    die_with_parent();
    step(-AHEAD);
    let apart = namespaces::enter(spec.network).is_ok();
    match start_init(text, apart) {
        Ok(code) => code,
        Err(error) => {
            tell(&Message::Broken(format!("the helper's second stage: {error}")));
            2
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts the second stage")]
fn start_init(text: &str, apart: bool) -> io::Result<u8> {
    let mut command = Command::new("/proc/self/exe");
    command.args([HELPER, "init", text]);
    if apart {
        command.arg(APART);
    }
    let status = command.spawn()?.wait()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2))
}

/// The second stage: gives up what it can, runs the command, and ends with everything that it left.
pub(super) fn init(spec: &Spec, rest: &[String]) -> u8 {
    die_with_parent();
    let word = rest.first().map(String::as_str);
    let (wrapped, apart) = (word == Some(WRAPPED), matches!(word, Some(APART | WRAPPED)));
    let viewed = match view(spec, apart, wrapped) {
        Ok(viewed) => viewed,
        Err(error) => {
            tell(&Message::Ended(End::Lost(error.to_string())));
            return 0;
        }
    };
    if !viewed && wrapped::program().is_some() {
        tell(&Message::Wrap);
        return 0;
    }
    tell(&Message::Ended(run(spec, apart, viewed)));
    0
}

/// Whether the command will see a file system of its own.
fn view(spec: &Spec, apart: bool, wrapped: bool) -> io::Result<bool> {
    if wrapped || !apart {
        return Ok(wrapped);
    }
    namespaces::raise_loopback();
    match view::build(spec) {
        Ok(()) => Ok(true),
        Err(error) if view::is_refused(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives up every right that the command must not have. What cannot be given up is said, not hidden;
/// and whether anything keeps the command from the user's files.
fn confined(spec: &Spec, apart: bool, viewed: bool) -> io::Result<(Isolation, bool)> {
    let mut isolation = Isolation::default();
    let mut note = |held: bool, holds: &str, missing: &str| {
        if held {
            isolation.holds.push(holds.to_owned());
        } else {
            isolation.missing.push(missing.to_owned());
        }
    };
    note(
        apart,
        "nothing that a check starts outlives it (a PID namespace of its own)",
        "no PID namespace can be had here: what a check starts is found and ended by its parentage, \
         and its number is watched and not limited",
    );
    note(
        viewed,
        "a check sees the system's programs, the toolchains and its scratch copy, and no other file \
         or socket (a mount namespace of its own)",
        "no mount namespace can be had here: Unix sockets of this machine can be reached",
    );
    limits::set(spec, apart)?;
    let landlock = confine::files(spec, viewed, apart)?;
    note(
        landlock.files,
        "nothing outside the scratch copy can be written, and only named folders can be read \
         (Landlock)",
        "the kernel has no Landlock: files outside the scratch copy are protected by the mount \
         namespace alone, where there is one",
    );
    let kept = viewed || landlock.files;
    if !kept {
        isolation.missing.push(
            "nothing keeps a check from reading and writing the files of this user, or from seeing \
             its processes"
                .to_owned(),
        );
    }
    confine::privileges()?;
    let filtered = filter::apply(apart, spec.network);
    network(&mut isolation, spec.network, apart, filtered.is_ok(), landlock.network);
    if filtered.is_err() {
        isolation.missing.push("seccomp cannot be used here".to_owned());
    }
    Ok((isolation, kept))
}

#[expect(clippy::fn_params_excessive_bools, reason = "four facts, each named where it is known")]
fn network(isolation: &mut Isolation, allowed: bool, apart: bool, filtered: bool, landlock: bool) {
    let text = if allowed {
        isolation.missing.push("the network can be reached: gates.network is set".to_owned());
        return;
    } else if apart {
        "no network but a loopback of its own (a network namespace)"
    } else if filtered {
        "no network (seccomp)"
    } else if landlock {
        isolation.missing.push("only TCP is cut off: UDP can be sent".to_owned());
        return;
    } else {
        isolation.missing.push("nothing keeps a check from the network".to_owned());
        return;
    };
    isolation.holds.push(text.to_owned());
}

fn run(spec: &Spec, apart: bool, viewed: bool) -> End {
    if !apart {
        // What a check leaves behind becomes ours, and can be found.
        _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
    // Its own memory holds nothing secret; still no check has to look into it, or at its messages.
    let hidden = rustix::process::DumpableBehavior::NotDumpable;
    _ = rustix::process::set_dumpable_behavior(hidden);
    let watch = watch::Watch::new(spec, apart);
    match start_behind(spec, apart, viewed) {
        Ok(Some(id)) => watch.over(id),
        Ok(None) => End::Refused,
        Err(error) => End::Lost(format!("{}: {error}", spec.working_dir.display())),
    }
}

/// How far the watch stands before what it watches, in steps of niceness. Among thousands of
/// processes that all want to run, a watch without an advance waits many seconds for its turn.
const AHEAD: i32 = 20;
/// How far the command steps back where the watch may not step forward, which only root may.
const BEHIND: i32 = 5;

/// Changes the niceness of this thread and what it starts.
fn step(by: i32) {
    let now = rustix::process::getpriority_process(None).unwrap_or_default();
    // Stepping forward may be refused; stepping back is not.
    _ = rustix::process::setpriority_process(None, now + by);
}

/// Starts the command from a thread of its own: niceness and rights are a thread's, and go to its
/// children, while the watch goes on seeing the processes that it watches. Absent where nothing would
/// keep the command from the user's files and the user did not accept that.
fn start_behind(spec: &Spec, apart: bool, viewed: bool) -> io::Result<Option<Pid>> {
    thread::scope(|scope| {
        let starter = scope.spawn(|| {
            let (isolation, kept) = confined(spec, apart, viewed)?;
            tell(&Message::Isolation(isolation));
            if !kept && !spec.unsandboxed {
                return Ok(None);
            }
            let ahead = rustix::process::getpriority_process(None).is_ok_and(|nice| nice < 0);
            step(if ahead { AHEAD } else { BEHIND });
            start_command(spec).map(Some)
        });
        starter.join().unwrap_or_else(|_| Err(io::Error::other("the starting thread is gone")))
    })
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts a check's command")]
fn start_command(spec: &Spec) -> io::Result<Pid> {
    let output: OwnedFd = io::stdout().as_fd().try_clone_to_owned()?;
    let child = Command::new("/bin/sh")
        .args(["-c", &spec.command])
        .current_dir(&spec.working_dir)
        // A group of its own can be ended in one stroke.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::from(output.try_clone()?))
        .stderr(Stdio::from(output))
        .spawn()?;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    id.ok_or_else(|| io::Error::other("a process without a number"))
}

fn die_with_parent() {
    _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
}
