//! A disk of the server that is full: what was acknowledged is there, what was not left nothing, and it goes on when there is room.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use store::{Outcome, PostgresStore, Store};
use testkit::folder::scratch;
use testkit::mount::SmallDisk;
use testkit::notes::skipped;
use testkit::postgres::Server;
use testkit::store_conformance::fixtures::*;

const BYTES: u64 = 20 << 20;

#[test]
fn a_full_disk_of_the_server_loses_nothing() {
    let folder = scratch();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let disk = match SmallDisk::new(folder.path(), BYTES) {
        Ok(disk) => disk,
        Err(reason) => return skipped("postgres-full-disk", &reason),
    };
    let chown = Command::new("chown").arg("postgres:postgres").arg(disk.point()).status();
    // One of its own: what happens to its disk is not to happen to others.
    let server = match chown.map_err(|error| error.to_string()).and_then(|_| Server::start(&[])) {
        Ok(server) => server,
        Err(reason) => return skipped("postgres-full-disk", &reason),
    };
    server.sql("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", disk.point().display()));
    server.sql("postgres", "CREATE DATABASE small TABLESPACE small");
    let store = PostgresStore::open(&server.url("small")).unwrap();
    let plan = make_plan(&store);
    let (id, epoch) = start(&store, plan.id, "coder");
    let mut random = fastrand::Rng::with_seed(7);
    let mut noise = || std::iter::repeat_with(|| random.u8(..)).take(200_000).collect::<Vec<u8>>();
    let mut acknowledged = 0;
    let (wish, error) = loop {
        let wish = recording_of(&[("a", &noise())]);
        match store.record(id, epoch, &wish) {
            Ok(recorded) => acknowledged = recorded.first,
            Err(error) => break (wish, error),
        }
        assert!(acknowledged < 1000, "the disk is never full");
    };
    assert_eq!((error.code(), error.outcome()), ("store-engine", Outcome::Aborted), "{error:?}");
    assert!(error.hint().unwrap().contains("full"), "{error}");
    assert_eq!(all_entries(&store, id).len() as u64, acknowledged);
    assert_eq!(store.check().unwrap(), []);
    // Somebody makes room.
    disk.remount(&format!("size={}", 2 * BYTES)).unwrap();
    assert_eq!(store.record(id, epoch, &wish).unwrap().first, acknowledged + 1);
    store.seal(id, epoch).unwrap();
    assert_eq!(store::verify(&store, &[]).unwrap().findings, []);
    drop(store);
    drop(server);
}
