//! What an apply is to do: the changes that were asked for, on top of what has landed.

use store::ChangesetId;

use crate::contents::Made;
use crate::drift::Targets;
use crate::landed::{Along, LandedPaths};
use crate::left::{Asked, Set};
use crate::{ApplyOrder, Error, Folded, Part, Plan, Plans, Result, Selection, Strategy};

/// What an apply is to do, as far as the store knows.
pub(crate) struct Wanted {
    pub targets: Targets,
    pub made: Made,
    /// The changesets whose changes that is.
    pub brings: Vec<ChangesetId>,
    /// What goes to another name with its file.
    pub along: Vec<Along>,
    /// All changesets of the plan that count.
    pub folded: Vec<Folded>,
    /// What has landed before.
    pub landed: LandedPaths,
}

impl Plans {
    /// What of the plan is to be applied. Conflicts in it are an error, as is nothing.
    pub(crate) fn wanted(&self, plan: &Plan, order: &ApplyOrder) -> Result<Wanted> {
        let folded = self.folded(plan.id, &Selection::default())?;
        let landed = self.landed_paths(plan)?;
        let chosen = chosen(&folded, &order.part);
        let paths = order.part.paths()?;
        let asked = Asked {
            folded: &folded,
            landed: &landed,
            chosen: &chosen,
            strategy: order.strategy,
            paths: &paths,
        };
        let left = asked.left(self.store().as_ref())?;
        if !left.conflicts.is_empty() {
            return Err(Error::Conflicts { plan: plan.id, conflicts: left.conflicts });
        }
        if !left.edited.is_empty() {
            return Err(Error::Drifted { plan: plan.id, drifts: left.edited, is_merging: true });
        }
        if left.targets.is_empty() {
            return Err(Error::Nothing { plan: plan.id, act: "apply" });
        }
        let brings = left.brings.into_iter().collect();
        Ok(Wanted { targets: left.targets, made: left.made, brings, along: left.along, folded, landed })
    }

    /// How many paths of a plan do not hold all of its changes.
    pub(crate) fn left(&self, folded: &[Folded], landed: &LandedPaths) -> Result<usize> {
        let all = Part::default();
        let (chosen, paths) = (chosen(folded, &all), all.paths()?);
        let asked = Asked { folded, landed, chosen: &chosen, strategy: Strategy::ThreeWay, paths: &paths };
        let left = asked.left(self.store().as_ref())?;
        Ok(left.targets.len() + left.conflicts.len() + left.edited.len())
    }
}

/// The changesets of the actors of a part.
fn chosen(folded: &[Folded], part: &Part) -> Set {
    let is_theirs = |folded: &&Folded| part.actors.is_empty() || part.actors.contains(&folded.credit.actor);
    folded.iter().filter(is_theirs).map(|folded| folded.credit.changeset).collect()
}
