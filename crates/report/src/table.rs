//! A table as lines for a terminal, made to fit: columns go in a stated order, texts are shortened. Or whole, as Markdown.

use super::format::{self, Screen, markdown};
use comfy_table::{CellAlignment, LineStyle, TableStyle};
use gpulab_model::Joined;

/// Columns two blanks apart (one is the separator's, one padding) under a dashed line.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-'));

pub const GAP: usize = 2;

const LEAST_TEXT: usize = 8;

/// Columns, the first of which names the rows.
#[derive(Clone, Default)]
pub struct Table {
    pub columns: Vec<Column>,
}

/// A column, with a cell for each row. A line feed in its head is where that is broken.
#[derive(Clone)]
pub struct Column {
    pub head: String,
    pub cells: Vec<String>,
    pub is_text: bool,
    /// Which go where there is no room: the largest first, 0 never.
    pub drop: u8,
}

impl Column {
    fn width(&self) -> usize {
        let lines = self
            .head
            .lines()
            .chain(self.cells.iter().map(String::as_str));
        format::widest(lines.map(format::terminal))
    }

    fn shorten(&mut self, width: usize) {
        for text in self.cells.iter_mut().chain([&mut self.head]) {
            let lines = text
                .lines()
                .map(|line| format::shorten(&format::terminal(line), width));
            *text = lines.joined("\n");
        }
    }
}

impl Table {
    /// With texts, to the left; shortened where there is no room.
    pub fn texts(
        mut self,
        head: impl Into<String>,
        cells: impl IntoIterator<Item = String>,
    ) -> Table {
        self.columns.push(Column {
            head: head.into(),
            cells: cells.into_iter().collect(),
            is_text: true,
            drop: 0,
        });
        self
    }

    /// With numbers, or words in their place: aligned at the point, to the right.
    pub fn numbers(
        mut self,
        head: impl Into<String>,
        cells: impl IntoIterator<Item = String>,
    ) -> Table {
        let cells = at_the_point(cells.into_iter().collect());
        self.columns.push(Column {
            head: head.into(),
            cells,
            is_text: false,
            drop: 0,
        });
        self
    }

    /// When the last column goes: see [`Column::drop`].
    pub fn dropped(mut self, drop: u8) -> Table {
        self.columns
            .iter_mut()
            .next_back()
            .into_iter()
            .for_each(|column| column.drop = drop);
        self
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    pub fn width(&self) -> usize {
        self.columns
            .iter()
            .map(|column| column.width() + GAP)
            .sum::<usize>()
            .saturating_sub(GAP)
    }

    /// Takes out the column that goes first, if one may go.
    pub fn drop_one(&mut self) -> Option<Column> {
        let droppable = self
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.drop > 0);
        let (at, _) = droppable.max_by_key(|(_, column)| column.drop)?;
        Some(self.columns.remove(at))
    }

    /// Drops columns and shortens texts until lines have at most `width` characters, if they can.
    pub fn fit(mut self, width: usize) -> Table {
        while self.width() > width && self.drop_one().is_some() {}
        self.shorten(width)
    }

    /// Shortens texts until lines have at most `width` characters, if they can: of the widest column first.
    pub fn shorten(mut self, width: usize) -> Table {
        loop {
            let over = self.width().saturating_sub(width);
            let texts = self.columns.iter_mut().filter(|column| column.is_text);
            match texts.max_by_key(|column| column.width()) {
                Some(widest) if over > 0 && widest.width() > LEAST_TEXT => {
                    widest.shorten(
                        widest
                            .width()
                            .saturating_sub(over.div_ceil(2))
                            .max(LEAST_TEXT),
                    );
                }
                _ => return self,
            }
        }
    }

    /// Lines of at most `width` characters, if they can be: where columns have no room side by side they follow each other in
    /// blocks, each with the names of the rows that have a cell in it.
    pub fn blocks(self, width: usize) -> String {
        let mut columns = self.columns.into_iter();
        let Some(first) = columns.next() else {
            return String::new();
        };
        let mut blocks: Vec<Table> = Vec::new();
        let mut block = Table {
            columns: vec![first.clone()],
        };
        for column in columns {
            if block.width() + GAP + column.width() > width && block.columns.len() > 1 {
                blocks.push(std::mem::replace(
                    &mut block,
                    Table {
                        columns: vec![first.clone()],
                    },
                ));
            }
            block.columns.push(column);
        }
        blocks.push(block);
        if blocks.len() > 1 {
            blocks.iter_mut().for_each(Table::remove_empty_rows);
        }
        blocks
            .into_iter()
            .map(|block| block.shorten(width).text())
            .joined("\n")
    }

    /// Its lines, made to fit as [`Table::fit`] does.
    pub fn fitted(self, width: usize) -> String {
        self.fit(width).text()
    }

    pub fn text(&self) -> String {
        self.lines().join("\n") + "\n"
    }

    /// The table whole, in blocks.
    pub fn on(self, screen: Screen) -> String {
        format::on_screen(&self.blocks(screen.width), screen)
    }

    /// All of it as a table of Markdown, whatever its cells hold; heads are one line each, without the hyphens that break words.
    pub fn markdown(&self) -> String {
        let heads = self
            .columns
            .iter()
            .map(|c| markdown(c.head.replace("-\n", "").replace('\n', " ").trim()));
        let sides = self
            .columns
            .iter()
            .map(|c| if c.is_text { "---" } else { "---:" }.to_owned());
        let mut lines: Vec<Vec<String>> = vec![heads.collect(), sides.collect()];
        lines.extend((0..self.rows()).map(|at| {
            self.columns
                .iter()
                .map(|c| markdown(c.cells[at].trim()))
                .collect()
        }));
        lines
            .iter()
            .map(|cells| format!("| {} |\n", cells.join(" | ")))
            .collect()
    }

