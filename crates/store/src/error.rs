//! What can go wrong, by what a caller may do about it, and what a failed write left.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use crate::{
    BlobHash, ChangesetId, Epoch, Name, Owner, PlanId, RequestId, Resource, State, Status, Time, Version,
};

/// What the engine or the system said.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// What a failed call left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was changed.
    Aborted,
    /// It may be durable or not. Asking again with the same request id makes sure, and it happens once.
    Unknown,
}

/// Why a call failed. The cause, where there is one, is the `source`.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A text is not what it is to be.
    #[error("`{text}` is not usable as {what}: {reason}")]
    BadText {
        /// What it was to be.
        what: &'static str,
        /// As it was given.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is no such thing.
    #[error("there is no {what} `{name}`")]
    NotFound {
        /// What kind of thing.
        what: &'static str,
        /// As it was asked for.
        name: String,
    },
    /// The beginning of an id fits several plans, or several changesets.
    #[error("`{prefix}` fits several {what}s")]
    Ambiguous {
        /// What kind of thing.
        what: &'static str,
        /// As it was given.
        prefix: String,
        /// Some of them.
        candidates: Vec<String>,
    },
    /// Another plan, or another node of the plan, has this name.
    #[error("the name `{name}` is taken")]
    NameTaken {
        /// The name.
        name: Name,
    },
    /// Something else was made under this id, or with this request id, before.
    #[error("{what} `{id}` was used before, for something else")]
    Reused {
        /// What kind of id.
        what: &'static str,
        /// The id.
        id: String,
    },
    /// Somebody else was faster: the plan or node is not in the state and version that the caller expected.
    #[error("{resource} is {state} (version {version}) since {by} changed it, not as expected")]
    Conflict {
        /// The plan or node.
        resource: Resource,
        /// Its state now.
        state: State,
        /// Its version now.
        version: Version,
        /// Who changed it last.
        by: String,
    },
    /// The plan holds changesets or entries that came after the caller looked.
    #[error("plan {plan} has got changesets or entries since it was looked at")]
    Grown {
        /// The plan.
        plan: PlanId,
    },
    /// The plan is in a state in which this may not be done.
    #[error("plan {plan} is {state}, which does not allow this")]
    WrongState {
        /// The plan.
        plan: PlanId,
        /// Its state.
        state: State,
    },
    /// Changesets of the plan are open still.
    #[error("plan {plan} has {count} open changesets, {first} among them")]
    StillOpen {
        /// The plan.
        plan: PlanId,
        /// How many.
        count: u64,
        /// One of them.
        first: ChangesetId,
    },
    /// The changeset takes no entries any more.
    #[error("changeset {changeset} is {status}")]
    Closed {
        /// The changeset.
        changeset: ChangesetId,
        /// How it ended.
        status: Status,
    },
    /// The lease has changed hands since.
    #[error("{resource} was taken over: epoch {given} is past, it is {current} now{}", held_by(owner))]
    Stale {
        /// What the lease is on.
        resource: Resource,
        /// The epoch of the refused call.
        given: Epoch,
        /// The epoch now.
        current: Epoch,
        /// Who holds it now.
        owner: Option<Owner>,
    },
    /// Somebody else holds the lease.
    #[error("{resource} is held by {owner} until {expires_at}")]
    Held {
        /// What the lease is on.
        resource: Resource,
        /// Who holds it.
        owner: Owner,
        /// Until when, by the store's clock, unless it is renewed.
        expires_at: Time,
    },
    /// A content that is referred to is not in the store.
    #[error("content {hash} is not in the store")]
    MissingBlob {
        /// The content.
        hash: BlobHash,
    },
    /// A content reads back as something else.
    #[error("content {hash} is damaged: {reason}")]
    DamagedBlob {
        /// The content.
        hash: BlobHash,
        /// How we can tell.
        reason: &'static str,
    },
    /// The source of a content could not be read.
    #[error("cannot read the content to store")]
    Source {
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A named limit would be passed.
    #[error("{what} would pass the limit of {limit}")]
    Limit {
        /// What.
        what: &'static str,
        /// How much is allowed.
        limit: u64,
    },
    /// Others kept the store busy until the timeout.
    #[error("store `{}`: other processes were writing to it for {:.1} s while waiting to {doing}", path.display(), waited.as_secs_f64())]
    Busy {
        /// The store.
        path: PathBuf,
        /// What we wanted to do.
        doing: &'static str,
        /// How long we waited.
        waited: Duration,
    },
    /// A newer program made this store. Nothing was touched.
    #[error("store `{}` has schema version {found}; this program knows version {known}", path.display())]
    NewerSchema {
        /// The store.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest that this program knows.
        known: u32,
    },
    /// There is something else at the store's path. Nothing was touched.
    #[error("`{}` is not a store: {reason}", path.display())]
    NotAStore {
        /// The path.
        path: PathBuf,
        /// What is there.
        reason: &'static str,
    },
    /// The store's file is damaged, or a row of it is none that this program writes. Nothing was touched.
    #[error("store `{}` is damaged: cannot {doing}", path.display())]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What we were doing.
        doing: &'static str,
        /// What the engine said.
        source: Cause,
    },
    /// The folder or file of the store cannot be made or looked at.
    #[error("cannot {doing} `{}`", path.display())]
    Place {
        /// What we were doing.
        doing: &'static str,
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The store's file was removed or replaced while it was open, so nothing more is written to it.
    #[error("store `{}` was removed or replaced while it was open", path.display())]
    Gone {
        /// The store.
        path: PathBuf,
    },
    /// The disk that the store is on is full. Nothing was changed.
    #[error("store `{}`: cannot {doing}, its disk is full; nothing was changed", path.display())]
    Full {
        /// The store.
        path: PathBuf,
        /// What we were doing.
        doing: &'static str,
        /// What the engine said.
        source: Cause,
    },
    /// The store's file, or one of those beside it, cannot be opened for writing, which reading needs too. Nothing was changed.
    #[error("store `{}`: cannot {doing}: the file, or one beside it, cannot be opened for writing", path.display())]
    Unwritable {
        /// The store.
        path: PathBuf,
        /// What we were doing.
        doing: &'static str,
        /// What the engine said.
        source: Cause,
    },
    /// The engine refused, for a reason that the caller can do nothing about by asking otherwise: a failing disk, a full one of a server.
    #[error("store `{}`: cannot {doing}{}", path.display(), left(*outcome))]
    Engine {
        /// The store.
        path: PathBuf,
        /// What we were doing.
        doing: &'static str,
        /// What it left.
        outcome: Outcome,
        /// What the engine said.
        source: Cause,
    },
    /// The URL of the store is not one that can be used.
    #[error("the URL of the store cannot be used: {reason}")]
    Url {
        /// What is wrong with it; without the password.
        reason: String,
    },
    /// The server of the store cannot be reached.
    #[error("cannot reach store `{}`", path.display())]
    Unreachable {
        /// The store.
        path: PathBuf,
        /// What the system or the server said.
        source: Cause,
    },
    /// The server of the store does not let us in: user, password, database or permissions.
    #[error("the server of store `{}` does not let us in", path.display())]
    Denied {
        /// The store.
        path: PathBuf,
        /// What the server said.
        source: Cause,
    },
    /// The server of the store takes no writes: a standby, or one that was set to it.
    #[error("store `{}` takes no writes", path.display())]
    ReadOnly {
        /// The store.
        path: PathBuf,
        /// What the server said.
        source: Cause,
    },
    /// A store is no copy of another, and cannot become one.
    #[error("`{to}` is no copy of `{from}`: {reason}")]
    NotACopy {
        /// What was to be copied.
        from: String,
        /// Where to.
        to: String,
        /// Why.
        reason: &'static str,
    },
    /// Whoever wrote for all was cut off, or this process was forked since the store was opened.
    #[error("store `{}`: its writer has ended", path.display())]
    Stopped {
        /// The store.
        path: PathBuf,
    },
}

/// What a call gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn bad_text(what: &'static str, text: impl Into<String>, reason: &'static str) -> Self {
        Self::BadText { what, text: text.into(), reason }
    }

    pub(crate) fn not_found(what: &'static str, name: impl fmt::Display) -> Self {
        Self::NotFound { what, name: name.to_string() }
    }

    pub(crate) fn request_reused(request: RequestId) -> Self {
        Self::Reused { what: "request id", id: request.to_string() }
    }

    /// A name for this kind of error that does not change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadText { .. } => "bad-text",
            Self::NotFound { .. } => "not-found",
            Self::Ambiguous { .. } => "ambiguous",
            Self::NameTaken { .. } => "name-taken",
            Self::Reused { .. } => "id-reused",
            Self::Conflict { .. } => "conflict",
            Self::Grown { .. } => "plan-grown",
            Self::WrongState { .. } => "wrong-state",
            Self::StillOpen { .. } => "still-open",
            Self::Closed { .. } => "changeset-closed",
            Self::Stale { .. } => "lease-stale",
            Self::Held { .. } => "lease-held",
            Self::MissingBlob { .. } => "blob-missing",
            Self::DamagedBlob { .. } => "blob-damaged",
            Self::Source { .. } => "source",
            Self::Limit { .. } => "limit",
            Self::Busy { .. } => "store-busy",
            Self::NewerSchema { .. } => "store-newer",
            Self::NotAStore { .. } => "not-a-store",
            Self::Damaged { .. } => "store-damaged",
            Self::Place { .. } => "store-place",
            Self::Gone { .. } => "store-gone",
            Self::Full { .. } => "store-full",
            Self::Unwritable { .. } => "store-unwritable",
            Self::Engine { .. } => "store-engine",
            Self::Url { .. } => "store-url",
            Self::Unreachable { .. } => "store-unreachable",
            Self::Denied { .. } => "store-denied",
            Self::ReadOnly { .. } => "store-read-only",
            Self::NotACopy { .. } => "not-a-copy",
            Self::Stopped { .. } => "store-stopped",
        }
    }

    /// Whether the store looked for what the call wanted to write, did not find it, and refused. So an earlier call with the same id, whose
    /// outcome was unknown, did not happen either. What is not found may have been removed after it happened.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::NameTaken { .. }
                | Self::Reused { .. }
                | Self::Conflict { .. }
                | Self::Grown { .. }
                | Self::WrongState { .. }
                | Self::StillOpen { .. }
                | Self::Closed { .. }
                | Self::Stale { .. }
                | Self::Held { .. }
                | Self::MissingBlob { .. }
        )
    }

    /// What the failed call left.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Engine { outcome, .. } => *outcome,
            Self::Stopped { .. } => Outcome::Unknown,
            _ => Outcome::Aborted,
        }
    }
}

