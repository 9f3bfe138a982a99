//! File names with control characters.

use snapbox::str;

use super::{project, start};
use crate::program::json;

/// A line feed, and an escape sequence that clears the screen.
const NASTY: &str = "a\nb\x1b[2J";

#[test]
fn names_are_escaped_for_people_and_exact_for_programs() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    program.write("content", "new\n");
    program
        .run_of(&["changeset", "record", &coder, "--path", NASTY, "--content", "content"])
        .success()
        .stderr_eq(str![[r#"
[CODER]: recorded change 1

"#]]);
    program.run(&format!("changeset seal {coder}")).success();
    program.run(&format!("changeset show {coder}")).success().stdout_eq(str![[r#"
[CODER]: sealed, 1 change by coder in plan [PLAN]
CHANGE  KIND    PATH           SIZE  MODE
     1  create  a/nb/u{1b}[2J   4 B  0644

"#]]);
    program.run("plan diff work --stat").success();
    program
        .run("plan apply work --dry-run")
        .success()
        .stderr_eq(str![[r#"
  hint: agents plan apply [PLAN]

"#]])
        .stdout_eq(str![[r#"
work: would apply 1 file to [PLACE]
  would create  a/nb/u{1b}[2J  coder

"#]]);
    program.write(NASTY, "mine\n");
    program.run("plan apply work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: 1 file changed since plan [PLAN] was recorded: `a/nb/u{1b}[2J`; nothing was applied
  `a/nb/u{1b}[2J` is a file of 5 bytes with hash [..]
  hint: agents plan apply [PLAN] --merge-drift

"#]]);
    for words in ["plan show work", "plan history work", "plan conflicts work", "plan diff work --stat"] {
        let said = program.run(&format!("{words} --color always --format rich"));
        let bytes = [&said.get_output().stdout[..], &said.get_output().stderr].concat();
        assert!(!bytes.windows(4).any(|four| four == b"\x1b[2J"), "{words}");
    }
    let refused = json(&program.run("plan apply work --format json").code(4));
    assert_eq!(refused["data"]["files"][0]["path"], NASTY);
    let text = refused["messages"][0]["message"].as_str().expect("it has a text");
    assert!(text.contains(NASTY), "{text}");
}
