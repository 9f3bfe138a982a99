//! `agents config explain`, `path` and `schema`, and help.

use snapbox::str;

use crate::program::{GLOBAL_FILE, Program, json, text};

#[test]
fn explain_describes_a_key() {
    let program = Program::in_project();
    program.write(GLOBAL_FILE, "plan.concurrency = 8\n");
    program.run("config explain plan.concurrency").success().stderr_eq("").stdout_eq(str![[r#"
plan.concurrency = 8: actors of a plan that run at once
  allowed      an integer from 1 to 256; variable CLEVERAGENTS_PLAN_CONCURRENCY
  scopes       global, project, local
> global       8  # [PLACE]/agents-home/config.toml:1
  default      4

"#]]);
    program.run("config explain server.token").success().stderr_eq("").stdout_eq(str![[r#"
server.token: token for the server
  allowed      a string; variable CLEVERAGENTS_SERVER_TOKEN
  scopes       global
  secret       shown by get --reveal, set by set --stdin

"#]]);
    program.run("config explain x.mine").success().stderr_eq("").stdout_eq(str![[r#"
x.mine: your own key: the program does not use it
  allowed      any TOML value
  scopes       global, project, local

"#]]);
    program.run("config explain core.colour").code(2).stdout_eq("").stderr_eq(str![[r#"
error: unknown key `core.colour`
  hint: agents config explain core.color

"#]]);
    program.run("config explain plan.merge --format json").success().stderr_eq("").stdout_eq(str![[r#"
{
  "version": 1,
  "command": "config explain",
  "status": "ok",
  "exit_code": 0,
  "data": {
    "allowed": "one of `three-way`, `fail-on-conflict`, `last-wins`",
    "default": "three-way",
    "help": "merge strategy for changes of several actors to one file",
    "key": "plan.merge",
    "layers": [
      {
        "layer": "flag"
      },
      {
        "layer": "environment"
      },
      {
        "layer": "local"
      },
      {
        "layer": "project"
      },
      {
        "layer": "global"
      },
      {
        "layer": "default",
        "origin": {
          "layer": "default"
        },
        "value": "three-way"
      }
    ],
    "origin": {
      "layer": "default"
    },
    "scopes": [
      "global",
      "project",
      "local"
    ],
    "secret": false,
    "type": "choice",
    "value": "three-way",
    "variable": "CLEVERAGENTS_PLAN_MERGE"
  },
  "timing": {
    "duration_ms": [..]
  },
  "messages": []
}

"#]]);
}

#[test]
fn path_lists_the_files() {
    let program = Program::new();
    program.run("config path").success().stderr_eq("").stdout_eq(str![[r#"
global   [PLACE]/agents-home/config.toml  (does not exist)

"#]]);
    program.run("config path --scope global").success().stderr_eq("").stdout_eq(str![[r#"
[PLACE]/agents-home/config.toml

"#]]);
    program.run("config path --scope local").code(3).stdout_eq("").stderr_eq(str![[r#"
error: the local scope needs a project, and there is none here
  hint: add --project DIR or --scope global

"#]]);
    let program = Program::in_project();
    program.run("config path").success().stderr_eq("").stdout_eq(str![[r#"
local    [PLACE]/.cleveragents/config.local.toml  (does not exist)
project  [PLACE]/.cleveragents/config.toml
global   [PLACE]/agents-home/config.toml  (does not exist)

"#]]);
    program.run("config path --format json").success().stderr_eq("").stdout_eq(str![[r#"
{
  "version": 1,
  "command": "config path",
  "status": "ok",
  "exit_code": 0,
  "data": {
    "files": [
      {
        "exists": false,
        "file": "[PLACE]/.cleveragents/config.local.toml",
        "scope": "local"
      },
      {
        "exists": true,
        "file": "[PLACE]/.cleveragents/config.toml",
        "scope": "project"
      },
      {
        "exists": false,
        "file": "[PLACE]/agents-home/config.toml",
        "scope": "global"
      }
    ],
    "home": "[PLACE]/agents-home",
    "project": "[PLACE]"
  },
  "timing": {
    "duration_ms": [..]
  },
  "messages": []
}

"#]]);
    program.run("config path -v").success().stderr_eq(str![[r#"
note: home folder is `[PLACE]/agents-home`
note: project is `[PLACE]`

"#]]);
}

#[test]
fn the_schema_is_json_for_people_and_programs() {
    let program = Program::new();
    let schema: serde_json::Value =
        serde_json::from_str(&text(&program.run("config schema").success())).unwrap();
    assert_eq!(schema["properties"]["plan"]["properties"]["concurrency"]["default"], 4);
    assert_eq!(json(&program.run("config schema --format json").success())["data"], schema);
    let project = text(&program.run("config schema --scope project").success());
    assert!(project.contains("concurrency") && !project.contains("token"));
}

#[test]
fn help_of_config() {
    Program::new().run("config --help").success().stderr_eq("").stdout_eq(str![[r#"
Read and change configuration

A key has a value in up to six layers. High to low: a flag (`-c KEY=VALUE`), the environment
(`CLEVERAGENTS_<SECTION>_<KEY>`), the files of three scopes, and the default. The scopes are `local`
(you, this project), `project` (everyone, this project) and `global` (you, all projects). Keys below
`x.` are your own.

A command changes one key and keeps comments, order and formatting. Concurrent writers lose no
update, and an acknowledged write survives a power cut.

Usage: agents config <COMMAND>

Commands:
  get      Print the value of a key
  set      Set one key (KEY VALUE) or several (KEY=VALUE...)
  unset    Remove a key from a file
  list     List keys with their values, as TOML
  explain  Explain a key: help, valid values, and its value in every layer
  edit     Edit a file with $VISUAL or $EDITOR
  path     Print the paths of the files, strongest first
  schema   Print a JSON Schema of the files, for editors that check and complete TOML
  watch    Print changes as they happen, until Ctrl-C

Options:
  -h, --help
          Print help (see a summary with '-h')

"#]]);
}

#[test]
fn help_of_set() {
    Program::new().run("config set --help").success().stderr_eq("").stdout_eq(str![[r#"
Set one key (KEY VALUE) or several (KEY=VALUE...)

Sets all keys or none. The type of a key determines how its value is parsed; a value below `x.` is
TOML if valid, else text. Put a value that begins with a dash after `--`.

Usage: agents config set [OPTIONS] <KEY> <VALUE>
       agents config set [OPTIONS] <KEY=VALUE>...
       agents config set [OPTIONS] <KEY> --stdin

Arguments:
  <KEY VALUE | KEY=VALUE>...
          KEY VALUE, or KEY=VALUE...

Options:
      --scope <SCOPE>
          File to change [default: project if its file exists, else global]

          Possible values:
          - global:  You, all projects
          - project: Everyone, this project
          - local:   You, this project

      --stdin
          Read the value from standard input; required for secrets

  -h, --help
          Print help (see a summary with '-h')

Examples:
  agents config set plan.concurrency 8
  agents config set plan.merge=last-wins x.team=blue --scope project
  agents config set server.token --stdin < token.txt

"#]]);
}
