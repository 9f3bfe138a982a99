//! Registry of the locks that the threads of this process hold.
//!
//! `flock` belongs to an open file, not to a thread: two threads that lock one open file both
//! succeed, and two open files of one process exclude each other. So this registry orders the
//! threads of the process, and only the thread with the *transition* of a key calls the system:
//!
//! ```text
//!   free ── enter ──> transition ── complete ──> held (one exclusive, or n shared) ── last leave ──> transition ── drop ──> free
//! ```
//!
//! Promises: an exclusive holder of a key is alone; no thread enters during a transition, so the
//! state of the system and of the registry agree; freeing a key or completing a transition wakes
//! the waiting threads; a thread that would wait for itself fails at once; a transition dropped by
//! a panic frees the key.
//!
//! The registry knows nothing of files: the key and the value that its holders share are
//! parameters, so that shuttle can explore it in memory.
//!
//! After a fork, the child has a copy of this memory and none of the locks. The registry stores its
//! process id and empties itself in another process. A child forked while another thread is inside
//! the registry finds the mutex locked forever; it may only exec.
//!
//! One mutex, held for a few instructions and never during a call to other code.

#![cfg_attr(not(feature = "shuttle"), expect(unreachable_pub, reason = "shuttle's tests reach it"))]

use std::panic::Location;
use std::time::Instant;

use crate::LockMode;
use crate::sync::thread::ThreadId;
use crate::sync::{Condvar, Mutex, MutexGuard, WakeReason, lock, wait_until};

type CodeLocation = &'static Location<'static>;

/// The locks of one process: keys `K`, each with a value `H` that its holders share.
pub struct Registry<K, H> {
    state: Mutex<State<K, H>>,
    /// Notified when a key is freed or becomes shared. One for all keys: waits inside a process are
    /// rare and short.
    changed: Condvar,
}

struct State<K, H> {
    /// Process of the entries.
    pid: u32,
    /// A list, because there are few. Free keys have no entry.
    entries: Vec<Entry<K, H>>,
    /// Waiting threads in order of arrival. Without any, a notification (a system call) is not
    /// needed.
    waiting: Vec<Waiter<K>>,
    next_ticket: u64,
}

struct Waiter<K> {
    key: K,
    ticket: u64,
}

impl<K: Copy + Eq, H> State<K, H> {
    const fn new(pid: u32) -> Self {
        Self { pid, entries: Vec::new(), waiting: Vec::new(), next_ticket: 0 }
    }

    /// Returns true if the thread with this ticket, or a new thread without one, is the first in
    /// line for `key`.
    fn is_next(&self, key: K, ticket: Option<u64>) -> bool {
        let first = self.waiting.iter().find(|waiting| waiting.key == key);
        first.is_none_or(|first| Some(first.ticket) == ticket)
    }

    fn queue(&mut self, key: K) -> u64 {
        self.next_ticket += 1;
        self.waiting.push(Waiter { key, ticket: self.next_ticket });
        self.next_ticket
    }
}

struct Entry<K, H> {
    key: K,
    phase: Phase<H>,
}

enum Phase<H> {
    /// One thread locks or unlocks the file.
    Transition { thread: ThreadId, acquired_at: CodeLocation },
    /// The file is locked.
    Held { mode: LockMode, holders: Vec<HolderCount>, value: H },
}

struct HolderCount {
    /// `None` for a guard that threads share.
    thread: Option<ThreadId>,
    at: CodeLocation,
    count: usize,
}

/// The caller of [`Registry::enter`].
#[derive(Clone, Copy)]
pub struct Caller {
    /// Id of its process.
    pub pid: u32,
    /// Id of its thread.
    pub thread: ThreadId,
    /// Source location of the call.
    pub at: CodeLocation,
    /// True if the guard stays on this thread.
    pub thread_bound: bool,
}

impl Caller {
    fn owner(&self) -> Option<ThreadId> {
        self.thread_bound.then_some(self.thread)
    }
}

/// Result of [`Registry::enter`].
pub enum Admission<'r, K: Copy + Eq, H> {
    /// The key was free: lock the file, then call [`LockTransition::complete`] or drop the
    /// transition.
    Transition(LockTransition<'r, K, H>),
    /// This process holds the key in shared mode, and the caller joined.
    Joined(H),
}

/// Reason why a thread did not get a key or permit.
#[derive(Debug)]
pub enum AcquireError {
    /// The thread holds it already.
    AlreadyHeld(CodeLocation),
    /// Other threads held it until the deadline.
    TimedOut,
}

impl<K: Copy + Eq, H: Clone> Registry<K, H> {
    /// Creates a registry in which every key is free.
    pub const fn new() -> Self {
        Self { state: Mutex::new(State::new(0)), changed: Condvar::new() }
    }

