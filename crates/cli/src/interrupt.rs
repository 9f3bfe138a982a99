//! Ctrl-C: the first one asks the command to stop and clean up, the second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Exit, Result};

/// Whether somebody wants the program to stop. Termination and hang-up count as Ctrl-C.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. A program listens once.
    pub(crate) fn listen() -> Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let handler = Arc::clone(&asked);
        ctrlc::set_handler(move || {
            if handler.swap(true, Ordering::Relaxed) {
                std::process::exit(Exit::Interrupted.code().into());
            }
        })
        .map_err(|source| Error::Listen { source })?;
        Ok(Self(asked))
    }

    /// Fails when somebody wants the program to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}
