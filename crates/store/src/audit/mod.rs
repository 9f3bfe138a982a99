//! The audit trail: one hash chain of records per plan.
//!
//! - `record`: records, their canonical form and hash, export, checkpoints
//! - `append`: chains a new record onto the head
//! - `snapshot`: the rows of a plan, read together with the head of its chain
//! - `replay`: rebuilds these rows from the records, and compares
//! - `verify`: verifies all chains

pub(crate) mod append;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod snapshot;
pub(crate) mod verify;
