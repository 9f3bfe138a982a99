//! An archive that is imported.
#![no_main]

#[path = "../../crates/context/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::archive(bytes));
