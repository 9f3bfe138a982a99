//! Random graphs of edits against a model without sandboxes, changesets and merging.
//!
//! Every node sets some lines of shared files to its own name, makes a file of its own, and may remove a file that nobody edits. In the model two nodes
//! clash when both set one line and neither comes before the other. A node behind a clash does not run, nor does what needs it. Without clashes the result
//! is what the nodes do one after the other.

use std::collections::{BTreeMap, BTreeSet};

use executor::run::Outcome;
use plan::State;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use testkit::report::is_proof;

use crate::fixture::{Fixture, outcomes};

const FILES: usize = 2;
const LINES: usize = 4;

#[derive(Clone, Debug)]
struct Actor {
    needs: BTreeSet<usize>,
    /// File and line.
    sets: BTreeSet<(usize, usize)>,
    removes: bool,
}

fn graphs() -> impl Strategy<Value = Vec<Actor>> {
    let sets = prop::collection::btree_set((0..FILES, 0..LINES), 0..3);
    let actor = (any::<[bool; 6]>(), sets, prop::bool::weighted(0.2));
    prop::collection::vec(actor, 2..7).prop_map(|actors| {
        let actor = |(at, (needs, sets, removes)): (usize, ([bool; 6], BTreeSet<_>, bool))| Actor {
            needs: (0..at).filter(|need| needs[*need]).collect(),
            sets,
            removes,
        };
        actors.into_iter().enumerate().map(actor).collect()
    })
}

struct Model {
    outcomes: BTreeMap<String, Outcome>,
    clashes: BTreeSet<String>,
    files: BTreeMap<String, String>,
}

fn model(actors: &[Actor]) -> Model {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    for actor in actors {
        let further = actor.needs.iter().flat_map(|need| before[*need].clone());
        before.push(actor.needs.iter().copied().chain(further).collect());
    }
    let clashes = |among: &BTreeSet<usize>| {
        let pairs = among.iter().flat_map(|one| among.iter().map(move |other| (*one, *other)));
        let unordered = pairs.filter(|(one, other)| one < other && !before[*other].contains(one));
        let both =
            unordered.flat_map(|(one, other)| actors[one].sets.intersection(&actors[other].sets).copied());
        both.map(|(file, _)| format!("file-{file}")).collect::<BTreeSet<_>>()
    };
    let mut ran = BTreeSet::new();
    let mut outcomes = BTreeMap::new();
    for (at, actor) in actors.iter().enumerate() {
        let outcome = if !actor.needs.is_subset(&ran) {
            Outcome::Skipped
        } else if !clashes(&before[at]).is_empty() {
            Outcome::Conflict
        } else {
            ran.insert(at);
            Outcome::Succeeded
        };
        outcomes.insert(format!("n{at}"), outcome);
    }
    let mut lines = vec![vec!["line".to_owned(); LINES]; FILES];
    let mut files = BTreeMap::from([("spare".to_owned(), "spare\n".to_owned())]);
    for at in &ran {
        for (file, line) in &actors[*at].sets {
            lines[*file][*line] = format!("by n{at}");
        }
        files.insert(format!("own-{at}"), format!("own {at}\n"));
        if actors[*at].removes {
            files.remove("spare");
        }
    }
    files.extend(lines.iter().enumerate().map(|(file, lines)| (format!("file-{file}"), text(lines))));
    Model { outcomes, clashes: clashes(&ran), files }
}

/// Lines far enough apart that an edit of one does not touch the next.
fn text(lines: &[String]) -> String {
    lines.iter().enumerate().map(|(number, line)| format!("{number} {line}\n\n\n")).collect()
}

fn plan_file(actors: &[Actor]) -> String {
    let mut plan = String::new();
    for (at, actor) in actors.iter().enumerate() {
        let needs: Vec<_> = actor.needs.iter().map(|need| format!("'n{need}'")).collect();
        let mut line = format!("echo own {at} > own-{at}");
        for (file, number) in &actor.sets {
            line += &format!("; sed -i 's/^{number} .*/{number} by n{at}/' file-{file}");
        }
        if actor.removes {
            line += "; rm -f spare";
        }
        plan += &format!("[nodes.n{at}]\nneeds = [{}]\nrun = \"{line}\"\n", needs.join(", "));
    }
    plan
}

#[test]
fn random_graphs_end_as_the_model_says() {
    let cases = if is_proof() { 300 } else { 12 };
    let mut runner = TestRunner::new(Config {
        cases,
        max_shrink_iters: 20,
        failure_persistence: None,
        ..Config::default()
    });
    let ended = runner.run(&graphs(), |actors| {
        let expected = model(&actors);
        let fresh = text(&vec!["line".to_owned(); LINES]);
        let fixture = Fixture::new(&[("file-0", &fresh), ("file-1", &fresh), ("spare", "spare\n")]);
        let summary = fixture.run(&plan_file(&actors));
        prop_assert_eq!(outcomes(&summary), expected.outcomes.clone());
        let clashes: BTreeSet<String> =
            summary.conflicts.iter().map(|conflict| conflict.key.path.show().into_owned()).collect();
        prop_assert_eq!(&clashes, &expected.clashes);
        let is_whole = expected.outcomes.values().all(|outcome| *outcome == Outcome::Succeeded);
        let state = if is_whole && clashes.is_empty() { State::Ready } else { State::Conflict };
        prop_assert_eq!(summary.state, state);
        if state == State::Ready {
            let report = fixture.apply(summary.plan).unwrap();
            prop_assert_eq!(report.remaining, 0);
            prop_assert_eq!(fixture.files(), expected.files);
        }
        Ok(())
    });
    ended.unwrap_or_else(|error| panic!("{error}"));
}
