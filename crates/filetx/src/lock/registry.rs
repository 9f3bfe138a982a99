//! Which locks this process holds, and which of its threads.
//!
//! `flock` belongs to an open file, not to a thread: two threads that lock through one open file both succeed, and two open
//! files of one process exclude each other. So within a process this registry decides, and only the thread that has the
//! *turn* of a key talks to the system about it:
//!
//! ```text
//!   free ── enter ──> turn ── settle ──> held (one exclusive, or n shared) ── last leave ──> turn ── drop ──> free
//! ```
//!
//! Promises: an exclusive holder of a key is alone; nobody enters while somebody has the turn, so what the system is told
//! and what is noted here never cross; whoever waits is woken when a key is freed or settled; a thread that would wait for
//! itself is told so at once; a turn dropped by a panic frees the key.
//!
//! It does not promise an order among those who wait (neither does `flock`), and it knows nothing of files: the key and what
//! a key's holders share are parameters, so that shuttle can explore it in memory.
//!
//! After a fork the child has a copy of this memory but none of the locks. The registry notes its process and empties itself
//! when it finds itself in another one. A child forked while another thread was inside the registry finds its mutex locked
//! for ever: such a child may only exec, as everywhere.
//!
//! One mutex, held for a few instructions and never while calling out, so it orders with no other.

#![cfg_attr(not(feature = "shuttle"), expect(unreachable_pub, reason = "shuttle's tests reach it"))]

use std::panic::Location;
use std::time::Instant;

use crate::Mode;
use crate::sync::thread::ThreadId;
use crate::sync::{Condvar, Mutex, MutexGuard, Woken, lock, wait_until};

type At = &'static Location<'static>;

/// The locks that one process holds: keys `K`, and for each the thing `H` that its holders share.
pub struct Registry<K, H> {
    state: Mutex<State<K, H>>,
    /// Notified whenever a key is freed or becomes shared. One for all keys: waits inside a process are rare and short.
    changed: Condvar,
}

struct State<K, H> {
    /// The process that the entries are of.
    pid: u32,
    /// Few at a time, so a list; free keys have no entry.
    entries: Vec<Entry<K, H>>,
    /// Who waits, in the order they came. Without any, nobody is notified: that would be a system call.
    waiting: Vec<Waiting<K>>,
    next_ticket: u64,
}

struct Waiting<K> {
    key: K,
    ticket: u64,
}

impl<K: Copy + Eq, H> State<K, H> {
    const fn new(pid: u32) -> Self {
        Self { pid, entries: Vec::new(), waiting: Vec::new(), next_ticket: 0 }
    }

    /// Whether nobody came for `key` before the one with this ticket, who may not have got one yet.
    fn is_next(&self, key: K, ticket: Option<u64>) -> bool {
        let first = self.waiting.iter().find(|waiting| waiting.key == key);
        first.is_none_or(|first| Some(first.ticket) == ticket)
    }

    fn queue(&mut self, key: K) -> u64 {
        self.next_ticket += 1;
        self.waiting.push(Waiting { key, ticket: self.next_ticket });
        self.next_ticket
    }
}

struct Entry<K, H> {
    key: K,
    phase: Phase<H>,
}

enum Phase<H> {
    /// One thread is telling the system.
    Turn { thread: ThreadId, at: At },
    /// The system has been told.
    Held { mode: Mode, holders: Vec<Holding>, what: H },
}

struct Holding {
    /// `None` when it is not bound to a thread.
    thread: Option<ThreadId>,
    at: At,
    count: usize,
}

/// Who asks for a key.
#[derive(Clone, Copy)]
pub struct Caller {
    /// Its process.
    pub pid: u32,
    /// Its thread.
    pub thread: ThreadId,
    /// Where in the source it asks.
    pub at: At,
    /// Whether what it gets belongs to its thread.
    pub bound: bool,
}

impl Caller {
    fn owner(&self) -> Option<ThreadId> {
        self.bound.then_some(self.thread)
    }
}

/// The way into a key.
pub enum Entered<'r, K: Copy + Eq, H> {
    /// The key was free: tell the system, then [`Turn::settle`], or drop the turn.
    Turn(Turn<'r, K, H>),
    /// The key is held shared by this process, and now also by the caller.
    Joined(H),
}

/// Why a caller did not get in.
#[derive(Debug)]
pub enum Refused {
    /// Its own thread is in already.
    AlreadyHeld(At),
    /// Others were in until the time was over.
    TimedOut,
}

