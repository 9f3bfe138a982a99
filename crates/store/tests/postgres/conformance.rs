//! The conformance suite of the test kit on PostgreSQL.

use std::sync::Arc;

use store::Store;
use testkit::notes::figure;
use testkit::store_conformance;

use super::{open, server_or_skip};

#[test]
fn postgres_does_what_every_engine_does() {
    let Some(server) = server_or_skip("postgres-conformance") else { return };
    let cases = store_conformance::run(|| {
        let store: Arc<dyn Store> = Arc::new(open(server, &server.database()));
        store
    });
    figure("rules of the store that PostgreSQL keeps", cases);
    assert!(cases > 0);
}
