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
mod change;
mod changeset;
mod claims;
mod clean;
mod combine;
mod conflict;
mod contents;
mod context;
mod counted;
mod diff;
mod drift;
mod error;
mod fold;
mod ground;
mod intent;
mod known;
mod lease;
mod ledger;
mod links;
mod machine;
mod merge;
mod names;
mod part;
mod patterns;
mod plan;
mod process_identity;
mod protect;
mod record;
mod recover;
mod remaining;
mod report;
mod resolve;
mod retry;
mod review;
mod root;
mod scope;
mod service;
mod staging;
mod state;
mod subsets;
mod sync;
mod target_log;
mod text;
mod three_way;
mod timeline;
mod undo;

pub use apply::ApplyOrder;
pub use change::{Act, Base, Change, Piece, Source};
pub use changeset::{Changeset, LEASE, Terms};
pub use clean::{Cleaned, Force};
pub use combine::{Combined, CombinedChange, Settled, Strategy, combine};
pub use conflict::{Clash, Conflict, ConflictHunk, OtherPath, Side};
pub use contents::{Contents, Made, Over, StoredContents, TEXT_BYTES_MAX};
pub use context::PlanExecutionContext;
pub use counted::counted;
pub use diff::{FileDiff, FileSide, Hunk, Line, Shown, Sign, What, diffs, write_patch};
pub use drift::Drift;
pub use error::{Error, Result};
pub use fold::{Credit, FinalChange, Folded, PathKey, fold};
pub use ground::Ground;
pub use links::NodeLinks;
pub use machine::Machine;
pub use part::{Part, Paths};
pub use patterns::{Patterns, may_overlap};
pub use plan::{Detail, Plan, Purpose, Step};
pub use process_identity::{Liveness, ProcessStat, boot_id, liveness, process_owner};
pub use protect::protected;
pub use report::{FileChange, FileOutcome, FileReport, Recovery, RecoveryEnd, Report};
pub use resolve::Choice;
pub use retry::retry;
pub use review::Selection;
pub use root::{TRANSACTION_HOME, checked_path, path_bytes, system_path, transaction_home};
pub use scope::{Scope, current_changeset, record_change};
pub use service::Plans;
pub use state::{State, table_in_markdown};
pub use store::{
    Actor, ChangeEntry, ChangesetId, Content, ContentKind, NewEntry, Operation, PathBytes, PlanId, Recorded,
    Status, Tool,
};
pub use timeline::Event;
pub use undo::{ChangedSince, Changer, UndoOrder};
