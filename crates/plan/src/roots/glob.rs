//! Patterns of paths: what an actor may change, which part of a plan is meant; and whether two may have a path in common.
//!
//! The dialect is that of the crate `globset` with `/` matched by `**` alone: `*` and `?` stay within a name, `**` goes over folders,
//! `[a-z]` and `[!a]` are one character, `{a,b}` is a choice, `\` takes the next character as it is. A pattern is anchored at the root. A
//! folder stands for all that is in it, with or without a slash at the end.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{Error, Result};

/// The most patterns of one set.
const PATTERNS_MAX: usize = 1000;
/// The most alternatives that the choices of one pattern may come to when overlaps are looked for.
const ALTERNATIVES_MAX: usize = 64;

/// A set of patterns.
#[derive(Clone, Debug)]
pub struct Patterns(GlobSet);

impl Patterns {
    /// Reads patterns. A set of none fits nothing.
    pub fn new(patterns: &[String]) -> Result<Self> {
        let bad = |pattern: &str, reason: String| Error::BadPattern { pattern: pattern.to_owned(), reason };
        if patterns.len() > PATTERNS_MAX {
            return Err(bad(&patterns[0], format!("it is one of more than {PATTERNS_MAX}")));
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
        // What can fail here is a set that is too large altogether.
        set.build().map(Self).map_err(|error| bad(&patterns.join(" "), error.kind().to_string()))
    }

    /// Whether a path below the root fits one of them.
    pub fn fit(&self, path: &Path) -> bool {
        self.0.is_match(path)
    }
}

/// Whether some path could fit both patterns. In doubt it says yes: it is asked for warnings.
pub fn may_overlap(one: &str, other: &str) -> bool {
    let (one, other) = (alternatives(one), alternatives(other));
    one.iter().any(|one| other.iter().any(|other| names_meet(&names(one), &names(other))))
}

/// A pattern without choices: one per alternative, or `**` when there are too many.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        if open.len() + done.len() > ALTERNATIVES_MAX {
            return vec!["**".to_owned()];
        }
        match innermost_choice(&pattern) {
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

/// Where the first choice that holds no other begins and ends.
fn innermost_choice(pattern: &str) -> Option<(usize, usize)> {
    let end = pattern.find('}')?;
    pattern[..end].rfind('{').map(|start| (start, end))
}

fn names(pattern: &str) -> Vec<&str> {
    pattern.trim_end_matches('/').split('/').collect()
}

/// Whether a path fits both, or one lies in a folder that fits the other.
fn names_meet(one: &[&str], other: &[&str]) -> bool {
    // Like the usual table for two wildcards, row by row: whether the rests from here can meet. A pattern that ended stands for all below.
    let mut below = vec![true; other.len() + 1];
    for left in one.iter().rev() {
        let mut row = vec![true; other.len() + 1];
        for (at, right) in other.iter().enumerate().rev() {
            row[at] = if *left == "**" || *right == "**" {
                row[at + 1] || below[at]
            } else {
                below[at + 1] && name_meets(left, right)
            };
        }
        below = row;
    }
    below[0]
}

/// Whether some name could fit both. A class or an escape counts as any character.
fn name_meets(one: &str, other: &str) -> bool {
    let (one, other) = (letters(one), letters(other));
    let ends = |rest: &[Letter]| rest.iter().all(|letter| *letter == Letter::Many);
    let mut below: Vec<bool> = (0..=other.len()).map(|at| ends(&other[at..])).collect();
    for (index, left) in one.iter().enumerate().rev() {
        let mut row = vec![false; other.len() + 1];
        row[other.len()] = ends(&one[index..]);
        for (at, right) in other.iter().enumerate().rev() {
            row[at] = match (left, right) {
                (Letter::Many, _) | (_, Letter::Many) => row[at + 1] || below[at],
                (Letter::Exactly(left), Letter::Exactly(right)) => left == right && below[at + 1],
                _ => below[at + 1],
            };
        }
        below = row;
    }
    below[0]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Letter {
    Exactly(char),
    Any,
    Many,
}

fn letters(name: &str) -> Vec<Letter> {
    let mut letters = Vec::new();
    let mut rest = name.chars();
    while let Some(character) = rest.next() {
        letters.push(match character {
            '*' => Letter::Many,
            '?' => Letter::Any,
            '[' => {
                // A `]` that comes first is a member of the class.
                let negated = matches!(rest.clone().next(), Some('!' | '^'));
                let skipped = 1 + usize::from(negated);
                rest.by_ref().take(skipped).for_each(drop);
                rest.by_ref().find(|character| *character == ']');
                Letter::Any
            }
            '\\' => {
                rest.next();
                Letter::Any
            }
            plain => Letter::Exactly(plain),
        });
    }
    letters
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(patterns: &[&str]) -> Result<Patterns> {
        Patterns::new(&patterns.iter().map(|pattern| (*pattern).to_owned()).collect::<Vec<_>>())
    }

    fn fits(pattern: &str, path: &str) -> bool {
        set(&[pattern]).unwrap().fit(Path::new(path))
    }

    #[test]
    fn the_dialect() {
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
            assert!(fits(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("*.md", "docs/a.md"),
            ("src", "src-x/a"),
            ("a?c", "a/c"),
            ("[!a]x", "ax"),
            ("src/*.rs", "src/x/a.rs"),
        ] {
            assert!(!fits(pattern, path), "{pattern} {path}");
        }
        assert!(!set(&[]).unwrap().fit(Path::new("a")));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for bad in ["", "/", "/etc", "../x", "a/../b", "./a", "a[", "{a"] {
            let error = set(&[bad]).unwrap_err();
            assert!(matches!(&error, Error::BadPattern { pattern, .. } if pattern == bad), "{error}");
        }
        let many = vec!["a".to_owned(); PATTERNS_MAX + 1];
        assert!(Patterns::new(&many).unwrap_err().to_string().contains("1000"));
    }

    #[test]
    fn overlaps() {
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
        assert!(may_overlap(many, "z"), "too many alternatives to tell");
    }

    proptest! {
        /// A path that fits both patterns is never missed.
        #[test]
        fn no_overlap_is_missed(
            one in "(a|b|\\*|\\?|\\*\\*)(/(a|b|ab|\\*|a\\*|\\*\\*)){0,2}",
            other in "(a|b|\\*|\\?|\\*\\*)(/(a|b|ab|\\*|a\\*|\\*\\*)){0,2}",
            path in "(a|b)(/(a|b|ab)){0,3}",
        ) {
            if fits(&one, &path) && fits(&other, &path) {
                prop_assert!(may_overlap(&one, &other), "{} {} {}", one, other, path);
            }
        }
    }
}
