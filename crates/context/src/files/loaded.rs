//! A context as of one commit, without its messages.

use super::lines::{self, Tail};
use super::{
    DOCUMENT_BYTES_MAX, Files, GLOBAL, LEGACY_BYTES_MAX, LEGACY_MESSAGES, MESSAGES, METADATA, STATE,
};
use crate::error::Damage;
use crate::model::FORMAT;
use crate::transfer::legacy;
use crate::{Error, Json, Message, Metadata, Name, Notice};

/// Everything but the messages.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) metadata: Metadata,
    /// Bytes of `metadata.json`: equal bytes mean that no commit happened in between.
    pub(crate) metadata_file: Vec<u8>,
    pub(crate) state: Json,
    pub(crate) global: Json,
    pub(crate) layout: Layout,
}

/// Layout of the messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// One message a line: length of the valid part, and the content after it.
    Lines { end: u64, tail: Tail },
    /// One array, written by an older tool.
    Array,
}

/// Returns true if the folder has any file of a context. A create that was killed leaves a folder
/// without files.
pub(crate) fn exists(files: Files<'_>) -> Result<bool, Error> {
    for file in [METADATA, MESSAGES, LEGACY_MESSAGES, STATE, GLOBAL] {
        if files.len(file)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads the metadata only.
pub(crate) fn metadata(files: Files<'_>) -> Result<(Metadata, Vec<u8>), Error> {
    let bytes = files.read(METADATA, DOCUMENT_BYTES_MAX)?.unwrap_or_default();
    let all = match bytes.is_empty() {
        true => Json::empty(),
        false => Json::parse_bytes(&bytes).map_err(|source| files.damaged(METADATA, source.into()))?,
    };
    let metadata = Metadata::read(all).map_err(|damage| files.damaged(METADATA, damage))?;
    if metadata.format > FORMAT {
        let file = files.path(METADATA);
        return Err(Error::Newer { file, version: metadata.format, supported: FORMAT });
    }
    Ok((metadata, bytes))
}

/// Reads a context; [`Error::NotFound`] if the folder has none.
pub(crate) fn load(files: Files<'_>) -> Result<Loaded, Error> {
    if !exists(files)? {
        return Err(Error::NotFound { name: files.name.clone() });
    }
    let (mut metadata, metadata_file) = metadata(files)?;
    let layout = layout(files, &mut metadata)?;
    let [state, global] = [STATE, GLOBAL].map(|file| document(files, file));
    Ok(Loaded { metadata, metadata_file, state: state?, global: global?, layout })
}

/// Reads a context, even if its metadata do not match the messages.
pub(crate) fn load_unchecked(files: Files<'_>) -> Result<Loaded, Error> {
    match load(files) {
        Err(Error::ModifiedExternally { file, .. }) | Err(Error::Damaged { file, line: Some(_), .. })
            if file.ends_with(MESSAGES) =>
        {
            let (metadata, metadata_file) = metadata(files)?;
            let [state, global] = [STATE, GLOBAL].map(|file| document(files, file));
            let layout = Layout::Lines { end: 0, tail: Tail::Complete };
            Ok(Loaded { metadata, metadata_file, state: state?, global: global?, layout })
        }
        loaded => loaded,
    }
}

/// Reads the state or the global context.
fn document(files: Files<'_>, file: &'static str) -> Result<Json, Error> {
    let Some(bytes) = files.read(file, DOCUMENT_BYTES_MAX)? else { return Ok(Json::empty()) };
    let json = Json::parse_bytes(&bytes).map_err(|source| files.damaged(file, source.into()))?;
    match json.is_object() {
        true => Ok(json),
        false => Err(files.damaged(file, Damage::WrongType { expected: "a JSON object" })),
    }
}

/// Detects the layout of the messages, and checks the metadata against them.
pub(crate) fn layout(files: Files<'_>, metadata: &mut Metadata) -> Result<Layout, Error> {
    let [lines_len, array_len] = [MESSAGES, LEGACY_MESSAGES].map(|file| files.len(file));
    let (lines_len, array_len) = (lines_len?, array_len?);
    match (lines_len, array_len) {
        (Some(_), Some(_)) => return Err(Error::AmbiguousLayout { folder: files.folder.clone() }),
        (None, Some(_)) => {
            let messages = legacy_messages(files)?;
            let count = messages.len() as u64;
            let recorded = metadata.message_count.filter(|recorded| *recorded != count);
            if let Some(recorded) = recorded {
                return Err(modified_externally(files, LEGACY_MESSAGES, recorded, count));
            }
            metadata.message_count = Some(count);
            return Ok(Layout::Array);
        }
        _ => {}
    }
    let len = lines_len.unwrap_or(0);
    if metadata.messages_bytes == Some(len) && metadata.message_count.is_some() {
        // One commit wrote count and length.
        return Ok(Layout::Lines { end: len, tail: Tail::Complete });
    }
    let scan = lines::scan(files)?;
    let is_torn = matches!(scan.tail, Tail::Torn(_));
    let was_ours = metadata.messages_bytes.is_some();
    let recorded = metadata.message_count.filter(|recorded| *recorded != scan.count || was_ours);
    if let Some(recorded) = recorded.filter(|_| !is_torn) {
        return Err(modified_externally(files, MESSAGES, recorded, scan.count));
    }
    // Lines that another program added or removed are accepted as they are.
    if metadata.message_count != Some(scan.count) {
        metadata.digest = Some(scan.digest);
    }
    metadata.message_count = Some(scan.count);
    metadata.messages_bytes = Some(scan.end);
    metadata.last_id = scan.last_id;
    Ok(Layout::Lines { end: scan.end, tail: scan.tail })
}

fn modified_externally(files: Files<'_>, file: &str, recorded: u64, count: u64) -> Error {
    Error::ModifiedExternally {
        file: files.path(file),
        recorded: format!("{recorded} messages were recorded"),
        actual: format!("{count} were found"),
    }
}

/// Reads the messages of an older tool.
pub(crate) fn legacy_messages(files: Files<'_>) -> Result<Vec<Message>, Error> {
    let bytes = files.read(LEGACY_MESSAGES, LEGACY_BYTES_MAX)?.unwrap_or_default();
    legacy::messages(&bytes).map_err(|damage| files.damaged(LEGACY_MESSAGES, damage))
}

impl Loaded {
    /// Warnings about the files.
    pub(crate) fn notices(&self, name: &Name) -> Vec<Notice> {
        match self.layout {
            Layout::Lines { tail: Tail::Torn(bytes), .. } => {
                vec![Notice::TornTail { name: name.clone(), line: self.metadata.message_count() + 1, bytes }]
            }
            _ => Vec::new(),
        }
    }
}
