//! Finds the changes that an actor made in its sandbox.
//!
//! A [`Manifest`] describes the tree before the actor starts. Later, a file with the same inode, length,
//! mode and change time (`ctime`) is unchanged and not read: programs cannot set `ctime`. All other files
//! are hashed and compared.
//!
//! Timestamps have a granularity. A file changed so shortly before the manifest that a change right after
//! it could have the same `ctime` is *racy*, as in git's index, and always hashed.
//!
//! Folders count only by their content. Changes in `.git` are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

use filetx::{FileId, FileKind, Hash, RelPath};
use rustix::time::{ClockId, clock_getres};

use super::{FileError, ReadLimits, TreeEntry, TreeReader};
use crate::{Error, Result};

/// Granularity of timestamps, in ticks of the kernel's coarse clock. One would suffice for local files.
const GRAIN_TICKS: u32 = 2;
/// Granularity on file systems that store whole seconds, or hundredths.
const WHOLE_SECONDS_GRAIN: Duration = Duration::from_secs(2);
const HUNDREDTHS_GRAIN: Duration = Duration::from_millis(20);

/// The most threads of a scan.
const THREADS_MAX: usize = 8;
/// The most paths that one actor may change: each takes some KiB of memory until the run ends.
pub const CHANGES_MAX: usize = 200_000;

/// The state of a sandbox before its actor starts.
#[derive(Clone, Debug, Default)]
pub struct Manifest(BTreeMap<RelPath, ManifestEntry>);

#[derive(Clone, Debug)]
struct ManifestEntry {
    state: FileState,
    id: FileId,
    changed_ns: i128,
    is_racy: bool,
}

/// The state of a file or symlink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState {
    /// File or symlink.
    pub kind: FileKind,
    /// Permission bits; 0777 for a symlink.
    pub mode: u32,
    /// Length of content or target, in bytes.
    pub bytes: u64,
    /// Hash of content or target.
    pub hash: Hash,
}

/// A change of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeChange {
    /// The path; of a rename, the old path.
    pub path: RelPath,
    /// The kind of change.
    pub kind: TreeChangeKind,
}

/// The kind of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeChangeKind {
    /// A new path.
    Create(FileState),
    /// Other content, or another kind of file; perhaps another mode too.
    Modify {
        /// FileState in the manifest.
        before: FileState,
        /// Present state.
        after: FileState,
    },
    /// Other permission bits only.
    Mode {
        /// FileState in the manifest.
        before: FileState,
        /// Present state.
        after: FileState,
    },
    /// A removed path.
    Delete(FileState),
    /// A removed path, and a new one with the same content and mode.
    Rename {
        /// The new path.
        to: RelPath,
        /// FileState of both.
        state: FileState,
    },
}

/// All changes of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeChanges {
    /// Sorted by path.
    pub changes: Vec<TreeChange>,
    /// New FIFOs, sockets and devices, which cannot be recorded.
    pub special_files: Vec<RelPath>,
    /// Number of files read.
    pub files_hashed: usize,
}

impl Manifest {
    /// Scans a tree and hashes all files.
    pub fn scan(tree: &Path) -> Result<Manifest> {
        Self::scan_within(tree, ReadLimits::NONE)
    }

    /// Scans a tree and hashes all files, within limits.
    pub fn scan_within(tree: &Path, limits: ReadLimits<'_>) -> Result<Manifest> {
        Self::scan_copy(tree, &Manifest::default(), &BTreeSet::new(), limits)
    }

