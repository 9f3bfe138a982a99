//! The registry: every key declared once, with its type, default, scopes and help.
//!
//! Building it fails on two keys with one environment variable, so that no variable ever means two things. Keys below `x.`
//! belong to users: any name, typed by TOML, in every scope, without a variable.

use super::types::Misfit;
use crate::{Error, Key, Origin, Reveal, Scope, Type, Value};

/// The section whose keys users choose.
pub const FREE_SECTION: &str = "x";
/// How alike the nearest key must be to be suggested: 1 is the same, 0 nothing in common.
const LIKENESS_MIN: f64 = 0.7;

/// What is said about a key when the registry is built.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The dotted key.
    pub key: &'static str,
    /// The type of its values.
    pub kind: Type,
    /// The default, as text.
    pub default: Option<&'static str>,
    /// Where it may be set.
    pub scopes: &'static [Scope],
    /// Whether its value is hidden from people.
    pub secrecy: Secrecy,
    /// One line.
    pub help: &'static str,
}

/// Whether a value is hidden from people.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Secrecy {
    /// Shown.
    Open,
    /// Hidden.
    Secret,
}

/// A registered key.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The key.
    pub key: Key,
    /// The type of its values.
    pub kind: Type,
    /// The default.
    pub default: Option<Value>,
    /// Where it may be set.
    pub scopes: &'static [Scope],
    /// Whether its value is hidden from people.
    pub secrecy: Secrecy,
    /// One line.
    pub help: &'static str,
}

/// A key, and what is known about it.
#[derive(Clone, Copy, Debug)]
pub struct KeyInfo<'a> {
    /// The key.
    pub key: &'a Key,
    /// Its registration, unless it is a user's own, below `x.`.
    pub declared: Option<&'a Declared>,
}

impl Declared {
    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        self.key.variable()
    }
}

/// All keys.
#[derive(Clone, Debug)]
pub struct Registry {
    /// Sorted.
    keys: Vec<Declared>,
}

/// Why a registry cannot be built: a mistake of the program, not of a user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Mistake {
    /// Two keys would be set by one variable.
    #[error("`{first}` and `{second}` have one environment variable, `{variable}`")]
    SameVariable {
        /// One key.
        first: Key,
        /// The other.
        second: Key,
        /// Their variable.
        variable: String,
    },
    /// What is declared is no key, or is below `x.`.
    #[error("`{key}` cannot be declared")]
    BadKey {
        /// As it was given.
        key: &'static str,
    },
    /// A key is part of another, so it would be a table and a value.
    #[error("`{outer}` is part of `{inner}`")]
    Overlap {
        /// The shorter.
        outer: Key,
        /// The longer.
        inner: Key,
    },
    /// A default is not of its key's type.
    #[error("the default of `{key}` is not {expected}")]
    BadDefault {
        /// The key.
        key: Key,
        /// Its type.
        expected: String,
    },
    /// A key may be set nowhere.
    #[error("`{key}` has no scope")]
    NoScope {
        /// The key.
        key: Key,
    },
}

impl Registry {
    /// Builds a registry.
    pub fn new(declarations: impl IntoIterator<Item = Declaration>) -> Result<Registry, Mistake> {
        let registry = Self::unchecked(declarations)?;
        let variables: Vec<_> = registry.keys().map(Declared::variable).collect();
        for (place, (second, variable)) in registry.keys().zip(&variables).enumerate() {
            // A key that is declared twice has one variable twice.
            if let Some(first) = variables[..place].iter().position(|known| known == variable) {
                let (first, second) = (registry.keys[first].key.clone(), second.key.clone());
                return Err(Mistake::SameVariable { first, second, variable: variable.clone() });
            }
        }
        // Keys are sorted, so whatever is below a key follows it at once.
        for (outer, inner) in registry.keys().zip(registry.keys().skip(1)) {
            if inner.key.is_within(&outer.key) {
                return Err(Mistake::Overlap { outer: outer.key.clone(), inner: inner.key.clone() });
            }
        }
        Ok(registry)
    }

    /// A registry of keys of which it is known that they go together.
    pub(crate) fn unchecked(
        declarations: impl IntoIterator<Item = Declaration>,
    ) -> Result<Registry, Mistake> {
        let mut keys = declarations.into_iter().map(declare).collect::<Result<Vec<_>, _>>()?;
        keys.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        Ok(Registry { keys })
    }

