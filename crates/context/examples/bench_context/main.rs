//! Compares contexts with common tools, and with the minimal durable write.
//!
//! `cargo xtask bench context` builds the program, creates a Python environment with the peers, and
//! passes their paths. `docs/benchmarks.md` has the results.
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "the figures are what this program is for"))]
#![cfg_attr(unix, expect(clippy::disallowed_methods, reason = "the peers write files by hand"))]

#[cfg(unix)]
mod by_hand;
#[cfg(unix)]
mod command;
#[cfg(unix)]
mod python;
#[cfg(unix)]
mod reading;
#[cfg(unix)]
mod saving;
#[cfg(unix)]
mod talk;

#[cfg(unix)]
const HELP: &str = "\
Measures contexts beside bare writes, plain JSON Lines, four renames, the OpenAI Agents SDK's SQLiteSession and LangGraph's SqliteSaver.

Usage: bench_context --agents FILE [--python FILE] [--dir DIR] [--only NAME] [--markdown]

  --agents FILE   The program, built for release
  --python FILE   A Python that has openai-agents and langgraph-checkpoint-sqlite; without it these two are left out
  --dir DIR       Measure in DIR. Otherwise on a fresh ext4 image when run as root, or else in a temporary folder
  --only NAME     One of: save, flat, growing, peers, million, load, command
  --markdown      Print Markdown, for docs/benchmarks.md
";

#[cfg(unix)]
fn main() -> testkit::bench::Result<()> {
    use testkit::bench::{Arguments, run};
    let mut words = std::env::args().skip(1).peekable();
    if words.next_if(|word| word == reading::CHILD).is_some() {
        return reading::child(words);
    }
    let Some(arguments) = Arguments::parse(words, &["--agents", "--python"])? else {
        print!("{HELP}");
        return Ok(());
    };
    let agents = arguments.others.get("--agents").ok_or("--agents is missing; see --help")?;
    let agents = std::path::absolute(agents)?;
    let python = arguments.others.get("--python").map(std::path::absolute).transpose()?;
    let table = run(
        &arguments,
        &[
            ("save", &saving::measure),
            ("flat", &saving::measure_flatness),
            ("growing", &|place, report| saving::measure_growing(python.as_deref(), place, report)),
            ("peers", &|place, report| saving::measure_peers(python.as_deref(), place, report)),
            ("million", &reading::measure_million),
            ("load", &reading::measure_load),
            ("command", &|place, report| command::measure(&agents, place, report)),
        ],
    )?;
    print!("{table}");
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the peers are written for Unix");
}
