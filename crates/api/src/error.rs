//! Errors of the façade. Each has a kind, which decides the exit code, and a stable code.

use std::io;
use std::path::PathBuf;

use config::Key;
use filetx::io_code;

use crate::{ErrorData, Kind};

/// The error types of the services, for frontends that give hints.
pub mod errors {
    pub use config::{Error as ConfigError, Origin, Scope};
    pub use context::{Error as ContextError, MessageError};
    pub use executor::Error as RunError;
    pub use filetx::{Error as FileError, Obstacle};
    pub use plan::{Actor, Error as PlanError, PlanId, State};
    pub use store::{Error as StoreError, Outcome, Resource};
}

/// Suggests what to do about an error, in the words of a frontend: a command line names its commands.
pub type HintFor = fn(&Error) -> Vec<String>;

/// Error of a call.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Error of configuration.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// Error of a context.
    #[error(transparent)]
    Context(#[from] context::Error),
    /// Error of a plan or changeset.
    #[error(transparent)]
    Plan(#[from] plan::Error),
    /// Error of a run.
    #[error(transparent)]
    Run(executor::Error),
    /// An option has a value that is not among its choices.
    #[error("invalid value `{value}` for {option}")]
    InvalidChoice {
        /// Name of the option.
        option: &'static str,
        /// Value as given.
        value: String,
        /// Valid values.
        choices: Vec<&'static str>,
    },
    /// No plan has this id or name.
    #[error("there is no plan `{name}`")]
    UnknownPlan {
        /// Id or name as given.
        name: String,
        /// Most similar name of a plan.
        nearest: Option<String>,
    },
    /// The plan has no changeset of this actor.
    #[error("plan {plan} has no actor `{actor}`")]
    NoSuchActor {
        /// Id of the plan.
        plan: plan::PlanId,
        /// Actor as given.
        actor: plan::Actor,
        /// Actors of the plan.
        actors: Vec<plan::Actor>,
    },
    /// There is no store yet, so there are no plans.
    #[error("there are no plans yet")]
    NoPlans,
    /// A path has conflicts below several roots of the plan.
    #[error("plan {plan} has conflicts at `{path}` in several roots")]
    AmbiguousRoot {
        /// Id of the plan.
        plan: plan::PlanId,
        /// Path as given.
        path: String,
    },
    /// No root was given, and the current folder is in no project or git repository.
    #[error("the current folder is in no project or git repository")]
    NoRoot,
    /// `store.url` has a scheme other than `sqlite` and `postgres`.
    #[error("`store.url` has the unsupported scheme `{scheme}`")]
    StoreUrl {
        /// Selection before the colon; the rest may hold a password.
        scheme: String,
    },
    /// An argument holds a password.
    #[error("`{flag}` holds a password; other users of this machine can see arguments")]
    PasswordArgument {
        /// Name of the option.
        flag: &'static str,
    },
    /// A changeset was started or closed, and the call failed afterwards.
    #[error("changeset {changeset} is {done}, but {missing}")]
    AfterChange {
        /// Id of the changeset.
        changeset: store::ChangesetId,
        /// Its new status: `started`, `sealed` or `abandoned`.
        done: &'static str,
        /// The part that is missing.
        missing: &'static str,
        /// Class of the failure.
        kind: Kind,
        /// Cause of the failure.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file that the caller named cannot be read or written.
    #[error("cannot {action} `{}`", path.display())]
    File {
        /// Verb, such as `read`.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A patch does not parse, or does not fit the file.
    #[error("cannot apply the patch to `{path}`: {reason}")]
    Patch {
        /// Path of the patched file.
        path: String,
        /// Reason.
        reason: String,
    },
    /// A checkpoint file does not parse.
    #[error("`{}` is not a checkpoint: cannot parse line {line}", path.display())]
    BadCheckpoint {
        /// Path of the file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
    },
    /// A text is not JSON.
    #[error("cannot parse the value as JSON")]
    NotJson(#[from] context::JsonError),
    /// A JSON Pointer points to no value.
    #[error("context `{name}` has no value at `{pointer}`")]
    NoValue {
        /// Name of the context.
        name: String,
        /// Pointer as given.
        pointer: String,
    },
    /// The run that started this process does not answer any more.
    #[error("the run that started this actor does not answer at `{}`", socket.display())]
    RunGone {
        /// Path of the run's socket.
        socket: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The run speaks another version of the protocol, because another version of the program started
    /// it. Nothing was changed.
    #[error(
        "the run that started this actor has protocol version {version}, this program has version {expected}"
    )]
    RunVersion {
        /// Path of the run's socket.
        socket: PathBuf,
        /// Version of the run.
        version: u32,
        /// Version of this program.
        expected: u32,
    },
    /// The run ended after it received a request and before it replied; the outcome is unknown.
    #[error("the run that started this actor ended before it replied at `{}`", socket.display())]
    NoReply {
        /// Path of the run's socket.
        socket: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The run refused a request.
    #[error("{}", problem.message)]
    Refused {
        /// Reason, as the run described it.
        problem: Box<crate::Problem>,
    },
    /// An actor started a command that is not allowed in a sandbox.
    #[error("`agents {command}` cannot be used in the sandbox of a run")]
    InSandbox {
        /// Name of the command.
        command: &'static str,
    },
    /// An actor asked for a secret.
    #[error("`{key}` is secret and cannot be read in the sandbox of a run")]
    SecretInSandbox {
        /// The key.
        key: String,
    },
    /// Error of a file transaction.
    #[error(transparent)]
    Files(#[from] filetx::Error),
    /// A commit of a file transaction failed.
    #[error(transparent)]
    Commit(#[from] filetx::Failure),
    /// A key has neither a value nor a default.
    #[error("`{key}` is not set")]
    NotSet {
        /// The key.
        key: Key,
    },
    /// The home folder is unknown.
    #[error("no home folder: neither CLEVERAGENTS_HOME nor the home folder of the user is known")]
    NoHome,
    /// The variable names a relative home folder.
    #[error("CLEVERAGENTS_HOME is `{}`, which is not an absolute path", home.display())]
    BadHome {
        /// Path as given.
        home: PathBuf,
    },
    /// The home folder belongs to another user.
    #[error("home folder `{}` belongs to user {owner}; nothing in it was used", home.display())]
    HomeOfOther {
        /// Path of the folder.
        home: PathBuf,
        /// User id of the owner.
        owner: u32,
    },
    /// Other users may write to the home folder.
    #[error("other users may write to home folder `{}` (mode {mode:04o}); nothing in it was used", home.display())]
    HomeNotPrivate {
        /// Path of the folder.
        home: PathBuf,
        /// Permission bits.
        mode: u32,
    },
    /// The folder that was named as project does not exist.
    #[error("there is no project folder `{}`", project.display())]
    NoSuchProject {
        /// Path of the folder.
        project: PathBuf,
    },
    /// The home folder is the `.cleveragents` of the named project: one file would be two scopes.
    #[error("`{}` cannot be a project: its `.cleveragents` is the home folder", project.display())]
    HomeAsProject {
        /// Path of the folder.
        project: PathBuf,
    },
    /// A path is relative, and the current folder is unknown.
    #[error("`{}` is relative, and the current folder does not exist", path.display())]
    NoCurrentFolder {
        /// Path as given.
        path: PathBuf,
    },
    /// An argument holds a secret value.
    #[error("`{key}` is secret and cannot be an argument; other users of this machine can see arguments")]
    SecretArgument {
        /// The key.
        key: Key,
    },
    /// A `KEY=VALUE` flag holds a secret value.
    #[error("`{key}` is secret and cannot be an argument; other users of this machine can see arguments")]
    SecretFlag {
        /// The key.
        key: String,
        /// Environment variable that may hold the value.
        variable: String,
    },
}

impl Error {
    /// Class of the error.
    pub fn kind(&self) -> Kind {
        self.classify().0
    }

    /// Stable name of the error, for scripts.
    pub fn code(&self) -> &str {
        self.classify().1
    }

    /// Plans, paths and actors that the message names, for programs, if there are any.
    pub fn data(&self) -> Option<ErrorData<'_>> {
        match self {
            Self::Plan(error) => ErrorData::of(error),
            _ => None,
        }
    }

    /// A failure after a change of a changeset. Errors of the store that say that nothing was changed
    /// are replaced by their cause.
    pub(crate) fn after_change(
        changeset: store::ChangesetId,
        done: &'static str,
        missing: &'static str,
        error: plan::Error,
    ) -> Self {
        let kind = error.kind();
        let source: Box<dyn std::error::Error + Send + Sync> = match error {
            plan::Error::Store(store::Error::Full { source, .. } | store::Error::Engine { source, .. }) => {
                Box::new(source)
            }
            error => Box::new(error),
        };
        Self::AfterChange { changeset, done, missing, kind, source }
    }

    /// True if an edit was rejected and saved beside the file.
    pub fn edit_is_saved(&self) -> bool {
        matches!(self, Self::Config(config::Error::EditRejected { .. }))
    }

    /// Copies an error that opening keeps for later calls.
    pub(crate) fn again(&self) -> Error {
        match self {
            Self::BadHome { home } => Self::BadHome { home: home.clone() },
            _ => Self::NoHome,
        }
    }

    fn classify(&self) -> (Kind, &str) {
        match self {
            Self::Config(error) => (error.kind(), error.code()),
            Self::Context(error) => (error.kind(), error.code()),
            Self::Plan(error) => (error.kind(), error.code()),
            Self::Run(error) => (error.kind(), error.code()),
            Self::InvalidChoice { .. } => (Kind::Usage, "invalid-choice"),
            Self::UnknownPlan { .. } => (Kind::NotFound, "not-found"),
            Self::NoSuchActor { .. } => (Kind::NotFound, "no-such-actor"),
            Self::NoPlans => (Kind::NotFound, "no-plans"),
            Self::AmbiguousRoot { .. } => (Kind::Usage, "ambiguous-root"),
            Self::NoRoot => (Kind::NotFound, "no-root"),
            Self::StoreUrl { .. } => (Kind::Usage, "store-url"),
            Self::PasswordArgument { .. } => (Kind::Usage, "secret-argument"),
            Self::AfterChange { kind, .. } => (*kind, "changeset-incomplete"),
            Self::File { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                (Kind::NotFound, "no-file")
            }
            Self::File { source, .. } => (Kind::Error, io_code(source)),
            Self::Patch { .. } => (Kind::Conflict, "patch"),
            Self::BadCheckpoint { .. } => (Kind::Error, "bad-checkpoint"),
            Self::NotJson(_) => (Kind::Usage, "not-json"),
            Self::NoValue { .. } => (Kind::NotFound, "no-value"),
            Self::RunGone { .. } => (Kind::NotFound, "run-gone"),
            Self::RunVersion { .. } => (Kind::Usage, "run-version"),
            Self::NoReply { .. } => (Kind::OutcomeUnknown, "no-reply"),
            Self::Refused { problem } => (problem.kind, &problem.code),
            Self::InSandbox { .. } => (Kind::Usage, "in-sandbox"),
            Self::SecretInSandbox { .. } => (Kind::Usage, "secret-in-sandbox"),
            Self::Files(error) => (error.kind(), error.code()),
            Self::Commit(failure) => (failure.kind(), failure.code()),
            Self::NotSet { .. } => (Kind::NotFound, "not-set"),
            Self::NoHome => (Kind::NotFound, "no-home"),
            Self::BadHome { .. } => (Kind::Usage, "bad-home"),
            Self::HomeOfOther { .. } => (Kind::Error, "home-of-other"),
            Self::HomeNotPrivate { .. } => (Kind::Error, "home-not-private"),
            Self::NoSuchProject { .. } => (Kind::NotFound, "no-project"),
            Self::HomeAsProject { .. } => (Kind::Usage, "home-as-project"),
            Self::NoCurrentFolder { .. } => (Kind::NotFound, "no-current-folder"),
            Self::SecretArgument { .. } | Self::SecretFlag { .. } => (Kind::Usage, "secret-argument"),
        }
    }
}

impl From<executor::Error> for Error {
    fn from(error: executor::Error) -> Self {
        match error {
            executor::Error::Plan(error) => Self::Plan(error),
            executor::Error::NoRoot => Self::NoRoot,
            error => Self::Run(error),
        }
    }
}

/// Paths that an error of a plan is about, one line each.
pub(crate) fn plan_details(error: &plan::Error) -> Vec<String> {
    use plan::Error as E;
    let mut details: Vec<String> = match error {
        E::Conflicts { conflicts, .. } => conflicts.iter().map(crate::plans::report::conflict_line).collect(),
        E::Drifted { drifts, .. } => drifts
            .iter()
            .map(|drift| format!("`{}` is {}", drift.key.path.show(), drift.description))
            .collect(),
        E::ModifiedSinceApply { files, .. } => files.iter().map(crate::plans::report::changed_line).collect(),
        _ => return Vec::new(),
    };
    let more = details.len().saturating_sub(DETAILS_MAX);
    details.truncate(DETAILS_MAX);
    if more > 0 {
        details.push(format!("and {more} more"));
    }
    details
}

/// Paths that an error lists at most.
const DETAILS_MAX: usize = 20;

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    fn check(error: impl Into<Error>, kind: Kind, code: &str) {
        let error = error.into();
        assert_eq!((error.kind(), error.code()), (kind, code), "{error}");
    }

    #[test]
    fn errors_of_files_have_their_own_kinds() {
        let path = || Path::new("a").to_owned();
        let busy = || filetx::Error::Busy { lock: path(), holder: None, waited: Duration::ZERO };
        check(filetx::RelPath::new("../a").unwrap_err(), Kind::Usage, "bad-path");
        check(filetx::Error::NotFound { path: path() }, Kind::NotFound, "not-found");
        check(filetx::Error::Exists { path: path() }, Kind::Conflict, "exists");
        check(busy(), Kind::Busy, "busy");
        check(filetx::Error::GroupCommit { source: busy().into() }, Kind::Busy, "busy");
    }

    #[test]
    fn refusals_of_the_system_have_codes() {
        let refused =
            |kind: io::ErrorKind| config::Error::Read { file: "f".into(), source: Arc::new(kind.into()) };
        check(refused(io::ErrorKind::PermissionDenied), Kind::Error, "permission-denied");
        check(refused(io::ErrorKind::ReadOnlyFilesystem), Kind::Error, "read-only");
        check(refused(io::ErrorKind::StorageFull), Kind::Error, "disk-full");
        check(refused(io::ErrorKind::Other), Kind::Error, "io");
    }

    #[test]
    fn what_a_failed_commit_left_decides_its_kind() {
        let failure =
            |outcome| filetx::Failure { outcome, error: filetx::Error::NotFound { path: "a".into() } };
        check(failure(filetx::FailureOutcome::Aborted), Kind::NotFound, "not-found");
        check(failure(filetx::FailureOutcome::Unknown), Kind::OutcomeUnknown, "outcome-unknown");
    }
}
