//! Vouching for journals: a transaction that files in a root name is carried out only if the store
//! has its plan as *applying*, and has logged every one of its changes.
//!
//! Whoever can write to a root can put a journal there. The store has the id of a transaction and
//! its targets before its journal is written, so no key is needed; without the store, a person
//! decides.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use filetx::{Claim, ClaimedChange, Observed, Verdict};
use store::PathBytes;

use crate::apply::drift::{Target, Targets, holds};
use crate::apply::intent::{Intent, intent, transaction_text};
use crate::roots::{ancestors, checked_path, path_bytes, system_path};
use crate::{Host, PathKey, Plan, Plans, Result, State};

impl Plans {
    /// Vouches for a transaction that files in a root name. If the store fails, the answer is that
    /// there is none, never that the transaction is not ours.
    pub fn vouch(&self, host: &Host, claim: &Claim<'_>) -> Verdict {
        match self.objection(host, claim) {
            Ok(None) => Verdict::Trusted,
            Ok(Some(reason)) => Verdict::Untrusted { reason },
            Err(error) => Verdict::Unavailable { source: Box::new(error) },
        }
    }

    /// Returns the reason not to vouch for a transaction, if there is one.
    fn objection(&self, host: &Host, claim: &Claim<'_>) -> Result<Option<String>> {
        let Some((plan, intent)) = self.applying_with(claim.id)? else {
            return Ok(Some("no plan of this store is applying it".to_owned()));
        };
        let refuse = |reason: &str| Ok(Some(format!("plan {} {reason}", plan.id)));
        if !is_local(host, &plan, &intent) {
            return refuse(&format!("is being applied on {}", intent.machine));
        }
        let roots: Vec<PathBuf> = plan.roots.iter().map(opened_path).collect();
        if !roots.iter().any(|root| root == claim.root) || !roots.iter().any(|root| root == claim.main) {
            return refuse("is applied to another folder; this one was moved or copied");
        }
        // A pointer leads to a root of the plan. The journal there is another claim.
        let Some(changes) = claim.changes() else { return Ok(None) };
        if claim.root != claim.main {
            return refuse("has its journal in another root");
        }
        if claim.owner() != Some(plan.id.to_string().as_bytes()) {
            return refuse("is not named as its owner");
        }
        if let Some(target_log) = intent.target_log
            && !self.target_log_complete(target_log)?
        {
            return refuse("has not logged its changes yet");
        }
        let (targets, _) = self.logged_targets(&plan, intent.target_log)?;
        let is_whole = intent.target_log.is_some() && !intent.is_resumed;
        let logged = Logged::of(&targets, host.folder_mode())?;
        match unlogged(&changes, &plan.roots, &roots, &logged, is_whole)? {
            Some(path) => refuse(&format!("has not logged this change of `{path}`")),
            None => Ok(None),
        }
    }

    /// Finds the plan that is applying a transaction.
    fn applying_with(&self, id: u128) -> Result<Option<(Plan, Intent)>> {
        let id = transaction_text(id);
        for plan in self.list(&[State::Applying], None)? {
            if let Some(intent) = intent(&plan)?.filter(|intent| intent.transaction == id) {
                return Ok(Some((plan, intent)));
            }
        }
        Ok(None)
    }
}

/// Returns whether an apply belongs to this machine: its intent names the machine, or the roots are
/// the same folders and name the transaction. A machine may be renamed, and a container has a new
/// name each time; a copy of the roots on another machine consists of other folders.
pub(crate) fn is_local(host: &Host, plan: &Plan, intent: &Intent) -> bool {
    if intent.machine == *host.machine() {
        return true;
    }
    let Ok(id) = u128::from_str_radix(&intent.transaction, 16) else { return false };
    let inodes = || plan.roots.iter().map(|root| host.inode(root)).collect::<Option<Vec<u64>>>();
    // Version 0.1 stored no inodes.
    let are_same = intent.inodes.is_empty() || inodes().as_ref() == Some(&intent.inodes);
    are_same && plan.roots.iter().any(|root| host.mentions(root, id))
}

/// The path under which a root is opened: it may lead through a symlink by now.
fn opened_path(root: &PathBytes) -> PathBuf {
    let path = system_path(root);
    path.canonicalize().unwrap_or(path)
}

/// Returns the first path that a transaction would change otherwise than the targets say. If
/// `is_whole`, it must change all of them.
fn unlogged(
    changes: &[ClaimedChange<'_>],
    roots: &[PathBytes],
    opened: &[PathBuf],
    logged: &Logged<'_>,
    is_whole: bool,
) -> Result<Option<String>> {
    let names: BTreeMap<&Path, &PathBytes> = opened.iter().map(PathBuf::as_path).zip(roots).collect();
    let mut found = BTreeSet::new();
    for change in changes {
        let shown = || change.path.to_string();
        let (Some(root), Ok(path)) = (names.get(change.root), path_bytes(change.path.as_path())) else {
            return Ok(Some(shown()));
        };
        let key = PathKey { root: (*root).clone(), path };
        if checked_path(&key.path).is_err() || !logged.has(change, &key) {
            return Ok(Some(shown()));
        }
        found.insert(key);
    }
    let is_missing =
        |(key, target): &(&PathKey, &Target)| target.before != target.after && !found.contains(key);
    let missing = logged.targets.iter().find(|target| is_whole && is_missing(target));
    Ok(missing.map(|(key, _)| key.path.show().into_owned()))
}

/// The changes that an apply has logged.
struct Logged<'a> {
    targets: &'a Targets,
    /// Folders above the paths that get a content.
    filled: BTreeSet<PathKey>,
    /// Folders above the paths that are deleted.
    emptied: BTreeSet<PathKey>,
    /// Mode of new folders.
    folder_mode: u32,
}

impl<'a> Logged<'a> {
    fn of(targets: &'a Targets, folder_mode: u32) -> Result<Self> {
        let mut logged = Self { targets, filled: BTreeSet::new(), emptied: BTreeSet::new(), folder_mode };
        for (key, target) in targets {
            let set = if target.after.is_some() { &mut logged.filled } else { &mut logged.emptied };
            set.extend(above(key)?);
        }
        Ok(logged)
    }

    /// Returns whether a change is a target, or that of a folder which a target needs.
    fn has(&self, change: &ClaimedChange<'_>, key: &PathKey) -> bool {
        let target = self.targets.get(key);
        match (change.before, &change.after) {
            (Observed::Folder { .. }, Observed::Folder { .. }) => false,
            // An empty folder: above a deleted file, or in place of a new one.
            (Observed::Folder { .. }, Observed::Absent) => {
                let is_new =
                    |key: &PathKey| self.targets.get(key).is_some_and(|target| target.after.is_some());
                self.emptied.contains(key) || above(key).is_ok_and(|above| above.iter().any(is_new))
            }
            (before, Observed::Folder { mode }) => {
                let is_deleted = || {
                    target
                        .is_some_and(|target| target.after.is_none() && holds(before, target.before.as_ref()))
                };
                self.filled.contains(key)
                    && *mode == self.folder_mode
                    && (*before == Observed::Absent || is_deleted())
            }
            (before, after) => target.is_some_and(|target| {
                let makes_way = matches!(before, Observed::Folder { .. }) && target.before.is_none();
                (makes_way || holds(before, target.before.as_ref())) && holds(after, target.after.as_ref())
            }),
        }
    }
}

/// The folders above a path, the nearest first.
fn above(key: &PathKey) -> Result<Vec<PathKey>> {
    let path = checked_path(&key.path)?;
    ancestors(&path).map(|folder| Ok(key.with_path(&path_bytes(folder.as_path())?))).collect()
}
