//! `agents plan undo`, `cancel` and `prune`.

use snapbox::str;

use super::{changed, project, record, start};
use crate::program::{json, stderr_text, text};

#[test]
fn an_undo_can_be_previewed_and_undone() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    record(&program, &coder, "a.txt", "ONE\n");
    program.run(&format!("changeset record {coder} --path b.txt --rename-to c.txt")).success();
    program.run(&format!("changeset seal {coder}")).success();
    program.run("plan undo work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] cannot be undone: it is ready (all changesets are closed; it can be reviewed and applied)
  hint: agents plan apply [PLAN]

"#]]);
    program.run("plan apply work").success();
    program.run("plan undo work --dry-run").success().stderr_eq("").stdout_eq(str![[r#"
work: would undo 2 files in [PLACE]
  would modify  a.txt           coder
  would rename  c.txt => b.txt  coder

"#]]);
    assert_eq!(program.text("a.txt"), "ONE\n");
    let undone = json(&program.run("plan undo work --format json").success());
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
    assert!(program.path("b.txt").exists() && !program.path("c.txt").exists());
    assert_eq!(undone["data"]["files"].as_array().unwrap().len(), 2, "the rename is one: {undone}");
    let undo = undone["data"]["plan"]["id"].as_str().unwrap().to_owned();
    assert!(text(&program.run("plan list").success()).contains("undone"));
    let again = stderr_text(&program.run(&format!("plan undo {undo} --yes")).success());
    assert!(again.contains(&format!("{undo}: undid 2 files in ")), "{again}");
    assert_eq!(program.text("a.txt"), "ONE\n");
    // `@latest` is never an undo.
    assert!(text(&program.run("plan show @latest").success()).starts_with("work ("));
}

#[test]
fn undo_of_one_actor_keeps_the_others() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
    changed(&program, "[WRITER]", "writer", "a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
    program.run("plan apply work").success();
    program.run("plan undo work --actor coder").success();
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nFIVE\n");
}

#[test]
fn undo_is_refused_with_the_author_of_later_changes() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    program.run("plan apply work").success();
    program.write("a.txt", "mine\n");
    program.run("plan undo work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: 1 file changed since plan [PLAN] was applied: `a.txt`; nothing was undone
  `a.txt` was changed outside of any plan
  hint: agents plan undo [PLAN] --path GLOB  # the other files; or undo the later plans first

"#]]);
    assert_eq!(program.text("a.txt"), "mine\n");
    program.run("plan undo work --path nothing").code(3).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] has nothing to undo
  hint: agents plan show [PLAN]

"#]]);
}

#[test]
fn a_cancelled_plan_refuses_records() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    record(&program, &coder, "a.txt", "ONE\n");
    program
        .run("plan cancel work --reason enough")
        .success()
        .stderr_eq(str![[r#"
work: cancelled

"#]])
        .stdout_eq("");
    program.run(&format!("changeset record {coder} --path a.txt --delete")).code(4).stdout_eq("").stderr_eq(
        str![[r#"
error: changeset [CODER] is abandoned
  hint: start another changeset: agents changeset start

"#]],
    );
    assert!(text(&program.run("plan history work").success()).contains("enough"));
}

#[test]
fn an_abandoned_changeset_is_not_applied() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    record(&program, &coder, "a.txt", "ONE\n");
    program
        .run(&format!("changeset abandon {coder} --reason wrong"))
        .success()
        .stderr_eq(str![[r#"
coder: abandoned 1 change; plan [PLAN] is ready

"#]])
        .stdout_eq("");
    program.run("plan apply work").code(3);
    program.run("plan show work").success().stdout_eq(str![[r#"
work ([PLAN]): ready
  [PLACE]; created by ana [..] ago, changed by coder [..] ago
CHANGESET                   ACTOR  CHANGES  STATUS
[CODER]  coder        1  abandoned: wrong

"#]]);
}

#[test]
fn prune_keeps_plans_that_were_not_applied() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    program.run("plan prune").code(2).stdout_eq("").stderr_eq(str![[r#"
error: not a terminal: add --yes to remove plans

"#]]);
    program.run("plan prune --dry-run").success().stdout_eq(str![[r#"
nothing to remove
keeps 1 plan: not applied

"#]]);
    program.run("plan prune --yes").success().stdout_eq("").stderr_eq(str![[r#"
nothing to remove
keeps 1 plan: not applied

"#]]);
    program.run("plan prune work --yes").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] is ready and has 1 unapplied changeset
  hint: agents plan apply [PLAN]
        agents plan prune [PLAN] --force  # discards its changes

"#]]);
    program.run("plan apply work").success();
    program.run("plan prune --yes").success().stdout_eq("").stderr_eq(str![[r#"
PLAN  ID                          STATE    AGE
work  [PLAN]  applied  [..]
removed 1 plan

"#]]);
    assert!(stderr_text(&program.run("plan show work").code(3)).contains("there is no plan `work`"));
    program.run("audit verify").success();
    program.run("store gc --dry-run").success().stderr_eq("").stdout_eq(str![[r#"
nothing to remove

"#]]);
    program.run("store gc").success().stdout_eq("").stderr_eq(str![[r#"
nothing to remove

"#]]);
}

#[test]
fn force_prunes_a_named_plan() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    program.run("plan prune --force --yes").code(2);
    program.run("plan prune work --force --dry-run").success();
    program.run("plan prune work --force --yes").success();
    program.run("plan show work").code(3);
}
