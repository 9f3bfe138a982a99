//! Noticing changes, whoever makes them: this program, another one, a person with an editor.
//!
//! The system tells when something happens to a folder; what it means is found by reading the files again and comparing. So it does not
//! matter how a file was saved (in place, by rename, through a symlink), and several events at once are one look. What is watched is every
//! folder on the way to a file, up to the root, as any of them may be made, moved or replaced later. The folders are watched before
//! the files are read, so nothing falls in between.
//!
//! Not noticed: a value that was there between two looks only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use serde::Serialize;

use crate::{ConfigService, Error, Key, Origin, Reveal, Scope, Value};

/// How often the files are read although nothing was reported: network file systems tell nothing of what others do.
const RECHECK: Duration = Duration::from_secs(2);
/// How long it must be quiet before the files are read, unless the last event says that a save is over: an editor may have moved the old
/// file away and not yet written the new one.
const SETTLE: Duration = Duration::from_millis(50);
/// How long at most to wait for quiet.
const SETTLE_MAX: Duration = Duration::from_millis(200);
/// How many symlinks are followed on the way to a file: as many as Linux follows.
const LINKS_MAX: usize = 40;

/// Changes of configuration, as they happen. Made by [`ConfigService::watch`]; dropping it ends it.
pub struct Watch {
    service: ConfigService,
    prefix: Option<Key>,
    watcher: RecommendedWatcher,
    ways: Arc<Mutex<Ways>>,
    signals: Receiver<()>,
    stopper: Stopper,
    recheck: Duration,
    seen: BTreeMap<Key, Held>,
    told: BTreeSet<String>,
    /// Whether the system has refused to watch more.
    is_limited: bool,
    /// What was noticed before anybody asked.
    waiting: Vec<Noticed>,
}

/// Ends a [`Watch`] from another thread.
#[derive(Clone)]
pub struct Stopper {
    is_stopped: Arc<AtomicBool>,
    wake: SyncSender<()>,
}

/// Something that a [`Watch`] noticed.
#[derive(Debug)]
pub enum Noticed {
    /// A key has another value, or has it from another layer.
    Changed(Changed),
    /// A file or a value cannot be used. What was known before it counts until it can be used again.
    Problem(Error),
}

/// A key that changed.
#[derive(Serialize)]
pub struct Changed {
    /// The key.
    pub key: Key,
    /// What it was, if it had a value.
    pub old: Option<Held>,
    /// What it is, if it has a value.
    pub new: Option<Held>,
    /// Whether it is hidden from people.
    #[serde(rename = "secret")]
    pub is_secret: bool,
}

/// A value, and where it stands.
#[derive(Clone, Serialize)]
pub struct Held {
    /// The value. It may be secret: see [`Changed::for_people`].
    pub value: Value,
    /// Where it stands.
    pub origin: Origin,
}

impl Changed {
    /// The same with values as people may see them.
    pub fn for_people(self) -> Changed {
        let shown = |held: Held| Held { value: held.value.for_people(self.is_secret, Reveal::No), ..held };
        Changed { old: self.old.map(shown), new: self.new.map(shown), ..self }
    }
}

impl ConfigService {
    /// Watches all keys, or those below `prefix`, from now on.
    ///
    /// Safe to call from any thread and process at any time: it takes no lock and writes nothing. The watch has a thread of its own that
    /// ends with it.
    pub fn watch(&self, prefix: Option<&Key>) -> Result<Watch, Error> {
        let ways = Arc::new(Mutex::new(Ways::default()));
        // One signal says it all: whoever takes it looks at everything that happened before.
        let (wake, signals) = sync_channel(1);
        let (known, handler) = (Arc::clone(&ways), wake.clone());
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.map_or(true, |event| lock(&known).take_note(&event)) {
                let _ = handler.try_send(());
            }
        });
        let watcher = watcher.map_err(|source| Error::Watch { source: Arc::new(source) })?;
        let mut watch = Watch {
            service: self.clone(),
            prefix: prefix.cloned(),
            watcher,
            ways,
            signals,
            stopper: Stopper { is_stopped: Arc::default(), wake },
            recheck: RECHECK,
            seen: BTreeMap::new(),
            told: BTreeSet::new(),
            is_limited: false,
            waiting: Vec::new(),
        };
        watch.follow()?;
        // What holds at the start is no change.
        watch.waiting = watch.look();
        watch.waiting.retain(|noticed| matches!(noticed, Noticed::Problem(_)));
        Ok(watch)
    }
}

