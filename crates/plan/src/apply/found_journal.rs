//! Reads the journal in a root without carrying it out, to show it to a person.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use filetx::{Claim, ClaimedChange, Decided, Decision, Verdict, Vouch};

use crate::apply::drift::file_error;
use crate::roots::{checked_path, path_bytes};
use crate::{Host, Plans, Result};

/// An unfinished transaction that files in a root name. Anyone may have written them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundJournal {
    /// The root.
    pub root: PathBuf,
    /// The id of the transaction; `None` if the journal cannot be read.
    pub transaction: Option<u128>,
    /// The plan that the journal names as its owner; `None` for a pointer.
    pub owner: Option<String>,
    /// The root with the journal; another one than `root` for a pointer.
    pub main: PathBuf,
    /// The paths that it would change, in all of its roots; empty for a pointer.
    pub paths: Vec<PathBuf>,
    /// The changes, in words.
    pub changes: Vec<String>,
    /// The answer of the store.
    pub trust: Trust,
}

/// The answer of the store about a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// An apply of this store.
    Ours,
    /// The store does not vouch for it.
    Unknown {
        /// The reason.
        reason: String,
    },
    /// The store does not answer now.
    Unavailable {
        /// The error.
        reason: String,
    },
}

impl FoundJournal {
    /// Reads the journal in a root, or the pointer to one; `None` if there is none. Follows
    /// nothing for which `vouch` does not vouch, and writes nothing. A journal that cannot be read names
    /// no path and no owner.
    #[track_caller]
    pub fn read(host: &Host, root: &Path, vouch: Vouch<'_>) -> Result<Option<Self>> {
        let found = RefCell::new(None);
        let judge = |claim: &Claim<'_>| {
            let verdict = vouch(claim);
            found.borrow_mut().get_or_insert_with(|| Self::of(claim, &verdict));
            verdict
        };
        match host.snapshot_with(&path_bytes(root)?, &judge) {
            Ok(_) | Err(filetx::Error::UntrustedJournal { .. } | filetx::Error::CannotVouch { .. }) => {
                Ok(found.into_inner())
            }
            Err(filetx::Error::CorruptJournal { reason, .. }) => Ok(Some(Self::unreadable(root, reason))),
            Err(error) => Err(file_error(error)),
        }
    }

    /// Carries out the decision of a person, in this root alone. Refuses protected folders, unless the
    /// journal is only set aside.
    #[track_caller]
    pub fn decide(&self, host: &Host, decision: Decision) -> Result<Decided> {
        let approve = |claim: &Claim<'_>| {
            let is_here = |change: &&ClaimedChange<'_>| change.root == claim.main;
            let objection = claim.changes().unwrap_or_default().iter().filter(is_here).find_map(|change| {
                let path = path_bytes(change.path.as_path()).and_then(|path| checked_path(&path));
                path.err().map(|error| error.to_string())
            });
            match objection.filter(|_| decision != Decision::SetAside) {
                Some(reason) => Verdict::Untrusted { reason },
                None => Verdict::Trusted,
            }
        };
        host.decide(&self.root, self.transaction, decision, &approve).map_err(file_error)
    }

    fn unreadable(root: &Path, reason: &str) -> Self {
        Self {
            root: root.to_owned(),
            transaction: None,
            owner: None,
            main: root.to_owned(),
            paths: Vec::new(),
            changes: Vec::new(),
            trust: Trust::Unknown { reason: format!("the journal cannot be read: {reason}") },
        }
    }

    fn of(claim: &Claim<'_>, verdict: &Verdict) -> Self {
        // A journal in a folder that was moved or copied names the old one, and is decided here.
        let place = |change: &ClaimedChange<'_>| {
            let root = if change.root == claim.main { claim.root } else { change.root };
            root.join(change.path.as_path())
        };
        let changes = claim.changes().unwrap_or_default();
        let described = |change: &ClaimedChange<'_>| {
            format!("{}: {} becomes {}", place(change).display(), change.before, change.after)
        };
        let trust = match verdict {
            Verdict::Trusted => Trust::Ours,
            Verdict::Untrusted { reason } => Trust::Unknown { reason: reason.clone() },
            Verdict::Unavailable { source } => {
                Trust::Unavailable { reason: filetx::error_chain(source.as_ref()) }
            }
        };
        Self {
            root: claim.root.to_owned(),
            transaction: Some(claim.id),
            owner: claim.owner().map(|owner| String::from_utf8_lossy(owner).into_owned()),
            main: claim.main.to_owned(),
            changes: changes.iter().map(described).collect(),
            paths: changes.iter().map(place).collect(),
            trust,
        }
    }
}

impl Plans {
    /// Reads the journal in a root, and asks the store about it.
    #[track_caller]
    pub fn found_journal(&self, host: &Host, root: &Path) -> Result<Option<FoundJournal>> {
        FoundJournal::read(host, root, &|claim| self.vouch(host, claim))
    }
}
