//! Minimal durable set, a peer of `agents config set` in `cargo xtask bench config`: locks, reads,
//! changes a line, writes a new file, syncs, renames, syncs the folder. It does not parse TOML,
//! preserve the mode, remove leftovers or verify the result.
#![expect(clippy::disallowed_methods, reason = "the peer does by hand what the program does through filetx")]

use std::fs::{self, File};
use std::io::{Error, Result, Write};
use std::path::Path;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, name, value] = words.as_slice() else {
        return Err(Error::other("usage: minimal_set FILE NAME VALUE"));
    };
    let file = Path::new(file);
    let folder = file.parent().ok_or_else(|| Error::other("a file is in a folder"))?;
    let lock = File::options().create(true).append(true).open(file.with_extension("lock"))?;
    lock.lock()?;
    let begin = format!("{name} = ");
    let mut text = String::new();
    let mut found = false;
    for line in fs::read_to_string(file)?.split_inclusive('\n') {
        if line.starts_with(&begin) {
            found = true;
            text += &format!("{begin}{value}\n");
        } else {
            text += line;
        }
    }
    if !found {
        text += &format!("{begin}{value}\n");
    }
    let staged = file.with_extension("tmp");
    let mut new = File::create(&staged)?;
    new.write_all(text.as_bytes())?;
    new.sync_all()?;
    fs::rename(&staged, file)?;
    File::open(folder)?.sync_all()
}
