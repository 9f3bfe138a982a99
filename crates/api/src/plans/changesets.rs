//! Changesets: start, record, seal and abandon.
//!
//! Each call takes over the lease of a changeset, records and releases it, so that a frontend may be a new process for
//! every call.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use filetx::{PathState, RelPath};
use plan::{
    Actor, Base, Change, Changeset, ChangesetId, ContentInput, ContentKind, ContentSource, LeaseOptions,
    PATCH_BYTES_MAX, PathBytes, PathKey, Plan, Status, Tool, checked_new_path,
};
use store::limits::CHUNK_BYTES;
use store::{Store, read_blob};

use crate::files::open;
use crate::plans::report::{ChangesetDetail, Closed, RecordedEntry};
use crate::plans::root_path::{Below, below};
use crate::{Error, Plans};

/// Duration of a lease: shorter than commands wait, so that they can take over from a killed process.
const HELD: Duration = Duration::from_secs(10);
/// Permission bits of a given base whose path does not exist.
pub(crate) const USUAL_MODE: u32 = 0o644;

/// A change of one path.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Write the content of this file, with permission bits if given.
    Content(PathBuf, Option<u32>),
    /// Write this content, with permission bits if given.
    Bytes(Vec<u8>, Option<u32>),
    /// Apply a unified diff of this path. It may create or delete the file, or set its permission bits.
    Patch(Vec<u8>),
    /// Delete the path.
    Delete,
    /// Rename to this path below the same root.
    RenameTo(String),
    /// Set permission bits.
    Mode(u32),
    /// Make a symlink to this target.
    Symlink(String),
}

/// A change to record.
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// Root; may be omitted for a plan with one root.
    pub root: Option<PathBuf>,
    /// Path below the root.
    pub path: String,
    /// The change.
    pub edit: Edit,
    /// File with the content before the change, `/dev/null` for none. Default: the present content.
    pub base: Option<PathBuf>,
    /// Tool that made the change, for the record.
    pub tool: Option<String>,
}

impl Plans {
    /// Starts a changeset for an actor. It is durable, and any process can continue it.
    pub fn start_changeset(&self, plan: &Plan, actor: &Actor) -> Result<store::Changeset, Error> {
        let changeset = self.inner.context(plan.id)?.start_changeset(actor)?;
        let id = changeset.id();
        // A lease that cannot be released expires.
        drop(changeset.release());
        self.inner
            .changeset(id)
            .map_err(|error| Error::after_change(id, "started", "it cannot be shown", error))
    }

    /// Records a change durably.
    pub fn record(&self, changeset: &str, entry: &NewEntry) -> Result<RecordedEntry, Error> {
        let found = self.inner.find_changeset(changeset)?;
        let (id, plan) = (found.id, self.inner.get(found.plan)?);
        let context = self.inner.context(plan.id)?;
        let root = entry.root.as_ref().map(|root| context.root(&self.agents.absolute(root))).transpose()?;
        let Below { root, path } = below(&plan.roots, root.as_ref(), &entry.path)?;
        checked_new_path(&path)?;
        // Stores large content before it takes the lease.
        let tool = entry.tool.as_deref().map(Tool::parse).transpose().map_err(plan::Error::from)?;
        let given =
            entry.base.as_ref().map(|file| self.base(file, &plan, root.as_ref(), &path)).transpose()?;
        let content = match &entry.edit {
            Edit::Content(file, _) => Some(self.content(file)?),
            _ => None,
        };
        let handle = self.take_over(id)?;
        let recorded = self
            .act(&handle, &plan, root.as_ref(), &path, &entry.edit, content, given)
            .and_then(|(act, base)| Ok(handle.record(Change { root, path, edit: act, base, tool })?));
        // In both cases. A lease that cannot be released expires.
        let released = handle.release();
        let sequence = recorded?;
        drop(released);
        Ok(RecordedEntry { changeset: id.to_string(), sequence })
    }

