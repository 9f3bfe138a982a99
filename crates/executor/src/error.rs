//! What can go wrong, by what a caller may do about it.

use std::io;
use std::path::PathBuf;

use filetx::{ErrorKind, io_code};

#[cfg(target_os = "linux")]
use crate::FileError;
use crate::Problem;

/// Why a call failed. The cause, where the system gave one, is the `source`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A plan or changeset refused or failed.
    #[error(transparent)]
    Plan(#[from] plan::Error),
    /// Somebody else runs the plan.
    #[error("plan {plan} is being run by {owner}")]
    Held {
        /// The plan.
        plan: plan::PlanId,
        /// Who.
        owner: String,
    },
    /// Somebody else took the plan over while this run was suspended or slow.
    #[error("plan {plan} was taken over by somebody else; this run has stopped")]
    Lost {
        /// The plan.
        plan: plan::PlanId,
    },
    /// The plan has no nodes to run.
    #[error("plan {plan} is not one that `agents run` made")]
    NotRun {
        /// The plan.
        plan: plan::PlanId,
    },
    /// The plan's run is over.
    #[error("plan {plan} is {state}: there is nothing to resume")]
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
        /// As it was asked for.
        node: String,
        /// The nodes that it has.
        nodes: Vec<String>,
    },
    /// No folder was named, and none was found.
    #[error("no folder was named to work on, and there is no project around the current folder")]
    NoRoot,
    /// Actors run on Linux only.
    #[error("actors cannot be run on this system, only on Linux")]
    NotHere,
    /// A plan file cannot be read.
    #[error("cannot read plan file `{}`", file.display())]
    ReadPlanFile {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A plan file says something that does not make sense. Nothing was run.
    #[error("plan file `{}` has {}", file.display(), listed(problems))]
    PlanFile {
        /// The file.
        file: PathBuf,
        /// All that is wrong, in the order of the file.
        problems: Vec<Problem>,
    },
    /// What was said on the socket of a run makes no sense.
    #[error("the request to the run cannot be taken: {reason}")]
    BadRequest {
        /// What is wrong with it.
        reason: String,
    },
    /// Too many speak to a run at the same time.
    #[error("more than {limit} connections to the run are open")]
    TooManyRequests {
        /// How many there may be.
        limit: usize,
    },
    /// Who asks is no actor of the run, or not any more.
    #[error("no node that runs now has this token")]
    NoSeat,
    /// A node asked for the changeset of another.
    #[error("changeset {changeset} is not the one of node `{node}`")]
    ForeignChangeset {
        /// The node.
        node: String,
        /// As it was asked for.
        changeset: String,
    },
    /// A node asked for a folder that it does not work on.
    #[error("`{}` is not the folder that node `{node}` works on", root.display())]
    ForeignRoot {
        /// The node.
        node: String,
        /// As it was asked for.
        root: PathBuf,
    },
    /// A node asked for a change that it may not make.
    #[error("node `{node}` may not change `{path}`: its `writes` do not allow that")]
    RefusedWrites {
        /// The node.
        node: String,
        /// The path.
        path: String,
    },
    /// The socket of a run cannot be made.
    #[cfg(target_os = "linux")]
    #[error("cannot make socket `{}`, by which actors speak to the run", path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: Box<FileError>,
    },
    /// A sandbox cannot be made, looked through or removed.
    #[cfg(target_os = "linux")]
    #[error("cannot {doing} sandbox `{}`", folder.display())]
    Files {
        /// Which of these.
        doing: &'static str,
        /// The folder concerned.
        folder: PathBuf,
        /// Why.
        source: Box<FileError>,
    },
    /// An actor changed more paths than are recorded.
    #[cfg(target_os = "linux")]
    #[error("it changed more than {limit} paths, the most that are recorded of one node")]
    TooManyChanges {
        /// How many are.
        limit: usize,
    },
    /// A folder that an actor may write to is not there.
    #[cfg(target_os = "linux")]
    #[error("`{}` cannot be made writable for actors", path.display())]
    NotWritable {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The kernel refused the rules.
    #[cfg(target_os = "linux")]
    #[error("cannot confine an actor")]
    Confine {
        /// Why.
        source: Box<landlock::RulesetError>,
    },
    /// The kernel cannot do what is required. Nothing was started.
    #[cfg(target_os = "linux")]
    #[error("the kernel cannot confine actors fully, as `sandbox.confine = require` asks")]
    NotConfined {
        /// What it can do.
        enforced: crate::Enforced,
    },
    /// A program cannot be started.
    #[cfg(target_os = "linux")]
    #[error("cannot start `{}`", program.display())]
    Start {
        /// The program.
        program: std::ffi::OsString,
        /// What the system said.
        source: io::Error,
    },
    /// What an actor reads or prints cannot be passed on.
    #[cfg(target_os = "linux")]
    #[error("cannot use `{}` for what an actor reads or prints", file.display())]
    Output {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Processes of an actor were killed and are still there.
    #[cfg(target_os = "linux")]
    #[error("processes {pids:?} of an actor were killed and are still there")]
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
            Self::Plan(error) => (error.kind(), error.code()),
            Self::ReadPlanFile { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                (ErrorKind::NotFound, "no-file")
            }
            Self::ReadPlanFile { source, .. } => (ErrorKind::Error, io_code(source)),
            Self::PlanFile { .. } => (ErrorKind::Usage, "plan-file"),
            Self::NoRoot => (ErrorKind::NotFound, "no-root"),
            Self::NotRun { .. } => (ErrorKind::NotFound, "not-run"),
            Self::NoNode { .. } => (ErrorKind::NotFound, "no-node"),
            Self::NothingToResume { .. } => (ErrorKind::Conflict, "nothing-to-resume"),
            Self::Held { .. } => (ErrorKind::Busy, "run-held"),
            Self::Lost { .. } => (ErrorKind::Conflict, "run-lost"),
            Self::BadRequest { .. } => (ErrorKind::Usage, "bad-request"),
            Self::TooManyRequests { .. } => (ErrorKind::Busy, "too-many-requests"),
            Self::NoSeat => (ErrorKind::Conflict, "node-ended"),
            Self::ForeignChangeset { .. } => (ErrorKind::Conflict, "foreign-changeset"),
            Self::ForeignRoot { .. } => (ErrorKind::Usage, "foreign-root"),
            Self::RefusedWrites { .. } => (ErrorKind::Error, "refused-writes"),
            Self::NotHere => (ErrorKind::Usage, "not-here"),
            #[cfg(target_os = "linux")]
            Self::Socket { source, .. } => (ErrorKind::Error, source.code()),
            #[cfg(target_os = "linux")]
            Self::Files { .. }
            | Self::TooManyChanges { .. }
            | Self::NotWritable { .. }
            | Self::Confine { .. }
            | Self::NotConfined { .. }
            | Self::Start { .. }
            | Self::Output { .. }
            | Self::StillRunning { .. } => (ErrorKind::Error, "run"),
        }
    }
}

