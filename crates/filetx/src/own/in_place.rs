//! Publishing in an own folder: writes the files in place, without a sync. The journal holds the
//! same content until the next checkpoint.

use std::collections::BTreeMap;
use std::io;

use crate::disk::{FileKind, OpenMode, RenameMode, Stat, StoredFile};
use crate::root::{OUR_FILE_MODE, Root, copy_range};
use crate::tx::change::{Change, Content, ContentBase, TargetState, in_order};
use crate::txn_dir::STAGE;
use crate::{Error, FileId, RelPath, Result, Step};

const STEP: Step = Step::PublishInPlace;
/// Maximum number of files that a folder keeps open between commits.
const HANDLES_MAX: usize = 16;

/// Files kept open between commits: opening a file costs more than writing it.
#[derive(Default)]
pub(crate) struct FileHandles(BTreeMap<RelPath, Handle>);

struct Handle {
    id: FileId,
    file: Box<dyn StoredFile>,
}

impl FileHandles {
    /// Removes and returns the open file of `path`, if the path still names it. No other file can
    /// get its id while it is open.
    fn take(&mut self, root: &Root, path: &RelPath) -> Result<Option<(Box<dyn StoredFile>, Stat)>> {
        let Some(handle) = self.0.remove(path) else { return Ok(None) };
        let current = root.stat(path)?.filter(|stat| stat.id == handle.id);
        Ok(current.map(|stat| (handle.file, stat)))
    }

    /// Closes the file of a path that is removed.
    fn forget(&mut self, path: &RelPath) {
        self.0.remove(path);
    }

    fn insert(&mut self, path: &RelPath, id: FileId, file: Box<dyn StoredFile>) {
        if self.0.len() < HANDLES_MAX {
            self.0.insert(path.clone(), Handle { id, file });
        }
    }
}

/// Brings every path to its target state, from any state that a crash can leave.
pub(crate) fn publish(root: &Root, changes: &[Change], handles: &mut FileHandles) -> Result<()> {
    in_order(changes)
        .into_iter()
        .try_for_each(|(_, change)| publish_one(root, &change.path, &change.after, handles))
}

fn publish_one(root: &Root, path: &RelPath, after: &TargetState, handles: &mut FileHandles) -> Result<()> {
    match after {
        TargetState::Absent => {
            handles.forget(path);
            remove(root, path)
        }
        TargetState::File { mode, content } => publish_file(root, path, *mode, content, handles),
        TargetState::Folder { .. } | TargetState::Symlink { .. } => {
            unreachable!("records of own folders name files only")
        }
    }
}

/// Removes the file or empty folder at a path. A folder with files of another program stays.
fn remove(root: &Root, path: &RelPath) -> Result<()> {
    let Some(stat) = root.stat(path)? else { return Ok(()) };
    let removed = match stat.kind {
        FileKind::Folder => root.storage.remove_folder(path),
        _ => root.storage.remove_file(path),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => root.with_step(STEP, path, removed),
    }
}

fn publish_file(
    root: &Root,
    path: &RelPath,
    mode: u32,
    content: &Content,
    handles: &mut FileHandles,
) -> Result<()> {
    let (file, stat) = match handles.take(root, path)? {
        Some(handle) => handle,
        None => {
            let file = open(root, path, mode, content)?;
            let stat = root.with_step(STEP, path, file.stat())?;
            (file, stat)
        }
    };
    // A write would also change the other hard links.
    let is_shared = stat.links > 1;
    let file = if is_shared { break_hard_link(root, path, mode, &*file, stat.len)? } else { file };
    // Truncate first, so that a crash leaves a prefix of one version. New bytes before the end of a
    // longer old version would look like an edit of another program to recovery.
    if stat.len > content.len() {
        root.with_step(STEP, path, file.set_len(content.len()))?;
    }
    match &content.base {
        ContentBase::Empty => {}
        ContentBase::Path if stat.len < content.prefix_len => {
            let reason =
                format!("it is {} bytes long, shorter than the expected {}", stat.len, content.prefix_len);
            return Err(Error::ModifiedExternally { path: root.full_path(path), reason });
        }
        ContentBase::Path => {}
        ContentBase::Staged(staged) => {
            let source = root.open(STEP, &root.in_txn_dir(STAGE).join(staged.name()), OpenMode::Read)?;
            let copied = copy_range(&*source, &*file, content.prefix_len, &mut blake3::Hasher::new());
            root.with_step(STEP, path, copied)?;
        }
    }
    if !content.bytes.is_empty() {
        root.with_step(STEP, path, file.write_at(&content.bytes, content.prefix_len))?;
    }
    if stat.mode != mode {
        root.with_step(STEP, path, root.storage.set_mode(path, mode))?;
    }
    if !is_shared {
        handles.insert(path, stat.id, file);
    }
    Ok(())
}

fn open(root: &Root, path: &RelPath, mode: u32, content: &Content) -> Result<Box<dyn StoredFile>> {
    match root.storage.open(path, OpenMode::Write) {
        Ok(file) => Ok(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(root, path, mode),
        Err(error) if content.base != ContentBase::Path && may_replace(root, path, &error)? => {
            // The content is complete, so a new file can replace the old one.
            remove(root, path)?;
            create(root, path, mode)
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // The file is ours, whatever its mode. The caller sets the mode again.
            root.with_step(STEP, path, root.storage.set_mode(path, OUR_FILE_MODE))?;
            root.open(STEP, path, OpenMode::Write)
        }
        file => root.with_step(STEP, path, file),
    }
}

/// Returns true if a path that cannot be opened may be replaced: it is not a plain file, or this
/// process may not open it. A disk error is no reason to remove a file.
fn may_replace(root: &Root, path: &RelPath, error: &io::Error) -> Result<bool> {
    let is_other = root.stat(path)?.is_some_and(|stat| stat.kind != FileKind::File);
    Ok(is_other || error.kind() == io::ErrorKind::PermissionDenied)
}

fn create(root: &Root, path: &RelPath, mode: u32) -> Result<Box<dyn StoredFile>> {
    root.open(STEP, path, OpenMode::Create { mode })
}

/// Replaces a file with several hard links by a copy.
fn break_hard_link(
    root: &Root,
    path: &RelPath,
    mode: u32,
    shared: &dyn StoredFile,
    len: u64,
) -> Result<Box<dyn StoredFile>> {
    let own_path = root.in_txn_dir("unshared");
    root.remove_if_exists(STEP, &own_path)?;
    let own = root.open(STEP, &own_path, OpenMode::Create { mode: OUR_FILE_MODE })?;
    root.with_step(STEP, path, copy_range(shared, &*own, len, &mut blake3::Hasher::new()))?;
    root.with_step(STEP, path, root.storage.set_mode(&own_path, mode))?;
    root.rename(STEP, &own_path, path, RenameMode::Replace)?;
    Ok(own)
}

/// Makes published changes durable: every file, then the names in the folder.
pub(crate) fn sync<'a>(root: &Root, paths: impl IntoIterator<Item = &'a RelPath>) -> Result<()> {
    let mut is_changed = false;
    for path in paths {
        is_changed = true;
        if root.stat(path)?.is_some_and(|stat| stat.kind == FileKind::File) {
            let file = root.open_to_sync(Step::SyncCheckpointFile, path)?;
            root.sync_all(Step::SyncCheckpointFile, path, &*file)?;
        }
    }
    if is_changed { root.sync_folder(Step::SyncCheckpointFolder, &RelPath::root()) } else { Ok(()) }
}