    /// Enters `key`, and waits for other threads until the deadline. Threads get a free key in
    /// order of arrival, so that a thread that returns at once does not overtake those that have to
    /// wake up.
    pub fn enter(
        &self,
        key: K,
        mode: LockMode,
        caller: &Caller,
        deadline: Instant,
    ) -> Result<Admission<'_, K, H>, AcquireError> {
        let mut state = lock(&self.state);
        if state.pid != caller.pid {
            // A forked child: closing the files of these entries does not unlock the parent's.
            *state = State::new(caller.pid);
        }
        let mut ticket = None;
        let mut woken = WakeReason::Notified;
        let entered = loop {
            let is_next = state.is_next(key, ticket);
            match state.entries.iter_mut().find(|entry| entry.key == key) {
                Some(entry) => {
                    if let Some(value) = entry.phase.admit(mode, caller)? {
                        break Ok(Admission::Joined(value));
                    }
                }
                None if is_next => {
                    let phase = Phase::Transition { thread: caller.thread, acquired_at: caller.at };
                    state.entries.push(Entry { key, phase });
                    break Ok(Admission::Transition(LockTransition { registry: self, key }));
                }
                None => {}
            }
            if woken == WakeReason::TimedOut {
                break Err(AcquireError::TimedOut);
            }
            ticket = Some(ticket.unwrap_or_else(|| state.queue(key)));
            (state, woken) = wait_until(&self.changed, &self.state, state, deadline);
        };
        if ticket.is_some() {
            state.waiting.retain(|waiting| Some(waiting.ticket) != ticket);
            // The next thread may enter now.
            self.notify(state);
        }
        entered
    }

    /// Leaves `key`, which `owner` entered. The last holder gets the shared value and the
    /// transition, to unlock the file.
    pub fn leave(
        &self,
        key: K,
        owner: Option<ThreadId>,
        thread: ThreadId,
    ) -> Option<(H, LockTransition<'_, K, H>)> {
        let mut state = lock(&self.state);
        let entry = state.entries.iter_mut().find(|entry| entry.key == key)?;
        let Phase::Held { holders, value, .. } = &mut entry.phase else { return None };
        let index = holders.iter().position(|holder| holder.thread == owner)?;
        let at = holders[index].at;
        holders[index].count -= 1;
        if holders[index].count > 0 {
            return None;
        }
        holders.swap_remove(index);
        if !holders.is_empty() {
            return None;
        }
        let value = value.clone();
        entry.phase = Phase::Transition { thread, acquired_at: at };
        Some((value, LockTransition { registry: self, key }))
    }

    /// Returns true if every key is free.
    #[cfg(any(test, feature = "shuttle"))]
    pub fn is_empty(&self) -> bool {
        lock(&self.state).entries.is_empty()
    }
}

impl<K, H> Registry<K, H> {
    fn notify(&self, state: MutexGuard<'_, State<K, H>>) {
        let has_waiters = !state.waiting.is_empty();
        drop(state);
        if has_waiters {
            self.changed.notify_all();
        }
    }
}

impl<K: Copy + Eq, H: Clone> Default for Registry<K, H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: Clone> Phase<H> {
    /// Admits the caller beside shared holders. `None` means that it must wait.
    fn admit(&mut self, wanted: LockMode, caller: &Caller) -> Result<Option<H>, AcquireError> {
        match self {
            Phase::Transition { thread, acquired_at } if *thread == caller.thread => {
                Err(AcquireError::AlreadyHeld(acquired_at))
            }
            Phase::Transition { .. } => Ok(None),
            Phase::Held { mode: LockMode::Shared, holders, value } if wanted == LockMode::Shared => {
                match holders.iter_mut().find(|holder| holder.thread == caller.owner()) {
                    Some(holder) => holder.count += 1,
                    None => holders.push(HolderCount { thread: caller.owner(), at: caller.at, count: 1 }),
                }
                Ok(Some(value.clone()))
            }
            Phase::Held { holders, .. } => {
                match holders.iter().find(|holder| holder.thread == Some(caller.thread)) {
                    Some(holder) => Err(AcquireError::AlreadyHeld(holder.at)),
                    None => Ok(None),
                }
            }
        }
    }
}

/// The right to lock or unlock the file of a key, while other threads wait. Dropping it frees the
/// key.
#[must_use = "dropping the transition frees the key"]
pub struct LockTransition<'r, K: Copy + Eq, H> {
    registry: &'r Registry<K, H>,
    key: K,
}

impl<K: Copy + Eq, H> LockTransition<'_, K, H> {
    /// The file is locked: the caller holds the key.
    pub fn complete(self, mode: LockMode, caller: &Caller, value: H) {
        let holder = HolderCount { thread: caller.owner(), at: caller.at, count: 1 };
        let mut state = lock(&self.registry.state);
        if let Some(entry) = state.entries.iter_mut().find(|entry| entry.key == self.key) {
            entry.phase = Phase::Held { mode, holders: vec![holder], value };
        }
        // Readers may wait for the end of this transition.
        self.registry.notify(state);
        std::mem::forget(self);
    }
}

