//! Secrets are shown only on request by name.

use snapbox::str;

use crate::program::{GLOBAL_FILE, Program, json, stderr_text, text};

const SECRET: &str = "hunter2-hunter2";

fn with_secret() -> Program {
    let program = Program::new();
    program
        .run_reading(format!("{SECRET}\n").as_bytes(), "config set server.token --stdin")
        .success()
        .stderr_eq(str![[r#"
server.token: not set -> "[REDACTED]" in [PLACE]/agents-home/config.toml (global)

"#]])
        .stdout_eq("");
    assert_eq!(program.text(GLOBAL_FILE), format!("server.token = \"{SECRET}\"\n"));
    program
}

#[test]
fn only_get_reveal_shows_a_secret() {
    let program = with_secret();
    program.run("config get server.token").success().stdout_eq(str![[r#"
[REDACTED]

"#]]);
    program.run("config get server.token --reveal").success().stdout_eq(str![[r#"
hunter2-hunter2

"#]]);
    program.run("config get server.token --reveal --all-layers").success().stdout_eq(str![[r#"
  flag         -
  environment  -
> global       "hunter2-hunter2"  # [PLACE]/agents-home/config.toml:1
  default      -

"#]]);
    let envelope = json(&program.run("config get server.token --reveal --format json").success());
    assert_eq!(envelope["data"]["value"], SECRET);
}

#[test]
fn a_secret_appears_nowhere_else() {
    let program = with_secret();
    for words in [
        "config get server.token --all-layers",
        "config get server.token --show-origin",
        "config list",
        "config list --scope global",
        "config explain server.token",
        "config set server.url https://example.org",
        "config unset x.a -v",
        "config path -v",
    ] {
        for format in ["plain", "rich", "json"] {
            let run = program.run(&format!("{words} --format {format}")).success();
            assert!(!text(&run).contains("hunter2") && !stderr_text(&run).contains("hunter2"), "{words}");
        }
    }
    // Nor if its line is broken.
    program.write(GLOBAL_FILE, format!("server.token = \"{SECRET}\n"));
    let run = program.run("config get server.token").code(1);
    assert!(!stderr_text(&run).contains("hunter2"), "{}", stderr_text(&run));
}

#[test]
fn a_secret_in_an_argument_is_rejected() {
    let program = Program::new();
    program.run("config set server.token hunter2").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `server.token` is secret and cannot be an argument; other users of this machine can see arguments
  hint: agents config set server.token --stdin

"#]]);
    program.run("config set x.a=1 server.token=hunter2").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `server.token` is secret and cannot be an argument; other users of this machine can see arguments
  hint: agents config set server.token --stdin

"#]]);
    program.run("-c server.token=hunter2 config list").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `server.token` is secret and cannot be an argument; other users of this machine can see arguments
  hint: agents config set server.token --stdin
        or set the variable CLEVERAGENTS_SERVER_TOKEN

"#]]);
    assert!(!program.path("agents-home").exists());
}

#[test]
fn a_secret_may_come_from_a_variable() {
    let program = Program::new();
    let run = |words| program.run_with("CLEVERAGENTS_SERVER_TOKEN", SECRET, words).success();
    run("config get server.token --show-origin").stdout_eq(str![[r#"
environment $CLEVERAGENTS_SERVER_TOKEN	[REDACTED]

"#]]);
    run("config get server.token --reveal").stdout_eq(str![[r#"
hunter2-hunter2

"#]]);
}

#[test]
fn any_value_can_come_from_standard_input() {
    let program = Program::new();
    let set = |input: &[u8], words| program.run_reading(input, words);
    set(b"two\nlines\r\n", "config set x.text --stdin").success();
    program.run("config get x.text").success().stdout_eq("two\nlines\n");
    set(b"", "config set plan.concurrency --stdin").code(2).stderr_eq(str![[r#"
error: `plan.concurrency` must be an integer from 1 to 256, not ``
  hint: agents config explain plan.concurrency

"#]]);
    set(b"\xff", "config set x.text --stdin").code(1).stdout_eq("").stderr_eq(str![[r#"
error: standard input is not UTF-8 text

"#]]);
    set(&vec![b'a'; 1024 * 1024 + 1], "config set x.text --stdin").code(1).stdout_eq("").stderr_eq(str![[
        r#"
error: standard input has more than 1048576 bytes

"#
    ]]);
    program.run("config get x.text").success().stdout_eq("two\nlines\n");
}
