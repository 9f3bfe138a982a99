//! A plan file as types, and reading it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use plan::Strategy as Merge;

use super::{check, read};
use crate::problem::Text;
use crate::{Error, Place, Problem, Result};

/// The largest plan file.
pub const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The most nodes of one plan.
pub const NODES_MAX: usize = 10_000;
/// The longest timeout of a node.
const TIMEOUT_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A plan file that makes sense as far as it can be told from its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFile {
    /// The file it was read from.
    pub file: PathBuf,
    /// What people call the plan.
    pub name: Option<String>,
    /// The folders it works on; none means the project.
    pub roots: BTreeMap<String, RootSpec>,
    /// The actors, in the order of the file, with the defaults filled in.
    pub nodes: Vec<NodeSpec>,
    /// How many nodes run at once.
    pub concurrency: Option<usize>,
    /// Whether the first failure stops the others.
    pub fail_fast: bool,
    /// What is made of a path that several changed, if it says so.
    pub merge: Option<Merge>,
}

/// A folder that a plan works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootSpec {
    /// As it stands in the file: absolute, or from the folder of the file.
    pub path: PathBuf,
    /// Where that stands.
    pub place: Place,
}

/// One actor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// Its name.
    pub name: String,
    /// Where that stands.
    pub place: Place,
    /// What is run.
    pub run: Run,
    /// The nodes that come before it.
    pub needs: Vec<Need>,
    /// The root it works on; the only one when not given.
    pub root: Option<String>,
    /// The folder below the root that it starts in.
    pub workdir: Option<PathBuf>,
    /// What is added to the environment.
    pub env: BTreeMap<String, String>,
    /// What it reads from standard input.
    pub stdin: Option<String>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// How often it is started again when it fails.
    pub retries: u32,
    /// Patterns of the paths that it may change; all when not given.
    pub writes: Option<Vec<String>>,
    /// Whether nodes that need it run although it failed.
    pub continue_on_error: bool,
}

/// What a node runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// A line for the shell.
    Shell(String),
    /// A program and its arguments, as they are.
    Program(Vec<String>),
}

/// A node that another one waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Its name.
    pub name: String,
    /// Where that stands.
    pub place: Place,
}

/// A timeout: a duration that is not zero, of a year at most.
pub(super) fn parse_timeout(text: &str) -> Option<Duration> {
    config::parse_duration(text).filter(|duration| !duration.is_zero() && *duration <= TIMEOUT_MAX)
}

impl PlanFile {
    /// Reads a file.
    pub fn open(file: &Path) -> Result<PlanFile> {
        Self::parse(file, &Self::read(file)?)
    }

    /// The text of a file; of one that is too long the beginning, which is refused as well.
    pub fn read(file: &Path) -> Result<String> {
        let failed = |source| Error::ReadPlanFile { file: file.to_owned(), source };
        let mut text = String::new();
        let opened = std::fs::File::open(file).map_err(failed)?;
        opened.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
        Ok(text)
    }

    /// Reads the text of a file. `file` is what errors name.
    pub fn parse(file: &Path, text: &str) -> Result<PlanFile> {
        let refuse = |mut problems: Vec<Problem>| {
            problems.sort();
            Error::PlanFile { file: file.to_owned(), problems }
        };
        if text.len() as u64 > FILE_BYTES_MAX {
            let what = format!("the file is longer than {FILE_BYTES_MAX} bytes");
            return Err(refuse(vec![Problem::new(Place { line: 1, column: 1 }, what)]));
        }
        let places = Text::new(text);
        let document = toml_edit::Document::parse(text).map_err(|error| {
            let place = places.place(error.span().unwrap_or_default().start);
            refuse(vec![Problem::new(place, error.message().replace('\n', ", "))])
        })?;
        let problems = check::problems(&places, document.as_table());
        if !problems.is_empty() {
            return Err(refuse(problems));
        }
        let plan = read::plan(file, &places, document.as_table());
        let problems = check::senseless(&plan);
        if problems.is_empty() { Ok(plan) } else { Err(refuse(problems)) }
    }
}
