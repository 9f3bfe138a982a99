//! Whoever changes, drops, moves or cuts off audit records is found, and where.

use std::path::Path;

use store::{Fault, Head, PlanId, Store, checkpoint, verify};
use testkit::folder::scratch;
use testkit::store_conformance::fixtures::*;

use super::{open, raw};

/// Two plans; the first has 7 records.
fn trail(folder: &Path) -> (PlanId, Vec<Head>) {
    let store = open(folder);
    let plan = make_plan(&store);
    for name in ["one", "two", "three"] {
        let (id, epoch) = start(&store, plan.id, name);
        store.record(id, epoch, &recording_of(&[("a", b"one"), ("b", name.as_bytes())])).unwrap();
        store.record(id, epoch, &recording(&["c"])).unwrap();
        store.seal(id, epoch).unwrap();
    }
    make_plan(&store);
    assert_eq!(verify(&store, &[]).unwrap().findings, []);
    (plan.id, checkpoint(&store).unwrap())
}

/// What is found after somebody ran this on the file. `?1` is the plan.
fn found(sql: &[&str], with_checkpoint: bool) -> Option<(u64, Fault)> {
    let folder = scratch();
    let (plan, heads) = trail(folder.path());
    let edit = raw(folder.path());
    edit.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
    for sql in sql {
        let changed = edit.execute(&sql.replace("PLAN", &format!("x'{}'", hex(plan))), []).unwrap();
        assert!(changed > 0, "{sql}");
    }
    drop(edit);
    let findings = verify(&open(folder.path()), if with_checkpoint { &heads } else { &[] }).unwrap().findings;
    assert!(findings.len() <= 1, "{findings:?}");
    findings.first().map(|finding| {
        assert_eq!(finding.plan, plan);
        (finding.sequence, finding.fault)
    })
}

fn hex(plan: PlanId) -> String {
    plan.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn each_field_that_is_changed_is_found() {
    for set in [
        "at = at + 1",
        "request = randomblob(16)",
        "kind = 'plan.approved'",
        "who = 'mallory'",
        "who = CAST(x'ff' AS TEXT)",
        "body = replace(body, 'started', 'stopped') || ' '",
        "body = '{}'",
        "hash = randomblob(32)",
        "hash = x''",
        "previous = randomblob(32)",
    ] {
        let sql = format!("UPDATE audit SET {set} WHERE plan = PLAN AND sequence = 4");
        assert_eq!(found(&[&sql], false), Some((4, Fault::Altered)), "{set}");
    }
}

#[test]
fn a_dropped_record_is_found() {
    for sequence in 1..=7 {
        let sql = format!("DELETE FROM audit WHERE plan = PLAN AND sequence = {sequence}");
        assert_eq!(found(&[&sql], false), Some((sequence, Fault::Missing)));
    }
    // The rest moved up, as if it had never been.
    let moved = [
        "DELETE FROM audit WHERE plan = PLAN AND sequence = 3",
        "UPDATE audit SET sequence = sequence + 100 WHERE plan = PLAN AND sequence > 3",
        "UPDATE audit SET sequence = sequence - 101 WHERE plan = PLAN AND sequence > 100",
        "UPDATE audit_heads SET sequence = 6 WHERE plan = PLAN",
    ];
    assert_eq!(found(&moved, false), Some((3, Fault::Altered)));
}

#[test]
fn records_in_another_order_are_found() {
    let swapped = [
        "UPDATE audit SET sequence = 100 WHERE plan = PLAN AND sequence = 2",
        "UPDATE audit SET sequence = 2 WHERE plan = PLAN AND sequence = 4",
        "UPDATE audit SET sequence = 4 WHERE plan = PLAN AND sequence = 100",
    ];
    assert_eq!(found(&swapped, false), Some((2, Fault::Altered)));
}

#[test]
fn a_trail_that_was_cut_off_is_found() {
    let cut = "DELETE FROM audit WHERE plan = PLAN AND sequence > 5";
    assert_eq!(found(&[cut], false), Some((6, Fault::Missing)));
    // With a head that fits, only a checkpoint tells.
    let head = "UPDATE audit_heads SET sequence = 5, hash = (SELECT hash FROM audit WHERE plan = PLAN AND sequence = 5)
                WHERE plan = PLAN";
    assert_eq!(found(&[cut, head], false), None);
    assert_eq!(found(&[cut, head], true), Some((6, Fault::Missing)));
    let all = ["DELETE FROM audit WHERE plan = PLAN", "DELETE FROM audit_heads WHERE plan = PLAN"];
    assert_eq!(found(&all, false), Some((1, Fault::Missing)));
    let plan = "DELETE FROM plans WHERE id = PLAN";
    assert_eq!(found(&[all[0], all[1], plan], false), None);
    assert_eq!(found(&[all[0], all[1], plan], true), Some((1, Fault::Missing)));
}

#[test]
fn a_head_that_does_not_fit_is_found() {
    assert_eq!(found(&["DELETE FROM audit_heads WHERE plan = PLAN"], false), Some((7, Fault::WrongHead)));
    let other = "UPDATE audit_heads SET hash = randomblob(32) WHERE plan = PLAN";
    assert_eq!(found(&[other], false), Some((7, Fault::WrongHead)));
    let earlier = "UPDATE audit_heads SET sequence = 5, hash = (SELECT hash FROM audit WHERE plan = PLAN AND sequence = 5)
                   WHERE plan = PLAN";
    assert_eq!(found(&[earlier], false), Some((6, Fault::WrongHead)));
}

/// A chain that was written anew with right hashes, from the third record on.
#[test]
fn a_trail_that_was_written_anew_is_found_against_a_checkpoint() {
    let folder = scratch();
    let (plan, heads) = trail(folder.path());
    let mut records: Vec<_> =
        store::export(&open(folder.path()), store::AuditQuery { plan: Some(plan), ..Default::default() })
            .map(Result::unwrap)
            .collect();
    let edit = raw(folder.path());
    let mut previous = records[1].hash;
    for record in &mut records[2..] {
        record.who = "mallory".to_owned();
        record.previous = previous;
        record.hash = record.computed_hash();
        previous = record.hash;
        let changed = edit
            .execute(
                "UPDATE audit SET who = ?1, previous = ?2, hash = ?3 WHERE plan = ?4 AND sequence = ?5",
                rusqlite::params![
                    record.who,
                    record.previous.as_bytes(),
                    record.hash.as_bytes(),
                    plan.to_bytes(),
                    record.sequence as i64
                ],
            )
            .unwrap();
        assert_eq!(changed, 1);
    }
    edit.execute(
        "UPDATE audit_heads SET hash = ?1 WHERE plan = ?2",
        rusqlite::params![previous.as_bytes(), plan.to_bytes()],
    )
    .unwrap();
    drop(edit);
    let store = open(folder.path());
    assert_eq!(verify(&store, &[]).unwrap().findings, []);
    let findings = verify(&store, &heads).unwrap().findings;
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].sequence, findings[0].fault), (7, Fault::NotAsCheckpointed));
}

