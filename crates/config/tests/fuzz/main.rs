//! The fuzz target over its seeds, and over mutated seeds. `cargo xtask fuzz` searches further.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_config as config;

mod targets;

#[test]
fn config_file() {
    testkit::fuzz::check("cleveragents-config", "config_file", targets::config_file);
}
