//! Appends by many processes: every message is stored once, in one order, with one numbering.

use std::collections::HashMap;

use testkit::folder::scratch;
use testkit::report::figure;

use super::roles::{contexts, name, number, save, start};

const PROCESSES: usize = 16;
/// Appends per process.
pub(crate) const EACH: usize = 200;

/// Returns the number and id of each message, by its text, as the processes report them.
fn append_from_all(
    context_of: impl Fn(usize) -> String,
    folder: &std::path::Path,
) -> HashMap<String, (u64, String)> {
    let mut processes: Vec<_> = (0..PROCESSES)
        .map(|process| start(&format!("append:{}:{process}", context_of(process)), folder))
        .collect();
    for process in &mut processes {
        assert_eq!(process.receive(), "ready");
    }
    for process in &mut processes {
        process.notify();
    }
    let mut said = HashMap::new();
    for (tag, process) in processes.into_iter().enumerate() {
        let words = process.finish_and_receive();
        assert_eq!(words.len(), EACH);
        let mut last = 0;
        for (at, word) in words.iter().enumerate() {
            let (count, id) = word.split_once(' ').unwrap();
            let count: u64 = count.parse().unwrap();
            // An acknowledged message comes before the next one of its process.
            assert!(count > last);
            last = count;
            said.insert(format!("{tag}-{at}"), (count - 1, id.to_owned()));
        }
    }
    said
}

#[test]
fn on_one_context() {
    let folder = scratch();
    let chat = contexts(folder.path()).create(&name("chat")).unwrap();
    let said = append_from_all(|_| "chat".to_owned(), folder.path());
    let chat = contexts(folder.path()).open(chat.name()).unwrap();
    assert_eq!(chat.metadata().message_count() as usize, PROCESSES * EACH);
    assert_eq!(chat.metadata().revision().0 as usize, PROCESSES * EACH + 1);
    let mut last = None;
    for one in chat.messages(..) {
        let one = one.unwrap();
        let (number, id) = &said[&one.message.content().text()];
        assert_eq!(
            (one.number, one.message.id().unwrap().to_string()),
            (*number, id.clone()),
            "it is where its save said"
        );
        assert!(one.message.id() > last, "ids rise");
        last = one.message.id();
    }
    assert!(chat.verify().unwrap().is_sound());
    figure("context appends of 16 processes on one context", PROCESSES * EACH);
}

#[test]
fn on_a_context_each() {
    let folder = scratch();
    let contexts = contexts(folder.path());
    for process in 0..PROCESSES {
        let _ = contexts.create(&name(&format!("chat-{process}"))).unwrap();
    }
    append_from_all(|process| format!("chat-{process}"), folder.path());
    for process in 0..PROCESSES {
        let chat = contexts.open(&name(&format!("chat-{process}"))).unwrap();
        let texts: Vec<_> = chat.messages(..).map(|one| one.unwrap().message.content().text()).collect();
        assert_eq!(texts, (0..EACH).map(|number| format!("{process}-{number}")).collect::<Vec<_>>());
    }
}

#[test]
fn writers_of_different_contexts_do_not_wait() {
    let folder = scratch();
    let contexts = contexts(folder.path());
    let _ = contexts.create(&name("held")).unwrap();
    let mut other = contexts.create(&name("other")).unwrap();
    let lock = filetx::Lock::open(&contexts.folder().join(".locks/held.lock")).unwrap();
    let guard = lock.acquire(filetx::LockMode::Exclusive, &filetx::Wait::default()).unwrap();
    save(&mut other, 1);
    assert_eq!(number(&contexts.open(&name("other")).unwrap()), Ok(1));
    let wait = filetx::Wait { timeout: std::time::Duration::ZERO, ..filetx::Wait::default() };
    let impatient =
        context::Contexts::at(contexts.folder(), context::Options { wait, ..context::Options::default() });
    let busy =
        std::thread::scope(|scope| scope.spawn(|| impatient.open(&name("held")).err()).join().unwrap())
            .unwrap();
    assert!(busy.to_string().contains("cannot read context `held`"), "{busy}");
    drop(guard);
    assert!(impatient.open(&name("held")).is_ok());
}

#[test]
fn readers_never_see_mixed_files() {
    let folder = scratch();
    let _ = contexts(folder.path()).create(&name("chat")).unwrap();
    let mut writer = start("save:chat:quiet", folder.path());
    // One reader: several without a pause would leave a writer no gap.
    let (mut reads, mut last, mut changes) = (0_u64, 0, 0_u64);
    while changes < 60 {
        let context = contexts(folder.path()).open(&name("chat")).unwrap();
        let now = number(&context).unwrap();
        assert!(now >= last, "time goes on");
        changes += u64::from(now > last);
        last = now;
        reads += 1;
    }
    writer.kill();
    figure("context reads of all four files beside a writer, none mixed", reads);
}
