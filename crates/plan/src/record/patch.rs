//! Applies a unified diff of one file. Refuses a patch that does more than is recorded: one for
//! another file or for several, a rename, a binary patch.
//!
//! Pure. The headers are those of git and of `diff -u`; a patch may also be hunks alone.

use store::{Content, ContentKind, PathBytes};

use crate::{ContentSource, Edit, Error, Result};

/// Size limit of a patch and of a patched file, in bytes.
pub const PATCH_BYTES_MAX: u64 = 64 << 20;

/// The result of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patched {
    /// The new content, with permission bits if the patch sets them.
    Write {
        /// The bytes.
        bytes: Vec<u8>,
        /// The permission bits.
        mode: Option<u32>,
    },
    /// The patch deletes the file.
    Delete,
    /// The patch sets the permission bits alone.
    Mode(u32),
}

impl Patched {
    /// Returns the edit to record.
    pub fn into_edit(self) -> Edit {
        match self {
            Self::Write { bytes, mode } => Edit::Write { content: ContentSource::Bytes(bytes), mode },
            Self::Delete => Edit::Delete,
            Self::Mode(mode) => Edit::Mode(mode),
        }
    }
}

/// Applies a patch to the text of a path; a path that does not exist has none.
pub fn patched(path: &PathBytes, before: Option<&Content>, text: &[u8], patch: &[u8]) -> Result<Patched> {
    let refuse = |reason: String| Error::Patch { path: path.show().into_owned(), reason };
    let refused = |reason: &str| refuse(reason.to_owned());
    if before.is_some_and(|content| content.kind == ContentKind::Symlink) {
        return Err(refused("it is a symlink"));
    }
    if (text.len() as u64).max(patch.len() as u64) > PATCH_BYTES_MAX {
        return Err(refuse(format!("it has more than {PATCH_BYTES_MAX} bytes")));
    }
    let Parsed { header, hunks } = Parsed::of(patch, path.as_bytes()).map_err(refuse)?;
    match (header.effect, before) {
        (Effect::Create, Some(_)) => return Err(refused("the patch creates it, and it exists")),
        (Effect::Delete, None) => return Err(refused("the patch deletes it, and it does not exist")),
        _ => {}
    }
    let bytes = match hunks {
        None => text.to_vec(),
        Some(hunks) => {
            let patch = diffy::Patch::from_bytes(hunks).map_err(|error| refuse(error.to_string()))?;
            diffy::apply_bytes(text, &patch).map_err(|error| refuse(error.to_string()))?
        }
    };
    match (header.effect, hunks, header.mode) {
        (Effect::Delete, ..) if !bytes.is_empty() => {
            Err(refused("the patch deletes it, and leaves lines in it"))
        }
        (Effect::Delete, ..) => Ok(Patched::Delete),
        (Effect::Modify, None, Some(mode)) if before.is_some() => Ok(Patched::Mode(mode)),
        (Effect::Modify, None, _) => Err(refused("the patch changes no lines")),
        (_, _, mode) => Ok(Patched::Write { bytes, mode }),
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Effect {
    #[default]
    Modify,
    Create,
    Delete,
}

/// The meaning of the lines before the hunks.
#[derive(Default)]
struct Header {
    effect: Effect,
    mode: Option<u32>,
}

struct Parsed<'a> {
    header: Header,
    /// The hunks, without other lines before or after them.
    hunks: Option<&'a [u8]>,
}

impl<'a> Parsed<'a> {
    fn of(patch: &'a [u8], path: &[u8]) -> Result<Self, String> {
        let mut header = Header::default();
        let (mut hunks, mut start): (Option<(usize, usize)>, usize) = (None, 0);
        // Lines of the present hunk that are still to come, on the old and on the new side.
        let mut rest: (u64, u64) = (0, 0);
        for line in patch.split_inclusive(|byte| *byte == b'\n') {
            let end = start + line.len();
            let is_in_hunk = rest != (0, 0);
            if is_in_hunk {
                match line.first() {
                    Some(b'-') => rest.0 = rest.0.saturating_sub(1),
                    Some(b'+') => rest.1 = rest.1.saturating_sub(1),
                    Some(b'\\') => {}
                    _ => rest = (rest.0.saturating_sub(1), rest.1.saturating_sub(1)),
                }
            } else if let Some(lines) = hunk_lines(line) {
                rest = lines;
            }
            if is_in_hunk || hunk_lines(line).is_some() || (hunks.is_some() && line.starts_with(b"\\")) {
                hunks = Some((hunks.map_or(start, |(first, _)| first), end));
            } else if hunks.is_some() && (line.starts_with(b"diff ") || line.starts_with(b"--- ")) {
                return Err("the patch changes several files".to_owned());
            } else if hunks.is_none() {
                header.add(line.strip_suffix(b"\n").unwrap_or(line), path)?;
            }
            start = end;
        }
        Ok(Self { header, hunks: hunks.map(|(start, end)| &patch[start..end]) })
    }
}

impl Header {
    fn add(&mut self, line: &[u8], path: &[u8]) -> Result<(), String> {
        let after = |start: &str| line.strip_prefix(start.as_bytes());
        let is_rename = ["rename ", "copy "].iter().any(|start| after(start).is_some());
        let is_binary = ["GIT binary patch", "Binary files "].iter().any(|start| after(start).is_some());
        if is_rename {
            return Err("the patch renames or copies a file".to_owned());
        }
        if is_binary {
            return Err("the patch is binary".to_owned());
        }
        if let Some(names) = after("diff --git ") {
            self.check_pair(names, path)?;
        } else if let Some(name) = after("--- ") {
            self.name(name, path, Effect::Create)?;
        } else if let Some(name) = after("+++ ") {
            self.name(name, path, Effect::Delete)?;
        } else if let Some(mode) = after("new mode ") {
            self.mode = Some(permissions(mode)?);
        } else if let Some(mode) = after("new file mode ") {
            (self.effect, self.mode) = (Effect::Create, Some(permissions(mode)?));
        } else if let Some(mode) = after("deleted file mode ") {
            permissions(mode)?;
            self.effect = Effect::Delete;
        }
        Ok(())
    }

    /// Checks the name of a side. `/dev/null` has an effect.
    fn name(&mut self, name: &[u8], path: &[u8], of_null: Effect) -> Result<(), String> {
        let name = unquoted(name);
        match name.as_slice() {
            b"/dev/null" => self.effect = of_null,
            name if is_name_of(name, path) => {}
            name => return Err(other_file(name)),
        }
        Ok(())
    }

    /// Checks both names of a git header, which are equal without a rename.
    fn check_pair(&self, names: &[u8], path: &[u8]) -> Result<(), String> {
        // A space may be part of a name, so try each.
        let spaces = names.iter().enumerate().filter(|(_, byte)| **byte == b' ').map(|(at, _)| at);
        let is_pair = |at: usize| {
            let sides = [&names[..at], &names[at + 1..]];
            sides.iter().all(|side| is_name_of(&unquoted(side), path))
        };
        if spaces.into_iter().any(is_pair) { Ok(()) } else { Err(other_file(names)) }
    }
}

fn other_file(name: &[u8]) -> String {
    format!("the patch is for `{}`", String::from_utf8_lossy(name))
}

/// Compares a name of a patch with a path: as it is, or below one folder, as `a/` and `b/`.
fn is_name_of(name: &[u8], path: &[u8]) -> bool {
    let below = name.iter().position(|byte| *byte == b'/').map(|at| &name[at + 1..]);
    name == path || below == Some(path)
}

/// The permission bits of a mode in git.
fn permissions(mode: &[u8]) -> Result<u32, String> {
    match mode.trim_ascii() {
        b"100644" => Ok(0o644),
        b"100755" => Ok(0o755),
        b"120000" => Err("the patch is of a symlink".to_owned()),
        mode => Err(format!("the patch has the mode {}", String::from_utf8_lossy(mode))),
    }
}

/// The numbers of old and new lines in the header of a hunk: `@@ -1,2 +3 @@`.
fn hunk_lines(line: &[u8]) -> Option<(u64, u64)> {
    let text = str::from_utf8(line.strip_prefix(b"@@ -")?).ok().or_else(|| {
        // The text after the numbers may be anything.
        let end = line.windows(3).skip(4).position(|window| window == b" @@")? + 4;
        str::from_utf8(&line[4..end + 3]).ok()
    })?;
    let (ranges, _) = text.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, lines)| lines.parse().ok());
    Some((count(old)?, count(new)?))
}

