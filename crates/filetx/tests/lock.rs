//! The lock among real processes and threads.
#![cfg(all(unix, not(feature = "shuttle")))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use filetx::{Error, FileKind, Lock, LockMode, Wait, WaitNotice, acquire_all};
use tempfile::{TempDir, tempdir};
use testkit::children::{self, Process, role, send, wait_for_parent};

/// Long enough for any machine; a test that needs it fails anyway.
fn start(role: &str, folder: &Path) -> Process {
    children::start("child", role, folder)
}

const PATIENT: Wait =
    Wait { timeout: Duration::from_secs(60), notice_after: Duration::from_secs(60), on_wait: None };
/// One attempt.
const ONCE: Wait = Wait { timeout: Duration::ZERO, ..PATIENT };

const PROCESSES: usize = 8;
const INCREMENTS: u64 = 200;
const WRITERS: usize = 4;
const WRITES: u64 = 100;

/// The other processes. A plain test run has no role.
#[test]
fn child() {
    let Some((role, folder)) = role() else { return };
    if role == "open with umask" {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o777));
    }
    let lock = Lock::open(&folder.join("lock")).unwrap();
    match role.as_str() {
        "hold exclusive" => hold(&lock, LockMode::Exclusive),
        "hold shared" => hold(&lock, LockMode::Shared),
        "open with umask" => {}
        "hold and exec" => {
            let _guard = lock.acquire(LockMode::Exclusive, &PATIENT).unwrap();
            #[expect(clippy::zombie_processes, reason = "it is to outlive this process")]
            Command::new("cat").stdin(Stdio::inherit()).stdout(Stdio::null()).spawn().unwrap();
            send("held");
            wait_for_parent();
        }
        "increment" => (0..INCREMENTS).for_each(|_| {
            let guard = lock.acquire(LockMode::Exclusive, &PATIENT).unwrap();
            increment(&folder);
            drop(guard);
        }),
        "increment checked" => increment_checked(&lock, &folder, true),
        "increment unchecked" => increment_checked(&lock, &folder, false),
        "fork" => fork(&lock, &folder.join("lock")),
        other => panic!("unknown role {other}"),
    }
}

fn hold(lock: &Lock, mode: LockMode) {
    let on_wait: filetx::OnWait = Arc::new(|_| send("waiting"));
    let wait = Wait { notice_after: Duration::ZERO, on_wait: Some(on_wait), ..PATIENT };
    let guard = lock.acquire(mode, &wait).unwrap();
    send("held");
    wait_for_parent();
    drop(guard);
    send("released");
    wait_for_parent();
}

fn counter(folder: &Path) -> u64 {
    fs::read_to_string(folder.join("counter")).unwrap().trim_end().parse().unwrap()
}

fn increment(folder: &Path) {
    let next = counter(folder) + 1;
    set_counter(folder, next);
}

/// One write of a fixed size, so that a reader without the lock sees a number.
fn set_counter(folder: &Path, value: u64) {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(false).open(folder.join("counter")).unwrap();
    file.write_all(format!("{value:020}\n").as_bytes()).unwrap();
}

fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    set_counter(folder.path(), 0);
    folder
}

fn open(folder: &TempDir) -> Lock {
    Lock::open(&folder.path().join("lock")).unwrap()
}

fn is_free(lock: &Lock, mode: LockMode) -> bool {
    match lock.acquire(mode, &ONCE) {
        Ok(_guard) => true,
        Err(Error::Busy { .. }) => false,
        Err(other) => panic!("{other}"),
    }
}

// [lck-holder]

