//! Group commit: threads stage in turn, then one of them makes what all have queued durable with one sync.
//!
//! A thread takes the *turn*, stages, and submits; the next thread stages on top of that while the first is being written.
//! Whoever finds nobody writing becomes the leader: it writes everything queued as one batch, then lets the next leader write while
//! it publishes its own. Batches are published in the order they were written.
//!
//! A batch that fails fails all that was staged on top of it and is still in the queue. One that is being written meanwhile has its own
//! fate: what it was staged on is durable, only not published. Nobody gets the turn until no batch is under way.
//!
//! This file knows nothing of files, so that schedules can be explored.

#![cfg_attr(not(feature = "shuttle"), expect(unreachable_pub, reason = "shuttle's tests reach it"))]

use std::collections::HashMap;
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::Error;
use crate::lock::registry::Refused;
use crate::sync::{self, Bell, Mutex, MutexGuard, Woken, thread};

/// One batch is published, the next one written, a third one gathers.
const BATCHES_MAX: usize = 3;

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

impl Fate {
    /// What went wrong.
    fn error(&self) -> Option<&Arc<Error>> {
        match self {
            Fate::Durable | Fate::Superseded => None,
            Fate::Pending(error) | Fate::Aborted(error) | Fate::Unknown(error) => Some(error),
        }
    }
}

/// A submitted item, for [`Group::settle`].
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    number: u64,
    batch: u64,
}

/// The queue of one folder.
pub struct Group<T> {
    state: Mutex<State<T>>,
    /// Rung, for one, when the turn is free.
    turn_free: Bell,
    /// Where the threads of a batch wait, by its number.
    settled: [Bell; BATCHES_MAX],
    /// Rung when a batch has ended, for the leader that is to publish the next one.
    in_order: Bell,
    /// Rung when a batch has ended, for the thread that waits until nothing is queued.
    drained: Bell,
}

struct State<T> {
    turn: Option<Turn>,
    queue: Vec<T>,
    /// The number of the batch that the queue will be.
    batch: u64,
    /// How many batches are being written or published.
    under_way: usize,
    writing: bool,
    /// The batch that is the next to be published.
    to_publish: u64,
    /// The number of the next ticket; those in the queue are just below it.
    next_ticket: u64,
    /// How many batches failed. Who took the turn before the last of them staged on what failed.
    failures: u64,
    /// What failed, until no batch is under way.
    failed: Option<Arc<Error>>,
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
            queue: Vec::new(),
            batch: 0,
            under_way: 0,
            writing: false,
            to_publish: 0,
            next_ticket: 0,
            failures: 0,
            failed: None,
            settled: HashMap::new(),
        };
        Self {
            state: Mutex::new(state),
            turn_free: Bell::new(),
            settled: std::array::from_fn(|_| Bell::new()),
            in_order: Bell::new(),
            drained: Bell::new(),
        }
    }

    /// Waits for the turn to stage.
    pub fn take_turn(&self, timeout: Duration, at: &'static Location<'static>) -> Result<(), Refused> {
        let me = thread::current().id();
        let mut state = self.lock();
        if let Some(turn) = state.turn.filter(|turn| turn.holder == me) {
            return Err(Refused::AlreadyHeld(turn.since));
        }
        let deadline = Instant::now() + timeout;
        while !state.is_turn_free() {
            let woken;
            (state, woken) = self.turn_free.wait_until(&self.state, state, deadline);
            if woken == Woken::TimedOut && !state.is_turn_free() {
                return Err(Refused::TimedOut);
            }
        }
        state.turn = Some(Turn { holder: me, since: at, failures: state.failures });
        Ok(())
    }

    /// Gives the turn back without submitting. `idle` runs when nobody else is here.
    pub fn give_back(&self, idle: impl FnOnce()) {
        let mut state = self.lock();
        state.turn = None;
        self.when_idle(&state, idle);
        // One is enough: whoever is woken takes the turn, or finds that another thread has it, which rings again.
        self.turn_free.ring_one(&state);
    }

    /// Queues an item and gives the turn back. `None` when a batch failed since the turn was taken: the item was staged on that, is
    /// not queued, and the turn is still the caller's.
    pub fn submit(&self, item: T) -> Option<Ticket> {
        let mut state = self.lock();
        state.turn.filter(|turn| turn.failures == state.failures)?;
        state.turn = None;
        state.queue.push(item);
        state.next_ticket += 1;
        self.turn_free.ring_one(&state);
        Some(Ticket { number: state.next_ticket - 1, batch: state.batch })
    }

    /// Waits until the item is settled, leading a batch when nobody does: `write` makes it durable, or says what became of it;
    /// `publish` brings it where it belongs. `failed` runs after a failure when no batch is under way any more, before anybody can
    /// take the turn. `idle` runs when nobody else is here afterwards.
    pub fn settle<W>(
        &self,
        ticket: Ticket,
        write: impl FnOnce(Vec<T>) -> Result<W, Fate>,
        publish: impl FnOnce(W) -> Fate,
        failed: impl FnOnce(),
        idle: impl FnOnce(),
    ) -> Fate {
        let mut state = self.lock();
        loop {
            if let Some(fate) = state.settled.remove(&ticket.number) {
                self.when_idle(&state, idle);
                return fate;
            }
            let is_queued = ticket.batch == state.batch;
            if is_queued && state.may_write() {
                break;
            }
            state = self.settled_of(ticket.batch).wait(state);
        }
        state.writing = true;
        let tickets = state.queued();
        let items = std::mem::take(&mut state.queue);
        state.batch += 1;
        state.under_way += 1;
        drop(state);

        let fate = Fate::Unknown(Arc::new(Error::Panicked));
        let number = ticket.batch;
        let mut batch = Batch { group: self, number, tickets, fate, is_written: false, failed: Some(failed) };
        match write(items) {
            Err(fate) => batch.fate = fate,
            Ok(written) => {
                batch.fate = Fate::Pending(Arc::new(Error::Panicked));
                batch.fate = batch.hand_over().map_or_else(|| publish(written), Fate::Pending);
            }
        }
        drop(batch);

        let mut state = self.lock();
        let fate = state.settled.remove(&ticket.number).expect("the batch held this ticket");
        self.when_idle(&state, idle);
        fate
    }

    /// Waits until nothing is queued or under way. Only the thread that has the turn may call it: nobody else can submit.
    pub fn drain(&self) {
        let mut state = self.lock();
        while state.under_way > 0 || !state.queue.is_empty() {
            state = self.drained.wait(state);
        }
    }

    /// Lets somebody of the queue write it, when that may be now.
    fn call_leader(&self, state: &MutexGuard<'_, State<T>>) {
        if state.may_write() {
            self.settled_of(state.batch).ring_one(state);
        }
    }

    fn when_idle(&self, state: &State<T>, idle: impl FnOnce()) {
        let is_wanted = state.turn.is_some() || self.turn_free.is_awaited();
        if !is_wanted && state.under_way == 0 && state.queue.is_empty() {
            idle();
        }
    }

    fn settled_of(&self, batch: u64) -> &Bell {
        &self.settled[(batch % BATCHES_MAX as u64) as usize]
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        sync::lock(&self.state)
    }
}

