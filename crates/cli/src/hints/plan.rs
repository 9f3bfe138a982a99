//! Hints for errors of plans and changesets.

use api::errors::{Actor, PlanError as E, PlanId, State};

/// Suggests what to do about an error, with a command if one helps.
pub(super) fn hint(error: &E) -> Option<String> {
    let hint = match error {
        E::Store(error) => return super::store::hint(error),
        E::Root { source, .. } | E::Files { source } => return super::files::hint(source),
        E::BadRoot { .. } => "name existing folders, none inside another: `agents plan create --root DIR`",
        E::ForeignRoot { roots, .. } => {
            return Some(format!("its roots are {}; name one with --root", roots.join(", ")));
        }
        E::BadPath { .. } => "name a path below the root, outside of protected folders such as .git",
        E::PathNotFound { .. } => "`agents changeset show ID` lists the recorded changes",
        E::PathExists { .. } => "delete it first with `agents changeset record ID --path P --delete`",
        E::BaseMismatch { .. } => "omit --base: a later change builds on the earlier one",
        E::OutcomeUnknown { .. } => {
            "reopen the changeset; `agents changeset show ID` lists the recorded changes"
        }
        E::IllegalStep { plan, state, to, .. } => return Some(suggestion(*plan, *state, *to)),
        E::OutsideScope { .. } => {
            "enter the scope of a changeset, or record through its handle; `agents changeset start PLAN --actor NAME` starts one"
        }
        E::Contended { .. } => "try again; `agents plan log PLAN` shows the concurrent changes",
        E::Detail { .. } => "use a newer version, or check with `agents doctor`",
        E::NoConflict { .. } => "`agents plan conflicts PLAN` lists the conflicts",
        E::ActorNotInvolved { actors, .. } => {
            let actors: Vec<&str> = actors.iter().map(Actor::as_str).collect();
            return Some(format!("it was changed by {}; choose one of them", actors.join(" and ")));
        }
        E::NothingToDo { .. } => "`agents plan show PLAN` lists its changesets",
        E::BadPattern { .. } => {
            "name paths below the root, such as `src/**` or `*.md`; `*` and `?` match within a name, `**` matches folders, `[…]` and `{a,b}` match alternatives"
        }
        E::Conflicts { .. } => {
            "`agents plan conflicts PLAN` shows them; `agents plan resolve PLAN PATH --take ACTOR` resolves one"
        }
        E::Drifted { is_merging: false, .. } => {
            "check the files; `agents plan apply PLAN --merge-drift` merges edits of other lines"
        }
        E::Drifted { is_merging: true, .. } => {
            "these edits cannot be merged: restore the files, select others with `--path GLOB`, or undo their applied changes with `agents plan undo PLAN --path GLOB`"
        }
        E::ModifiedSinceApply { .. } => {
            "undo the later plans first, or undo the other files with `agents plan undo PLAN --path GLOB`"
        }
        E::HasDependents { by, .. } => {
            return Some(format!("remove that plan first: `agents plan clean {by}`"));
        }
        E::DependentChanges { plan, actors, others, .. } => {
            let actor = |actor: &Actor| format!(" --actor {actor}");
            let all: String = actors.iter().chain(&**others).map(actor).collect();
            return Some(format!("`agents plan undo {plan}{all}` undoes both"));
        }
        E::OtherMachine { .. } | E::ApplyIncomplete { .. } => {
            "run `agents doctor --fix` on the machine that has the roots"
        }
        E::Unapplied { .. } => "apply it, or delete it with `agents plan clean PLAN --force`",
        E::ForeignChangeset { .. } => "`agents changeset list PLAN` shows the changesets of a plan",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Suggests a command after an illegal step.
fn suggestion(plan: PlanId, state: State, to: State) -> String {
    match (state, to) {
        (State::Queued, _) => {
            format!("record changes first: `agents changeset start {plan} --actor NAME`")
        }
        (State::Running, _) => format!(
            "wait for its run, or seal the open changesets: `agents changeset list {plan}`, `agents changeset seal ID`"
        ),
        (State::Ready | State::Conflict, State::Undone) => {
            format!("it is not applied: run `agents plan apply {plan}`")
        }
        (State::Ready | State::Conflict, _) => format!("`agents plan show {plan}` shows the details"),
        (State::Applying, _) => {
            "wait until it is applied; if the apply was interrupted, run `agents doctor --fix`".to_owned()
        }
        (State::Applied, _) => format!("`agents plan undo {plan}` undoes it"),
        (State::Failed, _) => {
            format!("`agents run --resume {plan}` resumes it, and `agents plan log {plan}` shows the reason")
        }
        (State::Cancelled, _) => {
            "a cancelled plan cannot continue: create another one with `agents plan create` or `agents run`"
                .to_owned()
        }
        (State::Undone, _) => {
            "`agents plan list` shows the plan that undid it; `agents plan undo` of that plan restores it"
                .to_owned()
        }
    }
}
