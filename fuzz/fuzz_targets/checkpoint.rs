//! A checkpoint of the audit trail.
#![no_main]

#[path = "../../crates/store/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::checkpoint(bytes));
