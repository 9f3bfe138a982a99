//! What people and programs get to see: text for people, or one JSON envelope.
//!
//! Standard output is data, standard error is for people. Colour never carries meaning alone; it is dropped where the output is
//! no terminal, and when NO_COLOR is set.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

use anstream::{AutoStream, stderr, stdout};
use owo_colors::OwoColorize;
use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Exit, Result, causes};

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Format {
    /// Colours and signs, for a terminal
    Rich,
    /// Plain ASCII text
    Plain,
    /// One JSON object with command, status, exit_code, data, timing and messages
    Json,
}

/// What a command came to.
pub(crate) struct Answer {
    pub(crate) exit: Exit,
    pub(crate) data: Value,
}

impl Answer {
    pub(crate) fn ok(data: Value) -> Self {
        Self { exit: Exit::Ok, data }
    }
}

/// Where a command prints.
pub(crate) struct Output {
    command: &'static str,
    format: Format,
    started: Instant,
    stdout: AutoStream<io::Stdout>,
    messages: Vec<Message>,
    /// Whether a line of progress stands on the terminal.
    in_progress: bool,
}

/// The form of every answer to a program.
#[derive(Serialize)]
struct Envelope<'a> {
    command: &'a str,
    status: String,
    exit_code: u8,
    data: Value,
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
    level: &'static str,
    /// A name that scripts may rely on.
    code: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

impl Output {
    pub(crate) fn start(command: &'static str, format: Option<Format>) -> Self {
        let usual = if io::stdout().is_terminal() { Format::Rich } else { Format::Plain };
        Self {
            command,
            format: format.unwrap_or(usual),
            started: Instant::now(),
            stdout: stdout(),
            messages: Vec::new(),
            in_progress: false,
        }
    }

    /// How text is made up in this format.
    pub(crate) fn paint(&self) -> Paint {
        Paint { is_rich: self.format == Format::Rich }
    }

    /// Prints a line for people.
    pub(crate) fn say(&mut self, line: impl Display) -> Result<()> {
        if self.format == Format::Json {
            return Ok(());
        }
        self.end_progress();
        writeln!(self.stdout, "{line}").map_err(|source| Error::Print { source })
    }

    /// Shows how far long work is, on a terminal only.
    pub(crate) fn progress(&mut self, line: impl Display) {
        if self.format == Format::Rich && io::stderr().is_terminal() {
            self.in_progress = true;
            let line = line.to_string();
            // Progress that cannot be shown is no reason to stop.
            let _ = write!(stderr(), "\r\x1b[2K{}", line.dimmed()).and_then(|()| stderr().flush());
        }
    }

    /// Tells people something beside the answer.
    pub(crate) fn warn(&mut self, code: &'static str, text: String) {
        self.message(Message { level: "warning", code, text, causes: Vec::new(), hint: None });
    }

    /// Prints the end and gives the exit code.
    pub(crate) fn finish(mut self, result: Result<Answer>) -> ExitCode {
        self.end_progress();
        let answer = result.unwrap_or_else(|error| {
            let answer = Answer { exit: error.exit(), data: Value::Null };
            if !is_closed_pipe(&error) {
                self.message(Message {
                    level: "error",
                    code: error.code(),
                    text: error.to_string(),
                    causes: causes(&error),
                    hint: error.hint(),
                });
            }
            answer
        });
        if self.format == Format::Json {
            let envelope = Envelope {
                command: self.command,
                status: answer.exit.to_string(),
                exit_code: answer.exit.code(),
                data: answer.data,
                timing: Timing { duration_ms: self.started.elapsed().as_millis() as u64 },
                messages: &self.messages,
            };
            let text =
                serde_json::to_string_pretty(&envelope).expect("an envelope is made of text and numbers");
            // Nobody is left to tell.
            let _ = writeln!(self.stdout, "{text}");
        }
        answer.exit.code().into()
    }

    fn message(&mut self, message: Message) {
        self.end_progress();
        if self.format != Format::Json {
            let paint = self.paint();
            let level = match message.level {
                "error" => paint.bad(message.level),
                level => paint.strong(level),
            };
            let mut text = format!("{level}: {}\n", message.text);
            text.extend(message.causes.iter().map(|cause| format!("  because: {cause}\n")));
            text.extend(message.hint.map(|hint| format!("  hint: {hint}\n")));
            let _ = stderr().write_all(text.as_bytes());
        }
        self.messages.push(message);
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

/// Makes text stand out where the format has it.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    is_rich: bool,
}

impl Paint {
    pub(crate) fn strong(self, text: impl Display) -> String {
        if self.is_rich { text.bold().to_string() } else { text.to_string() }
    }

    pub(crate) fn faint(self, text: impl Display) -> String {
        if self.is_rich { text.dimmed().to_string() } else { text.to_string() }
    }

    pub(crate) fn good(self, text: impl Display) -> String {
        if self.is_rich { text.green().to_string() } else { text.to_string() }
    }

    pub(crate) fn bad(self, text: impl Display) -> String {
        if self.is_rich { text.red().bold().to_string() } else { text.to_string() }
    }

    /// A sign where signs can be shown, letters elsewhere.
    pub(crate) fn sign(self, rich: &'static str, plain: &'static str) -> &'static str {
        if self.is_rich { rich } else { plain }
    }
}
