//! `--log`: records the work of the services, without secrets.

use snapbox::str;

use crate::plan::{changed, project};
use crate::program::{Program, stderr_text};

fn log_of(program: &Program, words: &[&str]) -> String {
    stderr_text(&program.run_of(&[words, &["--log", "debug"]].concat()).success())
}

#[test]
fn spans_are_logged_without_secrets() {
    let program = Program::new();
    let words = "config set server.token --stdin --log trace";
    let log = stderr_text(&program.run_reading(b"hunter2-secret", words).success());
    assert!(log.contains("transaction{scope=global keys=1}: cleveragents_config::transaction: new"), "{log}");
    assert!(log.contains("close"), "{log}");
    assert!(!log.contains("hunter2"), "{log}");

    program.run("context create chat").success();
    let log = log_of(&program, &["context", "append", "chat", "--role", "user", "private words"]);
    assert!(log.contains("context{name=chat action=\"save\"}:transaction{"), "{log}");
    assert!(!log.contains("private"), "{log}");
    program.run("config set x.a 1").success().stderr_eq(str![[r#"
x.a: not set -> 1 in [PLACE]/agents-home/config.toml (global)

"#]]);
}

#[test]
fn an_apply_is_logged() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "contents that nobody logs\n");
    let log = log_of(&program, &["plan", "apply", "work"]);
    assert!(log.contains("plan{id="), "{log}");
    assert!(log.contains("doing=\"apply\"}:transaction{id="), "{log}");
    assert!(!log.contains("nobody logs"), "{log}");
    program.run("plan show work").success().stderr_eq("");
}

#[test]
fn log_file_appends_to_a_file() {
    let program = Program::new();
    program.run("config set core.log debug").success().stderr_eq(str![[r#"
core.log: "off" -> "debug" in [PLACE]/agents-home/config.toml (global)

"#]]);
    program.run("config set x.a 1 --log-file agents.log").success().stderr_eq(str![[r#"
x.a: not set -> 1 in [PLACE]/agents-home/config.toml (global)

"#]]);
    program.run("config set x.a 2 --log-file agents.log").success().stderr_eq(str![[r#"
x.a: 1 -> 2 in [PLACE]/agents-home/config.toml (global)

"#]]);
    assert_eq!(program.text("agents.log").matches(": cleveragents_config::transaction: new").count(), 2);
    program.run("config get x.a --log-file missing/agents.log").code(1).stdout_eq("").stderr_eq(str![[r#"
error: cannot open the log `missing/agents.log`
  No such file or directory (os error 2)

"#]]);
    program.run("config get x.a --log loud").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `core.log` must be one of `off`, `error`, `warn`, `info`, `debug`, `trace`; `loud` is not allowed (--config)
  hint: agents config explain core.log

"#]]);
}
