//! Glob patterns of paths, and whether two patterns may overlap.
//!
//! The dialect is that of the crate `globset`, where only `**` matches `/`: `*` and `?` match
//! within a name, `**` matches any number of folders, `[a-z]` and `[!a]` match one character,
//! `{a,b}` matches one of several alternatives, and `\` escapes the next character. A pattern is
//! anchored at the root. A folder, with or without a slash at the end, matches everything below it.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{Error, Result};

/// The maximum number of patterns in a set.
const PATTERNS_MAX: usize = 1000;
/// The maximum number of alternatives of one pattern that an overlap check expands.
const ALTERNATIVES_MAX: usize = 64;

/// A set of patterns.
#[derive(Clone, Debug)]
pub struct Patterns(GlobSet);

impl Patterns {
    /// Parses patterns. An empty set matches nothing.
    pub fn new(patterns: &[String]) -> Result<Self> {
        let bad = |pattern: &str, reason: String| Error::BadPattern { pattern: pattern.to_owned(), reason };
        if patterns.len() > PATTERNS_MAX {
            return Err(bad(&patterns[0], format!("there are more than {PATTERNS_MAX} patterns")));
        }
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let plain = pattern.trim_end_matches('/');
            if plain.is_empty()
                || plain.starts_with('/')
                || plain.split('/').any(|name| matches!(name, "." | ".."))
            {
                return Err(bad(pattern, "it is not below the root".to_owned()));
            }
            for text in [plain.to_owned(), format!("{plain}/**")] {
                let glob = GlobBuilder::new(&text).literal_separator(true).backslash_escape(true).build();
                set.add(glob.map_err(|error| bad(pattern, error.kind().to_string()))?);
            }
        }
        // This fails only if the set is too large.
        set.build().map(Self).map_err(|error| bad(&patterns.join(" "), error.kind().to_string()))
    }

    /// Returns whether a path below the root matches one of the patterns.
    pub fn matches(&self, path: &Path) -> bool {
        self.0.is_match(path)
    }
}

/// Returns whether a path may match both patterns. May return `true` for patterns that do not
/// overlap: it is used for warnings.
pub fn may_overlap(one: &str, other: &str) -> bool {
    let (one, other) = (alternatives(one), alternatives(other));
    one.iter().any(|one| other.iter().any(|other| names_overlap(&names(one), &names(other))))
}

/// Expands the alternatives of a pattern; `**` if there are too many.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        if open.len() + done.len() > ALTERNATIVES_MAX {
            return vec!["**".to_owned()];
        }
        match innermost_group(&pattern) {
            None => done.push(pattern),
            Some((start, end)) => open.extend(
                pattern[start + 1..end]
                    .split(',')
                    .map(|word| format!("{}{word}{}", &pattern[..start], &pattern[end + 1..])),
            ),
        }
    }
    done
}

/// The start and end of the first group of alternatives that contains no other.
fn innermost_group(pattern: &str) -> Option<(usize, usize)> {
    let end = pattern.find('}')?;
    pattern[..end].rfind('{').map(|start| (start, end))
}

fn names(pattern: &str) -> Vec<&str> {
    pattern.trim_end_matches('/').split('/').collect()
}

/// Returns whether a path may match both, or be below a folder that matches the other.
fn names_overlap(one: &[&str], other: &[&str]) -> bool {
    // Dynamic programming over both patterns, row by row: whether the suffixes overlap. A pattern
    // that ended matches everything below.
    let mut below = vec![true; other.len() + 1];
    for left in one.iter().rev() {
        let mut row = vec![true; other.len() + 1];
        for (at, right) in other.iter().enumerate().rev() {
            row[at] = if *left == "**" || *right == "**" {
                row[at + 1] || below[at]
            } else {
                below[at + 1] && name_overlaps(left, right)
            };
        }
        below = row;
    }
    below[0]
}

/// Returns whether a name may match both. A class or an escape counts as any character.
fn name_overlaps(one: &str, other: &str) -> bool {
    let (one, other) = (tokens(one), tokens(other));
    let ends = |rest: &[Token]| rest.iter().all(|token| *token == Token::Many);
    let mut below: Vec<bool> = (0..=other.len()).map(|at| ends(&other[at..])).collect();
    for (index, left) in one.iter().enumerate().rev() {
        let mut row = vec![false; other.len() + 1];
        row[other.len()] = ends(&one[index..]);
        for (at, right) in other.iter().enumerate().rev() {
            row[at] = match (left, right) {
                (Token::Many, _) | (_, Token::Many) => row[at + 1] || below[at],
                (Token::Exactly(left), Token::Exactly(right)) => left == right && below[at + 1],
                _ => below[at + 1],
            };
        }
        below = row;
    }
    below[0]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Exactly(char),
    Any,
    Many,
}

