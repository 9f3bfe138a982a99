//! The traits that every engine implements, one per subject. They exchange plain data and know
//! neither SQLite nor PostgreSQL.

use std::fmt::Debug;
use std::time::Duration;

use crate::{
    Actor, AuditQuery, AuditRecord, Blob, BlobHash, ChangeEntry, Changeset, ChangesetId, Chunk, Corruption,
    Epoch, GcOptions, GcStats, Head, Lease, LeaseRequest, NewChangeset, NewNode, NewPlan, Node, NodeId,
    NodeStep, PackedBlob, PathBytes, Plan, PlanId, PlanQuery, PlanRemoval, PlanSelector, PlanSnapshot,
    PlanStep, Recorded, Recording, Resource, Result, UploadId, Version,
};

/// A store of plans, nodes, changesets, entries, leases, blobs and audit records.
///
/// **Concurrency.** Any number of threads and processes may use one store. Each call is atomic.
///
/// **Durability.** A write that returned `Ok` survives a power cut. A write that returned an error
/// changed nothing, unless [`Error::outcome`](crate::Error::outcome) is unknown. Repeating the call
/// with the same id or request id then resolves the outcome: the call takes effect once and returns
/// the first answer.
///
/// **Audit.** Each change of a plan, node or changeset, and each takeover of a lease, appends one
/// record to the chain of the plan in the same transaction.
///
/// **Time** is that of the store's clock, never that of a caller.
pub trait Store:
    PlanStore
    + NodeStore
    + ChangesetStore
    + EntryStore
    + LeaseStore
    + BlobStore
    + AuditStore
    + Debug
    + Send
    + Sync
{
    /// Checks all tables and lists corruptions. Changes nothing. [`scrub`](crate::scrub) reads the
    /// blobs.
    fn check(&self) -> Result<Vec<Corruption>>;
}

/// Plans and their states.
pub trait PlanStore {
    /// Creates a plan. Repeating the call with the same id returns the plan in its present state.
    fn create_plan(&self, plan: &NewPlan) -> Result<Plan>;

    /// Returns a plan by id.
    fn plan(&self, id: PlanId) -> Result<Plan>;

    /// Finds the plan that a person names.
    fn find_plan(&self, selector: &PlanSelector) -> Result<Plan>;

    /// Lists plans, newest first.
    fn plans(&self, query: &PlanQuery) -> Result<Vec<Plan>>;

    /// Changes the state of a plan if it still has the state and version that the caller has seen,
    /// and returns the new version. Of concurrent steps one succeeds; the errors of the others name
    /// its actor.
    fn step_plan(&self, step: &PlanStep) -> Result<Version>;

    /// Removes a plan with its nodes, changesets and entries, if it still has the version and size
    /// that the caller has seen. Its audit chain remains.
    fn remove_plan(&self, removal: &PlanRemoval) -> Result<()>;
}

/// Nodes: the actors of a plan's run.
pub trait NodeStore {
    /// Creates nodes of a plan, all or none. Repeating the call with the same ids has no further
    /// effect.
    fn create_nodes(&self, plan: PlanId, nodes: &[NewNode], actor: &Actor) -> Result<()>;

    /// Returns a node by id.
    fn node(&self, id: NodeId) -> Result<Node>;

    /// Lists the nodes of a plan by id.
    fn nodes(&self, plan: PlanId) -> Result<Vec<Node>>;

    /// Changes the state of a node, like [`step_plan`](PlanStore::step_plan).
    fn step_node(&self, step: &NodeStep) -> Result<Version>;
}

/// Changesets: the changes of one actor, open until sealed or abandoned.
pub trait ChangesetStore {
    /// Starts a changeset and leases it to its owner. Repeating the call with the same id returns
    /// the same lease.
    fn start_changeset(&self, changeset: &NewChangeset) -> Result<Lease>;

    /// Returns a changeset by id.
    fn changeset(&self, id: ChangesetId) -> Result<Changeset>;

    /// Finds a changeset by its id or a prefix of it.
    fn find_changeset(&self, text: &str) -> Result<Changeset>;

    /// Lists the changesets of a plan in the order in which they were started.
    fn changesets(&self, plan: PlanId) -> Result<Vec<Changeset>>;

    /// Closes a changeset as complete and releases its lease. Repeating the call with the same
    /// epoch has no further effect.
    fn seal(&self, changeset: ChangesetId, epoch: Epoch) -> Result<Changeset>;

    /// Closes a changeset as given up and releases its lease. Repeating the call with the same
    /// epoch has no further effect.
    fn abandon(&self, changeset: ChangesetId, epoch: Epoch, reason: &str) -> Result<Changeset>;
}

