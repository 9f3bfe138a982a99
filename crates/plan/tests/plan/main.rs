//! Plans and changesets, over the SQLite store and real folders.

#![cfg(all(unix, not(feature = "shuttle")))]
#![expect(clippy::disallowed_methods, reason = "plays people and actors who change files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_plan as plan;

mod changesets;
mod fixture;
mod git_apply;
mod lossy_store;
mod merge;
mod plans;
mod processes;
mod properties;
mod race;
mod record;
mod renames;
mod reopen;
mod resolve;
mod retry;

#[path = "../support/mod.rs"]
mod support;
