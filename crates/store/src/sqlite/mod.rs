//! The engine for one machine: SQLite in WAL mode, one file; in a process whoever comes first writes for all who wait.

mod audit;
mod blobs;
mod busy;
mod changesets;
mod check;
mod connect;
mod engine;
mod entries;
mod failure;
mod inventory;
mod job;
mod known;
mod leases;
mod nodes;
mod options;
mod place;
mod plans;
mod transfer;
mod values;
mod writer;

pub use options::{SqliteOptions, SqliteStore};
