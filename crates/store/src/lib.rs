//! Records that only this program writes: plans, nodes, changesets, entries, blobs, audit, leases.
//!
//! [`Store`] is the interface of every engine, with one trait per subject ([`PlanStore`],
//! [`ChangesetStore`], …). [`SqliteStore`] serves a single machine, [`PostgresStore`] many; both pass
//! the conformance suite of the test kit. Rules about plans, such as the order of states and merging,
//! belong to the layer above: the store compares and sets.
//!
//! # Promises
//!
//! - **Durable when acknowledged.** A write that returned is on disk. A write that failed changed
//!   nothing, or reports an unknown [`Outcome`]; repeating the call with the same id resolves it, and
//!   the call takes effect once.
//! - **Correct attribution.** An entry goes into the named changeset, or is refused: if the changeset
//!   is closed, or its lease has changed hands ([`Epoch`]). Sequence numbers have no gaps.
//! - **One winner.** Of concurrent changes to a plan or lease one succeeds; the errors of the others
//!   name its actor.
//! - **Shared syncs.** The threads of a process share commits: one thread writes for all that wait,
//!   with one sync.
//! - **Blobs** are stored once, compressed, streamed, verified when read, and kept as long as an entry
//!   refers to them.
//! - **Tamper-evident.** Each change appends a record to the hash chain of its plan, in the same
//!   transaction; [`verify`] locates the first bad record.
//! - **Bounded.** Every wait, queue and size has a named limit, in [`limits`] or where it is used.
//!
//! # Limits
//!
//! - SQLite's WAL needs a local file system, and reading needs a writable folder.
//! - A commit whose process was killed after writing and before syncing is visible to later readers,
//!   and becomes durable with the next commit.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use cleveragents_store::{
//!     Actor, ChangesetId, ChangesetStore, Content, ContentKind, EntryStore, LeaseRequest, NewChangeset, NewEntry, NewPlan,
//!     Operation, Owner, PackedBlob, PathBytes, PlanId, PlanStore, Recording, RequestId, SqliteStore, State, Status,
//! };
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let folder = tempfile::tempdir()?;
//!     let store = SqliteStore::open(&folder.path().join("home/state.db"))?;
//!     let plan = store.create_plan(&NewPlan {
//!         id: PlanId::new(),
//!         name: None,
//!         state: State::parse("running")?,
//!         undo_of: None,
//!         roots: vec![PathBytes::parse("/srv/project")?],
//!         detail: serde_json::Value::Null,
//!         actor: Actor::parse("ana")?,
//!     })?;
//!
//!     // Durable before the first recording.
//!     let id = ChangesetId::new();
//!     let lease = store.start_changeset(&NewChangeset {
//!         id,
//!         plan: plan.id,
//!         node: None,
//!         actor: Actor::parse("coder")?,
//!         lease: LeaseRequest { owner: Owner::parse("machine 1, process 7")?, duration: Duration::from_secs(60) },
//!         plan_states: vec![State::parse("running")?],
//!         plan_epoch: None,
//!     })?;
//!
//!     let content = PackedBlob::new(b"fn main() {}\n")?;
//!     let after = Content { kind: ContentKind::File, blob: content.hash(), bytes: 13, mode: 0o644 };
//!     let entry = NewEntry {
//!         root: PathBytes::parse("/srv/project")?,
//!         path: PathBytes::parse("src/main.rs")?,
//!         operation: Operation::Create,
//!         before: None,
//!         after: Some(after),
//!         tool: None,
//!     };
//!     let recording = Recording { request: RequestId::new(), entries: vec![entry], blobs: vec![content] };
//!     let first = store.record(id, lease.epoch, &recording)?;
//!     assert_eq!(store.record(id, lease.epoch, &recording)?, first); // Repeated, without effect.
//!
//!     assert_eq!(store.seal(id, lease.epoch)?.status, Status::Sealed);
//!     assert_eq!(store.entries(id, 0, 100)?[0].actor, Actor::parse("coder")?);
//!     assert!(cleveragents_store::verify(&store, &[])?.findings.is_empty());
//!     Ok(())
//! }
//! ```
//!
//! # Modules
//!
//! - `model`: the data; `store`: the traits; `error` and `limits`
//! - `audit`: the hash chains and their verification; `scrub`: verification of all blobs
//! - `transfer`: copies between stores; `group_commit`: shared commits
//! - `sqlite`, `postgres`: the engines, with a module per table and the transactions in `engine`

mod audit;
mod error;
mod group_commit;
mod hex;
pub mod limits;
mod model;
mod postgres;
mod scrub;
mod sqlite;
mod store;
mod transfer;
mod wrapper;

pub use audit::record::{AuditQuery, AuditRecord, Body, GENESIS, Head, checkpoint, export};
pub use audit::snapshot::PlanSnapshot;
pub use audit::verify::{AuditReport, Fault, Finding, matches_digest, verify, verify_plan};
pub use error::{Cause, Error, Outcome, Result};
pub use group_commit::WriterCounts;
pub use model::blob::{
    Blob, BlobReader, Chunk, Codec, GcMode, GcOptions, GcStats, PackedBlob, put_blob, read_blob, read_blobs,
};
pub use model::changeset::{Changeset, NewChangeset, Status};
pub use model::entry::{ChangeEntry, Content, ContentKind, NewEntry, Operation};
pub use model::hash::{BlobHash, ChainHash};
pub use model::id::{ChangesetId, Epoch, NodeId, PlanId, RequestId, UploadId, Version};
pub use model::json_bytes::JsonBytes;
pub use model::lease::{Lease, LeaseRequest, Resource};
pub use model::plan::{
    NewNode, NewPlan, Node, NodeStep, OpenChangesets, Plan, PlanQuery, PlanRemoval, PlanSelector, PlanSize,
    PlanStep,
};
pub use model::recording::{Recorded, Recording};
pub use model::text::{Actor, AuditKind, Name, Owner, PathBytes, State, Tool};
pub use model::time::Time;
pub use postgres::{PostgresOptions, PostgresStore};
pub use scrub::{Corruption, scrub};
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::{AuditStore, BlobStore, ChangesetStore, EntryStore, LeaseStore, NodeStore, PlanStore, Store};
pub use transfer::{Cell, ColumnType, Row, RowCounts, TABLES, Table, Transfer, copy};
