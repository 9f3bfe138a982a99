//! `agents context show`.

use std::time::Duration;

use api::{ContextName, Contexts, Conversation, Numbered, Selection};

use crate::error::{Error, Exit, Result};
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};

/// How often a conversation is looked at that is followed.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Print messages
///
/// Writers do not wait for this, however slowly it is read. With `--format json` each message is one line, and the envelope is the last. With
/// `--follow` it goes on with what is appended, until Ctrl-C, and ends with 130.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The context
    name: ContextName,
    /// Only the last N messages
    #[arg(long, value_name = "N", conflicts_with = "range")]
    last: Option<u64>,
    /// Only messages A up to before B, counted from 0; either may be left out
    #[arg(long, value_name = "A..B")]
    range: Option<String>,
    /// Go on with what is appended
    #[arg(short, long, conflicts_with = "range")]
    follow: bool,
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    let mut conversation = contexts.show(&args.name, selection(args)?)?;
    let interrupt = if args.follow { Some(Interrupt::listen()?) } else { None };
    for notice in conversation.notices() {
        output.warn("notice", notice.to_string(), None);
    }
    output.begin_stream(&serde_json::json!({ "event": "context", "name": args.name }))?;
    let mut count = print(&mut conversation, output)?;
    let Some(interrupt) = interrupt else {
        return Ok(Answer::ok(serde_json::json!({ "name": args.name, "messages": count })));
    };
    while interrupt.check().is_ok() {
        std::thread::sleep(LOOK_EVERY);
        if conversation.look_again()? {
            output.warn("rewound", format!("`{}` was rewound", args.name), None);
        }
        count += print(&mut conversation, output)?;
    }
    let data = serde_json::json!({ "name": args.name, "messages": count });
    Ok(Answer { exit: Exit::Interrupted, data: data.into() })
}

/// A line for programs, with the message as it is stored.
#[derive(serde::Serialize)]
struct Event<'a> {
    event: &'static str,
    #[serde(flatten)]
    said: &'a Numbered,
}

fn print(conversation: &mut Conversation, output: &mut Output) -> Result<u64> {
    let mut count = 0;
    for said in conversation {
        let said = said?;
        output.stream(&Event { event: "message", said: &said })?;
        say(&said, output)?;
        count += 1;
    }
    Ok(count)
}

fn say(said: &Numbered, output: &mut Output) -> Result<()> {
    let paint = output.paint();
    let message = &said.message;
    let name = message.name().map(|name| format!(" {name}")).unwrap_or_default();
    let time = message.time().map(|time| format!(" {time}")).unwrap_or_default();
    output.say(format!(
        "{} {}{name}{}",
        paint.faint(format!("[{}]", said.number)),
        paint.strong(message.role()),
        paint.faint(time)
    ))?;
    let text = message.content().text();
    if !text.is_empty() {
        output.say_text(text.trim_end())?;
    }
    if let Some(calls) = message.tool_calls() {
        output.say_text(format!("tool calls: {calls}"))?;
    }
    output.say("")
}

fn selection(args: &Args) -> Result<Selection> {
    let Some(range) = &args.range else {
        return Ok(args.last.map_or(Selection::All, Selection::Last));
    };
    let bad = || Error::Value { value: range.clone(), expected: "a range such as 2..5, 2.. or ..5" };
    let (start, end) = range.split_once("..").ok_or_else(bad)?;
    let number =
        |text: &str, missing| if text.is_empty() { Ok(missing) } else { text.parse().map_err(|_| bad()) };
    Ok(Selection::Range { start: number(start, 0)?, end: number(end, u64::MAX)? })
}
