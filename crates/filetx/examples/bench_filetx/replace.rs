//! Replacement of one file. The baseline is the usual sequence: create, write, sync, rename, sync
//! the folder.

use std::fs;
use std::path::Path;

use cleveragents_filetx::{ReplaceOptions, replace_file};
use testkit::bench::{RenameReplace, Report, Result, Target, compare, timed};

const ROUNDS: usize = 40;
const OPS: usize = 25;
const BYTES: usize = 4096;

pub(crate) fn measure(place: &Path, report: &mut Report) -> Result<()> {
    let ours = place.join("ours");
    fs::write(&ours, [0; BYTES])?;
    fs::write(place.join("by-hand"), [0; BYTES])?;
    let options = ReplaceOptions::default();
    // The baseline opens its folder once; `replace_file` opens it every time.
    let peer = RenameReplace::new(place, "by-hand")?;
    let mut number = 0_u8;
    let mut content = move || {
        number = number.wrapping_add(1);
        [number; BYTES]
    };
    let mut content_by_hand = content;
    let outcome = compare(
        ROUNDS,
        OPS,
        || {
            timed(|| {
                for _ in 0..OPS {
                    replace_file(&ours, &content(), &options)?;
                }
                Ok(())
            })
        },
        || {
            timed(|| {
                for _ in 0..OPS {
                    peer.replace(&content_by_hand())?;
                }
                Ok(())
            })
        },
    )?;
    report.add("one-file replace, 4 KiB", outcome, Target::RatioAtMost(1.15));
    report.add("the same, syncs", outcome, Target::SyncsAtMost(2.0));
    Ok(())
}