#[test]
fn timeout_names_the_lock_and_its_holder() {
    let folder = folder();
    let lock = open(&folder);
    let mut holder = start("hold exclusive", folder.path());
    holder.receive();
    let notices = Arc::new(Mutex::new(Vec::<WaitNotice>::new()));
    let on_wait = {
        let notices = Arc::clone(&notices);
        Arc::new(move |waiting: &WaitNotice| notices.lock().unwrap().push(waiting.clone()))
    };
    let (timeout, notice_after) = (Duration::from_millis(60), Duration::from_millis(20));
    let wait = Wait { timeout, notice_after, on_wait: Some(on_wait) };
    let error = lock.acquire(LockMode::Exclusive, &wait).unwrap_err();
    let Error::Busy { lock: path, holder: Some(named), waited } = &error else { panic!("{error}") };
    assert_eq!(path, &folder.path().join("lock"));
    assert_eq!(named.pid, holder.id());
    assert!(named.command.starts_with("lock-"), "{named}");
    assert!(named.since_unix_s > 1_700_000_000);
    assert!(*waited >= timeout && *waited < Duration::from_secs(30), "{waited:?}");
    assert!(error.to_string().contains(&format!("process {}", holder.id())), "{error}");
    let notices = notices.lock().unwrap();
    assert_eq!(notices.len(), 1, "one notice");
    assert_eq!((&notices[0].lock, &notices[0].holder), (path, &Some(named.clone())));
    assert!(notices[0].waited >= notice_after && notices[0].waited <= *waited);
    holder.finish();
}

#[test]
fn the_note_of_the_last_writer_does_not_name_readers() {
    let folder = folder();
    let lock = open(&folder);
    // The note names this process, which is alive.
    drop(lock.acquire(LockMode::Exclusive, &ONCE).unwrap());
    let mut reader = start("hold shared", folder.path());
    reader.receive();
    let error = lock.acquire(LockMode::Exclusive, &ONCE).unwrap_err();
    if cfg!(target_os = "linux") {
        assert!(matches!(error, Error::Busy { holder: None, .. }), "{error}");
    }
    reader.finish();
}

#[test]
fn a_dead_holder_is_not_named() {
    let folder = folder();
    let mut dead = start("hold exclusive", folder.path());
    dead.receive();
    dead.kill();
    // Another process holds it, without a note.
    let other = File::open(folder.path().join("lock")).unwrap();
    other.try_lock().unwrap();
    let error = open(&folder).acquire(LockMode::Exclusive, &ONCE).unwrap_err();
    assert!(matches!(error, Error::Busy { holder: None, .. }), "{error}");
}

// [lck-kill]

#[test]
fn a_killed_holder_frees_the_lock_at_once() {
    let folder = folder();
    let lock = open(&folder);
    let mut holder = start("hold exclusive", folder.path());
    holder.receive();
    assert!(!is_free(&lock, LockMode::Shared));
    holder.kill();
    assert!(is_free(&lock, LockMode::Exclusive));
}

#[test]
fn shared_and_exclusive_between_processes() {
    for (held, wanted, free) in [
        ("hold shared", LockMode::Shared, true),
        ("hold shared", LockMode::Exclusive, false),
        ("hold exclusive", LockMode::Shared, false),
        ("hold exclusive", LockMode::Exclusive, false),
    ] {
        let folder = folder();
        let lock = open(&folder);
        let mut holder = start(held, folder.path());
        holder.receive();
        assert_eq!(is_free(&lock, wanted), free, "{wanted:?} while others {held}");
        holder.notify();
        assert_eq!(holder.receive(), "released");
        assert!(is_free(&lock, wanted), "{wanted:?} after others {held}");
        holder.finish();
    }
}

#[test]
fn processes_lose_no_increment() {
    let folder = folder();
    let children: Vec<_> = (0..PROCESSES).map(|_| start("increment", folder.path())).collect();
    children.into_iter().for_each(Process::finish);
    assert_eq!(counter(folder.path()), PROCESSES as u64 * INCREMENTS);
}

// [lck-clean]

