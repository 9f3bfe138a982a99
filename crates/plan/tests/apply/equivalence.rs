//! Equivalence: any sequence of partial applies, resolutions, changed resolutions and partial undos
//! leads to the merge of the plan, which can be undone. After an undo of some actors, the roots
//! hold the merge of the others. Chains of undos over two plans restore the roots.

use std::collections::{BTreeMap, BTreeSet};

use plan::{Actor, Change, Choice, Conflict, ContentInput, PlanId, Selection, State, Strategy as Merge};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use testkit::report::is_proof;

use super::fixture::{Fixture, actor, bytes, delete, write};

const ACTORS: [&str; 3] = ["one", "two", "three"];
const PATHS: [&str; 4] = ["f", "g", "h", "n"];
const LINES: usize = 9;

#[derive(Clone, Copy, Debug)]
enum Edit {
    /// Changes a line of `f` or `g`.
    Line(usize, usize),
    /// Deletes `f` or `g`.
    Delete(usize),
    /// Renames `f` or `g` to `h`.
    Rename(usize),
    /// Creates `n`.
    Make,
    /// Changes a line of `f` or `g`, identically for all actors.
    Same(usize, usize),
    /// Creates `n`, identically for all actors.
    MakeSame,
}

#[derive(Clone, Debug)]
enum Action {
    /// Applies the changes of some actors, at one path or all.
    Apply(Vec<usize>, Option<usize>),
    /// Resolves a conflict at a path, or changes a resolution: by an actor, a content, or a
    /// deletion.
    Resolve(usize, usize),
    /// Undoes the changes of some actors, at one path or all.
    Undo(Vec<usize>, Option<usize>),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => (0_usize..2, 0..LINES).prop_map(|(file, line)| Edit::Line(file, line)),
        1 => (0_usize..2).prop_map(Edit::Delete),
        1 => (0_usize..2).prop_map(Edit::Rename),
        1 => Just(Edit::Make),
        3 => (0_usize..2, 0..LINES).prop_map(|(file, line)| Edit::Same(file, line)),
        1 => Just(Edit::MakeSame),
    ]
}

fn part() -> impl Strategy<Value = (Vec<usize>, Option<usize>)> {
    let actors = proptest::sample::subsequence(vec![0, 1, 2], 0..3);
    (actors, proptest::option::weighted(0.3, 0..PATHS.len()))
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => part().prop_map(|(actors, path)| Action::Apply(actors, path)),
        3 => (0..PATHS.len(), 0_usize..5).prop_map(|(path, choice)| Action::Resolve(path, choice)),
        1 => part().prop_map(|(actors, path)| Action::Undo(actors, path)),
    ]
}

fn file(name: &str, changed: Option<(usize, &str)>) -> String {
    let line = |number: usize| match changed {
        Some((line, by)) if line == number => format!("{name} {number} by {by}\n"),
        _ => format!("{name} {number}\n"),
    };
    (0..LINES).map(line).collect()
}

/// The changes of an actor, at most one per file, so that the root has the base of each.
fn changes(by: &str, edits: &[Edit]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut seen = Vec::new();
    for edit in edits {
        let (name, change) = match *edit {
            Edit::Line(of, line) => {
                (PATHS[of], write(&format!("a/{}", PATHS[of]), file(PATHS[of], Some((line, by)))))
            }
            Edit::Delete(of) => (PATHS[of], delete(&format!("a/{}", PATHS[of]))),
            Edit::Rename(of) => (PATHS[of], Change::rename(bytes(format!("a/{}", PATHS[of])), bytes("a/h"))),
            Edit::Make => ("n", write("a/n", format!("made by {by}\n"))),
            Edit::Same(of, line) => {
                (PATHS[of], write(&format!("a/{}", PATHS[of]), file(PATHS[of], Some((line, "all")))))
            }
            Edit::MakeSame => ("n", write("a/n", "made by all\n")),
        };
        // Two renames to one name cannot be recorded.
        let again = matches!(edit, Edit::Rename(_)) && seen.contains(&"h");
        if seen.contains(&name) || again {
            continue;
        }
        seen.push(name);
        if matches!(edit, Edit::Rename(_)) {
            seen.push("h");
        }
        changes.push(change);
    }
    changes
}

