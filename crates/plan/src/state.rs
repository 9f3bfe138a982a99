//! The states of a plan and the allowed steps between them, as one table.
//!
//! A step is checked against the table here and taken in the store by compare-and-set, so one of
//! two concurrent steps wins. `docs/design/plans.md` shows the same table; a test compares the two.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;

/// The state of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Created; no actor works on it yet.
    Queued,
    /// Actors record changes.
    Running,
    /// All changesets are closed; the plan can be reviewed and applied.
    Ready,
    /// An apply is in progress, or was interrupted.
    Applying,
    /// All changes are in the roots.
    Applied,
    /// Changes conflict with each other, or with edits of the files. If an apply met the conflict
    /// while it wrote, other files have changed.
    Conflict,
    /// The work failed.
    Failed,
    /// Given up. Recorded changes are kept.
    Cancelled,
    /// Applied, and later undone.
    Undone,
}

/// One row of the table.
struct Row {
    state: State,
    word: &'static str,
    description: &'static str,
    next: &'static [State],
}

/// The table of states. A step that it does not allow is an error that names the allowed steps.
const TABLE: [Row; 9] = {
    use State::*;
    [
        Row {
            state: Queued,
            word: "queued",
            description: "created; no actor works on it yet",
            next: &[Running, Cancelled],
        },
        Row {
            state: Running,
            word: "running",
            description: "actors record changes",
            next: &[Ready, Conflict, Failed, Cancelled],
        },
        Row {
            state: Ready,
            word: "ready",
            description: "all changesets are closed; it can be reviewed and applied",
            next: &[Ready, Running, Applying, Conflict, Cancelled],
        },
        Row {
            state: Applying,
            word: "applying",
            description: "its changes are being applied; only the machine that has the roots can finish this",
            next: &[Applied, Ready, Conflict, Failed],
        },
        Row {
            state: Applied,
            word: "applied",
            description: "its changes are in the roots, except those undone since",
            next: &[Undone],
        },
        Row {
            state: Conflict,
            word: "conflict",
            description: "its changes conflict with each other, or with edits of the files",
            next: &[Conflict, Ready, Running, Applying, Cancelled],
        },
        Row {
            state: Failed,
            word: "failed",
            description: "its work failed; recorded changes are kept",
            next: &[Running, Cancelled],
        },
        Row {
            state: Cancelled,
            word: "cancelled",
            description: "given up; recorded changes are kept",
            next: &[],
        },
        Row { state: Undone, word: "undone", description: "applied, and later undone", next: &[Applied] },
    ]
};

impl State {
    /// All states, in the order of the table.
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

    /// The word for the state.
    pub fn as_str(self) -> &'static str {
        self.row().word
    }

    /// A description of the state, in one sentence.
    pub fn description(self) -> &'static str {
        self.row().description
    }

    /// The states that may follow. A state that may follow itself allows steps that change only the
    /// detail of the plan.
    pub fn next(self) -> &'static [State] {
        self.row().next
    }

    /// Returns whether `to` may follow.
    pub fn allows(self, to: State) -> bool {
        self.next().contains(&to)
    }

    /// Returns whether no state may follow.
    pub fn is_final(self) -> bool {
        self.next().is_empty()
    }

    /// The state as stored.
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

/// Formats the table in Markdown, as in the documentation.
pub fn table_in_markdown() -> String {
    let mut text = String::from("| state | description | next states |\n|---|---|---|\n");
    for row in &TABLE {
        let next: Vec<&str> = row.next.iter().map(|state| state.as_str()).collect();
        let next = if next.is_empty() { "none".to_owned() } else { next.join(", ") };
        text += &format!("| {} | {} | {next} |\n", row.word, row.description);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_one_row_per_state_in_order() {
        for (state, row) in State::ALL.into_iter().zip(&TABLE) {
            assert_eq!(state, row.state);
            assert_eq!(state.as_str().parse::<State>().unwrap(), state);
            assert_eq!(state.stored().as_str(), state.to_string());
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{state}\""));
            assert!(!state.description().is_empty());
        }
        assert_eq!("nowhere".parse::<State>().unwrap_err().code(), "unknown-state");
    }

    #[test]
    fn every_state_is_reachable_from_queued() {
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
    fn an_apply_in_progress_cannot_be_cancelled_or_restarted() {
        assert!(!State::Applying.allows(State::Cancelled));
        assert!(!State::Applying.allows(State::Applying));
        assert!(!State::Running.allows(State::Applying));
    }

    #[test]
    fn documentation_shows_the_table() {
        let page = include_str!("../../../docs/design/plans.md");
        let table = table_in_markdown();
        assert!(page.contains(&table), "docs/design/plans.md must contain:\n{table}");
    }
}
