//! Opening a long conversation, and loading all of a shorter one.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use cleveragents_context::Name;
use testkit::bench::{Report, Result, Target, compare, timed};

use crate::talk::{Talk, contexts};

/// Argument that makes this program the measured child.
pub(crate) const CHILD: &str = "--memory-of";
const MILLION: usize = 1_000_000;
const LAST: u64 = 20;
const OPENS: usize = 50;
const OPEN_MAX_MS: f64 = 20.0;
const MEMORY_MAX_MIB: f64 = 32.0;

/// Measures time and memory of opening a million messages and reading the last 20.
pub(crate) fn measure_million(place: &Path, report: &mut Report) -> Result<()> {
    drop(Talk::of(place, "chat", MILLION)?);
    open_last(place)?;
    let mut times = Vec::new();
    for _ in 0..OPENS {
        let begun = Instant::now();
        open_last(place)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
    report.add_limit("open and the last 20 of 1000000, warm", median, OPEN_MAX_MS, "ms");
    report.note(format!("Opening a million: {most:.2} ms at most, of {OPENS} times."));
    let output = Command::new(std::env::current_exe()?).arg(CHILD).arg(place).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let kib: f64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
    report.add_limit("the same, peak memory of the process", kib / 1024.0, MEMORY_MAX_MIB, "MiB");
    Ok(())
}

fn open_last(place: &Path) -> Result<()> {
    let context = contexts(place).open(&Name::new("chat")?)?;
    let mut count = 0;
    for one in context.last(LAST) {
        count += usize::from(!one?.message.as_json().is_empty());
    }
    if count as u64 == LAST { Ok(()) } else { Err(format!("{count} messages instead of {LAST}").into()) }
}

/// Opens, reads, and prints the peak memory of this process in KiB.
pub(crate) fn child(mut arguments: impl Iterator<Item = String>) -> Result<()> {
    open_last(Path::new(&arguments.next().ok_or("the folder")?))?;
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
    println!("{}", peak.ok_or("the system does not tell the peak")?.trim());
    Ok(())
}

const LOAD: usize = 10_000;
const LOAD_ROUNDS: usize = 20;

/// Measures loading all messages, compared with reading the file and parsing each line with
/// serde_json.
pub(crate) fn measure_load(place: &Path, report: &mut Report) -> Result<()> {
    let talk = Talk::of(place, "chat", LOAD)?;
    let file = talk.context.folder().join("messages.jsonl");
    let name = Name::new("chat")?;
    let ours = || {
        timed(|| {
            let context = contexts(place).open(&name)?;
            let messages = context.messages(..).collect::<std::result::Result<Vec<_>, _>>()?;
            if messages.len() == LOAD { Ok(()) } else { Err("some are missing".into()) }
        })
    };
    let theirs = || {
        timed(|| {
            let bytes = fs::read(&file)?;
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let values =
                lines.map(serde_json::from_slice).collect::<serde_json::Result<Vec<serde_json::Value>>>()?;
            if values.len() == LOAD { Ok(()) } else { Err("some are missing".into()) }
        })
    };
    let outcome = compare(LOAD_ROUNDS, 1, ours, theirs)?;
    report.add("load 10000, beside fs::read and serde_json", outcome, Target::RatioAtMost(1.3));
    Ok(())
}
