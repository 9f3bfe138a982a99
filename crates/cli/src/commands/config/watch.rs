//! `agents config watch`.

use api::{ConfigEvent, ConfigFile, SourcedValue};
use schemars::JsonSchema;
use serde::Serialize;

use super::{describe_origin, key};

use crate::error::{Exit, Result};
use crate::interrupt::Interrupt;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Print changes as they happen, until Ctrl-C
///
/// Reports changes by any process or editor, also in files and folders that do not exist yet. May
/// miss a value that exists for a moment only. With `--format json`, each line is a JSON object
/// whose `event` is `watching` (once, first), `change`, `problem` or `end`. Ctrl-C exits with 130.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only this key and those below it, such as `plan`
    prefix: Option<String>,
}

/// A line of the stream.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub(super) enum Event<'a> {
    Start(Start<'a>),
    Config(&'a ConfigEvent),
}

/// The first line.
#[derive(JsonSchema, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum Start<'a> {
    Watching { files: &'a [ConfigFile] },
}

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let mut watch = session.agents().watch(args.prefix.as_deref().map(key).transpose()?.as_ref())?;
    let stop_handle = watch.stop_handle();
    let interrupt = Interrupt::listen_and(move || stop_handle.stop())?;
    let paths = session.agents().paths()?;
    output.begin_stream(&Event::Start(Start::Watching { files: &paths.files }))?;
    let files: Vec<_> = paths.files.iter().map(|file| file.file.as_str()).collect();
    output.status(format!("watching {}; Ctrl-C ends it", files.join(", ")));
    while let Some(events) = watch.wait() {
        for event in events {
            print(event, output)?;
        }
    }
    drop(interrupt);
    Ok(Answer { exit: Exit::Interrupted, data: serde_json::Value::Null.into() })
}

fn print(event: ConfigEvent, output: &mut Output) -> Result<()> {
    output.stream(&Event::Config(&event))?;
    match event {
        ConfigEvent::Change(changed) => {
            let paint = output.paint();
            let show = |held: &Option<SourcedValue>| match held {
                Some(SourcedValue { value, origin }) => {
                    format!("{} {}", value.to_toml(), paint.faint(format!("({})", describe_origin(origin))))
                }
                None => paint.faint("not set"),
            };
            let (key, arrow) = (paint.strong(changed.key), paint.symbol("→", "->"));
            output.print(format!("{key}: {} {arrow} {}", show(&changed.old), show(&changed.new)))
        }
        ConfigEvent::Problem(problem) => {
            output.warn_inline(problem);
            Ok(())
        }
    }
}
