use proptest::prelude::*;

use super::overlaps::{COMPARISONS_MAX, WARNINGS_MAX};
use super::*;
use crate::Ready;

fn plan(text: &str) -> PlanFile {
    PlanFile::parse(Path::new("plan.toml"), text).unwrap()
}

/// A plan of nodes and their needs.
fn plan_of(nodes: &[(&str, &[&str])]) -> PlanFile {
    let text: String =
        nodes.iter().map(|(name, needs)| format!("[nodes.{name}]\nrun = 'x'\nneeds = {needs:?}\n")).collect();
    plan(&text)
}

#[track_caller]
fn check(nodes: &[(&str, &[&str])], expected: &[&str]) {
    let found: Vec<_> = Graph::of(&plan_of(nodes)).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn unknown_and_repeated_needs_are_named() {
    check(
        &[("build", &["lnt", "zzzzz"]), ("lint", &[]), ("test", &["lint", "lint"])],
        &[
            "3:10: node `build` needs `lnt`, which is not a node (did you mean `lint`?)",
            "3:17: node `build` needs `zzzzz`, which is not a node",
            "9:18: node `test` needs `lint` twice",
        ],
    );
}

#[test]
fn cycles_and_the_nodes_behind_them_are_named() {
    check(
        &[
            ("a", &["c"]),
            ("b", &["a"]),
            ("c", &["b"]),
            ("behind", &["c"]),
            ("further", &["behind"]),
            ("free", &[]),
        ],
        &[
            "1:8: cycle: a -> c -> b -> a",
            "10:8: node `behind` can never run: it waits for a cycle",
            "13:8: node `further` can never run: it waits for a cycle",
        ],
    );
    check(&[("a", &["a"])], &["1:8: cycle: a -> a"]);
    check(
        &[("first", &["a"]), ("a", &["b"]), ("b", &["a"]), ("c", &["d"]), ("d", &["c"])],
        &[
            "1:8: node `first` can never run: it waits for a cycle",
            "4:8: cycle: a -> b -> a",
            "10:8: cycle: c -> d -> c",
        ],
    );
}

#[test]
fn nodes_keep_the_order_of_the_file_where_needs_allow() {
    let graph = Graph::of(&plan_of(&[("test", &["lint", "build"]), ("build", &[]), ("lint", &[])])).unwrap();
    assert_eq!((graph.len(), graph.is_empty()), (3, false));
    assert_eq!(graph.order(), [1, 2, 0]);
    assert_eq!(graph.to_text(), "build\nlint\ntest   after lint, build\n");
    assert_eq!(
        graph.to_mermaid(),
        "flowchart TD\n    n1[\"build\"]\n    n2[\"lint\"]\n    n0[\"test\"]\n    n2 --> n0\n    n1 --> n0\n"
    );
}

#[test]
fn overlapping_paths_of_unordered_nodes_are_a_warning() {
    let plan = plan(
        "[nodes.a]\nrun='x'\npaths=['src/**']\n[nodes.b]\nrun='x'\npaths=['docs/*', 'src/*.rs']\n\
         [nodes.c]\nrun='x'\nneeds=['a', 'b']\npaths=['src/a.rs']\n[nodes.d]\nrun='x'\npaths=['out']\n\
         [nodes.e]\nrun='x'\n[nodes.f]\nrun='x'\nroot='other'\npaths=['src']\n",
    );
    let found: Vec<_> =
        Graph::of(&plan).unwrap().overlap_warnings(&plan).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        ["4:8: nodes `a` and `b` may run concurrently and change the same files: `src/**` and `src/*.rs` \
          (let one need the other, or narrow `paths` of `b`)"]
    );
}

#[test]
fn warnings_are_bounded() {
    let text: String = (0..15).map(|number| format!("[nodes.n{number}]\nrun='x'\npaths=['a']\n")).collect();
    let plan = plan(&text);
    let found = Graph::of(&plan).unwrap().overlap_warnings(&plan);
    assert_eq!(found.len(), WARNINGS_MAX);
    assert!(found[WARNINGS_MAX - 1].message.ends_with("; and 55 more pairs like this"), "{}", found[49]);
}

/// Counts comparisons, as 5,000 nodes have 12 million pairs.
#[test]
fn few_patterns_of_many_nodes_are_compared() {
    let overlaps = |field: &dyn Fn(usize) -> String| {
        let node = |number| format!("[nodes.n{number}]\nrun='x'\n{}\n", field(number));
        let plan = plan(&(0..5000).map(node).collect::<String>());
        Overlaps::of(&Graph::of(&plan).unwrap(), &plan)
    };
    let apart = overlaps(&|number| format!("paths=['src/n{number}/**', 'docs/n{number}.md']"));
    assert_eq!((apart.comparisons, apart.warnings), (0, vec![]));
    let in_a_row = overlaps(&|number| match number {
        0 => "paths=['src/**']".to_owned(),
        _ => format!("paths=['src/**']\nneeds=['n{}']", number - 1),
    });
    assert_eq!((in_a_row.comparisons, in_a_row.warnings), (0, vec![]));
    let all = overlaps(&|_| "paths=['src/*.rs']".to_owned());
    assert_eq!((all.comparisons, all.warnings.len()), (COMPARISONS_MAX, WARNINGS_MAX + 1));
    let last = all.warnings[WARNINGS_MAX].to_string();
    assert!(last.contains("only 200000 pairs of patterns were compared, up to node `n40`"), "{last}");
}

