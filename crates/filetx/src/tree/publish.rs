//! Step 5: bringing a committed transaction into people's trees, one path at a time, without overwriting anything of theirs.
//!
//! Staged files keep their name until the transaction is done: a path gets a second name of the same file. So nothing that was
//! committed exists in one place only, and recovery can always begin again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;

use super::classify::{Found, Verdict, classify};
use crate::disk::{Kind, Open, Rename, Watch};
use crate::journal::record::Record;
use crate::lock::platform::is_through_symlink;
use crate::root::{OUR_FILE_MODE, OUR_FOLDER_MODE, Root, copy_range};
use crate::tx::Kept;
use crate::tx::change::{Base, Change, Final, Seen, in_order};
use crate::tx::stage::in_parallel;
use crate::txn_dir::{KEPT, STAGE};
use crate::{Error, RelPath, Result, Step};

/// Where a file is copied to that cannot have a second name.
pub(crate) const COPY: &str = "copy";

/// One change with the names it uses in the staging folder.
struct Job<'a> {
    root: &'a Root,
    change: &'a Change,
    /// Where new content waits; a symlink has none, its target is in the journal.
    staged: Option<RelPath>,
    /// Where what was at the path goes.
    displaced: RelPath,
    /// Where our content goes when a person's stays.
    aside: RelPath,
}

/// Publishes all changes of a record that a live commit has just made certain.
pub(crate) fn publish(roots: &[Root], record: &Record, together_min: usize) -> Result<Vec<Kept>> {
    let jobs = jobs(roots, record);
    let verdicts = vec![Verdict::Todo; jobs.len()];
    carry_out(roots, record, &jobs, &verdicts, together_min)
}

/// Publishes what is left of a record after a crash. Everything is looked at before the first change.
pub(crate) fn republish(roots: &[Root], record: &Record, together_min: usize) -> Result<Vec<Kept>> {
    let jobs = jobs(roots, record);
    let verdicts = jobs.iter().map(Job::verdict).collect::<Result<Vec<_>>>()?;
    carry_out(roots, record, &jobs, &verdicts, together_min)
}

/// What was kept aside when a record was published, by somebody who could not tell.
pub(crate) fn kept_aside(roots: &[Root], record: &Record) -> Result<Vec<Kept>> {
    let mut kept = Vec::new();
    for job in jobs(roots, record) {
        if job.root.stat(&job.aside)?.is_some() {
            let aside = Some(job.root.show(&job.aside));
            kept.push(Kept { path: job.root.show(&job.change.path), aside });
        }
    }
    Ok(kept)
}

