//! `agents plan create`.

use std::path::PathBuf;

use api::Plans;

use crate::error::Result;
use crate::output::{Answer, Output};

/// Make a plan, and print its id
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A name for it, which no other plan has
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A folder that it changes; may be repeated [default: the project's folder, or that of the git repository around]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    root: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  agents plan create --name rename-module
  PLAN=$(agents plan create --root app --root site)";

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::opened(plans.create(args.name.as_deref(), &args.root)?, output);
    output.say(plan.id)?;
    Ok(Answer::of(&plan))
}
