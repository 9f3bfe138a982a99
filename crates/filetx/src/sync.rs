//! Synchronisation primitives: those of std, or those of shuttle with the feature `shuttle`.
//!
//! Concurrent code takes its mutexes and condition variables from here, so that shuttle can explore
//! its schedules. With the feature, these types work only inside a shuttle run, and the tests on
//! real files are disabled.
//!
//! Poisoned mutexes stay usable ([`lock`]): every critical section leaves its data consistent
//! before it calls code that may panic.

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

/// End of a wait. The caller checks its condition again in either case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WakeReason {
    /// A notification or a spurious wake-up.
    Notified,
    /// The deadline passed.
    TimedOut,
}

/// Locks a mutex, even if it is poisoned.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A condition variable that counts its waiters: a notification without waiters costs no system
/// call.
///
/// Callers hold the mutex of the waiters in every method.
pub(crate) struct WaitQueue {
    condvar: Condvar,
    waiting: AtomicUsize,
}

impl WaitQueue {
    pub(crate) fn new() -> Self {
        Self { condvar: Condvar::new(), waiting: AtomicUsize::new(0) }
    }

    /// Returns true if a thread waits, or was notified and has not woken up yet.
    pub(crate) fn has_waiters(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn notify_one<T>(&self, _held: &MutexGuard<'_, T>) {
        if self.has_waiters() {
            self.condvar.notify_one();
        }
    }

    pub(crate) fn notify_all<T>(&self, _held: &MutexGuard<'_, T>) {
        if self.has_waiters() {
            self.condvar.notify_all();
        }
    }

    /// Waits for a notification. Spurious wake-ups are possible: the caller checks its condition
    /// again.
    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let guard = self.condvar.wait(guard).unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// Like [`wait`](Self::wait), with a deadline. `guard` locks `mutex`.
    pub(crate) fn wait_until<'a, T>(
        &self,
        mutex: &'a Mutex<T>,
        guard: MutexGuard<'a, T>,
        deadline: Instant,
    ) -> (MutexGuard<'a, T>, WakeReason) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let woken = wait_until(&self.condvar, mutex, guard, deadline);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        woken
    }
}

/// Waits for a notification, with a deadline. `guard` locks `mutex`.
#[cfg(not(feature = "shuttle"))]
pub(crate) fn wait_until<'a, T>(
    condvar: &Condvar,
    _mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    deadline: Instant,
) -> (MutexGuard<'a, T>, WakeReason) {
    let remaining = deadline.saturating_duration_since(Instant::now());
    if remaining.is_zero() {
        return (guard, WakeReason::TimedOut);
    }
    let (guard, result) = condvar.wait_timeout(guard, remaining).unwrap_or_else(PoisonError::into_inner);
    (guard, if result.timed_out() { WakeReason::TimedOut } else { WakeReason::Notified })
}

/// Waits for a notification, or times out by a random choice of shuttle, whose own `wait_timeout`
/// never does.
///
/// A wait that timed out misses every notification until it holds the mutex again, so shuttle
/// explores lost and late wake-ups.
#[cfg(feature = "shuttle")]
pub(crate) fn wait_until<'a, T>(
    condvar: &Condvar,
    mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    _deadline: Instant,
) -> (MutexGuard<'a, T>, WakeReason) {
    use shuttle::rand::{Rng, thread_rng};
    if thread_rng().r#gen::<bool>() {
        return (condvar.wait(guard).unwrap_or_else(PoisonError::into_inner), WakeReason::Notified);
    }
    drop(guard);
    thread::yield_now();
    (lock(mutex), WakeReason::TimedOut)
}
