//! Measures plans beside the least that the same durability costs: records into changesets.
//!
//! All sides take turns in small batches on one file system, and ratios are taken round by round. `docs/benchmarks.md` has the last
//! figures and what they mean.
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "the figures are what this program is for"))]
#![cfg_attr(
    unix,
    expect(clippy::disallowed_methods, reason = "a source for the compiler is written by hand")
)]

#[cfg(unix)]
mod peers;
#[cfg(unix)]
mod records;
#[cfg(unix)]
mod slow_disk;

#[cfg(unix)]
const HELP: &str = "\
Measures plans beside SQLite without our rules.

Usage: bench_records [--dir DIR] [--only NAME] [--sync-pause MICROS] [--markdown]

  --dir DIR             Measure in DIR. Otherwise on a fresh ext4 image when run as root, or else in a temporary folder
  --only NAME           One of: records, contents, alone
  --sync-pause MICROS   Have each sync of each side take so much longer, as on a slower disk. Linux, and needs cc
  --markdown            Print Markdown, for docs/benchmarks.md
";

#[cfg(unix)]
fn main() -> testkit::bench::Result<()> {
    let words = std::env::args().skip(1);
    let Some(arguments) = testkit::bench::Arguments::parse(words, &["--sync-pause"])? else {
        print!("{HELP}");
        return Ok(());
    };
    if let Some(pause) = arguments.others.get("--sync-pause")
        && let Some(code) = slow_disk::start_again(pause)?
    {
        std::process::exit(code);
    }
    let table = testkit::bench::run(
        &arguments,
        &[
            ("records", &records::measure),
            ("contents", &records::measure_contents),
            ("alone", &records::measure_alone),
        ],
    )?;
    print!("{table}");
    if let Some(note) = slow_disk::note() {
        println!("\n{note}");
    }
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the baselines are written for Unix");
}
