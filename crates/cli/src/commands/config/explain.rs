//! `agents config explain`.

use api::{Explanation, LayerView};

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
    let Explanation { key, help, allowed, variable, scopes, secret, .. } = explanation;
    let paint = output.paint();
    let value = explanation.value.as_ref().map(|value| format!(" = {}", value.to_toml())).unwrap_or_default();
    output.print(format!("{}{value}: {help}", paint.strong(key)))?;
    let mut line =
        |name: &str, text: &str| output.print(format!("  {}  {text}", paint.faint(format!("{name:<11}"))));
    let variable = variable.as_ref().map(|name| format!("; variable {name}")).unwrap_or_default();
    line("allowed", &format!("{allowed}{variable}"))?;
    line("scopes", &scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(", "))?;
    if *secret {
        line("secret", "shown by get --reveal, set by set --stdin")?;
    }
    let is_set = |view: &&LayerView| view.value.is_some() || view.problem.is_some();
    let layers: Vec<LayerView> = explanation.layers.iter().filter(is_set).cloned().collect();
    print_layers(&layers, explanation.origin.as_ref(), output)
}
