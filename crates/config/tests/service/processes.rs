//! Many processes on one file, some of them killed: no acknowledged write is lost, no reader sees a
//! partial file, and reads and writes of one key are linearizable.

use std::path::Path;

use config::{ConfigDirs, ConfigService, Environment, Registry, Scope, Value};
use testkit::children::{self, Process, role, send, wait_for_parent};
use testkit::contended_config::{self, name_of, value_of};
use testkit::history::{self, Access, CallLog, Operation, Register, check_operations, overlaps};
use testkit::report::{figure, is_proof};
use testkit::{folder, seed, unlocked_edit};

use crate::support::{Fixture, key, names};

const SETS: usize = 50;
/// Files in the home folder without a writer.
const QUIET: [&str; 2] = [".config.toml.lock", "config.toml"];

fn fixture_in_memory() -> Fixture {
    let fixture = Fixture::within(folder::scratch());
    fixture.write(Scope::Global, contended_config::text());
    fixture
}

/// Starts processes in a role, each ready to begin.
fn start(role: &str, count: usize, home: &Path) -> Vec<Process> {
    let mut processes: Vec<_> = (0..count).map(|_| children::start("processes::child", role, home)).collect();
    processes.iter_mut().for_each(|process| assert_eq!(process.receive(), "ready"));
    processes
}

/// Starts all processes at once, while a reader polls, and waits for their success.
fn contend(count: usize, fixture: &Fixture) {
    let mut writers = start("set", count, &fixture.dirs.home);
    let file = fixture.file(Scope::Global);
    let (said, polls) = contended_config::poll_during(&file, || {
        writers.iter_mut().for_each(Process::notify);
        writers.iter_mut().map(Process::receive).collect::<Vec<_>>()
    });
    assert!(said.iter().all(|word| word == "done"), "{said:?}");
    let ids: Vec<u32> = writers.iter().map(Process::id).collect();
    writers.into_iter().for_each(Process::finish);
    let set: Vec<_> = ids.iter().flat_map(|id| (0..SETS).map(move |n| name_of(*id, n))).collect();
    assert_eq!(contended_config::check(&file, &set), set.len());
    assert_eq!(names(&fixture.dirs.home), QUIET);
    figure(&format!("config: sets by {count} processes, none lost"), count * SETS);
    figure(&format!("config: whole files seen by a reader beside {count} processes"), polls);
}

#[test]
fn eight_processes_lose_no_update() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, contended_config::text());
    contend(8, &fixture);
}

#[test]
fn sixty_four_processes_lose_no_update() {
    contend(64, &fixture_in_memory());
}

#[test]
fn naive_writers_lose_updates() {
    let loses = || {
        let fixture = fixture_in_memory();
        let mut writers = start("naive", 8, &fixture.dirs.home);
        writers.iter_mut().for_each(Process::notify);
        writers.into_iter().for_each(Process::finish);
        fixture.read(Scope::Global).lines().filter(|line| line.starts_with('w')).count() < 8 * SETS
    };
    assert!((0..10).any(|_| loses()), "the race is too tame to show anything");
}

/// Kills one process after the other, replacing each by a new one; kills all at the end.
fn with_kills(role: &str, count: usize, kills: usize, between: usize, seed: u64, home: &Path) {
    let begin = || {
        let mut process = start(role, 1, home).remove(0);
        process.notify();
        process
    };
    children::with_kills(count, kills, between, &mut fastrand::Rng::with_seed(seed), begin);
}

#[test]
fn kills_lose_no_acknowledged_write() {
    // Not 64: processes are not served in order, and one among so many may wait longer than 30 s.
    let (count, kills) = if is_proof() { (16, 60) } else { (8, 16) };
    let seed = seed::from_env_or(7106);
    let _replay = seed::Replay::new("cleveragents-config", "killed_processes_lose", seed);
    let fixture = fixture_in_memory();
    let home = &fixture.dirs.home;
    with_kills("set endlessly", count, kills, 6, seed, home);
    let noted = history::read(home);
    let acknowledged: Vec<_> =
        noted.iter().filter(|noted| noted.answer.is_some()).map(|noted| noted.what.clone()).collect();
    assert!(acknowledged.len() > kills, "too few to show anything: {}", acknowledged.len());
    let set = contended_config::check(&fixture.file(Scope::Global), &acknowledged);
    // A process that was killed may have begun another write.
    let begun = noted.len();
    assert!((acknowledged.len()..=begun).contains(&set), "{set} of {begun}");
    // The next write waits for no dead process, and removes leftovers.
    fixture.service().set_value(Scope::Global, &key("x.w.w"), "1").unwrap();
    let left: Vec<_> = names(home).into_iter().filter(|name| !name.starts_with("notes-")).collect();
    assert_eq!(left, QUIET);
    let waits = noted.iter().filter_map(|noted| Some(noted.answer.as_ref()?.0 - noted.call_time));
    let longest_ms = waits.max().unwrap_or_default() / 1_000_000;
    figure(&format!("config: longest set of {count} processes that never pause, ms"), longest_ms);
    figure("config: SIGKILLs of writers", kills + count);
    figure("config: sets acknowledged by writers that were killed, all there", acknowledged.len());
}

