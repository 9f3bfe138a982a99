//! Contexts on a real disk.

#![expect(clippy::disallowed_methods, reason = "plays people and older tools that write the files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_context as context;

mod external_edits;
mod inspection;
mod legacy;
mod lifecycle;
mod reading;
mod saving;
mod support;
mod transfer;
