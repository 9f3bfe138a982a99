//! Steps about contexts.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;

use cucumber::{given, then, when};
use serde_json::Value;
use testkit::folder::{self, CONTEXT};
use testkit::mount::SmallDisk;

use crate::commands::{run_with_input, stderr};
use crate::four_files;
use crate::world::{World, read};

/// Size of a disk that will be full.
const DISK_BYTES: u64 = 1 << 20;
const PAGE_BYTES: usize = 4096;

impl World {
    pub(crate) fn context(&self, name: &str) -> PathBuf {
        self.home.as_ref().unwrap().join("contexts").join(name)
    }

    /// Runs the program with these words.
    pub(crate) fn ask(&self, words: &[&str]) -> Output {
        self.program().args(words).stdin(Stdio::null()).output().unwrap()
    }

    /// Exports a whole context, as a reader sees it.
    fn export(&self, name: &str) -> Vec<u8> {
        let output = self.ask(&["context", "export", name]);
        assert!(output.status.success(), "{output:?}");
        output.stdout
    }

    fn remember_context(&mut self) {
        self.exported.clear();
        let contexts = self.home.as_ref().map(|home| home.join("contexts"));
        let Some(names) = contexts.and_then(|folder| fs::read_dir(folder).ok()) else { return };
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        for name in names.filter(|name| !name.starts_with('.')).collect::<Vec<_>>() {
            // A context with a torn line cannot be exported byte for byte; compare its files.
            let exported = self.ask(&["context", "export", &name]).stdout;
            let files = FILES_NOW.map(|file| (file, fs::read(self.context(&name).join(file)).ok()));
            self.exported.insert(name, (exported, files.into()));
        }
    }
}

/// The four files.
const FILES_NOW: [&str; 4] = ["messages.jsonl", "metadata.json", "state.json", "global_context.json"];

#[given(expr = "a context {string} with {int} messages")]
fn context(world: &mut World, name: String, count: u64) {
    let from = world.path("numbers").join(count.to_string());
    four_files::write(&from, count);
    let made = world.ask(&["context", "import", from.to_str().unwrap(), "--as", &name]);
    assert!(made.status.success(), "{made:?}");
    world.remember_context();
}

#[given(expr = "a context {string} with {int} messages on a disk with no room")]
fn context_on_full_disk(world: &mut World, name: String, count: u64) {
    let disk =
        SmallDisk::new(&world.path("user"), DISK_BYTES).expect("scenarios are asked before whether they can");
    world.home = Some(disk.point().join("home"));
    context(world, name, count);
    let mut filler = Vec::new();
    // Fill the disk, page by page.
    while fs::write(disk.point().join("filler"), &filler).is_ok() {
        filler.resize(filler.len() + PAGE_BYTES, b'f');
    }
    world.disk = Some(disk);
}

#[when("there is room again")]
fn room_again(world: &mut World) {
    fs::remove_file(world.disk.as_ref().unwrap().point().join("filler")).unwrap();
}

#[when(expr = "I append a message of {int} bytes to {string}")]
fn append_large(world: &mut World, bytes: usize, name: String) {
    run_with_input(world, format!("agents context append {name} --role user -"), "x".repeat(bytes));
}

#[when(expr = "I make a context with the name {string}")]
fn make(world: &mut World, name: String) {
    world.output = Some(world.ask(&["context", "create", &name]));
}

#[when(expr = "I make a context with a name of {int} bytes")]
fn make_long(world: &mut World, bytes: usize) {
    make(world, "n".repeat(bytes));
}

#[when(expr = "I run {string} while writing {string} fails with {string}")]
fn run_failing(world: &mut World, words: String, file: String, error: String) {
    let words: Vec<&str> = words.strip_prefix("agents ").unwrap().split_whitespace().collect();
    let chat = world.context("chat").canonicalize().unwrap();
    let calls = "pwrite64,write,ftruncate";
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-P"]).arg(chat.join(file));
    command.args(["-e", &format!("trace={calls}"), "-e", &format!("inject={calls}:error={error}"), "--"]);
    let inner = world.program();
    command.arg(inner.get_program()).args(words).env_clear().current_dir(&world.current);
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    world.output = Some(command.stdin(Stdio::null()).output().unwrap());
}

