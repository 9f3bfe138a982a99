//! A holder that is stopped while another takes its lease: its later writes change nothing.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use store::{ChangesetId, ChangesetStore, EntryStore, Epoch, LeaseStore, PostgresStore, Resource};
use testkit::children::{role, send, start as start_process, wait_for_parent};
use testkit::folder::scratch;
use testkit::store_conformance::fixtures::*;

use super::{open, server_or_skip};

#[test]
fn child() {
    if let Some((_, folder)) = role() {
        hold(&folder);
    }
}

/// Starts a changeset with an expired lease, records until it is refused, and reports the error.
fn hold(folder: &Path) {
    let store = PostgresStore::open(&fs::read_to_string(folder.join("url")).unwrap()).unwrap();
    let plan = fs::read_to_string(folder.join("plan")).unwrap().parse().unwrap();
    let mut new = new_changeset(plan, "slow");
    new.lease.duration = Duration::ZERO;
    let lease = store.start_changeset(&new).unwrap();
    store.record(new.id, lease.epoch, &recording(&["0"])).unwrap();
    send(&new.id.to_string());
    let refusal = (1..).find_map(|number: u64| {
        let recorded = store.record(new.id, lease.epoch, &recording(&[&number.to_string()]));
        recorded.err().map(|error| (number, error.code()))
    });
    let (count, code) = refusal.unwrap();
    let codes = [
        store.seal(new.id, lease.epoch).unwrap_err().code(),
        store.abandon(new.id, lease.epoch, "late").unwrap_err().code(),
        store.renew(&lease, LONG).unwrap_err().code(),
        store.release(&lease).unwrap_err().code(),
    ];
    send(&format!("{count} {code} {}", codes.join(" ")));
    wait_for_parent();
}

fn signal(process: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &process.to_string()]).status().unwrap().success());
}

#[test]
fn a_stopped_holder_cannot_write_after_a_takeover() {
    let Some(server) = server_or_skip("postgres-stopped") else { return };
    for _ in 0..if testkit::report::is_proof() { 20 } else { 2 } {
        let (folder, database) = (scratch(), server.database());
        let store = open(server, &database);
        let plan = make_plan(&store);
        fs::write(folder.path().join("url"), server.url(&database)).unwrap();
        fs::write(folder.path().join("plan"), plan.id.to_string()).unwrap();
        let mut holder = start_process("stopped_server::child", "hold", folder.path());
        let id: ChangesetId = holder.receive().parse().unwrap();
        // It may be stopped inside a transaction, which the server ends after a while.
        signal(holder.id(), "-STOP");
        let lease = store.acquire(Resource::Changeset(id), &lease_request("next", LONG)).unwrap();
        assert_eq!(lease.epoch, Epoch(2));
        let before = store.changeset(id).unwrap().entries;
        store.record(id, lease.epoch, &recording(&["mine"])).unwrap();
        signal(holder.id(), "-CONT");
        let said = holder.receive();
        let (count, codes) = said.split_once(' ').unwrap();
        assert_eq!(codes, ["lease-stale"; 5].join(" "));
        let acknowledged: u64 = count.parse().unwrap();
        assert!(before >= acknowledged, "{acknowledged} were acknowledged, {before} are there");
        let paths: Vec<String> =
            all_entries(&store, id).iter().map(|entry| entry.path.show().into_owned()).collect();
        assert_eq!(paths.last().unwrap(), "mine");
        assert_eq!(paths.len() as u64, before + 1);
        store.seal(id, lease.epoch).unwrap();
        assert_eq!(store::verify(&store, &[]).unwrap().findings, []);
        holder.finish();
    }
}
