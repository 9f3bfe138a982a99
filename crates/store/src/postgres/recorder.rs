//! Recording for all who wait: what many threads want to record goes to the server in one transaction, which is committed once.
//!
//! There is no thread for it. Whoever comes while nobody leads does: it takes all that wait, records and answers; then one of those who came
//! meanwhile leads.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::engine::Engine;
use super::entries;
use super::known::Known;
use crate::prepared::Prepared;
use crate::{ChangesetId, Epoch, Error, Outcome, Recorded, Result, WriterCounts};

/// Recordings of one transaction.
const GROUP_MAX: usize = 256;
/// Bytes of content in one transaction, beyond which no more is taken in.
const GROUP_BYTES_MAX: usize = 16 << 20;
/// Threads that were answered are about to ask again: a group waits for as many as the last had, for this part of the time that it took, ...
const GATHER_DIVISOR: u32 = 2;
/// ... and not longer.
const GATHER_MAX: Duration = Duration::from_millis(2);

/// The line of those who want to record.
#[derive(Default)]
pub(super) struct Recorder {
    line: Mutex<Line>,
    /// As many stand in line as the leader waits for.
    arrived: Condvar,
    known: Known,
    groups: AtomicU64,
    writes: AtomicU64,
}

#[derive(Default)]
struct Line {
    wishes: VecDeque<Arc<Wish>>,
    /// Somebody leads, or was told to.
    led: bool,
    /// How many the leader waits for.
    awaited: usize,
    /// Size of the last group, and how long it took.
    last: (usize, Duration),
}

/// What somebody wants to record, and where its thread waits.
pub(super) struct Wish {
    pub(super) changeset: ChangesetId,
    pub(super) epoch: Epoch,
    pub(super) prepared: Prepared,
    turn: Mutex<Turn>,
    thread: Thread,
}

enum Turn {
    Waiting,
    Leading,
    Answered(Result<Recorded>),
}

impl Wish {
    fn set(&self, turn: Turn) -> Turn {
        std::mem::replace(&mut *self.turn.lock().unwrap_or_else(PoisonError::into_inner), turn)
    }

    fn tell(&self, turn: Turn) {
        self.set(turn);
        self.thread.unpark();
    }
}

impl Recorder {
    /// Records with others, and returns when it is durable.
    pub(super) fn record(
        &self,
        engine: &Engine,
        changeset: ChangesetId,
        epoch: Epoch,
        prepared: Prepared,
    ) -> Result<Recorded> {
        let (turn, thread) = (Mutex::new(Turn::Waiting), thread::current());
        let wish = Arc::new(Wish { changeset, epoch, prepared, turn, thread });
        if self.join(Arc::clone(&wish)) {
            self.lead(engine);
        }
        loop {
            match wish.set(Turn::Waiting) {
                Turn::Waiting => thread::park(),
                Turn::Leading => self.lead(engine),
                Turn::Answered(answer) => return answer,
            }
        }
    }

    pub(super) fn counts(&self) -> WriterCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        WriterCounts { groups: count(&self.groups), writes: count(&self.writes) }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stands in line. Whether to lead, as nobody does.
    fn join(&self, wish: Arc<Wish>) -> bool {
        let mut line = self.line();
        line.wishes.push_back(wish);
        if line.awaited == line.wishes.len() {
            self.arrived.notify_one();
        }
        !std::mem::replace(&mut line.led, true)
    }

    /// Records a group, and gives the lead to another who waits.
    fn lead(&self, engine: &Engine) {
        let group = self.gather();
        let begun = Instant::now();
        // A bug is not to leave those waiting for whom it was recorded.
        let record = AssertUnwindSafe(|| self.record_group(engine, &group));
        let stopped = |_| vec![Err(Error::Stopped { path: engine.place().to_owned() }); group.len()];
        let answers = catch_unwind(record).unwrap_or_else(stopped);
        let last = (group.len(), begun.elapsed());
        for (wish, answer) in group.iter().zip(answers) {
            wish.tell(Turn::Answered(answer));
        }
        let mut line = self.line();
        line.last = last;
        match line.wishes.front() {
            None => line.led = false,
            Some(next) => next.tell(Turn::Leading),
        }
    }

    /// All that wait and fit, and those who are expected in a moment. A wish that is there twice is recorded by one of the two, and found
    /// by the other.
    fn gather(&self) -> Vec<Arc<Wish>> {
        let mut line = self.line();
        let (expected, took) = line.last;
        if line.wishes.len() < expected {
            line.awaited = expected;
            let patience = (took / GATHER_DIVISOR).min(GATHER_MAX);
            let few = |line: &mut Line| line.wishes.len() < expected;
            (line, _) =
                self.arrived.wait_timeout_while(line, patience, few).unwrap_or_else(PoisonError::into_inner);
            line.awaited = 0;
        }
        let (mut bytes, mut seen) = (0, HashSet::new());
        let fits = line.wishes.iter().take(GROUP_MAX).take_while(|wish| {
            let room = bytes < GROUP_BYTES_MAX;
            bytes += wish.prepared.bytes();
            room && seen.insert((wish.changeset, wish.prepared.request))
        });
        let count = fits.count();
        line.wishes.drain(..count).collect()
    }

    fn count(&self, writes: usize) {
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(writes as u64, Ordering::Relaxed);
    }

    fn record_group(&self, engine: &Engine, group: &[Arc<Wish>]) -> Vec<Result<Recorded>> {
        let mut in_doubt = false;
        if let Some(sure) = self.known.prepare(group) {
            match engine.state(async |statement| sure.record(statement).await) {
                Ok(true) => {
                    self.count(group.len());
                    return self.known.done(sure).into_iter().map(Ok).collect();
                }
                // Whatever it was, looking at what is there tells.
                Ok(false) => {}
                Err(failure) => in_doubt = failure.outcome() == Outcome::Unknown,
            }
        }
        let recorded = engine.write_again("record entries", in_doubt, async |transaction| {
            let begun = Instant::now();
            let (answers, targets) = entries::record(transaction, group).await?;
            Ok((answers, targets, transaction.is_durable.then_some((transaction.now, begun))))
        });
        match recorded {
            Ok((answers, targets, clock)) => {
                self.count(group.len());
                if let Some((now, begun)) = clock {
                    self.known.learn(now, begun, targets);
                }
                answers
            }
            // One that the server does not take harms no other: each for itself, then.
            Err(Error::Engine { outcome: Outcome::Aborted, .. }) if group.len() > 1 => {
                let alone = |wish: &Arc<Wish>| self.record_group(engine, std::slice::from_ref(wish));
                group.iter().flat_map(alone).collect()
            }
            Err(error) => vec![Err(error); group.len()],
        }
    }
}
