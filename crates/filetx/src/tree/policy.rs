//! Policy of user trees: files, symlinks, folders and modes in several roots. New content is a
//! staged file that replaces the whole file. A commit returns after everything is published and
//! synced.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Read;

use super::{COMMIT, Trees, changed_roots, done_name, mark_done, probe, publish};
use crate::disk::{FileKind, OpenMode};
use crate::hash::CHUNK_BYTES;
use crate::journal::pointer;
use crate::journal::record::Record;
use crate::journal::{JOURNAL, JOURNAL_TMP, Journal};
use crate::lock::Guard;
use crate::path::{ToTxPath, TxPath};
use crate::root::{Root, read_range};
use crate::tx::change::{Change, Content, ContentBase, Observed, PathState, TargetState};
use crate::tx::stage::StagedFile;
use crate::tx::view::Overlay;
use crate::tx::{CommitReport, Extent, Policy, Transaction};
use crate::{Error, Failure, RelPath, Result, Step};

/// Maximum length of the target of a symlink, in bytes: the limit of Linux.
const TARGET_BYTES_MAX: usize = 4095;

/// A transaction on [`Trees`].
pub type TreeTransaction<'a> = Transaction<TreeStaging<'a>>;

/// The right to stage in trees, with cached checks of them.
pub struct TreeStaging<'a> {
    trees: &'a mut Trees,
    owner: Vec<u8>,
    /// Empty: every commit is published before it returns.
    no_overlay: Overlay,
    /// Mount of the transaction folder, by root.
    txn_dir_mounts: BTreeMap<usize, u64>,
    /// Folders that were found writable and on the mount of their root.
    checked: BTreeSet<TxPath>,
}

impl<'a> TreeStaging<'a> {
    pub(super) fn new(trees: &'a mut Trees) -> Self {
        Self {
            trees,
            owner: Vec::new(),
            no_overlay: Overlay::default(),
            txn_dir_mounts: BTreeMap::new(),
            checked: BTreeSet::new(),
        }
    }
}

impl Policy for TreeStaging<'_> {
    fn syncfs_threshold(&self) -> Option<usize> {
        Some(self.trees.options.syncfs_threshold)
    }

    fn committed_overlay(&self) -> &Overlay {
        &self.no_overlay
    }

    fn default_file_mode(&self) -> u32 {
        self.trees.options.file_mode
    }

    fn prepare(tx: &mut Transaction<Self>, at: &TxPath, parent: RelPath) -> Result<()> {
        tx.prepare_parent(&TxPath { root: at.root, path: parent })
    }

    fn observe_path(tx: &mut Transaction<Self>, at: &TxPath, _extent: Extent) -> Result<Observed> {
        let txn_dir_mount = tx.txn_dir_mount(at.root)?;
        let (observed, mount) = tx.roots[at.root].observe_with_mount(&at.path)?;
        match mount {
            Some(mount) if mount != txn_dir_mount => Err(Error::CrossMount { path: tx.full_path(at) }),
            _ => Ok(observed),
        }
    }

    fn stage_bytes(tx: &mut Transaction<Self>, at: &TxPath, mode: u32, bytes: &[u8]) -> Result<Content> {
        let mut file = Self::create_staged(tx, at.root, mode)?;
        file.append(bytes)?;
        Self::add_staged(tx, at, file, mode)
    }

    fn create_staged(tx: &mut Transaction<Self>, root: usize, mode: u32) -> Result<StagedFile> {
        tx.stage.create(root, &tx.roots, mode)
    }

    /// Copies owner and attributes from the file that it replaces.
    fn add_staged(tx: &mut Transaction<Self>, at: &TxPath, file: StagedFile, mode: u32) -> Result<Content> {
        if let Some(Observed::File { .. }) = tx.before.get(at) {
            let root = &tx.roots[at.root];
            root.with_step(Step::Stage, &at.path, root.storage.copy_attributes(&at.path, &file.path))?;
        }
        Ok(Content::of_staged(tx.stage.add(file, mode, &tx.roots)?))
    }

    fn commit(mut tx: Transaction<Self>, changes: Vec<Change>) -> std::result::Result<CommitReport, Failure> {
        probe::check_changes(&tx.roots, &changes)?;
        // 3.2, 3.3
        tx.stage.sync(&tx.roots)?;
        let roots = tx.roots.iter().map(|root| root.path.clone()).collect();
        let record = Record { id: tx.id, owner: std::mem::take(&mut tx.policy.owner), roots, changes };
        let changed_roots = changed_roots(&record);
        let main = &tx.roots[*changed_roots.first().expect("a commit has changes")];
        let others: Vec<&Root> = changed_roots.iter().skip(1).map(|index| &tx.roots[*index]).collect();
        let trees = &tx.policy.trees;
        let check = || trees.guards.iter().try_for_each(Guard::check);
        // 4.1 to 4.7
        let place_journal = || {
            others.iter().try_for_each(|root| pointer::write(root, record.id, &main.path))?;
            Journal::create(main, 1, 0, std::slice::from_ref(&record), &COMMIT, check)
        };
        if let Err(error) = place_journal() {
            let is_placed = match &error {
                Error::Io { step: Step::SyncJournalFolder, .. } => true,
                Error::Io { step: Step::PlaceJournal, .. } => {
                    !matches!(main.stat(&main.in_txn_dir(JOURNAL)), Ok(None))
                }
                _ => false,
            };
            if is_placed {
                tx.keep_staged = true;
                return Err(Failure::unknown(error));
            }
            let _ = main.remove_if_exists(Step::CleanUp, &main.in_txn_dir(JOURNAL_TMP));
            // The owner would not vouch for a pointer that stays.
            return Err(match others.into_iter().try_for_each(pointer::clear) {
                Ok(()) => Failure::aborted(error),
                Err(_) => Failure::unknown(error),
            });
        }
        let mut report = CommitReport { id: record.id, preserved: Vec::new(), pending: None };
        let finish = || {
            // 5
            let preserved = publish::publish(&tx.roots, &record, trees.options.syncfs_threshold)?;
            // 6.1, 6.2
            mark_done(main, record.id)?;
            // 6.3, 6.4
            others.into_iter().try_for_each(pointer::clear)?;
            Ok(preserved)
        };
        match finish() {
            Ok(preserved) => report.preserved = preserved,
            Err(error) => {
                tx.keep_staged = true;
                report.pending = Some(error);
                return Ok(report);
            }
        }
        // 6.5, 6.6: cleanup. The next open repeats what fails here.
        if record.owner.is_empty() {
            let _ = main.remove_if_exists(Step::RemoveDone, &main.in_txn_dir(done_name(record.id)));
        }
        publish::remove_staged(&tx.roots, &record);
        Ok(report)
    }
}

