//! `cargo xtask proof`: the long form of the tests, part by part, and the page with the last result of each part.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::notes::Skip;
use crate::run::{Run, output_of, root};
use crate::test::{deny_command, packages, schedules, tests_of};
use crate::tools::{self, Availability};
use crate::{fuzz, windows};

pub(crate) const HELP: &str = "\
Run the long form of the tests: every crash point, more seeds, schedules and power cuts; fuzzing; licences; Windows under Wine.

Usage: cargo xtask proof [PART...]

  PART   Run one of filetx, config, context, store, plan, executor, frontends, schedules, fuzz, licences, windows [default: all]

Sets AGENTS_PROOF=1 for the tests. A part that passes writes its section of docs/proof.md, to be committed; a part that fails keeps its last
section and is named at the end. All parts take an hour on two idle cores, most of it for filetx. On a busy machine lock timeouts may fail tests.
";

const PAGE: &str = "docs/proof.md";

/// Seconds per fuzz target.
const FUZZ_SECONDS: u32 = 60;

/// The work of a part.
enum Work {
    /// The tests of these packages.
    Tests(&'static [&'static str]),
    Steps(fn(&mut Run) -> Result<()>),
}

const PARTS: &[(&str, Work)] = &[
    ("filetx", Work::Tests(&["cleveragents-filetx", "cleveragents-testkit"])),
    ("config", Work::Tests(&["cleveragents-config"])),
    ("context", Work::Tests(&["cleveragents-context"])),
    ("store", Work::Tests(&["cleveragents-store"])),
    ("plan", Work::Tests(&["cleveragents-plan"])),
    ("executor", Work::Tests(&["cleveragents-executor"])),
    ("frontends", Work::Tests(&["cleveragents", "cleveragents-cli", "xtask"])),
    ("schedules", Work::Steps(schedules)),
    ("fuzz", Work::Steps(|run| fuzz::all(run, FUZZ_SECONDS))),
    ("licences", Work::Steps(licences)),
    ("windows", Work::Steps(on_windows)),
];

pub(crate) fn proof(names: &[&str]) -> Result<()> {
    let mut selected = Vec::new();
    for name in names {
        let part = PARTS.iter().find(|(part, _)| part == name);
        let known = || PARTS.iter().map(|(part, _)| *part).collect::<Vec<_>>().join(", ");
        selected.push(
            part.ok_or_else(|| Error::Usage(format!("unknown part `{name}`; choose one of {}", known())))?,
        );
    }
    if selected.is_empty() {
        selected.extend(PARTS);
    }
    let mut failed = Vec::new();
    for (name, work) in selected {
        println!("\n==== proof of {name}");
        let mut run = Run::start()?;
        run.set_variable("AGENTS_PROOF", "1");
        run.set_variable("NEXTEST_PROFILE", "proof");
        packages(&mut run)?;
        let result = match work {
            Work::Tests(packages) => run.step("tests", tests_of(packages)),
            Work::Steps(steps) => steps(&mut run),
        };
        match result {
            Ok(()) => {
                let section =
                    section(&machine()?, run.steps(), &run.notes().figures()?, &run.notes().skips()?);
                write_section(name, section)?;
            }
            Err(error) => {
                println!("\n{error}");
                failed.push(*name);
            }
        }
    }
    if failed.is_empty() {
        println!("\npassed");
        return Ok(());
    }
    let alone = format!("cargo xtask proof {}", failed.join(" "));
    Err(Error::Step { step: failed.join(", "), alone })
}

fn licences(run: &mut Run) -> Result<()> {
    match tools::install_cargo(run, "deny")? {
        Availability::Ready => run.step("licences, bans, sources", deny_command()),
        Availability::Missing(reason) => run.skip("cargo-deny", &reason),
    }
}

fn on_windows(run: &mut Run) -> Result<()> {
    windows::type_check(run)?;
    windows::tests(run)
}

/// Date, commit, compiler and system of a run.
struct Machine {
    date: String,
    commit: String,
    rustc: String,
    system: String,
}

fn machine() -> Result<Machine> {
    let query = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        output_of(command).map(|text| text.trim().to_owned())
    };
    // Earlier parts of this run have written the page.
    let changed =
        !query(&["git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/proof.md"])?
            .is_empty();
    Ok(Machine {
        date: query(&["date", "-u", "+%Y-%m-%d %H:%M UTC"])?,
        commit: query(&["git", "rev-parse", "HEAD"])? + if changed { " with local changes" } else { "" },
        rustc: query(&["rustc", "--version"])?,
        system: query(&["uname", "-srm"])?,
    })
}

