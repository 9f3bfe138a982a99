//! Sessions that are kept, so many and no more.

use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::connection::Connection;
use super::failure::{Attempt, Failure};
use super::url::Target;
use crate::Outcome;

pub(crate) struct Pool {
    target: Target,
    max: usize,
    state: Mutex<State>,
    /// A session was given back, or may be opened.
    free: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    /// Sessions that are open or being opened, idle ones too.
    open: usize,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("target", &self.target).field("max", &self.max).finish_non_exhaustive()
    }
}

impl Pool {
    pub(crate) fn new(target: Target, max: usize) -> Self {
        Self { target, max: max.max(1), state: Mutex::default(), free: Condvar::new() }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// An idle session, or a new one; waits for one that is given back when there are as many as may be.
    pub(crate) fn take(&self, deadline: Instant) -> Attempt<Connection> {
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
                return Connection::open(&self.target, deadline).inspect_err(|_| self.lost());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Failure::Silent(Outcome::Aborted));
            }
            (state, _) = self.free.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Keeps a session for the next who needs one.
    pub(crate) fn give(&self, connection: Connection) {
        self.state().idle.push(connection);
        self.free.notify_one();
    }

    /// A session has ended.
    pub(crate) fn lost(&self) {
        self.state().open -= 1;
        self.free.notify_one();
    }

    /// Ends all that are idle: what happened to one has happened to them.
    pub(crate) fn clear(&self) {
        let idle = std::mem::take(&mut self.state().idle);
        idle.iter().for_each(|_| self.lost());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
