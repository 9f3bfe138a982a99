//! `agents plan`, `agents changeset`, `agents audit`, `agents store gc` and `agents doctor`.

mod applying;
mod auditing;
mod conflicts;
mod control_characters;
mod failing;
#[cfg(unix)]
mod git_apply;
#[cfg(unix)]
mod modes;
#[cfg(unix)]
mod recovering;
mod refusals;
mod reviewing;
mod undoing;

use crate::program::Program;

/// A project with two files, and a plan for it.
pub(crate) fn project() -> Program {
    let program = Program::in_project();
    program.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    program.write("b.txt", "old\n");
    program.made("[PLAN]", "plan create --name work");
    program
}

/// Starts the changeset of an actor.
fn start(program: &Program, placeholder: &'static str, actor: &str) -> String {
    program.made(placeholder, &format!("changeset start work --actor {actor}"))
}

/// Records the content of a path.
fn record(program: &Program, changeset: &str, path: &str, content: &str) {
    program.write("content", content);
    program.run(&format!("changeset record {changeset} --path {path} --content content")).success();
}

/// Records and seals a changeset of one file.
pub(crate) fn changed(
    program: &Program,
    placeholder: &'static str,
    actor: &str,
    path: &str,
    content: &str,
) -> String {
    let changeset = start(program, placeholder, actor);
    record(program, &changeset, path, content);
    program.run(&format!("changeset seal {changeset}")).success();
    changeset
}
