//! A store that forwards all calls, counts reads, and loses answers on demand.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use store::{Error, Result, Store};

#[derive(Debug)]
pub(crate) struct LossyStore {
    inner: Arc<dyn Store>,
    reads: AtomicUsize,
    lost: Mutex<Lost>,
}

/// The number of answers to lose, and whether the writes take effect.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    pub answers: usize,
    pub is_done: bool,
}

impl LossyStore {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, reads: AtomicUsize::new(0), lost: Mutex::default() }
    }

    pub(crate) fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    pub(crate) fn lose(&self, lost: Lost) {
        *self.lost.lock().unwrap() = lost;
    }

    fn write<T>(&self, act: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        let lost = *self.lost.lock().unwrap();
        if lost.answers == 0 {
            return act(self.inner.as_ref());
        }
        self.lost.lock().unwrap().answers -= 1;
        if lost.is_done {
            act(self.inner.as_ref())?;
        }
        Err(Error::Stopped { path: "state.db".into() })
    }

    fn read<T>(&self, act: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        act(self.inner.as_ref())
    }
}

testkit::wrap_store!(LossyStore);
