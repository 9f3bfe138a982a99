//! Properties: folding any sequence of changes equals a model of a folder, merging any edits of
//! lines equals a model of lines, and the order of actors never changes the result or loses content
//! without a conflict.

use std::collections::BTreeMap;

use plan::{
    Attribution, ChangeEntry, ChangesetDelta, ConflictKind, Content, ContentKind, Operation, PathKey,
    Strategy as Combining, fold,
};
use proptest::prelude::*;
use store::{BlobHash, ChangesetId, Time};
use testkit::report::is_proof;

use super::fixture::{actor, bytes};
use super::merge::{World, key};

const PATHS: [&str; 4] = ["a", "b", "c", "d"];
/// The number of different contents.
const CONTENTS: u8 = 6;

/// The model of a folder: contents by path.
type Folder = BTreeMap<&'static str, Content>;

#[derive(Clone, Debug)]
enum Act {
    Write(usize, u8),
    Delete(usize),
    Rename(usize, usize),
}

fn content(number: u8) -> Content {
    Content { kind: ContentKind::File, blob: BlobHash::of(&[number]), bytes: 1, mode: 0o644 }
}

fn act() -> impl Strategy<Value = Act> {
    let path = 0..PATHS.len();
    prop_oneof![
        3 => (path.clone(), 0..CONTENTS).prop_map(|(path, number)| Act::Write(path, number)),
        2 => path.clone().prop_map(Act::Delete),
        3 => (path.clone(), path).prop_map(|(from, to)| Act::Rename(from, to)),
    ]
}

/// Changes the model, and returns the entry that a handle would record, if any.
fn entry(folder: &mut Folder, act: &Act, sequence: u64) -> Option<ChangeEntry> {
    let (path, operation, after) = match *act {
        Act::Write(path, number) => {
            let there = folder.contains_key(PATHS[path]);
            (path, if there { Operation::Modify } else { Operation::Create }, Some(content(number)))
        }
        Act::Delete(path) => (path, Operation::Delete, None),
        Act::Rename(from, to) if folder.contains_key(PATHS[to]) || from == to => {
            let _ = (from, to);
            return None;
        }
        Act::Rename(from, to) => {
            (from, Operation::Rename { to: bytes(PATHS[to]) }, folder.get(PATHS[from]).cloned())
        }
    };
    let before = folder.get(PATHS[path]).cloned();
    if before.is_none() && !matches!(operation, Operation::Create) {
        return None;
    }
    match (act, &after) {
        (Act::Rename(_, to), Some(content)) => {
            folder.remove(PATHS[path]);
            folder.insert(PATHS[*to], content.clone());
        }
        (_, Some(content)) => drop(folder.insert(PATHS[path], content.clone())),
        (_, None) => drop(folder.remove(PATHS[path])),
    }
    Some(ChangeEntry {
        changeset: ChangesetId::from_bytes([1; 16]),
        sequence,
        actor: actor("one"),
        root: bytes("/srv"),
        path: bytes(PATHS[path]),
        operation,
        before,
        after,
        tool: None,
        at: Time::from_micros(sequence as i64),
    })
}

fn folder(there: &[Option<u8>]) -> Folder {
    PATHS.iter().zip(there).filter_map(|(path, number)| Some((*path, content((*number)?)))).collect()
}

/// The folded changeset of an actor. Its times do not depend on the order of the merge.
fn folded(number: usize, first: &Folder, acts: &[Act]) -> ChangesetDelta {
    let mut folder = first.clone();
    let mut entries = Vec::new();
    for act in acts {
        entries.extend(entry(&mut folder, act, entries.len() as u64 + 1));
    }
    for entry in &mut entries {
        entry.at = Time::from_micros((number * 100) as i64 + entry.sequence as i64);
    }
    let changeset = ChangesetId::from_bytes([number as u8 + 1; 16]);
    fold(Attribution { actor: actor(&format!("actor {number}")), changeset }, &entries)
}

/// The result of a merge: final contents and conflicts.
type Outcome = (BTreeMap<PathKey, Option<Content>>, BTreeMap<PathKey, ConflictKind>);

fn outcome(changesets: &[ChangesetDelta], strategy: Combining) -> Outcome {
    let mut world = World::default();
    world.folded = changesets.to_vec();
    for number in 0..CONTENTS {
        world.file([number]);
    }
    let combined = world.combined(strategy);
    let changes = combined.changes().map(|(key, change)| (key.clone(), change.after.clone()));
    let conflicts = combined.conflicts().map(|conflict| (conflict.key.clone(), conflict.kind));
    (changes.collect(), conflicts.collect())
}

