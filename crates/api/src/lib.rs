//! One façade over the services: what a door (a command line, a server, a library for another language) calls.
//!
//! Plain data in, plain data out: arguments are typed values, text and paths, answers can be serialised, and errors have a [`Kind`] and a
//! stable code; what to run about them is for the frontend to say ([`Surroundings::hint`]). Nothing here looks at the terminal, the process
//! environment or the current folder: they come in as [`Surroundings`].
//!
//! Opening reads nothing. Each call does what it needs and no more: [`Agents::read`] reads the files of configuration once, for several
//! questions to one state; the calls that write lock, read, change and replace as [`config::ConfigService`] says.
//!
//! # Example
//!
//! ```
//! use cleveragents::{Agents, Assignment, Key, Reveal, Scope, Surroundings, Value};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let folder = tempfile::tempdir()?;
//!     let surroundings = Surroundings { home: Some(folder.path().join("home")), ..Surroundings::default() };
//!     let agents = Agents::open(&surroundings)?;
//!
//!     let key: Key = "plan.concurrency".parse()?;
//!     let change = agents.set(None, &[Assignment::argument(key.clone(), "8")])?;
//!     assert_eq!(change.written.scope, Scope::Global);
//!
//!     let got = agents.read().get(&key, Reveal::No)?;
//!     assert_eq!(got.entry.value, Some(Value::Integer(8)));
//!     Ok(())
//! }
//! ```
//!
//! # Map of the modules
//!
//! - `surroundings`: where home and project are
//! - `agents`: the façade itself; `reading`, `writing` and `watching` are its questions about configuration, its changes of it, and
//!   noticing those of others
//! - `contexts`: conversations
//! - `plans`, `review` and `changesets`: what actors change in people's folders; `audit`: the trail of it; `work`: what comes back about them
//! - `runs`: actors run in parallel, each in a sandbox of its own
//! - `rpc`: requests of actors to the run that started them, both sides
//! - `stores`: where plans are kept, and copying that; `doctor`: whether everything is sound
//! - `files`: files that doors write for people
//! - `answer`: what comes back; `error`: what can go wrong

mod agents;
mod answer;
mod audit;
mod below;
mod changesets;
mod contexts;
mod details;
mod doctor;
mod error;
mod files;
mod plans;
mod reading;
mod review;
mod rpc;
mod runs;
mod stores;
mod surroundings;
mod watching;
mod work;
mod writing;

pub use agents::{Agents, keys};
pub use answer::{
    Change, EditOutcome, Entry, Explanation, FileState, Got, LayerSays, Listed, Paths, Problem, Spot,
    StillSet,
};
pub use audit::Checkpointed;
pub use changesets::{Doing, NewEntry};
pub use config::{
    Held, Key, Layer, Origin, Outcome, PROJECT_FOLDER, Reveal, Scope, Stopper, Value, Wait, Waiting,
    parse_duration,
};
pub use context::{
    ContextManager, Draft, Format as ExportFormat, Hit, Json, Name as ContextName, Notice, Numbered, Pruned,
    Query, Report, Revision, Role, Saved,
};
pub use contexts::{ContextState, Contexts, Conversation, Document, Exported, ListedContext, Selection};
pub use doctor::{Check, Health};
pub use error::{Error, HintFor, errors};
pub use files::write_file;
pub use filetx::ErrorKind as Kind;
pub use plan::{
    Conflict, Credit, Event as PlanEvent, FileDiff, FileSide, Part, Plan, Purpose, Recovery, What, counted,
    write_patch,
};
pub use plans::{ApplyOptions, Opened, Plans, actor};
pub use reading::{Preferences, Reading, Select};
pub use review::{Difference, Resolution};
pub use rpc::Inside;
pub use runs::{
    Cancel, CheckedPlan, NodeInGraph, NodeOutcome, NodeOutput, NodeReport, NodeState, PlanRun, RunEvent,
    RunOptions, RunRecord, RunSummary, RunTerms, UnfinishedRun, plan_file_schema,
};
pub use store::{AuditRecord, Collected, Finding, PlanSelector, Verdict};
pub use stores::StoreState;
pub use surroundings::{HOME_VARIABLE, Surroundings};
pub use watching::{Event, Watch};
pub use work::{
    Applied, ChangesetDetail, ChangesetState, Cleaning, Closed, Entered, EntryState,
    FileState as FileOutcome, PlanDetail, conflict_line,
};
pub use writing::{Assignment, Edit, Given};
