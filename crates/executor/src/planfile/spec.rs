//! A plan file as types, and its parsing.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use plan::Strategy as Merge;

use super::{check, read};
use crate::problem::LineIndex;
use crate::{Error, Position, Problem, Result};

/// The largest plan file.
pub const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The most nodes of one plan.
pub const NODES_MAX: usize = 10_000;
/// The longest timeout of a node.
const TIMEOUT_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A valid plan file, as far as its text shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFile {
    /// The path of the file.
    pub file: PathBuf,
    /// Name of the plan.
    pub name: Option<String>,
    /// The roots. None means the project.
    pub roots: BTreeMap<String, RootSpec>,
    /// The nodes, in the order of the file, with defaults filled in.
    pub nodes: Vec<NodeSpec>,
    /// Maximum number of concurrent nodes.
    pub concurrency: Option<usize>,
    /// Stop all nodes after the first failure.
    pub fail_fast: bool,
    /// Merge strategy.
    pub merge: Option<Merge>,
}

/// A root of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootSpec {
    /// Absolute, or relative to the folder of the file.
    pub path: PathBuf,
    /// Position of its name.
    pub position: Position,
}

/// A node of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// Its name.
    pub name: String,
    /// Position of its name.
    pub position: Position,
    /// The command of its actor.
    pub run: NodeCommand,
    /// The nodes that must succeed before it starts.
    pub needs: Vec<Need>,
    /// Name of its root; optional if there is one root.
    pub root: Option<String>,
    /// The folder to start in, relative to the root.
    pub workdir: Option<PathBuf>,
    /// Additions to the environment.
    pub env: BTreeMap<String, String>,
    /// Text for standard input.
    pub stdin: Option<String>,
    /// Longest duration of an attempt.
    pub timeout: Option<Duration>,
    /// Number of retries after a failure.
    pub retries: u32,
    /// Patterns of paths that it may change; all if `None`.
    pub paths: Option<Vec<String>>,
    /// Start the nodes that need it even if it fails.
    pub continue_on_error: bool,
}

/// The command of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeCommand {
    /// A line for `sh -c`.
    Shell(String),
    /// A program and its arguments.
    Program(Vec<String>),
}

/// A dependency of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Its name.
    pub name: String,
    /// Position of its name.
    pub position: Position,
}

/// Parses a timeout: more than zero, at most a year.
pub(super) fn parse_timeout(text: &str) -> Option<Duration> {
    config::parse_duration(text).filter(|duration| !duration.is_zero() && *duration <= TIMEOUT_MAX)
}

impl PlanFile {
    /// Reads and parses a file.
    pub fn open(file: &Path) -> Result<PlanFile> {
        Self::parse(file, &Self::read(file)?)
    }

    /// Reads the text of a file. Reads one byte beyond the limit, which `parse` then refuses.
    pub fn read(file: &Path) -> Result<String> {
        let failed = |source| Error::ReadPlanFile { file: file.to_owned(), source };
        let mut text = String::new();
        let opened = std::fs::File::open(file).map_err(failed)?;
        opened.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
        Ok(text)
    }

    /// Parses the text of a file. Errors name `file`.
    pub fn parse(file: &Path, text: &str) -> Result<PlanFile> {
        let refuse = |mut problems: Vec<Problem>| {
            problems.sort();
            Error::PlanFile { file: file.to_owned(), problems }
        };
        if text.len() as u64 > FILE_BYTES_MAX {
            let message = format!("the file is longer than {FILE_BYTES_MAX} bytes");
            return Err(refuse(vec![Problem::new(Position { line: 1, column: 1, offset: 0 }, message)]));
        }
        let index = LineIndex::new(text);
        let document = toml_edit::Document::parse(text).map_err(|error| {
            let position = index.position(error.span().unwrap_or_default().start);
            refuse(vec![Problem::new(position, error.message().replace('\n', ", "))])
        })?;
        let problems = check::shape_problems(&index, document.as_table());
        if !problems.is_empty() {
            return Err(refuse(problems));
        }
        let plan = read::plan(file, &index, document.as_table());
        let problems = check::value_problems(&plan);
        if problems.is_empty() { Ok(plan) } else { Err(refuse(problems)) }
    }
}
