//! How often this process waited for a disk: so that tests and benchmarks count syncs instead of guessing.

use std::sync::atomic::{AtomicU64, Ordering};

static SYNCS: AtomicU64 = AtomicU64::new(0);

/// How many syncs of files and folders this process has asked the system for, through every [`Disk`](crate::Disk).
pub fn sync_count() -> u64 {
    SYNCS.load(Ordering::Relaxed)
}

pub(crate) fn count_sync() {
    SYNCS.fetch_add(1, Ordering::Relaxed);
}
