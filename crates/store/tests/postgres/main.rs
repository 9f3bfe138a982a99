//! The PostgreSQL engine: conformance, and its specifics. Each test has its own database on one
//! server.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "plays the person who keeps passwords")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_store as store;

mod conformance;
mod connection_loss;
mod copies;
#[cfg(target_os = "linux")]
mod full_disk;
mod lock_order;
mod migrations;
mod pooler;
mod proxy;
mod refusals;
mod roles;
mod round_trips;
mod sessions;
mod silent_server;
mod standby;
mod stopped_server;
mod tampering;

use store::PostgresStore;
use testkit::postgres::{Server, server};
use testkit::report::skipped;

/// Returns the server; reports the test as skipped if there is none.
fn server_or_skip(test: &str) -> Option<&'static Server> {
    server().inspect_err(|reason| skipped(test, reason)).ok()
}

fn open(server: &Server, database: &str) -> PostgresStore {
    PostgresStore::open(&server.url(database)).unwrap()
}