#[test]
fn check_detects_a_removed_lock_file() {
    let folder = folder();
    let lock = open(&folder);
    let guard = lock.acquire(LockMode::Exclusive, &ONCE).unwrap();
    guard.check().unwrap();
    fs::remove_file(folder.path().join("lock")).unwrap();
    assert!(matches!(guard.check(), Err(Error::LockFileReplaced { .. })));
    fs::write(folder.path().join("lock"), "").unwrap();
    assert!(matches!(guard.check(), Err(Error::LockFileReplaced { .. })), "another file of that name");
    drop(guard);
    let before = lock.id();
    lock.acquire(LockMode::Exclusive, &ONCE).unwrap().check().unwrap();
    assert_ne!(lock.id(), before);
}

#[test]
fn a_waiter_on_a_removed_lock_file_gets_the_new_one() {
    let folder = folder();
    let lock = open(&folder);
    let guard = lock.acquire(LockMode::Exclusive, &ONCE).unwrap();
    let mut waiting = start("hold exclusive", folder.path());
    assert_eq!(waiting.receive(), "waiting");
    fs::remove_file(folder.path().join("lock")).unwrap();
    drop(guard);
    assert_eq!(waiting.receive(), "held");
    assert!(!is_free(&lock, LockMode::Exclusive), "both use the file that the path names");
    waiting.finish();
}

/// Writers count under the lock while another thread removes its file repeatedly. `check` detects
/// it.
///
/// The lock cannot exclude a remover between `check` and the write: a documented limit. A gate
/// excludes it here, so that the test checks the lock and not that window.
#[test]
fn removing_the_lock_file_never_loses_a_write() {
    assert_eq!(race_with_remover("increment checked"), WRITERS as u64 * WRITES);
}

/// The control: without the check, the same race loses writes.
#[test]
fn without_the_check_a_removed_lock_file_loses_writes() {
    let total = WRITERS as u64 * WRITES;
    let lost = (0..20).any(|_| race_with_remover("increment unchecked") < total);
    assert!(lost, "the race is too tame to show anything");
}

fn race_with_remover(role: &str) -> u64 {
    let folder = folder();
    let gate = File::create(folder.path().join("gate")).unwrap();
    let mut writers: Vec<_> = (0..WRITERS).map(|_| start(role, folder.path())).collect();
    let (done, finished) = mpsc::channel();
    thread::scope(|scope| {
        let (folder, gate) = (folder.path(), &gate);
        scope.spawn(move || {
            let mut seen = 0;
            while let Err(mpsc::TryRecvError::Empty) = finished.try_recv() {
                // Only after progress, so that the writers finish.
                let now = counter(folder);
                if now != seen {
                    seen = now;
                    gate.lock().unwrap();
                    let _ = fs::remove_file(folder.join("lock"));
                    gate.unlock().unwrap();
                }
                thread::yield_now();
            }
        });
        for writer in &mut writers {
            assert_eq!(writer.receive(), "done");
        }
        done.send(()).unwrap();
    });
    writers.into_iter().for_each(Process::finish);
    counter(folder.path())
}

fn increment_checked(lock: &Lock, folder: &Path, checked: bool) {
    let gate = File::open(folder.join("gate")).unwrap();
    let mut written = 0;
    while written < WRITES {
        let guard = lock.acquire(LockMode::Exclusive, &PATIENT).unwrap();
        let next = counter(folder) + 1;
        thread::yield_now();
        gate.lock_shared().unwrap();
        let gone = checked && matches!(guard.check(), Err(Error::LockFileReplaced { .. }));
        if !gone {
            set_counter(folder, next);
            written += 1;
        }
        gate.unlock().unwrap();
    }
    send("done");
}

// Fork and exec.

#[test]
fn a_forked_child_neither_holds_nor_releases_the_lock() {
    let folder = folder();
    // In a separate process: other tests of this one may be inside the registry during the fork.
    start("fork", folder.path()).finish();
}

