//! A context that is saved after every message.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use cleveragents_context::{ContextManager, Contexts, Draft, Name, Options, Role};
use testkit::bench::Result;

/// Size of a message's text.
pub(crate) const TEXT_BYTES: usize = 1024;
/// Messages per save when a conversation is prepared.
const BATCH: usize = 500;

/// A conversation in progress.
pub(crate) struct Talk {
    pub(crate) context: ContextManager,
    text: String,
}

impl Talk {
    /// Creates one with so many messages, in `place/contexts/NAME`.
    pub(crate) fn of(place: &Path, name: &str, count: usize) -> Result<Talk> {
        let contexts = contexts(place);
        let name = Name::new(name)?;
        let context = match count {
            0..=20_000 => contexts.create(&name)?,
            _ => {
                // Write them as lines of another tool, which one repair accepts.
                write_lines(&contexts.folder().join(name.as_str()), count)?;
                let _ = contexts.repair(&name, None)?;
                contexts.open(&name)?
            }
        };
        let mut talk = Talk { context, text: "m".repeat(TEXT_BYTES) };
        while talk.count() < count {
            let next = BATCH.min(count - talk.count());
            talk.context.append_all((0..next).map(|_| Draft::text(Role::User, &talk.text)))?;
            let _ = talk.context.save()?;
        }
        Ok(talk)
    }

    pub(crate) fn count(&self) -> usize {
        self.context.metadata().message_count() as usize
    }

    /// Appends and saves, one message after the other.
    pub(crate) fn saves(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            self.context.append(Draft::text(Role::User, &self.text))?;
            let saved = self.context.save()?;
            if let Some(error) = saved.pending {
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Bytes of the last line and of the metadata.
    pub(crate) fn change_bytes(&self) -> Result<u64> {
        let last = self.context.last(1).next().ok_or("it has a message")??;
        let metadata = fs::metadata(self.context.folder().join("metadata.json"))?.len();
        Ok(last.message.as_json().len() as u64 + 1 + metadata)
    }
}

pub(crate) fn contexts(place: &Path) -> Contexts {
    Contexts::at(&place.join("contexts"), Options::default())
}

/// A line in the format of other tools.
pub(crate) fn line() -> String {
    format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "m".repeat(TEXT_BYTES))
}

fn write_lines(folder: &Path, count: usize) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(folder.join("messages.jsonl"))?);
    let line = line();
    for _ in 0..count {
        out.write_all(line.as_bytes())?;
    }
    out.flush()?;
    Ok(out.get_ref().sync_all()?)
}
