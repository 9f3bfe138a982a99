//! Global flags, and the variables and files of lower precedence.

use snapbox::str;

use crate::program::{GLOBAL_FILE, PROJECT_FILE, Program, json, stderr_text, text};

#[test]
fn options_win_over_variables_and_files_for_the_format() {
    let program = Program::in_project();
    let is_json = |run: &snapbox::cmd::OutputAssert| text(run).starts_with('{');
    assert!(!is_json(&program.run("config get plan.merge").success()));
    program.write(GLOBAL_FILE, "core.format = \"json\"\n");
    assert!(is_json(&program.run("config get plan.merge").success()));
    program.write(PROJECT_FILE, "core.format = \"plain\"\n");
    assert!(!is_json(&program.run("config get plan.merge").success()));
    let variable = |words: &str| program.run_with("CLEVERAGENTS_CORE_FORMAT", "json", words).success();
    assert!(is_json(&variable("config get plan.merge")));
    assert!(!is_json(&variable("config get plan.merge -c core.format=plain")));
    assert!(!is_json(&variable("config get plan.merge --format plain")));
    assert!(is_json(&variable("--format json config get plan.merge -c core.format=plain")));
    assert!(is_json(&variable("completions fish")));
    program
        .run_with("CLEVERAGENTS_CORE_FORMAT", "jsn", "config get plan.merge")
        .code(2)
        .stdout_eq("")
        .stderr_eq(str![[r#"
error: `core.format` must be one of `auto`, `rich`, `plain`, `json`; `jsn` is not allowed ($CLEVERAGENTS_CORE_FORMAT)
  hint: agents config explain core.format

"#]]);
}

#[test]
fn options_win_over_variables_and_files_for_colours() {
    let program = Program::new();
    let is_coloured = |run: &snapbox::cmd::OutputAssert| text(run).contains('\u{1b}');
    let list = "config list plan.merge";
    assert!(!is_coloured(&program.run(list).success()));
    assert!(is_coloured(&program.run(&format!("{list} --color always")).success()));
    assert!(is_coloured(&program.run_with("CLEVERAGENTS_CORE_COLOR", "always", list).success()));
    assert!(is_coloured(&program.run_with("CLICOLOR_FORCE", "1", list).success()));
    assert!(!is_coloured(
        &program.run_with("CLICOLOR_FORCE", "1", &format!("{list} --color never")).success()
    ));
    // A flag wins over a variable.
    assert!(is_coloured(&program.run_with("NO_COLOR", "1", &format!("{list} --color always")).success()));
    program.write(GLOBAL_FILE, "core.color = \"always\"\n");
    assert!(is_coloured(&program.run(list).success()));
    assert!(!is_coloured(&program.run(&format!("{list} --format plain")).success()));
}

#[test]
fn home_and_project_can_be_named() {
    let program = Program::in_project();
    program.write("other/.cleveragents/config.toml", "x.a = \"other\"\n");
    program.write("elsewhere/config.toml", "x.b = \"elsewhere\"\n");
    program.run("config get x.a --project other").success().stdout_eq("other\n");
    program.run("--home elsewhere config get x.b").success().stdout_eq("elsewhere\n");
    program.run("config path --project other --home elsewhere").success().stdout_eq(str![[r#"
local    [PLACE]/other/.cleveragents/config.local.toml  (does not exist)
project  [PLACE]/other/.cleveragents/config.toml
global   [PLACE]/elsewhere/config.toml

"#]]);
}

#[test]
fn a_lock_timeout_names_the_holder() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "x.a = 1\n");
    let lock = filetx::Lock::open(&program.path("agents-home/.config.toml.lock")).unwrap();
    let guard = lock.acquire(filetx::LockMode::Exclusive, &filetx::Wait::default()).unwrap();
    let words = "config set x.a 2 --lock-timeout 10ms";
    program.run(words).code(5).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/agents-home/config.toml` is locked by another writer
  lock `[PLACE]/agents-home/.config.toml.lock` is still held by process [..] ([..]) after [..] s
  hint: try again, or add --lock-timeout 2m

"#]]);
    let envelope = json(&program.run(&format!("{words} --format json")).code(5).stderr_eq(""));
    assert_eq!(envelope["messages"][0]["code"], "busy");
    program.run_with("CLEVERAGENTS_CORE_LOCK_TIMEOUT", "0", "config unset x.a").code(5);
    // A waiting command says so.
    let run = program.run("config set x.a 2 --lock-timeout 1200ms").code(5);
    assert!(stderr_text(&run).starts_with("waiting for lock `"), "{}", stderr_text(&run));
    // Readers do not wait.
    program.run("config get x.a").success().stdout_eq("1\n");
    drop(guard);
    program.run(words).success();
    program.run("config set x.a 2 --lock-timeout soon").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `core.lock-timeout` must be a duration such as `30s`, at most 1d, not `soon` (--config)
  hint: agents config explain core.lock-timeout

"#]]);
}

#[test]
fn quiet_and_verbose() {
    let program = Program::in_project();
    program.run("config set x.a 1 -q").success().stdout_eq("").stderr_eq("");
    program.run("config get x.a -q").success().stdout_eq("1\n").stderr_eq("");
    program.run("config get x.a -v").success().stdout_eq("1\n").stderr_eq(str![[r#"
note: home folder is `[PLACE]/agents-home`
note: project is `[PLACE]`

"#]]);
    program.run("config get x.none -q").code(3).stdout_eq("").stderr_eq(str![[r#"
error: `x.none` is not set
  hint: agents config set x.none VALUE

"#]]);
    program.run("config get x.a -q -v").code(2).stdout_eq("");
}
