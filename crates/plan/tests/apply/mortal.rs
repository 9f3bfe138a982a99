//! A store that dies with a simulated disk: after the crash nothing is written to it any more. It can die between its own calls, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use store::{
    Actor, AuditQuery, AuditRecord, Blob, BlobHash, ChangeEntry, Changeset, ChangesetId, Chunk, Collect,
    Collected, Epoch, Error, Head, Holding, Inventory, Lease, NewChangeset, NewNode, NewPlan, Node, NodeId,
    NodeStep, PackedBlob, Plan, PlanId, PlanQuery, PlanRemoval, PlanSelector, PlanStep, Problem, Recorded,
    Recording, Resource, Result, Store, UploadId, Version,
};
use testkit::sim::SimDisk;

#[derive(Debug)]
pub(crate) struct Mortal {
    store: Arc<dyn Store>,
    disk: SimDisk,
    calls: AtomicU64,
    dies_at: u64,
}

impl Mortal {
    /// Dies before its call number `dies_at` at the latest.
    pub(crate) fn new(store: Arc<dyn Store>, disk: &SimDisk, dies_at: u64) -> Self {
        Self { store, disk: disk.clone(), calls: AtomicU64::new(0), dies_at }
    }

    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    fn alive(&self) -> Result<&dyn Store> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        if call >= self.dies_at {
            // The whole program dies with it.
            self.disk.crash_at(0);
        }
        if call >= self.dies_at || self.disk.is_crashed() {
            return Err(Error::Stopped { path: "dead".into() });
        }
        Ok(&*self.store)
    }
}

impl Store for Mortal {
    fn create_plan(&self, plan: &NewPlan) -> Result<Plan> {
        self.alive()?.create_plan(plan)
    }

    fn plan(&self, id: PlanId) -> Result<Plan> {
        self.alive()?.plan(id)
    }

    fn find_plan(&self, selector: &PlanSelector) -> Result<Plan> {
        self.alive()?.find_plan(selector)
    }

    fn plans(&self, query: &PlanQuery) -> Result<Vec<Plan>> {
        self.alive()?.plans(query)
    }

    fn step_plan(&self, step: &PlanStep) -> Result<Version> {
        self.alive()?.step_plan(step)
    }

    fn remove_plan(&self, removal: &PlanRemoval) -> Result<()> {
        self.alive()?.remove_plan(removal)
    }

    fn create_nodes(&self, plan: PlanId, nodes: &[NewNode], who: &Actor) -> Result<()> {
        self.alive()?.create_nodes(plan, nodes, who)
    }

    fn node(&self, id: NodeId) -> Result<Node> {
        self.alive()?.node(id)
    }

    fn nodes(&self, plan: PlanId) -> Result<Vec<Node>> {
        self.alive()?.nodes(plan)
    }

    fn step_node(&self, step: &NodeStep) -> Result<Version> {
        self.alive()?.step_node(step)
    }

    fn start_changeset(&self, changeset: &NewChangeset) -> Result<Lease> {
        self.alive()?.start_changeset(changeset)
    }

    fn changeset(&self, id: ChangesetId) -> Result<Changeset> {
        self.alive()?.changeset(id)
    }

    fn find_changeset(&self, text: &str) -> Result<Changeset> {
        self.alive()?.find_changeset(text)
    }

    fn changesets(&self, plan: PlanId) -> Result<Vec<Changeset>> {
        self.alive()?.changesets(plan)
    }

    fn record(&self, changeset: ChangesetId, epoch: Epoch, recording: &Recording) -> Result<Recorded> {
        self.alive()?.record(changeset, epoch, recording)
    }

    fn entries(&self, changeset: ChangesetId, after: u64, limit: usize) -> Result<Vec<ChangeEntry>> {
        self.alive()?.entries(changeset, after, limit)
    }

    fn seal(&self, changeset: ChangesetId, epoch: Epoch) -> Result<Changeset> {
        self.alive()?.seal(changeset, epoch)
    }

    fn abandon(&self, changeset: ChangesetId, epoch: Epoch, reason: &str) -> Result<Changeset> {
        self.alive()?.abandon(changeset, epoch, reason)
    }

    fn acquire(&self, resource: Resource, holding: &Holding) -> Result<Lease> {
        self.alive()?.acquire(resource, holding)
    }

    fn renew(&self, lease: &Lease, duration: Duration) -> Result<Lease> {
        self.alive()?.renew(lease, duration)
    }

    fn release(&self, lease: &Lease) -> Result<()> {
        self.alive()?.release(lease)
    }

    fn leases(&self, plan: PlanId) -> Result<Vec<Lease>> {
        self.alive()?.leases(plan)
    }

    fn put_blob(&self, blob: &PackedBlob) -> Result<()> {
        self.alive()?.put_blob(blob)
    }

    fn append_upload(&self, upload: UploadId, first: u64, chunks: &[Chunk]) -> Result<()> {
        self.alive()?.append_upload(upload, first, chunks)
    }

    fn finish_upload(&self, upload: UploadId, blob: &Blob) -> Result<()> {
        self.alive()?.finish_upload(upload, blob)
    }

    fn drop_upload(&self, upload: UploadId) -> Result<()> {
        self.alive()?.drop_upload(upload)
    }

    fn blob(&self, hash: BlobHash) -> Result<Option<Blob>> {
        self.alive()?.blob(hash)
    }

    fn blob_chunk(&self, hash: BlobHash, number: u64) -> Result<Option<Chunk>> {
        self.alive()?.blob_chunk(hash, number)
    }

    fn small_blobs(&self, hashes: &[BlobHash]) -> Result<Vec<(BlobHash, Chunk)>> {
        self.alive()?.small_blobs(hashes)
    }

    fn blob_hashes(&self, after: Option<BlobHash>) -> Result<Vec<BlobHash>> {
        self.alive()?.blob_hashes(after)
    }

    fn collect(&self, collect: &Collect) -> Result<Collected> {
        self.alive()?.collect(collect)
    }

    fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        self.alive()?.audit(query)
    }

    fn audit_heads(&self, after: Option<PlanId>) -> Result<Vec<Head>> {
        self.alive()?.audit_heads(after)
    }

    fn audit_strays(&self) -> Result<Vec<(PlanId, u64)>> {
        self.alive()?.audit_strays()
    }

    fn inventory(&self, plan: PlanId) -> Result<Inventory> {
        self.alive()?.inventory(plan)
    }

    fn check(&self) -> Result<Vec<Problem>> {
        self.alive()?.check()
    }
}
