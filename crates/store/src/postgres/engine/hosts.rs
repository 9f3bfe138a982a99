//! The servers of a URL, tried one after the other, each with its own time limit.
//!
//! The driver limits only the time in which a server accepts a connection. A server that accepts and
//! does not answer would keep it from trying the next one.

use std::error::Error as StdError;
use std::net::IpAddr;
use std::time::{Duration, Instant};
use std::{fmt, io};

use tokio::net::lookup_host;
use tokio::time::timeout_at;
use tokio_postgres::config::{Host, LoadBalanceHosts};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::{RetryDecision, retry_decision};
use super::url::{self, CONNECT, ServerUrl};

/// The default port.
const PORT: u16 = 5432;

/// Why a server was passed over.
#[derive(Debug)]
pub(crate) enum HostError {
    /// Its name has no address.
    Unknown(io::Error),
    /// It did not answer in time.
    Silent(Duration),
    /// It refused, or the connection broke.
    Failed(tokio_postgres::Error),
}

/// The failures of all servers of a URL.
#[derive(Debug)]
pub(crate) struct HostErrors(Vec<(String, HostError)>);

impl fmt::Display for HostErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (host, error)) in self.0.iter().enumerate() {
            let separator = if number == 0 { "" } else { "; " };
            match error {
                HostError::Unknown(error) => write!(f, "{separator}{host}: {error}")?,
                HostError::Silent(waited) => {
                    write!(f, "{separator}{host} does not answer (waited {:.1} s)", waited.as_secs_f64())?;
                }
                HostError::Failed(error) => {
                    write!(f, "{separator}{host}: {error}")?;
                    // The cause of a single failure is the source of this error.
                    let mut cause = error.source().filter(|_| self.0.len() > 1);
                    while let Some(found) = cause {
                        write!(f, ": {found}")?;
                        cause = found.source();
                    }
                }
            }
        }
        Ok(())
    }
}

impl StdError for HostErrors {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0[..] {
            [(_, HostError::Failed(error))] => error.source(),
            _ => None,
        }
    }
}

/// The error that a failed connection is reported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectFault {
    Unreachable,
    Denied,
    ReadOnly,
}

impl HostErrors {
    /// Decides whether a later attempt may succeed: if one server may be restarting, full, or about to
    /// become the primary.
    pub(crate) fn retry_decision(&self) -> RetryDecision {
        let may_return = |error: &HostError| match error {
            HostError::Unknown(_) => false,
            HostError::Silent(_) => true,
            HostError::Failed(error) => match error.as_db_error() {
                Some(error) => retry_decision(error.code()) == RetryDecision::Later,
                None => is_interrupted(error),
            },
        };
        match self.0.iter().any(|(_, error)| may_return(error)) {
            true => RetryDecision::Later,
            false => RetryDecision::Never,
        }
    }

    /// Tells whether no server answered.
    pub(crate) fn is_silent(&self) -> bool {
        let answered =
            |error: &HostError| matches!(error, HostError::Failed(error) if error.as_db_error().is_some());
        !self.0.iter().any(|(_, error)| answered(error))
    }

    /// A server that denies access decides; a cluster is read-only if all its servers are.
    pub(crate) fn fault(&self) -> ConnectFault {
        let faults: Vec<ConnectFault> = self.0.iter().map(|(_, error)| error.fault()).collect();
        if faults.contains(&ConnectFault::Denied) {
            ConnectFault::Denied
        } else if faults.iter().all(|fault| *fault == ConnectFault::ReadOnly) {
            ConnectFault::ReadOnly
        } else {
            ConnectFault::Unreachable
        }
    }
}

impl HostError {
    fn fault(&self) -> ConnectFault {
        let Self::Failed(error) = self else { return ConnectFault::Unreachable };
        match error.as_db_error() {
            Some(error) if retry_decision(error.code()) == RetryDecision::Later => ConnectFault::Unreachable,
            Some(_) => ConnectFault::Denied,
            None if is_read_only(error) => ConnectFault::ReadOnly,
            // The server asks for a password, and there is none.
            None if error.to_string().starts_with("invalid configuration") => ConnectFault::Denied,
            None => ConnectFault::Unreachable,
        }
    }
}

/// A session, and the task that reads from its socket.
pub(crate) type Opened = (Client, Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>);

/// Connects to the first server that allows writes.
pub(crate) async fn connect(server: &ServerUrl, deadline: Instant) -> Result<Opened, HostErrors> {
    let mut failed = Vec::new();
    let hosts = ServerHost::all(&server.config);
    for (number, host) in hosts.iter().enumerate() {
        let started = Instant::now();
        // Every server gets its share of the time that is left.
        let left = deadline.saturating_duration_since(started);
        let share = left / u32::try_from(hosts.len() - number).unwrap_or(u32::MAX);
        let limit = server.config.get_connect_timeout().copied().unwrap_or(CONNECT).min(share);
        match host.connect(server, started + limit).await {
            Ok(opened) => return Ok(opened),
            Err(error) => failed.push((host.to_string(), error)),
        }
    }
    Err(HostErrors(failed))
}

