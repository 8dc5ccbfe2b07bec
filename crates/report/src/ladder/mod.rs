//! A ladder as text for a terminal.

use super::cell::{Cell, RateUnit, Value};
use super::columns::{self, BAR_DROP, VS_FASTEST, VS_LIMIT, in_one_unit, of_limit};
use super::format::{self, Screen, Tint, paint};
use super::grid::{GAP, GridColumn, TextGrid};
use super::rungs::label;
use super::view::{self, View, detail, tint, verdict};
use gpulab_model::outcome::Status;
use gpulab_model::stats::ratio;
use gpulab_record::Row;
use gpulab_system::text::Joined;

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
    let mut text = format::wrap(&title, screen.width, "  ").replace('\u{a0}', " ");
    let rungs = Section { cells: &view.rungs, name: "rung".to_owned(), best: view.best(), is_cpu: false };
    let cpu_name = view.cpu.first().map(|cell| cell.row.device.clone()).unwrap_or_default();
    let cpu = Section { cells: &view.cpu, name: cpu_name, best: None, is_cpu: true };
    let mut left_out = Vec::new();
    let mut shown = Vec::new();
    for part in [rungs, cpu].into_iter().filter(|part| !part.cells.is_empty()) {
        let drawn = part.draw(screen);
        text.push('\n');
        text.push_str(&drawn.text);
        if !part.is_cpu {
            text.extend(view.legend(part.best.is_some()).map(|legend| format::wrap(&legend, screen.width, "  ")));
        }
        left_out.extend(drawn.left_out);
        shown.extend(drawn.verdicts);
    }
    if let Some(result) = &view.result {
        text.push_str(&format!("\n{}\n", format::terminal(result)));
    }
    let hidden = if verbose { 0 } else { left_out.len() };
    if verbose && !left_out.is_empty() {
        let names = GridColumn::texts("rung", view.rungs.iter().map(|cell| label(cell.row)).collect(), 0);
        let grid = TextGrid { columns: std::iter::once(names).chain(left_out).collect() };
        text.push_str(&format!("\n{}", grid.blocks(screen.width)));
    }
    text.push_str(&notes(&view, hidden, screen, verbose));
    for row in view.troubled {
        let shown = shown.iter().find(|(told, _)| std::ptr::eq(*told, row)).map(|(_, verdict)| verdict.as_str());
        if let Some((who, reason)) = detail(row, shown) {
            text.push_str(&format!("\n{}:\n{}", format::terminal(&who), format::reason(&reason, "  ", screen.width)));
        }
    }
    format::on_screen(&text, screen)
}

struct Section<'a> {
    cells: &'a [Cell<'a>],
    name: String,
    best: Option<usize>,
    is_cpu: bool,
}

/// A table's text, what of it had no room, and the verdicts that it shows.
struct Drawn<'a> {
    text: String,
    left_out: Vec<GridColumn>,
    verdicts: Vec<(&'a Row, String)>,
}

impl<'a> Section<'a> {
    fn draw(&self, screen: Screen) -> Drawn<'a> {
        let mut grid = self.grid();
        let mut left_out = Vec::new();
        let mut has_bars = !self.is_cpu && self.cells.iter().filter(|cell| cell.is_timed()).count() > 1;
        while grid.width() + if has_bars { GAP + BAR.0 } else { 0 } > screen.width {
            let next = grid.columns.iter().map(|column| column.drop).max().unwrap_or(0);
            match has_bars && next <= BAR_DROP {
                true => has_bars = false,
                false if next == 0 => break,
                false => left_out.extend(grid.drop_one()),
            }
        }
        left_out.reverse();
        let grid = grid.shorten(screen.width);
        let room = screen.width.saturating_sub(grid.width() + GAP);
        let bars = has_bars.then(|| Bars::of(self.cells, room.min(BAR.1)));
        let (text, verdicts) = self.lines(&grid, bars.as_ref(), screen);
        Drawn { text, left_out, verdicts }
    }

    fn grid(&self) -> TextGrid {
        let mark = |at| if self.best == Some(at) { "★ " } else { "  " };
        let name = format!("{}{}", if self.best.is_some() { "  " } else { "" }, self.name);
        let first = GridColumn::texts(
            name,
            self.cells
                .iter()
                .enumerate()
                .map(|(at, cell): (usize, &Cell<'_>)| match self.best {
                    Some(_) => mark(at).to_owned() + &label(cell.row),
                    None => label(cell.row),
                })
                .collect(),
            0,
        );
        // A line without any number has its verdict, and the reason, in their place.
        let is_whole = |cell: &Cell<'_>| cell.is_timed() || cell.row.status == Status::Ok;
        let timed =
            self.cells.iter().map(|cell| if is_whole(cell) { verdict(cell.judged(), 0) } else { String::new() });
        let last = GridColumn::texts("verdict", timed.collect(), 0);
        let parts: &[columns::Subject] = match self.is_cpu {
            true => &[columns::Subject::Timing],
            false => &[columns::Subject::Timing, columns::Subject::Kernels, columns::Subject::Whole],
        };
        let all = view::columns(self.cells, parts).into_iter();
        let unit = self.cells.first().map(|cell| cell.unit).unwrap_or_default();
        let between = all.map(|(column, values)| {
            let (of_time, texts) = in_one_unit(&values);
            let head = column.head(unit);
            let head = of_time.map_or(head.clone(), |of_time| {
                format!("{head}{}{of_time}", if head.contains('\n') { " " } else { "\n" })
            });
            GridColumn::numbers(head, texts, column.drop)
        });
        TextGrid { columns: std::iter::once(first).chain(between).chain([last]).collect() }
    }

    /// The table's lines with bars and colours. A line without numbers has its verdict in their place.
    fn lines(&self, grid: &TextGrid, bars: Option<&Bars>, screen: Screen) -> (String, Vec<(&'a Row, String)>) {
        let lines = grid.lines();
        let first_row = lines.len() - self.cells.len();
        let name_width =
            grid.columns[0].cells.iter().map(|name| format::terminal(name).chars().count()).max().unwrap_or(0);
        let room = screen.width.saturating_sub(name_width + GAP);
        let color = |text: &str, tint| if screen.color { paint(text, tint) } else { text.to_owned() };
        let mut verdicts = Vec::new();
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            let cell = at.checked_sub(first_row).map(|row| (row, &self.cells[row]));
            let line = match cell {
                None => head_line(line, at, first_row, bars, grid.width()),
                Some((_, cell)) if cell.is_timed() || cell.row.status == Status::Ok => {
                    let row = cell.judged();
                    let told = verdict(row, 0);
                    verdicts.push((row, told.clone()));
                    let body = line.strip_suffix(told.as_str()).map(str::to_owned);
                    let blanks = grid.width().saturating_sub(line.chars().count());
                    let body = body.map(|body| tinted_gains(&body, screen) + &color(&told, tint(row.status)));
                    let bar = bars.map_or_else(String::new, |bars| " ".repeat(blanks + GAP) + &bars.bar(cell));
                    body.unwrap_or_else(|| line.clone()) + &bar
                }
                Some((row, cell)) => {
                    let told = format::terminal(&verdict(cell.judged(), room));
                    verdicts.push((cell.judged(), told.clone()));
                    let name = format::terminal(&grid.columns[0].cells[row]);
                    format!("{name:<name_width$}  {}", color(&told, tint(cell.judged().status)))
                }
            };
            text.push_str(line.trim_end());
            text.push('\n');
        }
        (text, verdicts)
    }
}

