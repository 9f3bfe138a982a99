//! Step 5: publishes a committed transaction into user trees, path by path, without overwriting
//! edits of people.
//!
//! Staged files keep their name until the transaction is done: the path becomes a hard link of the
//! staged file. So committed content never has only one name, and recovery can start again at any
//! point.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::PathBuf;

use super::classify::{ObservedChange, Progress, classify};
use crate::disk::{FileKind, FsSync, OpenMode, RenameMode};
use crate::journal::record::Record;
use crate::lock::platform::is_through_symlink;
use crate::root::{OUR_FILE_MODE, OUR_FOLDER_MODE, Root, copy_range};
use crate::tx::Preserved;
use crate::tx::change::{Change, ContentBase, Fingerprint, Observed, TargetState, in_order};
use crate::tx::stage::in_parallel;
use crate::txn_dir::{KEPT, STAGE};
use crate::{Error, RelPath, Result, Step};

/// Name of a copy in the transaction folder, where hard links are not possible.
pub(crate) const COPY: &str = "copy";

/// Publishes one change.
struct PathPublisher<'a> {
    root: &'a Root,
    change: &'a Change,
    /// Staged file with the new content; `None` for a symlink, whose target is in the journal.
    staged: Option<RelPath>,
    /// Name for the file that the change displaces.
    displaced: RelPath,
    /// Name for our content if the path keeps an edit.
    preserved_at: RelPath,
}

/// Publishes a record directly after its commit point.
pub(crate) fn publish(roots: &[Root], record: &Record, syncfs_threshold: usize) -> Result<Vec<Preserved>> {
    let publishers = publishers(roots, record);
    let progresses = vec![Progress::Pending; publishers.len()];
    publish_all(roots, record, &publishers, &progresses, syncfs_threshold)
}

/// Publishes the rest of a record after a crash. Observes all paths before the first change.
pub(crate) fn republish(roots: &[Root], record: &Record, syncfs_threshold: usize) -> Result<Vec<Preserved>> {
    let publishers = publishers(roots, record);
    let progresses = publishers.iter().map(PathPublisher::progress).collect::<Result<Vec<_>>>()?;
    publish_all(roots, record, &publishers, &progresses, syncfs_threshold)
}

/// Publishes the rest of a record in its main root alone.
pub(crate) fn republish_root(
    root: &Root,
    record: &Record,
    index: usize,
    syncfs_threshold: usize,
) -> Result<Vec<Preserved>> {
    let roots = vec![root.clone(); record.roots.len().max(1)];
    let publishers = publishers_of(&roots, record, index);
    let progresses = publishers.iter().map(PathPublisher::progress).collect::<Result<Vec<_>>>()?;
    publish_all(&roots, record, &publishers, &progresses, syncfs_threshold)
}

