//! Requests of actors to their run: permissions, protocol, and the end of an attempt.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "plays people and actors that edit files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ends;
mod fixture;
mod outcome_unknown;
mod permissions;
mod protocol;
mod recorded_and_found;
