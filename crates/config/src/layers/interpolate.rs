//! Interpolation: `${VAR}` and `${VAR:default}` in the strings of files.
//!
//! A variable that is not set and has no default is an error, never literal text. `$${` stands for
//! `${`. Project files are not trusted: they may refer to [`PROJECT_VARIABLES`] and to the variables
//! that the global key `core.interpolate` lists, set or not. The error for another variable tells
//! apart those that may hold a secret: variables of keys that projects cannot set, and names such
//! as `*_TOKEN`, `*_KEY`, `*_SECRET`, `*PASSWORD*`.

use crate::{Error, KeyInfo, Layers, Origin, REDACTED, Scope, Settings, Value};

/// Variables that project files may always refer to.
const PROJECT_VARIABLES: &[&str] = &["HOME", "USER", "LANG", "TMPDIR"];

/// Reason of the error for a variable without a value.
pub(crate) const UNSET: &str = "is not set and has no default";

/// Position of a value, and the variables that it may refer to.
pub(crate) struct Interpolation<'a> {
    pub(crate) layers: &'a Layers,
    pub(crate) info: KeyInfo<'a>,
    pub(crate) scope: Scope,
    pub(crate) origin: Option<&'a Origin>,
}

/// A part of a string.
#[derive(PartialEq, Debug)]
enum Part<'a> {
    Text(&'a str),
    Variable {
        name: &'a str,
        default: Option<&'a str>,
    },
    /// `${` without `}`.
    Open(&'a str),
}

/// Returns true if a string refers to a variable, even in a wrong form.
pub(crate) fn has_references(text: &str) -> bool {
    parts(text).iter().any(|part| !matches!(part, Part::Text(_)))
}

impl Interpolation<'_> {
    /// Expands all strings of a value.
    pub(crate) fn expand_value(&self, value: Value) -> Result<Value, Error> {
        Ok(match value {
            Value::String(text) => Value::String(self.expand(&text)?),
            Value::List(values) => Value::List(
                values.into_iter().map(|value| self.expand_value(value)).collect::<Result<_, _>>()?,
            ),
            Value::Table(values) => {
                let expanded = values.into_iter().map(|(name, value)| Ok((name, self.expand_value(value)?)));
                Value::Table(expanded.collect::<Result<_, Error>>()?)
            }
            other => other,
        })
    }

    /// Expands one string.
    pub(crate) fn expand(&self, text: &str) -> Result<String, Error> {
        let mut expanded = String::with_capacity(text.len());
        for part in parts(text) {
            match part {
                Part::Text(text) => expanded.push_str(text),
                Part::Variable { name, default } => match (self.look_up(name)?, default) {
                    (Some(value), _) | (None, Some(value)) => expanded.push_str(value),
                    (None, None) => return Err(self.error(name, UNSET)),
                },
                Part::Open(name) => return Err(self.error(name, "is not closed")),
            }
        }
        Ok(expanded)
    }

    fn look_up(&self, name: &str) -> Result<Option<&str>, Error> {
        if name.is_empty() || name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            return Err(self.error(name, "does not name a variable"));
        }
        if self.scope != Scope::Global && !PROJECT_VARIABLES.contains(&name) {
            self.check_listed(name)?;
        }
        self.layers.environment.get(name)
    }

    /// Fails unless `core.interpolate` lists a variable.
    fn check_listed(&self, name: &str) -> Result<(), Error> {
        let listed = Settings::new(self.layers.clone()).core_interpolate()?;
        if listed.iter().any(|known| known == name) {
            return Ok(());
        }
        let (key, variable, origin) = (self.info.key.clone(), name.to_owned(), self.at());
        Err(match may_be_secret(name) || self.layers.registry.is_withheld(name) {
            true => Error::SecretVariable { key, variable, origin },
            false => Error::VariableNotListed { key, variable, listed, origin },
        })
    }

    fn error(&self, variable: &str, reason: &'static str) -> Error {
        // A malformed reference may be part of a secret.
        let shown = if self.info.is_secret() && reason != UNSET { REDACTED } else { variable };
        let (key, variable) = (self.info.key.clone(), shown.to_owned());
        Error::Interpolation { key, variable, reason, origin: self.at() }
    }

    fn at(&self) -> Option<Box<Origin>> {
        self.origin.cloned().map(Box::new)
    }
}

