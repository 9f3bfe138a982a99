//! What an audit chain tells of the rows of its plan, field by field, and whether they are so.
//!
//! Each change of a row and its record are one transaction, so the two agree at every moment. A record tells what its body says, and by whom
//! and when it was: fields that a record of an older program does not have are not compared.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{AuditRecord, ChainHash, ChangesetId, Fault, Inventory, Resource, Status};

/// What a chain tells, as far as it was heard.
#[derive(Debug, Default)]
pub(crate) struct Told {
    things: BTreeMap<Resource, Said>,
}

/// What is told of one row.
#[derive(Debug, Default)]
struct Said {
    /// The sequence number of the first record that tells of it.
    since: u64,
    /// For each field of the row its value, and the sequence number of the last record that says so.
    fields: BTreeMap<&'static str, (Value, u64)>,
}

/// A row that is not as it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Difference {
    /// The record that tells otherwise; the last one of the chain when none does.
    pub(crate) sequence: u64,
    pub(crate) on: Resource,
    pub(crate) fault: Fault,
}

/// A changeset that was closed, and the entries that it had then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Closed {
    /// The record that closed it.
    pub(crate) sequence: u64,
    pub(crate) changeset: ChangesetId,
    pub(crate) entries: u64,
    pub(crate) digest: ChainHash,
}

impl Told {
    /// Takes the next record of the chain.
    pub(crate) fn hear(&mut self, record: &AuditRecord) {
        let Ok(body) = serde_json::from_str::<Value>(&record.body.0) else { return };
        let (who, at) = (Some(json!(record.who)), Some(json!(record.at)));
        let body_says = |field: &str| body.get(field).cloned();
        let changed = [("changed_by", who.clone()), ("changed_at", at.clone())];
        let plan = Resource::Plan(record.plan);
        match record.kind.as_str() {
            "plan.created" => {
                let fields = ["name", "state", "undo_of", "roots"].map(|field| (field, body_says(field)));
                self.say(record, plan, fields);
                self.say(
                    record,
                    plan,
                    [("created_by", who), ("created_at", at), ("version", Some(json!(1)))],
                );
                self.say(record, plan, changed);
            }
            // Nothing of it is left, until it is made again.
            "plan.removed" => self.things.clear(),
            "nodes.created" => {
                for made in body["nodes"].as_array().into_iter().flatten() {
                    let Some(node) = id(made, "node").map(Resource::Node) else { continue };
                    let fields = ["name", "state"].map(|field| (field, made.get(field).cloned()));
                    self.say(record, node, fields);
                    self.say(record, node, [("version", Some(json!(1)))]);
                    self.say(record, node, changed.clone());
                }
            }
            "node.step" => {
                let Some(node) = id(&body, "node").map(Resource::Node) else { return };
                self.say(record, node, [("state", body_says("to")), ("version", body_says("version"))]);
                self.say(record, node, changed);
            }
            "changeset.started" => {
                let Some(changeset) = id(&body, "changeset").map(Resource::Changeset) else { return };
                let status = Some(json!(Status::Open));
                self.say(record, changeset, [("node", body_says("node")), ("actor", who)]);
                self.say(record, changeset, [("started_at", at), ("ended_at", Some(Value::Null))]);
                self.say(record, changeset, [("status", status), ("reason", Some(Value::Null))]);
            }
            kind @ ("changeset.sealed" | "changeset.abandoned") => {
                let Some(changeset) = id(&body, "changeset").map(Resource::Changeset) else { return };
                let status = if kind == "changeset.sealed" { Status::Sealed } else { Status::Abandoned };
                let fields = ["entries", "digest", "reason"].map(|field| (field, body_says(field)));
                self.say(record, changeset, fields);
                self.say(record, changeset, [("status", Some(json!(status))), ("ended_at", at)]);
            }
            // A step of the plan has the name that its caller gave it.
            _ if body["plan"] == json!(record.plan) => {
                self.say(record, plan, [("state", body_says("to")), ("version", body_says("version"))]);
                self.say(record, plan, changed);
            }
            _ => {}
        }
    }

    fn say<const N: usize>(
        &mut self,
        record: &AuditRecord,
        on: Resource,
        fields: [(&'static str, Option<Value>); N],
    ) {
        let new = || Said { since: record.sequence, ..Said::default() };
        let said = self.things.entry(on).or_insert_with(new);
        for (field, value) in fields {
            said.fields.extend(value.map(|value| (field, (value, record.sequence))));
        }
    }

    /// Compares all that was told with all that is there, both ways. Gives the first difference, by the record that tells otherwise; and the
    /// changesets that were closed, in the order of the records that closed them.
    pub(crate) fn compare(mut self, inventory: &Inventory) -> (Option<Difference>, Vec<Closed>) {
        let (mut differences, mut closed) = (Vec::new(), Vec::new());
        let last = inventory.head.sequence;
        for on in &inventory.unreadable {
            let sequence = self.things.remove(on).map_or(last, |said| said.since);
            differences.push(Difference { sequence, on: *on, fault: Fault::Unreadable });
        }
        let Inventory { plan, nodes, changesets, .. } = inventory;
        let plan = plan.iter().map(|plan| (Resource::Plan(plan.id), json_of(plan)));
        let nodes = nodes.iter().map(|node| (Resource::Node(node.id), json_of(node)));
        let changesets = changesets.iter().map(|one| (Resource::Changeset(one.id), json_of(one)));
        for (on, row) in plan.chain(nodes).chain(changesets) {
            let Some(said) = self.things.remove(&on) else {
                differences.push(Difference { sequence: last, on, fault: Fault::Unrecorded });
                continue;
            };
            let altered = said.altered(&row);
            differences.extend(altered.map(|sequence| Difference { sequence, on, fault: Fault::RowAltered }));
            closed.extend(said.closed(on));
        }
        let gone = self.things.into_iter();
        differences.extend(gone.map(|(on, said)| Difference {
            sequence: said.since,
            on,
            fault: Fault::RowMissing,
        }));
        closed.sort();
        (differences.into_iter().min(), closed)
    }
}

impl Said {
    /// The first record that tells of the row otherwise.
    fn altered(&self, row: &Value) -> Option<u64> {
        let others = self.fields.iter().filter(|(field, (value, _))| row.get(**field) != Some(value));
        others.map(|(_, (_, sequence))| *sequence).min()
    }

    fn closed(&self, on: Resource) -> Option<Closed> {
        let Resource::Changeset(changeset) = on else { return None };
        let (entries, _) = self.fields.get("entries")?;
        let (digest, sequence) = self.fields.get("digest")?;
        let digest = serde_json::from_value(digest.clone()).ok()?;
        Some(Closed { sequence: *sequence, changeset, entries: entries.as_u64()?, digest })
    }
}

fn json_of(row: &impl Serialize) -> Value {
    serde_json::to_value(row).expect("a row has a form in JSON")
}

/// An id in a body.
fn id<T: DeserializeOwned>(body: &Value, field: &str) -> Option<T> {
    T::deserialize(body.get(field)?).ok()
}
