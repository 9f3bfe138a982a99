//! Command lines that cannot be understood, for people and for programs.

use snapbox::str;

use crate::program::{Program, json};

#[test]
fn usage_errors_are_an_envelope_for_programs() {
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
        "agents config get x.a --format json"
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
        assert!(envelope["messages"][0]["hint"][0].as_str().unwrap().starts_with("agents "), "{words}");
    }
    let by_variable = program.run_with("CLEVERAGENTS_CORE_FORMAT", "json", "dmo").code(2).stderr_eq("");
    assert_eq!(json(&by_variable)["messages"][0]["code"], "usage");
    // The option wins over the variable; arguments after `--` are not options.
    program.run_with("CLEVERAGENTS_CORE_FORMAT", "json", "dmo --format plain").code(2).stdout_eq("");
    program.run("dmo -- --format json").code(2).stdout_eq("");
}

#[test]
fn usage_errors_are_text_for_people() {
    let program = Program::new();
    program.run("config set x.a 1 --scope everywhere").code(2).stdout_eq("").stderr_eq(str![[r#"
error: invalid value 'everywhere' for '--scope <SCOPE>'
  allowed: global, project, local
  hint: agents help config set

"#]]);
    program.run("config --format jsn list").code(2).stdout_eq("").stderr_eq(str![[r#"
error: invalid value 'jsn' for '--format <FORMAT>'
  allowed: rich, plain, json
  hint: agents config --format json list

"#]]);
}

#[test]
fn help_succeeds_in_every_format() {
    let program = Program::new();
    assert!(
        program.run("config --help --format json").success().get_output().stdout.starts_with(b"Read and")
    );
}

#[test]
fn option_errors_use_the_requested_format() {
    let program = Program::new();
    let envelope = json(&program.run("-c core.formt=1 config list --format json").code(2).stderr_eq(""));
    assert_eq!(envelope["command"], "config list");
    assert_eq!(envelope["messages"][0]["code"], "unknown-key");
    program.run("-c core.format config list").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `core.format` is not of the form KEY=VALUE
  hint: agents config set KEY VALUE

"#]]);
}
