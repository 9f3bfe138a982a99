//! Saving after every message, in one process.

use std::fs;
use std::path::Path;
use std::time::Duration;

use testkit::bench::{Report, Result, Side, Target, compare_all, sync_file_system, timed};

use crate::by_hand::{Bare, Lines, Renames, SAMPLE};
use crate::python::{Peer, Python};
use crate::talk::Talk;

/// Lengths of the prepared conversations.
const LENGTHS: [usize; 4] = [10, 1_000, 10_000, 1_000_000];
const ROUNDS: usize = 10;
/// Saves per side and round: enough for a checkpoint in every round.
const OPS: usize = 1_000;

/// Compares with bare writes and plain JSON Lines, at every length.
pub(crate) fn measure(place: &Path, report: &mut Report) -> Result<()> {
    for length in LENGTHS {
        let place = place.join(length.to_string());
        fs::create_dir(&place)?;
        let mut talk = Talk::of(&place, "chat", length)?;
        // Fills the journal with records of this kind.
        talk.saves(SAMPLE)?;
        let journal = talk.context.folder().join(".txn/journal");
        let mut bare = Bare::like(&journal, &place.join("bare"))?;
        let mut lines = Lines::of(&place.join("lines.jsonl"), length)?;
        sync_file_system(&place)?;
        let (mut saves, mut written) = (0, 0);
        let record_bytes = bare.record_bytes();
        let mut ours = || {
            let before = written_bytes()?;
            let took = timed(|| talk.saves(OPS))?;
            (saves, written) = (saves + OPS as u64, written + written_bytes()? - before);
            Ok(took)
        };
        let mut bare = || timed(|| bare.saves(OPS));
        let mut lines = || timed(|| lines.saves(OPS));
        let outcomes = compare_all(ROUNDS, OPS, &mut [&mut ours, &mut bare, &mut lines])?;
        report.add(format!("save at {length}, beside a bare write"), outcomes[0], Target::RatioAtMost(1.5));
        report.add("the same, syncs", outcomes[0], Target::SyncsAtMost(1.05));
        report.add(
            format!("save at {length}, beside JSON Lines and fsync"),
            outcomes[1],
            Target::RatioAtMost(1.0),
        );
        let (change, each) = (talk.change_bytes()?, written / saves);
        let figures = [each, change].map(|bytes| format!("{bytes} B"));
        let ratio = each as f64 / change as f64;
        report.add_figures(
            format!("bytes written by a save at {length}, beside the change"),
            figures,
            ratio,
            3.0,
        );
        report.note(format!("At {length} messages a record in the journal has {record_bytes} bytes."));
        fs::remove_dir_all(&place)?;
    }
    Ok(())
}

