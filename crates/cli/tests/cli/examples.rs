//! The plans in `examples/`, each run as a newcomer would.

use std::path::Path;

use crate::program::{Program, json, stderr_text, text};

/// A copy of an example in the current folder.
fn copied(example: &str) -> Program {
    let program = Program::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    copy(&folder, "", &program);
    program
}

fn copy(folder: &Path, below: &str, program: &Program) {
    for entry in std::fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be listed").path();
        let name = format!("{below}{}", path.file_name().expect("it has a name").to_string_lossy());
        match path.is_dir() {
            true => copy(&path, &format!("{name}/"), program),
            false => program.write(&name, std::fs::read(&path).expect("it can be read")),
        }
    }
}

#[test]
fn a_parallel_refactor() {
    let program = copied("parallel-refactor");
    program.run("run --dry-run plan.toml").success().stderr_eq("");
    program.run("run plan.toml").success();
    assert!(program.text("shop/lib.sh").contains("calc_sum"), "nothing is touched before it is applied");
    program.run("plan apply @latest").success();
    for file in ["shop/lib.sh", "shop/report.sh"] {
        let text = program.text(file);
        assert!(text.starts_with("#!/bin/sh\n# SPDX-License-Identifier: MIT\n"), "{text}");
        assert!(text.contains("total_price") && !text.contains("calc_sum"), "{text}");
    }
    assert!(program.text("shop/README.md").contains("total_price"));
    program.run("plan undo @latest --actor header --yes").success();
    assert!(program.text("shop/lib.sh").starts_with("#!/bin/sh\n\n"));
    assert!(program.text("shop/lib.sh").contains("total_price"), "the others' work stays");
}

#[test]
fn a_pipeline_with_a_gate() {
    let program = copied("generate-then-test");
    program.run("run plan.toml --apply").success();
    assert!(program.text("prices/prices.sh").contains("price_pear=80"));
    assert!(program.text("prices/CHANGES.md").ends_with("- New prices: 3 of them.\n"));

    // Changes that fail the gate are not applied.
    let program = copied("generate-then-test");
    program.write("prices/prices.csv", "apple,12\n");
    let failed = program.run("run plan.toml --apply").code(1);
    let said = stderr_text(&failed);
    assert!(said.contains("test | the apple costs 12\n"), "{said}");
    assert!(said.contains("test: failed with exit code 1") && said.contains("announce: skipped"), "{said}");
    assert!(!program.path("prices/prices.sh").exists());
}

#[test]
fn two_repositories_are_changed_together() {
    let program = copied("two-repositories");
    program.run("run plan.toml").success();
    // One of the two files has drifted: neither is changed.
    program.write("app/main.sh", "#!/bin/sh\n");
    program.run("plan apply @latest").code(4);
    assert!(program.text("library/greeting.sh").contains("greet()"));

    let program = copied("two-repositories");
    let ended = program.run("run plan.toml --apply --format json").success();
    assert!(program.text("library/greeting.sh").contains("welcome()"));
    assert!(program.text("app/main.sh").contains("\nwelcome "));
    let last = text(&ended).lines().last().map(str::to_owned).expect("it said something");
    let envelope: serde_json::Value = serde_json::from_str(&last).expect("a JSON object");
    assert_eq!((&envelope["event"], &envelope["data"]["applied"]["remaining"]), (&"end".into(), &0.into()));
    assert_eq!(json(&program.run("plan list --format json"))["data"]["plans"][0]["state"], "applied");
}
