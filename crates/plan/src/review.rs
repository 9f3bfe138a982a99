//! What a plan's changesets come to: loaded from the store, combined, and conflicts resolved.

use serde_json::json;
use store::{
    Actor, Changeset, ChangesetId, Content, Holding, Kind, NewChangeset, NewEntry, OpenChangesets, Operation,
    PathBytes, PlanId, Recording, RequestId, Status, Tool,
};

use crate::changeset::LEASE;
use crate::fold::{Credit, Folded, PathKey, fold};
use crate::links::Links;
use crate::record::RESOLUTION;
use crate::resolved::with_resolutions;
use crate::{
    Clash, Combined, Conflict, Detail, Error, Piece, Plan, Plans, Result, State, Step, StoredContents,
    Strategy, combine, retry,
};

/// Which changesets to look at.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only those of these actors; all when empty.
    pub actors: Vec<Actor>,
    /// Only those with these ids; all when empty.
    pub changesets: Vec<ChangesetId>,
}

impl Selection {
    fn takes(&self, changeset: &Changeset) -> bool {
        (self.actors.is_empty() || self.actors.contains(&changeset.actor))
            && (self.changesets.is_empty() || self.changesets.contains(&changeset.id))
    }
}

/// How a conflict is resolved.
#[derive(Clone, Debug)]
pub enum Choice {
    /// What this actor made of the path.
    Take(Actor),
    /// This content, or nothing.
    Content(Option<Piece>),
}

impl Plans {
    /// The sealed changesets of a plan, folded: those of nodes in the order of the plan, each behind those that it builds on, others in the order in which they
    /// were started. One that is named and belongs to another plan is refused ([chg-foreign]).
    pub fn folded(&self, plan: PlanId, selection: &Selection) -> Result<Vec<Folded>> {
        let changesets = self.changesets(plan)?;
        let is_ours = |id: &ChangesetId| changesets.iter().any(|changeset| changeset.id == *id);
        if let Some(foreign) = selection.changesets.iter().find(|id| !is_ours(id)) {
            return Err(Error::ForeignChangeset { changeset: *foreign, plan });
        }
        let links = match changesets.iter().any(|changeset| changeset.node.is_some()) {
            true => self.links(plan)?,
            false => Links::default(),
        };
        let mut folded = Vec::new();
        for changeset in links.in_order(changesets) {
            if changeset.status == Status::Sealed && selection.takes(&changeset) {
                let builds_on = links.builds_on(&changeset).to_vec();
                let credit = Credit { actor: changeset.actor, changeset: changeset.id };
                folded.push(Folded { builds_on, ..fold(credit, &self.entries(changeset.id)?) });
            }
        }
        Ok(folded)
    }

    /// The sealed changesets of a plan, combined. What was resolved is part of what each actor made of these paths; of changesets that are
    /// named it is not, unless it is one of them.
    pub fn combine(&self, plan: PlanId, selection: &Selection, strategy: Strategy) -> Result<Combined> {
        let contents = StoredContents(self.store().as_ref());
        if selection.actors.is_empty() || !selection.changesets.is_empty() {
            return combine(&self.folded(plan, selection)?, strategy, &contents);
        }
        let all = self.folded(plan, &Selection::default())?;
        let is_chosen = |folded: &&Folded| selection.actors.contains(&folded.credit.actor);
        let chosen: Vec<Folded> = all.iter().filter(is_chosen).cloned().collect();
        let part = combine(&chosen, strategy, &contents)?;
        if !all.iter().any(|folded| folded.changes.values().any(|change| change.resolves)) {
            return Ok(part);
        }
        let whole = combine(&all, strategy, &contents)?;
        Ok(with_resolutions(part, &chosen, &all, whole))
    }

    /// Resolves a conflict, for everybody and for good: the choice is recorded as a changeset of whoever makes it, which stands for all
    /// changes of the path in changesets before it. A plan in conflict is *ready* when this was its last one. Gives the plan as it is then.
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
        for state in [State::Ready, State::Conflict] {
            if plan.state == state {
                let combined = self.combine(plan.id, &Selection::default(), strategy)?;
                let conflict = combined.conflicts().find(|conflict| conflict.key == *key);
                let conflict = conflict
                    .ok_or_else(|| Error::NoConflict { plan: plan.id, path: key.path.show().into_owned() })?;
                let (entries, pieces) = resolution(conflict, choice)?;
                self.record_resolution(plan, who, entries, pieces)?;
                return self.after_resolution(plan, key, choice, strategy, who);
            }
        }
        let allowed = plan.state.next();
        Err(Error::IllegalStep { plan: plan.id, state: plan.state, to: State::Ready, allowed })
    }

    fn record_resolution(
        &self,
        plan: &Plan,
        who: &Actor,
        entries: Vec<NewEntry>,
        pieces: Vec<Piece>,
    ) -> Result<()> {
        let store = self.store();
        let new = NewChangeset {
            id: ChangesetId::new(),
            plan: plan.id,
            node: None,
            actor: who.clone(),
            holding: Holding { owner: self.owner().clone(), duration: LEASE },
            plan_states: vec![State::Ready.stored(), State::Conflict.stored()],
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
            .kind(Kind::parse("plan.resolved").expect("words with a dot"))
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

/// The entries that a choice comes to: the path itself, and other paths of those who were not taken, which go. A renamed file that is to go
/// goes under its old name too; of different files under one name each stays under its own.
fn resolution(conflict: &Conflict, choice: &Choice) -> Result<(Vec<NewEntry>, Vec<Piece>)> {
    let key = &conflict.key;
    let (after, taken, pieces) = match choice {
        Choice::Content(piece) => (piece.as_ref().map(|piece| piece.content.clone()), None, piece.clone()),
        Choice::Take(actor) => {
            let side = conflict.sides.iter().rev().find(|side| side.credit.actor == *actor);
            let side = side.ok_or_else(|| Error::NotTheirs {
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
