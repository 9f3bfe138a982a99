//! `agents plan apply`.

use snapbox::str;
use testkit::report::skipped;
use testkit::strace;

use super::{changed, project, record, start};
use crate::program::{Program, json, stderr_text};

#[test]
fn a_dry_run_lists_what_apply_does() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    record(&program, &coder, "a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
    record(&program, &coder, "new/deep.txt", "deep\n");
    program.run(&format!("changeset record {coder} --path b.txt --rename-to c.txt")).success();
    program.run(&format!("changeset seal {coder}")).success();
    program
        .run("plan apply work --dry-run")
        .success()
        .stderr_eq(str![[r#"
  hint: agents plan apply [PLAN]

"#]])
        .stdout_eq(str![[r#"
work: would apply 3 files to [PLACE]
  would modify  a.txt           coder
  would rename  b.txt => c.txt  coder
  would create  new/deep.txt    coder

"#]]);
    assert!(!program.path("new/deep.txt").exists() && program.path("b.txt").exists());
    program
        .run("plan apply work")
        .success()
        .stderr_eq(str![[r#"
  modify  a.txt           coder
  rename  b.txt => c.txt  coder
  create  new/deep.txt    coder
work: applied 3 files to [PLACE]

"#]])
        .stdout_eq("");
    assert_eq!(program.text("a.txt"), "ONE\ntwo\nthree\nfour\nfive\n");
    assert_eq!(program.text("new/deep.txt"), "deep\n");
    assert_eq!(program.text("c.txt"), "old\n");
    assert!(!program.path("b.txt").exists());
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] is now applied (version 5): ana changed it
  hint: agents plan history [PLAN]

"#]]);
}

#[test]
fn files_of_two_roots_are_listed_by_root() {
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
  hint: add --root [PLACE]/app or --root [PLACE]/site

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
    program
        .run("plan apply work")
        .success()
        .stderr_eq(str![[r#"
[PLACE]/app
  modify  a.txt  coder
[PLACE]/site
  modify  b.txt  coder
work: applied 2 files to [PLACE]/app and [PLACE]/site

"#]])
        .stdout_eq("");
    assert_eq!((program.text("app/a.txt"), program.text("site/b.txt")), ("new\n".into(), "new\n".into()));
}

#[test]
fn applying_a_part_keeps_the_rest_ready() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    changed(&program, "[WRITER]", "writer", "b.txt", "new\n");
    program
        .run("plan apply work --actor coder")
        .success()
        .stderr_eq(str![[r#"
  modify  a.txt  coder
work: applied 1 file to [PLACE]; 1 file remains

"#]])
        .stdout_eq("");
    assert_eq!((program.text("a.txt"), program.text("b.txt")), ("ONE\n".into(), "old\n".into()));
    let rest = json(&program.run("plan apply work --path *.txt --format json").success());
    assert_eq!(rest["data"]["plan"]["state"], "applied");
    assert_eq!(program.text("b.txt"), "new\n");
}

#[test]
fn a_drifted_file_is_never_overwritten() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
    program.write("a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: 1 file changed since plan [PLAN] was recorded: `a.txt`; nothing was applied
  `a.txt` is a file of 24 bytes with hash cf43eac9
  hint: agents plan apply [PLAN] --merge-drift

"#]]);
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nFIVE\n");
    program.run("plan show work").success().stdout_eq(str![[r#"
work ([PLAN]): conflict
  1 file changed since plan [PLAN] was recorded: `a.txt`; nothing was applied
  [PLACE]; created by ana [..] ago, changed by ana [..] ago
CHANGESET                   ACTOR  CHANGES  STATUS
[CODER]  coder        1  sealed

"#]]);
    program.run("plan conflicts work").success().stdout_eq(str![[r#"
work: no conflicts between actors; 1 file changed since plan [PLAN] was recorded: `a.txt`; nothing was applied

"#]]);
    program
        .run("plan apply work --merge-drift")
        .success()
        .stderr_eq(str![[r#"
  modify  a.txt  coder
work: applied 1 file to [PLACE]

"#]])
        .stdout_eq("");
    assert_eq!(program.text("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
}

#[test]
fn drift_that_cannot_be_merged_gets_another_hint() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "coder\n");
    program.write("b.txt", "mine\n");
    program.run("plan apply work --merge-drift").code(4).stdout_eq("").stderr_eq(str![[r#"
error: 1 file changed since plan [PLAN] was recorded: `b.txt`; nothing was applied
  `b.txt` is a file of 5 bytes with hash [..]
  hint: agents plan apply [PLAN] --path GLOB  # without these files
        agents plan undo [PLAN] --path GLOB  # what is applied of them

"#]]);
}

#[test]
fn a_plan_without_changes_is_not_applied() {
    let program = project();
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] cannot be applied: it is queued (created; no actor works on it yet)
  hint: agents changeset start [PLAN] --actor NAME

"#]]);
    let coder = start(&program, "[CODER]", "coder");
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] cannot be applied: it is running (actors record changes)
  hint: agents changeset list [PLAN]  # seal the open ones, or wait for the run

"#]]);
    program.run(&format!("changeset seal {coder}")).success();
    program.run("plan apply work").code(3).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] has nothing to apply
  hint: agents plan show [PLAN]

"#]]);
}

#[test]
fn the_merge_strategy_is_a_configuration_key() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "coder\n");
    changed(&program, "[WRITER]", "writer", "b.txt", "writer\n");
    let refused = stderr_text(&program.run("plan apply work").code(4));
    assert!(refused.contains("`b.txt`: lines at line 1, by coder and writer"), "{refused}");
    program.run("plan apply work -c plan.merge=last-wins").success();
    assert_eq!(program.text("b.txt"), "writer\n");
}

#[test]
fn git_sees_only_the_changes() {
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

/// A person writes to the file between publishing and verification.
#[test]
fn a_file_that_fails_verification_is_an_error() {
    if let Some(reason) = strace::unusable() {
        return skipped("cli::mismatch", &reason);
    }
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    let apply = program.command("plan apply work");
    let edit = || program.write("a.txt", "edited\n");
    let ended = strace::run_stopped(&apply, "renameat2", program.temporary(), edit);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.complaint.starts_with("  verify-failed  a.txt  coder\n"), "{ended:?}");
    let said = "warning: `a.txt` was written, but held other content when it was verified\n";
    assert!(ended.complaint.contains(said) && ended.complaint.contains("hint: "), "{ended:?}");
    assert_eq!(program.text("a.txt"), "edited\n");
    let shown = json(&program.run("plan show work --format json").success());
    assert_eq!(shown["data"]["state"], "conflict");
}
