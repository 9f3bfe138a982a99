//! Protected folders, which no plan writes to: those of version control and of this program.
//!
//! Names are compared as the most lenient file system does: without case, without characters that
//! some systems ignore, without suffixes that others strip. So `.GIT`, `.git.`, `git~1`,
//! `.git::$INDEX_ALLOCATION` and `.g<zero-width joiner>it` all mean `.git`.

/// Protected names, at any depth.
const PROTECTED: [&str; 8] = [".git", "git~1", ".cleveragents", ".txn", ".hg", ".svn", ".jj", ".bzr"];

/// Returns the protected folder that a path is in or names, if any.
pub fn protected_folder(path: &[u8]) -> Option<&'static str> {
    path.split(|byte| *byte == b'/').find_map(|name| {
        let name = normalized(name);
        PROTECTED.into_iter().find(|protected| *protected == name)
    })
}

/// A name as the most lenient file system reads it.
fn normalized(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let visible: String = text.chars().filter(|character| !is_ignored(*character)).collect();
    let stem = visible.split(':').next().unwrap_or_default();
    stem.trim_end_matches(['.', ' ']).to_ascii_lowercase()
}

/// Characters that HFS+ ignores when it compares names.
fn is_ignored(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
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
        ] {
            assert!(protected_folder(path.as_bytes()).is_some(), "{path}");
        }
    }

    #[test]
    fn other_names_are_not_protected() {
        for path in
            [".gitignore", ".github/workflows/ci.yml", "git", "a/.gitmodules", ".git-hooks/x", "x.git/y"]
        {
            assert_eq!(protected_folder(path.as_bytes()), None, "{path}");
        }
        assert_eq!(protected_folder(&[0xff, b'/', 0xfe]), None);
    }
}
