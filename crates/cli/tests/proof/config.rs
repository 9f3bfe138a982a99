//! `agents config set`, killed or failed at every system call: the file is the old one or the new
//! one, the lock is free, and the next set removes all leftovers.

use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::contended_config;
use testkit::folder::copy;
use testkit::strace::{self, BEGIN, Call};

use crate::bench::{self, Bench, proofs, prove};
use crate::{names, program};

/// One set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Workload {
    /// In a file with comments.
    Existing,
    /// The first set of a user, without a home folder.
    FirstOfUser,
    /// The first set in a project, which also creates its folder and `.gitignore`.
    FirstInProject,
}

impl Workload {
    fn scope(self) -> &'static str {
        if self == Self::FirstInProject { "project" } else { "global" }
    }

    /// Folder of the file, below that of the trial.
    fn folder(self) -> &'static str {
        if self == Self::FirstInProject { "@begin/.cleveragents" } else { "home" }
    }

    /// Names that may be in the folder without a writer.
    fn quiet(self) -> &'static [&'static str] {
        match self {
            Self::FirstInProject => &[".config.toml.lock", ".gitignore", "config.toml"],
            _ => &[".config.toml.lock", "config.toml"],
        }
    }

    fn set(self, trial: &Path, name: &str) -> Command {
        let project: &[&str] = match self {
            Self::FirstInProject => &["--project", "."],
            _ => &[],
        };
        let words = [&["config", "set", "--scope", self.scope(), name, "1"], project].concat();
        program(&trial.join("home"), &trial.join(BEGIN), &words)
    }
}

impl bench::Workload for Workload {
    type State = Option<String>;

    fn name(self) -> &'static str {
        match self {
            Self::Existing => "`agents config set`, existing file",
            Self::FirstOfUser => "`agents config set`, first of a user",
            Self::FirstInProject => "`agents config set`, first in a project",
        }
    }

    fn set_up(self, trial: &Path) {
        fs::create_dir_all(trial.join(BEGIN)).unwrap();
        if self == Self::Existing {
            fs::create_dir(trial.join("home")).unwrap();
            fs::write(trial.join("home/config.toml"), contended_config::text()).unwrap();
        }
    }

    fn command(self, trial: &Path) -> Command {
        self.set(trial, "x.w.w")
    }

    fn read(self, trial: &Path) -> Result<Option<String>, String> {
        Ok(fs::read_to_string(trial.join(self.folder()).join("config.toml")).ok())
    }

    fn check_next(self, trial: &Path) -> Result<(), String> {
        let before = self.read(trial)?;
        let next = self.set(trial, "x.w.w-next").output().unwrap();
        if !next.status.success() {
            return Err(format!("the next set failed: {next:?}"));
        }
        let after = self.read(trial)?.unwrap_or_default();
        let kept = before.unwrap_or_default().lines().all(|line| after.lines().any(|other| other == line));
        let left = names(&trial.join(self.folder()));
        match kept && after.contains("w-next = 1") && left == self.quiet() {
            true => Ok(()),
            false => Err(format!("the next set left {left:?} and {after:?}")),
        }
    }
}

proofs!(existing Existing, first_of_user FirstOfUser, first_in_project FirstInProject);

#[test]
fn a_set_syncs_the_new_file_and_its_folder_and_nothing_else() {
    let Some(bench) = Bench::new(Workload::Existing) else { return };
    let syncs = bench.calls.iter().filter(|call| call.name.contains("sync"));
    let steps: Vec<_> = syncs.map(Call::step).collect();
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert!(steps[0].contains("config.toml") && steps[1].ends_with("home"), "{steps:?}");
}

/// A killed set may have created the folder without syncing its name. A kill cannot show that, only
/// a later power cut.
#[test]
fn a_folder_that_a_killed_set_made_is_made_durable_by_the_next() {
    for (workload, around) in [(Workload::FirstOfUser, "trial"), (Workload::FirstInProject, "trial/@begin")] {
        let Some(mut bench) = Bench::new(workload) else { return };
        copy(&bench.start, &bench.trial);
        fs::create_dir(bench.trial.join(workload.folder())).unwrap();
        bench.calls = strace::calls(&workload.set(&bench.trial, "x.w.w"), &bench.start.with_file_name("log"));
        let around = format!("<{}>", bench.trial.with_file_name(around).display());
        let syncs = bench.calls.iter().filter(|call| call.name == "fsync");
        let synced: Vec<_> = syncs.map(|call| call.arguments.as_str()).collect();
        assert!(synced.first().is_some_and(|first| first.contains(&around)), "{synced:?}");
    }
}
