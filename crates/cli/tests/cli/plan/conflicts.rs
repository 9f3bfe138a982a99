//! `agents plan conflicts` and `resolve`.

use snapbox::str;

use super::{changed, project};
use crate::program::{Program, json};

fn clashing() -> Program {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "coder\n");
    changed(&program, "[WRITER]", "writer", "b.txt", "writer\n");
    program
}

#[test]
fn conflicts_are_shown_with_lines_and_actors() {
    let program = clashing();
    program
        .run("plan conflicts work")
        .code(4)
        .stderr_eq(str![[r#"
  hint: agents plan resolve [PLAN] b.txt --take coder

"#]])
        .stdout_eq(str![[r#"
work: 1 conflict
  `b.txt`: lines at line 1, by coder and writer
    line 1
      base: old
      coder: coder
      writer: writer

"#]]);
    program.run("plan diff work").success().stdout_eq("").stderr_eq(str![[r#"
warning: conflict at `b.txt`: lines at line 1, by coder and writer
  hint: agents plan conflicts [PLAN]

"#]]);
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] has 1 conflict: `b.txt`; no file was changed
  `b.txt`: lines at line 1, by coder and writer
  hint: agents plan conflicts [PLAN]
        agents plan resolve [PLAN] b.txt --take coder

"#]]);
    assert_eq!(program.text("b.txt"), "old\n");
    let envelope = json(&program.run("plan conflicts work --format json").code(4));
    let conflict = &envelope["data"]["conflicts"][0];
    assert_eq!((&conflict["path"], &conflict["kind"]), (&"b.txt".into(), &"lines".into()));
    assert_eq!(conflict["sides"][1]["actor"], "writer");
    let hunk = &conflict["hunks"][0];
    assert_eq!((&hunk["ours"][0], &hunk["ours_by"][0]["actor"]), (&"coder\n".into(), &"coder".into()));
    assert_eq!((&hunk["theirs"][0], &hunk["theirs_by"][0]["actor"]), (&"writer\n".into(), &"writer".into()));
}

/// Every conflict is shown, without actors who edit other lines.
#[test]
fn conflicting_lines_are_shown_with_their_authors() {
    let program = project();
    program.write("long.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    changed(&program, "[CODER]", "coder", "long.txt", "coder\n2\n3\n4\ncoder\n6\n7\n8\n9\n");
    changed(&program, "[WRITER]", "writer", "long.txt", "writer\n2\n3\n4\n5\n6\n7\n8\n9\n");
    changed(&program, "[TESTER]", "tester", "long.txt", "1\n2\n3\n4\ntester\n6\n7\n8\n9\n");
    changed(&program, "[PAINTER]", "painter", "long.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    program
        .run("plan conflicts work")
        .code(4)
        .stderr_eq(str![[r#"
  hint: agents plan resolve [PLAN] long.txt --take coder

"#]])
        .stdout_eq(str![[r#"
work: 1 conflict
  `long.txt`: lines at line 1, 5, by coder and writer and tester
    line 1
      base: 1
      coder: coder
      writer: writer
    line 5
      base: 5
      coder: coder
      tester: tester

"#]]);
}

#[test]
fn a_conflict_is_resolved_by_taking_a_version() {
    let program = clashing();
    program.run("plan resolve work b.txt --take nobody").code(2).stdout_eq("").stderr_eq(str![[r#"
error: nobody did not change `b.txt`
  hint: use --take coder or --take writer

"#]]);
    program.run("plan resolve work a.txt --take coder").code(3).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] has no conflict at `a.txt`
  hint: agents plan conflicts [PLAN]

"#]]);
    program
        .run("plan resolve work b.txt --take coder")
        .success()
        .stderr_eq(str![[r#"
work: resolved b.txt; ready, no conflicts left
  hint: agents plan apply [PLAN]

"#]])
        .stdout_eq("");
    program.run("plan conflicts work").success().stdout_eq("work: no conflicts\n");
    program.run("plan apply work").success();
    assert_eq!(program.text("b.txt"), "coder\n");
}

#[test]
fn a_conflict_is_resolved_by_a_file_or_a_deletion() {
    let program = clashing();
    program.write("merged", "both\n");
    program.run("plan resolve work b.txt --file merged").success();
    program.run("plan apply work").success();
    assert_eq!(program.text("b.txt"), "both\n");
    let program = clashing();
    program.run("plan resolve work b.txt --delete --root .").success();
    program.run("plan apply work").success();
    assert!(!program.path("b.txt").exists());
}

#[test]
fn edits_of_different_lines_are_merged() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
    changed(&program, "[WRITER]", "writer", "a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
    program.run("plan conflicts work").success().stdout_eq("work: no conflicts\n");
    program.run("plan apply work").success().stdout_eq("").stderr_eq(str![[r#"
  modify  a.txt  coder, writer
work: applied 1 file to [PLACE]

"#]]);
    assert_eq!(program.text("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
}
