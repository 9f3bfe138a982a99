//! `agents demo`, with few kills.

use snapbox::cmd::OutputAssert;
use snapbox::str;

use crate::program::{Program, json, text};

#[test]
fn no_kill_of_the_demo_leaves_mixed_files() {
    let program = Program::new();
    let envelope = json(&program.run("demo --format json --kills 12 --seed 7").success().stderr_eq(""));
    assert_eq!(envelope["command"], "demo");
    assert_eq!(envelope["status"], "ok");
    assert_eq!(envelope["exit_code"], 0);
    assert!(envelope["timing"]["duration_ms"].is_u64());
    assert_eq!(envelope["messages"].as_array().unwrap().len(), 0);

    let data = &envelope["data"];
    assert_eq!(data["passed"], true);
    assert_eq!((&data["kills"], &data["seed"]), (&12.into(), &7.into()));
    assert_eq!(data["control"]["kills"], 12);
    assert_eq!(data["commit"]["kills"], 12);
    assert!(data["commit"]["acknowledged"].as_u64().unwrap() >= 12);
    for count in ["mixed_for_reader", "mixed_after_open", "lost"] {
        assert_eq!(data["commit"][count], 0, "{count}");
    }

    let [usual, ours] = ["control", "config_set"].map(|way| &data["contention"][way]);
    assert_eq!((&usual["acknowledged"], &ours["acknowledged"]), (&160.into(), &160.into()));
    assert!(usual["lost"].as_u64().unwrap() > 0, "the control shows the fault");
    assert_eq!((&ours["lost"], &ours["comment_kept"]), (&0.into(), &true.into()));

    let plan = &data["plan"];
    assert_eq!(plan["new_after_next_command"], serde_json::json!([96, 96]));
    assert_eq!(plan["new_after_undo_of_one_actor"], serde_json::json!([96, 0]));
    assert_eq!(plan["nodes"].as_array().unwrap().len(), 4);
    assert_eq!((&plan["merged"], &plan["other_edit_kept"]), (&true.into(), &true.into()));
    assert_eq!((&plan["passed"], &plan["audit_sound"]), (&true.into(), &true.into()));
    program.check_nothing_is_left();
}

#[test]
fn the_demo_in_plain_text() {
    let program = Program::new();
    let run = program.run("demo --kills 3 --seed 1").success().stderr_eq("").stdout_eq(str![[r#"
Files after a kill (seed 1)
Four files of a conversation belong together. A program saves them repeatedly and is killed.

1. The usual way: write each of the four files to a temporary file, sync and rename it.
2. As a context, with the same number of kills: each save is one commit of all four files.

                                       four renames    one commit
   kills                                          3             3
   saves acknowledged                  [..]
   mixed in the folder after the kill  [..]
   mixed for a reader                             [..]             0
   mixed after the next open                      [..]             0
   acknowledged saves lost                        0             0

3. 8 processes set 20 keys each in one configuration file at once.

                                          usual way    config set
   sets acknowledged                            160           160
   acknowledged sets lost              [..]             0

4. `agents run` of four actors at once, each in its own sandbox; two of them edit one file.

   coder                             succeeded in [..]s, 97 files
   writer                            succeeded in [..]s, 97 files
   tester                            succeeded in [..]s, 1 file
   linter                            succeeded in [..]s, 1 file

   `plan apply`, killed half-way     code          docs
   right after the kill              [..]
   after the next command            ############  ############
   after `plan undo --actor writer`  ############  ............
   file that two actors edited       has both edits
   the same after the undo           has the other edit alone
   `audit verify`                    sound: [..] records

passed: no kill left mixed files, no acknowledged save, set or edit was lost, and the interrupted apply was finished

"#]]);
    assert!(text(&run).is_ascii());
    program.check_nothing_is_left();
}

#[test]
fn no_color_wins_over_forced_colours() {
    let program = Program::new();
    let mut command = program.command("demo --kills 1 --format rich");
    let run =
        |command: &mut std::process::Command| text(&OutputAssert::new(command.output().unwrap()).success());
    let in_a_pipe = run(&mut command);
    assert!(in_a_pipe.contains("✓ passed") && !in_a_pipe.contains('\x1b'));
    assert!(run(command.env("CLICOLOR_FORCE", "1")).contains('\x1b'));
    assert!(!run(command.env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1")).contains('\x1b'));
}

#[test]
fn keep_keeps_the_temporary_folder() {
    let program = Program::new();
    let envelope = json(&program.run("demo --kills 1 --keep --format json").success());
    let kept = std::path::Path::new(envelope["data"]["kept"].as_str().unwrap());
    assert!(kept.starts_with(program.temporary()));
    assert!(kept.join("contexts/chat/messages.jsonl").exists());
    assert!(kept.join("config-set/config.toml").exists());
}

#[test]
fn a_missing_temporary_folder_is_an_error_with_a_hint() {
    let program = Program::new();
    let mut command = program.command("demo");
    for name in ["TMPDIR", "TMP", "TEMP"] {
        command.env(name, program.temporary().join("missing"));
    }
    OutputAssert::new(command.output().unwrap()).code(1).stdout_eq("").stderr_eq(str![[r#"
error: cannot create a temporary folder
  [..] at path "[..]"
  hint: set TMPDIR to a writable folder

"#]]);
    let envelope =
        json(&OutputAssert::new(command.args(["--format", "json"]).output().unwrap()).code(1).stderr_eq(""));
    assert_eq!(envelope["status"], "error");
    assert_eq!(envelope["data"], serde_json::Value::Null);
    assert_eq!(envelope["messages"][0]["code"], "temporary-folder");
}
