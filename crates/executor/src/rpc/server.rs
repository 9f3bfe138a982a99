//! The run's end of the socket: connections, tokens, and the requests of each connection in order.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use filetx::Hash;
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::Value;

use super::protocol::{
    Bodies, Line, Method, Outcome, Request, Response, SOCKET_VARIABLE, TOKEN_VARIABLE, VERSION, read_line,
};
use super::session::{AttemptContext, NodeSession};
use crate::sandbox::{FileResult, listen_private, make_private_folder, remove_private_socket};
use crate::{Error, FileError, Result};

/// The most open connections. One that waits for a request makes room for a new one.
pub(super) const CONNECTIONS_MAX: usize = 128;
/// Timeout of a client between two parts of a request, and for reading a response.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// Prefix of socket names.
const NAME: &str = "socket-";
/// Characters of a random text in a socket name.
const NAME_CHARS: usize = 8;

/// Handles the requests of actors.
pub trait RequestHandler: fmt::Debug + Send + Sync {
    /// Handles a request of a node. An error has the form that clients parse.
    fn handle(
        &self,
        session: &NodeSession,
        method: Method,
        bodies: Bodies<'_>,
    ) -> std::result::Result<Value, Value>;

    /// Formats an error of the server itself as [`handle`](Self::handle) does.
    fn error_response(&self, error: Error) -> Value;

    /// Further variables for the environment of actors.
    fn variables(&self) -> Vec<(OsString, OsString)>;
}

/// The socket of a running run, removed on drop.
pub(crate) struct Server {
    path: PathBuf,
    listener: UnixListener,
    tokens: Tokens,
    handler: Arc<dyn RequestHandler>,
    /// By the hash of their token: the time of a comparison reveals nothing about a token.
    sessions: Mutex<HashMap<Hash, Arc<NodeSession>>>,
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    /// In the order of their numbers.
    open: BTreeMap<u64, Connection>,
    next: u64,
    ended: bool,
}

struct Connection {
    stream: UnixStream,
    /// True until a line is complete, and again after its response. No actor is known by then.
    is_idle: bool,
}

impl Connections {
    /// Closes the oldest idle connection if there are too many. Returns false if all are busy.
    fn make_room(&mut self) -> bool {
        if self.open.len() < CONNECTIONS_MAX {
            return true;
        }
        let oldest = self.open.iter().find(|(_, connection)| connection.is_idle).map(|(number, _)| *number);
        let Some(closed) = oldest.and_then(|number| self.open.remove(&number)) else { return false };
        // Ends its thread, which waits for a line.
        drop(closed.stream.shutdown(Shutdown::Both));
        true
    }

    fn add(&mut self, stream: UnixStream) -> u64 {
        let number = self.next;
        self.next += 1;
        self.open.insert(number, Connection { stream, is_idle: true });
        number
    }

    /// Marks a connection as idle or busy. Returns false if it was closed.
    fn set_idle(&mut self, number: u64, is_idle: bool) -> bool {
        let connection = self.open.get_mut(&number);
        connection.map(|connection| connection.is_idle = is_idle).is_some()
    }
}

impl Server {
    /// Listens in a private folder, and removes sockets that earlier processes of the run left there.
    /// The lease of the run keeps all others away.
    pub(crate) fn listen(folder: &Path, handler: Arc<dyn RequestHandler>) -> Result<Self> {
        let failed = |path: &Path, source| Error::Socket { path: path.to_owned(), source: Box::new(source) };
        let tokens = Tokens::new().map_err(|source| failed(folder, source))?;
        let path = folder.join(format!("{NAME}{}", &tokens.next()[..NAME_CHARS]));
        let failed = |source| failed(&path, source);
        make_private_folder(folder).map_err(failed)?;
        let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in names.filter(|entry| entry.file_name().to_string_lossy().starts_with(NAME)) {
            remove_private_socket(&entry.path()).map_err(failed)?;
        }
        let listener = listen_private(&path).map_err(failed)?;
        let (sessions, connections) = (Mutex::default(), Mutex::default());
        Ok(Self { path, listener, tokens, handler, sessions, connections })
    }