impl Watch {
    /// With another time after which the files are read although nothing was reported.
    pub fn with_recheck(self, recheck: Duration) -> Watch {
        Watch { recheck, ..self }
    }

    /// Ends this watch, from another thread.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Waits for changes. `None` when the watch was stopped.
    pub fn wait(&mut self) -> Option<Vec<Noticed>> {
        loop {
            if self.stopper.is_stopped.load(Ordering::Acquire) {
                return None;
            }
            if !self.waiting.is_empty() {
                return Some(std::mem::take(&mut self.waiting));
            }
            if self.signals.recv_timeout(self.recheck) != Err(RecvTimeoutError::Timeout) {
                self.settle();
            }
            let limit = self.follow().err();
            self.waiting = self.look();
            // Told once: the recheck stands in from then on.
            if let Some(error) = limit.filter(|_| !std::mem::replace(&mut self.is_limited, true)) {
                self.waiting.push(Noticed::Problem(error));
            }
        }
    }

    /// Waits until whoever saves has done so, or it is quiet.
    fn settle(&self) {
        let end = Instant::now() + SETTLE_MAX;
        while !lock(&self.ways).is_saved && Instant::now() < end && self.signals.recv_timeout(SETTLE).is_ok()
        {
        }
    }

    /// Watches the folders on the ways to the files as they are now. All of them anew: one with the same name may be another.
    fn follow(&mut self) -> Result<(), Error> {
        let files = Scope::ALL.iter().filter_map(|scope| self.service.file(*scope).ok());
        let ways = Ways::to(files);
        let old = std::mem::replace(&mut *lock(&self.ways), ways.clone());
        for folder in &old.folders {
            let _ = self.watcher.unwatch(folder);
        }
        for folder in &ways.folders {
            match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                // A folder that may not be read, or has just gone: the recheck is for such.
                Err(error) if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) => {
                    return Err(Error::Watch { source: Arc::new(error) });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads the files, and compares with what was seen.
    fn look(&mut self) -> Vec<Noticed> {
        let layers = self.service.layers();
        let is_broken = layers.unusable().next().is_some();
        let listing = layers.list(self.prefix.as_ref());
        let is_unknown = |key: &Key| is_broken || listing.problems.iter().any(|it| it.key() == Some(key));
        let (mut now, mut listed, mut secrets) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        for entry in listing.entries {
            listed.insert(entry.key.clone());
            if entry.is_secret {
                secrets.insert(entry.key.clone());
            }
            if let Some(value) = entry.value {
                now.insert(entry.key, Held { value, origin: entry.origin });
            }
        }
        // What cannot be read has not changed.
        for (key, held) in self.seen.iter().filter(|(key, _)| !listed.contains(*key) && is_unknown(key)) {
            now.insert(key.clone(), held.clone());
        }
        let mut noticed: Vec<Noticed> = changes(&self.seen, &now, &secrets).map(Noticed::Changed).collect();
        self.seen = now;
        self.told.retain(|text| listing.problems.iter().any(|problem| problem.to_string() == *text));
        let problems = listing.problems.into_iter().filter(|problem| self.told.insert(problem.to_string()));
        noticed.extend(problems.map(Noticed::Problem));
        noticed
    }
}

/// Keys whose value or layer differs. The line alone may.
fn changes<'a>(
    old: &'a BTreeMap<Key, Held>,
    new: &'a BTreeMap<Key, Held>,
    secrets: &'a BTreeSet<Key>,
) -> impl Iterator<Item = Changed> + 'a {
    let keys: BTreeSet<&Key> = old.keys().chain(new.keys()).collect();
    keys.into_iter().filter_map(move |key| {
        let (old, new) = (old.get(key), new.get(key));
        let same = match (old, new) {
            (Some(old), Some(new)) => old.value == new.value && old.origin.layer() == new.origin.layer(),
            // A default was always there; a broken file may have hidden it.
            (None, Some(new)) => new.origin == Origin::Default,
            _ => false,
        };
        let changed = || Changed {
            key: key.clone(),
            old: old.cloned(),
            new: new.cloned(),
            is_secret: secrets.contains(key),
        };
        (!same).then(changed)
    })
}

