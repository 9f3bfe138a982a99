//! Imports from other tools and other machines. The content determines the format.
//!
//! An import is one commit of the context's folder, after the last byte was read and the checksum
//! verified: a failed import leaves the existing context unchanged.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::archive::{self, Archive};
use super::legacy;
use crate::contexts::OnExisting;
use crate::edit::{Edit, check_revision};
use crate::error::{Damage, ImportError};
use crate::files::{DOCUMENT_BYTES_MAX, GLOBAL, LEGACY_BYTES_MAX, LEGACY_MESSAGES, METADATA, STATE};
use crate::model::json;
use crate::{ContextManager, Contexts, Error, Json, JsonError, Message, Metadata, Name, Revision};

impl Contexts {
    /// Imports an archive, a JSON list of chat messages (alone or as `messages` of an object), or a
    /// folder with the four files of older tools. Without `name`, uses the name in the archive, or
    /// the file name without its extension.
    ///
    /// With [`OnExisting::Replace`] the import replaces the context of that name; with `expected`,
    /// only if that is at this revision. Concurrent readers see all of the old context or all of
    /// the new one. Its revisions continue, so the old metadata must be readable. If several
    /// threads or processes create one name, one succeeds. A failure, such as a wrong checksum, or
    /// a kill leaves the existing context, or none.
    #[track_caller]
    pub fn import(
        &self,
        from: &Path,
        name: Option<&Name>,
        on_existing: OnExisting,
        expected: Option<Revision>,
    ) -> Result<ContextManager, Error> {
        let failed = |source| Error::Import { from: from.to_owned(), source: Box::new(source) };
        let mut source = Source::open(from).map_err(failed)?;
        let name = match (name, source.name()) {
            (Some(name), _) => name.clone(),
            (None, Some(name)) => name,
            (None, None) => Name::new(&from.file_stem().unwrap_or_default().to_string_lossy())?,
        };
        let check = |edit: &Edit<'_, '_>| check_revision(&name, expected, edit.loaded.metadata.revision);
        self.create_with("import", &name, on_existing, |edit| {
            check(edit)?;
            edit.replace_messages(std::iter::from_fn(|| source.next_message().map_err(failed).transpose()))?;
            let (metadata, state, global) = source.documents();
            edit.set_state(state)?;
            edit.set_global(global)?;
            let wrong = |source| failed(ImportError::File { file: METADATA, source });
            edit.loaded.metadata.inherit(&Metadata::read(metadata).map_err(wrong)?);
            Ok(())
        })
    }
}

/// Source of an import.
enum Source {
    Archive(Box<Archive<BufReader<File>>>),
    List { messages: std::vec::IntoIter<Message>, metadata: Json, state: Json, global: Json },
}

impl Source {
    fn open(from: &Path) -> Result<Source, ImportError> {
        if from.is_dir() {
            return Source::of_folder(from);
        }
        // Check before opening: opening a FIFO would block.
        let found = fs::metadata(from).map_err(ImportError::Read)?;
        if !found.is_file() {
            return Err(ImportError::UnknownFormat);
        }
        let mut reader = BufReader::with_capacity(64 * 1024, File::open(from).map_err(ImportError::Read)?);
        if is_archive(reader.fill_buf().map_err(ImportError::Read)?) {
            return Ok(Source::Archive(Box::new(Archive::open(reader)?)));
        }
        let bytes = read(from, LEGACY_BYTES_MAX).map_err(|damage| match damage {
            Ok(source) => ImportError::Read(source),
            Err(source) => ImportError::Line { line: 1, source },
        })?;
        let messages = chat_messages(&bytes)?.into_iter();
        Ok(Source::List { messages, metadata: Json::empty(), state: Json::empty(), global: Json::empty() })
    }

