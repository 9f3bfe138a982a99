//! Names of files with characters that a terminal would obey.

use snapbox::str;

use super::{project, start};
use crate::program::json;

/// A line feed, and an escape that clears the screen.
const NASTY: &str = "a\nb\x1b[2J";

#[test]
fn names_are_spelled_out_for_people_and_exact_for_programs() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    program.write("content", "new\n");
    program
        .run_of(&["changeset", "record", &coder, "--path", NASTY, "--content", "content"])
        .success()
        .stderr_eq("");
    program.run(&format!("changeset seal {coder}")).success();
    program.run(&format!("changeset show {coder}")).success().stdout_eq(str![[r#"
changeset [CODER] of plan [PLAN]
coder: sealed, 1 change
   1  create  a/nb/u{1b}[2J  4 bytes, mode 0644

"#]]);
    program.run("plan diff work --stat").success();
    program.run("plan apply work --dry-run").success().stderr_eq("").stdout_eq(str![[r#"
  would      create  a/nb/u{1b}[2J  coder
would apply 1 file of plan [PLAN] (work); nothing was touched

"#]]);
    program.write(NASTY, "mine\n");
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: 1 file changed since plan [PLAN] was recorded: `a/nb/u{1b}[2J`; nothing was applied
  because: `a/nb/u{1b}[2J` is a file of 5 bytes with hash [..]
  hint: check the files; `agents plan apply PLAN --merge-drift` merges edits of other lines

"#]]);
    for words in ["plan show work", "plan log work", "plan conflicts work", "plan diff work --stat"] {
        let said = program.run(&format!("{words} --color always --format rich"));
        let bytes = [&said.get_output().stdout[..], &said.get_output().stderr].concat();
        assert!(!bytes.windows(4).any(|four| four == b"\x1b[2J"), "{words}");
    }
    let refused = json(&program.run("plan apply work --format json").code(4));
    assert_eq!(refused["data"]["files"][0]["path"], NASTY);
    let text = refused["messages"][0]["message"].as_str().expect("it has a text");
    assert!(text.contains(NASTY), "{text}");
}
