//! Random sequences of calls, compared with a model: a list of texts, two values and a revision for
//! each context.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "plays a person who writes the files")]

extern crate cleveragents_context as context;

use std::collections::BTreeMap;

use context::{
    ContextManager, Contexts, Draft, Error, Format, Json, Name, OnExisting, Options, Revision, Role,
};
use proptest::prelude::*;

/// One call. Contexts are named by number.
#[derive(Clone, Debug)]
enum Call {
    Create(u8),
    Append { on: u8, texts: Vec<String>, state: Option<u16> },
    Rewind { on: u8, keep: u8 },
    Clear(u8),
    Fork { from: u8, to: u8, keep: u8 },
    Rename { from: u8, to: u8 },
    Remove(u8),
    Reopen,
    Copy { from: u8, to: u8 },
    Repair(u8),
}

#[derive(Clone, PartialEq, Debug)]
struct Model {
    texts: Vec<String>,
    state: u16,
    revision: u64,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let on = || 0_u8..3;
    let text = prop_oneof![8 => "[a-z\\n\"é]{0,20}", 1 => "x{2000,9000}"];
    let append = (on(), prop::collection::vec(text, 0..40), prop::option::of(any::<u16>()));
    let call = prop_oneof![
        2 => on().prop_map(Call::Create),
        8 => append.prop_map(|(on, texts, state)| Call::Append { on, texts, state }),
        3 => (on(), any::<u8>()).prop_map(|(on, keep)| Call::Rewind { on, keep }),
        1 => on().prop_map(Call::Clear),
        2 => (on(), on(), any::<u8>()).prop_map(|(from, to, keep)| Call::Fork { from, to, keep }),
        1 => (on(), on()).prop_map(|(from, to)| Call::Rename { from, to }),
        1 => on().prop_map(Call::Remove),
        2 => Just(Call::Reopen),
        1 => (on(), on()).prop_map(|(from, to)| Call::Copy { from, to }),
        1 => on().prop_map(Call::Repair),
    ];
    prop::collection::vec(call, 1..25)
}

fn name(number: u8) -> Name {
    Name::new(&format!("c{number}")).unwrap()
}

fn state(number: u16) -> Json {
    Json::parse(&format!("{{\"number\":{number}}}")).unwrap()
}

/// The contexts and the model.
struct Pair {
    folder: tempfile::TempDir,
    contexts: Contexts,
    open: BTreeMap<u8, ContextManager>,
    model: BTreeMap<u8, Model>,
}

impl Pair {
    fn new() -> Pair {
        let folder = testkit::folder::scratch();
        // A small journal, so that there are checkpoints.
        let options = Options { journal_bytes: 4096, ..Options::default() };
        let contexts = Contexts::at(folder.path(), options);
        Pair { folder, contexts, open: BTreeMap::new(), model: BTreeMap::new() }
    }

    fn play(&mut self, call: &Call) {
        match call {
            Call::Create(on) => {
                let made = self.contexts.create(&name(*on));
                let new = Model { texts: Vec::new(), state: 0, revision: 1 };
                self.make(*on, made, new);
            }
            Call::Append { on, texts, state: number } => {
                let Some((context, model)) = self.both(*on) else { return };
                context.append_all(texts.iter().map(|text| Draft::text(Role::User, text))).unwrap();
                if let Some(number) = number {
                    context.set_state(state(*number)).unwrap();
                    model.state = *number;
                }
                let saved = context.save().unwrap();
                assert_eq!(saved.ids.len(), texts.len());
                model.texts.extend(texts.iter().cloned());
                model.revision += u64::from(!texts.is_empty() || number.is_some());
            }
            Call::Rewind { on, keep } => {
                let Some((context, model)) = self.both(*on) else { return };
                let result = context.rewind(u64::from(*keep), Some(Revision(model.revision)));
                if usize::from(*keep) <= model.texts.len() {
                    let _ = result.unwrap();
                    model.texts.truncate(usize::from(*keep));
                    model.revision += 1;
                } else {
                    assert!(matches!(result, Err(Error::OutOfRange { .. })));
                }
            }
            Call::Clear(on) => {
                let Some((context, model)) = self.both(*on) else { return };
                let _ = context.clear(None).unwrap();
                *model = Model { texts: Vec::new(), state: 0, revision: model.revision + 1 };
            }
            Call::Fork { from, to, keep } => {
                let Some((context, model)) = self.both(*from) else { return };
                let keep = usize::from(*keep).min(model.texts.len());
                let new = Model { texts: model.texts[..keep].to_vec(), state: model.state, revision: 1 };
                let made = context.fork(&name(*to), Some(keep as u64));
                self.make(*to, made, new);
            }
            Call::Rename { from, to } => {
                let result = self.contexts.rename(&name(*from), &name(*to), None);
                match (self.model.contains_key(from), self.model.contains_key(to)) {
                    (false, _) => assert!(matches!(result, Err(Error::NotFound { .. }))),
                    (true, true) => assert!(matches!(result, Err(Error::Exists { .. }))),
                    (true, false) => {
                        result.unwrap();
                        let model = self.model.remove(from).unwrap();
                        let mut old = self.open.remove(from).unwrap();
                        old.append(Draft::text(Role::User, "x")).unwrap();
                        assert!(matches!(old.save(), Err(Error::NotFound { .. })));
                        self.model.insert(*to, model);
                        self.open.insert(*to, self.contexts.open(&name(*to)).unwrap());
                    }
                }
            }
            Call::Remove(on) => {
                let result = self.contexts.remove(&name(*on), None);
                assert_eq!(result.is_ok(), self.model.remove(on).is_some());
                self.open.remove(on);
            }
            Call::Reopen => {
                for (on, context) in &mut self.open {
                    *context = self.contexts.open(&name(*on)).unwrap();
                }
            }
            Call::Copy { from, to } => {
                let Some(mut new) = self.model.get(from).cloned() else { return };
                let file = self.folder.path().join("archive");
                self.open[from].export_to(Format::Archive, &file).unwrap();
                let before = self.model.get(to).map_or(0, |model| model.revision);
                new.revision = before + 1;
                let made = self.contexts.import(&file, Some(&name(*to)), OnExisting::Replace, None).unwrap();
                self.open.insert(*to, made);
                self.model.insert(*to, new);
            }
            Call::Repair(on) => {
                let repaired = self.contexts.repair(&name(*on), None);
                match self.model.get_mut(on) {
                    None => assert!(matches!(repaired, Err(Error::NotFound { .. }))),
                    Some(model) => {
                        model.revision += 1;
                        assert_eq!(repaired.unwrap().message_count as usize, model.texts.len());
                        self.open.get_mut(on).unwrap().refresh().unwrap();
                    }
                }
            }
        }
    }

