//! The engine's face: prepares what can be prepared here, and hands the rest to who writes or to a reader.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::engine::{Clock, Engine};
use super::{audit, blobs, changesets, check, entries, hashes, inventory, leases, nodes, plans, transfer};
use crate::prepared::Prepared;
use crate::transfer::{Cell, Cells, Table, Transfer};
use crate::{
    Actor, AuditQuery, AuditRecord, Blob, BlobHash, ChangeEntry, Changeset, ChangesetId, Chunk, Collect,
    CollectMode, Collected, Epoch, Head, Holding, Inventory, Lease, NewChangeset, NewNode, NewPlan, Node,
    NodeId, NodeStep, PackedBlob, Plan, PlanId, PlanQuery, PlanRemoval, PlanSelector, PlanStep, Problem,
    Recorded, Recording, Resource, Result, Store, Time, UploadId, Version, WriterCounts, limits,
};

/// A store in one SQLite file.
///
/// Cheap to clone; any number of threads share it. All stores that a process opens on one file share syncs. A child that
/// was forked while it was open must open it again: its calls are refused.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    engine: Arc<Engine>,
}

/// How to open a store.
#[derive(Clone)]
pub struct SqliteOptions {
    wait: Duration,
    clock: Clock,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { wait: limits::WAIT, clock: Arc::new(Time::now) }
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteOptions").field("wait", &self.wait).finish_non_exhaustive()
    }
}

impl SqliteOptions {
    /// How long a call waits for other processes.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// What gives the time; the machine's clock unless a test has another.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Opens the store, and makes it where there is none: folder 0700, file 0600. Brings tables of an older program up to date; refuses
    /// those of a newer one, and files that are not a store, without touching them. Who opens a file that this process has open
    /// already shares it with the options of the first.
    pub fn open(self, path: &Path) -> Result<SqliteStore> {
        Ok(SqliteStore { engine: Engine::open(path, self.wait, self.clock)? })
    }
}

impl SqliteStore {
    /// Opens the store with the usual options.
    pub fn open(path: &Path) -> Result<Self> {
        SqliteOptions::default().open(path)
    }

    /// Where the file really is.
    pub fn path(&self) -> &Path {
        self.engine.path()
    }

    /// How many transactions this process has written to the file, and how many writes were in them.
    pub fn writer_counts(&self) -> WriterCounts {
        self.engine.counts()
    }
}

impl Store for SqliteStore {
    fn create_plan(&self, plan: &NewPlan) -> Result<Plan> {
        let plan = plan.clone();
        self.engine.write("make a plan", 0, move |connection, now| plans::create(connection, now, &plan))
    }

    fn plan(&self, id: PlanId) -> Result<Plan> {
        self.engine.read("read a plan", |connection, _| plans::get(connection, id))
    }

    fn find_plan(&self, selector: &PlanSelector) -> Result<Plan> {
        self.engine.read("find a plan", |connection, _| plans::select(connection, selector))
    }

    fn plans(&self, query: &PlanQuery) -> Result<Vec<Plan>> {
        self.engine.read("list plans", |connection, _| plans::list(connection, query))
    }

    fn step_plan(&self, step: &PlanStep) -> Result<Version> {
        let step = step.clone();
        self.engine
            .write("change a plan's state", 0, move |connection, now| plans::step(connection, now, &step))
    }

    fn remove_plan(&self, removal: &PlanRemoval) -> Result<()> {
        let removal = removal.clone();
        self.engine.write("remove a plan", 0, move |connection, now| plans::remove(connection, now, &removal))
    }

    fn create_nodes(&self, plan: PlanId, nodes: &[NewNode], who: &Actor) -> Result<()> {
        let (nodes, who) = (nodes.to_vec(), who.clone());
        self.engine
            .write("make nodes", 0, move |connection, now| nodes::create(connection, now, plan, &nodes, &who))
    }

    fn node(&self, id: NodeId) -> Result<Node> {
        self.engine.read("read a node", |connection, _| nodes::get(connection, id))
    }

    fn nodes(&self, plan: PlanId) -> Result<Vec<Node>> {
        self.engine.read("list nodes", |connection, _| nodes::list(connection, plan))
    }

    fn step_node(&self, step: &NodeStep) -> Result<Version> {
        let step = step.clone();
        self.engine
            .write("change a node's state", 0, move |connection, now| nodes::step(connection, now, &step))
    }

    fn start_changeset(&self, changeset: &NewChangeset) -> Result<Lease> {
        let changeset = changeset.clone();
        self.engine.write("start a changeset", 0, move |connection, now| {
            changesets::start(connection, now, &changeset)
        })
    }

    fn changeset(&self, id: ChangesetId) -> Result<Changeset> {
        self.engine.read("read a changeset", |connection, _| changesets::get(connection, id))
    }

    fn find_changeset(&self, text: &str) -> Result<Changeset> {
        self.engine.read("find a changeset", |connection, _| changesets::select(connection, text))
    }

    fn changesets(&self, plan: PlanId) -> Result<Vec<Changeset>> {
        self.engine.read("list changesets", |connection, _| changesets::list(connection, plan))
    }

    fn record(&self, changeset: ChangesetId, epoch: Epoch, recording: &Recording) -> Result<Recorded> {
        let prepared = Prepared::new(recording)?;
        self.engine.record("record entries", prepared.bytes(), move |connection, known, now| {
            entries::record(connection, known, now, changeset, epoch, &prepared)
        })
    }

    fn entries(&self, changeset: ChangesetId, after: u64, limit: usize) -> Result<Vec<ChangeEntry>> {
        self.engine.read("list entries", |connection, _| entries::list(connection, changeset, after, limit))
    }

