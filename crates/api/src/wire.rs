//! What a command in a sandbox and the run around it say to each other: the forms of requests and answers, on both sides.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use config::Layer;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{Entry, Got, LayerSays, Place, Problem, Shown, Spot};
use crate::{ContextName, Kind, Revision};

/// The words that a request begins with.
pub(crate) const RECORD: &str = "record";
pub(crate) const APPEND: &str = "append";
pub(crate) const GET: &str = "get";

/// To record a change. Its content follows, or its patch; then its base, if that is given as a content.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    pub changeset: String,
    pub root: Option<String>,
    pub path: String,
    pub deed: Deed,
    pub base: Option<Given>,
    pub tool: Option<String>,
}

/// What is done to a path.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Deed {
    Content { mode: Option<u32> },
    Patch,
    Delete,
    RenameTo(String),
    Mode(u32),
    Symlink(String),
}

/// What was at a path.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Given {
    Nothing,
    Content,
}

/// To append messages. They follow, as a list in JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Append {
    pub name: ContextName,
    pub if_revision: Option<Revision>,
}

/// To get the value of a key.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Get {
    pub key: String,
    pub reveal: bool,
}

/// The answer to it: a value in all its spellings.
#[derive(Serialize, Deserialize)]
pub(crate) struct GotSaid {
    key: String,
    secret: bool,
    value: Option<ShownSaid>,
    origin: Option<PlaceSaid>,
    layers: Vec<LayerSaid>,
    problems: Vec<ProblemSaid>,
}

#[derive(Serialize, Deserialize)]
struct ShownSaid {
    json: Value,
    text: String,
    toml: String,
}

#[derive(Serialize, Deserialize)]
struct PlaceSaid {
    layer: String,
    file: Option<String>,
    line: Option<usize>,
    variable: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct LayerSaid {
    layer: String,
    value: Option<ShownSaid>,
    origin: Option<PlaceSaid>,
    problem: Option<String>,
}

/// Why a request was refused.
#[derive(Serialize, Deserialize)]
pub(crate) struct ProblemSaid {
    kind: Kind,
    code: String,
    text: String,
    #[serde(default)]
    causes: Vec<String>,
    hint: Option<String>,
    spot: Option<Spot>,
}

/// As a refusal goes out.
pub(crate) fn refusal(problem: Problem) -> Value {
    said(&ProblemSaid::of(problem))
}

/// Anything as it goes out.
pub(crate) fn said(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).expect("answers are made of text, numbers and lists")
}

impl GotSaid {
    pub(crate) fn of(got: Got) -> Self {
        let Entry { key, value, secret, origin } = got.entry;
        let layers = got.layers.into_iter().map(|says| LayerSaid {
            layer: says.layer.to_owned(),
            value: says.value.map(ShownSaid::of),
            origin: says.origin.map(PlaceSaid::of),
            problem: says.problem,
        });
        Self {
            key,
            secret,
            value: value.map(ShownSaid::of),
            origin: origin.map(PlaceSaid::of),
            layers: layers.collect(),
            problems: got.problems.into_iter().map(ProblemSaid::of).collect(),
        }
    }

    pub(crate) fn heard(self) -> Got {
        let layers = self.layers.into_iter().map(|says| LayerSays {
            layer: layer(&says.layer),
            value: says.value.map(ShownSaid::heard),
            origin: says.origin.map(PlaceSaid::heard),
            problem: says.problem,
        });
        Got {
            entry: Entry {
                key: self.key,
                value: self.value.map(ShownSaid::heard),
                secret: self.secret,
                origin: self.origin.map(PlaceSaid::heard),
            },
            layers: layers.collect(),
            problems: self.problems.into_iter().map(ProblemSaid::heard).collect(),
        }
    }
}

impl ShownSaid {
    fn of(Shown { json, text, toml }: Shown) -> Self {
        Self { json, text, toml }
    }

    fn heard(self) -> Shown {
        Shown { json: self.json, text: self.text, toml: self.toml }
    }
}

impl PlaceSaid {
    fn of(Place { layer, file, line, variable }: Place) -> Self {
        Self { layer: layer.to_owned(), file, line, variable }
    }

    fn heard(self) -> Place {
        Place { layer: layer(&self.layer), file: self.file, line: self.line, variable: self.variable }
    }
}

impl ProblemSaid {
    fn of(Problem { kind, code, text, causes, hint, spot }: Problem) -> Self {
        Self { kind, code: code.to_owned(), text, causes, hint, spot }
    }

    pub(crate) fn heard(self) -> Problem {
        let Self { kind, code, text, causes, hint, spot } = self;
        Problem { kind, code: kept(code), text, causes, hint, spot }
    }
}

/// The layer of that name. One that is not known here is of a newer program, and weaker than nothing.
fn layer(name: &str) -> &'static str {
    use Layer::{Default, Environment, Flag, Global, Local, Project};
    let known = [Flag, Environment, Local, Project, Global, Default].map(Layer::name);
    known.into_iter().find(|known| *known == name).unwrap_or(Default.name())
}

/// A code that came in, for good: there are as many as programs have codes, and each is kept once.
fn kept(code: String) -> &'static str {
    static CODES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = codes.get(code.as_str()) {
        return known;
    }
    let code: &'static str = code.leak();
    codes.insert(code);
    code
}
