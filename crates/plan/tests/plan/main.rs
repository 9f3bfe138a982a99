//! Plans and changesets, over the SQLite store and real folders.

#![cfg(all(unix, not(feature = "shuttle")))]
#![expect(clippy::disallowed_methods, reason = "plays people and actors who change files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod changesets;
mod combine;
mod git_apply;
mod ground;
mod lost_answers;
mod plans;
mod processes;
mod properties;
mod race;
mod recording;
mod renames;
mod reopened;
mod resolve;
mod through;

#[path = "../support/mod.rs"]
mod support;
