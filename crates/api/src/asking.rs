//! A command in a sandbox asks the run that started it, and nobody else: neither the store nor the home folder is touched.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use executor::run::{Reply, Request, SOCKET_VARIABLE, SOCKET_VERSION, SocketOutcome, TOKEN_VARIABLE};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::surroundings::is_same;
use crate::wire::{APPEND, Append, Deed, GET, Get, Given, GotSaid, ProblemSaid, RECORD, Record, said};
use crate::{
    ContextName, Doing, Draft, Entered, Error, Got, HOME_VARIABLE, Key, NewEntry, Reveal, Revision, Saved,
    Surroundings,
};

/// How long an answer may take: longer than anything that the run waits for.
const ANSWER_MAX: Duration = Duration::from_secs(300);
/// The longest line of an answer.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// The most that is read of a content that is no file, and so has no length.
const STREAM_BYTES_MAX: u64 = 256 << 20;
/// How much of a file is sent at a time.
const PIECE_BYTES: usize = 64 << 10;
/// How many folders above a socket its home is: in `runs`, in the folder of a plan.
const HOME_ABOVE: usize = 3;

/// The run that this process is in a sandbox of.
#[derive(Clone)]
pub struct Inside {
    socket: PathBuf,
    token: String,
    current: Option<PathBuf>,
}

/// What follows a request.
enum Body {
    Bytes(Vec<u8>),
    File { file: File, path: PathBuf, bytes: u64 },
}

impl Inside {
    /// The run around, if there is one. A home folder that was named and is not that of the run is none of its business.
    pub fn around(surroundings: &Surroundings) -> Option<Inside> {
        let socket = surroundings.variable(SOCKET_VARIABLE).filter(|socket| !socket.is_empty())?;
        let socket = PathBuf::from(socket);
        let named =
            surroundings.home.clone().or_else(|| surroundings.variable(HOME_VARIABLE).map(PathBuf::from));
        let of_run = socket.ancestors().nth(HOME_ABOVE);
        let is_other = |home: &PathBuf| {
            let home = surroundings.absolute(home).unwrap_or_else(|_| home.clone());
            !of_run.is_some_and(|of_run| is_same(of_run, &home))
        };
        if named.as_ref().is_some_and(is_other) {
            return None;
        }
        let token = surroundings.variable(TOKEN_VARIABLE).unwrap_or_default().to_string_lossy().into_owned();
        Some(Inside { socket, token, current: surroundings.current.clone() })
    }

    /// Records a change in the changeset of this node. When this returns it is durable.
    pub fn record(&self, changeset: &str, entry: &NewEntry) -> Result<Entered, Error> {
        let (deed, content) = match &entry.doing {
            Doing::Content(file, mode) => (Deed::Content { mode: *mode }, Some(self.file(file)?)),
            Doing::Bytes(bytes, mode) => (Deed::Content { mode: *mode }, Some(Body::Bytes(bytes.clone()))),
            Doing::Patch(patch) => (Deed::Patch, Some(Body::Bytes(patch.clone()))),
            Doing::Delete => (Deed::Delete, None),
            Doing::RenameTo(to) => (Deed::RenameTo(to.clone()), None),
            Doing::Mode(mode) => (Deed::Mode(*mode), None),
            Doing::Symlink(target) => (Deed::Symlink(target.clone()), None),
        };
        let (base, before) = match &entry.base {
            None => (None, None),
            Some(file) if file == Path::new("/dev/null") => (Some(Given::Nothing), None),
            Some(file) => (Some(Given::Content), Some(self.file(file)?)),
        };
        let root = entry.root.as_ref().map(|root| self.absolute(root).to_string_lossy().into_owned());
        let (changeset, path, tool) = (changeset.to_owned(), entry.path.clone(), entry.tool.clone());
        let ask = Record { changeset, root, path, deed, base, tool };
        self.ask(RECORD, &ask, content.into_iter().chain(before).collect())
    }

    /// Appends messages to a context of the run's home, all or none.
    pub fn append(
        &self,
        name: &ContextName,
        drafts: &[Draft],
        if_revision: Option<Revision>,
    ) -> Result<Saved, Error> {
        let drafts = serde_json::to_vec(drafts).expect("messages are JSON");
        self.ask(APPEND, &Append { name: name.clone(), if_revision }, vec![Body::Bytes(drafts)])
    }

