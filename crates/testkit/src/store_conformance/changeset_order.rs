//! The order of changesets, also when the clock goes back.

use store::Store;

use super::fixtures::*;

/// Starts changesets of one plan before and after the clock went back, or whatever is like it: they stay in the order in which they were started.
pub fn check(store: &dyn Store, clock_goes_back: impl FnOnce()) {
    let plan = make_plan(store).id;
    let mut started = vec![start(store, plan, "one").0, start(store, plan, "two").0];
    clock_goes_back();
    started.extend([start(store, plan, "three").0, start(store, plan, "four").0]);
    let listed = store.changesets(plan).unwrap();
    assert_eq!(listed.iter().map(|changeset| changeset.id).collect::<Vec<_>>(), started);
    assert!(listed.is_sorted_by(|one, next| one.started_at < next.started_at), "{listed:?}");
}
