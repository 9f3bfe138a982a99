//! `Changeset`: records the changes of one actor.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use store::{
    Actor, ChangesetId, Content, Epoch, Lease, LeaseRequest, NewChangeset, Outcome, PlanId, Recorded, Status,
    Store,
};

use crate::lease::acquire_changeset;
use crate::record::path_cache::{CachedContent, PathCache};
use crate::record::{Prepared, draft, keys, with_folders};
use crate::roots::Roots;
use crate::service::all_entries;
use crate::{Change, Error, PathKey, Plans, Result, retry};

/// The default duration of a lease. After that time another process may take the lease; until one
/// does, the holder continues.
pub const LEASE_DURATION: Duration = Duration::from_secs(60);

/// Options of the lease on a changeset.
#[derive(Clone, Copy, Debug)]
pub struct LeaseOptions {
    /// The time after which another process may take the lease; by default [`LEASE_DURATION`].
    pub duration: Duration,
    /// The time to wait for another holder; by default zero.
    pub wait: Duration,
}

impl Default for LeaseOptions {
    fn default() -> Self {
        Self { duration: LEASE_DURATION, wait: Duration::ZERO }
    }
}

/// A handle that records the changes of one actor.
///
/// **Threads.** `Send + Sync`, and cheap to clone: clones are the same changeset. Any number of
/// threads may record at the same time, and their records share syncs. Changes of one path are
/// recorded one after the other, each on top of the previous one; changes of different paths do not
/// wait for each other. An entry goes into this changeset or fails: no call of any thread can
/// redirect it to another changeset.
///
/// **Processes.** One process holds a changeset at a time, by a lease with an epoch. Another
/// process takes it over with [`Plans::reopen`] once the lease is released or expired, or once its
/// holder, a process of this machine, has ended. After that every call of the former holder fails
/// with [`lease-stale`](store::Error::Stale). A forked child must reopen.
///
/// **Failures.** A failed call records nothing, unless [`Error::outcome`] is unknown; then further
/// changes of its paths fail with [`Error::OutcomeUnknown`] until the changeset is reopened.
/// Dropping the handle leaves the changeset open, and its lease expires.
#[derive(Clone, Debug)]
pub struct Changeset {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    id: ChangesetId,
    plan: PlanId,
    actor: Actor,
    lease: Lease,
    roots: Arc<Roots>,
    cache: PathCache,
}

