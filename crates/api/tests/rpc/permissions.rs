//! Permissions of a node.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use cleveragents::{
    Assignment, Draft, Edit, Error, Exposure, Invocation, Kind, MessageSelection, NewEntry, Reveal, Role,
    RunClient, Scope,
};

use crate::fixture::{Fixture, code, entry, key};

fn said(text: &str) -> [Draft; 1] {
    [Draft::text(Role::Assistant, text)]
}

#[test]
fn every_kind_of_edit_is_recorded() {
    let fixture = Fixture::new();
    fs::write(fixture.path("project/gone"), "gone\n").unwrap();
    fs::write(fixture.path("project/old"), "moved\n").unwrap();
    fs::write(fixture.path("project/tool.sh"), "run\n").unwrap();
    let long = fixture.path("long");
    fs::write(&long, vec![b'x'; 3 << 20]).unwrap();
    let summary = fixture.play(&["work"], "", |actor| {
        let id = actor.variable("AGENTS_CHANGESET").to_owned();
        let first = actor.record("long", Edit::Content(long.clone(), Some(0o600))).unwrap();
        assert_eq!((first.changeset, first.sequence), (id.clone(), 1));
        actor.record("gone", Edit::Delete).unwrap();
        actor.record("old", Edit::RenameTo("new".to_owned())).unwrap();
        actor.record("tool.sh", Edit::Mode(0o755)).unwrap();
        actor.record("link", Edit::Symlink("file".to_owned())).unwrap();
        let patch = b"@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n".to_vec();
        actor.record("file", Edit::Patch(patch.clone())).unwrap();
        // The second builds on the first.
        assert_eq!(code(actor.record("file", Edit::Patch(patch))), ("patch", Kind::Conflict));
        let patch = b"@@ -1,2 +1,2 @@\n ONE\n-two\n+TWO\n".to_vec();
        let named = NewEntry {
            root: Some(fixture.path("project")),
            tool: Some("pen".to_owned()),
            ..entry("file", Edit::Patch(patch))
        };
        actor.client.record(&id, &named).unwrap();
        // With a base of one's own; and the copy counts as the root, too.
        let base = fixture.path("base");
        fs::write(&base, "was\n").unwrap();
        let based = NewEntry {
            root: Some(PathBuf::from(actor.variable("PWD"))),
            base: Some(base.clone()),
            ..entry("based", Edit::Bytes(b"is\n".to_vec(), None))
        };
        assert_eq!(actor.client.record(&id, &based).unwrap().sequence, 8);
        let nothing =
            NewEntry { base: Some("/dev/null".into()), ..entry("x", Edit::Bytes(Vec::new(), None)) };
        actor.client.record(&id, &nothing).unwrap();
        let other = NewEntry { base: Some(base), ..entry("x", Edit::Delete) };
        assert_eq!(code(actor.client.record(&id, &other)), ("base-mismatch", Kind::Conflict));
        let taken = actor.record("new", Edit::RenameTo("file".to_owned()));
        assert_eq!(code(taken), ("path-exists", Kind::Conflict));
        assert_eq!(code(actor.record("nobody", Edit::Delete)), ("path-not-found", Kind::NotFound));
    });
    let expected = [
        "create long - 3145728",
        "delete gone 5 -",
        "rename old to new 6 6",
        "mode tool.sh 4 4",
        "create link - 4",
        "modify file 8 8",
        "modify file 8 8",
        "modify based 4 3",
        "create x - 0",
    ];
    assert_eq!(fixture.entries(&summary, "work"), expected);
    assert_eq!(summary.nodes[0].files_changed, 9, "old and new are two");
}

#[test]
fn the_base_is_what_the_actor_started_from() {
    let fixture = Fixture::new();
    let text = format!(
        "[nodes.first]\nrun = \"echo three >> file\"\n[nodes.work]\nneeds = ['first']\ntimeout = '230s'\nrun = \"{}\"\n",
        crate::fixture::WAITS
    );
    let summary = fixture.play_plan(&text, 1, |actor| {
        // A person edits the file, and the actor its copy: neither is the base.
        fs::write(fixture.path("project/file"), "a person's\n").unwrap();
        actor.write("file", "in between");
        actor.record_text("file", "recorded\n").unwrap();
        actor.write("file", "recorded\n");
    });
    assert_eq!(fixture.entries(&summary, "work"), ["modify file 14 9"], "one, two and three are 14 bytes");
}

