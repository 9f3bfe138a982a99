//! The control: the usual way to save, done with care. Every file is whole after a kill; the set is not.
#![expect(clippy::disallowed_methods, reason = "the control does it the usual way")]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::conversation::{self, Found, MESSAGES, SMALL};
use crate::error::{Error, Result};

/// The first save.
pub(super) fn prepare(folder: &Path) -> Result<()> {
    save(folder, "", 0)
}

/// Saves and acknowledges, until it is killed or nobody listens.
pub(super) fn save_without_end(folder: &Path, acknowledge: impl Fn(u64) -> Result<()>) -> Result<()> {
    let newest = Found::in_folder(folder)?.newest();
    let mut messages = conversation::messages(newest);
    for number in newest + 1.. {
        messages.push_str(&conversation::message(number));
        save(folder, &messages, number)?;
        acknowledge(number)?;
    }
    Ok(())
}

fn save(folder: &Path, messages: &str, number: u64) -> Result<()> {
    let small = conversation::small(number);
    let files = SMALL.map(|name| (name, small.as_str()));
    for (name, content) in [(MESSAGES, messages)].into_iter().chain(files) {
        let path = folder.join(name);
        replace(&path, content.as_bytes()).map_err(|source| Error::File { act: "save", path, source })?;
    }
    Ok(())
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}
