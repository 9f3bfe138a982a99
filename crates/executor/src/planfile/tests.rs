use std::path::Path;
use std::time::Duration;

use super::spec::parse_timeout;
use super::*;
use crate::{Error, Result};

fn parse(text: &str) -> Result<PlanFile> {
    PlanFile::parse(Path::new("plan.toml"), text)
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    match parse(text).unwrap_err() {
        Error::PlanFile { problems, .. } => {
            let found: Vec<_> = problems.iter().map(ToString::to_string).collect();
            assert_eq!(found, expected, "{text}");
        }
        other => panic!("{other:?}"),
    }
}

const FULL: &str = r#"
name = "all fields"
concurrency = 3
fail-fast = true
merge = "last-wins"

[roots.app]
path = "../app"

[defaults]
timeout = "10m"
retries = 1
env = { A = "default", B = "default" }

[nodes.second]
run = "make | tee log"
needs = ["first"]
root = "app"
workdir = "src"
stdin = "yes\n"
timeout = "1s"
retries = 2
paths = ["src/**", "log"]
continue-on-error = true
env.A = "own"

[nodes.first]
run = ["make", "-k"]
workdir = "."
"#;

#[test]
fn every_field_is_read_and_defaults_are_filled_in() {
    let plan = parse(FULL).unwrap();
    assert_eq!(plan.name.as_deref(), Some("all fields"));
    assert_eq!((plan.concurrency, plan.fail_fast, plan.merge), (Some(3), true, Some(Merge::LastWins)));
    assert_eq!(plan.roots["app"].path, Path::new("../app"));
    assert_eq!(plan.roots["app"].position.to_string(), "7:8");
    let [second, first] = plan.nodes.as_slice() else { panic!("the order of the file") };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("first", "second"));
    assert_eq!(second.run, NodeCommand::Shell("make | tee log".to_owned()));
    assert_eq!(first.run, NodeCommand::Program(vec!["make".to_owned(), "-k".to_owned()]));
    assert_eq!(second.needs[0].name, "first");
    assert_eq!(second.needs[0].position.to_string(), "17:10");
    assert_eq!(second.root.as_deref(), Some("app"));
    assert_eq!(second.workdir.as_deref(), Some(Path::new("src")));
    assert_eq!(first.workdir, None);
    assert_eq!(second.stdin.as_deref(), Some("yes\n"));
    assert_eq!(second.timeout, Some(Duration::from_secs(1)));
    assert_eq!(first.timeout, Some(Duration::from_secs(600)));
    assert_eq!((second.retries, first.retries), (2, 1));
    assert_eq!(second.paths.as_deref(), Some(&["src/**".to_owned(), "log".to_owned()][..]));
    assert_eq!(first.paths, None);
    assert_eq!((second.continue_on_error, first.continue_on_error), (true, false));
    let variables = |node: &NodeSpec| format!("{:?}", node.env);
    assert_eq!(variables(second), r#"{"A": "own", "B": "default"}"#);
    assert_eq!(variables(first), r#"{"A": "default", "B": "default"}"#);
}

/// The store of version 0.1 has texts with `writes`.
#[test]
fn the_old_name_of_paths_is_read() {
    let node = |text: &str| parse(text).unwrap().nodes[0].paths.clone();
    let own = "[nodes.a]\nrun = 'x'\nwrites = ['src/**']\n";
    assert_eq!(node(own).unwrap(), ["src/**"]);
    assert_eq!(node(&format!("[defaults]\npaths = ['docs']\n{own}")).unwrap(), ["src/**"]);
    assert_eq!(node("[defaults]\nwrites = ['docs']\n[nodes.a]\nrun = 'x'\n").unwrap(), ["docs"]);
    check(
        "[nodes.a]\nrun = 'x'\npaths = ['a']\nwrites = ['b']\n",
        &["4:1: `writes` is the old name of `paths`: give one of them"],
    );
}

#[test]
fn unknown_fields_are_named_with_a_suggestion() {
    check(
        "fail_fast = true\n[nodes.a]\nrun = 'x'\n  tiemout = '1s'\nzzzzzz = 1\n",
        &[
            "1:1: unknown field `fail_fast` (did you mean `fail-fast`?)",
            "4:3: unknown field `tiemout` (did you mean `timeout`?)",
            "5:1: unknown field `zzzzzz`",
        ],
    );
}

#[test]
fn wrong_values_are_named_with_the_expected_type() {
    check(
        "name = 1\nconcurrency = 0\nfail-fast = 'yes'\nmerge = 'ours'\nroots = 1\ndefaults = 2\n[nodes]\nb = 3\n[nodes.a]\nrun = []\nneeds = [1]\nenv = { A = 1 }\ntimeout = '5 minutes'\nretries = -1\npaths = 'src'\n",
        &[
            "1:8: `name` is not a text",
            "2:15: `concurrency` is not a number from 1 to 1024",
            "3:13: `fail-fast` is not true or false",
            "4:9: `merge` is not one of three-way, fail-on-conflict, last-wins",
            "5:9: `roots` is not a table of tables",
            "6:12: `defaults` is not a table",
            "8:1: `b` is not a table",
            "10:7: `run` is not a line for the shell, or an array of a program and its arguments",
            "11:9: `needs` is not an array of texts",
            "12:7: `env` is not a table of texts",
            "13:11: `timeout` is not a duration such as \"90s\" or \"1h30m\", of a year at most",
            "14:11: `retries` is not a number from 0 to 100",
            "15:9: `paths` is not an array of texts",
        ],
    );
}

#[test]
fn values_of_the_right_shape_are_checked() {
    check(
        "[roots.r]\npath = ''\n[nodes.a]\nrun = ['']\nworkdir = '../x'\npaths = ['/etc']\nenv = { 'A=B' = 'x' }\n[nodes.b]\nrun = \"a\\u0000\"\n",
        &[
            "1:8: the path of root `r` is empty",
            "3:8: node `a`: `env`: `A=B` is not a variable name, or its value contains NUL",
            "3:8: node `a`: `paths`: invalid pattern `/etc`: it is not below the root",
            "3:8: node `a`: `run` has no program",
            "3:8: node `a`: `workdir`: `../x` is not a path below a root: it is absolute, or has an empty, `.` or `..` part",
            "8:8: node `b`: `run` contains a NUL character",
        ],
    );
}

#[test]
fn nodes_are_needed_named_and_not_too_many() {
    check("name = 'x'\n", &["1:1: the file has no `nodes`: the actors"]);
    check("[nodes]\n", &["1:2: there are no nodes"]);
    check("[nodes.a]\n", &["1:8: `a` has no `run`: a line for the shell, or a program and its arguments"]);
    check(
        "[nodes.'../a']\nrun = 'x'\n",
        &[
            "1:8: `../a` is not a name: use up to 64 letters, digits, `_`, `-` and `.`, and do not start with `-` or `.`",
        ],
    );
    let many: String = (0..=NODES_MAX).map(|number| format!("[nodes.n{number}]\nrun='x'\n")).collect();
    check(&many, &["1:2: 10001 nodes exceed the limit of 10000"]);
}

#[test]
fn syntax_errors_and_duplicate_nodes_have_a_position() {
    check("[nodes.a]\nrun = 'x'\n[nodes.a]\nrun = 'y'\n", &["3:8: duplicate key"]);
    let Error::PlanFile { problems, .. } = parse("name = \n").unwrap_err() else { panic!() };
    assert_eq!(problems[0].position.line, 1);
    let long = format!("# {}", "x".repeat(FILE_BYTES_MAX as usize));
    check(&long, &["1:1: the file is longer than 4194304 bytes"]);
}

/// The schema and the parser know the same fields: the parser notices a wrong value in each field of the
/// schema, and refuses other fields.
#[test]
fn the_schema_has_the_fields_of_the_parser() {
    let schema = plan_file_schema();
    let names = |table: &serde_json::Value| -> Vec<String> {
        assert_eq!(table["additionalProperties"], false);
        table["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let inside = |name: &str| schema["properties"][name]["additionalProperties"].clone();
    let mut noticed = 0;
    let mut wrong = |text: String, name: &str| {
        let Error::PlanFile { problems, .. } = parse(&text).unwrap_err() else { panic!() };
        assert!(
            problems.iter().any(|problem| problem.message.starts_with(&format!("`{name}` is not"))),
            "{text}"
        );
        assert!(!problems.iter().any(|problem| problem.message.starts_with("unknown")), "{text}");
        noticed += 1;
    };
    let date = "1979-05-27";
    for name in names(&schema) {
        wrong(format!("{name} = {date}\n"), &name);
    }
    for name in names(&inside("roots")) {
        wrong(format!("[roots.r]\n{name} = {date}\n"), &name);
    }
    for name in names(&schema["properties"]["defaults"]) {
        wrong(format!("[defaults]\n{name} = {date}\n"), &name);
    }
    for name in names(&inside("nodes")) {
        wrong(format!("[nodes.n]\n{name} = {date}\n"), &name);
    }
    assert_eq!(noticed, 7 + 1 + 7 + 10);
    assert_eq!(inside("nodes")["required"][0], "run");
    assert_eq!(schema["properties"]["merge"]["enum"][0], "three-way");
    assert_eq!(schema["properties"]["concurrency"]["minimum"], 1);
}

#[test]
fn a_file_is_read_from_disk_and_errors_name_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    let missing = PlanFile::open(&file).unwrap_err();
    assert!(matches!(missing, Error::ReadPlanFile { .. }));
    assert!(missing.to_string().contains("plan.toml"));
    #[expect(clippy::disallowed_methods, reason = "plays a person who writes the file")]
    std::fs::write(&file, FULL).unwrap();
    assert_eq!(PlanFile::open(&file).unwrap().nodes.len(), 2);

    let one = parse("[nodes.a]\n").unwrap_err();
    assert!(one.to_string().starts_with("plan.toml:1:8: `a` has no `run`"), "{one}");
    let two = parse("x = 1\n[nodes.a]\n").unwrap_err();
    assert!(two.to_string().starts_with("plan.toml has 2 problems:\n  1:1: unknown"), "{two}");
}

#[test]
fn timeouts_are_durations_of_a_year_at_most() {
    let millis = |text| parse_timeout(text).map(|duration| duration.as_millis());
    assert_eq!(millis("90s"), Some(90_000));
    assert_eq!(millis("1h30m"), Some(5_400_000));
    assert_eq!(millis("1d"), Some(86_400_000));
    assert_eq!(millis("1s250ms"), Some(1_250));
    for none in [
        "",
        "0",
        "0s",
        "5",
        "s",
        "5 s",
        "-5s",
        "5x",
        "1.5s",
        "366d",
        "99999999999999999999s",
        "30m1h",
        "1h1h",
    ] {
        assert_eq!(parse_timeout(none), None, "{none}");
    }
    assert_eq!(parse_timeout(&format!("{}d", u64::MAX)), None);
}
