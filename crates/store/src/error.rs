//! Errors of the store, one variant per reaction of a caller, and the outcome of a failed write.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use crate::{
    BlobHash, ChangesetId, Epoch, Name, Owner, PlanId, RequestId, Resource, State, Status, Time, Version,
};

/// The error of the engine or of the system.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// The outcome of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was changed.
    Aborted,
    /// The write may be durable or not. Repeating the call with the same request id resolves it.
    Unknown,
}

/// An error of the store. Its cause, if any, is the `source`.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A text does not follow the rules of its type.
    #[error("invalid {what} `{text}`: {reason}")]
    InvalidText {
        /// The type of the text.
        what: &'static str,
        /// The text.
        text: String,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// The object does not exist.
    #[error("there is no {what} `{name}`")]
    NotFound {
        /// The type of the object.
        what: &'static str,
        /// The name or id that was looked up.
        name: String,
    },
    /// A prefix matches the ids of several plans or changesets.
    #[error("`{prefix}` matches several {what}s")]
    Ambiguous {
        /// The type of the objects.
        what: &'static str,
        /// The prefix.
        prefix: String,
        /// Some of the matching ids.
        candidates: Vec<String>,
    },
    /// Another plan, or another node of the plan, has this name.
    #[error("the name `{name}` is taken")]
    NameTaken {
        /// The name.
        name: Name,
    },
    /// The id, or request id, was already used for something else.
    #[error("{what} `{id}` was already used for something else")]
    IdReused {
        /// The type of the id.
        what: &'static str,
        /// The id.
        id: String,
    },
    /// The plan or node is not in the state and version that the caller expected: a concurrent call
    /// changed it.
    #[error("{resource} is now {state} (version {version}): {by} changed it")]
    Conflict {
        /// The plan or node.
        resource: Resource,
        /// The present state.
        state: State,
        /// The present version.
        version: Version,
        /// The actor of the last change.
        by: String,
    },
    /// The plan got changesets or entries since the caller read it.
    #[error("plan {plan} got changesets or entries since it was read")]
    PlanChanged {
        /// The plan.
        plan: PlanId,
    },
    /// The state of the plan does not allow the call.
    #[error("plan {plan} is {state}, which does not allow this")]
    WrongState {
        /// The plan.
        plan: PlanId,
        /// The present state.
        state: State,
    },
    /// The plan has open changesets.
    #[error("plan {plan} has {count} open changesets, {first} among them")]
    ChangesetsOpen {
        /// The plan.
        plan: PlanId,
        /// Number of open changesets.
        count: u64,
        /// One of them.
        first: ChangesetId,
    },
    /// The changeset is sealed or abandoned.
    #[error("changeset {changeset} is {status}")]
    Closed {
        /// The changeset.
        changeset: ChangesetId,
        /// Its status.
        status: Status,
    },
    /// The lease has changed hands.
    #[error(
        "the lease on {resource} was lost: epoch {given} is stale, it is now {current}{}",
        held_by(owner)
    )]
    Stale {
        /// The leased thing.
        resource: Resource,
        /// The epoch of the refused call.
        given: Epoch,
        /// The present epoch.
        current: Epoch,
        /// The present holder.
        owner: Option<Owner>,
    },
    /// Another owner holds the lease.
    #[error("{resource} is held by {owner} until {expires_at}")]
    Held {
        /// The leased thing.
        resource: Resource,
        /// The holder.
        owner: Owner,
        /// Time of expiry by the store's clock, unless the lease is renewed.
        expires_at: Time,
    },
    /// An entry refers to a blob that is not in the store.
    #[error("blob {hash} is not in the store")]
    MissingBlob {
        /// The hash of the blob.
        hash: BlobHash,
    },
    /// The stored bytes of a blob are not those that were hashed.
    #[error("blob {hash} is damaged: {reason}")]
    DamagedBlob {
        /// The hash of the blob.
        hash: BlobHash,
        /// The evidence.
        reason: &'static str,
    },
    /// The bytes of a new blob cannot be read.
    #[error("cannot read the content to store")]
    Source {
        /// The error of the reader.
        source: Arc<io::Error>,
    },
    /// A named limit is exceeded.
    #[error("limit of {limit} exceeded: {what}")]
    Limit {
        /// The limited thing.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// Other processes kept the store busy until the timeout.
    #[error("store `{}` is busy: waited {:.1} s to {action}", path.display(), waited.as_secs_f64())]
    Busy {
        /// The path or URL of the store.
        path: PathBuf,
        /// The attempted action.
        action: &'static str,
        /// Time waited.
        waited: Duration,
    },
    /// The store was made by a newer version. Nothing was touched.
    #[error("store `{}` has schema version {found}; this program supports version {supported}", path.display())]
    NewerSchema {
        /// The path or URL of the store.
        path: PathBuf,
        /// Its schema version.
        found: u32,
        /// The newest schema version that this program supports.
        supported: u32,
    },
    /// The path or schema holds something else. Nothing was touched.
    #[error("`{}` is not a store: {reason}", path.display())]
    NotAStore {
        /// The path.
        path: PathBuf,
        /// The evidence.
        reason: &'static str,
    },
    /// The store's file is damaged, or a row has values that this program does not write. Nothing
    /// was touched.
    #[error("store `{}` is damaged: cannot {action}", path.display())]
    Damaged {
        /// The path or URL of the store.
        path: PathBuf,
        /// The attempted action.
        action: &'static str,
        /// The error of the engine.
        source: Cause,
    },
    /// The folder or file of the store, or the password file, cannot be created or read.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The folder or file.
        path: PathBuf,
        /// The error of the system.
        source: Arc<io::Error>,
    },
    /// The store's file was removed or replaced while it was open. Nothing more is written to it.
    #[error("store `{}` was removed or replaced while it was open", path.display())]
    Removed {
        /// The path of the store.
        path: PathBuf,
    },
    /// The disk is full. Nothing was changed.
    #[error("store `{}`: cannot {action}, its disk is full; nothing was changed", path.display())]
    Full {
        /// The path of the store.
        path: PathBuf,
        /// The attempted action.
        action: &'static str,
        /// The error of the engine.
        source: Cause,
    },
    /// The store's file, or one beside it, cannot be opened for writing, which reading needs, too.
    /// Nothing was changed.
    #[error("store `{}`: cannot {action}: the file, or one beside it, cannot be opened for writing", path.display())]
    Unwritable {
        /// The path of the store.
        path: PathBuf,
        /// The attempted action.
        action: &'static str,
        /// The error of the engine.
        source: Cause,
    },
    /// The engine failed for a reason that the caller cannot remove, such as a failing disk.
    #[error("store `{}`: cannot {action}{}", path.display(), outcome_text(*outcome))]
    Engine {
        /// The path or URL of the store.
        path: PathBuf,
        /// The attempted action.
        action: &'static str,
        /// The outcome of the write.
        outcome: Outcome,
        /// The error of the engine.
        source: Cause,
    },
    /// The URL of the store is invalid.
    #[error("invalid store URL: {reason}")]
    Url {
        /// The reason, without the password.
        reason: String,
    },
    /// The server cannot be reached.
    #[error("cannot reach store `{}`", path.display())]
    Unreachable {
        /// The URL of the store.
        path: PathBuf,
        /// The error of the system or the server.
        source: Cause,
    },
    /// The server denies access: user, password, database or permissions.
    #[error("the server of store `{}` denies access", path.display())]
    Denied {
        /// The URL of the store.
        path: PathBuf,
        /// The error of the server.
        source: Cause,
    },
    /// The server accepts no writes: a standby, or one that is set to read-only.
    #[error("store `{}` is read-only", path.display())]
    ReadOnly {
        /// The URL of the store.
        path: PathBuf,
        /// The error of the server.
        source: Cause,
    },
    /// A store is not a copy of another, and cannot become one.
    #[error("`{to}` is not a copy of `{from}`: {reason}")]
    NotACopy {
        /// The source of the copy.
        from: String,
        /// The target of the copy.
        to: String,
        /// The reason.
        reason: &'static str,
    },
    /// The writer panicked, or this process was forked since the store was opened.
    #[error("store `{}`: its writer has stopped", path.display())]
    Stopped {
        /// The path or URL of the store.
        path: PathBuf,
    },
}

