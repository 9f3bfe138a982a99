//! The engine for many machines: PostgreSQL 12 or later.
//!
//! Each call is one READ COMMITTED transaction of guarded statements, whose row counts decide. All
//! transactions lock rows in one order: plan, node, changesets by id, blobs by hash, head of the
//! chain. Nothing outlives a transaction (no prepared statements, settings or advisory locks), so
//! that a pooler may give each transaction another session.
//!
//! The driver is tokio-postgres. Each connection has a current-thread runtime that runs while its
//! caller waits: no threads are started, statements are pipelined, and every wait has a deadline.
//! The synchronous wrapper of the driver offers neither pipelining nor deadlines.

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

pub(crate) use engine::failure::is_lost_server;
pub use options::{PostgresOptions, PostgresStore};
