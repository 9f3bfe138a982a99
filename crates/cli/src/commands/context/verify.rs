//! `agents context verify`.

use api::{ContextName, Contexts, SaveSummary, VerifyReport};
use schemars::JsonSchema;
use serde::Serialize;

use super::{IfRevision, plural, warn_of_change};
use crate::error::{Error, Exit, Result};
use crate::output::{Answer, Output};

/// Check all files of a context
///
/// Exits with 1 if there is a problem. With `--repair`, accepts messages that another program added
/// or changed, preserves lines that are not messages in another file, and rebuilds counts and
/// index; no content is lost.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Context name [default: all]
    #[arg(conflicts_with = "all")]
    name: Option<ContextName>,
    /// All contexts
    #[arg(long)]
    all: bool,
    /// Accept changes of other programs
    #[arg(long, requires = "name")]
    repair: bool,
    #[command(flatten)]
    if_revision: IfRevision,
}

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub(super) enum Data<'a> {
    Verified { contexts: &'a [VerifyReport] },
    Repaired(&'a SaveSummary),
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    if let (true, Some(name)) = (args.repair, &args.name) {
        let change = contexts.repair(name, args.if_revision.if_revision)?;
        output.done(format!(
            "{name}: repaired, {}, revision {}",
            plural(change.message_count),
            change.revision
        ));
        warn_of_change(&change, output);
        return Ok(Answer::of(&Data::Repaired(&change)));
    }
    if args.if_revision.if_revision.is_some() {
        return Err(Error::Usage { reason: "`--if-revision` goes with `--repair`" });
    }
    let verified = contexts.verify(args.name.as_ref())?;
    for one in &verified {
        print(one, output)?;
    }
    let is_sound = verified.iter().all(|one| one.problems.is_empty());
    let exit = if is_sound { Exit::Ok } else { Exit::Error };
    Ok(Answer { exit, ..Answer::of(&Data::Verified { contexts: &verified }) })
}

fn print(one: &VerifyReport, output: &mut Output) -> Result<()> {
    let paint = output.paint();
    let state = match one.problems.len() {
        0 => paint.good("sound"),
        1 => paint.bad("1 problem"),
        count => paint.bad(format!("{count} problems")),
    };
    output.print(format!("{}: {state}, {}", paint.strong(&one.name), plural(one.message_count)))?;
    for problem in &one.problems {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        output.print(format!("  {}{line}: {}", problem.file.display(), problem.message))?;
    }
    for notice in &one.notices {
        output.warn("notice", notice.to_string(), None);
    }
    Ok(())
}
