//! `agents config watch`.

use api::{Event, Held};

use super::{key, place};

use crate::error::{Exit, Result};
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Print a line for each change, whoever makes it, until Ctrl-C
///
/// Changes are noticed from whatever process or editor, however it saves, also of files and folders that do not exist yet. A value that was
/// there for a moment only may go unnoticed. With `--format json` each line is a JSON object whose `event` is `watching` (once, when it has
/// begun), `change`, `problem`, or `end`. Ends with 130 by Ctrl-C.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only this key and those below it, such as `plan`
    prefix: Option<String>,
}

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let mut watch = session.agents().watch(args.prefix.as_deref().map(key).transpose()?.as_ref())?;
    let stopper = watch.stopper();
    let interrupt = Interrupt::listen_and(move || stopper.stop())?;
    let paths = session.agents().paths()?;
    output.begin_stream(&serde_json::json!({ "event": "watching", "files": paths.files }))?;
    let files: Vec<_> = paths.files.iter().map(|file| file.file.as_str()).collect();
    output.hint_at(format!("watching {}; Ctrl-C ends it", files.join(", ")));
    while let Some(events) = watch.wait() {
        for event in events {
            print(event, output)?;
        }
    }
    drop(interrupt);
    Ok(Answer { exit: Exit::Interrupted, data: serde_json::Value::Null.into() })
}

fn print(event: Event, output: &mut Output) -> Result<()> {
    output.stream(&event)?;
    match event {
        Event::Change(changed) => {
            let paint = output.paint();
            let show = |held: &Option<Held>| match held {
                Some(Held { value, origin }) => {
                    format!("{} {}", value.to_toml(), paint.faint(format!("({})", place(origin))))
                }
                None => paint.faint("not set"),
            };
            let (key, arrow) = (paint.strong(changed.key), paint.sign("→", "->"));
            output.say(format!("{key}: {} {arrow} {}", show(&changed.old), show(&changed.new)))
        }
        Event::Problem(problem) => {
            output.told(problem);
            Ok(())
        }
    }
}
