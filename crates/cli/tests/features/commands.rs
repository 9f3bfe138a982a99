//! Steps that run a command and check its output.

use std::io::Write;
use std::process::Stdio;

use cucumber::{given, then, when};

use crate::world::World;

#[given(expr = "the variable {string} is {string}")]
fn variable(world: &mut World, name: String, value: String) {
    world.variables.insert(name, value);
}

#[given("nobody says where the home folder is")]
fn no_home(world: &mut World) {
    world.home = None;
}

#[when(expr = "I run {string}")]
#[then(expr = "I run {string}")]
pub(crate) fn run(world: &mut World, words: String) {
    run_with_input(world, words, String::new());
}

#[when(expr = "I run {string} with input {string}")]
pub(crate) fn run_with_input(world: &mut World, words: String, input: String) {
    world.remember();
    let mut words = words;
    for (actor, changeset) in &world.changesets {
        words = words.replace(&format!("{{{actor}}}"), changeset);
    }
    let arguments = words.strip_prefix("agents ").expect("scenarios run agents").split_whitespace();
    let mut command = world.program();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The program may end without reading its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    world.output = Some(child.wait_with_output().unwrap());
}

#[then(expr = "it ends with {int}")]
fn ends_with(world: &mut World, code: i32) {
    assert_eq!(world.last().status.code(), Some(code), "{}", said(world));
}

#[then(expr = "it ends with {int} or {int}")]
fn ends_with_one_of(world: &mut World, one: i32, other: i32) {
    let code = world.last().status.code();
    assert!(code == Some(one) || code == Some(other), "{code:?}: {}", said(world));
}

#[then(expr = "standard output is {string}")]
fn output_is(world: &mut World, expected: String) {
    assert_eq!(stdout(world).trim_end_matches('\n'), expected, "{}", said(world));
}

#[then(expr = "standard output contains {string}")]
fn output_contains(world: &mut World, expected: String) {
    assert!(stdout(world).contains(&expected), "{}", said(world));
}

#[then(expr = "standard error contains {string}")]
fn error_contains(world: &mut World, expected: String) {
    assert!(stderr(world).contains(&expected), "{}", said(world));
}

#[then(expr = "nothing shows {string}")]
fn nothing_shows(world: &mut World, hidden: String) {
    assert!(!said(world).contains(&hidden), "{}", said(world));
}

#[then("standard output is a JSON envelope")]
fn envelope(world: &mut World) {
    let envelope: serde_json::Value = serde_json::from_str(&stdout(world)).expect("one JSON object");
    assert_eq!((&envelope["status"], &envelope["exit_code"]), (&"ok".into(), &0.into()));
}

#[then(expr = "standard output names the layers {string}")]
fn names_layers(world: &mut World, layers: String) {
    let text = stdout(world);
    let lines: Vec<&str> = text.lines().collect();
    let expected: Vec<&str> = layers.split(", ").collect();
    assert_eq!(lines.len(), expected.len(), "{text}");
    for (line, layer) in lines.iter().zip(expected) {
        assert!(line.split_whitespace().any(|word| word == layer), "no {layer} in {line}");
    }
}

#[then("get and list agree on every key")]
fn get_and_list_agree(world: &mut World) {
    let mut ask = |words: &str| -> serde_json::Value {
        run(world, format!("agents --format json config {words}"));
        serde_json::from_str(&stdout(world)).expect("one JSON object")
    };
    let listed = ask("list");
    let entries = listed["data"]["entries"].as_array().expect("a list of entries").clone();
    assert!(entries.len() > 5, "{listed}");
    for entry in entries {
        let key = entry["key"].as_str().unwrap();
        let got = ask(&format!("get {key}"));
        for what in ["value", "origin"] {
            // A key without a value is listed and not found.
            assert!(entry["value"].is_null() || got["data"][what] == entry[what], "{got} and {entry}");
        }
    }
}

pub(crate) fn stdout(world: &World) -> String {
    String::from_utf8(world.last().stdout.clone()).unwrap()
}

pub(crate) fn stderr(world: &World) -> String {
    String::from_utf8(world.last().stderr.clone()).unwrap()
}

pub(crate) fn said(world: &World) -> String {
    format!("{}{}", stdout(world), stderr(world))
}
