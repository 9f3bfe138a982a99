//! Which crate may use which: arrows point down only.

use crate::workspace::{Dependency, DependencyKind};

/// The layers of ARCHITECTURE.md, lowest first. A crate may use crates of lower layers only.
const LAYERS: &[&[&str]] = &[
    &["filetx", "store"],
    &["config", "context", "plan"],
    &["executor"],
    &["api"],
    &["cli", "server", "python"],
];

/// May use any layer; is used by tests only.
const TEST_KIT: &str = "testkit";

/// Uses no layer, is used by none.
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
            (_, _, None) => format!("give {to} a layer in xtask/tests/tidy/arrows.rs"),
            (true, _, Some(_)) => return None,
            (_, None, _) => format!("give {from} a layer in xtask/tests/tidy/arrows.rs"),
            (_, Some(above), Some(below)) if above > below => return None,
            _ => "arrows point to lower layers only".to_owned(),
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
    fn an_arrow_down_is_fine() {
        check("cli", "filetx", Normal, None);
        check("plan", "store", Normal, None);
        check("cli", "api", Normal, None);
        check("testkit", "filetx", Normal, None);
        check("filetx", "testkit", Development, None);
    }

    #[test]
    fn an_arrow_up_or_sideways_is_a_problem() {
        check("filetx", "cli", Normal, Some("filetx uses cli: arrows point to lower layers only"));
        check("config", "context", Normal, Some("config uses context: arrows point to lower layers only"));
        check("filetx", "plan", Development, Some("filetx uses plan: arrows point to lower layers only"));
    }

    #[test]
    fn the_test_kit_is_for_tests() {
        check(
            "config",
            "testkit",
            Normal,
            Some("config uses testkit: the test kit may only be a dev-dependency"),
        );
    }

    #[test]
    fn the_commands_stand_apart() {
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
        check("cli", "news", Normal, Some("cli uses news: give news a layer in xtask/tests/tidy/arrows.rs"));
        check(
            "news",
            "filetx",
            Normal,
            Some("news uses filetx: give news a layer in xtask/tests/tidy/arrows.rs"),
        );
    }
}
