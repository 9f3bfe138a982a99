//! Errors of this crate, one variant per reaction of a caller.

use std::io;
use std::path::PathBuf;

use filetx::{ErrorKind, io_code};

#[cfg(target_os = "linux")]
use crate::FileError;
use crate::Problem;

/// The cause of a failed call. The system's error, if there is one, is the `source`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of a plan or changeset.
    #[error(transparent)]
    Plan(#[from] plan::Error),
    /// Another process runs the plan.
    #[error("plan {plan} is being run by {owner}")]
    LeaseHeld {
        /// The plan.
        plan: plan::PlanId,
        /// The owner of the lease.
        owner: String,
    },
    /// Another process took the lease while this run was suspended or slow.
    #[error("another process took over plan {plan}; this run has stopped{}", kept_work(kept))]
    LeaseLost {
        /// The plan.
        plan: plan::PlanId,
        /// Nodes whose actors have ended and whose changes do not count, with their trees.
        kept: Vec<(String, PathBuf)>,
    },
    /// The store did not answer. Finished nodes are recorded; others start again when the run is resumed.
    #[error("the run of plan {plan} was interrupted; its finished nodes are kept")]
    Interrupted {
        /// The plan.
        plan: plan::PlanId,
        /// The error of the store.
        source: Box<Error>,
    },
    /// The plan has no nodes.
    #[error("plan {plan} was not made by `agents run`")]
    NoRun {
        /// The plan.
        plan: plan::PlanId,
    },
    /// All nodes of the plan have succeeded, or the plan is closed.
    #[error("plan {plan} is {state}: nothing to resume")]
    NothingToResume {
        /// The plan.
        plan: plan::PlanId,
        /// Its state.
        state: plan::State,
    },
    /// The plan has no node of this name.
    #[error("plan {plan} has no node `{node}`")]
    NoNode {
        /// The plan.
        plan: plan::PlanId,
        /// The requested name.
        node: String,
        /// The names of its nodes.
        nodes: Vec<String>,
    },
    /// No root was given, and there is no project.
    #[error("no folder to work on: none was given, and the current folder is in no project")]
    NoRoot,
    /// Actors run on Linux only.
    #[error("`agents run` needs Linux")]
    UnsupportedPlatform,
    /// A plan file cannot be read.
    #[error("cannot read plan file `{}`", file.display())]
    ReadPlanFile {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A plan file is invalid. Nothing was run.
    #[error("{}", listed(file, problems))]
    PlanFile {
        /// The file.
        file: PathBuf,
        /// All problems, in the order of the file.
        problems: Vec<Problem>,
    },
    /// A request to the socket of a run is invalid.
    #[error("invalid request to the run: {reason}")]
    BadRequest {
        /// The violated rule.
        reason: String,
    },
    /// The socket of a run, or a node, has too many requests.
    #[error("more than {limit} requests to the run are being answered")]
    TooManyRequests {
        /// The largest number of requests.
        limit: usize,
    },
    /// The token of a request belongs to no running node.
    #[error("no running node has this token")]
    InvalidToken,
    /// A node named the changeset of another.
    #[error("changeset {changeset} does not belong to node `{node}`")]
    ForeignChangeset {
        /// The node.
        node: String,
        /// The named changeset.
        changeset: String,
    },
    /// A node named a root that is not its own.
    #[error("`{}` is not the root of node `{node}`", root.display())]
    ForeignRoot {
        /// The node.
        node: String,
        /// The named root.
        root: PathBuf,
    },
    /// A node requested a change outside its `paths`.
    #[error("node `{node}` may not change `{path}`, which is outside its `paths`")]
    RefusedPaths {
        /// The node.
        node: String,
        /// The path.
        path: String,
    },
    /// The socket of a run cannot be created.
    #[cfg(target_os = "linux")]
    #[error("cannot create `{}`, the socket of the run", path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// The cause.
        source: Box<FileError>,
    },
    /// A sandbox cannot be made, changed, read or removed.
    #[cfg(target_os = "linux")]
    #[error("cannot {action} sandbox `{}`", folder.display())]
    Sandbox {
        /// The action, as a verb.
        action: &'static str,
        /// The folder.
        folder: PathBuf,
        /// The cause.
        source: Box<FileError>,
    },
    /// An actor changed more paths than one node may.
    #[cfg(target_os = "linux")]
    #[error("it changed more than {limit} paths, the limit of one node")]
    TooManyChanges {
        /// The limit.
        limit: usize,
    },
    /// Actors cannot be allowed to write to a folder, because it does not exist or cannot be opened.
    #[cfg(target_os = "linux")]
    #[error("cannot allow actors to write to `{}`", path.display())]
    AllowWrite {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The kernel refused the rules of confinement.
    #[cfg(target_os = "linux")]
    #[error("cannot confine an actor")]
    Confine {
        /// The cause.
        source: Box<landlock::RulesetError>,
    },
    /// The kernel cannot confine actors fully, which is required. Nothing was started.
    #[cfg(target_os = "linux")]
    #[error("the kernel cannot fully confine actors, which `sandbox.confine = require` demands")]
    NotConfined {
        /// The possible confinement.
        confinement: crate::sandbox::Confinement,
    },
    /// The program of an actor does not exist.
    #[cfg(target_os = "linux")]
    #[error("{}: command not found", program.display())]
    CommandNotFound {
        /// The program.
        program: std::ffi::OsString,
        /// The system's error.
        source: io::Error,
    },
    /// The program of an actor cannot be started.
    #[cfg(target_os = "linux")]
    #[error("cannot start `{}`", program.display())]
    Spawn {
        /// The program.
        program: std::ffi::OsString,
        /// The system's error.
        source: io::Error,
    },
    /// The input or output of an actor cannot be passed on.
    #[cfg(target_os = "linux")]
    #[error("cannot use `{}` as input or output of an actor", file.display())]
    Output {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Processes of an actor survived SIGKILL.
    #[cfg(target_os = "linux")]
    #[error("processes {pids:?} of an actor are still running after SIGKILL")]
    StillRunning {
        /// Their ids.
        pids: Vec<u32>,
    },
}

/// The result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        plan::Error::from(error).into()
    }
}

