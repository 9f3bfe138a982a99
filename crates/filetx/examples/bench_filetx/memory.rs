//! Peak memory of a tree commit, each in a separate process: 1,000 small files, then as many files
//! with 64 times the bytes.

use std::fs;
use std::io::{Read, repeat};
use std::path::Path;
use std::process::Command;

use cleveragents_filetx::{TreeOptions, Trees};
use testkit::bench::{Report, Result};

/// Argument that starts the measured child.
pub(crate) const CHILD: &str = "--memory-of";
const FILES: usize = 1000;
const SMALL_BYTES: u64 = 4 * 1024;
const LARGE_BYTES: u64 = 256 * 1024;
/// Limit of the ratio. Memory proportional to the bytes would give 64.
const RATIO_MAX: f64 = 1.5;

pub(crate) fn measure(place: &Path, report: &mut Report) -> Result<()> {
    let small_kib = peak_kib(&place.join("small"), SMALL_BYTES)?;
    let large_kib = peak_kib(&place.join("large"), LARGE_BYTES)?;
    let figures = [large_kib, small_kib].map(|kib| format!("{:.1} MiB", kib as f64 / 1024.0));
    let ratio = large_kib as f64 / small_kib as f64;
    report.add_figures("peak memory, 1,000 x 256 KiB beside 1,000 x 4 KiB", figures, ratio, RATIO_MAX);
    Ok(())
}

fn peak_kib(root: &Path, bytes: u64) -> Result<u64> {
    fs::create_dir(root)?;
    let output =
        Command::new(std::env::current_exe()?).arg(CHILD).arg(root).arg(bytes.to_string()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    fs::remove_dir_all(root)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
}

/// Commits, then prints the peak memory of this process in KiB.
pub(crate) fn child(mut arguments: impl Iterator<Item = String>) -> Result<()> {
    let mut next = || arguments.next().ok_or("the folder, then the bytes of one file");
    let (root, bytes) = (next()?, next()?.parse::<u64>()?);
    let mut trees = Trees::open(&[Path::new(&root)], TreeOptions::default(), &testkit::journals::trust)?;
    let mut transaction = trees.begin();
    for file in 0..FILES {
        let mut content = repeat(b'x').take(bytes);
        transaction.put_reader_with_mode(&*format!("file-{file}"), 0o644, &mut content)?;
    }
    let committed = transaction.commit()?;
    if let Some(error) = committed.pending {
        return Err(error.into());
    }
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
    println!("{}", peak.ok_or("the system does not tell the peak")?.trim());
    Ok(())
}
