//! The audit trail: query, verify, checkpoint.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use store::{AuditQuery, AuditRecord, AuditReport, Head, PlanId, Time};

use crate::files::{open, read_bounded};
use crate::problem::text;
use crate::{Error, Plans};

/// Default checkpoint file, below the home folder.
const CHECKPOINT: &str = "audit.checkpoint";
/// Maximum size of a checkpoint: about a million chains.
const CHECKPOINT_BYTES_MAX: u64 = 256 << 20;

/// A checkpoint that was written.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct Checkpointed {
    /// Path of the file.
    pub file: String,
    /// Number of chains.
    pub chains: usize,
}

impl Plans {
    /// Audit records, by plan, then in order.
    pub fn audit(
        &self,
        plan: Option<PlanId>,
        since: Option<Timestamp>,
    ) -> impl Iterator<Item = Result<AuditRecord, Error>> {
        let since = since.map(|time| Time::from_micros(time.as_microsecond()));
        let query = AuditQuery { plan, since, ..AuditQuery::default() };
        let records = store::export(self.inner.store().as_ref(), query);
        records.map(|record| record.map_err(|error| plan::Error::from(error).into()))
    }

    /// Verifies every chain and compares it with checkpoints. Default: the last one in the home folder.
    pub fn verify(&self, checkpoints: &[PathBuf]) -> Result<AuditReport, Error> {
        let usual = self.agents.home()?.join(CHECKPOINT);
        let files: Vec<PathBuf> = match checkpoints {
            [] if usual.exists() => vec![usual],
            named => named.iter().map(|file| self.agents.absolute(file)).collect(),
        };
        let mut heads = Vec::new();
        for file in &files {
            heads.extend(read_heads(file)?);
        }
        Ok(store::verify(self.inner.store().as_ref(), &heads).map_err(plan::Error::from)?)
    }

    /// Writes the heads of all chains to a file, one JSON object a line.
    pub fn checkpoint(&self, out: Option<&Path>) -> Result<Checkpointed, Error> {
        let heads = store::checkpoint(self.inner.store().as_ref()).map_err(plan::Error::from)?;
        let file = match out {
            Some(file) => self.agents.absolute(file),
            None => self.agents.home()?.join(CHECKPOINT),
        };
        let mut lines = Vec::new();
        for head in &heads {
            serde_json::to_writer(&mut lines, head).expect("a head is made of text and numbers");
            lines.push(b'\n');
        }
        filetx::replace_file(&file, &lines, &filetx::ReplaceOptions::default())?;
        Ok(Checkpointed { file: text(&file), chains: heads.len() })
    }
}

fn read_heads(file: &Path) -> Result<Vec<Head>, Error> {
    let failed = |source| Error::File { action: "read", path: file.to_owned(), source };
    let bytes = read_bounded(open(file)?, CHECKPOINT_BYTES_MAX).map_err(failed)?;
    let bad = |line| Error::BadCheckpoint { path: file.to_owned(), line };
    let lines = (1..).zip(bytes.strip_suffix(b"\n").unwrap_or(&bytes).split(|byte| *byte == b'\n'));
    let lines = lines.filter(|_| !bytes.is_empty());
    lines.map(|(number, line)| serde_json::from_slice(line).map_err(|_| bad(number))).collect()
}
