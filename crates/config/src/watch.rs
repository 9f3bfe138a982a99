//! Watching configuration for changes by this program, others, and people with editors.
//!
//! An event of the system only triggers a poll: the watch reads the files again and compares. So
//! the way in which a file was saved (in place, by rename, through a symlink) does not matter, and
//! several events at once cause one poll. The watch covers every folder on the path to a file, up
//! to the root, as any of them may be created, moved or replaced later. It watches the folders
//! before it reads the files, so it misses no change in between.
//!
//! Limit: a value that exists only between two polls is not reported.

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
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfigService, Error, Key, Origin, Reveal, Scope, Value};

/// Time between polls without an event: network file systems do not report the changes of other
/// machines.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Time without events before a poll, unless the last event completed a save: an editor may have
/// moved the old file away and not yet written the new one.
const DEBOUNCE: Duration = Duration::from_millis(50);
/// Maximum time to wait for a pause between events.
const DEBOUNCE_MAX: Duration = Duration::from_millis(200);
/// Maximum number of symlinks on the path to a file, as on Linux.
const LINKS_MAX: usize = 40;

/// A stream of changes of configuration, created by [`ConfigService::watch`]. Dropping it ends it.
pub struct Watch {
    service: ConfigService,
    prefix: Option<Key>,
    watcher: RecommendedWatcher,
    paths: Arc<Mutex<WatchPaths>>,
    signals: Receiver<()>,
    stop_handle: StopHandle,
    poll_interval: Duration,
    values: BTreeMap<Key, SourcedValue>,
    reported: BTreeSet<String>,
    /// True after the system refused to watch more folders.
    is_limited: bool,
    /// Events that the caller has not seen yet.
    pending: Vec<WatchEvent>,
}

/// Ends a [`Watch`] from another thread.
#[derive(Clone)]
pub struct StopHandle {
    is_stopped: Arc<AtomicBool>,
    wake: SyncSender<()>,
}

/// An event of a [`Watch`].
#[derive(Debug)]
pub enum WatchEvent {
    /// A key has another value, or its value comes from another layer.
    Changed(KeyChange),
    /// A file or a value is unusable. The last known value counts until it is usable again.
    Problem(Error),
}

/// A change of a key.
#[derive(JsonSchema, Serialize)]
pub struct KeyChange {
    /// Changed key.
    pub key: Key,
    /// Value before; none if the key had none.
    pub old: Option<SourcedValue>,
    /// Value now; none if the key has none.
    pub new: Option<SourcedValue>,
    /// True if people see a placeholder instead of the values.
    #[serde(rename = "secret")]
    pub is_secret: bool,
}

/// A value with its position.
#[derive(Clone, JsonSchema, Serialize)]
pub struct SourcedValue {
    /// The value. It may be secret: see [`KeyChange::redacted`].
    pub value: Value,
    /// Position of the value.
    pub origin: Origin,
}

impl KeyChange {
    /// Redacts secret values.
    pub fn redacted(self) -> KeyChange {
        let shown =
            |old: SourcedValue| SourcedValue { value: old.value.redacted(self.is_secret, Reveal::No), ..old };
        KeyChange { old: self.old.map(shown), new: self.new.map(shown), ..self }
    }
}

impl ConfigService {
    /// Watches all keys, or those below `prefix`, from now on.
    ///
    /// Safe to call from any thread and process at any time: takes no lock and writes nothing. The
    /// watch has its own thread, which ends with it.
    pub fn watch(&self, prefix: Option<&Key>) -> Result<Watch, Error> {
        let paths = Arc::new(Mutex::new(WatchPaths::default()));
        // One signal is enough: its receiver polls everything that happened before.
        let (wake, signals) = sync_channel(1);
        let (known, handler) = (Arc::clone(&paths), wake.clone());
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.map_or(true, |event| lock(&known).concerns_files(&event)) {
                let _ = handler.try_send(());
            }
        });
        let watcher = watcher.map_err(|source| Error::Watch { source: Arc::new(source) })?;
        let mut watch = Watch {
            service: self.clone(),
            prefix: prefix.cloned(),
            watcher,
            paths,
            signals,
            stop_handle: StopHandle { is_stopped: Arc::default(), wake },
            poll_interval: POLL_INTERVAL,
            values: BTreeMap::new(),
            reported: BTreeSet::new(),
            is_limited: false,
            pending: Vec::new(),
        };
        watch.watch_folders()?;
        // Values at the start are not changes.
        watch.pending = watch.poll();
        watch.pending.retain(|event| matches!(event, WatchEvent::Problem(_)));
        Ok(watch)
    }
}

impl Watch {
    /// Sets the time between polls without an event.
    pub fn with_poll_interval(self, poll_interval: Duration) -> Watch {
        Watch { poll_interval, ..self }
    }

