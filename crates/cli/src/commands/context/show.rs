//! `agents context show`.

use std::time::Duration;

use api::{ContextName, Contexts, Conversation, MessageSelection, NumberedMessage};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Error, Exit, Result};
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};

/// Time between polls of a followed conversation.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Print messages
///
/// Writers do not wait for a slow reader. With `--format json`, each message is one line, and the
/// envelope is the last line. With `--follow`, Ctrl-C exits with 130.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Context name
    name: ContextName,
    /// Only the last N messages
    #[arg(long, value_name = "N", conflicts_with = "range")]
    last: Option<u64>,
    /// Only messages A to before B, counted from 0; A and B are optional
    #[arg(long, value_name = "A..B")]
    range: Option<String>,
    /// Continue with new messages until Ctrl-C
    #[arg(short, long, conflicts_with = "range")]
    follow: bool,
}

/// The `data` of the envelope.
#[derive(JsonSchema, Serialize)]
pub(super) struct Data<'a> {
    name: &'a ContextName,
    /// Number of printed messages.
    message_count: u64,
}

/// A line of the stream. Messages are as stored.
#[derive(JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum Event<'a> {
    Context { name: &'a ContextName },
    Message(&'a NumberedMessage),
}

pub(super) fn run(args: &Args, contexts: &Contexts, output: &mut Output) -> Result<Answer> {
    let mut conversation = contexts.show(&args.name, selection(args)?)?;
    let interrupt = if args.follow { Some(Interrupt::listen()?) } else { None };
    for notice in conversation.notices() {
        output.warn("notice", notice.to_string(), None);
    }
    output.begin_stream(&Event::Context { name: &args.name })?;
    let mut count = print(&mut conversation, output)?;
    let Some(interrupt) = interrupt else {
        return Ok(Answer::of(&Data { name: &args.name, message_count: count }));
    };
    while interrupt.check().is_ok() {
        std::thread::sleep(POLL_INTERVAL);
        if conversation.refresh()? {
            output.warn("rewound", format!("`{}` was rewound", args.name), None);
        }
        count += print(&mut conversation, output)?;
    }
    Ok(Answer { exit: Exit::Interrupted, ..Answer::of(&Data { name: &args.name, message_count: count }) })
}

fn print(conversation: &mut Conversation, output: &mut Output) -> Result<u64> {
    let mut count = 0;
    for message in conversation {
        let message = message?;
        output.stream(&Event::Message(&message))?;
        print_message(&message, output)?;
        count += 1;
    }
    Ok(count)
}

fn print_message(entry: &NumberedMessage, output: &mut Output) -> Result<()> {
    let paint = output.paint();
    let message = &entry.message;
    let name = message.name().map(|name| format!(", {name}")).unwrap_or_default();
    let time = message.time().map(|time| format!(", {time}")).unwrap_or_default();
    output.print(format!(
        "{} {}{name}{}",
        paint.faint(format!("[{}]", entry.number)),
        paint.strong(message.role()),
        paint.faint(time)
    ))?;
    let text = message.content().text();
    if !text.is_empty() {
        output.print_text(text.strip_suffix('\n').unwrap_or(&text))?;
    }
    if let Some(calls) = message.tool_calls() {
        output.print_text(format!("tool calls: {calls}"))?;
    }
    output.print("")
}

fn selection(args: &Args) -> Result<MessageSelection> {
    let Some(range) = &args.range else {
        return Ok(args.last.map_or(MessageSelection::All, MessageSelection::Last));
    };
    let bad = || Error::InvalidValue { value: range.clone(), expected: "a range such as 2..5, 2.. or ..5" };
    let (start, end) = range.split_once("..").ok_or_else(bad)?;
    let number =
        |text: &str, missing| if text.is_empty() { Ok(missing) } else { text.parse().map_err(|_| bad()) };
    let (start, end) = (number(start, 0)?, number(end, u64::MAX)?);
    if start > end { Err(bad()) } else { Ok(MessageSelection::Range { start, end }) }
}