fn held_by(owner: &Option<Owner>) -> String {
    owner.as_ref().map_or_else(String::new, |owner| format!(", held by {owner}"))
}

fn left(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Aborted => "; nothing was changed",
        Outcome::Unknown => "; whether it was written is not known",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn all() -> Vec<Error> {
        let (path, cause) = (PathBuf::from("state.db"), || Arc::new(io::Error::other("disk on fire")));
        let (plan, changeset) = (PlanId::new(), ChangesetId::new());
        let (resource, state) = (Resource::Plan(plan), State::parse("ready").unwrap());
        let owner = Owner::parse("machine 1").unwrap();
        let engine =
            |outcome| Error::Engine { path: "state.db".into(), doing: "seal", outcome, source: cause() };
        vec![
            Error::bad_text("name", "@x", "it begins with @"),
            Error::not_found("plan", "x"),
            Error::Ambiguous { what: "plan", prefix: "01".into(), candidates: vec!["01A".into()] },
            Error::NameTaken { name: Name::parse("x").unwrap() },
            Error::request_reused(RequestId::new()),
            Error::Conflict { resource, state: state.clone(), version: Version(2), by: "ana".into() },
            Error::Grown { plan },
            Error::WrongState { plan, state },
            Error::StillOpen { plan, count: 2, first: changeset },
            Error::Closed { changeset, status: Status::Sealed },
            Error::Stale { resource, given: Epoch(1), current: Epoch(2), owner: None },
            Error::Held { resource, owner, expires_at: Time::now() },
            Error::MissingBlob { hash: BlobHash::of(b"") },
            Error::DamagedBlob { hash: BlobHash::of(b""), reason: "its hash is another" },
            Error::Source { source: cause() },
            Error::Limit { what: "a chunk", limit: 1 },
            Error::Busy { path: path.clone(), doing: "seal", waited: Duration::from_secs(30) },
            Error::NewerSchema { path: path.clone(), found: 2, known: 1 },
            Error::NotAStore { path: path.clone(), reason: "it is not a file" },
            Error::Damaged { path: path.clone(), doing: "seal", source: cause() },
            Error::Place { doing: "make", path: path.clone(), source: cause() },
            Error::Gone { path: path.clone() },
            Error::Full { path: path.clone(), doing: "seal", source: cause() },
            Error::Unwritable { path: path.clone(), doing: "open it", source: cause() },
            engine(Outcome::Aborted),
            engine(Outcome::Unknown),
            Error::Url { reason: "it names no host".into() },
            Error::Unreachable { path: path.clone(), source: cause() },
            Error::Denied { path: path.clone(), source: cause() },
            Error::ReadOnly { path: path.clone(), source: cause() },
            Error::NotACopy {
                from: "sqlite:a".into(),
                to: "sqlite:b".into(),
                reason: "it has plans of its own",
            },
            Error::Stopped { path },
        ]
    }

    #[test]
    fn each_kind_has_a_code_of_its_own_and_a_plain_text() {
        let errors = all();
        let codes: BTreeSet<&str> = errors.iter().map(Error::code).collect();
        assert_eq!(codes.len(), errors.len() - 1, "the two of the engine share one");
        for error in &errors {
            let text = error.to_string();
            assert!(!text.ends_with('.') && !text.contains("on fire"), "{text}");
        }
    }

    #[test]
    fn only_two_leave_it_open_whether_something_changed() {
        let unknown: Vec<&str> =
            all().iter().filter(|error| error.outcome() == Outcome::Unknown).map(Error::code).collect();
        assert_eq!(unknown, ["store-engine", "store-stopped"]);
    }
}