fn carry_out(
    roots: &[Root],
    record: &Record,
    jobs: &[Job<'_>],
    verdicts: &[Verdict],
    together_min: usize,
) -> Result<Vec<Kept>> {
    let parents = parents(record);
    let watches = watches(roots, jobs, &parents, together_min)?;
    let mut kept = Vec::new();
    let mut folders = Vec::new();
    let mut modes = Vec::new();
    for (job, verdict) in jobs.iter().zip(verdicts) {
        let landed = match verdict {
            Verdict::Done => true,
            Verdict::Todo => job.publish()?,
            Verdict::Third => false,
            Verdict::SwapBack => {
                job.swap_back()?;
                false
            }
        };
        match &job.change.after {
            _ if !landed => kept.push(job.keep()?),
            Final::Folder { mode } => folders.push((job, *mode)),
            Final::File { .. } if job.is_mode_only() => modes.push(job),
            _ => {}
        }
    }
    modes.retain(|job| !watches.contains_key(&job.change.root));
    in_parallel(&modes, |job| job.sync_mode())?;
    sync_parents(roots, parents, &watches)?;
    for (root, watch) in &watches {
        roots[*root].sync_watched(Step::SyncPublishedTogether, &**watch)?;
    }
    // A folder gets its mode last, the deepest first: until then something may have to be put into it.
    folders.into_iter().rev().try_for_each(|(job, mode)| job.settle_folder(mode))?;
    Ok(kept)
}

/// Watches over the roots in which so much changes that it is synced together.
fn watches(
    roots: &[Root],
    jobs: &[Job<'_>],
    parents: &BTreeSet<(usize, RelPath)>,
    together_min: usize,
) -> Result<BTreeMap<usize, Box<dyn Watch>>> {
    let mut watches = BTreeMap::new();
    for (index, root) in roots.iter().enumerate() {
        let of_root = |job: &&Job<'_>| job.change.root == index && job.is_mode_only();
        let syncs = parents.range((index, RelPath::root())..(index + 1, RelPath::root())).count()
            + jobs.iter().filter(of_root).count();
        if syncs >= together_min {
            let watch = root.storage.watch();
            watches.extend(root.name(Step::Publish, &root.home, watch)?.map(|watch| (index, watch)));
        }
    }
    Ok(watches)
}

fn jobs<'a>(roots: &'a [Root], record: &'a Record) -> Vec<Job<'a>> {
    let job = |(number, change): (usize, &'a Change)| {
        let root = &roots[change.root];
        let stage = root.in_home(STAGE);
        let staged = match &change.after {
            Final::File { content, .. } => match &content.base {
                Base::Staged(staged) => Some(stage.join(staged.name())),
                Base::Nothing | Base::Path => None,
            },
            _ => None,
        };
        let name = change.path.name().expect("a change is below the root").as_encoded_bytes();
        let cut = crate::path::os_string(&name[..name.len().min(160)]);
        let mut aside = std::ffi::OsString::from(format!("{:032x}-{number}-", record.id));
        aside.push(cut);
        Job {
            root,
            change,
            staged,
            displaced: stage.join(format!("{:032x}-{number}.was", record.id)),
            aside: root.in_home(KEPT).join(aside),
        }
    };
    in_order(&record.changes).into_iter().map(job).collect()
}

impl Job<'_> {
    fn verdict(&self) -> Result<Verdict> {
        if Step::Classify.is_left_out() {
            return Ok(Verdict::Todo);
        }
        let root = self.root;
        let path = &self.change.path;
        let id_of = |path: &RelPath| root.stat(path).map(|stat| stat.map(|stat| stat.id));
        let staged_id = self.staged.as_ref().map(id_of).transpose()?.flatten();
        let target_id = id_of(path)?;
        let displaced = match id_of(&self.displaced)? {
            // The second name of ours has not changed places yet.
            Some(id) if Some(id) == staged_id => None,
            Some(_) => Some(root.see(&self.displaced)?).filter(|seen| !self.change.after.is(seen)),
            None => None,
        };
        let is_staged = staged_id.is_some() && target_id == staged_id;
        let found = Found { target: root.see(path)?, is_staged, displaced };
        let verdict = classify(self.change, &found);
        if let (Some(staged), None, Verdict::Todo) = (&self.staged, staged_id, verdict) {
            let path = root.show(staged);
            return Err(Error::RootGone { path, reason: "its staged content was removed" });
        }
        Ok(verdict)
    }

    /// Brings the path from before to after. `false` when it was not as before, and is left as it was found.
    fn publish(&self) -> Result<bool> {
        let result = match &self.change.after {
            Final::Absent => self.remove(),
            Final::Folder { mode } => self.make_folder(*mode),
            Final::Symlink { .. } => self.place(),
            Final::File { mode, .. } if self.staged.is_none() => self.set_mode(*mode),
            Final::File { .. } => self.place(),
        };
        match result {
            // A folder above the path is gone, or is a symlink now: a person did that.
            Err(Error::Io { step: Step::Publish, source, .. }) if is_no_way(&source) => Ok(false),
            result => result,
        }
    }

    /// Whether only the mode of a file changes.
    fn is_mode_only(&self) -> bool {
        matches!(self.change.after, Final::File { .. }) && self.staged.is_none()
    }

    fn remove(&self) -> Result<bool> {
        match self.change.before {
            Seen::Folder { .. } => self.remove_folder(),
            _ => self.displace(),
        }
    }

    fn remove_folder(&self) -> Result<bool> {
        match self.root.storage.remove_folder(&self.change.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory) => {
                Ok(false)
            }
            result => self.say(result).map(|()| true),
        }
    }

    fn make_folder(&self, mode: u32) -> Result<bool> {
        let path = &self.change.path;
        match self.change.before {
            Seen::Folder { .. } => {
                return Ok(self.root.stat(path)?.is_some_and(|stat| stat.kind == Kind::Folder));
            }
            Seen::Absent => {}
            // Displaced before a crash already, or now.
            _ => {
                if self.root.stat(path)?.is_some() && !self.displace()? {
                    return Ok(false);
                }
            }
        }
        match self.root.storage.make_folder(path, mode | OUR_FOLDER_MODE) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Ok(self.root.stat(path)?.is_some_and(|stat| stat.kind == Kind::Folder))
            }
            result => self.say(result).map(|()| true),
        }
    }

    fn set_mode(&self, mode: u32) -> Result<bool> {
        let (root, path) = (self.root, &self.change.path);
        if root.stat(path)?.is_none_or(|stat| stat.kind != Kind::File) {
            return Ok(false);
        }
        self.say(root.storage.set_mode(path, mode)).map(|()| true)
    }

    /// Makes a file's new mode durable. What is found changed already may have been changed by a process that died before this.
    fn sync_mode(&self) -> Result<()> {
        let file = self.root.open_to_sync(Step::Publish, &self.change.path)?;
        self.root.sync_all(Step::SyncPublished, &self.change.path, &*file)
    }

    /// Gives a folder its mode, durably, where that is not the one it was made with.
    fn settle_folder(&self, mode: u32) -> Result<()> {
        let (root, path) = (self.root, &self.change.path);
        let was_made = !matches!(self.change.before, Seen::Folder { .. });
        if was_made && mode | OUR_FOLDER_MODE == mode {
            return Ok(());
        }
        if root.stat(path)?.is_some_and(|stat| stat.kind == Kind::Folder && stat.mode != mode) {
            self.say(root.storage.set_mode(path, mode))?;
        }
        match root.sync_folder(Step::SyncPublished, path) {
            // A folder that not even its owner may read cannot be opened to be synced.
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => Ok(()),
            result => result,
        }
    }

    /// Puts a new file or symlink at the path.
    fn place(&self) -> Result<bool> {
        let (root, path) = (self.root, &self.change.path);
        if let (Seen::Absent, Some(staged)) = (&self.change.before, &self.staged) {
            match root.storage.link(staged, path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
                // No hard links here: a copy, then.
                Err(error) if is_no_link(&error) => {}
                result => return self.say(result).map(|()| true),
            }
        }
        self.second_name()?;
        match self.change.before {
            Seen::Absent => return self.place_new(),
            Seen::Folder { .. } => return Ok(self.remove_folder()? && self.place_new()?),
            _ => {}
        }
        match root.storage.rename(&self.displaced, path, Rename::Exchange) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                // Between this look and the rename a person may save: the README says so.
                if root.see(path)? != self.change.before {
                    return Ok(false);
                }
                self.say(root.storage.rename(&self.displaced, path, Rename::Replace)).map(|()| true)
            }
            exchanged => {
                self.say(exchanged)?;
                self.was_as_before()
            }
        }
    }

    /// Gives the new content a second name, `displaced`, which then changes places with what is at the path.
    fn second_name(&self) -> Result<()> {
        let root = self.root;
        match self.try_second_name() {
            // Of an earlier try.
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {
                root.remove_if_there(Step::Publish, &self.displaced)?;
                self.try_second_name()
            }
            result => result,
        }
    }

    fn try_second_name(&self) -> Result<()> {
        let root = self.root;
        let Some(staged) = &self.staged else {
            let Final::Symlink { target } = &self.change.after else {
                unreachable!("only symlinks are not staged")
            };
            return self.say(root.storage.make_symlink(target, &self.displaced));
        };
        match root.storage.link(staged, &self.displaced) {
            // No hard links here: a copy, then.
            Err(error) if is_no_link(&error) => {
                let Final::File { mode, .. } = &self.change.after else {
                    unreachable!("staged content is a file's")
                };
                // Under the name of what was displaced there is never half a file.
                let copy = root.in_home(COPY);
                root.remove_if_there(Step::Publish, &copy)?;
                copy_aside(root, staged, &copy, *mode)?;
                root.rename(Step::Publish, &copy, &self.displaced, Rename::Replace)
            }
            result => self.say(result),
        }
    }

    fn place_new(&self) -> Result<bool> {
        let (root, path) = (self.root, &self.change.path);
        match root.storage.rename(&self.displaced, path, Rename::NoReplace) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                root.remove_if_there(Step::Publish, &self.displaced)?;
                Ok(false)
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                if root.stat(path)?.is_some() {
                    return Ok(false);
                }
                self.say(root.storage.rename(&self.displaced, path, Rename::Replace)).map(|()| true)
            }
            result => self.say(result).map(|()| true),
        }
    }

    /// Moves what is at the path out of the way, if it is what was there before.
    fn displace(&self) -> Result<bool> {
        let root = self.root;
        root.remove_if_there(Step::Publish, &self.displaced)?;
        self.say(root.storage.rename(&self.change.path, &self.displaced, Rename::Replace))?;
        self.was_as_before()
    }

    /// Looks at what was just displaced; a person's content goes back.
    fn was_as_before(&self) -> Result<bool> {
        if self.root.see(&self.displaced)? == self.change.before || Step::CheckDisplaced.is_left_out() {
            return Ok(true);
        }
        self.swap_back()?;
        Ok(false)
    }

    /// Puts what was displaced back to its path.
    fn swap_back(&self) -> Result<()> {
        let (root, path) = (self.root, &self.change.path);
        let how = if root.stat(path)?.is_some() { Rename::Exchange } else { Rename::NoReplace };
        match root.storage.rename(&self.displaced, path, how) {
            Err(error) if error.kind() == ErrorKind::Unsupported && how == Rename::NoReplace => {
                self.say(root.storage.rename(&self.displaced, path, Rename::Replace))
            }
            result => self.say(result),
        }
    }

    /// Keeps our content where a person finds it, and what of theirs was displaced and could not go back.
    fn keep(&self) -> Result<Kept> {
        let root = self.root;
        let mut kept = Kept { path: root.show(&self.change.path), aside: None };
        let staged = self.staged.as_ref().filter(|staged| matches!(root.stat(staged), Ok(Some(_))));
        let displaced_id = root.stat(&self.displaced)?.map(|stat| stat.id);
        let staged_id = staged.map(|staged| root.stat(staged)).transpose()?.flatten().map(|stat| stat.id);
        let theirs = displaced_id.is_some() && displaced_id != staged_id && {
            let displaced = root.see(&self.displaced)?;
            displaced != self.change.before && !self.change.after.is(&displaced)
        };
        if staged.is_none() && !theirs {
            return Ok(kept);
        }
        let folder = root.in_home(KEPT);
        root.make_folders(Step::Keep, &folder, OUR_FOLDER_MODE)?;
        if let Some(staged) = staged {
            root.rename(Step::Keep, staged, &self.aside, Rename::Replace)?;
            kept.aside = Some(root.show(&self.aside));
        }
        if theirs {
            let mut name = self.aside.name().expect("it has a name").to_owned();
            name.push(".theirs");
            root.rename(Step::Keep, &self.displaced, &folder.join(name), Rename::Replace)?;
        }
        root.sync_folder(Step::SyncKept, &folder)?;
        root.sync_folder(Step::SyncKept, &root.home)?;
        Ok(kept)
    }

    fn say<T>(&self, result: std::io::Result<T>) -> Result<T> {
        self.root.name(Step::Publish, &self.change.path, result)
    }
}

