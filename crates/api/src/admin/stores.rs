//! The store as a whole: location, contents, copy.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use store::{PostgresOptions, RowCounts, SqliteOptions, Transfer};

use crate::agents::has_password;
use crate::problem::text;
use crate::{Agents, Error};

/// Default store, below the home folder.
const FILE: &str = "state.db";

/// Location of a store.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum StoreLocation {
    /// SQLite file.
    File(PathBuf),
    /// URL of a PostgreSQL database; may hold a password.
    Server(String),
}

impl StoreLocation {
    fn parse(url: &str) -> Result<Self, Error> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Self::Server(url.to_owned()));
        }
        let named = url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")).unwrap_or(url);
        let path = PathBuf::from(named);
        if path.is_absolute() {
            return Ok(Self::File(path));
        }
        let scheme = url.split_once(':').map_or("(none)", |(scheme, _)| scheme).to_owned();
        Err(Error::StoreUrl { scheme })
    }
}

/// Passwords for servers, from the environment.
#[derive(Clone, Default)]
pub(crate) struct Passwords {
    password: Option<String>,
    file: Option<PathBuf>,
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passwords").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Passwords {
    /// Reads `PGPASSWORD` and `PGPASSFILE`, as `psql` does.
    pub(crate) fn of(variables: &[(OsString, OsString)]) -> Self {
        let variable = |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let password = variable("PGPASSWORD").and_then(|value| value.to_str()).map(str::to_owned);
        Self { password, file: variable("PGPASSFILE").map(PathBuf::from) }
    }
}

/// A store and its size.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct StoreState {
    /// `sqlite` or `postgres`.
    pub kind: &'static str,
    /// Location, without a password.
    pub place: String,
    /// Schema version of its tables.
    pub schema: u32,
    /// Number of records of each kind.
    #[serde(flatten)]
    pub counts: RowCounts,
}

impl Agents {
    /// Location of the store: `store.url`, or a file in the home folder.
    pub(crate) fn store_location(&self) -> Result<StoreLocation, Error> {
        match self.settings().store_url()? {
            Some(url) => StoreLocation::parse(&url),
            None => Ok(StoreLocation::File(self.home()?.join(FILE))),
        }
    }

    /// Opens a store; creates one that does not exist.
    pub(crate) fn open_store(&self, location: &StoreLocation) -> Result<Arc<dyn Transfer>, Error> {
        let wait = self.wait().timeout;
        let opened: store::Result<Arc<dyn Transfer>> = match location {
            StoreLocation::File(path) => {
                SqliteOptions::default().timeout(wait).open(path).map(|store| Arc::new(store) as _)
            }
            StoreLocation::Server(url) => {
                let Passwords { password, file } = self.passwords().clone();
                let options = PostgresOptions::default().timeout(wait).wait(self.settings().store_wait()?);
                options.password(password).passfile(file).open(url).map(|store| Arc::new(store) as _)
            }
        };
        Ok(opened.map_err(plan::Error::from)?)
    }

    /// Describes the store. Creates one that does not exist, and migrates its tables.
    pub fn store(&self) -> Result<StoreState, Error> {
        let location = self.store_location()?;
        self.state(&location)
    }

    fn state(&self, location: &StoreLocation) -> Result<StoreState, Error> {
        let store = self.open_store(location)?;
        let kind = match location {
            StoreLocation::File(_) => "sqlite",
            StoreLocation::Server(_) => "postgres",
        };
        let schema = store.schema_version().map_err(plan::Error::from)?;
        let counts = RowCounts::of(&*store).map_err(plan::Error::from)?;
        Ok(StoreState { kind, place: store.location(), schema, counts })
    }

    /// Copies a store into another that is empty or holds an interrupted copy. Returns the copy.
    pub fn copy_store(&self, from: &str, to: &str) -> Result<StoreState, Error> {
        let [from, to] = [("--from", from), ("--to", to)].map(|(flag, url)| self.given_location(flag, url));
        let (from, to) = (from?, to?);
        if let StoreLocation::File(path) = &from
            && !path.exists()
        {
            let source = std::io::ErrorKind::NotFound.into();
            return Err(Error::File { action: "copy", path: path.clone(), source });
        }
        let (source, target) = (self.open_store(&from)?, self.open_store(&to)?);
        store::copy(&*source, &*target).map_err(plan::Error::from)?;
        self.state(&to)
    }

    /// Parses a location from the command line. Refuses a password, as other users can see arguments.
    fn given_location(&self, flag: &'static str, url: &str) -> Result<StoreLocation, Error> {
        if has_password(url) {
            return Err(Error::PasswordArgument { flag });
        }
        match StoreLocation::parse(url) {
            // A plain path is a file.
            Err(_) if !url.contains(':') => Ok(StoreLocation::File(self.absolute(url.as_ref()))),
            location => location,
        }
    }
}

/// Leaves out user, password and options.
impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.write_str(&text(path)),
            Self::Server(url) => write!(f, "postgres://{}", servers(url)),
        }
    }
}

/// Returns servers and database of a URL. A password may hold any character, so everything up to the
/// last `@` is left out.
fn servers(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
    // Without a database, the question mark is part of a password.
    if !rest.contains('/') && options.contains('@') {
        return "";
    }
    rest.rsplit_once('@').map_or(rest, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_password_is_shown() {
        for url in
            ["postgres://ana:se@cret/x@host:1/db?password=more", "postgresql://host:1/db?sslmode=require"]
        {
            assert_eq!(StoreLocation::parse(url).unwrap().to_string(), "postgres://host:1/db");
        }
        for (url, shown) in [
            ("postgres://ana:se?cret@host/db", "postgres://"),
            ("postgres://host/db?password=se@cret", "postgres://host/db"),
        ] {
            assert_eq!(StoreLocation::parse(url).unwrap().to_string(), shown);
        }
        let variables =
            [("PGPASSWORD", "secret"), ("PGPASSFILE", "/f")].map(|(name, value)| (name.into(), value.into()));
        let shown = format!("{:?}", Passwords::of(&variables));
        assert!(!shown.contains("secret") && shown.contains("/f"), "{shown}");
    }
}
