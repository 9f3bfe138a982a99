//! Values from the command line: `--config KEY=VALUE`.

use std::collections::BTreeMap;
use std::fmt;

use crate::{Error, Key, Origin, Registry, Value};

/// Values from the command line.
#[derive(Clone, Default)]
pub struct Flags(BTreeMap<Key, Value>);

impl Flags {
    /// Parses `KEY=VALUE` arguments. A later argument replaces an earlier one.
    pub fn parse<'t>(
        registry: &Registry,
        arguments: impl IntoIterator<Item = &'t str>,
    ) -> Result<Flags, Error> {
        let mut flags = BTreeMap::new();
        for argument in arguments {
            let (key, text) = parse_assignment(argument)?;
            let info = registry.look_up(&key)?;
            flags.insert(info.key.clone(), info.read_text(text, Some(&Origin::Flag))?);
        }
        Ok(Flags(flags))
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Value> {
        self.0.get(key)
    }

    /// Keys that have a value.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.0.keys()
    }
}

/// Splits `KEY=VALUE` at the first `=` outside of quotes.
pub fn parse_assignment(argument: &str) -> Result<(Key, &str), Error> {
    let mut quote = None;
    for (index, c) in argument.char_indices() {
        match (c, quote) {
            ('=', None) => return Ok((Key::parse(&argument[..index])?, &argument[index + 1..])),
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
    }
    let shown = argument.split_whitespace().next().unwrap_or_default().to_owned();
    Err(Error::InvalidAssignment { argument: shown })
}

impl fmt::Debug for Flags {
    /// Shows keys only: values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(argument: &str, expected: Option<(&str, &str)>) {
        let found = parse_assignment(argument).ok().map(|(key, text)| (key.to_string(), text));
        assert_eq!(found.as_ref().map(|(key, text)| (key.as_str(), *text)), expected, "{argument}");
    }

    #[test]
    fn arguments_are_split_at_the_first_equals_sign() {
        check("core.format=json", Some(("core.format", "json")));
        check("x.a=b=c", Some(("x.a", "b=c")));
        check("x.a=", Some(("x.a", "")));
        check("x.\"a=b\".'c'=d", Some(("x.\"a=b\".c", "d")));
        check("core.format", None);
        check("=json", None);
        check("x.\"a=b", None);
    }

    #[test]
    fn flags_are_validated_and_redacted() {
        let registry = Registry::standard();
        let parse = |argument| Flags::parse(&registry, [argument]);
        assert!(matches!(parse("core.formt=json"), Err(Error::UnknownKey { .. })));
        assert!(matches!(parse("plan.concurrency=0"), Err(Error::OutOfRange { .. })));
        assert_eq!(
            parse("core.format json").unwrap_err().to_string(),
            "`core.format` is not of the form KEY=VALUE"
        );
        let flags = Flags::parse(&registry, ["server.token=hunter2", "x.a=1", "x.a=2"]).unwrap();
        assert_eq!(format!("{flags:?}"), "{`server.token`, `x.a`}");
        assert_eq!(flags.get(&Key::parse("x.a").unwrap()), Some(&Value::Integer(2)));
    }
}
