//! Three-way merge of what a path holds: content, kind and permission bits. Pure but for the contents it is given.

use store::{Content, ContentKind};

use crate::merge::lines::{is_text, merge as merge_text};
use crate::{BlobSource, Clash, ConflictHunk, Error, Result, UnstoredBlobs};

/// How a merge ended.
pub(crate) type Merged = std::result::Result<Option<Content>, (Clash, Vec<ConflictHunk>)>;

/// Lays the change from `base` to `theirs` over `ours`. New content goes to `unstored`.
pub(crate) fn merge(
    base: Option<&Content>,
    ours: Option<&Content>,
    theirs: Option<&Content>,
    contents: &dyn BlobSource,
    unstored: &mut UnstoredBlobs,
) -> Result<Merged> {
    if ours == theirs || theirs == base {
        return Ok(Ok(ours.cloned()));
    }
    if ours == base {
        return Ok(Ok(theirs.cloned()));
    }
    let clash = |clash| Ok(Err((clash, Vec::new())));
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return clash(Clash::Deleted) };
    let Some(base) = base else { return both_made(ours, theirs, contents) };
    if [base.kind, ours.kind, theirs.kind] != [ContentKind::File; 3] {
        return clash(Clash::Kind);
    }
    let Some(mode) = one_of(base.mode, ours.mode, theirs.mode) else { return clash(Clash::Mode) };
    if let Some(blob) = one_of(base.blob, ours.blob, theirs.blob) {
        let content = if blob == ours.blob { ours } else { theirs };
        return Ok(Ok(Some(Content { mode, ..content.clone() })));
    }
    let mut texts = Vec::with_capacity(3);
    for content in [base, ours, theirs] {
        match text(content, &crate::OverlaySource { overlay: unstored, base: contents })? {
            Some(bytes) => texts.push(bytes),
            None => return clash(Clash::Binary),
        }
    }
    Ok(match merge_text(&texts[0], &texts[1], &texts[2]) {
        Ok(bytes) => Ok(Some(unstored.add(bytes, mode))),
        Err(hunks) => Err((Clash::Lines, hunks)),
    })
}

/// Two that made a file where there was none. What differs in its permission bits alone is no other content, but a clash all the same.
fn both_made(ours: &Content, theirs: &Content, contents: &dyn BlobSource) -> Result<Merged> {
    if ours.kind != theirs.kind || ours.kind == ContentKind::Symlink {
        return Ok(Err((Clash::Kind, Vec::new())));
    }
    if ours.blob == theirs.blob {
        return Ok(Err((Clash::Mode, Vec::new())));
    }
    let hunks = match (text(ours, contents)?, text(theirs, contents)?) {
        (Some(ours), Some(theirs)) => merge_text(b"", &ours, &theirs).err().unwrap_or_default(),
        _ => Vec::new(),
    };
    Ok(Err((Clash::Created, hunks)))
}

/// The bytes of a content that can be merged by lines.
pub(crate) fn text(content: &Content, contents: &dyn BlobSource) -> Result<Option<std::sync::Arc<[u8]>>> {
    match contents.bytes(content) {
        Ok(bytes) => Ok(Some(bytes).filter(|bytes| is_text(bytes))),
        Err(Error::ContentTooLarge { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The value that one side changed, or both in the same way; `None` when they changed it differently.
fn one_of<T: PartialEq>(base: T, ours: T, theirs: T) -> Option<T> {
    if ours == theirs || theirs == base {
        Some(ours)
    } else if ours == base {
        Some(theirs)
    } else {
        None
    }
}
