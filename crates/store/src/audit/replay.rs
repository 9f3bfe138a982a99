//! Replays an audit chain into the rows that it implies, field by field, and compares these with the
//! rows in the tables.
//!
//! A change of a row and its record share one transaction, so the two agree at every moment. A record
//! sets the fields that its body names, and by whom and when the row changed. Fields that a record of
//! an older version lacks are not compared.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::audit::append::detail_digest;
use crate::{AuditRecord, ChainHash, ChangesetId, Fault, PlanSnapshot, Resource, Status};

/// The rows that the records applied so far imply.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    rows: BTreeMap<Resource, RowState>,
}

/// The expected fields of one row.
#[derive(Debug, Default)]
struct RowState {
    /// The sequence number of the first record about this row.
    since: u64,
    /// For each field its value, and the sequence number of the last record that set it.
    fields: BTreeMap<&'static str, (Value, u64)>,
}

/// A row that differs from the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Difference {
    /// The record that the row contradicts; the last of the chain when no record is about the row.
    pub(crate) sequence: u64,
    pub(crate) resource: Resource,
    pub(crate) fault: Fault,
}

/// A sealed or abandoned changeset, with the entries that it had then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClosedChangeset {
    /// The record that closed it.
    pub(crate) sequence: u64,
    pub(crate) changeset: ChangesetId,
    pub(crate) entries: u64,
    pub(crate) digest: ChainHash,
}

impl Replay {
    /// Applies the next record of the chain.
    pub(crate) fn apply(&mut self, record: &AuditRecord) {
        let Ok(body) = serde_json::from_str::<Value>(&record.body.0) else { return };
        let (actor, at) = (Some(json!(record.actor)), Some(json!(record.at)));
        let from_body = |field: &str| body.get(field).cloned();
        // A step that keeps the detail has none.
        let detail = |body: &Value| body.get("detail_digest").filter(|digest| !digest.is_null()).cloned();
        let changed = [("changed_by", actor.clone()), ("changed_at", at.clone())];
        let plan = Resource::Plan(record.plan);
        match record.kind.as_str() {
            "plan.created" => {
                let fields = ["name", "state", "undo_of", "roots"].map(|field| (field, from_body(field)));
                self.set(record, plan, fields);
                self.set(
                    record,
                    plan,
                    [("created_by", actor), ("created_at", at), ("version", Some(json!(1)))],
                );
                self.set(record, plan, changed);
                self.set(record, plan, [("detail_digest", detail(&body))]);
            }
            // All its rows are gone, until it is created again.
            "plan.removed" => self.rows.clear(),
            "nodes.created" => {
                for created in body["nodes"].as_array().into_iter().flatten() {
                    let Some(node) = id(created, "node").map(Resource::Node) else { continue };
                    let fields = ["name", "state"].map(|field| (field, created.get(field).cloned()));
                    self.set(record, node, fields);
                    self.set(record, node, [("version", Some(json!(1))), ("detail_digest", detail(created))]);
                    self.set(record, node, changed.clone());
                }
            }
            "node.step" => {
                let Some(node) = id(&body, "node").map(Resource::Node) else { return };
                self.set(record, node, [("state", from_body("to")), ("version", from_body("version"))]);
                self.set(record, node, changed);
                self.set(record, node, [("detail_digest", detail(&body))]);
            }
            "changeset.started" => {
                let Some(changeset) = id(&body, "changeset").map(Resource::Changeset) else { return };
                let status = Some(json!(Status::Open));
                self.set(record, changeset, [("node", from_body("node")), ("actor", actor)]);
                self.set(record, changeset, [("started_at", at), ("ended_at", Some(Value::Null))]);
                self.set(record, changeset, [("status", status), ("reason", Some(Value::Null))]);
            }
            kind @ ("changeset.sealed" | "changeset.abandoned") => {
                let Some(changeset) = id(&body, "changeset").map(Resource::Changeset) else { return };
                let status = if kind == "changeset.sealed" { Status::Sealed } else { Status::Abandoned };
                let fields = ["entries", "digest", "reason"].map(|field| (field, from_body(field)));
                self.set(record, changeset, fields);
                self.set(record, changeset, [("status", Some(json!(status))), ("ended_at", at)]);
            }
            // The caller chooses the kind of a plan's step.
            _ if body["plan"] == json!(record.plan) => {
                self.set(record, plan, [("state", from_body("to")), ("version", from_body("version"))]);
                self.set(record, plan, changed);
                self.set(record, plan, [("detail_digest", detail(&body))]);
            }
            _ => {}
        }
    }

