//! Phrases about nodes and runs.

use std::time::Duration;

use api::{NodeOutcome, NodeReport, NodeState};

use super::draw::time;
use super::model::Mark;
use crate::commands::plural;

/// The end of a node, as far as phrases need it.
#[derive(Clone, Copy)]
pub(crate) struct End<'a> {
    pub(crate) outcome: NodeOutcome,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) reason: Option<&'a str>,
}

impl<'a> End<'a> {
    /// The end of a node; `None` if it has not ended.
    pub(crate) fn of(node: &'a NodeReport) -> Option<Self> {
        let NodeState::Ended(outcome) = node.state else { return None };
        Some(Self { outcome, code: node.code, signal: node.signal, reason: node.reason.as_deref() })
    }

    pub(in crate::commands) fn mark(&self) -> Mark {
        match self.outcome {
            NodeOutcome::Succeeded => Mark::Good,
            NodeOutcome::Cancelled | NodeOutcome::Stopped | NodeOutcome::Skipped => Mark::Skipped,
            _ => Mark::Bad,
        }
    }

    /// `failed with exit code 7`, or `timed out (--timeout 1s)`.
    pub(crate) fn words(&self) -> String {
        self.words_with("")
    }

    /// Inserts a time after the outcome, before its cause.
    fn words_with(&self, time: &str) -> String {
        let reason = self.reason.unwrap_or_default();
        match (self.outcome, self.code, self.signal) {
            (NodeOutcome::Failed, Some(code), _) if code != 0 => {
                format!("failed with exit code {code}{time}")
            }
            (NodeOutcome::Failed, _, Some(signal)) => format!("killed by signal {signal}{time}"),
            // The actor did not start, or its changes were not recorded.
            (NodeOutcome::Failed, ..) if !reason.is_empty() => reason.to_owned(),
            (NodeOutcome::TimedOut, ..) if !reason.is_empty() => {
                format!("timed out{} ({reason})", time.replacen(" in ", " after ", 1))
            }
            (NodeOutcome::TimedOut, ..) => "timed out".to_owned() + time,
            (NodeOutcome::Skipped, ..) if !reason.is_empty() => format!("skipped, {reason}"),
            (NodeOutcome::RefusedPaths, ..) => format!("refused{time}: {reason}"),
            (NodeOutcome::Conflict, ..) => format!("conflict{time}: {reason}"),
            (outcome, ..) => format!("{outcome}{time}"),
        }
    }
}

/// `succeeded in 1.2s, 3 files`.
pub(crate) fn ended(end: &End<'_>, seconds: f64, files: usize) -> String {
    let time = match took(seconds) {
        Duration::ZERO => String::new(),
        took => format!(" in {}", time(took)),
    };
    let mut text = end.words_with(&time);
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
    fn phrases_name_the_outcome_and_its_cause() {
        use NodeOutcome::*;
        for (outcome, code, signal, reason, expected) in [
            (Succeeded, Some(0), None, None, "succeeded in 1.2s, 1 file"),
            (Failed, Some(7), None, Some("exit code 7"), "failed with exit code 7 in 1.2s, 1 file"),
            (Failed, None, Some(9), None, "killed by signal 9 in 1.2s, 1 file"),
            (Failed, None, None, Some("command not found"), "command not found, 1 file"),
            (TimedOut, None, None, Some("--timeout 1s"), "timed out after 1.2s (--timeout 1s), 1 file"),
            (TimedOut, None, Some(15), None, "timed out in 1.2s, 1 file"),
            (Stopped, None, Some(15), None, "stopped in 1.2s, 1 file"),
            (RefusedPaths, Some(0), None, Some("it changed `b`"), "refused in 1.2s: it changed `b`, 1 file"),
        ] {
            let end = End { outcome, code, signal, reason };
            assert_eq!(ended(&end, 1.25, 1), expected);
        }
        let skipped = |reason| End { outcome: Skipped, code: None, signal: None, reason };
        assert_eq!(ended(&skipped(None), 0.0, 0), "skipped");
        assert_eq!(ended(&skipped(Some("tests failed")), 0.0, 0), "skipped, tests failed");
        assert_eq!(took(-1.0), Duration::ZERO);
    }
}