impl Changeset {
    pub(crate) fn started(plans: &Plans, new: &NewChangeset, lease: Lease, roots: Arc<Roots>) -> Self {
        let inner = Inner {
            store: Arc::clone(plans.store()),
            id: new.id,
            plan: new.plan,
            actor: new.actor.clone(),
            lease,
            roots,
            cache: PathCache::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The id of the changeset.
    pub fn id(&self) -> ChangesetId {
        self.inner.id
    }

    /// The plan of the changeset.
    pub fn plan(&self) -> PlanId {
        self.inner.plan
    }

    /// The actor to whom every entry is attributed.
    pub fn actor(&self) -> &Actor {
        &self.inner.actor
    }

    /// The epoch of the lease: the fencing token of every call.
    pub fn epoch(&self) -> Epoch {
        self.inner.lease.epoch
    }

    /// Records a change, and returns its sequence number, from 1. When this returns, the entry is
    /// durable.
    pub fn record(&self, change: Change) -> Result<u64> {
        Ok(self.record_many(vec![change])?.first)
    }

    /// Records changes in order, with consecutive sequence numbers: all of them or none.
    pub fn record_many(&self, changes: Vec<Change>) -> Result<Recorded> {
        let Inner { id, store, roots, .. } = &*self.inner;
        let prepare = |change| Prepared::new(*id, store.as_ref(), roots, change);
        self.record_prepared(changes.into_iter().map(prepare).collect::<Result<_>>()?)
    }

    pub(crate) fn record_prepared(&self, prepared: Vec<Prepared>) -> Result<Recorded> {
        let Inner { id, store, lease, roots, cache, .. } = &*self.inner;
        let keys = keys(&prepared);
        let guard = cache.lock(keys.clone());
        self.look_up(with_folders(keys)?)?;
        let draft = draft(store.as_ref(), roots, &guard, prepared)?;
        match retry(|| store.record(*id, lease.epoch, &draft.recording)) {
            Ok(recorded) => {
                guard.commit(draft.changed);
                Ok(recorded)
            }
            Err(error) => {
                if error.outcome() == Outcome::Unknown {
                    guard.poison();
                }
                Err(error.into())
            }
        }
    }

    /// Returns the content that the changeset recorded last for a path: `None` if it never changed
    /// the path, `Some(None)` if it deleted it.
    pub fn last_content(&self, key: &PathKey) -> Result<Option<Option<Content>>> {
        self.look_up([key.clone()])?;
        self.inner.cache.get(key).map(|cached| known(key, cached)).transpose()
    }

    /// Returns the content that the changeset recorded last for each path that it changed; `None`
    /// for a deleted path.
    pub fn last_contents(&self) -> Result<BTreeMap<PathKey, Option<Content>>> {
        let Inner { store, id, cache, .. } = &*self.inner;
        if cache.has_prior_entries() {
            cache.add_all(all_entries(store.as_ref(), *id)?);
        }
        let all = cache.all().into_iter();
        let contents = all.map(|(key, cached)| {
            let content = known(&key, cached)?;
            Ok((key, content))
        });
        contents.collect()
    }

    /// Loads the last entries of paths that are not in the cache.
    fn look_up(&self, keys: impl IntoIterator<Item = PathKey>) -> Result<()> {
        let Inner { store, id, cache, .. } = &*self.inner;
        let missing = cache.missing(keys);
        if !missing.is_empty() {
            let paths: Vec<_> = missing.iter().map(|key| (key.root.clone(), key.path.clone())).collect();
            let found = store.last_entries(*id, &paths)?;
            cache.add(missing.into_iter().zip(found));
        }
        Ok(())
    }

    /// Seals the changeset and releases its lease. Later records of any thread or process fail.
    /// Sealing again has no effect. The plan keeps its state: [`Plans::mark_ready`] makes it ready.
    pub fn seal(&self) -> Result<store::Changeset> {
        Ok(retry(|| self.inner.store.seal(self.inner.id, self.inner.lease.epoch))?)
    }

    /// Abandons the changeset with a reason, and releases its lease. Its entries stay in the store
    /// and are never applied.
    pub fn abandon(&self, reason: &str) -> Result<store::Changeset> {
        Ok(retry(|| self.inner.store.abandon(self.inner.id, self.inner.lease.epoch, reason))?)
    }

    /// Renews the lease. Fails if another process has taken it.
    pub fn renew(&self, duration: Duration) -> Result<Lease> {
        Ok(retry(|| self.inner.store.renew(&self.inner.lease, duration))?)
    }

    /// Releases the lease and leaves the changeset open for another process. All clones of this
    /// handle fail from then on.
    pub fn release(self) -> Result<()> {
        Ok(self.inner.store.release(&self.inner.lease)?)
    }
}

/// Returns a known content; an unknown one is an error.
fn known(key: &PathKey, cached: CachedContent) -> Result<Option<Content>> {
    match cached {
        CachedContent::Known(content) => Ok(content),
        CachedContent::Unknown => Err(Error::OutcomeUnknown { path: key.path.show().into_owned() }),
    }
}

/// Takes over an open changeset, waiting for its holder for `options.wait`.
pub(crate) fn reopen(plans: &Plans, id: ChangesetId, options: &LeaseOptions) -> Result<Changeset> {
    let store = plans.store();
    let changeset = store.changeset(id)?;
    if changeset.status != Status::Open {
        return Err(store::Error::Closed { changeset: id, status: changeset.status }.into());
    }
    let plan = plans.get(changeset.plan)?;
    let holding = LeaseRequest { owner: plans.owner().clone(), duration: options.duration };
    let lease = acquire_changeset(store.as_ref(), plan.id, id, &holding, options.wait)?;
    let inner = Inner {
        store: Arc::clone(store),
        id,
        plan: plan.id,
        actor: changeset.actor,
        lease,
        roots: Arc::new(Roots::new(plans, &plan)),
        // Only this handle records from now on, so later lookups see the same entries.
        cache: PathCache::reopened(),
    };
    Ok(Changeset { inner: Arc::new(inner) })
}
