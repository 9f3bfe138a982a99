//! The exploration.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::report::{Failure, Report, Trouble};
use super::workload::{Acks, Limits, SecondCrash, Workload};
use crate::sim::{Fault, FaultDuration, Fingerprint, FingerprintSet, SimDisk, mix};

/// The faults to inject.
const FAULTS: [(Fault, FaultDuration); 4] = [
    (Fault::Io, FaultDuration::Once),
    (Fault::Io, FaultDuration::Forever),
    (Fault::NoSpace, FaultDuration::Once),
    (Fault::NoSpace, FaultDuration::Forever),
];
/// Describes a kill in failures.
const KILLED: &str = "killed, no power cut";

/// Explores a workload; see the [module](crate::explore).
pub fn explore<A>(workload: &Workload<'_, A>, limits: &Limits) -> Report
where
    A: Clone + Eq + Hash + Debug + Default,
{
    let start = SimDisk::new();
    (workload.setup)(&start);
    start.settle();
    start.new_program();
    let mut explorer = Explorer {
        workload,
        limits,
        start,
        report: Report::default(),
        checked: FingerprintSet::default(),
        counted: FingerprintSet::default(),
    };
    explorer.all();
    explorer.report.checked = explorer.checked.len() as u64;
    explorer.report.states = explorer.counted.len() as u64;
    explorer.report
}

struct Explorer<'a, A> {
    workload: &'a Workload<'a, A>,
    limits: &'a Limits,
    start: SimDisk,
    report: Report,
    /// States that were checked.
    checked: FingerprintSet,
    /// States that the report counts.
    counted: FingerprintSet,
}

/// The history of a state.
#[derive(Clone)]
struct History<A> {
    acks: A,
    acks_hash: u128,
    first: Trouble,
    second: Option<Trouble>,
    cuts: Vec<String>,
    log: Vec<String>,
}

