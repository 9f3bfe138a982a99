//! Bringing plans into folders.

use snapbox::str;
use testkit::report::skipped;
use testkit::strace;

use super::{changed, project, record, start};
use crate::program::{Program, json, told};

#[test]
fn a_dry_run_tells_and_touches_nothing_and_an_apply_does_it() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    record(&program, &coder, "a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
    record(&program, &coder, "new/deep.txt", "deep\n");
    program.run(&format!("changeset record {coder} --path b.txt --rename-to c.txt")).success();
    program.run(&format!("changeset seal {coder}")).success();
    program.run("plan apply work --dry-run").success().stderr_eq("").stdout_eq(str![[r#"
  would      modify  a.txt  coder
  would      rename  b.txt -> c.txt  coder
  would      create  new/deep.txt  coder
would apply 3 files of plan [PLAN] (work); nothing was touched

"#]]);
    assert!(!program.path("new/deep.txt").exists() && program.path("b.txt").exists());
    program.run("plan apply work").success().stderr_eq("").stdout_eq(str![[r#"
  applied    modify  a.txt  coder
  applied    rename  b.txt -> c.txt  coder
  applied    create  new/deep.txt  coder
applied 3 files of plan [PLAN] (work)

"#]]);
    assert_eq!(program.text("a.txt"), "ONE\ntwo\nthree\nfour\nfive\n");
    assert_eq!(program.text("new/deep.txt"), "deep\n");
    assert_eq!(program.text("c.txt"), "old\n");
    assert!(!program.path("b.txt").exists());
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] is now applied (version 5): ana changed it
  hint: `agents plan log PLAN` shows who did what; look at the plan again, then decide

"#]]);
}

#[test]
fn two_roots_are_told_apart() {
    let program = Program::new();
    program.write("app/a.txt", "old\n");
    program.write("site/b.txt", "old\n");
    program.made("[PLAN]", "plan create --name work --root app --root site");
    let coder = start(&program, "[CODER]", "coder");
    program.write("new", "new\n");
    for (root, path) in [("app", "a.txt"), ("site", "b.txt")] {
        program.run(&format!("changeset record {coder} --path {path} --content new --root {root}")).success();
    }
    program
        .run(&format!("changeset record {coder} --path a.txt --content new"))
        .code(2)
        .stdout_eq("")
        .stderr_eq(str![[r#"
error: `(no root given)` is not a root of plan [PLAN]
  hint: its roots are [PLACE]/app, [PLACE]/site; name one with --root

"#]]);
    program.run(&format!("changeset seal {coder}")).success();
    program.run("plan diff work").success().stderr_eq("").stdout_eq(str![[r#"
# root [PLACE]/app
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-old
+new
# root [PLACE]/site
diff --git a/b.txt b/b.txt
--- a/b.txt
+++ b/b.txt
@@ -1 +1 @@
-old
+new

"#]]);
    program.run("plan apply work").success().stderr_eq("").stdout_eq(str![[r#"
[PLACE]/app
  applied    modify  a.txt  coder
[PLACE]/site
  applied    modify  b.txt  coder
applied 2 files of plan [PLAN] (work)

"#]]);
    assert_eq!((program.text("app/a.txt"), program.text("site/b.txt")), ("new\n".into(), "new\n".into()));
}

#[test]
fn a_part_leaves_the_rest_ready() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    changed(&program, "[WRITER]", "writer", "b.txt", "new\n");
    program.run("plan apply work --actor coder").success().stderr_eq("").stdout_eq(str![[r#"
  applied    modify  a.txt  coder
applied 1 file of plan [PLAN] (work); 1 left, and the plan is ready

"#]]);
    assert_eq!((program.text("a.txt"), program.text("b.txt")), ("ONE\n".into(), "old\n".into()));
    let rest = json(&program.run("plan apply work --path *.txt --format json").success());
    assert_eq!(rest["data"]["plan"]["state"], "applied");
    assert_eq!(program.text("b.txt"), "new\n");
}

#[test]
fn a_file_that_was_edited_is_never_overwritten() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
    program.write("a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: 1 file changed since plan [PLAN] was recorded: `a.txt`; nothing was applied
  because: `a.txt` is a file of 24 bytes with hash cf43eac9
  hint: check the files; `agents plan apply PLAN --merge-drift` merges edits of other lines

"#]]);
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nFIVE\n");
    program.run("plan show work").success().stdout_eq(str![[r#"
plan [PLAN] (work)
conflict: its changes conflict with each other, or with edits of the files
why: 1 file changed since plan [PLAN] was recorded: `a.txt`; nothing was applied
root [PLACE]
made by ana at [..]
changed by ana at [..]
changeset [CODER]  sealed     coder, 1 change

"#]]);
    program.run("plan conflicts work").success().stdout_eq(str![[r#"
no conflicts between actors; 1 file changed since plan [PLAN] was recorded: `a.txt`; nothing was applied

"#]]);
    program.run("plan apply work --merge-drift").success().stderr_eq("").stdout_eq(str![[r#"
  applied    modify  a.txt  coder
applied 1 file of plan [PLAN] (work)

"#]]);
    assert_eq!(program.text("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
}

#[test]
fn what_cannot_be_merged_is_not_told_to_be_merged() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "coder\n");
    program.write("b.txt", "mine\n");
    program.run("plan apply work --merge-drift").code(4).stdout_eq("").stderr_eq(str![[r#"
error: 1 file changed since plan [PLAN] was recorded: `b.txt`; nothing was applied
  because: `b.txt` is a file of 5 bytes with hash [..]
  hint: these edits cannot be merged: restore the files, select others with `--path GLOB`, or undo their applied changes with `agents plan undo PLAN --path GLOB`

"#]]);
}

#[test]
fn a_plan_without_changes_is_not_applied() {
    let program = project();
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] cannot be applied: it is queued (created; no actor works on it yet)
  hint: record changes first: `agents changeset start [PLAN] --actor NAME`

"#]]);
    let coder = start(&program, "[CODER]", "coder");
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] cannot be applied: it is running (actors record changes)
  hint: wait for its run, or seal the open changesets: `agents changeset list [PLAN]`, `agents changeset seal ID`

"#]]);
    program.run(&format!("changeset seal {coder}")).success();
    program.run("plan apply work").code(3).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] has nothing to apply
  hint: `agents plan show PLAN` lists its changesets

"#]]);
}

#[test]
fn the_strategy_is_a_key_of_configuration() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "coder\n");
    changed(&program, "[WRITER]", "writer", "b.txt", "writer\n");
    let refused = told(&program.run("plan apply work").code(4));
    assert!(refused.contains("`b.txt`: lines at line 1, by coder and writer"), "{refused}");
    program.run("plan apply work -c plan.merge=last-wins").success();
    assert_eq!(program.text("b.txt"), "writer\n");
}

#[test]
fn git_sees_the_changes_and_nothing_of_ours() {
    let program = Program::new();
    program.write("app/a.txt", "old\n");
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        let output = git.args(words).current_dir(program.path("app")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    git(&["add", "a.txt"]);
    program.made("[PLAN]", "plan create --name work --root app");
    let coder = start(&program, "[CODER]", "coder");
    record(&program, &coder, "b.txt", "new\n");
    program.run(&format!("changeset seal {coder}")).success();
    program.run("plan apply work --dry-run").success();
    assert!(!program.path("app/.cleveragents").exists(), "a dry run touches nothing");
    program.run("plan apply work").success();
    assert_eq!(git(&["status", "--porcelain"]), "A  a.txt\n?? b.txt\n");
}

/// Somebody writes to the file between the moment when it was published and the look at it afterwards.
#[test]
fn a_file_that_holds_something_else_afterwards_is_an_error() {
    if let Some(reason) = strace::unusable() {
        return skipped("cli::mismatch", &reason);
    }
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    let apply = program.command("plan apply work");
    let edit = || program.write("a.txt", "edited\n");
    let ended = strace::run_stopped(&apply, "renameat2", program.temporary(), edit);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.output.starts_with("  verify-failed  modify  a.txt  coder\n"), "{ended:?}");
    let said = "warning: `a.txt` was written, and held something else when it was looked at afterwards\n";
    assert!(ended.complaint.starts_with(said) && ended.complaint.contains("hint: "), "{ended:?}");
    assert_eq!(program.text("a.txt"), "edited\n");
    let shown = json(&program.run("plan show work --format json").success());
    assert_eq!(shown["data"]["state"], "conflict");
}