#[test]
fn requests_beyond_the_permissions_of_a_node_are_refused() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("project/src")).unwrap();
    let other = fixture.agents.plans().unwrap();
    let plan = other.create(Some("other"), &[fixture.path("project")]).unwrap();
    let foreign =
        other.start_changeset(&plan.plan, &cleveragents::actor("somebody").unwrap()).unwrap().id.to_string();
    let summary = fixture.play(&["work"], "paths = ['src/**']", |actor| {
        let id = actor.variable("AGENTS_CHANGESET");
        actor.record_text("src/new", "new").unwrap();
        let refused = ("refused-paths", Kind::Error);
        assert_eq!(code(actor.record_text("file", "no")), refused);
        assert_eq!(code(actor.record("src/new", Edit::RenameTo("new".to_owned()))), refused);
        for path in ["../file", "/etc/passwd", "src/.git/config", ".cleveragents/config.toml"] {
            let (code, kind) = code(actor.record_text(path, "no"));
            assert_eq!((code, kind), ("bad-path", Kind::Usage), "{path}");
        }
        let no = || entry("src/no", Edit::Bytes(Vec::new(), None));
        for changeset in [foreign.as_str(), "nonsense", ""] {
            assert_eq!(code(actor.client.record(changeset, &no())), ("foreign-changeset", Kind::Conflict));
        }
        for root in ["/", "/nowhere", actor.variable("TMPDIR")] {
            let elsewhere = NewEntry { root: Some(root.into()), ..no() };
            assert_eq!(code(actor.client.record(id, &elsewhere)), ("foreign-root", Kind::Usage));
        }
        let tool = NewEntry { tool: Some("agents plan resolve".to_owned()), ..no() };
        assert_eq!(code(actor.client.record(id, &tool)), ("reserved-tool", Kind::Usage));
        let missing = actor.record("src/no", Edit::Content("/nowhere".into(), None));
        assert_eq!(code(missing), ("no-file", Kind::NotFound));
        let device = actor.record("src/empty", Edit::Content("/dev/null".into(), None));
        assert_eq!(device.unwrap().sequence, 2);
        let mut variables = actor.variables.clone();
        variables.insert("AGENTS_TOKEN".to_owned(), "another".to_owned());
        let stranger = crate::fixture::client(&variables);
        assert_eq!(
            code(stranger.get(&key("plan.concurrency"), Reveal::No)),
            ("invalid-token", Kind::Conflict)
        );
    });
    assert_eq!(fixture.entries(&summary, "work"), ["create src/new - 3", "create src/empty - 0"]);
    assert!(other.changeset(&foreign).unwrap().entries.is_empty());
}

#[test]
fn contexts_are_appended_to_and_configuration_is_read() {
    let fixture = Fixture::new();
    let contexts = fixture.agents.contexts().unwrap();
    contexts.create(&"talk".parse().unwrap()).unwrap();
    fixture.agents.set(Some(Scope::Global), &[Assignment::argument(key("x.word"), "hello")]).unwrap();
    let secret = key("server.token");
    let hush = Assignment { exposure: Exposure::Private, ..Assignment::argument(secret.clone(), "hush") };
    fixture.agents.set(Some(Scope::Global), &[hush]).unwrap();
    fixture.play(&["work"], "env = { CLEVERAGENTS_X_WORD = 'other' }", |actor| {
        let appended = actor.client.append(&"talk".parse().unwrap(), &said("first"), None).unwrap();
        assert_eq!((appended.ids.len(), appended.message_count), (1, 1));
        let lines = Draft::parse_lines("{\"role\":\"user\",\"content\":\"1.10\",\"n\":1.10}").unwrap();
        let revision = appended.revision;
        assert_eq!(
            actor.client.append(&"talk".parse().unwrap(), &lines, Some(revision)).unwrap().revision,
            cleveragents::Revision(revision.0 + 1)
        );
        assert_eq!(
            code(actor.client.append(&"talk".parse().unwrap(), &lines, Some(revision))),
            ("stale", Kind::Conflict)
        );
        assert_eq!(
            code(actor.client.append(&"nobody".parse().unwrap(), &lines, None)),
            ("no-context", Kind::NotFound)
        );
        let wrong = Draft::parse_lines("{").map_err(Error::from);
        assert_eq!(code(wrong), ("invalid-message", Kind::Usage));
        // The configuration of the run counts, for every client.
        let asked = actor.client.get(&key("x.word"), Reveal::Yes).unwrap();
        assert_eq!(asked, fixture.agents.config_snapshot().get(&key("x.word"), Reveal::Yes).unwrap());
        assert_eq!(asked.entry.value.unwrap().to_string(), "hello");
        let hidden = actor.client.get(&secret, Reveal::No).unwrap().entry.value.unwrap();
        assert!(!hidden.to_string().contains("hush"), "{hidden}");
        let refused = actor.client.get(&secret, Reveal::Yes);
        assert_eq!(code(refused), ("secret-in-sandbox", Kind::Usage));
        let unknown = actor.client.get(&key("plan.concurency"), Reveal::No).unwrap_err();
        assert_eq!((unknown.code(), unknown.kind()), ("unknown-key", Kind::Usage));
        let Error::Refused { problem } = unknown else { panic!("{unknown}") };
        assert_eq!(problem.hint, ["hint for unknown-key"], "{}", problem.message);
    });
    let texts: Vec<_> = contexts
        .show(&"talk".parse().unwrap(), MessageSelection::All)
        .unwrap()
        .map(|said| said.unwrap())
        .collect();
    assert_eq!(texts.len(), 2);
    assert!(serde_json::to_string(&texts).unwrap().contains("1.10}"), "its spelling is kept");
}