struct World {
    fixture: Fixture,
    plan: PlanId,
}

impl World {
    fn new(edits: &[Vec<Edit>]) -> Self {
        let fixture = Fixture::new();
        for name in &PATHS[..2] {
            fixture.write(&format!("a/{name}"), file(name, None));
        }
        let actors = ACTORS.iter().zip(edits).map(|(name, edits)| (*name, changes(name, edits)));
        let plan = fixture.plan(actors.collect());
        Self { fixture, plan }
    }

    fn go(&self, action: &Action) {
        match action {
            Action::Apply(actors, path) => {
                let applied = self.fixture.apply_with(self.plan, |request| {
                    request.selection.actors = names(actors);
                    request.selection.paths = path.iter().map(|path| PATHS[*path].to_owned()).collect();
                });
                allow(applied, &["conflicts", "nothing-to-do", "conflict", "illegal-step"]);
            }
            Action::Resolve(path, choice) => {
                let found = self.fixture.plans.resolvable(self.plan, &bytes(PATHS[*path]), Merge::ThreeWay);
                if let Some(conflict) = found.unwrap().first() {
                    self.resolve(conflict, *choice);
                }
            }
            Action::Undo(actors, path) => {
                let undone = self.fixture.undo_with(self.plan, |request| {
                    request.selection.actors = names(actors);
                    request.selection.paths = path.iter().map(|path| PATHS[*path].to_owned()).collect();
                });
                // Changes undone from an applied plan return only by undoing the undo.
                if let (Ok(undo), State::Applied) = (&undone, self.fixture.state(self.plan)) {
                    let _ = self.fixture.undo(undo.plan.id).unwrap();
                }
                allow(
                    undone,
                    &["nothing-to-do", "dependent-changes", "conflicts", "conflict", "illegal-step"],
                );
            }
        }
    }

    fn resolve(&self, conflict: &Conflict, choice: usize) {
        let choice = match choice {
            3 => Choice::Content(Some(ContentInput::file(b"settled\n", 0o644).unwrap())),
            4 => Choice::Content(None),
            by => Choice::Take(conflict.sides[by % conflict.sides.len()].attribution.actor.clone()),
        };
        let plan = self.fixture.get(self.plan);
        let resolved =
            self.fixture.plans.resolve(&plan, &conflict.key, &choice, Merge::ThreeWay, &actor("ana"));
        // An applied plan cannot be resolved.
        allow(resolved, &["illegal-step"]);
    }

    /// Resolves the remaining conflicts, and applies the remaining changes.
    fn finish(&self) {
        for _ in 0..20 {
            match self.fixture.apply(self.plan) {
                Ok(report) if report.plan.state == State::Applied => return,
                Err(plan::Error::Conflicts { conflicts, .. }) => self.resolve(&conflicts[0], 0),
                // It is applied, has no changes, or was undone.
                Err(error) if ["nothing-to-do", "conflict"].contains(&error.code()) => return,
                Err(_) if self.fixture.state(self.plan) == State::Undone => return,
                other => panic!("{other:?}"),
            }
        }
        panic!("it never ends");
    }

    /// The expected content of the root.
    fn expected(&self) -> BTreeMap<String, String> {
        self.combined(&Selection::default())
    }

    fn combined(&self, selection: &Selection) -> BTreeMap<String, String> {
        let combined = self.fixture.plans.combine(self.plan, selection, Merge::ThreeWay).unwrap();
        assert_eq!(combined.conflicts().count(), 0);
        let mut files = before();
        for (key, change) in combined.changes() {
            let path = key.path.show().into_owned();
            match &change.after {
                None => drop(files.remove(&path)),
                Some(content) => {
                    let made = combined.unstored.get(content).map(|bytes| bytes.to_vec());
                    let store = self.fixture.plans.store();
                    let stored = || store::read_blob(store.as_ref(), content.blob, 1 << 20).unwrap();
                    files.insert(path, String::from_utf8(made.unwrap_or_else(stored)).unwrap());
                }
            }
        }
        files
    }

