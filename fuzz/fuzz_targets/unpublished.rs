//! A journal that changes before it is published.
#![no_main]

#[path = "../../crates/filetx/tests/fuzz/bytes.rs"]
mod bytes;
#[path = "../../crates/filetx/tests/fuzz/place.rs"]
mod place;
#[path = "../../crates/filetx/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::unpublished(bytes));
