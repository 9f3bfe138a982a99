//! Writing a file from its start to its end.

use std::io::{self, Write};

use super::StoredFile;

/// Writes a file sequentially, from its start. The caller syncs it.
pub struct SequentialWriter {
    file: Box<dyn StoredFile>,
    offset: u64,
}

impl SequentialWriter {
    /// Begins at the start of a file.
    pub fn new(file: Box<dyn StoredFile>) -> Self {
        Self { file, offset: 0 }
    }

    /// Returns the file.
    pub fn into_file(self) -> Box<dyn StoredFile> {
        self.file
    }
}

impl Write for SequentialWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