    /// Without the rows in which there are but dashes behind the name, unless that is all of them.
    fn remove_empty_rows(&mut self) {
        let filled: Vec<bool> = (0..self.rows())
            .map(|at: usize| {
                self.columns
                    .iter()
                    .skip(1)
                    .any(|column| column.cells[at].trim() != "-")
            })
            .collect();
        if filled.contains(&true) {
            for column in &mut self.columns {
                let mut filled = filled.iter();
                column
                    .cells
                    .retain(|_| filled.next().copied().unwrap_or(true));
            }
        }
    }

    /// The head's lines, the rule below them, and a line for each row; none ends in blanks.
    pub fn lines(&self) -> Vec<String> {
        let mut table = comfy_table::Table::new();
        table
            .load_style(STYLE)
            .set_header(self.heads())
            .add_rows((0..self.rows()).map(|at: usize| {
                self.columns
                    .iter()
                    .map(move |column| format::terminal(&column.cells[at]))
            }));
        for (i, (drawn, column)) in table.column_iter_mut().zip(&self.columns).enumerate() {
            drawn.set_padding((if i == 0 { 0 } else { 1 }, 0));
            drawn.set_cell_alignment(if column.is_text {
                CellAlignment::Left
            } else {
                CellAlignment::Right
            });
        }
        table
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    /// The heads of columns, each ending on the last of as many lines as the tallest has.
    fn heads(&self) -> Vec<String> {
        let heads = self
            .columns
            .iter()
            .map(|c| c.head.split('\n').map(format::terminal).collect::<Vec<_>>());
        let most = heads.clone().map(|lines| lines.len()).max().unwrap_or(0);
        heads
            .map(|lines| "\n".repeat(most - lines.len()) + &lines.join("\n"))
            .collect()
    }
}

/// Blanks behind numbers with fewer digits after the point than others, so that to the right all points are in one place.
fn at_the_point(cells: Vec<String>) -> Vec<String> {
    let most = cells
        .iter()
        .filter_map(|cell| tail(cell))
        .max()
        .unwrap_or(0);
    cells
        .into_iter()
        .map(|cell| match tail(&cell) {
            Some(own) => format!("{cell}{}", " ".repeat(most - own)),
            None => cell,
        })
        .collect()
}

/// Characters from a number's point on; nothing of what is no number.
fn tail(cell: &str) -> Option<usize> {
    let is_number = cell.contains(|c: char| c.is_ascii_digit())
        && cell
            .chars()
            .all(|c| c.is_ascii_digit() || ".+-%▲▼?e".contains(c));
    is_number.then(|| {
        cell.split_once('.')
            .map_or(0, |(_, digits)| digits.chars().count() + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Table {
        Table::default()
            .texts(
                "rung",
                ["v1 first", "v2 second_and_last"].map(str::to_owned),
            )
            .numbers("time\nus", ["1000", "1.25"].map(str::to_owned))
            .numbers("noise", ["12%", "-"].map(str::to_owned))
            .dropped(2)
            .numbers("total", ["1.00", "800"].map(str::to_owned))
            .dropped(1)
    }

    #[test]
    fn numbers_stand_with_their_points_below_each_other() {
        insta::assert_snapshot!(grid().lines().join("\n"), @r"
                               time
        rung                     us  noise   total
        ------------------------------------------
        v1 first            1000       12%    1.00
        v2 second_and_last     1.25      -  800
        ");
    }

    #[test]
    fn markdown_has_everything_and_no_cell_breaks_it() {
        let mut grid = grid();
        grid.columns[0].cells[1] = "v2 a|b\n<b>*".to_owned();
        insta::assert_snapshot!(grid.markdown(), @r"
        | rung | time us | noise | total |
        | --- | ---: | ---: | ---: |
        | v1 first | 1000 | 12% | 1.00 |
        | v2 a\|b &lt;b&gt;\* | 1.25 | - | 800 |
        ");
    }

    #[test]
    fn columns_go_in_their_order_and_then_texts_are_shortened() {
        let heads = |width| {
            grid()
                .fit(width)
                .columns
                .iter()
                .map(|c| c.head.clone())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(heads(80), "rung time\nus noise total");
        assert_eq!(heads(40), "rung time\nus total");
        assert_eq!(heads(30), "rung time\nus");
        let narrow = grid().fit(20);
        assert_eq!(
            (narrow.width(), narrow.columns[0].cells[1].as_str()),
            (20, "v2 second_…")
        );
    }

    #[test]
    fn what_has_no_room_side_by_side_follows_in_blocks() {
        let text = grid().blocks(36);
        assert_eq!(
            (
                text.matches("v1 first").count(),
                text.matches("v2 second").count()
            ),
            (2, 2),
            "{text}"
        );
        let mut empty = grid();
        empty.columns[3].cells[0] = "-".to_owned();
        let text = empty.blocks(36);
        assert_eq!(
            (
                text.matches("v1 first").count(),
                text.matches("v2 second").count()
            ),
            (1, 2),
            "{text}"
        );
        empty = grid();
        empty.columns[2].cells[1] = "-".to_owned();
        let text = empty.blocks(30);
        assert_eq!(
            (
                text.matches("v1 first").count(),
                text.matches("v2 second").count()
            ),
            (3, 2),
            "{text}"
        );
        assert!(
            text.lines().all(|line| line.chars().count() <= 36),
            "{text}"
        );
    }
}
