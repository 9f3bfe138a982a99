//! What every engine does, by subject. Plain data in, plain data out: nothing here knows of SQLite or PostgreSQL.

use std::fmt::Debug;
use std::time::Duration;

use crate::{
    Actor, AuditQuery, AuditRecord, Blob, BlobHash, ChangeEntry, Changeset, ChangesetId, Chunk, Collect,
    Collected, Epoch, Head, Holding, Inventory, Lease, NewChangeset, NewNode, NewPlan, Node, NodeId,
    NodeStep, PackedBlob, PathBytes, Plan, PlanId, PlanQuery, PlanRemoval, PlanSelector, PlanStep, Problem,
    Recorded, Recording, Resource, Result, UploadId, Version,
};

/// Records that only this program writes.
///
/// **Threads and processes.** One store may be used by any number of threads and processes at the same time. Each call is one step:
/// others see all of it or nothing.
///
/// **Durability.** A write that returned `Ok` survives a power cut. One that returned an error changed nothing, unless
/// [`Error::outcome`](crate::Error::outcome) says that it is not known. Then asking again with the same id or request id makes sure: it
/// happens once, and the answer is that of the first time.
///
/// **Audit.** Each change of a plan, node or changeset, and each lease that was taken from somebody, appends one record to the plan's
/// chain in the same step.
///
/// **Time** is the store's: callers' clocks decide nothing.
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
    /// Looks through all tables and lists what is wrong. Changes nothing. [`check_contents`](crate::check_contents) reads the contents.
    fn check(&self) -> Result<Vec<Problem>>;
}

/// Plans: sets of changes, and the states that they go through.
pub trait PlanStore {
    /// Makes a plan. Asking again with the same id gives the plan as it is now.
    fn create_plan(&self, plan: &NewPlan) -> Result<Plan>;

    /// The plan with this id.
    fn plan(&self, id: PlanId) -> Result<Plan>;

    /// The plan that a person means.
    fn find_plan(&self, selector: &PlanSelector) -> Result<Plan>;

    /// Plans, newest first.
    fn plans(&self, query: &PlanQuery) -> Result<Vec<Plan>>;

    /// Takes a plan from a state to another, if it still is in the state and version that the caller saw. Of two that try, one wins;
    /// the other's error names the winner. Gives the new version.
    fn step_plan(&self, step: &PlanStep) -> Result<Version>;

    /// Removes a plan with its nodes, changesets and entries, if it still has this version and holds what the caller saw. Its audit
    /// chain stays.
    fn remove_plan(&self, removal: &PlanRemoval) -> Result<()>;
}

/// Nodes: the actors of a plan's run.
pub trait NodeStore {
    /// Makes nodes of a plan: all or none. Asking again with the same ids makes nothing.
    fn create_nodes(&self, plan: PlanId, nodes: &[NewNode], who: &Actor) -> Result<()>;

    /// The node with this id.
    fn node(&self, id: NodeId) -> Result<Node>;

    /// The nodes of a plan, in the order of their ids.
    fn nodes(&self, plan: PlanId) -> Result<Vec<Node>>;

    /// Takes a node from a state to another, like [`step_plan`](PlanStore::step_plan).
    fn step_node(&self, step: &NodeStep) -> Result<Version>;
}

/// Changesets: the changes of one actor, open until they are sealed or abandoned.
pub trait ChangesetStore {
    /// Starts a changeset and leases it to its owner. When this returns it is durable with its plan. Asking again with the same id gives
    /// the same lease.
    fn start_changeset(&self, changeset: &NewChangeset) -> Result<Lease>;

    /// The changeset with this id.
    fn changeset(&self, id: ChangesetId) -> Result<Changeset>;

    /// The changeset that a person means: by its id, or the beginning of one.
    fn find_changeset(&self, text: &str) -> Result<Changeset>;

    /// The changesets of a plan, in the order in which they were started.
    fn changesets(&self, plan: PlanId) -> Result<Vec<Changeset>>;

    /// Closes a changeset as whole, and gives its lease back. Sealing again with the same epoch changes nothing.
    fn seal(&self, changeset: ChangesetId, epoch: Epoch) -> Result<Changeset>;

    /// Closes a changeset as given up, and gives its lease back. Abandoning again with the same epoch changes nothing.
    fn abandon(&self, changeset: ChangesetId, epoch: Epoch, reason: &str) -> Result<Changeset>;
}

