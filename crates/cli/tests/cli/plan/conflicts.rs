//! Actors that clash.

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
    program.run("plan conflicts work").code(4).stderr_eq("").stdout_eq(str![[r#"
`b.txt`: lines at line 1, by coder and writer
  line 1
    was: old
    coder: coder
    writer: writer

"#]]);
    program.run("plan diff work").success().stdout_eq("").stderr_eq(str![[r#"
warning: conflict at `b.txt`: lines at line 1, by coder and writer
  hint: `agents plan conflicts [PLAN]` shows it

"#]]);
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] has 1 conflict: `b.txt`; no file was changed
  because: `b.txt`: lines at line 1, by coder and writer
  hint: `agents plan conflicts PLAN` shows them; `agents plan resolve PLAN PATH --take ACTOR` resolves one

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

/// Who edits other lines has no part in it, and every clash is shown.
#[test]
fn lines_are_shown_with_those_who_changed_them() {
    let program = project();
    program.write("long.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    changed(&program, "[CODER]", "coder", "long.txt", "coder\n2\n3\n4\ncoder\n6\n7\n8\n9\n");
    changed(&program, "[WRITER]", "writer", "long.txt", "writer\n2\n3\n4\n5\n6\n7\n8\n9\n");
    changed(&program, "[TESTER]", "tester", "long.txt", "1\n2\n3\n4\ntester\n6\n7\n8\n9\n");
    changed(&program, "[PAINTER]", "painter", "long.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    program.run("plan conflicts work").code(4).stderr_eq("").stdout_eq(str![[r#"
`long.txt`: lines at line 1, 5, by coder and writer and tester
  line 1
    was: 1
    coder: coder
    writer: writer
  line 5
    was: 5
    coder: coder
    tester: tester

"#]]);
}

#[test]
fn a_conflict_is_settled_by_taking_an_actors_file() {
    let program = clashing();
    program.run("plan resolve work b.txt --take nobody").code(2).stdout_eq("").stderr_eq(str![[r#"
error: nobody did not change `b.txt`
  hint: it was changed by coder and writer; choose one of them

"#]]);
    program.run("plan resolve work a.txt --take coder").code(3).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] has no conflict at `a.txt`
  hint: `agents plan conflicts PLAN` lists the conflicts

"#]]);
    program.run("plan resolve work b.txt --take coder").success().stderr_eq("").stdout_eq(str![[r#"
resolved b.txt; plan [PLAN] is ready

"#]]);
    program.run("plan conflicts work").success().stdout_eq("no conflicts\n");
    program.run("plan apply work").success();
    assert_eq!(program.text("b.txt"), "coder\n");
}

#[test]
fn a_conflict_is_settled_by_a_file_or_by_none() {
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
fn edits_of_other_lines_go_together() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
    changed(&program, "[WRITER]", "writer", "a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
    program.run("plan conflicts work").success().stdout_eq("no conflicts\n");
    program.run("plan apply work").success().stdout_eq(str![[r#"
  applied    modify  a.txt  coder, writer
applied 1 file of plan [PLAN] (work)

"#]]);
    assert_eq!(program.text("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
}
