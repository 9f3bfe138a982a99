//! Registry: declares every key once, with its type, default, scopes and help.
//!
//! Building a registry fails if two keys have one environment variable. Keys below `x.` belong to
//! users: any name, typed by TOML, in every scope, without a variable.

use super::types::ValueError;
use crate::{Error, Key, Origin, Reveal, Scope, Type, Value};

/// Section of the users' own keys.
pub const USER_SECTION: &str = "x";
/// Minimum similarity of a suggested key, from 0 (nothing in common) to 1 (equal).
const SIMILARITY_MIN: f64 = 0.7;

/// Declaration of a key, for building a registry.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Text of the dotted key.
    pub key: &'static str,
    /// Type of its values.
    pub value_type: Type,
    /// Default as text, if any.
    pub default: Option<&'static str>,
    /// Scopes in which the key can be set.
    pub scopes: &'static [Scope],
    /// Secrecy of its value.
    pub secrecy: Secrecy,
    /// Help, one line.
    pub help: &'static str,
}

/// Secrecy of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Secrecy {
    /// Shown to people.
    Open,
    /// Redacted unless revealed by name.
    Secret,
}

/// Definition of a registered key.
#[derive(Clone, Debug)]
pub struct KeyDefinition {
    /// The dotted key.
    pub key: Key,
    /// Type of its values.
    pub value_type: Type,
    /// Default, if any.
    pub default: Option<Value>,
    /// Scopes in which the key can be set.
    pub scopes: &'static [Scope],
    /// Secrecy of its value.
    pub secrecy: Secrecy,
    /// Help, one line.
    pub help: &'static str,
}

/// A key with its definition.
#[derive(Clone, Copy, Debug)]
pub struct KeyInfo<'a> {
    /// Name under which the key is registered, or a user's own key.
    pub key: &'a Key,
    /// Definition; none for a user's own key, below `x.`.
    pub definition: Option<&'a KeyDefinition>,
}

impl KeyDefinition {
    /// Environment variable that sets the key.
    pub fn variable(&self) -> String {
        self.key.variable()
    }
}

/// Definitions of all keys.
#[derive(Clone, Debug)]
pub struct Registry {
    /// Sorted by key.
    keys: Vec<KeyDefinition>,
    /// Former names of keys, each with the present one.
    renamed: Vec<(Key, Key)>,
}

/// Error of building a registry: a bug of the program, not of a user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RegistryError {
    /// Two keys have one environment variable.
    #[error("`{first}` and `{second}` have the same environment variable, `{variable}`")]
    SameVariable {
        /// First key.
        first: Key,
        /// Second key.
        second: Key,
        /// Variable of both.
        variable: String,
    },
    /// The text is not a key, has one name only, or is below `x.`.
    #[error("`{key}` cannot be declared")]
    InvalidKey {
        /// Text as declared.
        key: &'static str,
    },
    /// A key is below another one, so that one would be a table and a value.
    #[error("`{outer}` is part of `{inner}`")]
    Overlap {
        /// Shorter key.
        outer: Key,
        /// Longer key.
        inner: Key,
    },
    /// A default is not of its key's type.
    #[error("the default of `{key}` is not {expected}")]
    BadDefault {
        /// Declared key.
        key: Key,
        /// Type of the key.
        expected: String,
    },
    /// A key has no scope.
    #[error("`{key}` has no scope")]
    NoScope {
        /// Declared key.
        key: Key,
    },
}

impl Registry {
    /// Builds a registry and checks that the keys do not conflict.
    pub fn new(declarations: impl IntoIterator<Item = Declaration>) -> Result<Registry, RegistryError> {
        let registry = Self::unchecked(declarations)?;
        let variables: Vec<_> = registry.keys().map(KeyDefinition::variable).collect();
        for (index, (second, variable)) in registry.keys().zip(&variables).enumerate() {
            // A key that is declared twice has one variable twice.
            if let Some(first) = variables[..index].iter().position(|known| known == variable) {
                let (first, second) = (registry.keys[first].key.clone(), second.key.clone());
                return Err(RegistryError::SameVariable { first, second, variable: variable.clone() });
            }
        }
        // Keys are sorted, so a key below another one directly follows it.
        for (outer, inner) in registry.keys().zip(registry.keys().skip(1)) {
            if inner.key.is_within(&outer.key) {
                return Err(RegistryError::Overlap { outer: outer.key.clone(), inner: inner.key.clone() });
            }
        }
        Ok(registry)
    }

    /// Builds a registry without checking that the keys do not conflict.
    pub(crate) fn unchecked(
        declarations: impl IntoIterator<Item = Declaration>,
    ) -> Result<Registry, RegistryError> {
        let mut keys = declarations.into_iter().map(define).collect::<Result<Vec<_>, _>>()?;
        keys.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        Ok(Registry { keys, renamed: Vec::new() })
    }

