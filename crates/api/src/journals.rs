//! Journals in roots for which the store does not vouch: a person decides about them.

use std::path::{Path, PathBuf};

use filetx::{Claim, Decision, Verdict};
use plan::{FoundJournal, Host, Trust};
use schemars::JsonSchema;
use serde::Serialize;

use crate::problem::text;
use crate::{Agents, Error};

/// A journal in a root, and what was decided about it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct JournalReport {
    /// The root.
    pub root: String,
    /// The plan that the journal names as its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The reason why it is not trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The paths that it changes.
    pub paths: Vec<String>,
    /// The decision: `finish`, `roll-back` or `set-aside`; absent if nothing was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// Paths that have their new state, after `set-aside`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new: Vec<String>,
    /// Paths that have their old state, after `roll-back` or `set-aside`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub old: Vec<String>,
    /// Paths that others changed, and that keep their content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Other roots of the same transaction, which were not touched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_roots: Vec<String>,
    /// The folder with the journal and its contents, after `set-aside`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<String>,
}

impl Agents {
    /// Reads the journal in a root, and asks the store about it. Fails if the store does not answer.
    /// Changes nothing.
    #[track_caller]
    pub fn journal(&self, root: &Path) -> Result<Option<FoundJournal>, Error> {
        let (host, root) = (Host::local(self.wait()), self.absolute(root));
        let action = "look at";
        let root =
            root.canonicalize().map_err(|source| Error::File { action, path: root.clone(), source })?;
        let found = match self.known_plans() {
            Ok(Some(plans)) => plans.inner.found_journal(&host, &root)?,
            Ok(None) => FoundJournal::read(&host, &root, &no_store)?,
            Err(error) => {
                let reason = filetx::error_chain(&error);
                let vouch = |_: &Claim<'_>| Verdict::Unavailable { source: reason.clone().into() };
                FoundJournal::read(&host, &root, &vouch)?
            }
        };
        match found {
            Some(FoundJournal { root, trust: Trust::Unavailable { reason }, .. }) => {
                let path = root.join(plan::TXN_DIR);
                Err(filetx::Error::CannotVouch { path, source: reason.into() }.into())
            }
            found => Ok(found),
        }
    }

    /// Carries out a decision about a journal for which the store does not vouch, in its root alone.
    #[track_caller]
    pub fn decide_journal(&self, found: &FoundJournal, decision: Decision) -> Result<JournalReport, Error> {
        let decided = found.decide(&Host::local(self.wait()), decision)?;
        let texts = |paths: &[PathBuf]| paths.iter().map(|path| text(path)).collect();
        Ok(JournalReport {
            decision: Some(match decision {
                Decision::Finish => "finish",
                Decision::RollBack => "roll-back",
                Decision::SetAside => "set-aside",
            }),
            new: texts(&decided.published),
            old: texts(&decided.pending),
            kept: decided.preserved.iter().map(|kept| text(&kept.path)).collect(),
            other_roots: texts(&decided.other_roots),
            set_aside: decided.set_aside.as_deref().map(text),
            ..JournalReport::of(found)
        })
    }
}

impl JournalReport {
    /// Describes a journal. Nothing is decided.
    pub fn of(found: &FoundJournal) -> Self {
        let reason = match &found.trust {
            Trust::Ours => None,
            Trust::Unknown { reason } | Trust::Unavailable { reason } => Some(reason.clone()),
        };
        Self {
            root: text(&found.root),
            plan: found.owner.clone(),
            reason,
            paths: found.paths.iter().map(|path| text(path)).collect(),
            decision: None,
            new: Vec::new(),
            old: Vec::new(),
            kept: Vec::new(),
            other_roots: Vec::new(),
            set_aside: None,
        }
    }
}

/// Vouches for nothing: there is no store.
pub(crate) fn no_store(_: &Claim<'_>) -> Verdict {
    Verdict::Untrusted { reason: "there is no store that knows it".to_owned() }
}
