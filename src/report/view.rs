//! A ladder's report before it is given a form: the same cells and sentences for every renderer.
//! Texts are raw; renderers escape them.

use super::format::{self, Tint};
use crate::data::Dtype;
use crate::record::{Row, flag};
use crate::runner::{Cache, Status};

/// A ladder's report in parts.
pub(super) struct View {
    /// Problem, device and conditions.
    pub(super) title: String,
    /// The rungs, if there are any.
    pub(super) rungs: Grid,
    /// The CPU baselines, if there are any.
    pub(super) cpu: Grid,
    /// `dot = 1.234567e5`.
    pub(super) result: Option<String>,
    /// What needs care, a sentence each.
    pub(super) notes: Vec<String>,
    /// Rows that gave no number, as (row and verdict, reason in full), where the table had no room.
    pub(super) details: Vec<(String, String)>,
}

/// A table. The first and the last column are text, those between numbers.
pub(super) struct Grid {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// The colour of each row's verdict.
    pub(super) tints: Vec<Tint>,
}

/// A column: its name, its cells, and whether it stays when no row has a cell for it.
struct Column {
    name: &'static str,
    cell: fn(&Row) -> Option<String>,
    always: bool,
}

const RUNG_COLUMNS: &[Column] = &[
    Column { name: "median", cell: median, always: true },
    Column { name: "batch", cell: |r| r.t_batch_s.map(format::time), always: false },
    Column { name: "GB/s", cell: |r| r.gbps.map(four), always: true },
    Column { name: "% ceiling", cell: |r| r.ceiling_pct.map(three), always: false },
    Column { name: "step x", cell: |r| r.step_x.map(three), always: true },
    Column { name: "total x", cell: |r| r.total_x.map(three), always: true },
    Column { name: "x seq", cell: |r| r.cpu_seq_x.map(three), always: false },
    Column { name: "x rayon", cell: |r| r.cpu_rayon_x.map(three), always: false },
];

const CPU_COLUMNS: &[Column] = &[
    Column { name: "median", cell: median, always: true },
    Column { name: "GB/s", cell: |r| r.gbps.map(four), always: true },
];

impl View {
    /// Arranges the rows of one ladder: one case on one device.
    pub(super) fn of(rows: &[Row]) -> View {
        let (rungs, cpu): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|r| r.rung.is_some());
        let wg = common_wg(&rungs);
        View {
            title: rungs.first().or(cpu.first()).map(|r| title(r, wg)).unwrap_or_default(),
            rungs: Grid::of("rung".to_owned(), &rungs, |r| label(r, wg), RUNG_COLUMNS),
            cpu: Grid::of(
                cpu.first().map(|r| r.device.clone()).unwrap_or_default(),
                &cpu,
                |r| r.variant.clone(),
                CPU_COLUMNS,
            ),
            result: rows.iter().filter(|r| r.status == Status::Ok).find_map(result),
            notes: notes(rows),
            details: rows.iter().filter_map(|r| detail(r, wg)).collect(),
        }
    }
}

impl Grid {
    fn of(first: String, rows: &[&Row], label: impl Fn(&Row) -> String, columns: &[Column]) -> Grid {
        let has_cell = |c: &Column| c.always || rows.iter().any(|r| (c.cell)(r).is_some());
        let columns: Vec<&Column> = columns.iter().filter(|c| has_cell(c)).collect();
        let names = columns.iter().map(|c| c.name.to_owned());
        let line = |row: &Row| {
            let cells = columns.iter().map(|c| (c.cell)(row).unwrap_or_else(|| "-".to_owned()));
            std::iter::once(label(row)).chain(cells).chain([verdict(row)]).collect()
        };
        Grid {
            header: std::iter::once(first).chain(names).chain(["verdict".to_owned()]).collect(),
            rows: rows.iter().map(|r| line(r)).collect(),
            tints: rows.iter().map(|r| tint(r.status)).collect(),
        }
    }
}

fn four(x: f64) -> String {
    format::significant(x, 4)
}

fn three(x: f64) -> String {
    format::significant(x, 3)
}

/// The median, and half the inter-quartile range as a share of it.
fn median(row: &Row) -> Option<String> {
    let spread = row.noise.map(|n| format!(" ±{}", format::percent(n / 2.0))).unwrap_or_default();
    row.t_median_s.map(|t| format::time(t) + &spread)
}

/// `v3 local`, with its work-group size if that is not the ladder's.
fn label(row: &Row, wg: &str) -> String {
    let own = if row.wg.is_empty() || row.wg == wg { String::new() } else { format!(" (wg {})", row.wg) };
    match row.rung {
        Some(number) => format!("v{number} {}{own}", row.variant),
        None => row.variant.clone(),
    }
}

/// `v3`, or a baseline's name.
fn short_label(row: &Row) -> String {
    row.rung.map_or_else(|| row.variant.clone(), |number| format!("v{number}"))
}

/// The work-group size of most rungs.
fn common_wg<'a>(rungs: &[&'a Row]) -> &'a str {
    let frequency = |wg: &str| rungs.iter().filter(|r| r.wg == wg).count();
    // Of equally frequent ones the first.
    rungs.iter().rev().map(|r| r.wg.as_str()).max_by_key(|wg| frequency(wg)).unwrap_or_default()
}

