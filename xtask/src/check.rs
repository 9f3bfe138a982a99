//! `cargo xtask check`: quick checks during a change.

use std::collections::BTreeSet;
use std::process::Command;

use crate::error::{Error, Result};
use crate::run::{Run, output_of, root};
use crate::test::{clippy, format_check, tests_alone};

pub(crate) const HELP: &str = "\
Check format, run clippy on the workspace, and the tests of changed crates and of the repository's rules.

Usage: cargo xtask check [CRATE...]

  CRATE   Test this crate, a folder of `crates` such as `plan` [default: crates with changes since the branch left main]

Under cargo-nextest the long explorations (kills, crashes, power cuts, races) are left to `cargo xtask test`: the profile `check` in
.config/nextest.toml lists them. Crates that depend on a changed one are compiled and linted; name them to run their tests.
";

pub(crate) fn check(names: &[&str]) -> Result<()> {
    let all = crates()?;
    if let Some(unknown) = names.iter().find(|name| !all.contains(**name)) {
        let known: Vec<&str> = all.iter().map(String::as_str).collect();
        return Err(Error::Usage(format!("unknown crate `{unknown}`; choose one of {}", known.join(", "))));
    }
    let chosen = match names {
        [] => changed(&all, &changed_files()?),
        names => names.iter().map(|name| (*name).to_owned()).collect(),
    };
    let mut run = Run::start()?;
    run.step("format", format_check())?;
    run.step("clippy", clippy())?;
    let packages: Vec<String> = chosen.iter().map(|name| package(name)).collect();
    let packages: Vec<&str> = packages.iter().map(String::as_str).chain(["xtask"]).collect();
    run.set_variable("NEXTEST_PROFILE", "check");
    run.step("tests", tests_alone(&packages))?;
    run.finish()
}

/// The package in a folder of `crates`.
fn package(folder: &str) -> String {
    match folder {
        "api" => "cleveragents".to_owned(),
        _ => format!("cleveragents-{folder}"),
    }
}

/// Lists the folders of `crates`.
fn crates() -> Result<BTreeSet<String>> {
    let folder = root().join("crates");
    let entries = std::fs::read_dir(&folder).map_err(Error::io(format!("list {}", folder.display())))?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// Lists new files, and those that differ from the merge base with `main`, or from the last commit without a `main`.
fn changed_files() -> Result<String> {
    let base = output_of(git("merge-base HEAD main")).unwrap_or_else(|_| "HEAD".to_owned());
    let changed = output_of(git(&format!("diff --name-only {}", base.trim())))?;
    Ok(changed + &output_of(git("ls-files --others --exclude-standard"))?)
}

fn git(words: &str) -> Command {
    let mut command = Command::new("git");
    command.args(words.split(' '));
    command
}

/// Selects the crates of these files.
fn changed(all: &BTreeSet<String>, files: &str) -> BTreeSet<String> {
    let names = files.lines().filter_map(|file| file.strip_prefix("crates/")?.split('/').next());
    names.filter(|name| all.contains(*name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_changes_its_crate() {
        let all = ["plan", "store"].map(str::to_owned).into();
        let files = "README.md\ncrates/plan/src/lib.rs\ncrates/plan/Cargo.toml\ncrates/gone/src/lib.rs\n";
        assert_eq!(changed(&all, files), ["plan".to_owned()].into());
        assert_eq!(changed(&all, ""), BTreeSet::new());
    }
}