/// The contents that a merge must not lose: those that an actor wrote, and those of files that no
/// actor changed or deleted.
fn must_be_kept(first: &Folder, changesets: &[ChangesetDelta]) -> Vec<Content> {
    let mut kept = Vec::new();
    for change in changesets.iter().flat_map(|folded| folded.changes.values()) {
        let is_as_it_was = change.renamed_from.is_some() && change.after == change.renamed_base;
        kept.extend(change.after.clone().filter(|_| !is_as_it_was));
    }
    for (path, content) in first {
        let is_untouched = |folded: &ChangesetDelta| {
            let renamed = folded.changes.values().find(|change| change.renamed_from == Some(bytes(path)));
            renamed.map_or(!folded.changes.contains_key(&key(path)), |new| new.after == new.renamed_base)
        };
        kept.extend(changesets.iter().all(is_untouched).then(|| content.clone()));
    }
    kept
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: if is_proof() { 20_000 } else { 500 },
        failure_persistence: None,
        ..Default::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn folding_entries_equals_the_model(
        there in proptest::collection::vec(proptest::option::of(0..CONTENTS), PATHS.len()),
        acts in proptest::collection::vec(act(), 0..20),
    ) {
        let first = folder(&there);
        let mut folder = first.clone();
        let mut entries = Vec::new();
        for act in &acts {
            entries.extend(entry(&mut folder, act, entries.len() as u64 + 1));
        }
        let credit = Attribution { actor: actor("one"), changeset: ChangesetId::from_bytes([1; 16]) };
        let folded = fold(credit, &entries);
        for path in PATHS {
            match folded.changes.get(&key(path)) {
                None => prop_assert_eq!(first.get(path), folder.get(path), "{} is no change", path),
                Some(change) => {
                    prop_assert_eq!(change.base.as_ref(), first.get(path), "the base of {}", path);
                    prop_assert_eq!(change.after.as_ref(), folder.get(path), "the end of {}", path);
                    prop_assert_ne!(&change.base, &change.after);
                    if let Some(from) = &change.renamed_from {
                        let from = from.show().into_owned();
                        prop_assert_eq!(change.renamed_base.as_ref(), first.get(from.as_str()));
                        prop_assert!(change.renamed_base.is_some() && change.after.is_some());
                        prop_assert!(!folder.contains_key(from.as_str()), "what came from {} left it", from);
                    }
                }
            }
        }
    }

    /// Actors write, delete and rename the same few files, also onto names that they freed.
    #[test]
    fn merge_is_independent_of_actor_order_and_loses_no_content(
        there in proptest::collection::vec(proptest::option::of(0..CONTENTS), PATHS.len()),
        acts in proptest::collection::vec(proptest::collection::vec(act(), 0..5), 2..4),
    ) {
        let first = folder(&there);
        let changesets: Vec<ChangesetDelta> = acts.iter().enumerate().map(|(number, acts)| folded(number, &first, acts)).collect();
        for strategy in [Combining::ThreeWay, Combining::FailOnConflict, Combining::LastWins] {
            let expected = outcome(&changesets, strategy);
            let mut order = changesets.clone();
            for turn in 0..order.len() {
                order.rotate_left(1);
                prop_assert_eq!(&outcome(&order, strategy), &expected, "{:?}, {} turns", strategy, turn);
                let reversed: Vec<ChangesetDelta> = order.iter().rev().cloned().collect();
                prop_assert_eq!(&outcome(&reversed, strategy), &expected, "{:?}, {} turns, reversed", strategy, turn);
            }
        }
        let (changes, conflicts) = outcome(&changesets, Combining::ThreeWay);
        if conflicts.is_empty() {
            let mut left = first.clone();
            for path in PATHS {
                match changes.get(&key(path)) {
                    Some(Some(content)) => drop(left.insert(path, content.clone())),
                    Some(None) => drop(left.remove(path)),
                    None => {}
                }
            }
            for content in must_be_kept(&first, &changesets) {
                prop_assert!(left.values().any(|there| *there == content), "{:?} is lost", content);
            }
        }
    }

    /// Actors replace lines of one text. Edits of lines that are not adjacent merge; different
    /// edits of one line conflict; the order of actors does not matter.
    #[test]
    fn merge_of_line_edits_equals_the_model(
        edits in proptest::collection::vec(proptest::collection::btree_map(0..24_usize, 0..3_u8, 0..5), 2..4),
    ) {
        let base: Vec<String> = (0..24).map(|line| format!("line {line}\n")).collect();
        let edited = |lines: &BTreeMap<usize, u8>| {
            let mut text = base.clone();
            for (line, number) in lines {
                text[*line] = format!("line {line}, version {number}\n");
            }
            text.concat()
        };
        let combined = |order: &mut dyn Iterator<Item = &BTreeMap<usize, u8>>| {
            let mut world = World::default();
            let from = world.file(base.concat());
            for (number, lines) in order.enumerate() {
                let after = world.file(edited(lines));
                if after != from {
                    world.actor(&format!("actor {number}")).change("f", from.clone(), after);
                }
            }
            let combined = world.combined(Combining::ThreeWay);
            if combined.conflicts().next().is_some() {
                return None;
            }
            let change = combined.changes().next().map(|(_, change)| change.after.clone().unwrap());
            Some(change.map_or_else(|| base.concat(), |content| world.text(&combined, &content)))
        };
        let result = combined(&mut edits.iter());
        let pairs = || edits.iter().enumerate().flat_map(|(place, one)| edits[place + 1..].iter().map(move |two| (one, two)));
        let differ = pairs().any(|(one, two)| one.iter().any(|(line, number)| two.get(line).is_some_and(|other| other != number)));
        let near = pairs().any(|(one, two)| one.keys().any(|line| two.keys().any(|other| line.abs_diff(*other) <= 1)));
        if differ {
            prop_assert_eq!(&result, &None);
        } else if !near {
            let all: BTreeMap<usize, u8> = edits.iter().flatten().map(|(line, number)| (*line, *number)).collect();
            prop_assert_eq!(&result, &Some(edited(&all)));
        }
        if let Some(text) = &result {
            let all: BTreeMap<usize, u8> = edits.iter().flatten().map(|(line, number)| (*line, *number)).collect();
            prop_assert_eq!(text, &edited(&all), "whatever was merged has every edit");
        }
        prop_assert_eq!(combined(&mut edits.iter().rev()), result, "the order does not matter");
    }
}
