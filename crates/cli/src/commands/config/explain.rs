//! `agents config explain`.

use api::{Explanation, Value};

use super::get::print_layers;
use super::{key, warn_of};
use crate::error::Result;
use crate::output::{Answer, Output};
use crate::session::Session;

/// Explain a key: help, valid values, and its value in every layer
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Key, such as `plan.concurrency`
    key: String,
}

pub(super) fn run(args: &Args, session: &Session<'_>, output: &mut Output) -> Result<Answer> {
    let explanation = session.config.explain(&key(&args.key)?)?;
    print(&explanation, output)?;
    warn_of(&explanation.problems, output);
    Ok(Answer::of(&explanation))
}

fn print(explanation: &Explanation, output: &mut Output) -> Result<()> {
    let Explanation { key, help, value_type, allowed, default, variable, scopes, secret, .. } = explanation;
    let paint = output.paint();
    output.print(format!("{}: {help}", paint.strong(key)))?;
    output.print("")?;
    let mut line =
        |name: &str, text: &str| output.print(format!("  {}  {text}", paint.faint(format!("{name:<8}"))));
    line("type", value_type)?;
    line("allowed", allowed)?;
    line("default", &default.as_ref().map_or_else(|| "none".to_owned(), Value::to_toml))?;
    line("variable", variable.as_deref().unwrap_or("none"))?;
    line("scopes", &scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(", "))?;
    if *secret {
        line("secret", "yes: shown by `get --reveal` only, set by `set --stdin` only")?;
    }
    output.print("")?;
    print_layers(&explanation.layers, explanation.origin.as_ref(), output)
}
