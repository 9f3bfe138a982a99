//! Three-way merge of one path: content, file type and permission bits. Pure but for the contents
//! that it reads.

use store::{Content, ContentKind};

use crate::merge::lines::{is_text, merge as merge_lines};
use crate::merge::three_way::resolve_trivial;
use crate::{BlobSource, ConflictHunk, ConflictKind, Error, Result, UnstoredBlobs};

/// Merged content, or the conflict.
pub(crate) type ContentMerge = std::result::Result<Option<Content>, (ConflictKind, Vec<ConflictHunk>)>;

/// Applies the change from `base` to `theirs` to `ours`. Adds new content to `unstored`.
pub(crate) fn merge(
    base: Option<&Content>,
    ours: Option<&Content>,
    theirs: Option<&Content>,
    contents: &dyn BlobSource,
    unstored: &mut UnstoredBlobs,
) -> Result<ContentMerge> {
    if let Some(resolved) = resolve_trivial(base, ours, theirs) {
        return Ok(Ok(resolved.cloned()));
    }
    let conflict = |kind| Ok(Err((kind, Vec::new())));
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return conflict(ConflictKind::Deleted) };
    let Some(base) = base else { return created_by_both(ours, theirs, contents) };
    if [base.kind, ours.kind, theirs.kind] != [ContentKind::File; 3] {
        return conflict(ConflictKind::FileType);
    }
    let Some(mode) = resolve_trivial(base.mode, ours.mode, theirs.mode) else {
        return conflict(ConflictKind::Mode);
    };
    if let Some(blob) = resolve_trivial(base.blob, ours.blob, theirs.blob) {
        let content = if blob == ours.blob { ours } else { theirs };
        return Ok(Ok(Some(Content { mode, ..content.clone() })));
    }
    let mut texts = Vec::with_capacity(3);
    for content in [base, ours, theirs] {
        match text(content, &crate::OverlaySource { overlay: unstored, base: contents })? {
            Some(bytes) => texts.push(bytes),
            None => return conflict(ConflictKind::Binary),
        }
    }
    Ok(match merge_lines(&texts[0], &texts[1], &texts[2]) {
        Ok(bytes) => Ok(Some(unstored.add(bytes, mode))),
        Err(hunks) => Err((ConflictKind::Lines, hunks)),
    })
}

/// Conflict of two sides that created the path with different contents or permission bits.
fn created_by_both(ours: &Content, theirs: &Content, contents: &dyn BlobSource) -> Result<ContentMerge> {
    if ours.kind != theirs.kind || ours.kind == ContentKind::Symlink {
        return Ok(Err((ConflictKind::FileType, Vec::new())));
    }
    if ours.blob == theirs.blob {
        return Ok(Err((ConflictKind::Mode, Vec::new())));
    }
    let hunks = match (text(ours, contents)?, text(theirs, contents)?) {
        (Some(ours), Some(theirs)) => merge_lines(b"", &ours, &theirs).err().unwrap_or_default(),
        _ => Vec::new(),
    };
    Ok(Err((ConflictKind::Created, hunks)))
}

/// Reads a content that can be merged by lines; `None` when it is binary or too long.
pub(crate) fn text(content: &Content, contents: &dyn BlobSource) -> Result<Option<std::sync::Arc<[u8]>>> {
    match contents.bytes(content) {
        Ok(bytes) => Ok(Some(bytes).filter(|bytes| is_text(bytes))),
        Err(Error::ContentTooLarge { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
