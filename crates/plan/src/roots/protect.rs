//! Folders that no plan writes to: what version control and this program keep for themselves.
//!
//! Names are compared as the most forgiving file system would: without case, without characters that some systems do not see, without
//! what others cut off. So `.GIT`, `.git.`, `.g<zero-width joiner>it`, `git~1` and `.git::$INDEX_ALLOCATION` are `.git` as well.

/// The protected names, at any depth.
const PROTECTED: [&str; 8] = [".git", "git~1", ".cleveragents", ".txn", ".hg", ".svn", ".jj", ".bzr"];

/// The protected folder that a path leads into or names, if any.
pub fn protected(path: &[u8]) -> Option<&'static str> {
    path.split(|byte| *byte == b'/').find_map(|name| {
        let plain = plain(name);
        PROTECTED.into_iter().find(|protected| *protected == plain)
    })
}

/// A name as the most forgiving file system reads it.
fn plain(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let seen: String = text.chars().filter(|character| !is_ignored(*character)).collect();
    let seen = seen.split(':').next().unwrap_or_default();
    seen.trim_end_matches(['.', ' ']).to_ascii_lowercase()
}

/// Characters that HFS+ leaves out when it compares names.
fn is_ignored(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_folders_are_known_by_all_their_spellings() {
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
        ] {
            assert!(protected(path.as_bytes()).is_some(), "{path}");
        }
    }

    #[test]
    fn others_are_not() {
        for path in
            [".gitignore", ".github/workflows/ci.yml", "git", "a/.gitmodules", ".git-hooks/x", "x.git/y"]
        {
            assert_eq!(protected(path.as_bytes()), None, "{path}");
        }
        assert_eq!(protected(&[0xff, b'/', 0xfe]), None);
    }
}