/// A name as git and `diff` write it: quoted, or with a tab and a time after it.
fn unquoted(name: &[u8]) -> Vec<u8> {
    let name = name.strip_suffix(b"\r").unwrap_or(name);
    let Some(quoted) = name.strip_prefix(b"\"") else {
        return name.split(|byte| *byte == b'\t').next().unwrap_or_default().to_vec();
    };
    let (mut text, mut bytes) = (Vec::new(), quoted.iter().copied().peekable());
    while let Some(byte) = bytes.next().filter(|byte| *byte != b'"') {
        if byte != b'\\' {
            text.push(byte);
            continue;
        }
        match bytes.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let digit = bytes.next_if(|byte| (b'0'..=b'7').contains(byte));
                    value = digit.map_or(value, |digit| value * 8 + u32::from(digit - b'0'));
                }
                text.push(value as u8);
            }
            Some(b'n') => text.push(b'\n'),
            Some(b't') => text.push(b'\t'),
            Some(b'r') => text.push(b'\r'),
            Some(b'a') => text.push(0x07),
            Some(b'b') => text.push(0x08),
            Some(b'v') => text.push(0x0b),
            Some(b'f') => text.push(0x0c),
            Some(byte) => text.push(byte),
            None => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::BlobHash;

    fn content(text: &str) -> Content {
        let (kind, blob) = (ContentKind::File, BlobHash::of(text.as_bytes()));
        Content { kind, blob, bytes: text.len() as u64, mode: 0o644 }
    }

    fn apply(path: &str, before: Option<&str>, patch: &str) -> Result<Patched, String> {
        let key = PathBytes::parse(path).unwrap();
        let text = before.unwrap_or_default().as_bytes();
        patched(&key, before.map(content).as_ref(), text, patch.as_bytes()).map_err(|error| match error {
            Error::Patch { reason, .. } => reason,
            error => panic!("{error}"),
        })
    }

    fn written(text: &str, mode: Option<u32>) -> Result<Patched, String> {
        Ok(Patched::Write { bytes: text.into(), mode })
    }

    const HUNK: &str = "@@ -1 +1 @@\n-old\n+new\n";

    #[test]
    fn a_patch_does_what_it_says() {
        for header in [
            "",
            "--- a/b.txt\n+++ b/b.txt\n",
            "--- b.txt\t2026-11-18 09:31:00\n+++ b.txt\n",
            "diff --git a/b.txt b/b.txt\nindex 1..2 100644\n--- a/b.txt\n+++ b/b.txt\n",
            "From 0123\nSubject: words\n---\n b.txt | 2 +-\ndiff --git i/b.txt w/b.txt\n",
        ] {
            assert_eq!(apply("b.txt", Some("old\n"), &format!("{header}{HUNK}")), written("new\n", None));
        }
        let trailer = format!("{HUNK}-- \n2.39.5\n");
        assert_eq!(apply("b.txt", Some("old\n"), &trailer), written("new\n", None));
        // Removed lines that look like headers.
        let patch =
            "--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n--- a/g\n-diff --git\n+x\n\\ No newline at end of file\n";
        assert_eq!(apply("f", Some("-- a/g\ndiff --git\n"), patch), written("x", None));
        let quoted = "--- \"a/t\\tab \\303\\251\"\n+++ \"b/t\\tab \\303\\251\"\n";
        assert_eq!(apply("t\tab é", Some("old\n"), &format!("{quoted}{HUNK}")), written("new\n", None));
        let spaces = "diff --git a/a b/c b/a b/c\n";
        assert_eq!(apply("a b/c", Some("old\n"), &format!("{spaces}{HUNK}")), written("new\n", None));
    }

    #[test]
    fn deletions_creations_and_modes_are_recorded_as_such() {
        let gone = "@@ -1 +0,0 @@\n-old\n";
        for header in ["--- a/f\n+++ /dev/null\n", "diff --git a/f b/f\ndeleted file mode 100644\n"] {
            assert_eq!(apply("f", Some("old\n"), &format!("{header}{gone}")), Ok(Patched::Delete));
        }
        let empty = "diff --git a/f b/f\ndeleted file mode 100644\n";
        assert_eq!(apply("f", Some(""), empty), Ok(Patched::Delete));
        let tool = "diff --git a/f b/f\nnew file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(apply("f", None, tool), written("x\n", Some(0o755)));
        assert_eq!(apply("f", None, "diff --git a/f b/f\nnew file mode 100644\n"), written("", Some(0o644)));
        let mode = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n";
        assert_eq!(apply("f", Some("old\n"), mode), Ok(Patched::Mode(0o755)));
        assert_eq!(apply("f", Some("old\n"), &format!("{mode}{HUNK}")), written("new\n", Some(0o755)));
    }

    #[test]
    fn a_patch_that_does_more_is_refused() {
        let two = format!("--- a/f\n+++ b/f\n{HUNK}--- a/g\n+++ b/g\n{HUNK}");
        let git = format!("diff --git a/f b/f\n{HUNK}diff --git a/g b/g\n{HUNK}");
        for (before, patch, reason) in [
            (Some("old\n"), "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-old\n+new\n", "the patch is for `a/g`"),
            (Some("old\n"), "--- a/f\n+++ b/g\n@@ -1 +1 @@\n-old\n+new\n", "the patch is for `b/g`"),
            (
                Some("old\n"),
                "diff --git a/g b/g\nold mode 100644\nnew mode 100755\n",
                "the patch is for `a/g b/g`",
            ),
            (Some("old\n"), &two, "the patch changes several files"),
            (Some("old\n"), &git, "the patch changes several files"),
            (Some("old\n"), "rename from f\nrename to g\n", "the patch renames or copies a file"),
            (Some("old\n"), "diff --git a/f b/f\nGIT binary patch\n", "the patch is binary"),
            (Some("old\n"), "diff --git a/f b/f\nnew file mode 120000\n", "the patch is of a symlink"),
            (
                Some("old\n"),
                "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n",
                "the patch creates it, and it exists",
            ),
            (
                None,
                "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n",
                "the patch deletes it, and it does not exist",
            ),
            (
                Some("old\nmore\n"),
                "--- a/f\n+++ /dev/null\n@@ -1,2 +1 @@\n-old\n more\n",
                "the patch deletes it, and leaves lines in it",
            ),
            (Some("old\n"), "--- a/f\n+++ b/f\n", "the patch changes no lines"),
        ] {
            assert_eq!(apply("f", before, patch), Err(reason.to_owned()), "{patch}");
        }
    }
}
