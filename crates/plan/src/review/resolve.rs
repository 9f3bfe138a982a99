//! Resolutions of conflicts, recorded as changesets.

use std::collections::BTreeSet;

use serde_json::json;
use store::{
    Actor, AuditKind, ChangesetId, Content, LeaseRequest, NewChangeset, NewEntry, OpenChangesets, Operation,
    PathBytes, PlanId, Recording, RequestId, Tool,
};

use crate::merge::delta::ChangesetDelta;
use crate::record::RESOLUTION;
use crate::record::changeset::LEASE_DURATION;
use crate::{
    Conflict, ConflictKind, ContentInput, Detail, Error, PathKey, Plan, Plans, Result, Selection, State,
    Step, StoredBlobs, Strategy, combine, retry,
};

/// A resolution of a conflict.
#[derive(Clone, Debug)]
pub enum Choice {
    /// The change of this actor.
    Take(Actor),
    /// This content; `None` deletes the path.
    Content(Option<ContentInput>),
}

impl Plans {
    /// Resolves a conflict: records the choice as a changeset of the actor, which supersedes all
    /// earlier changes of the path, and earlier resolutions ([`Plans::resolvable`]). A plan in
    /// *conflict* becomes *ready* with its last resolution. Returns the plan.
    ///
    /// Any number of processes may resolve at the same time; of two resolutions of one path the
    /// later one wins. A failed call resolves nothing. A killed one may leave an open changeset,
    /// which has no effect until `agents changeset seal` closes it.
    pub fn resolve(
        &self,
        plan: &Plan,
        key: &PathKey,
        choice: &Choice,
        strategy: Strategy,
        actor: &Actor,
    ) -> Result<Plan> {
        if !matches!(plan.state, State::Ready | State::Conflict) {
            let allowed = plan.state.next();
            return Err(Error::IllegalStep { plan: plan.id, state: plan.state, to: State::Ready, allowed });
        }
        let found = self.resolvable(plan.id, &key.path, strategy)?;
        let conflict = found.iter().find(|conflict| conflict.key == *key);
        let conflict = conflict
            .ok_or_else(|| Error::NoConflict { plan: plan.id, path: key.path.show().into_owned() })?;
        let (entries, inputs) = resolution(conflict, choice)?;
        self.record_resolution(plan, actor, entries, inputs)?;
        self.note_resolution(plan, key, choice, strategy, actor)
    }

    /// Returns the conflicts at a path, in any root, and the resolved ones that can be resolved
    /// again.
    ///
    /// A resolution that later changes build on stays. So does one of several paths: another
    /// content of one path would not bring back the changes of the others.
    pub fn resolvable(&self, plan: PlanId, path: &PathBytes, strategy: Strategy) -> Result<Vec<Conflict>> {
        let contents = StoredBlobs(self.store().as_ref());
        let all = self.deltas(plan, &Selection::default())?;
        let is_here = |key: &&PathKey| key.path == *path;
        let now = combine(&all, strategy, &contents)?;
        let mut found: Vec<Conflict> =
            now.conflicts().filter(|conflict| conflict.key.path == *path).cloned().collect();
        let keys: BTreeSet<&PathKey> =
            all.iter().flat_map(|delta| delta.changes.keys().filter(is_here)).collect();
        for key in keys.into_iter().filter(|key| ends_resolved(&all, key)) {
            let before: Vec<ChangesetDelta> =
                all.iter().filter(|delta| !resolves_only(delta, key)).cloned().collect();
            let before = combine(&before, strategy, &contents)?;
            let conflict = before.conflicts().find(|conflict| conflict.key == *key).cloned();
            let has_one_path =
                |conflict: &Conflict| conflict.others.is_empty() && conflict.old_names.is_empty();
            found.extend(conflict.filter(has_one_path));
        }
        Ok(found)
    }