/// Entries: the changes in a changeset.
pub trait EntryStore {
    /// Records entries into a changeset: all or none, with the next sequence numbers, in order. Refused when the changeset is closed or
    /// its lease has changed hands since `epoch`. Calls of many threads share one sync.
    fn record(&self, changeset: ChangesetId, epoch: Epoch, recording: &Recording) -> Result<Recorded>;

    /// Entries of a changeset behind a sequence number, at most `limit` and at most [`PAGE_MAX`](crate::limits::PAGE_MAX).
    fn entries(&self, changeset: ChangesetId, after: u64, limit: usize) -> Result<Vec<ChangeEntry>>;

    /// For each of these paths, as (root, path), the last entry of a changeset that changed it. A rename changes both of its paths.
    /// Costs the same however many entries the changeset has.
    fn last_entries(
        &self,
        changeset: ChangesetId,
        paths: &[(PathBytes, PathBytes)],
    ) -> Result<Vec<Option<ChangeEntry>>>;
}

/// Leases on plans, nodes and changesets.
pub trait LeaseStore {
    /// Takes a lease that is free or has expired; its epoch grows. The owner that holds it already keeps the epoch and gets more time.
    /// Whoever takes the lease on a plan takes those on the open changesets of its nodes from their holders.
    /// Of several that try, one wins.
    fn acquire(&self, resource: Resource, holding: &Holding) -> Result<Lease>;

    /// More time for a lease that has not changed hands.
    fn renew(&self, lease: &Lease, duration: Duration) -> Result<Lease>;

    /// Gives a lease back. What was written with its epoch stays; nothing more can be. Giving back what has changed hands is an error.
    fn release(&self, lease: &Lease) -> Result<()>;

    /// The leases that somebody holds, expired or not, on a plan and all that is in it.
    fn leases(&self, plan: PlanId) -> Result<Vec<Lease>>;
}

/// Contents, addressed by the hash of their bytes.
pub trait BlobStore {
    /// Stores a content of one chunk. Storing it again keeps it from being collected for another while.
    fn put_blob(&self, blob: &PackedBlob) -> Result<()>;

    /// Adds chunks to an upload, which begins with its first; `first` is the number of the first of them, from 0.
    /// [`put_blob`](crate::put_blob) does all of it.
    fn append_upload(&self, upload: UploadId, first: u64, chunks: &[Chunk]) -> Result<()>;

    /// Makes an upload a content. When there is one with this hash, the upload is dropped.
    fn finish_upload(&self, upload: UploadId, blob: &Blob) -> Result<()>;

    /// Drops an upload, if there is one.
    fn drop_upload(&self, upload: UploadId) -> Result<()>;

    /// What is known of a content, if it is in the store.
    fn blob(&self, hash: BlobHash) -> Result<Option<Blob>>;

    /// One chunk of a content, from 0. [`BlobReader`](crate::BlobReader) reads all of them and verifies.
    fn blob_chunk(&self, hash: BlobHash, number: u64) -> Result<Option<Chunk>>;

    /// Of these contents those of one chunk, in any order, from one state of the store. [`read_blobs`](crate::read_blobs) verifies them.
    fn small_blobs(&self, hashes: &[BlobHash]) -> Result<Vec<(BlobHash, Chunk)>>;

    /// Contents behind one, in the order of their hashes, a page at a time.
    fn blob_hashes(&self, after: Option<BlobHash>) -> Result<Vec<BlobHash>>;

    /// Removes, or counts, contents that no entry refers to. A content that somebody records meanwhile either stays, or the recording is
    /// refused: no entry ever refers to nothing.
    fn collect(&self, collect: &Collect) -> Result<Collected>;
}

/// The hash chains of what happened to each plan.
pub trait AuditStore {
    /// Audit records, by plan and sequence number.
    fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>>;

    /// The heads of the chains behind a plan, by plan, a page at a time; also of a plan or record that has none, with sequence 0.
    fn audit_heads(&self, after: Option<PlanId>) -> Result<Vec<Head>>;

    /// Audit records that are in no chain, since their plan is no id or their number is none: what is left of both, of up to
    /// [`PAGE_MAX`](crate::limits::PAGE_MAX). There are none unless somebody else writes to the tables.
    fn audit_strays(&self) -> Result<Vec<(PlanId, u64)>>;

    /// All rows of a plan that its chain tells of, with the end of the chain, from one state of the store; also of a plan that is gone.
    fn inventory(&self, plan: PlanId) -> Result<Inventory>;
}
