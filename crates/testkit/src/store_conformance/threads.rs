//! Many threads at once.

use std::sync::Arc;

use store::{ChangesetId, Epoch, OpenChangesets, PlanStep, Store, Version};

use super::Case;
use super::fixtures::*;

pub(super) const CASES: &[Case] = &[
    ("each thread's entries are in its own changeset", attribution),
    ("threads that share a changeset get each sequence number once", shared_changeset),
    ("of concurrent steps, one succeeds", one_step),
    ("no entry is recorded after its plan has closed", closing),
    ("concurrent garbage collection removes no blob with an entry", collecting),
];

const THREADS: usize = 8;
const RECORDS: usize = 40;

fn attribution(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let ids = together(THREADS, |number| {
        let (id, epoch) = start(&**store, plan.id, &format!("actor {number}"));
        for record in 0..RECORDS {
            let at = format!("{number}/{record}");
            let recorded = store.record(id, epoch, &recording(&[&at])).unwrap();
            assert_eq!(recorded.first, record as u64 + 1);
        }
        store.seal(id, epoch).unwrap();
        id
    });
    for (number, id) in ids.into_iter().enumerate() {
        let entries = all_entries(&**store, id);
        let expected: Vec<String> = (0..RECORDS).map(|record| format!("{number}/{record}")).collect();
        assert_eq!(entries.iter().map(|entry| entry.path.show()).collect::<Vec<_>>(), expected);
        assert!(entries.iter().all(|entry| entry.actor.as_str() == format!("actor {number}")));
    }
    assert_eq!(store::verify(&**store, &[]).unwrap().findings, []);
}

fn shared_changeset(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let (id, epoch) = start(&**store, plan.id, "coder");
    let mut numbers: Vec<u64> = together(THREADS, |number| {
        let path = format!("{number}");
        let record = |_| store.record(id, epoch, &recording(&[&path, &path])).unwrap().first;
        (0..RECORDS).map(record).collect::<Vec<u64>>()
    })
    .concat();
    numbers.sort_unstable();
    let expected: Vec<u64> = (0..(THREADS * RECORDS) as u64).map(|place| 2 * place + 1).collect();
    assert_eq!(numbers, expected);
}

fn one_step(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let results = together(THREADS, |number| {
        let who = actor(&format!("actor {number}"));
        store.step_plan(&PlanStep { actor: who, ..step(&plan, "applying") })
    });
    let winner = results.iter().position(Result::is_ok).expect("one wins");
    for (number, result) in results.into_iter().enumerate() {
        if number != winner {
            let error = refused(result, "conflict");
            assert!(error.to_string().contains(&format!(": actor {winner} ")), "{error}");
        }
    }
    assert_eq!(version(&**store, plan.id), Version(2));
}

fn closing(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let (id, epoch): (ChangesetId, Epoch) = start(&**store, plan.id, "coder");
    let counts = together(THREADS, |number| {
        if number == 0 {
            let cancel = PlanStep { open: OpenChangesets::Abandon, ..step(&plan, "cancelled") };
            store.step_plan(&cancel).unwrap();
            return store.changeset(id).unwrap().entries;
        }
        let recorded = (0..RECORDS).take_while(|_| store.record(id, epoch, &recording(&["a"])).is_ok());
        recorded.count() as u64
    });
    let changeset = store.changeset(id).unwrap();
    assert_eq!(changeset.entries, counts[0], "nothing was recorded after the plan was cancelled");
    assert_eq!(changeset.entries, counts[1..].iter().sum::<u64>(), "what was acknowledged is there");
}

fn collecting(store: &Arc<dyn Store>) {
    let plan = make_plan(&**store);
    let collect = store::GcOptions { mode: store::GcMode::Remove, grace: std::time::Duration::ZERO };
    together(THREADS, |number| {
        if number == 0 {
            for _ in 0..RECORDS {
                store.collect_garbage(&collect).unwrap();
            }
            return;
        }
        let (id, epoch) = start(&**store, plan.id, &format!("actor {number}"));
        for record in 0..RECORDS {
            // Threads share blobs, so one stores what another is about to refer to and a third
            // collects.
            let blob = packed(format!("content {record}").as_bytes());
            store.put_blob(&blob).unwrap();
            let entry = store::NewEntry { after: Some(content(&blob)), ..deletion("a") };
            let recording = store::Recording { entries: vec![entry], ..recording(&[]) };
            match store.record(id, epoch, &recording) {
                Ok(_) => assert!(store::read_blob(&**store, blob.hash(), 100).is_ok()),
                Err(error) => assert_eq!(error.code(), "blob-missing"),
            }
        }
    });
}
