//! `agents plan resolve`.

use std::path::PathBuf;

use api::errors::State;
use api::{PlanSelector, Plans, Resolution};

use super::plan_name;
use crate::error::Result;
use crate::output::{Answer, Output};

/// Resolve a conflict: take an actor's version, a file, or delete the path
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("choice").required(true).args(["take", "file", "delete"]))]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest
    plan: PlanSelector,
    /// Path of the conflict, relative to its root
    path: String,
    /// Take the version of this actor
    #[arg(long, value_name = "ACTOR")]
    take: Option<String>,
    /// Take the content of this file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// Delete the path
    #[arg(long)]
    delete: bool,
    /// Resolve the conflict in this root [default: the only root with a conflict at PATH]
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
    let name = plan_name(&plan);
    if plan.state == State::Ready {
        output.done(format!("{name}: resolved {}; ready, no conflicts left", args.path));
        output.hint(&format!("agents plan apply {}", plan.id));
    } else {
        output.done(format!("{name}: resolved {}; {}, other conflicts are left", args.path, plan.state));
        output.hint(&format!("agents plan conflicts {}", plan.id));
    }
    Ok(Answer::of(&plan))
}
