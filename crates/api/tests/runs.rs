//! Runs, as a frontend starts them.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "plays a person who edits files")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use cleveragents::{
    Agents, ApplyOptions, Assignment, Cancel, Error, Invocation, Kind, NodeOutcome, NodeState, PlanRun,
    RunOptions, RunSummary, Scope,
};
use tempfile::TempDir;

struct Fixture {
    folder: TempDir,
    agents: Agents,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        fs::create_dir_all(project.join(".cleveragents")).unwrap();
        fs::write(project.join("file"), "old\n").unwrap();
        let invocation = Invocation {
            home: Some(folder.path().join("home")),
            current: Some(project),
            ..Invocation::default()
        };
        let agents = Agents::open(&invocation).unwrap();
        Self { folder, agents }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn run(&self, options: &RunOptions) -> Result<RunSummary, Error> {
        let checked = self.agents.check_plan_file(options)?;
        self.agents.plans()?.run(checked, options, &Cancel::default(), &|_| {})
    }

    fn run_of(&self, plan: &str) -> PlanRun {
        self.agents.plans().unwrap().run_of(plan).unwrap()
    }

    fn plan_file(&self, text: &str) -> RunOptions {
        let file = self.folder.path().join("plan.toml");
        fs::write(&file, text).unwrap();
        RunOptions { file: Some(file), ..RunOptions::default() }
    }
}

fn command(words: &[&str]) -> RunOptions {
    let command = words.iter().map(|word| (*word).to_owned()).collect();
    RunOptions { command, ..RunOptions::default() }
}

#[test]
fn one_command_is_run_shown_and_applied() {
    let fixture = Fixture::new();
    let events = Mutex::new(Vec::new());
    let options = command(&["sh", "-c", "echo printed; echo new >> file"]);
    let checked = fixture.agents.check_plan_file(&options).unwrap();
    let plans = fixture.agents.plans().unwrap();
    let summary = plans.run(checked, &options, &Cancel::default(), &|event| {
        events.lock().unwrap().push(serde_json::to_value(&event).unwrap());
    });
    let summary = summary.unwrap();
    let plan = summary.plan.to_string();
    let kinds: Vec<String> =
        events.lock().unwrap().iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds[..2], ["run-started", "node-started"]);
    assert_eq!(kinds[kinds.len() - 2..], ["node-ended", "run-ended"]);
    let nodes = fixture.run_of(&plan).nodes().unwrap();
    assert_eq!(nodes[0].state, NodeState::Ended(NodeOutcome::Succeeded));
    assert_eq!(serde_json::to_value(&nodes[0]).unwrap()["state"], "succeeded");
    let output = fixture.run_of(&plan).output("sh").unwrap();
    assert_eq!(fs::read_to_string(output.file.unwrap()).unwrap(), "printed\n");
    assert!(fixture.agents.plans().unwrap().unfinished_runs().unwrap().is_empty());
    assert_eq!(fixture.run_of(&plan).record().unwrap().unwrap().settings.concurrency, 4);
    // [cln-keep] Work that was not applied is not cleaned, nor its sandbox.
    let plans = fixture.agents.plans().unwrap();
    let sandbox = fixture.folder.path().join("home/runs").join(&plan).join("nodes/sh/1/sandbox");
    assert_eq!(plans.clean(None, false, false).unwrap().plans.kept.len(), 1);
    assert_eq!(
        plans.clean(Some(&plans.look_up(plan.as_str()).unwrap()), false, false).unwrap_err().code(),
        "unapplied"
    );
    assert!(sandbox.exists());
    // Applied, the sandbox goes, and the output stays until the plan is cleaned.
    plans.apply(&plans.look_up(plan.as_str()).unwrap(), &ApplyOptions::default()).unwrap();
    assert_eq!(fs::read_to_string(fixture.project().join("file")).unwrap(), "old\nnew\n");
    assert!(!sandbox.exists() && fixture.run_of(&plan).output("sh").unwrap().file.is_some());
    assert_eq!(plans.clean(None, false, false).unwrap().plans.removed.len(), 1);
    assert!(!fixture.folder.path().join("home/runs").join(&plan).exists());
}

#[test]
fn a_plan_file_is_checked_before_anything_runs() {
    let fixture = Fixture::new();
    let checked = fixture
        .agents
        .check_plan_file(&fixture.plan_file("name = 'two'\n[nodes.a]\nrun = 'true'\nwrites = ['x']\n[nodes.b]\nrun = 'true'\nwrites = ['x']\n[nodes.c]\nneeds = ['a']\nrun = 'true'\n"))
        .unwrap();
    assert_eq!((checked.name.as_deref(), checked.nodes.len(), checked.warnings.len()), (Some("two"), 3, 1));
    assert!(checked.graph.contains("c  after a") && checked.mermaid.contains("n0 --> n2"));
    assert_eq!(checked.roots, [fixture.project().display().to_string()]);
    for wrong in [
        "[nodes.a]\nrun = 'true'\nneeds = ['b']\n",
        "[roots.r]\npath = 'nowhere'\n[nodes.a]\nrun = 'true'\n",
        "nodes = 1\n",
    ] {
        let error = fixture.run(&fixture.plan_file(wrong)).unwrap_err();
        assert_eq!((error.kind(), error.code()), (Kind::Usage, "invalid-plan-file"), "{error}");
    }
    assert!(fixture.agents.plans().unwrap().list(&[], None).unwrap().is_empty(), "nothing was made");
    let missing = RunOptions { file: Some("missing.toml".into()), ..RunOptions::default() };
    assert_eq!(fixture.run(&missing).unwrap_err().code(), "no-file");
    let folder = RunOptions { file: Some(".".into()), ..RunOptions::default() };
    assert_eq!(fixture.run(&folder).unwrap_err().kind(), Kind::Error);
    assert_eq!(cleveragents::plan_file_schema()["title"], "agents plan");
}