    fn set<const N: usize>(
        &mut self,
        record: &AuditRecord,
        resource: Resource,
        fields: [(&'static str, Option<Value>); N],
    ) {
        let new = || RowState { since: record.sequence, ..RowState::default() };
        let row = self.rows.entry(resource).or_insert_with(new);
        for (field, value) in fields {
            row.fields.extend(value.map(|value| (field, (value, record.sequence))));
        }
    }

    /// Compares the replayed rows with those of a snapshot, both ways. Returns the first difference, by
    /// the record that it contradicts, and the closed changesets in the order of the records that closed
    /// them.
    pub(crate) fn compare(mut self, snapshot: &PlanSnapshot) -> (Option<Difference>, Vec<ClosedChangeset>) {
        let (mut differences, mut closed) = (Vec::new(), Vec::new());
        let last = snapshot.head.sequence;
        for resource in &snapshot.unreadable {
            let sequence = self.rows.remove(resource).map_or(last, |row| row.since);
            differences.push(Difference { sequence, resource: *resource, fault: Fault::Unreadable });
        }
        let PlanSnapshot { plan, nodes, changesets, .. } = snapshot;
        let plan = plan.iter().map(|plan| (Resource::Plan(plan.id), with_digest(plan, &plan.detail)));
        let nodes = nodes.iter().map(|node| (Resource::Node(node.id), with_digest(node, &node.detail)));
        let changesets = changesets.iter().map(|one| (Resource::Changeset(one.id), json_of(one)));
        for (resource, found) in plan.chain(nodes).chain(changesets) {
            let Some(row) = self.rows.remove(&resource) else {
                differences.push(Difference { sequence: last, resource, fault: Fault::Unrecorded });
                continue;
            };
            let altered = row.contradicted(&found);
            differences.extend(altered.map(|sequence| Difference {
                sequence,
                resource,
                fault: Fault::RowAltered,
            }));
            closed.extend(row.closed(resource));
        }
        differences.extend(self.rows.into_iter().map(|(resource, row)| Difference {
            sequence: row.since,
            resource,
            fault: Fault::RowMissing,
        }));
        closed.sort();
        (differences.into_iter().min(), closed)
    }
}

impl RowState {
    /// Returns the first record that the row in the table contradicts.
    fn contradicted(&self, found: &Value) -> Option<u64> {
        let others = self.fields.iter().filter(|(field, (value, _))| found.get(**field) != Some(value));
        others.map(|(_, (_, sequence))| *sequence).min()
    }

    fn closed(&self, resource: Resource) -> Option<ClosedChangeset> {
        let Resource::Changeset(changeset) = resource else { return None };
        let (entries, _) = self.fields.get("entries")?;
        let (digest, sequence) = self.fields.get("digest")?;
        let digest = serde_json::from_value(digest.clone()).ok()?;
        Some(ClosedChangeset { sequence: *sequence, changeset, entries: entries.as_u64()?, digest })
    }
}

/// Adds the digest of the detail, which records have in place of the detail.
fn with_digest(row: &impl Serialize, detail: &Value) -> Value {
    let mut row = json_of(row);
    row["detail_digest"] = json!(detail_digest(detail));
    row
}

fn json_of(row: &impl Serialize) -> Value {
    serde_json::to_value(row).expect("every row serializes as JSON")
}

/// Reads an id from a body.
fn id<T: DeserializeOwned>(body: &Value, field: &str) -> Option<T> {
    T::deserialize(body.get(field)?).ok()
}
