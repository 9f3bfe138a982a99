//! What an actor changed in its sandbox.
//!
//! A [`Manifest`] is taken when the sandbox is ready. Later, a file whose inode, length, mode and time of last change are as they were is
//! unchanged, and is not read: the time of last change (`ctime`) cannot be set back. Everything else is hashed and compared.
//!
//! Times have a grain. A file that was changed so shortly before the manifest that a change right after it could carry the same time
//! is *racy*, as in git's index, and is always hashed.
//!
//! Folders count only by what is in them. `.git` is the actor's own, and nothing in it is a change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

use filetx::{FileId, FileKind, Hash, RelPath};
use rustix::time::{ClockId, clock_getres};

use super::{FileError, Survey, Surveyed};
use crate::{Error, Result};

/// How much earlier than now a change may be dated, in ticks of the clock that files are dated by. One would do where the kernel dates them.
const GRAIN_TICKS: u32 = 2;
/// The same where times have no fractions of a second, or only hundredths: some file systems do not keep more.
const WHOLE_SECONDS_GRAIN: Duration = Duration::from_secs(2);
const HUNDREDTHS_GRAIN: Duration = Duration::from_millis(20);

/// The most threads that read at once.
const THREADS_MAX: usize = 8;
/// The most paths that one actor may change: each takes some KiB of memory until the run has ended.
pub const CHANGES_MAX: usize = 200_000;

/// What a sandbox held when it was ready.
#[derive(Clone, Debug, Default)]
pub struct Manifest(BTreeMap<RelPath, Known>);

#[derive(Clone, Debug)]
struct Known {
    state: State,
    id: FileId,
    changed_ns: i128,
    is_racy: bool,
}

/// A file or symlink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Which of the two.
    pub kind: FileKind,
    /// Permission bits; 0777 for a symlink.
    pub mode: u32,
    /// Bytes of content or target.
    pub bytes: u64,
    /// The hash of content or target.
    pub hash: Hash,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The path; of a rename, the old one.
    pub path: RelPath,
    /// What happened to it.
    pub what: What,
}

/// What happened to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It is new.
    Create(State),
    /// It has other content, or became a symlink or a file; the mode may have changed as well.
    Modify {
        /// What it was.
        before: State,
        /// What it is.
        after: State,
    },
    /// Only its permission bits are others.
    Mode {
        /// What it was.
        before: State,
        /// What it is.
        after: State,
    },
    /// It is gone.
    Delete(State),
    /// It is gone, and something with its content and mode is new.
    Rename {
        /// The new path.
        to: RelPath,
        /// The content.
        state: State,
    },
}

/// All that an actor changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// By path.
    pub edits: Vec<Edit>,
    /// FIFOs, sockets and devices that it made: no change can hold them.
    pub special: Vec<RelPath>,
    /// How many files were read.
    pub hashed: usize,
}

impl Manifest {
    /// Looks through a sandbox's tree and reads all of it.
    pub fn take(tree: &Path) -> Result<Manifest> {
        Self::take_copy(tree, &Manifest::default(), &BTreeSet::new())
    }

