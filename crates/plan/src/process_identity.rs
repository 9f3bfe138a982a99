//! Process identity: the owner of leases, and whether that process lives.
//!
//! The system reuses process ids, so an identity also has the start time, the boot id and the PID
//! namespace: containers number their own processes. If one of these is unknown, or differs from
//! that of the reader, the liveness is unknown, and leases expire by time. A wrong answer is
//! harmless: the epoch fences a process that lost its lease.

use store::Owner;
use ulid::Ulid;

use crate::Machine;

/// The liveness of the process that an owner names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// The process runs on this machine.
    Alive,
    /// The process has ended, or this machine has restarted since.
    Ended,
    /// The process is on another machine or in another PID namespace, or is hidden, or the text
    /// names none.
    Unknown,
}

/// Returns an owner that names this process. Each call returns a different owner, with a random id.
pub fn process_owner() -> Owner {
    let (pid, id) = (std::process::id(), Ulid::generate());
    let text = match Identity::own() {
        Some(own) => format!("{own}, {id}"),
        None => format!("process {pid}, {id}"),
    };
    Owner::parse(text).expect("a valid owner")
}

/// Returns whether the process that an owner names lives.
pub fn liveness(owner: &Owner) -> Liveness {
    match (Identity::parse(owner.as_str()), Identity::own()) {
        (Some(identity), Some(own)) => identity.liveness(&own),
        _ => Liveness::Unknown,
    }
}

/// The identity of a process, unique over time and machines.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    pid: u32,
    /// The start time, in clock ticks since the boot.
    started_ticks: u64,
    boot: String,
    /// The PID namespace; absent in runs of version 0.1.
    namespace: Option<u64>,
    /// Host name and machine id; absent in changesets of version 0.1.
    machine: Option<String>,
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let machine = self.machine.as_deref().unwrap_or_default();
        write!(f, "process {} on {machine}, started {} in {}", self.pid, self.started_ticks, self.boot)?;
        self.namespace.map_or(Ok(()), |namespace| write!(f, ", namespace {namespace}"))
    }
}

impl Identity {
    /// The identity of this process; `None` if the system does not provide it.
    fn own() -> Option<Self> {
        let pid = std::process::id();
        Some(Self {
            pid,
            started_ticks: ProcessStat::read(pid)?.started_ticks,
            boot: Some(boot_id()).filter(|boot| !boot.is_empty())?,
            namespace: Some(pid_namespace()?),
            machine: Some(machine()),
        })
    }

    /// Parses the text of an owner:
    ///
    /// ```text
    /// process 7 on vm/3d1219c7, started 168 in 39eebdd4-…, namespace 4026531836, 01M7…
    /// process 7 on vm/3d1219c7, started 168 in 39eebdd4-…, 01M7…      a run of version 0.1
    /// process 7 (168/4026531836/39eebdd4-…), 01M7…                    a changeset of version 0.1
    /// ```
    fn parse(owner: &str) -> Option<Self> {
        let text = owner.strip_prefix("process ")?;
        if let Some((pid, rest)) = text.split_once(" (") {
            let mut parts = rest.split_once(')')?.0.splitn(3, '/');
            return Some(Self {
                pid: pid.parse().ok()?,
                started_ticks: parts.next()?.parse().ok()?,
                namespace: Some(parts.next()?.parse().ok()?),
                boot: parts.next()?.to_owned(),
                machine: None,
            });
        }
        let (pid, rest) = text.split_once(" on ")?;
        let (machine, rest) = rest.split_once(", started ")?;
        let (ticks, rest) = rest.split_once(" in ")?;
        let (boot, rest) = rest.split_once(", ")?;
        let namespace = rest.strip_prefix("namespace ").and_then(|rest| rest.split_once(", "));
        Some(Self {
            pid: pid.parse().ok()?,
            started_ticks: ticks.parse().ok()?,
            boot: boot.to_owned(),
            namespace: namespace.map(|(namespace, _)| namespace.parse()).transpose().ok()?,
            machine: Some(machine.to_owned()),
        })
    }

    /// Returns the liveness, as seen from the process `own`.
    fn liveness(&self, own: &Self) -> Liveness {
        if self.boot != own.boot {
            let is_restarted = self.machine.is_some() && self.machine == own.machine;
            return if is_restarted { Liveness::Ended } else { Liveness::Unknown };
        }
        let is_same = |stat: ProcessStat| stat.started_ticks == self.started_ticks && !stat.is_zombie;
        match ProcessStat::read(self.pid).map(is_same) {
            // In another namespace, the id belongs to another process or to none.
            _ if self.namespace.is_some_and(|namespace| Some(namespace) != own.namespace) => {
                Liveness::Unknown
            }
            Some(true) => Liveness::Alive,
            _ if self.namespace.is_none() => Liveness::Unknown,
            Some(false) => Liveness::Ended,
            // A system may hide processes of other users in /proc.
            None if is_gone(self.pid) => Liveness::Ended,
            None => Liveness::Unknown,
        }
    }
}

/// Host name and machine id, shortened, without characters that the text of an owner uses.
fn machine() -> String {
    let Machine { host, id } = Machine::local();
    let plain = |text: String, most: usize| -> String {
        text.chars()
            .filter(|character| character.is_ascii_alphanumeric() || ".-_".contains(*character))
            .take(most)
            .collect()
    };
    format!("{}/{}", plain(host, 40), plain(id, 8))
}

/// Returns the boot id of the system; empty if the system has none.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

