//! A disk that fails at any write or sync: acknowledged writes are kept, aborted ones left nothing,
//! and a repeated call takes effect once.

use std::path::Path;

use store::{
    ChangesetId, ChangesetStore, Epoch, Outcome, PlanQuery, PlanStore, Recording, SqliteStore, Store,
};
use testkit::children::{command, role, send};
use testkit::folder::scratch;
use testkit::report::{figure, is_proof, skipped};
use testkit::store_conformance::fixtures::*;
use testkit::strace::{Call, Inject, describe, run, unusable};

use super::open;

const RECORDS: usize = 5;
/// The fault occurs once, so the second attempt succeeds; the next group may still meet its
/// consequences.
const TRIES_MAX: usize = 4;

#[test]
fn child() {
    if let Some((role, folder)) = role() {
        assert_eq!(role, "record");
        let store = again(|| SqliteStore::open(&folder.join("state.db")));
        let plan = again(|| store.plans(&PlanQuery::default()))[0].id;
        let new = new_changeset(plan, "coder");
        let epoch = again(|| store.start_changeset(&new)).epoch;
        for number in 0..RECORDS {
            record(&store, new.id, epoch, &recording_of(&[(&number.to_string(), &[7; 5000])]));
        }
        send(&format!("{}", new.id));
    }
}

fn again<T>(call: impl Fn() -> store::Result<T>) -> T {
    let tries = (0..TRIES_MAX).map(|_| call().inspect_err(|error| send(error.code())));
    tries.flatten().next().expect("a disk that failed once lets the next try through")
}

/// Records, and checks that an aborted call has changed nothing.
fn record(store: &dyn Store, id: ChangesetId, epoch: Epoch, recording: &Recording) {
    again(|| {
        let before = again(|| store.changeset(id)).entries;
        store.record(id, epoch, recording).inspect_err(|error| {
            send(&format!("{:?}", error.outcome()));
            if error.outcome() == Outcome::Aborted {
                assert_eq!(again(|| store.changeset(id)).entries, before);
            }
        })
    });
}

/// Runs the child with a fault, and returns the outcomes that it met.
fn fail(folder: &Path, at: &Call, what: Inject) -> Vec<String> {
    let ended = run(&command("failing_disk::child", "record", folder), at, what);
    assert_eq!(ended.code, Some(0), "{}: {ended:?}", describe(at, what));
    let words: Vec<&str> = ended.output.lines().filter_map(|line| Some(line.split_once('@')?.1)).collect();
    let (id, met) = words.split_last().expect("it says its changeset");
    let store = open(folder);
    let entries = all_entries(&store, id.parse().unwrap());
    let paths: Vec<_> = entries.iter().map(|entry| entry.path.show().into_owned()).collect();
    assert_eq!(paths, ["0", "1", "2", "3", "4"], "{}", describe(at, what));
    assert_eq!(store::verify(&store, &[]).unwrap().findings, [], "{}", describe(at, what));
    assert_eq!(store.check().unwrap(), [], "{}", describe(at, what));
    met.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_failing_disk_loses_and_duplicates_nothing() {
    if let Some(reason) = unusable() {
        return skipped("store-failing-disk", &reason);
    }
    let folder = scratch();
    make_plan(&open(folder.path()));
    let step = if is_proof() { 1 } else { 4 };
    let mut met = Vec::new();
    let mut points = 0;
    for (name, last) in [("fdatasync", 8), ("fsync", 4), ("pwrite64", 60)] {
        for nth in (1..=last).step_by(if last > 10 { step } else { 1 }) {
            let at = Call { name: name.to_owned(), nth, arguments: String::new() };
            for error in ["EIO", "ENOSPC"] {
                met.extend(fail(folder.path(), &at, Inject::Once(error)));
                points += 1;
            }
        }
    }
    for outcome in ["Aborted", "Unknown"] {
        assert!(met.iter().any(|word| word == outcome), "nothing was {outcome}: {met:?}");
    }
    figure("failing writes and syncs of a store, nothing lost or doubled", points);
}
