//! Verification locates altered, dropped, moved and truncated audit records, and altered rows.

use std::path::Path;

use store::limits::CHUNK_BYTES;
use store::{
    AuditStore, BlobHash, ChangesetStore, EntryStore, Fault, Finding, Head, NewNode, NodeId, NodeStep,
    NodeStore, OpenChangesets, PlanId, PlanStep, PlanStore, RequestId, Resource, Version, checkpoint,
    put_blob, scrub, verify,
};
use testkit::folder::scratch;
use testkit::store_conformance::fixtures::*;

use super::{open, raw};

/// Makes two plans; the first has 7 records.
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

/// Returns the finding after these statements ran on the file. `PLAN` stands for the first plan.
fn found(sql: &[&str], with_checkpoint: bool) -> Option<(u64, Fault)> {
    let folder = scratch();
    let (plan, heads) = trail(folder.path());
    tamper(folder.path(), plan, sql);
    let findings = verify(&open(folder.path()), if with_checkpoint { &heads } else { &[] }).unwrap().findings;
    assert!(findings.len() <= 1, "{findings:?}");
    findings.first().map(|finding| {
        assert_eq!(finding.plan, plan);
        (finding.sequence, finding.fault)
    })
}

fn tamper(folder: &Path, plan: PlanId, sql: &[&str]) {
    let edit = raw(folder);
    edit.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
    for sql in sql {
        let changed = edit.execute(&sql.replace("PLAN", &format!("x'{}'", hex(plan))), []).unwrap();
        assert!(changed > 0, "{sql}");
    }
}

