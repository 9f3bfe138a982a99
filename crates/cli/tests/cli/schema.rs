//! `agents schema`, and the validation of all JSON output of these tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};
use snapbox::str;

use crate::program::{Program, json as envelope_of, text};

/// Validators by the name of their schema.
static VALIDATORS: Mutex<BTreeMap<String, Arc<Validator>>> = Mutex::new(BTreeMap::new());

/// Validates output that is an envelope, or a stream of events that an envelope ends. Ignores other output.
#[track_caller]
pub(crate) fn check_output(stdout: &[u8]) {
    if let Ok(envelope) = serde_json::from_slice::<Value>(stdout) {
        if envelope["exit_code"].is_u64() {
            check_envelope(&envelope);
        }
        return;
    }
    let lines = stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let lines = lines.map(serde_json::from_slice).collect::<Result<Vec<Value>, _>>().unwrap_or_default();
    if let Some((envelope, events)) = lines.split_last()
        && envelope["event"] == "end"
    {
        check_envelope(envelope);
        for event in events {
            check_event(envelope["command"].as_str().unwrap(), event);
        }
    }
}

/// Validates an event of a command.
#[track_caller]
pub(crate) fn check_event(command: &str, event: &Value) {
    check(&format!("{command} event"), event).unwrap();
}

#[track_caller]
fn check_envelope(envelope: &Value) {
    if let Err(error) = try_envelope(envelope) {
        panic!("{error}");
    }
}

/// Validates an envelope, and its data: that of the command, or of an error.
fn try_envelope(envelope: &Value) -> Result<(), String> {
    check("envelope", envelope)?;
    let (command, data) = (envelope["command"].as_str().unwrap(), &envelope["data"]);
    if envelope["status"] != "ok" && check("error", data).is_ok() {
        return Ok(());
    }
    check(command, data)
}

/// Validates a value by the schema of this name.
pub(crate) fn check(name: &str, value: &Value) -> Result<(), String> {
    let validator = validator(name);
    validator
        .validate(value)
        .map_err(|error| format!("schema `{name}` refuses {}: {error}\n{value:#}", error.instance_path()))
}

