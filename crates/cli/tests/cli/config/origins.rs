//! Origins of values: `--show-origin`, `--all-layers`, flags and variables.

use snapbox::str;

use crate::program::{GLOBAL_FILE, LOCAL_FILE, PROJECT_FILE, Program, json};

fn with_all_layers() -> Program {
    let program = Program::new();
    program.write(GLOBAL_FILE, "# mine\nplan.concurrency = 1\nx.global = true\n");
    program.write(PROJECT_FILE, "\n[plan]\nconcurrency = 2\n");
    program.write(LOCAL_FILE, "plan.concurrency = 3\n");
    program
}

#[test]
fn files_below_the_home_folder_are_short() {
    let program = with_all_layers();
    let run = |words: &str| program.check(program.command(words).env("HOME", program.path("")));
    run("config get x.global --show-origin")
        .success()
        .stdout_eq("global ~/agents-home/config.toml:3\ttrue\n");
    run("config get plan.concurrency --all-layers").success().stdout_eq(str![[r#"
  flag         -
  environment  -
> global       1  # ~/agents-home/config.toml:2
  default      [..]

"#]]);
}

#[test]
fn get_names_the_layer_the_file_and_the_line() {
    let program = with_all_layers();
    let check = |words: &str| program.run(words).success().stderr_eq("");
    check("config get x.global --show-origin").stdout_eq(str![[r#"
global [PLACE]/agents-home/config.toml:3	true

"#]]);
    check("config get plan.concurrency --show-origin").stdout_eq(str![[r#"
local [PLACE]/.cleveragents/config.local.toml:1	3

"#]]);
    check("config get plan.merge --show-origin").stdout_eq(str![[r#"
default	three-way

"#]]);
    check("config get plan.concurrency --show-origin -c plan.concurrency=5").stdout_eq(str![[r#"
flag	5

"#]]);
    program
        .run_with("CLEVERAGENTS_PLAN_CONCURRENCY", "4", "config get plan.concurrency --show-origin")
        .success()
        .stdout_eq(str![[r#"
environment $CLEVERAGENTS_PLAN_CONCURRENCY	4

"#]]);
}

#[test]
fn get_prints_the_value_of_every_layer() {
    let program = with_all_layers();
    program
        .run_with(
            "CLEVERAGENTS_PLAN_CONCURRENCY",
            "4",
            "config get plan.concurrency --all-layers -c plan.concurrency=5",
        )
        .success()
        .stderr_eq("")
        .stdout_eq(str![[r#"
> flag         5
  environment  4  # $CLEVERAGENTS_PLAN_CONCURRENCY
  local        3  # [PLACE]/.cleveragents/config.local.toml:1
  project      2  # [PLACE]/.cleveragents/config.toml:3
  global       1  # [PLACE]/agents-home/config.toml:2
  default      4

"#]]);
    program.run("config get x.global --all-layers").success().stderr_eq("").stdout_eq(str![[r#"
  flag         -
  environment  -
  local        -
  project      -
> global       true  # [PLACE]/agents-home/config.toml:3
  default      -

"#]]);
}

#[test]
fn the_envelope_has_the_layers() {
    let program = with_all_layers();
    program.run("config get plan.concurrency --format json").success().stderr_eq("").stdout_eq(str![[r#"
{
  "version": 1,
  "command": "config get",
  "status": "ok",
  "exit_code": 0,
  "data": {
    "key": "plan.concurrency",
    "layers": [
      {
        "layer": "flag"
      },
      {
        "layer": "environment"
      },
      {
        "layer": "local",
        "origin": {
          "file": "[PLACE]/.cleveragents/config.local.toml",
          "layer": "local",
          "line": 1
        },
        "value": 3
      },
      {
        "layer": "project",
        "origin": {
          "file": "[PLACE]/.cleveragents/config.toml",
          "layer": "project",
          "line": 3
        },
        "value": 2
      },
      {
        "layer": "global",
        "origin": {
          "file": "[PLACE]/agents-home/config.toml",
          "layer": "global",
          "line": 2
        },
        "value": 1
      },
      {
        "layer": "default",
        "origin": {
          "layer": "default"
        },
        "value": 4
      }
    ],
    "origin": {
      "file": "[PLACE]/.cleveragents/config.local.toml",
      "layer": "local",
      "line": 1
    },
    "secret": false,
    "value": 3
  },
  "timing": {
    "duration_ms": [..]
  },
  "messages": []
}

"#]]);
}

#[test]
fn get_and_list_agree() {
    let program = with_all_layers();
    let by_get = json(&program.run("config get plan.concurrency --format json").success());
    let by_list = json(&program.run("config list plan.concurrency --format json").success());
    let entry = &by_list["data"]["entries"][0];
    assert_eq!((&entry["value"], &entry["origin"]), (&by_get["data"]["value"], &by_get["data"]["origin"]));
}

#[test]
fn unset_variables_are_errors_and_set_ones_expanded() {
    let program = Program::new();
    program.write(
        GLOBAL_FILE,
        "plan.concurrency = \"${AGENTS_TEST_COUNT}\"\nx.b = \"${AGENTS_TEST_NONE:usual}\"\n",
    );
    program.run("config get plan.concurrency").code(1).stdout_eq("").stderr_eq(str![[r#"
error: `plan.concurrency`: `${AGENTS_TEST_COUNT}` is not set and has no default ([PLACE]/agents-home/config.toml:1)
  hint: set the variable, or a default: agents config set plan.concurrency '${AGENTS_TEST_COUNT:default}'

"#]]);
    program.run("config get x.b").success().stdout_eq(str![[r#"
usual

"#]]);
    program.run_with("AGENTS_TEST_COUNT", "7", "config get plan.concurrency").success().stdout_eq(str![[
        r#"
7

"#
    ]]);
}
