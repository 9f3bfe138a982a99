//! What can go wrong, by what a caller may do about it, and what a failed call left.

use std::path::PathBuf;

use filetx::ErrorKind;
use store::{Actor, ChangesetId, Outcome, PlanId};

use crate::plural::counted_were;
use crate::{ChangedSince, Conflict, Drift, Machine, State, counted};

/// What a call gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed. The cause, where there is one, is the `source`. What it left: [`Error::outcome`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store refused, or failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A folder that a plan changes could not be looked at.
    #[error("cannot look at `{path}` in root `{}`", root.display())]
    Root {
        /// The root.
        root: PathBuf,
        /// The path below it, as people read it.
        path: String,
        /// What the file transaction said.
        source: Box<filetx::Error>,
    },
    /// A folder cannot be a root of a plan.
    #[error("`{}` cannot be a root of a plan: {reason}", root.display())]
    BadRoot {
        /// As it was given.
        root: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The plan does not change this folder.
    #[error("`{root}` is not a root of plan {plan}")]
    ForeignRoot {
        /// The plan.
        plan: PlanId,
        /// As it was given.
        root: String,
        /// The roots that it has.
        roots: Vec<String>,
    },
    /// The path cannot be changed by a plan.
    #[error("`{path}` cannot be changed by a plan: {reason}")]
    BadPath {
        /// As people read it.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing is at a path that is to be deleted, renamed or to get another mode.
    #[error("there is nothing at `{path}` to {act}")]
    NotThere {
        /// The path.
        path: String,
        /// What was to be done.
        act: &'static str,
    },
    /// Something is where a renamed file is to go.
    #[error("`{path}` is there already")]
    AlreadyThere {
        /// The path.
        path: String,
    },
    /// A path holds something that plans do not record.
    #[error("`{path}` is {found}; a plan records files and symlinks")]
    WrongKind {
        /// The path.
        path: String,
        /// What is there.
        found: &'static str,
    },
    /// A base was given for a path that the changeset has changed already, and it is not what it changed it to.
    #[error(
        "`{path}` was recorded in this changeset before, and its content then is not the base that was given"
    )]
    OtherBase {
        /// The path.
        path: String,
    },
    /// Whether the last change of a path was recorded is not known, so neither is the base of the next one.
    #[error("whether the last change of `{path}` was recorded is not known")]
    Doubtful {
        /// The path.
        path: String,
    },
    /// There is no such step from the state that the plan is in.
    #[error("plan {plan} cannot {}: it is {state} ({})", deed(*to), state.meaning())]
    IllegalStep {
        /// The plan.
        plan: PlanId,
        /// Its state.
        state: State,
        /// The state that was asked for.
        to: State,
        /// The states that may follow.
        allowed: &'static [State],
    },
    /// There is no such state.
    #[error("`{text}` is not a state of a plan")]
    UnknownState {
        /// The word.
        text: String,
    },
    /// A change was to be recorded into the changeset of the scope, and this thread is in none.
    #[error(
        "this thread is in no changeset's scope, so nobody would be credited with the change to `{path}`"
    )]
    OutsideScope {
        /// The path.
        path: String,
    },
    /// Others started and ended changesets of the plan all the time, so that none could be started.
    #[error("plan {plan} kept changing its state while a changeset was to be started")]
    Unsettled {
        /// The plan.
        plan: PlanId,
    },
    /// What is kept with a plan cannot be read; a newer program may have written it.
    #[error("what is kept with plan {plan} cannot be read")]
    Detail {
        /// The plan.
        plan: PlanId,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// There is no conflict at the path that was to be resolved.
    #[error("plan {plan} has no conflict at `{path}`")]
    NoConflict {
        /// The plan.
        plan: PlanId,
        /// The path.
        path: String,
    },
    /// The actor whose version was to be taken did not change the path.
    #[error("{actor} did not change `{path}`")]
    NotTheirs {
        /// The actor.
        actor: Actor,
        /// The path.
        path: String,
        /// Those who did.
        actors: Vec<Actor>,
    },
    /// The tool's name is kept for what this program records itself.
    #[error("entries of changeset {changeset} cannot name the tool `{tool}`, which is the program's own")]
    ReservedTool {
        /// The changeset.
        changeset: ChangesetId,
        /// The tool.
        tool: String,
    },
    /// The changeset is not one of the plan.
    #[error("changeset {changeset} does not belong to plan {plan}")]
    ForeignChangeset {
        /// The changeset.
        changeset: ChangesetId,
        /// The plan.
        plan: PlanId,
    },
    /// A content is too long to be shown or merged as text.
    #[error("a content of {bytes} bytes is more than the {limit} that are read into memory")]
    TooLong {
        /// How long it is.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The plan has no changes, or none in the part that was asked for.
    #[error("plan {plan} has nothing to {act}")]
    Nothing {
        /// The plan.
        plan: PlanId,
        /// Apply, or undo.
        act: &'static str,
    },
    /// A pattern of paths cannot be read.
    #[error("`{pattern}` is not a pattern of paths: {reason}")]
    BadPattern {
        /// As it was given.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Actors changed the same lines, or clash in another way. Nothing was touched.
    #[error("plan {plan} has {}, {}; nothing was touched", counted(conflicts.len(), "conflict"), named(conflicts.len(), &first(conflicts)))]
    Conflicts {
        /// The plan.
        plan: PlanId,
        /// The conflicts.
        conflicts: Vec<Conflict>,
    },
    /// An undo of a part says what is left of the plan that it undoes.
    #[error("plan {plan} cannot be removed: plan {by} tells by it what is left in the files")]
    StillNeeded {
        /// The undo.
        plan: PlanId,
        /// The plan.
        by: PlanId,
    },
    /// Some actors' changes cannot be taken out of a file that others changed on top of them. Nothing was touched.
    #[error(
        "`{path}` cannot be taken back for {} alone: {} changed the same lines, or built on them; nothing was touched",
        listed(actors),
        listed(others)
    )]
    Entangled {
        /// The plan that was to be undone.
        plan: PlanId,
        /// The file.
        path: String,
        /// Whose changes were to be taken back.
        actors: Box<[Actor]>,
        /// Who changed it too.
        others: Box<[Actor]>,
    },
    /// Files are not what the plan was made for. Nothing was touched.
    #[error("plan {plan} found {} changed since it was recorded, {}; nothing was touched", counted(drifts.len(), "file"), named(drifts.len(), &drifts[0].key.path.show()))]
    Drifted {
        /// The plan.
        plan: PlanId,
        /// The files; at least one.
        drifts: Vec<Drift>,
        /// Whether edits of other lines were to be merged, so that only others are left.
        is_merging: bool,
    },
    /// Files were changed since a plan left them. Nothing was touched.
    #[error("{} changed since plan {plan} was applied, {}; nothing was touched", counted_were(files.len(), "file"), named(files.len(), &files[0].drift.key.path.show()))]
    ChangedSince {
        /// The plan that was to be undone.
        plan: PlanId,
        /// The files, with who changed them; at least one.
        files: Vec<ChangedSince>,
    },
    /// The plan's apply was begun on another machine, and only there it can be finished.
    #[error("applying plan {plan} was begun on {machine} and can be finished only there")]
    OtherMachine {
        /// The plan.
        plan: PlanId,
        /// The machine.
        machine: Machine,
    },
    /// Files could not be changed or looked at. It leaves all files as they were; after that point it is the source of [`Error::CutOff`].
    #[error("the folders of the plan could not be used")]
    Files {
        /// What the file transaction said.
        source: Box<filetx::Error>,
    },
    /// An apply was cut off after the point from which it is always finished. The plan stays *applying* until then.
    #[error(
        "applying plan {plan} was cut off; the next command that names the plan or its folders finishes it"
    )]
    CutOff {
        /// The plan.
        plan: PlanId,
        /// What cut it off.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What is kept about applying a plan cannot be read.
    #[error("what is kept about applying plan {plan} cannot be read")]
    Intent {
        /// The plan.
        plan: PlanId,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The plan holds work that was not applied.
    #[error("plan {plan} is {state} and holds {}", counted(*changesets, "unapplied changeset"))]
    Unapplied {
        /// The plan.
        plan: PlanId,
        /// Its state.
        state: State,
        /// How many.
        changesets: usize,
    },
}

impl Error {
    /// Class of the error.
    pub fn kind(&self) -> ErrorKind {
        self.classify().0
    }

    /// Stable name of the error, for scripts.
    pub fn code(&self) -> &'static str {
        self.classify().1
    }

    fn classify(&self) -> (ErrorKind, &'static str) {
        match self {
            Self::Store(error) => (store_kind(error), error.code()),
            Self::Root { source, .. } | Self::Files { source } => (source.kind(), source.code()),
            Self::BadRoot { .. } => (ErrorKind::NotFound, "bad-root"),
            Self::ForeignRoot { .. } => (ErrorKind::Usage, "foreign-root"),
            Self::BadPath { .. } => (ErrorKind::Usage, "bad-path"),
            Self::NotThere { .. } => (ErrorKind::NotFound, "not-there"),
            Self::AlreadyThere { .. } => (ErrorKind::Conflict, "already-there"),
            Self::WrongKind { .. } => (ErrorKind::Conflict, "wrong-kind"),
            Self::OtherBase { .. } => (ErrorKind::Conflict, "other-base"),
            Self::Doubtful { .. } => (ErrorKind::OutcomeUnknown, "doubtful"),
            Self::IllegalStep { .. } => (ErrorKind::Conflict, "illegal-step"),
            Self::UnknownState { .. } => (ErrorKind::Usage, "unknown-state"),
            Self::OutsideScope { .. } => (ErrorKind::Bug, "outside-scope"),
            Self::Unsettled { .. } => (ErrorKind::Busy, "unsettled"),
            Self::Detail { .. } => (ErrorKind::Error, "plan-detail"),
            Self::NoConflict { .. } => (ErrorKind::NotFound, "no-conflict"),
            Self::NotTheirs { .. } => (ErrorKind::Usage, "not-theirs"),
            Self::ReservedTool { .. } => (ErrorKind::Usage, "reserved-tool"),
            Self::ForeignChangeset { .. } => (ErrorKind::Conflict, "foreign-changeset"),
            Self::TooLong { .. } => (ErrorKind::Error, "too-long"),
            Self::Nothing { .. } => (ErrorKind::NotFound, "nothing-to-do"),
            Self::BadPattern { .. } => (ErrorKind::Usage, "bad-pattern"),
            Self::Conflicts { .. } => (ErrorKind::Conflict, "conflicts"),
            Self::Entangled { .. } => (ErrorKind::Conflict, "entangled"),
            Self::StillNeeded { .. } => (ErrorKind::Conflict, "still-needed"),
            Self::Drifted { .. } => (ErrorKind::Conflict, "drifted"),
            Self::ChangedSince { .. } => (ErrorKind::Conflict, "changed-since"),
            Self::OtherMachine { .. } => (ErrorKind::Conflict, "other-machine"),
            Self::CutOff { .. } => (ErrorKind::OutcomeUnknown, "cut-off"),
            Self::Intent { .. } => (ErrorKind::Error, "plan-intent"),
            Self::Unapplied { .. } => (ErrorKind::Conflict, "unapplied"),
        }
    }

    /// What the failed call left.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Store(error) => error.outcome(),
            Self::CutOff { .. } => Outcome::Unknown,
            _ => Outcome::Aborted,
        }
    }
}

