//! A ladder as text for a terminal.

use super::columns::{BAR_DROP, COLUMNS, VS_FASTEST, VS_LIMIT};
use super::format::{self, Screen, Tint, paint};
use super::rungs::label;
use super::table::{Column, GAP, Table};
use super::view::{RateUnit, View, detail, tint, verdict};
use gpulab_model::Joined;
use gpulab_model::outcome::Status;
use gpulab_model::stats::ratio;
use gpulab_record::{Row, flag};

/// Characters of a line of text that does not depend on the terminal.
pub(super) const WIDTH: usize = 80;

/// Lines of notes; the rest is for those who ask.
const NOTE_LINES: usize = 2;

/// Least and most characters of a bar.
const BAR: (usize, usize) = (10, 40);

/// The rows of one ladder (one case on one device, CPU baselines among them) as a table with a title above and the result
/// and notes below, for this screen. Columns that have no room and notes beyond two lines are told only if `verbose`.
pub fn table(rows: &[Row], unit: RateUnit, screen: Screen, verbose: bool) -> String {
    if rows.is_empty() {
        return "nothing was run\n".to_owned();
    }
    let view = View::of(rows, unit);
    // No line ends within `n = 1000`.
    let title = format::terminal(&view.title).replace(" = ", "\u{a0}=\u{a0}");
    let mut text = screen.wrap(&title).replace('\u{a0}', " ");
    let mut rungs = Section::of(&view, &view.rungs, view.best());
    let mut cpu = Section::of(&view, &view.cpu, None);
    if !view.rungs.is_empty() {
        text += &format!("\n{}", rungs.draw(screen));
        let legend = rungs.grid().legend(rungs.best.is_some());
        text.extend(legend.map(|legend| screen.wrap(&legend)));
    }
    if !view.cpu.is_empty() {
        text += &format!("\n{}", cpu.draw(screen));
    }
    let left_out: Vec<Column> = rungs.left_out.into_iter().chain(cpu.left_out).collect();
    if let Some(result) = &view.result {
        text.push_str(&format!("\n{}\n", format::terminal(result)));
    }
    let hidden = if verbose { 0 } else { left_out.len() };
    if verbose && !left_out.is_empty() {
        let mut grid = Table::default().texts("rung", view.rungs.iter().map(|row| label(row)));
        grid.columns.extend(left_out);
        text.push_str(&format!("\n{}", grid.blocks(screen.width)));
    }
    text.push_str(&notes(&view, hidden, screen, verbose));
    for &row in &view.troubled {
        let shown = rungs
            .verdicts
            .iter()
            .chain(&cpu.verdicts)
            .find(|(told, _)| std::ptr::eq(*told, row))
            .map(|(_, verdict)| verdict.as_str());
        if let Some((who, reason)) = detail(row, shown) {
            text.push_str(&format!(
                "\n{}:\n{}",
                format::terminal(&who),
                format::reason(&reason, "  ", screen.width)
            ));
        }
    }
    format::on_screen(&text, screen)
}

struct Section<'a> {
    view: &'a View<'a>,
    rows: &'a [&'a Row],
    best: Option<usize>,
    /// Columns that had no room.
    left_out: Vec<Column>,
    /// The verdicts that the table shows.
    verdicts: Vec<(&'a Row, String)>,
    /// Characters of the bars behind the lines, if there is room.
    bars: Option<usize>,
    /// The shortest time, where bars are of the fastest line's speed: where the limit bounds nothing.
    least: Option<f64>,
}

