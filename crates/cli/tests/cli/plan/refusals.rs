//! The `data` of a refusal holds what its text lists.

use serde_json::{Value, json};

use super::{changed, project, start};
use crate::program::{Program, json as envelope};

/// The code of the message, and the data.
fn refused(program: &Program, words: &str) -> (Value, Value) {
    let mut refused = envelope(&program.run(&format!("{words} --format json")).code(4));
    (refused["messages"][0]["code"].take(), refused["data"].take())
}

#[test]
fn drift_lists_files_with_expected_and_actual_content() {
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    program.write("a.txt", "mine\n");
    let (code, data) = refused(&program, "plan apply work");
    assert_eq!(code, "drifted");
    let file = &data["files"][0];
    assert_eq!(file["path"], "a.txt");
    assert_eq!((&file["expected"]["bytes"], &file["actual"]["bytes"]), (&json!(24), &json!(5)), "{data}");
    assert!(
        file["description"].is_string() && file["root"].is_string() && data["plan"].is_string(),
        "{data}"
    );
}

#[test]
fn a_refused_apply_lists_conflicts_as_plan_conflicts_does() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "coder\n");
    changed(&program, "[WRITER]", "writer", "b.txt", "writer\n");
    let (code, data) = refused(&program, "plan apply work");
    assert_eq!(code, "conflicts");
    let shown = envelope(&program.run("plan conflicts work --format json").code(4));
    assert_eq!(data["conflicts"], shown["data"]["conflicts"]);
    assert_eq!(data["conflicts"][0]["sides"][1]["actor"], "writer");
}

#[test]
fn a_refused_undo_names_the_later_authors() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "coder\n");
    program.run("plan apply work").success();
    program.write("b.txt", "mine\n");
    let (code, data) = refused(&program, "plan undo work");
    assert_eq!(
        (code, &data["files"][0]["by"]),
        (json!("modified-since-apply"), &json!([{ "kind": "outside" }]))
    );

    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
    // The second change builds on the first.
    let writer = start(&program, "[WRITER]", "writer");
    program.write("base", "ONE\ntwo\nthree\nfour\nfive\n");
    program.write("content", "One\ntwo\nthree\nfour\nfive\n");
    program.run(&format!("changeset record {writer} --path a.txt --content content --base base")).success();
    program.run(&format!("changeset seal {writer}")).success();
    program.run("plan apply work").success();
    let (code, data) = refused(&program, "plan undo work --actor coder");
    assert_eq!(code, "dependent-changes", "{data}");
    assert_eq!(
        (&data["path"], &data["actors"], &data["others"]),
        (&json!("a.txt"), &json!(["coder"]), &json!(["writer"]))
    );
}

#[test]
fn a_refused_prune_counts_unapplied_changesets() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "coder\n");
    let (code, data) = refused(&program, "plan prune work --yes");
    assert_eq!((code, &data["state"], &data["changesets"]), (json!("unapplied"), &json!("ready"), &json!(1)));
}