    fn found(&self) -> BTreeMap<String, String> {
        let is_there = |name: &&&str| self.fixture.root("a").join(name).exists();
        let read = |name: &&str| ((*name).to_owned(), self.fixture.read(&format!("a/{name}")));
        PATHS.iter().filter(is_there).map(read).collect()
    }
}

/// The content of the root before the plan.
fn before() -> BTreeMap<String, String> {
    PATHS[..2].iter().map(|name| ((*name).to_owned(), file(name, None))).collect()
}

fn names(actors: &[usize]) -> Vec<Actor> {
    actors.iter().map(|of| actor(ACTORS[*of])).collect()
}

fn allow<T>(result: plan::Result<T>, codes: &[&str]) {
    if let Err(error) = result {
        assert!(codes.contains(&error.code()), "{}: {error}: {error:?}", error.code());
    }
}

fn check(edits: &[Vec<Edit>], actions: &[Action]) {
    let world = World::new(edits);
    for action in actions {
        world.go(action);
    }
    world.finish();
    if world.fixture.state(world.plan) != State::Undone {
        assert_eq!(world.found(), world.expected(), "{edits:?} {actions:?}");
        // A plan without changes has nothing to undo.
        allow(world.fixture.undo(world.plan), &["nothing-to-do", "illegal-step"]);
    }
    assert_eq!(world.found(), before(), "{edits:?} {actions:?}");
}

/// Sequences that failed before.
#[test]
fn known_action_sequences() {
    use Action::{Apply, Resolve, Undo};
    use Edit::{Delete, Line, Make, Rename};
    let line = || vec![Line(0, 0)];
    for (edits, actions) in [
        ([vec![Delete(0)], line(), line()], vec![Apply(vec![0], None)]),
        ([vec![Rename(1)], vec![Delete(1)], vec![Line(1, 0)]], vec![Apply(vec![0, 2], None)]),
        (
            [vec![Rename(1), Line(0, 0)], vec![Line(0, 0), Line(1, 5)], line()],
            vec![Apply(vec![0], None), Apply(vec![], Some(1)), Undo(vec![0], None)],
        ),
        ([line(), vec![Rename(0)], vec![Rename(1)]], vec![Apply(vec![2], None)]),
        ([line(), vec![Delete(1)], vec![Rename(1)]], vec![Apply(vec![1], None), Apply(vec![2], Some(2))]),
        (
            [line(), vec![Rename(0)], vec![Rename(1), Line(0, 0)]],
            vec![Apply(vec![1], None), Apply(vec![], Some(0))],
        ),
        (
            [vec![Delete(0)], line(), vec![Line(1, 0), Rename(0)]],
            vec![Apply(vec![2], None), Resolve(0, 4), Apply(vec![], None), Undo(vec![2], None)],
        ),
        (
            [line(), vec![Make], vec![Line(0, 0), Make]],
            vec![Apply(vec![1], None), Resolve(3, 4), Apply(vec![0], None), Resolve(3, 0)],
        ),
        (
            [line(), vec![Make], vec![Make]],
            vec![Apply(vec![2], None), Resolve(3, 3), Apply(vec![0], None), Resolve(3, 0)],
        ),
        (
            [line(), vec![Rename(0)], vec![Line(0, 0), Rename(1)]],
            vec![Apply(vec![1], None), Resolve(2, 2), Apply(vec![], Some(2))],
        ),
        (
            [vec![Line(1, 0)], vec![Rename(1)], vec![Line(1, 2)]],
            vec![Apply(vec![2], None), Apply(vec![0, 1], None), Undo(vec![1], None)],
        ),
        (
            [vec![Rename(0)], vec![Rename(1)], vec![Line(1, 0)]],
            vec![Resolve(2, 1), Apply(vec![0], None), Undo(vec![0], None)],
        ),
        (
            [vec![Line(1, 0)], vec![Line(0, 0), Rename(1)], vec![Rename(0)]],
            vec![Apply(vec![1], Some(1)), Resolve(2, 2), Apply(vec![0], Some(1)), Undo(vec![1], None)],
        ),
    ] {
        check(&edits, &actions);
    }
}

