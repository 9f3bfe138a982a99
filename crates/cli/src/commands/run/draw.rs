//! Draws the model of a run as lines of text. Pure: does not touch the terminal.

use std::time::Duration;

use super::model::{Mark, Row, RowState, RunModel};
use crate::commands::plural;
use crate::style::Paint;

/// Width of the progress bar.
const BAR: usize = 24;
/// Widest column of names.
const NAME_MAX: usize = 24;
/// Narrowest view that shows more than names.
const WIDTH_MIN: usize = 20;
/// Widths of the columns for time and files.
const TIME_WIDTH: usize = 7;
const FILES_WIDTH: usize = 10;

/// Size of the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::commands) struct Size {
    pub(in crate::commands) columns: usize,
    pub(in crate::commands) lines: usize,
}

/// Draws one line per node, as far as they fit, and a progress bar. All lines fit the size.
pub(in crate::commands) fn frame(model: &RunModel, now: Duration, size: Size, paint: Paint) -> Vec<String> {
    // One line for the bar, one for the cursor.
    let room = size.lines.saturating_sub(2).max(1);
    let shown = chosen(model.rows(), room);
    let width = name_width(model);
    let mut lines: Vec<String> =
        shown.iter().map(|row| node_line(&model.rows()[*row], now, width, size.columns, paint)).collect();
    let hidden = model.rows().len() - shown.len();
    if hidden > 0 {
        let text = format!("  and {} more", plural(hidden, "node"));
        lines.push(paint.faint(cut(&text, size.columns)));
    }
    lines.push(bar(model, now, size.columns, paint));
    lines
}

/// Draws all nodes, for the end of a run.
pub(in crate::commands) fn table(model: &RunModel, columns: usize, paint: Paint) -> Vec<String> {
    let width = name_width(model);
    model.rows().iter().map(|row| node_line(row, Duration::ZERO, width, columns, paint)).collect()
}

/// Chooses the rows to show if not all fit: running ones, then failed, waiting and finished ones. Returns
/// them in the order of the plan.
fn chosen(rows: &[Row], room: usize) -> Vec<usize> {
    if rows.len() <= room {
        return (0..rows.len()).collect();
    }
    let rank = |row: &Row| match row.state {
        RowState::Running(_) => 0,
        RowState::Ended { mark: Mark::Bad, .. } => 1,
        RowState::Waiting => 2,
        RowState::Ended { .. } => 3,
    };
    let mut rows_shown: Vec<usize> = (0..rows.len()).collect();
    rows_shown.sort_by_key(|row| rank(&rows[*row]));
    // One line counts the hidden ones.
    rows_shown.truncate(room.saturating_sub(1));
    rows_shown.sort_unstable();
    rows_shown
}

fn name_width(model: &RunModel) -> usize {
    model.rows().iter().map(|row| row.name.chars().count()).max().unwrap_or(0).min(NAME_MAX)
}

/// `✓ rename     1.2s   3 files  last line of output`.
fn node_line(row: &Row, now: Duration, width: usize, columns: usize, paint: Paint) -> String {
    let sign = sign(&row.state, paint);
    let room = columns.saturating_sub(2);
    let name = format!("{:width$}", cut(&row.name, width));
    if columns < WIDTH_MIN {
        return format!("{sign} {}", cut(&name, room));
    }
    let time = match row.state {
        RowState::Waiting | RowState::Ended { took: None, .. } => String::new(),
        RowState::Running(since) => time(now.saturating_sub(since)),
        RowState::Ended { took: Some(took), .. } => time(took),
    };
    let files = if row.files == 0 { String::new() } else { plural(row.files, "file") };
    let figures = format!(" {time:>TIME_WIDTH$} {files:>FILES_WIDTH$}");
    let text = match row.state {
        RowState::Waiting if !row.needs.is_empty() => format!("after {}", row.needs.join(", ")),
        _ if row.attempt > 1 => format!("attempt {}: {}", row.attempt, row.line),
        _ => row.line.clone(),
    };
    let head = cut(&format!("{name}{figures}"), room);
    let left = room.saturating_sub(head.chars().count() + 2);
    let text = cut(&text, left);
    match text.is_empty() {
        true => format!("{sign} {}", head.trim_end()),
        false => format!("{sign} {head}  {}", paint.faint(text)),
    }
}

fn sign(state: &RowState, paint: Paint) -> String {
    match state {
        RowState::Waiting => paint.faint(paint.symbol("○", ".")),
        RowState::Running(_) => paint.strong(paint.symbol("●", ">")),
        RowState::Ended { mark: Mark::Good, .. } => paint.good(paint.symbol("✓", "+")),
        RowState::Ended { mark: Mark::Bad, .. } => paint.bad(paint.symbol("✗", "!")),
        RowState::Ended { mark: Mark::Skipped, .. } => paint.faint(paint.symbol("–", "-")),
    }
}

fn bar(model: &RunModel, now: Duration, columns: usize, paint: Paint) -> String {
    let all = model.rows().len();
    let ended = model.count(|state| matches!(state, RowState::Ended { .. }));
    let running = model.count(|state| matches!(state, RowState::Running(_)));
    let failed = model.count(|state| matches!(state, RowState::Ended { mark: Mark::Bad, .. }));
    let filled = (ended * BAR).checked_div(all).unwrap_or(BAR);
    let full = paint.symbol("━", "#").repeat(filled);
    let rest = paint.symbol("─", ".").repeat(BAR - filled);
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

/// Truncates a text to a number of columns.
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
