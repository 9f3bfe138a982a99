//! The states of a plan, and which may follow which: one table.
//!
//! A step is checked against the table here and taken in the store by compare-and-set, so of two that try one wins. `docs/design/plans.md`
//! shows the same table; a test keeps the two alike.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// Where a plan stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Made; nobody works on it yet.
    Queued,
    /// Changesets are started and recorded into.
    Running,
    /// All changesets are closed; to be reviewed and applied.
    Ready,
    /// Its changes are on their way into the roots.
    Applying,
    /// All its changes are in the roots.
    Applied,
    /// Its changes clash with each other, or with what somebody made of the files. An apply that met this while it wrote has changed others.
    Conflict,
    /// Its work could not be finished.
    Failed,
    /// Given up. What was recorded is kept.
    Cancelled,
    /// It was applied, and then undone.
    Undone,
}

/// One row of the table.
struct Row {
    state: State,
    word: &'static str,
    meaning: &'static str,
    next: &'static [State],
}

/// The table. A step that is not in it is an error that names the steps that are.
const TABLE: [Row; 9] = {
    use State::*;
    [
        Row {
            state: Queued,
            word: "queued",
            meaning: "made; nobody works on it yet",
            next: &[Running, Cancelled],
        },
        Row {
            state: Running,
            word: "running",
            meaning: "changesets are started and recorded into",
            next: &[Ready, Conflict, Failed, Cancelled],
        },
        Row {
            state: Ready,
            word: "ready",
            meaning: "all changesets are closed; to be reviewed, resolved and applied",
            next: &[Ready, Running, Applying, Conflict, Cancelled],
        },
        Row {
            state: Applying,
            word: "applying",
            meaning: "its changes are on their way into the roots; only the machine that has them resolves it",
            next: &[Applied, Ready, Conflict, Failed],
        },
        Row {
            state: Applied,
            word: "applied",
            meaning: "its changes are in the roots, but for what was undone since",
            next: &[Undone],
        },
        Row {
            state: Conflict,
            word: "conflict",
            meaning: "its changes clash with each other, or with what somebody made of the files",
            next: &[Conflict, Ready, Running, Applying, Cancelled],
        },
        Row {
            state: Failed,
            word: "failed",
            meaning: "its work could not be finished; what was recorded is kept",
            next: &[Running, Cancelled],
        },
        Row {
            state: Cancelled,
            word: "cancelled",
            meaning: "given up; what was recorded is kept",
            next: &[],
        },
        Row { state: Undone, word: "undone", meaning: "it was applied, and then undone", next: &[Applied] },
    ]
};

impl State {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 9] = [
        Self::Queued,
        Self::Running,
        Self::Ready,
        Self::Applying,
        Self::Applied,
        Self::Conflict,
        Self::Failed,
        Self::Cancelled,
        Self::Undone,
    ];

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        self.row().word
    }

    /// What it means, in a sentence for people.
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// The states that may follow. A state that may follow itself takes steps that change only the plan's detail.
    pub fn next(self) -> &'static [State] {
        self.row().next
    }

    /// Whether `to` may follow.
    pub fn allows(self, to: State) -> bool {
        self.next().contains(&to)
    }

    /// Whether nothing can follow.
    pub fn is_final(self) -> bool {
        self.next().is_empty()
    }

    /// As the store keeps it.
    pub fn stored(self) -> store::State {
        store::State::parse(self.as_str()).expect("the words of the table are words")
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for State {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = TABLE.iter().find(|row| row.word == text).map(|row| row.state);
        found.ok_or_else(|| Error::UnknownState { text: text.to_owned() })
    }
}

/// The table as it stands in the documentation, in Markdown.
pub fn table_in_markdown() -> String {
    let mut text = String::from("| state | what it means | what may follow |\n|---|---|---|\n");
    for row in &TABLE {
        let next: Vec<&str> = row.next.iter().map(|state| state.as_str()).collect();
        let next = if next.is_empty() { "nothing".to_owned() } else { next.join(", ") };
        text += &format!("| {} | {} | {next} |\n", row.word, row.meaning);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_state_in_order() {
        for (state, row) in State::ALL.into_iter().zip(&TABLE) {
            assert_eq!(state, row.state);
            assert_eq!(state.as_str().parse::<State>().unwrap(), state);
            assert_eq!(state.stored().as_str(), state.to_string());
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{state}\""));
            assert!(!state.meaning().is_empty());
        }
        assert_eq!("nowhere".parse::<State>().unwrap_err().code(), "unknown-state");
    }

    #[test]
    fn every_state_is_reached_from_the_first() {
        let mut reached = vec![State::Queued];
        let mut next = 0;
        while next < reached.len() {
            let state = reached[next];
            for to in state.next() {
                if !reached.contains(to) {
                    reached.push(*to);
                }
            }
            next += 1;
        }
        assert_eq!(reached.len(), State::ALL.len());
        assert!(State::Cancelled.is_final() && !State::Undone.is_final());
    }

    #[test]
    fn what_is_applying_is_not_cancelled_or_taken_over() {
        assert!(!State::Applying.allows(State::Cancelled));
        assert!(!State::Applying.allows(State::Applying));
        assert!(!State::Running.allows(State::Applying));
    }

    #[test]
    fn the_documentation_shows_the_table() {
        let page = include_str!("../../../docs/design/plans.md");
        let table = table_in_markdown();
        assert!(page.contains(&table), "docs/design/plans.md must contain:\n{table}");
    }
}
