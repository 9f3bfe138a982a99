//! Environment variables, passed by the caller. This crate never reads the process environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::Error;

/// Environment variables by name.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// Returns an environment without variables.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Returns the value of a variable. An empty variable counts as set.
    pub fn get(&self, name: &str) -> Result<Option<&str>, Error> {
        let Some(value) = self.0.get(OsStr::new(name)) else { return Ok(None) };
        match value.to_str() {
            Some(value) => Ok(Some(value)),
            None => Err(Error::VariableNotUtf8 { variable: name.to_owned() }),
        }
    }
}

/// Collects `std::env::vars_os`, or pairs of text.
impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl std::fmt::Debug for Environment {
    /// Shows names only: values may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_by_name() {
        let environment = Environment::from_iter([("A", "1"), ("B", "")]);
        assert_eq!(environment.get("A").unwrap(), Some("1"));
        assert_eq!(environment.get("B").unwrap(), Some(""));
        assert_eq!(environment.get("C").unwrap(), None);
        assert_eq!(Environment::empty().get("A").unwrap(), None);
        assert_eq!(format!("{environment:?}"), "{\"A\", \"B\"}");
    }

    #[cfg(unix)]
    #[test]
    fn a_non_utf8_variable_is_an_error_when_read() {
        use std::os::unix::ffi::OsStringExt;
        let environment = Environment::from_iter([("A", OsString::from_vec(vec![0xff]))]);
        assert!(matches!(environment.get("A"), Err(Error::VariableNotUtf8 { .. })));
        assert_eq!(environment.get("B").unwrap(), None);
    }
}
