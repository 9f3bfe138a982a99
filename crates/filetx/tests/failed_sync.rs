//! After a failed sync the system has dropped the writes: a program that continues must write them
//! again.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::path::Path;

use filetx::{CommitReport, Failure, FolderOptions, OwnFolder};
use testkit::sim::{Fault, FaultDuration, SimDisk};

/// Number of possible disks after a power cut that are checked per call.
const CUTS_MAX: usize = 200;
/// Upper bound of the disk calls of one commit.
const CALLS_MAX: u64 = 60;

fn commit(folder: &OwnFolder, number: u32) -> Result<CommitReport, Failure> {
    let mut tx = folder.begin()?;
    // Two of these do not fit into the journal, so every commit needs a checkpoint.
    tx.put(&*number.to_string(), text(number).as_bytes())?;
    tx.commit()
}

fn text(number: u32) -> String {
    format!("{number} ").repeat(600)
}

fn open(disk: &SimDisk) -> OwnFolder {
    let options = FolderOptions { journal_bytes: 0, journal_bytes_max: 0, ..FolderOptions::default() };
    OwnFolder::on_storage(disk.root("a"), Path::new("a"), options).unwrap()
}

#[test]
fn a_commit_after_one_that_failed_at_its_checkpoint_loses_nothing() {
    let mut hits = 0;
    for call in 0..CALLS_MAX {
        let disk = SimDisk::new();
        disk.make_root("a");
        let folder = open(&disk);
        let mut acknowledged = vec![1, 2];
        assert!(commit(&folder, 1).unwrap().pending.is_none());
        disk.settle();
        assert!(commit(&folder, 2).unwrap().pending.is_none());
        disk.fail_at(disk.calls() + call, Fault::Io, FaultDuration::Once);
        match commit(&folder, 3) {
            Ok(CommitReport { pending: None, .. }) => acknowledged.push(3),
            result => {
                hits += 1;
                acknowledged.extend(result.is_ok().then_some(3));
                // A program that continues.
                assert!(commit(&folder, 4).unwrap().pending.is_none());
                acknowledged.push(4);
            }
        }
        drop(folder);
        for cut in disk.sampled_crash_states(call, CUTS_MAX) {
            drop(open(&cut.disk));
            for &number in &acknowledged {
                let found = cut.disk.external_read("a", &number.to_string()).unwrap_or_default();
                let found = String::from_utf8_lossy(&found);
                assert!(found == text(number), "call {call}: {number} is {found:?}\n{}", cut.describe());
            }
        }
    }
    assert!(hits > 3, "only {hits} calls failed");
}
