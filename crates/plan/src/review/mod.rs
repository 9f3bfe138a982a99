//! What a plan's changesets come to: loaded from the store, and combined.

pub(crate) mod diff;
pub(crate) mod resolve;

use store::{Actor, Changeset, ChangesetId, PlanId, Status};

use crate::merge::delta::{Credit, Folded, fold};
use crate::merge::node_order::Links;
use crate::merge::subsets::Subsets;
use crate::{Combined, Error, Plans, Result, StoredContents, Strategy, combine};

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
        let mut subsets = Subsets::new(&all, strategy, self.store().as_ref());
        let chosen = subsets.ids(|folded| selection.actors.contains(&folded.credit.actor));
        let mut combined = Combined::clone(&*subsets.combine(&chosen)?);
        for key in subsets.resolved().cloned().collect::<Vec<_>>() {
            let mut set = chosen.clone();
            subsets.add_resolutions(&mut set, &key);
            let whole = subsets.combine(&subsets.in_effect(&set, &key))?;
            match whole.paths.get(&key) {
                Some(settled) => drop(combined.paths.insert(key, settled.clone())),
                None => drop(combined.paths.remove(&key)),
            }
            combined.made.extend(whole.made.clone());
        }
        Ok(combined)
    }
}
