//! Command lines that cannot be understood, for people and for programs.

use snapbox::str;

use crate::program::{Program, json};

#[test]
fn programs_get_usage_errors_as_an_envelope() {
    let program = Program::new();
    program.run("config gett x.a --format json").code(2).stderr_eq("").stdout_eq(str![[r#"
{
  "version": 1,
  "command": "",
  "status": "error",
  "exit_code": 2,
  "data": null,
  "timing": {
    "duration_ms": [..]
  },
  "messages": [
    {
      "level": "error",
      "code": "usage",
      "message": "unrecognized subcommand 'gett'",
      "hint": [
        "did you mean `get`? see `agents --help`"
      ]
    }
  ]
}

"#]]);
    for words in
        ["--format=json dmo", "config set --format json", "demo --kills 0 --format json", "--format json"]
    {
        let envelope = json(&program.run(words).code(2).stderr_eq(""));
        assert_eq!((&envelope["status"], &envelope["exit_code"]), (&"error".into(), &2.into()), "{words}");
        assert_eq!(envelope["messages"][0]["code"], "usage", "{words}");
        assert!(envelope["messages"][0]["hint"][0].as_str().unwrap().contains("agents --help"), "{words}");
    }
    let by_variable = program.run_with("CLEVERAGENTS_CORE_FORMAT", "json", "dmo").code(2).stderr_eq("");
    assert_eq!(json(&by_variable)["messages"][0]["code"], "usage");
    // A flag wins, and what comes after `--` is none.
    program.run_with("CLEVERAGENTS_CORE_FORMAT", "json", "dmo --format plain").code(2).stdout_eq("");
    program.run("dmo -- --format json").code(2).stdout_eq("");
}

#[test]
fn people_get_them_as_text() {
    let program = Program::new();
    program.run("config set x.a 1 --scope everywhere").code(2).stdout_eq("").stderr_eq(str![[r#"
error: invalid value 'everywhere' for '--scope <SCOPE>'
  [possible values: global, project, local]

For more information, try '--help'.

"#]]);
    program.run("config --format jsn list").code(2).stdout_eq("").stderr_eq(str![[r#"
error: invalid value 'jsn' for '--format <FORMAT>'
  [possible values: rich, plain, json]

  tip: a similar value exists: 'json'

For more information, try '--help'.

"#]]);
}

#[test]
fn help_is_no_error_in_any_format() {
    let program = Program::new();
    assert!(
        program.run("config --help --format json").success().get_output().stdout.starts_with(b"Read and")
    );
}

#[test]
fn wrong_flags_are_told_in_the_format_that_was_asked_for() {
    let program = Program::new();
    let envelope = json(&program.run("-c core.formt=1 config list --format json").code(2).stderr_eq(""));
    assert_eq!(envelope["command"], "config list");
    assert_eq!(envelope["messages"][0]["code"], "unknown-key");
    program.run("-c core.format config list").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `core.format` is not of the form KEY=VALUE
  hint: for one key: `agents config set KEY VALUE`

"#]]);
}
