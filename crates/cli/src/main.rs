//! The program `agents`: parses, calls, prints. Rules live in the library crates.

mod args;
mod ask;
mod commands;
mod error;
mod input;
mod interrupt;
mod look;
mod output;
mod session;
mod usage;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match args::Args::try_parse().and_then(args::Args::check) {
        Ok(args) => commands::run(args),
        Err(error) => usage::report(&error),
    }
}
