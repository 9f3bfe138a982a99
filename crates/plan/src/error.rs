//! Errors of plans, one variant for each way in which a caller may react, and the outcome of failed
//! calls.

use std::path::PathBuf;

use filetx::ErrorKind;
use store::{Actor, ChangesetId, Outcome, PlanId, Resource};

use crate::{Conflict, Drift, Machine, ModifiedFile, State, plural};

/// The result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a call failed. The underlying cause, if any, is the `source`; [`Error::outcome`]
/// says whether the call had an effect.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store refused the call, or failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A path in a root could not be read.
    #[error("cannot read `{path}` in root `{}`", root.display())]
    Root {
        /// The root.
        root: PathBuf,
        /// The path below the root, printable.
        path: String,
        /// The error of the file transaction.
        source: Box<filetx::Error>,
    },
    /// A folder cannot be a root of a plan.
    #[error("`{}` cannot be a root of a plan: {reason}", root.display())]
    BadRoot {
        /// The folder, as given.
        root: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The folder is not a root of the plan.
    #[error("`{root}` is not a root of plan {plan}")]
    ForeignRoot {
        /// The plan.
        plan: PlanId,
        /// The folder, as given.
        root: String,
        /// The roots of the plan.
        roots: Vec<String>,
    },
    /// A plan cannot change this path.
    #[error("a plan cannot change `{path}`: {reason}")]
    BadPath {
        /// The path, printable.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A path to delete, rename or change the mode of does not exist.
    #[error("cannot {action} `{path}`: it does not exist")]
    PathNotFound {
        /// The path.
        path: String,
        /// The action, as a verb.
        action: &'static str,
    },
    /// The new path of a renamed file exists.
    #[error("`{path}` already exists")]
    PathExists {
        /// The path.
        path: String,
    },
    /// A path holds neither a file nor a symlink.
    #[error("`{path}` is {found}; plans record files and symlinks only")]
    WrongKind {
        /// The path.
        path: String,
        /// The kind that was found.
        found: &'static str,
    },
    /// The given base differs from the content that the changeset recorded last for the path.
    #[error("the base given for `{path}` differs from the content recorded last in this changeset")]
    BaseMismatch {
        /// The path.
        path: String,
    },
    /// A patch does not apply to the content of its path.
    #[error("cannot apply the patch to `{path}`: {reason}")]
    Patch {
        /// The path.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The outcome of the last change of a path is unknown, and so is the base of the next one.
    #[error("the outcome of the last change of `{path}` is unknown")]
    OutcomeUnknown {
        /// The path.
        path: String,
    },
    /// The table of states does not allow the step.
    #[error("plan {plan} cannot {}: it is {state} ({})", action(*to), state.description())]
    IllegalStep {
        /// The plan.
        plan: PlanId,
        /// The state of the plan.
        state: State,
        /// The requested state.
        to: State,
        /// The allowed states.
        allowed: &'static [State],
    },
    /// The word is not a state.
    #[error("`{text}` is not a state of a plan")]
    UnknownState {
        /// The word.
        text: String,
    },
    /// A change was to be recorded into the changeset of the scope, and this thread is outside of
    /// any scope.
    #[error("cannot record the change of `{path}`: this thread is outside of any changeset scope")]
    OutsideScope {
        /// The path.
        path: String,
    },
    /// Other processes kept changing the state of the plan while a changeset was started.
    #[error("cannot start a changeset: other processes keep changing the state of plan {plan}")]
    Contended {
        /// The plan.
        plan: PlanId,
    },
    /// The stored detail of a plan cannot be read; a newer version may have written it.
    #[error("cannot read the detail of plan {plan}")]
    Detail {
        /// The plan.
        plan: PlanId,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// The path to resolve has no conflict.
    #[error("plan {plan} has no conflict at `{path}`")]
    NoConflict {
        /// The plan.
        plan: PlanId,
        /// The path.
        path: String,
    },
    /// The actor whose version was chosen did not change the path.
    #[error("{actor} did not change `{path}`")]
    ActorNotInvolved {
        /// The actor.
        actor: Actor,
        /// The path.
        path: String,
        /// The actors who did.
        actors: Vec<Actor>,
    },
    /// The name of the tool is reserved for entries that this program records itself.
    #[error("entries of changeset {changeset} cannot name the tool `{tool}`: it is reserved")]
    ReservedTool {
        /// The changeset.
        changeset: ChangesetId,
        /// The tool.
        tool: String,
    },
    /// The changeset belongs to another plan.
    #[error("changeset {changeset} does not belong to plan {plan}")]
    ForeignChangeset {
        /// The changeset.
        changeset: ChangesetId,
        /// The plan.
        plan: PlanId,
    },
    /// A content is too large to show or merge as text.
    #[error("a content of {bytes} bytes exceeds the limit of {limit} bytes for text")]
    ContentTooLarge {
        /// The length, in bytes.
        bytes: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The plan has no changes, or none that are selected.
    #[error("plan {plan} has nothing to {action}")]
    NothingToDo {
        /// The plan.
        plan: PlanId,
        /// `apply` or `undo`.
        action: &'static str,
    },
    /// A glob pattern is invalid.
    #[error("invalid pattern `{pattern}`: {reason}")]
    BadPattern {
        /// The pattern, as given.
        pattern: String,
        /// The reason.
        reason: String,
    },
    /// Changes of actors conflict. No file was changed.
    #[error("plan {plan} has {}: {}; no file was changed", plural(conflicts.len(), "conflict"), named(conflicts.len(), &first(conflicts)))]
    Conflicts {
        /// The plan.
        plan: PlanId,
        /// The conflicts.
        conflicts: Vec<Conflict>,
    },
    /// Another plan needs the plan: its ledger refers to this partial undo.
    #[error("plan {plan} cannot be removed: plan {by} depends on it")]
    HasDependents {
        /// The undo.
        plan: PlanId,
        /// The plan that it undoes.
        by: PlanId,
    },
    /// An undo of the plan is being applied.
    #[error("plan {plan} cannot be removed: plan {by} is undoing it")]
    BeingUndone {
        /// The plan.
        plan: PlanId,
        /// The undo.
        by: PlanId,
    },
    /// An undo that was interrupted cannot be applied later. No file was changed.
    #[error("plan {plan} is an undo of plan {of} that did not finish; no file was changed")]
    UnfinishedUndo {
        /// The undo.
        plan: PlanId,
        /// The plan that it undoes.
        of: PlanId,
    },
    /// The changes of some actors cannot be undone, because others changed the same lines or built
    /// on them. No file was changed.
    #[error(
        "cannot undo the changes of {} to `{path}`: {} changed the same lines, or built on them; no file was changed",
        listed(actors),
        listed(others)
    )]
    DependentChanges {
        /// The plan to undo.
        plan: PlanId,
        /// The file.
        path: String,
        /// The actors whose changes were to be undone.
        actors: Box<[Actor]>,
        /// The other actors who changed it.
        others: Box<[Actor]>,
    },
    /// Files differ from the bases that the plan recorded. No file was changed by the plan.
    #[error("{} changed since plan {plan} was recorded: {}; nothing was applied", plural(drifts.len(), "file"), named(drifts.len(), &drifts[0].key.path.show()))]
    Drifted {
        /// The plan.
        plan: PlanId,
        /// The files; at least one.
        drifts: Vec<Drift>,
        /// True if drift was to be merged: then these are edits of the same lines.
        is_merging: bool,
    },
    /// Files changed since the plan was applied. No file was changed by the undo.
    #[error("{} changed since plan {plan} was applied: {}; nothing was undone", plural(files.len(), "file"), named(files.len(), &files[0].drift.key.path.show()))]
    ModifiedSinceApply {
        /// The plan to undo.
        plan: PlanId,
        /// The files, with the plans and actors that changed them; at least one.
        files: Vec<ModifiedFile>,
    },
    /// The apply of the plan started on another machine, and can be finished only there.
    #[error("the apply of plan {plan} started on {machine} and can be finished only there")]
    OtherMachine {
        /// The plan.
        plan: PlanId,
        /// The machine.
        machine: Machine,
    },
    /// Files could not be read or changed. All files are unchanged; after the commit point it is
    /// the source of [`Error::ApplyIncomplete`].
    #[error("cannot access the roots of the plan")]
    Files {
        /// The error of the file transaction.
        source: Box<filetx::Error>,
    },
    /// An apply was interrupted after its commit point. The plan stays *applying* until recovery
    /// finishes the apply.
    #[error(
        "the apply of plan {plan} was interrupted; the next command that names the plan or its roots finishes it"
    )]
    ApplyIncomplete {
        /// The plan.
        plan: PlanId,
        /// The error that interrupted it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The stored intent of an apply cannot be read.
    #[error("cannot read the apply intent of plan {plan}")]
    Intent {
        /// The plan.
        plan: PlanId,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// Something other than this program altered the plan in the store. The altered data was not
    /// applied.
    #[error("{} does not match the audit chain of plan {plan}: another program altered it; it was not applied", altered(*resource))]
    Tampered {
        /// The plan.
        plan: PlanId,
        /// The altered row; `None` if the chain itself is broken.
        resource: Option<Resource>,
    },
    /// The plan has work that was not applied.
    #[error("plan {plan} is {state} and has {}", plural(*changesets, "unapplied changeset"))]
    Unapplied {
        /// The plan.
        plan: PlanId,
        /// The state of the plan.
        state: State,
        /// The number of changesets with unapplied work.
        changesets: usize,
    },
}

filetx::impl_kind_and_code!(Error);

impl Error {
    fn classify(&self) -> (ErrorKind, &'static str) {
        match self {
            Self::Store(error) => (store_kind(error), error.code()),
            Self::Root { source, .. } | Self::Files { source } => (source.kind(), source.code()),
            Self::BadRoot { .. } => (ErrorKind::NotFound, "bad-root"),
            Self::ForeignRoot { .. } => (ErrorKind::Usage, "foreign-root"),
            Self::BadPath { .. } => (ErrorKind::Usage, "bad-path"),
            Self::PathNotFound { .. } => (ErrorKind::NotFound, "path-not-found"),
            Self::PathExists { .. } => (ErrorKind::Conflict, "path-exists"),
            Self::WrongKind { .. } => (ErrorKind::Conflict, "wrong-kind"),
            Self::BaseMismatch { .. } => (ErrorKind::Conflict, "base-mismatch"),
            Self::Patch { .. } => (ErrorKind::Conflict, "patch"),
            Self::OutcomeUnknown { .. } => (ErrorKind::OutcomeUnknown, "outcome-unknown"),
            Self::IllegalStep { .. } => (ErrorKind::Conflict, "illegal-step"),
            Self::UnknownState { .. } => (ErrorKind::Usage, "unknown-state"),
            Self::OutsideScope { .. } => (ErrorKind::Bug, "outside-scope"),
            Self::Contended { .. } => (ErrorKind::Busy, "contended"),
            Self::Detail { .. } => (ErrorKind::Error, "plan-detail"),
            Self::NoConflict { .. } => (ErrorKind::NotFound, "no-conflict"),
            Self::ActorNotInvolved { .. } => (ErrorKind::Usage, "actor-not-involved"),
            Self::ReservedTool { .. } => (ErrorKind::Usage, "reserved-tool"),
            Self::ForeignChangeset { .. } => (ErrorKind::Conflict, "foreign-changeset"),
            Self::ContentTooLarge { .. } => (ErrorKind::Error, "content-too-large"),
            Self::NothingToDo { .. } => (ErrorKind::NotFound, "nothing-to-do"),
            Self::BadPattern { .. } => (ErrorKind::Usage, "bad-pattern"),
            Self::Conflicts { .. } => (ErrorKind::Conflict, "conflicts"),
            Self::DependentChanges { .. } => (ErrorKind::Conflict, "dependent-changes"),
            Self::HasDependents { .. } => (ErrorKind::Conflict, "has-dependents"),
            Self::BeingUndone { .. } => (ErrorKind::Conflict, "being-undone"),
            Self::UnfinishedUndo { .. } => (ErrorKind::Conflict, "unfinished-undo"),
            Self::Drifted { .. } => (ErrorKind::Conflict, "drifted"),
            Self::ModifiedSinceApply { .. } => (ErrorKind::Conflict, "modified-since-apply"),
            Self::OtherMachine { .. } => (ErrorKind::Conflict, "other-machine"),
            Self::ApplyIncomplete { .. } => (ErrorKind::OutcomeUnknown, "apply-incomplete"),
            Self::Intent { .. } => (ErrorKind::Error, "plan-intent"),
            Self::Tampered { .. } => (ErrorKind::Error, "tampered"),
            Self::Unapplied { .. } => (ErrorKind::Conflict, "unapplied"),
        }
    }

    /// The outcome of the failed call.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Store(error) => error.outcome(),
            Self::ApplyIncomplete { .. } => Outcome::Unknown,
            _ => Outcome::Aborted,
        }
    }
}

