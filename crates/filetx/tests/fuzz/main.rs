//! Fuzz targets over their seeds, and over mutated seeds. `cargo xtask fuzz` searches further.
#![cfg(all(target_os = "linux", not(feature = "shuttle")))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

mod bytes;
mod place;
mod targets;

use testkit::fuzz::check;

const PACKAGE: &str = "cleveragents-filetx";

#[test]
fn own_journal() {
    check(PACKAGE, "own_journal", targets::own_journal);
}

#[test]
fn tree_journal() {
    check(PACKAGE, "tree_journal", targets::tree_journal);
}

#[test]
fn pointer() {
    check(PACKAGE, "pointer", targets::pointer);
}

#[test]
fn watermark() {
    check(PACKAGE, "watermark", targets::watermark);
}

#[test]
fn unpublished() {
    check(PACKAGE, "unpublished", targets::unpublished);
}
