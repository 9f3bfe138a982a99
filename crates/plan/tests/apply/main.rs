//! Apply, recovery and undo, over real folders and on the simulated disk.

#![cfg(all(unix, not(feature = "shuttle")))]
#![expect(clippy::disallowed_methods, reason = "plays people who change files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod alike;
mod apply;
mod clean;
mod crashes;
mod escape;
mod ground;
mod history;
mod merged;
mod model;
mod mortal;
mod parts;
mod recovery;
mod simulated;
mod together;
mod undo;
mod verified;
mod ways;

#[path = "../support/mod.rs"]
mod support;
