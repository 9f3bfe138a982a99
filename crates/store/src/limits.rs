//! Named limits of sizes, waits and queues. A call beyond a limit is refused as a whole; the error
//! names the limit.

use std::time::Duration;

use serde_json::Value;

use crate::{Error, Result};

/// Bytes of an actor, owner, tool, or name of a plan or node.
pub const TEXT_BYTES_MAX: usize = 200;
/// Bytes of a state or audit kind.
pub const WORD_BYTES_MAX: usize = 40;
/// Bytes of a path.
pub const PATH_BYTES_MAX: usize = 4096;
/// Roots of one plan.
pub const ROOTS_MAX: usize = 64;
/// Bytes of the JSON of a detail or note.
pub const DETAIL_BYTES_MAX: usize = 1 << 20;
/// Bytes of the JSON of an audit record.
pub const BODY_BYTES_MAX: usize = 4 << 20;
/// Bytes of the reason for abandoning a changeset.
pub const REASON_BYTES_MAX: usize = 4096;
/// Nodes in one call.
pub const NODES_MAX: usize = 10_000;
/// Entries in one call.
pub const ENTRIES_MAX: usize = 10_000;
/// Compressed bytes of the new blobs in one call.
pub const RECORD_BYTES_MAX: usize = 16 << 20;
/// Uncompressed bytes of a chunk. A blob up to this size is recorded together with its entry.
pub const CHUNK_BYTES: usize = 1 << 20;
/// Chunks in one call of an upload. A stream holds at most twice as many in memory.
pub const UPLOAD_CHUNKS_MAX: usize = 8;
/// Chunks of one blob: 1 TiB.
pub const BLOB_CHUNKS_MAX: u64 = 1 << 20;
/// Rows of one page.
pub const PAGE_MAX: usize = 1000;
/// Ids that an error lists when a prefix is ambiguous.
pub const CANDIDATES_MAX: usize = 5;
/// The longest lease.
pub const LEASE_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Default time for which a blob without an entry is kept, so that its entry can be recorded.
pub const GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// Default time for which a call waits for other processes.
pub const TIMEOUT: Duration = Duration::from_secs(30);
/// Default time for which a call waits for a server that is not reachable.
pub const WAIT: Duration = Duration::from_secs(30);

/// Serializes a detail or note, within its limit.
pub(crate) fn json_text(value: &Value) -> Result<String> {
    limited(value, "bytes of a detail or note", DETAIL_BYTES_MAX)
}

/// Serializes the body of an audit record, within its limit.
pub(crate) fn body_text(value: &Value) -> Result<String> {
    limited(value, "bytes of an audit record", BODY_BYTES_MAX)
}

fn limited(value: &Value, what: &'static str, limit: usize) -> Result<String> {
    let text = value.to_string();
    if text.len() > limit {
        return Err(Error::Limit { what, limit: limit as u64 });
    }
    Ok(text)
}
