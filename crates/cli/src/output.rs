//! Output: text for people, or one JSON envelope for programs.
//!
//! Standard output is data, standard error is for people: commands that show print, commands that act report. Lines are made visible, data
//! is exact in a pipe: see [`stream`](crate::stream).

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use api::{Kind, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Error, Exit, Result};
use crate::escape::visible;
use crate::stream::{Stdout, stderr, stdout};
use crate::style::{Color, Format, Level, Paint, Style, Verbosity};
use crate::table::Table;

/// The result of a command.
pub(crate) struct Answer {
    pub(crate) exit: Exit,
    pub(crate) data: Data,
}

/// The `data` of the envelope.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Data {
    Value(Value),
    /// JSON in the spelling of its author: `1.10` stays `1.10`.
    Text(Box<RawValue>),
}

impl From<Value> for Data {
    fn from(value: Value) -> Self {
        Data::Value(value)
    }
}

impl Answer {
    pub(crate) fn ok(data: Value) -> Self {
        Self { exit: Exit::Ok, data: data.into() }
    }

    /// Answers with JSON text as it is.
    pub(crate) fn text(json: Box<RawValue>) -> Self {
        Self { exit: Exit::Ok, data: Data::Text(json) }
    }

    /// Answers with a value of the library.
    pub(crate) fn of(answer: &impl Serialize) -> Self {
        Self::ok(serde_json::to_value(answer).expect("answers are made of text, numbers and lists"))
    }
}

/// The output of one command.
pub(crate) struct Output {
    command: &'static str,
    style: Style,
    started: Instant,
    stdout: Stdout,
    messages: Vec<Message>,
    /// The change that the command made, in one line.
    done: Option<String>,
    /// A progress line is on the terminal.
    in_progress: bool,
    /// JSON lines come before the envelope.
    is_stream: bool,
    /// The data is bytes, without an envelope.
    is_bytes: bool,
}

/// Version of the JSON envelope. Changes when a field changes its meaning or is removed.
const ENVELOPE_VERSION: u32 = 1;

/// The JSON object that every command prints for programs.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Envelope<'a> {
    /// `end`, after a stream of events.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    version: u32,
    command: &'a str,
    status: String,
    exit_code: u8,
    /// The result; `agents schema COMMAND` prints its schema.
    #[schemars(with = "Value")]
    data: Data,
    timing: Timing,
    messages: &'a [Message],
}

#[derive(JsonSchema, Serialize)]
struct Timing {
    duration_ms: u64,
}

/// An error, warning or note beside the data.
#[derive(JsonSchema, Serialize)]
struct Message {
    level: Level,
    #[serde(flatten)]
    problem: Problem,
}

impl Output {
    pub(crate) fn start(command: &'static str, style: Style) -> Self {
        match style.color {
            Color::Auto => {}
            Color::Always => anstream::ColorChoice::Always.write_global(),
            Color::Never => anstream::ColorChoice::Never.write_global(),
        }
        Self {
            command,
            style,
            started: Instant::now(),
            stdout: stdout(),
            messages: Vec::new(),
            done: None,
            in_progress: false,
            is_stream: false,
            is_bytes: false,
        }
    }

    pub(crate) fn paint(&self) -> Paint {
        self.style.paint()
    }

    pub(crate) fn is_json(&self) -> bool {
        self.style.format == Format::Json
    }

    pub(crate) fn format(&self) -> Format {
        self.style.format
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.style.verbosity == Verbosity::Quiet
    }

    pub(crate) fn is_verbose(&self) -> bool {
        self.style.verbosity == Verbosity::Verbose
    }

    /// Prints a composed line, made visible.
    pub(crate) fn print(&mut self, line: impl Display) -> Result<()> {
        if self.is_json() {
            return Ok(());
        }
        self.end_progress();
        self.stdout.line(&line.to_string()).map_err(|source| Error::Print { source })
    }

    /// Prints a text that is data, of any number of lines. It may hold styles.
    pub(crate) fn print_text(&mut self, text: impl Display) -> Result<()> {
        if self.is_json() {
            return Ok(());
        }
        self.end_progress();
        self.stdout.text(&text.to_string()).map_err(|source| Error::Print { source })
    }

    /// Prints a line of data after a composed label.
    pub(crate) fn print_labelled(&mut self, label: &str, line: &[u8]) -> Result<()> {
        if self.is_json() {
            return Ok(());
        }
        self.end_progress();
        let printed = self.stdout.label(label).and_then(|()| self.stdout.write_all(line));
        let printed = printed.and_then(|()| self.stdout.end_line());
        printed.map_err(|source| Error::Print { source })
    }

