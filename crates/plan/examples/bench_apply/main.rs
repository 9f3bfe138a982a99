//! Measures apply against git.
//!
//! Both sides alternate on one file system, and each round has its own ratio. `docs/benchmarks.md` has the
//! latest figures and their meaning.
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "the figures are what this program is for"))]
#![cfg_attr(unix, expect(clippy::disallowed_methods, reason = "the trees are made and reset by hand"))]

#[cfg(unix)]
mod apply;
#[cfg(unix)]
mod trees;

#[cfg(unix)]
const HELP: &str = "\
Measures applying plans beside git.

Usage: bench_apply [--dir DIR] [--only NAME] [--markdown]

  --dir DIR     Measure in DIR. Otherwise on a fresh ext4 image when run as root, or else in a temporary folder
  --only NAME   One of: apply, many, tree
  --markdown    Print Markdown, for docs/benchmarks.md
";

#[cfg(unix)]
fn main() -> testkit::bench::Result<()> {
    let Some(arguments) = testkit::bench::Arguments::parse(std::env::args().skip(1), &[])? else {
        print!("{HELP}");
        return Ok(());
    };
    let table = testkit::bench::run(
        &arguments,
        &[("apply", &apply::measure), ("many", &apply::measure_many), ("tree", &apply::measure_tree)],
    )?;
    print!("{table}");
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the baselines are written for Unix");
}
