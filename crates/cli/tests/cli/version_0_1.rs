//! Data of version 0.1 can be opened, verified, applied, undone, recovered and resumed. They come from another machine, with other
//! process ids: `tests/data/version-0.1/README.md` says how they were made.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test that plays a person who edits files"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use testkit::postgres::server;
use testkit::report::skipped;
use testkit::version_0_1::{UnpackedArchive, check_export, file, load, unpack};

use crate::schema::check_output;

/// The files of most plans: before, with the changes of `ana`, and with those of `bob` too.
const BEFORE: [(&str, &str); 3] = [
    ("moved.txt", "to be moved\n"),
    ("removed.txt", "to be removed\n"),
    ("text.txt", "one\ntwo\nthree\nfour\nfive\n"),
];
const OF_ANA: [(&str, &str); 3] = [
    ("folder/moved.txt", "to be moved\n"),
    ("removed.txt", "to be removed\n"),
    ("text.txt", "ONE\ntwo\nthree\nfour\nfive\n"),
];
const OF_BOB: [(&str, &str); 3] = [
    ("made.txt", "made by bob\n"),
    ("moved.txt", "to be moved\n"),
    ("text.txt", "one\ntwo\nthree\nfour\nFIVE\n"),
];
const AFTER: [(&str, &str); 3] = [
    ("folder/moved.txt", "to be moved\n"),
    ("made.txt", "made by bob\n"),
    ("text.txt", "ONE\ntwo\nthree\nfour\nFIVE\n"),
];

/// Every named plan with its state.
const STATES: [(&str, &str); 16] = [
    ("queued", "queued"),
    ("running", "running"),
    ("ready", "ready"),
    ("clash", "ready"),
    ("resolved", "ready"),
    ("partly", "ready"),
    ("applied", "applied"),
    ("undone", "undone"),
    ("redone", "applied"),
    ("part-undone", "applied"),
    ("drifted", "conflict"),
    ("cancelled", "cancelled"),
    ("failed", "failed"),
    ("cut-run", "running"),
    ("cut-one", "applying"),
    ("cut-two", "applying"),
];

#[test]
fn a_sqlite_store_of_version_0_1_works() {
    Store { name: "sqlite", kept: UnpackedArchive::unpack("sqlite"), options: Vec::new() }.check();
}

#[test]
fn a_postgresql_store_of_version_0_1_works() {
    let server = match server() {
        Ok(server) => server,
        Err(reason) => return skipped("version_0_1::postgresql", &reason),
    };
    let url = format!("store.url={}", server.url(&load(server)));
    Store {
        name: "postgres",
        kept: UnpackedArchive::unpack("postgres"),
        options: vec!["-c".to_owned(), url],
    }
    .check();
}

/// A store of version 0.1, with the roots of its plans.
struct Store {
    name: &'static str,
    kept: UnpackedArchive,
    options: Vec<String>,
}

impl Store {
    fn check(&self) {
        self.lists_every_plan();
        self.verifies();
        self.shows_changes();
        self.goes_on_recording();
        self.applies_and_undoes();
        self.resolves_and_applies();
        self.takes_back_and_brings_back();
        self.recovers();
        self.resumes();
        self.verifies();
        self.done(&["doctor"]);
    }

    fn lists_every_plan(&self) {
        let listed = self.json(&["plan", "list"]);
        for (name, state) in STATES {
            assert_eq!(listed_state(&listed, name), state, "{name}");
        }
    }

    /// Verifies the chains, also against the checkpoint; the export equals that of version 0.1.
    fn verifies(&self) {
        let checkpoint = file(&format!("{}.audit.checkpoint", self.name)).display().to_string();
        self.done(&["audit", "verify", "--checkpoint", &checkpoint]);
        let kept = fs::read_to_string(file(&format!("{}.audit.jsonl", self.name))).unwrap();
        check_export(&kept);
        let now = self.done(&["audit", "export"]);
        check_export(&now);
        let now: Vec<&str> = now.lines().collect();
        for line in kept.lines() {
            assert!(now.contains(&line), "{line}");
        }
    }

    fn shows_changes(&self) {
        for (name, _) in STATES.iter().filter(|(_, state)| *state != "applying") {
            self.done(&["plan", "show", name]);
            self.done(&["plan", "history", name]);
        }
        let diff = self.done(&["plan", "diff", "ready"]);
        for part in [
            "-one\n+ONE",
            "rename to folder/moved.txt",
            "deleted file mode",
            "GIT binary patch",
            "new file mode 120000",
        ] {
            assert!(diff.contains(part), "{part}: {diff}");
        }
        let conflicts = self.json_of(4, &["plan", "conflicts", "clash"]);
        assert_eq!(conflicts["data"]["conflicts"][0]["path"], "text.txt", "{conflicts}");
        assert_eq!(self.done(&["logs", "failed", "first"]), "first\n");
    }

