//! Messages on the socket of a run.
#![no_main]

#[path = "../../crates/executor/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::socket(bytes));
