//! A commit of 1,000 files of 4 KiB to a user tree: all new, then all replaced.
//!
//! The baseline writes and syncs the same files from 8 threads, then syncs each folder once. It is
//! not all-or-nothing: a crash leaves any part of it, and torn files where it replaces them.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cleveragents_filetx::{TreeOptions, Trees};
use testkit::bench::{Report, Result, Target, compare, sync_file_system, timed};

const ROUNDS: usize = 10;
const FILES: usize = 1000;
const FOLDERS: usize = 10;
const BYTES: usize = 4096;
const THREADS: usize = 8;

pub(crate) fn measure(place: &Path, report: &mut Report) -> Result<()> {
    let (ours, by_hand) = (place.join("ours"), place.join("by-hand"));
    for root in [&ours, &by_hand] {
        fs::create_dir(root)?;
        (0..FOLDERS).try_for_each(|folder| fs::create_dir(root.join(folder_name(folder))))?;
    }
    let mut trees = Trees::open(&[&ours], TreeOptions::default(), &testkit::journals::trust)?;
    let mut number = 0_u8;
    let mut number_by_hand = 0_u8;

    let outcome = compare(
        ROUNDS,
        1,
        || {
            clear(&ours)?;
            number = number.wrapping_add(1);
            commit(&mut trees, number)
        },
        || {
            clear(&by_hand)?;
            number_by_hand = number_by_hand.wrapping_add(1);
            write_by_hand(&by_hand, number_by_hand)
        },
    )?;
    report.add("tree commit, 1,000 new files", outcome, Target::RatioAtMost(3.0));

    let outcome = compare(
        ROUNDS,
        1,
        || {
            sync_file_system(place)?;
            number = number.wrapping_add(1);
            commit(&mut trees, number)
        },
        || {
            sync_file_system(place)?;
            number_by_hand = number_by_hand.wrapping_add(1);
            write_by_hand(&by_hand, number_by_hand)
        },
    )?;
    report.add("tree commit, 1,000 files replaced", outcome, Target::Shown);
    Ok(())
}

fn commit(trees: &mut Trees, content: u8) -> Result<Duration> {
    timed(|| {
        let mut transaction = trees.begin();
        for file in 0..FILES {
            transaction.put(&*file_name(file), &[content; BYTES])?;
        }
        let committed = transaction.commit()?;
        if !committed.preserved.is_empty() {
            return Err("another program wrote here".into());
        }
        committed.pending.map_or(Ok(()), |error| Err(error.into()))
    })
}

fn write_by_hand(root: &Path, content: u8) -> Result<Duration> {
    timed(|| {
        let next = AtomicUsize::new(0);
        let write = || -> Result<()> {
            loop {
                let file = next.fetch_add(1, Ordering::Relaxed);
                if file >= FILES {
                    return Ok(());
                }
                let mut file = File::create(root.join(file_name(file)))?;
                file.write_all(&[content; BYTES])?;
                file.sync_all()?;
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(write)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
        })?;
        (0..FOLDERS).try_for_each(|folder| Ok(File::open(root.join(folder_name(folder)))?.sync_all()?))
    })
}

/// Removes all files, so that the next ones are new.
fn clear(root: &Path) -> Result<()> {
    for file in 0..FILES {
        match fs::remove_file(root.join(file_name(file))) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    sync_file_system(root)
}

fn folder_name(folder: usize) -> String {
    format!("folder-{folder}")
}

fn file_name(file: usize) -> String {
    format!("folder-{}/file-{file:04}", file % FOLDERS)
}
