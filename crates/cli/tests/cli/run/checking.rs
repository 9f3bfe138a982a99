//! Checks before a run.

use snapbox::str;

use super::planned;
use crate::program::{Program, json, text};

const PLAN: &str = "\
name = 'work'
[nodes.build]
run = 'true'
paths = ['out/**']
[nodes.lint]
run = 'true'
paths = ['out/lint']
[nodes.test]
run = 'true'
needs = ['build', 'lint']
";

#[test]
fn a_dry_run_prints_the_graph_and_runs_nothing() {
    let program = planned(PLAN);
    program.run("run --dry-run plan.toml").success().stdout_eq(str![[r#"
build
lint
test   after build, lint

"#]]).stderr_eq(str![[r#"
warning: plan.toml:5:8: nodes `build` and `lint` may run concurrently and change the same files: `out/**` and `out/lint` (let one need the other, or narrow `paths` of `lint`)

"#]]);
    program.run("run plan.toml --graph mermaid").success().stdout_eq(str![[r#"
flowchart TD
    n0["build"]
    n1["lint"]
    n2["test"]
    n0 --> n2
    n1 --> n2

"#]]);
    let envelope = json(&program.run("run plan.toml --graph text --format json").success());
    assert_eq!(envelope["data"]["nodes"][2]["needs"], serde_json::json!(["build", "lint"]));
    assert_eq!(envelope["messages"][0]["code"], "plan-file");
    assert!(!program.path("agents-home").exists(), "nothing is made");
}

#[test]
fn all_problems_of_a_plan_file_have_line_and_column() {
    let program = planned("nmae = 'x'\n[nodes.a]\nrun = 'true'\nneeds = ['b']\ntimeout = 'soon'\n");
    program.run("run plan.toml").code(2).stdout_eq("").stderr_eq(str![[r#"
error: [PLACE]/plan.toml has 2 problems
  1:1: unknown field `nmae` (did you mean `name`?)
  5:11: `timeout` is not a duration such as "90s" or "1h30m", of a year at most
  hint: agents run --dry-run [PLACE]/plan.toml

"#]]);
    program.write(
        "plan.toml",
        "[nodes.a]\nrun = 'true'\nneeds = ['b']\n[nodes.b]\nrun = 'true'\nneeds = ['a']\n",
    );
    program.run("run plan.toml --dry-run").code(2).stdout_eq("").stderr_eq(str![[r#"
error: [PLACE]/plan.toml:1:8: cycle: a -> b -> a
  hint: agents run --dry-run [PLACE]/plan.toml

"#]]);
    let envelope = json(&program.run("run plan.toml --format json").code(2));
    let location = &envelope["messages"][0]["location"];
    assert_eq!(
        (&location["line"], &location["column"], &location["byte_offset"]),
        (&1.into(), &8.into(), &7.into())
    );
    assert_eq!(location["file"], program.path("plan.toml").display().to_string());
    program.run("run nowhere.toml").code(3).stdout_eq("").stderr_eq(str![[r#"
error: cannot read plan file `[PLACE]/nowhere.toml`
  No such file or directory (os error 2)
  hint: agents run --schema  # describes plan files

"#]]);
    assert!(!program.path("agents-home/state.db").exists(), "no plan is made");
}

#[test]
fn the_schema_of_plan_files_is_printed() {
    let program = Program::new();
    let schema: serde_json::Value =
        serde_json::from_str(&text(&program.run("run --schema").success().stderr_eq(""))).expect("JSON");
    assert_eq!(schema["properties"]["concurrency"]["type"], "integer");
    let envelope = json(&program.run("run --schema --format json").success());
    assert_eq!(envelope["data"], schema);
}

#[test]
fn contradictory_options_are_refused() {
    let program = Program::new();
    program.run("run").code(2).stdout_eq("").stderr_eq(str![[r#"
error: nothing to run
  hint: agents run PLAN_FILE
        agents run -- COMMAND…
        agents run --resume ID

"#]]);
    program.run("run --env x --no-tty -- true").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `x` is not KEY=VALUE

"#]]);
    for words in [
        "run plan.toml -- true",
        "run --retries 2 plan.toml",
        "run --resume @latest plan.toml",
        "run --resume @latest --concurrency 3",
        "run --concurrency 0 plan.toml",
        "run --confine maybe -- true",
        "run --schema plan.toml",
    ] {
        program.run(words).code(2).stdout_eq("");
    }
}
