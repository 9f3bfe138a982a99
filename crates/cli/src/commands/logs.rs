//! `agents logs`.

mod lines;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use api::{JsonBytes, NodeOutput, PlanRun, PlanSelector};
use schemars::JsonSchema;
use serde::Serialize;

use super::existing_plans;
use super::schema::{Entry, of};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};
use crate::session::Session;
use lines::Lines;

/// Interval between looks for new output.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Size of one read.
const CHUNK_BYTES: u64 = 64 * 1024;

/// Print what actors printed
///
/// Prints the output of one node as it is, that of all nodes one after the other, with the name of the node before each line. `--follow` ends
/// when no node runs, or with Ctrl-C. The output of an actor that had the terminal is not kept.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Name, id, prefix of an id, or @latest
    plan: PlanSelector,
    /// Print only the output of this node
    node: Option<String>,
    /// Print new output until the run ends
    #[arg(short, long)]
    follow: bool,
}

const EXAMPLES: &str = "\
Examples:
  agents logs @latest
  agents logs @latest tests --follow";

pub(super) const SCHEMAS: &[Entry] = &[("logs", of::<Option<Data>>), ("logs event", of::<Event<'_>>)];

/// The `data` of the envelope; null after `--follow`.
#[derive(JsonSchema, Serialize)]
struct Data {
    nodes: Vec<NodeLog>,
}

/// The output of a node.
#[derive(JsonSchema, Serialize)]
struct NodeLog {
    node: String,
    /// More output may come.
    running: bool,
    output: JsonBytes,
}

/// A line of `--follow`.
#[derive(JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Event<'a> {
    Following { plan: String },
    NodeOutput { node: &'a str, line: JsonBytes },
}

pub(crate) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    // Resolve `@latest` once: a new plan does not change what is followed.
    let run = existing_plans(session)?.run_of(&args.plan)?;
    let nodes = match &args.node {
        Some(node) => vec![node.clone()],
        None => run.nodes()?.into_iter().map(|node| node.name).collect(),
    };
    let mut tails: Vec<Tail> = nodes.into_iter().map(Tail::new).collect();
    if args.follow {
        follow(args, &run, &mut tails, output)
    } else {
        print_all(args, &run, &mut tails, output)
    }
}

/// Prints the output of one node after the other.
fn print_all(args: &Args, run: &PlanRun, tails: &mut [Tail], output: &mut Output) -> Result<Answer> {
    let mut nodes = Vec::new();
    for tail in tails {
        let mut all = Vec::new();
        loop {
            let chunk = tail.read(run)?;
            if chunk.is_empty() {
                break;
            }
            match output.is_json() {
                true => all.extend(chunk),
                false => tail.print(&chunk, args.node.is_some(), output)?,
            }
        }
        tail.end_line(output)?;
        let output = JsonBytes::of(&all);
        nodes.push(NodeLog { node: tail.node.clone(), running: tail.is_running, output });
    }
    Ok(Answer::of(&Data { nodes }))
}

/// Prints new output until no node runs.
fn follow(args: &Args, run: &PlanRun, tails: &mut [Tail], output: &mut Output) -> Result<Answer> {
    output.begin_stream(&Event::Following { plan: args.plan.to_string() })?;
    let interrupt = Interrupt::listen()?;
    loop {
        let mut is_new = false;
        for tail in tails.iter_mut().filter(|tail| tail.is_running) {
            let chunk = tail.read(run)?;
            is_new |= !chunk.is_empty();
            tail.print(&chunk, args.node.is_some(), output)?;
            if !tail.is_running {
                tail.end_line(output)?;
            }
        }
        if !tails.iter().any(|tail| tail.is_running) {
            return Ok(Answer::ok(serde_json::Value::Null));
        }
        interrupt.check()?;
        if !is_new {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// The output of a node, up to the last read.
struct Tail {
    node: String,
    /// More output may come.
    is_running: bool,
    file: Option<PathBuf>,
    bytes: u64,
    lines: Lines,
}

impl Tail {
    fn new(node: String) -> Self {
        Self { node, is_running: true, file: None, bytes: 0, lines: Lines::default() }
    }

    /// Reads new output, a chunk at most.
    fn read(&mut self, run: &PlanRun) -> Result<Vec<u8>> {
        // Query the state before reading: a node that has ended by then has all its output in the file.
        let NodeOutput { file, is_running, .. } = run.output(&self.node)?;
        if self.file != file {
            // Each attempt has its own file.
            (self.file, self.bytes) = (file, 0);
        }
        self.is_running = is_running;
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        let failed = |source| Error::File { act: "read", path: file.clone(), source };
        let mut chunk = Vec::new();
        let mut opened = File::open(file).map_err(failed)?;
        opened.seek(SeekFrom::Start(self.bytes)).map_err(failed)?;
        opened.take(CHUNK_BYTES).read_to_end(&mut chunk).map_err(failed)?;
        self.bytes += chunk.len() as u64;
        // A full chunk may not be the last.
        self.is_running |= chunk.len() as u64 == CHUNK_BYTES;
        Ok(chunk)
    }

    /// Prints a chunk: of one node as it is, of several line by line.
    fn print(&mut self, chunk: &[u8], is_alone: bool, output: &mut Output) -> Result<()> {
        if is_alone && !output.is_json() {
            return output.print_bytes(chunk);
        }
        let node = &self.node;
        self.lines.add(chunk, |line| print_line(node, line, output))
    }

    /// Prints a last line without a line feed.
    fn end_line(&mut self, output: &mut Output) -> Result<()> {
        let line = self.lines.take_rest();
        if line.is_empty() { Ok(()) } else { print_line(&self.node, &line, output) }
    }
}

fn print_line(node: &str, line: &[u8], output: &mut Output) -> Result<()> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    if output.is_json() {
        return output.stream(&Event::NodeOutput { node, line: JsonBytes::of(line) });
    }
    output.print_labelled(&format!("{} | ", output.paint().strong(node)), line)
}
