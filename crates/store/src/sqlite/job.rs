//! A piece of work on its way to the transaction that it is done in, and whoever waits for what becomes of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};

use rusqlite::Connection;

use super::failure::{Attempt, Failure};

/// A piece of work, its type hidden.
pub(super) trait Job: Send {
    /// About how much it writes.
    fn bytes(&self) -> usize;
    /// How it is kept apart from the others of its transaction.
    fn care(&self) -> Care;
    /// Does it.
    fn run(&mut self, connection: &Connection) -> Attempt<()>;
    /// Whoever waits for it is to write for all who wait.
    fn lead(&self);
    /// Gives the answer: its own, or that the group failed.
    fn answer(self: Box<Self>, group: &Attempt<()>);
}

/// What keeps a piece of work that is refused from leaving something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// It may be refused at any point, so it runs in a savepoint.
    Savepoint,
    /// It is refused before it has written anything. A failure after that is [`Failure::HalfDone`].
    ChecksFirst,
}

/// A piece of work, and the end at which its answer comes out.
pub(super) fn new<T: Send + 'static>(
    bytes: usize,
    care: Care,
    work: impl FnOnce(&Connection) -> Attempt<T> + Send + 'static,
) -> (Box<dyn Job>, Waiter<T>) {
    let slot = Arc::new(Slot { state: Mutex::new(State::Waiting), thread: thread::current() });
    let job = Work { bytes, care, work: Some(work), result: None, slot: Arc::clone(&slot) };
    (Box::new(job), Waiter(slot))
}

/// Where the thread that asked waits.
pub(super) struct Waiter<T>(Arc<Slot<T>>);

/// Why a wait has ended.
pub(super) enum Turn<T> {
    /// It is this thread's turn to write for all who wait, itself among them.
    Lead,
    Answered(Attempt<T>),
}

impl<T> Waiter<T> {
    pub(super) fn wait(&self) -> Turn<T> {
        loop {
            match self.0.set(State::Waiting) {
                State::Waiting => thread::park(),
                State::Leading => return Turn::Lead,
                State::Answered(answer) => return Turn::Answered(answer),
            }
        }
    }
}

struct Slot<T> {
    state: Mutex<State<T>>,
    thread: Thread,
}

enum State<T> {
    Waiting,
    Leading,
    Answered(Attempt<T>),
}

impl<T> Slot<T> {
    /// Gives what it was before.
    fn set(&self, state: State<T>) -> State<T> {
        std::mem::replace(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner), state)
    }

    fn tell(&self, state: State<T>) {
        self.set(state);
        self.thread.unpark();
    }
}

struct Work<T, F> {
    bytes: usize,
    care: Care,
    work: Option<F>,
    result: Option<Attempt<T>>,
    slot: Arc<Slot<T>>,
}

impl<T: Send, F: FnOnce(&Connection) -> Attempt<T> + Send> Job for Work<T, F> {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn care(&self) -> Care {
        self.care
    }

    fn run(&mut self, connection: &Connection) -> Attempt<()> {
        let work = self.work.take().expect("a piece of work runs once");
        self.result.insert(work(connection)).as_ref().map(drop).map_err(Failure::clone)
    }

    fn lead(&self) {
        self.slot.tell(State::Leading);
    }

    fn answer(self: Box<Self>, group: &Attempt<()>) {
        let answer = match (self.result, group) {
            // It was refused, whatever became of the others.
            (Some(Err(failure)), _) => Err(failure),
            (_, Err(failure)) => Err(failure.clone()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(Failure::Stopped),
        };
        self.slot.tell(State::Answered(answer));
    }
}
