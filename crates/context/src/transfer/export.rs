//! Exports for other tools and other machines. The context is not changed.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::str::FromStr;

use filetx::{Disk, FileKind, OpenMode, RelPath, RenameMode, SequentialWriter, Storage};

use super::archive;
use crate::files::{GLOBAL, LEGACY_MESSAGES, METADATA, STATE};
use crate::{Content, ContextManager, Error, Json};

/// Files and folders of an export are private to their owner, like conversations.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Format of an export.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// One file of JSON Lines with a checksum; [`Contexts::import`](crate::Contexts::import)
    /// restores it without loss.
    Archive,
    /// A folder with the four files of older tools.
    Json4,
    /// `{"messages": […]}`, the input of the chat APIs.
    Openai,
    /// Markdown, for people.
    Markdown,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        match text {
            "archive" => Ok(Format::Archive),
            "json4" => Ok(Format::Json4),
            "openai" => Ok(Format::Openai),
            "markdown" => Ok(Format::Markdown),
            _ => Err(format!("unknown export format `{text}`; use archive, json4, openai or markdown")),
        }
    }
}

impl ContextManager {
    /// Writes an export as of the last read or save. [`Format::Json4`] is a folder and needs
    /// [`export_to`](Self::export_to).
    ///
    /// Safe beside writers in any thread or process, which do not wait for it. Fails with
    /// [`Error::Rewritten`] if messages are removed or replaced during the export. A failure leaves
    /// a partial export in `out`, and the context unchanged.
    pub fn export(&self, format: Format, out: &mut dyn Write) -> Result<(), Error> {
        match format {
            Format::Archive => archive::write(self, out),
            Format::Openai => self.write_openai(out),
            Format::Markdown => self.write_markdown(out),
            Format::Json4 => {
                let source = io::Error::new(io::ErrorKind::InvalidInput, "four files need a folder");
                Err(Error::Export { source })
            }
        }
    }

    /// Writes an export to a file, or to a folder for [`Format::Json4`]: all or nothing. Replaces
    /// an existing file; an existing folder must be empty.
    ///
    /// Safety as [`export`](Self::export). A failure leaves `path` unchanged.
    pub fn export_to(&self, format: Format, path: &Path) -> Result<(), Error> {
        let path = std::path::absolute(path).map_err(|source| Error::Export { source })?;
        let (Some(around), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::Export { source: io::ErrorKind::InvalidInput.into() });
        };
        let disk = Disk::open(around).map_err(|source| Error::Export { source })?;
        let target = RelPath::root().join(name);
        let partial = RelPath::root().join(format!(".export-{}", self.dir.new_id()));
        let written = match format {
            Format::Json4 => self.write_folder(&disk, &partial),
            format => write_file(&disk, &partial, |out| self.export(format, out)),
        };
        let placed = written.and_then(|()| {
            let sync = || disk.sync_folder(&RelPath::root());
            let place = || disk.rename(&partial, &target, RenameMode::Replace).and_then(|()| sync());
            place().map_err(|source| Error::Export { source })
        });
        if placed.is_err() {
            let _ = remove(&disk, &partial);
        }
        placed
    }

    /// Writes the four files of older tools.
    fn write_folder(&self, disk: &Disk, folder: &RelPath) -> Result<(), Error> {
        let failed = |source| Error::Export { source };
        disk.make_folder(folder, FOLDER_MODE).map_err(failed)?;
        write_file(disk, &folder.join(LEGACY_MESSAGES), |out| {
            let mut is_first = true;
            write!(out, "[").map_err(failed)?;
            for one in self.messages(..) {
                let message = Json::parse(one?.message.as_json()).expect("a message is JSON").pretty();
                let comma = if is_first { "" } else { "," };
                // Line breaks in strings are escaped, so these are all between tokens.
                write!(out, "{comma}\n  {}", message.replace('\n', "\n  ")).map_err(failed)?;
                is_first = false;
            }
            let end = if is_first { "]" } else { "\n]" };
            write!(out, "{end}").map_err(failed)
        })?;
        let documents =
            [(METADATA, self.metadata().as_json()), (STATE, self.state()), (GLOBAL, self.global_context())];
        for (file, document) in documents {
            write_file(disk, &folder.join(file), |out| write!(out, "{}", document.pretty()).map_err(failed))?;
        }
        disk.sync_folder(folder).map_err(failed)
    }

    fn write_openai(&self, out: &mut dyn Write) -> Result<(), Error> {
        let failed = |source| Error::Export { source };
        let mut is_first = true;
        write!(out, "{{\"messages\":[").map_err(failed)?;
        for one in self.messages(..) {
            let comma = if is_first { "" } else { "," };
            write!(out, "{comma}\n{}", one?.message.to_chat()).map_err(failed)?;
            is_first = false;
        }
        writeln!(out, "\n]}}").map_err(failed)
    }

    fn write_markdown(&self, out: &mut dyn Write) -> Result<(), Error> {
        let failed = |source| Error::Export { source };
        writeln!(out, "# {}", self.name()).map_err(failed)?;
        for one in self.messages(..) {
            let one = one?;
            let message = &one.message;
            let name = message.name().map(|name| format!(" {name}")).unwrap_or_default();
            let time = message.time().map(|time| format!(", {time}")).unwrap_or_default();
            writeln!(out, "\n## {}. {}{name}{time}\n", one.number, message.role()).map_err(failed)?;
            let content = message.content();
            let text = content.text();
            if !text.is_empty() {
                writeln!(out, "{text}").map_err(failed)?;
            }
            let parts = match content {
                Content::Parts(parts) => parts,
                _ => Vec::new(),
            };
            let others =
                parts.into_iter().filter(|part| part.pointer("/text").is_none() && part.to_text().is_none());
            for other in others.chain(message.tool_calls()) {
                writeln!(out, "\n~~~~json\n{}\n~~~~", other.pretty()).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// Creates a file and syncs it.
fn write_file(
    disk: &Disk,
    path: &RelPath,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |source| Error::Export { source };
    let file = disk.open(path, OpenMode::Create { mode: FILE_MODE }).map_err(failed)?;
    let mut out = BufWriter::with_capacity(64 * 1024, SequentialWriter::new(file));
    fill(&mut out)?;
    let out = out.into_inner().map_err(|error| failed(error.into_error()))?;
    out.into_file().sync_all().map_err(failed)
}

/// Removes a file, or a folder of files.
fn remove(disk: &Disk, path: &RelPath) -> io::Result<()> {
    match disk.stat(path)?.map(|found| found.kind) {
        Some(FileKind::Folder) => {
            for name in disk.list(path)? {
                disk.remove_file(&path.join(name))?;
            }
            disk.remove_folder(path)
        }
        Some(_) => disk.remove_file(path),
        None => Ok(()),
    }
}
