//! Properties of plan files and of the messages on the socket of a run. The tests run them over the seeds;
//! the programs in `fuzz/` search for bytes that break them.

use std::path::Path;

use executor::rpc::fuzzing::{read_requests, read_response};
use executor::{Error, Graph, NAME_BYTES_MAX, NODES_MAX, PlanFile, Problem};

/// A plan file: every problem has a position in the text, and the graph of a valid one is complete.
pub(crate) fn plan_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let check_positions = |problems: &[Problem]| {
        assert!(!problems.is_empty(), "a refusal has a reason");
        let lines: Vec<&str> = text.split('\n').collect();
        for problem in problems {
            let line =
                lines.get(problem.position.line - 1).unwrap_or_else(|| panic!("no such line: {problem}"));
            assert!(problem.position.column <= line.chars().count() + 1, "no such column: {problem}");
        }
    };
    match PlanFile::parse(Path::new("plan.toml"), text) {
        Err(Error::PlanFile { problems, .. }) => check_positions(&problems),
        Err(error) => panic!("{error:?}"),
        Ok(plan) => {
            assert!((1..=NODES_MAX).contains(&plan.nodes.len()));
            assert!(plan.nodes.iter().all(|node| node.name.len() <= NAME_BYTES_MAX));
            match Graph::of(&plan) {
                Ok(graph) => assert_eq!(graph.len(), plan.nodes.len()),
                Err(problems) => check_positions(&problems),
            }
        }
    }
}

/// A connection: accepted requests mean the same when they are sent again.
pub(crate) fn socket(bytes: &[u8]) {
    for request in read_requests(bytes) {
        let bodies: usize = body_lengths(&request).iter().sum();
        let again = [request.as_bytes(), b"\n", &vec![0; bodies]].concat();
        assert_eq!(read_requests(&again), [request]);
    }
    let _ = read_response(bytes);
}

fn body_lengths(request: &str) -> Vec<usize> {
    let request: serde_json::Value = serde_json::from_str(request).expect("it was serialised");
    serde_json::from_value(request["body_lengths"].clone()).expect("it was accepted")
}