    /// Adds former names of registered keys: pairs of the former and the present name.
    pub(crate) fn with_renamed(self, renamed: &[(&str, &str)]) -> Registry {
        let key = |name: &str| Key::parse(name).expect("a test checks them");
        let renamed = renamed.iter().map(|(former, present)| (key(former), key(present)));
        Registry { renamed: renamed.collect(), ..self }
    }

    /// Former names of a key.
    pub(crate) fn former_names(&self, key: &Key) -> impl Iterator<Item = &Key> {
        self.renamed.iter().filter(move |(_, present)| present == key).map(|(former, _)| former)
    }

    /// Registered keys, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &KeyDefinition> {
        self.keys.iter()
    }

    /// Returns the definition of a key, or an error that suggests the most similar key.
    pub fn look_up<'a>(&'a self, key: &'a Key) -> Result<KeyInfo<'a>, Error> {
        if let Ok(index) = self.keys.binary_search_by(|definition| definition.key.cmp(key)) {
            return Ok(KeyInfo { key, definition: Some(&self.keys[index]) });
        }
        if let Some((_, present)) = self.renamed.iter().find(|(former, _)| former == key) {
            return self.look_up(present);
        }
        let is_user_key = key.section() == USER_SECTION;
        if is_user_key && key.names().len() > 1 {
            return Ok(KeyInfo { key, definition: None });
        }
        if is_user_key || self.keys().any(|known| known.key.is_within(key)) {
            return Err(Error::IsTable { key: key.clone() });
        }
        Err(Error::UnknownKey { key: key.clone(), suggestion: self.suggestion(key), origin: None })
    }

    /// Returns true if project files may not refer to this variable: it belongs to a key that a
    /// project cannot set.
    pub(crate) fn is_withheld(&self, variable: &str) -> bool {
        self.keys().any(|definition| {
            definition.variable() == variable
                && (definition.secrecy == Secrecy::Secret || !definition.scopes.contains(&Scope::Project))
        })
    }

    /// Last names of secret keys, such as `token`.
    pub(crate) fn secret_names(&self) -> Vec<&str> {
        let secrets = self.keys().filter(|definition| definition.secrecy == Secrecy::Secret);
        secrets.filter_map(|definition| definition.key.names().last()).map(String::as_str).collect()
    }

    fn suggestion(&self, key: &Key) -> Option<Key> {
        let text = key.to_string().to_lowercase();
        let last = key.names().last().map(String::as_str).unwrap_or_default();
        let similarity = |known: &Key| {
            // A key with a missing or wrong section is matched by its last name.
            let known_last = known.names().last().map(String::as_str).unwrap_or_default();
            let by_last = if known_last == last { 0.95 } else { 0.0 };
            strsim::normalized_damerau_levenshtein(&text, &known.to_string()).max(by_last)
        };
        let best = self.keys().map(|known| (similarity(&known.key), &known.key));
        let best = best.max_by(|(a, _), (b, _)| a.total_cmp(b));
        best.filter(|(similarity, _)| *similarity >= SIMILARITY_MIN).map(|(_, known)| known.clone())
    }
}

fn define(declaration: Declaration) -> Result<KeyDefinition, RegistryError> {
    let Declaration { key: text, value_type, default, scopes, secrecy, help } = declaration;
    let key = Key::parse(text).map_err(|_| RegistryError::InvalidKey { key: text })?;
    if key.section() == USER_SECTION || key.names().len() < 2 {
        return Err(RegistryError::InvalidKey { key: text });
    }
    if scopes.is_empty() {
        return Err(RegistryError::NoScope { key });
    }
    let default = match default.map(|default| value_type.read_text(default)).transpose() {
        Ok(default) => default,
        Err(_) => return Err(RegistryError::BadDefault { key, expected: value_type.to_string() }),
    };
    Ok(KeyDefinition { key, value_type, default, scopes, secrecy, help })
}

