//! Fuzz targets over their seeds, and over mutated seeds. `cargo xtask fuzz` searches further.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "plays a person who edits the files")]

extern crate cleveragents_context as context;

mod targets;

use testkit::fuzz::check;

const PACKAGE: &str = "cleveragents-context";

#[test]
fn archive() {
    check(PACKAGE, "archive", targets::archive);
}

#[test]
fn legacy_layout() {
    check(PACKAGE, "legacy_layout", targets::legacy_layout);
}

#[test]
fn index() {
    check(PACKAGE, "index", targets::index);
}

#[test]
fn tail() {
    check(PACKAGE, "tail", targets::tail);
}