    /// The changeset is open, and its owner is on another machine.
    fn goes_on_recording(&self) {
        let shown = self.json(&["plan", "show", "running"]);
        let changeset = shown["data"]["changesets"][0]["id"].as_str().unwrap();
        self.done(&["changeset", "record", changeset, "--path", "removed.txt", "--delete"]);
        self.done(&["changeset", "seal", changeset]);
        self.done(&["plan", "apply", "running"]);
        self.check_files("running", &[BEFORE[0], OF_ANA[2]]);
        self.done(&["changeset", "start", "queued", "--actor", "ana"]);
    }

    fn applies_and_undoes(&self) {
        self.done(&["plan", "apply", "ready"]);
        let root = self.kept.path("roots/ready");
        assert_eq!(fs::read(root.join("binary")).unwrap(), [0, 1, 0xff, 0xfe]);
        assert_eq!(fs::read_link(root.join("link")).unwrap(), Path::new("text.txt"));
        assert_eq!(fs::metadata(root.join("script.sh")).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::metadata(root.join("big.txt")).unwrap().len(), 140_000 * 22);
        self.done(&["plan", "undo", "ready", "--yes"]);
        self.check_files("ready", &BEFORE);
        self.check_files("partly", &OF_ANA);
        self.done(&["plan", "apply", "partly"]);
        self.check_files("partly", &AFTER);
        self.done(&["plan", "undo", "partly", "--actor", "ana", "--yes"]);
        self.check_files("partly", &OF_BOB);
        // A person's edit conflicts until it is removed.
        self.failed(4, &["plan", "apply", "drifted"]);
        fs::write(self.kept.path("roots/drifted/text.txt"), BEFORE[2].1).unwrap();
        self.done(&["plan", "apply", "drifted"]);
        self.check_files("drifted", &AFTER);
    }

    fn resolves_and_applies(&self) {
        for plan in ["clash", "resolved"] {
            if plan == "clash" {
                self.failed(4, &["plan", "apply", plan]);
                self.done(&["plan", "resolve", plan, "text.txt", "--take", "ana"]);
            }
            self.done(&["plan", "apply", plan]);
        }
        let text = |who| format!("one\ntwo\nthree of {who}\nfour\nfive\n");
        self.check_files("clash", &[BEFORE[0], BEFORE[1], ("text.txt", &text("ana"))]);
        self.check_files("resolved", &[BEFORE[0], BEFORE[1], ("text.txt", &text("bob"))]);
        self.done(&["plan", "undo", "resolved", "--yes"]);
        self.check_files("resolved", &BEFORE);
    }

    fn takes_back_and_brings_back(&self) {
        self.check_files("applied", &AFTER);
        self.done(&["plan", "undo", "applied", "--yes"]);
        self.check_files("applied", &BEFORE);
        self.check_files("undone", &BEFORE);
        self.undo_the_undo_of("undone");
        self.check_files("undone", &AFTER);
        self.check_files("redone", &AFTER);
        self.done(&["plan", "undo", "redone", "--yes"]);
        self.check_files("redone", &BEFORE);
        self.check_files("part-undone", &OF_BOB);
        self.undo_the_undo_of("part-undone");
        self.check_files("part-undone", &AFTER);
    }

    fn undo_the_undo_of(&self, name: &str) {
        let listed = self.json(&["plan", "list"]);
        let plans = listed["data"]["plans"].as_array().unwrap();
        let plan = plans.iter().find(|plan| plan["name"] == name).unwrap();
        let undo = plans.iter().find(|undo| undo["undo_of"] == plan["id"]).unwrap();
        self.done(&["plan", "undo", undo["id"].as_str().unwrap(), "--yes"]);
    }

    /// Applies that were killed after the commit point are finished, and reported.
    fn recovers(&self) {
        for plan in ["cut-one", "cut-two"] {
            let shown = self.json(&["plan", "show", plan]);
            assert_eq!(shown["data"]["state"], "applied", "{shown}");
            assert_eq!(shown["messages"][0]["code"], "recovered", "{shown}");
        }
        let changed = [&[("a.txt", "new\n")], &AFTER[..], &[("z.txt", "new\n")]].concat();
        self.check_files("cut-one", &changed);
        for root in ["cut-two-a", "cut-two-b"] {
            self.check_files(root, &[("a.txt", "new\n"), ("b.txt", "new\n")]);
        }
        self.done(&["plan", "undo", "cut-two", "--yes"]);
        for root in ["cut-two-a", "cut-two-b"] {
            self.check_files(root, &[("a.txt", "old\n"), ("b.txt", "old\n")]);
        }
    }

