//! Group commit: threads of one own folder share syncs. One process per test, because the sync
//! counter is per process.
#![cfg(not(feature = "shuttle"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;

use filetx::{Error, Failure, FailureOutcome, FolderOptions, OwnFolder, sync_count};
use testkit::sim::{Fault, FaultDuration, SimDisk};

const THREADS: usize = 8;
const COMMITS: usize = 200;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn open(folder: &Path) -> OwnFolder {
    OwnFolder::open(&folder.join("root"), &folder.join("lock"), FolderOptions::default()).unwrap()
}

fn lines(log: &[u8]) -> Vec<(usize, usize)> {
    let line = |line: &str| {
        let (thread, number) = line.split_once(' ').unwrap();
        (thread.parse().unwrap(), number.parse().unwrap())
    };
    std::str::from_utf8(log).unwrap().lines().map(line).collect()
}

#[test]
fn threads_share_syncs_and_see_earlier_commits() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("root")).unwrap();
    let folder = open(place.path());
    let before = sync_count();
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        for me in 0..THREADS {
            let (folder, start) = (&folder, &start);
            scope.spawn(move || {
                start.wait();
                for number in 0..COMMITS {
                    let mut tx = folder.begin().unwrap();
                    let log = lines(&tx.read("log").unwrap().unwrap_or_default());
                    let mine: Vec<usize> =
                        log.iter().filter(|line| line.0 == me).map(|line| line.1).collect();
                    assert_eq!(
                        mine,
                        (0..number).collect::<Vec<_>>(),
                        "what thread {me} committed is not all there"
                    );
                    let count = tx
                        .read("count")
                        .unwrap()
                        .map_or(0, |text| String::from_utf8(text).unwrap().parse().unwrap());
                    assert_eq!(log.len(), count, "log and count are of one commit");
                    tx.append("log", format!("{me} {number}\n").as_bytes()).unwrap();
                    tx.put("count", (count + 1).to_string().as_bytes()).unwrap();
                    assert!(tx.commit().unwrap().pending.is_none());
                }
            });
        }
    });
    let syncs = sync_count() - before;
    let commits = (THREADS * COMMITS) as u64;
    testkit::report::figure("syncs of 1600 commits by 8 threads", syncs);
    assert!(syncs < commits, "{syncs} syncs for {commits} commits");
    let log = lines(&fs::read(place.path().join("root/log")).unwrap());
    let mut next = BTreeMap::new();
    for (thread, number) in &log {
        assert_eq!(
            *number,
            *next.entry(*thread).and_modify(|next| *next += 1).or_insert(0),
            "one sequence per thread"
        );
    }
    assert_eq!(log.len() as u64, commits);
    assert_eq!(fs::read_to_string(place.path().join("root/count")).unwrap(), commits.to_string());
}

/// The control: one thread cannot share syncs.
#[test]
fn one_thread_syncs_each_commit() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("root")).unwrap();
    let folder = open(place.path());
    let before = sync_count();
    for number in 0..20_u8 {
        let mut tx = folder.begin().unwrap();
        tx.append("log", &[number]).unwrap();
        let _ = tx.commit().unwrap();
    }
    assert_eq!(sync_count() - before, 20);
}

#[test]
fn a_panic_while_staging_blocks_no_thread_and_leaves_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("root")).unwrap();
    let folder = open(place.path());
    thread::scope(|scope| {
        let panics = scope.spawn(|| {
            let mut tx = folder.begin().unwrap();
            tx.put("f", b"never").unwrap();
            tx.put("large", &vec![1; 100_000]).unwrap();
            panic!("on purpose");
        });
        assert!(panics.join().is_err());
        scope.spawn(|| {
            let mut tx = folder.begin().unwrap();
            assert_eq!(tx.path_state("f").unwrap(), filetx::PathState::Absent);
            tx.put("g", b"goes on").unwrap();
            assert!(tx.commit().unwrap().pending.is_none());
        });
    });
    let names: Vec<_> = fs::read_dir(place.path().join("root/.txn/stage")).unwrap().collect();
    assert!(names.is_empty(), "{names:?}");
    assert_eq!(fs::read(place.path().join("root/g")).unwrap(), b"goes on");
}

