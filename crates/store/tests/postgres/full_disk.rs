//! A full disk of the server: acknowledged writes are kept, failed ones leave nothing, and the
//! store continues once there is room.

use store::{ChangesetStore, EntryStore, Outcome, PostgresStore, Store};
use testkit::report::skipped;
use testkit::small_database::SmallDatabase;
use testkit::store_conformance::fixtures::*;

#[test]
fn a_full_server_disk_loses_nothing() {
    let database = match SmallDatabase::new(20 << 20) {
        Ok(database) => database,
        Err(reason) => return skipped("postgres-full-disk", &reason),
    };
    let store = PostgresStore::open(&database.url()).unwrap();
    let plan = make_plan(&store);
    let (id, epoch) = start(&store, plan.id, "coder");
    let mut random = fastrand::Rng::with_seed(7);
    let mut noise = || std::iter::repeat_with(|| random.u8(..)).take(200_000).collect::<Vec<u8>>();
    let mut acknowledged = 0;
    let (request, error) = loop {
        let request = recording_of(&[("a", &noise())]);
        match store.record(id, epoch, &request) {
            Ok(recorded) => acknowledged = recorded.first,
            Err(error) => break (request, error),
        }
        assert!(acknowledged < 1000, "the disk is never full");
    };
    assert_eq!((error.code(), error.outcome()), ("store-engine", Outcome::Aborted), "{error:?}");
    assert_eq!(all_entries(&store, id).len() as u64, acknowledged);
    assert_eq!(store.check().unwrap(), []);
    database.make_room();
    assert_eq!(store.record(id, epoch, &request).unwrap().first, acknowledged + 1);
    store.seal(id, epoch).unwrap();
    assert_eq!(store::verify(&store, &[]).unwrap().findings, []);
}
