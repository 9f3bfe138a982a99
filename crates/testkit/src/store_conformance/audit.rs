//! The audit trail.

use std::sync::Arc;

use store::limits::PAGE_MAX;
use store::{
    AuditQuery, AuditRecord, Fault, Head, OpenChangesets, PlanId, PlanRemoval, PlanStep, Store, Time,
    Version, checkpoint, export, verify,
};

use super::Case;
use super::fixtures::*;

pub(super) const CASES: &[Case] = &[
    ("each change appends a record with its actor", appends_record),
    ("chains verify, and a checkpoint reveals truncation", verifies),
    ("chains verify while others write", verifies_during_writes),
    ("records are listed by plan, time and page", listed),
];

fn appends_record(store: &Arc<dyn Store>) {
    let store = &**store;
    let plan = make_plan(store);
    let change = step(&plan, "ready");
    store.step_plan(&change).unwrap();
    let records: Vec<AuditRecord> = export(store, AuditQuery::default()).map(Result::unwrap).collect();
    let [made, stepped] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((made.plan, made.sequence, made.actor.as_str(), made.request), (plan.id, 1, "ana", None));
    assert_eq!((stepped.sequence, stepped.actor.as_str(), stepped.request), (2, "ben", Some(change.request)));
    assert_eq!((made.previous, stepped.previous), (store::GENESIS, made.hash));
    assert_eq!(made.at, plan.created_at);
    let body: serde_json::Value = serde_json::from_str(&stepped.body.0).unwrap();
    assert_eq!((body["from"].as_str(), body["to"].as_str()), (Some("running"), Some("ready")));
    // Exported records verify without the store.
    for record in &records {
        let line = serde_json::to_string(record).unwrap();
        let read: AuditRecord = serde_json::from_str(&line).unwrap();
        assert_eq!((&read, read.computed_hash()), (record, record.hash));
    }
}

fn verifies(store: &Arc<dyn Store>) {
    let store = &**store;
    let plans = [make_plan(store), make_plan(store)];
    store.step_plan(&step(&plans[0], "ready")).unwrap();
    let heads = checkpoint(store).unwrap();
    assert_eq!(heads.iter().map(|head| head.sequence).collect::<Vec<_>>(), [2, 1]);
    store.step_plan(&step(&plans[1], "ready")).unwrap();
    let report = verify(store, &heads).unwrap();
    assert_eq!((report.chains, report.records, report.findings.len()), (2, 4, 0));

    let found = |checkpoint: &[Head]| {
        let findings = verify(store, checkpoint).unwrap().findings;
        findings.into_iter().map(|found| (found.plan, found.sequence, found.fault)).collect::<Vec<_>>()
    };
    let longer = Head { sequence: 5, ..heads[0] };
    assert_eq!(found(&[longer]), [(plans[0].id, 3, Fault::Missing)]);
    let other = Head { hash: heads[1].hash, ..heads[0] };
    assert_eq!(found(&[other]), [(plans[0].id, 2, Fault::NotAsCheckpointed)]);
    let gone = Head { plan: PlanId::new(), ..heads[0] };
    assert_eq!(found(&[gone]), [(gone.plan, 1, Fault::Missing)]);
    // Two checkpoints name it.
    assert_eq!(found(&[gone, gone]), [(gone.plan, 1, Fault::Missing)]);
}

fn verifies_during_writes(store: &Arc<dyn Store>) {
    let store = &**store;
    let work = || {
        for _ in 0..10 {
            let plan = make_plan(store);
            for name in ["one", "two", "three"] {
                let (id, epoch) = start(store, plan.id, name);
                store.record(id, epoch, &recording(&["a", "b"])).unwrap();
                store.seal(id, epoch).unwrap();
            }
            start(store, plan.id, "four");
            store.step_plan(&PlanStep { open: OpenChangesets::Abandon, ..step(&plan, "cancelled") }).unwrap();
            store.remove_plan(&PlanRemoval { version: Version(2), ..removal(&plan) }).unwrap();
        }
    };
    std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        while !workers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            assert_eq!(verify(store, &[]).unwrap().findings, []);
        }
    });
}

fn listed(store: &Arc<dyn Store>) {
    let store = &**store;
    let (first, second) = (make_plan(store), make_plan(store));
    let (id, epoch) = start(store, first.id, "coder");
    store.seal(id, epoch).unwrap();
    let places = |query: AuditQuery| -> Vec<(PlanId, u64)> {
        store.audit(&query).unwrap().iter().map(|record| (record.plan, record.sequence)).collect()
    };
    let all = [(first.id, 1), (first.id, 2), (first.id, 3), (second.id, 1)];
    assert_eq!(places(AuditQuery::default()), all);
    assert_eq!(places(AuditQuery { plan: Some(second.id), ..AuditQuery::default() }), all[3..]);
    let page = AuditQuery { after: Some(all[1]), limit: Some(2), ..AuditQuery::default() };
    assert_eq!(places(page), all[2..]);
    let page = AuditQuery { plan: Some(first.id), after: Some(all[0]), limit: Some(1), since: None };
    assert_eq!(places(page), all[1..2]);
    let later = Time::now().plus(LONG);
    assert_eq!(places(AuditQuery { since: Some(later), ..AuditQuery::default() }), []);
    assert_eq!(places(AuditQuery { since: Some(first.created_at), ..AuditQuery::default() }), all);

    // More than one page.
    let plan = make_plan(store);
    for number in 0..PAGE_MAX / 2 + 1 {
        let (id, epoch) = start(store, plan.id, &format!("actor {number}"));
        store.seal(id, epoch).unwrap();
    }
    let of_plan = AuditQuery { plan: Some(plan.id), ..AuditQuery::default() };
    assert_eq!(export(store, of_plan).map(Result::unwrap).count(), PAGE_MAX + 3);
    assert_eq!(verify(store, &[]).unwrap().findings, []);
}
