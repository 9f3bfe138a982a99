//! `agents man`.

use snapbox::str;

use crate::program::{Program, json, text};

#[test]
fn the_page_of_the_program_and_of_a_command() {
    let program = Program::new();
    let page = text(&program.run("man").success().stderr_eq(""));
    assert!(page.contains(".TH agents 1") && page.contains("agents\\-config"), "{page}");
    let page = text(&program.run("man config set").success().stderr_eq(""));
    assert!(page.contains("agents\\-config\\-set") && page.contains("\\-\\-stdin"), "{page}");
    program.run("man config sett").code(3).stdout_eq("").stderr_eq(str![[r#"
error: unknown command `config sett`
  hint: agents help

"#]]);
}

#[test]
fn all_pages_are_written_and_nothing_hidden() {
    let program = Program::new();
    program
        .run("man --out pages/man1")
        .success()
        .stderr_eq(str![[r#"
wrote 71 pages to pages/man1

"#]])
        .stdout_eq("");
    let names = program.names("pages/man1");
    for name in ["agents.1", "agents-config.1", "agents-config-set.1", "agents-demo.1"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("writer") || name.contains("help")), "{names:?}");
    let envelope = json(&program.run("man --out pages/man1 --format json").success());
    assert_eq!(envelope["data"]["files"].as_array().unwrap().len(), names.len());
}
