//! Figures in prose, each behind a mark with the recorded cells that it comes from.
//!
//! ```text
//! v2 gains <!--= results/nvidia-h200/dot n=2^28 rung=2 : step_x -->3.27 times
//! ```
//!
//! Before the colon stand a CSV file below `data/`, without its ending, and conditions on its rows as `--where` takes them.
//! Behind it stands a formula of the columns of the rows that are left: numbers, `+ - * /` and brackets; `min()`, `max()`,
//! `median()`, `count()` and `sum()` over all of these rows; `t_median_s{rung=1}` for a column under one more condition. The figure
//! keeps as many decimals as it has.

use super::blocks::{BlockError, CODE_INDENT, DocBlock, command_words, fence_after, indent};
use gpulab_kernels::values::condition;
use gpulab_model::stats;
use std::borrow::Cow;
use std::ops::Range;

/// A number of a document with a mark before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The line, from 1.
    pub line: usize,
    pub mark: String,
    /// Where the number stands, in bytes.
    pub number: Range<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FigureTable {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

const OPEN: &str = "<!--=";
const CLOSE: &str = "-->";

/// The figures of a document, in order; not those within code and within its blocks.
pub fn figures(text: &str, blocks: &[DocBlock]) -> Result<Vec<Figure>, BlockError> {
    let mut found = Vec::new();
    let mut fence = None;
    let mut start = 0;
    for (at, line) in (1..).zip(text.split_inclusive('\n')) {
        let was_code = fence.is_some();
        fence = fence_after(fence, line);
        let is_code = was_code || fence.is_some() || indent(line) >= CODE_INDENT;
        if !is_code && !blocks.iter().any(|block| block.body.contains(&start)) {
            let is_prose = |(place, _): &(usize, &str)| line[..*place].matches('`').count().is_multiple_of(2);
            for (place, _) in line.match_indices(OPEN).filter(is_prose) {
                let wrong = |why: &str| BlockError { line: at, why: why.to_owned() };
                let inside = &line[place + OPEN.len()..];
                let (mark, rest) =
                    inside.split_once(CLOSE).ok_or_else(|| wrong("the mark of a figure ends in its line, with -->"))?;
                let digits = number(rest);
                if digits.is_empty() {
                    return Err(wrong("the mark of a figure stands directly before its number, as in -->3.27"));
                }
                let from = start + line.len() - rest.len();
                found.push(Figure { line: at, mark: mark.trim().to_owned(), number: from..from + digits.len() });
            }
        }
        start += line.len();
    }
    Ok(found)
}

fn number(text: &str) -> &str {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let whole = digits(text);
    match text[whole..].strip_prefix('.').map(digits) {
        Some(decimals) if whole > 0 && decimals > 0 => &text[..whole + 1 + decimals],
        _ => &text[..whole],
    }
}

/// A figure's new text: what its mark comes to, with as many decimals as the old one.
pub fn filled(
    mark: &str,
    printed: &str,
    read: &mut dyn FnMut(&str) -> Result<FigureTable, String>,
) -> Result<String, String> {
    let value = value(mark, read)?;
    let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    Ok(format!("{value:.decimals$}"))
}

fn value(mark: &str, read: &mut dyn FnMut(&str) -> Result<FigureTable, String>) -> Result<f64, String> {
    let example = "write FILE CONDITIONS : FORMULA, as in results/nvidia-h200/dot n=2^28 rung=2 : step_x";
    let (rows, formula) = mark.split_once(" : ").ok_or(example)?;
    let words = command_words(rows)?;
    let (file, conditions) = words.split_first().ok_or(example)?;
    let mut table = read(file)?;
    conditions.iter().try_for_each(|text| table.keep(text))?;
    let mut formula = CellFormula { rest: formula.trim(), table: &table };
    let values = formula.sum()?;
    match (formula.rest, &values[..]) {
        ("", [value]) if value.is_finite() => Ok(*value),
        ("", [_]) => Err("the formula has no finite value".to_owned()),
        ("", many) => Err(format!("{} rows meet the conditions: add one, or take min() or max()", many.len())),
        (rest, _) => Err(format!("the formula ends before {rest:?}")),
    }
}

impl FigureTable {
    /// A cell by its column, or by the name of a setting in the column `params`.
    fn cell<'a>(&self, row: &'a [String], name: &str) -> Option<&'a str> {
        let of_column = |name: &str| self.header.iter().position(|own| own == name).and_then(|at| row.get(at));
        of_column(name).map(String::as_str).or_else(|| {
            let settings = of_column("params")?.split(' ');
            settings.filter_map(|set| set.split_once('=')).find(|(own, _)| *own == name).map(|(_, value)| value)
        })
    }

    /// Keeps the rows that meet a condition. A value that is a whole cell, commas and all, is no list of values.
    fn keep(&mut self, text: &str) -> Result<(), String> {
        let condition = condition(text)?;
        let whole = text.split_once('=').map_or("", |(_, whole)| whole.trim());
        let cell = |row: &Vec<String>| self.cell(row, &condition.column).unwrap_or_default().to_owned();
        let rows = |is_met: &dyn Fn(&str) -> bool| {
            self.rows.iter().filter(|row| is_met(&cell(row))).cloned().collect::<Vec<Vec<String>>>()
        };
        let exact = rows(&|cell| cell == whole);
        self.rows = if exact.is_empty() { rows(&|cell| condition.is_met(cell, false)) } else { exact };
        if self.rows.is_empty() { Err(format!("no row has {text}")) } else { Ok(()) }
    }
}

