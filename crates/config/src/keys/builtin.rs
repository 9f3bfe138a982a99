//! The keys of the program itself.
//!
//! A project comes from elsewhere, so it may set nothing that redirects the store or the server, or that loosens confinement.

use std::time::Duration;

use crate::{Declaration, Registry, Scope, Secrecy, Type};

const EVERYWHERE: &[Scope] = Scope::ALL;
const GLOBAL: &[Scope] = &[Scope::Global];

/// The longest time to wait for a lock that may be configured.
const LOCK_TIMEOUT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// The most actors at once that may be configured.
const CONCURRENCY_MAX: i64 = 256;

impl Registry {
    /// The keys of the program itself.
    pub fn standard() -> Registry {
        // What a check would cost, each command would pay.
        Registry::unchecked(declarations()).expect("a test checks them")
    }
}

fn declarations() -> Vec<Declaration> {
    let open = |key, kind, default, scopes, help| Declaration {
        key,
        kind,
        default,
        scopes,
        secrecy: Secrecy::Open,
        help,
    };
    vec![
        open(
            "core.format",
            Type::Choice(&["auto", "rich", "plain", "json"]),
            Some("auto"),
            EVERYWHERE,
            "how commands print; `auto` is rich on a terminal and plain elsewhere",
        ),
        open(
            "core.color",
            Type::Choice(&["auto", "always", "never"]),
            Some("auto"),
            EVERYWHERE,
            "when output is coloured",
        ),
        open(
            "core.lock-timeout",
            Type::Duration { max: LOCK_TIMEOUT_MAX },
            Some("30s"),
            EVERYWHERE,
            "how long to wait for a lock that someone else holds",
        ),
        open(
            "core.log",
            Type::Choice(&["off", "error", "warn", "info", "debug", "trace"]),
            Some("off"),
            EVERYWHERE,
            "how much is logged",
        ),
        open(
            "core.log-file",
            Type::Path,
            None,
            GLOBAL,
            "the file to append the log to; standard error without it",
        ),
        open(
            "plan.concurrency",
            Type::Integer { min: 1, max: CONCURRENCY_MAX },
            Some("4"),
            EVERYWHERE,
            "how many actors of a plan run at once",
        ),
        open(
            "plan.merge",
            Type::Choice(&["three-way", "fail-on-conflict", "last-wins"]),
            Some("three-way"),
            EVERYWHERE,
            "how changes of several actors to one file are combined",
        ),
        open(
            "sandbox.strategy",
            Type::Choice(&["copy"]),
            Some("copy"),
            EVERYWHERE,
            "how an actor's own copy of the project is made",
        ),
        open(
            "sandbox.cleanup",
            Type::Choice(&["applied", "manual"]),
            Some("applied"),
            EVERYWHERE,
            "when sandboxes are removed: once applied, or on request only",
        ),
        open(
            "sandbox.confine",
            Type::Choice(&["auto", "require", "off"]),
            Some("auto"),
            GLOBAL,
            "whether actors are kept from writing outside of their sandbox",
        ),
        open(
            "sandbox.writable",
            Type::List(Box::new(Type::Path)),
            Some(""),
            GLOBAL,
            "folders that a confined actor may write to as well",
        ),
        open(
            "store.url",
            Type::String,
            None,
            GLOBAL,
            "where plans and their changes are kept, such as `sqlite:/srv/state.db` or `postgres://USER@HOST/DATABASE`; `state.db` in the home folder without it",
        ),
        open("server.url", Type::String, None, GLOBAL, "the server that commands talk to"),
        Declaration {
            key: "server.token",
            kind: Type::String,
            default: None,
            scopes: GLOBAL,
            secrecy: Secrecy::Secret,
            help: "what the server knows us by",
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_go_together() {
        let checked = Registry::new(declarations()).unwrap();
        assert!(checked.keys().map(|declared| &declared.key).is_sorted());
        assert_eq!(checked.keys().count(), declarations().len());
    }

    #[test]
    fn a_project_may_not_set_what_it_could_abuse() {
        let registry = Registry::standard();
        let global_only: Vec<_> = registry
            .keys()
            .filter(|declared| declared.scopes == GLOBAL)
            .map(|declared| declared.key.to_string())
            .collect();
        let expected = [
            "core.log-file",
            "sandbox.confine",
            "sandbox.writable",
            "server.token",
            "server.url",
            "store.url",
        ];
        assert_eq!(global_only, expected);
        assert_eq!(registry.secret_names(), ["token"]);
    }

    #[test]
    fn help_is_one_line() {
        for declared in Registry::standard().keys() {
            assert!(!declared.help.is_empty() && !declared.help.contains('\n'), "{}", declared.key);
        }
    }
}