fn section(
    machine: &Machine,
    steps: &[(String, Duration)],
    figures: &BTreeMap<String, String>,
    skips: &[Skip],
) -> String {
    let mut section = format!(
        "- when: {}\n- commit: {}\n- compiler: {}\n- system: {}\n",
        machine.date, machine.commit, machine.rustc, machine.system
    );
    let mut table = |head: [&str; 2], rows: Vec<[String; 2]>| {
        if rows.is_empty() {
            return;
        }
        let _ = write!(section, "\n| {} | {} |\n|---|---|\n", head[0], head[1]);
        for row in rows {
            let [left, right] = row.map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(section, "| {left} | {right} |");
        }
    };
    let figures = figures.iter().map(|(name, value)| [name.clone(), value.clone()]).collect();
    let steps =
        steps.iter().map(|(name, time)| [name.clone(), format!("{:.1}", time.as_secs_f64())]).collect();
    let skips = skips.iter().map(|skip| [skip.name.clone(), skip.reason.clone()]).collect();
    table(["what", "figure"], figures);
    table(["step", "seconds"], steps);
    table(["skipped", "why"], skips);
    section
}

fn write_section(name: &str, section: String) -> Result<()> {
    let file = root().join(PAGE);
    let before = fs::read_to_string(&file).unwrap_or_default();
    fs::write(&file, page(&before, name, section)).map_err(Error::io(format!("write {PAGE}")))?;
    println!("\nwritten: {name} in {PAGE}");
    Ok(())
}

/// Replaces the section of one part. Drops sections of former parts.
fn page(before: &str, name: &str, section: String) -> String {
    let mut sections: BTreeMap<&str, String> = before
        .split("\n## ")
        .skip(1)
        .filter_map(|text| text.split_once("\n\n"))
        .map(|(name, text)| (name, format!("{}\n", text.trim_end())))
        .collect();
    sections.insert(name, section);
    let mut page = "# Last proof\n\nWritten by `cargo xtask proof`, part by part: each section is of the last run of that part that \
                    passed.\n"
        .to_owned();
    for (part, _) in PARTS {
        if let Some(text) = sections.get(part) {
            let _ = write!(page, "\n## {part}\n\n{text}");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, Duration, Machine, Skip, page, proof, section};

    fn machine() -> Machine {
        Machine {
            date: "2026-01-02 03:04 UTC".to_owned(),
            commit: "abc".to_owned(),
            rustc: "rustc 1".to_owned(),
            system: "Linux".to_owned(),
        }
    }

    #[test]
    fn a_section_has_every_figure_step_and_skip() {
        let figures = BTreeMap::from([("states".to_owned(), "1 | 2".to_owned())]);
        let steps = [("tests".to_owned(), Duration::from_millis(1500))];
        let skips = [Skip { name: "power::xfs".to_owned(), reason: "no loop device".to_owned() }];
        let section = section(&machine(), &steps, &figures, &skips);
        for line in
            ["- commit: abc", "| states | 1 \\| 2 |", "| tests | 1.5 |", "| power::xfs | no loop device |"]
        {
            assert!(section.lines().any(|found| found == line), "{line} not in:\n{section}");
        }
    }

    #[test]
    fn a_table_without_rows_is_left_out() {
        assert!(!section(&machine(), &[], &BTreeMap::new(), &[]).contains('|'));
    }

    #[test]
    fn a_part_replaces_its_own_section_and_no_other() {
        let once = page("", "config", "first\n".to_owned());
        let twice = page(&once, "filetx", "second\n\n| a | b |\n".to_owned());
        let again = page(&twice, "config", "third\n".to_owned());
        let (head, rest) = again.split_once("\n## ").expect("sections");
        assert!(head.starts_with("# Last proof"));
        assert_eq!(rest, "filetx\n\nsecond\n\n| a | b |\n\n## config\n\nthird\n");
    }

    #[test]
    fn an_unknown_part_is_a_usage_error() {
        let error = proof(&["nothing"]).expect_err("there is none");
        assert!(error.to_string().starts_with("unknown part `nothing`; choose one of filetx, "));
    }
}
