//! Hand-written alternatives: bare writes, plain JSON Lines, four renames.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use testkit::bench::{RenameReplace, Result};

/// Offset of the first record of a journal.
const RECORDS_OFFSET: usize = 8192;
const SECTOR_BYTES: usize = 512;
/// Number of saves whose records are repeated.
pub(crate) const SAMPLE: usize = 50;
/// Size of a grown journal.
const BARE_BYTES: usize = 2 << 20;

/// Writes the same bytes as saves put into the journal, one `pwrite` and one `fdatasync` each, into
/// a zero-filled file. It publishes nothing.
pub(crate) struct Bare {
    file: File,
    records: Vec<Vec<u8>>,
    next: usize,
    offset: usize,
}

impl Bare {
    /// Repeats the records of a journal.
    pub(crate) fn like(journal: &Path, file: &Path) -> Result<Bare> {
        let mut records = records_of(&fs::read(journal)?);
        // Keep the last ones: saves of one message.
        records.drain(..records.len().saturating_sub(SAMPLE));
        if records.is_empty() {
            return Err("the journal has no records to repeat".into());
        }
        let file = File::create_new(file)?;
        file.write_all_at(&vec![0; BARE_BYTES], 0)?;
        file.sync_all()?;
        Ok(Bare { file, records, next: 0, offset: RECORDS_OFFSET })
    }

    /// Mean length of a record.
    pub(crate) fn record_bytes(&self) -> usize {
        self.records.iter().map(Vec::len).sum::<usize>() / self.records.len()
    }

    pub(crate) fn saves(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            let record = &self.records[self.next];
            self.next = (self.next + 1) % self.records.len();
            if self.offset + record.len() > BARE_BYTES {
                self.offset = RECORDS_OFFSET;
            }
            self.file.write_all_at(record, self.offset as u64)?;
            self.file.sync_data()?;
            self.offset += record.len();
        }
        Ok(())
    }
}

/// Returns the records of a journal: magic, length of the body, padded to a sector.
fn records_of(journal: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    let mut rest = &journal[RECORDS_OFFSET..];
    while rest.len() > 56 && rest.starts_with(b"FTXR") {
        let body = u32::from_le_bytes([rest[4], rest[5], rest[6], rest[7]]) as usize;
        let len = (56 + body).next_multiple_of(SECTOR_BYTES);
        let Some((record, behind)) = rest.split_at_checked(len) else { break };
        records.push(record.to_vec());
        rest = behind;
    }
    records
}

/// Appends and syncs one line: one file of the four, and no count.
pub(crate) struct Lines {
    file: File,
    line: String,
}

impl Lines {
    pub(crate) fn of(file: &Path, count: usize) -> Result<Lines> {
        let mut file = File::options().append(true).create_new(true).open(file)?;
        let line = crate::talk::line();
        file.write_all(line.repeat(count.min(20_000)).as_bytes())?;
        file.sync_all()?;
        Ok(Lines { file, line })
    }

    pub(crate) fn saves(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            self.file.write_all(self.line.as_bytes())?;
            self.file.sync_all()?;
        }
        Ok(())
    }
}

/// Replaces all four files: each by a temporary file, sync, rename and sync of the folder. A kill
/// in between mixes them.
pub(crate) struct Renames {
    files: [RenameReplace; 4],
    messages: String,
    line: String,
}

impl Renames {
    pub(crate) fn of(folder: &Path, count: usize) -> Result<Renames> {
        fs::create_dir(folder)?;
        let [one, two, three, four] = ["messages.json", "metadata.json", "state.json", "global_context.json"]
            .map(|name| RenameReplace::new(folder, name));
        let line = crate::talk::line();
        Ok(Renames { files: [one?, two?, three?, four?], messages: line.repeat(count), line })
    }

    pub(crate) fn saves(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            self.messages += &self.line;
            self.files[0].replace(self.messages.as_bytes())?;
            for file in &self.files[1..] {
                file.replace(b"{\"number\": 1}\n")?;
            }
        }
        Ok(())
    }
}
