//! The engine for many machines: PostgreSQL, any from version 12 on.
//!
//! Each call is one transaction in READ COMMITTED: guarded statements whose row count decides, on rows that are locked in one order (plan,
//! node, changesets by id, contents by hash, head of the chain). Nothing outlives a transaction: no prepared statements, no settings, no
//! advisory locks, so that a pooler may give each transaction another session.
//!
//! The driver is tokio-postgres, each connection with a runtime of one thread that runs while its caller waits: no thread is
//! started, several statements go out at once, and every wait has an end. (Its synchronous face can do neither of the last two.)

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

pub use options::{PostgresOptions, PostgresStore};