fn title(row: &Row, wg: &str) -> String {
    let size = match row.m {
        1 => format!("n = {}", format::count(row.n)),
        m => format!("{} x {}", format::count(row.n), format::count(m)),
    };
    let wg = if wg.is_empty() { String::new() } else { format!(", wg {wg}") };
    let cache = match row.cache {
        Cache::Warm => "warm",
        Cache::Cold => "cold",
    };
    let ceiling = match row.ceiling_gbps {
        Some(gbps) => format!(", {} ceiling {} GB/s", row.ceiling, four(gbps)),
        None => String::new(),
    };
    format!("{} on {}: {size}, {}{wg}, {cache} cache{ceiling}", row.family, row.device, row.dtype)
}

/// Most characters of a verdict, so that a table of all columns stays within 120.
const VERDICT_WIDTH: usize = 30;

fn verdict(row: &Row) -> String {
    if row.status == Status::Ok {
        return match (row.max_err, row.tol) {
            (Some(_), Some(0.0)) => "ok exact".to_owned(),
            (Some(err), Some(tol)) if tol > 0.0 => format!("ok {} of bound", format::significant(err / tol, 2)),
            _ => "ok".to_owned(),
        };
    }
    let word = status_word(row.status);
    if row.reason.is_empty() || matches!(row.status, Status::BuildFailed | Status::Timeout) {
        return word.to_owned();
    }
    format::shorten(&format!("{word}: {}", format::block(&row.reason, "")), VERDICT_WIDTH)
}

pub(super) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Skipped => "skipped",
        Status::BuildFailed => "build failed",
        Status::WrongResult => "WRONG",
        Status::Timeout => "timeout",
        Status::Failed => "failed",
    }
}

fn tint(status: Status) -> Tint {
    match status {
        Status::Ok => Tint::Green,
        Status::Skipped => Tint::Yellow,
        _ => Tint::Red,
    }
}

/// A row's reason where its verdict does not hold all of it.
fn detail(row: &Row, wg: &str) -> Option<(String, String)> {
    let word = status_word(row.status);
    let is_told = row.status == Status::Ok
        || row.reason.trim().is_empty()
        || verdict(row).contains(format::block(&row.reason, "").trim());
    (!is_told).then(|| (format!("{}, {word}", label(row, wg)), row.reason.trim().to_owned()))
}

/// The result with as many digits as its type holds.
fn result(row: &Row) -> Option<String> {
    let value = row.result?;
    let number = match row.dtype {
        _ if value == 0.0 => "0".to_owned(),
        Dtype::F32 => format!("{value:.6e}"),
        Dtype::F64 => format!("{value:.15e}"),
        Dtype::I32 | Dtype::I64 => format!("{value:.0}"),
    };
    Some(format!("{} = {number}", row.family))
}

fn notes(rows: &[Row]) -> Vec<String> {
    let note = |is_meant: &dyn Fn(&Row) -> bool, text: &str| {
        let meant: Vec<&Row> = rows.iter().filter(|r| is_meant(r)).collect();
        (!meant.is_empty()).then(|| format!("{}: {text}", who(&meant, rows)))
    };
    let fallback = rows.iter().find(|r| r.has_flag(flag::CLOCK_FALLBACK));
    let clock = fallback.map(|r| format!("another clock than asked for ({}): {}", clock_name(r), r.reason));
    let has_batch = rows.iter().any(|r| r.t_batch_s.is_some());
    let batch = if has_batch { "; batch is the time of launches back to back" } else { "" };
    [
        note(&|r| r.has_flag(flag::LAUNCH_BOUND), &format!("launch-bound, as short as a launch itself{batch}")),
        note(
            &|r| r.has_flag(flag::LAUNCH_BOUND) && r.launches > Some(1),
            "several launches a run, each of which has its price",
        ),
        note(&|r| r.has_flag(flag::FITS_CACHE), "the data fit the cache, so memory's ceiling is no limit"),
        note(
            &|r| r.has_flag(flag::ABOVE_CEILING) && !r.has_flag(flag::FITS_CACHE),
            "faster than the ceiling measured on this device; measure it again",
        ),
        note(&|r| r.has_flag(flag::CLOCK_FALLBACK), clock.as_deref().unwrap_or_default()),
        note(&is_step_back, "slower than the rung before: on this device and size the idea costs more than it saves"),
        note(&|r| r.has_flag(flag::NOISY), "noisy, so small differences mean little"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Slower than the rung before by more than the spread of either is likely to explain.
fn is_step_back(row: &Row) -> bool {
    row.step_x.is_some_and(|x| x * (1.0 + row.noise.unwrap_or(0.0)) < 0.97) && row.variant != "wide"
}

fn clock_name(row: &Row) -> &'static str {
    use crate::runner::Clock;
    match row.clock {
        Clock::Event => "event",
        Clock::Wall => "wall",
        Clock::Batch => "batch",
    }
}

/// `v2, v3`, or `all rungs`.
fn who(meant: &[&Row], rows: &[Row]) -> String {
    let timed = |r: &&Row| r.rung.is_some() && r.t_median_s.is_some();
    let rungs = rows.iter().filter(|r| timed(r)).count();
    if rungs > 1 && meant.len() == rungs && meant.iter().all(timed) {
        return "all rungs".to_owned();
    }
    meant.iter().map(|r| short_label(r)).collect::<Vec<_>>().join(", ")
}
