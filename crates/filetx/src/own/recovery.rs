//! Recovery of an own folder: brings its files to the state that its journal records.

use super::in_place;
use super::state::merge;
use crate::disk::{FileKind, OpenMode, Stat};
use crate::journal::record::{Record, SECTOR_BYTES};
use crate::journal::watermark;
use crate::journal::{JOURNAL, Journal, STABILISE};
use crate::root::{OUR_FILE_MODE, OUR_FOLDER_MODE, Root};
use crate::tx::Preserved;
use crate::tx::change::{Change, Content, ContentBase, Fingerprint, Observed, TargetState};
use crate::txn_dir::{KEPT, STAGE};
use crate::{Hash, RelPath, Result, Step};

/// Step 10: publishes the records and starts a new epoch. Nothing on the disk counts as durable: a
/// process may have died, or a sync failed, just before.
pub(super) fn recover(
    root: &Root,
    mut journal: Journal,
    records: &[Record],
    preserved: &mut Vec<Preserved>,
) -> Result<Journal> {
    tracing::info!(folder = %root.path.display(), records = records.len(), "recovering");
    // 10.1 to 10.4. The records may be only in memory. They must be durable before a later record
    // is acknowledged, and after a failed sync the old file may never become durable.
    if !Step::Stabilise.is_skipped() {
        let stat = root.with_step(Step::Inspect, &root.in_txn_dir(JOURNAL), journal.file.stat())?;
        // The whole capacity was written, so a header that claims more is wrong.
        let (epoch, capacity) = (journal.chain.epoch, journal.capacity.min(stat.len));
        // Some systems do not replace a file that is open.
        drop(journal);
        journal = Journal::create(root, epoch, capacity, records, &STABILISE, || Ok(()))?;
    }
    let changes = merge(records);
    for change in &changes {
        if let Some(content) = foreign_content(root, change, records)? {
            preserved.push(preserve(root, &change.path, content)?);
        }
    }
    // All records are published again, including those below the watermark, so the watermark is
    // invalid until then.
    watermark::erase(root, &*watermark::open(root)?)?;
    in_place::publish(root, &changes, &mut in_place::FileHandles::default())?;
    in_place::sync(root, changes.iter().map(|change| &change.path))?;
    journal.start_epoch(root)?;
    Ok(journal)
}

/// The part of a file that another program wrote.
enum ForeignContent {
    Whole,
    /// The bytes from this offset.
    From(u64),
}

/// Finds content that neither the records nor a torn write of them explain: a person may have
/// written it. A torn write over long content from before the records looks the same and is
/// preserved too.
fn foreign_content(root: &Root, change: &Change, records: &[Record]) -> Result<Option<ForeignContent>> {
    let Some(Stat { kind: FileKind::File, len, .. }) = root.stat(&change.path)? else { return Ok(None) };
    let history = || records.iter().flat_map(|record| &record.changes).filter(|one| one.path == change.path);
    let before = &history().next().expect("the change comes from the records").before;
    let mut versions: Vec<Content> = Vec::new();
    if let Observed::File { fingerprint: Fingerprint::Bytes(bytes), .. } = before {
        versions.push(Content::of_bytes(bytes.clone()));
    }
    for one in history() {
        if let TargetState::File { content, .. } = &one.after {
            let version = versions
                .last()
                .map_or_else(|| content.clone(), |below| content.clone().on_top_of(below.clone()));
            versions.push(version);
        }
    }
    if versions.iter().any(|version| version.base == ContentBase::Path) {
        // A growing file: the bytes before the recorded end are from records, however torn; the
        // bytes after it are foreign.
        let len_before = if let Observed::File { len, .. } = before { *len } else { 0 };
        let longest = versions.iter().map(Content::len).chain([len_before]).max().unwrap_or(0);
        return Ok((len > longest).then_some(ForeignContent::From(longest)));
    }
    let bytes = root.read(&change.path)?.unwrap_or_default();
    let is_before = match before {
        Observed::File { len: before_len, fingerprint: Fingerprint::Whole(hash), .. } => {
            *before_len == len && Hash::of(&bytes) == *hash
        }
        Observed::File { len: before_len, fingerprint: Fingerprint::Tail(_), .. } => *before_len == len,
        _ => false,
    };
    let versions = versions.iter().map(|version| full_content(root, version)).collect::<Result<Vec<_>>>()?;
    Ok((!is_before && !is_torn_write(&bytes, &versions)).then_some(ForeignContent::Whole))
}

/// The bytes of content that does not build on the path's own.
fn full_content(root: &Root, content: &Content) -> Result<Vec<u8>> {
    let mut bytes = match &content.base {
        ContentBase::Staged(staged) => {
            root.read(&root.in_txn_dir(STAGE).join(staged.name()))?.unwrap_or_default()
        }
        ContentBase::Empty | ContentBase::Path => Vec::new(),
    };
    bytes.truncate(content.prefix_len as usize);
    bytes.extend(&content.bytes);
    Ok(bytes)
}

/// Returns true if every sector begins as one version and continues as another or as zeros: the
/// effect of a power cut, or of a write that stopped half-way.
fn is_torn_write(bytes: &[u8], versions: &[Vec<u8>]) -> bool {
    let sector = SECTOR_BYTES;
    bytes.chunks(sector).enumerate().all(|(index, part)| {
        // If the new length was durable and the bytes were not, the file ends with zeros.
        let part = &part[..part.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)];
        let zeros: &[u8] = &[];
        let sources = versions.iter().map(|version| version.get(index * sector..).unwrap_or_default());
        // Fast path: most sectors are complete.
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

/// Copies foreign content to a file for people. Its hash is part of the name, so a repetition after
/// a crash makes no second copy.
fn preserve(root: &Root, path: &RelPath, content: ForeignContent) -> Result<Preserved> {
    let folder = root.in_txn_dir(KEPT);
    root.make_folders(Step::Preserve, &folder, OUR_FOLDER_MODE)?;
    let mut bytes = root.read(path)?.unwrap_or_default();
    if let ForeignContent::From(offset) = content {
        bytes.drain(..offset as usize);
    }
    let name = path.name().expect("a change is below the root").display().to_string();
    let short_name: String = name.chars().take(50).collect();
    let target = folder.join(format!("{:?}-{short_name}", Hash::of(&bytes)));
    root.remove_if_exists(Step::Preserve, &target)?;
    let file = root.open(Step::Preserve, &target, OpenMode::Create { mode: OUR_FILE_MODE })?;
    root.with_step(Step::Preserve, &target, file.write_at(&bytes, 0))?;
    root.sync_all(Step::SyncPreserved, &target, &*file)?;
    root.sync_folder(Step::SyncPreserved, &folder)?;
    root.sync_folder(Step::SyncPreserved, &root.txn_dir)?;
    Ok(Preserved { path: root.full_path(path), preserved_at: Some(root.full_path(&target)) })
}
