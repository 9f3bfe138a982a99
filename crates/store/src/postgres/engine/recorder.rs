//! Recording for all who wait in [`Line`]: what many threads want to record goes to the server in one transaction, which is committed once.

use std::collections::HashSet;
use std::time::Instant;

use super::Engine;
use super::fast_path::Known;
use crate::group_commit::{Limits, Line};
use crate::model::recording::Prepared;
use crate::postgres::entries;
use crate::{ChangesetId, Epoch, Error, Outcome, Recorded, Result, WriterCounts};

/// What is recorded in one transaction.
const LIMITS: Limits = Limits { pieces: 256, bytes: 16 << 20 };

/// The line of those who want to record.
pub(crate) struct Recorder {
    line: Line<Wish, Result<Recorded>, Known>,
}

/// What somebody wants to record.
pub(crate) struct Wish {
    pub(crate) changeset: ChangesetId,
    pub(crate) epoch: Epoch,
    pub(crate) prepared: Prepared,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { line: Line::new(LIMITS, Known::default()) }
    }
}

impl Recorder {
    /// Records with others, and returns when it is durable.
    pub(crate) fn record(
        &self,
        engine: &Engine,
        changeset: ChangesetId,
        epoch: Epoch,
        prepared: Prepared,
    ) -> Result<Recorded> {
        let bytes = prepared.bytes();
        let wish = Wish { changeset, epoch, prepared };
        let answer = self.line.join(wish, bytes, |known, wishes| {
            let mut answers = Vec::with_capacity(wishes.len());
            while answers.len() < wishes.len() {
                let rest = &wishes[answers.len()..];
                answers.extend(self.record_group(engine, known, &rest[..distinct(rest)]));
            }
            answers
        });
        answer.unwrap_or_else(|| Err(Error::Stopped { path: engine.place().to_owned() }))
    }

    pub(crate) fn counts(&self) -> WriterCounts {
        self.line.counts()
    }

    fn record_group(&self, engine: &Engine, known: &mut Known, group: &[Wish]) -> Vec<Result<Recorded>> {
        let mut in_doubt = false;
        if let Some(sure) = known.prepare(group) {
            match engine.state(async |statement| sure.record(statement).await) {
                Ok(true) => {
                    self.line.count(group.len());
                    return known.done(sure).into_iter().map(Ok).collect();
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
                self.line.count(group.len());
                if let Some((now, begun)) = clock {
                    known.learn(now, begun, targets);
                }
                answers
            }
            // One that the server does not take harms no other: each for itself, then.
            Err(Error::Engine { outcome: Outcome::Aborted, .. }) if group.len() > 1 => {
                let alone = |wish| self.record_group(engine, known, std::slice::from_ref(wish));
                group.iter().flat_map(alone).collect()
            }
            Err(error) => vec![Err(error); group.len()],
        }
    }
}

/// How many from the first on are of different requests. One that is there twice is recorded for the first of the two, and found for the other
/// after that.
fn distinct(wishes: &[Wish]) -> usize {
    let mut seen = HashSet::new();
    wishes.iter().take_while(|wish| seen.insert((wish.changeset, wish.prepared.request))).count()
}
