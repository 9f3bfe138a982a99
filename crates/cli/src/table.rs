//! Tables: a header in capitals, columns two spaces apart, numbers aligned right.

use crate::escape::width;
use crate::style::Paint;

/// Rows of text below a header. Cells may hold colours; they are made visible.
pub(crate) struct Table<const N: usize> {
    header: [&'static str; N],
    /// Columns that are aligned right, by number.
    right: &'static [usize],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(header: [&'static str; N], right: &'static [usize]) -> Self {
        Self { header, right, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The header and the rows, without spaces at the ends of lines. Nothing without rows.
    pub(crate) fn lines(&self, paint: Paint) -> Vec<String> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let header = self.header.map(str::to_owned);
        let rows = || std::iter::once(&header).chain(&self.rows);
        let widths: [usize; N] =
            std::array::from_fn(|column| rows().map(|row| width(&row[column])).max().unwrap_or(0));
        let mut lines: Vec<String> = rows().map(|row| self.line(row, &widths)).collect();
        lines[0] = paint.strong(&lines[0]);
        lines
    }

    fn line(&self, row: &[String; N], widths: &[usize; N]) -> String {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[column] - width(cell));
            let is_right = self.right.contains(&column);
            let (before, after) = if is_right { (gap, String::new()) } else { (String::new(), gap) };
            line += &format!("{before}{cell}{after}  ");
        }
        line.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::styled;
    use crate::style::Style;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["PLAN", "FILES", "AGE"], &[1]);
        assert!(table.is_empty() && table.lines(Style::json().paint()).is_empty());
        table.row(["work".into(), "5".into(), "19m".into()]);
        table.row(["rename-sku".into(), "1,214".into(), String::new()]);
        let expected = ["PLAN        FILES  AGE", "work            5  19m", "rename-sku  1,214"];
        assert_eq!(table.lines(Style::json().paint()), expected);
    }

    #[test]
    fn colours_take_no_columns() {
        let mut table = Table::new(["A", "B"], &[]);
        let green = styled("32", "ok");
        table.row([green.clone(), "x".into()]);
        assert_eq!(table.lines(Style::json().paint())[1], format!("{green}  x"));
    }
}
