//! Apply, recovery and undo, over real folders and on the simulated disk.

#![cfg(all(unix, not(feature = "shuttle")))]
#![expect(clippy::disallowed_methods, reason = "plays people who change files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_plan as plan;

mod apply;
mod clock;
mod concurrency;
mod confinement;
mod crashes;
mod crashing_store;
mod drift;
mod equivalence;
mod fixture;
mod history;
mod identical_changes;
mod model;
mod prune;
mod recovery;
mod selection;
mod sim;
mod tampering;
mod undo;
mod verification;
mod vouch;

#[path = "../support/mod.rs"]
mod support;
