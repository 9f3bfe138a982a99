//! What is said about nodes and runs, in words.

use std::time::Duration;

use api::{NodeOutcome, NodeReport, NodeState};

use super::draw::time;
use super::model::Mark;
use crate::commands::plural;

/// How an actor ended, as far as words need it.
#[derive(Clone, Copy)]
pub(crate) struct End<'a> {
    pub(crate) outcome: NodeOutcome,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) reason: Option<&'a str>,
}

impl<'a> End<'a> {
    /// That of a node, if it has ended.
    pub(crate) fn of(node: &'a NodeReport) -> Option<Self> {
        let NodeState::Ended(outcome) = node.state else { return None };
        Some(Self { outcome, code: node.code, signal: node.signal, reason: node.reason.as_deref() })
    }

    pub(in crate::commands) fn mark(&self) -> Mark {
        match self.outcome {
            NodeOutcome::Succeeded => Mark::Good,
            NodeOutcome::Cancelled | NodeOutcome::Stopped | NodeOutcome::Skipped => Mark::Left,
            _ => Mark::Bad,
        }
    }

    /// `failed with exit code 7`.
    pub(crate) fn words(&self) -> String {
        let word = match self.outcome {
            NodeOutcome::TimedOut => "timed out",
            NodeOutcome::RefusedWrites => "refused",
            outcome => outcome.as_str(),
        };
        match (self.outcome, self.code, self.signal, self.reason) {
            (NodeOutcome::Failed, Some(code), ..) if code != 0 => format!("{word} with exit code {code}"),
            (NodeOutcome::Failed, _, Some(signal), _) => format!("{word} by signal {signal}"),
            (NodeOutcome::Failed | NodeOutcome::Skipped, _, _, Some(reason))
            | (NodeOutcome::RefusedWrites | NodeOutcome::Conflict, _, _, Some(reason)) => {
                format!("{word}: {reason}")
            }
            _ => word.to_owned(),
        }
    }
}

/// `succeeded in 1.2s, 3 files`.
pub(crate) fn ended(end: &End<'_>, seconds: f64, files: usize) -> String {
    let mut text = end.words();
    if took(seconds) > Duration::ZERO {
        text.push_str(&format!(" in {}", time(took(seconds))));
    }
    if files > 0 {
        text.push_str(&format!(", {}", plural(files, "file")));
    }
    text
}

pub(crate) fn took(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_with_what_is_known_of_it() {
        use NodeOutcome::*;
        for (outcome, code, signal, reason, expected) in [
            (Succeeded, Some(0), None, None, "succeeded in 1.2s, 1 file"),
            (Failed, Some(7), None, Some("it failed"), "failed with exit code 7 in 1.2s, 1 file"),
            (Failed, None, Some(9), None, "failed by signal 9 in 1.2s, 1 file"),
            (Failed, None, None, Some("no such program"), "failed: no such program in 1.2s, 1 file"),
            (TimedOut, None, Some(15), Some("it took too long"), "timed out in 1.2s, 1 file"),
            (Stopped, None, Some(15), None, "stopped in 1.2s, 1 file"),
            (RefusedWrites, Some(0), None, Some("it changed `b`"), "refused: it changed `b` in 1.2s, 1 file"),
        ] {
            let end = End { outcome, code, signal, reason };
            assert_eq!(ended(&end, 1.25, 1), expected);
        }
        let end = End { outcome: Skipped, code: None, signal: None, reason: None };
        assert_eq!(ended(&end, 0.0, 0), "skipped");
        assert_eq!(took(-1.0), Duration::ZERO);
    }
}