impl<K: Copy + Eq, H> Drop for LockTransition<'_, K, H> {
    fn drop(&mut self) {
        let mut state = lock(&self.registry.state);
        if let Some(index) = state.entries.iter().position(|entry| entry.key == self.key) {
            state.entries.swap_remove(index);
        }
        self.registry.notify(state);
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;
    use crate::sync::thread;

    #[track_caller]
    fn caller(pid: u32, thread_bound: bool) -> Caller {
        Caller { pid, thread: thread::current().id(), at: Location::caller(), thread_bound }
    }

    fn enter<'r>(
        registry: &'r Registry<u8, u8>,
        mode: LockMode,
        caller: &Caller,
    ) -> Result<Admission<'r, u8, u8>, AcquireError> {
        registry.enter(1, mode, caller, Instant::now())
    }

    fn take(registry: &Registry<u8, u8>, mode: LockMode, caller: &Caller) {
        let Ok(Admission::Transition(transition)) = enter(registry, mode, caller) else { panic!("not free") };
        transition.complete(mode, caller, 7);
    }

    #[test]
    fn a_thread_cannot_wait_for_itself_unless_both_are_shared() {
        for (first, second) in [
            (LockMode::Exclusive, LockMode::Exclusive),
            (LockMode::Exclusive, LockMode::Shared),
            (LockMode::Shared, LockMode::Exclusive),
        ] {
            let (registry, me) = (Registry::new(), caller(1, true));
            take(&registry, first, &me);
            assert!(
                matches!(enter(&registry, second, &me), Err(AcquireError::AlreadyHeld(at)) if at == me.at)
            );
        }
    }

    #[test]
    fn shared_holders_are_counted_and_the_last_gets_the_transition() {
        let (registry, me, unbound) = (Registry::new(), caller(1, true), caller(1, false));
        take(&registry, LockMode::Shared, &me);
        assert!(matches!(enter(&registry, LockMode::Shared, &me), Ok(Admission::Joined(7))));
        assert!(matches!(enter(&registry, LockMode::Shared, &unbound), Ok(Admission::Joined(7))));
        assert!(registry.leave(1, Some(me.thread), me.thread).is_none());
        assert!(registry.leave(1, Some(me.thread), me.thread).is_none());
        let (value, transition) = registry.leave(1, None, me.thread).unwrap();
        assert_eq!(value, 7);
        assert!(
            matches!(enter(&registry, LockMode::Shared, &me), Err(AcquireError::AlreadyHeld(_))),
            "during the transition"
        );
        assert!(registry.leave(1, None, me.thread).is_none(), "nothing is held during a transition");
        drop(transition);
        assert!(registry.is_empty());
    }

    #[test]
    fn a_returning_thread_does_not_overtake_waiting_threads() {
        let (registry, me) = (Registry::new(), caller(1, true));
        take(&registry, LockMode::Exclusive, &me);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let them = caller(1, true);
                let entered = registry.enter(1, LockMode::Exclusive, &them, later());
                let Ok(Admission::Transition(transition)) = entered else { panic!("it was not admitted") };
                transition.complete(LockMode::Exclusive, &them, 8);
                registry.leave(1, Some(them.thread), them.thread).map(drop)
            });
            while lock(&registry.state).waiting.is_empty() {
                thread::yield_now();
            }
            registry.leave(1, Some(me.thread), me.thread).map(drop).expect("it is held");
            // The other thread is next even if it has not woken up yet.
            if let Ok(Admission::Transition(_)) = enter(&registry, LockMode::Exclusive, &me) {
                assert!(lock(&registry.state).waiting.is_empty(), "it overtook the waiting thread");
            }
            assert!(other.join().is_ok_and(|left| left.is_some()));
        });
        assert!(registry.is_empty());
    }

    fn later() -> Instant {
        Instant::now() + std::time::Duration::from_secs(60)
    }

    #[test]
    fn a_shared_guard_is_waited_for() {
        let (registry, me) = (Registry::default(), caller(1, true));
        take(&registry, LockMode::Exclusive, &caller(1, false));
        assert!(matches!(enter(&registry, LockMode::Shared, &me), Err(AcquireError::TimedOut)));
    }

    #[test]
    fn a_forked_child_starts_empty() {
        let registry = Registry::new();
        take(&registry, LockMode::Exclusive, &caller(1, true));
        take(&registry, LockMode::Exclusive, &caller(2, true));
    }

    #[test]
    fn a_dropped_transition_frees_the_key() {
        let (registry, me) = (Registry::new(), caller(1, true));
        drop(enter(&registry, LockMode::Exclusive, &me));
        assert!(registry.is_empty());
    }
}
