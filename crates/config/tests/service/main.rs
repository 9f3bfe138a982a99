//! The service on a real disk.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "plays a person who edits the files")]

extern crate cleveragents_config as config;

mod broken;
mod bytes;
mod concurrent;
mod edits;
mod folders;
mod key_usage;
mod precedence;
#[cfg(unix)]
mod processes;
mod support;
mod toml_test;
mod trust;
#[cfg(unix)]
mod watch;
mod writes;
