//! Errors of plans and changesets.

use snapbox::str;

use super::{changed, project, start};
use crate::program::{Program, json, stderr_text};

#[test]
fn an_unknown_plan_suggests_the_nearest_name() {
    let program = project();
    program.run("plan show wrok").code(3).stdout_eq("").stderr_eq(str![[r#"
error: there is no plan `wrok`
  hint: agents plan list  # the nearest name is work

"#]]);
    program.run("plan apply zzz").code(3).stdout_eq("").stderr_eq(str![[r#"
error: there is no plan `zzz`
  hint: agents plan list

"#]]);
    program.run("changeset start nothing --actor coder").code(3);
    program.run("changeset show 01").code(3).stdout_eq("").stderr_eq(str![[r#"
error: there is no changeset `01`
  hint: agents plan list  # then agents changeset list

"#]]);
    program.run("plan create --name work").code(4).stdout_eq("").stderr_eq(str![[r#"
error: the name `work` is taken
  hint: agents plan list  # names in use; choose another, or none

"#]]);
    program.run("plan create --name @latest").code(2).stdout_eq("").stderr_eq(str![[r#"
error: invalid name `@latest`: names that begin with `@` are reserved, like @latest

"#]]);
    program.run("plan list --state happy").code(2);
}

#[test]
fn a_prefix_selects_a_changeset() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    let writer = start(&program, "[WRITER]", "writer");
    program.write("new", "new\n");
    let short = &coder[..24];
    assert_ne!(short, &writer[..24], "ids differ early enough");
    program
        .run(&format!("changeset record {short} --path a.txt --content new"))
        .success()
        .stdout_eq("")
        .stderr_eq(str![[r#"
[CODER]: recorded change 1

"#]]);
    program.run(&format!("changeset seal {}", short.to_lowercase())).success();
    program.run(&format!("changeset show {short}")).success().stdout_eq(str![[r#"
[CODER]: sealed, 1 change by coder in plan [PLAN]
CHANGE  KIND    PATH   SIZE  MODE
     1  modify  a.txt   4 B  0644

"#]]);
    program.run(&format!("changeset abandon {}", &coder[..2])).code(2).stdout_eq("").stderr_eq(str![[r#"
error: `01` matches several changesets
  hint: type more of the id: [CODER] or [WRITER]

"#]]);
    program.run("changeset seal 0Z").code(3).stdout_eq("").stderr_eq(str![[r#"
error: there is no changeset `0Z`
  hint: agents plan list  # then agents changeset list

"#]]);
}

#[test]
fn only_the_first_plan_creates_a_store() {
    let program = Program::in_project();
    program.run("plan list").success().stdout_eq("").stderr_eq(str![[r#"
no plans

"#]]);
    program.run("plan show @latest").code(3).stdout_eq("").stderr_eq(str![[r#"
error: there are no plans yet
  hint: agents plan create

"#]]);
    let id = "01J00000000000000000000000";
    for words in [
        "plan diff x",
        "plan history x",
        "plan conflicts x",
        "plan apply x",
        "plan undo x --yes",
        "plan prune",
        "changeset list x",
        "audit log",
        "audit verify",
        "audit export",
        "store gc --dry-run",
        &format!("changeset show {id}"),
        &format!("changeset seal {id}"),
    ] {
        program.run(words).code(3).stdout_eq("");
    }
    program.run("doctor").success();
    assert!(!program.path("agents-home/state.db").exists());
    program.run("plan create").success();
    program.run("plan list").success();
    assert!(program.path("agents-home/state.db").exists());
}

#[test]
fn a_plan_needs_a_folder() {
    let program = Program::new();
    program.run("plan create").code(3).stdout_eq("").stderr_eq(str![[r#"
error: the current folder is in no project or git repository
  hint: mkdir .cleveragents  # makes this folder a project
        or add --root DIR

"#]]);
    program.run("plan create --root missing").code(3).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/missing` cannot be a root of a plan: No such file or directory (os error 2)
  hint: agents plan create --root DIR  # an existing folder, not inside another root

"#]]);
    program.run("plan show @latest").code(3);
}

#[test]
fn without_a_project_the_root_is_the_git_repository() {
    let program = Program::new();
    program.write("repository/.git/HEAD", "ref: refs/heads/main\n");
    program.write("repository/inner/file", "old\n");
    let mut command = program.command("plan create --name tidy --format json");
    let made = json(&program.check(command.current_dir(program.path("repository/inner"))).code(0));
    let roots = &made["data"]["roots"];
    assert_eq!(roots, &serde_json::json!([program.path("repository").display().to_string()]));
}

#[test]
fn escaping_and_protected_paths_are_refused() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    program.write("new", "new\n");
    for path in ["../x", "/etc/passwd", ".git/config", ".cleveragents/config.toml", "a/../b"] {
        program.run(&format!("changeset record {coder} --path {path} --content new")).code(2).stdout_eq("");
    }
    program.run(&format!("changeset record {coder} --path .git/config --content new")).stderr_eq(str![[r#"
error: a plan cannot change `.git/config`: `.git` is protected
  hint: name a path below the root, outside of .git and other protected folders

"#]]);
    program.run(&format!("changeset record {coder} --path missing --delete")).code(3).stderr_eq(str![[r#"
error: cannot delete `missing`: it does not exist
  hint: correct the path, or record its creation first

"#]]);
    program.run(&format!("changeset record {coder} --path a.txt --rename-to b.txt")).code(4);
    program.run(&format!("changeset record {coder} --path a.txt --content missing")).code(3);
    program.run(&format!("changeset record {coder} --path a.txt --patch missing")).code(1);
    program.run(&format!("changeset record {coder} --path a.txt --mode rwx")).code(2);
    program.run(&format!("changeset record {coder} --path a.txt")).code(2);
    program.run(&format!("changeset record {coder} --path a.txt --delete --mode 755")).code(2);
}

#[test]
fn paths_may_start_with_a_dot_or_the_root() {
    let program = project();
    let coder = start(&program, "[CODER]", "coder");
    program.write("new", "new\n");
    let whole = |name: &str| program.path(name).display().to_string();
    for path in ["./a.txt", &whole("b.txt")] {
        program.run(&format!("changeset record {coder} --path {path} --content new")).success();
    }
    program.run(&format!("changeset record {coder} --path ./b.txt --rename-to {}", whole("c.txt"))).success();
    let shown = program.run(&format!("changeset show {coder}")).success();
    let shown = crate::program::text(&shown);
    let paths: Vec<_> = shown
        .lines()
        .skip(2)
        .map(|line| line.split_whitespace().collect::<Vec<_>>()[2..].join(" "))
        .collect();
    assert_eq!(paths, ["a.txt 4 B 0644", "b.txt 4 B 0644", "b.txt => c.txt 4 B 0644"], "{shown}");
    for path in ["./../x", &whole("../x"), &whole(".git/config"), &whole(""), "."] {
        program.run(&format!("changeset record {coder} --path {path} --content new")).code(2).stdout_eq("");
    }
    program.run(&format!("changeset seal {coder}")).success();
    changed(&program, "[WRITER]", "writer", "a.txt", "other\n");
    program.run("plan resolve work ./a.txt --take coder").success();
}

#[test]
fn a_sealed_changeset_refuses_late_records() {
    let program = project();
    let coder = changed(&program, "[CODER]", "coder", "a.txt", "ONE\n");
    program.run(&format!("changeset record {coder} --path a.txt --delete")).code(4).stdout_eq("").stderr_eq(
        str![[r#"
error: changeset [CODER] is sealed
  hint: start another changeset: agents changeset start

"#]],
    );
}

#[test]
fn a_store_of_another_kind_is_refused_without_its_password() {
    let program = project();
    let refused = stderr_text(
        &program
            .run_with("CLEVERAGENTS_STORE_URL", "mysql://ana:secret@host/db", "plan list")
            .code(2)
            .stdout_eq("")
            .stderr_eq(str![[r#"
error: `store.url` has the unsupported scheme `mysql`
  hint: agents config unset store.url  # uses the store in the home folder
        or use sqlite:/path/state.db, postgres://USER@HOST/DATABASE

"#]]),
    );
    assert!(!refused.contains("secret"));
    let other = program.path("other/state.db");
    program.run(&format!("plan list -c store.url=sqlite:{}", other.display())).success().stdout_eq("");
    assert!(!other.exists(), "who only reads makes no store");
    program.run(&format!("plan create -c store.url=sqlite:{}", other.display())).success();
    assert!(other.exists());
}
