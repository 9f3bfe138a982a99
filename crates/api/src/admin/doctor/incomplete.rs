//! Journals in folders: interrupted applies, of this store, of another one, or of nobody.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use filetx::Vouch;
use plan::{FoundJournal, Host, Trust};

use super::{Check, Remedy};
use crate::problem::text;
use crate::{Error, HintFor};

/// Files in the transaction folder of a root until an apply is done.
const INCOMPLETE: [&str; 2] = ["journal", "pointer"];
/// Paths that are named in one message.
const PATHS_MAX: usize = 20;

/// Lists the journals in these folders. Does not wait for an apply in progress, and changes nothing.
pub(super) fn check(
    roots: &BTreeSet<PathBuf>,
    host: &Host,
    vouch: Vouch<'_>,
    hint: Option<HintFor>,
) -> Vec<Check> {
    roots.iter().filter(|root| is_incomplete(root)).filter_map(|root| one(root, host, vouch, hint)).collect()
}

fn is_incomplete(root: &Path) -> bool {
    let home = root.join(plan::TXN_DIR);
    INCOMPLETE.iter().any(|name| std::fs::symlink_metadata(home.join(name)).is_ok())
}

fn one(root: &Path, host: &Host, vouch: Vouch<'_>, hint: Option<HintFor>) -> Option<Check> {
    let shown = text(root);
    match FoundJournal::read(host, root, vouch) {
        Ok(None) => None,
        Ok(Some(found)) => Some(judged(&found)),
        Err(plan::Error::Files { source }) if matches!(*source, filetx::Error::Busy { .. }) => {
            Some(Check::ok("applies", format!("a plan is being applied in `{shown}`")))
        }
        Err(error) => Some(Check::failed("applies", &Error::from(error), hint)),
    }
}

fn judged(found: &FoundJournal) -> Check {
    let shown = text(&found.root);
    match &found.trust {
        Trust::Ours => {
            let text = format!("an apply was cut off in `{shown}`");
            Check::warning("applies", text, Remedy::FinishApplies)
        }
        Trust::Unavailable { reason } => {
            let text = format!("cannot tell now whether the journal in `{shown}` is ours: {reason}");
            Check::warning("applies", text, Remedy::FinishApplies)
        }
        Trust::Unknown { reason } => {
            let text = format!("`{shown}` has a journal that is not trusted: {reason}. {}", described(found));
            Check::problem("applies", text, Remedy::DecideJournal(found.root.clone()))
        }
    }
}

/// Names the paths of a journal.
fn described(found: &FoundJournal) -> String {
    if found.transaction.is_none() {
        return "Nobody can tell what it would change".to_owned();
    }
    if found.paths.is_empty() {
        return format!("It leads to `{}`", text(&found.main));
    }
    let mut paths: Vec<String> = found.paths.iter().take(PATHS_MAX).map(|path| text(path)).collect();
    if found.paths.len() > PATHS_MAX {
        paths.push(format!("and {} more", found.paths.len() - PATHS_MAX));
    }
    format!("It would change {}", paths.join(", "))
}
