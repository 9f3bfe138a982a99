//! `agents plan resolve`.

use std::path::PathBuf;

use api::{PlanSelector, Plans, Resolution};

use crate::error::Result;
use crate::output::{Answer, Output};

/// Settle a conflict: take one actor's file, or one of your own
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("choice").required(true).args(["take", "file", "delete"]))]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: PlanSelector,
    /// The path of the conflict, below its root
    path: String,
    /// Take what this actor made of it
    #[arg(long, value_name = "ACTOR")]
    take: Option<String>,
    /// Take the content of this file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// The file goes
    #[arg(long)]
    delete: bool,
    /// The root, where several have a conflict at this path
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    root: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  agents plan resolve @latest src/main.rs --take coder
  agents plan resolve @latest src/main.rs --file merged.rs";

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let resolution = match (&args.take, &args.file) {
        (Some(name), _) => Resolution::Take(api::actor(name)?),
        (None, Some(file)) => Resolution::File(file.clone()),
        (None, None) => Resolution::Delete,
    };
    let plan = super::open(plans, &args.plan, output)?;
    let plan = plans.resolve(&plan, &args.path, args.root.as_deref(), &resolution)?;
    output.confirm(format!("resolved {}; plan {} is {}", args.path, plan.id, plan.state))?;
    Ok(Answer::of(&plan))
}
