//! The same four files as a context: each save is one commit of a `ContextManager`, as agents make them.

use std::path::{Path, PathBuf};

use context::{ContextManager, Contexts, Draft, Json, Name, Options, Role};
use serde_json::Value;

use super::conversation::{Found, MESSAGES, SMALL};
use crate::error::{Error, Result};

/// Makes the context.
pub(super) fn prepare(folder: &Path) -> Result<()> {
    contexts(folder).create(&name()).map(drop).map_err(failed)
}

/// Saves and acknowledges, until it is killed or nobody listens.
pub(super) fn save_without_end(folder: &Path, acknowledge: impl Fn(u64) -> Result<()>) -> Result<()> {
    let mut chat = open(folder)?;
    for number in chat.metadata().message_count() + 1.. {
        chat.append(Draft::text(Role::User, &format!("message {number}"))).map_err(failed)?;
        chat.set_state(small(number)).map_err(failed)?;
        chat.set_global(small(number)).map_err(failed)?;
        if chat.save().map_err(failed)?.pending.is_some() {
            return Err(Error::Child { did: "left a save unfinished" });
        }
        acknowledge(number)?;
    }
    Ok(())
}

/// What a reader sees, without writing anything.
pub(super) fn read(folder: &Path) -> Result<Found> {
    let chat = open(folder)?;
    let mut messages = 0;
    for one in chat.messages(..) {
        let text = one.map_err(failed)?.message.content().text();
        messages = save_of_text(&text, messages).unwrap_or(u64::MAX);
    }
    let of = |json: &Json| json.pointer("/save").map_or(Some(0), |save| save.as_str().parse().ok());
    Ok(Found::of([
        Some(messages),
        Some(chat.metadata().message_count()),
        of(chat.state()),
        of(chat.global_context()),
    ]))
}

/// What the plain files hold, as any program would see them.
pub(super) fn in_files(folder: &Path) -> Result<Found> {
    let read = |name: &str| {
        let path = path(folder).join(name);
        std::fs::read(&path).map_err(|source| Error::File { act: "read", path, source })
    };
    let [metadata, state, global] = SMALL.map(read);
    let of = |bytes: Vec<u8>, field: &str| {
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        value.get(field).map_or(Some(0), Value::as_u64)
    };
    Ok(Found::of([
        save_of_lines(&read(MESSAGES)?),
        of(metadata?, "message_count"),
        of(state?, "save"),
        of(global?, "save"),
    ]))
}

/// Saves once more, with nothing new in it: whoever writes next finishes what a killed one left. How many files it kept aside.
pub(super) fn go_on(folder: &Path) -> Result<usize> {
    let mut chat = open(folder)?;
    chat.patch_state(Json::empty()).map_err(failed)?;
    let _ = chat.save().map_err(failed)?;
    Ok(std::fs::read_dir(path(folder).join(".txn/kept")).map_or(0, Iterator::count))
}

fn save_of_lines(bytes: &[u8]) -> Option<u64> {
    let mut save = 0;
    for line in str::from_utf8(bytes).ok()?.split_inclusive('\n') {
        let message: Value = serde_json::from_str(line.strip_suffix('\n')?).ok()?;
        save = save_of_text(message["content"].as_str()?, save)?;
    }
    Some(save)
}

/// The save that a message is of, if it comes after `last`.
fn save_of_text(text: &str, last: u64) -> Option<u64> {
    (text == format!("message {}", last.wrapping_add(1))).then_some(last + 1)
}

fn small(save: u64) -> Json {
    Json::from(&serde_json::json!({ "save": save }))
}

fn open(folder: &Path) -> Result<ContextManager> {
    contexts(folder).open(&name()).map_err(failed)
}

fn contexts(folder: &Path) -> Contexts {
    Contexts::at(folder, Options::default())
}

fn path(folder: &Path) -> PathBuf {
    folder.join(name().as_str())
}

fn name() -> Name {
    Name::new("chat").expect("a plain name")
}

fn failed(error: context::Error) -> Error {
    Error::Api(error.into())
}