/// One server of a URL.
struct ServerHost {
    host: Option<Host>,
    address: Option<IpAddr>,
    port: u16,
}

impl fmt::Display for ServerHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.host, self.address) {
            (Some(host), _) => write!(f, "{}:{}", url::host(host), self.port),
            (None, Some(address)) => write!(f, "{address}:{}", self.port),
            (None, None) => Ok(()),
        }
    }
}

impl ServerHost {
    /// Returns the servers in the order in which they are tried.
    fn all(config: &Config) -> Vec<Self> {
        let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
        let one = |number: usize| Self {
            host: hosts.get(number).cloned(),
            address: addresses.get(number).copied(),
            port: ports.get(number).or(ports.first()).copied().unwrap_or(PORT),
        };
        let mut all: Vec<Self> = (0..hosts.len().max(addresses.len())).map(one).collect();
        if config.get_load_balance_hosts() == LoadBalanceHosts::Random {
            let first = super::jitter().as_micros() as usize % all.len().max(1);
            all.rotate_left(first);
        }
        all
    }

    /// Connects to the first of its addresses that answers.
    async fn connect(&self, server: &ServerUrl, deadline: Instant) -> Result<Opened, HostError> {
        let started = Instant::now();
        let silent = || HostError::Silent(started.elapsed());
        let addresses = match (&self.host, self.address) {
            (Some(Host::Tcp(name)), None) => {
                let found = timeout_at(deadline.into(), lookup_host((name.as_str(), self.port))).await;
                let found = found.map_err(|_| silent())?.map_err(HostError::Unknown)?;
                found.map(|address| Some(address.ip())).collect()
            }
            (_, address) => vec![address],
        };
        let (mut last, count) = (None, addresses.len());
        for (number, address) in addresses.into_iter().enumerate() {
            let now = Instant::now();
            let left = deadline.saturating_duration_since(now);
            let limit = now + left / u32::try_from(count - number).unwrap_or(u32::MAX);
            let config = self.config(&server.config, address);
            last = Some(match timeout_at(limit.into(), config.connect(server.tls.connect.clone())).await {
                Ok(Ok(opened)) => return Ok(opened),
                Ok(Err(error)) => HostError::Failed(error),
                Err(_) => silent(),
            });
        }
        let none = || HostError::Unknown(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
        Err(last.unwrap_or_else(none))
    }

    /// Returns the options of a URL for this server alone: the driver cannot remove the others.
    fn config(&self, of: &Config, address: Option<IpAddr>) -> Config {
        let mut config = Config::new();
        of.get_user().map(|user| config.user(user));
        of.get_password().map(|password| config.password(password));
        of.get_dbname().map(|name| config.dbname(name));
        of.get_options().map(|options| config.options(options));
        of.get_application_name().map(|name| config.application_name(name));
        of.get_connect_timeout().map(|limit| config.connect_timeout(*limit));
        of.get_tcp_user_timeout().map(|limit| config.tcp_user_timeout(*limit));
        of.get_keepalives_interval().map(|interval| config.keepalives_interval(interval));
        of.get_keepalives_retries().map(|retries| config.keepalives_retries(retries));
        config
            .ssl_mode(of.get_ssl_mode())
            .ssl_negotiation(of.get_ssl_negotiation())
            .keepalives(of.get_keepalives())
            .keepalives_idle(of.get_keepalives_idle())
            .target_session_attrs(of.get_target_session_attrs())
            .channel_binding(of.get_channel_binding())
            .port(self.port);
        match &self.host {
            Some(Host::Tcp(name)) => _ = config.host(name),
            #[cfg(unix)]
            Some(Host::Unix(path)) => _ = config.host_path(path),
            None => {}
        }
        address.map(|address| config.hostaddr(address));
        config
    }
}

/// Tells whether a connection broke or was refused below the protocol: the server may be restarting.
/// An invalid certificate or configuration stays invalid.
fn is_interrupted(error: &tokio_postgres::Error) -> bool {
    error.is_closed() || io_cause(error).is_some_and(|cause| cause.kind() != io::ErrorKind::InvalidData)
}

/// Detects a server without a writable session: the driver has no code for it, only this cause.
fn is_read_only(error: &tokio_postgres::Error) -> bool {
    io_cause(error).is_some_and(|cause| cause.to_string().contains("does not allow writes"))
}

fn io_cause(error: &tokio_postgres::Error) -> Option<&io::Error> {
    let mut cause = error.source();
    while let Some(found) = cause {
        if let Some(found) = found.downcast_ref::<io::Error>() {
            return Some(found);
        }
        cause = found.source();
    }
    None
}
