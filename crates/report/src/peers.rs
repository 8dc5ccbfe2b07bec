//! Figures of other programs, as those that measured them wrote them.

use super::groups::distinct;
use crate::format::{self, Screen};
use crate::table::Table;

/// The table of a file's cells, the first line of which names the columns; of figures with a verdict on each, how many of a
/// quantity have which.
pub fn table(cells: &[Vec<String>], screen: Screen) -> String {
    let lines = figures(cells);
    let Some((heads, rows)) = lines.split_first() else {
        return "nothing was measured\n".to_owned();
    };
    let mut grid = Table::default();
    for (at, head) in heads.iter().enumerate() {
        grid = grid.texts(
            head,
            rows.iter()
                .map(|row| row.get(at).cloned().unwrap_or_default()),
        );
        grid.columns[at].is_text = at == 0;
    }
    grid.on(screen)
}

/// The columns that are shown of `scripts/peers/run`'s files, which have more.
const SHOWN: [&str; 7] = [
    "peer",
    "work",
    "dtype",
    "shape",
    "threads",
    "t_median_s",
    "ratio",
];

/// The cells of that table, its heads first; none of a file without a line.
pub fn figures(cells: &[Vec<String>]) -> Vec<Vec<String>> {
    let Some((header, rows)) = cells.split_first() else {
        return Vec::new();
    };
    if let (Some(quantity), Some(verdict)) = (column(header, "quantity"), column(header, "verdict"))
    {
        return tally(rows, quantity, verdict);
    }
    let shown: Option<Vec<usize>> = SHOWN.iter().map(|name| column(header, name)).collect();
    let shown = shown.unwrap_or_else(|| (0..header.len()).collect());
    let mut lines: Vec<Vec<String>> = vec![
        shown
            .iter()
            .map(|&at| format::terminal(header[at].trim_end_matches("_s")))
            .collect(),
    ];
    for row in rows {
        let cells = shown.iter().map(|&at| {
            match (row.get(at), row.get(at).and_then(|cell| cell.parse().ok())) {
                (_, Some(seconds)) if header[at].ends_with("_s") => format::time(seconds),
                (cell, _) => cell.map(|cell| format::terminal(cell)).unwrap_or_default(),
            }
        });
        lines.push(cells.collect());
    }
    lines
}

fn column(header: &[String], name: &str) -> Option<usize> {
    header.iter().position(|own| own == name)
}

/// A line for each quantity with the number of its rows by verdict, below the verdicts' names.
fn tally(rows: &[Vec<String>], quantity: usize, verdict: usize) -> Vec<Vec<String>> {
    let verdicts = distinct(rows.iter().filter_map(|row| row.get(verdict)));
    let names = verdicts.iter().map(|name| format::terminal(name));
    let mut lines: Vec<Vec<String>> = vec![
        std::iter::once("quantity".to_owned())
            .chain(names)
            .collect(),
    ];
    for of in distinct(rows.iter().filter_map(|row| row.get(quantity))) {
        let own = rows.iter().filter(|row| row.get(quantity) == Some(of));
        let counts = verdicts.iter().map(|which| {
            own.clone()
                .filter(|row| row.get(verdict) == Some(*which))
                .count()
        });
        lines.push(
            std::iter::once(format::terminal(of))
                .chain(counts.map(|count| count.to_string()))
                .collect(),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(lines: &[&str]) -> Vec<Vec<String>> {
        lines
            .iter()
            .map(|line| line.split(',').map(str::to_owned).collect())
            .collect()
    }

    use crate::golden::SCREEN;

    #[test]
    fn figures_are_a_table_and_verdicts_are_tallied() {
        let figures = cells(&["peer,n,t_s", "cub,1024,1e-5"]);
        assert_eq!(
            table(&figures, SCREEN),
            "peer     n         t\n--------------------\ncub   1024  10.00 us\n"
        );
        let of_a_run = cells(&[
            "peer,version,threads,work,dtype,shape,t_median_s,ratio",
            "x,1.2,2,dot,f32,2^10,1e-5,1.25",
        ]);
        insta::assert_snapshot!(table(&of_a_run, SCREEN), @r"
        peer  work  dtype  shape  threads  t_median  ratio
        --------------------------------------------------
        x      dot    f32   2^10        2  10.00 us   1.25
        ");
        let verdicts = cells(&[
            "peer,quantity,verdict",
            "ncu,loads,equal",
            "ncu,stores,DIFFERENT",
            "ncu,loads,equal",
        ]);
        insta::assert_snapshot!(table(&verdicts, SCREEN), @r"
        quantity  equal  DIFFERENT
        --------------------------
        loads         2          0
        stores        0          1
        ");
    }
}
