//! Measures what a commit costs beside the least that the same durability costs when written by hand.
//!
//! Ours and the baseline take turns in small batches on one file system, and ratios are taken round by round: these figures hold on a noisy
//! machine, where times alone do not. Syncs are counted, not guessed. `docs/benchmarks.md` has the last figures and what they mean.
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "the figures are what this program is for"))]

#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod ground;
#[cfg(unix)]
mod lock;
#[cfg(unix)]
mod memory;
#[cfg(unix)]
mod replace;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod rounds;
#[cfg(unix)]
mod tree;

#[cfg(unix)]
type Error = Box<dyn std::error::Error + Send + Sync>;
#[cfg(unix)]
type Result<T> = std::result::Result<T, Error>;

#[cfg(unix)]
const HELP: &str = "\
Measures filetx beside hand-written loops.

Usage: bench_filetx [--dir DIR] [--only NAME] [--markdown]

  --dir DIR     Measure in DIR. Otherwise on a fresh ext4 image when run as root, or else in a temporary folder
  --only NAME   One of: replace, folder, threads, tree, memory, lock
  --markdown    Print Markdown, for docs/benchmarks.md
";

#[cfg(unix)]
fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut dir, mut only, mut markdown) = (None, None, false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--dir" => dir = Some(arguments.next().ok_or("--dir needs a folder")?.into()),
            "--only" => only = Some(arguments.next().ok_or("--only needs a name")?),
            "--markdown" => markdown = true,
            memory::CHILD => return memory::child(arguments),
            "--help" => {
                print!("{HELP}");
                return Ok(());
            }
            unknown => return Err(format!("unknown argument `{unknown}`; --help says what there is").into()),
        }
    }

    let ground = ground::Ground::prepare(dir)?;
    let mut report = report::Report::new(&ground);
    let cases: [(&str, fn(&std::path::Path, &mut report::Report) -> Result<()>); 6] = [
        ("replace", replace::measure),
        ("folder", folder::measure),
        ("threads", folder::measure_threads),
        ("tree", tree::measure),
        ("memory", memory::measure),
        ("lock", lock::measure),
    ];
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if !cases.iter().any(|(name, _)| wanted(name)) {
        return Err("--only names none of the cases; --help says which there are".into());
    }
    for (name, measure) in cases {
        if wanted(name) {
            eprintln!("measuring: {name}");
            let place = ground.path().join(name);
            std::fs::create_dir(&place)?;
            measure(&place, &mut report)?;
            // What is left behind would make later cases slower.
            std::fs::remove_dir_all(&place)?;
            ground.settle()?;
        }
    }
    print!("{}", if markdown { report.markdown() } else { report.text() });
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the baselines are written for Unix");
}
