//! `cargo xtask fuzz`: fuzzes the readers of untrusted bytes. The targets are in `fuzz/`, outside of the workspace.

use crate::error::{Error, Result};
use crate::run::{Run, cargo, root};
use crate::tools::{self, Availability};

pub(crate) const HELP: &str = "\
Fuzz the readers of everything that others may have written: journals, contexts, plan files, messages of actors, audit exports, configuration.

Usage: cargo xtask fuzz [TARGET] [--seconds N]

  TARGET        Fuzz one target, a folder of fuzz/seeds [default: all, one after the other]
  --seconds N   Fuzz each target for N seconds [default: 60]

Starts from fuzz/seeds and the corpus of earlier runs in target/fuzz/corpus. Installs cargo-fuzz into target/tools. Failing input is kept in
target/fuzz/artifacts and named: add it to fuzz/seeds, where `cargo xtask test` runs it.
";

const TARGETS: [&str; 14] = [
    "own_journal",
    "tree_journal",
    "pointer",
    "watermark",
    "unpublished",
    "archive",
    "legacy_layout",
    "index",
    "tail",
    "plan_file",
    "socket",
    "audit_export",
    "checkpoint",
    "config_file",
];
const SECONDS: u32 = 60;

/// Targets, and seconds for each.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Request {
    targets: Vec<&'static str>,
    seconds: u32,
}

pub(crate) fn parse(mut words: &[&str]) -> Result<Request> {
    let mut request = Request { targets: TARGETS.to_vec(), seconds: SECONDS };
    while let Some((word, rest)) = words.split_first() {
        words = rest;
        if *word == "--seconds" {
            let (value, rest) = words.split_first().unwrap_or((&"", &[]));
            words = rest;
            let seconds = value.parse().ok().filter(|seconds| *seconds > 0);
            request.seconds =
                seconds.ok_or_else(|| Error::Usage(format!("`{value}` is not a number of seconds")))?;
        } else {
            let target = TARGETS.into_iter().find(|target| target == word);
            let unknown = || format!("unknown fuzz target `{word}`; choose one of {}", TARGETS.join(", "));
            request.targets = vec![target.ok_or_else(|| Error::Usage(unknown()))?];
        }
    }
    Ok(request)
}

pub(crate) fn fuzz(request: &Request) -> Result<()> {
    let mut run = Run::start()?;
    if let Availability::Missing(reason) = tools::install_cargo(&mut run, "fuzz")? {
        return Err(Error::Tool { step: "fuzz", reason });
    }
    targets(&mut run, request)?;
    run.finish()
}

/// Fuzzes all targets as part of a longer run; skipped without cargo-fuzz.
pub(crate) fn all(run: &mut Run, seconds: u32) -> Result<()> {
    match tools::install_cargo(run, "fuzz")? {
        Availability::Ready => targets(run, &Request { targets: TARGETS.to_vec(), seconds }),
        Availability::Missing(reason) => run.skip("fuzz", &reason),
    }
}

fn targets(run: &mut Run, request: &Request) -> Result<()> {
    for target in &request.targets {
        let folder = root().join("target/fuzz");
        let (corpus, artifacts) = (folder.join("corpus").join(target), folder.join("artifacts").join(target));
        for folder in [&corpus, &artifacts] {
            std::fs::create_dir_all(folder).map_err(Error::io(format!("create {}", folder.display())))?;
        }
        // Safe Rust needs no sanitizer; the instrumentation needs unstable flags.
        let mut command = cargo("fuzz run --fuzz-dir fuzz --sanitizer none --target-dir target/fuzz");
        command.env("RUSTC_BOOTSTRAP", "1").arg(target).arg(&corpus).arg(format!("fuzz/seeds/{target}"));
        command.arg("--").arg(format!("-max_total_time={}", request.seconds));
        command
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .args(["-timeout=60", "-max_len=65536"]);
        run.step(&format!("fuzz {target}"), command)?;
        run.figure(&format!("seconds of fuzzing `{target}`, nothing found"), &request.seconds.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_seconds_are_read() {
        assert_eq!(parse(&[]).unwrap(), Request { targets: TARGETS.to_vec(), seconds: SECONDS });
        assert_eq!(
            parse(&["tail", "--seconds", "5"]).unwrap(),
            Request { targets: vec!["tail"], seconds: 5 }
        );
        for words in [&["heads"][..], &["--seconds"], &["--seconds", "0"], &["--seconds", "long"]] {
            assert_eq!(parse(words).unwrap_err().exit_code(), 2, "{words:?}");
        }
    }
}
