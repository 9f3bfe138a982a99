//! `agents plan`: one file per command.

mod apply;
mod cancel;
mod conflicts;
mod create;
mod diff;
mod history;
mod list;
mod pager;
mod prune;
mod recover;
mod resolve;
mod show;
mod undo;

use api::{Applied, Cleaning, Difference, FileDiff, FileOutcome, Plan, PlanSelection, actor};
use clap::Subcommand;

use super::schema::{Entry, of};
use super::{existing_plans, open, opened, plan_name, plan_title, plural, warn_recovered};
use crate::display;
use crate::error::{Exit, Result};
use crate::escape::visible;
use crate::output::{Answer, Output};
use crate::session::Session;
use crate::style::Paint;

/// Show, resolve, apply and undo changes
///
/// A plan is a set of changes to one or more folders. Each actor records into its own changeset; when all are sealed, the plan is ready:
/// `diff` shows its changes, `apply` brings them into the folders, all or nothing, and `undo` reverts them. PLAN is a name, an id,
/// a prefix of an id, or @latest.
///
/// The next command that names a plan or its folders finishes an interrupted apply, and says so.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Diff(diff::Args),
    History(history::Args),
    Conflicts(conflicts::Args),
    Resolve(resolve::Args),
    Apply(apply::Args),
    Undo(undo::Args),
    Create(create::Args),
    Cancel(cancel::Args),
    Prune(prune::Args),
    Recover(recover::Args),
}

pub(super) const SCHEMAS: &[Entry] = &[
    ("plan list", of::<list::Data<'_>>),
    ("plan show", of::<show::Shown>),
    ("plan diff", of::<Difference>),
    ("plan history", of::<history::Data>),
    ("plan conflicts", of::<conflicts::Data>),
    ("plan resolve", of::<Plan>),
    ("plan apply", of::<Applied>),
    ("plan undo", of::<Applied>),
    ("plan create", of::<Plan>),
    ("plan cancel", of::<Plan>),
    ("plan prune", of::<Cleaning>),
    ("plan recover", of::<recover::Data>),
];

impl Args {
    /// The `command` of the envelope.
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
            Command::History(_) => "plan history",
            Command::Prune(_) => "plan prune",
            Command::Recover(_) => "plan recover",
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    // A journal may be there without a store.
    if let Command::Recover(args) = &args.command {
        return recover::run(args, session, output);
    }
    let plans = match &args.command {
        Command::Create(_) => session.writer().plans()?,
        // An empty list creates no store.
        Command::List(_) => match session.writer().known_plans()? {
            Some(plans) => plans,
            None => return list::print(&[], output),
        },
        _ => existing_plans(session)?,
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
        Command::History(args) => history::run(args, &plans, output),
        Command::Prune(args) => prune::run(args, &plans, output),
        Command::Recover(args) => recover::run(args, session, output),
    }
}

/// Options of commands that select a part of a plan.
#[derive(clap::Args, Clone, Debug)]
struct PartArgs {
    /// Select the changes of this actor (repeatable)
    #[arg(long, value_name = "NAME")]
    actor: Vec<String>,
    /// Select paths by a pattern such as `src/**` or `*.md`, or by a folder (repeatable)
    #[arg(long, value_name = "GLOB")]
    path: Vec<String>,
}

impl PartArgs {
    fn selection(&self) -> Result<PlanSelection> {
        let actors = self.actor.iter().map(|name| Ok(actor(name)?)).collect::<Result<_>>()?;
        Ok(PlanSelection { actors, paths: self.path.clone(), ..PlanSelection::default() })
    }
}

/// The roots of a plan: `~/app and ~/site`.
fn roots(plan: &Plan) -> String {
    display::paths(plan.roots.iter().map(|root| root.show()))
}

/// The number of changed lines of each file, and of all.
pub(super) fn stat_lines(files: &[FileDiff], paint: Paint) -> Vec<String> {
    diff::stat_lines(files, paint)
}

/// `checkout: applied 5 files to ~/shop; 2 files remain`.
pub(super) fn applied_line(applied: &Applied) -> String {
    apply::summary(applied)
}

/// Lists the files of an apply or undo, root by root: to standard output for a dry run, else to standard error.
pub(super) fn print_files(applied: &Applied, output: &mut Output) -> Result<()> {
    let (is_data, has_many_roots) = (applied.dry_run, applied.plan.roots.len() > 1);
    let width = applied.files.iter().map(|file| shown_path(file).chars().count()).max().unwrap_or(0);
    let mut root = None;
    for file in &applied.files {
        let paint = output.paint();
        if has_many_roots && root != Some(&file.root) {
            output.print_or_report(is_data, paint.strong(display::path(&file.root.show())))?;
            root = Some(&file.root);
        }
        let action = match file.outcome {
            outcome @ ("drifted" | "verify-failed") => paint.bad(format!("{outcome:<6}")),
            "unchanged" => paint.faint("unchanged"),
            _ if applied.dry_run => format!("would {:<6}", file.change),
            _ => paint.good(format!("{:<6}", file.change)),
        };
        let line =
            format!("  {action}  {:<width$}  {}", shown_path(file), paint.faint(file.actors.join(", ")));
        output.print_or_report(is_data, line.trim_end())?;
    }
    Ok(())
}

/// The path of a file, with both names of a rename.
fn shown_path(file: &FileOutcome) -> String {
    let path = match &file.from {
        Some(from) => diff::rename(&from.show(), &file.path.show()),
        None => file.path.show().into_owned(),
    };
    let mode = file.mode.as_ref().map(|mode| format!(" (mode {mode})")).unwrap_or_default();
    format!("{}{mode}", visible(&path))
}

/// Warns about files that do not hold what the plan declares. Returns the exit status.
pub(super) fn end(applied: &Applied, output: &mut Output) -> Exit {
    warn_recovered(&applied.recovered, output);
    for file in applied.files.iter().filter(|file| file.outcome == "verify-failed") {
        let text = format!("`{}` was written, but held other content when it was verified", file.path.show());
        let hint = format!("agents plan apply {}  # after a look at the file and the disk", applied.plan.id);
        output.warn("verify-failed", text, Some(hint));
    }
    for file in applied.files.iter().filter(|file| file.outcome == "drifted") {
        let preserved = file
            .preserved_at
            .as_ref()
            .map(|preserved| format!("; the plan's version is in `{preserved}`"))
            .unwrap_or_default();
        let text = format!("`{}` was changed during the apply and stays{preserved}", file.path.show());
        output.warn("drifted", text, None);
    }
    match (applied.has_verify_failed(), applied.has_drifted()) {
        (true, _) => Exit::Error,
        (false, true) => Exit::Refused,
        (false, false) => Exit::Ok,
    }
}
