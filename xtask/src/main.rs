//! The project's own commands, started as `cargo xtask COMMAND`.
//!
//! One file per command. What they share: [`run`] starts programs as named, timed steps; [`notes`] collects what tests
//! report beside pass and fail (skips and figures); [`tools`] finds or installs the programs the steps need.
#![expect(clippy::print_stdout, reason = "these commands talk to a person on a terminal")]

mod bench;
mod check;
mod coverage;
mod error;
mod failover;
mod fuzz;
mod notes;
mod proof;
mod run;
mod test;
mod tools;
mod windows;

use std::process::ExitCode;

use error::{Error, Result};

const HELP: &str = "\
The project's own commands.

Usage: cargo xtask COMMAND

Commands:
  test                        Install what is needed, then format check, clippy, tests, coverage gate, docs, type check for Windows
  check [CRATE...]            The quick part of `test`: format, clippy, and the tests of what changed
  coverage [--fail-under N]   Run the tests and print line coverage of the library crates
  bench NAME [ARGUMENT...]    Measure one part beside its peers
  failover [--rounds N]       Kill the primary of a PostgreSQL cluster again and again while processes record
  fuzz [TARGET] [--seconds N] Look for bytes that break what is read from outside
  proof [PART...]             The long form of the tests; writes docs/proof.md
  windows                     Type check for Windows, then lock and replace tests under Wine
  help                        Print this

`cargo xtask COMMAND --help` says more about one command.
Exit status: 0 passed, 1 a step failed, 2 wrong usage.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error}");
            let mut cause = std::error::Error::source(&error);
            while let Some(inner) = cause {
                eprintln!("  caused by: {inner}");
                cause = inner.source();
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn dispatch(arguments: &[&str]) -> Result<()> {
    match arguments {
        [] | ["help" | "--help" | "-h"] => print_help(HELP),
        ["test", "--help" | "-h"] => print_help(test::HELP),
        ["test"] => test::test(),
        ["check", "--help" | "-h"] => print_help(check::HELP),
        ["check", names @ ..] => check::check(names),
        ["coverage", "--help" | "-h"] => print_help(coverage::HELP),
        ["coverage"] => coverage::coverage(None),
        ["coverage", "--fail-under", percent] => coverage::coverage(Some(coverage::parse_percent(percent)?)),
        ["bench", "--help" | "-h"] => print_help(&bench::help()),
        ["bench", name, arguments @ ..] => bench::bench(name, arguments),
        ["failover", "--help" | "-h"] => print_help(failover::HELP),
        ["failover", words @ ..] => failover::failover(words),
        ["fuzz", "--help" | "-h"] => print_help(fuzz::HELP),
        ["fuzz", words @ ..] => fuzz::fuzz(&fuzz::parse(words)?),
        ["proof", "--help" | "-h"] => print_help(proof::HELP),
        ["proof", parts @ ..] => proof::proof(parts),
        ["windows", "--help" | "-h"] => print_help(windows::HELP),
        ["windows"] => windows::windows(),
        ["bench"] => Err(Error::Usage(format!("bench needs a name: {}", bench::names()))),
        [command @ ("test" | "coverage" | "windows"), rest @ ..] => {
            Err(Error::Usage(format!("`{command}` does not take `{}`", rest.join(" "))))
        }
        [unknown, ..] => Err(Error::Usage(format!("there is no command `{unknown}`"))),
    }
}

fn print_help(text: &str) -> Result<()> {
    print!("{text}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_usage(arguments: &[&str], message: &str) {
        let error = dispatch(arguments).expect_err("wrong usage");
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().starts_with(message), "{error}");
    }

    #[test]
    fn wrong_usage_is_named_and_exits_2() {
        check_usage(&["frobnicate"], "there is no command `frobnicate`");
        check_usage(&["test", "--fast"], "`test` does not take `--fast`");
        check_usage(&["coverage", "--fail-under"], "`coverage` does not take `--fail-under`");
        check_usage(&["coverage", "--fail-under", "many"], "`many` is not a percentage");
        check_usage(
            &["check", "nothing"],
            "there is no crate `nothing`; there is: api, cli, config, context",
        );
        check_usage(&["bench"], "bench needs a name: filetx, config, context");
        check_usage(&["bench", "nothing"], "there is no bench `nothing`; there is: filetx, config, context");
    }
}
