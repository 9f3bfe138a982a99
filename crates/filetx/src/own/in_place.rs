//! Publishing in an own folder: straight into the files, not synced. The journal holds the same until the next checkpoint.

use std::collections::BTreeMap;
use std::io;

use crate::disk::{Kind, Open, Rename, Stat, StoredFile};
use crate::root::{OUR_FILE_MODE, Root, copy_range};
use crate::tx::change::{Base, Change, Content, Final, in_order};
use crate::txn_dir::STAGE;
use crate::{Error, FileId, RelPath, Result, Step};

const STEP: Step = Step::PublishInPlace;
/// How many files a folder keeps open between commits.
const HANDLES_MAX: usize = 16;

/// Files kept open from one commit to the next: opening one costs more than writing it.
#[derive(Default)]
pub(crate) struct Handles(BTreeMap<RelPath, Handle>);

struct Handle {
    id: FileId,
    file: Box<dyn StoredFile>,
}

impl Handles {
    /// Takes out the file at `path`, if that is still the one that was kept. As long as it is open no other file can get its id.
    fn take(&mut self, root: &Root, path: &RelPath) -> Result<Option<(Box<dyn StoredFile>, Stat)>> {
        let Some(handle) = self.0.remove(path) else { return Ok(None) };
        let there = root.stat(path)?.filter(|stat| stat.id == handle.id);
        Ok(there.map(|stat| (handle.file, stat)))
    }

    /// Closes the file of a path that will hold none.
    fn forget(&mut self, path: &RelPath) {
        self.0.remove(path);
    }

    fn keep(&mut self, path: &RelPath, id: FileId, file: Box<dyn StoredFile>) {
        if self.0.len() < HANDLES_MAX {
            self.0.insert(path.clone(), Handle { id, file });
        }
    }
}

/// Brings every path to its final state, whatever state a crash left it in.
pub(crate) fn publish(root: &Root, changes: &[Change], handles: &mut Handles) -> Result<()> {
    in_order(changes)
        .into_iter()
        .try_for_each(|(_, change)| publish_one(root, &change.path, &change.after, handles))
}

fn publish_one(root: &Root, path: &RelPath, after: &Final, handles: &mut Handles) -> Result<()> {
    match after {
        Final::Absent => {
            handles.forget(path);
            clear(root, path)
        }
        Final::File { mode, content } => publish_file(root, path, *mode, content, handles),
        Final::Folder { .. } | Final::Symlink { .. } => {
            unreachable!("records of own folders name files only")
        }
    }
}

/// Removes whatever is at a path. A folder that somebody put something into stays: it is theirs now.
fn clear(root: &Root, path: &RelPath) -> Result<()> {
    let Some(stat) = root.stat(path)? else { return Ok(()) };
    let removed = match stat.kind {
        Kind::Folder => root.storage.remove_folder(path),
        _ => root.storage.remove_file(path),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => root.name(STEP, path, removed),
    }
}

fn publish_file(
    root: &Root,
    path: &RelPath,
    mode: u32,
    content: &Content,
    handles: &mut Handles,
) -> Result<()> {
    let (file, stat) = match handles.take(root, path)? {
        Some(kept) => kept,
        None => {
            let file = open(root, path, mode, content)?;
            let stat = root.name(STEP, path, file.stat())?;
            (file, stat)
        }
    };
    // Writing into a file that has another name would change that one too.
    let is_shared = stat.links > 1;
    let file = if is_shared { unshare(root, path, mode, &*file, stat.len)? } else { file };
    // Cut first: a crash in between then leaves the beginning of one version. Behind a longer end of an older one, what is written now
    // would be a third version in one file, which recovery could not tell from somebody's edit.
    if stat.len > content.len() {
        root.name(STEP, path, file.set_len(content.len()))?;
    }
    match &content.base {
        Base::Nothing => {}
        Base::Path if stat.len < content.keep => {
            let reason =
                format!("it is {} bytes long, shorter than the {} to be kept", stat.len, content.keep);
            return Err(Error::Drifted { path: root.show(path), reason });
        }
        Base::Path => {}
        Base::Staged(staged) => {
            let source = root.open(STEP, &root.in_home(STAGE).join(staged.name()), Open::Read)?;
            let copied = copy_range(&*source, &*file, content.keep, &mut blake3::Hasher::new());
            root.name(STEP, path, copied)?;
        }
    }
    if !content.bytes.is_empty() {
        root.name(STEP, path, file.write_at(&content.bytes, content.keep))?;
    }
    if stat.mode != mode {
        root.name(STEP, path, root.storage.set_mode(path, mode))?;
    }
    if !is_shared {
        handles.keep(path, stat.id, file);
    }
    Ok(())
}

fn open(root: &Root, path: &RelPath, mode: u32, content: &Content) -> Result<Box<dyn StoredFile>> {
    match root.storage.open(path, Open::Write) {
        Ok(file) => Ok(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(root, path, mode),
        Err(error) if content.base != Base::Path && may_give_way(root, path, &error)? => {
            // The content is whole, so a new file takes its place.
            clear(root, path)?;
            create(root, path, mode)
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // It is ours, whatever its mode says; that is set again below.
            root.name(STEP, path, root.storage.set_mode(path, OUR_FILE_MODE))?;
            root.open(STEP, path, Open::Write)
        }
        file => root.name(STEP, path, file),
    }
}

/// Whether what cannot be opened is in the way: not a plain file, or not ours to open. A disk that fails is no reason to
/// remove anything.
fn may_give_way(root: &Root, path: &RelPath, error: &io::Error) -> Result<bool> {
    let is_other = root.stat(path)?.is_some_and(|stat| stat.kind != Kind::File);
    Ok(is_other || error.kind() == io::ErrorKind::PermissionDenied)
}

fn create(root: &Root, path: &RelPath, mode: u32) -> Result<Box<dyn StoredFile>> {
    root.open(STEP, path, Open::Create { mode })
}

/// Gives a path a file of its own with the content of the one it shared.
fn unshare(
    root: &Root,
    path: &RelPath,
    mode: u32,
    shared: &dyn StoredFile,
    len: u64,
) -> Result<Box<dyn StoredFile>> {
    let own_path = root.in_home("unshared");
    root.remove_if_there(STEP, &own_path)?;
    let own = root.open(STEP, &own_path, Open::Create { mode: OUR_FILE_MODE })?;
    root.name(STEP, path, copy_range(shared, &*own, len, &mut blake3::Hasher::new()))?;
    root.name(STEP, path, root.storage.set_mode(&own_path, mode))?;
    root.rename(STEP, &own_path, path, Rename::Replace)?;
    Ok(own)
}

/// Makes what was published durable: every file, then the names in the folder.
pub(crate) fn sync<'a>(root: &Root, paths: impl IntoIterator<Item = &'a RelPath>) -> Result<()> {
    let mut is_named = false;
    for path in paths {
        is_named = true;
        if root.stat(path)?.is_some_and(|stat| stat.kind == Kind::File) {
            let file = root.open_to_sync(Step::SyncCheckpointFile, path)?;
            root.sync_all(Step::SyncCheckpointFile, path, &*file)?;
        }
    }
    if is_named { root.sync_folder(Step::SyncCheckpointFolder, &RelPath::root()) } else { Ok(()) }
}