    fn make(&mut self, on: u8, made: Result<ContextManager, Error>, new: Model) {
        if self.model.contains_key(&on) {
            assert!(matches!(made, Err(Error::Exists { .. })));
        } else {
            self.open.insert(on, made.unwrap());
            self.model.insert(on, new);
        }
    }

    fn both(&mut self, on: u8) -> Option<(&mut ContextManager, &mut Model)> {
        Some((self.open.get_mut(&on)?, self.model.get_mut(&on)?))
    }

    /// Compares the open objects, and newly opened ones, with the model.
    fn check(&self) {
        let listed: Vec<String> =
            self.contexts.list().unwrap().iter().map(|one| one.name.to_string()).collect();
        let expected: Vec<String> = self.model.keys().map(|on| name(*on).to_string()).collect();
        assert_eq!(listed, expected);
        for (on, model) in &self.model {
            for context in [&self.open[on], &self.contexts.open(&name(*on)).unwrap()] {
                let texts: Vec<_> =
                    context.messages(..).map(|one| one.unwrap().message.content().text()).collect();
                assert_eq!(texts, model.texts);
                let number = if model.state == 0 { context.state().clone() } else { state(model.state) };
                assert_eq!(context.state(), &number);
                assert_eq!(context.metadata().revision(), Revision(model.revision));
                assert_eq!(context.metadata().message_count() as usize, model.texts.len());
                // Ranges match too.
                let middle = model.texts.len() as u64 / 2;
                let part: Vec<_> =
                    context.messages(middle..middle + 3).map(|one| one.unwrap().number).collect();
                let end = (middle + 3).min(model.texts.len() as u64);
                assert_eq!(part, (middle..end).collect::<Vec<_>>());
            }
            assert!(self.contexts.verify(&name(*on)).unwrap().is_sound());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if testkit::report::is_proof() { 2_000 } else { 96 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn contexts_match_their_model(calls in calls()) {
        let mut pair = Pair::new();
        for call in &calls {
            pair.play(call);
            pair.check();
        }
    }

    #[test]
    fn any_json_keeps_its_spelling(number in "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", text in ".{0,30}") {
        let text = serde_json::Value::from(text).to_string();
        let line = format!(r#"{{"role":"user","content":{text},"n":{number},"deep":[{{"m":{number}}}]}}"#);
        let folder = testkit::folder::scratch();
        let contexts = Contexts::at(folder.path(), Options::default());
        let mut chat = contexts.create(&name(0)).unwrap();
        chat.append(Draft::parse(&line).unwrap()).unwrap();
        chat.set_state(Json::parse(&format!(r#"{{"a":{number},"b":{text}}}"#)).unwrap()).unwrap();
        chat.patch_state(Json::parse(r#"{"c":1}"#).unwrap()).unwrap();
        let _ = chat.save().unwrap();
        let chat = contexts.open(&name(0)).unwrap();
        let message = chat.last(1).next().unwrap().unwrap().message;
        prop_assert!(message.as_json().ends_with(&line[1..]));
        prop_assert_eq!(chat.state().as_str(), format!(r#"{{"a":{number},"b":{text},"c":1}}"#));
    }

    #[test]
    fn no_import_panics(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        "(\\{\"kind\":\"(cleveragents-context|state|metadata|global_context|message|end)\",\"value\":\\{\\},\"version\":1\\}\n){0,6}".prop_map(String::into_bytes),
        "[\\[\\]{}\":,a-z0-9 \n]{0,80}".prop_map(String::into_bytes),
    ]) {
        let folder = testkit::folder::scratch();
        let contexts = Contexts::at(&folder.path().join("contexts"), Options::default());
        for file in ["messages.jsonl", "messages.json", "metadata.json", "messages.index"] {
            std::fs::create_dir_all(folder.path().join("contexts/odd")).unwrap();
            std::fs::write(folder.path().join("contexts/odd").join(file), &bytes).unwrap();
            if let Ok(odd) = contexts.open(&name_of("odd")) {
                let _ = odd.messages(..).count();
            }
            let _ = contexts.verify(&name_of("odd"));
            std::fs::remove_dir_all(folder.path().join("contexts/odd")).unwrap();
        }
        let file = folder.path().join("file");
        std::fs::write(&file, &bytes).unwrap();
        let _ = contexts.import(&file, Some(&name(0)), OnExisting::Fail, None);
    }
}

fn name_of(text: &str) -> Name {
    Name::new(text).unwrap()
}