    /// Seals a changeset. Its plan becomes ready with the last one.
    pub fn seal(&self, changeset: &str) -> Result<Closed, Error> {
        let id = self.inner.find_changeset(changeset)?.id;
        let sealed = match self.take_over(id) {
            Ok(handle) => handle.seal()?,
            // Sealed before, but its plan may not be ready yet.
            Err(Error::Plan(plan::Error::Store(store::Error::Closed { status: Status::Sealed, .. }))) => {
                self.inner.changeset(id)?
            }
            Err(error) => return Err(error),
        };
        self.closed(sealed)
    }

    /// Abandons a changeset. Its entries stay recorded but are not applied.
    pub fn abandon(&self, changeset: &str, reason: &str) -> Result<Closed, Error> {
        let handle = self.take_over(self.inner.find_changeset(changeset)?.id)?;
        self.closed(handle.abandon(reason)?)
    }

    /// Lists the changesets of a plan, in the order of their start.
    pub fn changesets(&self, plan: &Plan) -> Result<Vec<store::Changeset>, Error> {
        Ok(self.inner.changesets_of_actors(plan.id)?)
    }

    /// Describes a changeset with its entries.
    pub fn changeset(&self, changeset: &str) -> Result<ChangesetDetail, Error> {
        let changeset = self.inner.find_changeset(changeset)?;
        let entries = self.inner.entries(changeset.id)?;
        Ok(ChangesetDetail { changeset, entries })
    }

    fn closed(&self, changeset: store::Changeset) -> Result<Closed, Error> {
        let (id, done) = (changeset.id, changeset.status.as_str());
        let plan = self.inner.mark_ready(changeset.plan, &changeset.actor);
        let plan = plan.map_err(|error| Error::after_change(id, done, "its plan is not ready yet", error))?;
        Ok(Closed { changeset, plan_state: plan.state })
    }

    fn take_over(&self, id: ChangesetId) -> Result<Changeset, Error> {
        let options = LeaseOptions { duration: HELD, wait: self.agents.wait().timeout };
        Ok(self.inner.reopen(id, &options)?)
    }

    /// Change to record, with its base.
    #[expect(clippy::too_many_arguments, reason = "the parts of one change, which come from several places")]
    fn act(
        &self,
        handle: &Changeset,
        plan: &Plan,
        root: Option<&PathBytes>,
        path: &PathBytes,
        edit: &Edit,
        content: Option<ContentSource>,
        given: Option<Option<ContentInput>>,
    ) -> Result<(plan::Edit, Base), Error> {
        let base = given.clone().map_or(Base::Current, Base::Explicit);
        let act = match edit {
            Edit::Content(_, mode) => plan::Edit::Write {
                content: content.unwrap_or(ContentSource::Bytes(Vec::new())),
                mode: *mode,
            },
            Edit::Bytes(bytes, mode) => {
                plan::Edit::Write { content: ContentSource::Bytes(bytes.clone()), mode: *mode }
            }
            Edit::Delete => plan::Edit::Delete,
            Edit::RenameTo(to) => {
                // An absolute path must be below the same root.
                let root = root.or_else(|| plan.roots.first());
                let to = below(&plan.roots, root, to)?.path;
                checked_new_path(&to)?;
                plan::Edit::Rename { to }
            }
            Edit::Mode(mode) => plan::Edit::Mode(*mode),
            Edit::Symlink(target) => plan::Edit::Symlink {
                target: PathBytes::parse(target.as_bytes()).map_err(plan::Error::from)?,
            },
            Edit::Patch(patch) => {
                let now = match given {
                    Some(piece) => piece,
                    None => self.now(handle, plan, root, path)?,
                };
                let edit = patched(self.inner.store().as_ref(), path, now.as_ref(), patch)?;
                return Ok((edit, Base::Explicit(now)));
            }
        };
        Ok((act, base))
    }