fn tokens(name: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = name.chars();
    while let Some(character) = rest.next() {
        tokens.push(match character {
            '*' => Token::Many,
            '?' => Token::Any,
            '[' => {
                // A leading `]` is a member of the class.
                let negated = matches!(rest.clone().next(), Some('!' | '^'));
                let skipped = 1 + usize::from(negated);
                rest.by_ref().take(skipped).for_each(drop);
                rest.by_ref().find(|character| *character == ']');
                Token::Any
            }
            '\\' => {
                rest.next();
                Token::Any
            }
            plain => Token::Exactly(plain),
        });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(patterns: &[&str]) -> Result<Patterns> {
        Patterns::new(&patterns.iter().map(|pattern| (*pattern).to_owned()).collect::<Vec<_>>())
    }

    fn matches(pattern: &str, path: &str) -> bool {
        set(&[pattern]).unwrap().matches(Path::new(path))
    }

    #[test]
    fn patterns_match_paths() {
        for (pattern, path) in [
            ("src", "src/a/b.rs"),
            ("src/", "src/a.rs"),
            ("*.md", "README.md"),
            ("src/**/*.rs", "src/a.rs"),
            ("src/**/*.rs", "src/x/y/a.rs"),
            ("{a,b}.c", "b.c"),
            ("[a-c]x", "bx"),
            ("[!a]x", "bx"),
            ("a?c", "abc"),
            ("\\*", "*"),
            ("**", "any/thing"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("*.md", "docs/a.md"),
            ("src", "src-x/a"),
            ("a?c", "a/c"),
            ("[!a]x", "ax"),
            ("src/*.rs", "src/x/a.rs"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
        assert!(!set(&[]).unwrap().matches(Path::new("a")));
    }

    #[test]
    fn invalid_patterns_are_rejected() {
        for bad in ["", "/", "/etc", "../x", "a/../b", "./a", "a[", "{a"] {
            let error = set(&[bad]).unwrap_err();
            assert!(matches!(&error, Error::BadPattern { pattern, .. } if pattern == bad), "{error}");
        }
        let many = vec!["a".to_owned(); PATTERNS_MAX + 1];
        assert!(Patterns::new(&many).unwrap_err().to_string().contains("1000"));
    }

    #[test]
    fn overlapping_patterns_are_detected() {
        for (one, other) in [
            ("src/**", "src/a.rs"),
            ("src", "src/a.rs"),
            ("**/*.rs", "src/*"),
            ("a*", "*b"),
            ("{x,src}/a", "src/[a-b]"),
            ("a/b", "a"),
            ("[]a]x", "?x"),
            ("[!]a]x", "bx"),
            ("\\*", "a"),
            ("{a,{b,c}}", "c"),
            ("src/", "src"),
        ] {
            assert!(may_overlap(one, other) && may_overlap(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("src/**", "docs/**"),
            ("*.rs", "*.md"),
            ("a/*/c", "a/b/d"),
            ("{a,b}", "{c,d}"),
            ("ab", "a?c"),
            ("a", "ab"),
        ] {
            assert!(!may_overlap(one, other) && !may_overlap(other, one), "{one} {other}");
        }
        let many = "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}";
        assert!(may_overlap(many, "z"), "too many alternatives to expand");
    }

    proptest! {
        /// Patterns that match a common path overlap.
        #[test]
        fn no_overlap_is_missed(
            one in "(a|b|\\*|\\?|\\*\\*)(/(a|b|ab|\\*|a\\*|\\*\\*)){0,2}",
            other in "(a|b|\\*|\\?|\\*\\*)(/(a|b|ab|\\*|a\\*|\\*\\*)){0,2}",
            path in "(a|b)(/(a|b|ab)){0,3}",
        ) {
            if matches(&one, &path) && matches(&other, &path) {
                prop_assert!(may_overlap(&one, &other), "{} {} {}", one, other, path);
            }
        }
    }
}
