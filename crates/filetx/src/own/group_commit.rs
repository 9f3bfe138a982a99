//! Group commit: threads stage one after the other, and one of them makes all queued commits
//! durable with one sync.
//!
//! A thread acquires the *permit*, stages, and submits. The next thread stages on top of that while
//! the first commit is being written. A thread that finds no batch in flight becomes the leader: it
//! writes everything queued as one batch, then publishes it. The commits queued in the meantime are
//! the next batch.
//!
//! A failed batch fails every commit that was staged on top of it.
//!
//! This module knows nothing of files, so tests can explore its schedules.

#![cfg_attr(not(feature = "shuttle"), expect(unreachable_pub, reason = "shuttle's tests reach it"))]

use std::collections::HashMap;
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::Error;
use crate::lock::registry::AcquireError;
use crate::sync::{self, Mutex, MutexGuard, WaitQueue, WakeReason, thread};

/// Outcome of a submitted item.
#[derive(Clone, Debug)]
pub enum CommitOutcome {
    /// Durable and published.
    Published,
    /// Durable; publishing failed with this error.
    Pending(Arc<Error>),
    /// Not written.
    Aborted(Arc<Error>),
    /// Durable or not written.
    Unknown(Arc<Error>),
    /// Not written, because it was staged on a commit that failed.
    Superseded,
}

/// A submitted item, for [`GroupCommit::commit`].
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    number: u64,
    batch: u64,
}

/// The commit queue of one folder.
pub struct GroupCommit<T> {
    state: Mutex<State<T>>,
    /// Threads waiting for the permit. A free permit wakes one.
    permit_free: WaitQueue,
    /// Threads waiting for their batch, by its number modulo 2: one batch is in flight, the next
    /// one is queued.
    batch_done: [WaitQueue; 2],
    /// The permit holder, waiting until no commit is queued or in flight.
    drained: WaitQueue,
}

struct State<T> {
    permit: Option<Permit>,
    queue: Vec<T>,
    /// Number of the batch that the queue becomes.
    batch: u64,
    /// A leader writes or publishes a batch.
    in_flight: bool,
    /// Number of the next ticket; the queue holds the numbers just below it.
    next_ticket: u64,
    /// Count of failed batches. A permit acquired before the last failure was used to stage on top
    /// of it.
    failures: u64,
    outcomes: HashMap<u64, CommitOutcome>,
}

/// The right to stage, held by one thread.
#[derive(Clone, Copy)]
struct Permit {
    holder: thread::ThreadId,
    acquired_at: &'static Location<'static>,
    failures: u64,
}