    fn seal(&self, changeset: ChangesetId, epoch: Epoch) -> Result<Changeset> {
        self.engine.write("seal a changeset", 0, move |connection, now| {
            changesets::end(connection, now, changeset, epoch, None)
        })
    }

    fn abandon(&self, changeset: ChangesetId, epoch: Epoch, reason: &str) -> Result<Changeset> {
        let reason = reason.to_owned();
        self.engine.write("abandon a changeset", 0, move |connection, now| {
            changesets::end(connection, now, changeset, epoch, Some(&reason))
        })
    }

    fn acquire(&self, resource: Resource, holding: &Holding) -> Result<Lease> {
        let holding = holding.clone();
        self.engine.write("take a lease", 0, move |connection, now| {
            leases::acquire(connection, now, resource, &holding)
        })
    }

    fn renew(&self, lease: &Lease, duration: Duration) -> Result<Lease> {
        let lease = lease.clone();
        self.engine.write("renew a lease", 0, move |connection, now| {
            leases::renew(connection, now, &lease, duration)
        })
    }

    fn release(&self, lease: &Lease) -> Result<()> {
        let lease = lease.clone();
        self.engine.write("give a lease back", 0, move |connection, _| leases::release(connection, &lease))
    }

    fn leases(&self, plan: PlanId) -> Result<Vec<Lease>> {
        self.engine.read("list leases", |connection, _| leases::list(connection, plan))
    }

    fn put_blob(&self, blob: &PackedBlob) -> Result<()> {
        let blob = blob.clone();
        let bytes = blob.chunk().stored().len();
        self.engine.write("store a content", bytes, move |connection, now| blobs::put(connection, now, &blob))
    }

    fn append_upload(&self, upload: UploadId, first: u64, chunks: &[Chunk]) -> Result<()> {
        let chunks = chunks.to_vec();
        let bytes = chunks.iter().map(|chunk| chunk.stored().len()).sum();
        self.engine.write("store a part of a content", bytes, move |connection, now| {
            blobs::append(connection, now, upload, first, &chunks)
        })
    }

    fn finish_upload(&self, upload: UploadId, blob: &Blob) -> Result<()> {
        let blob = blob.clone();
        self.engine.write("finish storing a content", 0, move |connection, now| {
            blobs::finish(connection, now, upload, &blob)
        })
    }

    fn drop_upload(&self, upload: UploadId) -> Result<()> {
        self.engine
            .write("drop a part of a content", 0, move |connection, _| blobs::drop_upload(connection, upload))
    }

    fn blob(&self, hash: BlobHash) -> Result<Option<Blob>> {
        self.engine.read("look for a content", |connection, _| blobs::get(connection, hash))
    }

    fn blob_chunk(&self, hash: BlobHash, number: u64) -> Result<Option<Chunk>> {
        self.engine.read("read a content", |connection, _| blobs::chunk(connection, hash, number))
    }

    fn small_blobs(&self, hashes: &[BlobHash]) -> Result<Vec<(BlobHash, Chunk)>> {
        self.engine.read("read contents", |connection, _| blobs::small(connection, hashes))
    }

    fn blob_hashes(&self, after: Option<BlobHash>) -> Result<Vec<BlobHash>> {
        self.engine.read("list contents", |connection, _| hashes::list(connection, after))
    }

    fn collect(&self, collect: &Collect) -> Result<Collected> {
        let grace = collect.grace;
        if collect.mode == CollectMode::DryRun {
            return self.engine.read("count unused contents", |connection, now| {
                blobs::count_unused(connection, now.minus(grace))
            });
        }
        let mut all = Collected::default();
        loop {
            let some = self.engine.write("remove unused contents", 0, move |connection, now| {
                blobs::remove_unused(connection, now.minus(grace))
            })?;
            if some == Collected::default() {
                return Ok(all);
            }
            all.add(some);
        }
    }

    fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        self.engine.read("read the audit trail", |connection, _| audit::list(connection, query))
    }

    fn audit_heads(&self, after: Option<PlanId>) -> Result<Vec<Head>> {
        self.engine.read("read the audit trail", |connection, _| audit::heads(connection, after))
    }

    fn audit_strays(&self) -> Result<Vec<(PlanId, u64)>> {
        self.engine.read("read the audit trail", |connection, _| audit::strays(connection))
    }

    fn inventory(&self, plan: PlanId) -> Result<Inventory> {
        self.engine.read("read all of a plan", |connection, _| inventory::read(connection, plan))
    }

    fn check(&self) -> Result<Vec<Problem>> {
        self.engine.read("check the store", |connection, _| check::check(connection))
    }
}

impl Transfer for SqliteStore {
    fn place(&self) -> String {
        format!("sqlite:{}", self.path().display())
    }

    fn schema_version(&self) -> Result<u32> {
        self.engine.read("read its version", |connection, _| transfer::schema_version(connection))
    }

    fn count(&self, table: &'static str) -> Result<u64> {
        self.engine.read("count", |connection, _| transfer::count(connection, table))
    }

    fn rows(&self, table: &'static Table, after: Option<&[Cell]>) -> Result<Vec<Cells>> {
        self.engine.read("read rows to copy", |connection, _| transfer::rows(connection, table, after))
    }

    fn put_rows(&self, table: &'static Table, rows: &[Cells]) -> Result<()> {
        let rows = rows.to_vec();
        self.engine.write("write rows of a copy", 0, move |connection, _| {
            transfer::put_rows(connection, table, &rows)
        })
    }
}
