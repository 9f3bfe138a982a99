//! The session of one attempt: its node records changes of permitted paths into its own changeset.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use plan::{
    Base, Change, Changeset, ContentInput, PathBytes, PathKey, Patterns, Tool, checked_new_path,
    checked_path, system_path,
};
use store::Store;

use super::protocol::check_body_lengths;
use super::server::CONNECTIONS_MAX;
use crate::run::{Recorder, UpstreamChanges};
use crate::sandbox::ReadLimits;
use crate::{Error, Manifest, Result};

/// The most requests of one node at a time: half of the connections stay for others.
const REQUESTS_MAX: usize = CONNECTIONS_MAX / 2;

/// The attempt of a session.
pub(crate) struct AttemptContext {
    pub store: Arc<dyn Store>,
    pub node: String,
    pub changeset: Changeset,
    pub upstream: Arc<UpstreamChanges>,
    pub manifest: Arc<Manifest>,
    /// The tree of the base.
    pub base: PathBuf,
    /// The tree of the actor.
    pub tree: PathBuf,
    /// Paths that the node may change; all if `None`.
    pub paths: Option<Patterns>,
    /// The longest file that is recorded, in bytes.
    pub file_bytes_max: u64,
}

/// The session of an attempt, as request handlers see it.
pub struct NodeSession {
    attempt: AttemptContext,
    record: Mutex<()>,
    in_flight: Mutex<InFlight>,
    request_ended: Condvar,
}

/// Requests in flight, by the number of their connection.
#[derive(Default)]
struct InFlight {
    is_closed: bool,
    requests: BTreeMap<u64, UnixStream>,
}

impl NodeSession {
    pub(crate) fn new(attempt: AttemptContext) -> Self {
        Self { attempt, record: Mutex::default(), in_flight: Mutex::default(), request_ended: Condvar::new() }
    }

    /// The store, for contents that are too long for memory.
    pub fn store(&self) -> &dyn Store {
        self.attempt.store.as_ref()
    }

    /// Refuses a body that is longer than a recorded file may be.
    pub(super) fn check_body_lengths(&self, lengths: &[u64]) -> Result<()> {
        check_body_lengths(lengths, self.attempt.file_bytes_max)
    }

    /// Refuses every changeset but that of the node.
    pub fn check_changeset(&self, changeset: &str) -> Result<()> {
        if changeset == self.attempt.changeset.id().to_string() {
            return Ok(());
        }
        Err(Error::ForeignChangeset { node: self.attempt.node.clone(), changeset: changeset.to_owned() })
    }

    /// Refuses every folder but the node's root, which may be named by its sandbox or its original.
    pub fn check_root(&self, root: &Path) -> Result<()> {
        let original = system_path(self.attempt.upstream.root());
        let is_same = |own: &Path| {
            own == root || own.canonicalize().ok().is_some_and(|own| root.canonicalize().ok() == Some(own))
        };
        if is_same(&original) || is_same(&self.attempt.tree) {
            return Ok(());
        }
        Err(Error::ForeignRoot { node: self.attempt.node.clone(), root: root.to_owned() })
    }

    /// Refuses paths outside the root, in protected folders, or outside the node's `paths`.
    pub fn check_path(&self, path: &PathBytes) -> Result<()> {
        let below = checked_new_path(path)?;
        match &self.attempt.paths {
            Some(paths) if !paths.matches(below.as_path()) => {
                Err(Error::RefusedPaths { node: self.attempt.node.clone(), path: path.show().into_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Waits for the exclusive right to record. Serializes requests of the node that change something
    /// or hold a large body in memory.
    pub fn lock_record(&self) -> RecordGuard<'_> {
        RecordGuard { session: self, _lock: self.record.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Registers a request until the guard is dropped. Refuses it once the session is closed, or if the
    /// node has too many.
    pub(super) fn begin_request(&self, connection: u64, stream: &UnixStream) -> Result<InFlightRequest<'_>> {
        let stream = stream.try_clone().map_err(|_| Error::InvalidToken)?;
        let mut in_flight = self.in_flight();
        if in_flight.is_closed {
            return Err(Error::InvalidToken);
        }
        if in_flight.requests.len() == REQUESTS_MAX {
            return Err(Error::TooManyRequests { limit: REQUESTS_MAX });
        }
        in_flight.requests.insert(connection, stream);
        Ok(InFlightRequest { session: self, connection })
    }

    /// Refuses further requests and waits for those in flight. Cuts off bodies that are still being
    /// sent; answers complete requests, which waits for locks and disks, all with limits.
    pub(super) fn close(&self) {
        let mut in_flight = self.in_flight();
        in_flight.is_closed = true;
        for stream in in_flight.requests.values() {
            // The client may have closed it.
            drop(stream.shutdown(Shutdown::Read));
        }
        while !in_flight.requests.is_empty() {
            in_flight = self.request_ended.wait(in_flight).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in flight.
pub(super) struct InFlightRequest<'a> {
    session: &'a NodeSession,
    connection: u64,
}

impl InFlightRequest<'_> {
    pub(super) fn session(&self) -> &NodeSession {
        self.session
    }
}

impl Drop for InFlightRequest<'_> {
    fn drop(&mut self) {
        self.session.in_flight().requests.remove(&self.connection);
        self.session.request_ended.notify_all();
    }
}

/// The exclusive right of a request to record for its node.
#[must_use = "dropping it lets other requests record"]
pub struct RecordGuard<'a> {
    session: &'a NodeSession,
    _lock: MutexGuard<'a, ()>,
}

impl RecordGuard<'_> {
    /// The content of a path for this node: as last recorded, or as its actor started.
    pub fn current(&self, path: &PathBytes) -> Result<Option<ContentInput>> {
        let AttemptContext { store, changeset, upstream, base, tree, manifest, .. } = &self.session.attempt;
        let key = PathKey { root: upstream.root().clone(), path: path.clone() };
        if let Some(recorded) = changeset.last_content(&key)? {
            return Ok(recorded.map(ContentInput::stored));
        }
        let recorder =
            Recorder { store: store.as_ref(), changeset, upstream, base, tree, limits: ReadLimits::NONE };
        recorder.initial_content(manifest, &checked_path(path)?)
    }

    /// Records a change of a path, durably, and returns its sequence number. The base defaults to the
    /// current content.
    pub fn record(
        &self,
        path: PathBytes,
        act: plan::Edit,
        base: Option<Option<ContentInput>>,
        tool: Option<Tool>,
    ) -> Result<u64> {
        self.session.check_path(&path)?;
        if let plan::Edit::Rename { to } = &act {
            self.session.check_path(to)?;
            if self.current(to)?.is_some() {
                return Err(plan::Error::PathExists { path: to.show().into_owned() }.into());
            }
        }
        let base = Base::Explicit(base.map_or_else(|| self.current(&path), Ok)?);
        let AttemptContext { changeset, upstream, .. } = &self.session.attempt;
        let root = Some(upstream.root().clone());
        Ok(changeset.record(Change { root, path, edit: act, base, tool })?)
    }
}
