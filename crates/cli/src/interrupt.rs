//! Ctrl-C: the first one asks the command to stop and clean up, the second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::error::{Error, Exit, Result};

/// Whether somebody wants the program to stop. Termination and hang-up count as Ctrl-C.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. A program listens once.
    pub(crate) fn listen() -> Result<Self> {
        Self::listen_and(|| {})
    }

    /// Listens, and calls `stop` at the first Ctrl-C, on another thread.
    pub(crate) fn listen_and(stop: impl Fn() + Send + 'static) -> Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let handler = Arc::clone(&asked);
        set_handler(move || {
            if handler.swap(true, Ordering::Relaxed) {
                std::process::exit(Exit::Interrupted.code().into());
            }
            stop();
        })?;
        Ok(Self(asked))
    }

    /// Listens, and calls `stop` at the first and at the second Ctrl-C, on another thread; the third ends the program at once.
    pub(crate) fn listen_twice(stop: impl Fn() + Send + 'static) -> Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let (handler, times) = (Arc::clone(&asked), AtomicU32::new(0));
        set_handler(move || {
            handler.store(true, Ordering::Relaxed);
            if times.fetch_add(1, Ordering::Relaxed) >= 2 {
                std::process::exit(Exit::Interrupted.code().into());
            }
            stop();
        })?;
        Ok(Self(asked))
    }

    /// Leaves Ctrl-C to a program that was started and has the terminal now.
    pub(crate) fn leave_to_child() -> Result<()> {
        set_handler(|| {})
    }

    /// Fails when somebody wants the program to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

fn set_handler(handler: impl Fn() + Send + 'static) -> Result<()> {
    ctrlc::set_handler(handler).map_err(|source| Error::Listen { source })
}