/// Changes are attributed to their actor alone, and no message is lost.
#[test]
fn requests_of_32_concurrent_actors_are_told_apart() {
    let fixture = Fixture::new();
    fixture.agents.contexts().unwrap().create(&"talk".parse().unwrap()).unwrap();
    let names: Vec<String> = (0..32).map(|number| format!("n{number}")).collect();
    let nodes: Vec<&str> = names.iter().map(String::as_str).collect();
    let tokens = std::sync::Mutex::new(BTreeSet::new());
    let summary = fixture.play(&nodes, "", |actor| {
        tokens.lock().unwrap().insert(actor.variable("AGENTS_TOKEN").to_owned());
        assert_eq!(actor.variable("AGENTS_NODE"), actor.node);
        std::thread::scope(|scope| {
            for part in ["a", "b"] {
                scope.spawn(move || {
                    actor.record_text(&format!("{}-{part}", actor.node), &actor.node).unwrap()
                });
            }
            scope.spawn(|| actor.client.append(&"talk".parse().unwrap(), &said(&actor.node), None).unwrap());
        });
    });
    assert_eq!(tokens.into_inner().unwrap().len(), 32);
    for node in nodes {
        let mut entries = fixture.entries(&summary, node);
        entries.sort();
        let bytes = node.len();
        assert_eq!(entries, [format!("create {node}-a - {bytes}"), format!("create {node}-b - {bytes}")]);
    }
    let said =
        fixture.agents.contexts().unwrap().show(&"talk".parse().unwrap(), MessageSelection::All).unwrap();
    let said: BTreeSet<String> = said.map(|said| serde_json::to_string(&said.unwrap()).unwrap()).collect();
    assert_eq!(said.len(), 32);
    for node in &names {
        assert_eq!(said.iter().filter(|said| said.contains(&format!("\"{node}\""))).count(), 1, "{node}");
    }
}

#[test]
fn socket_and_home_identify_a_sandbox() {
    let around = |home: Option<&str>, variables: &[(&str, &str)]| {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let home = home.map(PathBuf::from);
        RunClient::from_env(&Invocation { home, variables, ..Invocation::default() }).is_some()
    };
    let socket = ("AGENTS_SOCKET", "/h/runs/01/socket-1");
    assert!(!around(None, &[]) && !around(None, &[("AGENTS_SOCKET", "")]));
    assert!(around(None, &[socket]));
    assert!(around(None, &[socket, ("CLEVERAGENTS_HOME", "/h")]));
    assert!(around(Some("/h"), &[socket, ("CLEVERAGENTS_HOME", "/other")]));
    assert!(!around(None, &[socket, ("CLEVERAGENTS_HOME", "/other")]), "a home of its own");
    assert!(!around(Some("/other"), &[socket, ("CLEVERAGENTS_HOME", "/h")]));
    assert!(!around(Some("relative"), &[socket]));
    let Error::RunGone { socket, .. } = RunClient::from_env(&Invocation {
        variables: vec![("AGENTS_SOCKET".into(), "/nowhere/runs/01/socket-1".into())],
        ..Invocation::default()
    })
    .unwrap()
    .get(&key("x.word"), Reveal::No)
    .unwrap_err() else {
        panic!("nobody is there")
    };
    assert_eq!(socket, PathBuf::from("/nowhere/runs/01/socket-1"));
}
