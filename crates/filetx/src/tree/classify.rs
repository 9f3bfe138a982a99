//! Classifies a path between its state before and its target state, for recovery. Pure: no disk.

use crate::tx::change::{Change, Content, ContentBase, Observed, TargetState};

/// Observations for one change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ObservedChange {
    /// State of the path.
    pub target: Observed,
    /// The path names the staged file itself, whatever its content.
    pub is_staged: bool,
    /// State of the file that publishing displaced, if any.
    pub displaced: Option<Observed>,
}

/// Progress of one change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// The path has its state before: publish it.
    Pending,
    /// The path has its target state.
    Published,
    /// Another program changed the path: keep that content, preserve ours.
    ChangedByOther,
    /// Like `ChangedByOther`, but publishing displaced the content: move it back first.
    SwapBack,
}

pub(crate) fn classify(change: &Change, found: &ObservedChange) -> Progress {
    if let TargetState::File { mode, content: Content { base: ContentBase::Path, .. } } = &change.after {
        return classify_mode(*mode, change, &found.target);
    }
    let is_after = found.is_staged || is_target(change, &found.target);
    match &found.displaced {
        None if is_after => Progress::Published,
        None if found.target == change.before => Progress::Pending,
        // An empty folder was removed for a file, and the crash came before the file.
        None if found.target == Observed::Absent && matches!(change.before, Observed::Folder { .. }) => {
            Progress::Pending
        }
        None => Progress::ChangedByOther,
        Some(displaced) if *displaced != change.before => {
            // The path has our content, or is free for it, and the person's content was displaced.
            let ours_is_there = is_after || found.target == Observed::Absent;
            if ours_is_there { Progress::SwapBack } else { Progress::ChangedByOther }
        }
        Some(_) if is_after => Progress::Published,
        // Restored by hand (for example with `git checkout`), or displaced for a folder that does
        // not exist yet.
        Some(_) if found.target == change.before => Progress::Pending,
        Some(_) if found.target == Observed::Absent && matches!(change.after, TargetState::Folder { .. }) => {
            Progress::Pending
        }
        Some(_) => Progress::ChangedByOther,
    }
}

/// Returns true if the path has its target state. A folder that another program created counts,
/// whatever its mode; a change of the mode of a folder compares the mode.
fn is_target(change: &Change, target: &Observed) -> bool {
    match (&change.after, target) {
        (TargetState::Folder { .. }, Observed::Folder { .. })
            if !matches!(change.before, Observed::Folder { .. }) =>
        {
            true
        }
        (after, target) => after.matches(target),
    }
}

