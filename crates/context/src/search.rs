//! Searching messages by words, role and time, in one or many contexts.
//!
//! There is no index: a search reads the messages once, in chunks, and returns each hit when it
//! finds it. Writers do not wait.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::serialize;
use crate::{Contexts, Error, Message, MessageId, Messages, Name, Role};

/// A search query.
#[derive(Clone, Default, Debug)]
pub struct SearchQuery {
    /// Words that the text must contain, in any order and any case.
    pub words: Vec<String>,
    /// Role of the message.
    pub role: Option<Role>,
    /// Earliest time of the message.
    pub since: Option<Timestamp>,
    /// Time before which the message was written.
    pub until: Option<Timestamp>,
    /// Number of lines to return before and after a matching line.
    pub context_lines: usize,
}

/// A message that matches.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct SearchHit {
    /// Context of the message.
    #[serde(rename = "context")]
    pub name: Name,
    /// Number of the message in its context, counted from 0.
    pub number: u64,
    /// Id of the message.
    pub id: Option<MessageId>,
    /// Role of the author.
    pub role: Role,
    /// Time of the message.
    #[serde(serialize_with = "serialize::optional_text")]
    #[schemars(with = "Option<String>")]
    pub time: Option<Timestamp>,
    /// Matching lines of the text, with the lines around them; without words, the first line.
    pub lines: Vec<MatchLine>,
}

/// A line of a text.
#[derive(Clone, PartialEq, Eq, JsonSchema, Serialize, Debug)]
pub struct MatchLine {
    /// Number of the line in the text, counted from 1.
    pub number: usize,
    /// True if the line contains one of the words.
    pub is_match: bool,
    /// Text of the line.
    pub text: String,
}

impl SearchQuery {
    /// Creates a query for the words of a text.
    pub fn words(text: &str) -> SearchQuery {
        let words = text.split_whitespace().map(str::to_lowercase).collect();
        SearchQuery { words, ..SearchQuery::default() }
    }

    /// Returns the matching lines of a message; `None` if it does not match.
    pub fn find(&self, message: &Message) -> Option<Vec<MatchLine>> {
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
                let end = all.len().min(at + self.context_lines + 1);
                matches[at.saturating_sub(self.context_lines)..end].contains(&true)
            }
        };
        let shown = (0..all.len()).filter(|at| is_shown(*at));
        Some(
            shown
                .map(|at| MatchLine { number: at + 1, is_match: matches[at], text: all[at].to_owned() })
                .collect(),
        )
    }
}

impl Contexts {
    /// Searches these contexts, or all if `names` is empty. Returns hits in the order of the
    /// contexts and of their messages.
    ///
    /// Safe beside writers in any thread or process, which do not wait for it. Writes nothing. A
    /// context that cannot be read, or that is rewound during the search, is an error among the
    /// hits; the search continues with the next context.
    #[track_caller]
    pub fn search(&self, names: &[Name], query: SearchQuery) -> Result<Search, Error> {
        let is_all = names.is_empty();
        let names = if is_all { self.dir.names()? } else { names.to_vec() };
        Ok(Search { contexts: self.clone(), query, names: names.into_iter(), is_all, current: None })
    }
}

/// Iterator over hits; searches on demand.
#[must_use = "nothing is read before it is iterated"]
pub struct Search {
    contexts: Contexts,
    query: SearchQuery,
    names: std::vec::IntoIter<Name>,
    is_all: bool,
    current: Option<(Name, Messages)>,
}

impl Iterator for Search {
    type Item = Result<SearchHit, Error>;

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
                    return Some(Ok(SearchHit {
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

    fn found(query: &SearchQuery, text: &str) -> Option<Vec<(usize, bool)>> {
        let lines = query.find(&message(text))?;
        Some(lines.into_iter().map(|line| (line.number, line.is_match)).collect())
    }

    #[test]
    fn all_words_must_match_in_any_order() {
        let query = SearchQuery::words("Torn file");
        assert_eq!(found(&query, "a FILE that\nis fine\nand not TORN"), Some(vec![(1, true), (3, true)]));
        assert_eq!(found(&query, "a file"), None);
        assert_eq!(found(&SearchQuery::words("é"), "CAFÉ"), Some(vec![(1, true)]));
    }

    #[test]
    fn context_lines_are_returned_once() {
        let mut query = SearchQuery::words("x");
        query.context_lines = 1;
        let lines = found(&query, "a\nb\nx\nc\nx\nd\ne");
        assert_eq!(lines, Some(vec![(2, false), (3, true), (4, false), (5, true), (6, false)]));
    }

    #[test]
    fn role_and_time_filter_messages() {
        let time = |text: &str| Some(text.parse().unwrap());
        let query = SearchQuery { role: Some(Role::Tool), ..SearchQuery::default() };
        assert_eq!(found(&query, "a"), None);
        let query = SearchQuery {
            role: Some(Role::User),
            since: time("2026-01-02T00:00:00Z"),
            ..SearchQuery::default()
        };
        assert_eq!(found(&query, "a\nb"), Some(vec![(1, false)]));
        let query = SearchQuery { until: time("2026-01-02T00:00:00Z"), ..SearchQuery::default() };
        assert_eq!(found(&query, "a"), None);
        let timeless = Message::read(r#"{"role":"user","content":"a"}"#).unwrap();
        assert!(query.find(&timeless).is_none() && SearchQuery::words("a").find(&timeless).is_some());
    }
}
