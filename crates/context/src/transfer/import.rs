//! Conversations from other tools and other machines. What it is, is told by its content.
//!
//! Everything goes through one commit of the context's folder, which happens only after the last byte was read and the checksum was
//! right: whatever is wrong with an import, what was there before stays.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::archive::{self, Archive};
use super::legacy;
use crate::contexts::IfThere;
use crate::edit::{Edit, check_revision};
use crate::error::{Damage, ImportProblem};
use crate::files::{DOCUMENT_BYTES_MAX, GLOBAL, METADATA, OLD_BYTES_MAX, OLD_MESSAGES, STATE};
use crate::model::json;
use crate::{ContextManager, Contexts, Error, Json, Message, Metadata, Name, NotJson, Revision};

impl Contexts {
    /// Makes a context of an archive, of a JSON list of chat messages (alone or as `messages` of an object), or of a folder with the four files of older
    /// tools. Without `name` it gets the one that the archive names, or that of the file without its ending.
    ///
    /// With [`IfThere::Replace`] it takes the place of the context of that name, and with `expected` only if that is at this revision. Who reads the old one meanwhile
    /// sees all of it or all of the new one; its revisions count on, so its metadata have to be readable. Of several threads or processes that make one name, one wins. A failure, a wrong checksum
    /// too, or a kill leaves what was there before, or nothing.
    #[track_caller]
    pub fn import(
        &self,
        from: &Path,
        name: Option<&Name>,
        if_there: IfThere,
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
        self.establish("import", &name, if_there, |edit| {
            check(edit)?;
            edit.replace_messages(std::iter::from_fn(|| source.next_message().map_err(failed).transpose()))?;
            let (metadata, state, global) = source.documents();
            edit.set_state(state)?;
            edit.set_global(global)?;
            let wrong = |source| failed(ImportProblem::File { file: METADATA, source });
            edit.loaded.metadata.inherit(&Metadata::read(metadata).map_err(wrong)?);
            Ok(())
        })
    }
}

/// What is imported.
enum Source {
    Archive(Box<Archive<BufReader<File>>>),
    List { messages: std::vec::IntoIter<Message>, metadata: Json, state: Json, global: Json },
}

impl Source {
    fn open(from: &Path) -> Result<Source, ImportProblem> {
        if from.is_dir() {
            return Source::of_folder(from);
        }
        // Look before opening: opening a FIFO would wait for a writer.
        let found = fs::metadata(from).map_err(ImportProblem::Read)?;
        if !found.is_file() {
            return Err(ImportProblem::UnknownForm);
        }
        let mut reader = BufReader::with_capacity(64 * 1024, File::open(from).map_err(ImportProblem::Read)?);
        if is_archive(reader.fill_buf().map_err(ImportProblem::Read)?) {
            return Ok(Source::Archive(Box::new(Archive::open(reader)?)));
        }
        let bytes = read(from, OLD_BYTES_MAX).map_err(|damage| match damage {
            Ok(source) => ImportProblem::Read(source),
            Err(source) => ImportProblem::Line { line: 1, source },
        })?;
        let messages = chat_messages(&bytes)?.into_iter();
        Ok(Source::List { messages, metadata: Json::empty(), state: Json::empty(), global: Json::empty() })
    }

    fn of_folder(folder: &Path) -> Result<Source, ImportProblem> {
        if !folder.join(OLD_MESSAGES).is_file() {
            return Err(ImportProblem::UnknownForm);
        }
        let read = |file: &'static str, limit| match read(&folder.join(file), limit) {
            Ok(bytes) => Ok(bytes),
            Err(Ok(source)) => Err(ImportProblem::Read(source)),
            Err(Err(source)) => Err(ImportProblem::File { file, source }),
        };
        let wrong = |file| move |source| ImportProblem::File { file, source };
        let messages = legacy::messages(&read(OLD_MESSAGES, OLD_BYTES_MAX)?).map_err(wrong(OLD_MESSAGES))?;
        let document = |file: &'static str| {
            let bytes = match read(file, DOCUMENT_BYTES_MAX) {
                // Only what is not there is empty; what cannot be looked at is an error.
                Err(ImportProblem::Read(error)) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Json::empty());
                }
                bytes => bytes?,
            };
            let json = Json::parse_bytes(&bytes).map_err(|source| wrong(file)(source.into()))?;
            let expected = "a JSON object";
            if json.is_object() { Ok(json) } else { Err(wrong(file)(Damage::Kind { expected })) }
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

    fn next_message(&mut self) -> Result<Option<Message>, ImportProblem> {
        match self {
            Source::Archive(archive) => archive.next_message(),
            Source::List { messages, .. } => Ok(messages.next()),
        }
    }

    /// Metadata, state, global context.
    fn documents(&self) -> (Json, Json, Json) {
        match self {
            Source::Archive(archive) => {
                (archive.metadata.clone(), archive.state.clone(), archive.global.clone())
            }
            Source::List { metadata, state, global, .. } => (metadata.clone(), state.clone(), global.clone()),
        }
    }
}

/// Whether a file begins as an archive does. Its first line is short.
fn is_archive(start: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        kind: String,
    }
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<Head>(line).is_ok_and(|head| head.kind == archive::KIND)
}

/// The messages of a list, or of an object that has one.
fn chat_messages(bytes: &[u8]) -> Result<Vec<Message>, ImportProblem> {
    let start = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let wrong = |source: NotJson| match source.place() {
        Some((line, _)) => ImportProblem::Line { line: line as u64, source: source.into() },
        None => ImportProblem::UnknownForm,
    };
    let text = match start {
        Some(b'[' | b'{') => std::str::from_utf8(bytes).map_err(|_| ImportProblem::UnknownForm)?,
        _ => return Err(ImportProblem::UnknownForm),
    };
    let list = match start {
        Some(b'[') => text,
        _ => {
            Json::parse(text).map_err(wrong)?;
            let all = json::fields(text).unwrap_or_default();
            let found = all.into_iter().rev().find(|(name, _)| name == "messages").map(|(_, value)| value);
            found.filter(|value| value.starts_with('[')).ok_or(ImportProblem::UnknownForm)?
        }
    };
    let all: Vec<&RawValue> = serde_json::from_str(list).map_err(|source| wrong(NotJson::Syntax(source)))?;
    let read = |raw: &RawValue| -> Result<Message, Damage> {
        Ok(Message::read(&json::compact(raw.get()).ok_or(NotJson::Depth)?)?)
    };
    let numbered = (1..).zip(all);
    numbered
        .map(|(number, raw)| read(raw).map_err(|source| ImportProblem::Element { number, source }))
        .collect()
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Result<io::Error, Damage>> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Ok)?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(Ok)?;
    if bytes.len() as u64 > limit { Err(Err(Damage::TooLarge { limit })) } else { Ok(bytes) }
}
