//! Patches for `git apply`.
//!
//! Files are text or git's binary patches; symlinks are as in git. A comment has the permission
//! bits that git does not keep. A content that is too large is marked as in git, and git rejects
//! the whole patch.

use std::io::{self, Write};

use store::ContentKind;

use super::binary::{write_index, write_literal};
use super::file::{FileDiff, FileSide};
use super::hunk::Hunk;

/// Writes the diff of one file.
pub fn write_patch(out: &mut dyn Write, diff: &FileDiff) -> io::Result<()> {
    let new_path = diff.key.path.as_bytes();
    let old_path = diff.renamed_from.as_ref().map_or(new_path, |path| path.as_bytes());
    let (old_name, new_name) = (quoted(b"a/", old_path), quoted(b"b/", new_path));
    let modes = (diff.old.as_ref().map(git_mode), diff.new.as_ref().map(git_mode));
    write_mode_comment(out, diff)?;
    if modes.0 == modes.1 && diff.hunks.is_empty() && !diff.binary && diff.renamed_from.is_none() {
        return Ok(());
    }
    line(out, &[b"diff --git ", &old_name, b" ", &new_name])?;
    match modes {
        (None, Some(new)) => writeln!(out, "new file mode {new}")?,
        (Some(old), None) => writeln!(out, "deleted file mode {old}")?,
        (Some(old), Some(new)) if old != new => writeln!(out, "old mode {old}\nnew mode {new}")?,
        _ => {}
    }
    if diff.renamed_from.is_some() {
        if diff.hunks.is_empty() && !diff.binary {
            out.write_all(b"similarity index 100%\n")?;
        }
        line(out, &[b"rename from ", &quoted(b"", old_path)])?;
        line(out, &[b"rename to ", &quoted(b"", new_path)])?;
    }
    if diff.binary {
        return write_binary(out, diff, &old_name, &new_name);
    }
    if !diff.hunks.is_empty() {
        name_line(out, b"--- ", diff.old.is_some().then_some(&old_name))?;
        name_line(out, b"+++ ", diff.new.is_some().then_some(&new_name))?;
    }
    diff.hunks.iter().try_for_each(|hunk| write_hunk(out, hunk))
}

/// Writes a comment with permission bits that git does not keep.
fn write_mode_comment(out: &mut dyn Write, diff: &FileDiff) -> io::Result<()> {
    let Some(new) = diff.new.as_ref().filter(|new| new.kind == ContentKind::File) else { return Ok(()) };
    let is_kept = matches!(new.mode, 0o644 | 0o755);
    let comment = match &diff.old {
        Some(old) if old.mode != new.mode && (!is_kept || git_mode(old) == git_mode(new)) => {
            format!("# mode {:04o} becomes {:04o}: ", old.mode, new.mode)
        }
        None if !is_kept => format!("# mode {:04o}: ", new.mode),
        _ => return Ok(()),
    };
    line(out, &[comment.as_bytes(), &quoted(b"", diff.key.path.as_bytes())])
}

fn write_binary(out: &mut dyn Write, diff: &FileDiff, old_name: &[u8], new_name: &[u8]) -> io::Result<()> {
    let bytes = |side: &Option<FileSide>| match side {
        None => Some(Vec::new()),
        Some(side) => side.content.as_ref().map(|content| content.to_vec()),
    };
    let (Some(old), Some(new)) = (bytes(&diff.old), bytes(&diff.new)) else {
        return write_too_large(out, diff, old_name, new_name);
    };
    write_index(out, diff.old.is_some().then_some(&old), diff.new.is_some().then_some(&new))?;
    out.write_all(b"GIT binary patch\n")?;
    write_literal(out, &new)?;
    write_literal(out, &old)
}

/// Writes a file whose content is too large for a patch, so that git rejects the whole patch and
/// changes no file. Without an index line git would skip the file as a comment; abbreviated hashes
/// in the index line make git reject a binary file.
fn write_too_large(out: &mut dyn Write, diff: &FileDiff, old_name: &[u8], new_name: &[u8]) -> io::Result<()> {
    let absent = &b"/dev/null"[..];
    let old_name = if diff.old.is_some() { old_name } else { absent };
    let new_name = if diff.new.is_some() { new_name } else { absent };
    out.write_all(b"index 0000000..0000000\n")?;
    line(out, &[b"Binary files ", old_name, b" and ", new_name, b" differ"])
}

fn write_hunk(out: &mut dyn Write, hunk: &Hunk) -> io::Result<()> {
    let range =
        |start: u64, lines: u64| if lines == 1 { format!("{start}") } else { format!("{start},{lines}") };
    let (old, new) = (range(hunk.old_start, hunk.old_lines), range(hunk.new_start, hunk.new_lines));
    writeln!(out, "@@ -{old} +{new} @@")?;
    for line in &hunk.lines {
        write!(out, "{}", line.sign.as_char())?;
        out.write_all(&line.text)?;
        if !line.text.ends_with(b"\n") {
            out.write_all(b"\n\\ No newline at end of file\n")?;
        }
    }
    Ok(())
}

/// Writes the line with the name of a side. git needs a tab after a name with a space.
fn name_line(out: &mut dyn Write, start: &[u8], name: Option<&Vec<u8>>) -> io::Result<()> {
    let name = name.map_or(&b"/dev/null"[..], |name| name);
    line(out, &[start, name, if name.contains(&b' ') { b"\t" } else { b"" }])
}

fn line(out: &mut dyn Write, parts: &[&[u8]]) -> io::Result<()> {
    parts.iter().try_for_each(|part| out.write_all(part))?;
    out.write_all(b"\n")
}

/// The mode in git.
fn git_mode(side: &FileSide) -> &'static str {
    match side.kind {
        ContentKind::Symlink => "120000",
        ContentKind::File if side.mode & 0o100 != 0 => "100755",
        ContentKind::File => "100644",
    }
}

/// A name as git writes it: quoted and escaped if it has special characters.
fn quoted(prefix: &[u8], path: &[u8]) -> Vec<u8> {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if path.iter().all(plain) {
        return [prefix, path].concat();
    }
    let mut name = [b"\"", prefix].concat();
    for byte in path {
        match byte {
            byte if plain(byte) => name.push(*byte),
            b'"' | b'\\' => name.extend([b'\\', *byte]),
            byte => name.extend(format!("\\{byte:03o}").into_bytes()),
        }
    }
    name.push(b'"');
    name
}
