//! Where a node of a run stands, and what may follow: one table.
//!
//! `docs/design/executor.md` shows the same table; a test keeps the two alike. A step is taken in the store by compare-and-set.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeState {
    /// It waits for others, or for its turn.
    Queued,
    /// Its sandbox is made, its actor runs, its changes are recorded.
    Running,
    /// It is done.
    Ended(Outcome),
}

/// How a node ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Its actor exited with 0, and its changes are recorded.
    Succeeded,
    /// Its actor exited with another code, was killed, or could not be started.
    Failed,
    /// Its actor took longer than it may.
    TimedOut,
    /// Somebody cancelled the run while it ran or waited.
    Cancelled,
    /// Another node failed, and the plan says that the first failure stops the others.
    Stopped,
    /// It was never started: a node that it needs did not succeed.
    Skipped,
    /// Its actor changed paths that its `writes` do not allow.
    RefusedWrites,
    /// The changes of nodes that it needs do not go together.
    Conflict,
}

impl Outcome {
    /// All, in the order of the table.
    pub const ALL: [Outcome; 8] = [
        Self::Succeeded,
        Self::Failed,
        Self::TimedOut,
        Self::Cancelled,
        Self::Stopped,
        Self::Skipped,
        Self::RefusedWrites,
        Self::Conflict,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        NodeState::Ended(self).row().1
    }

    /// What it means, in a sentence for people.
    pub fn meaning(self) -> &'static str {
        NodeState::Ended(self).row().2
    }
}

/// State, word, meaning, what may follow.
type Row = (NodeState, &'static str, &'static str, &'static [NodeState]);

/// The table. All that has not succeeded may be put back, by a run that is resumed.
const TABLE: [Row; 10] = {
    use NodeState::*;
    use Outcome::*;
    const BACK: &[NodeState] = &[Queued];
    [
        (
            Queued,
            "queued",
            "it waits for others, or for its turn",
            &[Running, Ended(Cancelled), Ended(Stopped), Ended(Skipped)],
        ),
        (
            Running,
            "running",
            "its sandbox is made, its actor runs, its changes are recorded",
            &[
                Running,
                Queued,
                Ended(Succeeded),
                Ended(Failed),
                Ended(TimedOut),
                Ended(Cancelled),
                Ended(Stopped),
                Ended(RefusedWrites),
                Ended(Conflict),
            ],
        ),
        (Ended(Succeeded), "succeeded", "its actor exited with 0, and its changes are recorded", &[]),
        (
            Ended(Failed),
            "failed",
            "its actor exited with another code, was killed, or could not be started",
            BACK,
        ),
        (Ended(TimedOut), "timed-out", "its actor took longer than it may", BACK),
        (Ended(Cancelled), "cancelled", "somebody cancelled the run while it ran or waited", BACK),
        (Ended(Stopped), "stopped", "another node failed, and the first failure stops the others", BACK),
        (Ended(Skipped), "skipped", "it was never started: a node that it needs did not succeed", BACK),
        (Ended(RefusedWrites), "refused-writes", "its actor changed paths that it may not write", BACK),
        (Ended(Conflict), "conflict", "the changes of nodes that it needs do not go together", BACK),
    ]
};

impl NodeState {
    fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.0 == self).expect("the table has every state")
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// What it means, in a sentence for people.
    pub fn meaning(self) -> &'static str {
        self.row().2
    }

    /// The states that may follow.
    pub fn next(self) -> &'static [NodeState] {
        self.row().3
    }

    /// How it ended, if it has.
    pub fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Ended(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// As the store keeps it.
    pub fn stored(self) -> store::State {
        store::State::parse(self.as_str()).expect("the words of the table are words")
    }

    /// From what the store keeps; nothing for a word that is not in the table.
    pub fn from_stored(state: &store::State) -> Option<Self> {
        TABLE.iter().find(|row| row.1 == state.as_str()).map(|row| row.0)
    }
}

impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The table as it stands in the documentation, in Markdown.
pub fn node_table_in_markdown() -> String {
    let mut text = String::from("| state | what it means | what may follow |\n|---|---|---|\n");
    for (_, word, meaning, next) in &TABLE {
        let next: Vec<&str> = next.iter().map(|state| state.as_str()).collect();
        let next = if next.is_empty() { "nothing".to_owned() } else { next.join(", ") };
        text += &format!("| {word} | {meaning} | {next} |\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_state() {
        let states = [NodeState::Queued, NodeState::Running].into_iter();
        for state in states.chain(Outcome::ALL.map(NodeState::Ended)) {
            assert_eq!(NodeState::from_stored(&state.stored()), Some(state));
            assert_eq!(state.to_string(), state.as_str());
            assert!(!state.meaning().is_empty());
        }
        assert_eq!(NodeState::from_stored(&store::State::parse("nowhere").unwrap()), None);
        for outcome in Outcome::ALL {
            assert_eq!(NodeState::Ended(outcome).outcome(), Some(outcome));
            assert_eq!(serde_json::to_string(&outcome).unwrap(), format!("\"{outcome}\""));
            assert_eq!(outcome.meaning(), NodeState::Ended(outcome).meaning());
        }
        assert_eq!(NodeState::Queued.outcome(), None);
    }

    #[test]
    fn what_succeeded_is_not_run_again() {
        assert!(NodeState::Ended(Outcome::Succeeded).next().is_empty());
        let others = Outcome::ALL.into_iter().filter(|outcome| *outcome != Outcome::Succeeded);
        for outcome in others {
            assert_eq!(NodeState::Ended(outcome).next(), [NodeState::Queued], "{outcome}");
        }
    }

    #[test]
    fn the_documentation_shows_the_table() {
        let page = include_str!("../../../../docs/design/executor.md");
        let table = node_table_in_markdown();
        assert!(page.contains(&table), "docs/design/executor.md must contain:\n{table}");
    }
}