/// A step of a plan that is applied and undone by actor.
#[derive(Clone, Debug)]
enum ActorStep {
    Apply(usize),
    Undo(Vec<usize>),
    /// Undoes one of the previous undos.
    Redo(usize),
}

fn actor_step() -> impl Strategy<Value = ActorStep> {
    prop_oneof![
        2 => (0..ACTORS.len()).prop_map(ActorStep::Apply),
        3 => proptest::sample::subsequence(vec![0, 1, 2], 1..4).prop_map(ActorStep::Undo),
        3 => (0_usize..6).prop_map(ActorStep::Redo),
    ]
}

/// Checks after each step that the root holds the merge of the applied actors, or that the step was
/// refused and changed nothing.
fn check_actor_steps(edits: &[Vec<Edit>], actor_steps: &[ActorStep]) {
    let world = World::new(edits);
    let mut applied: BTreeSet<usize> = BTreeSet::new();
    let mut undos: Vec<(PlanId, BTreeSet<usize>, bool)> = Vec::new();
    let at_first = (0..ACTORS.len()).map(ActorStep::Apply);
    for actor_step in at_first.chain(actor_steps.iter().cloned()) {
        let before = world.found();
        let mut next = applied.clone();
        let ended = match &actor_step {
            ActorStep::Apply(of) => {
                next.insert(*of);
                world.fixture.apply_with(world.plan, |request| request.selection.actors = names(&[*of]))
            }
            ActorStep::Undo(actors) => {
                let removed = actors.iter().copied().filter(|of| next.remove(of)).collect();
                let undone =
                    world.fixture.undo_with(world.plan, |request| request.selection.actors = names(actors));
                undos.extend(undone.as_ref().map(|report| (report.plan.id, removed, true)).ok());
                undone
            }
            ActorStep::Redo(of) => {
                let Some((undo, actors, removes)) = undos.get(*of).cloned() else { continue };
                next = match removes {
                    true => next.union(&actors).copied().collect(),
                    false => next.difference(&actors).copied().collect(),
                };
                let undone = world.fixture.undo(undo);
                undos.extend(undone.as_ref().map(|report| (report.plan.id, actors, !removes)).ok());
                undone
            }
        };
        let place = format!("{actor_step:?} of {edits:?} {actor_steps:?}: {:?}", ended.as_ref().err());
        if ended.is_ok() {
            applied = next;
            let actors = names(&applied.iter().copied().collect::<Vec<_>>());
            let expected = match actors.is_empty() {
                true => self::before(),
                false => world.combined(&Selection { actors, ..Selection::default() }),
            };
            assert_eq!(world.found(), expected, "{place}");
        } else {
            assert_eq!(world.found(), before, "{place}");
        }
        allow(
            ended,
            &[
                "conflicts",
                "nothing-to-do",
                "conflict",
                "illegal-step",
                "dependent-changes",
                "modified-since-apply",
                "drifted",
            ],
        );
    }
    let undone = world.fixture.undo(world.plan);
    allow(undone, &["nothing-to-do", "illegal-step"]);
    assert_eq!(world.found(), before(), "{edits:?} {actor_steps:?}");
}

/// Sequences that failed before.
#[test]
fn known_actor_sequences() {
    use ActorStep::{Apply, Redo, Undo};
    use Edit::{Line, Make, MakeSame, Rename, Same};
    for (edits, actor_steps) in [
        ([vec![Line(1, 0)], vec![Rename(1)], vec![Line(0, 0)]], vec![Undo(vec![0]), Undo(vec![1])]),
        (
            [vec![Same(1, 3), MakeSame], vec![Make], vec![Same(1, 3)]],
            vec![Undo(vec![0, 2]), Apply(2), Redo(0), Redo(1)],
        ),
        ([vec![Line(0, 0)], vec![Line(0, 2)], vec![Rename(0)]], vec![Undo(vec![2]), Redo(0), Undo(vec![1])]),
    ] {
        check_actor_steps(&edits, &actor_steps);
    }
}