    /// Returns the stream for data that is bytes in every format: no envelope follows, and messages go to standard error.
    pub(crate) fn bytes(&mut self) -> &mut dyn Write {
        self.end_progress();
        self.is_bytes = true;
        &mut self.stdout
    }

    /// Prints a patch: with colours where they are wanted, through `page` on a terminal. If that fails, prints it without a pager.
    pub(crate) fn print_patch(
        &mut self,
        patch: &[u8],
        page: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> Result<()> {
        if self.is_json() {
            return Ok(());
        }
        self.end_progress();
        let has_colors = self.stdout.has_colors();
        let text = self.paint().patch(patch, has_colors, self.stdout.is_terminal());
        if self.stdout.is_terminal() && page(&text).is_ok() {
            return Ok(());
        }
        let out = self.stdout.raw();
        out.write_all(&text).and_then(|()| out.flush()).map_err(|source| Error::Print { source })
    }

    /// Begins a stream of JSON lines for programs. The envelope is the last line, with the event `end`.
    pub(crate) fn begin_stream(&mut self, first: &impl Serialize) -> Result<()> {
        self.is_stream = true;
        self.stream(first)
    }

    /// Prints a JSON line of a stream, for programs.
    pub(crate) fn stream(&mut self, line: &impl Serialize) -> Result<()> {
        if !self.is_json() {
            return Ok(());
        }
        let line = serde_json::to_string(line).expect("events are made of text, numbers and lists");
        let printed = self.stdout.json(&line).and_then(|()| self.stdout.flush());
        printed.map_err(|source| Error::Print { source })
    }

    /// Prints a line of data, or reports it.
    pub(crate) fn print_or_report(&mut self, is_data: bool, line: impl Display) -> Result<()> {
        if is_data {
            return self.print(line);
        }
        self.report(line);
        Ok(())
    }

    /// Prints a table, if it has rows.
    pub(crate) fn print_table<const N: usize>(&mut self, table: &Table<N>) -> Result<()> {
        table.lines(self.paint()).into_iter().try_for_each(|line| self.print(line))
    }

    /// Prints bytes of data.
    pub(crate) fn print_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let out = self.bytes();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(|source| Error::Print { source })
    }

    /// Reports a change that was made. Where the answer cannot be printed, the error says so.
    pub(crate) fn done(&mut self, line: impl Display) {
        let line = line.to_string();
        self.report(&line);
        self.done = Some(line);
    }

    /// Remembers a change that the answer names, for the error where the answer cannot be printed.
    pub(crate) fn done_silently(&mut self, line: impl Display) {
        self.done = Some(line.to_string());
    }

    /// Tells people something, on standard error.
    pub(crate) fn report(&mut self, line: impl Display) {
        if self.is_json() || self.is_quiet() {
            return;
        }
        self.end_progress();
        // A failure to report does not undo what was done.
        let _ = stderr().line(&line.to_string());
    }

    /// Shows a command that helps next, on standard error.
    pub(crate) fn hint(&mut self, hint: &str) {
        self.hints(&[hint.to_owned()]);
    }

    /// Shows commands that help next.
    pub(crate) fn hints(&mut self, hints: &[String]) {
        if !self.is_json() && !self.is_quiet() {
            self.end_progress();
            let _ = stderr().message(&self.paint().hints(hints));
        }
    }

    /// Prints the id of what was made, for the next command of a script: in a pipe or file only.
    pub(crate) fn print_id(&mut self, id: impl Display) -> Result<()> {
        if self.stdout.is_terminal() { Ok(()) } else { self.print(id) }
    }

    /// Shows a progress line, on a terminal only.
    pub(crate) fn progress(&mut self, line: impl Display) {
        let mut stderr = stderr();
        if self.style.format == Format::Rich
            && self.style.verbosity > Verbosity::Quiet
            && stderr.is_terminal()
        {
            self.in_progress = true;
            let line = self.paint().faint(visible(&line.to_string()));
            // A failure to show progress does not stop the work.
            let _ = write!(stderr.raw(), "\r\x1b[2K").and_then(|()| stderr.message(&line));
            let _ = stderr.flush();
        }
    }

    /// Warns about something that a person should act on.
    pub(crate) fn warn(&mut self, code: &str, text: String, hint: Option<String>) {
        let hint = hint.iter().flat_map(|hint| hint.lines()).map(str::to_owned).collect();
        self.add_message(Level::Warning, Problem { hint, ..Problem::without_cause(Kind::Error, code, text) });
    }

    /// Warns about a problem that did not stop the command, once.
    pub(crate) fn warn_problem(&mut self, problem: Problem) {
        if !self.messages.iter().any(|message| message.problem == problem) {
            self.add_message(Level::Warning, problem);
        }
    }

