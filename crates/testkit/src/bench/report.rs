//! The table of results, for a terminal or as Markdown.

use std::fs;

use super::bench_dir::BenchDir;
use super::rounds::Outcome;

/// The target of a figure.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// At most this many times the baseline.
    RatioAtMost(f64),
    /// At least this many times the speed of the baseline.
    SpeedAtLeast(f64),
    /// At most this many syncs per operation.
    SyncsAtMost(f64),
    /// No target.
    Shown,
}

#[derive(Debug)]
struct Row {
    what: String,
    ours: String,
    baseline: String,
    ratio: String,
    target: String,
    verdict: &'static str,
    syncs: String,
}

/// All figures of a run.
#[derive(Debug)]
pub struct Report {
    description: Vec<(&'static str, String)>,
    rows: Vec<Row>,
    notes: Vec<String>,
}

const HEADS: [&str; 7] = ["what", "ours", "baseline", "ratio (least to most)", "target", "", "syncs each"];

impl Report {
    /// Makes an empty report, with a description of the machine.
    pub fn new(dir: &BenchDir) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo");
        let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("");
        let model = model.trim_start_matches([' ', '\t', ':']);
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let description = vec![
            ("cores", format!("{cores} ({model})")),
            ("kernel", format!("{} {}", std::env::consts::OS, read("/proc/sys/kernel/osrelease").trim())),
            ("file system", dir.description().to_owned()),
        ];
        Self { description, rows: Vec::new(), notes: Vec::new() }
    }

    /// Adds the outcome of two sides. Several targets of one outcome get a row each.
    pub fn add(&mut self, what: impl Into<String>, outcome: Outcome, target: Target) {
        let syncs = outcome.syncs_per_op.map(|syncs| format!("{syncs:.3}")).unwrap_or_default();
        let speed = matches!(target, Target::SpeedAtLeast(_));
        // A ratio of speeds is the inverse ratio of times.
        let ratio = outcome.ratio;
        let (median, least, most) = if speed {
            (1.0 / ratio.median, 1.0 / ratio.most, 1.0 / ratio.least)
        } else {
            (ratio.median, ratio.least, ratio.most)
        };
        let (target, met) = match target {
            Target::RatioAtMost(most) => (format!("at most {most} x"), Some(median <= most)),
            Target::SpeedAtLeast(least) => (format!("at least {least} x the speed"), Some(median >= least)),
            Target::SyncsAtMost(most) => {
                let met = outcome.syncs_per_op.is_some_and(|syncs| syncs <= most);
                (format!("at most {most} syncs"), Some(met))
            }
            Target::Shown => (String::new(), None),
        };
        self.rows.push(Row {
            what: what.into(),
            ours: time(outcome.ours_s.median),
            baseline: time(outcome.baseline_s.median),
            ratio: format!("{median:.2} ({least:.2} to {most:.2})"),
            target,
            verdict: verdict(met),
            syncs,
        });
    }

    /// Adds two figures that are not times.
    pub fn add_figures(&mut self, what: impl Into<String>, figures: [String; 2], ratio: f64, at_most: f64) {
        let [ours, baseline] = figures;
        let (ratio, target) = (format!("{ratio:.2}"), format!("at most {at_most} x"));
        let met = Some(ratio.parse::<f64>().is_ok_and(|ratio| ratio <= at_most));
        self.rows.push(Row {
            what: what.into(),
            ours,
            baseline,
            ratio,
            target,
            verdict: verdict(met),
            syncs: String::new(),
        });
    }

    /// Adds a figure with a limit instead of a baseline.
    pub fn add_limit(&mut self, what: impl Into<String>, ours: f64, at_most: f64, unit: &str) {
        self.rows.push(Row {
            what: what.into(),
            ours: format!("{ours:.2} {unit}"),
            baseline: String::new(),
            ratio: String::new(),
            target: format!("at most {at_most} {unit}"),
            verdict: verdict(Some(ours <= at_most)),
            syncs: String::new(),
        });
    }

    /// Adds a sentence below the table.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Formats an aligned table for a terminal.
    pub fn text(&self) -> String {
        let rows: Vec<[&str; 7]> = std::iter::once(HEADS).chain(self.rows.iter().map(Row::cells)).collect();
        let widths: Vec<usize> = (0..HEADS.len())
            .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for (name, value) in &self.description {
            text += &format!("{name}: {value}\n");
        }
        text.push('\n');
        for row in rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            text += cells.collect::<Vec<_>>().join("  ").trim_end();
            text.push('\n');
        }
        for note in &self.notes {
            text += &format!("\n{note}\n");
        }
        text
    }

    /// Formats a Markdown table.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.description {
            text += &format!("- {name}: {value}\n");
        }
        text += &format!("\n| {} |\n|{}\n", HEADS.join(" | "), "---|".repeat(HEADS.len()));
        for row in &self.rows {
            text += &format!("| {} |\n", row.cells().join(" | "));
        }
        for note in &self.notes {
            text += &format!("\n{note}\n");
        }
        text
    }
}

impl Row {
    fn cells(&self) -> [&str; 7] {
        [&self.what, &self.ours, &self.baseline, &self.ratio, &self.target, self.verdict, &self.syncs]
    }
}

fn verdict(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "met",
        Some(false) => "MISSED",
        None => "",
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.2} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
