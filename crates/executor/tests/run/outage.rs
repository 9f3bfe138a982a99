//! A store whose server does not answer while an actor ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use executor::Error;
use executor::run::{Cancel, Event, Outcome, Runs};
use plan::{PlanId, Plans, State, Status};
use store::{LeaseRequest, Owner, Resource, Result, Store};

use crate::fixture::{Fixture, outcome};
use crate::leases::{expire, lease, let_go, waiting};

/// Fails a number of writes.
#[derive(Debug)]
struct FlakyStore {
    inner: Arc<dyn Store>,
    failures: AtomicUsize,
    failed: AtomicUsize,
}

impl FlakyStore {
    fn of(fixture: &Fixture) -> Arc<Self> {
        let inner = Arc::clone(fixture.plans.store());
        Arc::new(Self { inner, failures: AtomicUsize::new(0), failed: AtomicUsize::new(0) })
    }

    fn runs(self: &Arc<Self>, fixture: &Fixture) -> Runs {
        Runs::new(Plans::open(Arc::clone(self) as Arc<dyn Store>), &fixture.home().join("runs"))
    }

    fn write<T>(&self, call: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        let down = self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if down.is_ok() {
            self.failed.fetch_add(1, Ordering::SeqCst);
            let source = Arc::new(std::io::Error::other("no answer"));
            return Err(store::Error::Unreachable { path: "postgres://host/db".into(), source });
        }
        call(self.inner.as_ref())
    }

    fn read<T>(&self, call: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        call(self.inner.as_ref())
    }
}

testkit::wrap_store!(FlakyStore);

/// The plan, once the process of its actor is in the store.
fn running_plan(fixture: &Fixture) -> PlanId {
    let plan = fixture.plans.find("@latest").unwrap().id;
    while fixture.plans.store().nodes(plan).unwrap()[0].detail["process"].is_null() {
        std::thread::yield_now();
    }
    plan
}

#[test]
fn a_node_that_ends_during_an_outage_keeps_its_result() {
    let fixture = Fixture::new(&[("file", "1\n")]);
    let store = FlakyStore::of(&fixture);
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            running_plan(&fixture);
            store.failures.store(8, Ordering::SeqCst);
            let_go(&fixture);
        }
    };
    let summary = store.runs(&fixture).start(&waiting(&fixture), &Cancel::default(), &tell).unwrap();
    assert_eq!((summary.state, outcome(&summary, "a")), (State::Ready, Outcome::Succeeded));
    assert_eq!(store.failed.load(Ordering::SeqCst), 8);
    let changesets = fixture.plans.changesets(summary.plan).unwrap();
    let found: Vec<_> = changesets.iter().map(|changeset| (changeset.status, changeset.entries)).collect();
    assert_eq!(found, [(Status::Sealed, 1)], "nothing is lost or recorded twice");
    drop(fixture.apply(summary.plan).unwrap());
    assert_eq!(fixture.file("file"), "2\n");
}

#[test]
fn work_of_a_run_that_was_replaced_during_an_outage_is_kept_and_named() {
    let fixture = Fixture::new(&[("file", "1\n")]);
    let store = FlakyStore::of(&fixture);
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            let plan = running_plan(&fixture);
            expire(&fixture, plan);
            let owner = Owner::parse("somebody else").unwrap();
            let request = LeaseRequest { owner, duration: Duration::from_secs(600) };
            fixture.plans.store().acquire(Resource::Plan(plan), &request).unwrap();
            store.failures.store(3, Ordering::SeqCst);
            let_go(&fixture);
        }
    };
    let error = store.runs(&fixture).start(&waiting(&fixture), &Cancel::default(), &tell).unwrap_err();
    let Error::LeaseLost { kept, .. } = &error else { panic!("{error}") };
    let [(node, tree)] = kept.as_slice() else { panic!("{kept:?}") };
    assert_eq!((node.as_str(), std::fs::read_to_string(tree.join("file")).unwrap()), ("a", "2\n".to_owned()));
    assert!(error.to_string().contains("the work of node `a` does not count"), "{error}");
    assert_eq!(fixture.file("file"), "1\n");
}

#[test]
fn a_run_that_is_cancelled_during_an_outage_can_be_resumed() {
    let fixture = Fixture::new(&[("file", "1\n")]);
    let (store, cancel) = (FlakyStore::of(&fixture), Cancel::default());
    let tell = |event| {
        if matches!(event, Event::NodeOutput { .. }) {
            running_plan(&fixture);
            store.failures.store(usize::MAX, Ordering::SeqCst);
            let_go(&fixture);
        }
    };
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            while store.failed.load(Ordering::SeqCst) < 3 {
                std::thread::yield_now();
            }
            cancel.cancel();
        });
        store.runs(&fixture).start(&waiting(&fixture), &cancel, &tell).unwrap_err()
    });
    let Error::Interrupted { plan, .. } = error else { panic!("{error}") };
    assert_eq!(error.code(), "store-unreachable");
    // As when this process ends.
    fixture.plans.store().release(&lease(&fixture, plan)).unwrap();
    let (summary, _) = fixture.resume(plan).unwrap();
    assert_eq!((summary.state, outcome(&summary, "a")), (State::Ready, Outcome::Succeeded));
}
