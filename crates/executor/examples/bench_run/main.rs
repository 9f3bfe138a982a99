//! Measures runs of actors beside copying the tree and starting them by hand.
//!
//! `cargo xtask bench run` builds the program and says where it is. `docs/benchmarks.md` has the last figures and what they mean.
#![cfg_attr(
    target_os = "linux",
    expect(clippy::print_stdout, reason = "the figures are what this program is for")
)]
#![cfg_attr(target_os = "linux", expect(clippy::disallowed_methods, reason = "trees are made by hand"))]

#[cfg(target_os = "linux")]
mod runs;
#[cfg(target_os = "linux")]
mod sandboxes;
#[cfg(target_os = "linux")]
mod trees;

#[cfg(target_os = "linux")]
const HELP: &str = "\
Measures runs of actors beside copying the tree and starting them by hand.

Usage: bench_run --agents FILE [--dir DIR] [--only NAME] [--markdown]

  --agents FILE   The program, built for release
  --dir DIR       Measure in DIR. Otherwise on a fresh ext4 image when run as root, or else in a temporary folder
  --only NAME     One of: one, nodes, many, sandbox, changes
  --markdown      Print Markdown, for docs/benchmarks.md
";

#[cfg(target_os = "linux")]
fn main() -> testkit::bench::Result<()> {
    use testkit::bench::{Arguments, InstallDir, run};
    let Some(arguments) = Arguments::parse(std::env::args().skip(1), &["--agents"])? else {
        print!("{HELP}");
        return Ok(());
    };
    let agents = arguments.others.get("--agents").ok_or("--agents is missing; see --help")?;
    let installed = InstallDir::new()?;
    let agents = installed.copy(std::path::Path::new(agents))?;
    let table = run(
        &arguments,
        &[
            ("one", &|place, report| runs::measure_one(&agents, place, report)),
            ("nodes", &|place, report| runs::measure_nodes(&agents, place, report)),
            ("many", &|place, report| runs::measure_many(&agents, place, report)),
            ("sandbox", &sandboxes::measure_making),
            ("changes", &sandboxes::measure_changes),
        ],
    )?;
    print!("{table}");
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("actors run on Linux only");
}
