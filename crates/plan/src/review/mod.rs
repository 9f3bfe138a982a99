//! Review: loads the sealed changesets of a plan from the store and combines them.

pub(crate) mod diff;
pub(crate) mod resolve;

use store::{ChangesetId, PlanId, Status};

use crate::merge::delta::{Attribution, ChangesetDelta, fold};
use crate::merge::node_order::NodeOrder;
use crate::merge::subsets::Subsets;
use crate::{Combined, Error, Plans, Result, Selection, StoredBlobs, Strategy, combine};

impl Plans {
    /// Folds each sealed changeset of a plan into one change per path. Changesets of nodes come in
    /// the order of the plan, each after those that it builds on; all others come in the order in
    /// which they were started. `selection.paths` has no effect.
    ///
    /// A selected changeset of another plan is [`Error::ForeignChangeset`] ([chg-foreign]). Entries
    /// that differ from those with which their changeset was sealed are [`Error::Tampered`].
    pub fn deltas(&self, plan: PlanId, selection: &Selection) -> Result<Vec<ChangesetDelta>> {
        let changesets = self.changesets(plan)?;
        let is_ours = |id: &ChangesetId| changesets.iter().any(|changeset| changeset.id == *id);
        if let Some(foreign) = selection.changesets.iter().find(|id| !is_ours(id)) {
            return Err(Error::ForeignChangeset { changeset: *foreign, plan });
        }
        let order = match changesets.iter().any(|changeset| changeset.node.is_some()) {
            true => self.node_order(plan)?,
            false => NodeOrder::default(),
        };
        let mut deltas = Vec::new();
        for changeset in order.sort(changesets) {
            if changeset.status == Status::Sealed && selection.matches(&changeset.actor, changeset.id) {
                let builds_on = order.builds_on(&changeset).to_vec();
                let entries = self.closed_entries(&changeset)?;
                let author = Attribution { actor: changeset.actor, changeset: changeset.id };
                let delta = fold(author, &entries).not_before(changeset.started_at);
                deltas.push(ChangesetDelta { builds_on, ..delta });
            }
        }
        Ok(deltas)
    }

    /// Combines the sealed changesets of a plan. `selection.paths` has no effect.
    ///
    /// A selection by actor includes the resolutions of paths that these actors changed; a
    /// selection by changeset does not.
    pub fn combine(&self, plan: PlanId, selection: &Selection, strategy: Strategy) -> Result<Combined> {
        let contents = StoredBlobs(self.store().as_ref());
        if selection.actors.is_empty() || !selection.changesets.is_empty() {
            return combine(&self.deltas(plan, selection)?, strategy, &contents);
        }
        let all = self.deltas(plan, &Selection::default())?;
        let mut subsets = Subsets::new(&all, strategy, self.store().as_ref());
        let selected = subsets.ids(|delta| selection.actors.contains(&delta.attribution.actor));
        let mut combined = Combined::clone(&*subsets.combine(&selected)?);
        for key in subsets.resolved().cloned().collect::<Vec<_>>() {
            let mut ids = selected.clone();
            subsets.add_resolutions(&mut ids, &key);
            let whole = subsets.combine(&subsets.effective(&ids, &key))?;
            match whole.paths.get(&key) {
                Some(outcome) => drop(combined.paths.insert(key, outcome.clone())),
                None => drop(combined.paths.remove(&key)),
            }
            combined.unstored.extend(whole.unstored.clone());
        }
        Ok(combined)
    }
}
