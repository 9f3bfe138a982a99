//! Output: text for people, or one JSON envelope for programs.
//!
//! Standard output is data, standard error is for people: commands that show print, commands that act report.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

use anstream::{AutoStream, stderr, stdout};
use api::{Kind, Problem};
use owo_colors::OwoColorize;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Error, Exit, Result};
use crate::escape::{escaped, escaped_styled};
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
    stdout: AutoStream<io::Stdout>,
    messages: Vec<Message>,
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

    /// Prints a line of data. Control characters, as in file names, are escaped.
    pub(crate) fn print(&mut self, line: impl Display) -> Result<()> {
        if self.is_json() {
            return Ok(());
        }
        let line = line.to_string();
        match self.style.format {
            Format::Rich => self.print_text(escaped_styled(&line)),
            Format::Plain | Format::Json => self.print_text(escaped(&line)),
        }
    }

    /// Prints text of any number of lines as it is.
    pub(crate) fn print_text(&mut self, text: impl Display) -> Result<()> {
        if self.is_json() {
            return Ok(());
        }
        self.end_progress();
        writeln!(self.stdout, "{text}").map_err(|source| Error::Print { source })
    }

    /// Returns the stream for data that is bytes in every format: no envelope follows, and messages go to standard error.
    pub(crate) fn bytes(&mut self) -> &mut dyn Write {
        self.end_progress();
        self.is_bytes = true;
        &mut self.stdout
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
        let printed = writeln!(self.stdout, "{line}").and_then(|()| self.stdout.flush());
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

    /// Prints bytes of data for people as they are.
    pub(crate) fn print_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let out = self.bytes();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(|source| Error::Print { source })
    }

    /// Reports what was done to people, on standard error.
    pub(crate) fn report(&mut self, line: impl Display) {
        if self.is_json() || self.is_quiet() {
            return;
        }
        self.end_progress();
        let line = line.to_string();
        let line = if self.style.format == Format::Rich { escaped_styled(&line) } else { escaped(&line) };
        // A failure to report does not undo what was done.
        let _ = writeln!(stderr(), "{line}");
    }

    /// Shows a command that helps next, on standard error.
    pub(crate) fn hint(&mut self, hint: &str) {
        if !self.is_json() && !self.is_quiet() {
            self.end_progress();
            let _ = stderr().write_all(self.paint().hints(&[hint.to_owned()]).as_bytes());
        }
    }

    /// Prints a line about what was done to standard output, unless quiet.
    pub(crate) fn confirm(&mut self, line: impl Display) -> Result<()> {
        if self.style.verbosity == Verbosity::Quiet { Ok(()) } else { self.print(line) }
    }

    /// Like [`confirm`](Self::confirm), for text that is printed as it is.
    pub(crate) fn confirm_text(&mut self, text: impl Display) -> Result<()> {
        if self.style.verbosity == Verbosity::Quiet { Ok(()) } else { self.print_text(text) }
    }

    /// Shows a progress line, on a terminal only.
    pub(crate) fn progress(&mut self, line: impl Display) {
        if self.style.format == Format::Rich
            && self.style.verbosity > Verbosity::Quiet
            && io::stderr().is_terminal()
        {
            self.in_progress = true;
            let line = escaped(&line.to_string()).into_owned();
            // A failure to show progress does not stop the work.
            let _ = write!(stderr(), "\r\x1b[2K{}", line.dimmed()).and_then(|()| stderr().flush());
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
            let _ = writeln!(stderr(), "{}", self.paint().faint(escaped(&text)));
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
                let _ = writeln!(stderr(), "{}", paint.faint(escaped(text)));
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
        let answer = result.unwrap_or_else(|error| {
            if !is_closed_pipe(&error) {
                self.add_message(Level::Error, error.problem());
            }
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
            // A reader that closed the pipe gets no message.
            let _ = writeln!(self.stdout, "{text}");
        }
        answer.exit.code().into()
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
            let _ = stderr().write_all(self.paint().message(level, problem).as_bytes());
        }
    }

    fn end_progress(&mut self) {
        if std::mem::take(&mut self.in_progress) {
            let _ = write!(stderr(), "\r\x1b[2K").and_then(|()| stderr().flush());
        }
    }
}

/// A reader that closes the pipe has seen enough: this is not an error to report.
fn is_closed_pipe(error: &Error) -> bool {
    matches!(error, Error::Print { source } if source.kind() == io::ErrorKind::BrokenPipe)
}
