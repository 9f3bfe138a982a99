//! `cargo xtask coverage`: line coverage of the library crates.
//!
//! A wrapper around rustc compiles the crates of the workspace with counters; cargo uses it for them alone, so dependencies are compiled once
//! for all tests.
//!
//! Lines of library crates count. Tests (folders `tests/`, a `mod tests` at the end of a file), this program, the test kit and the
//! command line do not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::run::{Run, cargo, executables, root};
use crate::test::{FEATURES, test_command};
use crate::tools::{self, Availability};

pub(crate) const HELP: &str = "\
Run the tests and print line coverage of the library crates, file by file, with the lines that were not reached.

Usage: cargo xtask coverage [--fail-under N]

  --fail-under N   Exit with status 1 if less than N percent of the lines are reached

Installs LLVM's tools with rustup (or the Debian package llvm-22) when they are missing.
";

/// Paths that do not count, relative or absolute.
const IGNORED: &str = r"(^|/)(xtask/|crates/testkit/|crates/cli/|tests/|examples/|registry/src/)|^/rustc/";

pub(crate) fn coverage(minimum: Option<f64>) -> Result<()> {
    let mut run = Run::start()?;
    if let Availability::Missing(reason) = install(&mut run)? {
        return Err(Error::Tool { step: "coverage", reason });
    }
    let result = measure(&mut run)?;
    result.print();
    result.require(minimum.unwrap_or(0.0))
}

pub(crate) fn parse_percent(text: &str) -> Result<f64> {
    match text.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err(Error::Usage(format!("`{text}` is not a percentage"))),
    }
}

/// Prepares the measurement: later steps compile the crates of the workspace with counters.
pub(crate) fn install(run: &mut Run) -> Result<Availability> {
    let available = tools::install_llvm(run)?;
    if let Availability::Ready = available {
        run.set_variable("RUSTC_WORKSPACE_WRAPPER", root().join("xtask/rustc-with-counters"));
        // One file per process: a process killed during a write damages only its own counts.
        run.set_variable("LLVM_PROFILE_FILE", folder().join("%p-%m.profraw"));
    }
    Ok(available)
}

/// Runs all tests once and reads their counts.
pub(crate) fn measure(run: &mut Run) -> Result<Coverage> {
    // Remove the counts of an earlier run.
    if folder().exists() {
        fs::remove_dir_all(folder()).map_err(Error::io(format!("remove {}", folder().display())))?;
    }
    run.step("tests", test_command())?;
    let counts = root().join("target/xtask/coverage.profdata");
    run.step("counts", merge_command(&counts)?)?;
    let built =
        run.query(cargo(&format!("test --no-run --message-format json --workspace --tests {FEATURES}")))?;
    let lcov = run.query(export_command(&counts, &executables(&built))?)?;
    let file = root().join("target/xtask/coverage.lcov");
    fs::write(&file, &lcov).map_err(Error::io(format!("write {}", file.display())))?;
    Ok(Coverage::parse(&lcov, |file| fs::read_to_string(file).unwrap_or_default()))
}

/// The folder of the counts.
fn folder() -> PathBuf {
    root().join("target/xtask/counts")
}

/// Adds up the counts of all processes, without damaged files of killed ones.
fn merge_command(counts: &Path) -> Result<Command> {
    let mut command = llvm("llvm-profdata")?;
    command.args(["merge", "--sparse", "--failure-mode=all", "--output"]).arg(counts).arg(folder());
    Ok(command)
}

/// Exports the counts by line, of all programs together.
fn export_command(counts: &Path, programs: &[(String, PathBuf)]) -> Result<Command> {
    let mut command = llvm("llvm-cov")?;
    command.args(["export", "--format=lcov", "--ignore-filename-regex", IGNORED]);
    command.arg("--instr-profile").arg(counts);
    command.args(programs.iter().flat_map(|(_, program)| [Path::new("--object"), program]));
    Ok(command)
}

fn llvm(tool: &str) -> Result<Command> {
    let missing = || Error::Tool { step: "coverage", reason: format!("{tool} is gone") };
    tools::llvm(tool).map(Command::new).ok_or_else(missing)
}

/// Number of times each line of each file was reached.
pub(crate) struct Coverage {
    files: BTreeMap<String, BTreeMap<usize, u64>>,
}

