//! In whose name leases are held: a process, so that others on the same machine can tell that it has ended.
//!
//! The ids of processes are used again, so one counts together with the time at which it was started, the run of the system, and the
//! namespace that its id is in: containers number their own. Where one of these is not known nobody is told to have ended, and
//! leases run out by time. A wrong answer would do no harm: who lost a lease is refused by its epoch.

use store::Owner;
use ulid::Ulid;

/// The name of this process, with something drawn at random.
pub(crate) fn own() -> Owner {
    let (pid, id) = (std::process::id(), Ulid::generate());
    let text = match system::Process::own() {
        Some(process) => format!("process {pid} ({}), {id}", process.place()),
        None => format!("process {pid}, {id}"),
    };
    Owner::parse(text).expect("numbers and ids are a line")
}

/// Whether it is known that the owner's process has ended.
pub(crate) fn has_ended(owner: &Owner) -> bool {
    system::Process::parse(owner.as_str()).is_some_and(|process| process.has_ended())
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    /// A process that can be told from every other one.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(super) struct Process {
        pub(super) pid: u32,
        /// When it was started, in ticks since the system was.
        pub(super) started_ticks: u64,
        /// The namespace that its id is in.
        pub(super) namespace: u64,
        /// The run of the system.
        pub(super) boot: String,
    }

    impl Process {
        /// This one.
        pub(super) fn own() -> Option<Self> {
            let pid = std::process::id();
            let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
            let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
            let namespace = namespace.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()?;
            Some(Self { pid, started_ticks: started(pid)?.0, namespace, boot: boot.trim().to_owned() })
        }

        /// All but the id.
        pub(super) fn place(&self) -> String {
            format!("{}/{}/{}", self.started_ticks, self.namespace, self.boot)
        }

        /// From the name of an owner.
        pub(super) fn parse(owner: &str) -> Option<Self> {
            let (pid, rest) = owner.strip_prefix("process ")?.split_once(" (")?;
            let mut parts = rest.split_once(')')?.0.splitn(3, '/');
            Some(Self {
                pid: pid.parse().ok()?,
                started_ticks: parts.next()?.parse().ok()?,
                namespace: parts.next()?.parse().ok()?,
                boot: parts.next()?.to_owned(),
            })
        }

        pub(super) fn has_ended(&self) -> bool {
            let is_here = Self::own()
                .is_some_and(|own| (own.namespace, own.boot) == (self.namespace, self.boot.clone()));
            let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw).filter(|_| is_here) else {
                return false;
            };
            // A system may hide the processes of others in /proc, so one that is not seen there may be alive.
            test_kill_process(pid) == Err(Errno::SRCH)
                || started(self.pid)
                    .is_some_and(|(ticks, is_zombie)| is_zombie || ticks != self.started_ticks)
        }
    }

    /// When a process was started, and whether it has ended and nobody has asked how.
    fn started(pid: u32) -> Option<(u64, bool)> {
        parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name is in parentheses and may hold anything, parentheses too; what follows the last one are plain words.
    pub(super) fn parse_stat(stat: &[u8]) -> Option<(u64, bool)> {
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let mut words = std::str::from_utf8(&stat[after_name..]).ok()?.split_whitespace();
        let is_zombie = matches!(words.next()?, "Z" | "X");
        Some((words.nth(18)?.parse().ok()?, is_zombie))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    /// Nothing tells a process from another one that had its id before.
    pub(super) enum Process {}

    impl Process {
        pub(super) fn own() -> Option<Self> {
            None
        }

        pub(super) fn place(&self) -> String {
            match *self {}
        }

        pub(super) fn parse(_: &str) -> Option<Self> {
            None
        }

        pub(super) fn has_ended(&self) -> bool {
            match *self {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::system::{Process, parse_stat};
    use super::*;

    fn owner(process: &Process) -> Owner {
        Owner::parse(format!("process {} ({}), x", process.pid, process.place())).expect("a line")
    }

    #[test]
    fn the_own_process_is_known_and_alive() {
        let own = Process::own().unwrap();
        assert_eq!(Process::parse(super::own().as_str()), Some(own.clone()));
        assert!(!has_ended(&super::own()) && !has_ended(&owner(&own)));
        assert_ne!(super::own(), super::own(), "two handles of a process are two owners");
    }

    #[test]
    fn only_what_is_known_to_have_ended_has() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let own = Process::own().unwrap();
        let of_child = Process { pid: child.id(), ..own.clone() };
        let before = Process { started_ticks: own.started_ticks + 1, ..own.clone() };
        assert!(has_ended(&owner(&before)), "its id is another's, started at another time");
        child.wait().unwrap();
        assert!(has_ended(&owner(&of_child)));
        for elsewhere in [
            Process { boot: "another run".to_owned(), ..of_child.clone() },
            Process { namespace: 1, ..of_child.clone() },
            Process { pid: 0, ..own.clone() },
            Process { pid: u32::MAX, ..own },
        ] {
            assert!(!has_ended(&owner(&elsewhere)), "{elsewhere:?}");
        }
        for unknown in ["all of us", "process 1", "process 1, x", "process 1 (2/3, x", "process x (1/2/y)"] {
            assert!(!has_ended(&Owner::parse(unknown).unwrap()), "{unknown}");
        }
    }

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let rest = "S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 99";
        for name in ["sh", "a) R 1 1 (b", "("] {
            assert_eq!(parse_stat(format!("5 ({name}) {rest}\n").as_bytes()), Some((4242, false)), "{name}");
        }
        assert_eq!(
            parse_stat(format!("5 (sh) {}", rest.replacen('S', "Z", 1)).as_bytes()),
            Some((4242, true))
        );
        assert_eq!((parse_stat(b"5 (sh"), parse_stat(b"5 (sh) S 1")), (None, None));
    }
}
