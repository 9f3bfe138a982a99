//! Lost sessions, too few sessions, and rows locked by others.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::{ChangesetStore, EntryStore, Outcome, PlanStore, PostgresOptions, Store};
use testkit::postgres::Server;
use testkit::store_conformance::fixtures::*;

use super::{open, server_or_skip};

#[test]
fn clients_survive_ended_sessions() {
    let Some(server) = server_or_skip("postgres-sessions") else { return };
    let database = server.database();
    let store = open(server, &database);
    let plan = make_plan(&store);
    let done = AtomicBool::new(false);
    let ids = together(9, |number| {
        if number == 8 {
            let end = format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
            );
            while !done.load(Ordering::Relaxed) {
                server.sql("postgres", &end);
            }
            return None;
        }
        let (id, epoch) = start(&store, plan.id, &format!("actor {number}"));
        for record in 0..30 {
            let recorded = store.record(id, epoch, &recording(&[&record.to_string()])).unwrap();
            assert_eq!(recorded.first, record + 1);
        }
        done.store(true, Ordering::Relaxed);
        Some(id)
    });
    for id in ids.into_iter().flatten() {
        let paths: Vec<String> =
            all_entries(&store, id).iter().map(|entry| entry.path.show().into_owned()).collect();
        assert_eq!(paths, (0..30).map(|record| record.to_string()).collect::<Vec<_>>());
    }
    assert_eq!(store::verify(&store, &[]).unwrap().findings, []);
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn more_threads_than_sessions_take_turns() {
    let Some(server) = server_or_skip("postgres-pool") else { return };
    let store = PostgresOptions::default().sessions_max(1).open(&server.url(&server.database())).unwrap();
    together(8, |_| make_plan(&store));
    assert_eq!(store.plans(&store::PlanQuery::default()).unwrap().len(), 8);
}

/// A session that locks all plans until it is dropped.
struct Holder(Child);

