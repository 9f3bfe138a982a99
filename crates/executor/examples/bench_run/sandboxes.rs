//! One sandbox of a tree of 20,000 files, and its changes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use cleveragents_executor::{CopyStrategy, Ignored, Manifest, SandboxOptions, SandboxStrategy};
use testkit::bench::{Report, Result, Target, compare, sync_file_system, timed};

use crate::trees;

const FILES: usize = 20_000;
const ROUNDS: usize = 8;
/// Files that an actor changes.
const EDITS: usize = 10;

pub(crate) fn measure_making(place: &Path, report: &mut Report) -> Result<()> {
    let root = place.join("root");
    trees::make(&root, FILES)?;
    let (sandbox, by_hand) = (place.join("sandbox"), place.join("by-hand"));
    let strategy = CopyStrategy { threads: std::thread::available_parallelism()?.get() };
    let go_on = AtomicBool::new(false);
    let ours = || {
        sync_file_system(place)?;
        let wanted = SandboxOptions {
            root: &root,
            folder: &sandbox,
            ignored: Ignored::Copy,
            excluded: &[],
            file_bytes_max: u64::MAX,
            cancel: &go_on,
        };
        let begun = Instant::now();
        strategy.make(&wanted)?;
        let took = begun.elapsed();
        strategy.remove(&sandbox, &go_on)?;
        Ok(took)
    };
    let cp = || {
        sync_file_system(place)?;
        let mut command = Command::new("cp");
        command.args(["-a", "--reflink=auto"]).arg(&root).arg(&by_hand);
        let took = timed(|| trees::run(&mut command))?;
        fs::remove_dir_all(&by_hand)?;
        Ok(took)
    };
    let outcome = compare(ROUNDS, 1, ours, cp)?.of_processes();
    report.add("sandbox of 20,000 files, beside `cp -a --reflink=auto`", outcome, Target::RatioAtMost(1.1));
    Ok(())
}

pub(crate) fn measure_changes(place: &Path, report: &mut Report) -> Result<()> {
    let root = place.join("root");
    trees::make(&root, FILES)?;
    let sandbox =
        CopyStrategy { threads: std::thread::available_parallelism()?.get() }.make(&SandboxOptions {
            root: &root,
            folder: &place.join("sandbox"),
            ignored: Ignored::Copy,
            excluded: &[],
            file_bytes_max: u64::MAX,
            cancel: &AtomicBool::new(false),
        })?;
    let manifest = Manifest::scan(&sandbox.tree)?;
    // git has an index of its own there, with the times of the original; this brings it up to date.
    let status = || {
        let mut command = Command::new("git");
        command.args(["status", "--porcelain"]).current_dir(&sandbox.tree);
        command
    };
    trees::run(&mut status())?;
    for number in 0..EDITS {
        let file = format!("folder-{:03}/file-{:06}.txt", number * 7, number * 700);
        fs::write(sandbox.tree.join(file), "changed\n")?;
    }
    let ours = || {
        let begun = Instant::now();
        let changes = manifest.changes(&sandbox.tree)?;
        assert_eq!(changes.changes.len(), EDITS);
        Ok(begun.elapsed())
    };
    let git = || {
        timed(|| {
            let found = status().output()?;
            assert_eq!(
                found.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count(),
                EDITS
            );
            Ok(())
        })
    };
    let outcome = compare(2 * ROUNDS, 1, ours, git)?.of_processes();
    report.add("finding 10 changes in 20,000 files, beside `git status`", outcome, Target::RatioAtMost(1.5));
    Ok(())
}
