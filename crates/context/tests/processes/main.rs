//! Contexts among processes: appends from many, readers beside writers, and writers that are killed.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "plays tools that save four files one by one")]

extern crate cleveragents_context as context;

mod appends;
mod controls;
mod kills;
mod roles;

/// Plays a role when it is a child.
#[test]
fn child() {
    if let Some((role, folder)) = testkit::children::role() {
        roles::play(&role, &folder);
    }
}
