//! The trail, and whether everything is sound.

use std::process::Command;

use snapbox::str;

use super::{changed, project, start};
use crate::program::{Program, json, text};

#[test]
fn the_trail_is_read_verified_and_exported() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "new\n");
    program.run("plan apply work").success();
    program.run("audit log --plan work").success().stderr_eq("").stdout_eq(str![[r#"
[..]  [PLAN]     1  plan.created  ana
[..]  [PLAN]     2  plan.step  coder
[..]  [PLAN]     3  changeset.started  coder
[..]  [PLAN]     4  changeset.sealed  coder
[..]  [PLAN]     5  plan.step  coder
[..]  [PLAN]     6  plan.applying  ana
[..]  [PLAN]     7  changeset.started  ana
[..]  [PLAN]     8  changeset.abandoned  ana
[..]  [PLAN]     9  plan.applied  ana

"#]]);
    program.run("audit log --since 2999-01-01T00:00:00Z").success().stdout_eq("");
    program.run("audit log --since noon").code(2).stdout_eq("").stderr_eq(str![[r#"
error: invalid time `noon`: write it like 2026-01-31T09:30:00Z

"#]]);
    program.run("audit verify").success().stderr_eq("").stdout_eq(str![[r#"
9 records in 1 chain: sound

"#]]);
    let exported = text(&program.run("audit export").success());
    let first: serde_json::Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["sequence"], &first["kind"], &first["who"]),
        (&1.into(), &"plan.created".into(), &"ana".into())
    );
    let logged = json(&program.run("audit log --format json").success());
    assert_eq!(logged["data"]["records"].as_array().unwrap().len(), exported.lines().count());
}

#[test]
fn a_chain_that_was_changed_is_found() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "new\n");
    let id = text(&program.run("plan list").success())[..26].to_owned();
    program.run("audit checkpoint").success().stdout_eq(str![[r#"
wrote the ends of 1 chain to [PLACE]/agents-home/audit.checkpoint

"#]]);
    program.run("audit checkpoint --out kept").success();
    program.run("audit verify").success();
    program.run("audit verify --checkpoint kept").success();
    // Somebody rewrites what was written down, which looks like a chain that was cut off.
    let altered = program.text("agents-home/audit.checkpoint").replace("\"sequence\":", "\"sequence\":9");
    program.write("agents-home/audit.checkpoint", altered);
    let found = text(&program.run("audit verify").code(1));
    assert!(found.contains(&format!("plan {id}, record ")), "{found}");
    program.run("doctor").code(1);
    program.write("bad", "no\n");
    program.run("audit verify --checkpoint bad").code(1).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/bad` is not a checkpoint: cannot parse line 1
  hint: `agents audit checkpoint --out FILE` writes one

"#]]);
    program.run("audit verify --checkpoint missing").code(3).stdout_eq("").stderr_eq(str![[r#"
error: cannot read `[PLACE]/missing`
  because: No such file or directory (os error 2)

"#]]);
}

#[test]
fn a_doctor_looks_at_everything() {
    let program = Program::in_project();
    program.run("doctor").success().stderr_eq("").stdout_eq(str![[r#"
ok       home      `[PLACE]/agents-home` is not there yet; the first write makes it

"#]]);
    program.run("plan create --name work").success();
    start(&program, "[CODER]", "coder");
    program.run("doctor").success().stderr_eq("").stdout_eq(str![[r#"
ok       home      `[PLACE]/agents-home` is yours alone
ok       files     can be written
ok       locks     work
ok       exchange  two files can change places at once
ok       reflink   copies of files [..]
ok       store     `[PLACE]/agents-home/state.db` is sound
ok       audit     3 records in 1 chain: sound
ok       applies   none was cut off
ok       leases    none is stale

"#]]);
    program.run("doctor --fix").success();
    Command::new("chmod").arg("755").arg(program.path("agents-home")).status().unwrap();
    program.run("doctor").success().stdout_eq(str![[r#"
warning  home      others may read `[PLACE]/agents-home`
         hint: `chmod 700 [PLACE]/agents-home`
ok       files     can be written
ok       locks     work
ok       exchange  two files can change places at once
ok       reflink   copies of files [..]
ok       store     `[PLACE]/agents-home/state.db` is sound
ok       audit     3 records in 1 chain: sound
ok       applies   none was cut off
ok       leases    none is stale

"#]]);
}

#[test]
fn a_store_that_is_none_is_a_problem() {
    let program = Program::in_project();
    program.write(
        "agents-home/state.db",
        "not a store, and long enough to be looked at as one: it is text\n".repeat(20),
    );
    let found = text(&program.run("doctor").code(1));
    assert!(found.contains("problem  store"), "{found}");
    program.run("plan list").code(1);
    assert!(program.text("agents-home/state.db").starts_with("not a store"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_doctor_finishes_an_apply_that_was_cut_off() {
    use testkit::report;
    use testkit::strace::{self, Call, Inject};
    if let Some(reason) = strace::unusable() {
        return report::skipped("plan-doctor", &reason);
    }
    let program = project();
    changed(&program, "[CODER]", "coder", "a.txt", "new\n");
    let mut inner = program.command("plan apply work");
    let first = Call { name: "renameat2".to_owned(), nth: 1, arguments: String::new() };
    let ended = strace::run(inner.env("LLVM_PROFILE_FILE", "/dev/null"), &first, Inject::Kill);
    assert!(ended.killed, "{ended:?}");
    let warned = text(&program.run("doctor").success());
    assert!(warned.contains("warning  applies"), "{warned}");
    let fixed = text(&program.run("doctor --fix").success());
    assert!(fixed.contains("ok       applies   an apply of plan"), "{fixed}");
    assert!(text(&program.run("doctor").success()).contains("none was cut off"));
}

#[test]
fn a_doctor_finishes_an_apply_of_a_store_that_is_gone() {
    use testkit::report;
    use testkit::strace::{self, Call, Inject};
    if let Some(reason) = strace::unusable() {
        return report::skipped("plan-doctor", &reason);
    }
    for other_plan in [false, true] {
        let program = project();
        changed(&program, "[CODER]", "coder", "a.txt", "new\n");
        let mut inner = program.command("plan apply work");
        let first = Call { name: "renameat2".to_owned(), nth: 1, arguments: String::new() };
        let ended = strace::run(inner.env("LLVM_PROFILE_FILE", "/dev/null"), &first, Inject::Kill);
        assert!(ended.killed, "{ended:?}");
        Command::new("mv").args([program.path("agents-home"), program.path("lost")]).status().unwrap();
        Command::new("mkdir").args(["-m", "700"]).arg(program.path("agents-home")).status().unwrap();
        if other_plan {
            program.run("plan create --name other").success();
        }
        let warned = text(&program.run("doctor").success());
        assert!(warned.contains("warning  applies   an apply was cut off in `"), "{warned}");
        let fixed = text(&program.run("doctor --fix").success());
        assert!(fixed.contains("was interrupted; it is finished now (plan "), "{fixed}");
        assert_eq!(program.text("a.txt"), "new\n");
        let after = text(&program.run("doctor").success());
        assert!(!after.contains("cut off in"), "{after}");
    }
}
