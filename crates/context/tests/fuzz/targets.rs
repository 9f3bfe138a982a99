//! Properties of every input that a conversation may come from. The tests run them over the seeds;
//! the programs in `fuzz/` search for bytes that break them.

use std::fs;
use std::path::{Path, PathBuf};

use context::{ContextManager, Contexts, Draft, Format, Json, Name, OnExisting, Options, Role};
use tempfile::TempDir;

/// Messages of the conversation whose index is replaced: enough for several entries.
const INDEXED: u64 = 200;

/// Imports bytes as an archive: either it round-trips, or the existing context is unchanged.
pub(crate) fn archive(bytes: &[u8]) {
    let place = Place::new();
    let file = place.folder.path().join("archive");
    fs::write(&file, bytes).unwrap();
    let before = exported(&place.chat(2));
    match place.contexts.import(&file, Some(&place.name), OnExisting::Replace, None) {
        Err(_) => assert_eq!(exported(&place.open()), before, "what was there stays"),
        Ok(imported) => {
            assert!(imported.verify().unwrap().is_sound());
            let once = exported(&imported);
            fs::write(&file, &once).unwrap();
            let again = place.contexts.import(&file, Some(&place.name), OnExisting::Replace, None).unwrap();
            assert_eq!(content(&exported(&again)), content(&once), "it comes back the same");
        }
    }
    place.goes_on_if_it_opens();
}

/// Reads the four legacy files, separated by zero bytes: either they are converted without loss, or
/// rejected.
pub(crate) fn legacy_layout(bytes: &[u8]) {
    let place = Place::new();
    fs::create_dir_all(place.file("")).unwrap();
    let names = ["messages.json", "metadata.json", "state.json", "global_context.json"];
    for (name, part) in names.into_iter().zip(bytes.splitn(4, |byte| *byte == 0)) {
        fs::write(place.file(name), part).unwrap();
    }
    let Ok(mut chat) = place.contexts.open(&place.name) else {
        for (name, part) in names.into_iter().zip(bytes.splitn(4, |byte| *byte == 0)) {
            assert_eq!(fs::read(place.file(name)).unwrap(), part, "what is refused is left as it is");
        }
        return;
    };
    let messages: Vec<String> = lines(&chat);
    assert_eq!(messages.len() as u64, chat.metadata().message_count());
    chat.append(Draft::text(Role::User, "one more")).unwrap();
    let saved = chat.save().unwrap();
    let after = place.open();
    assert!(after.verify().unwrap().is_sound());
    assert_eq!(lines(&after).len(), messages.len() + 1);
    let old = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    assert!(saved.preserved_at.iter().all(|aside| fs::read(aside).unwrap() == old), "the old file is kept");
}

/// Replaces the index: messages are found anyway, and the index is never trusted.
pub(crate) fn index(bytes: &[u8]) {
    let place = Place::new();
    let mut chat = place.chat(INDEXED);
    fs::write(place.file("messages.index"), bytes).unwrap();
    let place_of = |message: &context::NumberedMessage| message.message.content().text();
    for start in [0, 1, 63, 64, 65, 128, 191, 192, INDEXED - 1] {
        let first = chat.messages(start..).next().unwrap().unwrap();
        assert_eq!((first.number, place_of(&first)), (start, format!("m{start}")));
    }
    // Enough for another entry.
    chat.append_all((INDEXED..INDEXED + 64).map(|at| Draft::text(Role::User, &format!("m{at}")))).unwrap();
    // A modified length of the file may be an error; then nothing was changed.
    if chat.save().is_ok() {
        let after = place.open();
        assert_eq!(lines(&after).len() as u64, INDEXED + 64);
        let last = after.last(1).next().unwrap().unwrap();
        assert_eq!(place_of(&last), format!("m{}", INDEXED + 63));
    } else {
        assert_eq!(lines(&place.open()).len() as u64, INDEXED);
    }
}

/// Appends bytes to the messages: they are reported, and preserved or accepted by a repair; the
/// messages before them stay.
pub(crate) fn tail(bytes: &[u8]) {
    let place = Place::new();
    let before = lines(&place.chat(3));
    let mut messages = fs::read(place.file("messages.jsonl")).unwrap();
    messages.extend(bytes);
    fs::write(place.file("messages.jsonl"), &messages).unwrap();
    match place.contexts.open(&place.name) {
        Ok(chat) => {
            assert!(lines(&chat).starts_with(&before), "the rest loads");
            assert!(bytes.is_empty() || !chat.notices().is_empty(), "a notice is given");
        }
        Err(_) => assert_eq!(fs::read(place.file("messages.jsonl")).unwrap(), messages, "it is left"),
    }
    if place.contexts.repair(&place.name, None).is_ok() {
        let repaired = place.open();
        assert!(repaired.verify().unwrap().is_sound());
        assert!(lines(&repaired).starts_with(&before));
    }
    place.goes_on_if_it_opens();
}

/// A folder with a context `chat`.
struct Place {
    folder: TempDir,
    contexts: Contexts,
    name: Name,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let contexts = Contexts::at(&folder.path().join("contexts"), Options::default());
        Place { folder, contexts, name: Name::new("chat").unwrap() }
    }

    fn chat(&self, count: u64) -> ContextManager {
        let mut chat = self.contexts.create(&self.name).unwrap();
        chat.append_all((0..count).map(|at| Draft::text(Role::User, &format!("m{at}")))).unwrap();
        chat.set_state(Json::parse(r#"{"n":1.10}"#).unwrap()).unwrap();
        let _ = chat.save().unwrap();
        chat
    }

    fn open(&self) -> ContextManager {
        self.contexts.open(&self.name).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        let folder: &Path = self.contexts.folder();
        folder.join("chat").join(name)
    }

    /// Checks that a context that opens can be written, and is intact afterwards.
    fn goes_on_if_it_opens(&self) {
        let Ok(mut chat) = self.contexts.open(&self.name) else { return };
        chat.append(Draft::text(Role::User, "goes on")).unwrap();
        let saved = chat.save().unwrap();
        assert!(self.open().verify().unwrap().is_sound());
        assert_eq!(lines(&self.open()).len() as u64, saved.message_count);
    }
}

fn lines(chat: &ContextManager) -> Vec<String> {
    chat.messages(..).map(|one| one.unwrap().message.as_json().to_owned()).collect()
}

fn exported(chat: &ContextManager) -> String {
    let mut out = Vec::new();
    chat.export(Format::Archive, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the lines of an archive without head, metadata and checksum.
fn content(archive: &str) -> Vec<&str> {
    let lines: Vec<&str> = archive.lines().collect();
    lines[2..lines.len() - 1].to_vec()
}
