//! A pool of sessions, limited in number.

use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::connection::Connection;
use super::failure::{EngineResult, Failure};
use super::url::ServerUrl;
use crate::Outcome;

pub(crate) struct Pool {
    server: ServerUrl,
    max: usize,
    state: Mutex<State>,
    /// Signals that a session is idle, or may be opened.
    free: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    /// Sessions that are open or being opened, including idle ones.
    open: usize,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("server", &self.server).field("max", &self.max).finish_non_exhaustive()
    }
}

impl Pool {
    pub(crate) fn new(server: ServerUrl, max: usize) -> Self {
        Self { server, max: max.max(1), state: Mutex::default(), free: Condvar::new() }
    }

    pub(crate) fn server(&self) -> &ServerUrl {
        &self.server
    }

    /// Takes an idle session, or opens one until `connect_by`; waits until `deadline` for a session
    /// if the limit is reached.
    pub(crate) fn take(&self, deadline: Instant, connect_by: Instant) -> EngineResult<Connection> {
        let mut state = self.state();
        loop {
            while let Some(connection) = state.idle.pop() {
                if !connection.is_closed() {
                    return Ok(connection);
                }
                state.open -= 1;
            }
            if state.open < self.max {
                state.open += 1;
                drop(state);
                return Connection::open(&self.server, connect_by).inspect_err(|_| self.forget());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Failure::TimedOut(Outcome::Aborted));
            }
            (state, _) = self.free.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns a session to the pool.
    pub(crate) fn put_back(&self, connection: Connection) {
        self.state().idle.push(connection);
        self.free.notify_one();
    }

    /// Forgets a session that has ended.
    pub(crate) fn forget(&self) {
        self.state().open -= 1;
        self.free.notify_one();
    }

    /// Closes all idle sessions: after a failure, they are likely broken, too.
    pub(crate) fn clear(&self) {
        let idle = std::mem::take(&mut self.state().idle);
        idle.iter().for_each(|_| self.forget());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
