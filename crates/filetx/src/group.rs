//! Group commit: threads stage in turn, then one of them makes what all have queued durable with one sync.
//!
//! A thread takes the *turn*, stages, and submits; the next thread stages on top of that while the first is being written.
//! Whoever finds nobody writing becomes the leader and flushes everything queued. A failed flush fails all that was in it, and
//! all that was staged on top of it and is still in the queue.
//!
//! This file knows nothing of files, so that schedules can be explored.

#![cfg_attr(not(feature = "shuttle"), expect(unreachable_pub, reason = "shuttle's tests reach it"))]

use std::collections::HashMap;
use std::panic::Location;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::Error;
use crate::sync::{self, Condvar, Mutex, MutexGuard, Woken, thread};

/// How often a leader lets other threads run before it flushes.
const YIELDS_MAX: usize = 16;

/// What became of a submitted item.
#[derive(Clone, Debug)]
pub enum Fate {
    /// It is durable and published.
    Durable,
    /// It is durable; publishing stopped with this.
    Pending(Arc<Error>),
    /// It was not written.
    Aborted(Arc<Error>),
    /// It may or may not be durable.
    Unknown(Arc<Error>),
    /// It was staged on something that failed, and was not written.
    Superseded,
}

/// Why a thread did not get the turn.
#[derive(Debug)]
pub enum NoTurn {
    /// It has it already, since there.
    AlreadyHeld(&'static Location<'static>),
    /// Another thread kept it too long.
    Busy,
}

/// The queue of one folder.
pub struct Group<T> {
    state: Mutex<State<T>>,
    /// Notified, for one, when the turn is free.
    turn_free: Condvar,
    /// Where the threads of a batch wait, by its number, odd or even: only one batch is being flushed while the next one gathers.
    settled: [Condvar; 2],
    /// Notified when a batch is settled, for the thread that waits until nothing is queued.
    drained: Condvar,
}

struct State<T> {
    turn: Option<Turn>,
    waiting: usize,
    queue: Vec<T>,
    /// The number of the batch that the queue will be.
    batch: u64,
    /// Whether several threads were here when the last batch was settled.
    in_company: bool,
    /// The ticket of the next item; those in the queue are just below it.
    next_ticket: u64,
    leading: bool,
    /// How many flushes failed. Who took the turn before the last of them staged on what failed.
    failures: u64,
    settled: HashMap<u64, Fate>,
}

/// Who stages.
#[derive(Clone, Copy)]
struct Turn {
    holder: thread::ThreadId,
    since: &'static Location<'static>,
    failures: u64,
}