impl Coverage {
    /// Parses an LCOV report; `source` returns the text of a file, whose tests are left out.
    fn parse(lcov: &str, source: impl Fn(&Path) -> String) -> Coverage {
        let mut files: BTreeMap<String, BTreeMap<usize, u64>> = BTreeMap::new();
        let mut current = (String::new(), usize::MAX);
        for line in lcov.lines() {
            if let Some(path) = line.strip_prefix("SF:") {
                let path = Path::new(path);
                let name = path.strip_prefix(root()).unwrap_or(path);
                current = (name.display().to_string(), first_test_line(&source(path)));
                files.entry(current.0.clone()).or_default();
            } else if let Some((number, count)) = line.strip_prefix("DA:").and_then(parse_line)
                && number < current.1
            {
                *files.entry(current.0.clone()).or_default().entry(number).or_default() += count;
            }
        }
        files.retain(|_, lines| !lines.is_empty());
        Coverage { files }
    }

    pub(crate) fn percent(&self) -> f64 {
        percent(self.files.values().flat_map(BTreeMap::values))
    }

    pub(crate) fn print(&self) {
        println!("\nlines  missed        %  file: lines not reached");
        for (file, lines) in &self.files {
            let missed = missed(lines);
            println!(
                "{:5}  {:6}  {:6.2} %  {file}{}",
                lines.len(),
                missed.len(),
                percent(lines.values()),
                if missed.is_empty() { String::new() } else { format!(": {}", ranges(&missed)) }
            );
        }
        let lines: usize = self.files.values().map(BTreeMap::len).sum();
        let missed: usize = self.files.values().map(|lines| missed(lines).len()).sum();
        println!("{lines:5}  {missed:6}  {:6.2} %  total", self.percent());
    }

    pub(crate) fn require(&self, minimum: f64) -> Result<()> {
        let percent = self.percent();
        if percent >= minimum { Ok(()) } else { Err(Error::Coverage { percent, minimum }) }
    }
}

/// Finds the first line of the tests at the end of a file.
fn first_test_line(source: &str) -> usize {
    let lines: Vec<&str> = source.lines().collect();
    let begins =
        |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{');
    lines.windows(2).position(begins).map_or(usize::MAX, |index| index + 1)
}

/// Parses the line and count of a `DA` entry.
fn parse_line(entry: &str) -> Option<(usize, u64)> {
    let mut fields = entry.split(',');
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

fn missed(lines: &BTreeMap<usize, u64>) -> Vec<usize> {
    lines.iter().filter(|(_, count)| **count == 0).map(|(line, _)| *line).collect()
}

fn percent<'a>(counts: impl Iterator<Item = &'a u64>) -> f64 {
    let (all, reached) =
        counts.fold((0_u32, 0_u32), |(all, reached), count| (all + 1, reached + u32::from(*count > 0)));
    if all == 0 { 100.0 } else { f64::from(reached) * 100.0 / f64::from(all) }
}

/// `3-5, 9` for 3, 4, 5, 9.
fn ranges(lines: &[usize]) -> String {
    let runs = lines.chunk_by(|a, b| a + 1 == *b);
    let shown = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run[0].to_string(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LCOV: &str = "SF:a.rs\nDA:1,2\nDA:2,0\nDA:3,0\nDA:5,0\nDA:9,1\nDA:10,0\nend_of_record\n";

    #[test]
    fn lines_are_counted_per_file() {
        let coverage = Coverage::parse(LCOV, |_| String::new());
        assert_eq!(missed(&coverage.files["a.rs"]), [2, 3, 5, 10]);
        assert!((coverage.percent() - 100.0 / 3.0).abs() < 1e-9);
        assert!(coverage.require(33.0).is_ok());
        assert!(coverage.require(34.0).is_err());
    }

    #[test]
    fn tests_at_the_end_of_a_file_do_not_count() {
        let source = "1\n2\n3\n4\n5\n6\n7\n#[cfg(test)]\nmod tests {\n10\n}\n";
        let coverage = Coverage::parse(LCOV, |_| source.to_owned());
        assert_eq!(missed(&coverage.files["a.rs"]), [2, 3, 5]);
        assert_eq!(coverage.files["a.rs"].len(), 4);
    }

    #[test]
    fn an_empty_report_is_fully_covered() {
        assert!(Coverage::parse("", |_| String::new()).require(100.0).is_ok());
    }

    #[test]
    fn consecutive_lines_are_shown_as_a_range() {
        assert_eq!(ranges(&[2, 3, 5, 7, 8, 9]), "2-3, 5, 7-9");
    }
}
