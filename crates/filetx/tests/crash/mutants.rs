//! Mutation test of the simulator: it must detect every skipped sync or check.

use std::collections::BTreeSet;

use super::model::{FOLDER, Kind, Op, Plan, TREE, TREE_TOGETHER, TREES, put};
use super::people;
use filetx::Step;
use testkit::explore::{Limits, Report, SecondCrash};

/// The test that detects a skipped step.
enum Detector {
    /// A listed workload, crashed at every point.
    Crashes(Plan),
    /// An edit at every step.
    People,
    /// An edit after the acknowledged commit.
    Afterwards,
    /// Traces of an acknowledged commit.
    Traces,
    /// The replacement of one file.
    Replace,
}

fn limits() -> Limits {
    Limits {
        cuts_per_point: 60,
        second_crash: SecondCrash::Every,
        second_cuts_per_point: 12,
        failures_max: 1,
        seed: testkit::seed::from_env_or(1),
        ..Limits::default()
    }
}

fn folder(journal_bytes: u64, transactions: &[&[Op]]) -> Detector {
    Detector::Crashes(Plan::new("mutant", Kind::Folder { journal_bytes }, &[], transactions))
}

fn two_trees() -> Detector {
    let start = [put("a/f", "old"), put("b/g", "old")];
    let commits: [&[Op]; 2] = [&[put("a/f", "new"), put("b/g", "new")], &[put("a/f", "3"), put("b/g", "3")]];
    Detector::Crashes(Plan::new("mutant", TREES, &start, &commits))
}

fn tree() -> Detector {
    tree_of(TREE)
}

fn tree_of(kind: Kind) -> Detector {
    let start = [put("a/f", "old"), put("a/gone", "old"), put("a/mode", "old")];
    let ops = [put("a/f", "new"), put("a/d/g", "new"), Op::Remove("a/gone"), Op::SetMode("a/mode", 0o640)];
    Detector::Crashes(Plan::new("mutant", kind, &start, &[&ops]))
}

/// All steps whose absence must be detected, each with its detector. A test below checks that the
/// list is complete.
fn mutants() -> Vec<(Step, Detector)> {
    let small = 8192 + 4 * 512;
    let saves: [&[Op]; 2] = [&[put("a/f", "1"), put("a/g", "1")], &[put("a/f", "22"), put("a/g", "22")]];
    let many: Vec<[Op; 2]> = ["one", "two", "six", "ten", "act", "bat", "cat"]
        .map(|text| [put("a/f", text), put("a/g", text)])
        .to_vec();
    let many: Vec<&[Op]> = many.iter().map(|ops| &ops[..]).collect();
    // Four records of a sector fill the journal; the first of the next epoch covers two of them.
    let wide = "w".repeat(500);
    let epochs: Vec<Op> = ["one", "two", "six", "ten", &wide].map(|text| put("a/f", text)).to_vec();
    let epochs: Vec<&[Op]> = epochs.iter().map(std::slice::from_ref).collect();
    let large: [&[Op]; 2] =
        [&[Op::Put("a/f", vec![1; filetx::INLINE_BYTES_MAX + 1]), put("a/g", "1")], &[put("a/g", "2")]];
    let long: &'static str = Box::leak("long line\n".repeat(300).into_boxed_str());
    let grows: [&[Op]; 2] = [&[put("a/f", "1")], &[Op::Append("a/f", long), put("a/g", "2")]];
    vec![
        (Step::SyncTxnDir, folder(small, &saves)),
        (Step::SyncStaged, tree()),
        (Step::SyncStage, folder(16 * 1024, &large)),
        (Step::SyncFsStaged, tree_of(TREE_TOGETHER)),
        (Step::SyncPointer, two_trees()),
        (Step::SyncPointerFolder, two_trees()),
        (Step::SyncJournal, tree()),
        (Step::SyncJournalFolder, tree()),
        (Step::CheckDisplaced, Detector::People),
        (Step::SyncPublished, tree()),
        (Step::SyncParent, tree()),
        (Step::SyncFsPublished, tree_of(TREE_TOGETHER)),
        (Step::SyncDone, Detector::Afterwards),
        (Step::SyncCleared, Detector::Traces),
        (Step::SyncNewJournal, folder(small, &grows)),
        (Step::SyncNewJournalFolder, folder(small, &saves)),
        (Step::SyncRecord, folder(16 * 1024, &saves)),
        (Step::SyncCheckpointFile, folder(small, &many)),
        (Step::SyncCheckpointFolder, folder(small, &many)),
        (Step::SyncEpoch, folder(small, &epochs)),
        (Step::Stabilise, folder(16 * 1024, &saves)),
        (Step::SyncStabilised, folder(16 * 1024, &saves)),
        (Step::SyncStabilisedFolder, folder(16 * 1024, &saves)),
        (Step::SyncPreserved, Detector::People),
        (Step::Classify, Detector::People),
        (Step::CheckChecksum, folder(16 * 1024, &saves)),
        (Step::CheckChain, folder(small, &many)),
        (Step::CheckBoot, folder(16 * 1024, &saves)),
        (Step::SyncReplacement, Detector::Replace),
        (Step::SyncReplacedFolder, Detector::Replace),
    ]
}

impl Detector {
    fn run(&self) -> Result<(), String> {
        let clean =
            |report: Report| if report.failures.is_empty() { Ok(()) } else { Err(report.to_string()) };
        match self {
            Detector::Crashes(plan) => clean(plan.explore(&limits())),
            Detector::People => people::editor_at_every_step().map(|_| ()),
            Detector::Afterwards => people::edits_after_the_commit(),
            Detector::Traces => people::traces_after_the_commit(),
            Detector::Replace => clean(super::replaced::explore()),
        }
    }
}

#[test]
fn every_mutant_is_detected() {
    let mut missed = Vec::new();
    for (step, detector) in mutants() {
        let noticed = step.skipped(|| detector.run()).is_err();
        eprintln!("{} {step:?}: {}", step.number(), if noticed { "caught" } else { "MISSED" });
        if !noticed {
            missed.push(step);
        }
    }
    assert_eq!(missed, [], "these can be left out and nothing notices");
    testkit::report::figure("mutants caught", mutants().len());
}

#[test]
fn without_a_mutant_nothing_is_detected() {
    for (step, detector) in mutants() {
        if let Err(message) = detector.run() {
            panic!("the workload for {step:?} fails with nothing left out: {message}");
        }
    }
}

#[test]
fn every_sync_and_check_has_a_mutant() {
    let listed: BTreeSet<&str> = mutants().iter().map(|(step, _)| step.number()).collect();
    let is_sync_or_check = |step: &&Step| {
        let name = format!("{step:?}");
        name.starts_with("Sync") || name.starts_with("Check") || name == "Stabilise" || name == "Classify"
    };
    for step in Step::ALL.iter().filter(is_sync_or_check) {
        assert!(listed.contains(step.number()), "{step:?} has no mutant");
    }
    assert_eq!(FOLDER, Kind::Folder { journal_bytes: 16 * 1024 });
}
