//! The lease that a run holds on its plan: who runs it, and how it is taken from one that is dead.
//!
//! A lease lasts a while beyond the last sign of life. Nobody has to wait that long for a process of this machine: its owner's text names the
//! process by id, start and run of the system, so whether it is dead can be looked up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use plan::{Machine, PlanId, Plans, State};
use store::{Holding, Lease, Owner, RequestId, Resource, Store};

use super::options::Cancel;
use crate::identity::{Identity, boot};
use crate::{Error, Result};

/// How long a run that gives no sign of life keeps its plan, from the view of another machine.
const LEASE: Duration = Duration::from_secs(60);
/// How often it gives one.
const RENEW: Duration = Duration::from_secs(10);
/// How often it is looked whether somebody gave the plan up: one row is read.
const LOOK: Duration = Duration::from_millis(500);
/// How often a lease is tried that changes hands all the time.
const TRIES_MAX: usize = 10;

/// In whose name this process holds leases. Each call gives another one.
pub(crate) fn owner() -> Owner {
    let own = Identity::own();
    let text = format!(
        "process {} on {}, started {} in {}, {}",
        own.pid,
        machine(),
        own.started_ticks,
        own.boot,
        RequestId::new()
    );
    Owner::parse(text).expect("numbers and plain names are a line")
}

/// The machine by name and id, short and without what could be read as something else.
fn machine() -> String {
    let Machine { host, id } = Machine::here();
    let plain = |text: String, most: usize| -> String {
        text.chars()
            .filter(|character| character.is_ascii_alphanumeric() || ".-_".contains(*character))
            .take(most)
            .collect()
    };
    format!("{}/{}", plain(host, 40), plain(id, 8))
}

/// Whether an owner is a process of this machine that is not there any more.
pub(crate) fn is_dead(owner: &Owner) -> bool {
    let read = || {
        let (pid, rest) = owner.as_str().strip_prefix("process ")?.split_once(" on ")?;
        let (machine, rest) = rest.split_once(", started ")?;
        let (ticks, rest) = rest.split_once(" in ")?;
        let (boot, _) = rest.split_once(", ")?;
        let (pid, started_ticks) = (pid.parse().ok()?, ticks.parse().ok()?);
        Some((
            machine.to_owned(),
            Identity { pid, started_ticks, boot: boot.to_owned(), mark: String::new() },
        ))
    };
    read().is_some_and(|(on, process)| on == machine() && (process.boot != boot() || !process.is_alive()))
}

/// Takes the lease on a plan, also from a process that is dead. Whoever else holds it is named.
pub(crate) fn take(plans: &Plans, plan: PlanId) -> Result<Lease> {
    let (store, resource) = (plans.store().as_ref(), Resource::Plan(plan));
    let holding = |owner: &Owner, duration| Holding { owner: owner.clone(), duration };
    for _ in 0..TRIES_MAX {
        match store.acquire(resource, &holding(plans.owner(), LEASE)) {
            Ok(lease) => return Ok(lease),
            Err(store::Error::Held { owner, .. }) if is_dead(&owner) => {
                // In its name, as it cannot speak for itself. Who comes second finds the lease changed, and looks again.
                let given_back = store
                    .acquire(resource, &holding(&owner, Duration::ZERO))
                    .and_then(|lease| store.release(&lease));
                match given_back {
                    Ok(()) | Err(store::Error::Held { .. } | store::Error::Stale { .. }) => {}
                    Err(error) => return Err(plan::Error::from(error).into()),
                }
            }
            Err(store::Error::Held { owner, .. }) => {
                return Err(Error::Held { plan, owner: owner.to_string() });
            }
            Err(error) => return Err(plan::Error::from(error).into()),
        }
    }
    Err(Error::Held { plan, owner: "processes that come and go".to_owned() })
}

/// Gives signs of life until it is dropped. When somebody has taken the plan over nevertheless, or has given it up, everything is stopped.
pub(crate) struct Renewing<'a> {
    lost: &'a AtomicBool,
    _end: Sender<()>,
}

impl<'a> Renewing<'a> {
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        store: &'scope dyn Store,
        lease: Lease,
        plan: PlanId,
        cancel: &'scope Cancel,
        lost: &'a AtomicBool,
    ) -> Self
    where
        'a: 'scope,
    {
        let (end, ended) = channel();
        scope.spawn(move || {
            let mut renewed = Instant::now();
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LOOK) {
                if renewed.elapsed() >= RENEW {
                    renewed = Instant::now();
                    // Any other error may pass, and without a lease nobody is worse off until somebody takes it.
                    if let Err(store::Error::Stale { .. }) = store.renew(&lease, LEASE) {
                        lost.store(true, Ordering::SeqCst);
                        cancel.stop();
                        return;
                    }
                }
                // Another process may have given the plan up.
                if !cancel.is_cancelled() && is_given_up(store, plan).unwrap_or(false) {
                    cancel.cancel_once();
                }
            }
        });
        Self { lost, _end: end }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }
}

/// Whether somebody gave the plan up.
pub(crate) fn is_given_up(store: &dyn Store, plan: PlanId) -> Result<bool> {
    let plan = store.plan(plan).map_err(plan::Error::from)?;
    Ok(plan.state == State::Cancelled.stored())
}

/// Gives the lease back; one that has changed hands is somebody else's.
pub(crate) fn give_back(store: &dyn Store, lease: &Lease) {
    // Should it fail, the lease runs out.
    drop(store.release(lease));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_dead_is_told_by_the_text() {
        let here = owner();
        assert!(!is_dead(&here), "{here}");
        let other = |from: &str, to: &str| Owner::parse(here.as_str().replacen(from, to, 1)).unwrap();
        let started = format!("started {}", Identity::own().started_ticks);
        assert!(is_dead(&other(&started, "started 1")), "the id is used by another process now");
        assert!(is_dead(&other(&boot(), "another-run-of-the-system")));
        assert!(!is_dead(&other(" on ", " on other-")), "of another machine nothing is known");
        assert!(!is_dead(&Owner::parse("somebody").unwrap()));
        assert_ne!(owner(), here);
    }
}
