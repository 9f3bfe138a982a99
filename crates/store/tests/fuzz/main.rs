//! Fuzz targets over their seeds, and over mutated seeds. `cargo xtask fuzz` searches further.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "copies a database")]

extern crate cleveragents_store as store;

mod targets;

use testkit::fuzz::check;

const PACKAGE: &str = "cleveragents-store";

#[test]
fn audit_export() {
    check(PACKAGE, "audit_export", targets::audit_export);
}

#[test]
fn checkpoint() {
    check(PACKAGE, "checkpoint", targets::checkpoint);
}
