//! The lease that a run holds on its plan: acquired at the start, renewed by a heartbeat, released at
//! the end.
//!
//! A lease outlives the last heartbeat by [`LEASE`]. A successor does not wait that long for a dead
//! process of this machine, and never replaces a live one: see [`Plans::acquire_lease`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use plan::{PlanId, Plans, State};
use store::{Epoch, Lease, Store};

use super::options::Cancel;
use crate::{Error, Result};

/// Time after the last heartbeat until another machine may take the lease.
const LEASE: Duration = Duration::from_secs(60);
/// Interval of heartbeats.
const RENEW: Duration = Duration::from_secs(10);
/// Interval of checks for a cancelled plan. Each reads one row.
const CANCEL_CHECK: Duration = Duration::from_millis(500);

/// The lease on a plan, released on drop.
pub(crate) struct PlanLease {
    store: Arc<dyn Store>,
    plan: PlanId,
    lease: Lease,
    lost: AtomicBool,
}

impl PlanLease {
    /// Acquires the lease, also from a dead process. Fails with the owner's name if it is held.
    pub(crate) fn acquire(plans: &Plans, plan: PlanId) -> Result<Self> {
        let lease = plans.acquire_lease(plan, LEASE).map_err(|error| match error {
            plan::Error::Store(store::Error::Held { owner, .. }) => {
                Error::LeaseHeld { plan, owner: owner.to_string() }
            }
            error => error.into(),
        })?;
        Ok(Self { store: Arc::clone(plans.store()), plan, lease, lost: AtomicBool::new(false) })
    }

    /// The fencing token of the lease.
    pub(crate) fn epoch(&self) -> Epoch {
        self.lease.epoch
    }

    /// Returns true once another process has taken the lease.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }
}

impl Drop for PlanLease {
    fn drop(&mut self) {
        // A lost lease belongs to another process. After any other failure it expires.
        drop(self.store.release(&self.lease));
    }
}

/// Renews a lease until it is dropped. Stops the run when another process has taken the lease or has
/// cancelled the plan.
pub(crate) struct Heartbeat {
    _end: Sender<()>,
}

impl Heartbeat {
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        held: &'scope PlanLease,
        cancel: &'scope Cancel,
    ) -> Self {
        let (end, ended) = channel();
        let PlanLease { store, plan, lease, lost } = held;
        scope.spawn(move || {
            let mut renewed = Instant::now();
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(CANCEL_CHECK) {
                if renewed.elapsed() >= RENEW {
                    renewed = Instant::now();
                    // Any other error may pass, and an expired lease does no harm until it is taken.
                    if let Err(store::Error::Stale { .. }) = store.renew(lease, LEASE) {
                        lost.store(true, Ordering::SeqCst);
                        cancel.stop();
                        return;
                    }
                }
                // Another process may have cancelled the plan.
                if !cancel.is_cancelled() && is_plan_cancelled(store.as_ref(), *plan).unwrap_or(false) {
                    cancel.cancel_gracefully();
                }
            }
        });
        Self { _end: end }
    }
}

/// Returns true if the plan is cancelled in the store.
pub(crate) fn is_plan_cancelled(store: &dyn Store, plan: PlanId) -> Result<bool> {
    let plan = store.plan(plan)?;
    Ok(plan.state == State::Cancelled.stored())
}