    fn of_folder(folder: &Path) -> Result<Source, ImportError> {
        if !folder.join(LEGACY_MESSAGES).is_file() {
            return Err(ImportError::UnknownFormat);
        }
        let read = |file: &'static str, limit| match read(&folder.join(file), limit) {
            Ok(bytes) => Ok(bytes),
            Err(Ok(source)) => Err(ImportError::Read(source)),
            Err(Err(source)) => Err(ImportError::File { file, source }),
        };
        let wrong = |file| move |source| ImportError::File { file, source };
        let messages =
            legacy::messages(&read(LEGACY_MESSAGES, LEGACY_BYTES_MAX)?).map_err(wrong(LEGACY_MESSAGES))?;
        let document = |file: &'static str| {
            let bytes = match read(file, DOCUMENT_BYTES_MAX) {
                // Only a missing file is empty; one that cannot be read is an error.
                Err(ImportError::Read(error)) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Json::empty());
                }
                bytes => bytes?,
            };
            let json = Json::parse_bytes(&bytes).map_err(|source| wrong(file)(source.into()))?;
            let expected = "a JSON object";
            if json.is_object() { Ok(json) } else { Err(wrong(file)(Damage::WrongType { expected })) }
        };
        let [metadata, state, global] = [METADATA, STATE, GLOBAL].map(document);
        Ok(Source::List {
            messages: messages.into_iter(),
            metadata: metadata?,
            state: state?,
            global: global?,
        })
    }

    fn name(&self) -> Option<Name> {
        match self {
            Source::Archive(archive) => archive.name.clone(),
            Source::List { .. } => None,
        }
    }

    fn next_message(&mut self) -> Result<Option<Message>, ImportError> {
        match self {
            Source::Archive(archive) => archive.next_message(),
            Source::List { messages, .. } => Ok(messages.next()),
        }
    }

    /// Returns metadata, state and global context.
    fn documents(&self) -> (Json, Json, Json) {
        match self {
            Source::Archive(archive) => {
                (archive.metadata.clone(), archive.state.clone(), archive.global.clone())
            }
            Source::List { metadata, state, global, .. } => (metadata.clone(), state.clone(), global.clone()),
        }
    }
}

/// Returns true if a file begins like an archive. Its first line is short.
fn is_archive(start: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        kind: String,
    }
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<Head>(line).is_ok_and(|head| head.kind == archive::KIND)
}

/// Returns the messages of a list, or of an object that has one.
fn chat_messages(bytes: &[u8]) -> Result<Vec<Message>, ImportError> {
    let start = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let wrong = |source: JsonError| match source.position() {
        Some((line, _)) => ImportError::Line { line: line as u64, source: source.into() },
        None => ImportError::UnknownFormat,
    };
    let text = match start {
        Some(b'[' | b'{') => std::str::from_utf8(bytes).map_err(|_| ImportError::UnknownFormat)?,
        _ => return Err(ImportError::UnknownFormat),
    };
    let list = match start {
        Some(b'[') => text,
        _ => {
            Json::parse(text).map_err(wrong)?;
            let all = json::fields(text).unwrap_or_default();
            let found = all.into_iter().rev().find(|(name, _)| name == "messages").map(|(_, value)| value);
            found.filter(|value| value.starts_with('[')).ok_or(ImportError::UnknownFormat)?
        }
    };
    let all: Vec<&RawValue> =
        serde_json::from_str(list).map_err(|source| wrong(JsonError::Syntax(source)))?;
    let read = |raw: &RawValue| -> Result<Message, Damage> {
        Ok(Message::read(&json::compact(raw.get()).ok_or(JsonError::Depth)?)?.of_valid_length()?)
    };
    let numbered = (1..).zip(all);
    numbered
        .map(|(number, raw)| read(raw).map_err(|source| ImportError::Element { number, source }))
        .collect()
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Result<io::Error, Damage>> {
    // Check before opening: opening a FIFO would block.
    if !fs::metadata(path).map_err(Ok)?.is_file() {
        return Err(Err(Damage::WrongType { expected: "a plain file" }));
    }
    let read = File::open(path).and_then(|file| filetx::read_bounded(file, limit));
    read.map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => Err(Damage::TooLarge { limit }),
        _ => Ok(error),
    })
}
