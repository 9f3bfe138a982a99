//! Exported audit records.
#![no_main]

#[path = "../../crates/store/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::audit_export(bytes));
