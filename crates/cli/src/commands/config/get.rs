//! `agents config get`.

use api::{Key, LayerView, Lookup, Origin, Reveal};

use super::{describe_origin, key, place, warn_of};
use crate::error::Result;
use crate::output::{Answer, Output};

/// Print the value of a key
///
/// Exits with 3 if the key has no value.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Key, such as `plan.concurrency`
    key: String,
    /// Print the origin of the value and a tab first
    #[arg(long)]
    show_origin: bool,
    /// Print the value in every layer, strongest first
    #[arg(long)]
    all_layers: bool,
    /// Print a secret in plain text
    #[arg(long)]
    reveal: bool,
}

/// Gets a key from the files, or from the run of the sandbox.
pub(super) fn run(
    args: &Args,
    get: impl FnOnce(&Key, Reveal) -> std::result::Result<Lookup, api::Error>,
    output: &mut Output,
) -> Result<Answer> {
    let reveal = if args.reveal { Reveal::Yes } else { Reveal::No };
    let got = get(&key(&args.key)?, reveal)?;
    warn_of(&got.problems, output);
    if args.all_layers {
        print_layers(&got.layers, got.entry.origin.as_ref(), output)?;
    } else {
        let origin = got.entry.origin.as_ref().filter(|_| args.show_origin);
        let origin = origin
            .map(|origin| format!("{}\t", output.paint().faint(describe_origin(origin))))
            .unwrap_or_default();
        let value = got.entry.value.as_ref().map(ToString::to_string).unwrap_or_default();
        output.print_text(format!("{origin}{value}"))?;
    }
    Ok(Answer::of(&got))
}

/// Prints a line for each layer; marks the effective one.
pub(super) fn print_layers(
    layers: &[LayerView],
    effective: Option<&Origin>,
    output: &mut Output,
) -> Result<()> {
    let paint = output.paint();
    for LayerView { layer, value, origin, problem } in layers {
        let is_effective = effective.is_some_and(|origin| origin.layer() == *layer);
        let mark = if is_effective { paint.symbol("→", ">") } else { " " };
        let text = match (value, problem) {
            (Some(value), _) if is_effective => paint.strong(value.to_toml()),
            (Some(value), _) => value.to_toml(),
            (None, Some(_)) => paint.bad("unusable"),
            (None, None) => paint.faint("-"),
        };
        let line = format!("{mark} {layer:<11}  {text}");
        let position = match origin {
            Some(origin @ (Origin::Variable { .. } | Origin::File { .. })) => {
                paint.faint(format!("  # {}", place(origin)))
            }
            _ => String::new(),
        };
        output.print(format!("{line}{position}"))?;
    }
    Ok(())
}