/// One problem as it is; several one per line.
fn listed(problems: &[Problem]) -> String {
    match problems {
        [only] => format!("a problem at {only}"),
        several => {
            let lines: String = several.iter().map(|problem| format!("\n  {problem}")).collect();
            format!("{} problems:{lines}", several.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_runs_have_plain_texts() {
        let plan = plan::PlanId::new();
        let all = [
            Error::Plan(plan::Error::Unapplied { plan, state: plan::State::Ready, changesets: 1 }),
            Error::Held { plan, owner: "process 7".to_owned() },
            Error::Lost { plan },
            Error::NotRun { plan },
            Error::NothingToResume { plan, state: plan::State::Applied },
            Error::NoNode { plan, node: "a".to_owned(), nodes: vec!["b".to_owned()] },
            Error::NoRoot,
            Error::BadRequest { reason: String::new() },
            Error::TooManyRequests { limit: 1 },
            Error::NoSeat,
            Error::ForeignChangeset { node: "a".to_owned(), changeset: "b".to_owned() },
            Error::ForeignRoot { node: "a".to_owned(), root: "/b".into() },
            Error::RefusedWrites { node: "a".to_owned(), path: "b".to_owned() },
        ];
        for error in &all {
            assert!(!error.to_string().ends_with('.'), "{error}");
        }
        assert!(all[1].to_string().contains("process 7"));
    }
}
