//! A server with a full disk: the command fails without a partial change, and succeeds once there is space.

use snapbox::cmd::OutputAssert;
use testkit::report::skipped;
use testkit::small_database::SmallDatabase;

use super::first_line;
use crate::program::{Program, json, stderr_text, text};

#[test]
fn a_full_server_disk_is_reported_and_leaves_nothing_half_done() {
    // Space for the tables of a store, and some contents.
    let database = match SmallDatabase::new(24 << 20) {
        Ok(database) => database,
        Err(reason) => return skipped("cli-postgres-full-disk", &reason),
    };
    let (program, url) = (Program::in_project(), database.url());
    let run = |words: &str| program.run_with("CLEVERAGENTS_STORE_URL", &url, words);
    run("plan create --name work").success();
    let changeset = text(&run("changeset start work --actor coder").success()).trim().to_owned();
    let mut random = fastrand::Rng::with_seed(7);
    let mut noise = || std::iter::repeat_with(|| random.u8(..)).take(900_000).collect::<Vec<u8>>();
    let record = |number: usize| format!("changeset record {changeset} --path {number} --content content");
    let mut recorded = 0;
    let refused = loop {
        program.write("content", noise());
        let ended = run(&record(recorded));
        if !ended.get_output().status.success() {
            break ended;
        }
        recorded += 1;
        assert!(recorded < 100, "the disk is never full");
    };
    assert!(recorded > 0, "the disk is full too soon");
    let refused = refused.code(1).stdout_eq("");
    let place = "`postgres://postgres@127.0.0.1:PORT/small`";
    let line = format!("error: store {place}: cannot record entries; nothing was changed");
    assert_eq!(first_line(&refused, &database.server), line);
    assert!(stderr_text(&refused).contains("No space left on device"), "{}", stderr_text(&refused));
    assert!(stderr_text(&refused).contains("look for a full or failing disk"));
    // Acknowledged changes are stored, others are not.
    let changes = |answer: &OutputAssert| json(answer)["data"]["changes"].as_array().map(Vec::len);
    let show = format!("changeset show {changeset} --format json");
    assert_eq!(changes(&run(&show).success()), Some(recorded));
    run("audit verify").success();
    assert!(!text(&run("doctor").success()).contains("problem"));
    // Once there is space, the same command succeeds.
    database.make_room();
    run(&record(recorded)).success();
    assert_eq!(changes(&run(&show).success()), Some(recorded + 1));
    run(&format!("changeset seal {changeset}")).success();
    run("audit verify").success();
}
