//! Where a path stands between before and after, decided from what is found there. Pure: no disk.

use crate::tx::change::{Base, Change, Content, Final, Seen};

/// What was found for one change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// What the path holds.
    pub target: Seen,
    /// Whether that is the very file that was staged, whatever it holds by now.
    pub is_staged: bool,
    /// What was moved out of the way for this change, if anything was.
    pub displaced: Option<Seen>,
}

/// What is to be done about one change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// The path is as it was before: publish.
    Todo,
    /// The path is as it is to be.
    Done,
    /// Somebody else changed the path: theirs stays, ours is kept aside.
    Third,
    /// As `Third`, and theirs is what we moved out of the way: it goes back first.
    SwapBack,
}

pub(crate) fn classify(change: &Change, found: &Found) -> Verdict {
    if let Final::File { mode, content: Content { base: Base::Path, .. } } = &change.after {
        return mode_only(*mode, change, &found.target);
    }
    let is_after = found.is_staged || is_as_wanted(change, &found.target);
    match &found.displaced {
        None if is_after => Verdict::Done,
        None if found.target == change.before => Verdict::Todo,
        // An empty folder that made way for a file, and the crash came before the file.
        None if found.target == Seen::Absent && matches!(change.before, Seen::Folder { .. }) => Verdict::Todo,
        None => Verdict::Third,
        Some(displaced) if *displaced != change.before => {
            // Ours, or the gap that ours was to fill, stands where a person's content was.
            let ours_is_there = is_after || found.target == Seen::Absent;
            if ours_is_there { Verdict::SwapBack } else { Verdict::Third }
        }
        Some(_) if is_after => Verdict::Done,
        // Restored by hand (say, `git checkout`), or moved away for a folder that is not made yet.
        Some(_) if found.target == change.before => Verdict::Todo,
        Some(_) if found.target == Seen::Absent && matches!(change.after, Final::Folder { .. }) => {
            Verdict::Todo
        }
        Some(_) => Verdict::Third,
    }
}

/// A folder somebody made meanwhile is as good as ours, whatever its mode; of a folder whose mode changes, the mode counts.
fn is_as_wanted(change: &Change, target: &Seen) -> bool {
    match (&change.after, target) {
        (Final::Folder { .. }, Seen::Folder { .. }) if !matches!(change.before, Seen::Folder { .. }) => true,
        (after, target) => after.is(target),
    }
}

/// Only the mode changes: the content is none of our business.
fn mode_only(wanted: u32, change: &Change, target: &Seen) -> Verdict {
    match (target, &change.before) {
        (Seen::File { mode, .. }, _) if *mode == wanted => Verdict::Done,
        (Seen::File { mode, .. }, Seen::File { mode: before, .. }) if mode == before => Verdict::Todo,
        _ => Verdict::Third,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tx::change::{Print, Staged};
    use crate::{Hash, RelPath};

    fn file(text: &str) -> Seen {
        Seen::File { mode: 0o644, len: text.len() as u64, print: Print::Whole(Hash::of(text.as_bytes())) }
    }

    fn put(text: &str) -> Final {
        let staged = Staged { id: 1, number: 0, len: text.len() as u64, hash: Hash::of(text.as_bytes()) };
        Final::File { mode: 0o644, content: Content::of_staged(staged) }
    }

    const FOLDER: Seen = Seen::Folder { mode: 0o755 };
    const NEW_FOLDER: Final = Final::Folder { mode: 0o755 };

    fn check(before: Seen, after: Final, target: Seen, displaced: Option<Seen>, expected: Verdict) {
        let change = Change { root: 0, path: RelPath::new("a").unwrap(), before, after };
        let found = Found { target, is_staged: false, displaced };
        assert_eq!(classify(&change, &found), expected, "{change:?} {found:?}");
    }

    #[test]
    fn an_untouched_path_is_to_do_and_a_finished_one_is_done() {
        check(file("old"), put("new"), file("old"), None, Verdict::Todo);
        check(file("old"), put("new"), file("new"), None, Verdict::Done);
        check(file("old"), put("new"), file("new"), Some(file("old")), Verdict::Done);
        check(Seen::Absent, put("new"), Seen::Absent, None, Verdict::Todo);
        check(Seen::Absent, put("new"), file("new"), None, Verdict::Done);
        check(file("old"), Final::Absent, Seen::Absent, Some(file("old")), Verdict::Done);
        check(file("old"), Final::Absent, file("old"), None, Verdict::Todo);
    }

    #[test]
    fn a_persons_content_is_a_third_state() {
        check(file("old"), put("new"), file("person"), None, Verdict::Third);
        check(file("old"), put("new"), Seen::Absent, None, Verdict::Third);
        check(Seen::Absent, put("new"), file("person"), None, Verdict::Third);
        check(file("old"), Final::Absent, file("person"), None, Verdict::Third);
        check(file("old"), put("new"), file("person"), Some(file("old")), Verdict::Third);
    }

    #[test]
    fn a_persons_content_that_was_moved_away_goes_back() {
        check(file("old"), put("new"), file("new"), Some(file("person")), Verdict::SwapBack);
        check(file("old"), Final::Absent, Seen::Absent, Some(file("person")), Verdict::SwapBack);
        check(file("old"), NEW_FOLDER, Seen::Absent, Some(file("person")), Verdict::SwapBack);
        check(file("old"), put("new"), file("person 2"), Some(file("person")), Verdict::Third);
    }

    #[test]
    fn what_was_restored_by_hand_is_published_again() {
        check(file("old"), put("new"), file("old"), Some(file("old")), Verdict::Todo);
    }

    #[test]
    fn changes_of_kind_continue_where_they_stopped() {
        check(file("old"), NEW_FOLDER, file("old"), None, Verdict::Todo);
        check(file("old"), NEW_FOLDER, Seen::Absent, Some(file("old")), Verdict::Todo);
        check(file("old"), NEW_FOLDER, FOLDER, Some(file("old")), Verdict::Done);
        check(FOLDER, put("new"), FOLDER, None, Verdict::Todo);
        check(FOLDER, put("new"), file("new"), None, Verdict::Done);
        check(FOLDER, put("new"), Seen::Absent, None, Verdict::Todo);
        check(FOLDER, Final::Absent, FOLDER, None, Verdict::Todo);
        check(Seen::Absent, NEW_FOLDER, Seen::Folder { mode: 0o700 }, None, Verdict::Done);
        check(FOLDER, Final::Folder { mode: 0o700 }, FOLDER, None, Verdict::Todo);
    }

    #[test]
    fn a_change_of_mode_looks_at_the_mode_alone() {
        let chmod = || Final::File { mode: 0o755, content: Content::of_path(3) };
        let with = |mode, text: &str| match file(text) {
            Seen::File { len, print, .. } => Seen::File { mode, len, print },
            other => other,
        };
        check(file("old"), chmod(), file("old"), None, Verdict::Todo);
        check(file("old"), chmod(), file("person"), None, Verdict::Todo);
        check(file("old"), chmod(), with(0o755, "person"), None, Verdict::Done);
        check(file("old"), chmod(), with(0o600, "old"), None, Verdict::Third);
        check(file("old"), chmod(), Seen::Absent, None, Verdict::Third);
    }

    #[test]
    fn the_staged_file_itself_is_ours_even_when_edited() {
        let change =
            Change { root: 0, path: RelPath::new("a").unwrap(), before: file("old"), after: put("new") };
        let found = Found { target: file("edited"), is_staged: true, displaced: Some(file("old")) };
        assert_eq!(classify(&change, &found), Verdict::Done);
    }
}