/// Entries: the changes in a changeset.
pub trait EntryStore {
    /// Records entries into a changeset, all or none, with the next sequence numbers in order.
    /// Refused if the changeset is closed or its lease has changed hands since `epoch`. Concurrent
    /// calls share one sync.
    fn record(&self, changeset: ChangesetId, epoch: Epoch, recording: &Recording) -> Result<Recorded>;

    /// Lists entries after a sequence number, at most `limit` and at most
    /// [`PAGE_MAX`](crate::limits::PAGE_MAX).
    fn entries(&self, changeset: ChangesetId, after: u64, limit: usize) -> Result<Vec<ChangeEntry>>;

    /// Returns for each `(root, path)` the last entry of a changeset that changed it. A rename
    /// changes both of its paths. The cost does not depend on the size of the changeset.
    fn last_entries(
        &self,
        changeset: ChangesetId,
        paths: &[(PathBytes, PathBytes)],
    ) -> Result<Vec<Option<ChangeEntry>>>;
}

/// Leases on plans, nodes and changesets.
pub trait LeaseStore {
    /// Takes a lease that is free or has expired, and increments its epoch. An owner that already
    /// holds the lease keeps the epoch and extends it. Taking the lease on a plan revokes the
    /// leases on the open changesets of its nodes. Of concurrent calls one succeeds.
    fn acquire(&self, resource: Resource, holding: &LeaseRequest) -> Result<Lease>;

    /// Extends a lease that has not changed hands.
    fn renew(&self, lease: &Lease, duration: Duration) -> Result<Lease>;

    /// Releases a lease: its epoch no longer permits writes. Releasing a lease that has changed
    /// hands is an error.
    fn release(&self, lease: &Lease) -> Result<()>;

    /// Lists the leases on a plan and on its nodes and changesets, expired or not.
    fn leases(&self, plan: PlanId) -> Result<Vec<Lease>>;
}

/// Blobs, addressed by the hash of their bytes.
pub trait BlobStore {
    /// Stores a blob of one chunk. Storing it again restarts its grace period.
    fn put_blob(&self, blob: &PackedBlob) -> Result<()>;

    /// Appends chunks to an upload; chunk 0 starts it. `first` is the number of the first chunk of
    /// this call. [`put_blob`](crate::put_blob) drives whole uploads.
    fn append_upload(&self, upload: UploadId, first: u64, chunks: &[Chunk]) -> Result<()>;

    /// Turns an upload into a blob, or drops it if the store already has the blob.
    fn finish_upload(&self, upload: UploadId, blob: &Blob) -> Result<()>;

    /// Drops an upload if it exists.
    fn drop_upload(&self, upload: UploadId) -> Result<()>;

    /// Returns the metadata of a blob, if it is in the store.
    fn blob(&self, hash: BlobHash) -> Result<Option<Blob>>;

    /// Returns a chunk of a blob, numbered from 0. [`BlobReader`](crate::BlobReader) reads and
    /// verifies all of them.
    fn blob_chunk(&self, hash: BlobHash, number: u64) -> Result<Option<Chunk>>;

    /// Returns those of these blobs that have one chunk, in any order, from one snapshot.
    /// [`read_blobs`](crate::read_blobs) verifies them.
    fn small_blobs(&self, hashes: &[BlobHash]) -> Result<Vec<(BlobHash, Chunk)>>;

    /// Lists the hashes of blobs after one, in ascending order, one page at a time.
    fn blob_hashes(&self, after: Option<BlobHash>) -> Result<Vec<BlobHash>>;

    /// Removes, or counts, blobs that no entry refers to. A blob that is being recorded at the same
    /// time either stays, or the recording is refused: no entry ever refers to a missing blob.
    fn collect_garbage(&self, options: &GcOptions) -> Result<GcStats>;
}

/// The audit chains.
pub trait AuditStore {
    /// Lists audit records by plan and sequence number.
    fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>>;

    /// Lists the heads of chains after a plan, by plan, one page at a time. A plan or record
    /// without a head gets one with sequence 0.
    fn audit_heads(&self, after: Option<PlanId>) -> Result<Vec<Head>>;

    /// Lists up to [`PAGE_MAX`](crate::limits::PAGE_MAX) records that belong to no chain, because
    /// their plan is not an id or their number is below 1. Only another program can write such
    /// records.
    fn orphan_records(&self) -> Result<Vec<(PlanId, u64)>>;

    /// Reads all rows of a plan that its chain covers and the head of the chain, in one
    /// transaction. Works for a removed plan, too.
    fn plan_snapshot(&self, plan: PlanId) -> Result<PlanSnapshot>;
}
