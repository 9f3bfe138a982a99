//! Measures records into changesets beside the minimal cost of the same durability.
//!
//! All sides alternate in small batches on one file system, and ratios are taken per round.
//! `docs/benchmarks.md` has the latest figures and their meaning.
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "the figures are what this program is for"))]

#[cfg(unix)]
mod peers;
#[cfg(unix)]
mod records;

#[cfg(unix)]
const HELP: &str = "\
Measures plans beside SQLite without our rules.

Usage: bench_records [--dir DIR] [--only NAME] [--markdown]

  --dir DIR     Measure in DIR. Otherwise on a fresh ext4 image when run as root, or else in a temporary folder
  --only NAME   One of: records, contents, alone
  --markdown    Print Markdown, for docs/benchmarks.md
";

#[cfg(unix)]
fn main() -> testkit::bench::Result<()> {
    let words = std::env::args().skip(1);
    let Some(arguments) = testkit::bench::Arguments::parse(words, &[])? else {
        print!("{HELP}");
        return Ok(());
    };
    let table = testkit::bench::run(
        &arguments,
        &[
            ("records", &records::measure),
            ("contents", &records::measure_contents),
            ("alone", &records::measure_alone),
        ],
    )?;
    print!("{table}");
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the baselines are written for Unix");
}
