//! Results of the benchmarks, as text and as JSON.

use serde_json::{Map, Value, json};

/// One entry of a row.
#[derive(Clone, Debug)]
pub enum Cell {
    /// A name or a note.
    Text(String),
    /// A number in the unit named by the column's key.
    Number(f64),
    /// A count.
    Count(u64),
    /// A value that is not available.
    Absent,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }
}
impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}
impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Cell::Number(value)
    }
}
impl From<usize> for Cell {
    fn from(value: usize) -> Self {
        Cell::Count(value as u64)
    }
}
impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Absent, Into::into)
    }
}

/// Names and number format of a column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Key in JSON; numbers there are unscaled.
    pub key: &'static str,
    /// Heading.
    pub head: &'static str,
    /// Factor on numbers as printed.
    pub scale: f64,
    /// Decimals as printed.
    pub digits: usize,
}

/// A column.
pub const fn column(key: &'static str, head: &'static str, scale: f64, digits: usize) -> Column {
    Column {
        key,
        head,
        scale,
        digits,
    }
}

/// Rows of one kind.
#[derive(Clone, Debug)]
pub struct Table {
    /// Title of the table; its key in JSON.
    pub title: &'static str,
    /// Columns.
    pub columns: &'static [Column],
    /// Rows, one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new(title: &'static str, columns: &'static [Column]) -> Self {
        Table {
            title,
            columns,
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If the number of cells differs from the number of columns.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "{}", self.title);
        self.rows.push(row);
    }

    /// Text in Markdown: numbers right-aligned, columns aligned.
    pub fn text(&self) -> String {
        let shown = |row: &Vec<Cell>| -> Vec<String> {
            let cells = row.iter().zip(self.columns);
            cells
                .map(|(cell, column)| cell_text(cell, column))
                .collect()
        };
        let body: Vec<Vec<String>> = self.rows.iter().map(shown).collect();
        let heads = self.columns.iter().map(|column| column.head.to_owned());
        let heads: Vec<String> = heads.collect();
        let widths: Vec<usize> = (0..heads.len())
            .map(|at| {
                let cells = body
                    .iter()
                    .chain([&heads])
                    .map(|row| row[at].chars().count());
                cells.max().unwrap_or(0)
            })
            .collect();
        let numeric = |at: usize| {
            self.rows
                .iter()
                .all(|row| !matches!(row[at], Cell::Text(_)))
        };
        let line = |row: &[String]| {
            let cells = row.iter().enumerate().map(|(at, text)| {
                let width = widths[at];
                match numeric(at) {
                    true => format!("{text:>width$}"),
                    false => format!("{text:<width$}"),
                }
            });
            format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
        };
        let rule = (0..heads.len()).map(|at| match numeric(at) {
            true => format!("{}:", "-".repeat(widths[at] + 1)),
            false => "-".repeat(widths[at] + 2),
        });
        let rule = format!("|{}|", rule.collect::<Vec<_>>().join("|"));
        let rows = body.iter().map(|row| line(row));
        let lines: Vec<String> = [format!("{}\n", self.title), line(&heads), rule]
            .into_iter()
            .chain(rows)
            .collect();
        lines.join("\n")
    }

    /// A list of JSON objects.
    pub fn json(&self) -> Value {
        let object = |row: &Vec<Cell>| {
            let pairs = self.columns.iter().zip(row).map(|(column, cell)| {
                let value = match cell {
                    Cell::Text(text) => json!(text),
                    Cell::Number(value) => json!(value),
                    Cell::Count(count) => json!(count),
                    Cell::Absent => Value::Null,
                };
                (column.key.to_owned(), value)
            });
            Value::Object(pairs.collect::<Map<_, _>>())
        };
        self.rows.iter().map(object).collect()
    }
}

fn cell_text(cell: &Cell, column: &Column) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Number(value) => format!("{:.*}", column.digits, value * column.scale),
        Cell::Count(count) => count.to_string(),
        Cell::Absent => String::new(),
    }
}
