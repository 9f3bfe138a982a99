//! The engine's face: prepares what can be prepared here, and hands the rest to a transaction.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::engine::Engine;
use super::password::PasswordFile;
use super::url::Target;
use super::{audit, blobs, changesets, check, entries, inventory, leases, nodes, plans, transfer};
use crate::prepared::Prepared;
use crate::transfer::{Cell, Cells, Table, Transfer};
use crate::{
    Actor, AuditQuery, AuditRecord, Blob, BlobHash, ChangeEntry, Changeset, ChangesetId, Chunk, Collect,
    CollectMode, Collected, Epoch, Head, Holding, Inventory, Lease, NewChangeset, NewNode, NewPlan, Node,
    NodeId, NodeStep, PackedBlob, Plan, PlanId, PlanQuery, PlanRemoval, PlanSelector, PlanStep, Problem,
    Recorded, Recording, Resource, Result, Store, UploadId, Version, WriterCounts, limits,
};

/// Sessions that one store keeps with the server, unless the caller says otherwise.
const SESSIONS_MAX: usize = 8;

/// A store in one PostgreSQL database, shared by any number of machines.
///
/// Cheap to clone; any number of threads share it. A child that was forked while it was open must open it again: its calls are refused.
#[derive(Clone, Debug)]
pub struct PostgresStore {
    engine: Arc<Engine>,
}

/// How to open a store.
#[derive(Clone)]
pub struct PostgresOptions {
    wait: Duration,
    sessions_max: usize,
    password: Option<String>,
    passfile: Option<PathBuf>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { wait: limits::WAIT, sessions_max: SESSIONS_MAX, password: None, passfile: None }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("wait", &self.wait)
            .field("sessions_max", &self.sessions_max)
            .field("passfile", &self.passfile)
            .finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// How long a call waits for others, and for a server that went away to come back.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// How many sessions this store has with the server at most.
    #[must_use]
    pub fn sessions_max(self, sessions_max: usize) -> Self {
        Self { sessions_max, ..self }
    }

    /// The password, when the URL has none.
    #[must_use]
    pub fn password(self, password: Option<String>) -> Self {
        Self { password, ..self }
    }

    /// A file of passwords as `psql` keeps them, for when there is no other.
    #[must_use]
    pub fn passfile(self, passfile: Option<PathBuf>) -> Self {
        Self { passfile, ..self }
    }

    /// Opens the store, and makes its tables where there are none, in the schema `agents`. Brings tables of an older program up to date;
    /// refuses those of a newer one without touching them. A server that cannot be reached now is an error at once.
    pub fn open(self, url: &str) -> Result<PostgresStore> {
        let passfile = self.passfile.map(PasswordFile);
        let target = Target::parse(url, self.password.as_deref(), passfile.as_ref())?;
        Ok(PostgresStore { engine: Arc::new(Engine::open(target, self.sessions_max, self.wait)?) })
    }
}

impl PostgresStore {
    /// Opens the store with the usual options.
    pub fn open(url: &str) -> Result<Self> {
        PostgresOptions::default().open(url)
    }

    /// How many transactions this store has recorded with, and how many recordings were in them.
    pub fn writer_counts(&self) -> WriterCounts {
        self.engine.recorder.counts()
    }
}

impl Store for PostgresStore {
    fn create_plan(&self, plan: &NewPlan) -> Result<Plan> {
        self.engine.write("make a plan", async |transaction| plans::create(transaction, plan).await)
    }

    fn plan(&self, id: PlanId) -> Result<Plan> {
        self.engine.read("read a plan", async |transaction| plans::get(transaction, id).await)
    }

    fn find_plan(&self, selector: &PlanSelector) -> Result<Plan> {
        self.engine.read("find a plan", async |transaction| plans::select(transaction, selector).await)
    }

    fn plans(&self, query: &PlanQuery) -> Result<Vec<Plan>> {
        self.engine.read("list plans", async |transaction| plans::list(transaction, query).await)
    }

    fn step_plan(&self, step: &PlanStep) -> Result<Version> {
        self.engine.write("change a plan's state", async |transaction| plans::step(transaction, step).await)
    }

    fn remove_plan(&self, removal: &PlanRemoval) -> Result<()> {
        self.engine.write("remove a plan", async |transaction| plans::remove(transaction, removal).await)
    }

    fn create_nodes(&self, plan: PlanId, nodes: &[NewNode], who: &Actor) -> Result<()> {
        self.engine
            .write("make nodes", async |transaction| nodes::create(transaction, plan, nodes, who).await)
    }

    fn node(&self, id: NodeId) -> Result<Node> {
        self.engine.read("read a node", async |transaction| nodes::get(transaction, id).await)
    }

    fn nodes(&self, plan: PlanId) -> Result<Vec<Node>> {
        self.engine.read("list nodes", async |transaction| nodes::list(transaction, plan).await)
    }

    fn step_node(&self, step: &NodeStep) -> Result<Version> {
        self.engine.write("change a node's state", async |transaction| nodes::step(transaction, step).await)
    }

    fn start_changeset(&self, changeset: &NewChangeset) -> Result<Lease> {
        self.engine
            .write("start a changeset", async |transaction| changesets::start(transaction, changeset).await)
    }

    fn changeset(&self, id: ChangesetId) -> Result<Changeset> {
        self.engine.read("read a changeset", async |transaction| changesets::get(transaction, id).await)
    }

    fn find_changeset(&self, text: &str) -> Result<Changeset> {
        self.engine.read("find a changeset", async |transaction| changesets::select(transaction, text).await)
    }

    fn changesets(&self, plan: PlanId) -> Result<Vec<Changeset>> {
        self.engine.read("list changesets", async |transaction| changesets::list(transaction, plan).await)
    }

