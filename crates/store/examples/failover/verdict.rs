//! The verdict on the acknowledged calls of a round.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::time::Duration;

use cleveragents_store::{ChangesetId, PlanId, Store};
use testkit::history::{Count, Counter, LoggedCall, check_operations, now_ns, operation, overlaps, read};
use testkit::store_conformance::fixtures::all_entries;

use crate::Result;

/// The result of one round.
pub(crate) struct Verdict {
    /// Acknowledged records.
    pub(crate) acknowledged: usize,
    /// Acknowledged records that are not where they were acknowledged.
    pub(crate) lost: usize,
    /// Records that exist twice, or that no client made.
    pub(crate) stray: usize,
    /// True if a sequential order explains all answers.
    pub(crate) is_linearizable: bool,
    pub(crate) verifies: bool,
    /// The longest time without an answer.
    pub(crate) outage: Duration,
    /// Errors that clients saw before a repetition.
    pub(crate) errors: usize,
    /// Records that were acknowledged while replication was stopped.
    pub(crate) while_frozen: Option<usize>,
}

impl Verdict {
    pub(crate) fn is_sound(&self) -> bool {
        self.lost == 0 && self.stray == 0 && self.is_linearizable && self.verifies && self.acknowledged > 0
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = if self.is_linearizable { "yes" } else { "none" };
        write!(f, "{}", self.acknowledged)?;
        if let Some(count) = self.while_frozen {
            write!(f, ", {count} of them while frozen")?;
        }
        write!(f, " | {} | {order} | {:.1} s | {}", self.lost, self.outage.as_secs_f64(), self.errors)?;
        if self.stray > 0 {
            write!(f, ", {} strays", self.stray)?;
        }
        if !self.verifies {
            write!(f, ", the audit does not verify")?;
        }
        Ok(())
    }
}

/// An acknowledged record.
struct Acknowledged {
    changeset: ChangesetId,
    name: String,
    sequence: u64,
}

pub(crate) fn judge(
    store: &dyn Store,
    plan: PlanId,
    folder: &Path,
    frozen: Option<(i64, i64)>,
) -> Result<Verdict> {
    let notes = read(folder);
    let acknowledged = acknowledged(&notes);
    let lost = lost(store, folder).len();
    let (names, mut stray): (HashSet<&str>, _) = (acknowledged.iter().map(|one| &*one.name).collect(), 0);
    let mut seen = HashSet::new();
    for changeset in store.changesets(plan)? {
        for entry in all_entries(store, changeset.id) {
            let name = entry.path.show().into_owned();
            stray += usize::from(!names.contains(&*name) || !seen.insert(name));
        }
    }
    let mut times: Vec<i64> = notes.iter().filter_map(|note| Some(note.answer.as_ref()?.0)).collect();
    times.sort_unstable();
    let outage = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let while_frozen = |(begins, ends): (i64, i64)| {
        let is_record = |note: &LoggedCall| note.what.starts_with("own") || note.what.starts_with("shared");
        let is_told = |note: &LoggedCall| note.answer.as_ref().is_some_and(|(at, _)| *at < ends);
        notes.iter().filter(|note| is_record(note) && note.call_time > begins && is_told(note)).count()
    };
    Ok(Verdict {
        acknowledged: acknowledged.len(),
        lost,
        stray,
        is_linearizable: is_linearizable(store, plan, &notes)?,
        verifies: cleveragents_store::verify(store, &[])?.findings.is_empty() && store.check()?.is_empty(),
        outage: Duration::from_nanos(u64::try_from(outage)?),
        errors: notes.iter().map(|note| number(note, 1) as usize).sum(),
        while_frozen: frozen.map(while_frozen),
    })
}

/// Returns the names of acknowledged records that are missing or misplaced.
pub(crate) fn lost(store: &dyn Store, folder: &Path) -> Vec<String> {
    let acknowledged = acknowledged(&read(folder));
    let changesets: HashSet<ChangesetId> = acknowledged.iter().map(|one| one.changeset).collect();
    let mut there = HashMap::new();
    for id in changesets {
        for entry in all_entries(store, id) {
            there.insert((id, entry.sequence), entry.path.show().into_owned());
        }
    }
    let is_lost = |one: &Acknowledged| there.get(&(one.changeset, one.sequence)) != Some(&one.name);
    acknowledged.into_iter().filter(is_lost).map(|one| one.name).collect()
}

fn acknowledged(notes: &[LoggedCall]) -> Vec<Acknowledged> {
    let record = |note: &LoggedCall| {
        let (what, changeset) = note.what.split_once(' ')?;
        note.answer.as_ref()?;
        let changeset = changeset.parse().ok().filter(|_| what == "own" || what == "shared")?;
        Some(Acknowledged { changeset, name: note.id.clone(), sequence: number(note, 0) })
    };
    notes.iter().filter_map(record).collect()
}

/// Checks the shared changeset and the plan's version as counters that clients, and finally we,
/// have read.
fn is_linearizable(store: &dyn Store, plan: PlanId, notes: &[LoggedCall]) -> Result<bool> {
    let (mut entries, mut versions) = (Vec::new(), Vec::new());
    let mut shared = None;
    for note in notes {
        let Some((what, id)) = note.what.split_once(' ') else { continue };
        let found = number(note, 0);
        let took = note.answer.as_ref().is_some_and(|(_, answer)| answer.ends_with("took"));
        let act = |count| note.operation::<Counter>(now_ns(), count);
        match what {
            "shared" => entries.push(act(Count::Increment(found.wrapping_sub(1)))),
            "read" => {
                shared = Some(id.parse::<ChangesetId>()?);
                entries.push(act(Count::Read(found)));
            }
            "step" if took => versions.push(act(Count::Increment(found.wrapping_sub(2)))),
            "step" => versions.push(act(Count::Read(found.wrapping_sub(1)))),
            _ => {}
        }
    }
    let shared = shared.ok_or("nobody read")?;
    let last = |count| operation::<Counter>(now_ns(), now_ns(), count);
    entries.push(last(Count::Read(store.changeset(shared)?.entries)));
    versions.push(last(Count::Read(store.plan(plan)?.version.0 - 1)));
    if !overlaps(&entries) || !overlaps(&versions) {
        return Err("the clients did not run at the same time".into());
    }
    Ok(check_operations(&entries) && check_operations(&versions))
}

/// Parses a number of the answer.
fn number(note: &LoggedCall, place: usize) -> u64 {
    let answer = note.answer.as_ref().map_or("", |(_, answer)| answer);
    answer.split(' ').nth(place).and_then(|word| word.parse().ok()).unwrap_or(0)
}