    /// Scans a copy of a tree. Hashes only the `changed` paths, and paths that the manifest of the
    /// original does not have.
    pub fn scan_copy(
        tree: &Path,
        original: &Manifest,
        changed: &BTreeSet<RelPath>,
        limits: ReadLimits<'_>,
    ) -> Result<Manifest> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let scan = Scan::open(tree, limits)?;
        let entries = scan.entries()?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let share = entries.len().div_ceil(threads).max(1);
        let entries: Result<Vec<_>> = std::thread::scope(|scope| {
            let scan = &scan;
            let read = move |share| scan.manifest_entries(share, now, original, changed);
            let shares = entries.chunks(share).map(|share| scope.spawn(move || read(share)));
            let threads: Vec<_> = shares.collect();
            threads.into_iter().map(|thread| thread.join().expect("reading does not panic")).collect()
        });
        Ok(Self(entries?.into_iter().flatten().collect()))
    }

    /// Rates raciness by the present time. Valid if the tree has not changed since the scan: then only
    /// files changed within the granularity before now are racy.
    #[must_use]
    pub fn rated_now(mut self) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let tick = tick();
        self.0.values_mut().for_each(|entry| entry.is_racy = is_racy(entry.changed_ns, now, tick));
        self
    }

    /// The state of a path.
    pub fn get(&self, path: &RelPath) -> Option<&FileState> {
        self.0.get(path).map(|entry| &entry.state)
    }

    /// The paths created or modified since, judged by `ctime` alone. Does not report removed paths.
    pub fn modified_paths(&self, tree: &Path) -> Result<Vec<RelPath>> {
        let scan = Scan::open(tree, ReadLimits::NONE)?;
        let is_modified = |entry: &TreeEntry| {
            matches!(entry.kind, FileKind::File | FileKind::Symlink)
                && self
                    .0
                    .get(&entry.path)
                    .is_none_or(|before| (before.id, before.changed_ns) != (entry.id, entry.changed_ns))
        };
        let modified = scan.entries()?.into_iter().filter(is_modified);
        Ok(modified.map(|entry| entry.path).collect())
    }

    /// The changes of the tree since the scan. Fails if there are more than [`CHANGES_MAX`].
    pub fn changes(&self, tree: &Path) -> Result<TreeChanges> {
        self.changes_within(tree, ReadLimits::NONE)
    }

    /// Like [`changes`](Self::changes), within limits of reading.
    pub fn changes_within(&self, tree: &Path, limits: ReadLimits<'_>) -> Result<TreeChanges> {
        self.changes_up_to(CHANGES_MAX, tree, limits)
    }

    fn changes_up_to(&self, limit: usize, tree: &Path, limits: ReadLimits<'_>) -> Result<TreeChanges> {
        let bounded = |count| if count > limit { Err(Error::TooManyChanges { limit }) } else { Ok(()) };
        let scan = Scan::open(tree, limits)?;
        let mut changes = TreeChanges::default();
        let mut missing = self.0.clone();
        let mut created = Vec::new();
        for entry in scan.entries()? {
            let before = missing.remove(&entry.path);
            if before.as_ref().is_some_and(|before| before.is_unchanged(&entry)) {
                continue;
            }
            bounded(created.len() + changes.changes.len())?;
            changes.files_hashed += usize::from(entry.kind == FileKind::File);
            match (before, scan.state(&entry)?) {
                (before, None) => {
                    changes.special_files.extend((entry.kind == FileKind::Other).then(|| entry.path.clone()));
                    changes.changes.extend(before.map(|before| TreeChange {
                        path: entry.path,
                        kind: TreeChangeKind::Delete(before.state),
                    }));
                }
                (None, Some(state)) => created.push((entry.path, state)),
                (Some(before), Some(after)) => {
                    changes.changes.extend(
                        difference(before.state, after).map(|kind| TreeChange { path: entry.path, kind }),
                    );
                }
            }
        }
        bounded(created.len() + changes.changes.len() + missing.len())?;
        let deleted = missing.into_iter().map(|(path, entry)| (path, entry.state)).collect();
        changes.changes.extend(pair_renames(deleted, created));
        changes.changes.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(changes)
    }
}

impl ManifestEntry {
    /// Returns true if the file is unchanged for sure, without reading it.
    fn is_unchanged(&self, entry: &TreeEntry) -> bool {
        !self.is_racy
            && self.id == entry.id
            && self.changed_ns == entry.changed_ns
            && (self.state.kind, self.state.bytes) == (entry.kind, entry.len)
    }
}

