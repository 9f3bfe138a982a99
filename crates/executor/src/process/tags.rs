//! Finds the processes of an actor from any process, also after the death of the one that started it.
//!
//! Pids are reused, so an actor is identified by pid, start time and boot id. Its descendants are
//! identified by the process group and by a tag in the environment, which they inherit: a process that
//! left the group by `setsid` is found too, unless it cleared its environment. Signals go through
//! pidfds, each verified after opening.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plan::{ProcessStat, boot_id};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::{Error, Result};

/// The variable with the process tag.
pub(crate) const TAG_VARIABLE: &str = "AGENTS_ACTOR";
/// Longest wait for killed processes to disappear.
const KILLED_WAIT: Duration = Duration::from_secs(30);
/// Pause between two checks.
const PAUSE: Duration = Duration::from_millis(5);

/// The identity of an actor's processes. Plain data, to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorIdentity {
    /// Pid of the actor, which is also its process group.
    pub pid: u32,
    /// Start time, in clock ticks since boot.
    pub started_ticks: u64,
    /// Boot id of the system.
    pub boot_id: String,
    /// The process tag: a unique text.
    pub tag: String,
}

impl ActorIdentity {
    /// The identity of a child that was not waited for yet.
    pub(crate) fn of(pid: u32, tag: &str) -> Self {
        let started_ticks = ProcessStat::read(pid).map(|process| process.started_ticks).unwrap_or_default();
        Self { pid, started_ticks, boot_id: boot_id(), tag: tag.to_owned() }
    }

    /// The identity of all processes of this boot with a tag, if the pid is unknown.
    pub(crate) fn by_tag(tag: &str) -> Self {
        Self { pid: 0, started_ticks: 0, boot_id: boot_id(), tag: tag.to_owned() }
    }

    /// Returns true if any process of the actor is running.
    pub fn is_running(&self) -> bool {
        !self.processes().is_empty()
    }

    /// Ends all processes of the actor: sends SIGTERM, and after `grace` SIGKILL. Returns when all are
    /// gone.
    pub fn end(&self, grace: Duration) -> Result<()> {
        self.end_or_kill(grace, &AtomicBool::new(false))
    }

    /// Like [`end`](Self::end), but sends SIGKILL at once when `kill` is set.
    pub(crate) fn end_or_kill(&self, grace: Duration, kill: &AtomicBool) -> Result<()> {
        if !grace.is_zero() {
            self.signal(Signal::TERM);
            let until = Instant::now() + grace;
            while self.is_running() && Instant::now() < until && !kill.load(Ordering::Relaxed) {
                std::thread::sleep(PAUSE);
            }
        }
        let until = Instant::now() + KILLED_WAIT;
        // Repeat: a process may have started another just before it was killed.
        while self.signal(Signal::KILL) > 0 {
            if Instant::now() >= until {
                let pids = self.processes().iter().map(|process| process.pid).collect();
                return Err(Error::StillRunning { pids });
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Sends a signal to all processes of the actor. Returns their number.
    fn signal(&self, signal: Signal) -> usize {
        let processes = self.processes();
        for process in &processes {
            let Some(pid) = Pid::from_raw(process.pid as i32) else { continue };
            // A pidfd stays on its process. The start time, read after opening, shows that it is the right one.
            if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty())
                && ProcessStat::read(process.pid)
                    .is_some_and(|now| now.started_ticks == process.started_ticks)
            {
                // Fails if the process is gone.
                let _ = pidfd_send_signal(&handle, signal);
            }
        }
        processes.len()
    }

    /// All running processes of the actor.
    fn processes(&self) -> Vec<ProcessStat> {
        if boot_id() != self.boot_id {
            return Vec::new();
        }
        // The group id belongs to this actor only while its leader exists, at least as a zombie.
        let leader = ProcessStat::read(self.pid).filter(|leader| leader.started_ticks == self.started_ticks);
        let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let pids = names.filter_map(|name| name.to_str()?.parse().ok());
        pids.filter(|pid| *pid != std::process::id())
            .filter_map(ProcessStat::read)
            // No descendant is older than the actor, so most processes are read no further.
            .filter(|process| !process.is_zombie && process.started_ticks >= self.started_ticks)
            .filter(|process| leader.is_some() && process.group == self.pid || self.is_tagged(process.pid))
            .collect()
    }

    fn is_tagged(&self, pid: u32) -> bool {
        let wanted = format!("{TAG_VARIABLE}={}", self.tag);
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_with_the_same_pid_is_not_ended() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let right = ActorIdentity::of(child.id(), "an unused tag");
        assert!(!right.is_running(), "it leads no group and has no tag");
        let earlier = ActorIdentity { started_ticks: right.started_ticks - 1, ..right.clone() };
        let other_boot = ActorIdentity { boot_id: "another".to_owned(), ..right };
        for identity in [earlier, other_boot] {
            assert!(!identity.is_running());
            identity.end(Duration::from_secs(60)).unwrap();
        }
        assert!(child.try_wait().unwrap().is_none(), "it still runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
