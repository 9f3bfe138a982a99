//! A store that outlasts an outage of its server.
//!
//! A call that cannot reach the server is repeated until it can, with the same ids, so it takes effect
//! once. So a node that ends during an outage reports its result when the server is back. If another
//! run took the lease meanwhile, the server refuses the call.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use store::{Result, Store};

use super::Cancel;

/// Longest outage.
const OUTAGE_MAX: Duration = Duration::from_secs(60 * 60);
/// Pause between two attempts. The store itself waits for its server too.
const PAUSE: Duration = Duration::from_millis(100);

/// Repeats calls to a store until its server answers or the run is cancelled.
pub(super) struct PatientStore {
    pub inner: Arc<dyn Store>,
    pub cancel: Cancel,
}

impl PatientStore {
    fn read<T>(&self, call: impl Fn(&dyn Store) -> Result<T>) -> Result<T> {
        let started = Instant::now();
        loop {
            match call(self.inner.as_ref()) {
                Err(store::Error::Unreachable { .. })
                    if !self.cancel.is_cancelled() && started.elapsed() < OUTAGE_MAX =>
                {
                    tracing::warn!("the store cannot be reached; trying again");
                    std::thread::sleep(PAUSE);
                }
                ended => return ended,
            }
        }
    }

    fn write<T>(&self, call: impl Fn(&dyn Store) -> Result<T>) -> Result<T> {
        self.read(call)
    }
}

store::wrap_store!(PatientStore);

impl fmt::Debug for PatientStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
