//! A store that passes everything on, counts what is read, and loses answers when it is told to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use store::*;

#[derive(Debug)]
pub(crate) struct Through {
    inner: Arc<dyn Store>,
    reads: AtomicUsize,
    lost: Mutex<Lost>,
}

/// How many answers of writes are lost from now on, and whether what they asked for is done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    pub answers: usize,
    pub is_done: bool,
}

impl Through {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, reads: AtomicUsize::new(0), lost: Mutex::default() }
    }

    pub(crate) fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    pub(crate) fn lose(&self, lost: Lost) {
        *self.lost.lock().unwrap() = lost;
    }

    fn write<T>(&self, act: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        let lost = *self.lost.lock().unwrap();
        if lost.answers == 0 {
            return act(self.inner.as_ref());
        }
        self.lost.lock().unwrap().answers -= 1;
        if lost.is_done {
            act(self.inner.as_ref())?;
        }
        Err(Error::Stopped { path: "state.db".into() })
    }

    fn read<T>(&self, act: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        act(self.inner.as_ref())
    }
}

macro_rules! pass {
    ($($how:ident $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl Store for Through {
            $(fn $name(&self, $($argument: $type),*) -> Result<$answer> {
                self.$how(|store| store.$name($($argument),*))
            })*
        }
    };
}

pass! {
    write create_plan(plan: &NewPlan) -> Plan;
    read plan(id: PlanId) -> Plan;
    read find_plan(selector: &PlanSelector) -> Plan;
    read plans(query: &PlanQuery) -> Vec<Plan>;
    write step_plan(step: &PlanStep) -> Version;
    write remove_plan(removal: &PlanRemoval) -> ();
    write create_nodes(plan: PlanId, nodes: &[NewNode], who: &Actor) -> ();
    read node(id: NodeId) -> Node;
    read nodes(plan: PlanId) -> Vec<Node>;
    write step_node(step: &NodeStep) -> Version;
    write start_changeset(changeset: &NewChangeset) -> Lease;
    read changeset(id: ChangesetId) -> Changeset;
    read find_changeset(text: &str) -> Changeset;
    read changesets(plan: PlanId) -> Vec<Changeset>;
    write record(changeset: ChangesetId, epoch: Epoch, recording: &Recording) -> Recorded;
    read entries(changeset: ChangesetId, after: u64, limit: usize) -> Vec<ChangeEntry>;
    write seal(changeset: ChangesetId, epoch: Epoch) -> Changeset;
    write abandon(changeset: ChangesetId, epoch: Epoch, reason: &str) -> Changeset;
    write acquire(resource: Resource, holding: &Holding) -> Lease;
    write renew(lease: &Lease, duration: std::time::Duration) -> Lease;
    write release(lease: &Lease) -> ();
    read leases(plan: PlanId) -> Vec<Lease>;
    write put_blob(blob: &PackedBlob) -> ();
    write append_upload(upload: UploadId, first: u64, chunks: &[Chunk]) -> ();
    write finish_upload(upload: UploadId, blob: &Blob) -> ();
    write drop_upload(upload: UploadId) -> ();
    read blob(hash: BlobHash) -> Option<Blob>;
    read blob_chunk(hash: BlobHash, number: u64) -> Option<Chunk>;
    read small_blobs(hashes: &[BlobHash]) -> Vec<(BlobHash, Chunk)>;
    read blob_hashes(after: Option<BlobHash>) -> Vec<BlobHash>;
    write collect(collect: &Collect) -> Collected;
    read audit(query: &AuditQuery) -> Vec<AuditRecord>;
    read audit_heads(after: Option<PlanId>) -> Vec<Head>;
    read audit_strays() -> Vec<(PlanId, u64)>;
    read inventory(plan: PlanId) -> Inventory;
    read check() -> Vec<Problem>;
}
