//! `agents audit` and `agents doctor`.

use std::process::Command;

use snapbox::str;

use super::{changed, project, start};
use crate::program::{Program, json, text};
use crate::schema::check;

#[test]
fn audit_records_are_printed_verified_and_exported() {
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
    program.run("audit log --since 2999-01-01").success().stdout_eq("");
    assert!(!text(&program.run("audit log --since 1h").success()).is_empty());
    assert!(!text(&program.run("audit export --since 1970-01-01").success()).is_empty());
    program.run("audit log --since noon").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `noon` is not a time such as 2026-11-01, 2026-11-01T12:00:00Z or 1h (an hour ago)

"#]]);
    program.run("audit verify").success().stderr_eq("").stdout_eq(str![[r#"
sound: 9 records in 1 chain

"#]]);
    let exported = text(&program.run("audit export").success());
    for line in exported.lines() {
        assert_eq!(check("audit export", &serde_json::from_str(line).unwrap()), Ok(()));
    }
    let first: serde_json::Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["sequence"], &first["kind"], &first["who"]),
        (&1.into(), &"plan.created".into(), &"ana".into())
    );
    let logged = json(&program.run("audit log --format json").success());
    assert_eq!(logged["data"]["records"].as_array().unwrap().len(), exported.lines().count());
}

/// The id of the only plan.
fn plan_id(program: &Program) -> String {
    let listed = json(&program.run("plan list --format json").success());
    listed["data"]["plans"][0]["id"].as_str().expect("a plan has an id").to_owned()
}

#[test]
fn an_altered_chain_is_found() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "new\n");
    let id = plan_id(&program);
    program.run("audit checkpoint").success().stdout_eq("").stderr_eq(str![[r#"
wrote 1 chain head to [PLACE]/agents-home/audit.checkpoint

"#]]);
    program.run("audit checkpoint --out kept").success();
    program.run("audit verify").success();
    program.run("audit verify --checkpoint kept").success();
    // An altered checkpoint looks like a truncated chain.
    let altered = program.text("agents-home/audit.checkpoint").replace("\"sequence\":", "\"sequence\":9");
    program.write("agents-home/audit.checkpoint", altered);
    let found = text(&program.run("audit verify").code(1));
    assert!(found.contains(&format!("plan {id}, record ")), "{found}");
    program.run("doctor").code(1);
    program.write("bad", "no\n");
    program.run("audit verify --checkpoint bad").code(1).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/bad` is not a checkpoint: cannot parse line 1
  hint: agents audit checkpoint --out [PLACE]/bad  # writes one

"#]]);
    program.run("audit verify --checkpoint missing").code(3).stdout_eq("").stderr_eq(str![[r#"
error: cannot read `[PLACE]/missing`
  No such file or directory (os error 2)

"#]]);
}

#[test]
fn doctor_checks_everything() {
    let program = Program::in_project();
    program.run("doctor --verbose").success().stderr_eq("").stdout_eq(str![[r#"
1 check passed
ok       home      `[PLACE]/agents-home` is not there yet; the first write makes it

"#]]);
    program.run("plan create --name work").success();
    start(&program, "[CODER]", "coder");
    program.run("doctor --verbose").success().stderr_eq("").stdout_eq(str![[r#"
9 checks passed
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
    program.run("doctor --verbose").success().stdout_eq(str![[r#"
1 warning, 8 checks passed
warning  home      others may read `[PLACE]/agents-home`
                   hint: chmod 700 [PLACE]/agents-home
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
fn a_file_that_is_not_a_store_is_a_problem() {
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
fn doctor_fix_finishes_an_interrupted_apply() {
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
    let fixed = text(&program.run("doctor --fix --verbose").success());
    assert!(fixed.contains("ok       applies   an apply of plan"), "{fixed}");
    assert!(text(&program.run("doctor --verbose").success()).contains("none was cut off"));
}

#[test]
fn doctor_leaves_the_apply_of_a_lost_store_to_a_person() {
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
        let before = program.text("a.txt");
        for words in ["doctor", "doctor --fix"] {
            let found = text(&program.run(words).code(1));
            assert!(found.contains("problem  applies   `") && found.contains("a.txt"), "{found}");
            assert!(found.contains("hint: agents plan recover --root "), "{found}");
            assert_eq!(program.text("a.txt"), before);
        }
        program.run("plan recover --root . --finish --yes").success();
        assert_eq!(program.text("a.txt"), "new\n");
        let after = text(&program.run("doctor --verbose").success());
        assert!(!after.contains("journal"), "{after}");
    }
}