/// Returns the history of one key that all processes set and get, with kills, and its final value.
fn history_of_one_key(role: &str, kills: usize, seed: u64) -> Vec<Operation<Register>> {
    let fixture = Fixture::within(folder::scratch());
    fixture.write(Scope::Global, "");
    let home = &fixture.dirs.home;
    with_kills(role, 4, kills, 12, seed, home);
    let end = history::now_ns();
    let found = fixture.service().get(&key("x.same")).unwrap().map(|value| value.to_string());
    let mut operations = vec![history::operation(end, end + 1, Access::Read(found.clone()))];
    for noted in history::read(home) {
        match (noted.what.as_str(), &noted.answer) {
            ("get", Some((_, found))) => {
                let found = (!found.is_empty()).then(|| found.clone());
                operations.push(noted.operation(i64::MAX, Access::Read(found)));
            }
            // The answer was cut off, so it proves nothing.
            ("get", None) => {}
            // A set without an answer may take effect at any time, or never.
            (value, _) => operations.push(noted.operation(i64::MAX, Access::Write(value.to_owned()))),
        }
    }
    assert!(found.is_some(), "nobody set anything");
    operations
}

#[test]
fn one_key_is_linearizable_among_processes() {
    let (histories, kills) = if is_proof() { (20, 12) } else { (2, 8) };
    let (mut operations, kept) = (0, seed::from_env_or(64));
    for seed in kept..kept + histories {
        let _replay = seed::Replay::new("cleveragents-config", "one_order_explains", seed);
        let history = history_of_one_key("one key", kills, seed);
        assert!(overlaps(&history), "the processes ran one after another, which shows nothing");
        assert!(check_operations(&history), "no order explains this: {history:?}");
        operations += history.len();
    }
    figure("config: operations on one key in linearizable histories", operations);
}

#[test]
fn a_caching_reader_is_detected() {
    assert!(
        (0..10).any(|seed| !check_operations(&history_of_one_key("one key, stale", 2, seed))),
        "the race is too tame to show anything"
    );
}

/// Entry point of the child processes. An ordinary test run has no role and passes.
#[test]
fn child() {
    let Some((role, home)) = role() else { return };
    let (file, id) = (home.join("config.toml"), std::process::id());
    let dirs = ConfigDirs { home: home.clone(), project: None };
    let service = ConfigService::new(Registry::standard(), dirs, Environment::empty());
    let set = |name: &str, value: &str| drop(service.set_value(Scope::Global, &key(name), value).unwrap());
    let get =
        |name: &str| service.get(&key(name)).unwrap().map_or(String::new(), |value: Value| value.to_string());
    let names = (0..).map(|n| name_of(id, n));
    send("ready");
    wait_for_parent();
    match role.as_str() {
        "set" => names.take(SETS).for_each(|name| set(&name, &value_of(&name).to_string())),
        "naive" => names.take(SETS).for_each(|name| unlocked_edit::set(&file, &name, value_of(&name))),
        "set endlessly" => {
            let mut notebook = CallLog::open(&home);
            for name in names {
                notebook.record(&name, |_| {
                    set(&name, &value_of(&name).to_string());
                    "set"
                });
                send("done");
            }
        }
        "one key" | "one key, stale" => {
            let (mut random, remembered) = (fastrand::Rng::with_seed(id.into()), get("x.same"));
            let mut notebook = CallLog::open(&home);
            for n in 0.. {
                // A string, so that it looks the same in the file and in the log.
                let value = format!("v{id}-{n}");
                match random.bool() {
                    true => drop(notebook.record(&value, |_| {
                        set("x.same", &value);
                        "set"
                    })),
                    false if role == "one key" => drop(notebook.record("get", |_| get("x.same"))),
                    false => drop(notebook.record("get", |_| remembered.clone())),
                }
                send("done");
            }
        }
        role => panic!("there is no role {role}"),
    }
    send("done");
}
