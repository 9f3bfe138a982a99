//! The audit trail: one hash chain of records per plan.
//!
//! `record` has the records and their canonical form, `append` chains a new record onto the head, `snapshot` holds the rows of a plan,
//! `replay` rebuilds these rows from the records, `verify` compares the two.

pub(crate) mod append;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod snapshot;
pub(crate) mod verify;