impl<T> GroupCommit<T> {
    /// Creates an empty queue.
    #[cfg_attr(
        feature = "shuttle",
        expect(
            clippy::new_without_default,
            reason = "a queue belongs to a folder; a default one means nothing"
        )
    )]
    pub fn new() -> Self {
        let state = State {
            permit: None,
            queue: Vec::new(),
            batch: 0,
            in_flight: false,
            next_ticket: 0,
            failures: 0,
            outcomes: HashMap::new(),
        };
        Self {
            state: Mutex::new(state),
            permit_free: WaitQueue::new(),
            batch_done: [WaitQueue::new(), WaitQueue::new()],
            drained: WaitQueue::new(),
        }
    }

    /// Waits for the permit to stage.
    pub fn acquire_permit(
        &self,
        timeout: Duration,
        caller: &'static Location<'static>,
    ) -> Result<(), AcquireError> {
        let me = thread::current().id();
        let mut state = self.lock();
        if let Some(permit) = state.permit.filter(|permit| permit.holder == me) {
            return Err(AcquireError::AlreadyHeld(permit.acquired_at));
        }
        let deadline = Instant::now() + timeout;
        while state.permit.is_some() {
            let woken;
            (state, woken) = self.permit_free.wait_until(&self.state, state, deadline);
            if woken == WakeReason::TimedOut && state.permit.is_some() {
                return Err(AcquireError::TimedOut);
            }
        }
        state.permit = Some(Permit { holder: me, acquired_at: caller, failures: state.failures });
        Ok(())
    }

    /// Releases the permit without submitting. `on_idle` runs if no other thread uses the queue.
    pub fn release_permit(&self, on_idle: impl FnOnce()) {
        let mut state = self.lock();
        state.permit = None;
        self.when_idle(&state, on_idle);
        // One is enough: the woken thread takes the permit, or another thread has it and wakes the
        // next one.
        self.permit_free.notify_one(&state);
    }

    /// Queues an item and releases the permit. Returns `None` if a batch failed since the permit
    /// was acquired: the item was staged on it and is not queued, and the caller keeps the permit.
    pub fn submit(&self, item: T) -> Option<Ticket> {
        let mut state = self.lock();
        state.permit.filter(|permit| permit.failures == state.failures)?;
        state.permit = None;
        state.queue.push(item);
        state.next_ticket += 1;
        self.permit_free.notify_one(&state);
        Some(Ticket { number: state.next_ticket - 1, batch: state.batch })
    }

    /// Waits for the outcome of an item, and leads its batch if no other batch is in flight:
    /// `write` makes the batch durable, `publish` brings it into the files. `on_failure` runs after
    /// a failed batch, before any thread stages again. `on_idle` runs if no other thread uses the
    /// queue afterwards.
    pub fn commit<W>(
        &self,
        ticket: Ticket,
        write: impl FnOnce(Vec<T>) -> Result<W, CommitOutcome>,
        publish: impl FnOnce(W) -> CommitOutcome,
        on_failure: impl FnOnce(),
        on_idle: impl FnOnce(),
    ) -> CommitOutcome {
        let mut state = self.lock();
        loop {
            if let Some(outcome) = state.outcomes.remove(&ticket.number) {
                self.when_idle(&state, on_idle);
                return outcome;
            }
            let is_queued = ticket.batch == state.batch;
            if is_queued && !state.in_flight {
                break;
            }
            state = self.waiters_of(ticket.batch).wait(state);
        }
        state.in_flight = true;
        let tickets = state.queued_tickets();
        let items = std::mem::take(&mut state.queue);
        state.batch += 1;
        drop(state);

        let outcome = CommitOutcome::Unknown(Arc::new(Error::Panicked));
        let on_failure = Some(on_failure);
        let mut batch = Batch { group: self, number: ticket.batch, tickets, outcome, on_failure };
        match write(items) {
            Err(outcome) => batch.outcome = outcome,
            Ok(written) => {
                batch.outcome = CommitOutcome::Pending(Arc::new(Error::Panicked));
                batch.outcome = publish(written);
            }
        }
        drop(batch);

        let mut state = self.lock();
        let outcome = state.outcomes.remove(&ticket.number).expect("the batch held this ticket");
        self.when_idle(&state, on_idle);
        outcome
    }

    /// Waits until no commit is queued or in flight. Only the permit holder may call this: no other
    /// thread can submit.
    pub fn drain(&self) {
        let mut state = self.lock();
        while state.in_flight || !state.queue.is_empty() {
            state = self.drained.wait(state);
        }
    }

    fn when_idle(&self, state: &State<T>, on_idle: impl FnOnce()) {
        let is_wanted = state.permit.is_some() || self.permit_free.has_waiters();
        if !is_wanted && !state.in_flight && state.queue.is_empty() {
            on_idle();
        }
    }

    fn waiters_of(&self, batch: u64) -> &WaitQueue {
        &self.batch_done[(batch % 2) as usize]
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        sync::lock(&self.state)
    }
}

impl<T> State<T> {
    fn queued_tickets(&self) -> Range<u64> {
        self.next_ticket - self.queue.len() as u64..self.next_ticket
    }
}

/// The batch in flight. Dropping it ends the batch, also after a panic of its leader, so no thread
/// waits for a dead leader.
struct Batch<'a, T, F: FnOnce()> {
    group: &'a GroupCommit<T>,
    number: u64,
    tickets: Range<u64>,
    outcome: CommitOutcome,
    on_failure: Option<F>,
}

impl<T, F: FnOnce()> Drop for Batch<'_, T, F> {
    fn drop(&mut self) {
        let group = self.group;
        let mut state = group.lock();
        for ticket in self.tickets.clone() {
            state.outcomes.insert(ticket, self.outcome.clone());
        }
        if !matches!(self.outcome, CommitOutcome::Published) {
            state.failures += 1;
            for ticket in state.queued_tickets() {
                state.outcomes.insert(ticket, CommitOutcome::Superseded);
            }
            state.queue.clear();
            group.waiters_of(state.batch).notify_all(&state);
            if let Some(on_failure) = self.on_failure.take() {
                on_failure();
            }
        }
        state.in_flight = false;
        group.waiters_of(self.number).notify_all(&state);
        // A leader for the queue.
        group.waiters_of(state.batch).notify_one(&state);
        group.drained.notify_one(&state);
    }
}
