//! Permission bits, files that hold their content already, and a home folder that is not private.
#![expect(clippy::disallowed_methods, reason = "plays a person who changes modes")]

use std::fs::{Permissions, metadata, set_permissions};
use std::os::unix::fs::PermissionsExt;

use snapbox::str;

use super::{changed, project, start};
use crate::program::{Program, json, text};

fn mode(program: &Program, path: &str) -> u32 {
    metadata(program.path(path)).expect("it exists").permissions().mode() & 0o7777
}

#[test]
fn setuid_of_a_file_in_a_sandbox_is_not_recorded() {
    let program = Program::in_project();
    program.write("a.txt", "one\n");
    program.write("tool", "old\n");
    set_permissions(program.path("tool"), Permissions::from_mode(0o4755)).unwrap();
    let script = "chmod u+s,g+s a.txt; echo new > new; chmod 6755 new; echo new > tool; chmod 4711 tool";
    program.run_of(&["run", "--name", "work", "--", "sh", "-c", script]).success();
    let patch = text(&program.run("plan diff work").success());
    assert!(!patch.contains("a.txt"), "only special bits changed: {patch}");
    assert!(patch.contains("# mode 4755 becomes 0711: tool"), "{patch}");
    program.run("plan apply work").success();
    assert_eq!(["a.txt", "new", "tool"].map(|path| mode(&program, path)), [0o644, 0o755, 0o711]);
}

#[test]
fn setuid_that_is_asked_for_is_recorded_and_shown() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    program.write("content", "new\n");
    let write = format!("changeset record {coder} --path tool --content content --mode 4755");
    program.run(&write).success();
    program.run(&format!("changeset record {coder} --path b.txt --mode 2644")).success();
    program.run(&format!("changeset seal {coder}")).success();
    program.run("plan diff work --stat").success().stdout_eq(str![[r#"
 b.txt (mode 2644)      | 0    coder
 tool (new) (mode 4755) | 1 +  coder
 2 files changed, 1 insertion(+), 0 deletions(-)

"#]]);
    let patch = text(&program.run("plan diff work").success());
    assert!(
        patch.contains("# mode 0644 becomes 2644: b.txt") && patch.contains("# mode 4755: tool"),
        "{patch}"
    );
    program.run("plan apply work --dry-run").success().stdout_eq(str![[r#"
work: would apply 2 files to [PLACE]
  would mode    b.txt (mode 2644)  coder
  would create  tool (mode 4755)   coder

"#]]);
    let applied = json(&program.run("--format json plan apply work").success());
    assert_eq!(applied["data"]["files"][1]["mode"], "4755");
    assert_eq!(["b.txt", "tool"].map(|path| mode(&program, path)), [0o2644, 0o4755]);
}

#[test]
fn a_file_that_holds_its_content_already_is_unchanged() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "new\n");
    program.write("b.txt", "new\n");
    program.run("plan apply work").success().stderr_eq(str![[r#"
  unchanged  b.txt  coder
work: applied 1 file to [PLACE]

"#]]);
}

#[test]
fn a_home_folder_that_others_may_write_to_is_refused() {
    let program = project();
    let home = program.path("agents-home");
    set_permissions(&home, Permissions::from_mode(0o777)).unwrap();
    let refused = program.run("plan list").code(1).stdout_eq("");
    let error = crate::program::stderr_text(&refused);
    assert!(error.contains("other users may write to home folder"), "{error}");
    assert!(error.contains("hint: chmod go-w "), "{error}");
    set_permissions(&home, Permissions::from_mode(0o755)).unwrap();
    program.run("plan list").success();
}