/// The paths of a record in its main root: published, pending, and changed by others.
pub(crate) fn progress_of_root(
    root: &Root,
    record: &Record,
    index: usize,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>, Vec<Preserved>)> {
    let roots = vec![root.clone(); record.roots.len().max(1)];
    let (mut published, mut pending, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for publisher in publishers_of(&roots, record, index) {
        let path = root.full_path(&publisher.change.path);
        match publisher.observed_progress()? {
            Progress::Published => published.push(path),
            Progress::Pending => pending.push(path),
            _ => others.push(Preserved { path, preserved_at: None }),
        }
    }
    Ok((published, pending, others))
}

/// Result of a roll-back.
pub(crate) struct RolledBack {
    /// Paths that have the state before.
    pub restored: Vec<PathBuf>,
    /// Paths that another program changed since.
    pub kept: Vec<PathBuf>,
}

/// Restores the states before a record in its main root, durably. Fails before the first change if
/// content is missing.
pub(crate) fn roll_back_root(root: &Root, record: &Record, index: usize) -> Result<RolledBack> {
    let roots = vec![root.clone(); record.roots.len().max(1)];
    let publishers = publishers_of(&roots, record, index);
    publishers.iter().try_for_each(PathPublisher::check_restorable)?;
    let mut rolled_back = RolledBack { restored: Vec::new(), kept: Vec::new() };
    // The reverse order of publishing: files, then folders from below, then removed paths from
    // the top.
    for publisher in publishers.iter().rev() {
        let is_restored = publisher.restore()?;
        let list = if is_restored { &mut rolled_back.restored } else { &mut rolled_back.kept };
        list.push(root.full_path(&publisher.change.path));
        if is_restored && publisher.is_mode_only() {
            publisher.sync_mode()?;
        }
    }
    sync_parents(&roots, parents(record), &BTreeMap::new())?;
    Ok(rolled_back)
}

fn publishers_of<'a>(roots: &'a [Root], record: &'a Record, index: usize) -> Vec<PathPublisher<'a>> {
    let mut publishers = publishers(roots, record);
    publishers.retain(|publisher| publisher.change.root == index);
    publishers
}

/// Finds content that an earlier process preserved for a record and could not report.
pub(crate) fn find_preserved(roots: &[Root], record: &Record) -> Result<Vec<Preserved>> {
    let mut preserved = Vec::new();
    for publisher in publishers(roots, record) {
        if publisher.root.stat(&publisher.preserved_at)?.is_some() {
            let preserved_at = Some(publisher.root.full_path(&publisher.preserved_at));
            preserved
                .push(Preserved { path: publisher.root.full_path(&publisher.change.path), preserved_at });
        }
    }
    Ok(preserved)
}

fn publish_all(
    roots: &[Root],
    record: &Record,
    publishers: &[PathPublisher<'_>],
    progresses: &[Progress],
    syncfs_threshold: usize,
) -> Result<Vec<Preserved>> {
    let parents = parents(record);
    let fs_syncs = fs_syncs(roots, publishers, &parents, syncfs_threshold)?;
    let mut preserved = Vec::new();
    let mut folders = Vec::new();
    let mut modes = Vec::new();
    for (publisher, progress) in publishers.iter().zip(progresses) {
        let is_published = match progress {
            Progress::Published => true,
            Progress::Pending => publisher.publish()?,
            Progress::ChangedByOther => false,
            Progress::SwapBack => {
                publisher.swap_back()?;
                false
            }
        };
        match &publisher.change.after {
            _ if !is_published => preserved.push(publisher.preserve()?),
            TargetState::Folder { mode } => folders.push((publisher, *mode)),
            TargetState::File { .. } if publisher.is_mode_only() => modes.push(publisher),
            _ => {}
        }
    }
    modes.retain(|publisher| !fs_syncs.contains_key(&publisher.change.root));
    in_parallel(&modes, |publisher| publisher.sync_mode())?;
    sync_parents(roots, parents, &fs_syncs)?;
    for (root, fs_sync) in &fs_syncs {
        roots[*root].sync_fs(Step::SyncFsPublished, &**fs_sync)?;
    }
    // Folders get their mode last, deepest first: publishing may have to create files in them.
    folders.into_iter().rev().try_for_each(|(publisher, mode)| publisher.set_folder_mode(mode))?;
    Ok(preserved)
}

/// Opens an [`FsSync`] for each root with so many changes that `syncfs` is cheaper.
fn fs_syncs(
    roots: &[Root],
    publishers: &[PathPublisher<'_>],
    parents: &BTreeSet<(usize, RelPath)>,
    syncfs_threshold: usize,
) -> Result<BTreeMap<usize, Box<dyn FsSync>>> {
    let mut fs_syncs = BTreeMap::new();
    for (index, root) in roots.iter().enumerate() {
        let of_root =
            |publisher: &&PathPublisher<'_>| publisher.change.root == index && publisher.is_mode_only();
        let syncs = parents.range((index, RelPath::root())..(index + 1, RelPath::root())).count()
            + publishers.iter().filter(of_root).count();
        if syncs >= syncfs_threshold {
            let fs_sync = root.storage.fs_sync();
            fs_syncs.extend(
                root.with_step(Step::Publish, &root.txn_dir, fs_sync)?.map(|fs_sync| (index, fs_sync)),
            );
        }
    }
    Ok(fs_syncs)
}

fn publishers<'a>(roots: &'a [Root], record: &'a Record) -> Vec<PathPublisher<'a>> {
    let publisher = |(number, change): (usize, &'a Change)| {
        let root = &roots[change.root];
        let stage = root.in_txn_dir(STAGE);
        let staged = match &change.after {
            TargetState::File { content, .. } => match &content.base {
                ContentBase::Staged(staged) => Some(stage.join(staged.name())),
                ContentBase::Empty | ContentBase::Path => None,
            },
            _ => None,
        };
        let name = change.path.name().expect("a change is below the root").as_encoded_bytes();
        let short_name = crate::path::os_string(&name[..name.len().min(160)]);
        let mut preserved_name = std::ffi::OsString::from(format!("{:032x}-{number}-", record.id));
        preserved_name.push(short_name);
        PathPublisher {
            root,
            change,
            staged,
            displaced: stage.join(format!("{:032x}-{number}.was", record.id)),
            preserved_at: root.in_txn_dir(KEPT).join(preserved_name),
        }
    };
    in_order(&record.changes).into_iter().map(publisher).collect()
}

impl PathPublisher<'_> {
    fn observed_progress(&self) -> Result<Progress> {
        if Step::Classify.is_skipped() {
            return Ok(Progress::Pending);
        }
        let root = self.root;
        let path = &self.change.path;
        let id_of = |path: &RelPath| root.stat(path).map(|stat| stat.map(|stat| stat.id));
        let staged_id = self.staged.as_ref().map(id_of).transpose()?.flatten();
        let target_id = id_of(path)?;
        let displaced = match id_of(&self.displaced)? {
            // Our hard link was not exchanged yet.
            Some(id) if Some(id) == staged_id => None,
            Some(_) => {
                Some(root.observe(&self.displaced)?).filter(|observed| !self.change.after.matches(observed))
            }
            None => None,
        };
        let is_staged = staged_id.is_some() && target_id == staged_id;
        let found = ObservedChange { target: root.observe(path)?, is_staged, displaced };
        Ok(classify(self.change, &found))
    }

    /// The progress of the change, if it can go on.
    fn progress(&self) -> Result<Progress> {
        let (root, progress) = (self.root, self.observed_progress()?);
        if let (Some(staged), Progress::Pending) = (&self.staged, progress) {
            if root.stat(staged)?.is_none() {
                let path = root.full_path(staged);
                return Err(Error::RootUnavailable { path, reason: "its staged content was removed" });
            }
            // It is not what the owner vouched for. It may be a person's: an edit of the published
            // file, whose name a power cut took back.
            if !self.is_intact(&root.observe(staged)?) {
                return Ok(Progress::ChangedByOther);
            }
        }
        Ok(progress)
    }

    /// Fails if the state before cannot be restored: publishing displaced content that is gone.
    fn check_restorable(&self) -> Result<()> {
        let has_content = matches!(self.change.before, Observed::File { .. }) && !self.is_mode_only();
        if !has_content
            || self.root.observe(&self.change.path)? == self.change.before
            || self.root.observe(&self.displaced)? == self.change.before
            || !self.is_ours(&self.root.observe(&self.change.path)?)?
        {
            return Ok(());
        }
        let path = self.root.full_path(&self.change.path);
        Err(Error::RootUnavailable { path, reason: "its earlier content was removed" })
    }

    /// Returns true if the path is free, or holds what this change put there.
    fn is_ours(&self, found: &Observed) -> Result<bool> {
        let id_of = |path: &RelPath| self.root.stat(path).map(|stat| stat.map(|stat| stat.id));
        let is_staged = || -> Result<bool> {
            let staged = self.staged.as_ref().map(id_of).transpose()?.flatten();
            Ok(staged.is_some() && id_of(&self.change.path)? == staged && self.is_intact(found))
        };
        Ok(*found == Observed::Absent || self.change.after.matches(found) || is_staged()?)
    }

    /// Restores the state before. Returns `false` and changes nothing if another program changed
    /// the path.
    fn restore(&self) -> Result<bool> {
        let (root, path, before) = (self.root, &self.change.path, &self.change.before);
        let found = root.observe(path)?;
        if found == *before {
            return Ok(true);
        }
        if let (true, Observed::File { mode, .. }) = (self.is_mode_only(), before) {
            let is_changed = matches!((&found, &self.change.after),
                (Observed::File { mode: now, .. }, TargetState::File { mode, .. }) if now == mode);
            return if is_changed { self.set_mode(*mode) } else { Ok(false) };
        }
        if !self.is_ours(&found)? {
            return Ok(false);
        }
        match (&found, before) {
            (Observed::Folder { .. }, Observed::Folder { mode }) => {
                return self.with_step(root.storage.set_mode(path, *mode)).map(|()| true);
            }
            (Observed::Folder { .. }, _) if !self.remove_folder()? => return Ok(false),
            // Publishing displaced it: the two change places again.
            (Observed::File { .. } | Observed::Symlink { .. }, Observed::File { .. }) => {
                return self.exchange_back();
            }
            (Observed::File { .. } | Observed::Symlink { .. }, _) => {
                let mut name = self.displaced.name().expect("it has a name").to_owned();
                name.push(".undone");
                let removed = root.in_txn_dir(STAGE).join(name);
                root.rename(Step::Publish, path, &removed, RenameMode::Replace)?;
                if !self.change.after.matches(&root.observe(&removed)?) {
                    self.with_step(root.storage.rename(&removed, path, RenameMode::NoReplace))?;
                    return Ok(false);
                }
            }
            _ => {}
        }
        // The path is free.
        match before {
            Observed::Folder { mode } => match root.storage.make_folder(path, *mode) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
                result => self.with_step(result).map(|()| true),
            },
            Observed::Symlink { target } => match root.storage.make_symlink(target, path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
                result => self.with_step(result).map(|()| true),
            },
            Observed::File { .. } => {
                match root.storage.rename(&self.displaced, path, RenameMode::NoReplace) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
                    result => self.with_step(result).map(|()| true),
                }
            }
            _ => Ok(true),
        }
    }

    /// Exchanges our content with the displaced one. If a person saved the path in between, that
    /// content goes back.
    fn exchange_back(&self) -> Result<bool> {
        let (root, path) = (self.root, &self.change.path);
        self.with_step(root.storage.rename(&self.displaced, path, RenameMode::Exchange))?;
        if self.change.after.matches(&root.observe(&self.displaced)?) {
            return Ok(true);
        }
        self.with_step(root.storage.rename(&self.displaced, path, RenameMode::Exchange))?;
        Ok(false)
    }

    /// Returns true if the staged file has the content that the journal names: whoever writes to
    /// the root can write to it.
    fn is_intact(&self, found: &Observed) -> bool {
        let TargetState::File { content, .. } = &self.change.after else { return true };
        let ContentBase::Staged(staged) = &content.base else { return true };
        matches!(found, Observed::File { len, fingerprint: Fingerprint::Whole(hash), .. }
            if *len == staged.len && *hash == staged.hash)
    }

    /// Brings the path to its target state. Returns `false` and changes nothing if another program
    /// changed the path.
    fn publish(&self) -> Result<bool> {
        let result = match &self.change.after {
            TargetState::Absent => self.remove(),
            TargetState::Folder { mode } => self.make_folder(*mode),
            TargetState::Symlink { .. } => self.place(),
            TargetState::File { mode, .. } if self.staged.is_none() => self.set_mode(*mode),
            TargetState::File { .. } => self.place(),
        };
        match result {
            // Another program removed a folder above the path or replaced it by a symlink.
            Err(Error::Io { step: Step::Publish, source, .. }) if is_missing_parent(&source) => Ok(false),
            result => result,
        }
    }

    /// Returns true if only the mode of a file changes.
    fn is_mode_only(&self) -> bool {
        matches!(self.change.after, TargetState::File { .. }) && self.staged.is_none()
    }

    fn remove(&self) -> Result<bool> {
        match self.change.before {
            Observed::Folder { .. } => self.remove_folder(),
            _ => self.displace(),
        }
    }

    fn remove_folder(&self) -> Result<bool> {
        match self.root.storage.remove_folder(&self.change.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory) => {
                Ok(false)
            }
            result => self.with_step(result).map(|()| true),
        }
    }

    fn make_folder(&self, mode: u32) -> Result<bool> {
        let path = &self.change.path;
        match self.change.before {
            Observed::Folder { .. } => {
                return Ok(self.root.stat(path)?.is_some_and(|stat| stat.kind == FileKind::Folder));
            }
            Observed::Absent => {}
            // Displaced before a crash, or now.
            _ => {
                if self.root.stat(path)?.is_some() && !self.displace()? {
                    return Ok(false);
                }
            }
        }
        match self.root.storage.make_folder(path, mode | OUR_FOLDER_MODE) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Ok(self.root.stat(path)?.is_some_and(|stat| stat.kind == FileKind::Folder))
            }
            result => self.with_step(result).map(|()| true),
        }
    }

    fn set_mode(&self, mode: u32) -> Result<bool> {
        let (root, path) = (self.root, &self.change.path);
        // A name that was added since the file was staged would change too.
        if root.stat(path)?.is_none_or(|stat| stat.kind != FileKind::File || stat.links > 1) {
            return Ok(false);
        }
        self.with_step(root.storage.set_mode(path, mode)).map(|()| true)
    }

    /// Makes the new mode of a file durable, even if a process that died set it before.
    fn sync_mode(&self) -> Result<()> {
        let file = self.root.open_to_sync(Step::Publish, &self.change.path)?;
        self.root.sync_all(Step::SyncPublished, &self.change.path, &*file)
    }

    /// Sets the mode of a folder, durably, unless it was created with that mode.
    fn set_folder_mode(&self, mode: u32) -> Result<()> {
        let (root, path) = (self.root, &self.change.path);
        let was_made = !matches!(self.change.before, Observed::Folder { .. });
        if was_made && mode | OUR_FOLDER_MODE == mode {
            return Ok(());
        }
        if root.stat(path)?.is_some_and(|stat| stat.kind == FileKind::Folder && stat.mode != mode) {
            self.with_step(root.storage.set_mode(path, mode))?;
        }
        match root.sync_folder(Step::SyncPublished, path) {
            // A folder that its owner may not read cannot be opened for a sync.
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => Ok(()),
            result => result,
        }
    }

    /// Places a new file or symlink at the path.
    fn place(&self) -> Result<bool> {
        let (root, path) = (self.root, &self.change.path);
        if let (Observed::Absent, Some(staged)) = (&self.change.before, &self.staged) {
            match root.storage.link(staged, path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
                // No hard links: use a copy.
                Err(error) if lacks_hard_links(&error) => {}
                result => return self.with_step(result).map(|()| true),
            }
        }
        self.link_staged()?;
        match self.change.before {
            Observed::Absent => return self.place_new(),
            Observed::Folder { .. } => return Ok(self.remove_folder()? && self.place_new()?),
            _ => {}
        }
        match root.storage.rename(&self.displaced, path, RenameMode::Exchange) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                // An edit between this check and the rename is lost: a documented limit.
                if root.observe(path)? != self.change.before {
                    return Ok(false);
                }
                self.with_step(root.storage.rename(&self.displaced, path, RenameMode::Replace)).map(|()| true)
            }
            exchanged => {
                self.with_step(exchanged)?;
                self.check_displaced()
            }
        }
    }

    /// Gives the new content a second name, `displaced`, which then changes places with what is at
    /// the path.
    fn link_staged(&self) -> Result<()> {
        let root = self.root;
        match self.try_link_staged() {
            // Of an earlier try.
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {
                root.remove_if_exists(Step::Publish, &self.displaced)?;
                self.try_link_staged()
            }
            result => result,
        }
    }

    fn try_link_staged(&self) -> Result<()> {
        let root = self.root;
        let Some(staged) = &self.staged else {
            let TargetState::Symlink { target } = &self.change.after else {
                unreachable!("only symlinks are not staged")
            };
            return self.with_step(root.storage.make_symlink(target, &self.displaced));
        };
        match root.storage.link(staged, &self.displaced) {
            // No hard links: use a copy.
            Err(error) if lacks_hard_links(&error) => {
                let TargetState::File { mode, .. } = &self.change.after else {
                    unreachable!("staged content is a file's")
                };
                // The displaced name never holds an incomplete file.
                let copy = root.in_txn_dir(COPY);
                root.remove_if_exists(Step::Publish, &copy)?;
                copy_staged(root, staged, &copy, *mode)?;
                root.rename(Step::Publish, &copy, &self.displaced, RenameMode::Replace)
            }
            result => self.with_step(result),
        }
    }

    fn place_new(&self) -> Result<bool> {
        let (root, path) = (self.root, &self.change.path);
        match root.storage.rename(&self.displaced, path, RenameMode::NoReplace) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                root.remove_if_exists(Step::Publish, &self.displaced)?;
                Ok(false)
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                if root.stat(path)?.is_some() {
                    return Ok(false);
                }
                self.with_step(root.storage.rename(&self.displaced, path, RenameMode::Replace)).map(|()| true)
            }
            result => self.with_step(result).map(|()| true),
        }
    }

    /// Displaces the file at the path, if it has the state before.
    fn displace(&self) -> Result<bool> {
        let root = self.root;
        root.remove_if_exists(Step::Publish, &self.displaced)?;
        self.with_step(root.storage.rename(&self.change.path, &self.displaced, RenameMode::Replace))?;
        self.check_displaced()
    }

    /// Compares the displaced file with the state before, and swaps it back if another program
    /// changed it.
    fn check_displaced(&self) -> Result<bool> {
        if self.root.observe(&self.displaced)? == self.change.before || Step::CheckDisplaced.is_skipped() {
            return Ok(true);
        }
        self.swap_back()?;
        Ok(false)
    }

    /// Moves the displaced file back to its path.
    fn swap_back(&self) -> Result<()> {
        let (root, path) = (self.root, &self.change.path);
        let mode = if root.stat(path)?.is_some() { RenameMode::Exchange } else { RenameMode::NoReplace };
        match root.storage.rename(&self.displaced, path, mode) {
            Err(error) if error.kind() == ErrorKind::Unsupported && mode == RenameMode::NoReplace => {
                self.with_step(root.storage.rename(&self.displaced, path, RenameMode::Replace))
            }
            result => self.with_step(result),
        }
    }

    /// Preserves our content in a file for people, and the displaced content of another program
    /// that could not go back.
    fn preserve(&self) -> Result<Preserved> {
        let root = self.root;
        let mut preserved = Preserved { path: root.full_path(&self.change.path), preserved_at: None };
        let staged = self.staged.as_ref().filter(|staged| matches!(root.stat(staged), Ok(Some(_))));
        let displaced_id = root.stat(&self.displaced)?.map(|stat| stat.id);
        let staged_id = staged.map(|staged| root.stat(staged)).transpose()?.flatten().map(|stat| stat.id);
        let is_foreign = displaced_id.is_some() && displaced_id != staged_id && {
            let displaced = root.observe(&self.displaced)?;
            displaced != self.change.before && !self.change.after.matches(&displaced)
        };
        if staged.is_none() && !is_foreign {
            return Ok(preserved);
        }
        let folder = root.in_txn_dir(KEPT);
        root.make_folders(Step::Preserve, &folder, OUR_FOLDER_MODE)?;
        if let Some(staged) = staged {
            root.rename(Step::Preserve, staged, &self.preserved_at, RenameMode::Replace)?;
            preserved.preserved_at = Some(root.full_path(&self.preserved_at));
        }
        if is_foreign {
            let mut name = self.preserved_at.name().expect("it has a name").to_owned();
            name.push(".theirs");
            root.rename(Step::Preserve, &self.displaced, &folder.join(name), RenameMode::Replace)?;
        }
        root.sync_folder(Step::SyncPreserved, &folder)?;
        root.sync_folder(Step::SyncPreserved, &root.txn_dir)?;
        Ok(preserved)
    }

    fn with_step<T>(&self, result: std::io::Result<T>) -> Result<T> {
        self.root.with_step(Step::Publish, &self.change.path, result)
    }
}