/// Classifies a change of mode, which ignores the content.
fn classify_mode(target_mode: u32, change: &Change, target: &Observed) -> Progress {
    match (target, &change.before) {
        (Observed::File { mode, .. }, _) if *mode == target_mode => Progress::Published,
        (Observed::File { mode, .. }, Observed::File { mode: before, .. }) if mode == before => {
            Progress::Pending
        }
        _ => Progress::ChangedByOther,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tx::change::{Fingerprint, Staged};
    use crate::{Hash, RelPath};

    fn file(text: &str) -> Observed {
        Observed::File {
            mode: 0o644,
            len: text.len() as u64,
            fingerprint: Fingerprint::Whole(Hash::of(text.as_bytes())),
        }
    }

    fn put(text: &str) -> TargetState {
        let staged = Staged { id: 1, number: 0, len: text.len() as u64, hash: Hash::of(text.as_bytes()) };
        TargetState::File { mode: 0o644, content: Content::of_staged(staged) }
    }

    const FOLDER: Observed = Observed::Folder { mode: 0o755 };
    const NEW_FOLDER: TargetState = TargetState::Folder { mode: 0o755 };

    fn check(
        before: Observed,
        after: TargetState,
        target: Observed,
        displaced: Option<Observed>,
        expected: Progress,
    ) {
        let change = Change { root: 0, path: RelPath::new("a").unwrap(), before, after };
        let found = ObservedChange { target, is_staged: false, displaced };
        assert_eq!(classify(&change, &found), expected, "{change:?} {found:?}");
    }

    #[test]
    fn a_path_is_pending_before_and_published_after_its_change() {
        check(file("old"), put("new"), file("old"), None, Progress::Pending);
        check(file("old"), put("new"), file("new"), None, Progress::Published);
        check(file("old"), put("new"), file("new"), Some(file("old")), Progress::Published);
        check(Observed::Absent, put("new"), Observed::Absent, None, Progress::Pending);
        check(Observed::Absent, put("new"), file("new"), None, Progress::Published);
        check(file("old"), TargetState::Absent, Observed::Absent, Some(file("old")), Progress::Published);
        check(file("old"), TargetState::Absent, file("old"), None, Progress::Pending);
    }

    #[test]
    fn content_of_another_program_is_detected() {
        check(file("old"), put("new"), file("person"), None, Progress::ChangedByOther);
        check(file("old"), put("new"), Observed::Absent, None, Progress::ChangedByOther);
        check(Observed::Absent, put("new"), file("person"), None, Progress::ChangedByOther);
        check(file("old"), TargetState::Absent, file("person"), None, Progress::ChangedByOther);
        check(file("old"), put("new"), file("person"), Some(file("old")), Progress::ChangedByOther);
    }

    #[test]
    fn displaced_content_of_another_program_is_swapped_back() {
        check(file("old"), put("new"), file("new"), Some(file("person")), Progress::SwapBack);
        check(file("old"), TargetState::Absent, Observed::Absent, Some(file("person")), Progress::SwapBack);
        check(file("old"), NEW_FOLDER, Observed::Absent, Some(file("person")), Progress::SwapBack);
        check(file("old"), put("new"), file("person 2"), Some(file("person")), Progress::ChangedByOther);
    }

    #[test]
    fn a_restored_path_is_published_again() {
        check(file("old"), put("new"), file("old"), Some(file("old")), Progress::Pending);
    }

    #[test]
    fn interrupted_changes_of_kind_continue() {
        check(file("old"), NEW_FOLDER, file("old"), None, Progress::Pending);
        check(file("old"), NEW_FOLDER, Observed::Absent, Some(file("old")), Progress::Pending);
        check(file("old"), NEW_FOLDER, FOLDER, Some(file("old")), Progress::Published);
        check(FOLDER, put("new"), FOLDER, None, Progress::Pending);
        check(FOLDER, put("new"), file("new"), None, Progress::Published);
        check(FOLDER, put("new"), Observed::Absent, None, Progress::Pending);
        check(FOLDER, TargetState::Absent, FOLDER, None, Progress::Pending);
        check(Observed::Absent, NEW_FOLDER, Observed::Folder { mode: 0o700 }, None, Progress::Published);
        check(FOLDER, TargetState::Folder { mode: 0o700 }, FOLDER, None, Progress::Pending);
    }

    #[test]
    fn a_change_of_mode_compares_only_the_mode() {
        let chmod = || TargetState::File { mode: 0o755, content: Content::of_path(3) };
        let with = |mode, text: &str| match file(text) {
            Observed::File { len, fingerprint, .. } => Observed::File { mode, len, fingerprint },
            other => other,
        };
        check(file("old"), chmod(), file("old"), None, Progress::Pending);
        check(file("old"), chmod(), file("person"), None, Progress::Pending);
        check(file("old"), chmod(), with(0o755, "person"), None, Progress::Published);
        check(file("old"), chmod(), with(0o600, "old"), None, Progress::ChangedByOther);
        check(file("old"), chmod(), Observed::Absent, None, Progress::ChangedByOther);
    }

    #[test]
    fn an_edited_staged_file_counts_as_published() {
        let change =
            Change { root: 0, path: RelPath::new("a").unwrap(), before: file("old"), after: put("new") };
        let found = ObservedChange { target: file("edited"), is_staged: true, displaced: Some(file("old")) };
        assert_eq!(classify(&change, &found), Progress::Published);
    }
}
