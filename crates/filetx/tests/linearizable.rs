//! Concurrent processes that read and increment a counter under the lock: their history must be that of one after another.
//!
//! Every process writes what it did and when, by the clock that all processes share; porcupine looks for an order that
//! explains it. The control does the same without the lock and must be refused.
#![cfg(all(target_os = "linux", not(feature = "shuttle")))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "nobody is killed here")]
mod children;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use filetx::{Lock, Mode, Wait};
use porcupine_rs::{Model, Operation, check_operations};
use rustix::time::{ClockId, clock_gettime};

use children::{listen, role, say, start};

const PROCESSES: u32 = 4;
const OPERATIONS: u32 = 60;

#[derive(Clone, Debug)]
struct Counter;

#[derive(Clone, Debug)]
enum Act {
    /// Found this value and added one.
    Increment(u64),
    /// Found this value.
    Read(u64),
}

impl Model for Counter {
    type State = u64;
    type Op = Act;
    type Metadata = ();

    fn init() -> u64 {
        0
    }

    fn step(state: &u64, act: &Act) -> (bool, u64) {
        match act {
            Act::Increment(found) => (found == state, state + 1),
            Act::Read(found) => (found == state, *state),
        }
    }
}

#[test]
fn a_history_under_the_lock_is_linearizable() {
    let history = history("locked");
    assert_eq!(history.len() as u32, PROCESSES * OPERATIONS);
    assert!(overlaps(&history), "the processes ran one after another, which shows nothing");
    assert!(check_operations(&history));
}

#[test]
fn without_the_lock_the_checker_objects() {
    assert!(
        (0..20).any(|_| !check_operations(&history("unlocked"))),
        "the race is too tame to show anything"
    );
}

#[test]
fn the_checker_objects_to_a_stale_read() {
    let act = |call_time, return_time, op| Operation::<Counter> {
        client_id: None,
        call_time,
        return_time,
        op,
        metadata: None,
    };
    assert!(check_operations(&[act(0, 3, Act::Increment(0)), act(1, 2, Act::Read(0))]));
    assert!(!check_operations(&[act(0, 1, Act::Increment(0)), act(2, 3, Act::Read(0))]));
}

/// What the other processes do. A plain test run passes here without a role.
#[test]
fn child() {
    let Some((role, folder)) = role() else { return };
    let lock = (role == "locked").then(|| Lock::open(&folder.join("lock")).unwrap());
    say("ready");
    listen();
    let mut random = fastrand::Rng::with_seed(u64::from(std::process::id()));
    let mut record = String::new();
    for _ in 0..OPERATIONS {
        let increments = random.bool();
        let call = now_ns();
        let found = operate(lock.as_ref(), &folder, increments);
        writeln!(record, "{call} {} {increments} {found}", now_ns()).unwrap();
    }
    fs::write(folder.join(format!("history-{}", std::process::id())), record).unwrap();
}

fn operate(lock: Option<&Lock>, folder: &Path, increments: bool) -> u64 {
    let mode = if increments { Mode::Exclusive } else { Mode::Shared };
    let wait = Wait { timeout: Duration::from_secs(60), ..Wait::default() };
    let _guard = lock.map(|lock| lock.acquire(mode, &wait).unwrap());
    let path = folder.join("counter");
    let found = fs::read_to_string(&path).unwrap().trim_end().parse().unwrap();
    if increments {
        // The slower, the more the others would get in between.
        std::thread::yield_now();
        // One write of a fixed size in place: without the lock it is to lose updates, not to be torn.
        use std::os::unix::fs::FileExt;
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(format!("{:020}\n", found + 1).as_bytes(), 0).unwrap();
    }
    found
}

/// One clock for all processes.
fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

fn history(role: &str) -> Vec<Operation<Counter>> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("counter"), format!("{:020}\n", 0)).unwrap();
    let mut processes: Vec<_> = (0..PROCESSES).map(|_| start(role, folder.path())).collect();
    processes.iter_mut().for_each(|process| assert_eq!(process.hear(), "ready"));
    processes.iter_mut().for_each(children::Process::tell);
    let ids: Vec<u32> = processes.iter().map(children::Process::id).collect();
    processes.into_iter().for_each(children::Process::finish);
    ids.into_iter().flat_map(|id| read_history(folder.path(), id)).collect()
}

fn read_history(folder: &Path, id: u32) -> Vec<Operation<Counter>> {
    let record = fs::read_to_string(folder.join(format!("history-{id}"))).unwrap();
    let operation = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let found = fields[3].parse().unwrap();
        Operation {
            client_id: Some(id),
            call_time: fields[0].parse().unwrap(),
            return_time: fields[1].parse().unwrap(),
            op: if fields[2] == "true" { Act::Increment(found) } else { Act::Read(found) },
            metadata: None,
        }
    };
    record.lines().map(operation).collect()
}

fn overlaps(history: &[Operation<Counter>]) -> bool {
    let mut times: Vec<_> = history.iter().map(|act| (act.call_time, act.return_time)).collect();
    times.sort_unstable();
    times.windows(2).any(|pair| pair[1].0 < pair[0].1)
}
