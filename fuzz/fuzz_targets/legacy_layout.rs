//! The four files of an older tool.
#![no_main]

#[path = "../../crates/context/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::legacy_layout(bytes));
