//! What the run around answers to a command in a sandbox, on both sides. Requests are in `executor`.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Kind;
use crate::answer::{Got, Problem, Spot};

/// The answer to `get`.
#[derive(Serialize, Deserialize)]
pub(crate) struct GotSaid {
    #[serde(flatten)]
    got: Got,
    problems: Vec<ProblemSaid>,
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
    pub(crate) fn of(mut got: Got) -> Self {
        let problems = std::mem::take(&mut got.problems).into_iter().map(ProblemSaid::of).collect();
        Self { got, problems }
    }

    pub(crate) fn heard(self) -> Got {
        Got { problems: self.problems.into_iter().map(ProblemSaid::heard).collect(), ..self.got }
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
