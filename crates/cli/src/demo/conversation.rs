//! The four files of a conversation, saved repeatedly by a writer that is killed: by four renames, which is the control, and as a context.
//! Every file holds the number of its save.
#![expect(clippy::disallowed_methods, reason = "the control saves the usual way")]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use api::{Agents, ContextManager, ContextName, Draft, Invocation, Json};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::writer::{Child, Role};
use super::{Demo, failed};
use crate::error::{Error, Result};

/// Longest life of a writer after its first save, in microseconds.
const LIFE_MAX_US: u64 = 12_000;
/// Kills by default: at most this many, fewer if they take too long, but not fewer than the minimum.
const KILLS_DEFAULT: u32 = 100;
const KILLS_TIME: Duration = Duration::from_secs(2);
const KILLS_MIN: u32 = 10;

/// Grows by a line with each save.
const MESSAGES: &str = "messages.jsonl";
/// Replaced by each save, with the field that holds its number.
const SMALL: [(&str, &str); 3] =
    [("metadata.json", "message_count"), ("state.json", "save"), ("global_context.json", "save")];

/// The number of the save in each of the four files; `None` for a torn file.
type Saves = [Option<u32>; 4];

/// Counts over all kills.
#[derive(Default, JsonSchema, Serialize)]
pub(super) struct Tally {
    pub(super) kills: u32,
    /// Saves that the writer acknowledged.
    pub(super) acknowledged: u32,
    /// Kills that left files of different saves, or a torn file, in the folder.
    pub(super) mixed_at_kill: u32,
    /// Kills after which a reader saw such files.
    pub(super) mixed_for_reader: u32,
    /// Kills after which the next save left such files.
    pub(super) mixed_after_open: u32,
    /// Kills that lost an acknowledged save.
    pub(super) lost: u32,
}

impl Tally {
    pub(super) fn passed(&self) -> bool {
        self.mixed_for_reader == 0 && self.mixed_after_open == 0 && self.lost == 0
    }
}

impl Demo<'_> {
    /// Kills a writer this often, or as often as takes a few seconds.
    pub(super) fn kill_often(&mut self, role: Role, kills: Option<u32>) -> Result<Tally> {
        let folder = self.folder.to_owned();
        let files = prepare(role, &folder)?;
        let (start, max) = (Instant::now(), kills.unwrap_or(KILLS_DEFAULT));
        let mut tally = Tally::default();
        let is_slow =
            |tally: &Tally| kills.is_none() && tally.kills >= KILLS_MIN && start.elapsed() > KILLS_TIME;
        while tally.kills < max && !is_slow(&tally) {
            self.interrupt.check()?;
            self.output.progress(format_args!("   kill {} of {max}", tally.kills + 1));
            let life = Duration::from_micros(self.random.below(LIFE_MAX_US));
            let killed = Child::start(role, &folder, 0).and_then(|child| child.kill_after(life));
            // Ctrl-C reaches the child as well.
            self.interrupt.check()?;
            let (first, last) = killed?;
            let at_kill = in_files(&files)?;
            let (for_reader, after_open) = match role {
                Role::Context => (for_reader(&folder)?, after_next_save(&folder, &files)?),
                // The control has no recovery: readers see the files.
                _ => (at_kill, at_kill),
            };
            let lacks = |saves: Saves| saves.iter().any(|save| save.is_none_or(|save| save < last));
            tally.kills += 1;
            tally.acknowledged += last + 1 - first;
            tally.mixed_at_kill += u32::from(is_mixed(at_kill));
            tally.mixed_for_reader += u32::from(is_mixed(for_reader));
            tally.mixed_after_open += u32::from(is_mixed(after_open));
            tally.lost += u32::from(lacks(for_reader) || lacks(after_open));
        }
        Ok(tally)
    }
}

/// Creates a conversation without messages. Returns the folder of its files.
fn prepare(role: Role, folder: &Path) -> Result<PathBuf> {
    if role == Role::Context {
        return Ok(contexts(folder)?.create(&name())?.folder.into());
    }
    let files = folder.join("usual");
    fs::create_dir(&files).map_err(failed("make the folder", &files))?;
    save(&files, "", 0)?;
    Ok(files)
}

/// The control, in a child: each file is whole after a kill, the set is not.
pub(super) fn save_files(folder: &Path, acknowledge: impl Fn(u32) -> Result<()>) -> Result<()> {
    let files = folder.join("usual");
    let newest = in_files(&files)?.into_iter().flatten().max().unwrap_or(0);
    let line = |save| format!("{}\n", json!({ "role": "user", "content": text(save) }));
    let mut messages: String = (1..=newest).map(line).collect();
    for number in newest + 1.. {
        messages += &line(number);
        save(&files, &messages, number)?;
        acknowledge(number)?;
    }
    Ok(())
}

