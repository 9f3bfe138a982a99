//! A node of the cluster: Patroni and its PostgreSQL, in one folder.

#![expect(clippy::disallowed_methods, reason = "plays the person who sets up a machine")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use testkit::postgres::{as_other, own, programs};

use crate::Result;
use crate::cluster::{Replication, free_port};

pub(crate) struct Node {
    name: String,
    folder: PathBuf,
    pub(crate) port: u16,
    rest: u16,
    patroni: Option<Child>,
}

impl Node {
    /// Sets up a node that uses this etcd.
    pub(crate) fn new(folder: &Path, name: &str, etcd: u16, replication: Replication) -> Result<Self> {
        let folder = folder.join(name);
        fs::create_dir(&folder)?;
        let folder = own(folder)?;
        let (port, rest) = (free_port()?, free_port()?);
        let node = Self { name: name.to_owned(), folder, port, rest, patroni: None };
        fs::write(node.folder.join("patroni.yml"), node.settings(etcd, replication)?)?;
        Ok(node)
    }

    /// As the documentation of Patroni advises, with shorter times.
    fn settings(&self, etcd: u16, replication: Replication) -> Result<String> {
        let Self { name, folder, port, rest, .. } = self;
        let (folder, bin) = (folder.display(), programs().ok_or("there is no PostgreSQL")?);
        let synchronous = replication == Replication::Synchronous;
        Ok(format!(
            "scope: agents
name: {name}
restapi: {{listen: '127.0.0.1:{rest}', connect_address: '127.0.0.1:{rest}'}}
etcd3: {{hosts: '127.0.0.1:{etcd}'}}
bootstrap:
  dcs:
    ttl: 6
    loop_wait: 1
    retry_timeout: 2
    maximum_lag_on_failover: 1073741824
    synchronous_mode: {synchronous}
    postgresql:
      use_pg_rewind: true
      parameters: {{wal_log_hints: 'on', max_connections: 100, wal_keep_size: 256MB}}
  initdb: [{{encoding: UTF8}}, {{locale: C}}, {{auth: trust}}]
  pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
postgresql:
  listen: 127.0.0.1:{port}
  connect_address: 127.0.0.1:{port}
  data_dir: {folder}/data
  bin_dir: {bin}
  pgpass: {folder}/pgpass
  remove_data_directory_on_rewind_failure: true
  remove_data_directory_on_diverged_timelines: true
  authentication:
    superuser: {{username: postgres}}
    replication: {{username: postgres}}
    rewind: {{username: postgres}}
  basebackup: [{{checkpoint: fast}}]
  parameters: {{unix_socket_directories: '', fsync: 'on', shared_buffers: 32MB}}
watchdog: {{mode: 'off'}}
",
            bin = bin.display()
        ))
    }

    /// Starts the node, also after it was killed.
    pub(crate) fn start(&mut self) -> Result<()> {
        let log = File::options().create(true).append(true).open(self.folder.join("log"))?;
        let mut command = as_other();
        command.args(["patroni", "patroni.yml"]).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.patroni = Some(command.spawn()?);
        Ok(())
    }

    /// Kills all processes of the node at once.
    pub(crate) fn kill(&mut self) -> Result<()> {
        while let ids @ [_, ..] = &processes(&self.folder, "")[..] {
            signal("KILL", ids)?;
            // Reap the process.
            if let Some(mut patroni) = self.patroni.take() {
                patroni.wait()?;
            }
        }
        Ok(())
    }

    /// Stops the processes that stream the write-ahead log to the standbys.
    pub(crate) fn freeze_replication(&self) -> Result<()> {
        signal("STOP", &processes(&self.folder, "walsender"))
    }

    /// Returns the answer of the server; `None` if there is none.
    pub(crate) fn ask(&self, sql: &str) -> Option<String> {
        let mut psql = Command::new(programs()?.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-U", "postgres", "-d", "postgres", "-c", sql]);
        let output = psql.args(["-p", &self.port.to_string()]).env("PGCONNECT_TIMEOUT", "5").output().ok()?;
        let answer = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(answer)
    }

    /// Returns the answer of Patroni.
    pub(crate) fn ask_patroni(&self, path: &str) -> Option<String> {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.rest)).ok()?;
        stream.set_read_timeout(Some(std::time::Duration::from_secs(5))).ok()?;
        stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }

    /// Returns the end of its log.
    pub(crate) fn log(&self) -> String {
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        format!("{}:\n{}", self.name, lines[lines.len().saturating_sub(8)..].join("\n"))
    }
}

/// Returns the processes whose working directory is in a folder and whose command line has a word.
fn processes(folder: &Path, word: &str) -> Vec<String> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let works_here = |process: &PathBuf| {
        fs::read_link(process.join("cwd")).is_ok_and(|place| place.starts_with(folder))
            && fs::read(process.join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(word))
    };
    let name = |process: PathBuf| Some(process.file_name()?.to_str()?.to_owned());
    all.map(|entry| entry.path()).filter(works_here).filter_map(name).collect()
}

fn signal(name: &str, processes: &[String]) -> Result<()> {
    // A process may have ended in between.
    Command::new("kill").arg(format!("-{name}")).args(processes).stderr(Stdio::null()).status()?;
    Ok(())
}
