//! Taking back, giving up, and cleaning up.

use snapbox::str;

use super::{changed, project, record, start};
use crate::program::{json, text, told};

#[test]
fn an_undo_previews_takes_back_and_can_be_taken_back() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    record(&program, &coder, "a.txt", "ONE\n");
    program.run(&format!("changeset record {coder} --path b.txt --rename-to c.txt")).success();
    program.run(&format!("changeset seal {coder}")).success();
    program.run("plan undo work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] cannot be undone: it is ready (all changesets are closed; it can be reviewed and applied)
  hint: it is not applied: run `agents plan apply [PLAN]`

"#]]);
    program.run("plan apply work").success();
    program.run("plan undo work --dry-run").success().stderr_eq("").stdout_eq(str![[r#"
  would      modify  a.txt  coder
  would      rename  c.txt -> b.txt  coder
would take back 2 files of plan [PLAN]; nothing was touched

"#]]);
    assert_eq!(program.text("a.txt"), "ONE\n");
    let undone = json(&program.run("plan undo work --format json").success());
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
    assert!(program.path("b.txt").exists() && !program.path("c.txt").exists());
    assert_eq!(undone["data"]["files"].as_array().unwrap().len(), 2, "the rename is one: {undone}");
    let undo = undone["data"]["plan"]["id"].as_str().unwrap().to_owned();
    assert!(text(&program.run("plan list").success()).contains("undone"));
    let again = text(&program.run(&format!("plan undo {undo} --yes")).success());
    assert!(again.contains(&format!("took back 2 files of plan {undo}, as plan ")), "{again}");
    assert_eq!(program.text("a.txt"), "ONE\n");
    // What undoes is never the latest.
    assert!(text(&program.run("plan show @latest").success()).contains("(work)"));
}

#[test]
fn an_undo_of_one_actor_leaves_the_others() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
    changed(&program, "[WRITER]", "writer", "a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
    program.run("plan apply work").success();
    program.run("plan undo work --actor coder").success();
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nFIVE\n");
}

#[test]
fn an_undo_says_who_changed_a_file_since() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    program.run("plan apply work").success();
    program.write("a.txt", "mine\n");
    program.run("plan undo work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: 1 file changed since plan [PLAN] was applied: `a.txt`; nothing was undone
  because: `a.txt` was changed outside of any plan
  hint: undo the later plans first, or undo the other files with `agents plan undo PLAN --path GLOB`

"#]]);
    assert_eq!(program.text("a.txt"), "mine\n");
    program.run("plan undo work --path nothing").code(3).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] has nothing to undo
  hint: `agents plan show PLAN` lists its changesets

"#]]);
}

#[test]
fn a_plan_that_is_given_up_refuses_late_records() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    record(&program, &coder, "a.txt", "ONE\n");
    program.run("plan cancel work --reason enough").success().stderr_eq("").stdout_eq(str![[r#"
cancelled plan [PLAN] (work)

"#]]);
    program.run(&format!("changeset record {coder} --path a.txt --delete")).code(4).stdout_eq("").stderr_eq(
        str![[r#"
error: changeset [CODER] is abandoned
  hint: start another changeset with `agents changeset start PLAN --actor NAME`

"#]],
    );
    assert!(text(&program.run("plan log work").success()).contains("enough"));
}

#[test]
fn an_abandoned_changeset_does_not_count() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    record(&program, &coder, "a.txt", "ONE\n");
    program.run(&format!("changeset abandon {coder} --reason wrong")).success().stderr_eq("").stdout_eq(
        str![[r#"
abandoned 1 change of coder; plan [PLAN] is ready

"#]],
    );
    program.run("plan apply work").code(3);
    program.run("plan show work").success().stdout_eq(str![[r#"
plan [PLAN] (work)
ready: all changesets are closed; it can be reviewed and applied
root [PLACE]
made by ana at [..]
changed by coder at [..]
changeset [CODER]  abandoned  coder, 1 change, wrong

"#]]);
}

#[test]
fn cleaning_up_keeps_work_that_was_not_applied() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    program.run("plan clean").code(2).stdout_eq("").stderr_eq(str![[r#"
error: removing all plans that are done needs `--yes` where nobody can be asked
  hint: add `--yes` if you are sure

"#]]);
    program.run("plan clean --dry-run").success().stdout_eq(str![[r#"
0 plans would be removed; 1 plan with work that was not applied kept

"#]]);
    program.run("plan clean --yes").success().stdout_eq(str![[r#"
0 plans removed; 1 plan with work that was not applied kept

"#]]);
    program.run("plan clean work --yes").code(4).stdout_eq("").stderr_eq(str![[r#"
error: plan [PLAN] is ready and has 1 unapplied changeset
  hint: apply it, or delete it with `agents plan clean PLAN --force`

"#]]);
    program.run("plan apply work").success();
    program.run("plan clean --yes").success().stdout_eq(str![[r#"
[PLAN] (work)  applied
1 plan removed

"#]]);
    assert!(told(&program.run("plan show work").code(3)).contains("there is no plan `work`"));
    program.run("audit verify").success();
    program.run("store gc --dry-run").success().stderr_eq("").stdout_eq(str![[r#"
0 blobs of 0 bytes and 0 unfinished uploads would be removed

"#]]);
    program.run("store gc").success().stdout_eq(str![[r#"
0 blobs of 0 bytes and 0 unfinished uploads removed

"#]]);
}

#[test]
fn work_goes_by_force_when_its_plan_is_named() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    program.run("plan clean --force --yes").code(2);
    program.run("plan clean work --force --dry-run").success();
    program.run("plan clean work --force --yes").success();
    program.run("plan show work").code(3);
}