#[when(expr = "{int} processes append {int} messages each to {string}")]
fn append_from_many(world: &mut World, processes: usize, each: usize, name: String) {
    let (world_now, name) = (&*world, &*name);
    let append = |process: usize, n: usize| {
        let output =
            world_now.ask(&["context", "append", name, "--role", "user", &format!("p{process}-{n}")]);
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    };
    let append = &append;
    world.sets = thread::scope(|scope| {
        let threads: Vec<_> = (0..processes)
            .map(|process| scope.spawn(move || (0..each).map(|n| append(process, n)).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
}

#[then("every append succeeded")]
fn all_appended(world: &mut World) {
    let failed: Vec<_> = world.sets.iter().filter_map(|set| set.as_ref().err()).collect();
    assert!(!world.sets.is_empty() && failed.is_empty(), "{failed:?}");
}

/// Messages of a context, from an archive.
fn messages(archive: &[u8]) -> Vec<Value> {
    parts(archive).remove("message").unwrap_or_default()
}

/// Values of an archive by kind.
fn parts(archive: &[u8]) -> BTreeMap<String, Vec<Value>> {
    let mut parts: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in std::str::from_utf8(archive).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        parts.entry(line["kind"].as_str().unwrap().to_owned()).or_default().push(line["value"].clone());
    }
    parts
}

#[then(expr = "{string} has {int} messages, each once, numbered without a gap")]
fn has_messages(world: &mut World, name: String, count: usize) {
    let shown = world.ask(&["--format", "json", "context", "show", &name]);
    let lines: Vec<Value> = std::str::from_utf8(&shown.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let numbers: Vec<_> = lines.iter().filter_map(|line| line["number"].as_u64()).collect();
    assert_eq!(numbers, (0..count as u64).collect::<Vec<_>>());
    let archive = world.export(&name);
    let mut ids: Vec<_> = messages(&archive).iter().map(|one| one["id"].to_string()).collect();
    assert!(ids.is_sorted(), "ids rise");
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert_eq!(parts(&archive)["metadata"][0]["message_count"], count);
}

#[then("what a process appended is in its order")]
fn in_order(world: &mut World) {
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    for message in messages(&world.export("chat")) {
        if let Some((process, n)) = message["content"].as_str().unwrap().split_once('-') {
            let n: usize = n.parse().unwrap();
            assert_eq!(last.insert(process.to_owned(), n).map_or(0, |before| before + 1), n);
        }
    }
    assert!(!last.is_empty());
}

#[then(expr = "the context {string} is as it was")]
fn as_it_was(world: &mut World, name: String) {
    assert_eq!(text(&world.export(&name)), text(&world.exported[&name].0));
}

#[then(expr = "the context {string} is new")]
fn is_new(world: &mut World, name: String) {
    let [before, after] = [&world.exported[&name].0, &world.export(&name)].map(|archive| parts(archive));
    let revision = |parts: &BTreeMap<String, Vec<Value>>| parts["metadata"][0]["revision"].as_u64().unwrap();
    assert_eq!(revision(&after), revision(&before) + 1, "{after:?}");
    let content = |parts: &BTreeMap<String, Vec<Value>>| {
        ["message", "state", "global_context"].map(|kind| parts.get(kind).cloned())
    };
    assert_ne!(content(&after), content(&before));
    // The command made this one change, completely, and no other.
    let count = after.get("message").map_or(0, Vec::len);
    assert_eq!(after["metadata"][0]["message_count"], count);
}

#[then(expr = "the context {string} is sound")]
fn is_sound(world: &mut World, name: String) {
    let output = world.ask(&["context", "verify", &name]);
    assert!(output.status.success(), "{output:?}");
}

#[then(expr = "the four files of {string} are as they were")]
fn files_as_they_were(world: &mut World, name: String) {
    for (file, before) in &world.exported[&name].1 {
        let now = fs::read(world.context(&name).join(file)).ok();
        assert!(now.is_some() && now == *before, "{file} was changed");
    }
}

#[then(expr = "no temporary file is left in {string}")]
fn nothing_left(world: &mut World, name: String) {
    assert_eq!(strays(world, &name), Vec::<String>::new());
}

/// Names in the folder of a context that do not belong there.
pub(crate) fn strays(world: &World, name: &str) -> Vec<String> {
    folder::leftovers(&world.context(name), &CONTEXT)
}

#[then("it fails")]
fn fails(world: &mut World) {
    let code = world.last().status.code();
    assert!(matches!(code, Some(1 | 6)), "{code:?}: {}", stderr(world));
}

#[given(expr = "the last line of {string} is cut by {int} bytes")]
fn cut_last_line(world: &mut World, name: String, bytes: usize) {
    let file = world.context(&name).join("messages.jsonl");
    let mut text = read(&file);
    text.truncate(text.len() - bytes);
    fs::write(file, text).unwrap();
    world.remember_context();
}

#[then(expr = "{string} of {string} has the line that was cut")]
fn has_cut_line(world: &mut World, file: String, name: String) {
    let (_, files) = &world.exported[&name];
    let before = files["messages.jsonl"].as_deref().map(text).unwrap();
    let cut = before.lines().last().unwrap();
    assert_eq!(read(&world.context(&name).join(file)), cut);
}

#[then(expr = "there is no folder of {string}")]
fn no_folder(world: &mut World, name: String) {
    assert!(!world.context(&name).exists());
}

#[then("the home folder is empty")]
fn home_is_empty(world: &mut World) {
    let home = world.home.as_ref().unwrap();
    assert_eq!(fs::read_dir(home).unwrap().count(), 0);
}

#[given(expr = "an export of {string} in {string}")]
fn exported(world: &mut World, name: String, file: String) {
    fs::write(world.current.join(file), world.export(&name)).unwrap();
}

#[given(expr = "a file {string} that has {string}")]
fn file_that_has(world: &mut World, file: String, content: String) {
    fs::write(world.current.join(file), content).unwrap();
}

#[given(regex = r#"^"([^"]*)" has '(.*)' where '(.*)' was$"#)]
fn changed(world: &mut World, file: String, new: String, old: String) {
    let path = world.current.join(file);
    let text = read(&path);
    assert!(text.contains(&old), "{old} is not in {text}");
    fs::write(path, text.replacen(&old, &new, 1)).unwrap();
}

#[given(regex = r#"^"([^"]*)" has '(.*)' and nothing else$"#)]
fn has_only(world: &mut World, file: String, content: String) {
    file_that_has(world, file, content);
}

#[given(expr = "{string} is cut in the middle")]
fn cut_in_the_middle(world: &mut World, file: String) {
    let path = world.current.join(file);
    let text = read(&path);
    fs::write(path, &text[..text.len() / 2]).unwrap();
}

#[then(expr = "{string} has the messages, the state and the global context of {string}")]
fn is_copy(world: &mut World, copy: String, name: String) {
    let content = |name: &str| {
        let archive = world.export(name);
        let lines = text(&archive).lines().map(str::to_owned).collect::<Vec<_>>();
        // Everything but head, metadata and checksum, byte for byte.
        lines[2..lines.len() - 1].to_vec()
    };
    assert_eq!(content(&copy), content(&name));
}

#[then(expr = "the last line of {string} has a checksum that begins with {string}")]
fn has_checksum(world: &mut World, file: String, start: String) {
    let text = read(&world.current.join(file));
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert!(last["checksum"].as_str().unwrap().starts_with(&start), "{last}");
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