impl<'a> Section<'a> {
    fn of(view: &'a View<'a>, rows: &'a [&'a Row], best: Option<usize>) -> Section<'a> {
        let mut timed = rows.iter().filter(|row| row.t_median_s.is_some());
        let times = timed.clone().filter_map(|row| row.t_median_s);
        let is_limited = timed.all(|row| {
            !row.flags.contains(flag::FITS_CACHE)
                && row.ceiling_pct.is_some_and(|share| share <= 100.0)
        });
        let least = (!is_limited).then(|| times.fold(f64::INFINITY, f64::min));
        Section {
            view,
            rows,
            best,
            left_out: Vec::new(),
            verdicts: Vec::new(),
            bars: None,
            least,
        }
    }

    fn is_cpu(&self) -> bool {
        self.rows.first().is_some_and(|row| row.on_host())
    }

    fn draw(&mut self, screen: Screen) -> String {
        let mut grid = self.grid();
        let mut has_bars = !self.is_cpu()
            && self
                .rows
                .iter()
                .filter(|row| row.t_median_s.is_some())
                .count()
                > 1;
        while grid.width() + if has_bars { GAP + BAR.0 } else { 0 } > screen.width {
            let next = grid
                .columns
                .iter()
                .map(|column| column.drop)
                .max()
                .unwrap_or(0);
            match has_bars && next <= BAR_DROP {
                true => has_bars = false,
                false if next == 0 => break,
                false => self.left_out.extend(grid.drop_one()),
            }
        }
        self.left_out.reverse();
        let grid = grid.shorten(screen.width);
        let room = screen.width.saturating_sub(grid.width() + GAP);
        self.bars = has_bars.then_some(room.min(BAR.1));
        self.lines(&grid, screen)
    }

    fn grid(&self) -> Table {
        let name = match self.rows.first() {
            Some(row) if self.is_cpu() => &row.device,
            _ if self.best.is_some() => "  rung",
            _ => "rung",
        };
        let rungs = self
            .rows
            .iter()
            .enumerate()
            .map(|(at, row)| match self.best {
                Some(best) => format!("{} {}", if best == at { '★' } else { ' ' }, label(row)),
                None => label(row),
            });
        let parts = if self.is_cpu() {
            &COLUMNS[..1]
        } else {
            &COLUMNS
        };
        // A line without any number has its verdict, and the reason, in their place.
        let verdicts = self.rows.iter().map(|row| {
            if is_whole(row) {
                verdict(self.view.judged(row), 0)
            } else {
                String::new()
            }
        });
        let grid = Table::default()
            .texts(name, rungs)
            .ladder(self.view, self.rows, parts, false);
        grid.texts("verdict", verdicts)
    }

    /// The table's lines with bars and colours. A line without numbers has its verdict in their place.
    fn lines(&mut self, grid: &Table, screen: Screen) -> String {
        let lines = grid.lines();
        let first_row = lines.len() - self.rows.len();
        let names = grid.columns[0].cells.iter();
        let name_width = format::widest(names.map(|name| format::terminal(name)));
        let room = screen.width.saturating_sub(name_width + GAP);
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            let line = match at.checked_sub(first_row).map(|at| self.rows[at]) {
                None => self.head_line(line, first_row - at, grid.width()),
                Some(row) => {
                    let judged = self.view.judged(row);
                    let told = verdict(judged, if is_whole(row) { 0 } else { room });
                    let told = if is_whole(row) {
                        told
                    } else {
                        format::terminal(&told)
                    };
                    let verdict = if screen.color {
                        paint(&told, tint(judged.status))
                    } else {
                        told.clone()
                    };
                    let name = format::terminal(&grid.columns[0].cells[at - first_row]);
                    let blanks = grid.width().saturating_sub(line.chars().count());
                    let line = match line.strip_suffix(told.as_str()) {
                        _ if !is_whole(row) => format!("{name:<name_width$}  {verdict}"),
                        Some(body) => {
                            tinted_gains(body, screen) + &verdict + &self.bar(row, blanks)
                        }
                        None => line.clone() + &self.bar(row, blanks),
                    };
                    self.verdicts.push((judged, told));
                    line
                }
            };
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// A line of the head, so many above the first row, with what the bars show, and the rule below all of it.
    fn head_line(&self, line: &str, above: usize, width: usize) -> String {
        match (self.bars, above) {
            (Some(bars), 1) => format!("{line}{}", "-".repeat(GAP + bars)),
            (Some(_), 2) => format!("{line:<width$}  {}", self.bar_head()),
            _ => line.to_owned(),
        }
    }

    fn bar_head(&self) -> &'static str {
        if self.least.is_some() {
            VS_FASTEST
        } else {
            VS_LIMIT
        }
    }

    /// A line's bar behind so many blanks.
    fn bar(&self, row: &Row, blanks: usize) -> String {
        let Some(width) = self.bars else {
            return String::new();
        };
        let share = match self.least {
            Some(least) => ratio(least, row.t_median_s.unwrap_or(f64::INFINITY)),
            None => row.ceiling_pct.map(|share| share / 100.0),
        };
        " ".repeat(blanks + GAP) + &format::bar(share.unwrap_or(0.0), width)
    }
}

/// Whether a line has numbers, or needs none.
fn is_whole(row: &Row) -> bool {
    row.t_median_s.is_some() || row.status == Status::Ok
}

/// Gains in green and losses in red, which their signs say as well; one that is undecided has no colour.
pub(crate) fn tinted_gains(line: &str, screen: Screen) -> String {
    if !screen.color {
        return line.to_owned();
    }
    line.split(' ')
        .map(|cell: &str| match cell.ends_with('?') {
            true => cell.to_owned(),
            false => cell
                .replace('▲', &paint("▲", Tint::Green))
                .replace('▼', &paint("▼", Tint::Red)),
        })
        .joined(" ")
}

/// Notes on two lines, or all of them, and the lesson; and how much `-v` shows besides.
fn notes(view: &View<'_>, columns: usize, screen: Screen, verbose: bool) -> String {
    let mut text = String::new();
    let mut lines = 0;
    let mut more = 0;
    for note in &view.notes {
        let note = screen.wrap_foreign(&format!("note: {note}"));
        lines += note.lines().count();
        if verbose || lines <= NOTE_LINES || text.is_empty() {
            text.push_str(&note);
        } else {
            more += 1;
        }
    }
    text.extend(
        view.lesson
            .map(|note| screen.wrap_foreign(&format!("note: {note}"))),
    );
    let hidden = [(more, "more note"), (columns, "more column")]
        .into_iter()
        .filter(|(n, _)| *n > 0);
    let hidden = hidden
        .map(|(n, what)| format::counted(n, what))
        .joined(" and ");
    if !hidden.is_empty() {
        text.push_str(&format!("-v shows {hidden}\n"));
    }
    if text.is_empty() {
        text
    } else {
        format!("\n{text}")
    }
}

#[cfg(test)]
mod tests;
