//! SIGKILL at random moments of a process that saves in a loop.

use std::path::Path;
use std::thread;
use std::time::Duration;

use testkit::folder::scratch;
use testkit::report::{figure, is_proof};
use testkit::seed::{self, Replay};

use super::controls;
use super::roles::{contexts, name, number, start};

/// Number of kills that breaks unsafe writers on any machine: nearly each does on an idle one, one
/// of forty on a shared core.
const ENOUGH: usize = 2_000;

/// State after the kills.
#[derive(Default, Debug)]
struct Found {
    kills: usize,
    mixed: u64,
    lost: u64,
    saves: u64,
}

/// Kills a saver up to so many times, each time after some saves and a random delay, and checks the
/// files, until they are mixed.
fn kill(role: &str, folder: &Path, most: usize, look: impl Fn() -> Result<u64, String>) -> Found {
    let kept = seed::from_env_or(7213);
    let _replay = Replay::new("cleveragents-context", "kills", kept);
    let mut random = fastrand::Rng::with_seed(kept);
    let mut found = Found::default();
    while found.kills < most && found.mixed == 0 {
        found.kills += 1;
        let mut process = start(role, folder);
        let mut acknowledged = 0;
        for _ in 0..random.u32(1..6) {
            acknowledged = process.receive().parse().unwrap();
        }
        // A random delay, to hit any moment of a save. It sleeps, so that the saver continues on a
        // shared core.
        thread::sleep(Duration::from_micros(random.u64(0..1500)));
        process.kill();
        while let Some(word) = process.receive_or_end() {
            acknowledged = word.parse().unwrap();
        }
        match look() {
            Err(_) => found.mixed += 1,
            Ok(number) => {
                found.lost += u64::from(number < acknowledged);
                found.saves = number;
            }
        }
    }
    found
}

#[test]
fn no_kill_mixes_files_or_loses_a_save() {
    let folder = scratch();
    let chat = contexts(folder.path()).create(&name("chat")).unwrap();
    let kills = if is_proof() { 2_000 } else { 200 };
    let found = kill("save:chat:0", folder.path(), kills, || {
        let context = contexts(folder.path()).open(chat.name()).map_err(|error| error.to_string())?;
        number(&context)
    });
    assert_eq!((found.mixed, found.lost), (0, 0), "{found:?}");
    assert!(found.saves as usize > kills, "it saved between the kills: {found:?}");
    // The next writer removes leftovers.
    let mut context = contexts(folder.path()).open(chat.name()).unwrap();
    super::roles::save(&mut context, found.saves + 1);
    let names: Vec<_> = testkit::folder::tree(&context.folder()).into_keys().collect();
    assert_eq!(names, testkit::folder::CONTEXT);
    assert!(context.verify().unwrap().is_sound());
    figure("context kills, none mixed, no acknowledged save lost", kills);
    figure("context saves between the kills", found.saves);
}

#[test]
fn the_same_kills_break_four_plain_writes() {
    let folder = scratch();
    let found = kill("plain::", folder.path(), ENOUGH, || controls::read(folder.path()));
    figure("kills until four plain writes are mixed", found.kills);
    assert_eq!(found.mixed, 1, "the test can fail: {found:?}");
}

#[test]
fn the_same_kills_break_four_renames() {
    let folder = scratch();
    let found = kill("renames::", folder.path(), ENOUGH, || controls::read(folder.path()));
    figure("kills until four renames are mixed", found.kills);
    assert_eq!(found.mixed, 1, "the test can fail: {found:?}");
}