/// The result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn invalid_text(what: &'static str, text: impl Into<String>, reason: &'static str) -> Self {
        Self::InvalidText { what, text: text.into(), reason }
    }

    pub(crate) fn not_found(what: &'static str, name: impl fmt::Display) -> Self {
        Self::NotFound { what, name: name.to_string() }
    }

    pub(crate) fn request_reused(request: RequestId) -> Self {
        Self::IdReused { what: "request id", id: request.to_string() }
    }

    /// Returns the stable code of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidText { .. } => "invalid-text",
            Self::NotFound { .. } => "not-found",
            Self::Ambiguous { .. } => "ambiguous",
            Self::NameTaken { .. } => "name-taken",
            Self::IdReused { .. } => "id-reused",
            Self::Conflict { .. } => "conflict",
            Self::PlanChanged { .. } => "plan-changed",
            Self::WrongState { .. } => "wrong-state",
            Self::ChangesetsOpen { .. } => "changesets-open",
            Self::Closed { .. } => "changeset-closed",
            Self::Stale { .. } => "lease-stale",
            Self::Held { .. } => "lease-held",
            Self::MissingBlob { .. } => "blob-missing",
            Self::DamagedBlob { .. } => "blob-damaged",
            Self::Source { .. } => "source-unreadable",
            Self::Limit { .. } => "limit-exceeded",
            Self::Busy { .. } => "store-busy",
            Self::NewerSchema { .. } => "store-newer",
            Self::NotAStore { .. } => "not-a-store",
            Self::Damaged { .. } => "store-damaged",
            Self::Io { .. } => "store-io",
            Self::Removed { .. } => "store-removed",
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

    /// Tells whether the store looked for the effect of the call, did not find it, and refused.
    /// Then an earlier call with the same id, whose outcome was unknown, had no effect either. A
    /// missing object may have been removed after the call took effect, so it does not count.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::NameTaken { .. }
                | Self::IdReused { .. }
                | Self::Conflict { .. }
                | Self::PlanChanged { .. }
                | Self::WrongState { .. }
                | Self::ChangesetsOpen { .. }
                | Self::Closed { .. }
                | Self::Stale { .. }
                | Self::Held { .. }
                | Self::MissingBlob { .. }
        )
    }

    /// Tells whether the server of the store is lost for the moment: it cannot be reached, does not
    /// answer, or became a standby. A later call may succeed.
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::ReadOnly { .. } => true,
            Self::Engine { source, .. } => crate::postgres::is_lost_server(source),
            _ => false,
        }
    }

    /// Returns the outcome of the failed call.
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