fn hex(plan: PlanId) -> String {
    plan.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_altered_field_is_found() {
    for set in [
        "at = at + 1",
        "request = randomblob(16)",
        "request = x'00'",
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
    // The later records move up to fill the gap.
    let moved = [
        "DELETE FROM audit WHERE plan = PLAN AND sequence = 3",
        "UPDATE audit SET sequence = sequence + 100 WHERE plan = PLAN AND sequence > 3",
        "UPDATE audit SET sequence = sequence - 101 WHERE plan = PLAN AND sequence > 100",
        "UPDATE audit_heads SET sequence = 6 WHERE plan = PLAN",
    ];
    assert_eq!(found(&moved, false), Some((3, Fault::Altered)));
}

#[test]
fn reordered_records_are_found() {
    let swapped = [
        "UPDATE audit SET sequence = 100 WHERE plan = PLAN AND sequence = 2",
        "UPDATE audit SET sequence = 2 WHERE plan = PLAN AND sequence = 4",
        "UPDATE audit SET sequence = 4 WHERE plan = PLAN AND sequence = 100",
    ];
    assert_eq!(found(&swapped, false), Some((2, Fault::Altered)));
}

#[test]
fn a_truncated_chain_is_found() {
    let cut = "DELETE FROM audit WHERE plan = PLAN AND sequence > 5";
    assert_eq!(found(&[cut], false), Some((6, Fault::Missing)));
    // With a matching head, a changeset is left that no record is about.
    let head = "UPDATE audit_heads SET sequence = 5, hash = (SELECT hash FROM audit WHERE plan = PLAN AND sequence = 5)
                WHERE plan = PLAN";
    assert_eq!(found(&[cut, head], false), Some((5, Fault::Unrecorded)));
    // Without the changeset, only a checkpoint reveals it.
    let third = "DELETE FROM changesets WHERE actor = 'three'";
    assert_eq!(found(&[cut, head, third], false), None);
    assert_eq!(found(&[cut, head, third], true), Some((6, Fault::Missing)));
    let all = ["DELETE FROM audit WHERE plan = PLAN", "DELETE FROM audit_heads WHERE plan = PLAN"];
    assert_eq!(found(&all, false), Some((1, Fault::Missing)));
    let plan = "DELETE FROM plans WHERE id = PLAN";
    assert_eq!(found(&[all[0], all[1], plan], false), None);
    assert_eq!(found(&[all[0], all[1], plan], true), Some((1, Fault::Missing)));
}

#[test]
fn a_wrong_head_is_found() {
    assert_eq!(found(&["DELETE FROM audit_heads WHERE plan = PLAN"], false), Some((7, Fault::WrongHead)));
    let other = "UPDATE audit_heads SET hash = randomblob(32) WHERE plan = PLAN";
    assert_eq!(found(&[other], false), Some((7, Fault::WrongHead)));
    let earlier = "UPDATE audit_heads SET sequence = 5, hash = (SELECT hash FROM audit WHERE plan = PLAN AND sequence = 5)
                   WHERE plan = PLAN";
    assert_eq!(found(&[earlier], false), Some((6, Fault::WrongHead)));
}

/// A chain that was rewritten with correct hashes from the third record on.
#[test]
fn a_checkpoint_reveals_a_rewritten_chain() {
    let folder = scratch();
    let (plan, heads) = trail(folder.path());
    let mut records: Vec<_> =
        store::export(&open(folder.path()), store::AuditQuery { plan: Some(plan), ..Default::default() })
            .map(Result::unwrap)
            .collect();
    let edit = raw(folder.path());
    let mut previous = records[1].hash;
    for record in &mut records[2..] {
        // No row has the actor who sealed a changeset.
        if record.kind == "changeset.sealed" {
            record.actor = "mallory".to_owned();
        }
        record.previous = previous;
        record.hash = record.computed_hash();
        previous = record.hash;
        let changed = edit
            .execute(
                "UPDATE audit SET who = ?1, previous = ?2, hash = ?3 WHERE plan = ?4 AND sequence = ?5",
                rusqlite::params![
                    record.actor,
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
fn an_unlinked_record_is_found() {
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
fn entries_altered_after_sealing_are_found() {
    let second = "changeset = (SELECT id FROM changesets WHERE actor = 'two')";
    for sql in [
        "UPDATE entries SET form = replace(form, '\"b\"', '\"x\"') WHERE SECOND AND sequence = 2",
        "UPDATE entries SET sequence = 9 WHERE SECOND AND sequence = 2",
        "UPDATE entries SET sequence = 1 << 60 WHERE SECOND AND sequence = 2",
        "UPDATE entries SET after_blob = (SELECT hash FROM blobs LIMIT 1 OFFSET 1) WHERE SECOND AND sequence = 1",
        "UPDATE entries SET at = at + 1 WHERE SECOND AND sequence = 3",
        "DELETE FROM entries WHERE SECOND AND sequence = 3",
        "DELETE FROM entries WHERE SECOND",
    ] {
        assert_eq!(
            found(&[&sql.replace("SECOND", second)], false),
            Some((5, Fault::EntriesAltered)),
            "{sql}"
        );
    }
}

#[test]
fn unreadable_entries_are_found() {
    let second = "changeset = (SELECT id FROM changesets WHERE actor = 'two')";
    for set in ["form = '[]'", "form = 'no JSON'", "after_blob = NULL", "after_blob = x'00'"] {
        let sql = format!("UPDATE entries SET {set} WHERE {second} AND sequence = 1");
        assert_eq!(found(&[&sql], false), Some((5, Fault::Unreadable)), "{set}");
    }
}

#[test]
fn altered_changesets_are_found() {
    for (sql, sequence) in [
        ("UPDATE changesets SET actor = 'mallory' WHERE actor = 'two'", 4),
        ("UPDATE changesets SET started_at = started_at - 1000000 WHERE actor = 'two'", 4),
        ("UPDATE changesets SET node = randomblob(16) WHERE actor = 'two'", 4),
        ("UPDATE changesets SET status = 'abandoned' WHERE actor = 'two'", 5),
        ("UPDATE changesets SET status = 'open', ended_at = NULL WHERE actor = 'two'", 5),
        ("UPDATE changesets SET ended_at = ended_at + 1 WHERE actor = 'two'", 5),
        ("UPDATE changesets SET reason = 'of no use' WHERE actor = 'two'", 5),
        ("UPDATE changesets SET entries = entries + 1 WHERE actor = 'two'", 5),
        ("UPDATE changesets SET digest = randomblob(32) WHERE actor = 'two'", 5),
    ] {
        assert_eq!(found(&[sql], false), Some((sequence, Fault::RowAltered)), "{sql}");
    }
    let dropped = "DELETE FROM changesets WHERE actor = 'two'";
    assert_eq!(found(&[dropped], false), Some((4, Fault::RowMissing)));
    for set in ["digest = x''", "status = 'on'", "actor = ''", "entries = -1"] {
        let sql = format!("UPDATE changesets SET {set} WHERE actor = 'two'");
        assert_eq!(found(&[&sql], false), Some((4, Fault::Unreadable)), "{set}");
    }
}

#[test]
fn forged_changesets_are_found() {
    let changeset = "INSERT INTO changesets (id, plan, actor, status, entries, first_id, last_id, started_at, ended_at, epoch)
                     SELECT x'00112233445566778899aabbccddeeff', plan, 'bot', 'sealed', 1, 100, 100, started_at, ended_at, 1
                     FROM changesets WHERE actor = 'two'";
    let entry = "INSERT INTO entries (id, changeset, sequence, at, form)
                 SELECT 100, x'00112233445566778899aabbccddeeff', 1, at, form FROM entries WHERE after_blob IS NULL LIMIT 1";
    assert_eq!(found(&[changeset, entry], false), Some((7, Fault::Unrecorded)));
    assert_eq!(found(&[changeset, entry], true), Some((7, Fault::Unrecorded)));
    // Moved from one plan to the other: both chains reveal it.
    let folder = scratch();
    let (plan, _) = trail(folder.path());
    let other = "UPDATE changesets SET plan = (SELECT id FROM plans WHERE id <> PLAN) WHERE actor = 'two'";
    tamper(folder.path(), plan, &[other]);
    let findings = verify(&open(folder.path()), &[]).unwrap().findings;
    let faults: Vec<_> = findings.iter().map(|finding| (finding.sequence, finding.fault)).collect();
    assert_eq!(faults, [(4, Fault::RowMissing), (1, Fault::Unrecorded)]);
}

#[test]
fn altered_plans_are_found() {
    for set in [
        "state = 'applied'",
        "version = version + 1",
        "name = 'other'",
        "roots = '[\"/\"]'",
        "undo_of = randomblob(16)",
        "created_by = 'mallory'",
        "created_at = created_at + 1",
        "changed_by = 'mallory'",
        "changed_at = changed_at + 1",
    ] {
        let sql = format!("UPDATE plans SET {set} WHERE id = PLAN");
        assert_eq!(found(&[&sql], false), Some((1, Fault::RowAltered)), "{set}");
    }
    let unreadable = "UPDATE plans SET roots = 'none' WHERE id = PLAN";
    assert_eq!(found(&[unreadable], false), Some((1, Fault::Unreadable)));
}

#[test]
fn a_plan_removed_without_a_record_is_found() {
    let gone = [
        "DELETE FROM entries",
        "DELETE FROM changesets WHERE plan = PLAN",
        "DELETE FROM plans WHERE id = PLAN",
    ];
    assert_eq!(found(&gone, false), Some((1, Fault::RowMissing)));
    assert_eq!(found(&gone, true), Some((1, Fault::RowMissing)));
}

#[test]
fn a_plan_restored_without_a_record_is_found() {
    let folder = scratch();
    let store = open(folder.path());
    let plan = make_plan(&store);
    raw(folder.path()).execute_batch("CREATE TABLE kept AS SELECT * FROM plans").unwrap();
    store.remove_plan(&removal(&plan)).unwrap();
    assert_eq!(verify(&store, &[]).unwrap().findings, []);
    tamper(folder.path(), plan.id, &["INSERT INTO plans SELECT * FROM kept"]);
    let resource = Some(Resource::Plan(plan.id));
    let back = Finding { plan: plan.id, sequence: 2, fault: Fault::Unrecorded, resource };
    assert_eq!(verify(&store, &[]).unwrap().findings, [back]);
}

#[test]
fn states_are_compared_with_the_last_step() {
    let node = NewNode {
        id: NodeId::new(),
        name: store::Name::parse("build").unwrap(),
        state: state("queued"),
        detail: serde_json::Value::Null,
    };
    for (sql, expected) in [
        ("UPDATE plans SET state = 'running'", (5, Fault::RowAltered)),
        ("UPDATE plans SET version = 1", (5, Fault::RowAltered)),
        ("UPDATE changesets SET status = 'sealed', reason = NULL", (4, Fault::RowAltered)),
        ("UPDATE nodes SET state = 'queued'", (6, Fault::RowAltered)),
        ("UPDATE nodes SET name = 'other'", (2, Fault::RowAltered)),
        ("UPDATE nodes SET version = -1", (2, Fault::Unreadable)),
        ("DELETE FROM nodes", (2, Fault::RowMissing)),
        (
            "INSERT INTO nodes SELECT randomblob(16), plan, 'x', state, version, detail, changed_by, changed_at, NULL, 0, NULL FROM nodes",
            (6, Fault::Unrecorded),
        ),
    ] {
        let folder = scratch();
        let store = open(folder.path());
        let plan = make_plan(&store);
        store.create_nodes(plan.id, std::slice::from_ref(&node), &actor("ana")).unwrap();
        start(&store, plan.id, "coder");
        let cancelled = PlanStep { open: OpenChangesets::Abandon, ..step(&plan, "cancelled") };
        store.step_plan(&cancelled).unwrap();
        let step = NodeStep {
            node: node.id,
            request: RequestId::new(),
            from: state("queued"),
            version: Version(1),
            to: state("stopped"),
            epoch: None,
            detail: None,
            actor: actor("ana"),
            note: serde_json::Value::Null,
        };
        store.step_node(&step).unwrap();
        assert_eq!(verify(&store, &[]).unwrap().findings, []);
        tamper(folder.path(), plan.id, &[sql]);
        let findings = verify(&store, &[]).unwrap().findings;
        assert_eq!(findings.len(), 1, "{sql}: {findings:?}");
        assert_eq!((findings[0].sequence, findings[0].fault), expected, "{sql}");
    }
}

#[test]
fn orphan_records_are_found_and_do_not_block_reading() {
    let stray = |plan: &str, sequence: i64| {
        format!(
            "INSERT INTO audit SELECT {plan}, {sequence}, at, NULL, kind, who, body, previous, hash FROM audit
             WHERE plan = PLAN AND sequence = 1"
        )
    };
    for (plan, sequence, shown) in [
        ("x'00'", 3, ("00000000000000000000000000".to_owned(), 3)),
        ("x''", 1, ("00000000000000000000000000".to_owned(), 1)),
        ("CAST(PLAN || x'ff' AS BLOB)", 1, (String::new(), 1)),
        ("PLAN", 0, (String::new(), 0)),
        ("PLAN", -5, (String::new(), 0)),
    ] {
        let folder = scratch();
        let (id, heads) = trail(folder.path());
        tamper(folder.path(), id, &[&stray(plan, sequence)]);
        let store = open(folder.path());
        let findings = verify(&store, &heads).unwrap().findings;
        let plan = if shown.0.is_empty() { id } else { shown.0.parse().unwrap() };
        let finding = Finding { plan, sequence: shown.1, fault: Fault::Orphan, resource: None };
        assert_eq!(findings, [finding]);
        assert_eq!(store::export(&store, store::AuditQuery::default()).map(Result::unwrap).count(), 8);
    }
    // A head without a chain is an orphan, too; an impossible one is a wrong head.
    let folder = scratch();
    let (id, _) = trail(folder.path());
    tamper(folder.path(), id, &["UPDATE audit_heads SET plan = x'00' WHERE plan = PLAN"]);
    let findings = verify(&open(folder.path()), &[]).unwrap().findings;
    let faults: Vec<_> = findings.iter().map(|finding| finding.fault).collect();
    assert_eq!(faults, [Fault::WrongHead, Fault::Orphan]);
    let negative = "UPDATE audit_heads SET sequence = -1 WHERE plan = PLAN";
    assert_eq!(found(&[negative], false), Some((7, Fault::WrongHead)));
}

#[test]
fn altered_blobs_are_found() {
    for sql in [
        "UPDATE blobs SET data = CAST('two' AS BLOB) WHERE hash = SHORT",
        "UPDATE blobs SET codec = 1 WHERE hash = SHORT",
        "UPDATE blobs SET codec = 7 WHERE hash = SHORT",
        "UPDATE blobs SET bytes = 9 WHERE hash = SHORT",
        "UPDATE blob_chunks SET data = (SELECT data FROM blob_chunks WHERE number = 1) WHERE number = 0",
        "UPDATE blob_chunks SET bytes = 9 WHERE number = 2",
        "UPDATE blobs SET chunks = 2 WHERE upload IS NOT NULL",
        "DELETE FROM blob_chunks WHERE number = 1",
    ] {
        let folder = scratch();
        let (plan, _) = trail(folder.path());
        let store = open(folder.path());
        let content: Vec<u8> = (0..5 * CHUNK_BYTES / 2).map(|place| (place / 1000) as u8).collect();
        let long = put_blob(&store, &mut content.as_slice()).unwrap().hash;
        assert_eq!(scrub(&store).unwrap(), []);
        let short = BlobHash::of(b"one");
        tamper(folder.path(), plan, &[&sql.replace("SHORT", &format!("x'{short}'"))]);
        let changed = if sql.contains("SHORT") { short } else { long };
        let corruptions = scrub(&store).unwrap();
        assert_eq!(corruptions.len(), 1, "{sql}: {corruptions:?}");
        assert_eq!(corruptions[0].location, format!("blob {changed}"), "{sql}");
    }
}
