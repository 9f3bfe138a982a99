//! What is saved: the four files of a conversation. Each save adds a message and rewrites the three small files; every file tells
//! which save it is of.

use std::path::Path;

use serde_json::{Value, json};

use crate::error::{Error, Result};

/// Grows by a line with each save.
pub(super) const MESSAGES: &str = "messages.jsonl";
/// Written anew with each save.
pub(super) const SMALL: [&str; 3] = ["metadata.json", "state.json", "global_context.json"];

/// The line that a save adds to the messages.
pub(super) fn message(save: u64) -> String {
    format!("{}\n", json!({ "id": save, "role": "user", "content": format!("message {save}") }))
}

/// A small file as of a save.
pub(super) fn small(save: u64) -> String {
    format!("{}\n", json!({ "save": save, "message_count": save }))
}

/// All messages as of a save.
pub(super) fn messages(save: u64) -> String {
    (1..=save).map(message).collect()
}

/// Which save each of the four files is of; `None` for a file that is of none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found(Vec<Option<u64>>);

impl Found {
    /// Looks with a function that reads a file by its name.
    pub(super) fn by(mut read: impl FnMut(&'static str) -> Result<Vec<u8>>) -> Result<Self> {
        let mut saves = vec![save_of_messages(&read(MESSAGES)?)];
        for name in SMALL {
            saves.push(save_of_small(&read(name)?));
        }
        Ok(Self(saves))
    }

    /// Which save each of the four is of.
    pub(super) fn of(saves: [Option<u64>; 4]) -> Self {
        Self(saves.into())
    }

    /// Looks at the plain files, as any program would.
    pub(super) fn in_folder(folder: &Path) -> Result<Self> {
        Self::by(|name| {
            let path = folder.join(name);
            std::fs::read(&path).map_err(|source| Error::File { act: "read", path, source })
        })
    }

    /// The save that all four files are of.
    pub(super) fn whole(&self) -> Option<u64> {
        self.0[0].filter(|_| self.0.iter().all(|save| *save == self.0[0]))
    }

    /// Whether one of the files is older than a save.
    pub(super) fn lacks(&self, save: u64) -> bool {
        self.0.iter().any(|found| found.is_none_or(|found| found < save))
    }

    /// The newest save that a file is of.
    pub(super) fn newest(&self) -> u64 {
        self.0.iter().flatten().max().copied().unwrap_or(0)
    }
}

fn save_of_messages(bytes: &[u8]) -> Option<u64> {
    let mut save = 0;
    for line in str::from_utf8(bytes).ok()?.split_inclusive('\n') {
        save += 1;
        if line != message(save) {
            return None;
        }
    }
    Some(save)
}

fn save_of_small(bytes: &[u8]) -> Option<u64> {
    let save = serde_json::from_slice::<Value>(bytes).ok()?["save"].as_u64()?;
    (bytes == small(save).as_bytes()).then_some(save)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(saves: [u64; 4], whole: Option<u64>) {
        let found = find(|index| saves[index]);
        assert_eq!(found.whole(), whole);
        assert_eq!(found.newest(), saves.into_iter().max().unwrap());
    }

    fn find(save: impl Fn(usize) -> u64) -> Found {
        find_text(|index| text(index, save(index)))
    }

    fn find_text(content: impl Fn(usize) -> String) -> Found {
        let mut contents = (0..).map(content);
        Found::by(|_| Ok(contents.next().unwrap().into_bytes())).unwrap()
    }

    fn text(index: usize, save: u64) -> String {
        if index == 0 { messages(save) } else { small(save) }
    }

    #[test]
    fn a_set_is_whole_when_all_files_are_of_one_save() {
        check([0, 0, 0, 0], Some(0));
        check([3, 3, 3, 3], Some(3));
        check([4, 3, 3, 3], None);
        check([3, 3, 3, 4], None);
    }

    #[test]
    fn a_torn_file_is_of_no_save() {
        for torn in 0..4 {
            let found = find_text(|index| {
                let mut text = text(index, 2);
                text.truncate(text.len() - usize::from(index == torn));
                text
            });
            assert_eq!(found.whole(), None);
            assert!(found.lacks(1));
        }
    }

    #[test]
    fn a_file_that_is_older_than_an_acknowledged_save_is_a_loss() {
        let found = find(|_| 2);
        assert!(!found.lacks(2));
        assert!(found.lacks(3));
    }
}
