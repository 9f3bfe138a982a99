//! `agents config edit`. The editors are small shell programs.

use snapbox::cmd::OutputAssert;
use snapbox::str;

use crate::program::{GLOBAL_FILE, PROJECT_FILE, Program, json};

const ORIGINAL: &str = "# mine\nx.a = 1\nx.b = 2\nx.c = 3\nx.d = 4\n";

fn edit(program: &Program, editor: &str) -> OutputAssert {
    program.run_with("EDITOR", editor, "config edit --scope global")
}

fn with_original() -> Program {
    let program = Program::new();
    program.write(GLOBAL_FILE, ORIGINAL);
    program
}

#[test]
fn an_edit_is_applied() {
    let program = with_original();
    edit(&program, "sed -i 's/x.a = 1/x.a = 10 # ten/'")
        .success()
        .stderr_eq(str![[r#"
[PLACE]/agents-home/config.toml (global): changed x.a

"#]])
        .stdout_eq("");
    assert_eq!(program.text(GLOBAL_FILE), ORIGINAL.replace("x.a = 1", "x.a = 10 # ten"));
    edit(&program, "true")
        .success()
        .stderr_eq(str![[r#"
[PLACE]/agents-home/config.toml (global): unchanged

"#]])
        .stdout_eq("");
    assert_eq!(program.names("agents-home"), [".config.toml.lock", "config.toml"]);
    program.check_nothing_is_left();
}

#[test]
fn the_editor_gets_a_private_copy_with_the_name_of_the_file() {
    let program = Program::in_project();
    let editor = "sh -c 'basename \"$1\" > seen; stat -c %a \"$(dirname \"$1\")\" \"$1\" >> seen' -";
    program.run_with("VISUAL", editor, "config edit").success().stdout_eq("").stderr_eq(str![[r#"
[PLACE]/.cleveragents/config.toml (project): unchanged

"#]]);
    assert_eq!(program.text("seen"), "config.toml\n700\n600\n");
    assert_eq!(program.text(PROJECT_FILE), "");
}

#[test]
fn visual_overrides_editor_and_empty_counts_as_unset() {
    let program = with_original();
    let run = |visual: &str| {
        let mut command = program.command("config edit");
        command.env("EDITOR", "sed -i s/mine/editor/").env("VISUAL", visual);
        program.check(&mut command).success();
    };
    run("");
    assert!(program.text(GLOBAL_FILE).starts_with("# editor\n"));
    run("sed -i s/editor/visual/");
    assert!(program.text(GLOBAL_FILE).starts_with("# visual\n"));
}

#[test]
fn a_missing_file_is_created() {
    let program = Program::new();
    edit(&program, "sh -c 'echo x.a = 1 > \"$1\"' -")
        .success()
        .stderr_eq(str![[r#"
[PLACE]/agents-home/config.toml (global): changed x.a

"#]])
        .stdout_eq("");
    assert_eq!(program.text(GLOBAL_FILE), "x.a = 1\n");
}

#[test]
fn a_broken_file_is_fixed_by_an_edit() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "x.a = = 1\n");
    edit(&program, "sed -i 's/= =/=/'")
        .success()
        .stderr_eq(str![[r#"
[PLACE]/agents-home/config.toml (global): changed

"#]])
        .stdout_eq("");
    assert_eq!(program.text(GLOBAL_FILE), "x.a = 1\n");
}

#[test]
fn a_concurrent_change_is_merged_into_the_edit() {
    let program = with_original();
    let agents = env!("CARGO_BIN_EXE_agents");
    edit(&program, &format!("sh -c '{agents} config set x.a 10; sed -i s/4/40/ \"$1\"' -"))
        .success()
        .stderr_eq(str![[r#"
x.a: 1 -> 10 in [PLACE]/agents-home/config.toml (global)
[PLACE]/agents-home/config.toml (global): changed x.d, merged with concurrent changes

"#]])
        .stdout_eq("");
    assert_eq!(program.text(GLOBAL_FILE), ORIGINAL.replace("x.a = 1", "x.a = 10").replace('4', "40"));
}

#[test]
fn an_overlapping_edit_is_saved_beside() {
    let program = with_original();
    let agents = env!("CARGO_BIN_EXE_agents");
    edit(&program, &format!("sh -c '{agents} config set x.a 10 -q; sed -i s/1/11/ \"$1\"' -"))
        .code(4)
        .stdout_eq("")
        .stderr_eq(str![[r#"
error: the edit of `[PLACE]/agents-home/config.toml` was rejected; it is saved in `[PLACE]/agents-home/config.toml.edited`
  `[PLACE]/agents-home/config.toml` changed during the edit, in the same lines
  hint: agents config edit  # the rejected edit is in [PLACE]/agents-home/config.toml.edited

"#]]);
    assert_eq!(program.text(GLOBAL_FILE), ORIGINAL.replace("x.a = 1", "x.a = 10"));
    assert_eq!(program.text("agents-home/config.toml.edited"), ORIGINAL.replace('1', "11"));
    program.check_nothing_is_left();
}

#[test]
fn an_invalid_edit_is_saved_beside_and_reported() {
    let program = with_original();
    edit(&program, "sed -i 's/x.b = 2/x.b = = 2/'").code(1).stdout_eq("").stderr_eq(str![[r#"
error: the edit of `[PLACE]/agents-home/config.toml` was rejected; it is saved in `[PLACE]/agents-home/config.toml.edited`
   --> [PLACE]/agents-home/config.toml.edited:3:7 (byte 21)
    |
  3 | x.b = = 2
    |       ^
  cannot parse `[PLACE]/agents-home/config.toml.edited`, line 3, column 7: extra `=`, expected nothing
  hint: agents config edit  # the rejected edit is in [PLACE]/agents-home/config.toml.edited

"#]]);
    edit(&program, "sed -i 's/x.b = 2/plan.concurrency = 0/'").code(1).stdout_eq("").stderr_eq(str![[r#"
error: the edit of `[PLACE]/agents-home/config.toml` was rejected; it is saved in `[PLACE]/agents-home/config.toml.edited-2`
  `plan.concurrency` must be an integer from 1 to 256; `0` is not allowed ([PLACE]/agents-home/config.toml.edited-2:3)
  hint: agents config edit  # the rejected edit is in [PLACE]/agents-home/config.toml.edited-2

"#]]);
    edit(&program, "sed -i 's/x.b = 2/plan.concurency = 1/'").code(1).stdout_eq("").stderr_eq(str![[r#"
error: the edit of `[PLACE]/agents-home/config.toml` was rejected; it is saved in `[PLACE]/agents-home/config.toml.edited-3`
  unknown key `plan.concurency` ([PLACE]/agents-home/config.toml.edited-3:3)
  hint: agents config edit  # the rejected edit is in [PLACE]/agents-home/config.toml.edited-3

"#]]);
    assert_eq!(program.text(GLOBAL_FILE), ORIGINAL);
    assert_eq!(
        program.names("agents-home"),
        [
            ".config.toml.lock",
            "config.toml",
            "config.toml.edited",
            "config.toml.edited-2",
            "config.toml.edited-3"
        ]
    );
    program.check_nothing_is_left();
}

#[test]
fn a_failing_editor_changes_nothing() {
    let program = with_original();
    edit(&program, "false").code(1).stdout_eq("").stderr_eq(str![[r#"
error: the editor `false` ended with exit status: 1; nothing was changed
  hint: set VISUAL or EDITOR to an editor, or use agents config set

"#]]);
    edit(&program, "no-such-editor --wait").code(1).stdout_eq("");
    program.check_nothing_is_left();
    assert_eq!(program.text(GLOBAL_FILE), ORIGINAL);
    // An edit that was saved before the editor failed is kept.
    edit(&program, "sh -c 'echo x.e = 5 >> \"$1\"; exit 3' -").code(1).stdout_eq("").stderr_eq(str![[r#"
error: the edit was not written; it is saved in `[TEMPORARY]/agents-edit-[..]/config.toml`
  the editor `sh -c 'echo x.e = 5 >> "$1"; exit 3' -` ended with exit status: 3; nothing was changed
  hint: set VISUAL or EDITOR to an editor, or use agents config set

"#]]);
    assert_eq!(program.text(GLOBAL_FILE), ORIGINAL);
    assert_eq!(std::fs::read_dir(program.temporary()).unwrap().count(), 1);
}

#[test]
fn an_unwritable_edit_keeps_its_copy() {
    let program = with_original();
    let lock = filetx::Lock::open(&program.path("agents-home/.config.toml.lock")).unwrap();
    let guard = lock.acquire(filetx::LockMode::Exclusive, &filetx::Wait::default()).unwrap();
    let words = "config edit --scope global --lock-timeout 1ms";
    program.run_with("EDITOR", "sed -i s/4/40/", words).code(5).stdout_eq("").stderr_eq(str![[r#"
error: the edit was not written; it is saved in `[TEMPORARY]/agents-edit-[..]/config.toml`
  `[PLACE]/agents-home/config.toml` is locked by another writer
  lock `[PLACE]/agents-home/.config.toml.lock` is still held by process [..] ([..]) after 0.0 s
  hint: try again, or add --lock-timeout 2m

"#]]);
    drop(guard);
    assert_eq!(program.text(GLOBAL_FILE), ORIGINAL);
    assert_eq!(std::fs::read_dir(program.temporary()).unwrap().count(), 1);
}

#[test]
fn programs_get_the_outcome() {
    let program = with_original();
    let run = program.run_with("EDITOR", "sed -i s/4/40/", "config edit --format json").success();
    let data = json(&run)["data"].clone();
    assert_eq!((&data["outcome"], &data["keys"]), (&"applied".into(), &serde_json::json!(["x.d"])));
}

#[test]
#[cfg(unix)]
fn the_default_editor_needs_a_terminal() {
    let program = Program::new();
    let mut command = program.command("config edit");
    command.env_remove("EDITOR").env_remove("VISUAL");
    program.check(&mut command).code(1).stdout_eq("").stderr_eq(str![[r#"
error: not a terminal: no editor was started
  hint: set VISUAL or EDITOR to an editor, or use agents config set

"#]]);
}
