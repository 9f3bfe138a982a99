//! Access through a pooler in transaction mode.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use store::{PostgresStore, Store};
use testkit::folder::scratch;
use testkit::report::{figure, skipped};
use testkit::store_conformance;

use super::server_or_skip;

/// Guard against waiting for ever.
const START_MAX: Duration = Duration::from_secs(60);

struct Pooler(Child);

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_store_works_through_a_pooler_in_transaction_mode() {
    let Some(server) = server_or_skip("postgres-pooler") else { return };
    let Some(program) = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
        .map(PathBuf::from)
        .into_iter()
        .find(|file| file.is_file())
    else {
        return skipped("postgres-pooler", "there is no pgbouncer: sudo apt-get install pgbouncer");
    };
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let folder = scratch();
    let (users, settings) = (folder.path().join("users"), folder.path().join("settings.ini"));
    fs::write(&users, "\"postgres\" \"\"\n").unwrap();
    let text = format!(
        "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
         auth_type = trust\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 200\n",
        server.port(),
        users.display()
    );
    fs::write(&settings, text).unwrap();
    let mut command = Command::new("setpriv");
    if Command::new("id").arg("-u").output().unwrap().stdout == b"0\n" {
        let chown = Command::new("chown").args(["-R", "postgres"]).arg(folder.path()).status();
        assert!(chown.unwrap().success());
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]);
    }
    command.arg(program).arg(&settings).stdout(Stdio::null()).stderr(Stdio::null());
    let _pooler = Pooler(command.spawn().unwrap());
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(started.elapsed() < START_MAX, "the pooler does not start");
        thread::sleep(Duration::from_millis(20));
    }
    let cases = store_conformance::run(|| {
        let url = format!("postgres://postgres@127.0.0.1:{port}/{}?sslmode=disable", server.database());
        let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&url).unwrap());
        store
    });
    figure("rules of the store that PostgreSQL keeps behind a pooler", cases);
}
