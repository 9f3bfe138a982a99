//! The run's side: connections, tokens, and one request after the other.

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

use super::protocol::{self, Bodies, Call, Outcome, Reply, Request, VERSION, read_line};
use super::session::{Place, Seat};
use crate::sandbox::{FileResult, listen_private, make_private_folder, remove_private_socket};
use crate::{Error, FileError, Result};

/// How many connections there may be at once.
const CONNECTIONS_MAX: usize = 128;
/// How long a client may take between two pieces of a request, or to take an answer.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// What the names of sockets begin with.
const NAME: &str = "socket-";
/// How many characters of a random text are enough for names.
const NAME_CHARS: usize = 8;

/// What answers the requests of actors.
pub trait Answers: fmt::Debug + Send + Sync {
    /// Answers a request of a node; a refusal is in the form that clients know.
    fn answer(&self, seat: &Seat, call: Call, bodies: Bodies<'_>) -> std::result::Result<Value, Value>;

    /// A refusal for a reason of the socket's own.
    fn refusal(&self, error: Error) -> Value;

    /// What else actors find in their environment.
    fn variables(&self) -> Vec<(OsString, OsString)>;
}

/// The socket of one life of a run. It is gone when this is.
pub(crate) struct Socket {
    path: PathBuf,
    listener: UnixListener,
    tokens: Tokens,
    answers: Arc<dyn Answers>,
    /// By the hash of their token: how long a comparison takes tells nothing about it.
    seats: Mutex<HashMap<Hash, Arc<Seat>>>,
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    open: BTreeMap<u64, UnixStream>,
    next: u64,
    ended: bool,
}

impl Socket {
    /// Listens in a folder, which is made private; what earlier lives of the run left there is removed. The run's lease is held, so
    /// nobody else is at it.
    pub(crate) fn listen(folder: &Path, answers: Arc<dyn Answers>) -> Result<Self> {
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
        Ok(Self { path, listener, tokens, answers, seats: Mutex::default(), connections: Mutex::default() })
    }

    /// Answers until what is returned is dropped.
    pub(crate) fn serve<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> Result<Serving<'scope>> {
        let failed = |error: io::Error| Error::Socket {
            path: self.path.clone(),
            source: Box::new(FileError::io("make", &self.path, error)),
        };
        let (ended, end) = pipe().map_err(failed)?;
        scope.spawn(move || {
            while let Some(stream) = self.next_connection(&ended) {
                self.begin(scope, stream);
            }
        });
        Ok(Serving { socket: self, _end: end })
    }

