//! A store that crashes with a simulated disk: after the crash it accepts no writes. It can also
//! crash between its own calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use store::{Error, Result, Store};
use testkit::sim::SimDisk;

#[derive(Debug)]
pub(crate) struct CrashingStore {
    store: Arc<dyn Store>,
    disk: SimDisk,
    calls: AtomicU64,
    dies_at: u64,
}

impl CrashingStore {
    /// Crashes before call number `dies_at` at the latest.
    pub(crate) fn new(store: Arc<dyn Store>, disk: &SimDisk, dies_at: u64) -> Self {
        Self { store, disk: disk.clone(), calls: AtomicU64::new(0), dies_at }
    }

    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    fn alive(&self) -> Result<&dyn Store> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        if call >= self.dies_at {
            // The disk crashes with it.
            self.disk.crash_at(0);
        }
        if call >= self.dies_at || self.disk.is_crashed() {
            return Err(Error::Stopped { path: "dead".into() });
        }
        Ok(&*self.store)
    }

    fn read<T>(&self, call: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        call(self.alive()?)
    }

    fn write<T>(&self, call: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        call(self.alive()?)
    }
}

testkit::wrap_store!(CrashingStore);
