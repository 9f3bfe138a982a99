//! Verification of all files, and repair after changes by other programs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::edit::Edit;
use crate::error::Damage;
use crate::files::digest::Digest;
use crate::files::index::{self, ENTRY_BYTES, Entry};
use crate::files::lines::{Lines, Scan, Tail};
use crate::files::loaded::{self, Layout};
use crate::files::{Files, INDEX, MESSAGES};
use crate::model::serialize;
use crate::{
    ContextManager, Contexts, Error, Message, MessageId, Metadata, Name, Notice, Revision, SaveSummary,
};

/// Maximum number of problems in a report.
pub const PROBLEMS_MAX: usize = 1000;

/// Result of a verification.
#[derive(JsonSchema, Serialize, Debug)]
pub struct VerifyReport {
    /// Name of the context.
    pub name: Name,
    /// Number of messages that were read.
    pub message_count: u64,
    /// Problems, at most [`PROBLEMS_MAX`].
    pub problems: Vec<VerifyFinding>,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// A problem in a file.
#[derive(JsonSchema, Serialize, Debug)]
pub struct VerifyFinding {
    /// Path of the file.
    #[serde(serialize_with = "serialize::path")]
    pub file: PathBuf,
    /// Line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Description of the problem.
    pub message: String,
}

impl Contexts {
    /// Reads a whole context and reports problems: files that do not parse, lines that are not
    /// messages, wrong counts and lengths, ids that do not increase, messages that are not the ones
    /// that were written, an index that does not match.
    ///
    /// Safe beside writers in any thread or process; they wait until it is done, as it checks one
    /// commit. Writes nothing.
    #[track_caller]
    pub fn verify(&self, name: &Name) -> Result<VerifyReport, Error> {
        let preserved = self.preserved(name)?;
        self.dir.read(name, |files| {
            let mut report = VerifyReport {
                name: name.clone(),
                message_count: 0,
                problems: Vec::new(),
                notices: preserved.clone(),
            };
            let loaded = match loaded::load(files) {
                Ok(loaded) => Some(loaded),
                Err(error @ (Error::NotFound { .. } | Error::Files { .. })) => return Err(error),
                Err(error) => {
                    report.add_error(files, &error);
                    None
                }
            };
            let layout = loaded.as_ref().map(|loaded| loaded.layout.clone());
            if let Some(loaded) = &loaded {
                report.notices.extend(loaded.notices(name));
            }
            match layout {
                Some(Layout::Array) => {
                    report.message_count = loaded.map_or(0, |loaded| loaded.metadata.message_count())
                }
                _ => {
                    report.check_lines(files, loaded.as_ref().map(|loaded| &loaded.metadata))?;
                }
            }
            Ok(report)
        })
    }

    /// Returns content of other programs that recovery preserved in a context's folder. Writes
    /// nothing.
    pub fn preserved(&self, name: &Name) -> Result<Vec<Notice>, Error> {
        self.dir.preserved(name)
    }

