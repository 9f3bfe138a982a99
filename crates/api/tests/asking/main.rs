//! What actors ask the run that started them: their rights, what is said, and what comes of it at the end.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "plays people and actors that edit files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod doubt;
mod ends;
mod meeting;
mod protocol;
mod rights;
mod stage;