/// The tick of the clock for timestamps of files.
fn tick() -> Duration {
    let tick = clock_getres(ClockId::RealtimeCoarse);
    Duration::new(tick.tv_sec as u64, tick.tv_nsec as u32)
}

/// Returns true if a change right after `now` could have this timestamp.
fn is_racy(changed_ns: i128, now: Duration, tick: Duration) -> bool {
    let grain = match changed_ns {
        whole if whole % 1_000_000_000 == 0 => WHOLE_SECONDS_GRAIN,
        hundredths if hundredths % 10_000_000 == 0 => HUNDREDTHS_GRAIN,
        _ => tick * GRAIN_TICKS,
    };
    changed_ns >= now.as_nanos() as i128 - grain.as_nanos() as i128
}

/// Permissions of owner, group and others. Setuid, setgid and the sticky bit of files in a sandbox are
/// not recorded: a plan has them only if `agents changeset record --mode` asks for them.
pub(crate) const PERMISSIONS: u32 = 0o777;

fn difference(before: FileState, after: FileState) -> Option<TreeChangeKind> {
    let has_same_mode = (before.mode ^ after.mode) & PERMISSIONS == 0;
    match (before.kind, before.hash) == (after.kind, after.hash) {
        true if has_same_mode => None,
        true => Some(TreeChangeKind::Mode { before, after }),
        false => Some(TreeChangeKind::Modify { before, after }),
    }
}

/// Pairs deleted and created paths of the same content as renames: first those with the same file name,
/// then by path. Never pairs empty files, which are equal by chance.
fn pair_renames(
    mut deleted: Vec<(RelPath, FileState)>,
    mut created: Vec<(RelPath, FileState)>,
) -> Vec<TreeChange> {
    let mut changes = Vec::new();
    for same_name in [true, false] {
        let mut by_content: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let key = |path: &RelPath, state: &FileState| {
            let name = path.name().filter(|_| same_name).map(ToOwned::to_owned);
            (name, state.hash, state.mode, state.kind == FileKind::File)
        };
        for (at, (path, state)) in deleted.iter().enumerate().rev() {
            by_content.entry(key(path, state)).or_default().push(at);
        }
        let mut paired = vec![false; deleted.len()];
        created.retain(|(to, state)| {
            let from = by_content.get_mut(&key(to, state)).filter(|_| state.bytes > 0).and_then(Vec::pop);
            if let Some(from) = from {
                paired[from] = true;
                let kind = TreeChangeKind::Rename { to: to.clone(), state: *state };
                changes.push(TreeChange { path: deleted[from].0.clone(), kind });
            }
            from.is_none()
        });
        let mut paired = paired.into_iter();
        deleted.retain(|_| paired.next() == Some(false));
    }
    let change = |path, kind| TreeChange { path, kind };
    changes.extend(deleted.into_iter().map(|(path, state)| change(path, TreeChangeKind::Delete(state))));
    changes.extend(created.into_iter().map(|(path, state)| change(path, TreeChangeKind::Create(state))));
    changes
}

/// A scan of a tree.
struct Scan<'a> {
    tree: &'a Path,
    reader: TreeReader<'a>,
}

impl<'a> Scan<'a> {
    fn open(tree: &'a Path, limits: ReadLimits<'a>) -> Result<Self> {
        let reader = TreeReader::open_within(tree, limits).map_err(|source| failed(tree, source))?;
        Ok(Self { tree, reader })
    }

    fn entries(&self) -> Result<Vec<TreeEntry>> {
        let skip = |path: &RelPath| path.name().is_some_and(|name| name == ".git");
        self.reader.entries(&skip).map_err(|source| failed(self.tree, source))
    }