#[expect(unsafe_code, reason = "std has no fork")]
fn fork(lock: &Lock, file: &Path) {
    let guard = lock.acquire(LockMode::Exclusive, &ONCE).unwrap();
    // SAFETY: no other thread of this process holds a mutex: the harness waits for this one.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let gone = matches!(guard.check(), Err(Error::LockFileReplaced { .. }));
        drop(guard);
        // The lock is still the parent's: the child gets neither `AlreadyHeld` nor the lock of the
        // shared file.
        let busy = matches!(lock.acquire(LockMode::Shared, &ONCE), Err(Error::Busy { .. }));
        std::process::exit(i32::from(!(gone && busy)));
    }
    let mut status = 0;
    // SAFETY: `status` lives; `pid` is our child.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert_eq!(status, 0, "the child saw something else");
    guard.check().unwrap();
    let other = File::open(file).unwrap();
    assert!(other.try_lock().is_err(), "the parent holds it still");
    drop(guard);
    assert!(is_free(lock, LockMode::Exclusive));
}

#[test]
fn an_execd_program_does_not_inherit_the_lock() {
    let folder = folder();
    let lock = open(&folder);
    let mut holder = start("hold and exec", folder.path());
    holder.receive();
    assert!(!is_free(&lock, LockMode::Shared));
    // The program that it started is alive: its input is still open.
    holder.kill();
    assert!(is_free(&lock, LockMode::Exclusive));
}

// Threads of one process.

#[test]
fn a_nested_acquire_reports_the_first_location() {
    let folder = folder();
    let (lock, other) = (open(&folder), open(&folder));
    let line = line!() + 1;
    let guard = lock.acquire(LockMode::Exclusive, &ONCE).unwrap();
    for mode in [LockMode::Shared, LockMode::Exclusive] {
        for lock in [&lock, &other] {
            let error = lock.acquire(mode, &PATIENT).unwrap_err();
            assert!(error.to_string().contains(&format!("{}:{line}", file!())), "{error}");
            assert!(matches!(lock.acquire_send(mode, &PATIENT), Err(Error::AlreadyHeld { .. })));
        }
    }
    drop(guard);
    let first = lock.acquire(LockMode::Shared, &ONCE).unwrap();
    let second = other.acquire(LockMode::Shared, &ONCE).unwrap();
    assert!(matches!(lock.acquire(LockMode::Exclusive, &PATIENT), Err(Error::AlreadyHeld { .. })));
    drop(first);
    assert!(matches!(lock.acquire(LockMode::Exclusive, &PATIENT), Err(Error::AlreadyHeld { .. })));
    drop(second);
    assert!(is_free(&lock, LockMode::Exclusive));
}

#[test]
fn another_thread_waits_for_the_lock() {
    let folder = folder();
    let lock = open(&folder);
    let guard = lock.acquire(LockMode::Exclusive, &ONCE).unwrap();
    let (waiting, notices) = mpsc::channel();
    let on_wait = Arc::new(move |waited: &WaitNotice| waiting.send(waited.clone()).unwrap());
    let wait = Wait { notice_after: Duration::ZERO, on_wait: Some(on_wait), ..PATIENT };
    thread::scope(|scope| {
        let thread = scope.spawn(|| lock.acquire(LockMode::Exclusive, &wait).map(|guard| guard.check()));
        let notice = notices.recv().unwrap();
        assert_eq!(notice.holder.map(|holder| holder.pid), Some(std::process::id()));
        assert!(!thread.is_finished());
        drop(guard);
        thread.join().unwrap().unwrap().unwrap();
    });
}

#[test]
fn another_thread_fails_after_the_timeout() {
    let folder = folder();
    let lock = open(&folder);
    let _guard = lock.acquire(LockMode::Shared, &ONCE).unwrap();
    let timeout = Duration::from_millis(20);
    let wait = Wait { timeout, ..Wait::default() };
    thread::scope(|scope| {
        let thread = scope.spawn(|| lock.acquire(LockMode::Exclusive, &wait).map(drop));
        let error = thread.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::Busy { waited, .. } if waited >= timeout), "{error}");
        scope.spawn(|| assert!(is_free(&lock, LockMode::Shared), "readers share"));
    });
}

