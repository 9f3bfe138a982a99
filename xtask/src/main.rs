//! The project's own commands, started as `cargo xtask COMMAND`.
//!
//! One file per command. [`run`] starts programs as named, timed steps; [`notes`] collects the skips and figures that tests report;
//! [`tools`] finds or installs programs.
#![expect(clippy::print_stdout, reason = "these commands print to a terminal")]

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
  test                        Check format, clippy, Windows types, tests, coverage, documentation and licences
  check [CRATE...]            Check format, clippy and the tests of changed crates
  coverage [--fail-under N]   Run the tests and print line coverage of the library crates
  bench NAME [ARGUMENT...]    Measure one part beside its peers
  failover [--rounds N]       Kill the primary of a PostgreSQL cluster while processes record
  fuzz [TARGET] [--seconds N] Fuzz the readers of untrusted bytes
  proof [PART...]             Run the long form of the tests and write docs/proof.md
  windows                     Check types for Windows, test locks and replaces under Wine
  help                        Print this help

See `cargo xtask COMMAND --help` for a command.
Exit codes: 0 passed, 1 a step failed, 2 usage.
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
                eprintln!("  {inner}");
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
        ["bench"] => Err(Error::Usage(format!("missing bench; choose one of {}", bench::names()))),
        [command @ ("test" | "coverage" | "windows"), rest @ ..] => {
            Err(Error::Usage(format!("`{command}` does not take `{}`", rest.join(" "))))
        }
        [unknown, ..] => Err(Error::Usage(format!("unknown command `{unknown}`"))),
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
    fn usage_errors_exit_with_2() {
        check_usage(&["frobnicate"], "unknown command `frobnicate`");
        check_usage(&["test", "--fast"], "`test` does not take `--fast`");
        check_usage(&["coverage", "--fail-under"], "`coverage` does not take `--fail-under`");
        check_usage(&["coverage", "--fail-under", "many"], "`many` is not a percentage");
        check_usage(
            &["check", "nothing"],
            "unknown crate `nothing`; choose one of api, cli, config, context",
        );
        check_usage(&["bench"], "missing bench; choose one of filetx, config, context");
        check_usage(&["bench", "nothing"], "unknown bench `nothing`; choose one of filetx, config, context");
    }
}