fn validator(name: &str) -> Arc<Validator> {
    if let Some(validator) = VALIDATORS.lock().unwrap().get(name) {
        return validator.clone();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_agents"));
    let output = command.args(["schema", "--format", "plain"]).args(name.split(' ')).output().unwrap();
    assert!(output.status.success(), "no schema of `{name}`: {output:?}");
    let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
    let validator = Arc::new(jsonschema::validator_for(&schema).unwrap());
    VALIDATORS.lock().unwrap().insert(name.to_owned(), validator.clone());
    validator
}

#[test]
fn names_are_listed_and_every_schema_is_valid() {
    let program = Program::new();
    let names = text(&program.run("schema").success().stderr_eq(""));
    for name in names.lines() {
        validator(name);
    }
    for name in ["envelope", "error", "plan show", "run event", "config watch event", "audit export"] {
        assert!(names.lines().any(|line| line == name), "{name} in {names}");
    }
    let listed = envelope_of(&program.run("schema --format json").success());
    assert_eq!(listed["data"]["schemas"].as_array().unwrap().len(), names.lines().count());
    let schema: Value = serde_json::from_str(&text(&program.run("schema plan list").success())).unwrap();
    assert_eq!(schema["title"], "plan list");
    assert_eq!(envelope_of(&program.run("schema plan list --format json").success())["data"], schema);
}

#[test]
fn an_unknown_name_is_not_found() {
    Program::new().run("schema plan lists").code(3).stdout_eq("").stderr_eq(str![[r#"
error: no schema has the name `plan lists`
  hint: agents schema

"#]]);
}

#[test]
fn schemas_refuse_missing_and_mistyped_fields() {
    let program = Program::in_project();
    let good = envelope_of(&program.run("config get plan.concurrency --format json").success());
    assert_eq!(try_envelope(&good), Ok(()));
    let changed = |pointer: &str, field: &str, value: Option<Value>| {
        let mut changed = good.clone();
        let object = changed.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        let old = match value {
            Some(value) => object.insert(field.to_owned(), value),
            None => object.remove(field),
        };
        assert!(old.is_some(), "{good:#} has {field}");
        try_envelope(&changed)
    };
    for (pointer, field, value) in [
        ("", "version", None),
        ("", "messages", None),
        ("", "exit_code", Some(json!("0"))),
        ("", "messages", Some(json!([{ "level": "loud", "code": "x", "message": "x" }]))),
        ("", "data", Some(json!({}))),
        ("", "data", Some(Value::Null)),
        ("/data", "key", None),
        ("/data", "key", Some(json!(1))),
        ("/data", "layers", Some(json!([{}]))),
    ] {
        let refused = changed(pointer, field, value.clone());
        assert!(refused.is_err(), "{pointer}/{field} as {value:?} is accepted");
    }
    let event = json!({ "event": "node-output", "node": "lint", "line": "cart.js:7" });
    assert_eq!(check("run event", &event), Ok(()));
    for wrong in [json!({ "event": "node-output", "node": "lint" }), json!({ "event": "node-outputs" })] {
        assert!(check("run event", &wrong).is_err(), "{wrong} is accepted");
    }
}

#[test]
fn the_lines_of_an_archive_fit_their_schema() {
    let program = Program::new();
    program.run("context create chat").success();
    program.run("context append chat --role user hello").success();
    program.run_of(&["context", "state", "set", "chat", "{\"a\":1.10}"]).success();
    let archive = text(&program.run("context export chat").success());
    let lines: Vec<Value> = archive.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 6, "{archive}");
    for line in &lines {
        check_event("context export", line);
    }
    for wrong in [json!({ "kind": "message" }), json!({ "kind": "end", "message_count": 1 }), json!({})] {
        assert!(check("context export event", &wrong).is_err(), "{wrong} is accepted");
    }
}

/// Each run validates the output by the schema of the command.
#[cfg(target_os = "linux")]
#[test]
fn commands_print_what_their_schemas_say() {
    let program = Program::in_project();
    let mut seen = std::collections::BTreeSet::new();
    let mut run = |words: &[&str]| -> Value {
        let output = program.run_of(&[&["--format", "json"], words].concat()).success();
        let last = text(&output);
        let envelope: Value = serde_json::from_str(&last)
            .or_else(|_| serde_json::from_str(last.lines().last().unwrap()))
            .unwrap();
        seen.insert(envelope["command"].as_str().unwrap().to_owned());
        envelope["data"].clone()
    };
    run(&["run", "--name", "work", "--", "sh", "-c", "echo new > new.txt"]);
    for words in [
        "config set x.a 1",
        "config list",
        "config unset x.a",
        "config explain plan.merge",
        "config path",
        "config schema",
        "context create chat",
        "context append chat --role user hello",
        "context append chat --role user again",
        "context show chat",
        "context list",
        "context state set chat {\"a\":1.10}",
        "context state patch chat {\"b\":null}",
        "context state get chat",
        "context global set chat {}",
        "context global patch chat {}",
        "context global get chat",
        "context rewind chat --to 1",
        "context fork chat copy",
        "context rename copy second",
        "context export chat -o chat.archive",
        "context import chat.archive --as third",
        "context search hello",
        "context verify",
        "context verify chat --repair",
        "context prune --older-than 0s --dry-run",
        "context clear second --yes",
        "context remove second --yes",
        "run --schema",
        "run --dry-run -- true",
        "logs work",
        "logs work --follow",
        "plan list",
        "plan show work",
        "plan diff work",
        "plan history work",
        "plan conflicts work",
        "plan apply work --dry-run",
        "plan apply work",
        "plan undo work",
        "plan create --name by-hand",
        "audit log",
        "audit verify",
        "audit checkpoint",
        "store status",
        "store migrate",
        "store gc",
        "doctor",
        "completions bash",
        "man",
        "help run",
        "schema",
        "schema context state get",
    ] {
        run(&words.split(' ').collect::<Vec<_>>());
    }
    program.write("new.txt", "new\n");
    for end in ["abandon", "seal"] {
        let started = run(&["changeset", "start", "by-hand", "--actor", end]);
        let id = started["id"].as_str().unwrap();
        run(&["changeset", "record", id, "--path", "other.txt", "--content", "new.txt"]);
        run(&["changeset", "show", id]);
        run(&["changeset", end, id]);
    }
    run(&["changeset", "list", "by-hand"]);
    run(&["plan", "create", "--name", "conflicting"]);
    for actor in ["one", "two"] {
        program.write("version.txt", actor);
        let started = run(&["changeset", "start", "conflicting", "--actor", actor]);
        let id = started["id"].as_str().unwrap();
        run(&["changeset", "record", id, "--path", "same.txt", "--content", "version.txt"]);
        run(&["changeset", "seal", id]);
    }
    run(&["plan", "resolve", "conflicting", "same.txt", "--take", "one"]);
    run(&["store", "copy", "--from", "agents-home/state.db", "--to", "copy.db"]);
    run(&["plan", "cancel", "by-hand"]);
    run(&["plan", "prune", "--yes"]);
    run(&["plan", "recover", "--root", "."]);
    run(&["config", "get", "plan.merge"]);
    let names = text(&program.run("schema").success());
    let untested = names.lines().filter(|name| !seen.contains(*name) && !name.ends_with(" event"));
    // Other tests validate these.
    let others = ["envelope", "error", "config edit", "config watch", "audit export", "demo"];
    assert_eq!(untested.collect::<Vec<_>>(), others);
}