impl<K: Copy + Eq, H: Clone> Registry<K, H> {
    /// A registry in which every key is free.
    pub const fn new() -> Self {
        Self { state: Mutex::new(State::new(0)), changed: Condvar::new() }
    }

    /// Enters `key`, waiting for other threads until `until` at the latest. Threads get a key that is free in the order they came: otherwise
    /// one that comes back at once would be faster than any that has to wake up first.
    pub fn enter(
        &self,
        key: K,
        mode: Mode,
        caller: &Caller,
        until: Instant,
    ) -> Result<Entered<'_, K, H>, Refused> {
        let mut state = lock(&self.state);
        if state.pid != caller.pid {
            // A forked child: closing the files that these entries share unlocks nothing of the parent's.
            *state = State::new(caller.pid);
        }
        let mut ticket = None;
        let mut woken = Woken::Notified;
        let entered = loop {
            let is_next = state.is_next(key, ticket);
            match state.entries.iter_mut().find(|entry| entry.key == key) {
                Some(entry) => {
                    if let Some(what) = entry.phase.admit(mode, caller)? {
                        break Ok(Entered::Joined(what));
                    }
                }
                None if is_next => {
                    let phase = Phase::Turn { thread: caller.thread, at: caller.at };
                    state.entries.push(Entry { key, phase });
                    break Ok(Entered::Turn(Turn { registry: self, key }));
                }
                None => {}
            }
            if woken == Woken::TimedOut {
                break Err(Refused::TimedOut);
            }
            ticket = Some(ticket.unwrap_or_else(|| state.queue(key)));
            (state, woken) = wait_until(&self.changed, &self.state, state, until);
        };
        if ticket.is_some() {
            state.waiting.retain(|waiting| Some(waiting.ticket) != ticket);
            // Those behind may be next now, or may join.
            self.notify(state);
        }
        entered
    }

    /// Leaves `key`, which `owner` had entered. The last to leave gets what the holders shared, and the turn to tell the
    /// system that the key is free.
    pub fn leave(&self, key: K, owner: Option<ThreadId>, thread: ThreadId) -> Option<(H, Turn<'_, K, H>)> {
        let mut state = lock(&self.state);
        let entry = state.entries.iter_mut().find(|entry| entry.key == key)?;
        let Phase::Held { holders, what, .. } = &mut entry.phase else { return None };
        let index = holders.iter().position(|holding| holding.thread == owner)?;
        let at = holders[index].at;
        holders[index].count -= 1;
        if holders[index].count > 0 {
            return None;
        }
        holders.swap_remove(index);
        if !holders.is_empty() {
            return None;
        }
        let what = what.clone();
        entry.phase = Phase::Turn { thread, at };
        Some((what, Turn { registry: self, key }))
    }

    /// Whether no key is held or being taken.
    #[cfg(any(test, feature = "shuttle"))]
    pub fn is_empty(&self) -> bool {
        lock(&self.state).entries.is_empty()
    }
}

impl<K, H> Registry<K, H> {
    fn notify(&self, state: MutexGuard<'_, State<K, H>>) {
        let is_awaited = !state.waiting.is_empty();
        drop(state);
        if is_awaited {
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
    /// Lets the caller in beside shared holders. `None` means that it has to wait.
    fn admit(&mut self, wanted: Mode, caller: &Caller) -> Result<Option<H>, Refused> {
        match self {
            Phase::Turn { thread, at } if *thread == caller.thread => Err(Refused::AlreadyHeld(at)),
            Phase::Turn { .. } => Ok(None),
            Phase::Held { mode: Mode::Shared, holders, what } if wanted == Mode::Shared => {
                match holders.iter_mut().find(|holding| holding.thread == caller.owner()) {
                    Some(holding) => holding.count += 1,
                    None => holders.push(Holding { thread: caller.owner(), at: caller.at, count: 1 }),
                }
                Ok(Some(what.clone()))
            }
            Phase::Held { holders, .. } => {
                match holders.iter().find(|holding| holding.thread == Some(caller.thread)) {
                    Some(holding) => Err(Refused::AlreadyHeld(holding.at)),
                    None => Ok(None),
                }
            }
        }
    }
}

/// The right to tell the system about a key, while everyone else waits. Dropping it frees the key.
#[must_use = "dropping the turn frees the key"]
pub struct Turn<'r, K: Copy + Eq, H> {
    registry: &'r Registry<K, H>,
    key: K,
}

impl<K: Copy + Eq, H> Turn<'_, K, H> {
    /// The system agreed: the caller holds the key.
    pub fn settle(self, mode: Mode, caller: &Caller, what: H) {
        let holding = Holding { thread: caller.owner(), at: caller.at, count: 1 };
        let mut state = lock(&self.registry.state);
        if let Some(entry) = state.entries.iter_mut().find(|entry| entry.key == self.key) {
            entry.phase = Phase::Held { mode, holders: vec![holding], what };
        }
        // Readers may have waited for this turn to end.
        self.registry.notify(state);
        std::mem::forget(self);
    }
}

