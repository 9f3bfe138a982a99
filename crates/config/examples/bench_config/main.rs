//! Compares `agents config` with common tools, and with the minimal durable write.
//!
//! `cargo xtask bench config` builds the program and its peers and passes their paths.
//! `docs/benchmarks.md` has the results.
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "the figures are what this program is for"))]
#![cfg_attr(unix, expect(clippy::disallowed_methods, reason = "the peers write files by hand"))]

#[cfg(unix)]
mod get;
#[cfg(unix)]
mod peers;
#[cfg(unix)]
mod service;
#[cfg(unix)]
mod set;

#[cfg(unix)]
const HELP: &str = "\
Measures `agents config` beside a Python script with tomlkit, a minimal program and `git config`.

Usage: bench_config --agents FILE --minimal FILE --python FILE [--dir DIR] [--only NAME] [--markdown]

  --agents FILE    The program, built for release
  --minimal FILE   The example `minimal_set`, built for release
  --python FILE    A Python that has tomlkit
  --dir DIR        Measure in DIR. Otherwise on a fresh ext4 image when run as root, or else in a temporary folder
  --only NAME      One of: set, service, get
  --markdown       Print Markdown, for docs/benchmarks.md
";

#[cfg(unix)]
fn main() -> testkit::bench::Result<()> {
    use testkit::bench::{Arguments, run};
    let Some(arguments) = Arguments::parse(std::env::args().skip(1), peers::ARGUMENTS)? else {
        print!("{HELP}");
        return Ok(());
    };
    let peers = peers::Peers::new(&arguments)?;
    let table = run(
        &arguments,
        &[
            ("set", &|place, report| set::measure(&peers, place, report)),
            ("service", &service::measure),
            ("get", &|place, report| get::measure(&peers, place, report)),
        ],
    )?;
    print!("{table}");
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the peers are written for Unix");
}
