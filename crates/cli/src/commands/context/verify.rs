//! `agents context verify`.

use api::{ContextName, Contexts, Report};

use super::{IfRevision, counted, warn_of_change};
use crate::error::{Error, Exit, Result};
use crate::output::{Answer, Output};

/// Read everything and tell what is wrong
///
/// Ends with 1 when something is. With `--repair`, lines of messages that somebody else added or changed are taken over, lines that are no messages go to a file beside,
/// and counts and index are made anew; nothing is thrown away.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The context [default: all]
    #[arg(conflicts_with = "all")]
    name: Option<ContextName>,
    /// All contexts
    #[arg(long)]
    all: bool,
    /// Take over what somebody else changed
    #[arg(long, requires = "name")]
    repair: bool,
    #[command(flatten)]
    if_revision: IfRevision,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    if let (true, Some(name)) = (args.repair, &args.name) {
        let change = contexts.repair(name, args.if_revision.if_revision)?;
        output.confirm(format!(
            "{name} has {} now, revision {}",
            counted(change.message_count),
            change.revision
        ))?;
        warn_of_change(&change, output);
        return Ok(Answer::of(&change));
    }
    if args.if_revision.if_revision.is_some() {
        return Err(Error::Words { reason: "`--if-revision` goes with `--repair`" });
    }
    let verified = contexts.verify(args.name.as_ref())?;
    for one in &verified {
        tell(one, output)?;
    }
    let is_sound = verified.iter().all(|one| one.problems.is_empty());
    let exit = if is_sound { Exit::Ok } else { Exit::Error };
    Ok(Answer { exit, ..Answer::of(&serde_json::json!({ "contexts": verified })) })
}

fn tell(one: &Report, output: &mut Output) -> Result<()> {
    let paint = output.paint();
    let state = match one.problems.len() {
        0 => paint.good("sound"),
        1 => paint.bad("1 problem"),
        count => paint.bad(format!("{count} problems")),
    };
    output.say(format!("{}: {}, {state}", paint.strong(&one.name), counted(one.messages)))?;
    for problem in &one.problems {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        output.say(format!("  {}{line}: {}", problem.file.display(), problem.what))?;
    }
    for notice in &one.notices {
        output.warn("notice", notice.to_string(), None);
    }
    Ok(())
}
