//! The lease that a run holds on its plan: taking it, giving signs of life, giving it back.
//!
//! A lease lasts a while beyond the last sign of life. Nobody has to wait that long for a dead process of this machine, and a live one is
//! not replaced: see [`Plans::acquire_lease`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use plan::{PlanId, Plans, State};
use store::{Lease, Store};

use super::options::Cancel;
use crate::{Error, Result};

/// How long a run that gives no sign of life keeps its plan, from the view of another machine.
const LEASE: Duration = Duration::from_secs(60);
/// How often it gives one.
const RENEW: Duration = Duration::from_secs(10);
/// How often it is looked whether somebody gave the plan up: one row is read.
const LOOK: Duration = Duration::from_millis(500);

/// The lease on a plan, given back when this is dropped.
pub(crate) struct Held {
    store: Arc<dyn Store>,
    plan: PlanId,
    pub lease: Lease,
}

impl Held {
    /// Takes the lease, also from a process that is dead. Whoever else holds it is named.
    pub(crate) fn take(plans: &Plans, plan: PlanId) -> Result<Self> {
        let lease = plans.acquire_lease(plan, LEASE).map_err(|error| match error {
            plan::Error::Store(store::Error::Held { owner, .. }) => {
                Error::Held { plan, owner: owner.to_string() }
            }
            error => error.into(),
        })?;
        Ok(Self { store: Arc::clone(plans.store()), plan, lease })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // One that has changed hands is somebody else's. Should it fail otherwise, the lease expires.
        drop(self.store.release(&self.lease));
    }
}

/// Gives signs of life until it is dropped. When somebody has taken the plan over nevertheless, or has given it up, everything is stopped.
pub(crate) struct Renewing<'a> {
    lost: &'a AtomicBool,
    _end: Sender<()>,
}

impl<'a> Renewing<'a> {
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        held: &'scope Held,
        cancel: &'scope Cancel,
        lost: &'a AtomicBool,
    ) -> Self
    where
        'a: 'scope,
    {
        let (end, ended) = channel();
        let Held { store, plan, lease } = held;
        scope.spawn(move || {
            let mut renewed = Instant::now();
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LOOK) {
                if renewed.elapsed() >= RENEW {
                    renewed = Instant::now();
                    // Any other error may pass, and without a lease nobody is worse off until somebody takes it.
                    if let Err(store::Error::Stale { .. }) = store.renew(lease, LEASE) {
                        lost.store(true, Ordering::SeqCst);
                        cancel.stop();
                        return;
                    }
                }
                // Another process may have given the plan up.
                if !cancel.is_cancelled() && is_given_up(store.as_ref(), *plan).unwrap_or(false) {
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
    let plan = store.plan(plan)?;
    Ok(plan.state == State::Cancelled.stored())
}
