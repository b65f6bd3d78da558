//! [`Table`]: rows and columns as text that is Markdown too, so that a terminal and a README show the same.
//!
//! A line has no bars at its ends: Markdown does without them, and a terminal has room for two more columns.

use core::fmt;

/// A table whose first columns are names, on the left, and whose other columns are figures, on the right.
#[derive(Clone, Debug)]
pub struct Table {
    names: usize,
    /// The head, and then the rows.
    lines: Vec<Vec<String>>,
}

impl Table {
    /// A table with this head, of which the first `names` columns are names.
    pub fn new(names: usize, head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { names, lines: vec![head.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.lines.push(cells.into_iter().map(Into::into).collect());
    }

    /// With a row for each of `rows`.
    #[must_use]
    pub fn with<C: Into<String>>(mut self, rows: impl IntoIterator<Item = impl IntoIterator<Item = C>>) -> Self {
        rows.into_iter().for_each(|row| self.row(row));
        self
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = 0..self.lines[0].len();
        let width = |column: usize| {
            let cells = self.lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
        };
        let widths: Vec<_> = columns.clone().map(width).collect();
        let is_name = |column: usize| column < self.names;
        for (number, line) in self.lines.iter().enumerate() {
            let cell = |column: usize| {
                let (cell, width) = (line.get(column).map_or("", String::as_str), widths[column]);
                if is_name(column) { format!("{cell:width$}") } else { format!("{cell:>width$}") }
            };
            writeln!(f, "{}", columns.clone().map(cell).collect::<Vec<_>>().join(" | ").trim_end())?;
            if number == 0 {
                let rule = |column: usize| {
                    let dashes = "-".repeat(widths[column] - 1);
                    if is_name(column) { dashes + "-" } else { dashes + ":" }
                };
                writeln!(f, "{}", columns.clone().map(rule).collect::<Vec<_>>().join(" | "))?;
            }
        }
        Ok(())
    }
}

/// `value` with one digit, or a dash.
pub fn tenths(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.1}"))
}

/// `count`, or a dash.
pub fn whole(count: Option<u64>) -> String {
    count.map_or("-".into(), |count| count.to_string())
}

/// Nanoseconds with a unit that keeps them short, or a dash.
#[allow(clippy::cast_precision_loss)] // three digits are shown
pub fn brief(ns: Option<u64>) -> String {
    match ns {
        None => "-".into(),
        Some(ns @ 0..10_000) => format!("{ns} ns"),
        Some(ns @ 10_000..10_000_000) => format!("{:.1} us", ns as f64 / 1e3),
        Some(ns) => format!("{:.1} ms", ns as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_on_the_left_and_figures_on_the_right() {
        let mut table = Table::new(1, ["engine", "Mops/s"]);
        table.row(["token-bucket", "1.5"]);
        table.row(["a"]);
        let text = "engine       | Mops/s\n------------ | -----:\ntoken-bucket |    1.5\na            |\n";
        assert_eq!(table.to_string(), text);
    }

    #[test]
    fn figures_are_brief() {
        assert_eq!(
            (tenths(Some(1.25)), tenths(None), whole(Some(7)), whole(None)),
            ("1.2".into(), "-".into(), "7".into(), "-".into())
        );
        let briefs = [Some(20), Some(30_500), Some(12_345_678), None].map(brief);
        assert_eq!(briefs, ["20 ns", "30.5 us", "12.3 ms", "-"]);
    }
}
