//! The program `agents`: parses, calls, prints. Rules live in the library crates.

mod args;
mod commands;
mod error;
mod interrupt;
mod output;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    commands::run(args::Args::parse())
}