fn outcome_text(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Aborted => "; nothing was changed",
        Outcome::Unknown => "; the outcome is unknown",
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
            |outcome| Error::Engine { path: "state.db".into(), action: "seal", outcome, source: cause() };
        vec![
            Error::invalid_text("name", "@x", "it begins with @"),
            Error::not_found("plan", "x"),
            Error::Ambiguous { what: "plan", prefix: "01".into(), candidates: vec!["01A".into()] },
            Error::NameTaken { name: Name::parse("x").unwrap() },
            Error::request_reused(RequestId::new()),
            Error::Conflict { resource, state: state.clone(), version: Version(2), by: "ana".into() },
            Error::PlanChanged { plan },
            Error::WrongState { plan, state },
            Error::ChangesetsOpen { plan, count: 2, first: changeset },
            Error::Closed { changeset, status: Status::Sealed },
            Error::Stale { resource, given: Epoch(1), current: Epoch(2), owner: None },
            Error::Held { resource, owner, expires_at: Time::now() },
            Error::MissingBlob { hash: BlobHash::of(b"") },
            Error::DamagedBlob { hash: BlobHash::of(b""), reason: "a chunk is missing" },
            Error::Source { source: cause() },
            Error::Limit { what: "a chunk", limit: 1 },
            Error::Busy { path: path.clone(), action: "seal", waited: Duration::from_secs(30) },
            Error::NewerSchema { path: path.clone(), found: 2, supported: 1 },
            Error::NotAStore { path: path.clone(), reason: "it is not a file" },
            Error::Damaged { path: path.clone(), action: "seal", source: cause() },
            Error::Io { action: "make", path: path.clone(), source: cause() },
            Error::Removed { path: path.clone() },
            Error::Full { path: path.clone(), action: "seal", source: cause() },
            Error::Unwritable { path: path.clone(), action: "open the store", source: cause() },
            engine(Outcome::Aborted),
            engine(Outcome::Unknown),
            Error::Url { reason: "it names no host".into() },
            Error::Unreachable { path: path.clone(), source: cause() },
            Error::Denied { path: path.clone(), source: cause() },
            Error::ReadOnly { path: path.clone(), source: cause() },
            Error::NotACopy { from: "sqlite:a".into(), to: "sqlite:b".into(), reason: "it has other plans" },
            Error::Stopped { path },
        ]
    }

    #[test]
    fn each_variant_has_a_unique_code_and_a_plain_message() {
        let errors = all();
        let codes: BTreeSet<&str> = errors.iter().map(Error::code).collect();
        assert_eq!(codes.len(), errors.len() - 1, "the two engine errors share one");
        for error in &errors {
            let text = error.to_string();
            assert!(!text.ends_with('.') && !text.contains("on fire"), "{text}");
        }
    }

    #[test]
    fn only_two_variants_may_have_an_unknown_outcome() {
        let unknown: Vec<&str> =
            all().iter().filter(|error| error.outcome() == Outcome::Unknown).map(Error::code).collect();
        assert_eq!(unknown, ["store-engine", "store-stopped"]);
    }
}
