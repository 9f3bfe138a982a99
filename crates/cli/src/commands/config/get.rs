//! `agents config get`.

use api::{Got, Key, LayerSays, Origin, Reveal};

use super::{key, place, warn_of};
use crate::error::Result;
use crate::output::{Answer, Output};

/// Print the value of a key
///
/// Ends with 3 when the key has no value.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The key, such as `plan.concurrency`
    key: String,
    /// Print where the value comes from, before it and a tab
    #[arg(long)]
    show_origin: bool,
    /// Print what every layer says, the strongest first
    #[arg(long)]
    all_layers: bool,
    /// Print a secret as it is
    #[arg(long)]
    reveal: bool,
}

/// `get` reads the files, or asks the run around.
pub(super) fn run(
    args: &Args,
    get: impl FnOnce(&Key, Reveal) -> std::result::Result<Got, api::Error>,
    output: &mut Output,
) -> Result<Answer> {
    let reveal = if args.reveal { Reveal::Yes } else { Reveal::No };
    let got = get(&key(&args.key)?, reveal)?;
    warn_of(&got.problems, output);
    if args.all_layers {
        print_layers(&got.layers, got.entry.origin.as_ref(), output)?;
    } else {
        let origin = got.entry.origin.as_ref().filter(|_| args.show_origin);
        let origin =
            origin.map(|origin| format!("{}\t", output.paint().faint(place(origin)))).unwrap_or_default();
        let value = got.entry.value.as_ref().map(ToString::to_string).unwrap_or_default();
        output.say_text(format!("{origin}{value}"))?;
    }
    Ok(Answer::of(&got))
}

/// A line for each layer; the one that decides is marked.
pub(super) fn print_layers(
    layers: &[LayerSays],
    deciding: Option<&Origin>,
    output: &mut Output,
) -> Result<()> {
    let paint = output.paint();
    for LayerSays { layer, value, origin, problem } in layers {
        let decides = deciding.is_some_and(|origin| origin.layer() == *layer);
        let mark = if decides { paint.sign("→", ">") } else { " " };
        let says = match (value, problem) {
            (Some(value), _) if decides => paint.strong(value.to_toml()),
            (Some(value), _) => value.to_toml(),
            (None, Some(_)) => paint.bad("cannot be used"),
            (None, None) => paint.faint("-"),
        };
        let line = format!("{mark} {layer:<11}  {says}");
        let place = match origin {
            Some(origin @ (Origin::Variable { .. } | Origin::File { .. })) => {
                paint.faint(format!("  # {origin}"))
            }
            _ => String::new(),
        };
        output.say(format!("{line}{place}"))?;
    }
    Ok(())
}