impl<'a> KeyInfo<'a> {
    /// Type of the key's values.
    pub fn value_type(&self) -> &'a Type {
        self.definition.map_or(&Type::Any, |definition| &definition.value_type)
    }

    /// Scopes in which the key can be set.
    pub fn scopes(&self) -> &'static [Scope] {
        self.definition.map_or(Scope::ALL, |definition| definition.scopes)
    }

    /// Default, if any.
    pub fn default(&self) -> Option<&'a Value> {
        self.definition.and_then(|definition| definition.default.as_ref())
    }

    /// Returns true if the value is redacted.
    pub fn is_secret(&self) -> bool {
        self.definition.is_some_and(|definition| definition.secrecy == Secrecy::Secret)
    }

    /// Fails if the key cannot be set in this scope.
    pub(crate) fn check_scope(&self, scope: Scope) -> Result<(), Error> {
        let allowed = self.scopes();
        match allowed.contains(&scope) {
            true => Ok(()),
            false => Err(Error::NotInScope { key: self.key.clone(), scope, allowed }),
        }
    }

    /// Parses a value from text: an argument or an environment variable.
    pub(crate) fn read_text(&self, text: &str, origin: Option<&Origin>) -> Result<Value, Error> {
        let value = self.value_type().read_text(text);
        value.map_err(|error| self.invalid_value(error, &Value::String(text.to_owned()), origin))
    }

    /// Converts a value from its TOML type to the key's type.
    pub(crate) fn read_toml(&self, value: &Value, origin: Option<&Origin>) -> Result<Value, Error> {
        self.value_type().read_toml(value).map_err(|error| self.invalid_value(error, value, origin))
    }

    fn invalid_value(&self, error: ValueError, value: &Value, origin: Option<&Origin>) -> Error {
        let (key, expected) = (self.key.clone(), self.value_type().to_string());
        let actual = value.show(self.is_secret(), Reveal::No);
        let origin = origin.cloned().map(Box::new);
        match error {
            ValueError::Type => Error::WrongType { key, expected, actual, origin },
            ValueError::Range => Error::OutOfRange { key, expected, actual, origin },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declaration(key: &'static str) -> Declaration {
        Declaration {
            key,
            value_type: Type::Bool,
            default: None,
            scopes: Scope::ALL,
            secrecy: Secrecy::Open,
            help: "a key",
        }
    }

    fn error_text(declarations: impl IntoIterator<Item = Declaration>) -> String {
        Registry::new(declarations).unwrap_err().to_string()
    }

    #[test]
    fn two_keys_with_one_variable_cannot_be_registered() {
        assert_eq!(
            error_text([declaration("a.b-c"), declaration("a.b.c")]),
            "`a.b.c` and `a.b-c` have the same environment variable, `CLEVERAGENTS_A_B_C`"
        );
        assert_eq!(
            error_text([declaration("a.b"), declaration("a.b")]),
            "`a.b` and `a.b` have the same environment variable, `CLEVERAGENTS_A_B`"
        );
    }

    #[test]
    fn invalid_declarations_are_rejected() {
        assert_eq!(error_text([declaration("x.a")]), "`x.a` cannot be declared");
        assert_eq!(error_text([declaration("a")]), "`a` cannot be declared");
        assert_eq!(error_text([declaration("a..b")]), "`a..b` cannot be declared");
        assert_eq!(error_text([declaration("a.b"), declaration("a.b.c")]), "`a.b` is part of `a.b.c`");
        assert_eq!(
            error_text([Declaration { default: Some("1"), ..declaration("a.b") }]),
            "the default of `a.b` is not `true` or `false`"
        );
        assert_eq!(error_text([Declaration { scopes: &[], ..declaration("a.b") }]), "`a.b` has no scope");
    }

    fn suggestion(key: &str) -> Option<String> {
        let registry = Registry::standard();
        match registry.look_up(&Key::parse(key).unwrap()) {
            Err(Error::UnknownKey { suggestion, .. }) => suggestion.map(|key| key.to_string()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_most_similar_key_is_suggested() {
        assert_eq!(suggestion("core.formt").as_deref(), Some("core.format"));
        assert_eq!(suggestion("core.fromat").as_deref(), Some("core.format"));
        assert_eq!(suggestion("Core.Color").as_deref(), Some("core.color"));
        assert_eq!(suggestion("concurrency").as_deref(), Some("plan.concurrency"));
        assert_eq!(suggestion("plan.lock-timeout").as_deref(), Some("core.lock-timeout"));
        assert_eq!(suggestion("nothing.like-it"), None);
    }

    #[test]
    fn user_keys_and_tables_are_distinguished() {
        let registry = Registry::standard();
        let look_up =
            |key: &str| registry.look_up(&Key::parse(key).unwrap()).map(|info| info.value_type().name());
        assert_eq!(look_up("x.a.b").unwrap(), "any");
        assert!(matches!(look_up("x"), Err(Error::IsTable { .. })));
        assert!(matches!(look_up("core"), Err(Error::IsTable { .. })));
        assert!(matches!(look_up("core.format.x"), Err(Error::UnknownKey { .. })));
    }

    #[test]
    fn an_invalid_secret_is_redacted() {
        let secret = Declaration { secrecy: Secrecy::Secret, ..declaration("a.b") };
        let registry = Registry::new([secret]).unwrap();
        let key = Key::parse("a.b").unwrap();
        let error = registry.look_up(&key).unwrap().read_text("hunter2", None).unwrap_err();
        assert_eq!(error.to_string(), "`a.b` must be `true` or `false`, not `[REDACTED]`");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}
