//! Measures the diff of a plan against `git diff --no-index` of the two trees: 400 files created, 400
//! modified, 200 deleted, 4 KiB each.
#![cfg_attr(unix, expect(clippy::print_stdout, reason = "the figures are what this program is for"))]
#![cfg_attr(unix, expect(clippy::disallowed_methods, reason = "plays people who write files"))]

#[cfg(unix)]
const HELP: &str = "\
Measures the diff of a plan beside `git diff --no-index` of the two trees.

Usage: bench_diff [--dir DIR] [--markdown]

  --dir DIR     Measure in DIR. Otherwise on a fresh ext4 image when run as root, or else in a temporary folder
  --markdown    Print Markdown, for docs/benchmarks.md
";

#[cfg(unix)]
fn main() -> testkit::bench::Result<()> {
    let Some(arguments) = testkit::bench::Arguments::parse(std::env::args().skip(1), &[])? else {
        print!("{HELP}");
        return Ok(());
    };
    print!("{}", testkit::bench::run(&arguments, &[("diff", &trees::measure)])?);
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the baselines are written for Unix");
}

#[cfg(unix)]
mod trees {
    use std::fs;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::sync::Arc;
    use std::time::Instant;

    use cleveragents_plan::{
        Actor, Change, OverlaySource, PathBytes, PlanId, Plans, Selection, StoredBlobs, Strategy, diffs,
        write_patch,
    };
    use store::SqliteStore;
    use testkit::bench::{Report, Result, Target, compare};

    const ROUNDS: usize = 20;

    pub(crate) fn measure(place: &Path, report: &mut Report) -> Result<()> {
        let plan = prepare(place)?;
        let ours = || {
            // Open the store again, as a command does.
            let began = Instant::now();
            let plans = Plans::open(Arc::new(SqliteStore::open(&place.join("state.db"))?));
            let patch = diff(&plans, plan)?;
            assert_eq!(memchr::memmem::find_iter(&patch, b"diff --git ").count(), 1000);
            Ok(began.elapsed())
        };
        let git = || {
            let began = Instant::now();
            let mut command = Command::new("git");
            command.args(["diff", "--no-index", "--no-color", "old", "new"]).current_dir(place);
            let output = command.stderr(Stdio::inherit()).output()?;
            assert_eq!(memchr::memmem::find_iter(&output.stdout, b"diff --git ").count(), 1000);
            Ok(began.elapsed())
        };
        let outcome = compare(ROUNDS, 1, ours, git)?.of_processes();
        report.add("diff of 1,000 files, beside `git diff --no-index`", outcome, Target::RatioAtMost(2.0));
        Ok(())
    }

    fn diff(plans: &Plans, plan: PlanId) -> Result<Vec<u8>> {
        let combined = plans.combine(plan, &Selection::default(), Strategy::ThreeWay)?;
        let stored = StoredBlobs(plans.store().as_ref());
        let contents = OverlaySource { overlay: &combined.unstored, base: &stored };
        let mut patch = Vec::new();
        for shown in combined.diff_entries() {
            for diff in diffs(&shown, &contents)? {
                write_patch(&mut patch, &diff)?;
            }
        }
        Ok(patch)
    }

    /// Two trees, and a plan that changes one into the other.
    fn prepare(place: &Path) -> Result<PlanId> {
        let (old, new) = (place.join("old"), place.join("new"));
        fs::create_dir(&old)?;
        fs::create_dir(&new)?;
        let mut random = fastrand::Rng::with_seed(1);
        let plans = Plans::open(Arc::new(SqliteStore::open(&place.join("state.db"))?));
        let mut changes = Vec::new();
        let mut after = Vec::new();
        for number in 0..1000 {
            let name = format!("file-{number:04}");
            let path = PathBytes::parse(name.as_str())?;
            let lines: Vec<String> = (0..64).map(|_| format!("{:063x}\n", random.u128(..))).collect();
            let mut edited = lines.clone();
            for _ in 0..3 {
                edited[random.usize(..64)] = format!("{:063x}\n", random.u128(..));
            }
            let (before, now) = match number {
                0..400 => (None, Some(lines.concat())),
                400..800 => (Some(lines.concat()), Some(edited.concat())),
                _ => (Some(lines.concat()), None),
            };
            if let Some(text) = before {
                fs::write(old.join(&name), text)?;
            }
            changes.push(match &now {
                Some(text) => Change::write(path, text.as_bytes()),
                None => Change::delete(path),
            });
            after.extend(now.map(|text| (name, text)));
        }
        let actor = Actor::parse("coder")?;
        let plan = plans.create(None, &[&old], &actor)?;
        let changeset = plans.context(plan.id)?.start_changeset(&actor)?;
        changeset.record_many(changes)?;
        changeset.seal()?;
        for (name, text) in after {
            fs::write(new.join(name), text)?;
        }
        Ok(plan.id)
    }
}
