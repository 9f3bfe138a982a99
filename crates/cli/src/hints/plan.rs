//! Hints for errors of plans and changesets.

use api::errors::{Actor, PlanError as E, PlanId, State};

pub(super) fn hint(error: &E) -> Option<String> {
    Some(match error {
        E::Store(error) => return super::store::hint(error),
        E::Root { source, .. } | E::Files { source } => return super::files::hint(source),
        E::BadRoot { .. } => {
            "agents plan create --root DIR  # an existing folder, not inside another root".to_owned()
        }
        E::ForeignRoot { roots, .. } => format!("add --root {}", roots.join(" or --root ")),
        E::BadPath { .. } => {
            "name a path below the root, outside of .git and other protected folders".to_owned()
        }
        E::PathNotFound { .. } => "correct the path, or record its creation first".to_owned(),
        E::PathExists { path } => format!("delete it first: --path {path} --delete"),
        E::BaseMismatch { .. } => "leave out --base: a later change builds on the earlier one".to_owned(),
        E::OutcomeUnknown { .. } => "reopen the changeset and look at it before you record again".to_owned(),
        E::IllegalStep { plan, state, to, .. } => suggestion(*plan, *state, *to),
        E::OutsideScope { .. } => "enter the scope of a changeset, or record through its handle".to_owned(),
        E::Contended { plan } => format!("agents plan history {plan}  # who changes it; then try again"),
        E::Detail { .. } => "agents doctor".to_owned(),
        E::NoConflict { plan, .. } => format!("agents plan conflicts {plan}"),
        E::ActorNotInvolved { actors, .. } => {
            let actors: Vec<String> = actors.iter().map(|actor| format!("--take {actor}")).collect();
            format!("use {}", actors.join(" or "))
        }
        E::NothingToDo { plan, .. } => format!("agents plan show {plan}"),
        E::BadPattern { .. } => {
            "patterns are like src/** or *.md: * and ? match in a name, ** across folders, […] and {a,b} choices"
                .to_owned()
        }
        E::Conflicts { plan, conflicts } => {
            let first = conflicts.first().and_then(|conflict| Some((conflict, conflict.sides.first()?)));
            let resolve = first.map(|(conflict, side)| {
                format!("agents plan resolve {plan} {} --take {}", conflict.key.path.show(), side.attribution.actor)
            });
            let show = format!("agents plan conflicts {plan}");
            [Some(show), resolve].into_iter().flatten().collect::<Vec<_>>().join("\n")
        }
        E::Drifted { plan, is_merging: false, .. } => format!("agents plan apply {plan} --merge-drift"),
        E::Drifted { plan, is_merging: true, .. } => format!(
            "agents plan apply {plan} --path GLOB  # without these files\nagents plan undo {plan} --path GLOB  # what is applied of them"
        ),
        E::ModifiedSinceApply { plan, .. } => {
            format!("agents plan undo {plan} --path GLOB  # the other files; or undo the later plans first")
        }
        E::HasDependents { by, .. } => format!("agents plan prune {by}  # first"),
        E::BeingUndone { by, .. } => format!("agents plan show {by}  # wait for it, or finish it: agents doctor --fix"),
        E::UnfinishedUndo { plan, of } => format!("agents plan undo {of}\nagents plan prune {plan}"),
        E::DependentChanges { plan, actors, others, .. } => {
            let option = |actor: &Actor| format!(" --actor {actor}");
            let all: String = actors.iter().chain(&**others).map(option).collect();
            format!("agents plan undo {plan}{all}")
        }
        E::OtherMachine { .. } | E::ApplyIncomplete { .. } => {
            "agents doctor --fix  # on the machine that has the folders".to_owned()
        }
        E::Unapplied { plan, .. } => {
            format!("agents plan apply {plan}\nagents plan prune {plan} --force  # discards its changes")
        }
        E::Tampered { .. } => "agents audit verify  # then restore the store from a backup".to_owned(),
        E::ForeignChangeset { plan, .. } => format!("agents changeset list {plan}"),
        _ => return None,
    })
}

/// The command that leads from a state of a plan towards another that cannot follow it.
fn suggestion(plan: PlanId, state: State, to: State) -> String {
    match (state, to) {
        (State::Queued, _) => format!("agents changeset start {plan} --actor NAME"),
        (State::Running, _) => {
            format!("agents changeset list {plan}  # seal the open ones, or wait for the run")
        }
        (State::Ready | State::Conflict, State::Undone) => format!("agents plan apply {plan}"),
        (State::Ready | State::Conflict, _) => format!("agents plan show {plan}"),
        (State::Applying, _) => "agents doctor --fix  # if its apply was interrupted".to_owned(),
        (State::Applied, _) => format!("agents plan undo {plan}"),
        (State::Failed, _) => {
            format!("agents run --resume {plan}\nagents plan history {plan}  # why it failed")
        }
        (State::Cancelled, _) => "agents plan create  # a cancelled plan stays cancelled".to_owned(),
        (State::Undone, _) => "agents plan list  # to redo it, undo the plan that undid it".to_owned(),
    }
}