/// What is left to read of a formula over a table's rows. Values are one for each row, or one for all.
struct CellFormula<'a> {
    rest: &'a str,
    table: &'a FigureTable,
}

impl<'a> CellFormula<'a> {
    fn sum(&mut self) -> Result<Vec<f64>, String> {
        let mut left = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let right = self.product()?;
            left = each(&left, &right, |a, b| if sign == '+' { a + b } else { a - b })?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Vec<f64>, String> {
        let mut left = self.term()?;
        while let Some(sign) = self.take(&['*', '/']) {
            let right = self.term()?;
            left = each(&left, &right, |a, b| if sign == '*' { a * b } else { a / b })?;
        }
        Ok(left)
    }

    fn term(&mut self) -> Result<Vec<f64>, String> {
        if self.take(&['(']).is_some() {
            return self.until_bracket();
        }
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse().map(|number| vec![number]).map_err(|_| format!("{word:?} is not a number"));
        }
        if !word.is_empty() && self.take(&['(']).is_some() {
            let values = self.until_bracket()?;
            let one = stats::summarise(&values).ok_or("a value is not finite")?;
            return match word {
                "min" => Ok(vec![one.min]),
                "max" => Ok(vec![one.max]),
                "median" => Ok(vec![one.median]),
                "count" => Ok(vec![one.runs as f64]),
                "sum" => Ok(vec![values.iter().sum()]),
                _ => Err(format!("{word}() is unknown: there are min, max, median, count and sum")),
            };
        }
        self.column(word)
    }

    /// The numbers of a column, under a condition if one follows; empty cells are left out.
    fn column(&mut self, name: &str) -> Result<Vec<f64>, String> {
        let mut table = Cow::Borrowed(self.table);
        if self.take(&['{']).is_some() {
            let (inside, rest) = self.rest.split_once('}').ok_or("a condition ends with }")?;
            self.rest = rest;
            command_words(inside)?.iter().try_for_each(|text| table.to_mut().keep(text))?;
        }
        let cells = table.rows.iter().filter_map(|row| table.cell(row, name)).filter(|cell| !cell.is_empty());
        let numbers = cells.map(|cell| cell.parse().map_err(|_| format!("{name} has {cell:?}, which is not a number")));
        let numbers = numbers.collect::<Result<Vec<f64>, String>>()?;
        if numbers.is_empty() { Err(format!("these rows have no {name:?}")) } else { Ok(numbers) }
    }

    fn until_bracket(&mut self) -> Result<Vec<f64>, String> {
        let values = self.sum()?;
        self.take(&[')']).map(|_| values).ok_or_else(|| "a bracket is not closed".to_owned())
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let sign = rest.chars().next().filter(|sign| wanted.contains(sign))?;
        self.rest = &rest[sign.len_utf8()..];
        Some(sign)
    }

