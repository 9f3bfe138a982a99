//! `agents run`, and output and nodes of a plan with a run.

mod checking;
mod ending;
mod environment;
mod rpc;
mod running;
mod stopping;

use crate::program::Program;

/// A project with a file of five lines.
fn project() -> Program {
    let program = Program::in_project();
    program.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    program
}

/// The same with a plan file.
fn planned(plan: &str) -> Program {
    let program = project();
    program.write("plan.toml", plan);
    program
}

/// The events that were printed, and the envelope.
fn events(assert: &snapbox::cmd::OutputAssert) -> (Vec<serde_json::Value>, serde_json::Value) {
    let text = crate::program::text(assert);
    let mut lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a JSON object in each line")).collect();
    let envelope = lines.pop().expect("there is an envelope");
    assert_eq!(envelope["event"], "end");
    (lines, envelope)
}
