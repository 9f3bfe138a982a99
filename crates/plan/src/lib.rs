//! Plans and changesets: record, merge, review, apply and undo the changes of actors.
//!
//! A [`Plan`] changes one or more root folders. Each actor records its changes in a [`Changeset`],
//! started in the [`PlanExecutionContext`] of the plan. When all changesets are sealed, the plan is
//! *ready*: its changes are merged three-way ([`combine`]), shown as a diff and applied all or
//! nothing.
//!
//! # Promises
//!
//! - **Attribution.** A change goes into the changeset whose handle records it, or fails. No
//!   ambient state decides.
//! - **Durability.** A record that returned survives a power cut. Concurrent records share syncs.
//! - **One winner.** Every step of a plan is checked against one table ([`State`]) and taken by
//!   compare-and-set.
//! - **Conflicts are data.** Overlapping edits are conflicts; a resolution is recorded like any
//!   other change.
//! - **Confinement.** No change leaves its root, and protected folders such as `.git` are never
//!   changed.

mod apply;
mod blob_source;
mod error;
mod lease;
mod machine;
mod merge;
mod plan;
mod plural;
mod process_identity;
mod prune;
mod record;
mod retry;
mod review;
mod roots;
mod selection;
mod service;
mod state;
mod sync;
mod tampering;
mod timeline;
mod undo;

pub use apply::ApplyRequest;
pub use apply::drift::Drift;
pub use apply::found_journal::{FoundJournal, Trust};
pub use apply::report::{FileOutcome, FileReport, Recovery, RecoveryOutcome, Report};
pub use blob_source::{BlobSource, OverlaySource, StoredBlobs, TEXT_BYTES_MAX, UnstoredBlobs};
pub use error::{Error, Result};
pub use machine::Machine;
pub use merge::conflict::{Conflict, ConflictHunk, ConflictKind, OtherPath, Side};
pub use merge::delta::{Attribution, ChangesetDelta, FinalChange, PathKey, fold};
pub use merge::node_order::NodeChangesets;
pub use merge::{Combined, CombinedChange, MergeOutcome, Strategy, combine};
pub use plan::{Detail, Plan, Purpose, Step};
pub use plural::plural;
pub use process_identity::{Liveness, ProcessStat, boot_id, liveness, process_owner};
pub use prune::{Force, PruneReport};
pub use record::change::{Base, Change, ContentInput, ContentSource, Edit};
pub use record::changeset::{Changeset, LEASE_DURATION, LeaseOptions};
pub use record::context::PlanExecutionContext;
pub use record::patch::{PATCH_BYTES_MAX, Patched, patched};
pub use record::scope::{Scope, current_changeset, record_change};
pub use retry::retry;
pub use review::diff::{ChangeKind, DiffEntry, FileDiff, FileSide, Hunk, Line, Sign, diffs, write_patch};
pub use review::resolve::Choice;
pub use roots::glob::{Patterns, may_overlap};
pub use roots::host::Host;
pub use roots::protect::protected_folder;
pub use roots::{FOLDERS_MAX, TXN_DIR, checked_new_path, checked_path, path_bytes, system_path, txn_dir};
pub use selection::{PathFilter, Selection};
pub use service::Plans;
pub use state::{State, table_in_markdown};
pub use store::{
    Actor, ChangeEntry, ChangesetId, Content, ContentKind, NewEntry, Operation, PathBytes, PlanId, Recorded,
    Status, Tool,
};
pub use timeline::Event;
pub use undo::{ModifiedBy, ModifiedFile, UndoRequest};