#[test]
fn a_record_that_links_to_nothing_is_found() {
    let folder = scratch();
    let (plan, _) = trail(folder.path());
    let query = store::AuditQuery { plan: Some(plan), ..Default::default() };
    let mut record = open(folder.path()).audit(&query).unwrap().remove(3);
    record.previous = store::GENESIS;
    raw(folder.path())
        .execute(
            "UPDATE audit SET previous = ?1, hash = ?2 WHERE plan = ?3 AND sequence = 4",
            rusqlite::params![record.previous.as_bytes(), record.computed_hash().as_bytes(), plan.to_bytes()],
        )
        .unwrap();
    let findings = verify(&open(folder.path()), &[]).unwrap().findings;
    assert_eq!((findings[0].sequence, findings[0].fault), (4, Fault::Unlinked));
}

#[test]
fn entries_that_were_changed_after_sealing_are_found() {
    let second = "changeset = (SELECT id FROM changesets WHERE actor = 'two')";
    for sql in [
        "UPDATE entries SET form = replace(form, '\"b\"', '\"x\"') WHERE SECOND AND sequence = 2",
        "UPDATE entries SET sequence = 9 WHERE SECOND AND sequence = 2",
        "UPDATE entries SET after_blob = (SELECT hash FROM blobs LIMIT 1 OFFSET 1) WHERE SECOND AND sequence = 1",
        "UPDATE entries SET at = at + 1 WHERE SECOND AND sequence = 3",
        "DELETE FROM entries WHERE SECOND AND sequence = 3",
        "DELETE FROM entries WHERE SECOND",
        "UPDATE changesets SET actor = 'mallory' WHERE actor = 'two'",
        "DELETE FROM changesets WHERE actor = 'two'",
    ] {
        assert_eq!(
            found(&[&sql.replace("SECOND", second)], false),
            Some((5, Fault::EntriesAltered)),
            "{sql}"
        );
    }
}
