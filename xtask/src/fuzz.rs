//! `cargo xtask fuzz`: programs that look for bytes which break what is read from outside. They are in `fuzz/`, apart from the workspace.

use crate::error::{Error, Result};
use crate::run::{Run, cargo, root};
use crate::tools::{self, Availability};

pub(crate) const HELP: &str = "\
Looks for bytes that break a context: an archive, the files of an older tool, the index, what follows the last message.

Usage: cargo xtask fuzz [TARGET] [--seconds N]

  TARGET        One of: archive, legacy_layout, index, tail [default: all, one after the other]
  --seconds N   How long each one looks [default: 60]

Begins with fuzz/seeds and what earlier runs found in target/fuzz/corpus. Installs cargo-fuzz into target/tools. Input that breaks something is
kept in target/fuzz/artifacts and named: put it into fuzz/seeds, where `cargo xtask test` runs it from then on.
";

const TARGETS: [&str; 4] = ["archive", "legacy_layout", "index", "tail"];
const SECONDS: u32 = 60;

/// What to run.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    targets: Vec<&'static str>,
    seconds: u32,
}

pub(crate) fn parse(mut words: &[&str]) -> Result<Wanted> {
    let mut wanted = Wanted { targets: TARGETS.to_vec(), seconds: SECONDS };
    while let Some((word, rest)) = words.split_first() {
        words = rest;
        if *word == "--seconds" {
            let (value, rest) = words.split_first().unwrap_or((&"", &[]));
            words = rest;
            let seconds = value.parse().ok().filter(|seconds| *seconds > 0);
            wanted.seconds =
                seconds.ok_or_else(|| Error::Usage(format!("`{value}` is not a number of seconds")))?;
        } else {
            let target = TARGETS.into_iter().find(|target| target == word);
            let unknown = || format!("there is no fuzz target `{word}`; there is: {}", TARGETS.join(", "));
            wanted.targets = vec![target.ok_or_else(|| Error::Usage(unknown()))?];
        }
    }
    Ok(wanted)
}

pub(crate) fn fuzz(wanted: &Wanted) -> Result<()> {
    let mut run = Run::start()?;
    if let Availability::Missing(reason) = tools::install_cargo(&mut run, "fuzz")? {
        return Err(Error::Tool { step: "fuzz", reason });
    }
    targets(&mut run, wanted)?;
    run.finish()
}

/// As part of a longer run; without cargo-fuzz it is skipped.
pub(crate) fn all(run: &mut Run, seconds: u32) -> Result<()> {
    match tools::install_cargo(run, "fuzz")? {
        Availability::Ready => targets(run, &Wanted { targets: TARGETS.to_vec(), seconds }),
        Availability::Missing(reason) => run.skip("fuzz", &reason),
    }
}

fn targets(run: &mut Run, wanted: &Wanted) -> Result<()> {
    for target in &wanted.targets {
        let made = root().join("target/fuzz");
        let (corpus, artifacts) = (made.join("corpus").join(target), made.join("artifacts").join(target));
        for folder in [&corpus, &artifacts] {
            std::fs::create_dir_all(folder).map_err(Error::io(format!("make {}", folder.display())))?;
        }
        // All of it is safe Rust, so no sanitizer is needed; what looks for new paths takes flags that are not stable.
        let mut command = cargo("fuzz run --fuzz-dir fuzz --sanitizer none --target-dir target/fuzz");
        command.env("RUSTC_BOOTSTRAP", "1").arg(target).arg(&corpus).arg(format!("fuzz/seeds/{target}"));
        command.arg("--").arg(format!("-max_total_time={}", wanted.seconds));
        command
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .args(["-timeout=60", "-max_len=65536"]);
        run.step(&format!("fuzz {target}"), command)?;
        run.figure(&format!("seconds of fuzzing `{target}`, nothing found"), &wanted.seconds.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_seconds_are_read() {
        assert_eq!(parse(&[]).unwrap(), Wanted { targets: TARGETS.to_vec(), seconds: SECONDS });
        assert_eq!(parse(&["tail", "--seconds", "5"]).unwrap(), Wanted { targets: vec!["tail"], seconds: 5 });
        for words in [&["heads"][..], &["--seconds"], &["--seconds", "0"], &["--seconds", "long"]] {
            assert_eq!(parse(words).unwrap_err().exit_code(), 2, "{words:?}");
        }
    }
}
