//! Which processes belong to an actor, told by any process, also after the one that started it is gone.
//!
//! An actor is known by its process id together with the time it was started and the run of the system, as ids are used again. What it started
//! is known by the process group and by a mark in the environment, which is inherited: so what left the group by `setsid` is found as
//! well, unless it has cleared its environment. Signals go through handles on processes, each compared once more after it was opened.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plan::{ProcessStat, boot_id};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::{Error, Result};

/// The variable that holds the mark.
pub(crate) const MARK_VARIABLE: &str = "AGENTS_ACTOR";
/// How long it may take until killed processes are gone.
const KILLED_WAIT: Duration = Duration::from_secs(30);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// An actor's process. Plain data, to be kept in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The process, and the group it leads.
    pub pid: u32,
    /// When it was started, in ticks since the system was.
    pub started_ticks: u64,
    /// Which run of the system.
    pub boot: String,
    /// What nobody else has.
    pub mark: String,
}

impl Identity {
    /// Of a child that was not waited for yet.
    pub(crate) fn of(pid: u32, mark: &str) -> Self {
        let started_ticks = ProcessStat::read(pid).map(|process| process.started_ticks).unwrap_or_default();
        Self { pid, started_ticks, boot: boot_id(), mark: mark.to_owned() }
    }

    /// Of whatever has a mark in this run of the system, when its process is not known.
    pub(crate) fn by_mark(mark: &str) -> Self {
        Self { pid: 0, started_ticks: 0, boot: boot_id(), mark: mark.to_owned() }
    }

    /// Whether anything of the actor is running.
    pub fn is_running(&self) -> bool {
        !self.processes().is_empty()
    }

    /// Ends all that belongs to the actor: asks first, and kills what is there after `grace`. Returns when all is gone, and at once when nothing
    /// is there.
    pub fn end(&self, grace: Duration) -> Result<()> {
        self.end_or_kill(grace, &AtomicBool::new(false))
    }

    /// The same, without waiting any longer once `kill` is set.
    pub(crate) fn end_or_kill(&self, grace: Duration, kill: &AtomicBool) -> Result<()> {
        if !grace.is_zero() {
            self.signal(Signal::TERM);
            let until = Instant::now() + grace;
            while self.is_running() && Instant::now() < until && !kill.load(Ordering::Relaxed) {
                std::thread::sleep(PAUSE);
            }
        }
        let until = Instant::now() + KILLED_WAIT;
        // Again and again: what is about to be killed may just have started another.
        while self.signal(Signal::KILL) > 0 {
            if Instant::now() >= until {
                let pids = self.processes().iter().map(|process| process.pid).collect();
                return Err(Error::StillRunning { pids });
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Sends a signal to all that belong to the actor; how many there were.
    fn signal(&self, signal: Signal) -> usize {
        let processes = self.processes();
        for process in &processes {
            let Some(pid) = Pid::from_raw(process.pid as i32) else { continue };
            // A handle stays on its process; that it is the right one shows when it is the same after opening it.
            if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty())
                && ProcessStat::read(process.pid)
                    .is_some_and(|now| now.started_ticks == process.started_ticks)
            {
                // It may be gone by now, which is what is wanted.
                let _ = pidfd_send_signal(&handle, signal);
            }
        }
        processes.len()
    }

    /// All that belong to the actor and have not ended.
    fn processes(&self) -> Vec<ProcessStat> {
        if boot_id() != self.boot {
            return Vec::new();
        }
        // The group's id means this actor only as long as its leader is there, be it as a zombie.
        let leader = ProcessStat::read(self.pid).filter(|leader| leader.started_ticks == self.started_ticks);
        let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let pids = names.filter_map(|name| name.to_str()?.parse().ok());
        pids.filter(|pid| *pid != std::process::id())
            .filter_map(ProcessStat::read)
            // Nothing that an actor started is older than the actor, so of most processes no more is read.
            .filter(|process| !process.is_zombie && process.started_ticks >= self.started_ticks)
            .filter(|process| leader.is_some() && process.group == self.pid || self.is_marked(process.pid))
            .collect()
    }

    fn is_marked(&self, pid: u32) -> bool {
        let wanted = format!("{MARK_VARIABLE}={}", self.mark);
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_with_the_same_id_is_left_alone() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let right = Identity::of(child.id(), "a mark that nobody has");
        assert!(!right.is_running(), "it leads no group and has no mark");
        let earlier = Identity { started_ticks: right.started_ticks - 1, ..right.clone() };
        let other_run = Identity { boot: "another".to_owned(), ..right };
        for identity in [earlier, other_run] {
            assert!(!identity.is_running());
            identity.end(Duration::from_secs(60)).unwrap();
        }
        assert!(child.try_wait().unwrap().is_none(), "it still runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
