//! Everything that is checked before anything runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{Error, Graph, NodeSpec, PlanFile, Problem, Result, root_problems};

/// A plan file that can be run.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The file: what errors name, and what relative roots start from.
    pub file: PathBuf,
    /// Its text; for one command see [`plan_of_command`](crate::plan_of_command).
    pub text: String,
    /// What it says.
    pub plan: PlanFile,
    /// What depends on what.
    pub graph: Graph,
    /// The folder of each root; one whose name is empty when the file declares none.
    pub roots: BTreeMap<String, PathBuf>,
    /// What looks wrong and need not be.
    pub warnings: Vec<Problem>,
}

/// Checks the text of a plan file: fields, names, graph, roots. All that is wrong is told at once. `root` is the folder to work on
/// when the file declares none.
pub fn check(file: PathBuf, text: String, root: Option<&Path>) -> Result<Checked> {
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
    let warnings = graph.overlaps(&plan);
    Ok(Checked { file, text, plan, graph, roots, warnings })
}

impl Checked {
    /// The name of the root that a node works on.
    pub fn root_of<'a>(&'a self, node: &'a NodeSpec) -> &'a str {
        // A node that names none was checked to mean the only one.
        node.root.as_deref().or_else(|| self.roots.keys().next().map(String::as_str)).unwrap_or_default()
    }
}
