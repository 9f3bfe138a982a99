//! The listed workloads of an own folder.

use super::model::{FOLDER, Kind, Op, Plan, put};
use super::states::{figure, limits};

fn check(plan: &Plan) {
    figure(&plan.name, &plan.hold(&limits()));
}

/// The four files of a conversation.
fn save(number: u32) -> Vec<Op> {
    vec![
        Op::Append("a/messages", ["one\n", "two two\n", "three\n"][number as usize % 3]),
        put("a/metadata", &format!("count {number}")),
        put("a/state", &format!("state {number} {}", "x".repeat(number as usize))),
        put("a/global", &format!("global {number}")),
    ]
}

fn saves(numbers: std::ops::Range<u32>) -> Vec<Vec<Op>> {
    numbers.map(save).collect()
}

fn plan(name: &str, kind: Kind, start: &[Op], transactions: Vec<Vec<Op>>) -> Plan {
    let transactions: Vec<&[Op]> = transactions.iter().map(Vec::as_slice).collect();
    Plan::new(name, kind, start, &transactions)
}

#[test]
fn first_use_of_an_empty_folder() {
    check(&plan("folder: first use", FOLDER, &[], saves(0..1)));
}

#[test]
fn two_saves_of_four_files() {
    check(&plan("folder: two saves", FOLDER, &[put("a/state", "older")], saves(0..2)));
}

#[test]
fn append_rewind_append() {
    let transactions = vec![
        vec![Op::Append("a/messages", "hello\nworld\n")],
        vec![Op::Truncate("a/messages", 6), put("a/state", "rewound")],
        vec![Op::Append("a/messages", "again\n")],
    ];
    check(&plan("folder: append, rewind, append", FOLDER, &[put("a/messages", "long ago\n")], transactions));
}

#[test]
fn a_checkpoint_in_between() {
    // Room for two records of one sector, so that the third needs a checkpoint.
    let kind = Kind::Folder { journal_bytes: 8192 + 2 * 1024 };
    check(&plan("folder: checkpoint in between", kind, &[], saves(0..4)));
}

#[test]
fn records_of_an_older_epoch_follow_the_new_ones() {
    let kind = Kind::Folder { journal_bytes: 8192 + 4 * 512 };
    let transactions =
        ["one", "two", "six", "ten", "act", "bat"].map(|text| vec![put("a/f", text), put("a/g", text)]);
    check(&plan("folder: old epoch left behind", kind, &[], transactions.to_vec()));
}

#[test]
fn a_record_that_gets_longer_at_a_checkpoint() {
    // A checkpoint drops earlier records, so the next record must contain the state before and gets
    // longer.
    let kind = Kind::Folder { journal_bytes: 8192 + 4 * 512 };
    let transactions = (0..5).map(|number| vec![Op::Put("a/f", vec![b'a' + number; 1100])]).collect();
    check(&plan("folder: longer at a checkpoint", kind, &[], transactions));
}

#[test]
fn a_record_larger_than_the_journal() {
    let kind = Kind::Folder { journal_bytes: 8192 + 4 * 512 };
    let long = "long line\n".repeat(300);
    let long: &'static str = Box::leak(long.into_boxed_str());
    let transactions =
        vec![vec![put("a/f", "small")], vec![Op::Append("a/f", long), put("a/g", "1")], save(1)];
    check(&plan("folder: journal grows", kind, &[], transactions));
}

#[test]
fn content_too_large_for_the_journal_is_staged() {
    let large = vec![b'x'; filetx::INLINE_BYTES_MAX + 1];
    let transactions = vec![
        vec![Op::Put("a/large", large), put("a/small", "1")],
        vec![Op::Append("a/large", "tail"), put("a/small", "2")],
    ];
    check(&plan("folder: staged content", FOLDER, &[put("a/large", "was small")], transactions));
}

#[test]
fn every_kind_of_change() {
    let start = [put("a/f", "file"), put("a/d", "other"), Op::Symlink("a/l", "f"), put("a/m", "moves")];
    let transactions = vec![
        vec![
            Op::Remove("a/d"),
            Op::Append("a/d", "made anew"),
            Op::Remove("a/f"),
            put("a/l", "was a symlink"),
            Op::Truncate("a/m", 3),
        ],
        vec![Op::Rename("a/l", "a/k"), Op::Rename("a/m", "a/d"), Op::Append("a/k", ", and more")],
    ];
    check(&plan("folder: every kind of change", FOLDER, &start, transactions));
}

#[test]
fn sectors_torn_at_the_ends_of_records() {
    // Contents that make records end exactly at, just before and just after a sector.
    let transactions =
        (0..4).map(|extra| vec![Op::Put("a/f", vec![b'a' + extra as u8; 290 + extra])]).collect();
    check(&plan("folder: records at sector ends", FOLDER, &[], transactions));
}
