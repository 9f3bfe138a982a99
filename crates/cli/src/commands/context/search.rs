//! `agents context search`.

use api::{ContextName, Contexts, Role, SearchHit, SearchQuery};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Error, Exit, Result};
use crate::output::{Answer, Output};
use crate::time;

/// Search messages by words, role and time
///
/// A message matches if it contains all words, in any order and any case. Exits with 3 if no
/// message matches.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Words to search for
    query: String,
    /// Only this context (repeatable) [default: all]
    #[arg(long = "in", value_name = "NAME")]
    names: Vec<ContextName>,
    /// Only messages of this role
    #[arg(long)]
    role: Option<Role>,
    /// Only messages at this time or later, such as 2026-11-01, 2026-11-01T12:00:00Z or 1h (ago)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only messages before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Number of lines to print around a matching line
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
    context: usize,
}

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
pub(super) struct Data {
    /// Number of hits.
    hits: u64,
}

/// A line of the stream.
#[derive(JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum Event<'a> {
    Search { query: &'a str },
    Hit { hit: &'a SearchHit },
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    let query = SearchQuery {
        role: args.role.clone(),
        since: args.since.as_deref().map(time::parse).transpose()?,
        until: args.until.as_deref().map(time::parse).transpose()?,
        context_lines: args.context,
        ..SearchQuery::words(&args.query)
    };
    let (mut count, mut exit) = (0_u64, Exit::NotFound);
    output.begin_stream(&Event::Search { query: &args.query })?;
    for hit in contexts.search(&args.names, query)? {
        let hit = match hit {
            Ok(hit) => hit,
            // The search continues with the next context.
            Err(error) => {
                output.error(Error::from(error).problem());
                exit = Exit::Error;
                continue;
            }
        };
        output.stream(&Event::Hit { hit: &hit })?;
        let paint = output.paint();
        let time = hit.time.as_ref().map(|time| format!(" {time}")).unwrap_or_default();
        output.print(format!(
            "{} {}{}",
            paint.strong(format!("{}[{}]", hit.name, hit.number)),
            hit.role,
            paint.faint(time)
        ))?;
        for line in &hit.lines {
            let mark = if line.is_match { ":" } else { "-" };
            output.print_text(format!("  {}{mark} {}", line.number, line.text))?;
        }
        count += 1;
    }
    if exit == Exit::NotFound {
        match count {
            0 => output.report("no message matches"),
            _ => exit = Exit::Ok,
        }
    }
    Ok(Answer { exit, ..Answer::of(&Data { hits: count }) })
}