    /// Serves requests until the guard is dropped.
    pub(crate) fn serve<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<ServerGuard<'scope>> {
        let failed = |error: io::Error| Error::Socket {
            path: self.path.clone(),
            source: Box::new(FileError::io("make", &self.path, error)),
        };
        let (ended, end) = pipe().map_err(failed)?;
        scope.spawn(move || {
            while let Some(stream) = self.accept(&ended) {
                self.start_connection(scope, stream);
            }
        });
        Ok(ServerGuard { server: self, _end: end })
    }

    /// Gives an attempt its token, valid until the guard is dropped.
    pub(crate) fn open_session(&self, attempt: AttemptContext) -> SessionGuard<'_> {
        let token = self.tokens.next();
        let (key, session) = (Hash::of(token.as_bytes()), Arc::new(NodeSession::new(attempt)));
        self.sessions().insert(key, Arc::clone(&session));
        SessionGuard { server: self, key, session, token }
    }

    /// Waits for the next connection. Returns `None` once the other end of `ended` is closed.
    fn accept(&self, ended: &PipeReader) -> Option<UnixStream> {
        loop {
            let mut fds =
                [PollFd::new(&self.listener, PollFlags::IN), PollFd::new(ended, PollFlags::empty())];
            match poll(&mut fds, None) {
                Ok(_) if !fds[1].revents().is_empty() => return None,
                Ok(_) => {
                    if let Ok((stream, _)) = self.listener.accept() {
                        return Some(stream);
                    }
                    // Too many open files, for example. It passes; do not spin.
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }

    fn start_connection<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, stream: UnixStream) {
        let limited = stream.set_read_timeout(Some(IDLE_MAX)).and(stream.set_write_timeout(Some(IDLE_MAX)));
        let (Ok(()), Ok(registered)) = (limited, stream.try_clone()) else { return };
        let mut connections = self.connections();
        if connections.ended {
            return;
        }
        if !connections.make_room() {
            drop(connections);
            let error = self.handler.error_response(Error::TooManyRequests { limit: CONNECTIONS_MAX });
            return drop(respond(&stream, Outcome::Error(error)));
        }
        let number = connections.add(registered);
        drop(connections);
        scope.spawn(move || {
            // The client went away; its requests were answered or refused.
            drop(self.serve_connection(number, &stream));
            self.connections().open.remove(&number);
        });
    }

    /// Answers the requests of a connection in order.
    fn serve_connection(&self, number: u64, stream: &UnixStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        while let Some(line) = read_line(&mut reader)? {
            if !self.connections().set_idle(number, false) {
                return Ok(());
            }
            let (outcome, is_read) = self.answer(number, stream, line, &mut reader);
            respond(stream, outcome)?;
            if !is_read {
                // The rest of a body is not a request.
                return Ok(());
            }
            self.connections().set_idle(number, true);
        }
        Ok(())
    }

    /// Handles one request. Returns its outcome, and whether all its bodies were read.
    fn answer(
        &self,
        number: u64,
        stream: &UnixStream,
        line: Line,
        reader: &mut BufReader<&UnixStream>,
    ) -> (Outcome, bool) {
        let refused = |error| (Outcome::Error(self.handler.error_response(error)), false);
        let Request { token, method, body_lengths, .. } = match Request::parse(line) {
            Ok(request) => request,
            Err(error) => return refused(error),
        };
        let session = self.sessions().get(&Hash::of(token.as_bytes())).cloned();
        let Some(session) = session else { return refused(Error::InvalidToken) };
        // From here on, closing the session waits for this request.
        let request = match session.begin_request(number, stream) {
            Ok(request) => request,
            Err(error) => return refused(error),
        };
        if let Err(error) = request.session().check_body_lengths(&body_lengths) {
            return refused(error);
        }
        let mut unread = body_lengths.iter().sum();
        let bodies = Bodies::new(reader, &body_lengths, &mut unread);
        let handled = self.handler.handle(request.session(), method, bodies);
        (handled.map_or_else(Outcome::Error, Outcome::Result), unread == 0)
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<Hash, Arc<NodeSession>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // If this fails, resuming the run or pruning the plan removes it.
        drop(remove_private_socket(&self.path));
    }
}

/// Keeps a server running.
#[must_use = "dropping it ends the server"]
pub(crate) struct ServerGuard<'a> {
    server: &'a Server,
    _end: PipeWriter,
}

impl Drop for ServerGuard<'_> {
    fn drop(&mut self) {
        let mut connections = self.server.connections();
        connections.ended = true;
        for connection in connections.open.values() {
            // Ends the wait for another request; the client may have closed the connection.
            drop(connection.stream.shutdown(Shutdown::Read));
        }
    }
}

/// Keeps the token of an attempt valid. Dropping it waits for requests in flight.
#[must_use = "dropping it makes the token invalid"]
pub(crate) struct SessionGuard<'a> {
    server: &'a Server,
    key: Hash,
    session: Arc<NodeSession>,
    token: String,
}

impl SessionGuard<'_> {
    /// Variables for the environment of the actor.
    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut variables = self.server.handler.variables();
        variables.push((SOCKET_VARIABLE.into(), self.server.path.as_os_str().to_owned()));
        variables.push((TOKEN_VARIABLE.into(), (&self.token).into()));
        variables
    }
}

impl Drop for SessionGuard<'_> {
    fn drop(&mut self) {
        self.server.sessions().remove(&self.key);
        self.session.close();
    }
}

fn respond(mut stream: &UnixStream, outcome: Outcome) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Response { version: VERSION, outcome })?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// The system's source of random bytes.
const RANDOM: &str = "/dev/urandom";

/// Makes tokens that cannot be guessed: hashes of a random secret and a counter.
pub(super) struct Tokens {
    secret: [u8; 32],
    number: AtomicU64,
}

impl Tokens {
    pub(super) fn new() -> FileResult<Self> {
        let mut secret = [0; 32];
        let read = File::open(RANDOM).and_then(|mut file| file.read_exact(&mut secret));
        read.map_err(|error| FileError::io("read", RANDOM, error))?;
        Ok(Self { secret, number: AtomicU64::new(0) })
    }

    pub(super) fn next(&self) -> String {
        let number = self.number.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        Hash::of(&[self.secret.as_slice(), &number].concat()).to_string()
    }
}