    fn record(&self, changeset: ChangesetId, epoch: Epoch, recording: &Recording) -> Result<Recorded> {
        let prepared = Prepared::new(recording)?;
        self.engine.recorder.record(&self.engine, changeset, epoch, prepared)
    }

    fn entries(&self, changeset: ChangesetId, after: u64, limit: usize) -> Result<Vec<ChangeEntry>> {
        self.engine.read("list entries", async |transaction| {
            entries::list(transaction, changeset, after, limit).await
        })
    }

    fn seal(&self, changeset: ChangesetId, epoch: Epoch) -> Result<Changeset> {
        self.engine.write("seal a changeset", async |transaction| {
            changesets::end(transaction, changeset, epoch, None).await
        })
    }

    fn abandon(&self, changeset: ChangesetId, epoch: Epoch, reason: &str) -> Result<Changeset> {
        self.engine.write("abandon a changeset", async |transaction| {
            changesets::end(transaction, changeset, epoch, Some(reason)).await
        })
    }

    fn acquire(&self, resource: Resource, holding: &Holding) -> Result<Lease> {
        self.engine
            .write("take a lease", async |transaction| leases::acquire(transaction, resource, holding).await)
    }

    fn renew(&self, lease: &Lease, duration: Duration) -> Result<Lease> {
        self.engine
            .write("renew a lease", async |transaction| leases::renew(transaction, lease, duration).await)
    }

    fn release(&self, lease: &Lease) -> Result<()> {
        self.engine.write("give a lease back", async |transaction| leases::release(transaction, lease).await)
    }

    fn leases(&self, plan: PlanId) -> Result<Vec<Lease>> {
        self.engine.read("list leases", async |transaction| leases::list(transaction, plan).await)
    }

    fn put_blob(&self, blob: &PackedBlob) -> Result<()> {
        self.engine.write("store a content", async |transaction| blobs::put(transaction, blob).await)
    }

    fn append_upload(&self, upload: UploadId, first: u64, chunks: &[Chunk]) -> Result<()> {
        self.engine.write("store a part of a content", async |transaction| {
            blobs::append(transaction, upload, first, chunks).await
        })
    }

    fn finish_upload(&self, upload: UploadId, blob: &Blob) -> Result<()> {
        self.engine.write("finish storing a content", async |transaction| {
            blobs::finish(transaction, upload, blob).await
        })
    }

    fn drop_upload(&self, upload: UploadId) -> Result<()> {
        self.engine.write("drop a part of a content", async |transaction| {
            blobs::drop_upload(transaction, upload).await
        })
    }

    fn blob(&self, hash: BlobHash) -> Result<Option<Blob>> {
        self.engine.read("look for a content", async |transaction| blobs::get(transaction, hash).await)
    }

    fn blob_chunk(&self, hash: BlobHash, number: u64) -> Result<Option<Chunk>> {
        self.engine.read("read a content", async |transaction| blobs::chunk(transaction, hash, number).await)
    }

    fn small_blobs(&self, hashes: &[BlobHash]) -> Result<Vec<(BlobHash, Chunk)>> {
        self.engine.read("read contents", async |transaction| blobs::small(transaction, hashes).await)
    }

    fn blob_hashes(&self, after: Option<BlobHash>) -> Result<Vec<BlobHash>> {
        self.engine.read("list contents", async |transaction| blobs::hashes(transaction, after).await)
    }

    fn collect(&self, collect: &Collect) -> Result<Collected> {
        let grace = collect.grace;
        if collect.mode == CollectMode::DryRun {
            return self.engine.read("count unused contents", async |transaction| {
                blobs::count_unused(transaction, transaction.now.minus(grace)).await
            });
        }
        let mut all = Collected::default();
        loop {
            let some = self.engine.write("remove unused contents", async |transaction| {
                blobs::remove_unused(transaction, transaction.now.minus(grace)).await
            })?;
            if some == Collected::default() {
                return Ok(all);
            }
            all.add(some);
        }
    }

    fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        self.engine.read("read the audit trail", async |transaction| audit::list(transaction, query).await)
    }

    fn audit_heads(&self, after: Option<PlanId>) -> Result<Vec<Head>> {
        self.engine.read("read the audit trail", async |transaction| audit::heads(transaction, after).await)
    }

    fn audit_strays(&self) -> Result<Vec<(PlanId, u64)>> {
        self.engine.read("read the audit trail", async |transaction| audit::strays(transaction).await)
    }

    fn inventory(&self, plan: PlanId) -> Result<Inventory> {
        self.engine.read("read all of a plan", async |transaction| inventory::read(transaction, plan).await)
    }

    fn check(&self) -> Result<Vec<Problem>> {
        self.engine.read("check the store", async |transaction| check::check(transaction).await)
    }
}

impl Transfer for PostgresStore {
    fn place(&self) -> String {
        self.engine.place().display().to_string()
    }

    fn schema_version(&self) -> Result<u32> {
        self.engine.read("read its version", async |transaction| transfer::schema_version(transaction).await)
    }

    fn count(&self, table: &'static str) -> Result<u64> {
        self.engine.read("count", async |transaction| transfer::count(transaction, table).await)
    }

    fn rows(&self, table: &'static Table, after: Option<&[Cell]>) -> Result<Vec<Cells>> {
        self.engine
            .read("read rows to copy", async |transaction| transfer::rows(transaction, table, after).await)
    }

    fn put_rows(&self, table: &'static Table, rows: &[Cells]) -> Result<()> {
        self.engine.write("write rows of a copy", async |transaction| {
            transfer::put_rows(transaction, table, rows).await
        })
    }
}
