//! `agents plan create`.

use std::path::PathBuf;

use api::Plans;

use crate::error::Result;
use crate::output::{Answer, Output};

/// Create a plan and print its id
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Name the plan; no other plan may have this name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Change files of this folder (repeatable) [default: the project, or the git repository]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    root: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  agents plan create --name rename-module
  PLAN=$(agents plan create --root app --root site)";

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::opened(plans.create(args.name.as_deref(), &args.root)?, output);
    output.done_silently(format!("plan {} was created", plan.id));
    output.print(plan.id)?;
    Ok(Answer::of(&plan))
}
