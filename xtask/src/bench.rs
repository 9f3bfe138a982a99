//! `cargo xtask bench`: measures one part beside its peers. Each bench is an example of the crate it measures.

use std::path::Path;
use std::process::Command;

use crate::error::{Error, Result};
use crate::run::{Run, cargo, root};
use crate::tools::{self, Availability};

struct Bench {
    name: &'static str,
    package: &'static str,
    example: &'static str,
    about: &'static str,
    /// Builds and installs its dependencies. Returns arguments with their paths.
    prepare: fn(&mut Run) -> Result<Vec<String>>,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "filetx",
        package: "cleveragents-filetx",
        example: "bench_filetx",
        about: "replace, own-folder and tree commits, locks; beside hand-written loops",
        prepare: |_| Ok(Vec::new()),
    },
    Bench {
        name: "config",
        package: "cleveragents-config",
        example: "bench_config",
        about: "`agents config set` and `get`; beside a Python script, a minimal program and `git config`",
        prepare: prepare_config,
    },
    Bench {
        name: "context",
        package: "cleveragents-context",
        example: "bench_context",
        about: "saves of contexts; beside bare writes, JSON Lines, four renames, SQLiteSession and SqliteSaver",
        prepare: prepare_context,
    },
    Bench {
        name: "records",
        package: "cleveragents-store",
        example: "bench_records",
        about: "records into changesets; beside SQLite by hand",
        prepare: |_| Ok(Vec::new()),
    },
    Bench {
        name: "store",
        package: "cleveragents-store",
        example: "bench_store",
        about: "records on PostgreSQL; beside pgbench",
        prepare: |_| Ok(Vec::new()),
    },
    Bench {
        name: "apply",
        package: "cleveragents-plan",
        example: "bench_apply",
        about: "applying plans; beside git",
        prepare: |_| Ok(Vec::new()),
    },
    Bench {
        name: "diff",
        package: "cleveragents-plan",
        example: "bench_diff",
        about: "the diff of a plan; beside `git diff --no-index`",
        prepare: |_| Ok(Vec::new()),
    },
    Bench {
        name: "run",
        package: "cleveragents-executor",
        example: "bench_run",
        about: "runs of actors and their sandboxes; beside copying and starting by hand, and git",
        prepare: build_program,
    },
];

/// A name for several benches: recording, showing and applying a plan.
const GROUP: (&str, &[&str]) = ("plan", &["records", "diff", "apply"]);

/// Runs the bench or group `name` with these arguments.
pub(crate) fn bench(name: &str, arguments: &[&str]) -> Result<()> {
    let is_selected = |bench: &&Bench| bench.name == name || name == GROUP.0 && GROUP.1.contains(&bench.name);
    let selected: Vec<_> = BENCHES.iter().filter(is_selected).collect();
    if selected.is_empty() {
        return Err(Error::Usage(format!("unknown bench `{name}`; choose one of {}", names())));
    }
    let mut run = Run::start()?;
    for bench in selected {
        let prepared = (bench.prepare)(&mut run)?;
        let words = format!("run --release --package {} --example {}", bench.package, bench.example);
        let mut command = cargo(&words);
        command.arg("--").args(prepared).args(arguments);
        run.step(&format!("bench {}", bench.name), command)?;
    }
    Ok(())
}

/// Builds the program and its minimal peer for release, and prepares a Python with tomlkit.
fn prepare_config(run: &mut Run) -> Result<Vec<String>> {
    let mut words = build_program(run)?;
    let minimal = cargo("build --release --package cleveragents-config --example minimal_set");
    run.step("build its minimal peer", minimal)?;
    let python = match python_with(run, &[("tomlkit", "tomlkit")])? {
        Python::Ready(python) => python,
        Python::Missing(reason) => return Err(Error::Tool { step: "bench config", reason }),
    };
    let built = |path: &str| root().join("target/release").join(path).display().to_string();
    words.extend(["--minimal", &built("examples/minimal_set"), "--python", &python].map(str::to_owned));
    Ok(words)
}

/// Builds the program for release.
fn build_program(run: &mut Run) -> Result<Vec<String>> {
    run.step("build the program", cargo("build --release --package cleveragents-cli --bin agents"))?;
    Ok(vec!["--agents".to_owned(), root().join("target/release/agents").display().to_string()])
}

/// Builds the program for release, and prepares a Python with the peers. Without Python those peers are left out.
fn prepare_context(run: &mut Run) -> Result<Vec<String>> {
    let mut words = build_program(run)?;
    let peers = [("agents", "openai-agents"), ("langgraph.checkpoint.sqlite", "langgraph-checkpoint-sqlite")];
    match python_with(run, &peers)? {
        Python::Ready(python) => words.extend(["--python".to_owned(), python]),
        Python::Missing(reason) => {
            println!("without SQLiteSession and SqliteSaver; {reason}");
        }
    }
    Ok(words)
}

enum Python {
    Ready(String),
    /// Says what is missing.
    Missing(String),
}

/// Prepares a virtual environment in `target/python` with these modules of these packages.
fn python_with(run: &mut Run, packages: &[(&str, &str)]) -> Result<Python> {
    let folder = root().join("target/python");
    let python = folder.join("bin/python");
    let create = || {
        let mut command = Command::new("python3");
        command.args(["-m", "venv", "--clear"]).arg(&folder);
        command
    };
    const CREATE: &str = "create a virtual environment";
    if !python.is_file() && (tools::find("python3").is_none() || !tools::try_step(run, CREATE, create())?) {
        if let Availability::Missing(reason) = tools::install(run, tools::FOR_PYTHON)? {
            return Ok(Python::Missing(reason));
        }
        if !tools::try_step(run, CREATE, create())? {
            return Ok(Python::Missing("cannot create a virtual environment".to_owned()));
        }
    }
    for (module, package) in packages {
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]);
        if !has_module(&python, module) && !tools::try_step(run, &format!("install {package}"), install)? {
            return Ok(Python::Missing(format!("needs: pip install {package}")));
        }
    }
    Ok(Python::Ready(python.display().to_string()))
}

fn has_module(python: &Path, module: &str) -> bool {
    let import = format!("import {module}");
    Command::new(python).args(["-c", &import]).output().is_ok_and(|output| output.status.success())
}

pub(crate) fn names() -> String {
    BENCHES.iter().map(|bench| bench.name).chain([GROUP.0]).collect::<Vec<_>>().join(", ")
}

pub(crate) fn help() -> String {
    let mut text = "Measure one part beside its peers, interleaved, and print ratios.\n\nUsage: cargo xtask bench NAME [ARGUMENT...]\n\n".to_owned();
    for bench in BENCHES {
        text += &format!("  {:10} {}\n", bench.name, bench.about);
    }
    text += &format!("  {:10} {}\n", GROUP.0, GROUP.1.join(", "));
    text += "\n`cargo xtask bench NAME --help` lists the arguments of a bench.\n";
    text
}