fn may_be_secret(variable: &str) -> bool {
    let name = variable.to_uppercase();
    let ends = ["TOKEN", "KEY", "SECRET", "PAT", "AUTH"];
    let contains = ["PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "SECRET"];
    ends.iter().any(|end| name.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('_')))
        || contains.iter().any(|word| name.contains(word))
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        if let Some(before) = rest[..start].strip_suffix('$') {
            parts.extend([Part::Text(before), Part::Text("${")]);
            rest = &rest[start + 2..];
            continue;
        }
        parts.push(Part::Text(&rest[..start]));
        let inner = &rest[start + 2..];
        let Some(end) = inner.find('}') else {
            parts.push(Part::Open(inner.split([':', ' ']).next().unwrap_or_default()));
            return parts;
        };
        let (name, default) = match inner[..end].split_once(':') {
            Some((name, default)) => (name, Some(default)),
            None => (&inner[..end], None),
        };
        parts.push(Part::Variable { name, default });
        rest = &inner[end + 1..];
    }
    parts.push(Part::Text(rest));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, Flags, Key, Registry};

    /// Layers with these variables, and with `core.interpolate` listing two names.
    fn layers() -> Layers {
        let variables = [
            ("USER", "me"),
            ("EMPTY", ""),
            ("WHERE_TO", "hunter2"),
            ("LISTED", "yes"),
            ("GITHUB_TOKEN", "hunter2"),
            ("CLEVERAGENTS_STORE_URL", "hunter2"),
        ];
        let registry = Registry::standard();
        let flags = Flags::parse(&registry, ["core.interpolate=LISTED,LISTED_TOKEN"]).unwrap();
        Layers::new(registry, flags, Environment::from_iter(variables))
    }

    fn expand_in(key: &str, scope: Scope, value: Value) -> Result<Value, Error> {
        let (layers, key) = (layers(), Key::parse(key).unwrap());
        let info = layers.registry().look_up(&key).unwrap();
        Interpolation { layers: &layers, info, scope, origin: None }.expand_value(value)
    }

    fn expand(text: &str, scope: Scope) -> Result<String, String> {
        match expand_in("x.a", scope, Value::List(vec![Value::String(text.to_owned())])) {
            Ok(Value::List(values)) => Ok(values[0].to_string()),
            Ok(other) => panic!("{other}"),
            Err(error) => Err(error.to_string()),
        }
    }

    fn check(text: &str, expected: Result<&str, &str>) {
        let expanded = expand(text, Scope::Global);
        assert_eq!(expanded.as_deref().map_err(String::as_str), expected, "{text}");
    }

    #[test]
    fn references_are_expanded() {
        check("plain", Ok("plain"));
        check("${USER}", Ok("me"));
        check("a ${USER} b ${USER:x} c", Ok("a me b me c"));
        check("${NONE:x y:z}", Ok("x y:z"));
        check("${NONE:}", Ok(""));
        check("${EMPTY:x}", Ok(""));
        check("$${USER} $USER $", Ok("${USER} $USER $"));
        check("${USER}}", Ok("me}"));
    }

    #[test]
    fn invalid_references_are_errors() {
        check("${NONE}", Err("`x.a`: `${NONE}` is not set and has no default"));
        check("a ${USER", Err("`x.a`: `${USER}` is not closed"));
        check("${}", Err("`x.a`: `${}` does not name a variable"));
        check("${A B}", Err("`x.a`: `${A B}` does not name a variable"));
    }

    #[test]
    fn a_malformed_reference_in_a_secret_is_redacted() {
        for text in ["a${hunter2", "a${hunter 2}"] {
            let error = expand_in("server.token", Scope::Global, Value::String(text.to_owned())).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter"), "{error}");
        }
    }

    #[test]
    fn project_files_cannot_refer_to_secrets() {
        assert_eq!(expand("${GITHUB_TOKEN}", Scope::Global).unwrap(), "hunter2");
        for scope in [Scope::Project, Scope::Local] {
            assert_eq!(expand("${USER}", scope).unwrap(), "me");
            for name in [
                "GITHUB_TOKEN",
                "TOKEN",
                "github_token",
                "AWS_SECRET_ACCESS_KEY",
                "API_KEY",
                "CLIENT_SECRET",
                "PGPASSWORD",
                "MY_PASSWORD_FILE",
                "CLEVERAGENTS_SERVER_TOKEN",
                "CLEVERAGENTS_STORE_URL",
            ] {
                for text in [format!("${{{name}}}"), format!("${{{name}:default}}")] {
                    let error = expand(&text, scope).unwrap_err();
                    assert_eq!(
                        error,
                        format!("`x.a`: a project file may not use `${{{name}}}`, which may hold a secret")
                    );
                }
            }
        }
    }

    #[test]
    fn project_files_refer_to_listed_variables_only() {
        for scope in [Scope::Project, Scope::Local] {
            for name in ["HOME", "USER", "LANG", "TMPDIR", "LISTED", "LISTED_TOKEN"] {
                assert!(expand(&format!("${{{name}:default}}"), scope).is_ok(), "{name}");
            }
            for name in ["WHERE_TO", "PATH", "MONKEY", "user", "LISTE", "LISTED2", "EMPTY"] {
                for text in [format!("${{{name}}}"), format!("${{{name}:default}}")] {
                    let error = expand(&text, scope).unwrap_err();
                    let expected = format!(
                        "`x.a`: a project file may not use `${{{name}}}`: `core.interpolate` does not list it"
                    );
                    assert_eq!(error, expected);
                }
            }
        }
        assert_eq!(expand("${WHERE_TO}", Scope::Global).unwrap(), "hunter2");
    }

    #[test]
    fn tables_are_expanded_and_other_values_kept() {
        let table = |text: &str| {
            Value::Table(
                [("a".to_owned(), Value::String(text.to_owned())), ("b".to_owned(), Value::Integer(2))]
                    .into(),
            )
        };
        let expand = |text| expand_in("x.a", Scope::Global, table(text));
        assert_eq!(expand("${LISTED}").unwrap(), table("yes"));
        assert!(expand("${B}").is_err());
    }

    #[test]
    fn references_are_detected() {
        assert!(
            has_references("${A}")
                && has_references("a${")
                && !has_references("$A")
                && !has_references("$${A}")
        );
    }
}
