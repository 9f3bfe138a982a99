//! Many writers of one file: nothing is lost, nothing is seen half-written.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use config::{ConfigService, Document, Environment, Places, Registry, Scope, Value};

use crate::children::{Process, listen, role, say, start};
use crate::support::{Fixture, key};

const WRITERS: usize = 8;
const SETS: usize = 50;

/// A file of 200 keys with a comment each.
fn big_file() -> String {
    let keys = (0..200).map(|n| format!("# about {n}\nkey-{n} = {n} # beside {n}\n"));
    format!("# top\n[x.file]\n{}\n[x.w]\n# the end\n", keys.collect::<String>())
}

fn set_all(service: &ConfigService, writer: usize) {
    for n in 0..SETS {
        let text = format!("1{writer}{n}");
        service.set_value(Scope::Global, &key(&format!("x.w.w{writer}-{n}")), &text).unwrap();
    }
}

/// Reads until told to stop; every state must be whole.
fn poll(fixture: &Fixture, done: &AtomicBool) -> usize {
    let (file, registry) = (fixture.file(Scope::Global), Registry::standard());
    let (mut polls, mut seen) = (0, 0);
    while !done.load(Ordering::Acquire) || polls == 0 {
        let document = Document::parse(&file, &fs::read(&file).unwrap(), &registry).unwrap();
        let count = document.keys().len();
        assert!(count >= seen.max(200), "a write was undone: {count} keys after {seen}");
        (polls, seen) = (polls + 1, count);
    }
    polls
}

fn check_all_there(fixture: &Fixture) {
    let text = fixture.read(Scope::Global);
    let service = fixture.service();
    for writer in 0..WRITERS {
        for n in 0..SETS {
            let value = service.get(&key(&format!("x.w.w{writer}-{n}"))).unwrap();
            assert_eq!(value, Some(Value::Integer(format!("1{writer}{n}").parse().unwrap())));
        }
    }
    let ours = |line: &str| line.starts_with('w');
    let others: String = text.lines().filter(|line| !ours(line)).flat_map(|line| [line, "\n"]).collect();
    assert_eq!(others, big_file(), "every comment and every other key is as it was");
}

#[test]
fn eight_threads_lose_nothing() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, big_file());
    let (service, done) = (fixture.service(), AtomicBool::new(false));
    thread::scope(|scope| {
        let reader = scope.spawn(|| poll(&fixture, &done));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let service = &service;
                scope.spawn(move || set_all(service, writer))
            })
            .collect();
        let outcomes: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Release);
        assert!(reader.join().unwrap() > 0);
        assert!(outcomes.into_iter().all(|outcome| outcome.is_ok()));
    });
    check_all_there(&fixture);
}

#[test]
fn eight_processes_lose_nothing() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, big_file());
    let done = AtomicBool::new(false);
    let mut writers: Vec<Process> =
        (0..WRITERS).map(|writer| start(&writer.to_string(), &fixture.places.home)).collect();
    for writer in &mut writers {
        assert_eq!(writer.hear(), "ready");
    }
    thread::scope(|scope| {
        let reader = scope.spawn(|| poll(&fixture, &done));
        writers.iter_mut().for_each(Process::tell);
        let said: Vec<_> = writers.iter_mut().map(Process::hear).collect();
        done.store(true, Ordering::Release);
        assert!(reader.join().unwrap() > 0);
        assert!(said.iter().all(|word| word == "done"));
    });
    writers.into_iter().for_each(Process::finish);
    check_all_there(&fixture);
    let leftovers = crate::support::names(&fixture.places.home);
    assert_eq!(leftovers, [".config.toml.lock", "config.toml"]);
}

#[test]
fn a_killed_writer_loses_nothing_that_it_acknowledged() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, big_file());
    let mut writer = start("endless", &fixture.places.home);
    let mut acknowledged = 0;
    while acknowledged < 20 {
        acknowledged = writer.hear().parse().unwrap();
    }
    writer.kill();
    let service = fixture.service();
    let value = service.get(&key("x.w.count")).unwrap();
    assert!(
        matches!(value, Some(Value::Integer(count)) if count >= acknowledged),
        "{value:?} after {acknowledged}"
    );
    // The next write does not wait for the dead one, and sweeps what it left.
    service.set_value(Scope::Global, &key("x.w.count"), "0").unwrap();
    assert_eq!(crate::support::names(&fixture.places.home), [".config.toml.lock", "config.toml"]);
}

#[test]
fn the_same_key_has_the_value_of_one_writer() {
    let fixture = Fixture::new();
    let service = fixture.service();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let service = &service;
            scope.spawn(move || {
                for n in 0..10 {
                    service.set_value(Scope::Global, &key("x.same"), &format!("1{writer}{n}")).unwrap();
                }
            });
        }
    });
    // Whoever came last wrote its last value last.
    let Some(Value::Integer(last)) = service.get(&key("x.same")).unwrap() else { panic!("no value") };
    assert_eq!(last % 10, 9);
    assert_eq!(fixture.read(Scope::Global), format!("x.same = {last}\n"));
}

#[test]
fn child() {
    let Some((role, home)) = role() else { return };
    let places = Places { home, project: None };
    let service = ConfigService::new(Registry::standard(), places, Environment::empty());
    if role == "endless" {
        for count in 1.. {
            service.set_value(Scope::Global, &key("x.w.count"), &count.to_string()).unwrap();
            say(&count.to_string());
        }
    }
    say("ready");
    listen();
    set_all(&service, role.parse().unwrap());
    say("done");
}
