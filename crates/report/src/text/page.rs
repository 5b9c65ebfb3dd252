//! The page of a text report: headings, wrapped paragraphs, tables, with or without colour.
use comfy_table::{Cell, CellAlignment, ContentArrangement, Row, Table, presets::NOTHING};

/// How a text report is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns of the terminal; below 60 is taken as 60.
    pub width: usize,
    /// Use ANSI colours.
    pub color: bool,
}

/// A way of setting text apart.
#[derive(Clone, Copy)]
pub(super) enum Ink {
    Bold,
    Dim,
    Red,
    Yellow,
    Green,
}

/// Narrowest first column of a table.
pub(super) const FIRST_MIN: usize = 24;

/// A report being written.
pub(super) struct Page {
    out: String,
    pub(super) width: usize,
    color: bool,
}

impl Page {
    pub(super) fn new(options: TextOptions) -> Page {
        Page { out: String::new(), width: options.width.max(60), color: options.color }
    }

    pub(super) fn finish(mut self) -> String {
        // Gaps inside numbers were unbreakable while lines were being broken; terminals and `grep` want plain spaces.
        self.out = self.out.replace('\u{a0}', " ");
        self.out
    }

    pub(super) fn ink(&self, text: &str, ink: Ink) -> String {
        let code = match ink {
            Ink::Bold => "1",
            Ink::Dim => "2",
            Ink::Red => "1;31",
            Ink::Yellow => "33",
            Ink::Green => "32",
        };
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A line as it is.
    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    pub(super) fn gap(&mut self) {
        self.out.push('\n');
    }

    pub(super) fn heading(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.gap();
        }
        let text = self.ink(text, Ink::Bold);
        self.line(&text);
    }

    /// A paragraph: the first line begins with `first`, the others with as many spaces.
    pub(super) fn paragraph(&mut self, first: &str, text: &str, ink: Option<Ink>) {
        let indent = first.chars().count();
        for (i, line) in wrap(text, self.width.saturating_sub(indent)).into_iter().enumerate() {
            let lead = if i == 0 { first.to_owned() } else { " ".repeat(indent) };
            let line = ink.map_or_else(|| line.clone(), |ink| self.ink(&line, ink));
            self.line(&format!("{lead}{line}"));
        }
    }

    /// A table whose first column is text and whose others are numbers.
    pub(super) fn table(&mut self, mut grid: Grid) {
        let width = self.width.saturating_sub(grid.width_without_first()).max(FIRST_MIN);
        for cell in grid.rows.iter_mut().filter_map(|row| row.first_mut()) {
            *cell = cell.lines().flat_map(|line| wrap_hanging(line, width)).collect::<Vec<_>>().join("\n");
        }
        for line in grid.draw().lines() {
            self.line(line);
        }
    }
}

/// Cells of a table; a cell may have several lines.
pub(super) struct Grid {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// Columns with text, aligned left.
    pub(super) left: usize,
}

impl Grid {
    /// Columns that all but the first column need.
    pub(super) fn width_without_first(&self) -> usize {
        let columns = self.head.len();
        (1..columns)
            .map(|c| self.rows.iter().chain([&self.head]).map(|r| cell_width(r, c)).max().unwrap_or(0) + 2)
            .sum()
    }

    fn draw(&self) -> String {
        let mut table = Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.row(&self.head));
        for row in &self.rows {
            table.add_row(self.row(row));
        }
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if i == 0 { 0 } else { 2 }, 0));
        }
        table.trim_fmt()
    }

    fn row(&self, cells: &[String]) -> Row {
        let cell = |(i, text): (usize, &String)| {
            let side = if i < self.left { CellAlignment::Left } else { CellAlignment::Right };
            Cell::new(text).set_alignment(side)
        };
        Row::from(cells.iter().enumerate().map(cell).collect::<Vec<Cell>>())
    }
}

fn cell_width(row: &[String], column: usize) -> usize {
    row.get(column).map_or(0, |text| text.lines().map(|l| l.chars().count()).max().unwrap_or(0))
}

/// Like [`wrap`], with the line's own indentation kept on every part.
fn wrap_hanging(line: &str, width: usize) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    wrap(line, width.saturating_sub(indent)).into_iter().map(|part| format!("{}{part}", " ".repeat(indent))).collect()
}

/// Breaks at spaces; a word longer than the line is broken where the line ends. Control characters go: a hostile
/// object name must not draw on the terminal.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    let clean = crate::words::plain(text);
    for word in clean.split(' ').filter(|w| !w.is_empty()) {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            if used == width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += 1;
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_spaces_and_tears_only_what_does_not_fit() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghijkl", 8), ["abcdefgh", "ijkl"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("a\x1b[31mb", 20), ["a [31mb"]);
    }
}
