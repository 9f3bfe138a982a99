//! Plans and changesets: who changed what, combined, shown, applied and undone.
//!
//! A [`Plan`] changes folders of people. Each actor that works on it records through a [`Changeset`] of its own, started in the plan's
//! [`PlanExecutionContext`]. When all are sealed the plan is *ready*: its changes are combined three-way ([`combine`]), shown as a diff
//! and applied all-or-nothing.
//!
//! # Promises
//!
//! - **Right attribution.** A change goes into the changeset whose handle recorded it, or is refused; nothing ambient decides.
//! - **Durable when acknowledged.** A record that returned survives a power cut; threads that record at once share syncs.
//! - **One winner.** Every step of a plan is checked against one table ([`State`]) and taken by compare-and-set.
//! - **Nothing is guessed.** Edits that overlap are conflicts, as data; a resolution is recorded like any other change.
//! - **Nothing leaves a root**, and protected folders such as `.git` are never changed.

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
mod timeline;
mod undo;

pub use apply::ApplyOrder;
pub use apply::drift::Drift;
pub use apply::report::{FileChange, FileOutcome, FileReport, Recovery, RecoveryEnd, Report};
pub use blob_source::{Contents, Made, Over, StoredContents, TEXT_BYTES_MAX};
pub use error::{Error, Result};
pub use machine::Machine;
pub use merge::conflict::{Clash, Conflict, ConflictHunk, OtherPath, Side};
pub use merge::delta::{Credit, FinalChange, Folded, PathKey, fold};
pub use merge::node_order::NodeLinks;
pub use merge::{Combined, CombinedChange, Settled, Strategy, combine};
pub use plan::{Detail, Plan, Purpose, Step};
pub use plural::counted;
pub use process_identity::{Liveness, ProcessStat, boot_id, liveness, process_owner};
pub use prune::{Cleaned, Force};
pub use record::change::{Act, Base, Change, Piece, Source};
pub use record::changeset::{Changeset, LEASE, Terms};
pub use record::context::PlanExecutionContext;
pub use record::scope::{Scope, current_changeset, record_change};
pub use retry::retry;
pub use review::Selection;
pub use review::diff::{FileDiff, FileSide, Hunk, Line, Shown, Sign, What, diffs, write_patch};
pub use review::resolve::Choice;
pub use roots::glob::{Patterns, may_overlap};
pub use roots::host::Ground;
pub use roots::protect::protected;
pub use roots::{TRANSACTION_HOME, checked_path, path_bytes, system_path, transaction_home};
pub use selection::{Part, Paths};
pub use service::Plans;
pub use state::{State, table_in_markdown};
pub use store::{
    Actor, ChangeEntry, ChangesetId, Content, ContentKind, NewEntry, Operation, PathBytes, PlanId, Recorded,
    Status, Tool,
};
pub use timeline::Event;
pub use undo::{ChangedSince, Changer, UndoOrder};
