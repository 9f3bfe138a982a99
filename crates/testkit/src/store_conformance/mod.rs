//! The conformance suite for engines of the store.
//!
//! The test of an engine calls [`run`] with a function that opens an empty store. Nothing here
//! sleeps: a lease with zero duration expires at once, and garbage is collected without grace.

mod audit;
mod blobs;
pub mod changeset_order;
mod changesets;
pub mod fixtures;
pub mod group_commit;
mod leases;
#[cfg(unix)]
pub mod linearizability;
pub mod model;
mod plans;
mod threads;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use store::Store;

/// A rule and its test.
type Case = (&'static str, fn(&Arc<dyn Store>));

/// Runs all cases, each with its own empty store. A failure prints the rule.
pub fn run(open: impl Fn() -> Arc<dyn Store>) -> usize {
    let cases: Vec<Case> =
        [plans::CASES, changesets::CASES, leases::CASES, blobs::CASES, audit::CASES, threads::CASES].concat();
    for (name, case) in &cases {
        let store = open();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| case(&store))) {
            eprintln!("the engine broke this rule: {name}");
            resume_unwind(panic);
        }
        // Every case must leave a sound store.
        assert_eq!(store.check().expect("a store can be checked"), [], "after: {name}");
        assert_eq!(store::scrub(&*store).expect("contents can be read"), [], "after: {name}");
        let report = store::verify(&*store, &[]).expect("a store can be verified");
        assert_eq!(report.findings, [], "after: {name}");
    }
    cases.len()
}