    /// The same for a copy of a tree whose manifest is known, but for paths that were changed since it was copied: only these, and what the
    /// original does not have, are read.
    pub fn take_copy(tree: &Path, original: &Manifest, changed: &BTreeSet<RelPath>) -> Result<Manifest> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let looking = Looking::at(tree)?;
        let entries = looking.entries()?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let share = entries.len().div_ceil(threads).max(1);
        let known: Result<Vec<_>> = std::thread::scope(|scope| {
            let looking = &looking;
            let known = move |share| looking.known(share, now, original, changed);
            let shares = entries.chunks(share).map(|share| scope.spawn(move || known(share)));
            let threads: Vec<_> = shares.collect();
            threads.into_iter().map(|thread| thread.join().expect("reading does not panic")).collect()
        });
        Ok(Self(known?.into_iter().flatten().collect()))
    }

    /// Nobody has changed the tree since the manifest was taken, and whoever changes it begins now: times from before the grain of the
    /// clock tell.
    #[must_use]
    pub fn settled(mut self) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let tick = tick();
        self.0.values_mut().for_each(|known| known.is_racy = is_racy(known.changed_ns, now, tick));
        self
    }

    /// What was at a path.
    pub fn get(&self, path: &RelPath) -> Option<&State> {
        self.0.get(path).map(|known| &known.state)
    }

    /// The paths that were touched since, as far as that is seen without reading: of what was removed nothing is said.
    pub fn touched(&self, tree: &Path) -> Result<Vec<RelPath>> {
        let looking = Looking::at(tree)?;
        let is_touched = |entry: &Surveyed| {
            matches!(entry.kind, FileKind::File | FileKind::Symlink)
                && self
                    .0
                    .get(&entry.path)
                    .is_none_or(|known| (known.id, known.changed_ns) != (entry.id, entry.changed_ns))
        };
        let touched = looking.entries()?.into_iter().filter(is_touched);
        Ok(touched.map(|entry| entry.path).collect())
    }

    /// What is different in the tree now; an error when that is more than [`CHANGES_MAX`] paths.
    pub fn changes(&self, tree: &Path) -> Result<Changes> {
        self.changes_within(CHANGES_MAX, tree)
    }

    fn changes_within(&self, limit: usize, tree: &Path) -> Result<Changes> {
        let bounded = |count| if count > limit { Err(Error::TooManyChanges { limit }) } else { Ok(()) };
        let looking = Looking::at(tree)?;
        let mut changes = Changes::default();
        let mut missing = self.0.clone();
        let mut created = Vec::new();
        for entry in looking.entries()? {
            let known = missing.remove(&entry.path);
            if known.as_ref().is_some_and(|known| known.is_still(&entry)) {
                continue;
            }
            bounded(created.len() + changes.edits.len())?;
            changes.hashed += usize::from(entry.kind == FileKind::File);
            match (known, looking.state(&entry)?) {
                (known, None) => {
                    changes.special.extend((entry.kind == FileKind::Other).then(|| entry.path.clone()));
                    changes.edits.extend(
                        known.map(|known| Edit { path: entry.path, what: What::Delete(known.state) }),
                    );
                }
                (None, Some(state)) => created.push((entry.path, state)),
                (Some(known), Some(after)) => {
                    changes
                        .edits
                        .extend(difference(known.state, after).map(|what| Edit { path: entry.path, what }));
                }
            }
        }
        bounded(created.len() + changes.edits.len() + missing.len())?;
        let deleted = missing.into_iter().map(|(path, known)| (path, known.state)).collect();
        changes.edits.extend(pair_renames(deleted, created));
        changes.edits.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(changes)
    }
}

impl Known {
    /// Whether it is sure without reading that nothing changed.
    fn is_still(&self, entry: &Surveyed) -> bool {
        !self.is_racy
            && self.id == entry.id
            && self.changed_ns == entry.changed_ns
            && (self.state.kind, self.state.bytes) == (entry.kind, entry.len)
    }
}

/// How long the clock that files are dated by stands still.
fn tick() -> Duration {
    let tick = clock_getres(ClockId::RealtimeCoarse);
    Duration::new(tick.tv_sec as u64, tick.tv_nsec as u32)
}

/// Whether a change made right after `now` could be dated like this.
fn is_racy(changed_ns: i128, now: Duration, tick: Duration) -> bool {
    let grain = match changed_ns {
        whole if whole % 1_000_000_000 == 0 => WHOLE_SECONDS_GRAIN,
        hundredths if hundredths % 10_000_000 == 0 => HUNDREDTHS_GRAIN,
        _ => tick * GRAIN_TICKS,
    };
    changed_ns >= now.as_nanos() as i128 - grain.as_nanos() as i128
}

fn difference(before: State, after: State) -> Option<What> {
    match before == after {
        true => None,
        false if (before.kind, before.hash) == (after.kind, after.hash) => Some(What::Mode { before, after }),
        false => Some(What::Modify { before, after }),
    }
}

/// What is gone and what is new, with pairs of the same content as renames: those that keep their last name first, then by path. Empty
/// files are alike by chance and are never paired.
fn pair_renames(mut deleted: Vec<(RelPath, State)>, mut created: Vec<(RelPath, State)>) -> Vec<Edit> {
    let mut edits = Vec::new();
    for same_name in [true, false] {
        let mut by_content: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let key = |path: &RelPath, state: &State| {
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
                let what = What::Rename { to: to.clone(), state: *state };
                edits.push(Edit { path: deleted[from].0.clone(), what });
            }
            from.is_none()
        });
        let mut paired = paired.into_iter();
        deleted.retain(|_| paired.next() == Some(false));
    }
    edits.extend(deleted.into_iter().map(|(path, state)| Edit { path, what: What::Delete(state) }));
    edits.extend(created.into_iter().map(|(path, state)| Edit { path, what: What::Create(state) }));
    edits
}

