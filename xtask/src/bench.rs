//! `cargo xtask bench`: measures one part beside its peers. Each bench is an example of the crate it measures.

use crate::error::{Error, Result};
use crate::run::{Run, cargo};

struct Bench {
    name: &'static str,
    package: &'static str,
    example: &'static str,
    about: &'static str,
}

const BENCHES: &[Bench] = &[Bench {
    name: "filetx",
    package: "cleveragents-filetx",
    example: "bench_filetx",
    about: "replace, own-folder and tree commits, locks; beside hand-written loops",
}];

/// Runs the bench `name`; what follows the name goes to the bench itself.
pub(crate) fn bench(name: &str, arguments: &[&str]) -> Result<()> {
    let bench = BENCHES
        .iter()
        .find(|bench| bench.name == name)
        .ok_or_else(|| Error::Usage(format!("there is no bench `{name}`; there is: {}", names())))?;
    let words = format!("run --release --package {} --example {}", bench.package, bench.example);
    let mut command = cargo(&words);
    command.arg("--").args(arguments);
    Run::start()?.step(&format!("bench {name}"), command)
}

pub(crate) fn names() -> String {
    BENCHES.iter().map(|bench| bench.name).collect::<Vec<_>>().join(", ")
}

pub(crate) fn help() -> String {
    let mut text = "Measures one part beside its peers, interleaved, and prints ratios.\n\nUsage: cargo xtask bench NAME [ARGUMENT...]\n\n".to_owned();
    for bench in BENCHES {
        text += &format!("  {:10} {}\n", bench.name, bench.about);
    }
    text += "\nArguments go to the bench: `cargo xtask bench NAME --help` lists them.\n";
    text
}
