//! A proxy between the engine and the server that cuts the connection at any protocol message.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Tells whether the message at the cut still gets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Before,
    After,
}

#[derive(Default)]
struct State {
    /// Messages since `arm`, in both directions.
    seen: AtomicUsize,
    /// The message to cut at, once.
    cut: Mutex<Option<(usize, Cut)>>,
}

/// Runs until the process of the test ends.
pub(super) struct Proxy {
    pub(super) port: u16,
    state: Arc<State>,
}

impl Proxy {
    pub(super) fn start(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                let (up, down) = (Arc::clone(&shared), Arc::clone(&shared));
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || relay(from, to, &up, Begins::WithoutType));
                thread::spawn(move || relay(server, client, &down, Begins::WithType));
            }
        });
        Self { port, state }
    }

    /// Resets the count, and cuts at a message, counted from 0, or never.
    pub(super) fn arm(&self, cut: Option<(usize, Cut)>) {
        self.state.seen.store(0, Ordering::SeqCst);
        *self.state.cut.lock().unwrap() = cut;
    }

    /// Returns the number of messages since `arm`.
    pub(super) fn seen(&self) -> usize {
        self.state.seen.load(Ordering::SeqCst)
    }

    /// Tells whether the cut has happened.
    pub(super) fn has_cut(&self) -> bool {
        self.state.cut.lock().unwrap().is_none()
    }
}

/// The first message of a client has no type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    WithType,
    WithoutType,
}

fn relay(mut from: TcpStream, mut to: TcpStream, state: &State, begins: Begins) {
    let mut typed = begins == Begins::WithType;
    while let Ok(message) = read(&mut from, typed) {
        typed = true;
        let number = state.seen.fetch_add(1, Ordering::SeqCst);
        let cut = state.cut.lock().unwrap().take_if(|(at, _)| *at == number);
        let kept = cut.is_none_or(|(_, cut)| cut == Cut::After);
        if kept && to.write_all(&message).is_err() || cut.is_some() {
            break;
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// Reads one whole message.
fn read(from: &mut TcpStream, typed: bool) -> io::Result<Vec<u8>> {
    let mut message = vec![0; if typed { 5 } else { 4 }];
    from.read_exact(&mut message)?;
    let start = message.len() - 4;
    let length = u32::from_be_bytes(message[start..].try_into().unwrap()) as usize;
    let rest = message.len();
    message.resize(start + length, 0);
    from.read_exact(&mut message[rest..])?;
    Ok(message)
}
