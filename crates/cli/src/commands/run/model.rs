//! What a run looks like at a moment: kept up to date from its events, drawn elsewhere. Pure: the time comes in.

use std::collections::HashMap;
use std::time::Duration;

/// All nodes of a run, in the order of the plan.
#[derive(Clone, Default, Debug)]
pub(in crate::commands) struct Board {
    rows: Vec<Row>,
    places: HashMap<String, usize>,
}

/// One node.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Row {
    pub(in crate::commands) name: String,
    /// The nodes that it waits for.
    pub(in crate::commands) needs: Vec<String>,
    pub(in crate::commands) stand: Stand,
    /// How many paths it has changed.
    pub(in crate::commands) files: usize,
    /// Which try it is, from 1.
    pub(in crate::commands) attempt: u32,
    /// What it said last, or why it failed.
    pub(in crate::commands) line: String,
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::commands) enum Stand {
    Waiting,
    /// Since when, in time of the run.
    Running(Duration),
    Ended {
        mark: Mark,
        took: Option<Duration>,
    },
}

/// How a node ended, as far as it matters to the eye.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::commands) enum Mark {
    Good,
    Bad,
    /// It did not run, or not to its end, and that is not its fault.
    Left,
}

impl Board {
    /// Of nodes that all wait.
    pub(in crate::commands) fn new(nodes: impl IntoIterator<Item = (String, Vec<String>)>) -> Self {
        let mut board = Self::default();
        for (name, needs) in nodes {
            board.places.insert(name.clone(), board.rows.len());
            let row = Row { name, needs, stand: Stand::Waiting, files: 0, attempt: 1, line: String::new() };
            board.rows.push(row);
        }
        board
    }

    pub(in crate::commands) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Changes a node; one that is not known is passed over.
    pub(in crate::commands) fn change(&mut self, node: &str, change: impl FnOnce(&mut Row)) {
        if let Some(row) = self.places.get(node).and_then(|place| self.rows.get_mut(*place)) {
            change(row);
        }
    }

    pub(in crate::commands) fn start(&mut self, node: &str, attempt: u32, now: Duration) {
        self.change(node, |row| {
            row.stand = Stand::Running(now);
            row.attempt = attempt;
            row.files = 0;
            row.line.clear();
        });
    }

    /// Keeps the last line that says something.
    pub(in crate::commands) fn say(&mut self, node: &str, line: &str) {
        let line = on_one_line(line);
        if !line.is_empty() {
            self.change(node, |row| row.line = line);
        }
    }

    pub(in crate::commands) fn count(&self, is: impl Fn(&Stand) -> bool) -> usize {
        self.rows.iter().filter(|row| is(&row.stand)).count()
    }
}

/// A line of an actor's as it can stand among others: no colours, no moving of the cursor, and only the last of what it wrote over itself.
pub(in crate::commands) fn on_one_line(text: &str) -> String {
    let plain = anstream::adapter::strip_str(text).to_string();
    let last = plain.trim_end().rsplit('\r').next().unwrap_or_default();
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    last.chars().map(shown).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_actor_prints_cannot_move_the_cursor() {
        for (text, expected) in [
            ("plain", "plain"),
            ("\u{1b}[31mred\u{1b}[0m and\ttab", "red and tab"),
            ("10 %\r50 %\r100 %\r", "100 %"),
            ("\u{1b}[2J\u{1b}[Hgone\u{7}", "gone"),
            ("  ", ""),
        ] {
            assert_eq!(on_one_line(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_new_try_starts_with_nothing() {
        let mut board = Board::new([("a".to_owned(), vec![])]);
        board.start("a", 1, Duration::ZERO);
        board.say("a", "one");
        board.say("a", " ");
        board.change("a", |row| row.files = 3);
        assert_eq!((board.rows()[0].line.as_str(), board.rows()[0].files), ("one", 3));
        board.start("a", 2, Duration::from_secs(1));
        board.start("nobody", 1, Duration::ZERO);
        let row = &board.rows()[0];
        assert_eq!((row.line.as_str(), row.files, row.attempt), ("", 0, 2));
        assert_eq!(board.count(|stand| matches!(stand, Stand::Running(_))), 1);
    }
}
