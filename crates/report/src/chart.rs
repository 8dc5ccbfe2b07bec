//! Shares of a whole over a number, as columns of text: at most 72 characters wide.

use std::fmt::Write as _;

/// Characters that columns may fill side by side.
const WIDTH: usize = 64;

/// Lines of the highest column; each has two halves.
const HEIGHT: usize = 8;

/// One column for each point, or for several that follow each other where there are many, which shows the last of them;
/// a mark under the column of `asked`, if that is not beyond the last point. Points ascend, with shares from 0 to 1.
pub fn chart(points: &[(u64, f64)], asked: u64) -> String {
    let together = points.len().div_ceil(WIDTH).max(1);
    let columns: Vec<(u64, f64)> = points.chunks(together).filter_map(|chunk| chunk.last().copied()).collect();
    let Some((last, _)) = columns.last() else { return String::new() };
    let wide = (WIDTH / columns.len()).max(1);
    let mut text = String::new();
    for line in (0..HEIGHT).rev() {
        let label = if line % 2 == 1 { format!("{}%", 100 * (line + 1) / HEIGHT) } else { String::new() };
        let cells: String = columns.iter().map(|(_, share)| cell(*share, line).repeat(wide)).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", format!("{label:>6} |{cells}").trim_end());
    }
    let _ = writeln!(text, "{:>6} +{}", "", "-".repeat(wide * columns.len()));
    if let Some(at) = columns.iter().position(|(x, _)| *x >= asked) {
        let _ = writeln!(text, "{:>7} {}^ {asked}", "", " ".repeat(at * wide + wide / 2));
    }
    let _ = writeln!(text, "{:>7} {}", "", axis(&columns, wide, *last).trim_end());
    text
}

/// What a column of this share shows in a line, counted from below.
fn cell(share: f64, line: usize) -> &'static str {
    let halves = (share * (2 * HEIGHT) as f64).round() as usize;
    let halves = if share > 0.0 { halves.max(1) } else { 0 };
    match halves.saturating_sub(2 * line) {
        0 => " ",
        1 => "▄",
        _ => "█",
    }
}

/// The numbers of the first column, of the last one, and of some between, each under its column's begin.
fn axis(columns: &[(u64, f64)], wide: usize, last: u64) -> String {
    let end = wide * columns.len() - wide;
    let mut line = String::new();
    for quarter in 0..4 {
        let at = quarter * columns.len() / 4;
        let number = columns.get(at).map(|(x, _)| x.to_string()).unwrap_or_default();
        let is_free = line.is_empty() || line.len() < at * wide;
        if is_free && at * wide + number.len() < end {
            line = format!("{line:<0$}{number}", at * wide);
        }
    }
    format!("{line:<0$}{last}", end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_show_their_last_point_and_the_asked_one() {
        let falling: Vec<(u64, f64)> = (1..=128).map(|x| (x, if x <= 32 { 1.0 } else { 16.0 / x as f64 })).collect();
        insta::assert_snapshot!(chart(&falling, 40), @r"
        100% |████████████████
             |████████████████
         75% |████████████████
             |████████████████
         50% |█████████████████▄▄
             |███████████████████████▄▄▄▄▄
         25% |████████████████████████████████████▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
             |████████████████████████████████████████████████████████████████
             +----------------------------------------------------------------
                                 ^ 40
              2               34              66              98             128
        ");
        assert!(!chart(&[(32, 0.25), (64, 0.03)], 129).contains('^'), "it is beyond the last point");
        assert_eq!(chart(&[], 1), "");
    }

    #[test]
    fn charts_fit_a_terminal() {
        for n in [1, 2, 5, 16, 63, 64, 65, 255, 512, 1816] {
            let points: Vec<(u64, f64)> = (1..=n).map(|x| (128 * x, 1.0 / x as f64)).collect();
            for line in chart(&points, 128 * n).lines() {
                assert!(line.chars().count() <= 80, "{n}: {line}");
            }
        }
    }
}
