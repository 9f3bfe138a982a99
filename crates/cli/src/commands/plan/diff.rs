//! `agents plan diff`.

use api::{ChangeKind, Difference, FileDiff, PlanSelector, Plans, conflict_line, write_patch};

use super::{PartArgs, pager, plural};
use crate::error::{Error, Result};
use crate::escape::escaped;
use crate::look::Paint;
use crate::output::{Answer, Output};

/// How many signs the longest bar of `--stat` has.
const BAR_MAX: u64 = 40;

/// Show what a plan changes, as a patch that `git apply` takes
///
/// Changesets that are open do not count yet. On a terminal it is coloured and goes through $PAGER. With `--format json` the hunks come as
/// data.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: PlanSelector,
    #[command(flatten)]
    part: PartArgs,
    /// Only how many lines of each file change
    #[arg(long)]
    stat: bool,
}

const EXAMPLES: &str = "\
Examples:
  agents plan diff @latest
  agents plan diff @latest --stat --actor coder
  agents plan diff rename-module > changes.patch && git apply --check changes.patch";

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    let plan = super::open(plans, &args.plan, output)?;
    let difference = plans.diff(&plan, &args.part.selection()?)?;
    if args.stat {
        say_stat(&difference.files, output)?;
    } else if !output.is_json() {
        let patch = patch(&difference, output.paint());
        pager::show(&patch, output)?;
    }
    if difference.files.is_empty() && difference.conflicts.is_empty() && !args.part.path.is_empty() {
        let text = format!("no path that changes is one of {}", args.part.path.join(", "));
        let hint = format!("`agents plan diff {} --stat` lists those that do", difference.plan.id);
        output.warn("no-such-path", text, Some(hint));
    }
    if difference.open > 0 {
        let open = plural(difference.open, "changeset");
        output.warn("open", format!("{open} not sealed yet, and not shown"), None);
    }
    for conflict in &difference.conflicts {
        let hint = format!("`agents plan conflicts {}` shows it", difference.plan.id);
        output.warn("conflict", format!("conflict at {}", conflict_line(conflict)), Some(hint));
    }
    Ok(Answer::of(&difference))
}

/// The patch, made up line by line where the format has it.
fn patch(difference: &Difference, paint: Paint) -> Vec<u8> {
    let mut text = Vec::new();
    let several = difference.plan.roots.len() > 1;
    let mut root = None;
    for file in &difference.files {
        if several && root != Some(&file.key.root) {
            // git passes over what is before a file's own lines.
            text.extend_from_slice(format!("# root {}\n", escaped(&file.key.root.show())).as_bytes());
            root = Some(&file.key.root);
        }
        let mut one = Vec::new();
        write_patch(&mut one, file).expect("memory takes everything");
        text.extend(paint.patch(&one));
    }
    text
}

pub(super) fn say_stat(files: &[FileDiff], output: &mut Output) -> Result<()> {
    let width = files.iter().map(|file| name(file).chars().count()).max().unwrap_or(0);
    let most = files.iter().map(|file| file.added + file.removed).max().unwrap_or(0);
    for file in files {
        let paint = output.paint();
        let name = name(file);
        if file.binary {
            let bytes = |side: &Option<_>| side.as_ref().map_or(0, bytes_of);
            output.say(format!(
                " {name:<width$} | binary, {} -> {} bytes",
                bytes(&file.old),
                bytes(&file.new)
            ))?;
            continue;
        }
        let scaled = |count: u64| if most > BAR_MAX { (count * BAR_MAX).div_ceil(most) } else { count };
        let added = paint.good("+".repeat(scaled(file.added) as usize));
        let removed = paint.bad("-".repeat(scaled(file.removed) as usize));
        output.say(format!(" {name:<width$} | {:>5} {added}{removed}", file.added + file.removed))?;
    }
    let (added, removed) = files.iter().fold((0, 0), |sum, file| (sum.0 + file.added, sum.1 + file.removed));
    let (files, lines) = (plural(files.len(), "file"), plural(added as usize, "line"));
    output.say(format!(" {files} changed, {lines} added, {removed} removed"))
}

fn bytes_of(side: &api::FileSide) -> u64 {
    side.bytes
}

/// As it is printed, so that columns are as wide as they are to be.
fn name(file: &FileDiff) -> String {
    let path = file.key.path.show();
    let name = match (&file.renamed_from, file.change) {
        (Some(from), _) => format!("{} -> {path}", from.show()),
        (None, ChangeKind::Create) => format!("{path} (new)"),
        (None, ChangeKind::Delete) => format!("{path} (gone)"),
        (None, _) => path.into_owned(),
    };
    escaped(&name).into_owned()
}

/// Prints bytes that are the answer for people.
pub(super) fn print(text: &[u8], output: &mut Output) -> Result<()> {
    let out = output.bytes();
    out.write_all(text).and_then(|()| out.flush()).map_err(|source| Error::Print { source })
}
