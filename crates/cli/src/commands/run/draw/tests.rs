//! The live view, without colours.

use std::time::Duration;

use super::{Size, frame, table, time};
use crate::commands::run::model::{Mark, RowState, RunModel};
use crate::style::{Paint, Style};

const WIDE: Size = Size { columns: 80, lines: 24 };

fn plain() -> Paint {
    Style::json().paint()
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// Four nodes: succeeded, failed, running, waiting.
fn model() -> RunModel {
    let needs = vec!["rename".to_owned(), "lint".to_owned()];
    let mut model = RunModel::new([
        ("rename".to_owned(), vec![]),
        ("lint".to_owned(), vec![]),
        ("documentation".to_owned(), vec![]),
        ("test".to_owned(), needs),
    ]);
    model.start("rename", 1, seconds(0.0));
    model.set_line("rename", "3 files renamed");
    let ended = |mark, took| RowState::Ended { mark, took: Some(seconds(took)) };
    model.change("rename", |row| (row.state, row.files) = (ended(Mark::Good, 1.25), 3));
    model.start("lint", 2, seconds(0.0));
    model.set_line(
        "lint",
        "error: unused variable `x` in a file whose name is longer than there is room for it",
    );
    model.change("lint", |row| row.state = ended(Mark::Bad, 0.3));
    model.start("documentation", 1, seconds(1.0));
    model.change("documentation", |row| row.files = 1);
    model
}

#[track_caller]
fn check(lines: Vec<String>, expected: &str) {
    snapbox::assert_data_eq!(format!("\n{}\n", lines.join("\n")), expected);
}

#[test]
fn every_node_has_a_line_and_the_run_a_bar() {
    check(
        frame(&model(), seconds(75.4), WIDE, plain()),
        "
+ rename           1.2s    3 files  3 files renamed
! lint             0.3s             attempt 2: error: unused variable `x` in a …
> documentation   1m14s     1 file
. test                              after rename, lint
############............  2 of 4 nodes done, 1 running, 1 failed, 1m15s
",
    );
}

#[test]
fn lines_are_truncated_to_the_width() {
    let narrow = |columns| frame(&model(), seconds(2.0), Size { columns, lines: 24 }, plain());
    check(
        narrow(30),
        "
+ rename           1.2s    3 …
! lint             0.3s      …
> documentation    1.0s     1…
. test                       …
2 of 4 nodes done, 1 running,…
",
    );
    check(
        narrow(10),
        "
+ rename …
! lint   …
> documen…
. test   …
2 of 4 no…
",
    );
    for columns in 1..90 {
        for line in narrow(columns) {
            assert!(line.chars().count() <= columns.max(2), "{columns}: {line}");
        }
    }
}

#[test]
fn a_short_terminal_shows_running_nodes_first() {
    let short = |lines| frame(&model(), seconds(2.0), Size { columns: 60, lines }, plain());
    check(
        short(5),
        "
! lint             0.3s             attempt 2: error: unuse…
> documentation    1.0s     1 file
  and 2 nodes more
############............  2 of 4 nodes done, 1 running, 1 f…
",
    );
    for lines in 3..8 {
        assert!(short(lines).len() < lines, "{lines}");
    }
}

#[test]
fn the_end_has_no_bar() {
    let mut model = model();
    model.change("test", |row| {
        row.state = RowState::Ended { mark: Mark::Skipped, took: None };
        row.line = "skipped".to_owned();
    });
    check(
        table(&model, 60, plain()),
        "
+ rename           1.2s    3 files  3 files renamed
! lint             0.3s             attempt 2: error: unuse…
> documentation    0.0s     1 file
- test                              skipped
",
    );
}

#[test]
fn an_empty_model_is_a_bar_alone() {
    check(
        frame(&RunModel::default(), seconds(0.0), WIDE, plain()),
        "
########################  0 of 0 nodes done, 0.0s
",
    );
}

#[test]
fn times_are_short() {
    for (took, expected) in
        [(0.0, "0.0s"), (0.99, "0.9s"), (59.95, "59.9s"), (61.0, "1m01s"), (7260.0, "2h01m")]
    {
        assert_eq!(time(seconds(took)), expected);
    }
}