    /// Content of a path for this changeset: as it recorded it, else as in the root.
    fn now(
        &self,
        handle: &Changeset,
        plan: &Plan,
        root: Option<&PathBytes>,
        path: &PathBytes,
    ) -> Result<Option<ContentInput>, Error> {
        let Some(root) = root.or_else(|| plan.roots.first()) else { return Ok(None) };
        if let Some(left) = handle.last_content(&PathKey { root: root.clone(), path: path.clone() })? {
            return Ok(left.map(ContentInput::stored));
        }
        let relative = plan::checked_path(path)?;
        let snapshot = self.inner.snapshot(&self.host(), root)?;
        match snapshot.path_state(&relative)? {
            PathState::File { mode, .. } => {
                let Some(body) = snapshot.open(&relative)? else { return Ok(None) };
                // Does not read what others append during the call.
                if body.len() > PATCH_BYTES_MAX {
                    return Err(too_long_to_patch(path));
                }
                let bytes = body.read_range(0, body.len())?;
                Ok(Some(ContentInput::from_reader(self.inner.store().as_ref(), mode, &mut bytes.as_slice())?))
            }
            _ => Ok(None),
        }
    }

    /// Reads a given base. Its permission bits are those of the path in the root.
    fn base(
        &self,
        file: &Path,
        plan: &Plan,
        root: Option<&PathBytes>,
        path: &PathBytes,
    ) -> Result<Option<ContentInput>, Error> {
        if file == Path::new("/dev/null") {
            return Ok(None);
        }
        let mode = root.or_else(|| plan.roots.first()).and_then(|root| {
            let relative: RelPath = plan::checked_path(path).ok()?;
            let snapshot = self.inner.snapshot(&self.host(), root).ok()?;
            match snapshot.path_state(&relative).ok()? {
                PathState::File { mode, .. } => Some(mode),
                _ => None,
            }
        });
        self.piece(file, mode.unwrap_or(USUAL_MODE)).map(Some)
    }

    /// Reads a file of the caller. Large content goes into the store at once.
    fn content(&self, file: &Path) -> Result<ContentSource, Error> {
        let path = self.agents.absolute(file);
        let mut reader = open(&path)?;
        let mut bytes = Vec::new();
        let failed = |source| Error::File { action: "read", path: path.clone(), source };
        (&mut reader).take(CHUNK_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() <= CHUNK_BYTES {
            return Ok(ContentSource::Bytes(bytes));
        }
        let mut all = bytes.as_slice().chain(reader);
        let piece = ContentInput::from_reader(self.inner.store().as_ref(), USUAL_MODE, &mut all)?;
        Ok(ContentSource::Stored(piece.content))
    }
}

/// Applies a unified diff to the content of a path. Returns the edit to record.
pub(crate) fn patched(
    store: &dyn Store,
    path: &PathBytes,
    now: Option<&ContentInput>,
    patch: &[u8],
) -> Result<plan::Edit, Error> {
    let text = match now.filter(|input| input.content.kind == ContentKind::File) {
        Some(input) if input.content.bytes > PATCH_BYTES_MAX => return Err(too_long_to_patch(path)),
        Some(input) => bytes(store, input)?,
        None => Vec::new(),
    };
    let patched = plan::patched(path, now.map(|input| &input.content), &text, patch);
    let patched = patched.map_err(|error| match error {
        plan::Error::Patch { path, reason } => Error::Patch { path, reason },
        error => error.into(),
    });
    Ok(patched?.into_edit())
}

/// Bytes of a content.
fn bytes(store: &dyn Store, input: &ContentInput) -> Result<Vec<u8>, Error> {
    let read = match &input.packed {
        Some(packed) => packed
            .chunk()
            .unpack()
            .map_err(|reason| store::Error::DamagedBlob { hash: packed.hash(), reason }),
        None => read_blob(store, input.content.blob, PATCH_BYTES_MAX as usize),
    };
    Ok(read.map_err(plan::Error::from)?)
}

fn too_long_to_patch(path: &PathBytes) -> Error {
    let reason = format!("it has more than {PATCH_BYTES_MAX} bytes");
    Error::Patch { path: path.show().into_owned(), reason }
}
