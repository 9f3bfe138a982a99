//! Which processes belong to an actor, told by any process, also after the one that started it is gone.
//!
//! An actor is known by its process id together with the time it was started and the run of the system, as ids are used again. What it started
//! is known by the process group and by a mark in the environment, which is inherited: so what left the group by `setsid` is found as
//! well, unless it has cleared its environment. Signals go through handles on processes, each compared once more after it was opened.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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

/// A process as `/proc` has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Process {
    pid: u32,
    group: u32,
    started_ticks: u64,
    is_zombie: bool,
}

impl Identity {
    /// Of a child that was not waited for yet.
    pub(crate) fn of(pid: u32, mark: &str) -> Self {
        let started_ticks = Process::read(pid).map(|process| process.started_ticks).unwrap_or_default();
        Self { pid, started_ticks, boot: boot(), mark: mark.to_owned() }
    }

    /// Of whatever has a mark in this run of the system, when its process is not known.
    pub(crate) fn by_mark(mark: &str) -> Self {
        Self { pid: 0, started_ticks: 0, boot: boot(), mark: mark.to_owned() }
    }

    /// This process.
    pub(crate) fn own() -> Self {
        Self::of(std::process::id(), "")
    }

    /// Whether the process itself is there, be it with other children.
    pub(crate) fn is_alive(&self) -> bool {
        let process = Process::read(self.pid).filter(|process| !process.is_zombie);
        boot() == self.boot && process.is_some_and(|process| process.started_ticks == self.started_ticks)
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
                && Process::read(process.pid).is_some_and(|now| now.started_ticks == process.started_ticks)
            {
                // It may be gone by now, which is what is wanted.
                let _ = pidfd_send_signal(&handle, signal);
            }
        }
        processes.len()
    }

    /// All that belong to the actor and have not ended.
    fn processes(&self) -> Vec<Process> {
        if boot() != self.boot {
            return Vec::new();
        }
        // The group's id means this actor only as long as its leader is there, be it as a zombie.
        let leader = Process::read(self.pid).filter(|leader| leader.started_ticks == self.started_ticks);
        let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let pids = names.filter_map(|name| name.to_str()?.parse().ok());
        pids.filter(|pid| *pid != std::process::id())
            .filter_map(Process::read)
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

impl Process {
    fn read(pid: u32) -> Option<Self> {
        Self::parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name is in parentheses and may hold anything, parentheses too; what follows the last one are plain numbers.
    fn parse(pid: u32, stat: &[u8]) -> Option<Self> {
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let fields: Vec<&str> = std::str::from_utf8(&stat[after_name..]).ok()?.split_whitespace().collect();
        Some(Self {
            pid,
            is_zombie: matches!(*fields.first()?, "Z" | "X"),
            group: fields.get(2)?.parse().ok()?,
            started_ticks: fields.get(19)?.parse().ok()?,
        })
    }
}

/// Which run of the system this is.
pub(crate) fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let rest = "S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 99";
        for name in ["sh", "a) R 1 1 (b", "(", "\u{fc}"] {
            let stat = format!("5 ({name}) {rest}\n");
            let expected = Process { pid: 5, group: 77, started_ticks: 4242, is_zombie: false };
            assert_eq!(Process::parse(5, stat.as_bytes()), Some(expected), "{name}");
        }
        let zombie = format!("5 (sh) {}", rest.replacen('S', "Z", 1));
        assert!(Process::parse(5, zombie.as_bytes()).unwrap().is_zombie);
        assert_eq!(Process::parse(5, b"5 (sh"), None);
        assert_eq!(Process::parse(5, b"5 (sh) S 1"), None);
        let own = Process::read(std::process::id()).unwrap();
        assert!(own.started_ticks > 0 && !own.is_zombie);
    }

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
