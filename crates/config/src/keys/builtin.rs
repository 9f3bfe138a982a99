//! Built-in keys.
//!
//! Project files are not trusted: they cannot redirect the store or the server, or loosen
//! confinement.

use std::time::Duration;

use crate::{Declaration, Registry, Scope, Secrecy, Type};

const EVERYWHERE: &[Scope] = Scope::ALL;
const GLOBAL: &[Scope] = &[Scope::Global];

/// Limit of `core.lock-timeout` and `store.wait`.
const LOCK_TIMEOUT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Limit of `plan.concurrency`.
const CONCURRENCY_MAX: i64 = 256;

/// Limit of `sandbox.max-file-size`: more than most disks hold.
const FILE_BYTES_MAX: u64 = 1 << 50;

/// Keys of version 0.1 that have another name now. Files may use both names.
const RENAMED: &[(&str, &str)] = &[("sandbox.writable", "sandbox.allow-write")];

impl Registry {
    /// Returns the registry of the built-in keys.
    pub fn standard() -> Registry {
        // Every command builds this registry, so a test checks the declarations instead.
        Registry::unchecked(declarations()).expect("a test checks them").with_renamed(RENAMED)
    }
}

fn declarations() -> Vec<Declaration> {
    let open = |key, value_type, default, scopes, help| Declaration {
        key,
        value_type,
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
            "output format; `auto` is rich on a terminal, plain elsewhere",
        ),
        open(
            "core.color",
            Type::Choice(&["auto", "always", "never"]),
            Some("auto"),
            EVERYWHERE,
            "use of colours",
        ),
        open(
            "core.interpolate",
            Type::List(Box::new(Type::String)),
            Some(""),
            GLOBAL,
            "variables that project files may use, besides `HOME`, `USER`, `LANG` and `TMPDIR`",
        ),
        open(
            "core.lock-timeout",
            Type::Duration { max: LOCK_TIMEOUT_MAX },
            Some("30s"),
            EVERYWHERE,
            "maximum time to wait for a lock",
        ),
        open(
            "core.log",
            Type::Choice(&["off", "error", "warn", "info", "debug", "trace"]),
            Some("off"),
            EVERYWHERE,
            "log level",
        ),
        open(
            "core.log-file",
            Type::Path,
            None,
            GLOBAL,
            "file to append the log to; standard error if not set",
        ),
        open(
            "plan.concurrency",
            Type::Integer { min: 1, max: CONCURRENCY_MAX },
            Some("4"),
            EVERYWHERE,
            "actors of a plan that run at once",
        ),
        open(
            "plan.merge",
            Type::Choice(&["three-way", "fail-on-conflict", "last-wins"]),
            Some("three-way"),
            EVERYWHERE,
            "merge strategy for changes of several actors to one file",
        ),
        open(
            "sandbox.strategy",
            Type::Choice(&["copy"]),
            Some("copy"),
            EVERYWHERE,
            "method of creating sandboxes",
        ),
        open(
            "sandbox.cleanup",
            Type::Choice(&["applied", "manual"]),
            Some("applied"),
            EVERYWHERE,
            "removal of sandboxes: when the plan is applied, or manually",
        ),
        open(
            "sandbox.confine",
            Type::Choice(&["auto", "require", "off"]),
            Some("auto"),
            GLOBAL,
            "confinement of actors to their sandbox",
        ),
        open(
            "sandbox.allow-write",
            Type::List(Box::new(Type::Path)),
            Some(""),
            GLOBAL,
            "folders outside of the sandbox that a confined actor may write to",
        ),
        open(
            "sandbox.max-file-size",
            Type::Size { max: FILE_BYTES_MAX },
            Some("16GiB"),
            GLOBAL,
            "longest file that a run copies or records",
        ),
        open(
            "store.url",
            Type::String,
            None,
            GLOBAL,
            "store of plans and their changes, such as `sqlite:/srv/state.db` or `postgres://USER@HOST/DATABASE`; `state.db` in the home folder if not set",
        ),
        open(
            "store.wait",
            Type::Duration { max: LOCK_TIMEOUT_MAX },
            Some("30s"),
            GLOBAL,
            "maximum time to wait for a database server that is restarting, full or not reachable",
        ),
        open("server.url", Type::String, None, GLOBAL, "server for the commands"),
        Declaration {
            key: "server.token",
            value_type: Type::String,
            default: None,
            scopes: GLOBAL,
            secrecy: Secrecy::Secret,
            help: "token for the server",
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    #[test]
    fn builtin_keys_form_a_valid_registry() {
        let checked = Registry::new(declarations()).unwrap();
        assert!(checked.keys().map(|definition| &definition.key).is_sorted());
        assert_eq!(checked.keys().count(), declarations().len());
    }

    #[test]
    fn security_settings_are_global_only() {
        let registry = Registry::standard();
        let global_only: Vec<_> = registry
            .keys()
            .filter(|definition| definition.scopes == GLOBAL)
            .map(|definition| definition.key.to_string())
            .collect();
        let expected = [
            "core.interpolate",
            "core.log-file",
            "sandbox.allow-write",
            "sandbox.confine",
            "sandbox.max-file-size",
            "server.token",
            "server.url",
            "store.url",
            "store.wait",
        ];
        assert_eq!(global_only, expected);
        assert_eq!(registry.secret_names(), ["token"]);
    }

    #[test]
    fn former_names_resolve_to_registered_keys() {
        let registry = Registry::standard();
        for (old, new) in RENAMED {
            let (old, new) = (Key::parse(old).unwrap(), Key::parse(new).unwrap());
            assert_eq!(registry.look_up(&old).unwrap().key, &new);
            assert!(registry.keys().any(|definition| definition.key == new));
        }
    }

    #[test]
    fn help_is_one_line() {
        for definition in Registry::standard().keys() {
            assert!(!definition.help.is_empty() && !definition.help.contains('\n'), "{}", definition.key);
        }
    }
}
