//! Ctrl-C: the first stops the command, which cleans up; the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::error::{Error, Exit, Result};

/// A request to stop. SIGTERM and SIGHUP count as Ctrl-C.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. A process listens once.
    pub(crate) fn listen() -> Result<Self> {
        Self::listen_and(|| {})
    }

    /// Listens, and calls `stop` on another thread at the first Ctrl-C.
    pub(crate) fn listen_and(stop: impl Fn() + Send + 'static) -> Result<Self> {
        let requested = Arc::new(AtomicBool::new(false));
        let handler = Arc::clone(&requested);
        set_handler(move || {
            if handler.swap(true, Ordering::Relaxed) {
                std::process::exit(Exit::Interrupted.code().into());
            }
            stop();
        })?;
        Ok(Self(requested))
    }

    /// Listens, and calls `stop` on another thread at the first and second Ctrl-C; the third ends the program at once.
    pub(crate) fn listen_twice(stop: impl Fn() + Send + 'static) -> Result<Self> {
        let requested = Arc::new(AtomicBool::new(false));
        let (handler, presses) = (Arc::clone(&requested), AtomicU32::new(0));
        set_handler(move || {
            handler.store(true, Ordering::Relaxed);
            if presses.fetch_add(1, Ordering::Relaxed) >= 2 {
                std::process::exit(Exit::Interrupted.code().into());
            }
            stop();
        })?;
        Ok(Self(requested))
    }

    /// Calls `stop` on another thread at the first SIGQUIT (Ctrl-\\), which would end this process and leave
    /// the processes it started; the second ends the program at once. Call it before other threads start:
    /// they must not take the signal.
    #[cfg(target_os = "linux")]
    pub(crate) fn listen_for_quit(stop: impl Fn() + Send + 'static) -> Result<()> {
        use nix::sys::signal::{SigSet, Signal};
        let mut quit = SigSet::empty();
        quit.add(Signal::SIGQUIT);
        let failed = |error: nix::errno::Errno| Error::Listen { source: ctrlc::Error::System(error.into()) };
        quit.thread_block().map_err(failed)?;
        std::thread::spawn(move || {
            if quit.wait().is_ok() {
                stop();
            }
            if quit.wait().is_ok() {
                std::process::exit(Exit::Interrupted.code().into());
            }
        });
        Ok(())
    }

    /// Does nothing: no processes are started.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn listen_for_quit(_stop: impl Fn() + Send + 'static) -> Result<()> {
        Ok(())
    }

    /// Ignores Ctrl-C, for a child process that has the terminal.
    pub(crate) fn ignore_for_child() -> Result<()> {
        set_handler(|| {})
    }

    /// Fails after Ctrl-C.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

fn set_handler(handler: impl Fn() + Send + 'static) -> Result<()> {
    ctrlc::set_handler(handler).map_err(|source| Error::Listen { source })
}