#[test]
fn roots_must_be_declared_chosen_and_existing() {
    let folder = tempfile::tempdir().unwrap();
    let root = |name: &str, path: &str| format!("[roots.{name}]\npath = '{path}'\n");
    let nodes = "[nodes.a]\nrun='x'\nroot='ap'\n[nodes.b]\nrun='x'\n[nodes.c]\nrun='x'\nroot='app'\n";
    let found = |text: String| -> Vec<String> {
        let problems = root_problems(&plan(&text), folder.path());
        problems
            .iter()
            .map(|problem| problem.to_string().replace(folder.path().to_str().unwrap(), "HERE"))
            .collect()
    };
    assert_eq!(
        found(root("app", ".") + &root("site", "missing") + nodes),
        [
            "3:8: root `site`: `HERE/missing` is not a folder",
            "5:8: node `a` uses root `ap`, which is not declared (did you mean `app`?)",
            "8:8: node `b` does not choose one of 2 roots (give it a `root`)",
        ]
    );
    assert_eq!(found("[nodes.a]\nrun='x'\n".to_owned()), [""; 0]);
    assert_eq!(found(root("app", ".") + "[nodes.a]\nrun='x'\n"), [""; 0]);
}

/// Graphs in which a node needs only nodes of lower numbers, in a shuffled file.
fn dags() -> impl Strategy<Value = (PlanFile, Vec<Vec<usize>>)> {
    (1..14usize).prop_flat_map(|count| {
        let edges = proptest::collection::vec(proptest::collection::vec(any::<bool>(), count), count);
        (edges, Just((0..count).collect::<Vec<_>>()).prop_shuffle()).prop_map(move |(edges, file)| {
            let edges = &edges;
            let needs = |node: usize| (0..node).filter(move |need| edges[node][*need]).collect::<Vec<_>>();
            let needs: Vec<_> = (0..count).map(needs).collect();
            let text: String = file
                .iter()
                .map(|node| {
                    let names: Vec<_> = needs[*node].iter().map(|need| format!("n{need}")).collect();
                    format!("[nodes.n{node}]\nrun = 'x'\nneeds = {names:?}\n")
                })
                .collect();
            let plan = plan(&text);
            let index = |number: &usize| file.iter().position(|node| node == number).unwrap();
            let by_index = file.iter().map(|node| needs[*node].iter().map(index).collect()).collect();
            (plan, by_index)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if testkit::report::is_proof() { 5000 } else { 150 }))]

    /// Whatever fails, in any order: each node starts at most once, after all its needs, and in the end is
    /// done, failed, or behind a failure.
    #[test]
    fn nodes_start_once_after_all_they_need((plan, needs) in dags(), seed in any::<u64>()) {
        let graph = Graph::of(&plan).unwrap();
        let rank = |node: usize| graph.order().iter().position(|other| *other == node).unwrap();
        for (node, needs) in needs.iter().enumerate() {
            prop_assert_eq!(graph.needs(node), needs.as_slice());
            prop_assert!(needs.iter().all(|need| rank(*need) < rank(node)));
        }
        let mut random = fastrand::Rng::with_seed(seed);
        let mut ready = Ready::new(&graph);
        let (mut running, mut done, mut failed, mut skipped) = (vec![], vec![], vec![], vec![]);
        let mut started = BTreeSet::new();
        loop {
            while random.u8(..) > 100 && let Some(node) = ready.take() {
                prop_assert!(started.insert(node), "started twice");
                prop_assert!(needs[node].iter().all(|need| done.contains(need)));
                running.push(node);
            }
            if ready.is_finished() {
                break;
            }
            if running.is_empty() {
                continue;
            }
            let node = running.swap_remove(random.usize(..running.len()));
            if random.u8(..) < 40 {
                failed.push(node);
                skipped.extend(ready.failed(&graph, node));
            } else {
                done.push(node);
                ready.done(&graph, node);
            }
        }
        prop_assert!(running.is_empty() && ready.take().is_none());
        let mut all: Vec<_> = [done.clone(), failed.clone(), skipped.clone()].concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..graph.len()).collect::<Vec<_>>());
        for node in skipped {
            prop_assert!(needs[node].iter().any(|need| !done.contains(need)));
        }
    }

    /// An inserted cycle is found, and its nodes need each other.
    #[test]
    fn a_cycle_is_always_found((mut plan, needs) in dags(), pick in any::<prop::sample::Index>()) {
        let node = pick.index(needs.len());
        // The node needs itself, through one that needs it.
        let last = (0..needs.len()).rev().find(|other| needs[*other].contains(&node)).unwrap_or(node);
        let name = plan.nodes[last].name.clone();
        let position = plan.nodes[node].position;
        plan.nodes[node].needs.push(crate::Need { name, position });
        let problems = Graph::of(&plan).unwrap_err();
        let names = problems.iter().find_map(|problem| problem.message.strip_prefix("cycle: ")).unwrap();
        let names: Vec<_> = names.split(" -> ").collect();
        prop_assert_eq!(names.first(), names.last());
        for pair in names.windows(2) {
            let one = plan.nodes.iter().find(|node| node.name == pair[0]).unwrap();
            prop_assert!(one.needs.iter().any(|need| need.name == pair[1]));
        }
    }
}