fn pid_namespace() -> Option<u64> {
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// Returns whether no process of this namespace has this id.
#[cfg(target_os = "linux")]
fn is_gone(pid: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

#[cfg(not(target_os = "linux"))]
fn is_gone(_: u32) -> bool {
    false
}

/// The fields of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// The process id.
    pub pid: u32,
    /// The process group.
    pub group: u32,
    /// The start time, in clock ticks since the boot.
    pub started_ticks: u64,
    /// True if the process has ended and its parent has not waited for it.
    pub is_zombie: bool,
}

impl ProcessStat {
    /// Reads the fields; `None` if the process does not exist or is hidden.
    pub fn read(pid: u32) -> Option<Self> {
        Self::parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Parses the fields. The name is in parentheses and may contain parentheses; the fields follow
    /// the last one.
    fn parse(pid: u32, stat: &[u8]) -> Option<Self> {
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let words: Vec<&str> = std::str::from_utf8(&stat[after_name..]).ok()?.split_whitespace().collect();
        Some(Self {
            pid,
            is_zombie: matches!(*words.first()?, "Z" | "X"),
            group: words.get(2)?.parse().ok()?,
            started_ticks: words.get(19)?.parse().ok()?,
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::Liveness::{Alive, Ended, Unknown};
    use super::*;

    fn check(owner: &str, expected: Liveness) {
        assert_eq!(liveness(&Owner::parse(owner).expect("a line")), expected, "{owner}");
    }

    /// All formats of an owner: current, changeset of version 0.1, run of version 0.1 (without
    /// namespace).
    fn forms(identity: &Identity) -> [String; 3] {
        let Identity { pid, started_ticks, boot, namespace, .. } = identity;
        let no_namespace = Identity { namespace: None, ..identity.clone() };
        [
            format!("{identity}, x"),
            format!("process {pid} ({started_ticks}/{}/{boot}), x", namespace.unwrap_or_default()),
            format!("{no_namespace}, x"),
        ]
    }

    #[test]
    fn this_process_is_alive() {
        let own = Identity::own().unwrap();
        assert_eq!(Identity::parse(process_owner().as_str()), Some(own.clone()));
        assert_ne!(process_owner(), process_owner(), "two handles of a process are two owners");
        for form in forms(&own) {
            check(&form, Alive);
        }
    }

    #[test]
    fn an_ended_process_is_detected_by_id_and_start_time() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let own = Identity::own().unwrap();
        let started_ticks = ProcessStat::read(child.id()).unwrap().started_ticks;
        let of_child = Identity { pid: child.id(), started_ticks, ..own.clone() };
        child.wait().unwrap();
        let reused = Identity { started_ticks: own.started_ticks + 1, ..own };
        for ended in [of_child, reused] {
            let [now, changeset, run] = forms(&ended);
            check(&now, Ended);
            check(&changeset, Ended);
            check(&run, Unknown);
        }
    }

    #[test]
    fn a_zombie_has_ended() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let stat = || ProcessStat::read(child.id()).unwrap();
        while !stat().is_zombie {
            std::thread::yield_now();
        }
        let zombie =
            Identity { pid: child.id(), started_ticks: stat().started_ticks, ..Identity::own().unwrap() };
        check(&forms(&zombie)[0], Ended);
        child.wait().unwrap();
    }

    #[test]
    fn a_process_of_an_earlier_boot_has_ended() {
        let [now, changeset, run] =
            forms(&Identity { boot: "another-boot".to_owned(), ..Identity::own().unwrap() });
        check(&now, Ended);
        check(&run, Ended);
        check(&changeset, Unknown);
        check(&now.replacen(" on ", " on other-", 1), Unknown);
    }

    #[test]
    fn a_process_in_another_namespace_is_unknown() {
        let own = Identity::own().unwrap();
        let elsewhere = Identity { namespace: Some(1), ..own.clone() };
        let gone = Identity { pid: u32::MAX >> 1, ..elsewhere.clone() };
        for identity in [elsewhere, gone] {
            let [now, changeset, _] = forms(&identity);
            check(&now, Unknown);
            check(&changeset, Unknown);
        }
        for pid in [0, u32::MAX] {
            check(&forms(&Identity { pid, ..own.clone() })[0], Unknown);
        }
    }

    #[test]
    fn a_hidden_process_is_unknown() {
        // As if /proc hid it: the id is in use.
        assert!(!is_gone(1) && !is_gone(std::process::id()) && is_gone(i32::MAX as u32));
    }

    #[test]
    fn owners_in_other_formats_are_unknown() {
        for text in ["all of us", "process 1", "process 1, x", "process 1 (2/3, x", "process x (1/2/y)"] {
            check(text, Unknown);
        }
        check("process 1 on vm/1, started 2 in b", Unknown);
        check("process 1 on vm/1, started 2 in b, namespace x, y", Unknown);
    }

    #[test]
    fn stat_parses_any_process_name() {
        let rest = "S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 99";
        for name in ["sh", "a) R 1 1 (b", "(", "\u{fc}"] {
            let stat = format!("5 ({name}) {rest}\n");
            let expected = ProcessStat { pid: 5, group: 77, started_ticks: 4242, is_zombie: false };
            assert_eq!(ProcessStat::parse(5, stat.as_bytes()), Some(expected), "{name}");
        }
        let zombie = format!("5 (sh) {}", rest.replacen('S', "Z", 1));
        assert!(ProcessStat::parse(5, zombie.as_bytes()).unwrap().is_zombie);
        assert_eq!(ProcessStat::parse(5, b"5 (sh"), None);
        assert_eq!(ProcessStat::parse(5, b"5 (sh) S 1"), None);
        let own = ProcessStat::read(std::process::id()).unwrap();
        assert!(own.started_ticks > 0 && !own.is_zombie);
    }
}