    /// Returns a handle that ends this watch from another thread.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop_handle.clone()
    }

    /// Waits for events. Returns `None` after the watch was stopped.
    pub fn wait(&mut self) -> Option<Vec<WatchEvent>> {
        loop {
            if self.stop_handle.is_stopped.load(Ordering::Acquire) {
                return None;
            }
            if !self.pending.is_empty() {
                return Some(std::mem::take(&mut self.pending));
            }
            if self.signals.recv_timeout(self.poll_interval) != Err(RecvTimeoutError::Timeout) {
                self.debounce();
            }
            let limit = self.watch_folders().err();
            self.pending = self.poll();
            // Report this once; polling replaces the events.
            if let Some(error) = limit.filter(|_| !std::mem::replace(&mut self.is_limited, true)) {
                self.pending.push(WatchEvent::Problem(error));
            }
        }
    }

    /// Waits until a save is complete, or for a pause between events.
    fn debounce(&self) {
        let end = Instant::now() + DEBOUNCE_MAX;
        while !lock(&self.paths).is_saved
            && Instant::now() < end
            && self.signals.recv_timeout(DEBOUNCE).is_ok()
        {}
    }

    /// Watches the folders on the paths to the files. Renews all watches: a folder of the same name
    /// may be another one.
    fn watch_folders(&mut self) -> Result<(), Error> {
        let files = Scope::ALL.iter().filter_map(|scope| self.service.file(*scope).ok());
        let paths = WatchPaths::to(files);
        let old = std::mem::replace(&mut *lock(&self.paths), paths.clone());
        for folder in &old.folders {
            let _ = self.watcher.unwatch(folder);
        }
        for folder in &paths.folders {
            match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                // Polling covers a folder that is unreadable or was just removed.
                Err(error) if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) => {
                    return Err(Error::Watch { source: Arc::new(error) });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads the files and compares their values with the last ones.
    fn poll(&mut self) -> Vec<WatchEvent> {
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
                now.insert(entry.key, SourcedValue { value, origin: entry.origin });
            }
        }
        // An unreadable key has not changed.
        for (key, value) in self.values.iter().filter(|(key, _)| !listed.contains(*key) && is_unknown(key)) {
            now.insert(key.clone(), value.clone());
        }
        let mut events: Vec<WatchEvent> =
            changes(&self.values, &now, &secrets).map(WatchEvent::Changed).collect();
        self.values = now;
        self.reported.retain(|text| listing.problems.iter().any(|problem| problem.to_string() == *text));
        let problems =
            listing.problems.into_iter().filter(|problem| self.reported.insert(problem.to_string()));
        events.extend(problems.map(WatchEvent::Problem));
        events
    }
}

/// Returns the keys whose value or layer differs; ignores a change of the line alone.
fn changes<'a>(
    old: &'a BTreeMap<Key, SourcedValue>,
    new: &'a BTreeMap<Key, SourcedValue>,
    secrets: &'a BTreeSet<Key>,
) -> impl Iterator<Item = KeyChange> + 'a {
    let keys: BTreeSet<&Key> = old.keys().chain(new.keys()).collect();
    keys.into_iter().filter_map(move |key| {
        let (old, new) = (old.get(key), new.get(key));
        let same = match (old, new) {
            (Some(old), Some(new)) => old.value == new.value && old.origin.layer() == new.origin.layer(),
            // A default always existed; a broken file may have hidden it.
            (None, Some(new)) => new.origin == Origin::Default,
            _ => false,
        };
        let changed = || KeyChange {
            key: key.clone(),
            old: old.cloned(),
            new: new.cloned(),
            is_secret: secrets.contains(key),
        };
        (!same).then(changed)
    })
}

/// Folders on the paths to some files, and every name that is looked up in them.
#[derive(Clone, Default)]
struct WatchPaths {
    folders: BTreeSet<PathBuf>,
    names: BTreeSet<PathBuf>,
    /// True if the last event completed a save: a file was moved into place, or closed after
    /// writing.
    is_saved: bool,
}

impl WatchPaths {
    fn to(files: impl Iterator<Item = PathBuf>) -> WatchPaths {
        let mut paths = WatchPaths::default();
        for file in files {
            if let Ok(file) = std::path::absolute(&file) {
                paths.walk(&file);
            }
        }
        paths
    }

    /// Follows a path name by name, as the system does. The recorded folders have no symlinks in
    /// their paths: events name each folder by one path.
    fn walk(&mut self, file: &Path) {
        let mut links = 0;
        let mut here = PathBuf::new();
        let mut ahead: Vec<PathBuf> = components_reversed(file);
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
                    ahead.extend(components_reversed(&target));
                }
                _ if next.is_dir() => here = next,
                _ => return,
            }
        }
    }

    /// Returns true if an event may concern one of the files. Reading a file is not a change.
    fn concerns_files(&mut self, event: &notify::Event) -> bool {
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

/// Components of a path, last one first.
fn components_reversed(path: &Path) -> Vec<PathBuf> {
    let mut components: Vec<PathBuf> = path
        .components()
        .filter(|component| !matches!(component, Component::CurDir))
        .map(|component| PathBuf::from(component.as_os_str()))
        .collect();
    components.reverse();
    components
}

fn lock(paths: &Mutex<WatchPaths>) -> std::sync::MutexGuard<'_, WatchPaths> {
    // A panic leaves the old paths or the new ones: they are replaced as a whole.
    paths.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StopHandle {
    /// Ends the watch: [`Watch::wait`] returns `None`.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
        let _ = self.wake.try_send(());
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch of {} keys", self.values.len())
    }
}

impl fmt::Debug for StopHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stopper")
    }
}

impl fmt::Debug for KeyChange {
    /// Redacts secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<SourcedValue>| match value {
            Some(value) => {
                format!("{} ({})", value.value.show(self.is_secret, Reveal::No), value.origin.layer())
            }
            None => "nothing".to_owned(),
        };
        write!(f, "{}: {} -> {}", self.key, show(&self.old), show(&self.new))
    }
}
