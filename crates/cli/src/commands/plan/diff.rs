//! `agents plan diff`.

use api::{ChangeKind, Difference, FileDiff, PlanSelector, Plans, conflict_line, special_mode, write_patch};

use super::{PartArgs, pager, plural};
use crate::display;
use crate::error::Result;
use crate::escape::visible;
use crate::output::{Answer, Output};
use crate::style::Paint;

/// Length of the longest bar of `--stat`.
const BAR_MAX: u64 = 40;

/// Show the changes of a plan as a patch for `git apply`
///
/// Excludes open changesets. On a terminal the patch is coloured and goes through $PAGER; `--format json` prints the hunks as data.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest
    plan: PlanSelector,
    #[command(flatten)]
    part: PartArgs,
    /// Print only the number of changed lines of each file
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
        let lines = stat_lines(&difference.files, output.paint());
        lines.iter().try_for_each(|line| output.print(line))?;
    } else if !output.is_json() {
        output.print_patch(&patch(&difference), pager::page)?;
    }
    if difference.files.is_empty() && difference.conflicts.is_empty() && !args.part.path.is_empty() {
        let text = format!("the plan changes no path that matches {}", args.part.path.join(", "));
        let hint = format!("agents plan diff {} --stat", difference.plan.id);
        output.warn("no-such-path", text, Some(hint));
    }
    if difference.open > 0 {
        let open = plural(difference.open, "open changeset");
        let hint = format!("agents changeset list {}", difference.plan.id);
        output.warn("open", format!("{open} not shown"), Some(hint));
    }
    for conflict in &difference.conflicts {
        let hint = format!("agents plan conflicts {}", difference.plan.id);
        output.warn("conflict", format!("conflict at {}", conflict_line(conflict)), Some(hint));
    }
    Ok(Answer::of(&difference))
}

/// The patch, for `git apply`.
fn patch(difference: &Difference) -> Vec<u8> {
    let mut text = Vec::new();
    let has_many_roots = difference.plan.roots.len() > 1;
    let mut root = None;
    for file in &difference.files {
        if has_many_roots && root != Some(&file.key.root) {
            // git ignores lines before the header of a file.
            text.extend_from_slice(format!("# root {}\n", visible(&file.key.root.show())).as_bytes());
            root = Some(&file.key.root);
        }
        write_patch(&mut text, file).expect("memory takes everything");
    }
    text
}

/// A line for each file, and the sum.
pub(super) fn stat_lines(files: &[FileDiff], paint: Paint) -> Vec<String> {
    let mut shown = Vec::with_capacity(files.len() + 1);
    let width = files.iter().map(|file| name(file).chars().count()).max().unwrap_or(0);
    let most = files.iter().map(|file| file.added + file.removed).max().unwrap_or(0);
    let digits = most.to_string().len();
    let bar = |file: &FileDiff| bar_lengths(file, most).iter().sum::<u64>() as usize;
    let bars = files.iter().map(bar).max().unwrap_or(0);
    for file in files {
        let name = name(file);
        let change = if file.binary {
            let bytes = |side: &Option<_>| side.as_ref().map_or(0, bytes_of);
            format!("binary, {} -> {}", display::bytes(bytes(&file.old)), display::bytes(bytes(&file.new)))
        } else {
            let [added, removed] = bar_lengths(file, most);
            let (plus, minus) = ("+".repeat(added as usize), "-".repeat(removed as usize));
            let gap = " ".repeat(bars - bar(file));
            let lines = file.added + file.removed;
            format!("{lines:>digits$} {}{}{gap}", paint.good(plus), paint.bad(minus))
        };
        let authors = paint.faint(authors(file));
        shown.push(format!(" {name:<width$} | {change}  {authors}").trim_end().to_owned());
    }
    let (added, removed) = files.iter().fold((0, 0), |sum, file| (sum.0 + file.added, sum.1 + file.removed));
    let files = plural(files.len(), "file");
    let (added, removed) = (plural(added as usize, "insertion"), plural(removed as usize, "deletion"));
    shown.push(format!(" {files} changed, {added}(+), {removed}(-)"));
    shown
}

/// The numbers of `+` and `-` in the bar of a file, scaled to [`BAR_MAX`].
fn bar_lengths(file: &FileDiff, most: u64) -> [u64; 2] {
    let scaled = |count: u64| if most > BAR_MAX { (count * BAR_MAX).div_ceil(most) } else { count };
    [scaled(file.added), scaled(file.removed)]
}

fn authors(file: &FileDiff) -> String {
    let mut authors: Vec<&str> = file.authors.iter().map(|credit| credit.actor.as_str()).collect();
    authors.dedup();
    authors.join(", ")
}

/// `src/{tax.js => vat.js}`: both names of a renamed file, with the folder that they share once.
pub(super) fn rename(from: &str, to: &str) -> String {
    let shared = |names: (&str, &str)| names.0 == names.1;
    let folders = |path: &str| path.split_inclusive('/').filter(|name| name.ends_with('/')).count();
    let count =
        from.split_inclusive('/').zip(to.split_inclusive('/')).take_while(|names| shared(*names)).count();
    let count = count.min(folders(from)).min(folders(to));
    let folder: String = from.split_inclusive('/').take(count).collect();
    match folder.is_empty() {
        true => format!("{from} => {to}"),
        false => format!("{folder}{{{} => {}}}", &from[folder.len()..], &to[folder.len()..]),
    }
}

fn bytes_of(side: &api::FileSide) -> u64 {
    side.bytes
}

/// The name of a file as it is printed, for the width of its column.
fn name(file: &FileDiff) -> String {
    let path = file.key.path.show();
    let name = match (&file.renamed_from, file.change) {
        (Some(from), _) => rename(&from.show(), &path),
        (None, ChangeKind::Create) => format!("{path} (new)"),
        (None, ChangeKind::Delete) => format!("{path} (deleted)"),
        (None, _) => path.into_owned(),
    };
    let mode = file.new.as_ref().and_then(|new| special_mode(new.mode));
    format!("{}{}", visible(&name), mode.map(|mode| format!(" (mode {mode})")).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_names_the_shared_folder_once() {
        for (from, to, expected) in [
            ("a.txt", "b.txt", "a.txt => b.txt"),
            ("src/tax.js", "src/vat.js", "src/{tax.js => vat.js}"),
            ("a/b/c", "a/d/c", "a/{b/c => d/c}"),
            ("a/b", "b", "a/b => b"),
            ("a/b", "a/b/c", "a/{b => b/c}"),
        ] {
            assert_eq!(rename(from, to), expected);
        }
    }
}
