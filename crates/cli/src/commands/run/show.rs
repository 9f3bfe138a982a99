//! Shows a running run: live on a terminal, as lines in a pipe, as JSON Lines for programs, or not at
//! all while an actor has the terminal.
//!
//! A thread runs the plan and sends events through a bounded channel: an actor that prints too much waits
//! for the output. If the reader of the output goes away, the run continues in silence.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Instant;

use api::{Kind, NodeOutcome, Problem, RecoveryAction, RunEvent, RunSummary};

use super::draw;
use super::live::{FRAME, Live};
use super::model::{RowState, RunModel, row_line, without_colors};
use super::phrases::{End, ended, took};
use crate::error::Result;
use crate::output::Output;
use crate::style::{Level, Paint};

/// Events that may wait for the output.
const QUEUE: usize = 1024;

/// The view of a run.
pub(super) enum Showing {
    /// One line per node, redrawn in place.
    Live(Live),
    /// One line per event.
    Lines,
    /// The actor has the terminal.
    Nothing,
}

/// Starts a run and shows its events until it ends.
pub(super) fn follow(
    run: impl FnOnce(&(dyn Fn(RunEvent) + Sync)) -> std::result::Result<RunSummary, api::Error> + Send,
    showing: Showing,
    output: &mut Output,
) -> Result<RunSummary> {
    std::thread::scope(|scope| {
        let (sender, events) = mpsc::sync_channel(QUEUE);
        let running = scope.spawn(move || {
            run(&|event| {
                // The receiver outlives this thread.
                let _ = sender.send(event);
            })
        });
        let shown = View::new(showing, output).show(&events);
        let summary = running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        shown.map(|()| summary)
    })
}

/// The view and its state.
struct View<'a> {
    showing: Showing,
    output: &'a mut Output,
    paint: Paint,
    model: RunModel,
    started: Instant,
    /// Lines to print above the live view.
    above: Vec<String>,
    drawn: Option<Instant>,
}

impl<'a> View<'a> {
    fn new(showing: Showing, output: &'a mut Output) -> Self {
        let paint = output.paint();
        let (model, above) = (RunModel::default(), Vec::new());
        Self { showing, output, paint, model, started: Instant::now(), above, drawn: None }
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
        // Draw lines that came after the last frame.
        self.drawn = None;
        self.draw();
        result
    }

    /// Draws a frame, at most one per [`FRAME`].
    fn draw(&mut self) {
        let Showing::Live(live) = &mut self.showing else { return };
        if self.model.rows().is_empty() || self.drawn.is_some_and(|drawn| drawn.elapsed() < FRAME) {
            return;
        }
        self.drawn = Some(Instant::now());
        let lines = draw::frame(&self.model, self.started.elapsed(), live.size(), self.paint);
        live.draw(&std::mem::take(&mut self.above), &lines);
    }

    fn event(&mut self, event: RunEvent) -> Result<()> {
        match &event {
            RunEvent::RunStarted { .. } => self.output.begin_stream(&event)?,
            _ => self.output.stream(&event)?,
        }
        self.update_model(&event);
        match self.showing {
            Showing::Live(_) => self.print_above(&event),
            Showing::Lines => self.report_line(event),
            Showing::Nothing => {}
        }
        Ok(())
    }

    /// Applies an event to the model.
    fn update_model(&mut self, event: &RunEvent) {
        let now = self.started.elapsed();
        match event {
            RunEvent::RunStarted { nodes, .. } => {
                self.model = RunModel::new(nodes.iter().map(|node| (node.name.clone(), node.needs.clone())));
            }
            RunEvent::NodeStarted { node, attempt, .. } => self.model.start(node, *attempt, now),
            RunEvent::NodeOutput { node, line } => self.model.set_line(node, &String::from_utf8_lossy(line)),
            RunEvent::NodeChanged { node, files_changed } => {
                self.model.change(node, |row| row.files = *files_changed);
            }
            RunEvent::NodeEnded { node, outcome, code, signal, seconds, files_changed, reason, .. } => {
                let end = End { outcome: *outcome, code: *code, signal: *signal, reason: reason.as_deref() };
                self.model.change(node, |row| {
                    let took = (*seconds > 0.0).then(|| took(*seconds));
                    row.state = RowState::Ended { mark: end.mark(), took };
                    row.files = *files_changed;
                    if *outcome != NodeOutcome::Succeeded {
                        row.line = end.words();
                    }
                });
            }
            _ => {}
        }
    }

