//! Hints for errors of plans and changesets.

use api::errors::{Actor, PlanError as E, PlanId, State};

/// Gives what to do about an error; names a command where one helps.
pub(super) fn hint(error: &E) -> Option<String> {
    let hint = match error {
        E::Store(error) => return super::store::hint(error),
        E::Root { source, .. } | E::Files { source } => return super::files::hint(source),
        E::BadRoot { .. } => {
            "name folders that are there, none inside another: `agents plan create --root DIR`"
        }
        E::ForeignRoot { roots, .. } => {
            return Some(format!("its roots are {}; name one with --root", roots.join(", ")));
        }
        E::BadPath { .. } => "name a path below the root, outside of protected folders such as .git",
        E::PathNotFound { .. } => "`agents changeset show ID` lists what was recorded before",
        E::PathExists { .. } => "delete it first with `agents changeset record ID --path P --delete`",
        E::BaseMismatch { .. } => "leave out --base: later changes build on the earlier ones",
        E::OutcomeUnknown { .. } => {
            "reopen the changeset; `agents changeset show ID` lists what was recorded"
        }
        E::IllegalStep { plan, state, to, .. } => return Some(way_out(*plan, *state, *to)),
        E::OutsideScope { .. } => {
            "enter a changeset's scope first, or record through its handle; `agents changeset start PLAN --actor NAME` starts one"
        }
        E::Contended { .. } => "try again; `agents plan log PLAN` shows who changes it",
        E::Detail { .. } => "use the newer program, or look with `agents doctor`",
        E::NoConflict { .. } => "`agents plan conflicts PLAN` lists the conflicts there are",
        E::ActorNotInvolved { actors, .. } => {
            let actors: Vec<&str> = actors.iter().map(Actor::as_str).collect();
            return Some(format!("it was changed by {}; take one of them", actors.join(" and ")));
        }
        E::NothingToDo { .. } => "`agents plan show PLAN` lists its changesets",
        E::BadPattern { .. } => {
            "name paths below the root like `src/**` or `*.md`; `*` and `?` are within a name, `**` is over folders, `[…]` and `{a,b}` are choices"
        }
        E::Conflicts { .. } => {
            "`agents plan conflicts PLAN` shows them; `agents plan resolve PLAN PATH --take ACTOR` settles one"
        }
        E::Drifted { is_merging: false, .. } => {
            "look at the files; `agents plan apply PLAN --merge-drift` merges edits of other lines"
        }
        E::Drifted { is_merging: true, .. } => {
            "these cannot be merged: put the files back as they were, leave them out with `--path GLOB`, or take back what has landed of them with `agents plan undo PLAN --path GLOB`"
        }
        E::ModifiedSinceApply { .. } => {
            "`agents plan undo PLAN --path GLOB` takes back the others; undo the later plans first"
        }
        E::HasDependents { by, .. } => {
            return Some(format!("remove that first: `agents plan clean {by}`"));
        }
        E::DependentChanges { plan, actors, others, .. } => {
            let actor = |actor: &Actor| format!(" --actor {actor}");
            let all: String = actors.iter().chain(&**others).map(actor).collect();
            return Some(format!("`agents plan undo {plan}{all}` takes back both"));
        }
        E::OtherMachine { .. } | E::ApplyIncomplete { .. } => {
            "run `agents doctor --fix` on the machine that has the folders"
        }
        E::Unapplied { .. } => "apply it, or remove it for good with `agents plan clean PLAN --force`",
        E::ForeignChangeset { .. } => "`agents changeset list PLAN` shows the changesets of a plan",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// The command that helps whoever wanted a plan to come to a state that cannot follow.
fn way_out(plan: PlanId, state: State, to: State) -> String {
    match (state, to) {
        (State::Queued, _) => {
            format!("record something first: `agents changeset start {plan} --actor NAME`")
        }
        (State::Running, _) => format!(
            "wait for its run, or seal what is open: `agents changeset list {plan}`, `agents changeset seal ID`"
        ),
        (State::Ready | State::Conflict, State::Undone) => {
            format!("nothing of it is in the folders: `agents plan apply {plan}` brings it there")
        }
        (State::Ready | State::Conflict, _) => format!("`agents plan show {plan}` says more"),
        (State::Applying, _) => {
            "wait for who applies it; if that was cut off, run `agents doctor --fix`".to_owned()
        }
        (State::Applied, _) => format!("`agents plan undo {plan}` takes it back"),
        (State::Failed, _) => {
            format!("`agents run --resume {plan}` goes on with it, and `agents plan log {plan}` says why")
        }
        (State::Cancelled, _) => {
            "it stays so: make another one with `agents plan create` or `agents run`".to_owned()
        }
        (State::Undone, _) => {
            "`agents plan list` shows the plan that took it back; `agents plan undo` of that one brings it back"
                .to_owned()
        }
    }
}