impl<T> State<T> {
    fn is_turn_free(&self) -> bool {
        self.turn.is_none() && self.failed.is_none()
    }

    /// Whether the queue may be written: one batch may still be on its way into the files, no more.
    fn may_write(&self) -> bool {
        !self.writing && self.under_way <= 1 && self.failed.is_none()
    }

    /// The tickets of the queue.
    fn queued(&self) -> Range<u64> {
        self.next_ticket - self.queue.len() as u64..self.next_ticket
    }
}

/// A batch under way. It ends when its leader is done with it, even by a panic: nobody waits for a leader that is gone.
struct Batch<'a, T, F: FnOnce()> {
    group: &'a Group<T>,
    number: u64,
    tickets: Range<u64>,
    fate: Fate,
    is_written: bool,
    failed: Option<F>,
}

impl<T, F: FnOnce()> Batch<'_, T, F> {
    /// Lets the next batch be written and waits until this one is the next to be published. What failed meanwhile, if anything: then
    /// there is nothing to publish on.
    fn hand_over(&mut self) -> Option<Arc<Error>> {
        self.is_written = true;
        let mut state = self.group.lock();
        state.writing = false;
        self.group.call_leader(&state);
        while state.to_publish < self.number {
            state = self.group.in_order.wait(state);
        }
        state.failed.clone()
    }
}

impl<T, F: FnOnce()> Drop for Batch<'_, T, F> {
    fn drop(&mut self) {
        let group = self.group;
        let mut state = group.lock();
        for ticket in self.tickets.clone() {
            state.settled.insert(ticket, self.fate.clone());
        }
        if let Some(error) = self.fate.error() {
            state.failures += 1;
            state.failed = Some(error.clone());
            for ticket in state.queued() {
                state.settled.insert(ticket, Fate::Superseded);
            }
            state.queue.clear();
            group.settled_of(state.batch).ring_all(&state);
        }
        state.under_way -= 1;
        if self.is_written {
            state.to_publish = self.number + 1;
        } else {
            state.writing = false;
        }
        if state.under_way == 0 {
            state.to_publish = state.batch;
            if state.failed.take().is_some()
                && let Some(failed) = self.failed.take()
            {
                failed();
                group.turn_free.ring_one(&state);
            }
        }
        group.settled_of(self.number).ring_all(&state);
        group.call_leader(&state);
        group.in_order.ring_one(&state);
        group.drained.ring_one(&state);
    }
}
