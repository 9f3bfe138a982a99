//! The configuration page lists every registered key.

use cleveragents::{Agents, Invocation};

#[test]
fn the_page_lists_every_key_as_registered() {
    let page = include_str!("../../../docs/configuration.md");
    let home = tempfile::tempdir().unwrap();
    let invocation = Invocation { home: Some(home.path().to_owned()), ..Invocation::default() };
    let agents = Agents::open(&invocation).unwrap();
    let row = |key: &String| {
        let key = agents.config_snapshot().explain(&key.parse().unwrap()).unwrap();
        let default = key.default.map_or("none".to_owned(), |default| format!("`{}`", default.to_toml()));
        let secret = if key.secret { "; secret" } else { "" };
        format!(
            "| `{}` | {} | {default} | {} | {}{secret} |",
            key.key,
            key.allowed,
            key.scopes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            key.help
        )
    };
    let expected: Vec<String> = cleveragents::keys().iter().map(row).collect();
    let found: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| `") && line.contains('.')).collect();
    let found: Vec<&str> = found.into_iter().filter(|line| line.matches('|').count() == 6).collect();
    assert_eq!(found, expected, "the table of docs/configuration.md should be:\n{}", expected.join("\n"));
}
