//! Recordings into cached changesets take one round trip, however many they are.

use store::{ChangesetStore, EntryStore, PostgresStore, Recording};
use testkit::store_conformance::fixtures::*;

use super::proxy::Proxy;
use super::server_or_skip;

/// Parse, Bind, Describe, Execute, Sync, and seven answers.
const MESSAGES: usize = 12;
/// Attempts of a machine that is too busy to meet the clock check of the server.
const TRIES: usize = 20;
const THREADS: usize = 8;

#[test]
fn recordings_into_cached_changesets_share_one_round_trip() {
    let Some(server) = server_or_skip("postgres-trips") else { return };
    let proxy = Proxy::start(server.port());
    let url = format!("postgres://postgres@127.0.0.1:{}/{}?sslmode=disable", proxy.port, server.database());
    let store = PostgresStore::open(&url).unwrap();
    let plan = make_plan(&store).id;
    let changesets: Vec<_> =
        (0..THREADS).map(|number| start(&store, plan, &format!("actor {number}"))).collect();
    let record = |number: usize, request: &Recording| {
        let (id, epoch) = changesets[number];
        store.record(id, epoch, request).unwrap();
    };
    // Tells whether `work` used one round trip per group.
    let is_short = |work: &dyn Fn()| {
        let before = store.writer_counts().groups;
        proxy.arm(None);
        work();
        proxy.seen() == MESSAGES * (store.writer_counts().groups - before) as usize
    };
    assert!(!is_short(&|| record(0, &recording(&["a"]))), "nothing is known of it yet");
    let often = |work: &dyn Fn()| (0..TRIES).any(|_| is_short(work));
    assert!(often(&|| record(0, &recording(&["a"]))));
    assert!(often(&|| record(0, &recording(&["a", "b"]))));
    assert!(often(&|| record(0, &recording_of(&[("c", b"that comes along")]))));
    assert!(often(&|| _ = together(THREADS, |number| record(number, &recording(&["a"])))));
    for (id, epoch) in &changesets {
        store.seal(*id, *epoch).unwrap();
    }
    assert_eq!(store::verify(&store, &[]).unwrap().findings, []);
}
