//! Lost answers, as after a failed sync: the call is repeated and has one effect, or its outcome is
//! unknown.

use std::sync::Arc;

use plan::{Changeset, Choice, PathBytes, PathKey, Plans, Selection, State, Step, Strategy};
use store::Outcome;

use super::fixture::*;
use super::lossy_store::{LossyStore, Lost};

struct LossyFixture {
    fixture: Fixture,
    store: Arc<LossyStore>,
    plans: Plans,
}

impl LossyFixture {
    fn new() -> Self {
        let fixture = Fixture::new();
        let store = Arc::new(LossyStore::new(Arc::clone(fixture.plans.store())));
        let plans = Plans::open(Arc::clone(&store) as _);
        Self { fixture, store, plans }
    }

    fn start(&self) -> Changeset {
        self.plans.context(self.fixture.plan.id).unwrap().start_changeset(&actor("coder")).unwrap()
    }

    fn entries(&self, changeset: &Changeset) -> usize {
        self.fixture.plans.entries(changeset.id()).unwrap().len()
    }
}

#[test]
fn a_call_with_a_lost_answer_is_repeated_and_has_one_effect() {
    for is_done in [true, false] {
        let lossy = LossyFixture::new();
        let lose = || lossy.store.lose(Lost { answers: 2, is_done });
        lose();
        let plan = lossy.plans.create(None, &[&lossy.fixture.root], &actor("ana")).unwrap();
        lose();
        let plan = lossy.plans.step(&plan, &Step::to(State::Running, &actor("ana"))).unwrap();
        assert_eq!((plan.state, plan.version.0), (State::Running, 2));
        lose();
        let changeset = lossy.plans.context(plan.id).unwrap().start_changeset(&actor("coder")).unwrap();
        lose();
        assert_eq!(changeset.record(write("a", "1")).unwrap(), 1);
        lose();
        assert_eq!(changeset.seal().unwrap().entries, 1);
        assert_eq!((lossy.entries(&changeset), lossy.plans.changesets(plan.id).unwrap().len()), (1, 1));
    }
}

#[test]
fn a_path_with_an_unknown_outcome_is_refused_until_reopened() {
    for is_done in [true, false] {
        let lossy = LossyFixture::new();
        let changeset = lossy.start();
        lossy.store.lose(Lost { answers: usize::MAX, is_done });
        let error = changeset.record(write("a", "1")).unwrap_err();
        assert_eq!((error.code(), error.outcome()), ("store-stopped", Outcome::Unknown));
        lossy.store.lose(Lost::default());
        let error = changeset.record(write("a", "2")).unwrap_err();
        assert_eq!((error.code(), error.outcome()), ("outcome-unknown", Outcome::Aborted));
        changeset.record(write("b", "1")).unwrap();
        assert_eq!(changeset.last_contents().unwrap_err().code(), "outcome-unknown");
        let root = plan::path_bytes(&lossy.fixture.root).unwrap();
        let key = |path: &str| PathKey { root: root.clone(), path: PathBytes::parse(path).unwrap() };
        assert_eq!(changeset.last_content(&key("a")).unwrap_err().code(), "outcome-unknown");
        assert_eq!(changeset.last_content(&key("b")).unwrap().unwrap().unwrap().bytes, 1);
        assert_eq!(changeset.last_content(&key("c")).unwrap(), None);
        let reopened = lossy.plans.reopen(changeset.id(), &Default::default()).unwrap();
        reopened.record(write("a", "2")).unwrap();
        let entries = lossy.fixture.plans.entries(changeset.id()).unwrap();
        let last = entries.last().unwrap();
        assert_eq!(last.before.is_some(), is_done, "it builds on what is really there");
    }
}

#[test]
fn a_resolution_with_a_lost_answer_has_an_unknown_outcome() {
    let lossy = LossyFixture::new();
    lossy.fixture.sealed("one", vec![write("f", "1")]);
    lossy.fixture.sealed("two", vec![write("f", "2")]);
    let plan = lossy.fixture.mark_ready();
    lossy.store.lose(Lost { answers: usize::MAX, is_done: false });
    let (key, choice) = (lossy.fixture.key("f"), Choice::Take(actor("one")));
    let error = lossy.plans.resolve(&plan, &key, &choice, Strategy::ThreeWay, &actor("ana")).unwrap_err();
    assert_eq!(error.outcome(), Outcome::Unknown);
    lossy.store.lose(Lost::default());
    let combined = lossy.plans.combine(plan.id, &Selection::default(), Strategy::ThreeWay).unwrap();
    assert_eq!(combined.conflicts().count(), 1);
}

/// The cost of a record does not depend on the length of the changeset. The test counts reads.
#[test]
fn a_record_reads_no_entries() {
    let lossy = LossyFixture::new();
    let changeset = lossy.start();
    let before = lossy.store.reads();
    for number in 0..200 {
        changeset.record(write(&(number % 10).to_string(), number.to_string())).unwrap();
        changeset.record(plan::Change::mode(bytes((number % 10).to_string()), 0o755)).unwrap();
    }
    assert_eq!(lossy.store.reads(), before);
    assert_eq!(lossy.plans.entries(changeset.id()).unwrap().len(), 400);
    assert!(lossy.store.reads() > before, "reads are counted");
}
