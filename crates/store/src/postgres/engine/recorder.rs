//! The recorder: commits the recordings of many threads in one transaction ([`GroupCommit`]).

use std::collections::HashSet;
use std::time::Instant;

use super::Engine;
use super::fast_path::FastPath;
use crate::group_commit::{GroupCommit, Limits};
use crate::model::recording::EncodedRecording;
use crate::postgres::entries;
use crate::{ChangesetId, Epoch, Error, Outcome, Recorded, Result, WriterCounts};

/// The size of one transaction.
const LIMITS: Limits = Limits { jobs: 256, bytes: 16 << 20 };

/// Commits recordings in groups.
pub(crate) struct Recorder {
    commits: GroupCommit<RecordRequest, Result<Recorded>, FastPath>,
}

/// A call of `record`.
pub(crate) struct RecordRequest {
    pub(crate) changeset: ChangesetId,
    pub(crate) epoch: Epoch,
    pub(crate) recording: EncodedRecording,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { commits: GroupCommit::new(LIMITS, FastPath::default()) }
    }
}

impl Recorder {
    /// Records with others, and returns when it is durable.
    pub(crate) fn record(
        &self,
        engine: &Engine,
        changeset: ChangesetId,
        epoch: Epoch,
        recording: EncodedRecording,
    ) -> Result<Recorded> {
        let bytes = recording.bytes();
        let request = RecordRequest { changeset, epoch, recording };
        let answer = self.commits.join(request, bytes, |fast_path, requests| {
            let mut answers = Vec::with_capacity(requests.len());
            while answers.len() < requests.len() {
                let rest = &requests[answers.len()..];
                answers.extend(self.record_group(engine, fast_path, &rest[..distinct(rest)]));
            }
            answers
        });
        answer.unwrap_or_else(|| Err(Error::Stopped { path: engine.location().to_owned() }))
    }

    pub(crate) fn counts(&self) -> WriterCounts {
        self.commits.counts()
    }

    fn record_group(
        &self,
        engine: &Engine,
        fast_path: &mut FastPath,
        group: &[RecordRequest],
    ) -> Vec<Result<Recorded>> {
        let mut in_doubt = false;
        if let Some(batch) = fast_path.batch(group) {
            match engine.run_statement(async |statement| batch.record(statement).await) {
                Ok(true) => {
                    self.commits.count(group.len());
                    return fast_path.commit(batch).into_iter().map(Ok).collect();
                }
                // The slow path reads the rows and finds out.
                Ok(false) => {}
                Err(failure) => in_doubt = failure.outcome() == Outcome::Unknown,
            }
        }
        let recorded = engine.write_again("record entries", in_doubt, async |transaction| {
            let started = Instant::now();
            let (answers, targets) = entries::record(transaction, group).await?;
            Ok((answers, targets, transaction.is_durable.then_some((transaction.now, started))))
        });
        match recorded {
            Ok((answers, targets, clock)) => {
                self.commits.count(group.len());
                if let Some((now, started)) = clock {
                    fast_path.update(now, started, targets);
                }
                answers
            }
            // Record each request alone, so that one that the server rejects does not fail the
            // others.
            Err(Error::Engine { outcome: Outcome::Aborted, .. }) if group.len() > 1 => {
                let alone = |request| self.record_group(engine, fast_path, std::slice::from_ref(request));
                group.iter().flat_map(alone).collect()
            }
            Err(error) => vec![Err(error); group.len()],
        }
    }
}

/// Returns the length of the longest prefix without a repeated request. A repeated one is left for
/// the next transaction, which finds the first.
fn distinct(requests: &[RecordRequest]) -> usize {
    let mut seen = HashSet::new();
    requests.iter().take_while(|request| seen.insert((request.changeset, request.recording.request))).count()
}
