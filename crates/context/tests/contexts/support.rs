//! Fixture: a folder of contexts.

use std::fs;
use std::path::{Path, PathBuf};

use context::{ContextManager, Contexts, Draft, Error, Json, Message, Name, Options, Role};
use tempfile::TempDir;
use testkit::chain;

pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) contexts: Contexts,
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = testkit::folder::scratch();
        let contexts = Contexts::at(&folder.path().join("contexts"), Options::default());
        Place { folder, contexts }
    }

    /// Creates a context `chat` with so many messages: `m0`, `m1` and so on.
    pub(crate) fn with_messages(count: u64) -> (Place, ContextManager) {
        let place = Place::new();
        let mut chat = place.contexts.create(&name("chat")).unwrap();
        chat.append_all(drafts(0..count)).unwrap();
        assert!(chat.save().unwrap().pending.is_none());
        (place, chat)
    }

    /// Opens the folder again, like another process.
    pub(crate) fn again(&self) -> Contexts {
        Contexts::at(self.contexts.folder(), Options::default())
    }

    pub(crate) fn open(&self, text: &str) -> ContextManager {
        self.again().open(&name(text)).unwrap()
    }

    /// Path of a file of the context `chat`.
    pub(crate) fn file(&self, file: &str) -> PathBuf {
        self.contexts.folder().join("chat").join(file)
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.file(file)).unwrap()
    }

    pub(crate) fn write(&self, file: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.file(file).parent().unwrap()).unwrap();
        fs::write(self.file(file), content).unwrap();
    }

    /// Writes the four legacy files.
    pub(crate) fn write_old(&self, messages: &str) {
        self.write("messages.json", messages);
        self.write("metadata.json", "{\n  \"owner\": \"ada\",\n  \"created_at\": \"2025-01-01T10:00:00\"\n}");
        self.write("state.json", "{\n  \"step\": 1.10\n}");
        self.write("global_context.json", "{}");
    }

    /// Names in the folder of `chat`.
    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.file(""))
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

pub(crate) fn draft(text: &str) -> Draft {
    Draft::text(Role::User, text)
}

pub(crate) fn drafts(numbers: std::ops::Range<u64>) -> impl Iterator<Item = Draft> {
    numbers.map(|number| draft(&format!("m{number}")))
}

/// Texts of all messages.
pub(crate) fn texts(chat: &ContextManager) -> Vec<String> {
    chat.messages(..).map(|one| text(&one.unwrap().message)).collect()
}

pub(crate) fn text(message: &Message) -> String {
    message.content().text()
}

#[track_caller]
pub(crate) fn assert_error<T>(result: Result<T, Error>, expected: &str) -> Error {
    let Err(error) = result else { panic!("it succeeded, expected: {expected}") };
    assert!(chain(&error).contains(expected), "{} does not contain {expected}", chain(&error));
    error
}