#[test]
fn invalid_choices_and_names_are_refused() {
    let fixture = Fixture::new();
    let asked = |change: fn(&mut RunOptions)| {
        let mut options = command(&["true"]);
        change(&mut options);
        fixture.run(&options).unwrap_err()
    };
    for error in [
        asked(|options| options.merge = Some("ours".to_owned())),
        asked(|options| options.confine = Some("maybe".to_owned())),
        asked(|options| options.ignored = Some("burn".to_owned())),
    ] {
        assert_eq!((error.kind(), error.code()), (Kind::Usage, "invalid-choice"), "{error}");
    }
    assert_eq!(asked(|options| options.paths = vec!["/etc".to_owned()]).kind(), Kind::Usage);
    assert_eq!(asked(|options| options.root = Some("missing".into())).kind(), Kind::NotFound);
    let summary = fixture.run(&command(&["true"])).unwrap();
    let plan = summary.plan.to_string();
    let error = fixture.agents.plans().unwrap().resume_run(&plan, &Cancel::default(), &|_| {}).unwrap_err();
    assert_eq!((error.kind(), error.code()), (Kind::Conflict, "nothing-to-resume"));
    assert_eq!(fixture.run_of(&plan).output("other").unwrap_err().code(), "no-node");
    let made = fixture.agents.plans().unwrap().create(Some("by hand"), &[]).unwrap().plan.id.to_string();
    assert!(
        fixture.run_of(&made).nodes().unwrap().is_empty()
            && fixture.run_of(&made).record().unwrap().is_none()
    );
    let error = fixture.agents.plans().unwrap().resume_run(&made, &Cancel::default(), &|_| {}).unwrap_err();
    assert_eq!((error.kind(), error.code()), (Kind::NotFound, "no-run"));
    assert_eq!(fixture.agents.plans().unwrap().run_of("nothing").unwrap_err().kind(), Kind::NotFound);
}

#[test]
fn a_plan_keeps_its_merge_strategy() {
    let fixture = Fixture::new();
    let mut options = fixture.plan_file(
        "merge = 'last-wins'\n[nodes.a]\nrun = 'echo a > file'\n[nodes.b]\nrun = 'echo b > file'\n",
    );
    options.root = Some(".".into());
    let plan = fixture.run(&options).unwrap().plan.to_string();
    let plans = fixture.agents.plans().unwrap();
    assert!(plans.conflicts(&plans.look_up(plan.as_str()).unwrap()).unwrap().is_empty());
    assert_eq!(
        plans.diff(&plans.look_up(plan.as_str()).unwrap(), &Default::default()).unwrap().files.len(),
        1
    );
    plans.apply(&plans.look_up(plan.as_str()).unwrap(), &ApplyOptions::default()).unwrap();
    let text = fs::read_to_string(fixture.project().join("file")).unwrap();
    assert!(["a\n", "b\n"].contains(&text.as_str()));
}

#[test]
fn runs_follow_the_configuration() {
    let fixture = Fixture::new();
    let state = fixture.folder.path().join("state");
    fs::create_dir(&state).unwrap();
    let set = |key: &str, value: &str| {
        fixture
            .agents
            .set(Some(Scope::Global), &[Assignment::argument(key.parse().unwrap(), value)])
            .unwrap();
    };
    set("sandbox.allow-write", state.to_str().unwrap());
    set("sandbox.cleanup", "manual");
    set("plan.concurrency", "2");
    let line = format!("touch {}/kept; touch made", state.display());
    let plan = fixture.run(&command(&["sh", "-c", &line])).unwrap().plan.to_string();
    assert!(state.join("kept").exists());
    let record = fixture.run_of(&plan).record().unwrap().unwrap();
    assert_eq!(
        (record.settings.concurrency, record.settings.allow_write.len(), record.strategy.as_str()),
        (2, 1, "copy")
    );
    let plans = fixture.agents.plans().unwrap();
    plans.apply(&plans.look_up(plan.as_str()).unwrap(), &ApplyOptions::default()).unwrap();
    assert!(
        fixture.folder.path().join("home/runs").join(&plan).join("nodes/sh/1/sandbox").exists(),
        "it is kept"
    );
}
