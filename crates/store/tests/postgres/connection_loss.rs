//! A connection that is cut at any message of a call: the call takes effect once and returns the
//! right answer.

use store::{
    ChangesetStore, EntryStore, Epoch, LeaseStore, NewEntry, PlanStore, PostgresStore, Recording, Resource,
    Store, Version,
};
use testkit::report::{figure, is_proof};
use testkit::store_conformance::fixtures::*;

use super::proxy::{Cut, Proxy};
use super::{open, server_or_skip};

/// A call to repeat with every cut. `prepare` makes its input; `call` makes the call, and checks
/// the answer and the store.
struct Case<T> {
    prepare: fn(&PostgresStore) -> T,
    call: fn(&PostgresStore, &PostgresStore, &T),
}

/// Cuts the call at every message, or at every third in a short run. `direct` bypasses the proxy.
fn cut_everywhere<T>(
    case: &Case<T>,
    proxy: &Proxy,
    through: &PostgresStore,
    direct: &PostgresStore,
) -> usize {
    let prepared = (case.prepare)(direct);
    // Open the session before messages are counted.
    through.plans(&store::PlanQuery::default()).unwrap();
    proxy.arm(None);
    (case.call)(through, direct, &prepared);
    let messages = proxy.seen();
    assert!(messages > 10, "the proxy saw {messages} messages");
    let every = if is_proof() { 1 } else { 3 };
    let mut cuts = 0;
    for number in (0..messages).step_by(every) {
        for cut in [Cut::Before, Cut::After] {
            let prepared = (case.prepare)(direct);
            through.plans(&store::PlanQuery::default()).unwrap();
            proxy.arm(Some((number, cut)));
            (case.call)(through, direct, &prepared);
            // Answers may be split differently, so a call may have one message less than the first
            // time.
            cuts += usize::from(proxy.has_cut());
        }
    }
    assert!(cuts > 0);
    cuts
}

#[test]
fn a_call_takes_effect_once_wherever_its_connection_is_cut() {
    let Some(server) = server_or_skip("postgres-cuts") else { return };
    let database = server.database();
    let direct = open(server, &database);
    let proxy = Proxy::start(server.port());
    let url = format!("postgres://postgres@127.0.0.1:{}/{database}?sslmode=disable", proxy.port);
    let through = PostgresStore::open(&url).unwrap();

    let record = Case {
        prepare: |store| start(store, make_plan(store).id, "coder"),
        call: |through, direct, (id, epoch)| {
            let request = recording_of(&[("a", b"first"), ("b", b"second")]);
            assert_eq!(through.record(*id, *epoch, &request).unwrap().first, 1);
            // The changeset is cached by now, so these take the fast path.
            assert_eq!(through.record(*id, *epoch, &recording(&["c"])).unwrap().first, 3);
            let entry = NewEntry { after: Some(content(&packed(b"first"))), ..deletion("d") };
            let request = Recording { entries: vec![entry], ..recording(&[]) };
            assert_eq!(through.record(*id, *epoch, &request).unwrap().first, 4);
            assert_eq!(all_entries(direct, *id).len(), 4);
        },
    };
    let step = Case {
        prepare: |store| make_plan(store),
        call: |through, direct, plan| {
            assert_eq!(through.step_plan(&step(plan, "ready")).unwrap(), Version(2));
            assert_eq!(version(direct, plan.id), Version(2));
            assert_eq!(kinds(direct, plan.id), ["plan.created", "plan.step"]);
        },
    };
    let lease = Case {
        prepare: |store| Resource::Plan(make_plan(store).id),
        call: |through, direct, resource| {
            assert_eq!(through.acquire(*resource, &lease_request("one", LONG)).unwrap().epoch, Epoch(1));
            refused(direct.acquire(*resource, &lease_request("two", LONG)), "lease-held");
        },
    };
    let begin = Case {
        prepare: |store| new_changeset(make_plan(store).id, "coder"),
        call: |through, direct, new| {
            assert_eq!(through.start_changeset(new).unwrap().epoch, Epoch(1));
            assert_eq!(through.seal(new.id, Epoch(1)).unwrap().entries, 0);
            assert_eq!(kinds(direct, new.plan), ["plan.created", "changeset.started", "changeset.sealed"]);
        },
    };
    let cuts = cut_everywhere(&record, &proxy, &through, &direct)
        + cut_everywhere(&step, &proxy, &through, &direct)
        + cut_everywhere(&lease, &proxy, &through, &direct)
        + cut_everywhere(&begin, &proxy, &through, &direct);
    figure("messages of the protocol at which a call was cut and happened once", cuts);
    assert_eq!(store::verify(&direct, &[]).unwrap().findings, []);
    assert_eq!(direct.check().unwrap(), []);
}