    /// The states of the files and symlinks among these entries.
    fn manifest_entries(
        &self,
        entries: &[TreeEntry],
        now: Duration,
        original: &Manifest,
        changed: &BTreeSet<RelPath>,
    ) -> Result<Vec<(RelPath, ManifestEntry)>> {
        let (mut found, tick) = (Vec::with_capacity(entries.len()), tick());
        for entry in entries {
            let copied = original.get(&entry.path).filter(|state| {
                (state.kind, state.bytes) == (entry.kind, entry.len) && !changed.contains(&entry.path)
            });
            let state = match copied {
                Some(state) if state.kind == FileKind::File => Some(FileState { mode: entry.mode, ..*state }),
                _ => self.state(entry)?,
            };
            if let Some(state) = state {
                let (id, changed_ns) = (entry.id, entry.changed_ns);
                let is_racy = is_racy(changed_ns, now, tick);
                found.push((entry.path.clone(), ManifestEntry { state, id, changed_ns, is_racy }));
            }
        }
        Ok(found)
    }

    /// The state of a file or symlink; none of other entries.
    fn state(&self, entry: &TreeEntry) -> Result<Option<FileState>> {
        let (mode, hash) = match entry.kind {
            FileKind::File => (entry.mode, self.reader.hash(&entry.path)),
            FileKind::Symlink => (0o777, self.reader.hash_of_symlink(&entry.path)),
            FileKind::Folder | FileKind::Other => return Ok(None),
        };
        let hash = hash.map_err(|source| failed(self.tree, source))?;
        Ok(Some(FileState { kind: entry.kind, mode, bytes: entry.len, hash }))
    }
}

fn failed(tree: &Path, source: FileError) -> Error {
    Error::Sandbox { action: "read", folder: tree.to_owned(), source: Box::new(source) }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays an actor that edits files")]
mod tests {
    use super::*;
    use std::fs;

    /// A change with the time, length and inode of the manifest is found if the file was racy. The
    /// control is a manifest that trusts the time: it misses the change.
    #[test]
    fn a_change_within_the_granularity_of_timestamps_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "one").unwrap();
        let mut manifest = Manifest::scan(folder.path()).unwrap();
        let path = RelPath::new("file").unwrap();
        assert!(manifest.0[&path].is_racy, "it was written just now");
        fs::write(&file, "two").unwrap();
        // As if the clock had not moved between the two.
        let later = Manifest::scan(folder.path()).unwrap().0[&path].changed_ns;
        manifest.0.get_mut(&path).unwrap().changed_ns = later;
        let found = |manifest: &Manifest| manifest.changes(folder.path()).unwrap().changes.len();
        assert_eq!(found(&manifest), 1);
        manifest.0.get_mut(&path).unwrap().is_racy = false;
        assert_eq!(found(&manifest), 0, "the control");
    }

    #[test]
    fn too_many_changes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = |count: usize| {
            (0..count).for_each(|number| fs::write(folder.path().join(number.to_string()), "old").unwrap());
            Manifest::scan(folder.path()).unwrap()
        };
        let found = |manifest: &Manifest| manifest.changes_up_to(3, folder.path(), ReadLimits::NONE);
        let (three, four) = (manifest(3), manifest(4));
        let error = found(&Manifest::default()).unwrap_err();
        assert_eq!(error.to_string(), "it changed more than 3 paths, the limit of one node");
        assert_eq!(found(&three).unwrap().changes.len(), 1);
        (0..4).for_each(|number| fs::remove_file(folder.path().join(number.to_string())).unwrap());
        assert_eq!(found(&three).unwrap().changes.len(), 3);
        let error = found(&four).unwrap_err();
        assert!(matches!(error, Error::TooManyChanges { .. }), "{error}");
    }

    #[test]
    fn only_recent_changes_are_racy() {
        let now = Duration::from_millis(10_000);
        let racy =
            |millis: i128, nanos: i128| is_racy(millis * 1_000_000 + nanos, now, Duration::from_millis(4));
        assert!(racy(9_992, 1) && racy(10_000, 1) && racy(11_000, 1));
        assert!(!racy(9_991, 1));
        assert!(racy(9_980, 0) && !racy(9_970, 0), "times in hundredths of a second");
        assert!((1..=10).contains(&tick().as_millis()), "kernels tick between 100 and 1000 times a second");
        assert!(racy(9_000, 0) && racy(8_000, 0), "times without fractions");
        assert!(!racy(7_000, 0));
    }
}
