//! The audit trail: query, verify, checkpoint.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use store::{AuditQuery, AuditRecord, AuditReport, Head, PlanId, Time};

use crate::plans::open;
use crate::problem::text;
use crate::{Error, Plans};

/// Default checkpoint file, below the home folder.
const CHECKPOINT: &str = "audit.checkpoint";

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
        since: Option<&str>,
    ) -> Result<impl Iterator<Item = Result<AuditRecord, Error>>, Error> {
        let since = since.map(str::parse::<Time>).transpose().map_err(plan::Error::from)?;
        let query = AuditQuery { plan, since, ..AuditQuery::default() };
        let records = store::export(self.inner.store().as_ref(), query);
        Ok(records.map(|record| record.map_err(|error| plan::Error::from(error).into())))
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
    let mut heads = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(open(file)?).lines()) {
        let bad = || Error::BadCheckpoint { path: file.to_owned(), line: number };
        let line = line.map_err(|_| bad())?;
        heads.push(serde_json::from_str(&line).map_err(|_| bad())?);
    }
    Ok(heads)
}