/// The class of an error of the store, which does not depend on `filetx`.
fn store_kind(error: &store::Error) -> ErrorKind {
    use store::Error as E;
    match error {
        E::InvalidText { .. } | E::Ambiguous { .. } | E::Limit { .. } | E::Url { .. } => ErrorKind::Usage,
        E::NotFound { .. } => ErrorKind::NotFound,
        E::NameTaken { .. }
        | E::IdReused { .. }
        | E::Conflict { .. }
        | E::PlanChanged { .. }
        | E::WrongState { .. }
        | E::ChangesetsOpen { .. }
        | E::Closed { .. }
        | E::NotACopy { .. }
        | E::Stale { .. } => ErrorKind::Conflict,
        E::Held { .. } | E::Busy { .. } => ErrorKind::Busy,
        E::Engine { outcome: Outcome::Unknown, .. } | E::Stopped { .. } => ErrorKind::OutcomeUnknown,
        E::Engine { outcome: Outcome::Aborted, .. }
        | E::MissingBlob { .. }
        | E::DamagedBlob { .. }
        | E::Source { .. }
        | E::NewerSchema { .. }
        | E::NotAStore { .. }
        | E::Damaged { .. }
        | E::Io { .. }
        | E::Removed { .. }
        | E::Full { .. }
        | E::Unwritable { .. }
        | E::Unreachable { .. }
        | E::Denied { .. }
        | E::ReadOnly { .. } => ErrorKind::Error,
    }
}

