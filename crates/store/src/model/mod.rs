//! The data of the store: plans, nodes, changesets, entries, leases and blobs, with their ids and
//! checked values.
//!
//! Nothing here performs I/O, apart from streaming a blob through a [`Store`](crate::Store).

pub(crate) mod blob;
pub(crate) mod changeset;
pub(crate) mod entry;
pub(crate) mod hash;
pub(crate) mod id;
pub(crate) mod json_bytes;
pub(crate) mod lease;
pub(crate) mod plan;
pub(crate) mod recording;
pub(crate) mod text;
pub(crate) mod time;
