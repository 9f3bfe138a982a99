//! Many actors, and misbehaving ones: bounded, contained, reported.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use executor::run::Outcome;
use executor::{Confine, Confinement, Ignored, probe_confinement};
use plan::State;
use testkit::report::skipped;

use crate::fixture::{Fixture, checked, is_tagged, node, outcome};

/// 32 actors at once, each changing its own file, its own lines of a shared one, and adding and removing files: each is attributed
/// exactly what it did.
#[test]
fn changes_of_32_actors_are_attributed_exactly() {
    let lines: String = (0..32).map(|number| format!("line {number}\n\n\n")).collect();
    let mut files = vec![("shared".to_owned(), lines)];
    files.extend((0..32).map(|number| (format!("own/{number}"), format!("{number}\n"))));
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let fixture = Fixture::new(&files);
    let mut text = "concurrency = 32\n".to_owned();
    for number in 0..32 {
        text += &format!(
            "[nodes.n{number}]\nrun = \"sed -i 's/^line {number}$/by {number}/' shared; echo new {number} > new-{number}; rm own/{number}\"\n"
        );
    }
    let summary = fixture.run(&text);
    assert_eq!((summary.state, summary.files_changed), (State::Ready, 65), "{summary:?}");
    for folded in fixture.plans.deltas(summary.plan, &Default::default()).unwrap() {
        let number = folded.attribution.actor.as_str().trim_start_matches('n').to_owned();
        let paths: Vec<String> = folded.changes.keys().map(|key| key.path.show().into_owned()).collect();
        assert_eq!(paths, [format!("new-{number}"), format!("own/{number}"), "shared".to_owned()]);
    }
    let _ = fixture.apply(summary.plan).unwrap();
    let expected: String = (0..32).map(|number| format!("by {number}\n\n\n")).collect();
    assert_eq!(fixture.file("shared"), expected);
}

#[test]
fn writes_outside_the_sandbox_are_refused() {
    if probe_confinement(Confine::Auto).unwrap() != Confinement::Full {
        return skipped("landlock", "the kernel does not confine");
    }
    let fixture = Fixture::new(&[("file", "1\n")]);
    let outside = fixture.root().join("file");
    let summary = fixture.run(&format!(
        "[nodes.a]\nrun = \"echo 2 > {0}; ln -s {0} link; echo 3 > link; echo ok > inside\"\n",
        outside.display()
    ));
    assert_eq!(summary.state, State::Ready);
    assert_eq!(fixture.file("file"), "1\n");
    assert_eq!(node(&summary, "a").files_changed, 2, "the symlink and the file inside");
    // A folder that is listed may be written to, and the record says so.
    let state = fixture.folder.path().join("state");
    fs::create_dir(&state).unwrap();
    let mut options = fixture.options(&format!("[nodes.a]\nrun = 'touch {}/kept'\n", state.display()));
    options.allow_write = vec![state.clone()];
    let (summary, _) = fixture.run_with(&options);
    assert!(state.join("kept").exists());
    let record = fixture.runs().record(summary.plan).unwrap().unwrap();
    assert_eq!(
        (record.settings.confinement.name(), record.settings.allow_write),
        ("full", vec![state.canonicalize().unwrap()])
    );
    options.allow_write = vec![fixture.folder.path().join("missing")];
    let error = fixture.runs().start(&options, &Default::default(), &|_| {}).unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
}

#[test]
fn background_processes_of_an_actor_are_ended() {
    let fixture = Fixture::new(&[]);
    let summary = fixture.run(
        "[nodes.a]\nrun = \"(setsid sh -c 'trap \\\"\\\" TERM HUP; while :; do echo x >> late; sleep 0.01; done' &) ; until [ -e late ]; do sleep 0.01; done\"\n",
    );
    assert_eq!(summary.state, State::Ready, "{summary:?}");
    assert!(!is_tagged(node(&summary, "a").changeset.as_ref().unwrap()));
}

