//! `cargo xtask test`: all checks that a change must pass, on a fresh machine with Rust.

use std::process::Command;

use crate::error::{Error, Result};
use crate::run::{Run, cargo, root};
use crate::tools::{self, Availability};
use crate::{coverage, windows};

pub(crate) const HELP: &str = "\
Run all checks that a change must pass. CI runs exactly this.

Usage: cargo xtask test

Installs tools (Debian packages if root, cargo subcommands into target/tools), then runs the steps in order and stops at the first failure
with the command that runs it alone. Ends with the time of each step, figures and skips of the tests. With CI=true a skip is a failure
unless tests/allowed-skips.txt lists it with a reason.

Tests run under cargo-nextest if it is installed, else under `cargo test`.
";

/// Minimum of line coverage, in percent.
const COVERAGE_MINIMUM: f64 = 97.0;

/// Test-only features of the file transaction, enabled in all runs but that of schedules.
pub(crate) const FEATURES: &str = "--features cleveragents-filetx/mutants";

/// The packages that are published.
const PUBLISHED: &str = "--workspace --exclude xtask --exclude cleveragents-testkit";

pub(crate) fn test() -> Result<()> {
    let mut run = Run::start()?;
    packages(&mut run)?;
    run.step("format", format_check())?;
    run.step("clippy", clippy())?;
    // Before the tests, which compile with counters: the toolchain has none for Windows.
    windows::type_check(&mut run)?;
    tests_and_coverage(&mut run)?;
    run.step("documentation tests", cargo(&format!("test --quiet --workspace --doc {FEATURES}")))?;
    schedules(&mut run)?;
    documentation(&mut run)?;
    run.step(
        "packages to publish",
        cargo(&format!("package {PUBLISHED} --no-verify --allow-dirty --quiet")),
    )?;
    licences(&mut run)?;
    run.finish()
}

pub(crate) fn format_check() -> Command {
    cargo("fmt --all --check")
}

pub(crate) fn clippy() -> Command {
    cargo(&format!("clippy --workspace --all-targets {FEATURES} -- -D warnings"))
}

/// Installs the programs that tests use. Tests skip themselves without them, so a failure is only printed.
pub(crate) fn packages(run: &mut Run) -> Result<()> {
    if let Availability::Missing(reason) = tools::install(run, tools::FOR_TESTS)? {
        println!("some tests will be skipped; {reason}");
    }
    Ok(())
}

/// Runs the tests once, with coverage if its tools are installed.
fn tests_and_coverage(run: &mut Run) -> Result<()> {
    match coverage::install(run)? {
        Availability::Ready => {
            let result = coverage::measure(run)?;
            result.print();
            run.figure("line coverage of the library crates", &format!("{:.2} %", result.percent()))?;
            result.require(COVERAGE_MINIMUM)
        }
        Availability::Missing(reason) => {
            run.skip("coverage", &reason)?;
            run.step("tests", test_command())
        }
    }
}

/// Tests of the workspace, under the installed runner.
pub(crate) fn test_command() -> Command {
    match runner() {
        Runner::Nextest => cargo(&format!("nextest run --workspace --tests --no-fail-fast {FEATURES}")),
        Runner::Cargo => cargo(&format!("test --workspace --tests --no-fail-fast {FEATURES}")),
    }
}

/// Tests of some packages, built as part of the workspace if the runner can select them.
pub(crate) fn tests_of(packages: &[&str]) -> Command {
    match runner() {
        Runner::Nextest => {
            let mut command = test_command();
            let selected: Vec<_> = packages.iter().map(|package| format!("package({package})")).collect();
            command.args(["-E", &selected.join(" or ")]);
            command
        }
        Runner::Cargo => tests_alone(packages),
    }
}

/// Tests of some packages, built alone.
pub(crate) fn tests_alone(packages: &[&str]) -> Command {
    let mut command = match runner() {
        Runner::Nextest => cargo("nextest run --tests --no-fail-fast"),
        Runner::Cargo => cargo("test --tests --no-fail-fast"),
    };
    command.args(packages.iter().flat_map(|package| ["--package", package]));
    if packages.contains(&"cleveragents-filetx") {
        command.args(FEATURES.split(' '));
    }
    command
}

enum Runner {
    Nextest,
    Cargo,
}

fn runner() -> Runner {
    if tools::find("cargo-nextest").is_some() { Runner::Nextest } else { Runner::Cargo }
}

/// Crates whose thread schedules are explored.
const SCHEDULED: [&str; 2] = ["filetx", "plan"];

/// Explores thread schedules. The feature replaces synchronisation primitives, so each crate is built separately, but as part of the workspace,
/// so that dependencies of other steps are reused.
pub(crate) fn schedules(run: &mut Run) -> Result<()> {
    for name in SCHEDULED {
        let tests = schedule_tests(name)?;
        if tests.is_empty() {
            run.skip("schedules", &format!("no crates/{name}/tests/shuttle_*.rs"))?;
            continue;
        }
        let what = format!("--workspace --features cleveragents-{name}/shuttle {}", tests.join(" "));
        run.step(&format!("clippy of schedules: {name}"), cargo(&format!("clippy {what} -- -D warnings")))?;
        run.step(&format!("schedules: {name}"), cargo(&format!("test {what}")))?;
    }
    Ok(())
}

/// Options that select the schedule tests of a crate.
fn schedule_tests(name: &str) -> Result<Vec<String>> {
    let folder = root().join("crates").join(name).join("tests");
    let files = std::fs::read_dir(&folder).map_err(Error::io(format!("list {}", folder.display())))?;
    let names = files.flatten().map(|file| file.path().with_extension(""));
    let names = names.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    Ok(names.filter(|name| name.starts_with("shuttle_")).map(|name| format!("--test {name}")).collect())
}

fn documentation(run: &mut Run) -> Result<()> {
    let mut command = cargo("doc --workspace --no-deps");
    command.env("RUSTDOCFLAGS", "-D warnings");
    run.step("documentation", command)
}

/// Checks licences if cargo-deny is installed. Only `proof` installs it: building it takes too long for `test`.
fn licences(run: &mut Run) -> Result<()> {
    if tools::find("cargo-deny").is_none() {
        return run.skip(
            "cargo-deny",
            "not installed; `cargo xtask proof` installs it, or: cargo install --locked cargo-deny",
        );
    }
    run.step("licences, bans, sources", deny_command())
}

pub(crate) fn deny_command() -> Command {
    cargo("deny check --hide-inclusion-graph licenses bans sources")
}
