//! Drawing a run: a board and a size in, lines of text out. Nothing here touches the terminal, so all of it is compared with texts in tests.

use std::time::Duration;

use super::model::{Board, Mark, Row, Stand};
use crate::commands::plural;
use crate::look::Paint;

/// How many signs the bar has.
const BAR: usize = 24;
/// Names take at most this many columns.
const NAME_MAX: usize = 24;
/// Below this width only the names are shown.
const WIDTH_MIN: usize = 20;
/// What stands between the name and the last line: the time and the files.
const TIME_WIDTH: usize = 7;
const FILES_WIDTH: usize = 10;

/// How much room there is, in columns and lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::commands) struct Size {
    pub(in crate::commands) columns: usize,
    pub(in crate::commands) lines: usize,
}

/// One line per node as far as there is room, and a bar for the whole. Never more lines than there is room for, never longer ones.
pub(in crate::commands) fn frame(board: &Board, now: Duration, size: Size, paint: Paint) -> Vec<String> {
    // One line is for the bar, one for the cursor.
    let room = size.lines.saturating_sub(2).max(1);
    let shown = chosen(board.rows(), room);
    let width = name_width(board);
    let mut lines: Vec<String> =
        shown.iter().map(|place| node_line(&board.rows()[*place], now, width, size.columns, paint)).collect();
    let hidden = board.rows().len() - shown.len();
    if hidden > 0 {
        let text = format!("  and {} more", plural(hidden, "node"));
        lines.push(paint.faint(cut(&text, size.columns)));
    }
    lines.push(bar(board, now, size.columns, paint));
    lines
}

/// The nodes that ended or still wait, for the end of a run.
pub(in crate::commands) fn table(board: &Board, columns: usize, paint: Paint) -> Vec<String> {
    let width = name_width(board);
    board.rows().iter().map(|row| node_line(row, Duration::ZERO, width, columns, paint)).collect()
}

/// The places of the nodes that are worth a line when there is not enough room: those at work, those that failed, those that wait, then
/// those that are done. In the order of the plan.
fn chosen(rows: &[Row], room: usize) -> Vec<usize> {
    if rows.len() <= room {
        return (0..rows.len()).collect();
    }
    let rank = |row: &Row| match row.stand {
        Stand::Running(_) => 0,
        Stand::Ended { mark: Mark::Bad, .. } => 1,
        Stand::Waiting => 2,
        Stand::Ended { .. } => 3,
    };
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_by_key(|place| rank(&rows[*place]));
    // One line tells how many are not shown.
    places.truncate(room.saturating_sub(1));
    places.sort_unstable();
    places
}

fn name_width(board: &Board) -> usize {
    board.rows().iter().map(|row| row.name.chars().count()).max().unwrap_or(0).min(NAME_MAX)
}

/// `✓ rename     1.2s   3 files  what it said last`.
fn node_line(row: &Row, now: Duration, width: usize, columns: usize, paint: Paint) -> String {
    let sign = sign(&row.stand, paint);
    let room = columns.saturating_sub(2);
    let name = format!("{:width$}", cut(&row.name, width));
    if columns < WIDTH_MIN {
        return format!("{sign} {}", cut(&name, room));
    }
    let time = match row.stand {
        Stand::Waiting | Stand::Ended { took: None, .. } => String::new(),
        Stand::Running(since) => time(now.saturating_sub(since)),
        Stand::Ended { took: Some(took), .. } => time(took),
    };
    let files = if row.files == 0 { String::new() } else { plural(row.files, "file") };
    let figures = format!(" {time:>TIME_WIDTH$} {files:>FILES_WIDTH$}");
    let said = match row.stand {
        Stand::Waiting if !row.needs.is_empty() => format!("after {}", row.needs.join(", ")),
        _ if row.attempt > 1 => format!("try {}: {}", row.attempt, row.line),
        _ => row.line.clone(),
    };
    let head = cut(&format!("{name}{figures}"), room);
    let left = room.saturating_sub(head.chars().count() + 2);
    let said = cut(&said, left);
    match said.is_empty() {
        true => format!("{sign} {}", head.trim_end()),
        false => format!("{sign} {head}  {}", paint.faint(said)),
    }
}

fn sign(stand: &Stand, paint: Paint) -> String {
    match stand {
        Stand::Waiting => paint.faint(paint.sign("○", ".")),
        Stand::Running(_) => paint.strong(paint.sign("●", ">")),
        Stand::Ended { mark: Mark::Good, .. } => paint.good(paint.sign("✓", "+")),
        Stand::Ended { mark: Mark::Bad, .. } => paint.bad(paint.sign("✗", "!")),
        Stand::Ended { mark: Mark::Left, .. } => paint.faint(paint.sign("–", "-")),
    }
}

fn bar(board: &Board, now: Duration, columns: usize, paint: Paint) -> String {
    let all = board.rows().len();
    let ended = board.count(|stand| matches!(stand, Stand::Ended { .. }));
    let running = board.count(|stand| matches!(stand, Stand::Running(_)));
    let failed = board.count(|stand| matches!(stand, Stand::Ended { mark: Mark::Bad, .. }));
    let filled = (ended * BAR).checked_div(all).unwrap_or(BAR);
    let full = paint.sign("━", "#").repeat(filled);
    let rest = paint.sign("─", ".").repeat(BAR - filled);
    let mut text = format!("{ended} of {} done", plural(all, "node"));
    if running > 0 {
        text.push_str(&format!(", {running} running"));
    }
    if failed > 0 {
        text.push_str(&format!(", {failed} failed"));
    }
    text.push_str(&format!(", {}", time(now)));
    if columns < BAR + WIDTH_MIN {
        return cut(&text, columns);
    }
    format!("{}{}  {}", paint.good(full), paint.faint(rest), cut(&text, columns - BAR - 2))
}

/// `0.4s`, `12.0s`, `3m05s`, `2h07m`.
pub(in crate::commands) fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{}.{}s", seconds, time.subsec_millis() / 100),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// As much of a text as fits into so many columns.
fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(columns.saturating_sub(1)).collect();
    if columns > 0 {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
