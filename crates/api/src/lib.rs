//! Configuration, conversations and plans for coding agents: one façade over the services.
//!
//! Frontends (a command line, a server, a library for another language) call [`Agents`]. Arguments are typed values,
//! text and paths; results can be serialised; errors have a [`Kind`] and a stable code. Frontends add the hints that
//! name their commands ([`Invocation::hint`]). Nothing here reads the terminal, the environment or the current folder:
//! [`Invocation`] has them.
//!
//! Opening reads nothing. [`Agents::config_snapshot`] reads the configuration files once and answers from that state. Calls that
//! write lock, read, change and replace one file, as [`ConfigService`] does.
//!
//! # Example
//!
//! ```
//! use cleveragents::{Agents, Assignment, Key, Reveal, Scope, Invocation, Value};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let folder = tempfile::tempdir()?;
//!     let invocation = Invocation { home: Some(folder.path().join("home")), ..Invocation::default() };
//!     let agents = Agents::open(&invocation)?;
//!
//!     let key: Key = "plan.concurrency".parse()?;
//!     let change = agents.set(None, &[Assignment::argument(key.clone(), "8")])?;
//!     assert_eq!(change.written.scope, Scope::Global);
//!
//!     let lookup = agents.config_snapshot().get(&key, Reveal::No)?;
//!     assert_eq!(lookup.entry.value, Some(Value::Integer(8)));
//!     Ok(())
//! }
//! ```
//!
//! # Modules
//!
//! - [`config`], [`contexts`], [`plans`], [`runs`]: the services and their types
//! - `agents`: the façade; `invocation`: home folder, project and environment of a call
//! - `rpc`: requests of actors to the run that started them, server and client; Linux only
//! - `admin`: audit trail, store, doctor
//! - `error`, `problem`: errors, and their form for people and programs

mod admin;
mod agents;
pub mod config;
pub mod contexts;
mod error;
mod error_data;
mod files;
mod home;
mod invocation;
mod journals;
pub mod plans;
mod problem;
mod rpc;
pub mod runs;

pub use admin::audit::Checkpointed;
pub use admin::doctor::{Check, Health, Remedy};
pub use admin::stores::StoreState;
pub use agents::{Agents, keys, may_be_secret};
pub use config::{
    Assignment, ConfigChange, ConfigEdit, ConfigEntry, ConfigEvent, ConfigFile, ConfigList, ConfigPaths,
    ConfigService, ConfigSnapshot, ConfigWatch, EditOutcome, EditReport, Explanation, Exposure, Key, Layer,
    LayerView, ListFilter, Lookup, Origin, PROJECT_FOLDER, Preferences, Reveal, Scope, ShadowedKey,
    SourcedValue, StopHandle, Value, ValueChange, Wait, WaitNotice, parse_duration,
};
pub use contexts::{
    ContextDocument, ContextInfo, ContextManager, ContextName, ContextSummary, Contexts, Conversation, Draft,
    ExportFormat, ExportReport, Json, MessageSelection, Notice, NumberedMessage, Revision, Role, SaveSummary,
    SearchHit, SearchQuery, StaleContext, VerifyReport,
};
pub use error::{Error, HintFor, errors};
pub use error_data::ErrorData;
pub use files::{read_bounded, write_file};
pub use filetx::{Decision, ErrorKind as Kind};
pub use invocation::{HOME_VARIABLE, Invocation};
pub use journals::JournalReport;
pub use plan::{FoundJournal, TXN_DIR, Trust, system_path};
pub use plans::{
    Applied, ApplyOptions, Attribution, ChangeEntry, ChangeKind, Changeset, ChangesetDetail, Cleaning,
    Closed, Conflict, Difference, Edit, FileDiff, FileOutcome, FileSide, NewEntry, Opened, Operation, Plan,
    PlanDetail, PlanEvent, PlanExecutionContext, Plans, Purpose, RecordedEntry, Recovery, Resolution,
    Selection as PlanSelection, actor, conflict_line, plural, special_mode, write_patch,
};
pub use problem::{Location, Problem};
pub use rpc::RunClient;
pub use runs::{
    Cancel, CheckedPlan, NodeInGraph, NodeOutcome, NodeOutput, NodeReport, NodeState, PlanRun,
    RecoveryAction, RunEvent, RunOptions, RunRecord, RunSettings, RunSummary, UnfinishedRun,
    plan_file_schema,
};
pub use store::{AuditRecord, AuditReport, Finding, GcStats, JsonBytes, PlanSelector};
