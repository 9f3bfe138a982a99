//! The named limits of sizes, waits and queues. What passes one is refused whole, with the limit in the error.

use std::time::Duration;

use serde_json::Value;

use crate::{Error, Result};

/// Bytes of an actor, an owner, a plan's or node's name, a tool.
pub const TEXT_BYTES_MAX: usize = 200;
/// Bytes of a state or of an audit record's kind.
pub const WORD_BYTES_MAX: usize = 40;
/// Bytes of a path.
pub const PATH_BYTES_MAX: usize = 4096;
/// Roots of one plan.
pub const ROOTS_MAX: usize = 64;
/// Bytes of a plan's or node's detail, or of a note, as JSON.
pub const DETAIL_BYTES_MAX: usize = 1 << 20;
/// Bytes of the reason for which a changeset was abandoned.
pub const REASON_BYTES_MAX: usize = 4096;
/// Nodes of one call.
pub const NODES_MAX: usize = 10_000;
/// Entries of one call.
pub const ENTRIES_MAX: usize = 10_000;
/// Bytes that the new contents of one call may take, compressed.
pub const RECORD_BYTES_MAX: usize = 16 << 20;
/// Bytes of a chunk before compression. A content up to this is recorded together with its entry.
pub const CHUNK_BYTES: usize = 1 << 20;
/// Chunks that one call of an upload carries, so a stream takes at most twice this in memory.
pub const UPLOAD_CHUNKS_MAX: usize = 8;
/// Chunks of one content: 1 TiB.
pub const BLOB_CHUNKS_MAX: u64 = 1 << 20;
/// Rows of one page of a list.
pub const PAGE_MAX: usize = 1000;
/// Plans that an error names when the beginning of an id fits several.
pub const CANDIDATES_MAX: usize = 5;
/// How long a lease may be asked for.
pub const LEASE_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a content that nothing refers to is kept, unless the caller says otherwise: long enough to record an entry for it.
pub const GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a call waits for other processes, unless the caller says otherwise.
pub const WAIT: Duration = Duration::from_secs(30);

/// A detail or note as it is stored, within its limit.
pub(crate) fn json_text(value: &Value) -> Result<String> {
    let text = value.to_string();
    if text.len() > DETAIL_BYTES_MAX {
        return Err(Error::Limit { what: "a detail or note", limit: DETAIL_BYTES_MAX as u64 });
    }
    Ok(text)
}