    /// The registered keys, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &Declared> {
        self.keys.iter()
    }

    /// What is known about a key, or that it is unknown and which was most likely meant.
    pub fn look_up<'a>(&'a self, key: &'a Key) -> Result<KeyInfo<'a>, Error> {
        if let Ok(place) = self.keys.binary_search_by(|declared| declared.key.cmp(key)) {
            return Ok(KeyInfo { key, declared: Some(&self.keys[place]) });
        }
        let is_free = key.section() == FREE_SECTION;
        if is_free && key.names().len() > 1 {
            return Ok(KeyInfo { key, declared: None });
        }
        if is_free || self.keys().any(|known| known.key.is_within(key)) {
            return Err(Error::IsTable { key: key.clone() });
        }
        Err(Error::UnknownKey { key: key.clone(), nearest: self.nearest(key), origin: None })
    }

    /// Whether a project's file may not refer to this variable: it is that of a key that projects may not set.
    pub(crate) fn withholds(&self, variable: &str) -> bool {
        self.keys().any(|declared| {
            declared.variable() == variable
                && (declared.secrecy == Secrecy::Secret || !declared.scopes.contains(&Scope::Project))
        })
    }

    /// The last names of secret keys, such as `token`.
    pub(crate) fn secret_names(&self) -> Vec<&str> {
        let secrets = self.keys().filter(|declared| declared.secrecy == Secrecy::Secret);
        secrets.filter_map(|declared| declared.key.names().last()).map(String::as_str).collect()
    }

    fn nearest(&self, key: &Key) -> Option<Key> {
        let text = key.to_string().to_lowercase();
        let last = key.names().last().map(String::as_str).unwrap_or_default();
        let likeness = |known: &Key| {
            // Somebody who leaves out the section, or names a wrong one, means the last name.
            let known_last = known.names().last().map(String::as_str).unwrap_or_default();
            let by_last = if known_last == last { 0.95 } else { 0.0 };
            strsim::normalized_damerau_levenshtein(&text, &known.to_string()).max(by_last)
        };
        let best = self.keys().map(|known| (likeness(&known.key), &known.key));
        let best = best.max_by(|(a, _), (b, _)| a.total_cmp(b));
        best.filter(|(likeness, _)| *likeness >= LIKENESS_MIN).map(|(_, known)| known.clone())
    }
}

fn declare(declaration: Declaration) -> Result<Declared, Mistake> {
    let Declaration { key: text, kind, default, scopes, secrecy, help } = declaration;
    let key = Key::parse(text).map_err(|_| Mistake::BadKey { key: text })?;
    if key.section() == FREE_SECTION || key.names().len() < 2 {
        return Err(Mistake::BadKey { key: text });
    }
    if scopes.is_empty() {
        return Err(Mistake::NoScope { key });
    }
    let default = match default.map(|default| kind.read_text(default)).transpose() {
        Ok(default) => default,
        Err(_) => return Err(Mistake::BadDefault { key, expected: kind.to_string() }),
    };
    Ok(Declared { key, kind, default, scopes, secrecy, help })
}