filetx::impl_kind_and_code!(Error);

impl Error {
    fn classify(&self) -> (ErrorKind, &'static str) {
        match self {
            Self::Plan(error) => (error.kind(), error.code()),
            Self::ReadPlanFile { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                (ErrorKind::NotFound, "no-file")
            }
            Self::ReadPlanFile { source, .. } => (ErrorKind::Error, io_code(source)),
            Self::PlanFile { .. } => (ErrorKind::Usage, "invalid-plan-file"),
            Self::NoRoot => (ErrorKind::NotFound, "no-root"),
            Self::NoRun { .. } => (ErrorKind::NotFound, "no-run"),
            Self::NoNode { .. } => (ErrorKind::NotFound, "no-node"),
            Self::NothingToResume { .. } => (ErrorKind::Conflict, "nothing-to-resume"),
            Self::LeaseHeld { .. } => (ErrorKind::Busy, "run-held"),
            Self::LeaseLost { .. } => (ErrorKind::Conflict, "run-lost"),
            Self::Interrupted { source, .. } => source.classify(),
            Self::BadRequest { .. } => (ErrorKind::Usage, "bad-request"),
            Self::TooManyRequests { .. } => (ErrorKind::Busy, "too-many-requests"),
            Self::InvalidToken => (ErrorKind::Conflict, "invalid-token"),
            Self::ForeignChangeset { .. } => (ErrorKind::Conflict, "foreign-changeset"),
            Self::ForeignRoot { .. } => (ErrorKind::Usage, "foreign-root"),
            Self::RefusedPaths { .. } => (ErrorKind::Error, "refused-paths"),
            Self::UnsupportedPlatform => (ErrorKind::Usage, "unsupported-platform"),
            #[cfg(target_os = "linux")]
            Self::Socket { source, .. } => (ErrorKind::Error, source.code()),
            #[cfg(target_os = "linux")]
            Self::Sandbox { source, .. } if matches!(**source, FileError::FileTooLarge { .. }) => {
                (ErrorKind::Error, source.code())
            }
            #[cfg(target_os = "linux")]
            Self::Sandbox { .. }
            | Self::TooManyChanges { .. }
            | Self::AllowWrite { .. }
            | Self::Confine { .. }
            | Self::NotConfined { .. }
            | Self::CommandNotFound { .. }
            | Self::Spawn { .. }
            | Self::Output { .. }
            | Self::StillRunning { .. } => (ErrorKind::Error, "run"),
        }
    }
}

/// Names the work that is kept and does not count.
fn kept_work(kept: &[(String, PathBuf)]) -> String {
    let line = |(node, tree): &(String, PathBuf)| {
        format!("; the work of node `{node}` does not count, it is in `{}`", tree.display())
    };
    kept.iter().map(line).collect()
}

/// `plan.toml:3:8: …` for one problem; a list for several.
fn listed(file: &std::path::Path, problems: &[Problem]) -> String {
    match problems {
        [only] => format!("{}:{only}", file.display()),
        several => {
            let lines: String = several.iter().map(|problem| format!("\n  {problem}")).collect();
            format!("{} has {} problems:{lines}", file.display(), several.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_sentences_without_a_dot() {
        let plan = plan::PlanId::new();
        let all = [
            Error::Plan(plan::Error::Unapplied { plan, state: plan::State::Ready, changesets: 1 }),
            Error::LeaseHeld { plan, owner: "process 7".to_owned() },
            Error::LeaseLost { plan, kept: vec![("a".to_owned(), "/tree".into())] },
            Error::Interrupted { plan, source: Box::new(Error::NoRoot) },
            Error::NoRun { plan },
            Error::NothingToResume { plan, state: plan::State::Applied },
            Error::NoNode { plan, node: "a".to_owned(), nodes: vec!["b".to_owned()] },
            Error::NoRoot,
            Error::BadRequest { reason: String::new() },
            Error::TooManyRequests { limit: 1 },
            Error::InvalidToken,
            Error::ForeignChangeset { node: "a".to_owned(), changeset: "b".to_owned() },
            Error::ForeignRoot { node: "a".to_owned(), root: "/b".into() },
            Error::RefusedPaths { node: "a".to_owned(), path: "b".to_owned() },
        ];
        for error in &all {
            assert!(!error.to_string().ends_with('.'), "{error}");
        }
        assert!(all[1].to_string().contains("process 7"));
    }
}
