//! The engine for one machine: SQLite in WAL mode, one file; in a process whoever comes first writes for all who wait.

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
