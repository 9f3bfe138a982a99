//! All checks of a plan file before a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::planfile::COMMAND_LINE;
use crate::{Error, Graph, NodeSpec, PlanFile, Problem, Result, root_problems};

/// A plan file that can be run.
#[derive(Clone, Debug)]
pub struct CheckedPlanFile {
    /// The file, for errors and as the origin of relative roots.
    pub file: PathBuf,
    /// Its text. For a single command see [`plan_file_for_command`](crate::plan_file_for_command).
    pub text: String,
    /// Its content.
    pub plan: PlanFile,
    /// The dependencies of its nodes.
    pub graph: Graph,
    /// The folder of each root. The name is empty if the file declares none.
    pub roots: BTreeMap<String, PathBuf>,
    /// Problems that do not prevent a run.
    pub warnings: Vec<Problem>,
}

/// Checks the text of a plan file: fields, names, graph, roots. Reports all problems at once. `root` is
/// the folder to work on if the file declares none.
pub fn check(file: PathBuf, text: String, root: Option<&Path>) -> Result<CheckedPlanFile> {
    let plan = PlanFile::parse(&file, &text)?;
    let from = file.parent().unwrap_or(Path::new(""));
    let graph = Graph::of(&plan);
    let mut problems = root_problems(&plan, from);
    problems.extend(graph.as_ref().err().into_iter().flatten().cloned());
    let graph = match graph {
        Ok(graph) if problems.is_empty() => graph,
        _ => {
            problems.sort();
            return Err(Error::PlanFile { file, problems });
        }
    };
    let declared = plan.roots.iter().map(|(name, spec)| (name.clone(), from.join(&spec.path)));
    let mut roots: BTreeMap<String, PathBuf> = declared.collect();
    if roots.is_empty() {
        let root = root.ok_or(Error::NoRoot)?;
        roots.insert(String::new(), root.to_owned());
    }
    let warnings = graph.overlap_warnings(&plan);
    Ok(CheckedPlanFile { file, text, plan, graph, roots, warnings })
}

impl CheckedPlanFile {
    /// The name of the root that a node works on.
    pub fn root_of<'a>(&'a self, node: &'a NodeSpec) -> &'a str {
        // The check has made sure that a node without a root means the only one.
        node.root.as_deref().or_else(|| self.roots.keys().next().map(String::as_str)).unwrap_or_default()
    }

    /// Returns true if the plan is a single command of the command line.
    pub(crate) fn is_command(&self) -> bool {
        self.file == Path::new(COMMAND_LINE)
    }
}
