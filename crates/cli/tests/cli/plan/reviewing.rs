//! Creating plans, recording and reviewing changes.

use snapbox::str;

use super::{changed, project, record, start};
use crate::program::{Program, json, text};

#[test]
fn a_plan_is_created_recorded_and_shown() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    program.run("changeset list work").success().stderr_eq("").stdout_eq(str![[r#"
CHANGESET                   ACTOR  CHANGES  STATUS
[CODER]  coder        0  open

"#]]);
    record(&program, &coder, "a.txt", "one\nTWO\nthree\nfour\nfive\n");
    program
        .run(&format!("changeset record {coder} --path b.txt --rename-to c.txt"))
        .success()
        .stderr_eq(str![[r#"
[CODER]: recorded change 2

"#]])
        .stdout_eq("");
    program.run(&format!("changeset record {coder} --path c.txt --mode 755")).success();
    program.run(&format!("changeset record {coder} --path link --symlink a.txt --tool ln")).success();
    program.run(&format!("changeset show {coder}")).success().stderr_eq("").stdout_eq(str![[r#"
[CODER]: open, 4 changes by coder in plan [PLAN]
CHANGE  KIND    PATH            SIZE  MODE
     1  modify  a.txt           24 B  0644
     2  rename  b.txt => c.txt   4 B  0644
     3  mode    c.txt            4 B  0755
     4  create  link             5 B  0777

"#]]);
    program.run("plan diff work").success().stdout_eq("").stderr_eq(str![[r#"
warning: 1 open changeset not shown
  hint: agents changeset list [PLAN]

"#]]);
    program
        .run(&format!("changeset seal {coder}"))
        .success()
        .stderr_eq(str![[r#"
coder: sealed 4 changes; plan [PLAN] is ready
  hint: agents plan diff [PLAN]

"#]])
        .stdout_eq("");
    program.run(&format!("changeset seal {coder}")).success();
    program.run("plan show @latest").success().stderr_eq("").stdout_eq(str![[r#"
work ([PLAN]): ready
  [PLACE]; created by ana [..] ago, changed by coder [..] ago
CHANGESET                   ACTOR  CHANGES  STATUS
[CODER]  coder        4  sealed

"#]]);
    program.run("plan list --state ready").success().stderr_eq("").stdout_eq(str![[r#"
PLAN  ID                          STATE  AGE
work  [PLAN]  ready  [..]

"#]]);
    program
        .run("plan list --state applied")
        .success()
        .stderr_eq(str![[r#"
no plans

"#]])
        .stdout_eq("");
    program.run("plan diff work").success().stderr_eq("").stdout_eq(str![[r#"
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,5 +1,5 @@
 one
-two
+TWO
 three
 four
 five
diff --git a/b.txt b/c.txt
old mode 100644
new mode 100755
similarity index 100%
rename from b.txt
rename to c.txt
diff --git a/link b/link
new file mode 120000
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+a.txt
/ No newline at end of file

"#]]);
    program.run("plan diff work --stat").success().stderr_eq("").stdout_eq(str![[r#"
 a.txt          | 2 +-  coder
 b.txt => c.txt | 0     coder
 link (new)     | 1 +   coder
 3 files changed, 2 insertions(+), 1 deletion(-)

"#]]);
    program.run("plan diff work --path a.txt --actor coder --stat").success().stdout_eq(str![[r#"
 a.txt | 2 +-  coder
 1 file changed, 1 insertion(+), 1 deletion(-)

"#]]);
    program.run("plan history work").success().stderr_eq("").stdout_eq(str![[r#"
RECORD  TIME                         EVENT              BY     DETAILS
     1  [..]  plan.created       ana    queued
     2  [..]  plan.step          coder  queued -> running
     3  [..]  changeset.started  coder  [CODER]
     4  [..]  changeset.sealed   coder  [CODER], 4 changes
     5  [..]  plan.step          coder  running -> ready

"#]]);
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n", "recording touches nothing");
}

#[test]
fn the_envelope_of_a_diff_has_hunks() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "one\nTWO\nthree\nfour\nfive\n");
    let envelope = json(&program.run("plan diff work --format json").success());
    let file = &envelope["data"]["files"][0];
    assert_eq!(
        (&file["path"], &file["change"], &file["added"]),
        (&"a.txt".into(), &"modify".into(), &1.into())
    );
    let hunk = &file["hunks"][0];
    assert_eq!((&hunk["old_start"], &hunk["old_lines"]), (&1.into(), &5.into()));
    assert_eq!(hunk["lines"][1], serde_json::json!({ "sign": "-", "text": "two\n" }));
    assert_eq!(hunk["lines"][2], serde_json::json!({ "sign": "+", "text": "TWO\n" }));
}

#[test]
fn a_diff_has_colours_only_if_forced() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "new\n");
    let painted = text(&program.run("plan diff work --color always").success());
    assert!(painted.contains("\u{1b}[31m-old") && painted.contains("\u{1b}[32m+new"), "{painted:?}");
    assert!(!text(&program.run("plan diff work --format rich").success()).contains('\u{1b}'));
}

#[test]
fn a_patch_builds_on_earlier_changes() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    program.write("one.patch", "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n");
    program.write("two.patch", "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n ONE\n-two\n+TWO\n");
    for patch in ["one.patch", "two.patch"] {
        program.run(&format!("changeset record {coder} --path a.txt --patch {patch}")).success();
    }
    let two = program.text("two.patch");
    program
        .run_reading(two.as_bytes(), &format!("changeset record {coder} --path b.txt --patch -"))
        .code(4)
        .stdout_eq("")
        .stderr_eq(str![[r#"
error: cannot apply the patch to `b.txt`: the patch is for `a/a.txt`
  hint: make the patch against the present file, or record all of it with --content FILE

"#]]);
    let two = two.replace("a.txt", "b.txt");
    program
        .run_reading(two.as_bytes(), &format!("changeset record {coder} --path b.txt --patch -"))
        .code(4)
        .stdout_eq("")
        .stderr_eq(str![[r#"
error: cannot apply the patch to `b.txt`: error applying hunk #1
  hint: make the patch against the present file, or record all of it with --content FILE

"#]]);
    program.run(&format!("changeset seal {coder}")).success();
    program.run("plan apply work").success();
    assert_eq!(program.text("a.txt"), "ONE\nTWO\nthree\nfour\nfive\n");
}

#[test]
fn an_explicit_base_is_recorded() {
    let program = project();
    program.write("base", "one\ntwo\n");
    program.write("new", "one\nTWO\n");
    let coder = start(&program, "[CODER]", "coder");
    program.run(&format!("changeset record {coder} --path a.txt --content new --base base")).success();
    program
        .run_reading(
            b"fresh\n",
            &format!("changeset record {coder} --path n.txt --content - --mode 600 --base /dev/null"),
        )
        .success();
    program.run(&format!("changeset seal {coder}")).success();
    program.run("plan diff work").success().stdout_eq(str![[r#"
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 one
-two
+TWO
# mode 0600: n.txt
diff --git a/n.txt b/n.txt
new file mode 100644
--- /dev/null
+++ b/n.txt
@@ -0,0 +1 @@
+fresh

"#]]);
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: 1 file changed since plan [PLAN] was recorded: `a.txt`; nothing was applied
  `a.txt` is a file of 24 bytes with hash 3d20e5f7
  hint: agents plan apply [PLAN] --merge-drift

"#]]);
}

#[test]
fn the_default_root_is_the_project() {
    let program = Program::in_project();
    let id = program.made("[PLAN]", "plan create");
    let shown = json(&program.run(&format!("plan show {} --format json", &id[..20])).success());
    let root = program.path("").canonicalize().unwrap();
    assert_eq!(shown["data"]["roots"][0].as_str().unwrap(), root.display().to_string().trim_end_matches('/'));
    assert_eq!(shown["data"]["created_by"], "ana");
    let mut nameless = program.command("plan create --format json");
    let made = json(&program.check(nameless.env_remove("USER").env_remove("LOGNAME")).success());
    assert!(made["data"]["created_by"].as_str().unwrap().starts_with("uid "), "{made}");
}

#[test]
fn a_diff_of_an_unknown_actor_or_path_says_so() {
    let program = project();
    program.run("plan diff work --actor nobody").code(3).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] has no actor `nobody`
  hint: agents changeset start [PLAN] --actor nobody

"#]]);
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    changed(&program, "[WRITER]", "writer", "b.txt", "new\n");
    program.run("plan diff work --actor coder --actor nobody").code(3).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] has no actor `nobody`
  hint: its actors are coder, writer

"#]]);
    program.run("plan diff work --path *.rs").success().stdout_eq("").stderr_eq(str![[r#"
warning: the plan changes no path that matches *.rs
  hint: agents plan diff [PLAN] --stat

"#]]);
    program.run("plan diff work --actor coder --path a.txt").success().stderr_eq("");
}
