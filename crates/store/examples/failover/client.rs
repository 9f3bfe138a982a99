//! A recording process. It never reopens the store and never gives up: failed calls are repeated,
//! and counted.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cleveragents_store::{
    ChangesetId, ChangesetStore, Epoch, Error, OpenChangesets, Plan, PlanId, PlanStep, PlanStore,
    PostgresStore, Store, Version,
};
use testkit::history::CallLog;
use testkit::store_conformance::fixtures::{recording, start, step};

use crate::Result;

/// Works until its input ends, and logs every call: `own` and `shared` record an entry, with the
/// name of the call as its path, and return its number; `read` returns the size of the shared
/// changeset; `step` returns the plan's version, and whether it `took` the step or only `saw` it.
pub(crate) fn run(folder: &Path) -> Result<()> {
    let task = fs::read_to_string(folder.join("task"))?;
    let [url, plan, shared, epoch] = task.lines().collect::<Vec<_>>()[..] else {
        return Err("a task has four lines".into());
    };
    let (plan, shared): (PlanId, ChangesetId) = (plan.parse()?, shared.parse()?);
    let shared = (shared, Epoch(epoch.parse()?));
    let store = PostgresStore::open(url)?;
    let own = start(&store, plan, &format!("client {}", std::process::id()));
    let mut seen = store.plan(plan)?;
    let mut notebook = CallLog::open(folder);
    let is_over = over();
    for number in 0_u64.. {
        if is_over.load(Ordering::Relaxed) {
            return Ok(());
        }
        match number % 16 {
            5 => notebook.record(format!("step {plan}"), |_| take_step(&store, &mut seen, &is_over)),
            3 | 7 | 11 | 15 => notebook.record(format!("read {}", shared.0), |_| {
                let (found, errors) = insist(&is_over, || store.changeset(shared.0));
                format!("{} {errors}", found.entries)
            }),
            1 | 9 | 13 => {
                notebook.record(format!("shared {}", shared.0), |name| record(&store, shared, name, &is_over))
            }
            _ => notebook.record(format!("own {}", own.0), |name| record(&store, own, name, &is_over)),
        };
    }
    Ok(())
}

/// Tells whether the input has ended.
fn over() -> Arc<AtomicBool> {
    let is_over = Arc::new(AtomicBool::new(false));
    let said = Arc::clone(&is_over);
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        said.store(true, Ordering::Relaxed);
    });
    is_over
}

fn record(store: &dyn Store, (id, epoch): (ChangesetId, Epoch), name: &str, is_over: &AtomicBool) -> String {
    let request = recording(&[name]);
    let (recorded, errors) = insist(is_over, || store.record(id, epoch, &request));
    format!("{} {errors}", recorded.first)
}

fn take_step(store: &dyn Store, seen: &mut Plan, is_over: &AtomicBool) -> String {
    let step = PlanStep { open: OpenChangesets::Leave, ..step(seen, "running") };
    let ((did, version), errors) = insist(is_over, || match store.step_plan(&step) {
        Ok(version) => Ok(("took", version)),
        // The step lost; the error has the present version.
        Err(Error::Conflict { version, .. }) => Ok(("saw", version)),
        Err(error) => Err(error),
    });
    seen.version = Version(version.0);
    format!("{} {errors} {did}", version.0)
}

/// Repeats a call until it is answered, and counts the errors. The parent and the cluster may be
/// gone.
fn insist<T>(is_over: &AtomicBool, ask: impl Fn() -> cleveragents_store::Result<T>) -> (T, usize) {
    let mut errors = 0;
    loop {
        match ask() {
            Ok(answer) => return (answer, errors),
            Err(error) => {
                eprintln!("client {}: {error}", std::process::id());
                errors += 1;
                assert!(!is_over.load(Ordering::Relaxed), "nobody waits for an answer any more");
            }
        }
    }
}