    /// The next number or name.
    fn word(&mut self) -> &'a str {
        let rest = self.rest.trim_start();
        let (word, rest) =
            rest.split_at(rest.find(|c: char| !c.is_ascii_alphanumeric() && !"_.".contains(c)).unwrap_or(rest.len()));
        self.rest = rest;
        word
    }
}

/// Values two by two, or one with each.
fn each(left: &[f64], right: &[f64], with: impl Fn(f64, f64) -> f64) -> Result<Vec<f64>, String> {
    match (left, right) {
        (_, [b]) => Ok(left.iter().map(|a| with(*a, *b)).collect()),
        ([a], _) => Ok(right.iter().map(|b| with(*a, *b)).collect()),
        _ if left.len() == right.len() => Ok(left.iter().zip(right).map(|(a, b)| with(*a, *b)).collect()),
        _ => Err(format!("{} rows stand against {}", left.len(), right.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str) -> Result<FigureTable, String> {
        let row = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut rows =
            ["1,1024,naive,items=8,0.5,", "2,1024,fast,items=16,0.25,2", "2,2048,fast,items=8,0.4,3.5"].map(row);
        rows[2][2] = "fast, local".to_owned();
        match file {
            "results/a" => Ok(FigureTable { header: row("rung,n,variant,params,t,x"), rows: rows.into() }),
            _ => Err(format!("there is no {file}")),
        }
    }

    #[test]
    fn figures_come_from_the_cells_that_their_marks_name() {
        for (mark, printed, want) in [
            ("results/a rung=1 : t", "9", "0"),
            ("results/a rung=1 : t * 1e3", "9.0", "500.0"),
            ("results/a n=2^10 rung=2 : x", "7.25", "2.00"),
            ("results/a n=1024 : t{rung=1} / t{rung=2}", "1.5", "2.0"),
            ("results/a : max(t) / min(t) - 1", "0.99", "1.00"),
            ("results/a : (1 + median(t)) * 2 / 4", "0.9", "0.7"),
            ("results/a : sum(t) / count(x)", "0.000", "0.575"),
            ("results/a items=16 : t * 100", "1", "25"),
            ("results/a variant=FAST : t / x", "1.000", "0.125"),
            ("results/a 'variant=fast, local' : t", "0.0", "0.4"),
            ("results/a unknown= rung=1 : t", "0.0", "0.5"),
        ] {
            assert_eq!(filled(mark, printed, &mut read).as_deref(), Ok(want), "{mark}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_mark_is_told() {
        for (mark, why) in [
            ("results/a", "write FILE CONDITIONS"),
            ("results/b : t", "no results/b"),
            ("results/a rung : t", "is not a condition"),
            ("results/a rung=3 : t", "no row has rung=3"),
            ("results/a : t", "3 rows"),
            ("results/a rung=1 : x", "no \"x\""),
            ("results/a : mean(t)", "mean() is unknown"),
            ("results/a rung=1 : variant", "which is not a number"),
            ("results/a rung=1 : (t", "not closed"),
            ("results/a rung=1 : t t", "ends before"),
            ("results/a rung=1 : t / 0", "no finite"),
            ("results/a : t{rung=1", "ends with }"),
            ("results/a : t * x", "3 rows stand against 2"),
        ] {
            let said = filled(mark, "1", &mut read).unwrap_err();
            assert!(said.contains(why), "{mark}: {said}");
        }
    }

    #[test]
    fn marks_stand_before_numbers_in_prose() {
        let text =
            "<!--= a : b -->3.27. And\n| <!--= c : d -->14 % | `<!--= e : f -->1` |\n```\n<!--= g : h -->1\n```\n";
        let found = figures(text, &[]).unwrap();
        let told: Vec<_> = found.iter().map(|f| (f.line, f.mark.as_str(), &text[f.number.clone()])).collect();
        assert_eq!(told, [(1, "a : b", "3.27"), (2, "c : d", "14")]);
        let line = |text: &str| figures(text, &[]).unwrap_err().line;
        assert_eq!((line("\n<!--= a : b\n-->3"), line("<!--= a : b --> 3")), (2, 1));
        let body = DocBlock { line: 1, command: String::new(), body: 0..text.len() };
        assert_eq!(figures(text, &[body]), Ok(Vec::new()));
    }
}
