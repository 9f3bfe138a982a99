//! Retired names: identifiers and error codes that were replaced by terms of the field.
//!
//! Looks at code alone: identifiers outside of comments and strings, and error codes as whole string literals.

/// Retired types, functions and constants of each crate, by folder.
const IDENTIFIERS: &[(&str, &str)] = &[
    ("api", "Doing Entered Found Got Inside Old Said Spot Surroundings Wrong counted"),
    (
        "cli",
        "ConfineWord FormatWord GraphWord IgnoredWord Later Look MergeWord Unseen Volume Word before_deleting say_files \
         say_stat say_text",
    ),
    ("config", "Broken Known Meaning Misfit Mistake Places Says"),
    ("context", "BothLayouts Ground IdNotRising IfThere"),
    ("executor", "Answers Engine Front Gate Life Place Renewing Seat Taken Tracked Turn UnderWay Watched"),
    (
        "filetx",
        "Bell Beneath Fate Final Hold Kept Look Mark Print Seen Shelf Survey Third Turn Watch tells_what_was_lost \
         together_min",
    ),
    (
        "plan",
        "Act ApplyOrder Asked Changer Clash Contents Credit Deed Doing Doubtful Folded Ground LandedPath Left Look Made \
         Over Part Piece Pile Print Seen Settled Share Sight Terms WRITTEN_DOWN Wanted What add_what_goes_back beside \
         counted deed followed hold_old_names_back is_written is_written_down landed last_takes_the_name note_undone \
         stands_for wanted way_out write_down",
    ),
    (
        "store",
        "Care Desk Formed Grown Holding Line Prospect Said Sure Told Wish audit_strays gather hear stand",
    ),
];

/// Retired error codes, in all crates. Split, so that this file does not hold them.
const CODES: &[[&str; 2]] = &[
    ["changed", "-since"],
    ["cut", "-off"],
    ["doubt", "ful"],
    ["entang", "led"],
    ["id-not-", "rising"],
    ["leads", "-out"],
    ["no", "-place"],
    ["no-such", "-word"],
    ["not", "-here"],
    ["not", "-run"],
    ["not", "-theirs"],
    ["other", "-base"],
    ["plan", "-grown"],
    ["still", "-needed"],
    ["two", "-layouts"],
    ["un", "settled"],
];

/// Finds retired names in the source of a crate.
pub(crate) fn retired(path: &str, text: &str) -> Vec<String> {
    let Some((folder, rest)) = path.strip_prefix("crates/").and_then(|path| path.split_once('/')) else {
        return Vec::new();
    };
    if !rest.starts_with("src/") || !path.ends_with(".rs") {
        return Vec::new();
    }
    let listed = IDENTIFIERS.iter().find(|(name, _)| *name == folder);
    let identifiers: Vec<&str> =
        listed.map_or_else(Vec::new, |(_, names)| names.split_whitespace().collect());
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let code = without_comment(line);
        let mut report = |name: &str| problems.push(format!("{path}:{}: `{name}` is retired", index + 1));
        for (number, part) in code.split('"').enumerate() {
            let is_string = number % 2 == 1;
            if is_string && CODES.iter().any(|halves| halves.concat() == part) {
                report(part);
            }
            if !is_string {
                words(part).filter(|word| identifiers.contains(word)).for_each(&mut report);
            }
        }
    }
    problems
}

fn without_comment(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retired_identifier_is_found_in_the_code_of_its_crate() {
        let text = "/// A Desk.\nstruct Desk; // a Desk\nlet name = \"Desk\";\n";
        assert_eq!(retired("crates/store/src/a.rs", text), ["crates/store/src/a.rs:2: `Desk` is retired"]);
        assert!(retired("crates/cli/src/a.rs", text).is_empty());
        assert!(retired("crates/store/tests/a.rs", text).is_empty());
        assert!(retired("docs/a.md", text).is_empty());
        assert!(retired("crates/store/src/a.rs", "struct FrontDesk;").is_empty());
    }

    #[test]
    fn a_retired_code_is_found_in_every_crate() {
        let text = format!("code(\"{}\")", CODES[1].concat());
        assert_eq!(retired("crates/new/src/a.rs", &text).len(), 1);
        assert!(retired("crates/new/src/a.rs", &format!("say(\"it was {}\")", CODES[1].concat())).is_empty());
    }
}
