//! What can go wrong, in the words that every door shares: a kind and a stable code.

use std::io;
use std::path::PathBuf;

use config::Key;
use filetx::io_code;

use crate::Kind;

/// The error types of the services, for frontends that give hints.
pub mod errors {
    pub use config::{Error as ConfigError, Origin, Scope};
    pub use context::{Error as ContextError, NotAMessage};
    pub use executor::Error as RunError;
    pub use filetx::Error as FileError;
    pub use plan::{Actor, Error as PlanError, PlanId, State};
    pub use store::{Error as StoreError, Outcome};
}

/// Suggests what to do about an error, in the words of a frontend: a command line names its commands.
pub type HintFor = fn(&Error) -> Vec<String>;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Configuration refused or failed.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// A conversation refused or failed.
    #[error(transparent)]
    Context(#[from] context::Error),
    /// A plan or changeset refused or failed.
    #[error(transparent)]
    Plan(#[from] plan::Error),
    /// A run of actors refused or failed.
    #[error(transparent)]
    Run(executor::Error),
    /// A word that is none of those that are known.
    #[error("`{word}` is no way to {what}")]
    NoSuchWord {
        /// What it is for.
        what: &'static str,
        /// As it was given.
        word: String,
        /// Those that are known.
        words: Vec<&'static str>,
    },
    /// There is no such plan.
    #[error("there is no plan `{name}`")]
    UnknownPlan {
        /// As it was asked for.
        name: String,
        /// The name that is most like it.
        nearest: Option<String>,
    },
    /// An actor was named who has no changeset in the plan.
    #[error("no changeset of plan {plan} is {actor}'s")]
    NoSuchActor {
        /// The plan.
        plan: plan::PlanId,
        /// As it was given.
        actor: plan::Actor,
        /// Those who have one.
        actors: Vec<plan::Actor>,
    },
    /// There are no plans at all, and no store of them.
    #[error("there are no plans yet")]
    NoPlans,
    /// Several conflicts of a plan are at this path, below different roots.
    #[error("plan {plan} has conflicts at `{path}` below several roots")]
    WhichRoot {
        /// The plan.
        plan: plan::PlanId,
        /// The path.
        path: String,
    },
    /// No folder was named, and there is neither a project nor a repository around.
    #[error(
        "no folder was named, and there is neither a project nor a git repository around the current folder"
    )]
    NoRoot,
    /// The key names a store that this program cannot use.
    #[error("`store.url` names a store of kind `{kind}`, which this program does not have")]
    StoreUrl {
        /// What is before the colon; the rest may hold a password.
        kind: String,
    },
    /// A password stands where everybody on the machine can see it.
    #[error("`{flag}` has a password, which everybody on this machine could see")]
    PasswordArgument {
        /// The argument.
        flag: &'static str,
    },
    /// A file that the caller named could not be read or written.
    #[error("cannot {act} `{}`", path.display())]
    Given {
        /// Read or write.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A patch is none, or does not fit the file.
    #[error("the patch cannot be applied to `{path}`: {reason}")]
    Patch {
        /// The file it is for.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A checkpoint cannot be read.
    #[error("`{}` is not a checkpoint: line {line} cannot be read", path.display())]
    BadCheckpoint {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// A text is not JSON.
    #[error("the value cannot be read")]
    NotJson(#[from] context::NotJson),
    /// A JSON Pointer leads nowhere.
    #[error("there is nothing at `{pointer}` in context `{name}`")]
    NoValue {
        /// The context.
        name: String,
        /// The pointer.
        pointer: String,
    },
    /// The run around this process is not there any more.
    #[error("the run that started this actor does not answer at `{}`", socket.display())]
    RunGone {
        /// Its socket.
        socket: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The run around this process was asked for a change, and did not say what came of it.
    #[error("the run that started this actor ended before it answered at `{}`", socket.display())]
    NoReply {
        /// Its socket.
        socket: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The run around this process refused.
    #[error("{}", problem.message)]
    Refused {
        /// Why.
        problem: Box<crate::Problem>,
    },
    /// A command that would use what belongs to the run was started by one of its actors.
    #[error("`agents {command}` cannot be used in the sandbox of a run")]
    InSandbox {
        /// The command.
        command: &'static str,
    },
    /// An actor asked for a secret.
    #[error("`{key}` is secret, and is not told in the sandbox of a run")]
    SecretInSandbox {
        /// The key.
        key: String,
    },
    /// The file transaction refused or failed.
    #[error(transparent)]
    Files(#[from] filetx::Error),
    /// A commit failed.
    #[error(transparent)]
    Commit(#[from] filetx::Failure),
    /// A key has no value, and no default either.
    #[error("`{key}` is not set")]
    NotSet {
        /// The key.
        key: Key,
    },
    /// Nobody said where the home folder is.
    #[error("there is no home folder: neither CLEVERAGENTS_HOME nor the user's own is known")]
    NoHome,
    /// The variable names a home folder that depends on where one is.
    #[error("CLEVERAGENTS_HOME is `{}`, which is not an absolute path", home.display())]
    BadHome {
        /// As it was given.
        home: PathBuf,
    },
    /// A project was named that is no folder.
    #[error("there is no folder `{}` to be the project", project.display())]
    NoSuchProject {
        /// The project.
        project: PathBuf,
    },
    /// A folder was named as the project whose `.cleveragents` is the home folder: one file would be two scopes.
    #[error("`{}` cannot be a project: its `.cleveragents` is the home folder", project.display())]
    HomeAsProject {
        /// The folder.
        project: PathBuf,
    },
    /// A relative path was given, and the current folder is unknown.
    #[error("`{}` is relative, and the current folder is gone", path.display())]
    NoCurrentFolder {
        /// The path.
        path: PathBuf,
    },
    /// A secret was given where others can see it.
    #[error("`{key}` is secret and must not stand in arguments, which others can see")]
    SecretArgument {
        /// The key.
        key: Key,
    },
    /// A secret was given as a flag, where others can see it.
    #[error("`{key}` is secret and must not stand in arguments, which others can see")]
    SecretFlag {
        /// The key.
        key: String,
        /// The variable that may be used instead.
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

    /// What it is about, for programs: the plans, paths and actors that its text names. Null where there are none.
    pub fn data(&self) -> serde_json::Value {
        match self {
            Self::Plan(error) => crate::error_data::details(error),
            _ => serde_json::Value::Null,
        }
    }

    /// Whether it says that an edit was not taken, and where it is kept.
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::Config(config::Error::NotTaken { .. }))
    }

    /// The same error once more. Only for those that opening keeps for later.
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
            Self::NoSuchWord { .. } => (Kind::Usage, "no-such-word"),
            Self::UnknownPlan { .. } => (Kind::NotFound, "not-found"),
            Self::NoSuchActor { .. } => (Kind::NotFound, "no-such-actor"),
            Self::NoPlans => (Kind::NotFound, "no-plans"),
            Self::WhichRoot { .. } => (Kind::Usage, "which-root"),
            Self::NoRoot => (Kind::NotFound, "no-root"),
            Self::StoreUrl { .. } => (Kind::Usage, "store-url"),
            Self::PasswordArgument { .. } => (Kind::Usage, "secret-argument"),
            Self::Given { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                (Kind::NotFound, "no-file")
            }
            Self::Given { source, .. } => (Kind::Error, io_code(source)),
            Self::Patch { .. } => (Kind::Conflict, "patch"),
            Self::BadCheckpoint { .. } => (Kind::Error, "bad-checkpoint"),
            Self::NotJson(_) => (Kind::Usage, "not-json"),
            Self::NoValue { .. } => (Kind::NotFound, "no-value"),
            Self::RunGone { .. } => (Kind::NotFound, "run-gone"),
            Self::NoReply { .. } => (Kind::OutcomeUnknown, "no-reply"),
            Self::Refused { problem } => (problem.kind, &problem.code),
            Self::InSandbox { .. } => (Kind::Usage, "in-sandbox"),
            Self::SecretInSandbox { .. } => (Kind::Usage, "secret-in-sandbox"),
            Self::Files(error) => (error.kind(), error.code()),
            Self::Commit(failure) => (failure.kind(), failure.code()),
            Self::NotSet { .. } => (Kind::NotFound, "not-set"),
            Self::NoHome => (Kind::NotFound, "no-home"),
            Self::BadHome { .. } => (Kind::Usage, "bad-home"),
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

/// What a plan's error is about, path by path, for those that are about paths.
pub(crate) fn plan_details(error: &plan::Error) -> Vec<String> {
    use plan::Error as E;
    let mut details: Vec<String> = match error {
        E::Conflicts { conflicts, .. } => conflicts.iter().map(crate::plans::report::conflict_line).collect(),
        E::Drifted { drifts, .. } => {
            drifts.iter().map(|drift| format!("`{}` is {}", drift.key.path.show(), drift.found)).collect()
        }
        E::ChangedSince { files, .. } => files.iter().map(crate::plans::report::changed_line).collect(),
        _ => return Vec::new(),
    };
    let more = details.len().saturating_sub(DETAILS_MAX);
    details.truncate(DETAILS_MAX);
    if more > 0 {
        details.push(format!("and {more} more"));
    }
    details
}

/// How many paths an error lists.
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
        check(filetx::Error::Missing { path: path() }, Kind::NotFound, "not-found");
        check(filetx::Error::Exists { path: path() }, Kind::Conflict, "exists");
        check(busy(), Kind::Busy, "busy");
        check(filetx::Error::Group { source: busy().into() }, Kind::Busy, "busy");
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
        let failure = |left| filetx::Failure { left, error: filetx::Error::Missing { path: "a".into() } };
        check(failure(filetx::Left::Nothing), Kind::NotFound, "not-found");
        check(failure(filetx::Left::Unknown), Kind::OutcomeUnknown, "outcome-unknown");
    }
}
