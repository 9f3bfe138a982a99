//! What actors ask the run that started them: their rights, what is said, and what comes of it at the end.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "plays people and actors that edit files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ends;
mod fixture;
mod outcome_unknown;
mod permissions;
mod protocol;
mod recorded_and_found;
