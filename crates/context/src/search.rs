//! Finding messages by words, role and time, over one or many contexts.
//!
//! Nothing is indexed: messages are read once, a piece at a time, and each hit is given as it is found. Writers do not wait.

use jiff::Timestamp;
use serde::Serialize;

use crate::model::serialize;
use crate::{Contexts, Error, Message, MessageId, Messages, Name, Role};

/// What is looked for.
#[derive(Clone, Default, Debug)]
pub struct Query {
    /// Words that all have to be in the text, in any order and whether large or small.
    pub words: Vec<String>,
    /// Only what this role says.
    pub role: Option<Role>,
    /// Only what was said at this time or later.
    pub since: Option<Timestamp>,
    /// Only what was said before this time.
    pub until: Option<Timestamp>,
    /// How many lines of the text to give before and after a line with one of the words.
    pub around: usize,
}

/// A message that was found.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Hit {
    /// Its context.
    #[serde(rename = "context")]
    pub name: Name,
    /// Its number there, counted from 0.
    pub number: u64,
    /// Its id.
    pub id: Option<MessageId>,
    /// Who said it.
    pub role: Role,
    /// When.
    #[serde(serialize_with = "serialize::optional_text")]
    pub time: Option<Timestamp>,
    /// Lines of its text: those with one of the words, and those around them. Without words, the first.
    pub lines: Vec<Line>,
}

/// A line of a text.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Line {
    /// Its number in the text, counted from 1.
    pub number: usize,
    /// Whether one of the words is in it.
    pub is_match: bool,
    /// The line.
    pub text: String,
}

impl Query {
    /// All words of a text.
    pub fn words(text: &str) -> Query {
        let words = text.split_whitespace().map(str::to_lowercase).collect();
        Query { words, ..Query::default() }
    }

    /// What is found in a message; `None` when it does not match.
    pub fn find(&self, message: &Message) -> Option<Vec<Line>> {
        if self.role.as_ref().is_some_and(|role| role != message.role()) {
            return None;
        }
        let is_within = |time: Timestamp| {
            self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
        };
        let has_range = self.since.is_some() || self.until.is_some();
        if has_range && !message.time().is_some_and(is_within) {
            return None;
        }
        let text = message.content().text();
        let words: Vec<String> = self.words.iter().map(|word| word.to_lowercase()).collect();
        let lowered = text.to_lowercase();
        if !words.iter().all(|word| lowered.contains(word.as_str())) {
            return None;
        }
        let all: Vec<&str> = text.lines().collect();
        let has_word = |line: &str| {
            let line = line.to_lowercase();
            words.iter().any(|word| line.contains(word.as_str()))
        };
        let matches: Vec<bool> = all.iter().map(|line| has_word(line)).collect();
        let is_shown = |at: usize| match words.is_empty() {
            true => at == 0,
            false => {
                let end = all.len().min(at + self.around + 1);
                matches[at.saturating_sub(self.around)..end].contains(&true)
            }
        };
        let shown = (0..all.len()).filter(|at| is_shown(*at));
        Some(
            shown
                .map(|at| Line { number: at + 1, is_match: matches[at], text: all[at].to_owned() })
                .collect(),
        )
    }
}

impl Contexts {
    /// Looks for messages in these contexts, or in all when `names` is empty. Hits come in the order of the contexts and of their messages, as
    /// they are found.
    ///
    /// Safe beside writers in any thread or process, which do not wait for it. Writes nothing. A context that cannot be read, or is
    /// rewound meanwhile, is an error among the hits, and the search goes on with the next.
    #[track_caller]
    pub fn search(&self, names: &[Name], query: Query) -> Result<Search, Error> {
        let is_all = names.is_empty();
        let names = if is_all { self.ground.names()? } else { names.to_vec() };
        Ok(Search { contexts: self.clone(), query, names: names.into_iter(), is_all, current: None })
    }
}

/// Hits, as they are found.
#[must_use = "nothing is read before it is iterated"]
pub struct Search {
    contexts: Contexts,
    query: Query,
    names: std::vec::IntoIter<Name>,
    is_all: bool,
    current: Option<(Name, Messages)>,
}

impl Iterator for Search {
    type Item = Result<Hit, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((name, messages)) = &mut self.current else {
                let name = self.names.next()?;
                match self.contexts.open(&name) {
                    Ok(context) => self.current = Some((name, context.messages(..))),
                    // A folder without a context, or one that was just removed.
                    Err(Error::NotFound { .. }) if self.is_all => {}
                    Err(error) => return Some(Err(error)),
                }
                continue;
            };
            match messages.next() {
                None => self.current = None,
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(one)) => {
                    let Some(lines) = self.query.find(&one.message) else { continue };
                    return Some(Ok(Hit {
                        name: name.clone(),
                        number: one.number,
                        id: one.message.id(),
                        role: one.message.role().clone(),
                        time: one.message.time(),
                        lines,
                    }));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Message {
        let text = serde_json::Value::from(text);
        Message::read(&format!(r#"{{"role":"user","time":"2026-01-02T00:00:00Z","content":{text}}}"#))
            .unwrap()
    }

    fn found(query: &Query, text: &str) -> Option<Vec<(usize, bool)>> {
        let lines = query.find(&message(text))?;
        Some(lines.into_iter().map(|line| (line.number, line.is_match)).collect())
    }

    #[test]
    fn all_words_have_to_be_there_in_any_order() {
        let query = Query::words("Torn file");
        assert_eq!(found(&query, "a FILE that\nis fine\nand not TORN"), Some(vec![(1, true), (3, true)]));
        assert_eq!(found(&query, "a file"), None);
        assert_eq!(found(&Query::words("é"), "CAFÉ"), Some(vec![(1, true)]));
    }

    #[test]
    fn lines_around_a_match_are_given_once() {
        let mut query = Query::words("x");
        query.around = 1;
        let lines = found(&query, "a\nb\nx\nc\nx\nd\ne");
        assert_eq!(lines, Some(vec![(2, false), (3, true), (4, false), (5, true), (6, false)]));
    }

    #[test]
    fn role_and_time_narrow_it() {
        let time = |text: &str| Some(text.parse().unwrap());
        let query = Query { role: Some(Role::Tool), ..Query::default() };
        assert_eq!(found(&query, "a"), None);
        let query = Query { role: Some(Role::User), since: time("2026-01-02T00:00:00Z"), ..Query::default() };
        assert_eq!(found(&query, "a\nb"), Some(vec![(1, false)]));
        let query = Query { until: time("2026-01-02T00:00:00Z"), ..Query::default() };
        assert_eq!(found(&query, "a"), None);
        let timeless = Message::read(r#"{"role":"user","content":"a"}"#).unwrap();
        assert!(query.find(&timeless).is_none() && Query::words("a").find(&timeless).is_some());
    }
}
