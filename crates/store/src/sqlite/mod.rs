//! The engine for one machine: SQLite in WAL mode, one file. The threads of a process share commits.
//!
//! A module per table implements the trait of its subject; `engine` runs the transactions.

mod audit;
mod blobs;
mod changesets;
mod check;
mod columns;
mod engine;
mod entries;
mod leases;
mod nodes;
mod options;
mod plans;
mod snapshot;
mod transfer;

pub use options::{SqliteOptions, SqliteStore};
