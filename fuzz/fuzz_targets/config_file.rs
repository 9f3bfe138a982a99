//! A configuration file.
#![no_main]

#[path = "../../crates/config/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::config_file(bytes));
