//! Where the store is: a URL as `psql` takes it, read once.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::password::{self, PasswordFile};
use super::tls::{Tls, Trust};
use crate::{Error, Result};

/// How long a host may take to accept a connection, unless the URL says otherwise.
const CONNECT: Duration = Duration::from_secs(5);
/// From when on a silent connection is probed.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// A server, or several of which one allows writes; and how to speak to it.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) config: Config,
    pub(crate) tls: Tls,
    /// The URL without its password and options.
    pub(crate) place: PathBuf,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.place).finish()
    }
}

impl Target {
    /// Reads a URL. A password that it does not have is `password`, or looked up in `passfile`.
    pub(crate) fn parse(url: &str, password: Option<&str>, passfile: Option<&PasswordFile>) -> Result<Self> {
        let (rest, security) = Security::split(url)?;
        let mut config: Config = rest.parse().map_err(|error| bad(describe(&error)))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(bad("it names no host".to_owned()));
        }
        if config.get_dbname().is_none() {
            return Err(bad("it names no database".to_owned()));
        }
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.keepalives_idle(KEEPALIVE);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_application_name().is_none() {
            config.application_name("agents");
        }
        let (mode, trust) = security.modes()?;
        config.ssl_mode(mode);
        if config.get_password().is_none() {
            let found = match (password, passfile) {
                (Some(password), _) => Some(password.to_owned()),
                (None, Some(file)) => password::look_up(file, &config)?,
                (None, None) => None,
            };
            found.map(|password| config.password(password));
        }
        let place = PathBuf::from(place(&config));
        let tls = Tls::new(trust)?;
        Ok(Self { config, tls, place })
    }
}

/// What a URL says about encryption, which the driver knows only in part.
struct Security {
    mode: Option<String>,
    root: Option<String>,
}

impl Security {
    /// The URL without it.
    fn split(url: &str) -> Result<(String, Self)> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(bad("it does not begin with `postgres://`".to_owned()));
        }
        let mut security = Self { mode: None, root: None };
        let Some((base, options)) = url.split_once('?') else { return Ok((url.to_owned(), security)) };
        let mut rest = Vec::new();
        for option in options.split('&') {
            match option.split_once('=') {
                Some(("sslmode", mode)) => security.mode = Some(mode.to_owned()),
                Some(("sslrootcert", path)) => security.root = Some(path.replace("%2F", "/")),
                _ => rest.push(option),
            }
        }
        let mark = if rest.is_empty() { "" } else { "?" };
        Ok((format!("{base}{mark}{}", rest.join("&")), security))
    }

    fn modes(self) -> Result<(SslMode, Trust)> {
        let root = self.root.map(PathBuf::from);
        Ok(match self.mode.as_deref() {
            Some("disable") => (SslMode::Disable, Trust::Anybody),
            None | Some("prefer") => (SslMode::Prefer, Trust::Anybody),
            Some("require") => (SslMode::Require, Trust::Anybody),
            Some("verify-full") => (SslMode::Require, Trust::Certified { root }),
            Some(_) => {
                let known = "`sslmode` is none of disable, prefer, require, verify-full";
                return Err(bad(known.to_owned()));
            }
        })
    }
}

pub(crate) fn bad(reason: String) -> Error {
    Error::Url { reason }
}

/// What the driver does not like, without the values: one of them may be a password.
fn describe(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// How people see where the store is.
fn place(config: &Config) -> String {
    let hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
    let hosts = if hosts.is_empty() {
        config.get_hostaddrs().iter().map(ToString::to_string).collect()
    } else {
        hosts
    };
    let ports = config.get_ports();
    let with_port = |(number, host): (usize, &String)| match ports.get(number).or(ports.first()) {
        Some(port) => format!("{host}:{port}"),
        None => host.clone(),
    };
    let hosts: Vec<String> = hosts.iter().enumerate().map(with_port).collect();
    let user = config.get_user().map_or_else(String::new, |user| format!("{user}@"));
    format!("postgres://{user}{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

pub(crate) fn host(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Target> {
        Target::parse(url, None, None)
    }

    #[test]
    fn a_url_is_shown_without_its_password() {
        let target = parse("postgres://ana:secret@one:5433,two:5434/agents?connect_timeout=3").unwrap();
        assert_eq!(target.place.to_str().unwrap(), "postgres://ana@one:5433,two:5434/agents");
        assert!(!format!("{target:?}").contains("secret"));
        assert_eq!(target.config.get_connect_timeout(), Some(&Duration::from_secs(3)));
        let socket = parse("postgresql://ana@%2Frun%2Fpostgresql/agents").unwrap();
        assert_eq!(socket.place.to_str().unwrap(), "postgres://ana@/run/postgresql:5432/agents");
        let address = parse("postgres:///agents?hostaddr=127.0.0.1&port=7").unwrap();
        assert_eq!(address.place.to_str().unwrap(), "postgres://127.0.0.1:7/agents");
    }

    #[test]
    fn a_password_comes_from_the_url_first() {
        let password = |url: &str| {
            let target = Target::parse(url, Some("other"), None).unwrap();
            String::from_utf8(target.config.get_password().unwrap().to_vec()).unwrap()
        };
        assert_eq!(password("postgres://ana:secret@one/agents"), "secret");
        assert_eq!(password("postgres://ana@one/agents"), "other");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (url, reason) in [
            ("mysql://one/agents", "it does not begin with `postgres://`"),
            ("postgres://ana:secret@/agents", "it names no host"),
            ("postgres://ana:secret@one", "it names no database"),
            ("postgres://ana:secret@one:no/agents", "invalid value for option `port`"),
            ("postgres://ana:secret@one/agents?speed=3", "unknown option `speed`"),
            (
                "postgres://one/agents?sslmode=maybe",
                "`sslmode` is none of disable, prefer, require, verify-full",
            ),
        ] {
            let error = parse(url).unwrap_err();
            assert_eq!(error.code(), "store-url");
            let Error::Url { reason: found } = &error else { panic!("{error}") };
            assert_eq!(found, reason);
            assert!(!format!("{error} {error:?}").contains("secret"));
        }
    }

    #[test]
    fn encryption_is_as_the_url_says() {
        let mode = |mode: &str| {
            let target = parse(&format!("postgres://one/agents?sslmode={mode}&connect_timeout=1")).unwrap();
            (target.config.get_ssl_mode(), target.tls.is_verified())
        };
        assert_eq!(mode("disable"), (SslMode::Disable, false));
        assert_eq!(mode("prefer"), (SslMode::Prefer, false));
        assert_eq!(mode("require"), (SslMode::Require, false));
        assert_eq!(parse("postgres://one/agents").unwrap().config.get_ssl_mode(), SslMode::Prefer);
    }
}
