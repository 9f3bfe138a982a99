//! Interrupted applies in folders, whichever store knows of them: that of another home, or one that is gone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use filetx::{Snapshot, TreeOptions, Trees, Wait};

use super::{Check, Remedy};
use crate::problem::text;
use crate::{Agents, HintFor};

/// Files in the transaction folder of a root until an apply is done.
const INCOMPLETE: [&str; 2] = ["journal", "pointer"];

/// Finds interrupted applies in these folders; with `fix`, finishes them. Does not wait for an apply in progress.
pub(super) fn check(roots: &BTreeSet<PathBuf>, fix: bool, agents: &Agents) -> Vec<Check> {
    let wait = Wait { timeout: Duration::ZERO, ..agents.wait() };
    roots.iter().filter(|root| is_incomplete(root)).map(|root| one(root, fix, &wait, agents.hint())).collect()
}

fn is_incomplete(root: &Path) -> bool {
    let home = root.join(plan::TXN_DIR);
    INCOMPLETE.iter().any(|name| std::fs::symlink_metadata(home.join(name)).is_ok())
}

fn one(root: &Path, fix: bool, wait: &Wait, hint: Option<HintFor>) -> Check {
    let shown = text(root);
    let home = plan::txn_dir();
    let checked = match fix {
        false => Snapshot::of_tree(root, &home, wait).map(|_| {
            let text = format!("an apply was cut off in `{shown}`");
            Check::warning("applies", text, Remedy::FinishApplies)
        }),
        true => {
            Trees::open(&[root], TreeOptions { txn_dir: home, wait: wait.clone(), ..TreeOptions::default() })
                .map(|trees| Check::ok("applies", finished(&shown, &trees)))
        }
    };
    checked.unwrap_or_else(|error| match error {
        filetx::Error::Busy { .. } => Check::ok("applies", format!("a plan is being applied in `{shown}`")),
        error => Check::failed("applies", &error.into(), hint),
    })
}

fn finished(shown: &str, trees: &Trees) -> String {
    let plans: Vec<String> =
        trees.recovered().iter().map(|found| String::from_utf8_lossy(&found.owner).into_owned()).collect();
    let kept: Vec<String> =
        trees.recovered().iter().flat_map(|found| &found.preserved).map(|kept| text(&kept.path)).collect();
    let mut message = match plans.is_empty() {
        true => format!("an apply in `{shown}` was interrupted before it changed anything"),
        false => format!(
            "an apply in `{shown}` was interrupted; it is finished now (plan {} of another store)",
            plans.join(", ")
        ),
    };
    if !kept.is_empty() {
        message += &format!(", except for files that others changed in between: {}", kept.join(", "));
    }
    message
}
