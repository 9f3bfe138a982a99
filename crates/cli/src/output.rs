//! What people and programs get to see: text for people, or one JSON envelope.
//!
//! Standard output is data, standard error is for people.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

use anstream::{AutoStream, stderr, stdout};
use api::{Kind, Problem};
use owo_colors::OwoColorize;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Error, Exit, Result};
use crate::escape::{escaped, escaped_painted};
use crate::look::{Color, Format, Level, Look, Paint, Volume};

/// What a command came to.
pub(crate) struct Answer {
    pub(crate) exit: Exit,
    pub(crate) data: Data,
}

/// An answer to programs.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Data {
    Value(Value),
    /// JSON of a person's, in its own spelling: `1.10` stays `1.10`.
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

    /// JSON that is the answer as it is.
    pub(crate) fn text(json: Box<RawValue>) -> Self {
        Self { exit: Exit::Ok, data: Data::Text(json) }
    }

    /// An answer of the façade.
    pub(crate) fn of(answer: &impl Serialize) -> Self {
        Self::ok(serde_json::to_value(answer).expect("answers are made of text, numbers and lists"))
    }
}

/// Where a command prints.
pub(crate) struct Output {
    command: &'static str,
    look: Look,
    started: Instant,
    stdout: AutoStream<io::Stdout>,
    messages: Vec<Message>,
    /// Whether a line of progress stands on the terminal.
    in_progress: bool,
    /// Whether lines of JSON come before the end.
    is_stream: bool,
    /// Whether the answer is bytes.
    is_bytes: bool,
}

/// Version of the JSON envelope. Changes when a field changes its meaning or goes.
const ENVELOPE_VERSION: u32 = 1;

/// The form of every answer to a program.
#[derive(Serialize)]
struct Envelope<'a> {
    /// Only at the end of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    version: u32,
    command: &'a str,
    status: String,
    exit_code: u8,
    data: Data,
    timing: Timing,
    messages: &'a [Message],
}

#[derive(Serialize)]
struct Timing {
    duration_ms: u64,
}

/// Something said beside the answer.
#[derive(Serialize)]
struct Message {
    level: Level,
    #[serde(flatten)]
    problem: Problem,
}

impl Output {
    pub(crate) fn start(command: &'static str, look: Look) -> Self {
        match look.color {
            Color::Auto => {}
            Color::Always => anstream::ColorChoice::Always.write_global(),
            Color::Never => anstream::ColorChoice::Never.write_global(),
        }
        Self {
            command,
            look,
            started: Instant::now(),
            stdout: stdout(),
            messages: Vec::new(),
            in_progress: false,
            is_stream: false,
            is_bytes: false,
        }
    }

    /// How text is made up in this format.
    pub(crate) fn paint(&self) -> Paint {
        self.look.paint()
    }

    pub(crate) fn is_json(&self) -> bool {
        self.look.format == Format::Json
    }

    pub(crate) fn format(&self) -> Format {
        self.look.format
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.look.volume == Volume::Quiet
    }

    /// Prints a line of what was asked for. Control characters in it, of names of files, are spelled out.
    pub(crate) fn say(&mut self, line: impl Display) -> Result<()> {
        if self.is_json() {
            return Ok(());
        }
        let line = line.to_string();
        match self.look.format {
            Format::Rich => self.say_text(escaped_painted(&line)),
            Format::Plain | Format::Json => self.say_text(escaped(&line)),
        }
    }

    /// Prints a text of any number of lines, as it is.
    pub(crate) fn say_text(&mut self, text: impl Display) -> Result<()> {
        if self.is_json() {
            return Ok(());
        }
        self.end_progress();
        writeln!(self.stdout, "{text}").map_err(|source| Error::Print { source })
    }

    /// Where bytes go that are the whole answer, in every format: no envelope follows, and what is told beside goes to people.
    pub(crate) fn bytes(&mut self) -> &mut dyn Write {
        self.end_progress();
        self.is_bytes = true;
        &mut self.stdout
    }

    /// Begins a stream: to programs, JSON objects of one line each instead of one envelope. The envelope is the last line, its event is `end`.
    pub(crate) fn begin_stream(&mut self, first: &impl Serialize) -> Result<()> {
        self.is_stream = true;
        self.stream(first)
    }

    /// Prints a line of a stream, to programs.
    pub(crate) fn stream(&mut self, line: &impl Serialize) -> Result<()> {
        if !self.is_json() {
            return Ok(());
        }
        let line = serde_json::to_string(line).expect("events are made of text, numbers and lists");
        let printed = writeln!(self.stdout, "{line}").and_then(|()| self.stdout.flush());
        printed.map_err(|source| Error::Print { source })
    }

