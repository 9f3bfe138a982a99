//! Properties of exported audit records and of checkpoints. The tests run them over the seeds; the programs
//! in `fuzz/` search for bytes that break them.

use std::collections::BTreeMap;
use std::fs;
use std::sync::OnceLock;

use store::{
    Actor, AuditRecord, AuditStore, Cell, GENESIS, Head, NewPlan, PathBytes, PlanId, PlanStore, SqliteStore,
    State, TABLES, Table, Transfer, verify,
};
use tempfile::TempDir;

/// An export: every record keeps its text; and rows with any of its values, in a chain with right hashes,
/// are verified to the end.
pub(crate) fn audit_export(bytes: &[u8]) {
    let mut records = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(record) = serde_json::from_slice::<AuditRecord>(line) else { continue };
        let text = serde_json::to_string(&record).unwrap();
        let again: AuditRecord = serde_json::from_str(&text).unwrap();
        assert_eq!((again.computed_hash(), &again), (record.computed_hash(), &record));
        records.push(record);
    }
    if records.is_empty() {
        return;
    }
    let (_folder, store) = store_with_a_plan();
    let mut heads: BTreeMap<PlanId, Head> = BTreeMap::new();
    for record in &mut records {
        let head = heads.entry(record.plan).or_insert(Head { plan: record.plan, sequence: 0, hash: GENESIS });
        record.sequence = head.sequence + 1;
        record.previous = head.hash;
        record.hash = record.computed_hash();
        *head = Head { plan: record.plan, sequence: record.sequence, hash: record.hash };
        put(&store, "audit", &row(record));
    }
    for head in heads.values() {
        let cells =
            [id(head.plan), Cell::Number(head.sequence as i64), Cell::Bytes(head.hash.as_bytes().to_vec())];
        put(&store, "audit_heads", &cells);
    }
    let heads: Vec<Head> = heads.into_values().collect();
    let report = verify(&store, &heads).unwrap();
    assert!(report.chains >= heads.len() as u64);
    assert!(
        report.findings.len() <= report.chains as usize,
        "at most one finding per chain: {:?}",
        report.findings
    );
}

/// A checkpoint: heads that the store has are confirmed, all others are reported.
pub(crate) fn checkpoint(bytes: &[u8]) {
    static STORE: OnceLock<(TempDir, SqliteStore)> = OnceLock::new();
    let (_, store) = STORE.get_or_init(store_with_a_plan);
    let known = store::checkpoint(store).unwrap();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(head) = serde_json::from_slice::<Head>(line) else { continue };
        let again: Head = serde_json::from_str(&serde_json::to_string(&head).unwrap()).unwrap();
        assert_eq!(again, head);
        let findings = verify(store, &[head]).unwrap().findings;
        if known.contains(&head) {
            assert_eq!(findings, []);
        } else {
            assert_eq!(findings.len(), 1, "{head:?}");
            assert_eq!(findings[0].plan, head.plan);
        }
    }
}

/// A store with one plan, copied from the first one.
fn store_with_a_plan() -> (TempDir, SqliteStore) {
    static TEMPLATE: OnceLock<Vec<u8>> = OnceLock::new();
    let folder = || tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let database = TEMPLATE.get_or_init(|| {
        let folder = folder();
        let file = folder.path().join("state.db");
        let store = SqliteStore::open(&file).unwrap();
        let plan = NewPlan {
            id: "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
            name: None,
            state: State::parse("running").unwrap(),
            undo_of: None,
            roots: vec![PathBytes::parse("/srv/project").unwrap()],
            detail: serde_json::Value::Null,
            actor: Actor::parse("ana").unwrap(),
        };
        let _ = store.create_plan(&plan).unwrap();
        drop(store);
        fs::read(&file).unwrap()
    });
    let folder = folder();
    let file = folder.path().join("state.db");
    fs::write(&file, database).unwrap();
    let store = SqliteStore::open(&file).unwrap();
    assert_eq!(store.audit_heads(None).unwrap().len(), 1, "the copy is complete");
    (folder, store)
}

fn put(store: &SqliteStore, name: &str, row: &[Cell]) {
    let table: &'static Table = TABLES.iter().find(|table| table.name == name).unwrap();
    store.put_rows(table, &[row.to_vec()]).unwrap();
}

fn row(record: &AuditRecord) -> Vec<Cell> {
    vec![
        id(record.plan),
        Cell::Number(record.sequence as i64),
        Cell::Number(record.at.as_micros()),
        record.request.map_or(Cell::Null, |request| Cell::Bytes(request.to_bytes().to_vec())),
        Cell::Text(record.kind.clone()),
        Cell::Text(record.actor.clone()),
        Cell::Text(record.body.0.clone()),
        Cell::Bytes(record.previous.as_bytes().to_vec()),
        Cell::Bytes(record.hash.as_bytes().to_vec()),
    ]
}

fn id(plan: PlanId) -> Cell {
    Cell::Bytes(plan.to_bytes().to_vec())
}