impl<A: Clone + Eq + Hash + Debug + Default> Explorer<'_, A> {
    fn all(&mut self) {
        let calls = self.count_calls();
        for call in 0..=calls {
            self.first(Trouble::Crash { call });
        }
        if self.limits.faults {
            for (call, (fault, lasts)) in every_fault(calls) {
                self.first(Trouble::Fault { call, fault, lasts });
            }
        }
    }

    /// Counts the calls of an undisturbed workload.
    fn count_calls(&mut self) -> u64 {
        let disk = self.start.fork();
        let acks = Acks::default();
        let ran = self.caught(|workload| (workload.run)(&disk, &acks));
        let problem = match ran {
            Err(message) => Some(message),
            Ok(()) if disk.calls() == 0 => Some("the workload changes nothing".to_owned()),
            Ok(()) => None,
        };
        if let Some(message) = problem {
            let history = History::new(Trouble::Crash { call: disk.calls() }, acks.get(), &disk);
            self.fail(&history, message);
        }
        disk.calls()
    }

    /// Runs the workload with a crash or fault, and checks all possible successors.
    fn first(&mut self, trouble: Trouble) {
        if self.has_enough() {
            return;
        }
        let disk = self.start.fork();
        trouble.plan(&disk);
        let acks = Acks::default();
        let ran = self.caught(|workload| (workload.run)(&disk, &acks));
        if !trouble.happened(&disk) {
            return;
        }
        self.report.points += 1;
        let history = History::new(trouble, acks.get(), &disk);
        if let Err(message) = ran {
            self.fail(&history, message);
        }
        self.after(&disk, &history);
    }

    /// The program has ended: its successor finds the live disk, or one after a power cut.
    fn after(&mut self, disk: &SimDisk, history: &History<A>) {
        let killed = disk.kill();
        let (whole, fingerprint) = (killed.whole_fingerprint(), killed.fingerprint());
        self.state(killed, whole, fingerprint, history, &|| KILLED.to_owned());

        let limit = match history.second {
            None => self.limits.cuts_per_point,
            Some(_) => self.limits.second_cuts_per_point,
        };
        let seed = mix(u128::from(self.limits.seed), whole) as u64;
        for cut in disk.sampled_crash_states(seed, limit) {
            if self.has_enough() {
                return;
            }
            // After a cut nothing is pending, so the tree and the boot are the whole state.
            let whole = mix(cut.fingerprint, cut.disk.boot());
            self.state(cut.disk.clone(), whole, cut.fingerprint, history, &|| cut.describe());
        }
    }

    fn state(
        &mut self,
        disk: SimDisk,
        whole: Fingerprint,
        fingerprint: Fingerprint,
        history: &History<A>,
        describe: &dyn Fn() -> String,
    ) {
        if !self.is_unseen(whole, history) {
            return;
        }
        self.counted.insert(mix(history.acks_hash, fingerprint));
        let untouched = self.wants_second(history, fingerprint).then(|| disk.fork());
        let extended = || {
            let mut extended = history.clone();
            extended.cuts.push(describe());
            extended
        };

        let recovered = self.caught(|workload| (workload.recover)(&disk)).flatten();
        let calls = disk.calls();
        let result = match recovered {
            Ok(()) => self.holds(&disk, &history.acks),
            Err(message) => Err(format!("recovery failed: {message}")),
        };
        if let Err(message) = result {
            let mut extended = extended();
            extended.log.extend(after_recovery(&disk));
            self.fail(&extended, message);
            return;
        }
        if let Some(untouched) = untouched {
            let extended = extended();
            for call in 0..=calls {
                self.second(&untouched, Trouble::Crash { call }, &extended);
            }
            if self.limits.second_faults {
                for (call, (fault, lasts)) in every_fault(calls) {
                    self.second(&untouched, Trouble::Fault { call, fault, lasts }, &extended);
                }
            }
        }
    }

    /// Checks the state, before and after another recovery, which must change nothing.
    fn holds(&self, disk: &SimDisk, acks: &A) -> Result<(), String> {
        self.caught(|workload| (workload.check)(disk, acks)).flatten()?;
        let before = disk.fingerprint();
        self.caught(|workload| (workload.recover)(disk))
            .flatten()
            .map_err(|message| format!("recovering again failed: {message}"))?;
        if disk.fingerprint() != before {
            return Err("recovering again changed something".to_owned());
        }
        Ok(())
    }

    /// Runs recovery with a crash or fault, and checks all possible successors.
    fn second(&mut self, untouched: &SimDisk, trouble: Trouble, history: &History<A>) {
        if self.has_enough() {
            return;
        }
        let disk = untouched.fork();
        trouble.plan(&disk);
        let ran = self.caught(|workload| drop((workload.recover)(&disk)));
        if !trouble.happened(&disk) {
            return;
        }
        self.report.second_points += 1;
        let mut history = history.clone();
        history.second = Some(trouble);
        history.log.extend(after_recovery(&disk));
        if let Err(message) = ran {
            self.fail(&history, message);
        }
        self.after(&disk, &history);
    }

    fn is_unseen(&mut self, whole: Fingerprint, history: &History<A>) -> bool {
        let first = mix(mix(history.acks_hash, whole), 1);
        if history.second.is_none() {
            return self.checked.insert(first);
        }
        // States checked after the first crash need no check after a second one.
        !self.checked.contains(&first) && self.checked.insert(mix(first, 2))
    }

    fn wants_second(&self, history: &History<A>, fingerprint: Fingerprint) -> bool {
        history.second.is_none()
            && match self.limits.second_crash {
                SecondCrash::Off => false,
                SecondCrash::Every => true,
                SecondCrash::OneIn(many) => {
                    ((fingerprint >> 64) as u64).is_multiple_of(u64::from(many.max(1)))
                }
            }
    }

    fn has_enough(&self) -> bool {
        self.report.failures.len() >= self.limits.failures_max
    }

    fn fail(&mut self, history: &History<A>, message: String) {
        if self.has_enough() {
            return;
        }
        self.report.failures.push(Failure {
            workload: self.workload.name.to_owned(),
            first: history.first,
            second: history.second,
            cuts: history.cuts.clone(),
            seed: self.limits.seed,
            message: format!("{message} (acknowledged: {:?})", history.acks),
            log: history.log.clone(),
        });
    }

    /// Runs a part of the workload; a panic becomes an error.
    fn caught<R>(&self, part: impl FnOnce(&Workload<'_, A>) -> R) -> Result<R, String> {
        fastrand::seed(self.limits.seed);
        catch_unwind(AssertUnwindSafe(|| part(self.workload))).map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a text");
            format!("panic: {text}")
        })
    }
}

impl<A: Hash> History<A> {
    fn new(first: Trouble, acks: A, disk: &SimDisk) -> Self {
        let acks_hash = hash(&acks);
        Self { acks, acks_hash, first, second: None, cuts: Vec::new(), log: disk.log() }
    }
}

impl Trouble {
    fn plan(self, disk: &SimDisk) {
        match self {
            Trouble::Crash { call } => disk.crash_at(call),
            Trouble::Fault { call, fault, lasts } => disk.fail_at(call, fault, lasts),
        }
    }

    /// A crash after the last call counts; a fault that hit no call does not.
    fn happened(self, disk: &SimDisk) -> bool {
        match self {
            Trouble::Crash { .. } => true,
            Trouble::Fault { .. } => disk.fault_hits() > 0,
        }
    }
}

fn every_fault(calls: u64) -> impl Iterator<Item = (u64, (Fault, FaultDuration))> {
    (0..calls).flat_map(|call| FAULTS.map(|fault| (call, fault)))
}

fn after_recovery(disk: &SimDisk) -> impl Iterator<Item = String> {
    std::iter::once("recovery:".to_owned()).chain(disk.log())
}

fn hash(value: &impl Hash) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, value).hash(&mut hasher);
        hasher.finish()
    };
    u128::from(half(0)) << 64 | u128::from(half(1))
}
