//! Concurrent processes read and increment a counter under the lock. Their history must be
//! linearizable.
//!
//! Every process logs its operations with the shared clock; porcupine searches for an order that
//! explains them. The control runs without the lock and must fail.
#![cfg(all(target_os = "linux", not(feature = "shuttle")))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::fs;
use std::path::Path;
use std::time::Duration;

use filetx::{Lock, LockMode, Wait};
use testkit::children::{Process, role, send, start, wait_for_parent};
use testkit::history::{self, CallLog, Count, Counter, LoggedCall, Operation, check_operations, overlaps};

const PROCESSES: u32 = 4;
const OPERATIONS: u32 = 60;

#[test]
fn a_history_under_the_lock_is_linearizable() {
    let history = history("locked");
    assert_eq!(history.len() as u32, PROCESSES * OPERATIONS);
    assert!(overlaps(&history), "the processes ran one after another, which shows nothing");
    assert!(check_operations(&history));
}

#[test]
fn without_the_lock_the_checker_fails() {
    assert!(
        (0..20).any(|_| !check_operations(&history("unlocked"))),
        "the race is too tame to show anything"
    );
}

/// The other processes. A plain test run has no role.
#[test]
fn child() {
    let Some((role, folder)) = role() else { return };
    let lock = (role == "locked").then(|| Lock::open(&folder.join("lock")).unwrap());
    send("ready");
    wait_for_parent();
    let mut random = fastrand::Rng::with_seed(u64::from(std::process::id()));
    let mut notebook = CallLog::open(&folder);
    for _ in 0..OPERATIONS {
        let increments = random.bool();
        let what = if increments { "increment" } else { "read" };
        notebook.record(what, |_| operate(lock.as_ref(), &folder, increments));
    }
}

fn operate(lock: Option<&Lock>, folder: &Path, increments: bool) -> u64 {
    let mode = if increments { LockMode::Exclusive } else { LockMode::Shared };
    let wait = Wait { timeout: Duration::from_secs(60), ..Wait::default() };
    let _guard = lock.map(|lock| lock.acquire(mode, &wait).unwrap());
    let path = folder.join("counter");
    let found = fs::read_to_string(&path).unwrap().trim_end().parse().unwrap();
    if increments {
        // A slow operation gives other processes more chances to interfere.
        std::thread::yield_now();
        // One write of a fixed size, so that the control loses updates and tears nothing.
        use std::os::unix::fs::FileExt;
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(format!("{:020}\n", found + 1).as_bytes(), 0).unwrap();
    }
    found
}

fn history(role: &str) -> Vec<Operation<Counter>> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("counter"), format!("{:020}\n", 0)).unwrap();
    let mut processes: Vec<_> = (0..PROCESSES).map(|_| start("child", role, folder.path())).collect();
    processes.iter_mut().for_each(|process| assert_eq!(process.receive(), "ready"));
    processes.iter_mut().for_each(Process::notify);
    processes.into_iter().for_each(Process::finish);
    let act = |noted: &LoggedCall| {
        let (_, found) = noted.answer.as_ref().unwrap();
        let found = found.parse().unwrap();
        let op = if noted.what == "increment" { Count::Increment(found) } else { Count::Read(found) };
        noted.operation(i64::MAX, op)
    };
    history::read(folder.path()).iter().map(act).collect()
}
