//! The rules of folders that belong to people: files, symlinks, folders and modes over several roots, each content a staged file that
//! replaces a path whole. Everything is published and synced before a commit returns.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Read;

use super::{COMMIT, Trees, done_name, mark_done, publish, touched};
use crate::disk::Kind;
use crate::journal::pointer;
use crate::journal::record::Record;
use crate::journal::{JOURNAL, JOURNAL_TMP, Journal};
use crate::lock::Guard;
use crate::path::{At, ToAt};
use crate::root::Root;
use crate::tx::change::{Base, Change, Content, Final, Look, Seen};
use crate::tx::stage::StagedFile;
use crate::tx::view::Overlay;
use crate::tx::{Committed, Policy, Touch, Transaction};
use crate::{Error, Failure, RelPath, Result, Step};

/// The longest target of a symlink, in bytes: the limit of Linux.
const TARGET_BYTES_MAX: usize = 4095;

/// A transaction on [`Trees`].
pub type TreeTransaction<'a> = Transaction<Staging<'a>>;

/// The right to stage in trees, and what is known of them.
pub struct Staging<'a> {
    trees: &'a mut Trees,
    owner: Vec<u8>,
    nothing: Overlay,
    /// By root, the mount of its transaction folder, once it is known.
    home_mounts: BTreeMap<usize, u64>,
    /// Folders on the disk that are known to be writable and on their root's mount.
    checked: BTreeSet<At>,
}

impl<'a> Staging<'a> {
    pub(super) fn new(trees: &'a mut Trees) -> Self {
        Self {
            trees,
            owner: Vec::new(),
            nothing: Overlay::default(),
            home_mounts: BTreeMap::new(),
            checked: BTreeSet::new(),
        }
    }
}

impl Policy for Staging<'_> {
    fn together_min(&self) -> Option<usize> {
        Some(self.trees.options.together_min)
    }

    fn below(&self) -> &Overlay {
        &self.nothing
    }

    fn new_file_mode(&self) -> u32 {
        self.trees.options.file_mode
    }

    fn prepare(tx: &mut Transaction<Self>, at: &At, parent: RelPath) -> Result<()> {
        tx.prepare_parent(&At { root: at.root, path: parent })
    }

    fn state_before(tx: &mut Transaction<Self>, at: &At, _touch: Touch) -> Result<Seen> {
        let home_mount = tx.home_mount(at.root)?;
        let (seen, mount) = tx.roots[at.root].see_with_mount(&at.path)?;
        match mount {
            Some(mount) if mount != home_mount => Err(Error::OtherMount { path: tx.show(at) }),
            _ => Ok(seen),
        }
    }

    fn hold(tx: &mut Transaction<Self>, at: &At, mode: u32, bytes: &[u8]) -> Result<Content> {
        let mut file = Self::create_staged(tx, at.root, mode)?;
        file.add(bytes)?;
        Self::take_staged(tx, at, file, mode)
    }

    fn create_staged(tx: &mut Transaction<Self>, root: usize, mode: u32) -> Result<StagedFile> {
        tx.stage.create(root, &tx.roots, mode)
    }

    /// The file gets the owner and attributes of the one that it replaces.
    fn take_staged(tx: &mut Transaction<Self>, at: &At, file: StagedFile, mode: u32) -> Result<Content> {
        if let Some(Seen::File { .. }) = tx.before.get(at) {
            let root = &tx.roots[at.root];
            root.name(Step::Stage, &at.path, root.storage.copy_attributes(&at.path, &file.path))?;
        }
        Ok(Content::of_staged(tx.stage.take(file, mode, &tx.roots)?))
    }

    fn commit(mut tx: Transaction<Self>, changes: Vec<Change>) -> std::result::Result<Committed, Failure> {
        // 3.2, 3.3
        tx.stage.sync(&tx.roots)?;
        let roots = tx.roots.iter().map(|root| root.label.clone()).collect();
        let record = Record { id: tx.id, owner: std::mem::take(&mut tx.policy.owner), roots, changes };
        let touched = touched(&record);
        let main = &tx.roots[*touched.first().expect("a commit has changes")];
        let others: Vec<&Root> = touched.iter().skip(1).map(|index| &tx.roots[*index]).collect();
        let trees = &tx.policy.trees;
        let check = || trees.guards.iter().try_for_each(Guard::check);
        // 4.1 to 4.7
        let place = || {
            others.iter().try_for_each(|root| pointer::write(root, record.id, &main.label))?;
            Journal::write_whole(main, 1, 0, std::slice::from_ref(&record), &COMMIT, check)
        };
        if let Err(error) = place() {
            let placed = match &error {
                Error::Io { step: Step::SyncJournalFolder, .. } => true,
                Error::Io { step: Step::PlaceJournal, .. } => {
                    !matches!(main.stat(&main.in_home(JOURNAL)), Ok(None))
                }
                _ => false,
            };
            if placed {
                tx.settled = true;
                return Err(Failure::unknown(error));
            }
            let _ = main.remove_if_there(Step::CleanUp, &main.in_home(JOURNAL_TMP));
            for root in others {
                let _ = pointer::clear(root);
            }
            return Err(Failure::aborted(error));
        }
        let mut committed = Committed { id: record.id, kept: Vec::new(), pending: None };
        let finish = || {
            // 5
            let kept = publish::publish(&tx.roots, &record, trees.options.together_min)?;
            // 6.1, 6.2
            mark_done(main, record.id)?;
            Ok(kept)
        };
        match finish() {
            Ok(kept) => committed.kept = kept,
            Err(error) => {
                tx.settled = true;
                committed.pending = Some(error);
                return Ok(committed);
            }
        }
        // 6.3 to 6.5: only tidiness is left, and the next open sees to what fails here.
        for root in others {
            let _ = pointer::clear(root);
        }
        if record.owner.is_empty() {
            let _ = main.remove_if_there(Step::RemoveDone, &main.in_home(done_name(record.id)));
        }
        publish::tidy(&tx.roots, &record);
        Ok(committed)
    }
}

