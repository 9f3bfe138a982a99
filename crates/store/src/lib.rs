//! Records that only this program writes: plans, nodes, changesets, entries, contents, audit, leases.
//!
//! [`Store`] is what every engine does, in plain data: one trait for each subject ([`PlanStore`], [`ChangesetStore`], …). [`SqliteStore`] is the one for a single machine, [`PostgresStore`] that for
//! many; both run the conformance suite of the test kit. Rules about plans (which state follows which, what a
//! merge is) are not here: the store compares and sets.
//!
//! # Promises
//!
//! - **Durable when acknowledged.** A write that returned is on the disk. One that failed changed nothing, or says that it is not known
//!   ([`Outcome`]); asking again with the same id happens once.
//! - **Right attribution.** An entry goes into the changeset that is named, or is refused: when that is closed, or when its lease has
//!   changed hands ([`Epoch`]). Sequence numbers have no gaps.
//! - **One winner.** Of many that change a plan or take a lease, one does; the others' errors say who.
//! - **Shared syncs.** One thread of a process writes what many threads want to write, and waits for the disk once for all.
//! - **Contents** are stored once, compressed, streamed, verified when they are read, and kept as long as an entry refers to them.
//! - **Tamper-evident.** Each change appends a record to the plan's hash chain in the same transaction; [`verify`] locates the first
//!   bad record.
//! - **Bounded.** Every wait, queue and size has a limit with a name, in [`limits`] or where it is used.
//!
//! # Limits
//!
//! - SQLite's WAL needs a local file system, and reading needs a folder that can be written to.
//! - A commit that was written but not yet synced when its process was killed is seen by whoever opens the store next, and is durable
//!   with the next commit.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use cleveragents_store::{
//!     Actor, ChangesetId, ChangesetStore, Content, ContentKind, EntryStore, Holding, NewChangeset, NewEntry, NewPlan,
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
//!         who: Actor::parse("ana")?,
//!     })?;
//!
//!     // Durable, with its plan, before anybody can record into it.
//!     let id = ChangesetId::new();
//!     let lease = store.start_changeset(&NewChangeset {
//!         id,
//!         plan: plan.id,
//!         node: None,
//!         actor: Actor::parse("coder")?,
//!         holding: Holding { owner: Owner::parse("machine 1, process 7")?, duration: Duration::from_secs(60) },
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
//!     assert_eq!(store.record(id, lease.epoch, &recording)?, first); // Asked again, it happened once.
//!
//!     assert_eq!(store.seal(id, lease.epoch)?.status, Status::Sealed);
//!     assert_eq!(store.entries(id, 0, 100)?[0].actor, Actor::parse("coder")?);
//!     assert!(cleveragents_store::verify(&store, &[])?.findings.is_empty());
//!     Ok(())
//! }
//! ```
//!
//! # Map of the modules
//!
//! - data: `id`, `text`, `time`, `hash`, `plan`, `changeset`, `lease`, `blob`, `audit`, `problem`
//! - `store` has the traits, one for each subject, `error` what can go wrong, `limits` the limits; `line`, `note` and `prepared` are what engines share, `verify` verifies the audit trail, with `inventory` (the rows of a plan) and `told` (what its chain tells of them), `contents` reads all contents, `transfer` copies
//! - `postgres` is an engine: `engine` tries again, `recorder` records groups, `pool` keeps sessions, the others are as in `sqlite`
//! - `sqlite` is an engine: `writer` writes groups, `job` is a part of one, `engine` shares it in a process, `connect` opens and migrates, `options` is what callers open it with, the others are one
//!   table each, with its trait

mod audit;
mod error;
mod group_commit;
mod hex;
pub mod limits;
mod model;
mod postgres;
mod problem;
mod scrub;
mod sqlite;
mod store;
mod transfer;

pub use audit::record::{AuditQuery, AuditRecord, Body, GENESIS, Head, checkpoint, export};
pub use audit::snapshot::Inventory;
pub use audit::verify::{Fault, Finding, Verdict, verify};
pub use error::{Cause, Error, Outcome, Result};
pub use group_commit::WriterCounts;
pub use model::blob::{
    Blob, BlobReader, Chunk, Codec, Collect, CollectMode, Collected, PackedBlob, put_blob, read_blob,
    read_blobs,
};
pub use model::changeset::{
    ChangeEntry, Changeset, Content, ContentKind, NewChangeset, NewEntry, Operation, Recorded, Recording,
    Status,
};
pub use model::hash::{BlobHash, ChainHash};
pub use model::id::{ChangesetId, Epoch, NodeId, PlanId, RequestId, UploadId, Version};
pub use model::lease::{Holding, Lease, Resource};
pub use model::plan::{
    Held, NewNode, NewPlan, Node, NodeStep, OpenChangesets, Plan, PlanQuery, PlanRemoval, PlanSelector,
    PlanStep,
};
pub use model::text::{Actor, Kind, Name, Owner, PathBytes, State, Tool};
pub use model::time::Time;
pub use postgres::{PostgresOptions, PostgresStore};
pub use problem::Problem;
pub use scrub::check_contents;
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::{AuditStore, BlobStore, ChangesetStore, EntryStore, LeaseStore, NodeStore, PlanStore, Store};
pub use transfer::{Cell, Cells, Counts, Kind as CellKind, TABLES, Table, Transfer, copy};
