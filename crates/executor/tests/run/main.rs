//! Runs of actors: their changes, their ends, and resuming after any kill.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "plays people and actors that edit files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_executor as executor;

mod actors;
mod cases;
mod fixture;
mod graphs;
mod kills;
mod leases;
mod limits;
mod outage;
