//! A context as of one commit, read without reading its messages.

use super::lines::{self, Tail};
use super::{DOCUMENT_BYTES_MAX, Files, GLOBAL, MESSAGES, METADATA, OLD_BYTES_MAX, OLD_MESSAGES, STATE};
use crate::error::Damage;
use crate::model::FORMAT;
use crate::transfer::legacy;
use crate::{Error, Json, Message, Metadata, Name, Notice};

/// All but the messages.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) metadata: Metadata,
    /// `metadata.json` as it is: equal bytes mean that nobody wrote in between.
    pub(crate) metadata_file: Vec<u8>,
    pub(crate) state: Json,
    pub(crate) global: Json,
    pub(crate) layout: Layout,
}

/// How the messages are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// One a line. The length of what counts, and what follows it.
    Lines { end: u64, tail: Tail },
    /// In one array, by an older tool.
    Array,
}

/// Whether there is a context in a folder: any of its files. A folder without is what a create that was killed leaves.
pub(crate) fn exists(files: Files<'_>) -> Result<bool, Error> {
    for file in [METADATA, MESSAGES, OLD_MESSAGES, STATE, GLOBAL] {
        if files.len(file)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads the metadata alone.
pub(crate) fn metadata(files: Files<'_>) -> Result<(Metadata, Vec<u8>), Error> {
    let bytes = files.read(METADATA, DOCUMENT_BYTES_MAX)?.unwrap_or_default();
    let all = match bytes.is_empty() {
        true => Json::empty(),
        false => Json::parse_bytes(&bytes).map_err(|source| files.damaged(METADATA, source.into()))?,
    };
    let metadata = Metadata::read(all).map_err(|damage| files.damaged(METADATA, damage))?;
    if metadata.format > FORMAT {
        let file = files.path(METADATA);
        return Err(Error::Newer { file, found: metadata.format, known: FORMAT });
    }
    Ok((metadata, bytes))
}

/// Reads a context; [`Error::NotFound`] when there is none in the folder.
pub(crate) fn load(files: Files<'_>) -> Result<Loaded, Error> {
    if !exists(files)? {
        return Err(Error::NotFound { name: files.name.clone() });
    }
    let (mut metadata, metadata_file) = metadata(files)?;
    let layout = layout(files, &mut metadata)?;
    let [state, global] = [STATE, GLOBAL].map(|file| document(files, file));
    Ok(Loaded { metadata, metadata_file, state: state?, global: global?, layout })
}

/// Reads a context whatever its metadata say about the messages.
pub(crate) fn load_any_count(files: Files<'_>) -> Result<Loaded, Error> {
    match load(files) {
        Err(Error::Edited { file, .. }) | Err(Error::Damaged { file, line: Some(_), .. })
            if file.ends_with(MESSAGES) =>
        {
            let (metadata, metadata_file) = metadata(files)?;
            let [state, global] = [STATE, GLOBAL].map(|file| document(files, file));
            let layout = Layout::Lines { end: 0, tail: Tail::Nothing };
            Ok(Loaded { metadata, metadata_file, state: state?, global: global?, layout })
        }
        loaded => loaded,
    }
}

/// State or global context.
fn document(files: Files<'_>, file: &'static str) -> Result<Json, Error> {
    let Some(bytes) = files.read(file, DOCUMENT_BYTES_MAX)? else { return Ok(Json::empty()) };
    let json = Json::parse_bytes(&bytes).map_err(|source| files.damaged(file, source.into()))?;
    match json.is_object() {
        true => Ok(json),
        false => Err(files.damaged(file, Damage::Kind { expected: "a JSON object" })),
    }
}

/// Finds out how the messages are kept, and sees to it that the metadata count them rightly.
pub(crate) fn layout(files: Files<'_>, metadata: &mut Metadata) -> Result<Layout, Error> {
    let [lines_len, array_len] = [MESSAGES, OLD_MESSAGES].map(|file| files.len(file));
    let (lines_len, array_len) = (lines_len?, array_len?);
    match (lines_len, array_len) {
        (Some(_), Some(_)) => return Err(Error::BothLayouts { folder: files.folder.clone() }),
        (None, Some(_)) => {
            let messages = array(files)?;
            let count = messages.len() as u64;
            let recorded = metadata.message_count.filter(|recorded| *recorded != count);
            if let Some(recorded) = recorded {
                return Err(edited(files, OLD_MESSAGES, recorded, count));
            }
            metadata.message_count = Some(count);
            return Ok(Layout::Array);
        }
        _ => {}
    }
    let len = lines_len.unwrap_or(0);
    if metadata.messages_bytes == Some(len) && metadata.message_count.is_some() {
        // Count and length were written by one commit.
        return Ok(Layout::Lines { end: len, tail: Tail::Nothing });
    }
    let scan = lines::scan(files)?;
    let is_torn = matches!(scan.tail, Tail::Torn(_));
    let was_ours = metadata.messages_bytes.is_some();
    let recorded = metadata.message_count.filter(|recorded| *recorded != scan.count || was_ours);
    if let Some(recorded) = recorded.filter(|_| !is_torn) {
        return Err(edited(files, MESSAGES, recorded, scan.count));
    }
    metadata.message_count = Some(scan.count);
    metadata.messages_bytes = Some(scan.end);
    metadata.last_id = scan.last_id;
    Ok(Layout::Lines { end: scan.end, tail: scan.tail })
}

fn edited(files: Files<'_>, file: &str, recorded: u64, count: u64) -> Error {
    Error::Edited {
        file: files.path(file),
        recorded: format!("{recorded} messages were left there"),
        found: format!("{count} are there now"),
    }
}

/// The messages of an older tool.
pub(crate) fn array(files: Files<'_>) -> Result<Vec<Message>, Error> {
    let bytes = files.read(OLD_MESSAGES, OLD_BYTES_MAX)?.unwrap_or_default();
    legacy::messages(&bytes).map_err(|damage| files.damaged(OLD_MESSAGES, damage))
}

impl Loaded {
    /// What a person should know about what was found.
    pub(crate) fn notices(&self, name: &Name) -> Vec<Notice> {
        match self.layout {
            Layout::Lines { tail: Tail::Torn(bytes), .. } => {
                vec![Notice::TornTail { name: name.clone(), line: self.metadata.message_count() + 1, bytes }]
            }
            _ => Vec::new(),
        }
    }
}
