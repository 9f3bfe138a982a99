//! Transactions without crashes, on real folders, with both policies.
#![cfg(all(target_os = "linux", not(feature = "shuttle")))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate cleveragents_filetx as filetx;

mod decisions;
mod escapes;
mod folders;
mod locks;
mod obstacles;
mod operations;
mod owners;
mod place;
mod refusals;
mod snapshots;
#[expect(dead_code, reason = "made for the disk tests")]
#[path = "../support/mod.rs"]
mod support;
mod trees;
mod vouch;
