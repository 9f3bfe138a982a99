//! Review: loads the sealed changesets of a plan from the store and combines them.

pub(crate) mod diff;
pub(crate) mod resolve;

use store::{ChangesetId, PlanId, Status};

use crate::merge::delta::{Credit, Folded, fold};
use crate::merge::node_order::Links;
use crate::merge::subsets::Subsets;
use crate::{Combined, Error, Plans, Result, Selection, StoredBlobs, Strategy, combine};

impl Plans {
    /// Folds each sealed changeset of a plan into one change per path. Changesets of nodes come in
    /// the order of the plan, each after those that it builds on; all others come in the order in
    /// which they were started. `selection.paths` has no effect.
    ///
    /// A selected changeset of another plan is [`Error::ForeignChangeset`] ([chg-foreign]).
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
            if changeset.status == Status::Sealed && selection.matches(&changeset.actor, changeset.id) {
                let builds_on = links.builds_on(&changeset).to_vec();
                let credit = Credit { actor: changeset.actor, changeset: changeset.id };
                folded.push(Folded { builds_on, ..fold(credit, &self.entries(changeset.id)?) });
            }
        }
        Ok(folded)
    }

    /// Combines the sealed changesets of a plan. `selection.paths` has no effect.
    ///
    /// A selection by actor includes the resolutions of paths that these actors changed; a
    /// selection by changeset does not.
    pub fn combine(&self, plan: PlanId, selection: &Selection, strategy: Strategy) -> Result<Combined> {
        let contents = StoredBlobs(self.store().as_ref());
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
            combined.unstored.extend(whole.unstored.clone());
        }
        Ok(combined)
    }
}
