//! Undo: the inverse of what a plan left, as a new plan that points to it.
//!
//! It is a change like any other: it refuses files that were changed since, is applied all-or-nothing, and can be undone itself.

use std::collections::BTreeSet;

use serde::Serialize;
use store::{Actor, AuditQuery, ChangesetId, Content, NewPlan, PathBytes, PlanId, Time, export};

use crate::claims::beside;
use crate::contents::Made;
use crate::drift::{Drift, Target, Targets, check};
use crate::intent::taking;
use crate::landed::{LandedPath, LandedPaths};
use crate::merge::merge;
use crate::resolved::resolutions_of;
use crate::{
    Act, ApplyOrder, Change, Credit, Error, FileOutcome, FileReport, Folded, Ground, Over, Part, PathKey,
    Piece, Plan, Plans, Report, Result, Selection, Source, State, StoredContents, retry,
};

/// Entries that are recorded in one call.
const ENTRIES_MAX: usize = 1000;

/// How a plan is to be undone.
#[derive(Clone, Debug)]
pub struct UndoOrder {
    /// Who.
    pub who: Actor,
    /// Which part of it; the rest stays.
    pub part: Part,
    /// Whether to look only: nothing is written, neither in the roots nor in the store.
    pub dry_run: bool,
}

impl UndoOrder {
    /// All of it.
    pub fn by(who: &Actor) -> Self {
        Self { who: who.clone(), part: Part::default(), dry_run: false }
    }
}

/// Who changed a file since a plan was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Changer {
    /// Another plan, for these actors.
    Plan {
        /// The plan.
        plan: PlanId,
        /// The actors whose changes it were.
        actors: Vec<Actor>,
    },
    /// Somebody who did not go through a plan.
    Outside,
    /// One of these plans, which were applied and cleaned up since, so that nobody knows what they changed; or somebody outside.
    Cleaned {
        /// The plans.
        plans: Vec<PlanId>,
    },
}

/// A file that cannot be taken back, because it was changed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedSince {
    /// How it is.
    #[serde(flatten)]
    pub drift: Drift,
    /// Who changed it, the last of them last.
    pub by: Vec<Changer>,
}

impl Plans {
    /// Takes back what a plan left in its roots, or a part of it: all of that or none.
    ///
    /// Refused when a file was changed since ([`Error::ChangedSince`], with who did it). What one actor changed is taken out of files
    /// that others changed as well, where that can be done without asking. The undo is a plan of its own, which can be undone.
    #[track_caller]
    pub fn undo(&self, ground: &Ground, id: PlanId, order: &UndoOrder) -> Result<Report> {
        let plan = self.get(id)?;
        let mut recovered = Vec::new();
        if !order.dry_run {
            recovered = self.recover(ground, &plan.roots, &order.who)?;
            self.note_undone(id, &order.who)?;
        }
        let plan = self.get(id)?;
        let landed = self.landed_paths(&plan)?;
        if plan.state == State::Applying || landed.paths.is_empty() {
            let (state, to) = (plan.state, State::Undone);
            return Err(Error::IllegalStep { plan: id, state, to, allowed: state.next() });
        }
        let Inverse { targets, made, takes } = self.inverse(&plan, &order.part, landed)?;
        if targets.is_empty() {
            return Err(Error::Nothing { plan: id, act: "undo" });
        }
        let mut sight = plan.roots.iter().map(|root| ground.look(root)).collect::<Result<Vec<_>>>()?;
        let checked = check(&plan.roots, &targets, &mut sight, None)?;
        drop(sight);
        if !checked.drifts.is_empty() {
            return Err(self.changed_since(&plan, checked.drifts));
        }
        let untouched = checked
            .there
            .iter()
            .map(|(key, target)| crate::apply::report(key, target, FileOutcome::Untouched));
        if order.dry_run {
            let restored = checked
                .todo
                .iter()
                .map(|(key, target)| crate::apply::report(key, target, FileOutcome::Restored));
            let mut files: Vec<FileReport> = restored.chain(untouched).collect();
            files.sort_by(|a, b| a.key.cmp(&b.key));
            return Ok(Report { plan, files, left: 0, recovered, dry_run: true });
        }
        if checked.todo.is_empty() {
            return Err(Error::Nothing { plan: id, act: "undo" });
        }
        // Also what somebody has taken back already: it is undone as well.
        let undo = self.record_undo(&plan, &targets, &made, &takes, &order.who)?;
        match self.apply(ground, undo, &ApplyOrder::by(&order.who)) {
            Ok(mut report) => {
                report.recovered.splice(0..0, recovered);
                // Whose changes were taken back, not who took them back.
                for file in &mut report.files {
                    if let Some(target) = targets.get(&file.key) {
                        file.credits.clone_from(&target.credits);
                    }
                }
                Ok(report)
            }
            // Somebody changed a file between the look and the lock.
            Err(Error::Drifted { drifts, .. }) => {
                let undo = self.get(undo)?;
                self.cancel(&undo, &order.who, "files were changed meanwhile")?;
                Err(self.changed_since(&plan, drifts))
            }
            Err(error) => Err(error),
        }
    }

