//! `agents plan`: one file per command.

mod apply;
mod cancel;
mod clean;
mod conflicts;
mod create;
mod diff;
mod list;
mod log;
mod logs;
mod pager;
mod resolve;
mod show;
mod undo;

use api::{Applied, FileDiff, Plan, PlanSelection, actor};
use clap::Subcommand;

use super::{known_plans, open, opened, plural, tell_recovered};
use crate::error::{Exit, Result};
use crate::output::{Answer, Output};
use crate::session::Session;

/// Review, apply and undo what actors change in your folders
///
/// A plan changes one or more folders. Each actor records into a changeset of its own (`agents changeset`); when all are sealed the plan is
/// ready: `diff` shows what it comes to, `apply` brings it into the folders, all of it or nothing, and `undo` takes it back. PLAN is
/// an id, the beginning of one, a name, or @latest.
///
/// An apply that was cut off is finished by the next command that names its plan or folders, which says so.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Create(create::Args),
    List(list::Args),
    Show(show::Args),
    Diff(diff::Args),
    Conflicts(conflicts::Args),
    Resolve(resolve::Args),
    Apply(apply::Args),
    Undo(undo::Args),
    Cancel(cancel::Args),
    Log(log::Args),
    Logs(logs::Args),
    Clean(clean::Args),
}

impl Args {
    /// As the JSON envelope names it.
    pub(crate) fn name(&self) -> &'static str {
        match &self.command {
            Command::Create(_) => "plan create",
            Command::List(_) => "plan list",
            Command::Show(_) => "plan show",
            Command::Diff(_) => "plan diff",
            Command::Conflicts(_) => "plan conflicts",
            Command::Resolve(_) => "plan resolve",
            Command::Apply(_) => "plan apply",
            Command::Undo(_) => "plan undo",
            Command::Cancel(_) => "plan cancel",
            Command::Log(_) => "plan log",
            Command::Logs(_) => "plan logs",
            Command::Clean(_) => "plan clean",
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let plans = match &args.command {
        Command::Create(_) => session.writer().plans()?,
        // That there are none is an answer too.
        Command::List(_) => match session.writer().known_plans()? {
            Some(plans) => plans,
            None => return list::say(&[], output),
        },
        _ => known_plans(session)?,
    };
    match &args.command {
        Command::Create(args) => create::run(args, &plans, output),
        Command::List(args) => list::run(args, &plans, output),
        Command::Show(args) => show::run(args, &plans, output),
        Command::Diff(args) => diff::run(args, &plans, output),
        Command::Conflicts(args) => conflicts::run(args, &plans, output),
        Command::Resolve(args) => resolve::run(args, &plans, output),
        Command::Apply(args) => apply::run(args, &plans, output),
        Command::Undo(args) => undo::run(args, &plans, output),
        Command::Cancel(args) => cancel::run(args, &plans, output),
        Command::Log(args) => log::run(args, &plans, output),
        Command::Logs(args) => logs::run(args, &plans, output),
        Command::Clean(args) => clean::run(args, &plans, output),
    }
}

/// On commands that take a part of a plan.
#[derive(clap::Args, Clone, Debug)]
struct PartArgs {
    /// Only what this actor changed; may be repeated
    #[arg(long, value_name = "NAME")]
    actor: Vec<String>,
    /// Only paths that this fits, such as `src/**` or `*.md`; a folder stands for all that is in it; may be repeated
    #[arg(long, value_name = "GLOB")]
    path: Vec<String>,
}

impl PartArgs {
    fn selection(&self) -> Result<PlanSelection> {
        let actors = self.actor.iter().map(|name| Ok(actor(name)?)).collect::<Result<_>>()?;
        Ok(PlanSelection { actors, paths: self.path.clone(), ..PlanSelection::default() })
    }
}

/// A plan as a line names it.
fn named(plan: &Plan) -> String {
    match &plan.name {
        Some(name) => format!("{} ({name})", plan.id),
        None => plan.id.to_string(),
    }
}

/// How many lines of each file change.
pub(super) fn say_stat(files: &[FileDiff], output: &mut Output) -> Result<()> {
    diff::say_stat(files, output)
}

/// Tells what became of each file, folder by folder.
pub(super) fn say_files(applied: &Applied, output: &mut Output) -> Result<()> {
    let several = applied.plan.roots.len() > 1;
    let mut root = "";
    for file in &applied.files {
        let paint = output.paint();
        if several && file.root != root {
            output.say(paint.strong(&file.root))?;
            root = &file.root;
        }
        let outcome = match file.outcome {
            "drifted" | "verify-failed" => paint.bad(format!("{:<9}", file.outcome)),
            outcome if applied.dry_run && outcome != "unchanged" => format!("{:<9}", "would"),
            outcome => paint.good(format!("{outcome:<9}")),
        };
        let from = file.from.as_ref().map(|from| format!("{from} -> ")).unwrap_or_default();
        let actors = paint.faint(file.actors.join(", "));
        let gap = if file.actors.is_empty() { "" } else { "  " };
        output.say(format!("  {outcome}  {:<6}  {from}{}{gap}{actors}", file.change, file.path))?;
    }
    Ok(())
}

/// Tells people about files that are not what the plan declares, and gives how the command ends.
pub(super) fn end(applied: &Applied, output: &mut Output) -> Exit {
    tell_recovered(&applied.recovered, output);
    for file in applied.files.iter().filter(|file| file.outcome == "verify-failed") {
        let text =
            format!("`{}` was written, and held something else when it was looked at afterwards", file.path);
        let hint = "look at the file, and at the disk; then apply the plan again".to_owned();
        output.warn("verify-failed", text, Some(hint));
    }
    for file in applied.files.iter().filter(|file| file.outcome == "drifted") {
        let aside =
            file.preserved_at.as_ref().map(|at| format!("; the plan's is in `{at}`")).unwrap_or_default();
        let text = format!("`{}` was changed by somebody meanwhile, and left{aside}", file.path);
        output.warn("drifted", text, None);
    }
    match (applied.has_verify_failed(), applied.has_drifted()) {
        (true, _) => Exit::Error,
        (false, true) => Exit::Conflict,
        (false, false) => Exit::Ok,
    }
}
