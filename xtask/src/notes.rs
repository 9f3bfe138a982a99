//! What tests report beside pass and fail: what they skipped, and figures.
//!
//! A test appends one line to the file that a variable names: `SKIPPED: <name>: <reason>` to `AGENTS_SKIPS`,
//! `FIGURE: <name> = <value>` to `AGENTS_FIGURES`. Lines are short and written with one append, so that tests running at the same
//! time do not mix theirs. Without the variables tests just print.

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

/// Something that was not done on this machine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Skip {
    pub(crate) name: String,
    pub(crate) reason: String,
}

impl Notes {
    /// Empty files in `folder`.
    pub(crate) fn clear(folder: &Path) -> Result<Notes> {
        fs::create_dir_all(folder).map_err(Error::io(format!("make {}", folder.display())))?;
        let notes = Notes { skips: folder.join("skips.txt"), figures: folder.join("figures.txt") };
        for file in [&notes.skips, &notes.figures] {
            fs::write(file, "").map_err(Error::io(format!("clear {}", file.display())))?;
        }
        Ok(notes)
    }

    /// Tells a program where to report.
    pub(crate) fn announce(&self, command: &mut Command) {
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

    /// Fails on a skip that the list of allowed ones does not name.
    pub(crate) fn check_skips(&self, skips: &[Skip], root: &Path) -> Result<()> {
        let names = not_allowed(skips, &parse_allowed(&read(&root.join(ALLOWED_SKIPS))?)?);
        if names.is_empty() { Ok(()) } else { Err(Error::Skips { names }) }
    }
}

/// The skips of a report, sorted, each once.
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

/// The figures of a report; of two with one name the later counts.
fn parse_figures(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("FIGURE: ")?.split_once(" = "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The names that may be skipped. `#` starts a comment line.
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

/// A file that is not there reads as empty: nothing was reported, nothing is allowed.
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
    fn the_later_of_two_figures_counts() {
        let figures =
            parse_figures("FIGURE: states = 10\nFIGURE: cuts = 3 (ext4 = 2)\nFIGURE: states = 12\n");
        assert_eq!(figures["states"], "12");
        assert_eq!(figures["cuts"], "3 (ext4 = 2)");
    }

    #[test]
    fn a_skip_passes_only_when_listed_by_its_whole_name() {
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
    fn what_is_added_is_read_back() {
        let folder = std::env::temp_dir().join(format!("xtask-notes-{}", std::process::id()));
        let notes = Notes::clear(&folder).unwrap();
        notes.add_skip("deny", "not installed").unwrap();
        notes.add_figure("coverage", "98.1 %").unwrap();
        assert_eq!(notes.skips().unwrap(), [skip("deny", "not installed")]);
        assert_eq!(notes.figures().unwrap()["coverage"], "98.1 %");
        fs::remove_dir_all(folder).unwrap();
    }
}
