//! Skips and figures that tests report.
//!
//! A test appends one line to the file in a variable: `SKIPPED: <name>: <reason>` to `AGENTS_SKIPS`, `FIGURE: <name> = <value>` to
//! `AGENTS_FIGURES`. Lines are short and written with one append, so that concurrent tests do not mix them. Without the variables
//! tests print.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};

/// The file of skips that continuous integration accepts: a name, then the reason, on each line.
pub(crate) const ALLOWED_SKIPS: &str = "tests/allowed-skips.txt";

/// The two files of one run.
pub(crate) struct Notes {
    skips: PathBuf,
    figures: PathBuf,
}

/// A check that this machine cannot run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Skip {
    pub(crate) name: String,
    pub(crate) reason: String,
}

impl Notes {
    /// Empties both files in `folder`.
    pub(crate) fn clear(folder: &Path) -> Result<Notes> {
        fs::create_dir_all(folder).map_err(Error::io(format!("create {}", folder.display())))?;
        let notes = Notes { skips: folder.join("skips.txt"), figures: folder.join("figures.txt") };
        for file in [&notes.skips, &notes.figures] {
            fs::write(file, "").map_err(Error::io(format!("clear {}", file.display())))?;
        }
        Ok(notes)
    }

    /// Sets the variables of a command.
    pub(crate) fn set_variables(&self, command: &mut Command) {
        command.env("AGENTS_SKIPS", &self.skips).env("AGENTS_FIGURES", &self.figures);
    }

    pub(crate) fn add_skip(&self, name: &str, reason: &str) -> Result<()> {
        append(&self.skips, &format!("SKIPPED: {name}: {reason}\n"))
    }

    pub(crate) fn add_figure(&self, name: &str, value: &str) -> Result<()> {
        append(&self.figures, &format!("FIGURE: {name} = {value}\n"))
    }

    pub(crate) fn skips(&self) -> Result<Vec<Skip>> {
        Ok(parse_skips(&read(&self.skips)?))
    }

    pub(crate) fn figures(&self) -> Result<BTreeMap<String, String>> {
        Ok(parse_figures(&read(&self.figures)?))
    }

    /// Fails on a skip that is not listed.
    pub(crate) fn check_skips(&self, skips: &[Skip], root: &Path) -> Result<()> {
        let names = not_allowed(skips, &parse_allowed(&read(&root.join(ALLOWED_SKIPS))?)?);
        if names.is_empty() { Ok(()) } else { Err(Error::Skips { names }) }
    }
}

/// Parses skips, sorted and without duplicates.
fn parse_skips(text: &str) -> Vec<Skip> {
    let mut skips: Vec<Skip> = text
        .lines()
        .filter_map(|line| line.strip_prefix("SKIPPED: "))
        .map(|line| line.split_once(": ").unwrap_or((line, "no reason given")))
        .map(|(name, reason)| Skip { name: name.to_owned(), reason: reason.to_owned() })
        .collect();
    skips.sort();
    skips.dedup();
    skips
}

/// Parses figures; the last of a name wins.
fn parse_figures(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("FIGURE: ")?.split_once(" = "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Parses the names of allowed skips. `#` starts a comment line.
fn parse_allowed(text: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        match line.split_once(char::is_whitespace) {
            Some((name, reason)) if !reason.trim().is_empty() => names.push(name.to_owned()),
            _ => return Err(Error::AllowedSkip { file: ALLOWED_SKIPS, line: index + 1 }),
        }
    }
    Ok(names)
}

fn not_allowed(skips: &[Skip], allowed: &[String]) -> Vec<String> {
    skips.iter().map(|skip| &skip.name).filter(|name| !allowed.contains(name)).cloned().collect()
}

fn append(file: &Path, line: &str) -> Result<()> {
    OpenOptions::new()
        .append(true)
        .open(file)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .map_err(Error::io(format!("append to {}", file.display())))
}

/// Reads a file; a missing file is empty.
fn read(file: &Path) -> Result<String> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        other => other.map_err(Error::io(format!("read {}", file.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(name: &str, reason: &str) -> Skip {
        Skip { name: name.to_owned(), reason: reason.to_owned() }
    }

    #[test]
    fn skips_are_sorted_and_counted_once() {
        let text = "SKIPPED: power::xfs: no loop device\nnoise\nSKIPPED: kill::all: no strace: install it\n\
                    SKIPPED: power::xfs: no loop device\n";
        let expected = [skip("kill::all", "no strace: install it"), skip("power::xfs", "no loop device")];
        assert_eq!(parse_skips(text), expected);
    }

    #[test]
    fn the_last_figure_of_a_name_wins() {
        let figures =
            parse_figures("FIGURE: states = 10\nFIGURE: cuts = 3 (ext4 = 2)\nFIGURE: states = 12\n");
        assert_eq!(figures["states"], "12");
        assert_eq!(figures["cuts"], "3 (ext4 = 2)");
    }

    #[test]
    fn an_allowed_skip_is_listed_by_its_full_name() {
        let allowed = parse_allowed("# comment\n\npower::xfs  no loop devices in containers\n").unwrap();
        let skips = [skip("power::xfs", "x"), skip("power::xfs_twice", "x")];
        assert_eq!(not_allowed(&skips, &allowed), ["power::xfs_twice"]);
    }

    #[test]
    fn an_allowed_skip_needs_a_reason() {
        let error = parse_allowed("good  because\nbad\n").unwrap_err();
        assert!(matches!(error, Error::AllowedSkip { line: 2, .. }), "{error}");
    }

    #[test]
    fn notes_are_read_back() {
        let folder = std::env::temp_dir().join(format!("xtask-notes-{}", std::process::id()));
        let notes = Notes::clear(&folder).unwrap();
        notes.add_skip("deny", "not installed").unwrap();
        notes.add_figure("coverage", "98.1 %").unwrap();
        assert_eq!(notes.skips().unwrap(), [skip("deny", "not installed")]);
        assert_eq!(notes.figures().unwrap()["coverage"], "98.1 %");
        fs::remove_dir_all(folder).unwrap();
    }
}
