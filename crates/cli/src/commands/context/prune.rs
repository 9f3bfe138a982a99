//! `agents context prune`.

use api::{ContextName, Contexts, StaleContext};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Yes, plural};
use crate::confirm::confirm;
use crate::display;
use crate::error::{Error, Result};
use crate::output::{Answer, Output};
use crate::time;

/// Delete contexts without recent changes
///
/// Asks for confirmation; without a terminal it needs `--yes`. Nothing else deletes contexts by
/// age.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Minimum time since the last change, such as 30d or 12h
    #[arg(long, value_name = "DURATION")]
    older_than: String,
    /// Only print what would be deleted
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    yes: Yes,
}

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
pub(super) struct Data {
    stale: Vec<StaleContext>,
    removed: Vec<ContextName>,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    let before = before(&args.older_than)?;
    let stale = contexts.stale(before)?;
    let mut removed = Vec::new();
    for one in &stale {
        output.print(format!("{}  {}  {}", one.name, plural(one.message_count), one.last_updated))?;
    }
    if !args.dry_run && !stale.is_empty() {
        let what = format!("delete {}", display::plural(stale.len(), "context"));
        confirm(&what, args.yes.yes, output)?;
        for one in &stale {
            // A context that changed since the list stays.
            if contexts.prune(&one.name, before)? {
                removed.push(one.name.clone());
            }
        }
    }
    let verb = if args.dry_run { "would remove" } else { "removed" };
    let count = if args.dry_run { stale.len() } else { removed.len() };
    let summary = match count {
        0 => "nothing to remove".to_owned(),
        count => format!("{verb} {}", display::plural(count, "context")),
    };
    output.print_or_report(args.dry_run, summary)?;
    Ok(Answer::of(&Data { stale, removed }))
}

/// Returns the time so long ago. A day has 24 hours.
fn before(age: &str) -> Result<Timestamp> {
    let bad = || Error::InvalidValue { value: age.to_owned(), expected: "a duration such as 30d or 12h" };
    time::ago(age).ok_or_else(bad)
}
