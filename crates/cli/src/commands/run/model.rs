//! The model of the live view: the present state of all nodes. Pure: the caller passes the time.

use std::collections::HashMap;
use std::time::Duration;

use crate::escape::visible;

/// All nodes of a run, in the order of the plan.
#[derive(Clone, Default, Debug)]
pub(in crate::commands) struct RunModel {
    rows: Vec<Row>,
    index: HashMap<String, usize>,
}

/// A node.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Row {
    pub(in crate::commands) name: String,
    /// The nodes that it waits for.
    pub(in crate::commands) needs: Vec<String>,
    pub(in crate::commands) state: RowState,
    /// Number of paths it has changed.
    pub(in crate::commands) files: usize,
    /// Number of the attempt, from 1.
    pub(in crate::commands) attempt: u32,
    /// Last line of output, or the cause of its failure.
    pub(in crate::commands) line: String,
}

/// The state of a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::commands) enum RowState {
    Waiting,
    /// Started at this time of the run.
    Running(Duration),
    Ended {
        mark: Mark,
        took: Option<Duration>,
    },
}

/// The outcome of a node, as far as the view shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::commands) enum Mark {
    Good,
    Bad,
    /// Did not run to its end, through no fault of the actor.
    Skipped,
}

impl RunModel {
    /// Makes a model of waiting nodes.
    pub(in crate::commands) fn new(nodes: impl IntoIterator<Item = (String, Vec<String>)>) -> Self {
        let mut model = Self::default();
        for (name, needs) in nodes {
            model.index.insert(name.clone(), model.rows.len());
            let name = visible(&name).into_owned();
            let row =
                Row { name, needs, state: RowState::Waiting, files: 0, attempt: 1, line: String::new() };
            model.rows.push(row);
        }
        model
    }

    pub(in crate::commands) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Changes a node. Ignores unknown ones.
    pub(in crate::commands) fn change(&mut self, node: &str, change: impl FnOnce(&mut Row)) {
        if let Some(row) = self.index.get(node).and_then(|row| self.rows.get_mut(*row)) {
            change(row);
        }
    }

    pub(in crate::commands) fn start(&mut self, node: &str, attempt: u32, now: Duration) {
        self.change(node, |row| {
            row.state = RowState::Running(now);
            row.attempt = attempt;
            row.files = 0;
            row.line.clear();
        });
    }

    /// Stores a line of output, unless it is empty.
    pub(in crate::commands) fn set_line(&mut self, node: &str, line: &str) {
        let line = row_line(line);
        if !line.is_empty() {
            self.change(node, |row| row.line = line);
        }
    }

    pub(in crate::commands) fn count(&self, is: impl Fn(&RowState) -> bool) -> usize {
        self.rows.iter().filter(|row| is(&row.state)).count()
    }
}

/// Makes a line of output fit a row: without colours, the last of parts that overwrite each other, the rest made
/// visible.
pub(in crate::commands) fn row_line(text: &str) -> String {
    let plain = without_colors(text);
    let last = plain.trim_end().rsplit('\r').next().unwrap_or_default();
    visible(&last.replace('\t', " ")).trim().to_owned()
}

/// Removes the colours of an actor's output, and no other escape sequence.
pub(in crate::commands) fn without_colors(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | ':'));
        match rest.strip_prefix('m') {
            Some(text) => plain += text,
            None => plain.extend(["\x1b[", part]),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_an_actor_cannot_move_the_cursor() {
        for (text, expected) in [
            ("plain", "plain"),
            ("\u{1b}[31mred\u{1b}[0m and\ttab", "red and tab"),
            ("10 %\r50 %\r100 %\r", "100 %"),
            ("\u{1b}[2J\u{1b}[Hgone\u{7}", "\\u{1b}[2J\\u{1b}[Hgone\\u{7}"),
            ("\u{1b}[38;5;1mred\u{1b}[m \u{1b}[", "red \\u{1b}["),
            ("gpj.\u{202e}exe", "gpj.\\u{202e}exe"),
            ("  ", ""),
        ] {
            assert_eq!(row_line(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_new_attempt_resets_a_row() {
        let mut model = RunModel::new([("a".to_owned(), vec![])]);
        model.start("a", 1, Duration::ZERO);
        model.set_line("a", "one");
        model.set_line("a", " ");
        model.change("a", |row| row.files = 3);
        assert_eq!((model.rows()[0].line.as_str(), model.rows()[0].files), ("one", 3));
        model.start("a", 2, Duration::from_secs(1));
        model.start("nobody", 1, Duration::ZERO);
        let row = &model.rows()[0];
        assert_eq!((row.line.as_str(), row.files, row.attempt), ("", 0, 2));
        assert_eq!(model.count(|state| matches!(state, RowState::Running(_))), 1);
    }
}
