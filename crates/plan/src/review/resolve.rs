//! Resolving conflicts: a choice, recorded.

use std::collections::BTreeSet;

use serde_json::json;
use store::{
    Actor, AuditKind, ChangesetId, Content, LeaseRequest, NewChangeset, NewEntry, OpenChangesets, Operation,
    PathBytes, PlanId, Recording, RequestId, Tool,
};

use crate::merge::delta::{Folded, PathKey};
use crate::record::RESOLUTION;
use crate::record::changeset::LEASE_DURATION;
use crate::{
    Clash, Conflict, ContentInput, Detail, Error, Plan, Plans, Result, Selection, State, Step, StoredBlobs,
    Strategy, combine, retry,
};

/// How a conflict is resolved.
#[derive(Clone, Debug)]
pub enum Choice {
    /// What this actor made of the path.
    Take(Actor),
    /// This content, or nothing.
    Content(Option<ContentInput>),
}

impl Plans {
    /// Resolves a conflict, for everybody: the choice is recorded as a changeset of whoever makes it, which stands for all changes of the path
    /// in changesets before it, an earlier choice among them ([`Plans::resolvable`] says which can be made anew). A plan in conflict is *ready*
    /// when this was its last one. Gives the plan as it is then.
    ///
    /// Any number of processes may resolve at the same time; of two that resolve the same path the later one counts. A call that fails
    /// left nothing that counts. One that is killed may leave an open changeset, which counts for nothing, and which `agents changeset seal` closes.
    pub fn resolve(
        &self,
        plan: &Plan,
        key: &PathKey,
        choice: &Choice,
        strategy: Strategy,
        who: &Actor,
    ) -> Result<Plan> {
        if !matches!(plan.state, State::Ready | State::Conflict) {
            let allowed = plan.state.next();
            return Err(Error::IllegalStep { plan: plan.id, state: plan.state, to: State::Ready, allowed });
        }
        let found = self.resolvable(plan.id, &key.path, strategy)?;
        let conflict = found.iter().find(|conflict| conflict.key == *key);
        let conflict = conflict
            .ok_or_else(|| Error::NoConflict { plan: plan.id, path: key.path.show().into_owned() })?;
        let (entries, pieces) = resolution(conflict, choice)?;
        self.record_resolution(plan, who, entries, pieces)?;
        self.after_resolution(plan, key, choice, strategy, who)
    }

    /// The conflicts at a path, in any root, and those that were resolved there, for whoever thinks better of it.
    ///
    /// A resolution that others built on stays, and so does one that was about other paths as well: what was taken back with it is settled
    /// by more than another content.
    pub fn resolvable(&self, plan: PlanId, path: &PathBytes, strategy: Strategy) -> Result<Vec<Conflict>> {
        let contents = StoredBlobs(self.store().as_ref());
        let all = self.folded(plan, &Selection::default())?;
        let is_here = |key: &&PathKey| key.path == *path;
        let now = combine(&all, strategy, &contents)?;
        let mut found: Vec<Conflict> =
            now.conflicts().filter(|conflict| conflict.key.path == *path).cloned().collect();
        let keys: BTreeSet<&PathKey> =
            all.iter().flat_map(|folded| folded.changes.keys().filter(is_here)).collect();
        for key in keys.into_iter().filter(|key| ends_resolved(&all, key)) {
            let before: Vec<Folded> =
                all.iter().filter(|folded| !resolves_only(folded, key)).cloned().collect();
            let before = combine(&before, strategy, &contents)?;
            let conflict = before.conflicts().find(|conflict| conflict.key == *key).cloned();
            let is_alone = |conflict: &Conflict| conflict.others.is_empty() && conflict.old_names.is_empty();
            found.extend(conflict.filter(is_alone));
        }
        Ok(found)
    }

    fn record_resolution(
        &self,
        plan: &Plan,
        who: &Actor,
        entries: Vec<NewEntry>,
        pieces: Vec<ContentInput>,
    ) -> Result<()> {
        let store = self.store();
        let new = NewChangeset {
            id: ChangesetId::new(),
            plan: plan.id,
            node: None,
            actor: who.clone(),
            lease: LeaseRequest { owner: self.owner().clone(), duration: LEASE_DURATION },
            plan_states: vec![State::Ready.stored(), State::Conflict.stored()],
            plan_epoch: None,
        };
        let blobs = pieces.into_iter().filter_map(|piece| piece.packed).collect();
        let recording = Recording { request: RequestId::new(), entries, blobs };
        let lease = retry(|| store.start_changeset(&new))?;
        let recorded = retry(|| store.record(new.id, lease.epoch, &recording));
        if let Err(error) = recorded {
            // It counts for nothing either way; abandoned it is out of the way of an apply.
            drop(store.abandon(new.id, lease.epoch, "the resolution could not be recorded"));
            return Err(error.into());
        }
        retry(|| store.seal(new.id, lease.epoch))?;
        Ok(())
    }