    /// Warns people about an event that programs receive as a JSON line.
    pub(crate) fn warn_inline(&mut self, problem: Problem) {
        if !self.is_json() {
            self.write_message(Level::Warning, &problem);
        }
    }

    /// Tells people what the program waits for or does now.
    pub(crate) fn status(&mut self, text: String) {
        if !self.is_json() && self.style.verbosity > Verbosity::Quiet {
            let _ = stderr().line(&self.paint().faint(text));
        }
    }

    /// Reports an error that leaves the data incomplete.
    pub(crate) fn error(&mut self, problem: Problem) {
        self.add_message(Level::Error, problem);
    }

    /// Adds a note, shown with `--verbose`.
    pub(crate) fn note(&mut self, code: &str, text: String) {
        if self.style.verbosity == Verbosity::Verbose {
            self.add_message(Level::Note, Problem::without_cause(Kind::Error, code, text));
        }
    }

    /// Returns a function that tells people what a call waits for.
    pub(crate) fn wait_notifier(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let (paint, is_shown) = (self.paint(), self.style.verbosity > Verbosity::Quiet && !self.is_json());
        move |text| {
            if is_shown {
                let _ = stderr().line(&paint.faint(text));
            }
        }
    }

    /// Prints the envelope or the error. Returns the exit code.
    pub(crate) fn finish(self, result: Result<Answer>) -> ExitCode {
        self.finish_with(result, Vec::new())
    }

    /// Like [`finish`](Self::finish), with warnings about problems from before the command; none is shown twice.
    pub(crate) fn finish_with(mut self, result: Result<Answer>, problems: Vec<Problem>) -> ExitCode {
        self.end_progress();
        // Data without a line feed at its end is still in memory.
        let ended = |stdout: &mut Stdout| stdout.end_data().and_then(|()| stdout.flush());
        let result = result.and_then(|answer| {
            ended(&mut self.stdout).map(|()| answer).map_err(|source| Error::Print { source })
        });
        let answer = result.unwrap_or_else(|error| {
            self.add_failure(&error);
            Answer { exit: error.exit(), data: error.data().into() }
        });
        for problem in problems {
            self.warn_problem(problem);
        }
        self.envelope(answer)
    }

    /// Finishes with a problem and without data.
    pub(crate) fn finish_problem(mut self, exit: Exit, problem: Problem) -> ExitCode {
        self.add_message(Level::Error, problem);
        self.envelope(Answer { exit, data: Value::Null.into() })
    }

    fn envelope(mut self, answer: Answer) -> ExitCode {
        if self.is_json() && !self.is_bytes {
            let envelope = Envelope {
                event: self.is_stream.then_some("end"),
                version: ENVELOPE_VERSION,
                command: self.command,
                status: answer.exit.to_string(),
                exit_code: answer.exit.code(),
                data: answer.data,
                timing: Timing { duration_ms: self.started.elapsed().as_millis() as u64 },
                messages: &self.messages,
            };
            let text = match self.is_stream {
                true => serde_json::to_string(&envelope),
                false => serde_json::to_string_pretty(&envelope),
            };
            let text = text.expect("an envelope is made of text and numbers");
            if let Err(source) = self.stdout.json(&text).and_then(|()| self.stdout.flush()) {
                let error = Error::Print { source };
                self.is_bytes = true;
                self.add_failure(&error);
                let exit = if answer.exit == Exit::Ok { error.exit() } else { answer.exit };
                return exit.code().into();
            }
        }
        answer.exit.code().into()
    }

    /// Adds the message of an error. A reader that closed the pipe has seen enough: that is no error to report.
    fn add_failure(&mut self, error: &Error) {
        let mut problem = error.problem();
        if let Error::Print { source } = error {
            if source.kind() == io::ErrorKind::BrokenPipe {
                return;
            }
            if let Some(done) = &self.done {
                problem.message += &format!("; the change was made: {done}");
            }
        }
        self.add_message(Level::Error, problem);
    }

    fn add_message(&mut self, level: Level, problem: Problem) {
        if !self.is_json() || self.is_bytes {
            self.write_message(level, &problem);
        }
        self.messages.push(Message { level, problem });
    }

    fn write_message(&mut self, level: Level, problem: &Problem) {
        self.end_progress();
        if level == Level::Error || self.style.verbosity > Verbosity::Quiet {
            let _ = stderr().message(&self.paint().message(level, problem));
        }
    }

    fn end_progress(&mut self) {
        if std::mem::take(&mut self.in_progress) {
            let _ = stderr().raw().write_all(b"\r\x1b[2K").and_then(|()| stderr().flush());
        }
    }
}
