//! `agents context prune`.

use api::Contexts;
use jiff::{SignedDuration, Timestamp};

use super::{Yes, counted};
use crate::ask::before_deleting;
use crate::error::{Error, Result};
use crate::output::{Answer, Output};

/// Delete contexts that nobody changed for long
///
/// The only thing that deletes contexts by their age, and only when it is asked to. Asks first; where nobody can be asked it needs `--yes`. `--dry-run` tells what
/// would go.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Those that were last changed longer ago than this, such as 30d or 12h
    #[arg(long, value_name = "DURATION")]
    older_than: String,
    /// Delete nothing, tell what would go
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    yes: Yes,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    let before = before(&args.older_than)?;
    let old = contexts.older_than(before)?;
    let mut removed = Vec::new();
    for one in &old {
        output.say(format!("{}  {}  {}", one.name, counted(one.message_count), one.last_updated))?;
    }
    if !args.dry_run && !old.is_empty() {
        let what = if old.len() == 1 {
            "deleting 1 context".to_owned()
        } else {
            format!("deleting {} contexts", old.len())
        };
        before_deleting(&what, args.yes.yes, output)?;
        for one in &old {
            // One that was changed since the list stays.
            if contexts.prune(&one.name, before)? {
                removed.push(one.name.clone());
            }
        }
    }
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    let count = if args.dry_run { old.len() } else { removed.len() };
    output.confirm(format!("{count} {verb}"))?;
    Ok(Answer::ok(serde_json::json!({ "old": old, "removed": removed })))
}

/// The time so long ago. A day has 24 hours.
fn before(age: &str) -> Result<Timestamp> {
    let bad = || Error::Value { value: age.to_owned(), expected: "a duration such as 30d or 12h" };
    let age = api::parse_duration(age).and_then(|age| SignedDuration::try_from(age).ok()).ok_or_else(bad)?;
    Timestamp::now().checked_sub(age).map_err(|_| bad())
}
