//! Figures of other libraries, as the programs that measured them wrote them.

use super::format;

/// The table of a file's cells, the first line of which names the columns.
pub fn table(cells: &[Vec<String>]) -> String {
    let Some((header, rows)) = cells.split_first() else { return "nothing was measured\n".to_owned() };
    let cell = |name: &String, cell: &String| match cell.parse::<f64>() {
        Ok(seconds) if name.ends_with("_s") => format::time(seconds),
        _ => format::terminal(cell),
    };
    let names: Vec<String> = header.iter().map(|name| format::terminal(name.trim_end_matches("_s"))).collect();
    let rows = rows.iter().map(|row| header.iter().zip(row).map(|(name, text)| cell(name, text)).collect());
    let lines: Vec<Vec<String>> = std::iter::once(names).chain(rows).collect();
    let count = |text: &String| text.chars().count();
    let width = |i: usize| lines.iter().filter_map(|line| line.get(i)).map(count).max().unwrap_or(0);
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let aligned = |(i, (text, &width)): (usize, (&String, &usize))| match i {
        0 => format!("{text:<width$}"),
        _ => format!("{text:>width$}"),
    };
    let line =
        |line: &Vec<String>| line.iter().zip(&widths).enumerate().map(aligned).collect::<Vec<_>>().join("  ") + "\n";
    lines.iter().map(line).collect()
}
