//! Apply against `git apply --index` and `sync`; ten times as many files; a small change of a large tree.

use std::path::Path;

use testkit::bench::{Report, Result, Target, compare};

use super::trees::{Git, Load, Ours};

const ROUNDS: usize = 10;
const FILES: usize = 1000;
/// The memory limit for an apply of 10,000 files, in KiB.
const MEMORY_KIB_MAX: u64 = 100 * 1024;

pub(crate) fn measure(place: &Path, report: &mut Report) -> Result<()> {
    let mut ours = Ours::new(place, Load::of(FILES), 0)?;
    let git = Git::new(place, Load::of(FILES))?;
    let outcome = compare(
        ROUNDS,
        1,
        || {
            let took = ours.apply()?;
            ours.again()?;
            Ok(took)
        },
        || {
            git.reset()?;
            git.apply()
        },
    )?;
    report.add(
        "apply of 1,000 files, beside `git apply --index` and `sync`",
        outcome,
        Target::RatioAtMost(2.0),
    );
    Ok(())
}

pub(crate) fn measure_many(place: &Path, report: &mut Report) -> Result<()> {
    let (few, many) = (place.join("few"), place.join("many"));
    std::fs::create_dir(&few)?;
    std::fs::create_dir(&many)?;
    let mut few = Ours::new(&few, Load::of(FILES), 0)?;
    let mut many = Ours::new(&many, Load::of(10 * FILES), 0)?;
    let before_kib = memory_peak_kib()?;
    let outcome = compare(
        ROUNDS / 3,
        1,
        || {
            let took = many.apply()?;
            many.again()?;
            Ok(took)
        },
        || {
            let took = few.apply()?;
            few.again()?;
            Ok(took)
        },
    )?;
    report.add("apply of 10,000 files, beside 1,000", outcome, Target::RatioAtMost(12.0));
    let peak_kib = memory_peak_kib()?;
    report.note(format!(
        "memory at its highest: {} MiB ({} MiB before applying)",
        peak_kib / 1024,
        before_kib / 1024
    ));
    let ratio = peak_kib as f64 / MEMORY_KIB_MAX as f64;
    let figures = [format!("{} MiB", peak_kib / 1024), "100 MiB".to_owned()];
    report.add_figures("memory for 10,000 files, with recording them", figures, ratio, 1.0);
    Ok(())
}

pub(crate) fn measure_tree(place: &Path, report: &mut Report) -> Result<()> {
    let (small, large) = (place.join("small"), place.join("large"));
    std::fs::create_dir(&small)?;
    std::fs::create_dir(&large)?;
    let mut small = Ours::new(&small, Load::of(10), 100)?;
    let mut large = Ours::new(&large, Load::of(10), 100_000)?;
    let outcome = compare(
        2 * ROUNDS,
        1,
        || {
            let took = large.apply()?;
            large.again()?;
            Ok(took)
        },
        || {
            let took = small.apply()?;
            small.again()?;
            Ok(took)
        },
    )?;
    report.add(
        "apply of 10 files to a tree of 100,000, beside one of 100",
        outcome,
        Target::RatioAtMost(1.5),
    );
    Ok(())
}

/// The peak memory of this process.
fn memory_peak_kib() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("the kernel tells the peak")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
