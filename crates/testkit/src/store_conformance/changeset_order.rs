//! The order of changesets when the clock goes back.

use store::Store;

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
