//! Jobs of a group commit, and the slots for their answers.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use super::failure::{EngineResult, Failure};
use super::record_cache::RecordCache;

/// A job with its result type erased.
pub(crate) trait Job: Send {
    /// Returns how the job is isolated from the others of its transaction.
    fn isolation(&self) -> Isolation;
    /// Runs the job inside the transaction.
    fn run(&mut self, connection: &Connection, cache: &mut RecordCache) -> EngineResult<()>;
    /// Fills the slot, with the result of the job or the failure of its group.
    fn answer(&mut self, group: &EngineResult<()>);
}

/// The way in which a refused job leaves nothing behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// The job may be refused at any point, so it runs in a savepoint.
    Savepoint,
    /// The job is refused only before it writes; a later failure is [`Failure::PartialWrite`]. It
    /// keeps the [`RecordCache`] up to date; every other job invalidates it.
    ValidatesFirst,
}

/// Makes a job and the slot for its answer.
pub(crate) fn new<T: Send + 'static>(
    isolation: Isolation,
    work: impl FnOnce(&Connection, &mut RecordCache) -> EngineResult<T> + Send + 'static,
) -> (Box<dyn Job>, Slot<T>) {
    let slot = Slot(Arc::new(Mutex::new(None)));
    let job = Work { isolation, work: Some(work), result: None, slot: Slot(Arc::clone(&slot.0)) };
    (Box::new(job), slot)
}

/// Holds the answer of a job.
pub(crate) struct Slot<T>(Arc<Mutex<Option<EngineResult<T>>>>);

impl<T> Slot<T> {
    /// Takes the answer, after the group has run. There is none if the leader panicked.
    pub(crate) fn take(self) -> EngineResult<T> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take().unwrap_or(Err(Failure::Stopped))
    }
}

struct Work<T, F> {
    isolation: Isolation,
    work: Option<F>,
    result: Option<EngineResult<T>>,
    slot: Slot<T>,
}

impl<T: Send, F: FnOnce(&Connection, &mut RecordCache) -> EngineResult<T> + Send> Job for Work<T, F> {
    fn isolation(&self) -> Isolation {
        self.isolation
    }

    fn run(&mut self, connection: &Connection, cache: &mut RecordCache) -> EngineResult<()> {
        let work = self.work.take().expect("a job runs once");
        self.result.insert(work(connection, cache)).as_ref().map(drop).map_err(Failure::clone)
    }

    fn answer(&mut self, group: &EngineResult<()>) {
        let answer = match (self.result.take(), group) {
            // A refused job keeps its own error, whatever happened to the group.
            (Some(Err(failure)), _) => Err(failure),
            (_, Err(failure)) => Err(failure.clone()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(Failure::Stopped),
        };
        *self.slot.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }
}
