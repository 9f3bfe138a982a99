//! A command in a sandbox asks the run that started it, and nobody else: neither the store nor the home folder is touched.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use executor::rpc::{
    Append, Call, CallError, Content, Deed, Get, Given, Outcome, Record, SOCKET_VARIABLE, TOKEN_VARIABLE,
    call,
};
use serde::de::DeserializeOwned;

use crate::invocation::is_same;
use crate::{
    ContextName, Draft, Edit, Error, HOME_VARIABLE, Invocation, Key, Lookup, NewEntry, RecordedEntry, Reveal,
    Revision, SaveSummary,
};

/// The most that is read of a content that is no file, and so has no length.
const STREAM_BYTES_MAX: u64 = 256 << 20;
/// How many folders above a socket its home is: in `runs`, in the folder of a plan.
const HOME_ABOVE: usize = 3;

/// The run that this process is in a sandbox of.
#[derive(Clone)]
pub struct RunClient {
    socket: PathBuf,
    token: String,
    current: Option<PathBuf>,
}

impl RunClient {
    /// The run around, if there is one. A home folder that was named and is not that of the run is none of its business.
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

    /// Records a change in the changeset of this node. When this returns it is durable.
    pub fn record(&self, changeset: &str, entry: &NewEntry) -> Result<RecordedEntry, Error> {
        let (deed, content) = match &entry.edit {
            Edit::Content(file, mode) => (Deed::Content { mode: *mode }, Some(self.file(file)?)),
            Edit::Bytes(bytes, mode) => (Deed::Content { mode: *mode }, Some(Content::Bytes(bytes.clone()))),
            Edit::Patch(patch) => (Deed::Patch, Some(Content::Bytes(patch.clone()))),
            Edit::Delete => (Deed::Delete, None),
            Edit::RenameTo(to) => (Deed::RenameTo(to.clone()), None),
            Edit::Mode(mode) => (Deed::Mode(*mode), None),
            Edit::Symlink(target) => (Deed::Symlink(target.clone()), None),
        };
        let (base, before) = match &entry.base {
            None => (None, None),
            Some(file) if file == Path::new("/dev/null") => (Some(Given::Nothing), None),
            Some(file) => (Some(Given::Content), Some(self.file(file)?)),
        };
        let root = entry.root.as_ref().map(|root| self.absolute(root).to_string_lossy().into_owned());
        let (changeset, path, tool) = (changeset.to_owned(), entry.path.clone(), entry.tool.clone());
        let ask = Record { changeset, root, path, deed, base, tool };
        self.ask(Call::Record(ask), content.into_iter().chain(before).collect())
    }

    /// Appends messages to a context of the run's home, all or none.
    pub fn append(
        &self,
        name: &ContextName,
        drafts: &[Draft],
        if_revision: Option<Revision>,
    ) -> Result<SaveSummary, Error> {
        let drafts = serde_json::to_vec(drafts).expect("messages are JSON");
        let if_revision = if_revision.map(|revision| revision.0);
        let ask = Append { name: name.to_string(), if_revision };
        self.ask(Call::Append(ask), vec![Content::Bytes(drafts)])
    }

    /// The value of a key, as the run sees it. Secrets are not told.
    pub fn get(&self, key: &Key, reveal: Reveal) -> Result<Lookup, Error> {
        let ask = Get { key: key.to_string(), reveal: reveal == Reveal::Yes };
        match self.ask(Call::Get(ask), Vec::new()) {
            // Nothing was to be changed, so nothing is unknown.
            Err(Error::NoReply { socket, source }) => Err(Error::RunGone { socket, source }),
            got => got,
        }
    }

    fn ask<T: DeserializeOwned>(&self, ask: Call, contents: Vec<Content>) -> Result<T, Error> {
        let unanswered = |source| Error::NoReply { socket: self.socket.clone(), source };
        let of_json = |error: serde_json::Error| unanswered(error.into());
        match call(&self.socket, &self.token, ask, contents) {
            Ok(Outcome::Ok(answer)) => serde_json::from_value(answer).map_err(of_json),
            Ok(Outcome::Error(problem)) => {
                Err(Error::Refused { problem: serde_json::from_value(problem).map_err(of_json)? })
            }
            Err(CallError::Gone(source)) => Err(Error::RunGone { socket: self.socket.clone(), source }),
            Err(CallError::NoReply(source)) => Err(unanswered(source)),
            Err(CallError::Content(path, source)) => Err(Error::File { action: "read", path, source }),
        }
    }

    /// A file that is to be sent.
    fn file(&self, file: &Path) -> Result<Content, Error> {
        let path = self.absolute(file);
        let failed = |source| Error::File { action: "read", path: path.clone(), source };
        let file = File::open(&path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        if found.is_file() {
            return Ok(Content::File { file, bytes: found.len(), path });
        }
        let mut bytes = Vec::new();
        file.take(STREAM_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > STREAM_BYTES_MAX {
            return Err(failed(io::ErrorKind::FileTooLarge.into()));
        }
        Ok(Content::Bytes(bytes))
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.current.as_ref().map_or_else(|| path.to_owned(), |current| current.join(path))
    }
}
