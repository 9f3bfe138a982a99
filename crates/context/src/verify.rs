//! Looking at everything, and taking over what somebody else changed.

use std::path::PathBuf;

use serde::Serialize;

use crate::edit::Edit;
use crate::error::Damage;
use crate::files::index::{self, ENTRY_BYTES, Entry};
use crate::files::lines::{Lines, Tail};
use crate::files::loaded::{self, Layout};
use crate::files::{Files, INDEX, MESSAGES};
use crate::model::serialize;
use crate::{ContextManager, Contexts, Error, Message, MessageId, Name, Notice, Revision, Saved};

/// The most problems that one report lists.
pub const PROBLEMS_MAX: usize = 1000;

/// What was found in a context.
#[derive(Serialize, Debug)]
pub struct Report {
    /// The context.
    pub name: Name,
    /// How many messages were read.
    pub messages: u64,
    /// What is wrong, at most [`PROBLEMS_MAX`].
    pub problems: Vec<Problem>,
    /// What a person should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// Something that is wrong.
#[derive(Serialize, Debug)]
pub struct Problem {
    /// The file.
    #[serde(serialize_with = "serialize::path")]
    pub file: PathBuf,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong with it.
    pub what: String,
}

impl Contexts {
    /// Reads all of a context and says what is wrong: files that do not parse, lines that are no messages, counts and lengths that differ, ids
    /// that do not rise, an index that does not lead where it says.
    ///
    /// Safe beside writers in any thread or process; they wait until it is done, as everything is looked at as of one commit. Writes nothing.
    #[track_caller]
    pub fn verify(&self, name: &Name) -> Result<Report, Error> {
        let preserved = self.preserved(name)?;
        self.ground.read(name, |files| {
            let mut report =
                Report { name: name.clone(), messages: 0, problems: Vec::new(), notices: preserved.clone() };
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
                    report.messages = loaded.map_or(0, |loaded| loaded.metadata.message_count())
                }
                _ => {
                    let count = loaded.map(|loaded| loaded.metadata.message_count());
                    report.check_lines(files, count)?;
                }
            }
            Ok(report)
        })
    }

    /// Content of other programs that recovery preserved in a context's folder. Writes nothing.
    pub fn preserved(&self, name: &Name) -> Result<Vec<Notice>, Error> {
        self.ground.preserved(name)
    }

    /// Takes over messages that somebody else added, removed or changed: lines that are messages stay in their order, lines that are not go to a
    /// file beside, and count, length and index are made anew. Nothing is thrown away. Metadata, state and global context
    /// have to be readable; they are not guessed.
    ///
    /// Safety among threads and processes, and what a failure leaves: as [`ContextManager::save`].
    #[track_caller]
    pub fn repair(&self, name: &Name, expected: Option<Revision>) -> Result<Saved, Error> {
        self.change("repair", name, expected, loaded::load_any_count, |edit| {
            match edit.loaded.layout {
                Layout::Array => edit.settle()?,
                Layout::Lines { .. } => edit.take_over()?,
            }
            Ok(Vec::new())
        })
    }
}

impl ContextManager {
    /// As [`Contexts::verify`] of this context.
    #[track_caller]
    pub fn verify(&self) -> Result<Report, Error> {
        Contexts { ground: self.ground.clone() }.verify(&self.name)
    }
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    fn add(&mut self, file: PathBuf, line: Option<u64>, what: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem { file, line, what });
        }
    }

    fn add_error(&mut self, files: Files<'_>, error: &Error) {
        match error {
            // It is found again, line by line.
            Error::Damaged { file, line: Some(_), .. } if file.ends_with(MESSAGES) => {}
            Error::Damaged { file, line, source, .. } => self.add(file.clone(), *line, described(source)),
            Error::Edited { file, recorded, found } => {
                self.add(file.clone(), None, format!("{recorded}, {found}"))
            }
            error => self.add(files.folder.clone(), None, error.to_string()),
        }
    }

    /// Checks every line, and the index against them. `count` is what is known to be messages.
    fn check_lines(&mut self, files: Files<'_>, count: Option<u64>) -> Result<(), Error> {
        let Some(mut lines) = Lines::open(files, 0, 0)? else { return Ok(()) };
        let index = files.open(INDEX)?;
        let mut index_is_wrong = index.as_ref().map(|body| body.len()) != count.map(index::bytes_for);
        let mut last: Option<MessageId> = None;
        while let Some(line) = lines.next_line()? {
            let at = Some(line.number + 1);
            if count.is_some_and(|count| line.number >= count) && !line.is_ended {
                // A torn end, which is among the notices.
                break;
            }
            let message = match line.message() {
                Ok(message) => message,
                Err(damage) => {
                    self.add(files.path(MESSAGES), at, described(&damage));
                    continue;
                }
            };
            self.messages += 1;
            // Where all rise, none is there twice.
            if let (Some(id), Some(before)) = (message.id(), last)
                && id <= before
            {
                self.add(files.path(MESSAGES), at, format!("id {id} does not come after {before}"));
            }
            last = last.max(message.id());
            if let Some(body) = index.as_ref().filter(|_| index::is_due(line.number) && !index_is_wrong) {
                let entry = body.read_range(index::entry_offset(line.number), ENTRY_BYTES);
                let entry = entry.map_err(|source| files.failed(source))?;
                let right = Entry::new(line.number, line.offset, line.bytes);
                index_is_wrong = Entry::decode(&entry) != Some(right);
            }
        }
        // An index that is missing where another tool wrote is none to speak of.
        if index_is_wrong && count.is_some() && index.is_some() {
            self.add(
                files.path(INDEX),
                None,
                "it does not lead to the messages; the next repair makes it anew".to_owned(),
            );
        }
        Ok(())
    }
}

impl Edit<'_, '_> {
    /// Makes the messages what is there.
    fn take_over(&mut self) -> Result<(), Error> {
        let files = Files { view: &*self.tx, name: self.name, folder: self.folder };
        let (mut good, mut bad): (Vec<(u64, u64)>, Vec<u8>) = (Vec::new(), Vec::new());
        let (mut count, mut end, mut last) = (0_u64, 0_u64, None);
        let mut unended = false;
        if let Some(mut lines) = Lines::open(files, 0, 0)? {
            while let Some(line) = lines.next_line()? {
                end = line.offset + line.bytes.len() as u64 + u64::from(line.is_ended);
                match line.message() {
                    Ok(message) => {
                        count += 1;
                        last = last.max(message.id());
                        unended = !line.is_ended;
                        good.push((line.offset, line.bytes.len() as u64));
                    }
                    Err(_) => {
                        bad.extend(line.bytes);
                        bad.push(b'\n');
                    }
                }
            }
        }
        self.loaded.metadata.last_id = self.loaded.metadata.last_id.max(last);
        if bad.is_empty() {
            let tail = if unended { Tail::Unended } else { Tail::Nothing };
            return self.accept(count, end, tail);
        }
        let aside = self.free_name(&format!("{MESSAGES}.damaged"))?;
        self.put(&aside, &bad)?;
        self.aside.push(self.folder.join(aside));
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

/// A damage with its cause.
fn described(damage: &Damage) -> String {
    match std::error::Error::source(damage) {
        Some(cause) => format!("{damage}: {cause}"),
        None => damage.to_string(),
    }
}
