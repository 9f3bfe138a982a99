//! Protected folders, which no plan writes to: those of version control and of this program.
//!
//! Names are compared as the most lenient file system does:
//!
//! - without case, with the folding of Unicode: `.GIT`, and `.\u{17f}vn` with a long s
//! - without the code points that have no shape, which HFS+, APFS and case-folding ext4 and F2FS ignore: zero-width
//!   characters, the soft hyphen, variation selectors
//! - without the suffixes that NTFS strips: trailing dots and spaces, and a stream (`.git::$INDEX_ALLOCATION`)
//! - by the short names that NTFS gives to long ones: `git~1`, `clever~1`, and two letters with a checksum
//! - `\\` separates names, as on Windows

/// Protected names, at any depth.
const PROTECTED: [&str; 7] = [".git", ".cleveragents", ".txn", ".hg", ".svn", ".jj", ".bzr"];

/// Returns the protected folder that a path is in or names, if any.
pub fn protected_folder(path: &[u8]) -> Option<&'static str> {
    path.split(|byte| matches!(byte, b'/' | b'\\')).find_map(|name| {
        let name = normalized(name);
        PROTECTED.into_iter().find(|protected| *protected == name || is_short_name(&name, protected))
    })
}

/// A name as the most lenient file system reads it.
fn normalized(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let visible = text.chars().filter(|character| !is_ignored(*character));
    // Upper case first: it folds letters that are lower case already, such as the long s.
    let folded: String = visible.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    let stem = folded.split(':').next().unwrap_or_default();
    stem.trim_end_matches(['.', ' ']).to_owned()
}

/// Code points with the Unicode property `Default_Ignorable_Code_Point`. They include those that HFS+ ignores.
fn is_ignored(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns true if NTFS may give `name` to a protected folder as a short name: without the dot, up to six letters, or
/// two letters and four digits of a checksum; then `~` and a number.
fn is_short_name(name: &str, protected: &str) -> bool {
    let Some((stem, number)) = name.rsplit_once('~') else { return false };
    let long = &protected[1..];
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_checksum = |text: &str| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number
        && (stem == &long[..long.len().min(6)] || stem.strip_prefix(&long[..2]).is_some_and(is_checksum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_protected_folders_are_protected() {
        for path in [
            ".git",
            ".git/config",
            "vendor/.git/hooks/pre-commit",
            ".GIT/config",
            ".git./config",
            ".git /config",
            ".git::$INDEX_ALLOCATION/config",
            "GIT~1/config",
            ".g\u{200c}it/config",
            ".cleveragents/config.toml",
            ".txn/journal",
            ".svn/entries",
            // Zero-width characters, the soft hyphen, variation selectors.
            ".g\u{200b}it/config",
            ".gi\u{2060}t/config",
            "\u{feff}.git/config",
            ".g\u{ad}it/config",
            ".git\u{fe0f}/config",
            ".git\u{e0100}/config",
            ".\u{34f}git/hooks/pre-commit",
            // Letters that fold to ASCII: the long s and the dotless i.
            ".\u{17f}vn/entries",
            ".cleveragent\u{17f}/config.toml",
            ".G\u{131}T/config",
            // NTFS.
            ".git . . /config",
            ".git.\u{200c}/config",
            ".git:$i30:$INDEX_ALLOCATION/config",
            "git~1",
            "git~2/config",
            "GI7EBA~1/config",
            "CLEVER~1/config.toml",
            "cl0af3~2/config.toml",
            "txn~1/journal",
            "SVN~1/entries",
            "a\\.git\\config",
        ] {
            assert!(protected_folder(path.as_bytes()).is_some(), "{path}");
        }
    }

    #[test]
    fn other_names_are_not_protected() {
        for path in [
            ".gitignore",
            ".github/workflows/ci.yml",
            "git",
            "a/.gitmodules",
            ".git-hooks/x",
            "x.git/y",
            "git~",
            "git~x",
            "digit~1",
            "clever",
            "clever~/x",
            "gitter~1",
            ".g\u{301}it/x",
            ". git/x",
        ] {
            assert_eq!(protected_folder(path.as_bytes()), None, "{path}");
        }
        assert_eq!(protected_folder(&[0xff, b'/', 0xfe]), None);
    }
}
