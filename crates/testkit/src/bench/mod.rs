//! What benches share: their arguments, where they measure, how sides take turns, and the table that comes of it.
//!
//! Sides take turns in small batches on one file system, and ratios are taken round by round: such figures hold on a noisy machine, where
//! times alone do not.

mod arguments;
mod bench_dir;
mod install_dir;
mod rename_replace;
mod report;
mod rounds;

use std::path::Path;

pub use arguments::Arguments;
pub use bench_dir::{BenchDir, sync_file_system};
pub use install_dir::InstallDir;
pub use rename_replace::RenameReplace;
pub use report::{Report, Target};
pub use rounds::{Outcome, Side, Spread, compare, compare_all, timed};

/// Why a bench cannot go on.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
/// What a bench returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Measures one thing in a folder.
pub type Case<'a> = &'a dyn Fn(&Path, &mut Report) -> Result<()>;

/// Prepares the dir, runs the cases that are wanted, each in a folder of its own, and returns the table.
pub fn run(arguments: &Arguments, cases: &[(&str, Case<'_>)]) -> Result<String> {
    let wanted = |name: &str| arguments.only.as_deref().is_none_or(|only| only == name);
    if !cases.iter().any(|(name, _)| wanted(name)) {
        return Err("--only names none of the cases; --help says which there are".into());
    }
    let dir = BenchDir::prepare(arguments.dir.clone())?;
    let mut report = Report::new(&dir);
    for (name, measure) in cases.iter().filter(|(name, _)| wanted(name)) {
        eprintln!("measuring: {name}");
        let place = dir.path().join(name);
        std::fs::create_dir(&place)?;
        measure(&place, &mut report)?;
        // What is left behind would make later cases slower.
        std::fs::remove_dir_all(&place)?;
        dir.sync_file_system()?;
    }
    Ok(if arguments.markdown { report.markdown() } else { report.text() })
}
