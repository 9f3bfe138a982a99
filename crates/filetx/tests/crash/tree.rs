//! The listed workloads of user trees.

use super::model::{Op, Plan, TREE, TREE_TOGETHER, TREES, TREES_TOGETHER, put};
use super::states::{figure, limits};

fn check(plan: &Plan) {
    figure(&plan.name, &plan.hold(&limits()));
}

#[test]
fn first_use_of_an_empty_root() {
    check(&Plan::new("tree: first use", TREE, &[], &[&[put("a/new", "1")]]));
}

#[test]
fn create_change_and_remove() {
    let start = [put("a/change", "old"), put("a/remove", "old"), put("a/untouched", "stays")];
    let ops = [
        put("a/create", "new"),
        put("a/change", "new"),
        Op::Remove("a/remove"),
        put("a/deep/er/file", "new"),
    ];
    check(&Plan::new("tree: create, change, remove", TREE, &start, &[&ops]));
}

#[test]
fn one_commit_after_the_other() {
    let start = [put("a/f", "0"), put("a/g", "0")];
    let commits: [&[Op]; 3] = [
        &[put("a/f", "1"), put("a/g", "1")],
        &[put("a/f", "2"), Op::Remove("a/g")],
        &[Op::Remove("a/f"), put("a/g", "2")],
    ];
    check(&Plan::new("tree: three commits", TREE, &start, &commits));
}

#[test]
fn every_kind_of_change() {
    let start = [put("a/f", "file"), put("a/d/x", "in folder"), Op::Symlink("a/l", "f"), put("a/m", "mode")];
    let ops = [
        Op::Remove("a/d/x"),
        Op::RemoveFolder("a/d"),
        put("a/d", "was a folder"),
        Op::Remove("a/f"),
        put("a/f/y", "was a file"),
        Op::SetMode("a/m", 0o640),
        Op::Symlink("a/l", "elsewhere"),
    ];
    check(&Plan::new("tree: every kind of change", TREE, &start, &[&ops]));
}

#[test]
fn two_roots_on_two_mounts() {
    let start = [put("a/f", "old"), put("b/g", "old"), put("b/gone", "old")];
    let ops = [put("a/f", "new"), put("b/g", "new"), Op::Remove("b/gone")];
    check(&Plan::new("trees: two roots", TREES, &start, &[&ops]));
}

#[test]
fn two_roots_changed_twice() {
    let start = [put("a/f", "0"), put("b/g", "0")];
    let commits: [&[Op]; 2] = [&[put("a/f", "1"), put("b/g", "1")], &[put("b/g", "2"), put("a/f", "2")]];
    check(&Plan::new("trees: two roots, two commits", TREES, &start, &commits));
}

#[test]
fn only_the_second_root_is_changed() {
    let commits: [&[Op]; 2] = [&[put("b/g", "1")], &[put("a/f", "2"), put("b/g", "2")]];
    check(&Plan::new("trees: second root alone", TREES, &[put("b/g", "0")], &commits));
}

#[test]
fn without_exchange() {
    let start = [put("a/f", "old"), put("a/g", "old")];
    let ops = [put("a/f", "new"), Op::Remove("a/g"), put("a/h", "new")];
    check(&Plan::new("tree: no exchange", TREE, &start, &[&ops]).prepared(|disk| disk.set_exchange(false)));
}

#[test]
fn without_hard_links() {
    let start = [put("a/f", "old"), put("a/g", "old")];
    let ops = [put("a/f", "new"), Op::Remove("a/g"), put("a/h", "new")];
    check(&Plan::new("tree: no hard links", TREE, &start, &[&ops]).prepared(|disk| disk.set_links(false)));
}

#[test]
fn one_root_with_syncfs() {
    let start = [put("a/f", "file"), put("a/d/x", "in folder"), put("a/m", "mode"), put("a/gone", "old")];
    let ops = [
        put("a/f", "new"),
        Op::Remove("a/d/x"),
        Op::RemoveFolder("a/d"),
        put("a/d", "was a folder"),
        Op::SetMode("a/m", 0o640),
        Op::Remove("a/gone"),
        put("a/deep/er", "new"),
    ];
    check(&Plan::new("tree: synced together", TREE_TOGETHER, &start, &[&ops]));
}

#[test]
fn two_roots_with_syncfs() {
    let start = [put("a/f", "0"), put("b/g", "0")];
    let commits: [&[Op]; 2] = [&[put("a/f", "1"), put("b/g", "1")], &[put("b/g", "2"), put("a/h", "2")]];
    check(&Plan::new("trees: synced together", TREES_TOGETHER, &start, &commits));
}

#[test]
fn without_syncfs() {
    let ops = [put("a/f", "new"), put("a/g", "new")];
    let plan = Plan::new("tree: no call for all", TREE_TOGETHER, &[put("a/f", "old")], &[&ops]);
    check(&plan.prepared(|disk| disk.set_syncs_whole(false)));
}