/// A tree that is looked through.
struct Looking<'a> {
    tree: &'a Path,
    survey: Survey,
}

impl<'a> Looking<'a> {
    fn at(tree: &'a Path) -> Result<Self> {
        let survey = Survey::open(tree).map_err(|source| failed(tree, source))?;
        Ok(Self { tree, survey })
    }

    fn entries(&self) -> Result<Vec<Surveyed>> {
        let skip = |path: &RelPath| path.name().is_some_and(|name| name == ".git");
        self.survey.entries(&skip).map_err(|source| failed(self.tree, source))
    }

    /// What the files and symlinks among these hold.
    fn known(
        &self,
        entries: &[Surveyed],
        now: Duration,
        original: &Manifest,
        changed: &BTreeSet<RelPath>,
    ) -> Result<Vec<(RelPath, Known)>> {
        let (mut known, tick) = (Vec::with_capacity(entries.len()), tick());
        for entry in entries {
            let copied = original.get(&entry.path).filter(|state| {
                (state.kind, state.bytes) == (entry.kind, entry.len) && !changed.contains(&entry.path)
            });
            let state = match copied {
                Some(state) if state.kind == FileKind::File => Some(State { mode: entry.mode, ..*state }),
                _ => self.state(entry)?,
            };
            if let Some(state) = state {
                let (id, changed_ns) = (entry.id, entry.changed_ns);
                let is_racy = is_racy(changed_ns, now, tick);
                known.push((entry.path.clone(), Known { state, id, changed_ns, is_racy }));
            }
        }
        Ok(known)
    }

    /// What a file or symlink holds; nothing for anything else.
    fn state(&self, entry: &Surveyed) -> Result<Option<State>> {
        let (mode, hash) = match entry.kind {
            FileKind::File => (entry.mode, self.survey.hash(&entry.path)),
            FileKind::Symlink => (0o777, self.survey.hash_of_symlink(&entry.path)),
            FileKind::Folder | FileKind::Other => return Ok(None),
        };
        let hash = hash.map_err(|source| failed(self.tree, source))?;
        Ok(Some(State { kind: entry.kind, mode, bytes: entry.len, hash }))
    }
}

fn failed(tree: &Path, source: FileError) -> Error {
    Error::Files { doing: "look through", folder: tree.to_owned(), source: Box::new(source) }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays an actor that edits files")]
mod tests {
    use super::*;
    use std::fs;

    /// A change that carries the same time, length and inode as what the manifest saw is found when the file was racy. The control is a
    /// manifest that takes the time at its word: it misses the change.
    #[test]
    fn a_change_within_the_grain_of_the_clock_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "one").unwrap();
        let mut manifest = Manifest::take(folder.path()).unwrap();
        let path = RelPath::new("file").unwrap();
        assert!(manifest.0[&path].is_racy, "it was written just now");
        fs::write(&file, "two").unwrap();
        // As if the clock had not moved between the two.
        let later = Manifest::take(folder.path()).unwrap().0[&path].changed_ns;
        manifest.0.get_mut(&path).unwrap().changed_ns = later;
        let found = |manifest: &Manifest| manifest.changes(folder.path()).unwrap().edits.len();
        assert_eq!(found(&manifest), 1);
        manifest.0.get_mut(&path).unwrap().is_racy = false;
        assert_eq!(found(&manifest), 0, "the control");
    }

    #[test]
    fn more_changes_than_are_recorded_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = |count: usize| {
            (0..count).for_each(|number| fs::write(folder.path().join(number.to_string()), "old").unwrap());
            Manifest::take(folder.path()).unwrap()
        };
        let found = |manifest: &Manifest| manifest.changes_within(3, folder.path());
        let (three, four) = (manifest(3), manifest(4));
        let error = found(&Manifest::default()).unwrap_err();
        assert_eq!(error.to_string(), "it changed more than 3 paths, the most that are recorded of one node");
        assert_eq!(found(&three).unwrap().edits.len(), 1);
        (0..4).for_each(|number| fs::remove_file(folder.path().join(number.to_string())).unwrap());
        assert_eq!(found(&three).unwrap().edits.len(), 3);
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
