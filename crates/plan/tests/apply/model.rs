//! Random trees, changesets, drift and crashes: after any sequence the tree equals a model in
//! memory.

use std::collections::BTreeMap;

use plan::{ApplyRequest, Change, ContentInput, Error, PlanId, Plans, State, UndoRequest};
use proptest::prelude::*;
use testkit::report::is_proof;
use testkit::sim::{Node, SimDisk};

use super::fixture::{delete, write};
use super::sim::{StoreDir, apply_with_crash, disk, host, ready, who};

const PATHS: [&str; 7] = ["a/f", "a/g", "a/d/x", "a/d/y", "a/d/e/z", "b/f", "b/d/x"];

/// The files by path.
type Model = BTreeMap<String, String>;

#[derive(Clone, Debug)]
enum Action {
    /// Creates a plan that writes or deletes these paths, and applies it.
    Apply(Vec<(usize, Option<u8>)>),
    /// Crashes an apply at this fraction of its calls, then recovers.
    Crash(Vec<(usize, Option<u8>)>, u8),
    /// Writes or deletes a file as a person.
    Person(usize, Option<u8>),
    /// Creates a plan, changes one of its files as a person, then applies it.
    Drift(Vec<(usize, Option<u8>)>, u8),
    /// Undoes one of the applied plans.
    Undo(u8),
}

fn changes() -> impl Strategy<Value = Vec<(usize, Option<u8>)>> {
    let change = (0..PATHS.len(), proptest::option::weighted(0.7, 0_u8..4));
    proptest::collection::vec(change, 1..5)
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        3 => changes().prop_map(Action::Apply),
        2 => (changes(), any::<u8>()).prop_map(|(changes, at)| Action::Crash(changes, at)),
        1 => (0..PATHS.len(), proptest::option::of(0_u8..4)).prop_map(|(path, text)| Action::Person(path, text)),
        1 => (changes(), 0_u8..4).prop_map(|(changes, text)| Action::Drift(changes, text)),
        2 => any::<u8>().prop_map(Action::Undo),
    ]
}

struct World {
    disk: SimDisk,
    store_dir: StoreDir,
    model: Model,
    /// Applied plans, with the contents before and after.
    applied: Vec<(PlanId, Model, Model)>,
    /// The number of edits by a person.
    edits: usize,
}

fn text(number: u8) -> String {
    format!("content {number}\n")
}

impl World {
    fn new() -> Self {
        let start = [("a/f", text(0)), ("a/d/x", text(1))];
        let files: Vec<(&str, &str)> = start.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let model = start.iter().map(|(path, text)| ((*path).to_owned(), text.clone())).collect();
        Self { disk: disk(&files), store_dir: StoreDir::new(), model, applied: Vec::new(), edits: 0 }
    }

    /// The files in the roots.
    fn found(&self) -> Model {
        let mut found = Model::new();
        for root in ["a", "b"] {
            for (path, node) in self.disk.tree_without(root, ".cleveragents") {
                if let Node::File { content, .. } = node {
                    found.insert(format!("{root}/{path}"), String::from_utf8(content).unwrap());
                }
            }
        }
        found
    }

    fn plan(&self, plans: &Plans, changes: &[(usize, Option<u8>)]) -> Option<(PlanId, Model)> {
        let mut after = self.model.clone();
        let mut entries: Vec<(Change, Option<ContentInput>)> = Vec::new();
        let mut seen = Vec::new();
        for (path, new) in changes {
            let path = PATHS[*path];
            let base = self.model.get(path);
            if seen.contains(&path) || new.is_none() && base.is_none() {
                continue;
            }
            seen.push(path);
            let piece = base.map(|text| ContentInput::file(text.as_bytes(), 0o644).unwrap());
            match new {
                Some(number) => {
                    entries.push((write(path, text(*number)), piece));
                    after.insert(path.to_owned(), text(*number));
                }
                None => {
                    entries.push((delete(path), piece));
                    after.remove(path);
                }
            }
        }
        (after != self.model).then(|| (ready(plans, entries), after))
    }

