//! The replacement of one file, crashed at every point.

use filetx::{FailureOutcome, RelPath, ReplaceOptions, Sweep, replace_in};
use testkit::explore::{Report, Workload};
use testkit::sim::SimDisk;

use testkit::chain;

use super::model::Outcomes;
use super::states::{figure, limits};

const CONTENTS: [&str; 3] = ["old", "new content", "newest"];

fn options() -> ReplaceOptions {
    ReplaceOptions { sweep: Sweep::Leftovers, ..ReplaceOptions::default() }
}

fn replace(disk: &SimDisk, content: &str) -> Result<(), filetx::Failure> {
    let path = RelPath::new("config").expect("a plain name");
    replace_in(&*disk.root("a"), &path, content.as_bytes(), &options()).map(|_| ())
}

pub(crate) fn explore() -> Report {
    let workload = Workload {
        name: "replace one file",
        setup: &|disk| {
            disk.make_root("a");
            disk.external_write("a", "config", CONTENTS[0].as_bytes());
        },
        run: &|disk, acks: &testkit::explore::Acks<Outcomes>| {
            for content in &CONTENTS[1..] {
                match replace(disk, content) {
                    Ok(()) => acks.note(|outcomes| outcomes.acknowledged += 1),
                    Err(failure) => {
                        acks.note(|outcomes| outcomes.aborted = failure.outcome == FailureOutcome::Aborted);
                        return;
                    }
                }
            }
        },
        recover: &|_| Ok(()),
        check: &|disk, outcomes| {
            let now = disk.external_read("a", "config").ok_or("the file is gone")?;
            let found = CONTENTS.iter().position(|content| content.as_bytes() == now);
            let found = found.ok_or_else(|| format!("a torn file: {now:?}"))?;
            let least = outcomes.acknowledged;
            let most = if outcomes.aborted { least } else { least + 1 };
            if found < least || found > most {
                return Err(format!("content {found} is there, expected {least} to {most}"));
            }
            // The next replacement sweeps the leftovers of a killed one.
            let next = disk.fork();
            next.new_program();
            replace(&next, "last").map_err(|error| chain(&error))?;
            match next.external_list("a", "").len() {
                1 => Ok(()),
                _ => Err(format!("leftovers: {:?}", next.external_list("a", ""))),
            }
        },
    };
    testkit::explore::explore::<Outcomes>(&workload, &limits())
}

#[test]
fn one_file_is_old_or_new() {
    let report = explore();
    report.assert_clean();
    figure("replace one file", &report);
}
