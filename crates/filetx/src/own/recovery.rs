//! Recovery of an own folder: bringing its files to what its journal says.

use super::in_place;
use super::state::merge;
use crate::disk::{Kind, Open, Stat};
use crate::journal::record::{Record, SECTOR_BYTES};
use crate::journal::watermark;
use crate::journal::{Journal, STABILISE};
use crate::root::{OUR_FILE_MODE, OUR_FOLDER_MODE, Root};
use crate::tx::Kept;
use crate::tx::change::{Base, Change, Content, Final, Print, Seen};
use crate::txn_dir::{KEPT, STAGE};
use crate::{Hash, RelPath, Result, Step};

/// Step 10: brings the files to what the records say, and starts a new epoch. Nothing that this finds is taken to be durable:
/// a process may have died, or a sync failed, just before.
pub(super) fn recover(
    root: &Root,
    mut journal: Journal,
    records: &[Record],
    kept: &mut Vec<Kept>,
) -> Result<Journal> {
    tracing::info!(folder = %root.label.display(), records = records.len(), "recovering");
    // 10.1 to 10.4. The records may be in memory only. They must be on the disk before a later one is acknowledged behind
    // them, and after a failed sync the old file cannot be trusted to take them any more.
    if !Step::Stabilise.is_left_out() {
        let (epoch, capacity) = (journal.chain.epoch, journal.capacity);
        // Some systems do not replace a file that is open.
        drop(journal);
        journal = Journal::write_whole(root, epoch, capacity, records, &STABILISE, || Ok(()))?;
    }
    let changes = merge(records);
    for change in &changes {
        if let Some(strange) = foreign(root, change, records)? {
            kept.push(keep_aside(root, &change.path, strange)?);
        }
    }
    // All records are published once more, also those that the mark calls published: as long as that lasts it does not hold.
    watermark::erase(root, &*watermark::open(root)?)?;
    in_place::publish(root, &changes, &mut in_place::Handles::default())?;
    in_place::sync(root, changes.iter().map(|change| &change.path))?;
    journal.start_epoch(root)?;
    Ok(journal)
}

/// Which part of a file was written by somebody else.
enum Foreign {
    Whole,
    /// The bytes from there on.
    From(u64),
}

/// Whether a path holds something that neither the records nor a tear of them explain: a person may have written it. A tear
/// that mixes ours with long content from before the records cannot be told from that, and is kept too.
fn foreign(root: &Root, change: &Change, records: &[Record]) -> Result<Option<Foreign>> {
    let Some(Stat { kind: Kind::File, len, .. }) = root.stat(&change.path)? else { return Ok(None) };
    let history = || records.iter().flat_map(|record| &record.changes).filter(|one| one.path == change.path);
    let before = &history().next().expect("the change comes from the records").before;
    let mut versions: Vec<Content> = Vec::new();
    if let Seen::File { print: Print::Bytes(bytes), .. } = before {
        versions.push(Content::of_bytes(bytes.clone()));
    }
    for one in history() {
        if let Final::File { content, .. } = &one.after {
            let version =
                versions.last().map_or_else(|| content.clone(), |below| content.clone().over(below.clone()));
            versions.push(version);
        }
    }
    if versions.iter().any(|version| version.base == Base::Path) {
        // A file that grows: what is before the recorded end is ours, however torn; what is behind it is not.
        let len_before = if let Seen::File { len, .. } = before { *len } else { 0 };
        let longest = versions.iter().map(Content::len).chain([len_before]).max().unwrap_or(0);
        return Ok((len > longest).then_some(Foreign::From(longest)));
    }
    let bytes = root.read(&change.path)?.unwrap_or_default();
    let is_as_before = match before {
        Seen::File { len: then, print: Print::Whole(hash), .. } => *then == len && Hash::of(&bytes) == *hash,
        Seen::File { len: then, print: Print::End(_), .. } => *then == len,
        _ => false,
    };
    let versions = versions.iter().map(|version| whole(root, version)).collect::<Result<Vec<_>>>()?;
    Ok((!is_as_before && !is_mixture(&bytes, &versions)).then_some(Foreign::Whole))
}

/// All the bytes of content that does not build on a path's own.
fn whole(root: &Root, content: &Content) -> Result<Vec<u8>> {
    let mut bytes = match &content.base {
        Base::Staged(staged) => root.read(&root.in_home(STAGE).join(staged.name()))?.unwrap_or_default(),
        Base::Nothing | Base::Path => Vec::new(),
    };
    bytes.truncate(content.keep as usize);
    bytes.extend(&content.bytes);
    Ok(bytes)
}

/// Whether every sector begins as one version and goes on as another or as zeros: what a power cut, or a write that stopped
/// half-way, makes of writes that were under way.
fn is_mixture(bytes: &[u8], versions: &[Vec<u8>]) -> bool {
    let sector = SECTOR_BYTES;
    bytes.chunks(sector).enumerate().all(|(index, part)| {
        // A longer length that was kept while the bytes were lost reads as zeros at the end.
        let part = &part[..part.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)];
        let zeros: &[u8] = &[];
        let sources = versions.iter().map(|version| version.get(index * sector..).unwrap_or_default());
        // Most sectors are whole: comparing these at once spares looking at each byte.
        if sources.clone().any(|source| source.starts_with(part)) {
            return true;
        }
        let differs = |source: &[u8], at: usize| part[at] != source.get(at).copied().unwrap_or(0);
        let begins = |source: &[u8]| (0..part.len()).find(|at| differs(source, *at)).unwrap_or(part.len());
        let ends = |source: &[u8]| (0..part.len()).rfind(|at| differs(source, *at)).map_or(0, |at| at + 1);
        let longest = sources.clone().chain([zeros]).map(begins).max();
        longest >= sources.chain([zeros]).map(ends).min()
    })
}

/// Keeps content where a person finds it. The name comes from the content: doing it again after a crash makes no second one.
fn keep_aside(root: &Root, path: &RelPath, what: Foreign) -> Result<Kept> {
    let folder = root.in_home(KEPT);
    root.make_folders(Step::Keep, &folder, OUR_FOLDER_MODE)?;
    let mut bytes = root.read(path)?.unwrap_or_default();
    if let Foreign::From(offset) = what {
        bytes.drain(..offset as usize);
    }
    let name = path.name().expect("a change is below the root").display().to_string();
    let cut: String = name.chars().take(50).collect();
    let aside = folder.join(format!("{:?}-{cut}", Hash::of(&bytes)));
    root.remove_if_there(Step::Keep, &aside)?;
    let file = root.open(Step::Keep, &aside, Open::Create { mode: OUR_FILE_MODE })?;
    root.name(Step::Keep, &aside, file.write_at(&bytes, 0))?;
    root.sync_all(Step::SyncKept, &aside, &*file)?;
    root.sync_folder(Step::SyncKept, &folder)?;
    root.sync_folder(Step::SyncKept, &root.home)?;
    Ok(Kept { path: root.show(path), aside: Some(root.show(&aside)) })
}
