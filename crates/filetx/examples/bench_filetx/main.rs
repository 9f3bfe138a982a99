//! Measures the cost of a commit beside a hand-written minimum of the same durability.
//!
//! Commit and baseline alternate in small batches on one file system, and each round gives a ratio:
//! these figures hold on a noisy machine, where times alone do not. `docs/benchmarks.md` has the
//! last figures.
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "the figures are what this program is for"))]

#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod lock;
#[cfg(unix)]
mod memory;
#[cfg(unix)]
mod replace;
#[cfg(unix)]
mod tree;

#[cfg(unix)]
const HELP: &str = "\
Measures filetx beside hand-written loops.

Usage: bench_filetx [--dir DIR] [--only NAME] [--markdown]

  --dir DIR     Measure in DIR. Otherwise on a fresh ext4 image when run as root, or else in a temporary folder
  --only NAME   One of: replace, folder, threads, tree, memory, lock
  --markdown    Fingerprint Markdown, for docs/benchmarks.md
";

#[cfg(unix)]
fn main() -> testkit::bench::Result<()> {
    let mut words = std::env::args().skip(1).peekable();
    if words.next_if(|word| word == memory::CHILD).is_some() {
        return memory::child(words);
    }
    let Some(arguments) = testkit::bench::Arguments::parse(words, &[])? else {
        print!("{HELP}");
        return Ok(());
    };
    let table = testkit::bench::run(
        &arguments,
        &[
            ("replace", &replace::measure),
            ("folder", &folder::measure),
            ("threads", &folder::measure_threads),
            ("tree", &tree::measure),
            ("memory", &memory::measure),
            ("lock", &lock::measure),
        ],
    )?;
    print!("{table}");
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the baselines are written for Unix");
}