/// The ways to some files: every folder that is passed, and every name that is looked up in one.
#[derive(Clone, Default)]
struct Ways {
    folders: BTreeSet<PathBuf>,
    names: BTreeSet<PathBuf>,
    /// Whether the last event was the end of a save: a file was moved into place, or closed after writing.
    is_saved: bool,
}

impl Ways {
    fn to(files: impl Iterator<Item = PathBuf>) -> Ways {
        let mut ways = Ways::default();
        for file in files {
            if let Ok(file) = std::path::absolute(&file) {
                ways.walk(&file);
            }
        }
        ways
    }

    /// Goes to a file name by name, as the system would. The folders have no symlinks in their paths: the system knows each by one name.
    fn walk(&mut self, file: &Path) {
        let mut links = 0;
        let mut here = PathBuf::new();
        let mut ahead: Vec<PathBuf> = steps(file);
        while let Some(step) = ahead.pop() {
            match step.components().next() {
                Some(Component::ParentDir) => {
                    here.pop();
                    continue;
                }
                Some(Component::Normal(_)) => {}
                // A root, or a prefix on Windows.
                _ => {
                    here = here.join(step);
                    continue;
                }
            }
            let next = here.join(&step);
            self.folders.insert(here.clone());
            self.names.insert(next.clone());
            match fs::read_link(&next) {
                Ok(target) if links < LINKS_MAX => {
                    links += 1;
                    ahead.extend(steps(&target));
                }
                _ if next.is_dir() => here = next,
                _ => return,
            }
        }
    }

    /// Whether an event may be about one of the files. Reading a file is none.
    fn take_note(&mut self, event: &notify::Event) -> bool {
        let is_saved = match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Modify(ModifyKind::Name(RenameMode::To | RenameMode::Both)) => true,
            EventKind::Access(_) => return false,
            _ => false,
        };
        let concerns = event.need_rescan()
            || event.paths.iter().any(|path| self.names.contains(path) || self.folders.contains(path));
        if concerns {
            self.is_saved = is_saved;
        }
        concerns
    }
}

/// The components of a path, the last one first.
fn steps(path: &Path) -> Vec<PathBuf> {
    let mut steps: Vec<PathBuf> = path
        .components()
        .filter(|component| !matches!(component, Component::CurDir))
        .map(|component| PathBuf::from(component.as_os_str()))
        .collect();
    steps.reverse();
    steps
}

fn lock(ways: &Mutex<Ways>) -> std::sync::MutexGuard<'_, Ways> {
    // It is replaced whole.
    ways.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stopper {
    /// Ends the watch: [`Watch::wait`] returns `None`.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
        let _ = self.wake.try_send(());
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch of {} keys", self.seen.len())
    }
}

impl fmt::Debug for Stopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stopper")
    }
}

impl fmt::Debug for Changed {
    /// Without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |held: &Option<Held>| match held {
            Some(held) => {
                format!("{} ({})", held.value.show(self.is_secret, Reveal::No), held.origin.layer())
            }
            None => "nothing".to_owned(),
        };
        write!(f, "{}: {} -> {}", self.key, show(&self.old), show(&self.new))
    }
}