/// Copies a staged file with its attributes, durably.
fn copy_staged(root: &Root, staged: &RelPath, copy: &RelPath, mode: u32) -> Result<()> {
    let source = root.open(Step::Publish, staged, OpenMode::Read)?;
    let len = root.with_step(Step::Publish, staged, source.stat())?.len;
    let target = root.open(Step::Publish, copy, OpenMode::Create { mode: OUR_FILE_MODE })?;
    root.with_step(Step::Publish, copy, copy_range(&*source, &*target, len, &mut blake3::Hasher::new()))?;
    root.with_step(Step::Publish, copy, root.storage.copy_attributes(staged, copy))?;
    root.with_step(Step::Publish, copy, root.storage.set_mode(copy, mode))?;
    root.sync_all(Step::SyncPublished, copy, &*target)
}

/// Returns true if an error means that a folder above the path was removed or replaced.
fn is_missing_parent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) || is_through_symlink(error)
}

/// Returns true if an error means that hard links are not possible.
fn lacks_hard_links(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied)
}

/// Folders in which names change.
fn parents(record: &Record) -> BTreeSet<(usize, RelPath)> {
    let parent_of = |change: &Change| change.path.parent().expect("a change is below the root");
    record.changes.iter().map(|change| (change.root, parent_of(change))).collect()
}