/// A step of two plans over the same files.
#[derive(Clone, Debug)]
enum ChainStep {
    Undo(usize),
    /// Undoes one of the previous undos.
    Redo(usize),
}

fn chain() -> impl Strategy<Value = ChainStep> {
    prop_oneof![(0_usize..2).prop_map(ChainStep::Undo), (0_usize..5).prop_map(ChainStep::Redo)]
}

/// A second plan over the files of the first: restores, changes or keeps each.
fn second_plan(world: &World, second: &[usize]) -> PlanId {
    let change = |(name, choice): (&&str, &usize)| {
        let (path, is_there) = (format!("a/{name}"), world.fixture.root("a").join(name).exists());
        match choice {
            0 => Some(write(&path, file(name, None))),
            1 => Some(write(&path, file(name, Some((4, "second"))))),
            2 if is_there => Some(delete(&path)),
            _ => None,
        }
    };
    let changes = PATHS.iter().zip(second).filter_map(change).collect();
    world.fixture.plan(vec![("second", changes)])
}

/// Checks that after any undos and redos of two plans, undoing the applied ones restores the root.
fn check_chain(edits: &[Vec<Edit>], second: &[usize], chain: &[ChainStep]) {
    let world = World::new(edits);
    world.finish();
    let plans = [world.plan, second_plan(&world, second)];
    allow(world.fixture.apply(plans[1]), &["nothing-to-do"]);
    let place = format!("{edits:?} {second:?} {chain:?}");
    let mut undos = Vec::new();
    let undo = |plan: PlanId, undos: &mut Vec<PlanId>| {
        let before = world.found();
        let undone = world.fixture.undo(plan);
        match &undone {
            Ok(report) => undos.push(report.plan.id),
            Err(_) => assert_eq!(world.found(), before, "{place}"),
        }
        let is_done = undone.is_ok();
        allow(undone, &["nothing-to-do", "illegal-step", "modified-since-apply"]);
        is_done
    };
    for step in chain {
        match step {
            ChainStep::Undo(of) => undo(plans[*of], &mut undos),
            ChainStep::Redo(of) => undos.get(*of).copied().is_some_and(|plan| undo(plan, &mut undos)),
        };
    }
    for _ in 0..8 {
        let done: Vec<bool> = plans.iter().rev().map(|plan| undo(*plan, &mut undos)).collect();
        if !done.contains(&true) {
            break;
        }
    }
    assert_eq!(world.found(), before(), "{place}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if is_proof() { 4000 } else { 40 },
        // A proof uses new random sequences; otherwise the seed is fixed.
        rng_seed: if is_proof() { RngSeed::Random } else { RngSeed::Fixed(1) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn partial_applies_in_any_order_equal_one_apply(
        edits in proptest::collection::vec(proptest::collection::vec(edit(), 1..4), 3),
        actions in proptest::collection::vec(action(), 0..8),
    ) {
        check(&edits, &actions);
    }

    #[test]
    fn undo_of_an_actor_leaves_the_merge_of_the_others(
        edits in proptest::collection::vec(proptest::collection::vec(edit(), 1..4), 3),
        actor_steps in proptest::collection::vec(actor_step(), 0..8),
    ) {
        check_actor_steps(&edits, &actor_steps);
    }

    #[test]
    fn chains_of_undos_over_two_plans_restore_the_root(
        edits in proptest::collection::vec(proptest::collection::vec(edit(), 1..4), 3),
        second in proptest::collection::vec(0_usize..4, PATHS.len()),
        chain in proptest::collection::vec(chain(), 0..8),
    ) {
        check_chain(&edits, &second, &chain);
    }
}