    /// Nodes that had succeeded are not run again.
    fn resumes(&self) {
        fs::write(self.kept.path("go"), "").unwrap();
        for plan in ["failed", "cut-run"] {
            self.done(&["run", "--resume", plan]);
            let shown = self.json(&["plan", "show", plan]);
            let nodes = shown["data"]["nodes"].as_array().unwrap();
            let attempts: Vec<_> = nodes.iter().map(|node| node["attempts"].as_u64().unwrap()).collect();
            assert_eq!(attempts[..2], [1, 2], "{shown}");
            self.done(&["plan", "apply", plan]);
        }
        let (first, second) = (("first.txt", "first\n"), ("second.txt", "second\n"));
        self.check_files("failed", &[first, second]);
        let third = ("third.txt", "base\nfirst\nsecond\n");
        self.check_files("cut-run", &[("base.txt", "base\n"), first, second, third]);
    }

    /// Content of a root without the program's own folder.
    #[track_caller]
    fn check_files(&self, root: &str, expected: &[(&str, &str)]) {
        let root = self.kept.path("roots").join(root);
        let mut found = Vec::new();
        collect(&root, &root, &mut found);
        found.sort();
        let expected: Vec<_> =
            expected.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
        assert_eq!(found, expected, "{}", root.display());
    }

    #[track_caller]
    fn json(&self, words: &[&str]) -> Value {
        self.json_of(0, words)
    }

    #[track_caller]
    fn json_of(&self, code: i32, words: &[&str]) -> Value {
        let output = self.run(code, &[words, &["--format", "json"]].concat());
        check_output(&output.stdout);
        serde_json::from_slice(&output.stdout).unwrap()
    }

    #[track_caller]
    fn done(&self, words: &[&str]) -> String {
        String::from_utf8(self.run(0, words).stdout).unwrap()
    }

    #[track_caller]
    fn failed(&self, code: i32, words: &[&str]) {
        self.run(code, words);
    }

    #[track_caller]
    fn run(&self, code: i32, words: &[&str]) -> Output {
        let mut command = program(&self.kept.path("home"), words);
        let output = command.args(&self.options).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {output:?}");
        output
    }
}

#[test]
fn contexts_of_version_0_1_work() {
    let folder = TempDir::new().unwrap();
    unpack("contexts", folder.path());
    let home = folder.path().join("agents-0.1-contexts/home");
    let run = |words: &[&str]| {
        let output = program(&home, words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let contents = |name: &str| -> Vec<String> {
        let shown = run(&["context", "show", name, "--format", "json"]);
        let events = shown.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let messages = events.filter(|event| event["event"] == "message");
        messages.map(|event| event["message"]["content"].as_str().unwrap().to_owned()).collect()
    };
    let talk = ["You are kind.", "Hello,\n\"world\" é", "Hello."];
    assert_eq!(contents("talk"), talk);
    assert_eq!(contents("fork"), [&talk[..], &["Only in the fork."]].concat());
    assert_eq!(contents("rewound").len(), 69);
    assert_eq!(contents("array"), ["one", "two"]);
    // Killed before the second message was in a file.
    assert_eq!(contents("cut"), ["first", "second"]);
    for (name, count) in [("talk", 4), ("fork", 5), ("rewound", 70), ("array", 3), ("cut", 3)] {
        run(&["context", "append", name, "--role", "user", "of a later version"]);
        assert_eq!(contents(name).len(), count, "{name}");
    }
    assert_eq!(run(&["context", "state", "get", "talk", "/step"]).trim(), "3");
    assert_eq!(run(&["context", "global", "get", "talk", "/project"]).trim(), "\"demo\"");
    run(&["context", "verify"]);
}

fn program(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agents"));
    for name in std::env::vars_os().map(|(name, _)| name) {
        if name.to_string_lossy().starts_with("CLEVERAGENTS_") {
            command.env_remove(name);
        }
    }
    command.args(words).env("CLEVERAGENTS_HOME", home).env("USER", "ana").env("NO_COLOR", "1");
    command.current_dir(home.parent().unwrap()).stdin(Stdio::null());
    command
}

fn listed_state<'a>(listed: &'a Value, name: &str) -> &'a str {
    let plans = listed["data"]["plans"].as_array().unwrap();
    let plan = plans.iter().find(|plan| plan["name"] == name);
    plan.unwrap_or_else(|| panic!("{name} is listed"))["state"].as_str().unwrap()
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        match path.is_dir() {
            true if name == ".cleveragents" => {}
            true => collect(root, &path, found),
            false => found.push((name, fs::read_to_string(&path).unwrap())),
        }
    }
}