    fn record_resolution(
        &self,
        plan: &Plan,
        actor: &Actor,
        entries: Vec<NewEntry>,
        inputs: Vec<ContentInput>,
    ) -> Result<()> {
        let store = self.store();
        let new = NewChangeset {
            id: ChangesetId::new(),
            plan: plan.id,
            node: None,
            actor: actor.clone(),
            lease: LeaseRequest { owner: self.owner().clone(), duration: LEASE_DURATION },
            plan_states: vec![State::Ready.stored(), State::Conflict.stored()],
            plan_epoch: None,
        };
        let blobs = inputs.into_iter().filter_map(|input| input.packed).collect();
        let recording = Recording { request: RequestId::new(), entries, blobs };
        let lease = retry(|| store.start_changeset(&new))?;
        let recorded = retry(|| store.record(new.id, lease.epoch, &recording));
        if let Err(error) = recorded {
            // It has no effect either way; an abandoned changeset does not block an apply.
            drop(store.abandon(new.id, lease.epoch, "the resolution could not be recorded"));
            return Err(error.into());
        }
        retry(|| store.seal(new.id, lease.epoch))?;
        Ok(())
    }

    /// Records the resolution in the plan's audit chain, and makes the plan ready without
    /// conflicts.
    fn note_resolution(
        &self,
        plan: &Plan,
        key: &PathKey,
        choice: &Choice,
        strategy: Strategy,
        actor: &Actor,
    ) -> Result<Plan> {
        let remaining = self.combine(plan.id, &Selection::default(), strategy)?.conflicts().count();
        let plan = self.get(plan.id)?;
        let to = if remaining == 0 && plan.state == State::Conflict { State::Ready } else { plan.state };
        let take = match choice {
            Choice::Take(actor) => json!({ "actor": actor }),
            Choice::Content(Some(input)) => json!({ "content": input.content.blob }),
            Choice::Content(None) => json!({ "content": null }),
        };
        let step = Step::to(to, actor)
            .kind(AuditKind::parse("plan.resolved").expect("words with a dot"))
            .note(json!({ "root": key.root, "path": key.path, "take": take, "conflicts": remaining }))
            .detail(Detail {
                error: plan.detail.error.clone().filter(|_| remaining > 0),
                ..plan.detail.clone()
            })
            .open(OpenChangesets::Leave);
        match self.step(&plan, &step) {
            // Another process took a step first; the resolution is in its changeset.
            Err(Error::Store(store::Error::Conflict { .. })) => self.get(plan.id),
            stepped => stepped,
        }
    }
}

/// Returns whether the last change of a path is a resolution.
fn ends_resolved(all: &[ChangesetDelta], key: &PathKey) -> bool {
    let last = all.iter().rfind(|delta| delta.changes.contains_key(key));
    last.is_some_and(|last| resolves_only(last, key))
}

fn resolves_only(delta: &ChangesetDelta, key: &PathKey) -> bool {
    delta.changes.len() == 1 && delta.changes.get(key).is_some_and(|change| change.resolves)
}

/// Returns the entries of a resolution: the path itself, and reverts of other paths of actors that
/// were not taken. A renamed file that is deleted is also deleted at its old path; of different
/// files with one path each keeps its own.
fn resolution(conflict: &Conflict, choice: &Choice) -> Result<(Vec<NewEntry>, Vec<ContentInput>)> {
    let key = &conflict.key;
    let (after, taken, inputs) = match choice {
        Choice::Content(input) => (input.as_ref().map(|input| input.content.clone()), None, input.clone()),
        Choice::Take(actor) => {
            let side = conflict.sides.iter().rev().find(|side| side.attribution.actor == *actor);
            let side = side.ok_or_else(|| Error::ActorNotInvolved {
                actor: actor.clone(),
                path: key.path.show().into_owned(),
                actors: conflict.sides.iter().map(|side| side.attribution.actor.clone()).collect(),
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
    use ConflictKind::{Folder, Renamed, SamePath};
    let is_deleted = after.is_none() && !matches!(conflict.kind, Renamed | SamePath | Folder);
    let mut entries = vec![entry(&key.path, &conflict.base, after)];
    if is_deleted {
        let base = conflict.sides.first().and_then(|side| side.base.clone());
        entries.extend(conflict.old_names.iter().map(|old| entry(old, &base, None)));
    }
    for other in &conflict.others {
        let is_taken = taken.is_some_and(|actor| other.authors.iter().any(|author| author.actor == *actor));
        if !is_taken {
            entries.push(entry(&other.path, &other.base, other.base.clone()));
        }
    }
    Ok((entries, inputs.into_iter().collect()))
}