    /// Prints a line that says what was done, unless people want quiet.
    pub(crate) fn confirm(&mut self, line: impl Display) -> Result<()> {
        if self.look.volume == Volume::Quiet { Ok(()) } else { self.say(line) }
    }

    /// The same for a text of somebody else, as it is.
    pub(crate) fn confirm_text(&mut self, text: impl Display) -> Result<()> {
        if self.look.volume == Volume::Quiet { Ok(()) } else { self.say_text(text) }
    }

    /// Shows how far long work is, on a terminal only.
    pub(crate) fn progress(&mut self, line: impl Display) {
        if self.look.format == Format::Rich && self.look.volume > Volume::Quiet && io::stderr().is_terminal()
        {
            self.in_progress = true;
            let line = escaped(&line.to_string()).into_owned();
            // Progress that cannot be shown is no reason to stop.
            let _ = write!(stderr(), "\r\x1b[2K{}", line.dimmed()).and_then(|()| stderr().flush());
        }
    }

    /// Tells people something beside the answer.
    pub(crate) fn warn(&mut self, code: &str, text: String, hint: Option<String>) {
        self.message(
            Level::Warning,
            Problem { hint: hint.into_iter().collect(), ..Problem::without_cause(Kind::Error, code, text) },
        );
    }

    /// Tells people about something that was skipped on the way to the answer. Each is told once.
    pub(crate) fn warn_of(&mut self, problem: Problem) {
        if !self.messages.iter().any(|message| message.problem == problem) {
            self.message(Level::Warning, problem);
        }
    }

    /// Tells people about a part of a stream, which programs have had as a line.
    pub(crate) fn told(&mut self, problem: Problem) {
        if !self.is_json() {
            self.tell(Level::Warning, &problem);
        }
    }

    /// Tells people on a terminal what happens now.
    pub(crate) fn hint_at(&mut self, text: String) {
        if !self.is_json() && self.look.volume > Volume::Quiet {
            let _ = writeln!(stderr(), "{}", self.paint().faint(escaped(&text)));
        }
    }

    /// Tells people about something that is missing in the answer.
    pub(crate) fn error(&mut self, problem: Problem) {
        self.message(Level::Error, problem);
    }

    /// Says something that only somebody who wonders wants to know.
    pub(crate) fn detail(&mut self, code: &str, text: String) {
        if self.look.volume == Volume::Verbose {
            self.message(Level::Note, Problem::without_cause(Kind::Error, code, text));
        }
    }

    /// A way to tell people that they wait, from inside of a call that waits.
    pub(crate) fn notice(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let (paint, is_told) = (self.paint(), self.look.volume > Volume::Quiet && !self.is_json());
        move |text| {
            if is_told {
                let _ = writeln!(stderr(), "{}", paint.faint(escaped(text)));
            }
        }
    }

    /// Prints the end and gives the exit code.
    pub(crate) fn finish(self, result: Result<Answer>) -> ExitCode {
        self.finish_with(result, Vec::new())
    }

    /// The same, with problems that were met before the command ran. What the command has told already is not told again.
    pub(crate) fn finish_with(mut self, result: Result<Answer>, problems: Vec<Problem>) -> ExitCode {
        self.end_progress();
        let answer = result.unwrap_or_else(|error| {
            if !is_closed_pipe(&error) {
                self.message(Level::Error, error.problem());
            }
            Answer { exit: error.exit(), data: error.data().into() }
        });
        for problem in problems {
            self.warn_of(problem);
        }
        self.envelope(answer)
    }

    /// Ends without an answer.
    pub(crate) fn finish_problem(mut self, exit: Exit, problem: Problem) -> ExitCode {
        self.message(Level::Error, problem);
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
            // Nobody is left to tell.
            let _ = writeln!(self.stdout, "{text}");
        }
        answer.exit.code().into()
    }

    fn message(&mut self, level: Level, problem: Problem) {
        if !self.is_json() || self.is_bytes {
            self.tell(level, &problem);
        }
        self.messages.push(Message { level, problem });
    }

    fn tell(&mut self, level: Level, problem: &Problem) {
        self.end_progress();
        if level == Level::Error || self.look.volume > Volume::Quiet {
            let _ = stderr().write_all(self.paint().message(level, problem).as_bytes());
        }
    }

    fn end_progress(&mut self) {
        if std::mem::take(&mut self.in_progress) {
            let _ = write!(stderr(), "\r\x1b[2K").and_then(|()| stderr().flush());
        }
    }
}

/// Whoever read what we print has seen enough: no error to tell anybody.
fn is_closed_pipe(error: &Error) -> bool {
    matches!(error, Error::Print { source } if source.kind() == io::ErrorKind::BrokenPipe)
}