/// Makes all changed names durable, except in roots with an [`FsSync`].
fn sync_parents(
    roots: &[Root],
    parents: BTreeSet<(usize, RelPath)>,
    fs_syncs: &BTreeMap<usize, Box<dyn FsSync>>,
) -> Result<()> {
    let mut folders = BTreeSet::new();
    for (index, mut parent) in parents.into_iter().filter(|(root, _)| !fs_syncs.contains_key(root)) {
        let root = &roots[index];
        while !parent.is_root()
            && !matches!(root.storage.stat(&parent), Ok(Some(stat)) if stat.kind == FileKind::Folder)
        {
            parent = parent.parent().expect("the root exists");
        }
        folders.insert((index, parent));
    }
    let folders: Vec<_> = folders.into_iter().collect();
    in_parallel(&folders, |(root, folder)| roots[*root].sync_folder(Step::SyncParent, folder))
}

/// Removes the staged files of a finished transaction. The next open removes those that cannot be
/// removed now.
pub(crate) fn remove_staged(roots: &[Root], record: &Record) {
    for publisher in publishers(roots, record) {
        if publisher.change.before != Observed::Absent {
            let _ = publisher.root.remove_if_exists(Step::CleanUp, &publisher.displaced);
        }
        if let Some(staged) = &publisher.staged {
            let _ = publisher.root.remove_if_exists(Step::CleanUp, staged);
        }
    }
}
