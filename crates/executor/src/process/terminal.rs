//! Hands the terminal to an actor: its process group becomes the foreground, so that it reads keys and
//! receives Ctrl-C.

use std::fs::File;

use nix::sys::signal::{SigSet, Signal as Name};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

/// The terminal of an actor, taken back on drop.
#[derive(Debug)]
pub(crate) struct Terminal {
    terminal: File,
    ours: Pid,
    actor: Pid,
}

impl Terminal {
    /// Hands the terminal to a new process group. Returns `None` without a terminal, or if it is not
    /// ours.
    pub(crate) fn hand_to(pid: u32) -> Option<Self> {
        let terminal = File::open("/dev/tty").ok()?;
        let (ours, actor) = (tcgetpgrp(&terminal).ok()?, Pid::from_raw(pid as i32)?);
        // A background process that changes the foreground group gets SIGTTOU, and we are one from now on.
        let mut mask = SigSet::empty();
        mask.add(Name::SIGTTOU);
        mask.thread_block().ok()?;
        tcsetpgrp(&terminal, actor).ok()?;
        let handed = Self { terminal, ours, actor };
        // It may have been stopped for reading before it was in the foreground.
        handed.send_continue();
        Some(handed)
    }

    /// Continues an actor that was stopped from the keyboard: there is no shell to do it.
    pub(crate) fn continue_if_stopped(&self) {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        if let Ok(Some(_)) = waitid(WaitId::Pid(self.actor), options) {
            self.send_continue();
        }
    }

    fn send_continue(&self) {
        // It may have ended already.
        let _ = kill_process_group(self.actor, Signal::CONT);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Fails if the terminal was hung up.
        let _ = tcsetpgrp(&self.terminal, self.ours);
    }
}