impl<K: Copy + Eq, H> Drop for Turn<'_, K, H> {
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
    fn caller(pid: u32, bound: bool) -> Caller {
        Caller { pid, thread: thread::current().id(), at: Location::caller(), bound }
    }

    fn enter<'r>(
        registry: &'r Registry<u8, u8>,
        mode: Mode,
        caller: &Caller,
    ) -> Result<Entered<'r, u8, u8>, Refused> {
        registry.enter(1, mode, caller, Instant::now())
    }

    fn take(registry: &Registry<u8, u8>, mode: Mode, caller: &Caller) {
        let Ok(Entered::Turn(turn)) = enter(registry, mode, caller) else { panic!("not free") };
        turn.settle(mode, caller, 7);
    }

    #[test]
    fn the_same_thread_is_told_unless_both_are_shared() {
        for (first, second) in [
            (Mode::Exclusive, Mode::Exclusive),
            (Mode::Exclusive, Mode::Shared),
            (Mode::Shared, Mode::Exclusive),
        ] {
            let (registry, me) = (Registry::new(), caller(1, true));
            take(&registry, first, &me);
            assert!(matches!(enter(&registry, second, &me), Err(Refused::AlreadyHeld(at)) if at == me.at));
        }
    }

    #[test]
    fn shared_is_counted_and_the_last_to_leave_gets_the_turn() {
        let (registry, me, unbound) = (Registry::new(), caller(1, true), caller(1, false));
        take(&registry, Mode::Shared, &me);
        assert!(matches!(enter(&registry, Mode::Shared, &me), Ok(Entered::Joined(7))));
        assert!(matches!(enter(&registry, Mode::Shared, &unbound), Ok(Entered::Joined(7))));
        assert!(registry.leave(1, Some(me.thread), me.thread).is_none());
        assert!(registry.leave(1, Some(me.thread), me.thread).is_none());
        let (what, turn) = registry.leave(1, None, me.thread).unwrap();
        assert_eq!(what, 7);
        assert!(
            matches!(enter(&registry, Mode::Shared, &me), Err(Refused::AlreadyHeld(_))),
            "during the turn"
        );
        assert!(registry.leave(1, None, me.thread).is_none(), "nothing is held during a turn");
        drop(turn);
        assert!(registry.is_empty());
    }

    #[test]
    fn who_comes_back_at_once_does_not_pass_those_who_wait() {
        let (registry, me) = (Registry::new(), caller(1, true));
        take(&registry, Mode::Exclusive, &me);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let them = caller(1, true);
                let entered = registry.enter(1, Mode::Exclusive, &them, later());
                let Ok(Entered::Turn(turn)) = entered else { panic!("it was not let in") };
                turn.settle(Mode::Exclusive, &them, 8);
                registry.leave(1, Some(them.thread), them.thread).map(drop)
            });
            while lock(&registry.state).waiting.is_empty() {
                thread::yield_now();
            }
            registry.leave(1, Some(me.thread), me.thread).map(drop).expect("it is held");
            // The other one is next even if it has not woken up yet.
            if let Ok(Entered::Turn(_)) = enter(&registry, Mode::Exclusive, &me) {
                assert!(lock(&registry.state).waiting.is_empty(), "it passed the one who waits");
            }
            assert!(other.join().is_ok_and(|left| left.is_some()));
        });
        assert!(registry.is_empty());
    }

    fn later() -> Instant {
        Instant::now() + std::time::Duration::from_secs(60)
    }

    #[test]
    fn what_belongs_to_no_thread_is_waited_for() {
        let (registry, me) = (Registry::default(), caller(1, true));
        take(&registry, Mode::Exclusive, &caller(1, false));
        assert!(matches!(enter(&registry, Mode::Shared, &me), Err(Refused::TimedOut)));
    }

    #[test]
    fn a_forked_child_starts_empty() {
        let registry = Registry::new();
        take(&registry, Mode::Exclusive, &caller(1, true));
        take(&registry, Mode::Exclusive, &caller(2, true));
    }

    #[test]
    fn a_turn_dropped_frees_the_key() {
        let (registry, me) = (Registry::new(), caller(1, true));
        drop(enter(&registry, Mode::Exclusive, &me));
        assert!(registry.is_empty());
    }
}