fn save(folder: &Path, messages: &str, number: u32) -> Result<()> {
    let small = SMALL.map(|(name, field)| (name, json!({ field: number }).to_string()));
    for (name, content) in [(MESSAGES, messages.to_owned())].into_iter().chain(small) {
        let path = folder.join(name);
        replace(&path, content.as_bytes()).map_err(failed("save", &path))?;
    }
    Ok(())
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}

/// In a child: each save is one commit, as in agents.
pub(super) fn save_context(folder: &Path, acknowledge: impl Fn(u32) -> Result<()>) -> Result<()> {
    let mut chat = open(folder)?;
    for number in chat.metadata().message_count() as u32 + 1.. {
        let document = || Json::from(&json!({ "save": number }));
        let draft = Draft::text(api::Role::User, &text(number));
        let staged = chat.append(draft).and_then(|()| chat.set_state(document()));
        let saved = staged.and_then(|()| chat.set_global(document())).and_then(|()| chat.save());
        if saved.map_err(api::Error::from)?.pending.is_some() {
            return Err(Error::Child { did: "left a save unfinished" });
        }
        acknowledge(number)?;
    }
    Ok(())
}

/// Reads the plain files, as any program does.
fn in_files(folder: &Path) -> Result<Saves> {
    let read = |name: &str| fs::read(folder.join(name)).map_err(failed("read", &folder.join(name)));
    let lines = read(MESSAGES)?;
    let [metadata, state, global] = SMALL.map(|(name, field)| -> Result<Option<u32>> {
        let value: Option<Value> = serde_json::from_slice(&read(name)?).ok();
        Ok(value.and_then(|value| value.get(field).map_or(Some(0), Value::as_u64)).map(|save| save as u32))
    });
    Ok([save_of_lines(&lines), metadata?, state?, global?])
}

fn save_of_lines(bytes: &[u8]) -> Option<u32> {
    let lines = str::from_utf8(bytes).ok()?.split_inclusive('\n');
    let texts = lines.map(|line| {
        let message: Value = serde_json::from_str(line.strip_suffix('\n')?).ok()?;
        message["content"].as_str().map(str::to_owned)
    });
    count(texts)
}

/// Counts messages, if they are those of the first saves in order.
fn count(texts: impl Iterator<Item = Option<String>>) -> Option<u32> {
    let mut save = 0;
    for found in texts {
        save += 1;
        if found? != text(save) {
            return None;
        }
    }
    Some(save)
}

/// Reads the context, without writing.
fn for_reader(folder: &Path) -> Result<Saves> {
    let chat = open(folder)?;
    let messages = chat.messages(..).collect::<std::result::Result<Vec<_>, _>>().map_err(api::Error::from)?;
    let save = |json: &Json| json.pointer("/save").map_or(Some(0), |save| save.as_str().parse().ok());
    Ok([
        count(messages.iter().map(|one| Some(one.message.content().text()))),
        Some(chat.metadata().message_count() as u32),
        save(chat.state()),
        save(chat.global_context()),
    ])
}

/// Saves without a change, which recovers from the kill, and reads the plain files.
fn after_next_save(folder: &Path, files: &Path) -> Result<Saves> {
    let mut chat = open(folder)?;
    let saved = chat.patch_state(Json::empty()).and_then(|()| chat.save());
    drop(saved.map_err(api::Error::from)?);
    in_files(files)
}

fn is_mixed(saves: Saves) -> bool {
    saves[0].is_none() || saves.iter().any(|save| *save != saves[0])
}

fn text(save: u32) -> String {
    format!("message {save}")
}

fn open(folder: &Path) -> Result<ContextManager> {
    Ok(contexts(folder)?.open(&name())?)
}

fn contexts(home: &Path) -> Result<api::Contexts> {
    let invocation = Invocation { home: Some(home.to_owned()), ..Invocation::default() };
    Ok(Agents::open(&invocation)?.contexts()?)
}

fn name() -> ContextName {
    "chat".parse().expect("a plain name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_whole_if_all_files_are_of_one_save() {
        assert!(!is_mixed([Some(3); 4]));
        assert!(is_mixed([Some(4), Some(3), Some(3), Some(3)]));
        assert!(is_mixed([Some(3), Some(3), Some(3), None]));
        assert!(is_mixed([None; 4]));
    }

    #[test]
    fn torn_or_foreign_messages_are_of_no_save() {
        let line = "{\"role\":\"user\",\"content\":\"message 1\"}\n";
        assert_eq!(save_of_lines(b""), Some(0));
        assert_eq!(save_of_lines(line.as_bytes()), Some(1));
        assert_eq!(save_of_lines(line.trim_end().as_bytes()), None);
        assert_eq!(save_of_lines(line.replace('1', "2").as_bytes()), None);
    }
}