fn listed(actors: &[Actor]) -> String {
    let names: Vec<&str> = actors.iter().map(Actor::as_str).collect();
    names.join(", ")
}

/// The action that takes a plan to a state.
fn action(to: State) -> &'static str {
    match to {
        State::Queued => "be queued again",
        State::Running => "be worked on",
        State::Ready => "become ready",
        State::Applying | State::Applied => "be applied",
        State::Conflict => "be in conflict",
        State::Failed => "fail",
        State::Cancelled => "be cancelled",
        State::Undone => "be undone",
    }
}

/// Names a row that was altered.
fn altered(resource: Option<Resource>) -> String {
    resource.map_or_else(|| "an audit record".to_owned(), |resource| resource.to_string())
}

/// Names the only path, or the first of several.
fn named(count: usize, first: &str) -> String {
    if count == 1 { format!("`{first}`") } else { format!("`{first}` and others") }
}

fn first(conflicts: &[Conflict]) -> String {
    conflicts.first().map(|conflict| conflict.key.path.show().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::error::Error as _;

    fn all() -> Vec<Error> {
        let (plan, changeset) = (PlanId::new(), ChangesetId::new());
        let (path, actor) = (|| "src/main.rs".to_owned(), Actor::parse("ana").unwrap());
        let bad_path = || filetx::RelPath::new("..").unwrap_err();
        let drift = || Drift {
            key: crate::PathKey {
                root: store::PathBytes::parse("/srv").unwrap(),
                path: store::PathBytes::parse("src/main.rs").unwrap(),
            },
            expected: None,
            actual: None,
            description: "a folder".to_owned(),
        };
        vec![
            Error::Store(store::Error::Stopped { path: "state.db".into() }),
            Error::Root { root: "/srv".into(), path: path(), source: Box::new(bad_path()) },
            Error::BadRoot { root: "/srv".into(), reason: "not a folder".into() },
            Error::ForeignRoot { plan, root: "/tmp".into(), roots: vec!["/srv".into()] },
            Error::BadPath { path: path(), reason: "`.git` is protected".into() },
            Error::PathNotFound { path: path(), action: "delete" },
            Error::PathExists { path: path() },
            Error::WrongKind { path: path(), found: "a folder" },
            Error::BaseMismatch { path: path() },
            Error::Patch { path: path(), reason: "it is a symlink".into() },
            Error::OutcomeUnknown { path: path() },
            Error::IllegalStep {
                plan,
                state: State::Queued,
                to: State::Applied,
                allowed: State::Queued.next(),
            },
            Error::UnknownState { text: "flying".into() },
            Error::OutsideScope { path: path() },
            Error::Contended { plan },
            Error::Detail { plan, source: serde_json::from_str::<u8>("x").unwrap_err() },
            Error::NoConflict { plan, path: path() },
            Error::ActorNotInvolved { actor: actor.clone(), path: path(), actors: vec![actor.clone()] },
            Error::ReservedTool { changeset, tool: "agents plan resolve".into() },
            Error::ForeignChangeset { changeset, plan },
            Error::ContentTooLarge { bytes: 9, limit: 8 },
            Error::NothingToDo { plan, action: "apply" },
            Error::BadPattern { pattern: "[".into(), reason: "unclosed character class".into() },
            Error::Conflicts { plan, conflicts: Vec::new() },
            Error::HasDependents { plan, by: plan },
            Error::BeingUndone { plan, by: plan },
            Error::UnfinishedUndo { plan, of: plan },
            Error::DependentChanges {
                plan,
                path: path(),
                actors: [actor.clone()].into(),
                others: [actor.clone()].into(),
            },
            Error::Drifted { plan, drifts: vec![drift()], is_merging: false },
            Error::ModifiedSinceApply { plan, files: vec![ModifiedFile { drift: drift(), by: Vec::new() }] },
            Error::OtherMachine { plan, machine: Machine { host: "far".into(), id: String::new() } },
            Error::Files { source: Box::new(bad_path()) },
            Error::ApplyIncomplete { plan, source: Box::new(bad_path()) },
            Error::Intent { plan, source: serde_json::from_str::<u8>("x").unwrap_err() },
            Error::Tampered { plan, resource: Some(Resource::Changeset(changeset)) },
            Error::Unapplied { plan, state: State::Ready, changesets: 1 },
        ]
    }

    #[test]
    fn codes_are_distinct_and_texts_do_not_repeat_their_cause() {
        let errors = all();
        let codes: BTreeSet<&str> = errors.iter().map(Error::code).collect();
        assert_eq!(codes.len(), errors.len() - 2, "Root and Files have the code of their cause");
        for error in &errors {
            let text = error.to_string();
            assert!(!text.ends_with('.'), "{text}");
            assert!(error.source().is_none_or(|cause| !text.contains(&cause.to_string())), "{text}");
        }
    }

    #[test]
    fn only_the_store_and_an_incomplete_apply_have_an_unknown_outcome() {
        let unknown: Vec<&str> =
            all().iter().filter(|error| error.outcome() == Outcome::Unknown).map(Error::code).collect();
        assert_eq!(unknown, ["store-stopped", "apply-incomplete"]);
    }
}
