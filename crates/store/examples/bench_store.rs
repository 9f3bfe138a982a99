//! Measures records on PostgreSQL beside pgbench, which inserts the same rows one per transaction.
//!
//! Both sides alternate on one server, with `fsync` on and a fresh file system.
//! `docs/benchmarks.md` has the latest figures and their meaning.
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "the figures are what this program is for"))]

#[cfg(unix)]
const HELP: &str = "\
Measures records on PostgreSQL beside pgbench.

Usage: bench_store [--dir DIR] [--only NAME] [--markdown]

  --dir DIR     Measure in DIR. Otherwise on a fresh ext4 image when run as root, or else in a temporary folder
  --only NAME   One of: clients, threads
  --markdown    Print Markdown, for docs/benchmarks.md
";

#[cfg(unix)]
fn main() -> testkit::bench::Result<()> {
    let Some(arguments) = testkit::bench::Arguments::parse(std::env::args().skip(1), &[])? else {
        print!("{HELP}");
        return Ok(());
    };
    let cases: &[(&str, testkit::bench::Case<'_>)] =
        &[("clients", &unix::measure_clients), ("threads", &unix::measure_threads)];
    print!("{}", testkit::bench::run(&arguments, cases)?);
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the baselines are written for Unix");
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a bench lets the server into its folder, and writes a script")]
mod unix {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    use cleveragents_store::{ChangesetId, EntryStore, Epoch, PostgresOptions, PostgresStore};
    use testkit::bench::{Report, Result, Target, compare, timed};
    use testkit::postgres::Server;
    use testkit::store_conformance::fixtures::{make_plan, recording, start, together};

    const CLIENTS: usize = 16;
    const THREADS: usize = 32;
    const ROUNDS: usize = 7;
    /// Records of each client in a round.
    const RECORDS: usize = 100;
    /// With the other columns, an entry of about 300 bytes.
    const PATH: &str = "crates/some-service/src/handlers/payments/settlement/reconcile_ledger_entries.rs";

    /// The table of pgbench, with the columns and indices of ours.
    const TABLE: &str = "CREATE TABLE rows (changeset uuid NOT NULL, sequence bigint NOT NULL, request uuid, at timestamptz NOT NULL,
        before_blob bytea, after_blob bytea, form text NOT NULL, PRIMARY KEY (changeset, sequence));
        CREATE UNIQUE INDEX rows_of_request ON rows (request, changeset) WHERE request IS NOT NULL;
        CREATE SEQUENCE numbers CACHE 1000";

    struct Ground {
        server: Server,
        database: String,
        script: std::path::PathBuf,
    }

    impl Ground {
        fn new(place: &Path) -> Result<Self> {
            // The server runs as another user, who must reach its folder.
            for folder in place.ancestors().take(3) {
                fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
            }
            let server = Server::start_in(place, &["shared_buffers=128MB", "max_wal_size=4GB"])?;
            let database = server.database();
            server.sql(&database, TABLE);
            let form = format!(r#"["/project","{PATH}","delete",null,null,null]"#);
            let script = place.join("script");
            let insert = format!(
                "INSERT INTO rows VALUES (lpad(to_hex(:client_id), 32, '0')::uuid, nextval('numbers'), gen_random_uuid(), clock_timestamp(), NULL, NULL, '{form}');\n"
            );
            fs::write(&script, insert)?;
            Ok(Self { server, database, script })
        }

        fn store(&self, sessions: usize) -> Result<PostgresStore> {
            Ok(PostgresOptions::default().sessions_max(sessions).open(&self.server.url(&self.database))?)
        }

        /// Runs insertions of pgbench, one per transaction, without the time to connect.
        fn pgbench(&self, transactions: usize) -> Result<Duration> {
            let mut command = Command::new(self.server.programs().join("pgbench"));
            let (clients, each) = (CLIENTS.to_string(), (transactions / CLIENTS).to_string());
            command.args(["-n", "-c", &clients, "-j", "2", "-t", &each, "-h", "127.0.0.1", "-U", "postgres"]);
            command.args(["-p", &self.server.port().to_string(), "-f"]).arg(&self.script).arg(&self.database);
            let output = command.env("PGSSLMODE", "disable").output()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let speed =
                text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
            let speed: f64 =
                speed.ok_or_else(|| format!("pgbench: {}", String::from_utf8_lossy(&output.stderr)))?;
            Ok(Duration::from_secs_f64(transactions as f64 / speed))
        }
    }

    fn record(store: &PostgresStore, (id, epoch): (ChangesetId, Epoch), count: usize) {
        for _ in 0..count {
            store.record(id, epoch, &recording(&[PATH])).expect("it is recorded");
        }
    }

    /// Clients with a store and a session each, so that nothing is grouped.
    pub(crate) fn measure_clients(place: &Path, report: &mut Report) -> Result<()> {
        let ground = Ground::new(place)?;
        let stores: Vec<PostgresStore> = (0..CLIENTS).map(|_| ground.store(1)).collect::<Result<_>>()?;
        let plan = make_plan(&stores[0]).id;
        let changesets: Vec<_> =
            (0..CLIENTS).map(|number| start(&stores[number], plan, &format!("actor {number}"))).collect();
        let transactions = CLIENTS * RECORDS;
        let ours = || {
            timed(|| {
                together(CLIENTS, |number| record(&stores[number], changesets[number], RECORDS));
                Ok(())
            })
        };
        let outcome = compare(ROUNDS, transactions, ours, || ground.pgbench(transactions))?;
        let what = "a record of 16 clients; beside pgbench, 16 clients, the same rows";
        report.add(what, outcome.of_processes(), Target::SpeedAtLeast(0.7));
        Ok(())
    }

    /// Threads that share a store, and so transactions.
    pub(crate) fn measure_threads(place: &Path, report: &mut Report) -> Result<()> {
        let ground = Ground::new(place)?;
        let store = ground.store(8)?;
        let plan = make_plan(&store).id;
        let changesets: Vec<_> =
            (0..THREADS).map(|number| start(&store, plan, &format!("actor {number}"))).collect();
        let transactions = THREADS * RECORDS;
        let ours = || {
            timed(|| {
                together(THREADS, |number| record(&store, changesets[number], RECORDS));
                Ok(())
            })
        };
        let outcome = compare(ROUNDS, transactions, ours, || ground.pgbench(transactions))?;
        let what = "a record of 32 threads of one process; beside the same pgbench";
        report.add(what, outcome.of_processes(), Target::SpeedAtLeast(2.5));
        Ok(())
    }
}
