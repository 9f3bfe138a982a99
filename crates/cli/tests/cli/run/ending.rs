//! Runs that fail or conflict.

use snapbox::str;

use super::{events, planned};
use crate::program::{stderr_text, text};

#[test]
fn a_failed_node_shows_its_code_and_the_next_commands() {
    let program = planned(
        "name = 'work'\n[nodes.bad]\nrun = 'echo oh no; exit 7'\n[nodes.next]\nrun = 'true'\nneeds = ['bad']\n",
    );
    program.run("run plan.toml").code(1).stdout_eq("01[..]\n").stderr_eq(str![[r#"
bad: started
bad | oh no
bad: failed with exit code 7 in [..]s
next: skipped, bad failed
work ([..]): failed, 0 of 2 nodes succeeded; it cannot be applied
  hint: agents logs [..] bad
        agents run --resume [..]

"#]]);
    let (_, envelope) = events(&program.run("run --resume work --format json").code(1));
    assert_eq!(envelope["status"], "error");
    assert_eq!(
        (&envelope["data"]["nodes"][0]["code"], &envelope["data"]["state"]),
        (&7.into(), &"failed".into())
    );
    assert_eq!(envelope["data"]["nodes"][0]["last_lines"], serde_json::json!(["oh no"]));
}

#[test]
fn edits_of_the_same_lines_are_a_conflict() {
    let program = planned(
        "name = 'work'\n[nodes.coder]\nrun = 'sed -i 2s/two/coded/ a.txt'\n[nodes.writer]\nrun = 'sed -i 2s/two/written/ a.txt'\n",
    );
    let run = program.run("run plan.toml --apply").code(4);
    let listed: serde_json::Value =
        serde_json::from_str(&text(&program.run("plan list --format json"))).unwrap();
    let id = listed["data"]["plans"][0]["id"].as_str().unwrap();
    // In the order of the file, not of time.
    let warning = format!(
        "warning: conflict at `a.txt`: lines at line 2, by coder and writer\n  hint: agents plan conflicts {id}\n"
    );
    let said = stderr_text(&run);
    assert!(said.contains(&warning), "{said}");
    assert!(said.ends_with(&format!("  hint: agents plan conflicts {id}\n")), "{said}");
    assert_eq!(text(&run), format!("{id}\n"));
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
}

#[test]
fn a_missing_program_fails_its_node() {
    let program = planned("[nodes.a]\nrun = ['no-such-program-here']\n");
    let run = program.run("run plan.toml").code(1);
    let said = stderr_text(&run);
    assert!(said.contains("a: no-such-program-here: command not found\n"), "{said}");
    let run = program.run("run -- nosuch").code(1);
    let said = stderr_text(&run);
    assert!(said.contains("nosuch: command not found\n"), "{said}");
}

#[test]
fn a_timeout_is_named_by_its_option_or_field() {
    let program = planned("[nodes.a]\nrun = 'sleep 600'\ntimeout = '100ms'\n");
    let run = stderr_text(&program.run("run plan.toml").code(1));
    assert!(run.contains("a: timed out after ") && run.contains("s (timeout 100ms)\n"), "{run}");
    let run = stderr_text(&program.run("run --timeout 100ms -- sleep 600").code(1));
    assert!(run.contains("sleep: timed out after ") && run.contains("s (--timeout 100ms)\n"), "{run}");
}

#[test]
fn apply_does_not_overwrite_edits_made_during_the_run() {
    let program = planned("[nodes.a]\nrun = 'echo new > a.txt'\n");
    program.run("run plan.toml").success();
    program.write("a.txt", "mine\n");
    program.run("plan apply @latest").code(4);
    assert_eq!(program.text("a.txt"), "mine\n");
}
