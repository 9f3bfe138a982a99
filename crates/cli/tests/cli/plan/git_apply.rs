//! `agents plan diff`: what it writes to a pipe is exact, byte for byte.

#![expect(clippy::disallowed_methods, reason = "prepares folders and files of the test")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use plan::{Actor, Change, ContentSource, Edit, PathBytes, Plans};
use store::SqliteStore;
use testkit::report::{figure, is_proof};
use testkit::seed;
use testkit::trees::{Revision, Step, git_apply, make, read};

use crate::program::Program;

#[test]
fn random_trees_go_through_the_pipe_and_git_apply() {
    let kept = seed::from_env_or(20);
    let _replay = seed::Replay::new("cleveragents-cli", "random_trees_go_through", kept);
    let mut random = fastrand::Rng::with_seed(kept);
    let rounds = if is_proof() { 300 } else { 40 };
    let program = Program::in_project();
    program.run("plan create").success();
    let (mut wrong, mut changed) = (Vec::new(), 0);
    for round in 0..rounds {
        let revision = Revision::random(&mut random);
        let name = format!("round-{round}");
        if !record(&program, &name, &revision) {
            continue;
        }
        changed += 1;
        let printed = program.command_of(&["plan", "diff", &name]).output().unwrap();
        assert!(printed.status.success(), "{printed:?}");
        let copy = program.path(&format!("{name}-copy"));
        std::fs::create_dir(&copy).unwrap();
        make(&copy, &revision.old);
        match git_apply(&copy, &printed.stdout) {
            Ok(()) if read(&copy) == revision.new => {}
            Ok(()) => wrong.push(format!("{name}: another tree")),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    figure("random trees exact through plan diff and git apply", changed - wrong.len());
    assert!(wrong.is_empty(), "{} of {changed} trees are wrong with seed {kept}: {wrong:#?}", wrong.len());
    assert!(changed > rounds * 9 / 10, "only {changed} of {rounds} trees have changes");
}

/// Records a revision as a plan of this name. Returns false if nothing changes.
fn record(program: &Program, name: &str, revision: &Revision) -> bool {
    let root = program.path(name);
    std::fs::create_dir(&root).unwrap();
    make(&root, &revision.old);
    let changes: Vec<Change> = revision.steps().into_iter().map(change).collect();
    if changes.is_empty() {
        return false;
    }
    let store = SqliteStore::open(&program.path("agents-home/state.db")).unwrap();
    let plans = Plans::open(Arc::new(store));
    let actor = Actor::parse("coder").unwrap();
    let roots: [&Path; 1] = [&root];
    let plan = plans.create(Some(name.parse().unwrap()), &roots, &actor).unwrap();
    let changeset = plans.context(plan.id).unwrap().start_changeset(&actor).unwrap();
    changeset.record_many(changes).unwrap();
    changeset.seal().unwrap();
    true
}

fn change(step: Step) -> Change {
    let path = |bytes: Vec<u8>| PathBytes::parse(bytes).unwrap();
    match step {
        Step::Delete(deleted) => Change::delete(path(deleted)),
        Step::Rename(from, to) => Change::rename(path(from), path(to)),
        Step::Mode(changed, mode) => Change::mode(path(changed), mode),
        Step::Write(written, content, mode) => Change::new(
            path(written),
            Edit::Write { content: ContentSource::Bytes(content), mode: Some(mode) },
        ),
        Step::Symlink(link, target) => Change::symlink(path(link), path(target)),
    }
}
