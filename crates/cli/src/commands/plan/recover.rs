//! `agents plan recover`.

use std::path::PathBuf;

use api::{Decision, FoundJournal, JournalReport, PlanSelector, Trust};

use super::plural;
use crate::confirm::{ask, require_yes};
use crate::error::{Exit, Result};
use crate::output::{Answer, Output};
use crate::session::Session;

/// Decide about an interrupted apply that no plan vouches for
///
/// The next command that names a plan finishes an interrupted apply of it. A journal in a folder that no plan of this store is applying is
/// never carried out, since anyone may have put it there: a repository, a copy of the folder, another store. This command lists what it would
/// change and carries out your decision, in this folder alone. Asks first; without a terminal it needs `--yes`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Name, id, prefix of an id, or @latest: finish its interrupted apply, or decide about its folders
    #[arg(required_unless_present = "root", conflicts_with = "root")]
    plan: Option<PlanSelector>,
    /// The folder with the journal
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Make the changes that are missing; refuses protected folders such as .git
    #[arg(long, group = "decision")]
    finish: bool,
    /// Restore the files as they were; refuses protected folders such as .git
    #[arg(long, group = "decision")]
    roll_back: bool,
    /// Leave the files as they are, and move the journal and its contents out of the way
    #[arg(long, group = "decision")]
    set_aside: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  agents plan recover --root ~/app                 # list what the journal would change
  agents plan recover --root ~/app --set-aside";

#[derive(schemars::JsonSchema, serde::Serialize)]
pub(super) struct Data {
    /// The journals that were found.
    journals: Vec<JournalReport>,
}

impl Args {
    fn decision(&self) -> Option<Decision> {
        match (self.finish, self.roll_back, self.set_aside) {
            (true, ..) => Some(Decision::Finish),
            (_, true, _) => Some(Decision::RollBack),
            (_, _, true) => Some(Decision::SetAside),
            _ => None,
        }
    }
}

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let agents = session.writer();
    let roots: Vec<PathBuf> = match (&args.root, &args.plan) {
        (Some(root), _) => vec![root.clone()],
        (None, Some(plan)) => {
            let plan = super::open(&super::existing_plans(session)?, plan, output)?;
            plan.roots.iter().map(api::system_path).collect()
        }
        (None, None) => Vec::new(),
    };
    let mut journals = Vec::new();
    let mut exit = Exit::Ok;
    for root in roots {
        let Some(found) = agents.journal(&root)? else { continue };
        journals.push(match (&found.trust, args.decision()) {
            // The store answers for it: nobody has to decide.
            (Trust::Ours, _) => {
                let owner = found.owner.clone().unwrap_or_default();
                output.report(format!("plan {owner} is applied to {} by this store", shown(&found)));
                JournalReport::of(&found)
            }
            (_, None) => {
                print(&found, output)?;
                exit = Exit::Refused;
                JournalReport::of(&found)
            }
            (_, Some(decision)) => {
                require_yes("decide about a journal", args.yes, output)?;
                print(&found, output)?;
                if !args.yes {
                    ask(&question(decision, &found))?;
                }
                let report = agents.decide_journal(&found, decision)?;
                print_decided(&report, output);
                report
            }
        });
    }
    if journals.is_empty() {
        output.report("there is no journal to decide about");
    }
    Ok(Answer { exit, ..Answer::of(&Data { journals }) })
}

fn shown(found: &FoundJournal) -> String {
    found.root.display().to_string()
}

/// Lists what a journal would change.
fn print(found: &FoundJournal, output: &mut Output) -> Result<()> {
    let report = JournalReport::of(found);
    output.print(format!("{}: {}", report.root, report.reason.unwrap_or_default()))?;
    if report.paths.is_empty() && found.transaction.is_some() {
        output.print(format!("  leads to {}", found.main.display()))?;
    }
    for change in &found.changes {
        output.print(format!("  {change}"))?;
    }
    let decisions: &[&str] = match found.transaction {
        Some(_) => &["--finish", "--roll-back", "--set-aside"],
        None => &["--set-aside"],
    };
    for decision in decisions {
        output.hint(&format!("agents plan recover --root {} {decision}", report.root));
    }
    Ok(())
}

fn question(decision: Decision, found: &FoundJournal) -> String {
    let files = match found.transaction {
        Some(_) => plural(found.paths.len(), "path"),
        None => "all files".to_owned(),
    };
    let root = shown(found);
    match decision {
        Decision::Finish => format!("Change {files} in {root}"),
        Decision::RollBack => format!("Restore {files} in {root}"),
        Decision::SetAside => format!("Leave {files} in {root} as they are"),
    }
}

fn print_decided(report: &JournalReport, output: &mut Output) {
    let root = &report.root;
    output.report(match report.decision {
        Some("finish") => format!("{root}: finished"),
        Some("roll-back") => format!("{root}: rolled back"),
        _ => format!("{root}: the journal is in {}", report.set_aside.as_deref().unwrap_or_default()),
    });
    if report.decision == Some("set-aside") {
        for (paths, state) in [(&report.new, "new"), (&report.old, "old")] {
            for path in paths {
                output.report(format!("  {path} has its {state} content"));
            }
        }
    }
    for path in &report.kept {
        output.report(format!("  {path} was changed by others and is left"));
    }
    for other in &report.other_roots {
        output.report(format!("  not touched: {other}, a root of the same apply"));
    }
}
