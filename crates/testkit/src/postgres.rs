//! A real PostgreSQL server for tests: in a temporary folder, on loopback, with `fsync` on.
//!
//! All tests of an executable share one server, each with its own database. A shell supervises the
//! server and waits for the end of its input, so that the server ends and its folder is removed
//! with the process of the tests, however that ends.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Guard against waiting for ever for the start.
const START_MAX: Duration = Duration::from_secs(120);
/// Pause between readiness checks.
const ASK: Duration = Duration::from_millis(20);

/// Creates the server's files, or copies them from the server at port $4, starts the server, and
/// stops it when the input ends.
const KEEPER: &str = r#"
trap '' INT TERM
cd "$1"
if [ -n "$4" ]; then
    "$3/pg_basebackup" -D data -h 127.0.0.1 -p "$4" -U postgres -R --checkpoint=fast --no-sync >log 2>&1 || { cat log >&2; exit 1; }
else
    "$3/initdb" -D data -A trust -U postgres -E UTF8 --locale=C --no-sync >log 2>&1 || { cat log >&2; exit 1; }
    { echo 'host all strict 127.0.0.1/32 scram-sha-256'; cat data/pg_hba.conf; } >hba && cat hba >data/pg_hba.conf
    openssl req -new -x509 -days 2 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE \
        -keyout data/server.key -out data/server.crt >>log 2>&1 || { cat log >&2; exit 1; }
    chmod 600 data/server.key
fi
port="$2"; bin="$3"; folder="$1"; shift 4
"$bin/postgres" -D data -p "$port" -c ssl=on -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=on \
    -c max_connections=200 -c shared_buffers=32MB -c log_min_messages=fatal "$@" >>log 2>&1 &
server=$!
cat >/dev/null
kill -QUIT "$server" 2>/dev/null
wait "$server"
cd / && rm -rf "$folder" 2>/dev/null
"#;

/// A running server.
#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    port: u16,
    programs: PathBuf,
    keeper: Child,
    /// Closing it stops the server.
    input: Option<ChildStdin>,
}

/// Returns the server of this executable. The error is the reason for which this machine has none.
pub fn server() -> Result<&'static Server, String> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(&[])).as_ref().map_err(Clone::clone)
}

impl Server {
    /// Starts a server with these settings, `name=value`, with its files in memory if possible.
    pub fn start(settings: &[&str]) -> Result<Self, String> {
        Self::start_with(settings, None, || Ok(crate::folder::scratch().keep()))
    }

    /// Starts a standby of this server.
    pub fn standby(&self) -> Result<Self, String> {
        Self::start_with(&[], Some(self.port), || Ok(crate::folder::scratch().keep()))
    }

    /// Starts a server with its files in a folder that its user can reach.
    pub fn start_in(place: &Path, settings: &[&str]) -> Result<Self, String> {
        let made = || tempfile::tempdir_in(place).map(tempfile::TempDir::keep);
        Self::start_with(settings, None, || made().map_err(|error| error.to_string()))
    }

    fn start_with(
        settings: &[&str],
        primary: Option<u16>,
        make: impl Fn() -> Result<PathBuf, String>,
    ) -> Result<Self, String> {
        let programs = programs().ok_or("there is no PostgreSQL: sudo apt-get install postgresql")?;
        // Another process may take the port first; retry with another one.
        let mut last = String::new();
        for _ in 0..3 {
            match Self::start_once(&programs, settings, primary, own(make()?)?) {
                Ok(server) => return Ok(server),
                Err(reason) => last = reason,
            }
        }
        Err(last)
    }

    fn start_once(
        programs: &Path,
        settings: &[&str],
        primary: Option<u16>,
        folder: PathBuf,
    ) -> Result<Self, String> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        drop(listener);
        let mut command = as_other();
        let primary = primary.map_or_else(String::new, |port| port.to_string());
        command.args(["sh", "-c", KEEPER, "keeper"]).arg(&folder);
        command.arg(port.to_string()).arg(programs).arg(primary);
        command.args(settings.iter().flat_map(|setting| ["-c", setting]));
        let mut keeper = command
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start {command:?}: {error}"))?;
        let input = keeper.stdin.take();
        let mut server = Self { folder, port, programs: programs.to_owned(), keeper, input };
        let started = Instant::now();
        while !server.is_ready() {
            let ended = server.keeper.try_wait().is_ok_and(|ended| ended.is_some());
            if ended || started.elapsed() > START_MAX || server.has_failed() {
                let log = fs::read_to_string(server.folder.join("log")).unwrap_or_default();
                return Err(format!("PostgreSQL does not start: {log}"));
            }
            thread::sleep(ASK);
        }
        Ok(server)
    }

    fn is_ready(&self) -> bool {
        let mut ask = Command::new(self.programs.join("pg_isready"));
        ask.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "postgres", "-d", "postgres"]);
        ask.status().is_ok_and(|status| status.success())
    }

    fn has_failed(&self) -> bool {
        fs::read_to_string(self.folder.join("log")).is_ok_and(|log| log.contains("FATAL:  could not"))
    }

    /// Returns the port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the process id.
    pub fn process(&self) -> u32 {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).expect("it runs");
        file.lines().next().and_then(|line| line.parse().ok()).expect("its first line is its id")
    }

    /// Returns the folder of the server's programs.
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// Creates an empty database, and returns its name.
    pub fn database(&self) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// Returns the URL of a database, without encryption.
    pub fn url(&self, database: &str) -> String {
        self.url_of("postgres", database)
    }

    /// Returns the URL for another user. The user `strict` needs a password.
    pub fn url_of(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// Returns the certificate for `localhost`.
    pub fn certificate(&self) -> PathBuf {
        self.folder.join("data/server.crt")
    }

    /// Runs statements as the owner of the server, and returns their output.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        self.psql(database, |command| command.args(["-c", sql]))
    }

    /// Runs the statements of a file, such as a dump.
    pub fn sql_file(&self, database: &str, file: &Path) -> String {
        self.psql(database, |command| command.arg("-f").arg(file))
    }

    fn psql(&self, database: &str, add: impl FnOnce(&mut Command) -> &mut Command) -> String {
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", &self.url(database)]);
        let output = add(&mut command).output().expect("psql starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.keeper.wait();
        // The server's user may not be able to remove the folder from its parent.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the folder of the newest installed server.
pub fn programs() -> Option<PathBuf> {
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = debian.map(|entry| entry.path().join("bin")).collect();
    folders.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let elsewhere = std::env::split_paths(&path);
    folders.into_iter().rev().chain(elsewhere).find(|folder| {
        ["postgres", "initdb", "psql", "pg_isready"].iter().all(|name| folder.join(name).is_file())
    })
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns a command prefix that drops root, since the server refuses to run as root.
pub fn as_other() -> Command {
    let mut command = Command::new(if is_root() { "setpriv" } else { "env" });
    if is_root() {
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]);
    }
    command
}

/// Gives a folder to the user of the server.
pub fn own(folder: PathBuf) -> Result<PathBuf, String> {
    if is_root() {
        let own = Command::new("chown").arg("postgres:postgres").arg(&folder).status();
        if !own.is_ok_and(|status| status.success()) {
            let _ = fs::remove_dir(&folder);
            return Err("there is no user `postgres` to run the server as".to_owned());
        }
    }
    Ok(folder)
}
