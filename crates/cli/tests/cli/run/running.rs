//! Runs that succeed: their output, events and plans.

use snapbox::str;

use super::{events, planned, project};
use crate::program::{Program, stderr_text, text};

const TWO: &str = "\
name = 'work'
[nodes.coder]
run = 'sed -i 1s/one/ONE/ a.txt; echo edited; printf \"no end\"'
[nodes.writer]
run = ['sh', '-c', 'sed -i 5s/five/FIVE/ a.txt; echo new > new.txt']
needs = ['coder']
";

#[test]
fn a_plan_is_run_reviewed_applied_and_undone() {
    let program = planned(TWO);
    program.run("run plan.toml").success().stdout_eq("01[..]\n").stderr_eq(str![[r#"
coder: started
coder | edited
coder | no end
coder: succeeded in [..]s, 1 file
writer: started
writer: succeeded in [..]s, 2 files
 a.txt         | 4 ++--  coder, writer
 new.txt (new) | 1 +     writer
 2 files changed, 3 insertions(+), 2 deletions(-)
work ([..]): ready, 2 files, +3 -2
  hint: agents plan diff [..]
        agents plan apply [..]

"#]]);
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n", "nothing is touched");
    program.run("plan show work").success().stderr_eq("").stdout_eq(str![[r#"
work ([..]): ready
  [PLACE]; created by ana [..] ago, changed by ana [..] ago
  runs [PLACE]/plan.toml, [..] nodes at once; confined: [..]
CHANGESET                   ACTOR   CHANGES  STATUS
[..]  coder         1  sealed
[..]  writer        2  sealed
NODE    OUTCOME    TIME  FILES  AFTER
coder   succeeded  [..]s      1
writer  succeeded  [..]s      2  coder

"#]]);
    program.run("logs work").success().stderr_eq("").stdout_eq(str![[r#"
coder | edited
coder | no end

"#]]);
    assert_eq!(text(&program.run("logs work coder").success()), "edited\nno end");
    assert_eq!(text(&program.run("logs work coder --follow").success()), "edited\nno end");
    program.run("logs work nobody").code(3).stdout_eq("");
    program.run("plan apply work").success();
    assert_eq!(program.text("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    program.run("plan undo work --yes").success();
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
    program.run("audit verify").success();
}

#[test]
fn a_single_command_runs_in_a_sandbox() {
    let program = project();
    let words = ["run", "--name", "one", "--", "sh", "-c", "echo hello; echo new > b.txt"];
    program.run_of(&words).success().stdout_eq("01[..]\n").stderr_eq(str![[r#"
sh: started
sh | hello
sh: succeeded in [..]s, 1 file
 b.txt (new) | 1 +  sh
 1 file changed, 1 insertion(+), 0 deletions(-)
one ([..]): ready, 1 file, +1 -0
  hint: agents plan diff [..]
        agents plan apply [..]

"#]]);
    assert!(!program.path("b.txt").exists());
    let words = ["run", "-q", "--apply", "--env", "WORD=b", "--", "sh", "-c", "echo $WORD > b.txt"];
    program.run_of(&words).success().stdout_eq("01[..]\n").stderr_eq("");
    assert_eq!(program.text("b.txt"), "b\n");
    program.run("run --apply -- true").success().stdout_eq("01[..]\n").stderr_eq(str![[r#"
true: started
true: succeeded in [..]s
[..]: ready, nothing changed

"#]]);
}

#[test]
fn a_root_need_not_be_a_project() {
    let program = Program::new();
    program.write("a.txt", "one\n");
    program.run_of(&["run", "--apply", "--root", ".", "--", "sh", "-c", "echo two > a.txt"]).success();
    assert_eq!(program.text("a.txt"), "two\n");
}

#[test]
fn events_are_json_lines_and_the_envelope_is_last() {
    let program = planned(TWO);
    let (events, envelope) = events(&program.run("run plan.toml --format json").success().stderr_eq(""));
    let kinds: Vec<_> = events.iter().map(|event| event["event"].as_str().expect("it has one")).collect();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"run-started"), Some(&"run-ended")));
    assert_eq!(kinds.iter().filter(|kind| **kind == "node-ended").count(), 2);
    assert_eq!(events[0]["nodes"][1], serde_json::json!({ "name": "writer", "needs": ["coder"] }));
    let ended = events.iter().find(|event| event["event"] == "node-ended").expect("one ended");
    assert_eq!(
        (&ended["node"], &ended["outcome"], &ended["code"]),
        (&"coder".into(), &"succeeded".into(), &0.into())
    );
    assert_eq!((&envelope["command"], &envelope["exit_code"]), (&"run".into(), &0.into()));
    let data = &envelope["data"];
    assert_eq!(
        (&data["state"], &data["files_changed"], &data["added"]),
        (&"ready".into(), &2.into(), &3.into())
    );
    assert_eq!(data["nodes"][1]["state"], "succeeded");
}

#[test]
fn an_actor_may_change_only_its_paths() {
    let program = project();
    let run = program.run_of(&["run", "--paths", "docs/**", "--", "sh", "-c", "echo x > a.txt"]).code(1);
    let said = stderr_text(&run);
    assert!(said.contains("sh: refused in ") && said.contains("a.txt"), "{said}");
    assert_eq!(text(&run).trim_end().len(), 26, "the id of the plan: {}", text(&run));
    program.run("plan apply @latest").code(4);
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
}

#[test]
fn actors_write_only_to_their_sandbox_and_allowed_folders() {
    let program = project();
    program.write("user/known/here", "");
    program.write("given/here", "");
    program.write("other/here", "");
    let folder = program.path("").display().to_string();
    let script = format!("for name in user/known given other; do echo x > {folder}$name/made; done; true");
    program.run_of(&["config", "set", "sandbox.allow-write", "[\"~/known\"]", "--scope", "global"]).success();
    let words = ["run", "--confine", "auto", "--allow-write", "given", "--", "sh", "-c", &script];
    program.check(program.command_of(&words).env("HOME", program.path("user"))).success();
    let shown = text(&program.run("plan show @latest").success());
    let line = shown.lines().find(|line| line.starts_with("  runs ")).expect("how it was run is shown");
    let is_confined = !line.contains("confined: none");
    assert!(line.ends_with(&format!("may write to {folder}user/known, {folder}given")), "{line}");
    assert!(program.path("user/known/made").exists() && program.path("given/made").exists());
    assert_eq!(program.path("other/made").exists(), !is_confined);
}