    /// What undoing comes to: for each path what the plan left there, and what is to be there again.
    fn inverse(&self, plan: &Plan, part: &Part, landed: LandedPaths) -> Result<Inverse> {
        let paths = part.paths()?;
        let LandedPaths { paths: landed, made } = landed;
        let mut inverse = Inverse { targets: Targets::new(), made, takes: Vec::new() };
        let folded = self.folded(plan.id, &Selection::default())?;
        let is_theirs =
            |touch: &&Touch<'_>| part.actors.is_empty() || part.actors.contains(&touch.credit.actor);
        let mut back = Vec::new();
        let mut takes = BTreeSet::new();
        for (key, there) in landed.iter().filter(|(key, _)| paths.takes(key)) {
            let touches = touches(&folded, key, there);
            let (theirs, others): (Vec<&Touch<'_>>, Vec<&Touch<'_>>) = touches.iter().partition(is_theirs);
            if theirs.is_empty() && !part.actors.is_empty() {
                continue;
            }
            takes.extend(theirs.iter().map(|touch| touch.credit.changeset));
            let credits: Vec<Credit> = theirs.iter().map(|touch| touch.credit.clone()).collect();
            let mut after = there.expected.clone();
            if !others.is_empty() {
                let entangled = || {
                    let (actors, others) = (names(&theirs), names(&others));
                    Error::Entangled { plan: plan.id, path: key.path.show().into_owned(), actors, others }
                };
                let rest = self.without(there, &theirs, &mut inverse.made)?.ok_or_else(entangled)?;
                let renamed = theirs.iter().find_map(|touch| touch.renamed_from);
                let renamed = renamed.filter(|_| others.iter().all(|touch| touch.renamed_from.is_none()));
                // One that was resolved otherwise has not happened.
                let old = renamed.map(|path| beside(key, path)).filter(|old| landed.contains_key(old));
                match old {
                    // The name goes back too, with what others made of the file.
                    Some(old) => back.push((old, rest, credits.clone())),
                    None => after = rest,
                }
            }
            if after != there.after {
                let expected = there.after.clone();
                inverse.targets.insert(key.clone(), Target { expected, after, credits });
            }
        }
        for (old, after, credits) in back {
            let expected = landed.get(&old).and_then(|there| there.after.clone());
            if expected != after {
                inverse.targets.insert(old, Target { expected, after, credits });
            }
        }
        // What was resolved stands for all that it is about: without one of them it has not landed any more.
        takes.extend(resolutions_of(&takes, &folded));
        inverse.takes.extend(takes);
        Ok(inverse)
    }