impl<'a> KeyInfo<'a> {
    /// The type of the key's values.
    pub fn kind(&self) -> &'a Type {
        self.declared.map_or(&Type::Any, |declared| &declared.kind)
    }

    /// Where the key may be set.
    pub fn scopes(&self) -> &'static [Scope] {
        self.declared.map_or(Scope::ALL, |declared| declared.scopes)
    }

    /// The default, if it has one.
    pub fn default(&self) -> Option<&'a Value> {
        self.declared.and_then(|declared| declared.default.as_ref())
    }

    /// Whether the value is hidden from people.
    pub fn is_secret(&self) -> bool {
        self.declared.is_some_and(|declared| declared.secrecy == Secrecy::Secret)
    }

    /// Fails when the key may not be set in this scope.
    pub(crate) fn check_scope(&self, scope: Scope) -> Result<(), Error> {
        let allowed = self.scopes();
        match allowed.contains(&scope) {
            true => Ok(()),
            false => Err(Error::NotInScope { key: self.key.clone(), scope, allowed }),
        }
    }

    /// Reads a value from text: an argument or an environment variable.
    pub(crate) fn read_text(&self, text: &str, origin: Option<&Origin>) -> Result<Value, Error> {
        let value = self.kind().read_text(text);
        value.map_err(|misfit| self.refuse(misfit, &Value::String(text.to_owned()), origin))
    }

    /// Takes a value that TOML has typed.
    pub(crate) fn read_toml(&self, value: &Value, origin: Option<&Origin>) -> Result<Value, Error> {
        self.kind().read_toml(value).map_err(|misfit| self.refuse(misfit, value, origin))
    }

    fn refuse(&self, misfit: Misfit, found: &Value, origin: Option<&Origin>) -> Error {
        let (key, expected) = (self.key.clone(), self.kind().to_string());
        let found = found.show(self.is_secret(), Reveal::No);
        let origin = origin.cloned().map(Box::new);
        match misfit {
            Misfit::Type => Error::WrongType { key, expected, found, origin },
            Misfit::Range => Error::OutOfRange { key, expected, found, origin },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declaration(key: &'static str) -> Declaration {
        Declaration {
            key,
            kind: Type::Bool,
            default: None,
            scopes: Scope::ALL,
            secrecy: Secrecy::Open,
            help: "a key",
        }
    }

    fn mistake(declarations: impl IntoIterator<Item = Declaration>) -> String {
        Registry::new(declarations).unwrap_err().to_string()
    }

    #[test]
    fn two_keys_with_one_variable_cannot_be_registered() {
        assert_eq!(
            mistake([declaration("a.b-c"), declaration("a.b.c")]),
            "`a.b.c` and `a.b-c` have one environment variable, `CLEVERAGENTS_A_B_C`"
        );
        assert_eq!(
            mistake([declaration("a.b"), declaration("a.b")]),
            "`a.b` and `a.b` have one environment variable, `CLEVERAGENTS_A_B`"
        );
    }

    #[test]
    fn other_mistakes_are_found() {
        assert_eq!(mistake([declaration("x.a")]), "`x.a` cannot be declared");
        assert_eq!(mistake([declaration("a")]), "`a` cannot be declared");
        assert_eq!(mistake([declaration("a..b")]), "`a..b` cannot be declared");
        assert_eq!(mistake([declaration("a.b"), declaration("a.b.c")]), "`a.b` is part of `a.b.c`");
        assert_eq!(
            mistake([Declaration { default: Some("1"), ..declaration("a.b") }]),
            "the default of `a.b` is not `true` or `false`"
        );
        assert_eq!(mistake([Declaration { scopes: &[], ..declaration("a.b") }]), "`a.b` has no scope");
    }

    fn nearest(key: &str) -> Option<String> {
        let registry = Registry::standard();
        match registry.look_up(&Key::parse(key).unwrap()) {
            Err(Error::UnknownKey { nearest, .. }) => nearest.map(|key| key.to_string()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_nearest_key_is_suggested() {
        assert_eq!(nearest("core.formt").as_deref(), Some("core.format"));
        assert_eq!(nearest("core.fromat").as_deref(), Some("core.format"));
        assert_eq!(nearest("Core.Color").as_deref(), Some("core.color"));
        assert_eq!(nearest("concurrency").as_deref(), Some("plan.concurrency"));
        assert_eq!(nearest("plan.lock-timeout").as_deref(), Some("core.lock-timeout"));
        assert_eq!(nearest("nothing.like-it"), None);
    }

    #[test]
    fn free_keys_and_tables_are_told_apart() {
        let registry = Registry::standard();
        let look_up = |key: &str| registry.look_up(&Key::parse(key).unwrap()).map(|info| info.kind().name());
        assert_eq!(look_up("x.a.b").unwrap(), "any");
        assert!(matches!(look_up("x"), Err(Error::IsTable { .. })));
        assert!(matches!(look_up("core"), Err(Error::IsTable { .. })));
        assert!(matches!(look_up("core.format.x"), Err(Error::UnknownKey { .. })));
    }

    #[test]
    fn a_bad_value_of_a_secret_is_not_shown() {
        let secret = Declaration { secrecy: Secrecy::Secret, ..declaration("a.b") };
        let registry = Registry::new([secret]).unwrap();
        let key = Key::parse("a.b").unwrap();
        let error = registry.look_up(&key).unwrap().read_text("hunter2", None).unwrap_err();
        assert_eq!(error.to_string(), "`a.b` must be `true` or `false`, not `[REDACTED]`");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}
