//! Every transaction of one or two calls out of a list that has each operation.

use super::model::{FOLDER, Kind, Op, Plan, TREE, put};
use super::states::figure;
use testkit::explore::{Limits, Report, SecondCrash};
use testkit::report::is_proof;

/// Calls in any order, each on its own path.
fn calls(kind: Kind) -> Vec<Vec<Op>> {
    let mut calls = vec![vec![put("a/new", "n")], vec![put("a/put", "p2")], vec![Op::Remove("a/remove")]];
    calls.extend(match kind {
        Kind::Folder { .. } => vec![
            vec![Op::Append("a/append", "+")],
            vec![Op::Append("a/created", "c")],
            vec![Op::Truncate("a/truncate", 1)],
            vec![Op::Rename("a/from", "a/to")],
            vec![Op::Rename("a/mode", "a/link")],
            vec![Op::Remove("a/file"), Op::Append("a/file", "anew")],
        ],
        Kind::Tree { .. } => vec![
            vec![Op::SetMode("a/mode", 0o640)],
            vec![Op::Symlink("a/link", "put")],
            vec![put("a/folder/x", "x")],
            vec![Op::RemoveFolder("a/empty")],
            vec![Op::Remove("a/file"), put("a/file/x", "x")],
            vec![Op::RemoveFolder("a/dir"), put("a/dir", "d")],
            vec![Op::Remove("a/tree/x"), put("a/moved/x", "x"), Op::RemoveFolder("a/tree")],
        ],
    });
    calls
}

fn start() -> Vec<Op> {
    let file = |path| put(path, "old");
    let mut start: Vec<Op> =
        ["a/put", "a/append", "a/truncate", "a/remove", "a/from", "a/mode", "a/link", "a/file"]
            .map(file)
            .to_vec();
    start.extend([Op::MakeFolder("a/empty"), Op::MakeFolder("a/dir"), put("a/tree/x", "x")]);
    start
}

fn every_sequence(kind: Kind, name: &str) {
    let limits = Limits {
        cuts_per_point: if is_proof() { 400 } else { 140 },
        second_crash: SecondCrash::OneIn(if is_proof() { 4 } else { 8 }),
        second_cuts_per_point: if is_proof() { 8 } else { 6 },
        seed: testkit::seed::from_env_or(1),
        ..Limits::default()
    };
    let calls = calls(kind);
    let mut total = Report::default();
    for (first, one) in calls.iter().enumerate() {
        total.add(Plan::new(&format!("{name}: {one:?}"), kind, &start(), &[one]).hold(&limits));
        for two in calls.iter().skip(first + 1) {
            // One transaction of both, and two transactions of one each.
            let both: Vec<Op> = one.iter().chain(two).cloned().collect();
            total.add(Plan::new(&format!("{name}: {both:?}"), kind, &start(), &[&both]).hold(&limits));
            total.add(
                Plan::new(&format!("{name}: {one:?}, {two:?}"), kind, &start(), &[one, two]).hold(&limits),
            );
        }
    }
    figure(&format!("{name}, all sequences of up to 2 operations"), &total);
}

#[test]
fn own_folder() {
    every_sequence(FOLDER, "folder");
}

#[test]
fn user_tree() {
    every_sequence(TREE, "tree");
}
