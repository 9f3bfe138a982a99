//! Sends requests from a sandbox to the run that started it. Touches neither the store nor the home
//! folder.

use std::fs::File;
use std::path::{Path, PathBuf};

use executor::rpc::{
    AppendParams, BaseParam, CallError, EditParam, GetParams, Method, Outcome, RecordParams, RequestBody,
    SOCKET_VARIABLE, TOKEN_VARIABLE, VERSION, call,
};
use serde::de::DeserializeOwned;

use crate::files::{STREAM_BYTES_MAX, read_bounded};
use crate::invocation::is_same;
use crate::{
    ContextName, Draft, Edit, Error, HOME_VARIABLE, Invocation, Key, Lookup, NewEntry, RecordedEntry, Reveal,
    Revision, SaveSummary,
};

/// Folders between a socket and its home: `runs`, and that of the plan.
const HOME_ABOVE: usize = 3;

/// A client of the run in whose sandbox this process is.
#[derive(Clone)]
pub struct RunClient {
    socket: PathBuf,
    token: String,
    current: Option<PathBuf>,
}

impl RunClient {
    /// Finds the run in the environment. Returns `None` outside a sandbox, and if the invocation names
    /// another home folder than that of the run.
    pub fn from_env(invocation: &Invocation) -> Option<RunClient> {
        let socket = invocation.variable(SOCKET_VARIABLE).filter(|socket| !socket.is_empty())?;
        let socket = PathBuf::from(socket);
        let named = invocation.home.clone().or_else(|| invocation.variable(HOME_VARIABLE).map(PathBuf::from));
        let of_run = socket.ancestors().nth(HOME_ABOVE);
        let is_other = |home: &PathBuf| {
            let home = invocation.absolute(home).unwrap_or_else(|_| home.clone());
            !of_run.is_some_and(|of_run| is_same(of_run, &home))
        };
        if named.as_ref().is_some_and(is_other) {
            return None;
        }
        let token = invocation.variable(TOKEN_VARIABLE).unwrap_or_default().to_string_lossy().into_owned();
        Some(RunClient { socket, token, current: invocation.current.clone() })
    }

    /// Records a change, durably, in the changeset of this node.
    pub fn record(&self, changeset: &str, entry: &NewEntry) -> Result<RecordedEntry, Error> {
        let (edit, content) = match &entry.edit {
            Edit::Content(file, mode) => (EditParam::Content { mode: *mode }, Some(self.file(file)?)),
            Edit::Bytes(bytes, mode) => {
                (EditParam::Content { mode: *mode }, Some(RequestBody::Bytes(bytes.clone())))
            }
            Edit::Patch(patch) => (EditParam::Patch, Some(RequestBody::Bytes(patch.clone()))),
            Edit::Delete => (EditParam::Delete, None),
            Edit::RenameTo(to) => (EditParam::RenameTo(to.clone()), None),
            Edit::Mode(mode) => (EditParam::Mode(*mode), None),
            Edit::Symlink(target) => (EditParam::Symlink(target.clone()), None),
        };
        let (base, before) = match &entry.base {
            None => (None, None),
            Some(file) if file == Path::new("/dev/null") => (Some(BaseParam::Nothing), None),
            Some(file) => (Some(BaseParam::Content), Some(self.file(file)?)),
        };
        let root = entry.root.as_ref().map(|root| self.absolute(root).to_string_lossy().into_owned());
        let (changeset, path, tool) = (changeset.to_owned(), entry.path.clone(), entry.tool.clone());
        let params = RecordParams { changeset, root, path, edit, base, tool };
        self.call(Method::Record(params), content.into_iter().chain(before).collect())
    }

    /// Appends messages to a context of the run's home, all or nothing.
    pub fn append(
        &self,
        name: &ContextName,
        drafts: &[Draft],
        if_revision: Option<Revision>,
    ) -> Result<SaveSummary, Error> {
        let drafts = serde_json::to_vec(drafts).expect("messages are JSON");
        let if_revision = if_revision.map(|revision| revision.0);
        let params = AppendParams { name: name.to_string(), if_revision };
        self.call(Method::Append(params), vec![RequestBody::Bytes(drafts)])
    }

    /// Gets the value of a key, as the run sees it. Secrets are redacted.
    pub fn get(&self, key: &Key, reveal: Reveal) -> Result<Lookup, Error> {
        let params = GetParams { key: key.to_string(), reveal: reveal == Reveal::Yes };
        match self.call(Method::Get(params), Vec::new()) {
            // Reading has no unknown outcome.
            Err(Error::NoReply { socket, source }) => Err(Error::RunGone { socket, source }),
            got => got,
        }
    }

    fn call<T: DeserializeOwned>(&self, method: Method, bodies: Vec<RequestBody>) -> Result<T, Error> {
        let no_reply = |source| Error::NoReply { socket: self.socket.clone(), source };
        let not_json = |error: serde_json::Error| no_reply(error.into());
        match call(&self.socket, &self.token, method, bodies) {
            Ok(Outcome::Result(result)) => serde_json::from_value(result).map_err(not_json),
            Ok(Outcome::Error(problem)) => {
                Err(Error::Refused { problem: serde_json::from_value(problem).map_err(not_json)? })
            }
            Err(CallError::Unreachable(source)) => {
                Err(Error::RunGone { socket: self.socket.clone(), source })
            }
            Err(CallError::OtherVersion(version)) => {
                Err(Error::RunVersion { socket: self.socket.clone(), version, expected: VERSION })
            }
            Err(CallError::NoResponse(source)) => Err(no_reply(source)),
            Err(CallError::Body(path, source)) => Err(Error::File { action: "read", path, source }),
        }
    }

    /// Opens a file as the body of a request.
    fn file(&self, file: &Path) -> Result<RequestBody, Error> {
        let path = self.absolute(file);
        let failed = |source| Error::File { action: "read", path: path.clone(), source };
        let file = File::open(&path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        if found.is_file() {
            return Ok(RequestBody::File { file, bytes: found.len(), path });
        }
        Ok(RequestBody::Bytes(read_bounded(file, STREAM_BYTES_MAX).map_err(failed)?))
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.current.as_ref().map_or_else(|| path.to_owned(), |current| current.join(path))
    }
}
