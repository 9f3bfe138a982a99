//! The URL of the store, in the format of `psql`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::password::{self, PasswordFile};
use super::tls::{Tls, Trust};
use crate::{Error, Result};

/// Default time limit for connecting to one host.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);
/// Idle time after which TCP keepalive probes start.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// One or more servers, of which one allows writes, and how to connect.
#[derive(Clone)]
pub(crate) struct ServerUrl {
    pub(crate) config: Config,
    pub(crate) tls: Tls,
    /// The URL without password and options.
    pub(crate) location: PathBuf,
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerUrl").field(&self.location).finish()
    }
}

impl ServerUrl {
    /// Parses a URL. If it has no password, `password` is used, or else the one in `passfile`.
    pub(crate) fn parse(url: &str, password: Option<&str>, passfile: Option<&PasswordFile>) -> Result<Self> {
        check_password_is_encoded(url)?;
        let (rest, security) = Security::split(url)?;
        let mut config: Config = rest.parse().map_err(|error| invalid_url(describe(&error)))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(invalid_url("it names no host".to_owned()));
        }
        if config.get_dbname().is_none() {
            return Err(invalid_url("it names no database".to_owned()));
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
        let location = PathBuf::from(location(&config));
        let tls = Tls::new(trust)?;
        Ok(Self { config, tls, location })
    }
}

/// Refuses a password with characters that end it: the rest would be taken, and shown, as a server or an
/// option.
fn check_password_is_encoded(url: &str) -> Result<()> {
    let (servers, options) = url.split_once('?').unwrap_or((url, ""));
    let servers = servers.split_once("://").map_or(servers, |(_, servers)| servers);
    let is_cut = !servers.contains('/') && options.contains('@');
    if is_cut || servers.matches('@').count() > 1 {
        let reason = "write `@` in a password as `%40`, and `?` as `%3F`";
        return Err(invalid_url(reason.to_owned()));
    }
    Ok(())
}

/// The encryption options of a URL, which the driver supports only in part.
struct Security {
    mode: Option<String>,
    root: Option<String>,
}

impl Security {
    /// Splits the encryption options off a URL.
    fn split(url: &str) -> Result<(String, Self)> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(invalid_url("it does not begin with `postgres://`".to_owned()));
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
            Some("disable") => (SslMode::Disable, Trust::Any),
            None | Some("prefer") => (SslMode::Prefer, Trust::Any),
            Some("require") => (SslMode::Require, Trust::Any),
            Some("verify-full") => (SslMode::Require, Trust::Verified { root }),
            Some(_) => {
                let reason = "`sslmode` must be disable, prefer, require or verify-full";
                return Err(invalid_url(reason.to_owned()));
            }
        })
    }
}

pub(crate) fn invalid_url(reason: String) -> Error {
    Error::Url { reason }
}

/// Describes an error of the driver without values, since one may be a password.
fn describe(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Formats the URL for people.
fn location(config: &Config) -> String {
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

    fn parse(url: &str) -> Result<ServerUrl> {
        ServerUrl::parse(url, None, None)
    }

    #[test]
    fn a_url_is_shown_without_its_password() {
        let server = parse("postgres://ana:secret@one:5433,two:5434/agents?connect_timeout=3").unwrap();
        assert_eq!(server.location.to_str().unwrap(), "postgres://ana@one:5433,two:5434/agents");
        assert!(!format!("{server:?}").contains("secret"));
        assert_eq!(server.config.get_connect_timeout(), Some(&Duration::from_secs(3)));
        let socket = parse("postgresql://ana@%2Frun%2Fpostgresql/agents").unwrap();
        assert_eq!(socket.location.to_str().unwrap(), "postgres://ana@/run/postgresql:5432/agents");
        let address = parse("postgres:///agents?hostaddr=127.0.0.1&port=7").unwrap();
        assert_eq!(address.location.to_str().unwrap(), "postgres://127.0.0.1:7/agents");
    }

    #[test]
    fn a_password_in_the_url_takes_precedence() {
        let password = |url: &str| {
            let server = ServerUrl::parse(url, Some("other"), None).unwrap();
            String::from_utf8(server.config.get_password().unwrap().to_vec()).unwrap()
        };
        assert_eq!(password("postgres://ana:secret@one/agents"), "secret");
        assert_eq!(password("postgres://ana@one/agents"), "other");
    }

    #[test]
    fn errors_do_not_contain_the_password() {
        for (url, reason) in [
            ("mysql://one/agents", "it does not begin with `postgres://`"),
            ("postgres://ana:secret@/agents", "it names no host"),
            ("postgres://ana:secret@one", "it names no database"),
            ("postgres://ana:secret@one:no/agents", "invalid value for option `port`"),
            ("postgres://ana:secret@one/agents?speed=3", "unknown option `speed`"),
            ("postgres://ana:a@secret@one/agents", "write `@` in a password as `%40`, and `?` as `%3F`"),
            ("postgres://ana:a?secret@one/agents", "write `@` in a password as `%40`, and `?` as `%3F`"),
            ("postgres://ana:a?x=secret@one/agents", "write `@` in a password as `%40`, and `?` as `%3F`"),
            (
                "postgres://one/agents?sslmode=maybe",
                "`sslmode` must be disable, prefer, require or verify-full",
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
    fn sslmode_selects_the_encryption() {
        let mode = |mode: &str| {
            let server = parse(&format!("postgres://one/agents?sslmode={mode}&connect_timeout=1")).unwrap();
            (server.config.get_ssl_mode(), server.tls.is_verified())
        };
        assert_eq!(mode("disable"), (SslMode::Disable, false));
        assert_eq!(mode("prefer"), (SslMode::Prefer, false));
        assert_eq!(mode("require"), (SslMode::Require, false));
        assert_eq!(parse("postgres://one/agents").unwrap().config.get_ssl_mode(), SslMode::Prefer);
    }
}
