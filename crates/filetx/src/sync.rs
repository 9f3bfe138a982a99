//! The synchronisation primitives of this crate: std's, or shuttle's under the feature `shuttle`.
//!
//! Code that threads run concurrently takes its mutexes and condition variables from here, so that the same code runs in a
//! program and under shuttle, which explores its schedules. With the feature on, these types work inside a shuttle run
//! only: the tests that touch real files are left out then.
//!
//! A mutex whose owner panicked is used as it is ([`lock`]): every critical section of this crate leaves its data whole
//! before it calls anything that may panic.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

#[cfg(feature = "shuttle")]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard},
    thread,
};
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard},
    thread,
};

/// How a wait ended. Either way the caller looks at its condition again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Woken {
    /// Somebody notified, or the system woke us for no reason.
    Notified,
    /// The time was over.
    TimedOut,
}

/// Locks a mutex, also after a panic of an owner.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A condition variable that knows whether anybody waits: notifying costs a system call, also when nobody does.
///
/// Whoever rings or asks holds the mutex that those who wait hold when they begin to.
pub(crate) struct Bell {
    condvar: Condvar,
    waiting: AtomicUsize,
}

impl Bell {
    pub(crate) fn new() -> Self {
        Self { condvar: Condvar::new(), waiting: AtomicUsize::new(0) }
    }

    /// Whether anybody waits, or was woken and is not here yet.
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn ring_one<T>(&self, _held: &MutexGuard<'_, T>) {
        if self.is_awaited() {
            self.condvar.notify_one();
        }
    }

    pub(crate) fn ring_all<T>(&self, _held: &MutexGuard<'_, T>) {
        if self.is_awaited() {
            self.condvar.notify_all();
        }
    }

    /// Waits until it rings, or for no reason: the caller looks at its condition again.
    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let guard = self.condvar.wait(guard).unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// As [`wait`](Self::wait), until `until` at the latest. `mutex` is the one that `guard` locks.
    pub(crate) fn wait_until<'a, T>(
        &self,
        mutex: &'a Mutex<T>,
        guard: MutexGuard<'a, T>,
        until: Instant,
    ) -> (MutexGuard<'a, T>, Woken) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let woken = wait_until(&self.condvar, mutex, guard, until);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        woken
    }
}

/// Waits for a notification, until `until` at the latest. `mutex` is the one that `guard` locks.
#[cfg(not(feature = "shuttle"))]
pub(crate) fn wait_until<'a, T>(
    condvar: &Condvar,
    _mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    until: Instant,
) -> (MutexGuard<'a, T>, Woken) {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return (guard, Woken::TimedOut);
    }
    let (guard, result) = condvar.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner);
    (guard, if result.timed_out() { Woken::TimedOut } else { Woken::Notified })
}

/// Waits for a notification, or, by shuttle's choice, has its time over. Shuttle's own `wait_timeout` never times out.
///
/// A wait whose time is over misses every notification that comes meanwhile, so both kinds of trouble are explored: a lost
/// wake-up blocks the waits that are not over, and a late wake-up comes to nobody.
#[cfg(feature = "shuttle")]
pub(crate) fn wait_until<'a, T>(
    condvar: &Condvar,
    mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    _until: Instant,
) -> (MutexGuard<'a, T>, Woken) {
    use shuttle::rand::{Rng, thread_rng};
    if thread_rng().r#gen::<bool>() {
        return (condvar.wait(guard).unwrap_or_else(PoisonError::into_inner), Woken::Notified);
    }
    drop(guard);
    thread::yield_now();
    (lock(mutex), Woken::TimedOut)
}
