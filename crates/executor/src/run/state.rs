//! The states of a node and their transitions, as one table.
//!
//! `docs/design/executor.md` shows the same table; a test compares the two. A step is a compare-and-set
//! in the store.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// The state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeState {
    /// Waits for other nodes, or for a free slot.
    Queued,
    /// Its sandbox is made, its actor runs, its changes are recorded.
    Running,
    /// Has ended.
    Ended(Outcome),
}

/// The outcome of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Its actor exited with 0, and its changes are recorded.
    Succeeded,
    /// Its actor exited with another code, was killed, or did not start.
    Failed,
    /// Its actor exceeded its timeout.
    TimedOut,
    /// The run was cancelled before the node ended.
    Cancelled,
    /// Another node failed, and the plan fails fast.
    Stopped,
    /// Did not start: a node that it needs did not succeed.
    Skipped,
    /// Its actor changed files outside its `paths`.
    RefusedPaths,
    /// The changes of the nodes that it needs do not merge.
    Conflict,
}

impl Outcome {
    /// All outcomes, in the order of the table.
    pub const ALL: [Outcome; 8] = [
        Self::Succeeded,
        Self::Failed,
        Self::TimedOut,
        Self::Cancelled,
        Self::Stopped,
        Self::Skipped,
        Self::RefusedPaths,
        Self::Conflict,
    ];

    /// Its word in the store and in JSON.
    pub fn as_str(self) -> &'static str {
        NodeState::Ended(self).row().1
    }

    /// Its description for people.
    pub fn description(self) -> &'static str {
        NodeState::Ended(self).row().2
    }

    /// Its predicate after the name of a node, as in `tests timed out`.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::TimedOut => "timed out",
            Self::RefusedPaths => "changed files outside its `paths`",
            Self::Conflict => "has conflicts",
            other => other.as_str(),
        }
    }
}

impl NodeState {
    /// The words of all states, for schemas.
    pub(crate) fn words() -> Vec<&'static str> {
        TABLE.iter().map(|row| row.1).collect()
    }
}

/// State, word, description, next states.
type Row = (NodeState, &'static str, &'static str, &'static [NodeState]);

/// The table. A resumed run queues every node that has not succeeded.
const TABLE: [Row; 10] = {
    use NodeState::*;
    use Outcome::*;
    const AGAIN: &[NodeState] = &[Queued];
    [
        (
            Queued,
            "queued",
            "waits for other nodes, or for a free slot",
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
                Ended(RefusedPaths),
                Ended(Conflict),
            ],
        ),
        (Ended(Succeeded), "succeeded", "its actor exited with 0, and its changes are recorded", &[]),
        (Ended(Failed), "failed", "its actor exited with another code, was killed, or did not start", AGAIN),
        (Ended(TimedOut), "timed-out", "its actor exceeded its timeout", AGAIN),
        (Ended(Cancelled), "cancelled", "the run was cancelled before the node ended", AGAIN),
        (Ended(Stopped), "stopped", "another node failed, and the plan fails fast", AGAIN),
        (Ended(Skipped), "skipped", "did not start: a node that it needs did not succeed", AGAIN),
        (Ended(RefusedPaths), "refused-paths", "its actor changed files outside its `paths`", AGAIN),
        (Ended(Conflict), "conflict", "the changes of the nodes that it needs do not merge", AGAIN),
    ]
};

/// The word of version 0.1 for [`Outcome::RefusedPaths`].
const REFUSED_PATHS_0_1: &str = "refused-writes";

impl NodeState {
    fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.0 == self).expect("the table has every state")
    }

    /// Its word in the store and in JSON.
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// Its description for people.
    pub fn description(self) -> &'static str {
        self.row().2
    }

    /// The states that may follow.
    pub fn next(self) -> &'static [NodeState] {
        self.row().3
    }

    /// The outcome of an ended node.
    pub fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Ended(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Its form in the store.
    pub fn stored(self) -> store::State {
        store::State::parse(self.as_str()).expect("the words of the table are valid")
    }

    /// Reads a state from the store, also one of version 0.1. Returns `None` for an unknown word.
    pub fn from_stored(state: &store::State) -> Option<Self> {
        if state.as_str() == REFUSED_PATHS_0_1 {
            return Some(Self::Ended(Outcome::RefusedPaths));
        }
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

/// The table in Markdown, as the documentation shows it.
pub fn node_table_in_markdown() -> String {
    let mut text = String::from("| state | description | next |\n|---|---|---|\n");
    for (_, word, description, next) in &TABLE {
        let next: Vec<&str> = next.iter().map(|state| state.as_str()).collect();
        let next = if next.is_empty() { "nothing".to_owned() } else { next.join(", ") };
        text += &format!("| {word} | {description} | {next} |\n");
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
            assert!(!state.description().is_empty());
        }
        assert_eq!(NodeState::from_stored(&store::State::parse("nowhere").unwrap()), None);
        for outcome in Outcome::ALL {
            assert_eq!(NodeState::Ended(outcome).outcome(), Some(outcome));
            assert_eq!(serde_json::to_string(&outcome).unwrap(), format!("\"{outcome}\""));
            assert_eq!(outcome.description(), NodeState::Ended(outcome).description());
        }
        assert_eq!(NodeState::Queued.outcome(), None);
    }

    #[test]
    fn states_of_version_0_1_are_read() {
        let stored = store::State::parse("refused-writes").unwrap();
        assert_eq!(NodeState::from_stored(&stored), Some(NodeState::Ended(Outcome::RefusedPaths)));
    }

    #[test]
    fn a_succeeded_node_never_runs_again() {
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
