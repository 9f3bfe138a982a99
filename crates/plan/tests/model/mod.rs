//! A store in memory with the calls that changesets need. Each call is atomic.

use std::collections::BTreeMap;

use serde_json::Value;
use shuttle::sync::Mutex;
use store::*;

#[derive(Debug, Default)]
pub(crate) struct ModelStore(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    plans: BTreeMap<PlanId, Plan>,
    changesets: BTreeMap<ChangesetId, Changeset>,
    entries: BTreeMap<ChangesetId, Vec<ChangeEntry>>,
}

impl Inner {
    fn open(&mut self, id: ChangesetId) -> Result<&mut Changeset> {
        let changeset = self.changesets.get_mut(&id).unwrap();
        match changeset.status {
            Status::Open => Ok(changeset),
            status => Err(Error::Closed { changeset: id, status }),
        }
    }
}

macro_rules! not_asked {
    ($($name:ident($($type:ty),*) -> $answer:ty;)*) => {
        $(fn $name(&self, $(_: $type),*) -> Result<$answer> {
            unreachable!("handles do not ask for this")
        })*
    };
}

impl PlanStore for ModelStore {
    fn create_plan(&self, new: &NewPlan) -> Result<Plan> {
        let plan = Plan {
            id: new.id,
            name: None,
            state: new.state.clone(),
            version: Version(1),
            undo_of: None,
            roots: new.roots.clone(),
            detail: Value::Null,
            created_by: new.actor.clone(),
            created_at: Time::from_micros(0),
            changed_by: new.actor.clone(),
            changed_at: Time::from_micros(0),
        };
        self.0.lock().unwrap().plans.insert(new.id, plan.clone());
        Ok(plan)
    }

    fn plan(&self, id: PlanId) -> Result<Plan> {
        Ok(self.0.lock().unwrap().plans[&id].clone())
    }

    fn step_plan(&self, step: &PlanStep) -> Result<Version> {
        let mut inner = self.0.lock().unwrap();
        let open = inner
            .changesets
            .values()
            .find(|changeset| changeset.status == Status::Open)
            .map(|found| found.id);
        let plan = inner.plans.get_mut(&step.plan).unwrap();
        if (&plan.state, plan.version) != (&step.from, step.version) {
            let resource = Resource::Plan(step.plan);
            let (state, version, by) = (plan.state.clone(), plan.version, plan.changed_by.to_string());
            return Err(Error::Conflict { resource, state, version, by });
        }
        if let Some(first) = open.filter(|_| step.open == OpenChangesets::Refuse) {
            return Err(Error::ChangesetsOpen { plan: step.plan, count: 1, first });
        }
        plan.state = step.to.clone();
        plan.version = Version(plan.version.0 + 1);
        Ok(plan.version)
    }

    not_asked! {
        find_plan(&PlanSelector) -> Plan;
        plans(&PlanQuery) -> Vec<Plan>;
        remove_plan(&PlanRemoval) -> ();
    }
}

impl NodeStore for ModelStore {
    not_asked! {
        create_nodes(PlanId, &[NewNode], &Actor) -> ();
        node(NodeId) -> Node;
        nodes(PlanId) -> Vec<Node>;
        step_node(&NodeStep) -> Version;
    }
}

impl ChangesetStore for ModelStore {
    fn start_changeset(&self, new: &NewChangeset) -> Result<Lease> {
        let mut inner = self.0.lock().unwrap();
        let state = inner.plans[&new.plan].state.clone();
        if !new.plan_states.contains(&state) {
            return Err(Error::WrongState { plan: new.plan, state });
        }
        let changeset = Changeset {
            id: new.id,
            plan: new.plan,
            node: None,
            actor: new.actor.clone(),
            status: Status::Open,
            entries: 0,
            digest: GENESIS,
            started_at: Time::from_micros(0),
            ended_at: None,
            reason: None,
        };
        inner.changesets.insert(new.id, changeset);
        let (resource, expires_at) = (Resource::Changeset(new.id), Time::from_micros(0));
        Ok(Lease { resource, owner: new.lease.owner.clone(), epoch: Epoch(1), expires_at })
    }

    fn changeset(&self, id: ChangesetId) -> Result<Changeset> {
        Ok(self.0.lock().unwrap().changesets[&id].clone())
    }

    fn changesets(&self, _: PlanId) -> Result<Vec<Changeset>> {
        Ok(self.0.lock().unwrap().changesets.values().cloned().collect())
    }

    fn seal(&self, id: ChangesetId, _: Epoch) -> Result<Changeset> {
        let mut inner = self.0.lock().unwrap();
        let changeset = inner.open(id)?;
        changeset.status = Status::Sealed;
        Ok(changeset.clone())
    }

    not_asked! {
        find_changeset(&str) -> Changeset;
        abandon(ChangesetId, Epoch, &str) -> Changeset;
    }
}

impl EntryStore for ModelStore {
    fn record(&self, id: ChangesetId, _: Epoch, recording: &Recording) -> Result<Recorded> {
        let mut inner = self.0.lock().unwrap();
        let changeset = inner.open(id)?;
        let (first, count, actor) =
            (changeset.entries + 1, recording.entries.len() as u64, changeset.actor.clone());
        changeset.entries += count;
        let new = recording
            .entries
            .iter()
            .zip(first..)
            .map(|(entry, at)| entry.at(id, at, &actor, Time::from_micros(0)));
        inner.entries.entry(id).or_default().extend(new);
        Ok(Recorded { first, count })
    }

    fn entries(&self, id: ChangesetId, after: u64, _: usize) -> Result<Vec<ChangeEntry>> {
        let inner = self.0.lock().unwrap();
        Ok(inner.entries.get(&id).map(|entries| entries[after as usize..].to_vec()).unwrap_or_default())
    }

    not_asked! {
        last_entries(ChangesetId, &[(PathBytes, PathBytes)]) -> Vec<Option<ChangeEntry>>;
    }
}

impl LeaseStore for ModelStore {
    not_asked! {
        acquire(Resource, &LeaseRequest) -> Lease;
        renew(&Lease, std::time::Duration) -> Lease;
        release(&Lease) -> ();
        leases(PlanId) -> Vec<Lease>;
    }
}

impl BlobStore for ModelStore {
    not_asked! {
        put_blob(&PackedBlob) -> ();
        append_upload(UploadId, u64, &[Chunk]) -> ();
        finish_upload(UploadId, &Blob) -> ();
        drop_upload(UploadId) -> ();
        blob(BlobHash) -> Option<Blob>;
        blob_chunk(BlobHash, u64) -> Option<Chunk>;
        small_blobs(&[BlobHash]) -> Vec<(BlobHash, Chunk)>;
        blob_hashes(Option<BlobHash>) -> Vec<BlobHash>;
        collect_garbage(&GcOptions) -> GcStats;
    }
}

impl AuditStore for ModelStore {
    not_asked! {
        audit(&AuditQuery) -> Vec<AuditRecord>;
        audit_heads(Option<PlanId>) -> Vec<Head>;
        orphan_records() -> Vec<(PlanId, u64)>;
        plan_snapshot(PlanId) -> PlanSnapshot;
    }
}

impl Store for ModelStore {
    not_asked! {
        check() -> Vec<Corruption>;
    }
}
