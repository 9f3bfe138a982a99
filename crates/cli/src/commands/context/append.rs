//! `agents context append`.

use std::path::PathBuf;

use api::{ContextName, Draft, Revision, Role, SaveSummary};

use super::{IfRevision, given, warn_of_change};
use crate::error::Result;
use crate::input;
use crate::output::{Answer, Output};

/// Append one message, or many in one commit
///
/// In a pipe, prints the id of each message. With `--jsonl`, each line is a message as a JSON
/// object with any fields; appends all of them or none.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Context name
    name: ContextName,
    /// Role of the author: system, developer, user, assistant or tool
    #[arg(long, required_unless_present = "jsonl", conflicts_with = "jsonl")]
    role: Option<Role>,
    /// Text of the message; `-` reads standard input
    #[arg(
        required_unless_present = "jsonl",
        conflicts_with = "jsonl",
        allow_hyphen_values = true,
        value_parser = no_option
    )]
    text: Option<String>,
    /// File with one message a line; `-` reads standard input
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    jsonl: Option<PathBuf>,
    #[command(flatten)]
    if_revision: IfRevision,
}

/// Accepts a text that begins with a hyphen, as lists do; rejects one that looks like a misspelled
/// option.
fn no_option(text: &str) -> std::result::Result<String, &'static str> {
    let word = text.strip_prefix("--").unwrap_or_default();
    let is_option = word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    if is_option {
        return Err("there is no such option; `-` reads the text from standard input");
    }
    Ok(text.to_owned())
}

/// Appends to the context, or asks the run of the sandbox to do so.
pub(super) fn run(
    args: &Args,
    append: impl FnOnce(&ContextName, &[Draft], Option<Revision>) -> std::result::Result<SaveSummary, api::Error>,
    output: &mut Output,
) -> Result<Answer> {
    let saved = append(&args.name, &drafts(args)?, args.if_revision.if_revision)?;
    output.done(appended(&saved));
    warn_of_change(&saved, output);
    saved.ids.iter().try_for_each(|id| output.print_id(id))?;
    Ok(Answer::of(&saved))
}

/// `chat: appended message 2, revision 3`.
fn appended(saved: &SaveSummary) -> String {
    let SaveSummary { name, revision, message_count, ids, .. } = saved;
    match ids.len() as u64 {
        0 => format!("{name}: appended no message, revision {revision}"),
        1 => format!("{name}: appended message {}, revision {revision}", message_count - 1),
        count => {
            let (first, last) = (message_count - count, message_count - 1);
            format!("{name}: appended messages {first} to {last}, revision {revision}")
        }
    }
}

fn drafts(args: &Args) -> Result<Vec<Draft>> {
    let Some(file) = &args.jsonl else {
        let (role, text) =
            (args.role.clone().unwrap_or(Role::User), args.text.as_deref().unwrap_or_default());
        return Ok(vec![Draft::text(role, &without_line_break(given(text)?, text))]);
    };
    Ok(Draft::parse_lines(&input::read_text(file)?).map_err(api::Error::from)?)
}

/// Removes the line break that a shell adds to piped text.
fn without_line_break(mut text: String, given: &str) -> String {
    if given == "-" && text.ends_with('\n') {
        text.pop();
    }
    text
}
