//! Common ways to save four files, which the same kills break: plain writes, and a temporary file
//! and a rename for each.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use testkit::children;

const FILES: [&str; 4] = ["messages.json", "metadata.json", "state.json", "global_context.json"];

/// Saves a number in all four files, in a loop.
pub(crate) fn save_for_ever(folder: &Path, by_renames: bool) {
    for number in read(folder).unwrap_or(0) + 1.. {
        for file in FILES {
            let text =
                format!("{{\"number\": {number}, \"padding\": \"{}\"}}\n", "z".repeat(number as usize % 500));
            let path = folder.join(file);
            if by_renames {
                let temporary = folder.join(format!("{file}.tmp"));
                let mut out = File::create(&temporary).unwrap();
                out.write_all(text.as_bytes()).unwrap();
                out.sync_all().unwrap();
                fs::rename(&temporary, &path).unwrap();
            } else {
                fs::write(&path, text).unwrap();
            }
        }
        children::send(&number.to_string());
    }
}

/// Returns the number in all four files; an error if they differ or cannot be read.
pub(crate) fn read(folder: &Path) -> Result<u64, String> {
    let numbers = FILES.map(|file| {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_else(|_| "{\"number\": 0}".to_owned());
        let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
        value.map_err(|error| format!("{file}: {error}"))?["number"]
            .as_u64()
            .ok_or(format!("{file} has no number"))
    });
    let numbers = numbers.into_iter().collect::<Result<Vec<_>, _>>()?;
    let is_whole = numbers.iter().all(|number| *number == numbers[0]);
    if is_whole { Ok(numbers[0]) } else { Err(format!("mixed: {numbers:?}")) }
}
