//! `agents config set`, `get` and `unset`.

use snapbox::str;

use crate::program::{GLOBAL_FILE, LOCAL_FILE, PROJECT_FILE, Program, json};

#[test]
fn a_set_value_is_readable() {
    let program = Program::new();
    program
        .run("config set plan.concurrency 8")
        .success()
        .stderr_eq(str![[r#"
plan.concurrency: 4 -> 8 in [PLACE]/agents-home/config.toml (global)

"#]])
        .stdout_eq("");
    program
        .run("config get plan.concurrency")
        .success()
        .stdout_eq(str![[r#"
8

"#]])
        .stderr_eq("");
    assert_eq!(program.text(GLOBAL_FILE), "plan.concurrency = 8\n");
    program
        .run("config set plan.concurrency 8")
        .success()
        .stderr_eq(str![[r#"
plan.concurrency: already 8 in [PLACE]/agents-home/config.toml (global)

"#]])
        .stdout_eq("");
    program
        .run("config unset plan.concurrency")
        .success()
        .stderr_eq(str![[r#"
plan.concurrency: unset in [PLACE]/agents-home/config.toml (global)

"#]])
        .stdout_eq("");
    assert_eq!(program.text(GLOBAL_FILE), "");
    program
        .run("config unset plan.concurrency")
        .success()
        .stderr_eq(str![[r#"
plan.concurrency: not set in [PLACE]/agents-home/config.toml (global)

"#]])
        .stdout_eq("");
}

#[test]
fn several_keys_are_set_together() {
    let program = Program::new();
    program
        .run("config set plan.concurrency=8 plan.merge=last-wins x.team=blue")
        .success()
        .stderr_eq(str![[r#"
plan.concurrency: 4 -> 8 in [PLACE]/agents-home/config.toml (global)
plan.merge: "three-way" -> "last-wins" in [PLACE]/agents-home/config.toml (global)
x.team: not set -> "blue" in [PLACE]/agents-home/config.toml (global)

"#]])
        .stdout_eq("");
    let before = program.text(GLOBAL_FILE);
    program.run("config set x.team=red plan.concurrency=0").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `plan.concurrency` must be an integer from 1 to 256; `0` is not allowed
  hint: agents config explain plan.concurrency

"#]]);
    assert_eq!(program.text(GLOBAL_FILE), before);
}

#[test]
fn a_batch_reports_its_keys_to_programs() {
    let program = Program::new();
    program.run("config set x.a=1 x.b=2 --format json").success().stderr_eq("").stdout_eq(str![[r#"
{
  "version": 1,
  "command": "config set",
  "status": "ok",
  "exit_code": 0,
  "data": {
    "changed": true,
    "changes": [
      {
        "key": "x.a",
        "new": 1,
        "old": null
      },
      {
        "key": "x.b",
        "new": 2,
        "old": null
      }
    ],
    "file": "[PLACE]/agents-home/config.toml",
    "keys": [
      "x.a",
      "x.b"
    ],
    "scope": "global"
  },
  "timing": {
    "duration_ms": [..]
  },
  "messages": []
}

"#]]);
}

#[test]
fn values_are_parsed_by_the_type_of_their_key() {
    let program = Program::new();
    let check = |words: &[&str], line: &str| {
        let words = ["config", "set"].into_iter().chain(words.iter().copied()).collect::<Vec<_>>();
        program.run_of(&words).success();
        assert!(program.text(GLOBAL_FILE).lines().any(|found| found == line), "{line}");
    };
    check(&["core.lock-timeout", "1m30s"], "core.lock-timeout = \"1m30s\"");
    check(&["sandbox.allow-write", "/a, /b c"], "sandbox.allow-write = [\"/a\", \"/b c\"]");
    check(&["x.number", "-5"], "x.number = -5");
    check(&["x.text", "two words"], "x.text = \"two words\"");
    check(&["x.text=a=b"], "x.text = \"a=b\"");
    check(&["x.text", "a=b=c"], "x.text = \"a=b=c\"");
    check(&["x.empty="], "x.empty = \"\"");
    check(&["x.list", "[1, \"b\"]"], "x.list = [1, \"b\"]");
    check(&["x.\"a.b\"", "true"], "x.\"a.b\" = true");
    check(&["--", "x.dash", "--verbose"], "x.dash = \"--verbose\"");
}

#[test]
fn the_default_scope_is_the_project_if_it_has_a_file() {
    let program = Program::new();
    program.write(LOCAL_FILE, "");
    program.run("config set x.a 1").success().stdout_eq("").stderr_eq(str![[r#"
x.a: not set -> 1 in [PLACE]/agents-home/config.toml (global)

"#]]);
    program.write(PROJECT_FILE, "");
    program
        .run("config set x.a 2")
        .success()
        .stderr_eq(str![[r#"
x.a: 1 -> 2 in [PLACE]/.cleveragents/config.toml (project)

"#]])
        .stdout_eq("");
    program
        .run("config set x.a 3 --scope local")
        .success()
        .stderr_eq(str![[r#"
x.a: 2 -> 3 in [PLACE]/.cleveragents/config.local.toml (local)

"#]])
        .stdout_eq("");
    program.run("config set x.a 4 --scope global").success().stdout_eq("").stderr_eq(str![[r#"
x.a: set to 4 in [PLACE]/agents-home/config.toml (global)
warning: `x.a` is still `3`, from local [PLACE]/.cleveragents/config.local.toml:1
  hint: agents config get x.a --all-layers

"#]]);
    // A global-only key goes to the global scope.
    program
        .run("config set server.url https://example.org")
        .success()
        .stderr_eq(str![[r#"
server.url: not set -> "https://example.org" in [PLACE]/agents-home/config.toml (global)

"#]])
        .stdout_eq("");
    program.run("config set server.url=a x.b=1").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `server.url` cannot be set in the project scope, only in: global
  hint: agents config set server.url VALUE --scope global

"#]]);
    program.run("config get x.a").success().stdout_eq(str![[r#"
3

"#]]);
}

#[test]
fn a_project_is_found_from_a_subfolder_and_home_is_no_project() {
    let program = Program::in_project();
    program.write("src/deep/file", "");
    let mut command = program.command("config set x.a 1");
    program.check(command.current_dir(program.path("src/deep"))).success().stdout_eq("").stderr_eq(str![[
        r#"
x.a: not set -> 1 in [PLACE]/.cleveragents/config.toml (project)

"#
    ]]);
    // A home folder with the usual name, in a subfolder of the user's home.
    program.write("user/.cleveragents/config.toml", "x.home = true\n");
    program.write("user/work/file", "");
    for home in [None, Some("agents-home")] {
        let mut command = program.command("config path --format json");
        command.current_dir(program.path("user/work")).env("HOME", program.path("user"));
        match home {
            Some(home) => command.env("CLEVERAGENTS_HOME", program.path(home)),
            None => command.env_remove("CLEVERAGENTS_HOME"),
        };
        let data = json(&program.check(&mut command).success())["data"].clone();
        assert_eq!(data["project"], program.path("").display().to_string().trim_end_matches('/'));
    }
}

#[test]
fn a_key_without_a_value_is_not_found() {
    let program = Program::new();
    program.run("config get store.url").code(3).stdout_eq("").stderr_eq(str![[r#"
error: `store.url` is not set
  hint: agents config set store.url VALUE

"#]]);
    program.run("config get x.mine").code(3).stdout_eq("").stderr_eq(str![[r#"
error: `x.mine` is not set
  hint: agents config set x.mine VALUE

"#]]);
    let envelope = json(&program.run("config get x.mine --format json").code(3).stderr_eq(""));
    assert_eq!((&envelope["exit_code"], &envelope["data"]), (&3.into(), &serde_json::Value::Null));
    assert_eq!(envelope["messages"][0]["code"], "not-set");
}

#[test]
fn a_shadowed_write_warns() {
    let program = Program::in_project();
    program
        .run_with("CLEVERAGENTS_PLAN_CONCURRENCY", "3", "config set plan.concurrency 9")
        .success()
        .stdout_eq("")
        .stderr_eq(str![[r#"
plan.concurrency: set to 9 in [PLACE]/.cleveragents/config.toml (project)
warning: `plan.concurrency` is still `3`, from environment $CLEVERAGENTS_PLAN_CONCURRENCY
  hint: agents config get plan.concurrency --all-layers

"#]]);
    program.run("config set plan.concurrency 8 --scope global").success().stdout_eq("").stderr_eq(str![[
        r#"
plan.concurrency: set to 8 in [PLACE]/agents-home/config.toml (global)
warning: `plan.concurrency` is still `9`, from project [PLACE]/.cleveragents/config.toml:1
  hint: agents config get plan.concurrency --all-layers

"#
    ]]);
    program.run("config unset plan.concurrency --scope global -q").success().stdout_eq("").stderr_eq("");
    program.run("config set plan.concurrency 8 --scope global -q").success().stdout_eq("").stderr_eq("");
    program.run("config unset plan.concurrency").success().stdout_eq("").stderr_eq(str![[r#"
plan.concurrency: unset in [PLACE]/.cleveragents/config.toml (project)
warning: `plan.concurrency` is still `8`, from global [PLACE]/agents-home/config.toml:1
  hint: agents config unset plan.concurrency --scope global

"#]]);
    let envelope =
        json(&program.run("-c plan.concurrency=2 config set plan.concurrency 5 --format json").success());
    assert_eq!(envelope["data"]["shadowed"][0]["origin"]["layer"], "flag");
    assert_eq!(envelope["data"]["shadowed"][0]["value"], 2);
}

#[test]
fn invalid_assignments_are_usage_errors() {
    let program = Program::new();
    program.run("config set x.a").code(2).stdout_eq("").stderr_eq(str![[r#"
error: there is no VALUE
  hint: agents config set KEY VALUE
        agents config set KEY=VALUE…

"#]]);
    program.run("config set x.a 1 x.b 2").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `x.a` is not of the form KEY=VALUE
  hint: agents config set KEY VALUE

"#]]);
    program.run("config set x.a=1 x.b").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `x.b` is not of the form KEY=VALUE
  hint: agents config set KEY VALUE

"#]]);
    program.run_reading(b"1", "config set x.a 1 --stdin").code(2).stdout_eq("").stderr_eq(str![[r#"
error: with `--stdin` there is one KEY and no VALUE
  hint: agents config set KEY VALUE
        agents config set KEY=VALUE…

"#]]);
    program.run("config set").code(2).stdout_eq("").stderr_eq(str![[r#"
error: missing arguments: <KEY VALUE | KEY=VALUE>...
  hint: agents help config set

"#]]);
    assert!(!program.path("agents-home").exists());
}

#[test]
fn the_current_folder_as_project_is_shown_by_its_name() {
    let program = Program::in_project();
    program.run("config set --project . --scope project x.a 1").success().stdout_eq("").stderr_eq(str![[
        r#"
x.a: not set -> 1 in [PLACE]/.cleveragents/config.toml (project)

"#
    ]]);
}
