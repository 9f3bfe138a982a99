//! Acquires leases that are released or expired, or whose owner has ended.

use std::thread;
use std::time::{Duration, Instant};

use store::{ChangesetId, Lease, LeaseRequest, PlanId, Resource, Store};

use crate::process_identity::{Liveness, liveness};
use crate::{Plans, Result, retry};

/// The longest pause between two attempts to acquire a lease that another owner holds.
const PAUSE_MAX: Duration = Duration::from_millis(50);
/// Attempts to acquire the lease on a plan while its owner keeps changing.
const ATTEMPTS_MAX: usize = 10;

impl Plans {
    /// Acquires the lease on a plan. The error names its holder.
    ///
    /// A live process of this machine keeps its lease even if it looks expired, as after a step of
    /// the clock. The lease of a process that has ended is taken at once. The state of any other
    /// process is unknown, so its lease decides.
    pub fn acquire_lease(&self, plan: PlanId, duration: Duration) -> Result<Lease> {
        let (store, resource) = (self.store(), Resource::Plan(plan));
        let holding = LeaseRequest { owner: self.owner().clone(), duration };
        let mut attempts = 0;
        loop {
            attempts += 1;
            let held = lease_on(store.as_ref(), plan, resource)?.filter(|lease| lease.owner != holding.owner);
            match held.as_ref().map(|lease| liveness(&lease.owner)) {
                Some(Liveness::Ended) => expire(store.as_ref(), held.as_ref())?,
                Some(Liveness::Alive) => {
                    let Lease { owner, expires_at, .. } = held.expect("a live owner has a lease");
                    return Err(store::Error::Held { resource, owner, expires_at }.into());
                }
                Some(Liveness::Unknown) | None => {}
            }
            match retry(|| store.acquire(resource, &holding)) {
                // Another process acquired the lease first: check its owner.
                Err(store::Error::Held { owner, .. })
                    if attempts < ATTEMPTS_MAX && held.is_none_or(|held| held.owner != owner) => {}
                acquired => return Ok(acquired?),
            }
        }
    }

    /// Returns the lease on a plan, unless its owner has ended, or the state of its owner is
    /// unknown and the lease has expired.
    pub fn live_lease(&self, plan: PlanId) -> Result<Option<Lease>> {
        let lease = lease_on(self.store().as_ref(), plan, Resource::Plan(plan))?;
        Ok(lease.filter(|lease| match liveness(&lease.owner) {
            Liveness::Alive => true,
            Liveness::Ended => false,
            Liveness::Unknown => lease.expires_at > store::Time::now(),
        }))
    }
}

/// Acquires the lease on a changeset, waiting for its holder for at most `limit`.
pub(crate) fn acquire_changeset(
    store: &dyn Store,
    plan: PlanId,
    id: ChangesetId,
    holding: &LeaseRequest,
    limit: Duration,
) -> Result<Lease> {
    let (since, resource) = (Instant::now(), Resource::Changeset(id));
    let mut pause = Duration::from_millis(1);
    // The last holder that had ended.
    let mut ended = None;
    loop {
        match retry(|| store.acquire(resource, holding)) {
            Err(store::Error::Held { owner, .. })
                if ended.as_ref() != Some(&owner) && liveness(&owner) == Liveness::Ended =>
            {
                let lease = lease_on(store, plan, resource)?.filter(|lease| lease.owner == owner);
                expire(store, lease.as_ref())?;
                ended = Some(owner);
                continue;
            }
            Err(store::Error::Held { .. }) if since.elapsed() < limit => thread::sleep(pause),
            acquired => return Ok(acquired?),
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

fn lease_on(store: &dyn Store, plan: PlanId, resource: Resource) -> Result<Option<Lease>> {
    Ok(store.leases(plan)?.into_iter().find(|lease| lease.resource == resource))
}

/// Expires a lease whose holder has ended, so that one of the waiting processes acquires it. The
/// epoch changes only then.
fn expire(store: &dyn Store, lease: Option<&Lease>) -> Result<()> {
    let Some(lease) = lease else { return Ok(()) };
    match retry(|| store.renew(lease, Duration::ZERO)) {
        // Another process has acquired it.
        Ok(_) | Err(store::Error::Stale { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
