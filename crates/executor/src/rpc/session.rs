//! What one attempt of a node may do through the socket: record changes of paths that its `writes` allow, into its own changeset.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use plan::{
    Act, Base, Change, Changeset, ContentInput, PathBytes, PathKey, Patterns, Tool, checked_path, system_path,
};
use store::Store;

use crate::run::{Front, Recorder};
use crate::{Error, Manifest, Result};

/// What an attempt is about.
pub(crate) struct Place {
    pub store: Arc<dyn Store>,
    pub node: String,
    pub changeset: Changeset,
    pub front: Arc<Front>,
    pub manifest: Arc<Manifest>,
    /// The tree of the base, and the actor's.
    pub base: PathBuf,
    pub tree: PathBuf,
    pub writes: Option<Patterns>,
}

/// An attempt of a node, as whoever answers its requests sees it.
pub struct Seat {
    place: Place,
    turn: Mutex<()>,
    gate: Mutex<Gate>,
    left: Condvar,
}

/// Requests that are under way, by the number of their connection.
#[derive(Default)]
struct Gate {
    closed: bool,
    under_way: BTreeMap<u64, UnixStream>,
}

impl Seat {
    pub(crate) fn new(place: Place) -> Self {
        Self { place, turn: Mutex::default(), gate: Mutex::default(), left: Condvar::new() }
    }

    /// Where contents go that are too long to be held.
    pub fn store(&self) -> &dyn Store {
        self.place.store.as_ref()
    }

    /// Refuses every changeset but the node's own.
    pub fn check_changeset(&self, changeset: &str) -> Result<()> {
        if changeset == self.place.changeset.id().to_string() {
            return Ok(());
        }
        Err(Error::ForeignChangeset { node: self.place.node.clone(), changeset: changeset.to_owned() })
    }

    /// Refuses every folder but the one that the node works on, which is known by the name that it has outside, too.
    pub fn check_root(&self, root: &Path) -> Result<()> {
        let outside = system_path(self.place.front.root());
        let is_same = |known: &Path| {
            known == root
                || known.canonicalize().ok().is_some_and(|known| root.canonicalize().ok() == Some(known))
        };
        if is_same(&outside) || is_same(&self.place.tree) {
            return Ok(());
        }
        Err(Error::ForeignRoot { node: self.place.node.clone(), root: root.to_owned() })
    }

    /// Refuses paths that lead out of the root or into protected folders, and those that the node's `writes` do not allow.
    pub fn check_path(&self, path: &PathBytes) -> Result<()> {
        let below = checked_path(path)?;
        match &self.place.writes {
            Some(writes) if !writes.matches(below.as_path()) => {
                Err(Error::RefusedWrites { node: self.place.node.clone(), path: path.show().into_owned() })
            }
            _ => Ok(()),
        }
    }

    /// The node's requests that change something, or hold something long in memory, one after the other. They hold up each other only.
    pub fn turn(&self) -> Turn<'_> {
        Turn { seat: self, _turn: self.turn.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// A request is under way as long as what is returned lives; none once the seat is closed.
    pub(super) fn enter(&self, number: u64, stream: &UnixStream) -> Option<UnderWay<'_>> {
        let stream = stream.try_clone().ok()?;
        let mut gate = self.gate();
        if gate.closed {
            return None;
        }
        gate.under_way.insert(number, stream);
        Some(UnderWay { seat: self, number })
    }

    /// Lets no more requests in, and waits for those under way. Whoever is still sending is cut off; what was sent whole is answered,
    /// which takes as long as the lock or the disk that it waits for, and these have limits.
    pub(super) fn close(&self) {
        let mut gate = self.gate();
        gate.closed = true;
        for stream in gate.under_way.values() {
            // It may have gone by itself.
            drop(stream.shutdown(Shutdown::Read));
        }
        while !gate.under_way.is_empty() {
            gate = self.left.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is under way.
pub(super) struct UnderWay<'a> {
    seat: &'a Seat,
    number: u64,
}

impl UnderWay<'_> {
    pub(super) fn seat(&self) -> &Seat {
        self.seat
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.seat.gate().under_way.remove(&self.number);
        self.seat.left.notify_all();
    }
}

/// Nobody else of the node records meanwhile.
#[must_use = "it is over when it is dropped"]
pub struct Turn<'a> {
    seat: &'a Seat,
    _turn: MutexGuard<'a, ()>,
}

impl Turn<'_> {
    /// What a path holds for this node: what it recorded before, or else what its actor started from.
    pub fn now(&self, path: &PathBytes) -> Result<Option<ContentInput>> {
        let Place { store, changeset, front, base, tree, manifest, .. } = &self.seat.place;
        let key = PathKey { root: front.root().clone(), path: path.clone() };
        if let Some(left) = changeset.last_content(&key)? {
            return Ok(left.map(ContentInput::stored));
        }
        let recorder = Recorder { store: store.as_ref(), changeset, front, base, tree };
        recorder.started(manifest, &checked_path(path)?)
    }

    /// Records a change of a path, and gives its sequence number. It is durable when this returns. The base is what the path holds, unless
    /// it is given.
    pub fn record(
        &self,
        path: PathBytes,
        act: Act,
        given: Option<Option<ContentInput>>,
        tool: Option<Tool>,
    ) -> Result<u64> {
        self.seat.check_path(&path)?;
        if let Act::Rename { to } = &act {
            self.seat.check_path(to)?;
            if self.now(to)?.is_some() {
                return Err(plan::Error::PathExists { path: to.show().into_owned() }.into());
            }
        }
        let base = Base::Explicit(given.map_or_else(|| self.now(&path), Ok)?);
        let Place { changeset, front, .. } = &self.seat.place;
        let root = Some(front.root().clone());
        Ok(changeset.record(Change { root, path, act, base, tool })?)
    }
}