#[test]
fn a_send_guard_moves_between_threads() {
    let folder = folder();
    let lock = open(&folder);
    let held = lock.acquire_send(LockMode::Exclusive, &ONCE).unwrap();
    assert!(!is_free(&lock, LockMode::Shared), "it belongs to no thread, so it is waited for");
    thread::scope(|scope| {
        scope.spawn(move || {
            held.check().unwrap();
            drop(held);
        });
    });
    assert!(is_free(&lock, LockMode::Exclusive));
}

#[test]
fn the_last_reader_of_a_process_unlocks_for_others() {
    let folder = folder();
    let (first, second) = (open(&folder), open(&folder));
    let outside = File::open(folder.path().join("lock")).unwrap();
    let one = first.acquire_send(LockMode::Shared, &ONCE).unwrap();
    let two = second.acquire_send(LockMode::Shared, &ONCE).unwrap();
    drop((one, first));
    assert!(outside.try_lock().is_err(), "the second reader is left, through the first one's file");
    drop(two);
    outside.try_lock().unwrap();
}

#[test]
fn threads_lose_no_increment() {
    let folder = folder();
    let lock = open(&folder);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = open(&folder);
                for turn in 0..INCREMENTS {
                    let lock = if turn % 2 == 0 { &lock } else { &own };
                    let guard = lock.acquire(LockMode::Exclusive, &PATIENT).unwrap();
                    increment(folder.path());
                    drop(guard);
                }
            });
        }
    });
    assert_eq!(counter(folder.path()), 4 * INCREMENTS);
}

// Files.

#[test]
fn two_paths_to_one_file_are_one_lock() {
    let folder = folder();
    symlink(folder.path(), folder.path().join("again")).unwrap();
    let lock = open(&folder);
    let other = Lock::open(&folder.path().join("again/lock")).unwrap();
    assert_eq!(lock.id(), other.id());
    let guard = lock.acquire(LockMode::Exclusive, &ONCE).unwrap();
    assert!(matches!(other.acquire(LockMode::Exclusive, &ONCE), Err(Error::AlreadyHeld { .. })));
    drop(guard);
    assert!(is_free(&other, LockMode::Exclusive));
}

#[test]
fn only_plain_files_are_locks() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    symlink("counter", path("link")).unwrap();
    fs::create_dir(path("folder")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, path("fifo"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    for (name, kind) in [("link", FileKind::Symlink), ("folder", FileKind::Folder), ("fifo", FileKind::Other)]
    {
        for error in [Lock::open(&path(name)).err(), Lock::open_existing(&path(name)).err()] {
            assert!(
                matches!(error, Some(Error::WrongFileKind { found, .. }) if found == kind),
                "{name}: {error:?}"
            );
        }
    }
    assert!(matches!(Lock::open(&path("missing/lock")), Err(Error::Io { .. })));
    assert!(matches!(Lock::open(Path::new("")), Err(Error::Io { .. })));
}

#[test]
fn an_inaccessible_path_is_an_error() {
    let folder = folder();
    let (inner, aside) = (folder.path().join("inner"), folder.path().join("aside"));
    fs::create_dir(&inner).unwrap();
    let path = inner.join("lock");
    let lock = Lock::open(&path).unwrap();
    let guard = lock.acquire(LockMode::Exclusive, &ONCE).unwrap();
    fs::rename(&inner, &aside).unwrap();
    assert!(matches!(guard.check(), Err(Error::LockFileReplaced { .. })), "its folder was moved");
    symlink("inner", &inner).unwrap();
    assert!(matches!(guard.check(), Err(Error::Io { .. })), "its folder leads in circles");
    drop(guard);
    assert!(matches!(lock.acquire(LockMode::Shared, &ONCE), Err(Error::Io { .. })));
    assert!(matches!(Lock::open(&path), Err(Error::Io { .. })));
    fs::remove_file(&inner).unwrap();
    fs::rename(&aside, &inner).unwrap();
    assert!(is_free(&lock, LockMode::Exclusive), "nothing was left locked");
}

#[test]
fn a_new_lock_file_has_exactly_its_mode() {
    let folder = folder();
    let path = folder.path().join("lock");
    // The umask is per process, so another process creates the file.
    start("open with umask", folder.path()).finish();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
}

#[test]
fn readers_use_a_lock_file_they_cannot_write() {
    let folder = folder();
    let path = folder.path().join("lock");
    assert!(Lock::open_existing(&path).unwrap().is_none());
    assert!(!path.exists(), "a reader makes nothing");
    let lock = open(&folder);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let before = fs::read(&path).unwrap();
    let reader = Lock::open_existing(&path).unwrap().unwrap();
    let guard = reader.acquire(LockMode::Shared, &ONCE).unwrap();
    guard.check().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert!(!is_free(&lock, LockMode::Exclusive)));
    });
    drop(guard);
    assert!(is_free(&reader, LockMode::Exclusive), "it may also be alone, without a note");
    assert_eq!(fs::read(&path).unwrap(), before);
    fs::remove_file(&path).unwrap();
    assert!(matches!(reader.acquire(LockMode::Shared, &ONCE), Err(Error::NotFound { .. })));
}

