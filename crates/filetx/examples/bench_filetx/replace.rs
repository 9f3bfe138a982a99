//! One file replaced. The baseline is what everybody writes by hand: a new file, write, sync, rename, sync the folder.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use filetx::{ReplaceOptions, replace_file};
use testkit::bench::{Report, Result, Target, compare, timed};

const ROUNDS: usize = 40;
const OPS: usize = 25;
const BYTES: usize = 4096;

pub(crate) fn measure(place: &Path, report: &mut Report) -> Result<()> {
    let (ours, by_hand, temporary) = (place.join("ours"), place.join("by-hand"), place.join("by-hand.tmp"));
    fs::write(&ours, [0; BYTES])?;
    fs::write(&by_hand, [0; BYTES])?;
    let options = ReplaceOptions::default();
    // Opened once, which a careful loop would do; ours opens it every time, because it is given a path.
    let folder = File::open(place)?;
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
                    let mut file = File::create_new(&temporary)?;
                    file.write_all(&content_by_hand())?;
                    file.sync_all()?;
                    drop(file);
                    fs::rename(&temporary, &by_hand)?;
                    folder.sync_all()?;
                }
                Ok(())
            })
        },
    )?;
    report.add("one-file replace, 4 KiB", outcome, Target::RatioAtMost(1.15));
    report.add("the same, syncs", outcome, Target::SyncsAtMost(2.0));
    Ok(())
}
