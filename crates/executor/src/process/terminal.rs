//! The terminal in the hands of an actor: its process group is in the foreground, so that it reads keys and gets Ctrl-C itself.

use std::fs::File;

use nix::sys::signal::{SigSet, Signal as Name};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

/// The terminal is the actor's as long as this lives.
#[derive(Debug)]
pub(crate) struct Terminal {
    terminal: File,
    ours: Pid,
    actor: Pid,
}

impl Terminal {
    /// Hands it to a process group that was just started; nothing where there is no terminal, or where it is somebody else's.
    pub(crate) fn hand_to(pid: u32) -> Option<Self> {
        let terminal = File::open("/dev/tty").ok()?;
        let (ours, actor) = (tcgetpgrp(&terminal).ok()?, Pid::from_raw(pid as i32)?);
        // Whoever is in the background and changes the foreground is stopped by this signal, and that is what we are from now on.
        let mut mask = SigSet::empty();
        mask.add(Name::SIGTTOU);
        mask.thread_block().ok()?;
        tcsetpgrp(&terminal, actor).ok()?;
        let handed = Self { terminal, ours, actor };
        // It may have read before it was its turn, and was stopped for it.
        handed.go_on();
        Some(handed)
    }

    /// Nobody is there who could wake up an actor that was stopped from the keyboard.
    pub(crate) fn keep_going(&self) {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        if let Ok(Some(_)) = waitid(WaitId::Pid(self.actor), options) {
            self.go_on();
        }
    }

    fn go_on(&self) {
        // It may have ended already.
        let _ = kill_process_group(self.actor, Signal::CONT);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that was hung up cannot be taken back.
        let _ = tcsetpgrp(&self.terminal, self.ours);
    }
}
