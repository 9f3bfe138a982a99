//! A run whose actors wait while the test plays them: it sends their requests and edits their sandboxes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use cleveragents::{
    Agents, Cancel, Edit, Error, Invocation, Key, NewEntry, RecordedEntry, RunClient, RunEvent, RunOptions,
    RunSummary,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A guard against waiting for ever.
pub(crate) const LONG: Duration = Duration::from_secs(240);
/// The actor: writes its environment to a file, and waits.
pub(crate) const WAITS: &str = "env; echo ready; until [ -e $TMPDIR/go ]; do sleep 0.02; done";

pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) agents: Agents,
}

pub(crate) fn key(text: &str) -> Key {
    text.parse().unwrap()
}

impl Fixture {
    /// A project with a file.
    pub(crate) fn new() -> Self {
        Self::with_home("home")
    }

    pub(crate) fn with_home(home: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        fs::create_dir_all(project.join(".cleveragents")).unwrap();
        fs::write(project.join("file"), "one\ntwo\n").unwrap();
        let invocation = Invocation {
            home: Some(folder.path().join(home)),
            current: Some(project),
            hint: Some(|error| vec![format!("hint for {}", error.code())]),
            ..Invocation::default()
        };
        fs::create_dir_all(folder.path().join(home)).unwrap();
        let agents = Agents::open(&invocation).unwrap();
        Self { folder, agents }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Runs a plan of which every node's actor waits, and plays each of them as soon as it does. `fields` are those of a node.
    pub(crate) fn play(&self, nodes: &[&str], fields: &str, work: impl Fn(&Actor) + Sync) -> RunSummary {
        let mut text = format!("concurrency = {}\n", nodes.len());
        for node in nodes {
            text += &format!("[nodes.{node}]\ntimeout = '230s'\nrun = \"{WAITS}\"\n{fields}\n");
        }
        self.play_plan(&text, nodes.len(), work)
    }

    /// The same for any plan; so many of its actors wait.
    pub(crate) fn play_plan(&self, text: &str, waiting: usize, work: impl Fn(&Actor) + Sync) -> RunSummary {
        let file = self.path("plan.toml");
        fs::write(&file, text).unwrap();
        let options = RunOptions { file: Some(file), ..RunOptions::default() };
        let (tell, hear) = channel();
        std::thread::scope(|scope| {
            let run = scope.spawn(|| {
                let tell = Mutex::new(tell);
                let on_event = |event| {
                    if let RunEvent::NodeOutput { node, line } = event {
                        drop(tell.lock().unwrap().send((node, String::from_utf8(line).unwrap())));
                    }
                };
                let checked = self.agents.check_plan_file(&options).unwrap();
                let plans = self.agents.plans().unwrap();
                plans.run(checked, &options, &Cancel::default(), &on_event).unwrap()
            });
            let mut heard = BTreeMap::new();
            for _ in 0..waiting {
                let (actor, work) = (Actor::heard(&hear, &mut heard), &work);
                scope.spawn(move || work(&actor));
            }
            run.join().unwrap()
        })
    }

    /// The entries of a node, in order: operation, path, bytes before and after.
    pub(crate) fn entries(&self, summary: &RunSummary, node: &str) -> Vec<String> {
        let node = summary.nodes.iter().find(|known| known.name == node).unwrap();
        let plans = self.agents.plans().unwrap();
        let detail = plans.changeset(node.changeset.as_ref().unwrap()).unwrap();
        let bytes = |content: Option<plan::Content>| {
            content.map_or("-".to_owned(), |content| content.bytes.to_string())
        };
        let line = |entry: cleveragents::ChangeEntry| {
            let to = match &entry.operation {
                cleveragents::Operation::Rename { to } => format!(" to {}", to.show()),
                _ => String::new(),
            };
            let (operation, path) = (entry.operation.as_str(), entry.path.show());
            format!("{operation} {path}{to} {} {}", bytes(entry.before), bytes(entry.after))
        };
        detail.entries.into_iter().map(line).collect()
    }

    /// Applies the plan, and gives what a file holds then.
    pub(crate) fn applied(&self, summary: &RunSummary, path: &str) -> Option<String> {
        let plans = self.agents.plans().unwrap();
        plans.apply(&plans.look_up(summary.plan).unwrap(), &cleveragents::ApplyOptions::default()).unwrap();
        fs::read_to_string(self.path("project").join(path)).ok()
    }
}

/// A waiting actor. It continues on drop.
pub(crate) struct Actor {
    pub(crate) node: String,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) client: RunClient,
}

impl Actor {
    fn heard(
        lines: &Receiver<(String, String)>,
        heard: &mut BTreeMap<String, BTreeMap<String, String>>,
    ) -> Self {
        loop {
            let (node, line) = lines.recv_timeout(LONG).expect("an actor waits");
            if line == "ready" {
                let variables = heard.remove(&node).unwrap();
                return Self { client: client(&variables), node, variables };
            }
            if let Some((name, value)) = line.split_once('=') {
                heard.entry(node).or_default().insert(name.to_owned(), value.to_owned());
            }
        }
    }

    pub(crate) fn variable(&self, name: &str) -> &str {
        &self.variables[name]
    }

    /// A path in its copy.
    pub(crate) fn tree(&self, path: &str) -> PathBuf {
        Path::new(self.variable("PWD")).join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::write(self.tree(path), text).unwrap();
    }

    /// Records a change in its own changeset.
    pub(crate) fn record(&self, path: &str, edit: Edit) -> Result<RecordedEntry, Error> {
        self.client.record(self.variable("AGENTS_CHANGESET"), &entry(path, edit))
    }

    pub(crate) fn record_text(&self, path: &str, text: &str) -> Result<RecordedEntry, Error> {
        self.record(path, Edit::Bytes(text.as_bytes().to_vec(), None))
    }

    /// A line as it is, and what comes back.
    pub(crate) fn say(&self, line: &[u8]) -> Option<Value> {
        let mut stream = self.connect();
        // Whoever is refused is not listened to any longer.
        drop(stream.write_all(line));
        answer(&stream)
    }

    pub(crate) fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.variable("AGENTS_SOCKET")).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// A request to record a file's content of so many bytes.
    pub(crate) fn request(&self, path: &str, bytes: u64) -> String {
        let params = json!({ "changeset": self.variable("AGENTS_CHANGESET"), "path": path, "edit": { "content": { "mode": null } } });
        let token = self.variable("AGENTS_TOKEN");
        json!({ "version": 2, "token": token, "method": "record", "params": params, "body_lengths": [bytes] })
            .to_string()
            + "\n"
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        fs::write(Path::new(self.variable("TMPDIR")).join("go"), "").unwrap();
    }
}

/// The line that comes back; nothing when the run has hung up.
pub(crate) fn answer(stream: &UnixStream) -> Option<Value> {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

pub(crate) fn entry(path: &str, edit: Edit) -> NewEntry {
    NewEntry { root: None, path: path.to_owned(), edit, base: None, tool: None }
}

/// As a command sees it that is started with these variables.
pub(crate) fn client(variables: &BTreeMap<String, String>) -> RunClient {
    let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
    RunClient::from_env(&Invocation { variables, ..Invocation::default() }).expect("it is in a sandbox")
}

/// The code of an error, and the code with which a command ends.
pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> (&'static str, cleveragents::Kind) {
    let error = result.unwrap_err();
    (error.code().to_owned().leak(), error.kind())
}
