//! Taking leases: from whoever gave one back, let it expire, or has ended.

use std::thread;
use std::time::{Duration, Instant};

use store::{ChangesetId, Holding, Lease, PlanId, Resource, Store};

use crate::process_identity::{Liveness, liveness};
use crate::{Plans, Result, retry};

/// The longest pause between two looks at a lease that somebody else holds.
const PAUSE_MAX: Duration = Duration::from_millis(50);
/// How often the lease on a plan is tried that changes hands all the time.
const TRIES_MAX: usize = 10;

impl Plans {
    /// Takes the lease on a plan. The error names whoever holds it.
    ///
    /// A live process of this machine keeps its lease however expired it looks, as after a step of the clock; one that has ended is
    /// replaced at once. Of any other process nothing is known, so its lease decides.
    pub fn acquire_lease(&self, plan: PlanId, duration: Duration) -> Result<Lease> {
        let (store, resource) = (self.store(), Resource::Plan(plan));
        let holding = Holding { owner: self.owner().clone(), duration };
        let mut tries = 0;
        loop {
            tries += 1;
            let held = lease_on(store.as_ref(), plan, resource)?.filter(|lease| lease.owner != holding.owner);
            match held.as_ref().map(|lease| liveness(&lease.owner)) {
                Some(Liveness::Ended) => expire(store.as_ref(), held.as_ref())?,
                Some(Liveness::Alive) => {
                    let Lease { owner, expires_at, .. } = held.expect("somebody lives");
                    return Err(store::Error::Held { resource, owner, expires_at }.into());
                }
                Some(Liveness::Unknown) | None => {}
            }
            match retry(|| store.acquire(resource, &holding)) {
                // Somebody else was faster: look again who that is.
                Err(store::Error::Held { owner, .. })
                    if tries < TRIES_MAX && held.is_none_or(|held| held.owner != owner) => {}
                acquired => return Ok(acquired?),
            }
        }
    }

    /// The lease on a plan, unless its owner is known to have ended, or its lease has expired and nothing is known of its owner.
    pub fn live_lease(&self, plan: PlanId) -> Result<Option<Lease>> {
        let lease = lease_on(self.store().as_ref(), plan, Resource::Plan(plan))?;
        Ok(lease.filter(|lease| match liveness(&lease.owner) {
            Liveness::Alive => true,
            Liveness::Ended => false,
            Liveness::Unknown => lease.expires_at > store::Time::now(),
        }))
    }
}

/// Takes the lease on a changeset, waiting for its holder as long as `limit`.
pub(crate) fn acquire_changeset(
    store: &dyn Store,
    plan: PlanId,
    id: ChangesetId,
    holding: &Holding,
    limit: Duration,
) -> Result<Lease> {
    let (since, resource) = (Instant::now(), Resource::Changeset(id));
    let mut pause = Duration::from_millis(1);
    // The last holder that was found to have ended.
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

/// Ends the time of a lease whose holder has ended, so that one of those who ask takes it over. Its epoch stays until then.
fn expire(store: &dyn Store, lease: Option<&Lease>) -> Result<()> {
    let Some(lease) = lease else { return Ok(()) };
    match retry(|| store.renew(lease, Duration::ZERO)) {
        // Somebody else has taken it by now.
        Ok(_) | Err(store::Error::Stale { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
