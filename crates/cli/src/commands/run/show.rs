//! Showing a run while it is under way: live on a terminal, as lines in a pipe, as JSON Lines to programs, or not at all while an actor
//! has the terminal.
//!
//! The run goes on in a thread of its own, and what happens in it comes through a bounded channel: whoever prints too much waits for us.
//! When nobody reads what we print any more, the run goes on in silence.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Instant;

use api::{Kind, NodeOutcome, Problem, RunEvent, RunSummary};

use super::draw;
use super::live::{FRAME, Live};
use super::model::{Board, Stand, on_one_line};
use super::phrases::{End, ended, took};
use crate::error::Result;
use crate::escape::escaped;
use crate::look::{Level, Paint};
use crate::output::Output;

/// Events that may wait to be shown.
const QUEUE: usize = 1024;

/// How a run is shown.
pub(super) enum Showing {
    /// A line per node, drawn again and again.
    Live(Live),
    /// A line for each thing that happens.
    Lines,
    /// The actor has the terminal.
    Nothing,
}

/// Runs something and shows what happens until it ends.
pub(super) fn follow(
    run: impl FnOnce(&(dyn Fn(RunEvent) + Sync)) -> std::result::Result<RunSummary, api::Error> + Send,
    showing: Showing,
    output: &mut Output,
) -> Result<RunSummary> {
    std::thread::scope(|scope| {
        let (sender, events) = mpsc::sync_channel(QUEUE);
        let running = scope.spawn(move || {
            run(&|event| {
                // Whoever showed it is gone only when this thread is, too.
                let _ = sender.send(event);
            })
        });
        let shown = View::new(showing, output).show(&events);
        let summary = running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        shown.map(|()| summary)
    })
}

/// A run as it is shown.
struct View<'a> {
    showing: Showing,
    output: &'a mut Output,
    paint: Paint,
    board: Board,
    started: Instant,
    /// What is to stand above the lines that are drawn again.
    above: Vec<String>,
    drawn: Option<Instant>,
}

impl<'a> View<'a> {
    fn new(showing: Showing, output: &'a mut Output) -> Self {
        let paint = output.paint();
        let (board, above) = (Board::default(), Vec::new());
        Self { showing, output, paint, board, started: Instant::now(), above, drawn: None }
    }