impl TreeTransaction<'_> {
    /// Observes a path before this transaction changes it, with the hash of a file. The first
    /// observation counts: a change of the path is published only if the path still has this state.
    /// Writes nothing; the folders above the path need not exist.
    pub fn observe(&mut self, at: impl ToTxPath) -> Result<&Observed> {
        let at = at.to_tx_path()?;
        self.check_root(at.root)?;
        self.observe_before(&at, Extent::Whole)?;
        Ok(&self.before[&at])
    }

    /// Replaces the content and the permission bits of a file, or creates it.
    pub fn put_with_mode(&mut self, at: impl ToTxPath, mode: u32, bytes: &[u8]) -> Result<()> {
        self.put_with(at.to_tx_path()?, mode, |file| file.append(bytes))
    }

    /// Like [`put_with_mode`](Self::put_with_mode), with content from a reader, in bounded memory.
    pub fn put_reader_with_mode(
        &mut self,
        at: impl ToTxPath,
        mode: u32,
        reader: &mut dyn Read,
    ) -> Result<()> {
        self.put_with(at.to_tx_path()?, mode, |file| file.append_reader(reader))
    }

    /// Stages a file that `fill` writes.
    fn put_with(
        &mut self,
        at: TxPath,
        mode: u32,
        fill: impl FnOnce(&mut StagedFile) -> Result<()>,
    ) -> Result<()> {
        self.with_savepoint(|tx| {
            tx.prepare_file(&at)?;
            let mut file = TreeStaging::create_staged(tx, at.root, mode)?;
            fill(&mut file)?;
            let content = TreeStaging::add_staged(tx, &at, file, mode)?;
            tx.change(at, TargetState::File { mode, content });
            Ok(())
        })
    }

    /// Changes the permission bits of a file or folder.
    pub fn set_mode(&mut self, at: impl ToTxPath, mode: u32) -> Result<()> {
        let at = at.to_tx_path()?;
        self.with_savepoint(|tx| {
            tx.prepare(&at, Extent::Whole)?;
            let after = match tx.path_state(&at)? {
                PathState::Absent => return Err(Error::NotFound { path: tx.full_path(&at) }),
                PathState::Folder { .. } => TargetState::Folder { mode },
                PathState::File { len, .. } => {
                    let content = match tx.staged.get(&at) {
                        Some(TargetState::File { content, .. }) => content.clone(),
                        _ if tx.has_other_names(&at)? => tx.stage_copy(&at, mode)?,
                        _ => Content::of_path(len),
                    };
                    if let ContentBase::Staged(staged) = &content.base {
                        tx.stage.set_mode(at.root, staged, mode, &tx.roots)?;
                    }
                    TargetState::File { mode, content }
                }
                state => {
                    let found = state.kind().expect("something is there");
                    return Err(tx.wrong_kind(&at, found, "a file or folder"));
                }
            };
            tx.change(at, after);
            Ok(())
        })
    }

    /// Creates a symlink. Replaces a file or symlink at the path. Does not check the target.
    pub fn symlink(&mut self, at: impl ToTxPath, target: &OsStr) -> Result<()> {
        let at = at.to_tx_path()?;
        self.check_root(at.root)?;
        // The system would refuse it after the commit point.
        if target.is_empty() || target.len() > TARGET_BYTES_MAX || target.as_encoded_bytes().contains(&0) {
            let reason = "its target is empty, longer than 4095 bytes or contains a NUL byte";
            return Err(Error::BadPath { path: self.full_path(&at), reason });
        }
        self.with_savepoint(|tx| {
            tx.prepare_file(&at)?;
            tx.change(at, TargetState::Symlink { target: target.to_owned() });
            Ok(())
        })
    }

    /// Removes a folder. It must be empty after the changes staged so far.
    pub fn remove_folder(&mut self, at: impl ToTxPath) -> Result<()> {
        let at = at.to_tx_path()?;
        self.with_savepoint(|tx| {
            tx.prepare(&at, Extent::Whole)?;
            match tx.path_state(&at)?.kind() {
                None => return Err(Error::NotFound { path: tx.full_path(&at) }),
                Some(FileKind::Folder) => {}
                Some(found) => return Err(tx.wrong_kind(&at, found, "a folder")),
            }
            let holds_txn_dir = tx.roots[at.root].txn_dir.is_within(&at.path);
            if holds_txn_dir || !tx.view().list(&at)?.is_empty() {
                return Err(Error::NotEmpty { path: tx.full_path(&at) });
            }
            tx.change(at, TargetState::Absent);
            Ok(())
        })
    }

    /// Like [`commit`](Self::commit), for an owner that records the outcome elsewhere: the root
    /// keeps the transaction, with `owner`, until [`Trees::acknowledge`].
    pub fn commit_for(mut self, owner: &[u8]) -> std::result::Result<CommitReport, Failure> {
        self.policy.owner = owner.to_vec();
        self.commit()
    }

    /// Returns true if the file at a path has other names. They may be outside of the root, and
    /// `chmod` of the file would change them too.
    fn has_other_names(&self, at: &TxPath) -> Result<bool> {
        Ok(self.roots[at.root].stat(&at.path)?.is_some_and(|stat| stat.links > 1))
    }

    /// Stages the content of a file again.
    fn stage_copy(&mut self, at: &TxPath, mode: u32) -> Result<Content> {
        let root = self.roots[at.root].clone();
        let source = root.open(Step::Stage, &at.path, OpenMode::Read)?;
        let mut file = TreeStaging::create_staged(self, at.root, mode)?;
        let mut offset = 0;
        loop {
            let bytes = read_range(&*source, offset, CHUNK_BYTES as u64);
            let bytes = root.with_step(Step::Stage, &at.path, bytes)?;
            if bytes.is_empty() {
                return TreeStaging::add_staged(self, at, file, mode);
            }
            file.append(&bytes)?;
            offset += bytes.len() as u64;
        }
    }

    /// Mount of the transaction folder. A rename from it cannot reach other mounts.
    fn txn_dir_mount(&mut self, index: usize) -> Result<u64> {
        if let Some(mount) = self.policy.txn_dir_mounts.get(&index) {
            return Ok(*mount);
        }
        let root = &self.roots[index];
        let stat = root
            .stat(&root.txn_dir)?
            .ok_or_else(|| Error::NotFound { path: root.full_path(&root.txn_dir) })?;
        self.policy.txn_dir_mounts.insert(index, stat.mount);
        Ok(stat.mount)
    }

    /// Checks that names in a folder can change, and stages the folder if it is missing. Checks a
    /// folder on the disk once.
    fn prepare_parent(&mut self, parent: &TxPath) -> Result<()> {
        let is_staged = self.staged.get(parent).is_some();
        if !is_staged && self.policy.checked.contains(parent) {
            return Ok(());
        }
        match if parent.path.is_root() { Some(FileKind::Folder) } else { self.path_state(parent)?.kind() } {
            Some(FileKind::Folder) => {}
            None => {
                self.prepare(parent, Extent::Whole)?;
                if self.path_state(parent)? != PathState::Absent {
                    // Another program created it in between.
                    return Err(Error::Exists { path: self.full_path(parent) });
                }
                self.change(
                    parent.clone(),
                    TargetState::Folder { mode: self.policy.trees.options.folder_mode },
                );
                return Ok(());
            }
            Some(found) => return Err(self.wrong_kind(parent, found, "a folder")),
        }
        let txn_dir_mount = self.txn_dir_mount(parent.root)?;
        probe::check_parent(&self.roots[parent.root], &parent.path, txn_dir_mount)?;
        if !is_staged {
            self.policy.checked.insert(parent.clone());
        }
        Ok(())
    }
}
