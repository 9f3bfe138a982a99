//! Layers: a crate may use crates of lower layers only.

use crate::workspace::{Dependency, DependencyKind};

/// The layers of ARCHITECTURE.md, lowest first. A crate may use crates of lower layers only.
const LAYERS: &[&[&str]] = &[
    &["filetx", "store"],
    &["config", "context", "plan"],
    &["executor"],
    &["api"],
    &["cli", "server", "python"],
];

/// May use any layer; only tests use it.
const TEST_KIT: &str = "testkit";

/// Uses no crate, and no crate uses it.
const COMMANDS: &str = "xtask";

pub(crate) fn problems(dependencies: &[Dependency]) -> Vec<String> {
    dependencies.iter().filter_map(problem).collect()
}

fn problem(dependency: &Dependency) -> Option<String> {
    let (from, to) = (short(&dependency.from), short(&dependency.to));
    let reason = match (from, to) {
        (_, COMMANDS) => "nothing uses the project's own commands".to_owned(),
        (_, TEST_KIT) if dependency.kind == DependencyKind::Development => return None,
        (_, TEST_KIT) => "the test kit may only be a dev-dependency".to_owned(),
        (COMMANDS, _) => "the project's own commands use no crate of it".to_owned(),
        _ => match (from == TEST_KIT, layer(from), layer(to)) {
            (_, _, None) => format!("give {to} a layer in xtask/tests/tidy/layers.rs"),
            (true, _, Some(_)) => return None,
            (_, None, _) => format!("give {from} a layer in xtask/tests/tidy/layers.rs"),
            (_, Some(above), Some(below)) if above > below => return None,
            _ => "only crates of lower layers may be used".to_owned(),
        },
    };
    Some(format!("{from} uses {to}: {reason}"))
}

fn short(package: &str) -> &str {
    match package {
        "cleveragents" => "api",
        _ => package.strip_prefix("cleveragents-").unwrap_or(package),
    }
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use DependencyKind::{Development, Normal};

    fn check(from: &str, to: &str, kind: DependencyKind, expected: Option<&str>) {
        let package = |name| match name {
            "api" => "cleveragents".to_owned(),
            _ => format!("cleveragents-{name}"),
        };
        let dependency = Dependency { from: package(from), to: package(to), kind };
        assert_eq!(problem(&dependency).as_deref(), expected);
    }

    #[test]
    fn a_lower_layer_may_be_used() {
        check("cli", "filetx", Normal, None);
        check("plan", "store", Normal, None);
        check("cli", "api", Normal, None);
        check("testkit", "filetx", Normal, None);
        check("filetx", "testkit", Development, None);
    }

    #[test]
    fn a_higher_or_equal_layer_is_a_problem() {
        check("filetx", "cli", Normal, Some("filetx uses cli: only crates of lower layers may be used"));
        check(
            "config",
            "context",
            Normal,
            Some("config uses context: only crates of lower layers may be used"),
        );
        check(
            "filetx",
            "plan",
            Development,
            Some("filetx uses plan: only crates of lower layers may be used"),
        );
    }

    #[test]
    fn only_tests_use_the_test_kit() {
        check(
            "config",
            "testkit",
            Normal,
            Some("config uses testkit: the test kit may only be a dev-dependency"),
        );
    }

    #[test]
    fn the_commands_share_no_dependency() {
        check("cli", "xtask", Development, Some("cli uses xtask: nothing uses the project's own commands"));
        check(
            "xtask",
            "filetx",
            Normal,
            Some("xtask uses filetx: the project's own commands use no crate of it"),
        );
    }

    #[test]
    fn a_new_crate_needs_a_layer() {
        check("cli", "news", Normal, Some("cli uses news: give news a layer in xtask/tests/tidy/layers.rs"));
        check(
            "news",
            "filetx",
            Normal,
            Some("news uses filetx: give news a layer in xtask/tests/tidy/layers.rs"),
        );
    }
}
