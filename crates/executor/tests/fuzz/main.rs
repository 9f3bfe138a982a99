//! Fuzz targets over their seeds, and over mutated seeds. `cargo xtask fuzz` searches further.
#![cfg(target_os = "linux")]

extern crate cleveragents_executor as executor;

mod targets;

use testkit::fuzz::check;

const PACKAGE: &str = "cleveragents-executor";

#[test]
fn plan_file() {
    check(PACKAGE, "plan_file", targets::plan_file);
}

#[test]
fn socket() {
    check(PACKAGE, "socket", targets::socket);
}