/// Copies a staged file with its attributes, synced.
fn copy_aside(root: &Root, staged: &RelPath, copy: &RelPath, mode: u32) -> Result<()> {
    let source = root.open(Step::Publish, staged, Open::Read)?;
    let len = root.name(Step::Publish, staged, source.stat())?.len;
    let target = root.open(Step::Publish, copy, Open::Create { mode: OUR_FILE_MODE })?;
    root.name(Step::Publish, copy, copy_range(&*source, &*target, len, &mut blake3::Hasher::new()))?;
    root.name(Step::Publish, copy, root.storage.copy_attributes(staged, copy))?;
    root.name(Step::Publish, copy, root.storage.set_mode(copy, mode))?;
    root.sync_all(Step::SyncPublished, copy, &*target)
}

/// Whether an error says that the way to the path is not what it was.
fn is_no_way(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) || is_through_symlink(error)
}

/// Whether an error says that files cannot have a second name here.
fn is_no_link(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied)
}

/// The folders in which names change.
fn parents(record: &Record) -> BTreeSet<(usize, RelPath)> {
    let parent_of = |change: &Change| change.path.parent().expect("a change is below the root");
    record.changes.iter().map(|change| (change.root, parent_of(change))).collect()
}

/// Makes all names that changed durable, but for those in roots that are watched.
fn sync_parents(
    roots: &[Root],
    parents: BTreeSet<(usize, RelPath)>,
    watches: &BTreeMap<usize, Box<dyn Watch>>,
) -> Result<()> {
    let mut folders = BTreeSet::new();
    for (index, mut parent) in parents.into_iter().filter(|(root, _)| !watches.contains_key(root)) {
        let root = &roots[index];
        while !parent.is_root()
            && !matches!(root.storage.stat(&parent), Ok(Some(stat)) if stat.kind == Kind::Folder)
        {
            parent = parent.parent().expect("the root exists");
        }
        folders.insert((index, parent));
    }
    let folders: Vec<_> = folders.into_iter().collect();
    in_parallel(&folders, |(root, folder)| roots[*root].sync_folder(Step::SyncParent, folder))
}

/// Removes what a finished transaction left in the staging folders; what cannot be removed is removed at the next open.
pub(crate) fn tidy(roots: &[Root], record: &Record) {
    for job in jobs(roots, record) {
        if job.change.before != Seen::Absent {
            let _ = job.root.remove_if_there(Step::CleanUp, &job.displaced);
        }
        if let Some(staged) = &job.staged {
            let _ = job.root.remove_if_there(Step::CleanUp, staged);
        }
    }
}
