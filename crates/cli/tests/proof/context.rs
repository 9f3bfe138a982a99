//! Commands that change a context, killed or failed at every system call: all four files are old or
//! all four are new, acknowledged changes are kept, and the next command removes all leftovers.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::folder::{CONTEXT, copy, leftovers};
use testkit::strace::{self, BEGIN, Inject};

use crate::bench::{self, Bench, proofs, prove};
use crate::{names, program};

/// In CI, every n-th error is tried. Coprime with the number of kinds of errors, so that all kinds are covered.
const SAMPLE_OF_ERRORS: usize = 7;

/// One command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Workload {
    /// Appends a message.
    Append,
    /// Creates the first context of a user, without a home folder.
    Create,
    /// Replaces all four files of an existing context.
    Import,
    /// Removes the context.
    Remove,
    /// Appends a message after a kill left the one before it in the journal only.
    Recovery,
}

/// A context, without parts that differ from run to run.
#[derive(PartialEq, Eq, Debug)]
struct Found {
    texts: Vec<String>,
    state: Value,
    global: Value,
}

impl Workload {
    fn words(self) -> &'static str {
        match self {
            Self::Append => "context append chat --role user new",
            Self::Create => "context create chat",
            Self::Import => "context import ../imported --as chat --replace",
            Self::Remove => "context remove chat --yes",
            Self::Recovery => "context append chat --role user newer",
        }
    }
}

fn run(trial: &Path, words: &str) -> Command {
    let words: Vec<&str> = words.split(' ').collect();
    program(&trial.join("home"), &trial.join(BEGIN), &words)
}

fn must(trial: &Path, words: &str) -> Result<(), String> {
    let output = run(trial, words).output().unwrap();
    if output.status.success() { Ok(()) } else { Err(format!("`{words}` failed: {output:?}")) }
}

/// Writes a legacy folder with a number.
fn write_old(folder: &Path, number: usize) {
    fs::create_dir(folder).unwrap();
    let messages: Vec<_> =
        (0..number).map(|at| serde_json::json!({ "role": "user", "content": format!("m{at}") })).collect();
    let small = serde_json::json!({ "number": number });
    for (file, value) in
        [("messages", Value::from(messages)), ("state", small.clone()), ("global_context", small)]
    {
        fs::write(folder.join(format!("{file}.json")), value.to_string()).unwrap();
    }
}

impl bench::Workload for Workload {
    type State = Option<Found>;

    fn name(self) -> &'static str {
        match self {
            Self::Append => "`agents context append`",
            Self::Create => "`agents context create`, first of a user",
            Self::Import => "`agents context import --replace`",
            Self::Remove => "`agents context remove`",
            Self::Recovery => "`agents context append` that recovers",
        }
    }

    fn set_up(self, trial: &Path) {
        fs::create_dir_all(trial.join(BEGIN)).unwrap();
        write_old(&trial.join("before"), 2);
        write_old(&trial.join("imported"), 3);
        if self != Self::Create {
            must(trial, "context import ../before --as chat").unwrap();
        }
        if self == Self::Recovery {
            // Killed after the commit, at the first write to a file.
            let append = Self::Append.command(trial);
            let calls = strace::calls(&append, &trial.with_file_name("log"));
            must(trial, "context rewind chat --to 2").unwrap();
            let published = calls
                .iter()
                .find(|call| call.name == "pwrite64" && call.arguments.contains("messages.jsonl"));
            let ended = strace::run(&append, published.expect("it writes messages"), Inject::Kill);
            assert!(ended.killed, "{ended:?}");
            let files = fs::read_to_string(trial.join("home/contexts/chat/messages.jsonl")).unwrap();
            assert!(!files.contains("new"), "only the journal has it");
        }
    }

    fn command(self, trial: &Path) -> Command {
        run(trial, self.words())
    }

    fn read(self, trial: &Path) -> Result<Option<Found>, String> {
        let output = run(trial, "context export chat").output().unwrap();
        match output.status.code() {
            Some(0) => {}
            Some(3) => return Ok(None),
            _ => return Err(format!("it cannot be read: {output:?}")),
        }
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let value = |at: usize| lines[at]["value"].clone();
        let messages = &lines[4..lines.len() - 1];
        let texts: Vec<_> =
            messages.iter().map(|line| line["value"]["content"].as_str().unwrap().to_owned()).collect();
        if value(1)["message_count"] != texts.len() {
            return Err(format!("it counts otherwise: {text}"));
        }
        Ok(Some(Found { texts, state: value(2), global: value(3) }))
    }

    fn check_next(self, trial: &Path) -> Result<(), String> {
        let before = self.read(trial)?;
        let contexts = trial.join("home/contexts");
        if before.is_none() {
            must(trial, "context create chat")?;
        }
        must(trial, "context append chat --role user next")?;
        must(trial, "context verify chat")?;
        let mut expected = before.map(|found| found.texts).unwrap_or_default();
        expected.push("next".to_owned());
        let after = self.read(trial)?.map(|found| found.texts).unwrap_or_default();
        let left = leftovers(&contexts.join("chat"), &CONTEXT);
        if after != expected || !left.is_empty() {
            return Err(format!("the next command left {after:?} and {left:?}"));
        }
        if self == Self::Remove {
            must(trial, "context remove chat --yes")?;
            let left = names(&contexts.join(".trash"));
            if !left.is_empty() {
                return Err(format!("the next removal left {left:?}"));
            }
        }
        Ok(())
    }

    fn sample_of_errors(self) -> usize {
        SAMPLE_OF_ERRORS
    }
}

proofs!(append Append, create Create, import Import, remove Remove, recovery Recovery);

#[test]
fn an_append_by_the_program_waits_for_the_disk_once_for_the_message() {
    let Some(bench) = Bench::new(Workload::Append) else { return };
    let syncs: Vec<_> =
        bench.calls.iter().filter(|call| call.name.contains("sync")).map(|call| call.step()).collect();
    let journal = syncs.iter().filter(|step| step.contains("journal")).count();
    assert_eq!(journal, 1, "{syncs:?}");
    assert_eq!(syncs.len(), 1, "{syncs:?}");
}

/// A killed create may have created the folders without syncing their names. A kill cannot show
/// that, only a later power cut.
#[test]
fn folders_that_a_killed_create_made_are_made_durable_by_the_next() {
    let Some(bench) = Bench::new(Workload::Create) else { return };
    copy(&bench.start, &bench.trial);
    fs::create_dir_all(bench.trial.join("home/contexts")).unwrap();
    let create = run(&bench.trial, Workload::Create.words());
    let calls = strace::calls(&create, &bench.start.with_file_name("log"));
    let syncs: Vec<_> =
        calls.iter().filter(|call| call.name == "fsync").map(|call| &*call.arguments).collect();
    for around in [bench.trial.join("home"), bench.trial.clone()] {
        let name = format!("<{}>", around.display());
        assert!(syncs.iter().any(|sync| sync.contains(&name)), "{name} is not in {syncs:?}");
    }
}