/// A line of the head, with what the bars show, and the rule below all of it.
fn head_line(line: &str, at: usize, first_row: usize, bars: Option<&Bars>, width: usize) -> String {
    match bars {
        Some(bars) if at + 1 == first_row => format!("{line}{}", "-".repeat(GAP + bars.width)),
        Some(bars) if at + 2 == first_row => format!("{line:<width$}  {}", bars.head),
        _ => line.to_owned(),
    }
}

/// Gains in green and losses in red, which their signs say as well; one that is undecided has no colour.
fn tinted_gains(line: &str, screen: Screen) -> String {
    if !screen.color {
        return line.to_owned();
    }
    line.split(' ')
        .map(|cell: &str| match cell.ends_with('?') {
            true => cell.to_owned(),
            false => cell.replace('▲', &paint("▲", Tint::Green)).replace('▼', &paint("▼", Tint::Red)),
        })
        .joined(" ")
}

/// Bars behind the lines: of the limit, or of the fastest line's speed where the limit bounds nothing.
struct Bars {
    head: &'static str,
    width: usize,
    /// The shortest time, where the bars are against it.
    least: Option<f64>,
}

impl Bars {
    fn of(cells: &[Cell<'_>], width: usize) -> Bars {
        let timed = || cells.iter().filter(|cell| cell.is_timed());
        if timed().all(|cell: &Cell<'_>| matches!(of_limit(cell.row), Some(Value::Percent(share)) if share <= 100.0)) {
            return Bars { head: VS_LIMIT, width, least: None };
        }
        let least = timed().filter_map(|cell| cell.row.t_median_s).fold(f64::INFINITY, f64::min);
        Bars { head: VS_FASTEST, width, least: Some(least) }
    }

    fn bar(&self, cell: &Cell<'_>) -> String {
        let share = match self.least {
            Some(least) => ratio(least, cell.row.t_median_s.unwrap_or(f64::INFINITY)),
            None => cell.row.ceiling_pct.map(|share| share / 100.0),
        };
        format::bar(share.unwrap_or(0.0), self.width)
    }
}

/// Notes on two lines, or all of them, and the lesson; and how much `-v` shows besides.
fn notes(view: &View<'_>, columns: usize, screen: Screen, verbose: bool) -> String {
    let wrap = |note: &str| format::wrap(&format!("note: {}", format::terminal(note)), screen.width, "  ");
    let wrapped = view.notes.iter().map(|note| wrap(note));
    let mut text = String::new();
    let mut lines = 0;
    let mut more = 0;
    for note in wrapped {
        lines += note.lines().count();
        if verbose || lines <= NOTE_LINES || text.is_empty() {
            text.push_str(&note);
        } else {
            more += 1;
        }
    }
    text.extend(view.lesson.map(wrap));
    let counted = |n: usize, what: &str| (n > 0).then(|| format::counted(n, &format!("more {what}")));
    let left_out: Vec<String> = [counted(more, "note"), counted(columns, "column")].into_iter().flatten().collect();
    if !left_out.is_empty() {
        text.push_str(&format!("-v shows {}\n", left_out.join(" and ")));
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

#[cfg(test)]
mod tests;