    fn show(mut self, events: &Receiver<RunEvent>) -> Result<()> {
        let mut result = Ok(());
        loop {
            match events.recv_timeout(FRAME) {
                Ok(event) if result.is_ok() => result = self.event(event),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.draw();
        }
        // What came behind the last frame and is to stay.
        self.drawn = None;
        self.draw();
        result
    }

    /// Draws if it is time to.
    fn draw(&mut self) {
        let Showing::Live(live) = &mut self.showing else { return };
        if self.board.rows().is_empty() || self.drawn.is_some_and(|drawn| drawn.elapsed() < FRAME) {
            return;
        }
        self.drawn = Some(Instant::now());
        let lines = draw::frame(&self.board, self.started.elapsed(), live.size(), self.paint);
        live.draw(&std::mem::take(&mut self.above), &lines);
    }

    fn event(&mut self, event: RunEvent) -> Result<()> {
        match &event {
            RunEvent::RunStarted { .. } => self.output.begin_stream(&event)?,
            _ => self.output.stream(&event)?,
        }
        self.board_of(&event);
        match self.showing {
            Showing::Live(_) => self.say_above(&event),
            Showing::Lines => self.say_line(event)?,
            Showing::Nothing => {}
        }
        Ok(())
    }

    /// Keeps the board up to date.
    fn board_of(&mut self, event: &RunEvent) {
        let now = self.started.elapsed();
        match event {
            RunEvent::RunStarted { nodes, .. } => {
                self.board = Board::new(nodes.iter().map(|node| (node.name.clone(), node.needs.clone())));
            }
            RunEvent::NodeStarted { node, attempt, .. } => self.board.start(node, *attempt, now),
            RunEvent::NodeOutput { node, line } => self.board.say(node, line),
            RunEvent::NodeTouched { node, files } => self.board.change(node, |row| row.files = *files),
            RunEvent::NodeEnded { node, outcome, code, signal, seconds, files, reason, .. } => {
                let end = End { outcome: *outcome, code: *code, signal: *signal, reason: reason.as_deref() };
                self.board.change(node, |row| {
                    let took = (*seconds > 0.0).then(|| took(*seconds));
                    row.stand = Stand::Ended { mark: end.mark(), took };
                    row.files = *files;
                    if *outcome != NodeOutcome::Succeeded {
                        row.line = end.words();
                    }
                });
            }
            _ => {}
        }
    }

    /// What stays on a terminal: warnings, and the last lines of what failed.
    fn say_above(&mut self, event: &RunEvent) {
        match event {
            RunEvent::NodeEnded { node, outcome, code, signal, reason, last_lines, .. } => {
                let end = End { outcome: *outcome, code: *code, signal: *signal, reason: reason.as_deref() };
                if end.mark() == super::model::Mark::Bad {
                    let sign = self.paint.bad(self.paint.sign("✗", "!"));
                    self.above.push(format!("{sign} {}: {}", self.paint.strong(node), escaped(&end.words())));
                    let line = |line: &String| format!("    {}", self.paint.faint(on_one_line(line)));
                    self.above.extend(last_lines.iter().map(line));
                }
            }
            event => {
                if let Some(problem) = problem(event) {
                    let text = self.paint.message(Level::Warning, &problem);
                    self.above.extend(text.lines().map(str::to_owned));
                }
            }
        }
    }

    fn say_line(&mut self, event: RunEvent) -> Result<()> {
        let paint = self.paint;
        if let Some(problem) = problem(&event) {
            self.output.told(problem);
            return Ok(());
        }
        let (node, what) = match event {
            RunEvent::NodeStarted { node, attempt: 1, .. } => (node, ": started".to_owned()),
            RunEvent::NodeStarted { node, attempt, .. } => (node, format!(": started, try {attempt}")),
            RunEvent::NodeOutput { node, line } => {
                let line = anstream::adapter::strip_str(line.trim_end()).to_string();
                return self.output.confirm_text(format!("{} | {line}", paint.strong(node)));
            }
            RunEvent::NodeEnded { node, outcome, code, signal, seconds, files, reason, .. } => {
                let end = End { outcome, code, signal, reason: reason.as_deref() };
                (node, format!(": {}", ended(&end, seconds, files)))
            }
            _ => return Ok(()),
        };
        self.output.confirm(format!("{}{what}", paint.strong(node)))
    }
}

/// What of a run people are to look at.
fn problem(event: &RunEvent) -> Option<Problem> {
    let (code, text) = match event {
        RunEvent::Overlap { path, nodes } => {
            ("overlap", format!("`{path}` is being changed by {}", nodes.join(" and ")))
        }
        RunEvent::NodeRetried { node, attempt, reason } => {
            ("retried", format!("try {attempt} of {node} failed: {reason}; it is started again"))
        }
        RunEvent::Recovered { node, what } => ("recovered", format!("{node}: {what}")),
        _ => return None,
    };
    Some(Problem::without_cause(Kind::Error, code, text))
}

/// The nodes as they ended, for the end of a run.
pub(super) fn table(summary: &RunSummary, columns: usize, paint: Paint) -> Vec<String> {
    let mut board = Board::new(summary.nodes.iter().map(|node| (node.name.clone(), Vec::new())));
    for node in &summary.nodes {
        board.change(&node.name, |row| {
            row.files = node.files;
            row.attempt = node.attempts.max(1);
            if let Some(end) = End::of(node) {
                row.stand = Stand::Ended { mark: end.mark(), took: node.seconds.map(took) };
                row.line = if end.outcome == NodeOutcome::Succeeded { String::new() } else { end.words() };
            }
        });
    }
    draw::table(&board, columns, paint)
}
