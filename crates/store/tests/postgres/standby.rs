//! A primary and its standby: the standby alone is refused, both together form a store, even after
//! the primary has failed.

use std::time::{Duration, Instant};
use std::{error, thread};

use store::{ChangesetStore, EntryStore, Outcome, PostgresOptions, PostgresStore, Store};
use testkit::postgres::Server;
use testkit::report::skipped;
use testkit::store_conformance::fixtures::*;

/// Guard against waiting for ever.
const FOLLOW_MAX: Duration = Duration::from_secs(120);

/// Starts two servers for this test, since one of them is stopped.
fn pair() -> Result<(Server, Server, String), String> {
    let primary = Server::start(&[])?;
    let database = primary.database();
    let standby = primary.standby()?;
    // Synchronous from now on: an acknowledged write is on both.
    primary.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
    primary.sql("postgres", "SELECT pg_reload_conf()");
    let started = Instant::now();
    let follows = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    while primary.sql("postgres", follows) != "1" {
        assert!(started.elapsed() < FOLLOW_MAX, "the standby does not follow");
        thread::sleep(Duration::from_millis(20));
    }
    Ok((primary, standby, database))
}

#[test]
fn a_standby_is_refused_and_the_primary_is_found() {
    let (primary, standby, database) = match pair() {
        Ok(pair) => pair,
        Err(reason) => return skipped("postgres-standby", &reason),
    };
    let options = PostgresOptions::default().wait(Duration::ZERO);
    let refused = options.open(&standby.url(&database)).unwrap_err();
    assert_eq!((refused.code(), refused.outcome()), ("store-read-only", Outcome::Aborted), "{refused:?}");
    assert!(refused.to_string().ends_with("is read-only"), "{refused}");
    let cause = error::Error::source(&refused).unwrap();
    assert!(cause.source().unwrap().to_string().contains("does not allow writes"), "{refused:?}");

    let (one, two) = (standby.port(), primary.port());
    let hosts = format!("127.0.0.1:{one},127.0.0.1:{two}");
    let options = "sslmode=disable&target_session_attrs=read-write";
    let store = PostgresStore::open(&format!("postgres://postgres@{hosts}/{database}?{options}")).unwrap();
    let plan = make_plan(&store);
    let (id, epoch) = start(&store, plan.id, "coder");
    assert_eq!(store.record(id, epoch, &recording(&["a"])).unwrap().first, 1);
    assert_eq!(primary.sql(&database, "SELECT count(*) FROM agents.entries"), "1");

    // The primary fails and the standby is promoted; no client reopens the store.
    drop(primary);
    assert_eq!(standby.sql("postgres", "SELECT pg_promote()"), "t");
    assert_eq!(store.record(id, epoch, &recording(&["b"])).unwrap().first, 2);
    assert_eq!(standby.sql(&database, "SELECT count(*) FROM agents.entries"), "2");
    store.seal(id, epoch).unwrap();
    assert_eq!(store::verify(&store, &[]).unwrap().findings, []);
    assert_eq!(store.check().unwrap(), []);
}
