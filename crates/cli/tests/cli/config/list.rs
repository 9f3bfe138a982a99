//! `agents config list`.

use snapbox::str;

use crate::program::{GLOBAL_FILE, PROJECT_FILE, Program, json, text};

fn with_files() -> Program {
    let program = Program::new();
    program.write(
        GLOBAL_FILE,
        "x.team = \"blue\"\nplan.concurrency = 1\nstore.url = \"postgres://me:pw@db/x\"\n",
    );
    program.write(PROJECT_FILE, "plan.concurrency = 2\n");
    program
}

#[test]
fn all_keys_are_listed() {
    with_files().run("config list").success().stderr_eq("").stdout_eq(str![[r#"
core.color = "auto"                          # default
core.format = "auto"                         # default
core.interpolate = []                        # default
core.lock-timeout = "30s"                    # default
core.log = "off"                             # default
# core.log-file is not set
plan.concurrency = 2                         # project
plan.merge = "three-way"                     # default
sandbox.allow-write = []                     # default
sandbox.cleanup = "applied"                  # default
sandbox.confine = "auto"                     # default
sandbox.max-file-size = "16GiB"              # default
sandbox.strategy = "copy"                    # default
# server.token is not set
# server.url is not set
store.url = "postgres://me:[REDACTED]@db/x"  # global
store.wait = "30s"                           # default
x.team = "blue"                              # global

"#]]);
}

#[test]
fn a_section_is_listed() {
    let program = with_files();
    program.run("config list plan --show-origin").success().stderr_eq("").stdout_eq(str![[r#"
plan.concurrency = 2      # project [PLACE]/.cleveragents/config.toml:1
plan.merge = "three-way"  # default

"#]]);
    program.run("config list --changed --show-origin").success().stderr_eq("").stdout_eq(str![[r#"
plan.concurrency = 2                         # project [PLACE]/.cleveragents/config.toml:1
store.url = "postgres://me:[REDACTED]@db/x"  # global [PLACE]/agents-home/config.toml:3
x.team = "blue"                              # global [PLACE]/agents-home/config.toml:1

"#]]);
    program.run("config list --scope global").success().stderr_eq("").stdout_eq(str![[r#"
plan.concurrency = 1                         # global
store.url = "postgres://me:[REDACTED]@db/x"  # global
x.team = "blue"                              # global

"#]]);
    program.run("config list --scope project").success().stderr_eq("").stdout_eq(str![[r#"
plan.concurrency = 2  # project

"#]]);
    program.run("config list --scope local").success().stderr_eq("").stdout_eq("");
    program.run("config list x.none").success().stderr_eq("").stdout_eq("");
    program.run("config list plam").code(2).stdout_eq("").stderr_eq(str![[r#"
error: unknown key `plam`
  hint: agents config list  # all keys; names below x. are yours

"#]]);
}

#[test]
fn the_list_is_valid_toml() {
    let program = with_files();
    let listed = text(&program.run("config list --show-origin").success());
    let other = Program::new();
    // The list is a valid global file.
    other.write(GLOBAL_FILE, listed);
    let envelope = json(&other.run("config list --format json").success());
    assert_eq!(envelope["messages"].as_array().unwrap().len(), 0, "{envelope}");
}

#[test]
fn the_envelope_has_entries() {
    with_files().run("config list plan.concurrency --format json").success().stderr_eq("").stdout_eq(str![[
        r#"
{
  "version": 1,
  "command": "config list",
  "status": "ok",
  "exit_code": 0,
  "data": {
    "entries": [
      {
        "key": "plan.concurrency",
        "origin": {
          "file": "[PLACE]/.cleveragents/config.toml",
          "layer": "project",
          "line": 1
        },
        "secret": false,
        "value": 2
      }
    ]
  },
  "timing": {
    "duration_ms": [..]
  },
  "messages": []
}

"#
    ]]);
}

#[test]
fn unknown_and_misplaced_keys_are_reported_and_the_rest_listed() {
    let program = Program::in_project();
    program.write(GLOBAL_FILE, "plan.concurency = 3\n");
    program.write(PROJECT_FILE, "server.url = \"https://evil.example\"\n");
    program
        .run("config list plan")
        .success()
        .stdout_eq(str![[r#"
plan.concurrency = 4      # default
plan.merge = "three-way"  # default

"#]])
        .stderr_eq(str![[r#"
warning: unknown key `plan.concurency` ([PLACE]/agents-home/config.toml:1)
  hint: agents config edit --scope global  # rename plan.concurency to plan.concurrency

"#]]);
    program
        .run("config list server")
        .success()
        .stdout_eq(str![[r#"
# server.token is not set
# server.url is not set

"#]])
        .stderr_eq(str![[r#"
warning: `server.url` cannot be set in the project scope, only in: global
  hint: agents config set server.url VALUE --scope global

"#]]);
}