/// Compares the longest conversation with each of the others.
pub(crate) fn measure_flatness(place: &Path, report: &mut Report) -> Result<()> {
    let talk = |length: usize| Talk::of(place, &format!("chat-{length}"), length);
    let [mut ten, mut thousand, mut ten_thousand, mut million] =
        [talk(LENGTHS[0])?, talk(LENGTHS[1])?, talk(LENGTHS[2])?, talk(LENGTHS[3])?];
    sync_file_system(place)?;
    let mut million = || timed(|| million.saves(OPS));
    let mut ten = || timed(|| ten.saves(OPS));
    let mut thousand = || timed(|| thousand.saves(OPS));
    let mut ten_thousand = || timed(|| ten_thousand.saves(OPS));
    let mut sides: [Side<'_>; 4] = [&mut million, &mut ten, &mut thousand, &mut ten_thousand];
    let outcomes = compare_all(ROUNDS, OPS, &mut sides)?;
    for (length, outcome) in LENGTHS.into_iter().zip(outcomes) {
        report.add(format!("save at 1000000, beside one at {length}"), outcome, Target::RatioAtMost(1.2));
    }
    Ok(())
}

/// Measures a conversation that grows to so many messages, saved after every one.
pub(crate) fn measure_growing(python: Option<&Path>, place: &Path, report: &mut Report) -> Result<()> {
    for (length, rounds) in [(1_000, 6), (10_000, 3)] {
        let (mut talks, mut files, mut sessions) = (0, 0, 0);
        let mut ours = || {
            talks += 1;
            let mut talk = Talk::of(place, &format!("growing-{length}-{talks}"), 0)?;
            timed(|| talk.saves(length))
        };
        let mut lines = || {
            files += 1;
            let mut lines = Lines::of(&place.join(format!("{length}-{files}.jsonl")), 0)?;
            timed(|| lines.saves(length))
        };
        let mut session = || -> Result<Duration> {
            sessions += 1;
            let name = format!("{length}-{sessions}.db");
            let mut python = Python::start(python.ok_or("no Python")?, Peer::Session, place, &name, 0)?;
            python.saves(length)
        };
        let mut sides: Vec<Side<'_>> = vec![&mut ours, &mut lines];
        if python.is_some() {
            sides.push(&mut session);
        }
        let outcomes = compare_all(rounds, length, &mut sides)?;
        let what = |peer: &str| format!("growing to {length}, beside {peer}");
        report.add(what("JSON Lines and fsync"), outcomes[0], Target::RatioAtMost(1.0));
        if let Some(outcome) = outcomes.get(1) {
            report.add(what("SQLiteSession"), *outcome, Target::SpeedAtLeast(1.0));
        }
    }
    Ok(())
}

/// Compares with other libraries, and with the common way to save four files.
pub(crate) fn measure_peers(python: Option<&Path>, place: &Path, report: &mut Report) -> Result<()> {
    const PEER_ROUNDS: usize = 15;
    for length in [1_000, 10_000] {
        let Some(python) = python else {
            report
                .note("SQLiteSession and SqliteSaver are left out: there is no Python that has them.".into());
            break;
        };
        const SAVES: usize = 100;
        let mut talk = Talk::of(place, &format!("beside-session-{length}"), length)?;
        let mut peer = Python::start(python, Peer::Session, place, &format!("session-{length}.db"), length)?;
        sync_file_system(place)?;
        let mut ours = || timed(|| talk.saves(SAVES));
        let mut theirs = || peer.saves(SAVES);
        let outcome = compare_all(PEER_ROUNDS, SAVES, &mut [&mut ours, &mut theirs])?[0];
        report.add(format!("save at {length}, beside SQLiteSession"), outcome, Target::SpeedAtLeast(1.0));
    }
    let length = 10_000;
    const FEW: usize = 3;
    let mut talk = Talk::of(place, "beside-renames", length)?;
    let mut renames = Renames::of(&place.join("renames"), length)?;
    let saver =
        python.map(|python| Python::start(python, Peer::Saver, place, "saver.db", length)).transpose()?;
    sync_file_system(place)?;
    let mut ours = || timed(|| talk.saves(FEW));
    let mut renames = || timed(|| renames.saves(FEW));
    let mut sides: Vec<Side<'_>> = vec![&mut ours, &mut renames];
    let mut saver = saver;
    let mut saver = saver.as_mut().map(|saver| || saver.saves(FEW));
    if let Some(saver) = &mut saver {
        sides.push(saver);
    }
    let outcomes = compare_all(PEER_ROUNDS, FEW, &mut sides)?;
    let what = |peer: &str| format!("save at {length}, beside {peer}");
    report.add(what("four renames, synced"), outcomes[0], Target::SpeedAtLeast(30.0));
    if let Some(outcome) = outcomes.get(1) {
        report.add(what("SqliteSaver"), *outcome, Target::SpeedAtLeast(20.0));
    }
    Ok(())
}

/// Bytes that this process has written so far, to files and pipes.
fn written_bytes() -> Result<u64> {
    let io = fs::read_to_string("/proc/self/io").map_err(|error| format!("/proc/self/io: {error}"))?;
    let written = io.lines().find_map(|line| line.strip_prefix("wchar: "));
    Ok(written.ok_or("the system does not tell what was written")?.trim().parse()?)
}