#[test]
fn the_lines_of_all_files_are_counted() {
    let fixture = Fixture::new(&[]);
    let summary = fixture.run("[nodes.a]\nrun = \"mkdir many; cd many; seq 3000 | split -l 1 -a 4 -\"\n");
    assert_eq!((summary.state, summary.files_changed, summary.added), (State::Ready, 3000, 3000));
}

#[test]
fn an_actor_that_removes_its_sandbox_harms_no_other() {
    let fixture = Fixture::new(&[("file", "1\n")]);
    let summary = fixture.run(
        "[nodes.all]\nrun = 'rm -rf ./* .[a-z]*'\n\
         [nodes.sandbox]\nrun = 'd=$(pwd); cd /; chmod -R u+w \"$d\"; rm -rf \"$d\"; [ ! -e \"$d/file\" ]'\n",
    );
    assert_eq!((outcome(&summary, "all"), node(&summary, "all").files_changed), (Outcome::Succeeded, 1));
    // Removing the folder itself is not allowed, so it is empty; where it is allowed, the node fails.
    let ended = node(&summary, "sandbox");
    match ended.state.outcome().unwrap() {
        Outcome::Succeeded => assert_eq!(ended.files_changed, 1),
        _ => assert!(ended.reason.as_ref().unwrap().contains("sandbox"), "{ended:?}"),
    }
    assert_eq!(fixture.file("file"), "1\n");
}

#[test]
fn special_files_and_protected_folders_are_not_recorded() {
    let fixture = Fixture::new(&[("file", "1\n"), (".cleveragents/config.toml", "")]);
    let summary = fixture.run("[nodes.a]\nrun = 'mkfifo pipe; echo x >> .cleveragents/config.toml; chmod 755 file; ln -s /etc out; git init -q .'\n");
    let report = node(&summary, "a");
    assert_eq!((summary.state, report.files_changed), (State::Ready, 2), "{report:?}");
    assert_eq!(report.notes.len(), 2, "{report:?}");
    let _ = fixture.apply(summary.plan).unwrap();
    assert_eq!(fs::read_link(fixture.root().join("out")).unwrap().to_str(), Some("/etc"));
    assert_eq!(fs::metadata(fixture.root().join("file")).unwrap().permissions().mode() & 0o777, 0o755);
}

/// Every kind of change goes from one node to the next and into the root.
#[test]
fn every_kind_of_change_reaches_the_next_node() {
    let fixture =
        Fixture::new(&[("edit", "1\n"), ("gone", "1\n"), ("old", "1\n2\n3\n"), ("folder/in", "1\n")]);
    symlink("edit", fixture.root().join("link")).unwrap();
    let summary = fixture.run(
        "[nodes.a]\nrun = \"\"\"\necho 2 >> edit; rm gone; mv old new; chmod 700 edit; ln -sf new link; rm -r folder; echo file > folder; mkdir -p x/y; echo deep > x/y/z\n\
         head -c 3000000 /dev/zero > large\n\"\"\"\n\
         [nodes.b]\nneeds = ['a']\nrun = \"\"\"\n[ ! -e gone ] && [ ! -e old ] && [ -x edit ] && [ \\\"$(readlink link)\\\" = new ] && [ \\\"$(cat folder)\\\" = file ] || exit 1\n\
         echo 3 >> edit; echo 4 >> new; mv x/y/z x/z; rm link; head -c 10 /dev/zero >> large\n\"\"\"\n\
         [nodes.c]\nneeds = ['b']\nrun = \"\"\"\n[ ! -e x/y ] && [ ! -L link ] && [ \\\"$(wc -c < large)\\\" = 3000010 ] || exit 1\necho 5 >> new; ln -s a link\n\"\"\"\n",
    );
    assert_eq!(summary.state, State::Ready, "{summary:?}");
    let report = fixture.apply(summary.plan).unwrap();
    assert_eq!(report.remaining, 0);
    assert_eq!(
        (fixture.file("edit"), fixture.file("new")),
        ("1\n2\n3\n".to_owned(), "1\n2\n3\n4\n5\n".to_owned())
    );
    assert_eq!((fixture.file("folder"), fixture.file("x/z")), ("file\n".to_owned(), "deep\n".to_owned()));
    assert_eq!(fs::metadata(fixture.root().join("large")).unwrap().len(), 3_000_010);
    assert_eq!(fs::read_link(fixture.root().join("link")).unwrap().to_str(), Some("a"));
    for gone in ["gone", "old", "x/y"] {
        assert!(!fixture.root().join(gone).exists(), "{gone}");
    }
}

