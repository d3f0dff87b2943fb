//! Columns without lines between them.

use comfy_table::{Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Row};

use crate::output::Look;
use crate::page::{Span, Tint};

/// A table. Its last column takes what the terminal leaves, and is cut there; the others are whole.
#[derive(Debug)]
pub(crate) struct Table {
    headers: Vec<&'static str>,
    rows: Vec<Vec<Span>>,
    right: Vec<usize>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new(headers: &[&'static str]) -> Self {
        Self { headers: headers.to_vec(), rows: Vec::new(), right: Vec::new() }
    }

    /// Sets a column of figures flush right.
    #[must_use]
    pub fn right(mut self, column: usize) -> Self {
        self.right.push(column);
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Span>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table as lines.
    pub fn draw(&self, look: Look) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        if look.colour {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        match look.width {
            Some(width) => {
                let width = u16::try_from(width).unwrap_or(u16::MAX);
                table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            }
            None => {
                table.set_content_arrangement(ContentArrangement::Disabled);
            }
        }
        table.set_header(self.headers.iter().map(|header| Cell::new(header).add_attribute(Attribute::Dim)));
        for cells in &self.rows {
            let mut row = Row::from(cells.iter().map(cell).collect::<Vec<_>>());
            row.max_height(1);
            table.add_row(row);
        }
        let last = self.headers.len().saturating_sub(1);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if index == last { 0 } else { 2 }));
            if index != last {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
            if self.right.contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.trim_fmt() + "\n"
    }
}

fn cell(span: &Span) -> Cell {
    let cell = Cell::new(&span.text);
    match span.tint {
        Tint::Plain => cell,
        Tint::Good => cell.fg(Color::DarkGreen),
        Tint::Warning => cell.fg(Color::DarkYellow),
        Tint::Bad => cell.fg(Color::DarkRed),
        Tint::Strong => cell.add_attribute(Attribute::Bold),
        Tint::Faint => cell.add_attribute(Attribute::Dim),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::render;

    fn table() -> Table {
        let mut table = Table::new(&["NAME", "TOOLS", "DESCRIPTION"]).right(1);
        table.row([
            "hello".into(),
            "2".into(),
            "Says hello to everybody who asks for it, in two languages".into(),
        ]);
        table.row(["repo-watch".into(), "11".into(), "Counts commits".into()]);
        table
    }

    #[test]
    fn nothing_is_cut_on_its_way_to_a_program() {
        insta::assert_snapshot!(render(None, |page| page.table(&table())), @"
        NAME        TOOLS  DESCRIPTION
        hello           2  Says hello to everybody who asks for it, in two languages
        repo-watch     11  Counts commits
        ");
    }

    #[test]
    fn the_last_column_is_cut_to_the_terminal() {
        insta::assert_snapshot!(render(Some(50), |page| page.table(&table())), @"
        NAME        TOOLS  DESCRIPTION
        hello           2  Says hello to everybody who…
        repo-watch     11  Counts commits
        ");
    }
}
