//! The conformance suites on PostgreSQL.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use store::Store;
use testkit::report::{figure, is_proof};
use testkit::store_conformance::model::{call, check};
use testkit::store_conformance::{self, group_commit, linearizability};

use super::{open, server_or_skip};

#[test]
fn postgres_passes_the_conformance_suite() {
    let Some(server) = server_or_skip("postgres-conformance") else { return };
    let cases = store_conformance::run(|| {
        let store: Arc<dyn Store> = Arc::new(open(server, &server.database()));
        store
    });
    figure("rules of the store that PostgreSQL keeps", cases);
    assert!(cases > 0);
}

#[test]
fn any_sequence_of_calls_matches_the_model() {
    let Some(server) = server_or_skip("postgres-model") else { return };
    let cases = if is_proof() { 96 } else { 10 };
    let mut runner =
        TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() });
    let calls = prop::collection::vec(call(), 1..60);
    let result = runner.run(&calls, |calls| {
        let database = server.database();
        check(&calls, || Arc::new(open(server, &database)));
        Ok(())
    });
    result.unwrap();
}

#[test]
fn threads_share_transactions_and_keep_their_entries() {
    let Some(server) = server_or_skip("postgres-groups") else { return };
    let store = open(server, &server.database());
    let transactions = group_commit::check(&store, || store.writer_counts(), true);
    figure("transactions per 1000 records of 32 threads on PostgreSQL", transactions);
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn concurrent_calls_are_linearizable() {
    let Some(server) = server_or_skip("postgres-linearizable") else { return };
    let database = server.database();
    let calls = linearizability::check(|| Arc::new(open(server, &database)));
    figure("calls of eight clients that one order explains, PostgreSQL", calls);
}

/// Runs a check on a server whose stored times are moved forward: its clock cannot be set back.
fn with_times_ahead(name: &str, ahead: &str, check: impl FnOnce(&dyn Store, &dyn Fn())) {
    let Some(server) = server_or_skip(name) else { return };
    let database = server.database();
    let store = open(server, &database);
    check(&store, &|| _ = server.sql(&database, ahead));
}

#[test]
fn changesets_stay_in_order_when_the_clock_goes_back() {
    let ahead = "UPDATE agents.changesets SET started_at = started_at + interval '1 minute'";
    with_times_ahead("postgres-order", ahead, |store, go_back| {
        store_conformance::changeset_order::check(store, go_back);
    });
}

#[test]
fn changesets_start_after_the_last_record_when_the_clock_goes_back() {
    let ahead = "UPDATE agents.audit SET at = at + interval '1 minute'";
    with_times_ahead("postgres-order-of-ends", ahead, |store, go_back| {
        store_conformance::changeset_order::check_ends(store, go_back);
    });
}

#[test]
fn plans_stay_in_order_when_the_clock_goes_back() {
    let ahead = "UPDATE agents.plans SET created_at = created_at + interval '1 minute'";
    with_times_ahead("postgres-order-of-plans", ahead, |store, go_back| {
        store_conformance::changeset_order::check_plans(store, go_back);
    });
}