    /// The value of a key, as the run sees it. Secrets are not told.
    pub fn get(&self, key: &Key, reveal: Reveal) -> Result<Got, Error> {
        let ask = Get { key: key.clone(), reveal: reveal == Reveal::Yes };
        let got: Result<GotSaid, Error> = self.ask(GET, &ask, Vec::new());
        match got {
            // Nothing was to be changed, so nothing is unknown.
            Err(Error::NoReply { socket, source }) => Err(Error::RunGone { socket, source }),
            got => got.map(GotSaid::heard),
        }
    }

    fn ask<T: DeserializeOwned>(
        &self,
        ask: &str,
        with: &impl Serialize,
        bodies: Vec<Body>,
    ) -> Result<T, Error> {
        let gone = |source| Error::RunGone { socket: self.socket.clone(), source };
        let unanswered = |source| Error::NoReply { socket: self.socket.clone(), source };
        let stream = executor::sandbox::connect_private(&self.socket).map_err(gone)?;
        stream.set_read_timeout(Some(ANSWER_MAX)).map_err(gone)?;
        stream.set_write_timeout(Some(ANSWER_MAX)).map_err(gone)?;
        let request = Request {
            version: SOCKET_VERSION,
            token: self.token.clone(),
            ask: ask.to_owned(),
            with: said(with),
            bodies: bodies.iter().map(Body::len).collect(),
        };
        // A run that refuses does not read on: what it says counts, not that nobody listened.
        let is_sent = send(&stream, &request, bodies)?;
        let mut line = Vec::new();
        let heard = match BufReader::new(&stream).take(ANSWER_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            heard => heard,
        };
        // Half of a request changes nothing.
        heard.map_err(|source| if is_sent { unanswered(source) } else { gone(source) })?;
        let of_json = |error: serde_json::Error| unanswered(error.into());
        match serde_json::from_slice::<Reply>(&line).map_err(of_json)?.outcome {
            SocketOutcome::Ok(answer) => serde_json::from_value(answer).map_err(of_json),
            SocketOutcome::Error(problem) => {
                let problem: ProblemSaid = serde_json::from_value(problem).map_err(of_json)?;
                Err(Error::Refused { problem: Box::new(problem.heard()) })
            }
        }
    }

    /// A file that is to be sent.
    fn file(&self, file: &Path) -> Result<Body, Error> {
        let path = self.absolute(file);
        let failed = |source| Error::Given { act: "read", path: path.clone(), source };
        let file = File::open(&path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        if found.is_file() {
            return Ok(Body::File { file, bytes: found.len(), path });
        }
        let mut bytes = Vec::new();
        file.take(STREAM_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > STREAM_BYTES_MAX {
            return Err(failed(io::ErrorKind::FileTooLarge.into()));
        }
        Ok(Body::Bytes(bytes))
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.current.as_ref().map_or_else(|| path.to_owned(), |current| current.join(path))
    }
}

impl Body {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { bytes, .. } => *bytes,
        }
    }
}

/// Sends a request; whether all of it was taken. A file that became shorter meanwhile is an error, and the run sees that something is
/// missing.
fn send(mut stream: &UnixStream, request: &Request, bodies: Vec<Body>) -> Result<bool, Error> {
    let mut line = serde_json::to_vec(request).expect("a request is made of text and numbers");
    line.push(b'\n');
    if stream.write_all(&line).is_err() {
        return Ok(false);
    }
    for body in bodies {
        let is_taken = match body {
            Body::Bytes(bytes) => stream.write_all(&bytes).is_ok(),
            Body::File { file, path, bytes } => {
                let failed = |source| Error::Given { act: "read", path: path.clone(), source };
                send_file(stream, &mut file.take(bytes), bytes).map_err(failed)?
            }
        };
        if !is_taken {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same for a file of which so many bytes were announced.
fn send_file(mut stream: &UnixStream, file: &mut dyn Read, mut left: u64) -> io::Result<bool> {
    let mut buffer = vec![0; PIECE_BYTES];
    while left > 0 {
        let got = file.read(&mut buffer)?;
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if stream.write_all(&buffer[..got]).is_err() {
            return Ok(false);
        }
        left -= got as u64;
    }
    Ok(true)
}
