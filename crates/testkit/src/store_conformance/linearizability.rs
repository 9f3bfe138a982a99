//! Concurrent calls are linearizable.

use std::sync::Arc;

use store::{Error, OpenChangesets, PlanStep, Store};

use super::fixtures::*;
use crate::history::{Count, Counter, check_operations, now_ns, operation, overlaps};
use crate::report::is_proof;

const CLIENTS: usize = 8;

/// Runs clients that step and read one plan, each with its own store from `open`. The version is a
/// counter; the history of its values must be linearizable. Returns the number of calls.
pub fn check(open: impl Fn() -> Arc<dyn Store> + Sync) -> usize {
    let rounds = if is_proof() { 200 } else { 25 };
    let plan = make_plan(&*open()).id;
    let history: Vec<_> = together(CLIENTS, |client| {
        let store = open();
        let mut seen = store.plan(plan).unwrap();
        let mut acts = Vec::new();
        for round in 0..rounds {
            let began = now_ns();
            let act = if (client + round) % 3 == 0 {
                seen = store.plan(plan).unwrap();
                Count::Read(seen.version.0 - 1)
            } else {
                let step = PlanStep { open: OpenChangesets::Leave, ..step(&seen, "running") };
                match store.step_plan(&step) {
                    Ok(version) => {
                        seen.version = version;
                        Count::Increment(version.0 - 2)
                    }
                    // The step lost; the error has the present version.
                    Err(Error::Conflict { version, .. }) => {
                        seen.version = version;
                        Count::Read(version.0 - 1)
                    }
                    Err(error) => panic!("{error}"),
                }
            };
            acts.push(operation::<Counter>(began, now_ns(), act));
        }
        acts
    })
    .concat();
    assert!(overlaps(&history), "they did not run at the same time");
    assert!(check_operations(&history), "no order explains what they saw");
    history.len()
}