    /// Prints warnings and the last lines of failed nodes above the live view.
    fn print_above(&mut self, event: &RunEvent) {
        match event {
            RunEvent::NodeEnded { node, outcome, code, signal, reason, last_lines, .. } => {
                let end = End { outcome: *outcome, code: *code, signal: *signal, reason: reason.as_deref() };
                if end.mark() == super::model::Mark::Bad {
                    let sign = self.paint.bad(self.paint.symbol("✗", "!"));
                    self.above.push(format!("{sign} {}: {}", self.paint.strong(node), end.words()));
                    let line = |line: &String| format!("    {}", self.paint.faint(row_line(line)));
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

    /// Reports an event in one line.
    fn report_line(&mut self, event: RunEvent) {
        let paint = self.paint;
        if let Some(problem) = problem(&event) {
            self.output.warn_inline(problem);
            return;
        }
        let (node, what) = match event {
            RunEvent::NodeStarted { node, attempt: 1, .. } => (node, ": started".to_owned()),
            RunEvent::NodeStarted { node, attempt, .. } => (node, format!(": started, attempt {attempt}")),
            RunEvent::NodeOutput { node, line } => {
                let line = without_colors(String::from_utf8_lossy(&line).trim_end());
                self.output.report(format!("{} | {line}", paint.strong(node)));
                return;
            }
            RunEvent::NodeEnded { node, outcome, code, signal, seconds, files_changed, reason, .. } => {
                let end = End { outcome, code, signal, reason: reason.as_deref() };
                (node, format!(": {}", ended(&end, seconds, files_changed)))
            }
            _ => return,
        };
        self.output.report(format!("{}{what}", paint.strong(node)));
    }
}

/// The warning of an event, if it is one.
fn problem(event: &RunEvent) -> Option<Problem> {
    let (code, text) = match event {
        RunEvent::Overlap { path, nodes } => ("overlap", format!("overlap: {path}: {}", nodes.join(", "))),
        RunEvent::NodeRetried { node, attempt, reason } => {
            ("node-retried", format!("{node}: attempt {attempt} failed ({reason}); retrying"))
        }
        RunEvent::NodeRecovered { node, action } => {
            let text = match action {
                RecoveryAction::ProcessesEnded => "ended processes of the interrupted run",
                RecoveryAction::Restarted => "was interrupted, runs again",
                RecoveryAction::Retried => "had not succeeded, runs again",
            };
            ("node-recovered", format!("{node}: {text}"))
        }
        _ => return None,
    };
    Some(Problem::without_cause(Kind::Error, code, text))
}

/// The table of nodes for the end of a run.
pub(super) fn table(summary: &RunSummary, columns: usize, paint: Paint) -> Vec<String> {
    let mut model = RunModel::new(summary.nodes.iter().map(|node| (node.name.clone(), Vec::new())));
    for node in &summary.nodes {
        model.change(&node.name, |row| {
            row.files = node.files_changed;
            row.attempt = node.attempts.max(1);
            if let Some(end) = End::of(node) {
                row.state = RowState::Ended { mark: end.mark(), took: node.seconds.map(took) };
                row.line = if end.outcome == NodeOutcome::Succeeded { String::new() } else { end.words() };
            }
        });
    }
    draw::table(&model, columns, paint)
}
