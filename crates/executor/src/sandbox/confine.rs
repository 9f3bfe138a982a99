//! Confinement: an actor writes files only in its sandbox and in listed folders.
//!
//! Landlock enforces it on a process and its descendants. It does not restrict reading. It does not
//! prevent changes of mode, owner, times or attributes of files elsewhere, nor talking to other
//! processes, which may write on behalf of the actor.
//!
//! The rules apply to a thread. So each actor has a thread that takes the rules, starts the actor, which
//! inherits them, and ends. Nothing runs between fork and exec, where little is safe.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus,
};

use nix::sys::signal::{SigSet, Signal};

use super::{Confine, Confinement};
use crate::{Error, Result};

/// The version of Landlock that sees all writes of content: since Linux 6.2.
const LANDLOCK_ABI: ABI = ABI::V3;

/// Devices without stored content that programs write to. Missing ones are skipped.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts"];

/// Probes the confinement that the kernel enforces, on a thread that ends.
pub fn probe_confinement(confine: Confine) -> Result<Confinement> {
    if confine == Confine::Off {
        return Ok(Confinement::None);
    }
    let rules = rules(&[])?;
    std::thread::scope(|scope| {
        scope.spawn(|| restrict_thread(rules, confine)).join().expect("asking the kernel does not panic")
    })
}

/// Starts a command that may write only below these existing folders.
pub fn spawn_confined(
    command: &mut Command,
    confine: Confine,
    allow_write: &[PathBuf],
) -> Result<(Child, Confinement)> {
    if confine == Confine::Off {
        return Ok((spawn(command)?, Confinement::None));
    }
    let rules = rules(allow_write)?;
    std::thread::scope(|scope| {
        let started = scope.spawn(|| {
            let confinement = restrict_thread(rules, confine)?;
            Ok((spawn(command)?, confinement))
        });
        started.join().expect("starting a process does not panic")
    })
}

fn spawn(command: &mut Command) -> Result<Child> {
    let spawned = with_quit_unblocked(|| command.spawn());
    spawned.map_err(|source| {
        let program = command.get_program().to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Error::CommandNotFound { program, source },
            _ => Error::Spawn { program, source },
        }
    })
}

/// Unblocks SIGQUIT during a call. A process inherits the blocked signals of the thread that starts it, and
/// this program may block SIGQUIT to wait for it.
fn with_quit_unblocked<T>(call: impl FnOnce() -> T) -> T {
    let blocked = SigSet::thread_get_mask().ok().filter(|mask| mask.contains(Signal::SIGQUIT));
    let quit = SigSet::from(Signal::SIGQUIT);
    // Fails only for arguments that are not signals.
    let _ = quit.thread_unblock();
    let result = call();
    let _ = blocked.map(|_| quit.thread_block());
    result
}

/// Opens the folders: the rules apply to these, wherever their names lead later.
fn rules(allow_write: &[PathBuf]) -> Result<Vec<PathBeneath<PathFd>>> {
    let folders = allow_write.iter().map(|path| {
        let source = |error| Error::AllowWrite { path: path.clone(), source: io::Error::other(error) };
        Ok(PathBeneath::new(PathFd::new(path).map_err(source)?, access(path)))
    });
    let devices = DEVICES
        .iter()
        .filter_map(|path| Some(Ok(PathBeneath::new(PathFd::new(path).ok()?, access(Path::new(path))))));
    folders.chain(devices).collect()
}

fn access(path: &Path) -> landlock::BitFlags<AccessFs> {
    let all = AccessFs::from_write(LANDLOCK_ABI);
    if path.is_dir() { all } else { all & AccessFs::from_file(LANDLOCK_ABI) }
}

/// Restricts the calling thread. Fails if full confinement is required and not possible.
fn restrict_thread(rules: Vec<PathBeneath<PathFd>>, confine: Confine) -> Result<Confinement> {
    let confinement = enforce(rules).map_err(|source| Error::Confine { source: Box::new(source) })?;
    if confine == Confine::Require && confinement != Confinement::Full {
        return Err(Error::NotConfined { confinement });
    }
    Ok(confinement)
}

fn enforce(rules: Vec<PathBeneath<PathFd>>) -> std::result::Result<Confinement, RulesetError> {
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(LANDLOCK_ABI))?
        .create()?
        .add_rules(rules.into_iter().map(Ok::<_, RulesetError>))?
        .restrict_self()?;
    Ok(confinement(status.ruleset))
}

fn confinement(status: RulesetStatus) -> Confinement {
    match status {
        RulesetStatus::FullyEnforced => Confinement::Full,
        RulesetStatus::PartiallyEnforced => Confinement::Partial,
        _ => Confinement::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_kernels_confine_partially() {
        assert_eq!(Confine::ALL.map(Confine::name), ["auto", "require", "off"]);
        assert_eq!(confinement(RulesetStatus::PartiallyEnforced), Confinement::Partial);
        assert_eq!(confinement(RulesetStatus::NotEnforced), Confinement::None);
        let error = Error::NotConfined { confinement: Confinement::Partial };
        assert_eq!(
            error.to_string(),
            "the kernel cannot fully confine actors, which `sandbox.confine = require` demands"
        );
    }
}
