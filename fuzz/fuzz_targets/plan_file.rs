//! A plan file.
#![no_main]

#[path = "../../crates/executor/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::plan_file(bytes));
