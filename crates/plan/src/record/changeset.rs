//! `Changeset`: the handle through which one actor's changes are recorded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use store::{
    Actor, ChangesetId, Content, Epoch, Holding, Lease, NewChangeset, Outcome, PlanId, Recorded, Status,
    Store,
};

use crate::lease::acquire_changeset;
use crate::record::path_cache::{Held, Key, Known};
use crate::record::{Prepared, draft, keys, with_folders};
use crate::roots::Roots;
use crate::service::all_entries;
use crate::{Change, Error, PathKey, Plans, Result, retry};

/// How long a lease is held unless said otherwise. A holder that nobody replaced goes on after that.
pub const LEASE: Duration = Duration::from_secs(60);

/// On what terms a changeset is held.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// From when on somebody else may take it over; [`LEASE`] unless said otherwise. Zero: at once.
    pub duration: Duration,
    /// How long to wait for somebody else who holds it; not at all unless said otherwise.
    pub wait: Duration,
}

impl Default for Terms {
    fn default() -> Self {
        Self { duration: LEASE, wait: Duration::ZERO }
    }
}

/// A changeset that this process may record into: the changes of one actor.
///
/// **Threads.** `Send + Sync`, and cheap to clone: clones are the same changeset. Any number of threads may record at the same time, and
/// their records share syncs. Changes of one path are recorded one after the other, each building on the one before; changes of
/// different paths do not wait for each other. An entry goes into this changeset or is refused: no call of any thread can send it to
/// another one.
///
/// **Processes.** One process holds a changeset at a time, by a lease with an epoch. Another one takes it over with
/// [`Plans::reopen`] when the lease was given back, has expired, or its holder was a process of this machine that has ended; from then on every call of the first is refused
/// ([`lease-stale`](store::Error::Stale)), however late it wakes up. A forked child must reopen.
///
/// **Failures.** A call that fails recorded nothing, unless [`Error::outcome`] says that it is not known; then the path is refused with
/// [`Error::Doubtful`] until the changeset is reopened. Dropping the handle changes nothing: the changeset stays open, and its lease runs out.
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
    known: Known,
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
            known: Known::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Its id, by which other processes find it.
    pub fn id(&self) -> ChangesetId {
        self.inner.id
    }

    /// Its plan.
    pub fn plan(&self) -> PlanId {
        self.inner.plan
    }

    /// To whom every entry is credited.
    pub fn actor(&self) -> &Actor {
        &self.inner.actor
    }

    /// The epoch of its lease: calls with an older one are refused.
    pub fn epoch(&self) -> Epoch {
        self.inner.lease.epoch
    }

    /// Records a change, and gives its sequence number, from 1. When this returns the entry is durable.
    pub fn record(&self, change: Change) -> Result<u64> {
        Ok(self.record_many(vec![change])?.first)
    }

    /// Records changes in order: all of them or none, with sequence numbers without gaps.
    pub fn record_many(&self, changes: Vec<Change>) -> Result<Recorded> {
        let Inner { id, store, roots, .. } = &*self.inner;
        let prepare = |change| Prepared::new(*id, store.as_ref(), roots, change);
        self.record_prepared(changes.into_iter().map(prepare).collect::<Result<_>>()?)
    }

    pub(crate) fn record_prepared(&self, prepared: Vec<Prepared>) -> Result<Recorded> {
        let Inner { id, store, lease, roots, known, .. } = &*self.inner;
        let keys = keys(&prepared);
        let turn = known.take(keys.clone());
        self.look_up(with_folders(keys)?)?;
        let drafted = draft(store.as_ref(), roots, &turn, prepared)?;
        match retry(|| store.record(*id, lease.epoch, &drafted.recording)) {
            Ok(recorded) => {
                turn.settle(drafted.changed);
                Ok(recorded)
            }
            Err(error) => {
                if error.outcome() == Outcome::Unknown {
                    turn.doubt();
                }
                Err(error.into())
            }
        }
    }

    /// What this changeset left at a path: a content or nothing, if it ever changed it.
    pub fn left_at(&self, key: &PathKey) -> Result<Option<Option<Content>>> {
        let key = (key.root.clone(), key.path.clone());
        self.look_up([key.clone()])?;
        self.inner.known.at(&key).map(|held| sure(&key, held)).transpose()
    }

    /// What this changeset left at every path that it changed.
    pub fn left(&self) -> Result<BTreeMap<PathKey, Option<Content>>> {
        let Inner { store, id, known, .. } = &*self.inner;
        if known.has_earlier() {
            known.add_all(all_entries(store.as_ref(), *id)?);
        }
        let all = known.all().into_iter();
        let left = all.map(|(key, held)| {
            let content = sure(&key, held)?;
            Ok((PathKey { root: key.0, path: key.1 }, content))
        });
        left.collect()
    }

    /// Looks up what entries from before this handle left at paths, where that is not known yet.
    fn look_up(&self, keys: impl IntoIterator<Item = Key>) -> Result<()> {
        let Inner { store, id, known, .. } = &*self.inner;
        let missing = known.missing(keys);
        if !missing.is_empty() {
            let found = store.last_entries(*id, &missing)?;
            known.add(missing.into_iter().zip(found));
        }
        Ok(())
    }

    /// Closes the changeset as whole, and gives its lease back. Late records of any thread or process are refused from then on. Sealing
    /// again changes nothing. The plan is not touched: [`Plans::settle`] makes it ready.
    pub fn seal(&self) -> Result<store::Changeset> {
        Ok(retry(|| self.inner.store.seal(self.inner.id, self.inner.lease.epoch))?)
    }

    /// Closes the changeset as given up, with a reason, and gives its lease back. Its entries are kept and do not count.
    pub fn abandon(&self, reason: &str) -> Result<store::Changeset> {
        Ok(retry(|| self.inner.store.abandon(self.inner.id, self.inner.lease.epoch, reason))?)
    }

    /// More time before somebody else may take it over. Refused when somebody has.
    pub fn renew(&self, duration: Duration) -> Result<Lease> {
        Ok(retry(|| self.inner.store.renew(&self.inner.lease, duration))?)
    }

    /// Gives the lease back and leaves the changeset open, for another process to reopen at once. All clones of this handle are refused
    /// from then on.
    pub fn release(self) -> Result<()> {
        Ok(self.inner.store.release(&self.inner.lease)?)
    }
}

/// What is known of a path; an error when that is not sure.
fn sure(key: &Key, held: Held) -> Result<Option<Content>> {
    match held {
        Held::As(content) => Ok(content),
        Held::Doubtful => Err(Error::Doubtful { path: key.1.show().into_owned() }),
    }
}

/// Takes over a changeset that is open, waiting for its holder as long as the terms say.
pub(crate) fn reopen(plans: &Plans, id: ChangesetId, terms: &Terms) -> Result<Changeset> {
    let store = plans.store();
    let changeset = store.changeset(id)?;
    if changeset.status != Status::Open {
        return Err(store::Error::Closed { changeset: id, status: changeset.status }.into());
    }
    let plan = plans.get(changeset.plan)?;
    let holding = Holding { owner: plans.owner().clone(), duration: terms.duration };
    let lease = acquire_changeset(store.as_ref(), plan.id, id, &holding, terms.wait)?;
    let inner = Inner {
        store: Arc::clone(store),
        id,
        plan: plan.id,
        actor: changeset.actor,
        lease,
        roots: Arc::new(Roots::new(plan.id, plan.roots)),
        // Nobody else records from here on, so what is looked up later is as it is now.
        known: Known::of_reopened(),
    };
    Ok(Changeset { inner: Arc::new(inner) })
}