    /// Gives a node's attempt its token, until what is returned is dropped.
    pub(crate) fn take_place(&self, place: Place) -> Taken<'_> {
        let token = self.tokens.next();
        let (key, seat) = (Hash::of(token.as_bytes()), Arc::new(Seat::new(place)));
        self.seats().insert(key, Arc::clone(&seat));
        Taken { socket: self, key, seat, token }
    }

    /// The next one who connects; nobody once `ended` has no other end.
    fn next_connection(&self, ended: &PipeReader) -> Option<UnixStream> {
        loop {
            let mut fds =
                [PollFd::new(&self.listener, PollFlags::IN), PollFd::new(ended, PollFlags::empty())];
            match poll(&mut fds, None) {
                Ok(_) if !fds[1].revents().is_empty() => return None,
                Ok(_) => {
                    if let Ok((stream, _)) = self.listener.accept() {
                        return Some(stream);
                    }
                    // Too many open files, say: it passes, and must not be asked for all the time.
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }

    fn begin<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, stream: UnixStream) {
        let limited = stream.set_read_timeout(Some(IDLE_MAX)).and(stream.set_write_timeout(Some(IDLE_MAX)));
        let (Ok(()), Ok(kept)) = (limited, stream.try_clone()) else { return };
        let mut connections = self.connections();
        if connections.ended {
            return;
        }
        if connections.open.len() >= CONNECTIONS_MAX {
            drop(connections);
            let refusal = self.answers.refusal(Error::TooManyRequests { limit: CONNECTIONS_MAX });
            return drop(say(&stream, Outcome::Error(refusal)));
        }
        let number = connections.next;
        connections.next += 1;
        connections.open.insert(number, kept);
        drop(connections);
        scope.spawn(move || {
            // An error is the client's end; what it asked for was answered or refused.
            drop(self.converse(number, &stream));
            self.connections().open.remove(&number);
        });
    }

    /// Answers one request after the other, until the client has no more.
    fn converse(&self, number: u64, stream: &UnixStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        while let Some(line) = read_line(&mut reader)? {
            let (outcome, is_at_end) = self.reply(number, stream, line, &mut reader);
            say(stream, outcome)?;
            if !is_at_end {
                // What follows is no request.
                return Ok(());
            }
        }
        Ok(())
    }

    /// The answer to one request, and whether all of it was read.
    fn reply(
        &self,
        number: u64,
        stream: &UnixStream,
        line: protocol::Line,
        reader: &mut BufReader<&UnixStream>,
    ) -> (Outcome, bool) {
        let refused = |error| (Outcome::Error(self.answers.refusal(error)), false);
        let Request { token, call, bodies, .. } = match Request::parse(line) {
            Ok(request) => request,
            Err(error) => return refused(error),
        };
        let seat = self.seats().get(&Hash::of(token.as_bytes())).cloned();
        // From here on, whoever closes the seat waits.
        let Some(under_way) = seat.as_ref().and_then(|seat| seat.enter(number, stream)) else {
            return refused(Error::NoSeat);
        };
        let mut left = bodies.iter().sum();
        let answered = self.answers.answer(under_way.seat(), call, Bodies::new(reader, &bodies, &mut left));
        (answered.map_or_else(Outcome::Error, Outcome::Ok), left == 0)
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<Hash, Arc<Seat>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // One that stays is removed by whoever resumes the run, or cleans the plan.
        drop(remove_private_socket(&self.path));
    }
}

/// Requests are answered as long as this lives.
#[must_use = "nobody is answered when it is dropped"]
pub(crate) struct Serving<'a> {
    socket: &'a Socket,
    _end: PipeWriter,
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        let mut connections = self.socket.connections();
        connections.ended = true;
        for stream in connections.open.values() {
            // Whoever waits for another request sees the end; it may have gone already.
            drop(stream.shutdown(Shutdown::Read));
        }
    }
}

/// A node's attempt may speak to the run as long as this lives. Dropping it waits until nothing of it is under way.
#[must_use = "the token is worth nothing when it is dropped"]
pub(crate) struct Taken<'a> {
    socket: &'a Socket,
    key: Hash,
    seat: Arc<Seat>,
    token: String,
}

impl Taken<'_> {
    /// What the actor finds in its environment.
    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut variables = self.socket.answers.variables();
        variables.push((protocol::SOCKET_VARIABLE.into(), self.socket.path.as_os_str().to_owned()));
        variables.push((protocol::TOKEN_VARIABLE.into(), (&self.token).into()));
        variables
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.socket.seats().remove(&self.key);
        self.seat.close();
    }
}

fn say(mut stream: &UnixStream, outcome: Outcome) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Reply { version: VERSION, outcome })?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Where the system has random bytes.
const RANDOM: &str = "/dev/urandom";

/// Texts that nobody can guess: hashes of a random secret with a number.
pub(super) struct Tokens {
    secret: [u8; 32],
    number: AtomicU64,
}

impl Tokens {
    pub(super) fn new() -> FileResult<Self> {
        let mut secret = [0; 32];
        let read = File::open(RANDOM).and_then(|mut file| file.read_exact(&mut secret));
        read.map_err(|error| FileError::io("make", RANDOM, error))?;
        Ok(Self { secret, number: AtomicU64::new(0) })
    }

    pub(super) fn next(&self) -> String {
        let number = self.number.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        Hash::of(&[self.secret.as_slice(), &number].concat()).to_string()
    }
}