// Several locks.

#[test]
fn acquire_all_acquires_each_lock_once_in_order() {
    let folder = folder();
    let open = |name: &str| Lock::open(&folder.path().join(name)).unwrap();
    let (a, b, again) = (open("a"), open("b"), open("a"));
    let guards =
        acquire_all(&[(&b, LockMode::Shared), (&again, LockMode::Shared), (&a, LockMode::Exclusive)], &ONCE)
            .unwrap();
    assert_eq!(guards.len(), 2);
    let free = |name: &str, shared: bool| {
        let file = File::open(folder.path().join(name)).unwrap();
        if shared { file.try_lock_shared().is_ok() } else { file.try_lock().is_ok() }
    };
    assert!(!free("a", true), "exclusive wins");
    assert!(free("b", true) && !free("b", false));
    drop(guards);
    assert!(free("a", false) && free("b", false));
}

#[test]
fn a_failed_acquire_all_releases_all() {
    let folder = folder();
    let open = |name: &str| Lock::open(&folder.path().join(name)).unwrap();
    let mut locks = [open("a"), open("b")];
    locks.sort_by_key(Lock::id);
    let last = File::open(if locks[1].id() == open("a").id() {
        folder.path().join("a")
    } else {
        folder.path().join("b")
    });
    let last = last.unwrap();
    last.try_lock().unwrap();
    let wait = Wait { timeout: Duration::from_millis(10), ..Wait::default() };
    let since = Instant::now();
    let wanted = [(&locks[1], LockMode::Exclusive), (&locks[0], LockMode::Exclusive)];
    assert!(matches!(acquire_all(&wanted, &wait), Err(Error::Busy { .. })));
    assert!(since.elapsed() >= wait.timeout);
    assert!(is_free(&locks[0], LockMode::Exclusive));
}

#[test]
fn opposite_orders_do_not_deadlock() {
    let folder = folder();
    let open = |name: &str| Lock::open(&folder.path().join(name)).unwrap();
    let (a, b) = (open("a"), open("b"));
    thread::scope(|scope| {
        for turn in 0..2 {
            let (a, b, folder) = (&a, &b, &folder);
            scope.spawn(move || {
                for _ in 0..INCREMENTS {
                    let (first, second) = if turn == 0 { (a, b) } else { (b, a) };
                    let guards =
                        acquire_all(&[(first, LockMode::Exclusive), (second, LockMode::Exclusive)], &PATIENT)
                            .unwrap();
                    increment(folder.path());
                    drop(guards);
                }
            });
        }
    });
    assert_eq!(counter(folder.path()), 2 * INCREMENTS);
}
