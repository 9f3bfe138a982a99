//! A full disk is an error, not a crash: SQLite maps its shared memory from a file, and a mapped block
//! that cannot be allocated is SIGBUS.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use store::{PlanStore, SqliteStore};
use testkit::children::{role, send, start};
use testkit::folder::scratch;
use testkit::mount::{FileSystem, Image};
use testkit::report::skipped;
use testkit::store_conformance::fixtures::*;

/// Bytes that are free at most, and steps down from there.
const FREE_MAX: u64 = 192 << 10;
const STEP: u64 = 8 << 10;

#[test]
fn child() {
    if let Some((_, folder)) = role() {
        let opened = SqliteStore::open(&folder.join("home/state.db"));
        let created = opened.and_then(|store| store.create_plan(&new_plan()));
        send(created.map_or_else(|error| error.code(), |_| "created"));
    }
}

/// Fills the disk, but for this many bytes.
fn fill(point: &Path, free: u64) {
    let filler = point.join("filler");
    let _ = std::fs::remove_file(&filler);
    let mut file = File::create(&filler).unwrap();
    let block = [1; 1024];
    let mut bytes = 0;
    while file.write_all(&block).is_ok() {
        bytes += block.len() as u64;
    }
    file.set_len(bytes.saturating_sub(free)).unwrap();
    file.sync_all().unwrap();
}

#[test]
fn a_full_disk_is_an_error() {
    let folder = scratch();
    let disk = match Image::new(folder.path(), FileSystem::Ext4SmallBlocks) {
        Err(reason) => return skipped("sqlite-full-disk", &reason),
        Ok(disk) => disk,
    };
    let mut codes = std::collections::BTreeSet::new();
    for free in (0..=FREE_MAX).rev().step_by(STEP as usize) {
        fill(disk.point(), free);
        for _ in 0..3 {
            // Fails if the process is killed by a signal.
            codes.extend(start("full_disk::child", "create", disk.point()).finish_and_receive());
        }
    }
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), ["created", "store-full"]);
    // With room again, everything works.
    std::fs::remove_file(disk.point().join("filler")).unwrap();
    assert_eq!(start("full_disk::child", "create", disk.point()).finish_and_receive(), ["created"]);
}
