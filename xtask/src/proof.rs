//! `cargo xtask proof`: the long form of the tests, and the page that keeps its last result.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::notes::Skip;
use crate::run::{Run, output_of, root};
use crate::test::{FEATURES, deny_command, packages, schedules, test_command};
use crate::tools::{self, Availability};
use crate::{fuzz, windows};

pub(crate) const HELP: &str = "\
The long form of the tests: every crash point, more seeds, more schedules, more power cuts; fuzzing; licences; Windows under Wine.

Usage: cargo xtask proof

Tests see AGENTS_PROOF=1. The result is written to docs/proof.md, to be committed. Takes hours rather than minutes.
";

/// How long each fuzz target looks.
const FUZZ_SECONDS: u32 = 60;
const PAGE: &str = "docs/proof.md";

pub(crate) fn proof() -> Result<()> {
    let mut run = Run::start()?;
    run.set_variable("AGENTS_PROOF", "1");
    run.set_variable("NEXTEST_PROFILE", "proof");
    packages(&mut run)?;
    run.step("tests", test_command(FEATURES))?;
    schedules(&mut run)?;
    fuzz::all(&mut run, FUZZ_SECONDS)?;
    match tools::install_cargo(&mut run, "deny")? {
        Availability::Ready => run.step("licences, bans, sources", deny_command())?,
        Availability::Missing(reason) => run.skip("cargo-deny", &reason)?,
    }
    windows::type_check(&mut run)?;
    windows::tests(&mut run)?;

    let page = page(&machine()?, run.steps(), &run.notes().figures()?, &run.notes().skips()?);
    let file = root().join(PAGE);
    fs::create_dir_all(file.parent().expect("a page is in a folder"))
        .and_then(|()| fs::write(&file, page))
        .map_err(Error::io(format!("write {PAGE}")))?;
    println!("\nwritten: {PAGE}");
    run.finish()
}

/// When, on what and with what the proof ran.
struct Machine {
    date: String,
    commit: String,
    rustc: String,
    system: String,
}

fn machine() -> Result<Machine> {
    let ask = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        output_of(command).map(|text| text.trim().to_owned())
    };
    let changed = !ask(&["git", "status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Ok(Machine {
        date: ask(&["date", "-u", "+%Y-%m-%d %H:%M UTC"])?,
        commit: ask(&["git", "rev-parse", "HEAD"])? + if changed { " with local changes" } else { "" },
        rustc: ask(&["rustc", "--version"])?,
        system: ask(&["uname", "-srm"])?,
    })
}

fn page(
    machine: &Machine,
    steps: &[(String, Duration)],
    figures: &BTreeMap<String, String>,
    skips: &[Skip],
) -> String {
    let mut page = format!(
        "# Last full proof\n\nWritten by `cargo xtask proof`; every step below passed.\n\n\
         - when: {}\n- commit: {}\n- compiler: {}\n- system: {}\n",
        machine.date, machine.commit, machine.rustc, machine.system
    );
    let mut table = |title: &str, head: [&str; 2], rows: Vec<[String; 2]>| {
        if rows.is_empty() {
            return;
        }
        let _ = write!(page, "\n## {title}\n\n| {} | {} |\n|---|---|\n", head[0], head[1]);
        for row in rows {
            let [left, right] = row.map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(page, "| {left} | {right} |");
        }
    };
    let figures = figures.iter().map(|(name, value)| [name.clone(), value.clone()]).collect();
    let steps =
        steps.iter().map(|(name, time)| [name.clone(), format!("{:.1}", time.as_secs_f64())]).collect();
    let skips = skips.iter().map(|skip| [skip.name.clone(), skip.reason.clone()]).collect();
    table("Figures", ["what", "figure"], figures);
    table("Steps", ["step", "seconds"], steps);
    table("Skipped", ["what", "why"], skips);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_figure_step_and_skip() {
        let machine = Machine {
            date: "2026-01-02 03:04 UTC".to_owned(),
            commit: "abc".to_owned(),
            rustc: "rustc 1".to_owned(),
            system: "Linux".to_owned(),
        };
        let figures = BTreeMap::from([("states".to_owned(), "1 | 2".to_owned())]);
        let steps = [("tests".to_owned(), Duration::from_millis(1500))];
        let skips = [Skip { name: "power::xfs".to_owned(), reason: "no loop device".to_owned() }];
        let page = page(&machine, &steps, &figures, &skips);
        for line in
            ["- commit: abc", "| states | 1 \\| 2 |", "| tests | 1.5 |", "| power::xfs | no loop device |"]
        {
            assert!(page.lines().any(|found| found == line), "{line} not in:\n{page}");
        }
    }

    #[test]
    fn a_table_without_rows_is_left_out() {
        let machine = Machine {
            date: String::new(),
            commit: String::new(),
            rustc: String::new(),
            system: String::new(),
        };
        assert!(!page(&machine, &[], &BTreeMap::new(), &[]).contains("## "));
    }
}
