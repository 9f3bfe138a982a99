//! Contexts among processes: many appenders, readers beside writers, and killed writers.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "plays tools that save four files one by one")]

extern crate cleveragents_context as context;

mod appends;
mod controls;
mod kills;
mod roles;

/// Entry point of the child processes.
#[test]
fn child() {
    if let Some((role, folder)) = testkit::children::role() {
        roles::play(&role, &folder);
    }
}