/// Environment, files and permissions of an actor.
#[test]
fn an_actor_has_its_own_environment() {
    let fixture = Fixture::new(&[("sub/file", "1\n")]);
    let summary = fixture.run(
        "[nodes.a]\nworkdir = 'sub'\nstdin = 'given'\nenv = { MINE = 'yes' }\n\
         run = 'cat > read; echo \"$AGENTS_NODE $MINE ${A_SECRET-none} ${GIT_DIR-none}\" > env; echo \"$AGENTS_PLAN $AGENTS_CHANGESET\" > ids; touch \"$TMPDIR/t\"; [ -e file ]'\n\
         [nodes.out]\nworkdir = 'nowhere'\nrun = 'true'\n[nodes.missing]\nrun = ['no-such-program']\n",
    );
    fixture.plans.changesets(summary.plan).unwrap();
    assert_eq!(outcome(&summary, "a"), Outcome::Succeeded, "{summary:?}");
    assert!(node(&summary, "out").reason.as_ref().unwrap().contains("workdir"));
    let missing = node(&summary, "missing");
    assert!(missing.reason.as_ref().unwrap().contains("no-such-program") && missing.code.is_none());
    let sandbox = fixture.home().join(format!("runs/{}/nodes/a/1/sandbox/tree/sub", summary.plan));
    let read = |name: &str| fs::read_to_string(sandbox.join(name)).unwrap();
    assert_eq!((read("read"), read("env")), ("given".to_owned(), "a yes none none\n".to_owned()));
    assert_eq!(
        read("ids"),
        format!("{} {}\n", summary.plan, node(&summary, "a").changeset.as_ref().unwrap())
    );
    // All files of the run are private, and can be removed, sandboxes first.
    let folder = fixture.home().join("runs").join(summary.plan.to_string());
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    fixture.runs().remove_sandboxes(summary.plan).unwrap();
    assert!(!sandbox.exists() && fixture.runs().output(summary.plan, "a").unwrap().file.is_some());
    fixture.runs().remove_files(summary.plan).unwrap();
    assert!(!folder.exists() && fixture.runs().output(summary.plan, "a").unwrap().file.is_none());
    let unknown = fixture.runs().output(summary.plan, "b").unwrap_err();
    assert!(matches!(&unknown, executor::Error::NoNode { nodes, .. } if nodes[0] == "a"), "{unknown}");
}

/// Ignored files are excluded on request, the home folder always.
#[test]
fn excluded_files_are_not_in_the_sandbox() {
    let fixture = Fixture::new(&[(".gitignore", "target\n"), ("target/x", "1\n"), ("file", "1\n")]);
    assert!(
        std::process::Command::new("git")
            .arg("init")
            .arg("-q")
            .arg(fixture.root())
            .status()
            .unwrap()
            .success()
    );
    let mut options = fixture.options(
        "[nodes.a]\nrun = '[ ! -e target ] && [ -d .git ] && git status > /dev/null && touch .git/mine'\n",
    );
    options.ignored = Ignored::Exclude;
    let (summary, _) = fixture.run_with(&options);
    assert_eq!((summary.state, summary.files_changed), (State::Ready, 0), "{summary:?}");
    options.ignored = Ignored::Link;
    let text = "[nodes.a]\nrun = '[ -L target ] && cat target/x'\n";
    options.plan = checked(fixture.folder.path(), text, &fixture.root());
    assert_eq!(fixture.run_with(&options).0.state, State::Ready);
    // The home folder below the root is never copied.
    let text = "[nodes.a]\nrun = '[ ! -e home ] && [ -e project/file ]'\n";
    options.plan = checked(fixture.folder.path(), text, fixture.folder.path());
    assert_eq!(fixture.run_with(&options).0.state, State::Ready);
}