/// Class of an error of the store, which does not know the classes of `filetx`.
fn store_kind(error: &store::Error) -> ErrorKind {
    use store::Error as E;
    match error {
        E::BadText { .. } | E::Ambiguous { .. } | E::Limit { .. } | E::Url { .. } => ErrorKind::Usage,
        E::NotFound { .. } => ErrorKind::NotFound,
        E::NameTaken { .. }
        | E::Reused { .. }
        | E::Conflict { .. }
        | E::Grown { .. }
        | E::WrongState { .. }
        | E::StillOpen { .. }
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
        | E::Place { .. }
        | E::Gone { .. }
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

/// What was to be done with a plan that was to come to this state.
fn deed(to: State) -> &'static str {
    match to {
        State::Queued => "begin again",
        State::Running => "be worked on",
        State::Ready => "be resolved, or made ready",
        State::Applying | State::Applied => "be applied",
        State::Conflict => "be found in conflict",
        State::Failed => "fail",
        State::Cancelled => "be cancelled",
        State::Undone => "be undone",
    }
}

/// The only path, or the first of several.
fn named(count: usize, first: &str) -> String {
    if count == 1 { format!("`{first}`") } else { format!("`{first}` among them") }
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
            seen: None,
            found: "a folder".to_owned(),
        };
        vec![
            Error::Store(store::Error::Stopped { path: "state.db".into() }),
            Error::Root { root: "/srv".into(), path: path(), source: Box::new(bad_path()) },
            Error::BadRoot { root: "/srv".into(), reason: "it is not a folder".into() },
            Error::ForeignRoot { plan, root: "/tmp".into(), roots: vec!["/srv".into()] },
            Error::BadPath { path: path(), reason: "`.git` is protected".into() },
            Error::NotThere { path: path(), act: "delete" },
            Error::AlreadyThere { path: path() },
            Error::WrongKind { path: path(), found: "a folder" },
            Error::OtherBase { path: path() },
            Error::Doubtful { path: path() },
            Error::IllegalStep {
                plan,
                state: State::Queued,
                to: State::Applied,
                allowed: State::Queued.next(),
            },
            Error::UnknownState { text: "flying".into() },
            Error::OutsideScope { path: path() },
            Error::Unsettled { plan },
            Error::Detail { plan, source: serde_json::from_str::<u8>("x").unwrap_err() },
            Error::NoConflict { plan, path: path() },
            Error::NotTheirs { actor: actor.clone(), path: path(), actors: vec![actor.clone()] },
            Error::ReservedTool { changeset, tool: "agents plan resolve".into() },
            Error::ForeignChangeset { changeset, plan },
            Error::TooLong { bytes: 9, limit: 8 },
            Error::Nothing { plan, act: "apply" },
            Error::BadPattern { pattern: "[".into(), reason: "it ends too early".into() },
            Error::Conflicts { plan, conflicts: Vec::new() },
            Error::StillNeeded { plan, by: plan },
            Error::Entangled {
                plan,
                path: path(),
                actors: [actor.clone()].into(),
                others: [actor.clone()].into(),
            },
            Error::Drifted { plan, drifts: vec![drift()], is_merging: false },
            Error::ChangedSince { plan, files: vec![ChangedSince { drift: drift(), by: Vec::new() }] },
            Error::OtherMachine { plan, machine: Machine { host: "far".into(), id: String::new() } },
            Error::Files { source: Box::new(bad_path()) },
            Error::CutOff { plan, source: Box::new(bad_path()) },
            Error::Intent { plan, source: serde_json::from_str::<u8>("x").unwrap_err() },
            Error::Unapplied { plan, state: State::Ready, changesets: 1 },
        ]
    }

    #[test]
    fn each_kind_has_a_code_of_its_own_a_plain_text_and_perhaps_a_hint() {
        let errors = all();
        let codes: BTreeSet<&str> = errors.iter().map(Error::code).collect();
        assert_eq!(codes.len(), errors.len() - 2, "a root and the folders have the code of their cause");
        for error in &errors {
            let text = error.to_string();
            assert!(!text.ends_with('.'), "{text}");
            assert!(error.source().is_none_or(|cause| !text.contains(&cause.to_string())), "{text}");
        }
    }

    #[test]
    fn only_the_store_and_an_apply_that_was_cut_off_leave_it_open_whether_something_changed() {
        let unknown: Vec<&str> =
            all().iter().filter(|error| error.outcome() == Outcome::Unknown).map(Error::code).collect();
        assert_eq!(unknown, ["store-stopped", "cut-off"]);
    }
}
