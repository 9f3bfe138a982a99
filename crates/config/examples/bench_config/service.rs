//! 1,000 sets by one process: the library alone.
//!
//! The baseline writes the same bytes with the same two syncs: a new file, write, fsync, rename,
//! fsync of the folder, whose handle stays open. It does not lock, read or parse.

use std::fs;
use std::path::Path;

use cleveragents_config::{ConfigDirs, ConfigService, Environment, Key, Registry, Scope};
use testkit::bench::{RenameReplace, Report, Result, Target, compare, timed};
use testkit::contended_config;

const ROUNDS: usize = 20;
/// Sets of each side in a round: 1,000 in all.
const OPS: usize = 50;

pub(crate) fn measure(place: &Path, report: &mut Report) -> Result<()> {
    let (home, by_hand) = (place.join("home"), place.join("by-hand"));
    for folder in [&home, &by_hand] {
        fs::create_dir(folder)?;
        fs::write(folder.join("config.toml"), contended_config::text())?;
    }
    let dirs = ConfigDirs { home, project: None };
    let service = ConfigService::new(Registry::standard(), dirs, Environment::empty());
    let key = Key::parse("x.w.w")?;
    let peer = RenameReplace::new(&by_hand, "config.toml")?;
    let mut text = contended_config::text();
    let before = text.len();
    let (mut ours, mut theirs) = (0_u64, 0_u64);
    let outcome = compare(
        ROUNDS,
        OPS,
        || {
            timed(|| {
                for _ in 0..OPS {
                    ours += 1;
                    service.set_value(Scope::Global, &key, &ours.to_string())?;
                }
                Ok(())
            })
        },
        || {
            timed(|| {
                for _ in 0..OPS {
                    theirs += 1;
                    text.truncate(before);
                    text += &format!("w = {theirs}\n");
                    peer.replace(text.as_bytes())?;
                }
                Ok(())
            })
        },
    )?;
    report.add("set in process, 200 keys", outcome, Target::RatioAtMost(1.3));
    report.add("the same, syncs", outcome, Target::SyncsAtMost(2.0));
    Ok(())
}
