//! A piece of work on its way to the transaction that it is done in, and where what becomes of it is left.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use super::failure::{Attempt, Failure};
use super::record_cache::Known;

/// A piece of work, its type hidden.
pub(crate) trait Job: Send {
    /// How it is kept apart from the others of its transaction.
    fn care(&self) -> Care;
    /// Does it.
    fn run(&mut self, connection: &Connection, known: &mut Known) -> Attempt<()>;
    /// Leaves the answer: its own, or that the group failed.
    fn answer(&mut self, group: &Attempt<()>);
}

/// What keeps a piece of work that is refused from leaving something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// It may be refused at any point, so it runs in a savepoint.
    Savepoint,
    /// It is refused before it has written anything; a failure after that is [`Failure::HalfDone`]. What it changes it keeps in
    /// [`Known`], which all else makes forget.
    ChecksFirst,
}

/// A piece of work, and where its answer is left.
pub(crate) fn new<T: Send + 'static>(
    care: Care,
    work: impl FnOnce(&Connection, &mut Known) -> Attempt<T> + Send + 'static,
) -> (Box<dyn Job>, Slot<T>) {
    let slot = Slot(Arc::new(Mutex::new(None)));
    let job = Work { care, work: Some(work), result: None, slot: Slot(Arc::clone(&slot.0)) };
    (Box::new(job), slot)
}

/// Holds the answer once there is one.
pub(crate) struct Slot<T>(Arc<Mutex<Option<Attempt<T>>>>);

impl<T> Slot<T> {
    /// The answer, after all was done. There is none when whoever was to do it panicked.
    pub(crate) fn take(self) -> Attempt<T> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take().unwrap_or(Err(Failure::Stopped))
    }
}

struct Work<T, F> {
    care: Care,
    work: Option<F>,
    result: Option<Attempt<T>>,
    slot: Slot<T>,
}

impl<T: Send, F: FnOnce(&Connection, &mut Known) -> Attempt<T> + Send> Job for Work<T, F> {
    fn care(&self) -> Care {
        self.care
    }

    fn run(&mut self, connection: &Connection, known: &mut Known) -> Attempt<()> {
        let work = self.work.take().expect("a piece of work runs once");
        self.result.insert(work(connection, known)).as_ref().map(drop).map_err(Failure::clone)
    }

    fn answer(&mut self, group: &Attempt<()>) {
        let answer = match (self.result.take(), group) {
            // It was refused, whatever became of the others.
            (Some(Err(failure)), _) => Err(failure),
            (_, Err(failure)) => Err(failure.clone()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(Failure::Stopped),
        };
        *self.slot.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }
}
