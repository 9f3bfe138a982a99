//! `agents plan logs`.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use api::{NodeOutput, PlanRun, PlanSelector, Plans};
use serde_json::json;

use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};

/// How often to look for more.
const LOOK: Duration = Duration::from_millis(200);
/// How much is read at once.
const PIECE_BYTES: u64 = 64 * 1024;

/// Print what the actors of a run printed
///
/// Of one node as it is; of all nodes with the name of each before its lines, one node after the other. `--follow` goes on until no node
/// runs any more, or Ctrl-C. An actor that had the terminal left nothing here.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The plan: an id, the beginning of one, a name, or @latest
    plan: PlanSelector,
    /// Only this node
    node: Option<String>,
    /// Go on while there may be more
    #[arg(short, long)]
    follow: bool,
}

const EXAMPLES: &str = "\
Examples:
  agents plan logs @latest
  agents plan logs @latest tests --follow";

pub(super) fn run(args: &Args, plans: &Plans, output: &mut Output) -> Result<Answer> {
    // Resolved once: `@latest` stays the plan that it was.
    let run = plans.run_of(&args.plan)?;
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

/// One node after the other.
fn print_all(args: &Args, run: &PlanRun, tails: &mut [Tail], output: &mut Output) -> Result<Answer> {
    let mut nodes = Vec::new();
    for tail in tails {
        let mut all = Vec::new();
        loop {
            let piece = tail.read(run)?;
            if piece.is_empty() {
                break;
            }
            match output.is_json() {
                true => all.extend(piece),
                false => tail.print(&piece, args.node.is_some(), output)?,
            }
        }
        tail.end_line(output)?;
        let output = String::from_utf8_lossy(&all).into_owned();
        nodes.push(json!({ "node": tail.node, "running": tail.is_running, "output": output }));
    }
    Ok(Answer::ok(json!({ "nodes": nodes })))
}

/// Whatever comes, until nothing can come any more.
fn follow(args: &Args, run: &PlanRun, tails: &mut [Tail], output: &mut Output) -> Result<Answer> {
    output.begin_stream(&json!({ "event": "following", "plan": args.plan.to_string() }))?;
    let interrupt = Interrupt::listen()?;
    loop {
        let mut is_new = false;
        for tail in tails.iter_mut().filter(|tail| tail.is_running) {
            let piece = tail.read(run)?;
            is_new |= !piece.is_empty();
            tail.print(&piece, args.node.is_some(), output)?;
            if !tail.is_running {
                tail.end_line(output)?;
            }
        }
        if !tails.iter().any(|tail| tail.is_running) {
            return Ok(Answer::ok(serde_json::Value::Null));
        }
        interrupt.check()?;
        if !is_new {
            std::thread::sleep(LOOK);
        }
    }
}

/// What a node printed, as far as it has been read.
struct Tail {
    node: String,
    /// Whether more may come.
    is_running: bool,
    file: Option<PathBuf>,
    bytes: u64,
    /// A line that is not whole yet.
    line: Vec<u8>,
}

impl Tail {
    fn new(node: String) -> Self {
        Self { node, is_running: true, file: None, bytes: 0, line: Vec::new() }
    }

    /// Reads what is new, a piece of it at most.
    fn read(&mut self, run: &PlanRun) -> Result<Vec<u8>> {
        // Asked before the file is read: what was printed before the end is in it.
        let NodeOutput { file, is_running, .. } = run.output(&self.node)?;
        if self.file != file {
            // Another try has a file of its own.
            (self.file, self.bytes) = (file, 0);
        }
        self.is_running = is_running;
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        let failed = |source| Error::File { act: "read", path: file.clone(), source };
        let mut piece = Vec::new();
        let mut opened = File::open(file).map_err(failed)?;
        opened.seek(SeekFrom::Start(self.bytes)).map_err(failed)?;
        opened.take(PIECE_BYTES).read_to_end(&mut piece).map_err(failed)?;
        self.bytes += piece.len() as u64;
        // There may be more than a piece.
        self.is_running |= piece.len() as u64 == PIECE_BYTES;
        Ok(piece)
    }

    /// Prints a piece: of one node as it is, of several line by line.
    fn print(&mut self, piece: &[u8], is_alone: bool, output: &mut Output) -> Result<()> {
        if is_alone && !output.is_json() {
            return super::diff::print(piece, output);
        }
        self.line.extend_from_slice(piece);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            self.say(&line, output)?;
        }
        Ok(())
    }

    /// Prints a last line that has no end.
    fn end_line(&mut self, output: &mut Output) -> Result<()> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() { Ok(()) } else { self.say(&line, output) }
    }

    fn say(&self, line: &[u8], output: &mut Output) -> Result<()> {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        if output.is_json() {
            return output.stream(&json!({ "event": "node-output", "node": self.node, "line": line }));
        }
        output.say_text(format!("{} | {line}", output.paint().strong(&self.node)))
    }
}
