//! A broken file disables no command that a person needs to fix it.

use snapbox::str;

use crate::program::{GLOBAL_FILE, PROJECT_FILE, Program, json};

#[test]
fn commands_that_need_no_value_work_despite_a_broken_file() {
    let program = Program::in_project();
    program.write(GLOBAL_FILE, "oops\n");
    program
        .run("config path")
        .success()
        .stdout_eq(str![[r#"
local    [PLACE]/.cleveragents/config.local.toml  (does not exist)
project  [PLACE]/.cleveragents/config.toml
global   [PLACE]/agents-home/config.toml

"#]])
        .stderr_eq(str![[r#"
warning: cannot parse `[PLACE]/agents-home/config.toml`, line 1, column 5: key with no value, expected `=`
   --> [PLACE]/agents-home/config.toml:1:5 (byte 4)
    |
  1 | oops
    |     ^
  hint: agents config edit --scope global

"#]]);
    program.run("config schema").success();
    program.run("config set x.a 1").success().stdout_eq("").stderr_eq(str![[r#"
x.a: not set -> 1 in [PLACE]/.cleveragents/config.toml (project)
warning: cannot parse `[PLACE]/agents-home/config.toml`, line 1, column 5: key with no value, expected `=`
   --> [PLACE]/agents-home/config.toml:1:5 (byte 4)
    |
  1 | oops
    |     ^
  hint: agents config edit --scope global

"#]]);
    program
        .run("config explain plan.merge")
        .success()
        .stdout_eq(str![[r#"
plan.merge: merge strategy for changes of several actors to one file
  allowed      one of `three-way`, `fail-on-conflict`, `last-wins`; variable CLEVERAGENTS_PLAN_MERGE
  scopes       global, project, local
  global       unusable
  default      "three-way"

"#]])
        .stderr_eq(str![[r#"
warning: cannot parse `[PLACE]/agents-home/config.toml`, line 1, column 5: key with no value, expected `=`
   --> [PLACE]/agents-home/config.toml:1:5 (byte 4)
    |
  1 | oops
    |     ^
  hint: agents config edit --scope global

"#]]);
    program.run("completions bash").success().stderr_eq("");
    program.run("man").success().stderr_eq("");
    let envelope = json(&program.run("config path --format json").success().stderr_eq(""));
    assert_eq!(envelope["messages"][0]["level"], "warning");
}

#[test]
fn an_invalid_setting_is_reported_and_can_be_fixed() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "core.format = \"jsn\"\ncore.lock-timeout = 5\n");
    program.run("config set x.a 1").success().stdout_eq("").stderr_eq(str![[r#"
x.a: not set -> 1 in [PLACE]/agents-home/config.toml (global)
warning: `core.format` must be one of `auto`, `rich`, `plain`, `json`; `jsn` is not allowed ([PLACE]/agents-home/config.toml:1)
  hint: agents config explain core.format
        agents config set core.format VALUE --scope global
warning: `core.lock-timeout` must be a duration such as `30s`, at most 1d, not `5` ([PLACE]/agents-home/config.toml:2)
  hint: agents config explain core.lock-timeout
        agents config set core.lock-timeout VALUE --scope global

"#]]);
    program.run("config unset core.lock-timeout").success().stdout_eq("").stderr_eq(str![[r#"
core.lock-timeout: unset in [PLACE]/agents-home/config.toml (global)
warning: `core.format` must be one of `auto`, `rich`, `plain`, `json`; `jsn` is not allowed ([PLACE]/agents-home/config.toml:1)
  hint: agents config explain core.format
        agents config set core.format VALUE --scope global

"#]]);
    program.run("config set core.format json").success();
    assert_eq!(json(&program.run("config get core.format").success().stderr_eq(""))["data"]["value"], "json");
}

#[test]
fn the_hint_names_the_scope_of_the_file() {
    let program = Program::in_project();
    program.write(PROJECT_FILE, "oops\n");
    program.run("config get plan.merge").code(1).stdout_eq("").stderr_eq(str![[r#"
error: cannot parse `[PLACE]/.cleveragents/config.toml`, line 1, column 5: key with no value, expected `=`
   --> [PLACE]/.cleveragents/config.toml:1:5 (byte 4)
    |
  1 | oops
    |     ^
  hint: agents config edit --scope project

"#]]);
}