/// Three threads commit and the disk fails call number `fail_at`. Then the disk works again.
fn failing_batch(fail_at: u64, lasts: FaultDuration) -> (Vec<Result<(), Failure>>, u64) {
    let disk = SimDisk::new();
    let storage = disk.make_root("a");
    let folder = OwnFolder::on_storage(storage.clone(), Path::new("a"), FolderOptions::default()).unwrap();
    let mut tx = folder.begin().unwrap();
    tx.put("log", b"start\n").unwrap();
    let _ = tx.commit().unwrap();
    disk.new_program();
    disk.fail_at(fail_at, Fault::Io, lasts);
    let outcomes = Mutex::new(Vec::new());
    let start = Barrier::new(3);
    thread::scope(|scope| {
        for me in 0..3 {
            let (folder, start, outcomes) = (&folder, &start, &outcomes);
            scope.spawn(move || {
                start.wait();
                let commit = || -> Result<bool, Failure> {
                    let mut tx = folder.begin()?;
                    tx.append("log", format!("{me}\n").as_bytes())?;
                    tx.commit().map(|committed| committed.pending.is_some())
                };
                outcomes.lock().unwrap().push((me, commit()));
            });
        }
    });
    let hits = disk.fault_hits();
    disk.heal();
    let outcomes = outcomes.into_inner().unwrap();
    // The folder is usable and contains all acknowledged commits, no aborted ones, and only
    // complete lines.
    let mut tx = folder.begin().unwrap();
    let log = String::from_utf8(tx.read("log").unwrap().unwrap()).unwrap();
    let there: Vec<&str> = log.strip_prefix("start\n").unwrap().lines().collect();
    for (me, outcome) in &outcomes {
        let count = there.iter().filter(|line| **line == me.to_string()).count();
        match outcome {
            Ok(_) => assert_eq!(count, 1, "acknowledged: {me} in {log:?} after call {fail_at}"),
            Err(Failure { outcome: FailureOutcome::Aborted, .. }) => {
                assert_eq!(count, 0, "aborted: {me} in {log:?} after call {fail_at}")
            }
            Err(Failure { outcome: FailureOutcome::Unknown, .. }) => {
                assert!(count <= 1, "{me} in {log:?} after call {fail_at}")
            }
        }
    }
    tx.append("log", b"later\n").unwrap();
    assert!(tx.commit().unwrap().pending.is_none());
    // Another program sees the same.
    drop(folder);
    let disk = disk.kill();
    let folder = OwnFolder::on_storage(disk.root("a"), Path::new("a"), FolderOptions::default()).unwrap();
    let tx = folder.begin().unwrap();
    assert_eq!(String::from_utf8(tx.read("log").unwrap().unwrap()).unwrap(), log + "later\n");
    (outcomes.into_iter().map(|(_, outcome)| outcome.map(drop)).collect(), hits)
}

#[test]
fn a_failed_call_fails_the_group_and_the_folder_stays_usable() {
    let mut unknown = 0;
    for lasts in [FaultDuration::Once, FaultDuration::Forever] {
        for fail_at in 0..40 {
            let (outcomes, hits) = failing_batch(fail_at, lasts);
            for outcome in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
                assert!(hits > 0, "{outcome:?}");
                match (&outcome.error, outcome.outcome) {
                    // The failure of the group, shared by all its commits.
                    (Error::GroupCommit { source }, FailureOutcome::Unknown) => {
                        assert!(matches!(&**source, Error::Io { .. }), "{source:?}");
                        unknown += 1;
                    }
                    // Staged on the failed batch, or not begun.
                    (Error::Superseded | Error::Io { .. }, FailureOutcome::Aborted) => {}
                    other => panic!("{other:?}"),
                }
            }
            if hits == 0 {
                assert!(outcomes.iter().all(Result::is_ok));
            }
        }
    }
    assert!(unknown > 0, "no sync of a journal failed");
}

/// Two transactions in one batch: the second is staged while the first is being written, and the
/// sync fails.
#[test]
fn commits_staged_on_a_failed_sync_are_superseded() {
    let disk = SimDisk::new();
    let folder =
        OwnFolder::on_storage(disk.make_root("a"), Path::new("a"), FolderOptions::default()).unwrap();
    let calls = |work: &dyn Fn()| {
        disk.new_program();
        work();
        disk.log()
    };
    let commit = |text: &[u8]| -> Result<(), Failure> {
        let mut tx = folder.begin()?;
        tx.append("log", text)?;
        tx.commit().map(drop)
    };
    commit(b"start\n").unwrap();
    let log = calls(&|| commit(b"measured\n").unwrap());
    let sync = log.iter().position(|call| call.contains("sync")).expect("a commit syncs its journal") as u64;
    disk.new_program();
    disk.fail_at(sync, Fault::Io, FaultDuration::Once);
    let second = Mutex::new(None);
    thread::scope(|scope| {
        let (second, folder) = (&second, &folder);
        let (entered, wait) = std::sync::mpsc::channel();
        let (staged, has_staged) = std::sync::mpsc::channel();
        scope.spawn(move || {
            wait.recv().unwrap();
            let mut tx = folder.begin().unwrap();
            tx.append("log", b"second\n").unwrap();
            assert_eq!(tx.read("log").unwrap().unwrap(), b"start\nmeasured\nfirst\nsecond\n");
            staged.send(()).unwrap();
            *second.lock().unwrap() = Some(tx.commit());
        });
        // Just before the sync fails, the other thread stages on top of the batch.
        let has_staged = Mutex::new(has_staged);
        disk.on_call(sync, move |_| {
            entered.send(()).unwrap();
            has_staged.lock().unwrap().recv().unwrap();
        });
        let failure = commit(b"first\n").unwrap_err();
        assert_eq!(failure.outcome, FailureOutcome::Unknown);
        assert!(matches!(failure.error, Error::GroupCommit { .. }), "{failure:?}");
    });
    let failure = second.into_inner().unwrap().unwrap().unwrap_err();
    assert_eq!(failure.outcome, FailureOutcome::Aborted);
    assert!(matches!(failure.error, Error::Superseded), "{failure:?}");
    disk.heal();
    let mut tx = folder.begin().unwrap();
    let log = tx.read("log").unwrap().unwrap();
    assert!(log == b"start\nmeasured\n" || log == b"start\nmeasured\nfirst\n", "{}", log.escape_ascii());
    tx.append("log", b"third\n").unwrap();
    assert!(tx.commit().unwrap().pending.is_none());
    assert_eq!(disk.external_read("a", "log").unwrap(), [log.as_slice(), b"third\n"].concat());
}