    /// Notes the resolution in the plan's chain, and makes it ready when nothing is left to resolve.
    fn after_resolution(
        &self,
        plan: &Plan,
        key: &PathKey,
        choice: &Choice,
        strategy: Strategy,
        who: &Actor,
    ) -> Result<Plan> {
        let left = self.combine(plan.id, &Selection::default(), strategy)?.conflicts().count();
        let plan = self.get(plan.id)?;
        let to = if left == 0 && plan.state == State::Conflict { State::Ready } else { plan.state };
        let take = match choice {
            Choice::Take(actor) => json!({ "actor": actor }),
            Choice::Content(Some(piece)) => json!({ "content": piece.content.blob }),
            Choice::Content(None) => json!({ "content": null }),
        };
        let step = Step::to(to, who)
            .kind(AuditKind::parse("plan.resolved").expect("words with a dot"))
            .note(json!({ "root": key.root, "path": key.path, "take": take, "conflicts": left }))
            // What was in the way is not any more.
            .detail(Detail { error: plan.detail.error.clone().filter(|_| left > 0), ..plan.detail.clone() })
            .open(OpenChangesets::Leave);
        match self.step(&plan, &step) {
            // Somebody else was faster with another step; the resolution stands in its changeset.
            Err(Error::Store(store::Error::Conflict { .. })) => self.get(plan.id),
            stepped => stepped,
        }
    }
}

/// Whether the last that was said about a path is a resolution of it.
fn ends_resolved(all: &[Folded], key: &PathKey) -> bool {
    let last = all.iter().rfind(|folded| folded.changes.contains_key(key));
    last.is_some_and(|last| resolves_only(last, key))
}

fn resolves_only(folded: &Folded, key: &PathKey) -> bool {
    folded.changes.len() == 1 && folded.changes.get(key).is_some_and(|change| change.resolves)
}

/// The entries that a choice comes to: the path itself, and other paths of those who were not taken, which go. A renamed file that is to go
/// goes under its old name too; of different files under one name each stays under its own.
fn resolution(conflict: &Conflict, choice: &Choice) -> Result<(Vec<NewEntry>, Vec<ContentInput>)> {
    let key = &conflict.key;
    let (after, taken, pieces) = match choice {
        Choice::Content(piece) => (piece.as_ref().map(|piece| piece.content.clone()), None, piece.clone()),
        Choice::Take(actor) => {
            let side = conflict.sides.iter().rev().find(|side| side.credit.actor == *actor);
            let side = side.ok_or_else(|| Error::ActorNotInvolved {
                actor: actor.clone(),
                path: key.path.show().into_owned(),
                actors: conflict.sides.iter().map(|side| side.credit.actor.clone()).collect(),
            })?;
            (side.after.clone(), Some(actor), None)
        }
    };
    let entry = |path: &PathBytes, before: &Option<Content>, after: Option<Content>| NewEntry {
        root: key.root.clone(),
        path: path.clone(),
        operation: match (before, &after) {
            (_, None) => Operation::Delete,
            (None, Some(_)) => Operation::Create,
            (Some(_), Some(_)) => Operation::Modify,
        },
        before: before.clone(),
        after,
        tool: Some(Tool::parse(RESOLUTION).expect("a line")),
    };
    let is_gone =
        after.is_none() && !matches!(conflict.clash, Clash::Renamed | Clash::SameName | Clash::Folder);
    let mut entries = vec![entry(&key.path, &conflict.base, after)];
    if is_gone {
        let base = conflict.sides.first().and_then(|side| side.base.clone());
        entries.extend(conflict.old_names.iter().map(|old| entry(old, &base, None)));
    }
    for other in &conflict.others {
        let is_taken = taken.is_some_and(|actor| other.credits.iter().any(|credit| credit.actor == *actor));
        if !is_taken {
            entries.push(entry(&other.path, &other.base, other.base.clone()));
        }
    }
    Ok((entries, pieces.into_iter().collect()))
}
