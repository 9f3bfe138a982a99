//! A cluster of three Patroni nodes and an etcd, on loopback, in a temporary folder.

#![expect(clippy::disallowed_methods, reason = "plays the person who sets up machines")]

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use testkit::postgres::{as_other, own};

use crate::Result;
use crate::node::Node;

/// Guard against waiting for ever until the cluster is complete.
const WHOLE_MAX: Duration = Duration::from_secs(240);

/// Waits for the end of its input, then kills all processes of the folder: the cluster ends with
/// this process, however that ends.
const KEEPER: &str = r#"
trap '' INT TERM
cat >/dev/null
for again in 1 2 3; do
    for process in /proc/[0-9]*; do
        case "$(readlink "$process/cwd")" in "$1" | "$1"/*) kill -KILL "${process#/proc/}" ;; esac
    done
    sleep 0.2
done 2>/dev/null
rm -rf "$1"
"#;

/// Tells whether a commit waits for a standby.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replication {
    Synchronous,
    Asynchronous,
}

pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Node>,
    replication: Replication,
    _etcd: Child,
    keeper: Child,
    input: Option<ChildStdin>,
    _folder: TempDir,
}

impl Cluster {
    /// Starts a cluster, and waits until it is complete.
    pub(crate) fn start(replication: Replication) -> Result<Self> {
        let folder = TempDir::new()?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "keeper"]).arg(folder.path()).current_dir("/").stdin(Stdio::piped());
        let mut keeper = keeper.spawn()?;
        let input = keeper.stdin.take();
        let (port, etcd) = start_etcd(&folder)?;
        let names = ["one", "two", "three"];
        let nodes = names.iter().map(|name| Node::new(folder.path(), name, port, replication));
        let nodes = nodes.collect::<Result<_>>()?;
        let mut cluster = Self { nodes, replication, _etcd: etcd, keeper, input, _folder: folder };
        for node in &mut cluster.nodes {
            node.start()?;
        }
        cluster.wait_until_whole()?;
        Ok(cluster)
    }

    /// Waits until one node accepts writes, two follow it, and etcd knows one of them as
    /// synchronous. Returns the primary.
    pub(crate) fn wait_until_whole(&self) -> Result<usize> {
        let started = Instant::now();
        loop {
            if let Some(primary) = self.primary()
                && self.is_whole(&self.nodes[primary])
            {
                return Ok(primary);
            }
            if started.elapsed() > WHOLE_MAX {
                let logs: Vec<String> = self.nodes.iter().map(Node::log).collect();
                return Err(format!("the cluster does not become whole:\n{}", logs.join("\n")).into());
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    fn primary(&self) -> Option<usize> {
        let takes_writes = |node: &Node| node.ask("SELECT pg_is_in_recovery()").as_deref() == Some("f");
        self.nodes.iter().position(takes_writes)
    }

    fn is_whole(&self, primary: &Node) -> bool {
        // A standby that is still being created streams, too, under the name of `pg_basebackup`.
        let follow =
            "SELECT count(*) FILTER (WHERE state = 'streaming'), count(*) FILTER (WHERE sync_state = 'sync')
                      FROM pg_stat_replication WHERE application_name <> 'pg_basebackup'";
        let followed = primary.ask(follow);
        match self.replication {
            Replication::Asynchronous => followed.as_deref() == Some("2|0"),
            Replication::Synchronous => {
                let agreed = primary.ask_patroni("/cluster");
                followed.as_deref() == Some("2|1")
                    && agreed.is_some_and(|cluster| cluster.contains("sync_standby"))
            }
        }
    }

    /// The URL of all three nodes.
    pub(crate) fn url(&self) -> String {
        let hosts: Vec<String> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        let options = "sslmode=disable&target_session_attrs=read-write";
        format!("postgres://postgres@{}/postgres?{options}", hosts.join(","))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.keeper.wait();
        let _ = self._etcd.wait();
    }
}

fn start_etcd(folder: &TempDir) -> Result<(u16, Child)> {
    let place = folder.path().join("etcd");
    fs::create_dir(&place)?;
    let place = own(place)?;
    let (client, peer) = (free_port()?, free_port()?);
    let (clients, peers) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
    let log = File::create(place.join("log"))?;
    let mut command = as_other();
    command.args(["etcd", "--name", "only", "--data-dir", "data"]);
    command.args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients]);
    command.args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers]);
    command.args(["--initial-cluster", &format!("only={peers}")]).current_dir(&place);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    Ok((client, command.spawn()?))
}

pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
