//! Confinement: an actor writes in its sandbox and in folders that are listed, and nowhere else, so that its changes are complete.
//!
//! By Landlock, which the kernel enforces on a process and all that it starts. Reading is not restricted. Nor does Landlock see
//! everything: it does not stop changes of mode, owner, times or attributes of files outside, nor talking to other processes.
//!
//! The rules hold for a thread. So a thread is started for each actor; it takes the rules on, starts the actor, which inherits them,
//! and ends. Nothing has to be done between fork and exec, where little is safe.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus,
};

use super::Confine;
use crate::{Error, Result};

/// What the kernel enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforced {
    /// All of it.
    Fully,
    /// Some: an older kernel that does not see truncation, or moves between folders.
    Partly,
    /// Nothing.
    Not,
}

/// The version of Landlock that sees all writing of content: since Linux 6.2.
const WANTED: ABI = ABI::V3;

/// What programs write to that holds nothing. A missing one is passed over.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts"];

/// What the kernel would enforce, found out on a thread of its own.
pub fn enforceable(confine: Confine) -> Result<Enforced> {
    if confine == Confine::Off {
        return Ok(Enforced::Not);
    }
    let rules = rules(&[])?;
    let enforced = std::thread::scope(|scope| {
        scope.spawn(|| enforce(rules)).join().expect("asking the kernel does not panic")
    });
    let enforced = enforced.map_err(|source| Error::Confine { source: Box::new(source) })?;
    if confine == Confine::Require && enforced != Enforced::Fully {
        return Err(Error::NotConfined { enforced });
    }
    Ok(enforced)
}

impl Enforced {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fully => "fully",
            Self::Partly => "partly",
            Self::Not => "not",
        }
    }
}

/// Starts a command that may write below these folders only; each must be there.
pub fn spawn_confined(
    command: &mut Command,
    confine: Confine,
    writable: &[PathBuf],
) -> Result<(Child, Enforced)> {
    if confine == Confine::Off {
        return Ok((spawn(command)?, Enforced::Not));
    }
    let rules = rules(writable)?;
    std::thread::scope(|scope| {
        let started = scope.spawn(|| {
            let enforced = enforce(rules).map_err(|source| Error::Confine { source: Box::new(source) })?;
            if confine == Confine::Require && enforced != Enforced::Fully {
                return Err(Error::NotConfined { enforced });
            }
            Ok((spawn(command)?, enforced))
        });
        started.join().expect("starting a process does not panic")
    })
}

fn spawn(command: &mut Command) -> Result<Child> {
    command.spawn().map_err(|source| Error::Start { program: command.get_program().to_owned(), source })
}

/// What may be written, opened here: the rules are about these folders, whatever their names lead to later.
fn rules(writable: &[PathBuf]) -> Result<Vec<PathBeneath<PathFd>>> {
    let folders = writable.iter().map(|path| {
        let source = |error| Error::NotWritable { path: path.clone(), source: io::Error::other(error) };
        Ok(PathBeneath::new(PathFd::new(path).map_err(source)?, access(path)))
    });
    let devices = DEVICES
        .iter()
        .filter_map(|path| Some(Ok(PathBeneath::new(PathFd::new(path).ok()?, access(Path::new(path))))));
    folders.chain(devices).collect()
}

fn access(path: &Path) -> landlock::BitFlags<AccessFs> {
    let all = AccessFs::from_write(WANTED);
    if path.is_dir() { all } else { all & AccessFs::from_file(WANTED) }
}

fn enforce(rules: Vec<PathBeneath<PathFd>>) -> std::result::Result<Enforced, RulesetError> {
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(WANTED))?
        .create()?
        .add_rules(rules.into_iter().map(Ok::<_, RulesetError>))?
        .restrict_self()?;
    Ok(enforced(status.ruleset))
}

fn enforced(status: RulesetStatus) -> Enforced {
    match status {
        RulesetStatus::FullyEnforced => Enforced::Fully,
        RulesetStatus::PartiallyEnforced => Enforced::Partly,
        _ => Enforced::Not,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_what_is_told_of_older_kernels() {
        assert_eq!(Confine::ALL.map(Confine::name), ["auto", "require", "off"]);
        assert_eq!(enforced(RulesetStatus::PartiallyEnforced), Enforced::Partly);
        assert_eq!(enforced(RulesetStatus::NotEnforced), Enforced::Not);
        let error = Error::NotConfined { enforced: Enforced::Partly };
        assert_eq!(
            error.to_string(),
            "the kernel cannot confine actors fully, as `sandbox.confine = require` asks"
        );
    }
}