    /// Accepts messages that another program added, removed or changed: valid lines stay in their
    /// order, others are preserved in another file, and count, length and index are rebuilt. No
    /// content is lost. Metadata, state and global context must be readable.
    ///
    /// Safety among threads and processes, and the state after a failure: as
    /// [`ContextManager::save`].
    #[track_caller]
    pub fn repair(&self, name: &Name, expected: Option<Revision>) -> Result<SaveSummary, Error> {
        self.change("repair", name, expected, loaded::load_unchecked, |edit| {
            match edit.loaded.layout {
                Layout::Array => edit.normalize()?,
                Layout::Lines { .. } => edit.accept_edits()?,
            }
            Ok(Vec::new())
        })
    }
}

impl ContextManager {
    /// Verifies this context, like [`Contexts::verify`].
    #[track_caller]
    pub fn verify(&self) -> Result<VerifyReport, Error> {
        Contexts { dir: self.dir.clone() }.verify(&self.name)
    }
}

impl VerifyReport {
    /// Returns true if there is no problem.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    fn add(&mut self, file: PathBuf, line: Option<u64>, message: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(VerifyFinding { file, line, message });
        }
    }

    fn add_error(&mut self, files: Files<'_>, error: &Error) {
        match error {
            // Reported below, line by line.
            Error::Damaged { file, line: Some(_), .. } if file.ends_with(MESSAGES) => {}
            Error::Damaged { file, line, source, .. } => self.add(file.clone(), *line, describe(source)),
            Error::ModifiedExternally { file, recorded, actual } => {
                self.add(file.clone(), None, format!("{recorded}, {actual}"))
            }
            error => self.add(files.folder.clone(), None, error.to_string()),
        }
    }

    /// Checks every line, the digest, and the index.
    fn check_lines(&mut self, files: Files<'_>, metadata: Option<&Metadata>) -> Result<(), Error> {
        let count = metadata.map(Metadata::message_count);
        let Some(mut lines) = Lines::open(files, 0, 0)? else { return Ok(()) };
        let index = files.open(INDEX)?;
        let mut index_is_wrong = index.as_ref().map(|body| body.len()) != count.map(index::bytes_for);
        let (mut last, mut digest): (Option<MessageId>, _) = (None, Digest::default());
        let known_problems = self.problems.len();
        while let Some(line) = lines.next_line()? {
            let at = Some(line.number + 1);
            if count.is_some_and(|count| line.number >= count) && !line.is_terminated {
                // A torn last line is among the notices.
                break;
            }
            let message = match line.message() {
                Ok(message) => message,
                Err(damage) => {
                    self.add(files.path(MESSAGES), at, describe(&damage));
                    continue;
                }
            };
            self.message_count += 1;
            digest.toggle(line.number, line.bytes);
            // Increasing ids are unique.
            if let (Some(id), Some(before)) = (message.id(), last)
                && id <= before
            {
                self.add(files.path(MESSAGES), at, format!("id {id} is not greater than {before}"));
            }
            last = last.max(message.id());
            if let Some(body) = index.as_ref().filter(|_| index::is_indexed(line.number) && !index_is_wrong) {
                let entry = body.read_range(index::entry_offset(line.number), ENTRY_BYTES);
                let entry = entry.map_err(|source| files.failed(source))?;
                let right = Entry::new(line.number, line.offset, line.bytes);
                index_is_wrong = Entry::decode(&entry) != Some(right);
            }
        }
        // Report what the lines do not show themselves.
        let recorded = metadata.and_then(|metadata| metadata.digest);
        if recorded.is_some_and(|recorded| recorded != digest) && self.problems.len() == known_problems {
            let message = "another program changed messages in it; their number and length are the same";
            self.add(files.path(MESSAGES), None, message.to_owned());
        }
        // A context of another tool needs no index.
        if index_is_wrong && count.is_some() && index.is_some() {
            self.add(
                files.path(INDEX),
                None,
                "it does not match the messages; a repair rebuilds it".to_owned(),
            );
        }
        Ok(())
    }
}

impl Edit<'_, '_> {
    /// Accepts the messages that are in the file.
    fn accept_edits(&mut self) -> Result<(), Error> {
        let files = Files { view: &*self.tx, name: self.name, folder: self.folder };
        let (mut good, mut bad): (Vec<(u64, u64)>, Vec<u8>) = (Vec::new(), Vec::new());
        let mut accepted =
            Scan { count: 0, end: 0, tail: Tail::Complete, last_id: None, digest: Digest::default() };
        if let Some(mut lines) = Lines::open(files, 0, 0)? {
            while let Some(line) = lines.next_line()? {
                accepted.end = line.offset + line.bytes.len() as u64 + u64::from(line.is_terminated);
                match line.message() {
                    Ok(message) => {
                        accepted.digest.toggle(accepted.count, line.bytes);
                        accepted.count += 1;
                        accepted.last_id = accepted.last_id.max(message.id());
                        accepted.tail = if line.is_terminated { Tail::Complete } else { Tail::Unterminated };
                        good.push((line.offset, line.bytes.len() as u64));
                    }
                    Err(_) => {
                        bad.extend(line.bytes);
                        bad.push(b'\n');
                    }
                }
            }
        }
        if bad.is_empty() {
            return self.accept(accepted);
        }
        self.loaded.metadata.last_id = self.loaded.metadata.last_id.max(accepted.last_id);
        let backup = self.unused_name(&format!("{MESSAGES}.damaged"))?;
        self.put(&backup, &bad)?;
        self.preserved_at.push(self.folder.join(backup));
        let body = Files { view: &*self.tx, name: self.name, folder: self.folder }.open(MESSAGES)?;
        let body = body.expect("lines of it were read");
        let name = self.name.clone();
        let read = move |(offset, len): (u64, u64)| -> Result<Message, Error> {
            let failed = |source| Error::files("repair", &name, source);
            let bytes = body.read_range(offset, len).map_err(failed)?;
            let text = String::from_utf8(bytes).expect("it was read as text before");
            Ok(Message::read(&text).expect("it was read as a message before"))
        };
        self.replace_messages(good.into_iter().map(read))
    }
}

/// Formats a damage with its cause.
fn describe(damage: &Damage) -> String {
    match std::error::Error::source(damage) {
        Some(cause) => format!("{damage}: {cause}"),
        None => damage.to_string(),
    }
}
