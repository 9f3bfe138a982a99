//! The order of changesets and plans when the clock goes back.

use store::{PlanQuery, PlanSelector, Store};

use super::fixtures::*;

/// Starts changesets of one plan before and after the clock goes back, and asserts that they are
/// listed in the order of their starts.
pub fn check(store: &dyn Store, clock_goes_back: impl FnOnce()) {
    let plan = make_plan(store).id;
    let mut started = vec![start(store, plan, "one").0, start(store, plan, "two").0];
    clock_goes_back();
    started.extend([start(store, plan, "three").0, start(store, plan, "four").0]);
    let listed = store.changesets(plan).unwrap();
    assert_eq!(listed.iter().map(|changeset| changeset.id).collect::<Vec<_>>(), started);
    assert!(listed.is_sorted_by(|one, next| one.started_at < next.started_at), "{listed:?}");
}

/// Ends a changeset, lets the clock go back, and asserts that the next changeset starts after it.
pub fn check_ends(store: &dyn Store, clock_goes_back: impl FnOnce()) {
    let plan = make_plan(store).id;
    let (first, epoch) = start(store, plan, "one");
    store.seal(first, epoch).unwrap();
    let ended = store.changeset(first).unwrap().ended_at.unwrap();
    clock_goes_back();
    let (second, _) = start(store, plan, "two");
    assert!(store.changeset(second).unwrap().started_at > ended);
}

/// Creates plans before and after the clock goes back, and asserts that the last one is the latest.
pub fn check_plans(store: &dyn Store, clock_goes_back: impl FnOnce()) {
    let mut made = vec![make_plan(store).id, make_plan(store).id];
    clock_goes_back();
    made.extend([make_plan(store).id, make_plan(store).id]);
    assert_eq!(store.find_plan(&PlanSelector::Latest).unwrap().id, made[3]);
    let listed = store.plans(&PlanQuery::default()).unwrap();
    let listed: Vec<_> = listed.iter().map(|plan| plan.id).collect();
    assert_eq!(listed, made.into_iter().rev().collect::<Vec<_>>());
}