    fn act(&mut self, action: &Action) {
        let plans = Plans::open(self.store_dir.open());
        match action {
            Action::Person(path, new) => {
                let path = PATHS[*path];
                match new {
                    Some(number) => {
                        self.disk.external_write(&path[..1], &path[2..], text(*number).as_bytes());
                        self.model.insert(path.to_owned(), text(*number));
                    }
                    None => {
                        self.disk.external_remove(&path[..1], &path[2..]);
                        self.model.remove(path);
                    }
                }
            }
            Action::Apply(changes) => {
                let Some((id, after)) = self.plan(&plans, changes) else { return };
                let report = plans
                    .apply(&host(&self.disk), &plans.get(id).unwrap(), &ApplyRequest::by(&who()))
                    .unwrap();
                assert_eq!((report.plan.state, report.remaining), (State::Applied, 0));
                self.applied.push((id, self.model.clone(), after.clone()));
                self.model = after;
            }
            Action::Drift(changes, number) => {
                let Some((id, after)) = self.plan(&plans, changes) else { return };
                let changed = PATHS.iter().find(|path| self.model.get(**path) != after.get(**path)).unwrap();
                self.edits += 1;
                let theirs = format!("a person's {number}, edit {}\n", self.edits);
                self.disk.external_write(&changed[..1], &changed[2..], theirs.as_bytes());
                self.model.insert((*changed).to_owned(), theirs);
                let error = plans
                    .apply(&host(&self.disk), &plans.get(id).unwrap(), &ApplyRequest::by(&who()))
                    .unwrap_err();
                assert!(matches!(error, Error::Drifted { .. }), "{error}");
            }
            Action::Crash(changes, at) => {
                let Some((id, after)) = self.plan(&plans, changes) else { return };
                drop(plans);
                let whole = self.disk.fork();
                whole.new_program();
                apply_with_crash(&whole, &self.store_dir.copy(), id, u64::MAX);
                self.disk.new_program();
                self.disk.crash_at(whole.calls() * u64::from(*at) / 256);
                let (acknowledged, _) = apply_with_crash(&self.disk, &self.store_dir, id, u64::MAX);
                self.disk = match at % 2 {
                    0 => self.disk.kill(),
                    _ => self.disk.sampled_crash_states(u64::from(*at), 3).last().unwrap().disk,
                };
                let plans = Plans::open(self.store_dir.open());
                plans.recover_plan(&host(&self.disk), id, &who()).unwrap();
                match plans.get(id).unwrap().state {
                    State::Applied => {
                        self.applied.push((id, self.model.clone(), after.clone()));
                        self.model = after;
                    }
                    State::Ready if !acknowledged => {}
                    other => panic!("the plan is {other}"),
                }
            }
            Action::Undo(which) => {
                if self.applied.is_empty() {
                    return;
                }
                let (id, before, after) = self.applied[usize::from(*which) % self.applied.len()].clone();
                let changed: Vec<&&str> =
                    PATHS.iter().filter(|path| before.get(**path) != after.get(**path)).collect();
                let result = plans.undo(&host(&self.disk), &plans.get(id).unwrap(), &UndoRequest::by(&who()));
                let holds = |model: &Model, path: &str| self.model.get(path) == model.get(path);
                let drifts = changed.iter().any(|path| !holds(&after, path) && !holds(&before, path));
                match result {
                    Ok(_) => {
                        assert!(!drifts, "an undo went over what was changed since");
                        for path in changed {
                            match before.get(*path) {
                                Some(text) => self.model.insert((*path).to_string(), text.clone()),
                                None => self.model.remove(*path),
                            };
                        }
                    }
                    Err(Error::ModifiedSinceApply { .. }) => assert!(drifts),
                    Err(Error::IllegalStep { state, .. }) => assert_ne!(state, State::Applied),
                    Err(Error::NothingToDo { .. }) => {
                        assert!(
                            changed.iter().all(|path| holds(&before, path)),
                            "there was something to undo"
                        );
                    }
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if is_proof() { 400 } else { 12 },
        max_shrink_iters: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_sequence_of_actions_equals_the_model(actions in proptest::collection::vec(action(), 1..8)) {
        let mut world = World::new();
        for action in &actions {
            world.act(action);
            prop_assert_eq!(&world.found(), &world.model, "after {:?}", action);
        }
    }
}