    /// What a path holds without the changes of some actors: each is laid over it backwards, the last first. None when lines of others are in
    /// the way.
    fn without(
        &self,
        there: &LandedPath,
        theirs: &[&Touch<'_>],
        made: &mut Made,
    ) -> Result<Option<Option<Content>>> {
        let stored = StoredContents(self.store().as_ref());
        let mut now = there.after.clone();
        for touch in theirs.iter().rev() {
            let mut new = Made::default();
            let over = Over { made, below: &stored };
            let ended = merge(touch.after, now.as_ref(), touch.base, &over, &mut new)?;
            made.extend(new);
            let Ok(without) = ended else { return Ok(None) };
            now = without;
        }
        Ok(Some(now))
    }

    /// Makes the plan that undoes another, ready to be applied.
    fn record_undo(
        &self,
        plan: &Plan,
        targets: &Targets,
        made: &Made,
        takes: &[ChangesetId],
        who: &Actor,
    ) -> Result<PlanId> {
        let undo = NewPlan {
            id: PlanId::new(),
            name: None,
            state: State::Queued.stored(),
            undo_of: Some(plan.id),
            roots: plan.roots.clone(),
            detail: taking(takes).to_json(),
            who: who.clone(),
        };
        retry(|| self.store().create_plan(&undo))?;
        let changeset = self.context(undo.id)?.start_changeset(who)?;
        let mut changes: Vec<Change> = Vec::new();
        for (key, target) in targets {
            changes.push(change(key, target, made)?);
            if changes.len() >= ENTRIES_MAX {
                changeset.record_many(std::mem::take(&mut changes))?;
            }
        }
        if !changes.is_empty() {
            changeset.record_many(changes)?;
        }
        changeset.seal()?;
        self.settle(undo.id, who)?;
        Ok(undo.id)
    }

    /// Says who changed files since a plan left them.
    fn changed_since(&self, plan: &Plan, drifts: Vec<Drift>) -> Error {
        let mut later = Vec::new();
        let states = [State::Applied, State::Undone, State::Ready, State::Conflict];
        for other in self.listed(&states, Some(plan.changed_at), usize::MAX).unwrap_or_default() {
            let shares_root = other.roots.iter().any(|root| plan.roots.contains(root));
            if other.id != plan.id
                && shares_root
                && let Ok(landed) = self.landed_paths(&other)
            {
                later.push((other, landed.paths));
            }
        }
        later.sort_by_key(|(other, _)| other.changed_at);
        let plans = self.cleaned_since(plan.changed_at).unwrap_or_default();
        let unknown = if plans.is_empty() { Changer::Outside } else { Changer::Cleaned { plans } };
        let files = drifts.into_iter().map(|drift| {
            let mut by = Vec::new();
            for (other, targets) in &later {
                if let Some(target) = targets.get(&drift.key) {
                    by.push(Changer::Plan { plan: other.id, actors: self.actors_of(other, target) });
                }
            }
            let last = later.iter().rev().find_map(|(_, targets)| targets.get(&drift.key));
            if last.is_none_or(|target| drift.seen != target.after) {
                by.push(unknown.clone());
            }
            ChangedSince { drift, by }
        });
        Error::ChangedSince { plan: plan.id, files: files.collect() }
    }

    /// The plans that were applied since and are not there any more: of those the trail alone tells.
    fn cleaned_since(&self, since: Time) -> Result<Vec<PlanId>> {
        let query = AuditQuery { since: Some(since), ..AuditQuery::default() };
        let mut applied = BTreeSet::new();
        for record in export(self.store().as_ref(), query) {
            let record = record?;
            if record.kind.as_str() == "plan.applied" {
                applied.insert(record.plan);
            }
        }
        let is_gone = |plan: &PlanId| matches!(self.store().plan(*plan), Err(store::Error::NotFound { .. }));
        Ok(applied.into_iter().filter(is_gone).collect())
    }

    fn actors_of(&self, plan: &Plan, there: &LandedPath) -> Vec<Actor> {
        let changesets = self.changesets(plan.id).unwrap_or_default().into_iter();
        let theirs = changesets.filter(|changeset| there.changesets.contains(&changeset.id));
        let mut actors: Vec<Actor> = theirs.map(|changeset| changeset.actor).collect();
        actors.dedup();
        actors
    }
}

/// What undoing comes to.
struct Inverse {
    targets: Targets,
    made: Made,
    /// The changesets whose changes are taken back.
    takes: Vec<ChangesetId>,
}

/// What one changeset did to a path that has landed.
struct Touch<'a> {
    credit: &'a Credit,
    base: Option<&'a Content>,
    after: Option<&'a Content>,
    renamed_from: Option<&'a PathBytes>,
}

fn names(touches: &[&Touch<'_>]) -> Box<[Actor]> {
    let mut names: Vec<Actor> = touches.iter().map(|touch| touch.credit.actor.clone()).collect();
    names.dedup();
    names.into()
}

/// Who did what to a path, in order. An edit of a file that another renamed is one of the new name.
fn touches<'a>(folded: &'a [Folded], key: &PathKey, there: &LandedPath) -> Vec<Touch<'a>> {
    let landed = || folded.iter().filter(|folded| there.changesets.contains(&folded.credit.changeset));
    let renamed = landed().find_map(|folded| {
        let change = folded.changes.get(key)?;
        Some((folded.credit.changeset, change.renamed_from.as_ref()?))
    });
    let old = renamed.map(|(by, path)| (by, PathKey { root: key.root.clone(), path: path.clone() }));
    let renamed_away = |folded: &Folded| {
        landed().any(|other| {
            other.credit != folded.credit
                && other.changes.iter().any(|(to, change)| {
                    to.root == key.root && change.renamed_from.as_ref() == Some(&key.path)
                })
        })
    };
    let touch = |folded: &'a Folded| {
        let credit = &folded.credit;
        if let Some(change) = folded.changes.get(key) {
            if change.after.is_some() && renamed_away(folded) {
                return None;
            }
            let base = if change.renamed_from.is_some() { &change.renamed_base } else { &change.base };
            let renamed_from = change.renamed_from.as_ref();
            return Some(Touch { credit, base: base.as_ref(), after: change.after.as_ref(), renamed_from });
        }
        let (by, old) = old.as_ref()?;
        let change =
            folded.changes.get(old).filter(|change| *by != credit.changeset && change.after.is_some())?;
        Some(Touch { credit, base: change.base.as_ref(), after: change.after.as_ref(), renamed_from: None })
    };
    landed().filter_map(touch).collect()
}

fn change(key: &PathKey, target: &Target, made: &Made) -> Result<Change> {
    let piece = |content: &Content| match made.get(content) {
        Some(bytes) => Piece::file(bytes, content.mode),
        None => Ok(Piece::stored(content.clone())),
    };
    let act = match &target.after {
        None => Act::Delete,
        Some(after) => {
            let content = match made.get(after) {
                Some(bytes) => Source::Bytes(bytes.to_vec()),
                None => Source::Stored(after.clone()),
            };
            Act::Write { content, mode: Some(after.mode) }
        }
    };
    let base = target.expected.as_ref().map(piece).transpose()?;
    Ok(Change::new(key.path.clone(), act).in_root(key.root.clone()).on(base))
}