impl Holder {
    fn start(server: &Server, database: &str) -> Self {
        let mut child = Command::new(server.programs().join("psql"))
            .args(["-X", "-q", "-A", "-t", "-d", &server.url(database)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lock = b"BEGIN; LOCK TABLE agents.plans IN EXCLUSIVE MODE; SELECT 'held';\n";
        child.stdin.as_mut().unwrap().write_all(lock).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "held\n");
        Self(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn no_call_waits_beyond_its_timeout() {
    let Some(server) = server_or_skip("postgres-busy") else { return };
    let database = server.database();
    // Long enough for a slow machine to open a session, short enough to wait for.
    let wait = Duration::from_secs(4);
    let store =
        PostgresOptions::default().timeout(wait).sessions_max(1).open(&server.url(&database)).unwrap();
    let plan = make_plan(&store);
    let holder = Holder::start(server, &database);
    // One thread waits for the row, the other for the only session.
    let errors = together(2, |_| store.step_plan(&step(&plan, "ready")).unwrap_err());
    for error in errors {
        assert_eq!((error.code(), error.outcome()), ("store-busy", Outcome::Aborted), "{error:?}");
    }
    drop(holder);
    store.step_plan(&step(&plan, "ready")).unwrap();
}

#[test]
fn a_rejected_recording_does_not_affect_its_group() {
    let Some(server) = server_or_skip("postgres-harmless") else { return };
    let database = server.database();
    let store = open(server, &database);
    let plan = make_plan(&store);
    server.sql(&database, "ALTER TABLE agents.entries ADD CHECK (form NOT LIKE '%poison%')");
    let (id, epoch) = start(&store, plan.id, "coder");
    let results = together(8, |number| {
        let path = if number % 2 == 0 { format!("{number}") } else { format!("poison {number}") };
        store.record(id, epoch, &recording(&[&path]))
    });
    for (number, result) in results.into_iter().enumerate() {
        match result {
            Ok(_) => assert_eq!(number % 2, 0),
            Err(error) => {
                assert_eq!(number % 2, 1);
                assert_eq!((error.code(), error.outcome()), ("store-engine", Outcome::Aborted));
            }
        }
    }
    assert_eq!(all_entries(&store, id).len(), 4);
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn alternating_stores_never_use_a_stale_cache() {
    let Some(server) = server_or_skip("postgres-turns") else { return };
    let database = server.database();
    // Settings of other sessions do not make our commits less durable.
    server.sql("postgres", &format!("ALTER DATABASE {database} SET synchronous_commit = off"));
    let (one, two) = (open(server, &database), open(server, &database));
    let plan = make_plan(&one);
    let (id, epoch) = start(&one, plan.id, "coder");
    let record = |store: &dyn Store, number: u64| {
        assert_eq!(store.record(id, epoch, &recording(&[&number.to_string()])).unwrap().first, number);
    };
    (1..5).for_each(|number| record(&one, number));
    server.sql("postgres", &format!("ALTER DATABASE {database} SET synchronous_commit = on"));
    let (three, four) = (open(server, &database), open(server, &database));
    for number in (5..20).step_by(5) {
        record(&one, number);
        record(&three, number + 1);
        record(&three, number + 2);
        record(&four, number + 3);
        record(&three, number + 4);
    }
    let missing = store::NewEntry { after: Some(content(&packed(b"nowhere"))), ..deletion("a") };
    let request = store::Recording { entries: vec![missing], ..recording(&[]) };
    refused(three.record(id, epoch, &request), "blob-missing");
    record(&three, 20);
    refused(three.record(id, store::Epoch(9), &recording(&["late"])), "lease-stale");
    two.seal(id, epoch).unwrap();
    refused(three.record(id, epoch, &recording(&["late"])), "changeset-closed");
    assert_eq!(all_entries(&one, id).len(), 20);
    assert_eq!(store::verify(&one, &[]).unwrap().findings, []);
    assert_eq!(two.check().unwrap(), []);
}

#[test]
fn a_group_with_a_stale_cache_is_recorded_on_the_slow_path() {
    const THREADS: usize = 8;
    let Some(server) = server_or_skip("postgres-groups-past") else { return };
    let database = server.database();
    let (one, other) = (open(server, &database), open(server, &database));
    let plan = make_plan(&one);
    let changesets: Vec<_> = (0..THREADS).map(|number| start(&one, plan.id, &number.to_string())).collect();
    let mut recorded = [0; THREADS];
    let mut record = |store: &dyn Store, numbers: std::ops::Range<usize>| {
        let answers = together(numbers.len(), |place| {
            let (id, epoch) = changesets[numbers.start + place];
            store.record(id, epoch, &recording(&["a"])).unwrap().first
        });
        for (number, first) in numbers.zip(answers) {
            recorded[number] += 1;
            assert_eq!(first, recorded[number]);
        }
    };
    let before = one.writer_counts();
    for round in 0..40 {
        record(&one, 0..THREADS);
        let stale = round % THREADS;
        record(&other, stale..stale + 1);
    }
    let after = one.writer_counts();
    assert!(after.groups - before.groups < after.writes - before.writes, "none was recorded with another");
    assert_eq!(recorded, [45; THREADS]);
    // One after the other is closed; the others keep recording.
    for closed in (0..THREADS).rev() {
        let (id, epoch) = changesets[closed];
        other.seal(id, epoch).unwrap();
        together(closed + 1, |number| {
            let (id, epoch) = changesets[number];
            let answer = one.record(id, epoch, &recording(&["late"]));
            match number == closed {
                true => _ = refused(answer, "changeset-closed"),
                false => _ = answer.unwrap(),
            }
        });
        assert_eq!(all_entries(&one, id).len(), 45 + THREADS - 1 - closed);
    }
    assert_eq!(store::verify(&one, &[]).unwrap().findings, []);
    assert_eq!(one.check().unwrap(), []);
}

#[test]
fn the_check_finds_invalid_rows() {
    let Some(server) = server_or_skip("postgres-check") else { return };
    let broken = [
        ("UPDATE agents.changesets SET entries = 7", "not numbered from 1 to their count"),
        ("DELETE FROM agents.blobs", "its blob is not in the store"),
        ("DELETE FROM agents.changesets", "its changeset does not exist"),
    ];
    for (sql, text) in broken {
        let database = server.database();
        let store = open(server, &database);
        let (id, epoch) = start(&store, make_plan(&store).id, "coder");
        store.record(id, epoch, &recording_of(&[("a", b"content")])).unwrap();
        assert_eq!(store.check().unwrap(), []);
        server.sql(&database, sql);
        let corruptions = store.check().unwrap();
        assert!(
            corruptions.iter().any(|corruption| corruption.message.contains(text)),
            "{sql}: {corruptions:?}"
        );
    }
}
