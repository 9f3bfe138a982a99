//! Counter of syncs, for tests and benchmarks.

use std::sync::atomic::{AtomicU64, Ordering};

static SYNCS: AtomicU64 = AtomicU64::new(0);

/// Number of syncs that this process requested through any [`Disk`](crate::Disk).
pub fn sync_count() -> u64 {
    SYNCS.load(Ordering::Relaxed)
}

pub(crate) fn count_sync() {
    SYNCS.fetch_add(1, Ordering::Relaxed);
}