impl TreeTransaction<'_> {
    /// What is at a path now, with the hash of a file, before this transaction changes it. It is looked at once: what is staged for the
    /// path later is committed only in the place of this. Looking writes nothing, and needs no folder above the path.
    pub fn observe(&mut self, at: impl ToAt) -> Result<&Seen> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        self.look_before(&at, Touch::All)?;
        Ok(&self.before[&at])
    }

    /// Gives a file new content and permission bits.
    pub fn put_with_mode(&mut self, at: impl ToAt, mode: u32, bytes: &[u8]) -> Result<()> {
        self.put_filled(at.to_at()?, mode, |file| file.add(bytes))
    }

    /// Gives a file permission bits and what a reader gives, in bounded memory.
    pub fn put_reader_with_mode(&mut self, at: impl ToAt, mode: u32, reader: &mut dyn Read) -> Result<()> {
        self.put_filled(at.to_at()?, mode, |file| file.fill(reader))
    }

    /// Fills a staged file for a path.
    fn put_filled(
        &mut self,
        at: At,
        mode: u32,
        fill: impl FnOnce(&mut StagedFile) -> Result<()>,
    ) -> Result<()> {
        self.whole(|tx| {
            tx.prepare_file(&at)?;
            let mut file = Staging::create_staged(tx, at.root, mode)?;
            fill(&mut file)?;
            let content = Staging::take_staged(tx, &at, file, mode)?;
            tx.change(at, Final::File { mode, content });
            Ok(())
        })
    }

    /// Changes the permission bits of a file or folder.
    pub fn set_mode(&mut self, at: impl ToAt, mode: u32) -> Result<()> {
        let at = at.to_at()?;
        self.whole(|tx| {
            tx.prepare(&at, Touch::All)?;
            let after = match tx.look(&at)? {
                Look::Absent => return Err(Error::Missing { path: tx.show(&at) }),
                Look::Folder { .. } => Final::Folder { mode },
                Look::File { len, .. } => {
                    let content = match tx.staged.get(&at) {
                        Some(Final::File { content, .. }) => content.clone(),
                        _ => Content::of_path(len),
                    };
                    if let Base::Staged(staged) = &content.base {
                        tx.stage.set_mode(at.root, staged, mode, &tx.roots)?;
                    }
                    Final::File { mode, content }
                }
                look => {
                    let found = look.kind().expect("something is there");
                    return Err(tx.wrong_kind(&at, found, "a file or folder"));
                }
            };
            tx.change(at, after);
            Ok(())
        })
    }

    /// Makes a symlink; a file or symlink at that path is replaced. Where it points is not checked: it is text.
    pub fn symlink(&mut self, at: impl ToAt, target: &OsStr) -> Result<()> {
        let at = at.to_at()?;
        self.check_root(at.root)?;
        // What the system would refuse must not be found out after the commit point.
        if target.is_empty() || target.len() > TARGET_BYTES_MAX || target.as_encoded_bytes().contains(&0) {
            let reason = "its target is empty, longer than 4095 bytes or contains a NUL byte";
            return Err(Error::BadPath { path: self.show(&at), reason });
        }
        self.whole(|tx| {
            tx.prepare_file(&at)?;
            tx.change(at, Final::Symlink { target: target.to_owned() });
            Ok(())
        })
    }

    /// Removes a folder that is empty by then.
    pub fn remove_folder(&mut self, at: impl ToAt) -> Result<()> {
        let at = at.to_at()?;
        self.whole(|tx| {
            tx.prepare(&at, Touch::All)?;
            match tx.look(&at)?.kind() {
                None => return Err(Error::Missing { path: tx.show(&at) }),
                Some(Kind::Folder) => {}
                Some(found) => return Err(tx.wrong_kind(&at, found, "a folder")),
            }
            let holds_home = tx.roots[at.root].home.is_within(&at.path);
            if holds_home || !tx.view().list(&at)?.is_empty() {
                return Err(Error::NotEmpty { path: tx.show(&at) });
            }
            tx.change(at, Final::Absent);
            Ok(())
        })
    }

    /// As [`commit`](Self::commit), for an owner that records the outcome elsewhere: the transaction is remembered, with `owner`, until
    /// [`Trees::acknowledge`].
    pub fn commit_for(mut self, owner: &[u8]) -> std::result::Result<Committed, Failure> {
        self.policy.owner = owner.to_vec();
        self.commit()
    }

    /// The mount that the transaction folder is on: what is elsewhere cannot be replaced from there.
    fn home_mount(&mut self, index: usize) -> Result<u64> {
        if let Some(mount) = self.policy.home_mounts.get(&index) {
            return Ok(*mount);
        }
        let root = &self.roots[index];
        let stat = root.stat(&root.home)?.ok_or_else(|| Error::Missing { path: root.show(&root.home) })?;
        self.policy.home_mounts.insert(index, stat.mount);
        Ok(stat.mount)
    }

    /// Sees to it that a folder is there by then and that names in it can change. One that is on the disk is asked once.
    fn prepare_parent(&mut self, parent: &At) -> Result<()> {
        let is_staged = self.staged.get(parent).is_some();
        if !is_staged && self.policy.checked.contains(parent) {
            return Ok(());
        }
        match if parent.path.is_root() { Some(Kind::Folder) } else { self.look(parent)?.kind() } {
            Some(Kind::Folder) => {}
            None => {
                self.prepare(parent, Touch::All)?;
                if self.look(parent)? != Look::Absent {
                    // Somebody made it between the two looks: its mode is theirs.
                    return Err(Error::Exists { path: self.show(parent) });
                }
                self.change(parent.clone(), Final::Folder { mode: self.policy.trees.options.folder_mode });
                return Ok(());
            }
            Some(found) => return Err(self.wrong_kind(parent, found, "a folder")),
        }
        let home_mount = self.home_mount(parent.root)?;
        check_parent(&self.roots[parent.root], &parent.path, home_mount)?;
        if !is_staged {
            self.policy.checked.insert(parent.clone());
        }
        Ok(())
    }
}

/// A file can be moved from the transaction folder to this one: a failure after the commit point would be too late.
fn check_parent(root: &Root, parent: &RelPath, home_mount: u64) -> Result<()> {
    // The nearest folder that exists: those below it are made by this transaction, maybe in the place of a file.
    let mut folder = parent.clone();
    let mount = loop {
        match root.stat(&folder)? {
            Some(stat) if stat.kind == Kind::Folder => break stat.mount,
            _ => folder = folder.parent().expect("the root is a folder"),
        }
    };
    if home_mount != mount {
        return Err(Error::OtherMount { path: root.show(&folder) });
    }
    root.name(Step::Inspect, &folder, root.storage.check_writable(&folder))
}