impl<T> Group<T> {
    /// An empty queue.
    #[cfg_attr(
        feature = "shuttle",
        expect(
            clippy::new_without_default,
            reason = "a group belongs to a folder; an empty default one means nothing"
        )
    )]
    pub fn new() -> Self {
        let state = State {
            turn: None,
            waiting: 0,
            queue: Vec::new(),
            batch: 0,
            in_company: false,
            next_ticket: 0,
            leading: false,
            failures: 0,
            settled: HashMap::new(),
        };
        let settled = [Condvar::new(), Condvar::new()];
        Self { state: Mutex::new(state), turn_free: Condvar::new(), settled, drained: Condvar::new() }
    }

    /// Waits for the turn to stage.
    pub fn take_turn(&self, timeout: Duration, at: &'static Location<'static>) -> Result<(), NoTurn> {
        let me = thread::current().id();
        let deadline = Instant::now() + timeout;
        let mut state = self.lock();
        if let Some(turn) = state.turn.filter(|turn| turn.holder == me) {
            return Err(NoTurn::AlreadyHeld(turn.since));
        }
        state.waiting += 1;
        while state.turn.is_some() {
            let woken;
            (state, woken) = sync::wait_until(&self.turn_free, &self.state, state, deadline);
            if woken == Woken::TimedOut && state.turn.is_some() {
                state.waiting -= 1;
                return Err(NoTurn::Busy);
            }
        }
        state.waiting -= 1;
        state.turn = Some(Turn { holder: me, since: at, failures: state.failures });
        Ok(())
    }

    /// Gives the turn back without submitting. `idle` runs when nobody else is here.
    pub fn give_back(&self, idle: impl FnOnce()) {
        let mut state = self.lock();
        state.turn = None;
        state.when_idle(idle);
        // One is enough: whoever is woken takes the turn, or finds that another thread has it, which notifies again.
        if state.waiting > 0 {
            self.turn_free.notify_one();
        }
    }

    /// Queues an item and gives the turn back; the answer is the item's ticket for [`settle`](Self::settle). `None` when a flush
    /// failed since the turn was taken: the item was staged on that, is not queued, and the turn is still the caller's.
    pub fn submit(&self, item: T) -> Option<u64> {
        let mut state = self.lock();
        state.turn.filter(|turn| turn.failures == state.failures)?;
        state.turn = None;
        state.queue.push(item);
        state.next_ticket += 1;
        // Waking costs a system call, also when nobody waits.
        if state.waiting > 0 {
            self.turn_free.notify_one();
        }
        Some(state.next_ticket - 1)
    }

    /// Waits until the item is settled, leading a flush when nobody does. `failed` runs when that flush fails, before anybody
    /// can take the turn. `idle` runs when nobody else is here afterwards.
    pub fn settle(
        &self,
        ticket: u64,
        flush: impl FnOnce(Vec<T>) -> Fate,
        failed: impl FnOnce(),
        idle: impl FnOnce(),
    ) -> Fate {
        let mut state = self.lock();
        loop {
            if let Some(fate) = state.settled.remove(&ticket) {
                state.when_idle(idle);
                return fate;
            }
            if !state.leading {
                break;
            }
            let is_queued = ticket >= state.first_queued();
            let batch = if is_queued { state.batch } else { state.batch - 1 };
            state = self.settled_of(batch).wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.leading = true;
        if state.in_company {
            state = self.gather(state);
        }
        let tickets = state.first_queued()..state.next_ticket;
        let items = std::mem::take(&mut state.queue);
        let batch = state.batch;
        state.batch += 1;
        drop(state);

        let fate = Fate::Unknown(Arc::new(Error::Panicked));
        let mut finish = Finish { group: self, batch, tickets, fate, failed: Some(failed) };
        finish.fate = flush(items);
        drop(finish);

        let mut state = self.lock();
        let fate = state.settled.remove(&ticket).expect("the batch held this ticket");
        state.when_idle(idle);
        fate
    }

    /// Waits until nothing is queued or being flushed. Only the thread that has the turn may call it: nobody else can submit.
    pub fn drain(&self) {
        let mut state = self.lock();
        while state.leading || !state.queue.is_empty() {
            state = self.drained.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets threads join that are staging or, just woken by the last batch, about to: otherwise two halves of them take turns, each with
    /// a sync of its own. With nobody to run a yield returns at once, so this waits for no thread that does something else.
    fn gather<'a>(&'a self, mut state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        for _ in 0..YIELDS_MAX {
            let gathered = state.queue.len();
            drop(state);
            thread::yield_now();
            state = self.lock();
            if state.queue.len() == gathered && state.turn.is_none() && state.waiting == 0 {
                break;
            }
        }
        state
    }

    fn settled_of(&self, batch: u64) -> &Condvar {
        &self.settled[(batch % 2) as usize]
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        sync::lock(&self.state)
    }
}

impl<T> State<T> {
    /// The ticket of the oldest item in the queue.
    fn first_queued(&self) -> u64 {
        self.next_ticket - self.queue.len() as u64
    }

    fn when_idle(&self, idle: impl FnOnce()) {
        if self.turn.is_none() && self.waiting == 0 && !self.leading && self.queue.is_empty() {
            idle();
        }
    }
}

/// Settles a batch when the leader is done with it, even if it panics: nobody waits for a leader that is gone.
struct Finish<'a, T, F: FnOnce()> {
    group: &'a Group<T>,
    batch: u64,
    tickets: std::ops::Range<u64>,
    fate: Fate,
    failed: Option<F>,
}

impl<T, F: FnOnce()> Drop for Finish<'_, T, F> {
    fn drop(&mut self) {
        let mut state = self.group.lock();
        for ticket in self.tickets.clone() {
            state.settled.insert(ticket, self.fate.clone());
        }
        if !matches!(self.fate, Fate::Durable) {
            state.failures += 1;
            let staged_on_it = self.tickets.end..state.next_ticket;
            for ticket in staged_on_it {
                state.settled.insert(ticket, Fate::Superseded);
            }
            state.queue.clear();
            if let Some(failed) = self.failed.take() {
                failed();
            }
            self.group.settled_of(self.batch + 1).notify_all();
        }
        state.leading = false;
        state.in_company = self.tickets.end - self.tickets.start > 1
            || !state.queue.is_empty()
            || state.turn.is_some()
            || state.waiting > 0;
        self.group.settled_of(self.batch).notify_all();
        // Somebody of the next batch leads it.
        self.group.settled_of(self.batch + 1).notify_one();
        self.group.drained.notify_one();
    }
}
