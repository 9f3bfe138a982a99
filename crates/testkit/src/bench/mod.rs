//! Shared parts of benches: arguments, the folder to measure in, alternating rounds, and the table
//! of results.
//!
//! Sides alternate in small batches on one file system, and ratios are taken per round: such
//! figures are stable on a noisy machine, where times alone are not.

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

/// An error of a bench.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
/// The result of a bench.
pub type Result<T> = std::result::Result<T, Error>;

/// Measures one case in a folder.
pub type Case<'a> = &'a dyn Fn(&Path, &mut Report) -> Result<()>;

/// Runs the selected cases, each in its own folder, and returns the table.
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
        // Leftovers would slow down later cases.
        std::fs::remove_dir_all(&place)?;
        dir.sync_file_system()?;
    }
    Ok(if arguments.markdown { report.markdown() } else { report.text() })
}
