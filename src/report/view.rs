//! A ladder's report before it is given a form: the same cells and sentences for every renderer.
//! Texts are raw; renderers escape them.

use super::format::{self, Tint};
use crate::data::Dtype;
use crate::kernels::{self, Form};
use crate::record::{Row, flag};
use crate::runner::{Cache, Number, Status};

/// A ladder's report in parts.
pub(super) struct View {
    /// Problem, device and conditions.
    pub(super) title: String,
    /// The rungs, if there are any.
    pub(super) rungs: TextTable,
    /// The CPU baselines, if there are any.
    pub(super) cpu: TextTable,
    /// `dot = 1.234567e5`.
    pub(super) result: Option<String>,
    /// What needs care, a sentence each.
    pub(super) notes: Vec<String>,
    /// Rows that gave no number, as (row and verdict, reason in full), where the table had no room.
    pub(super) details: Vec<(String, String)>,
}

/// A table. The first and the last column are text, those between numbers.
pub(super) struct TextTable {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// The colour of each row's verdict.
    pub(super) tints: Vec<Tint>,
}

/// A column: its name, its cells, and whether it stays when no row has a cell for it.
struct Column {
    name: &'static str,
    cell: fn(&Cell<'_>) -> Option<String>,
    always: bool,
}

/// What a table's cell is made from.
struct Cell<'a> {
    row: &'a Row,
    /// The row of the same kernel that repeats its work inside, beside one that does not.
    inside: Option<&'a Row>,
    unit: RateUnit,
}

const RUNG_COLUMNS: &[Column] = &[
    Column { name: "median", cell: |c| median(c.row), always: true },
    Column { name: "batch", cell: |c| c.row.t_batch_s.map(format::time), always: false },
    Column { name: "GB/s", cell: |c| c.rate(c.row), always: true },
    Column { name: "inside GB/s", cell: |c| c.rate(c.inside?), always: false },
    Column { name: "of copy", cell: |c| c.row.copy_pct.map(percent), always: false },
    Column { name: "of limit", cell: |c| of_limit(c.row), always: false },
    Column { name: "gain", cell: |c| c.row.step_x.map(three), always: true },
    Column { name: "total", cell: |c| c.row.total_x.map(three), always: true },
    Column { name: "vs 1 core", cell: |c| c.row.cpu_seq_x.map(three), always: false },
    Column { name: "vs all cores", cell: |c| c.row.cpu_rayon_x.map(three), always: false },
];

/// Of families that arithmetic bounds.
const RUNG_PAIR_COLUMNS: &[Column] = &[
    Column { name: "median", cell: |c| median(c.row), always: true },
    Column { name: "prep", cell: |c| c.row.t_preparation_s.map(format::time), always: false },
    Column { name: "e2e", cell: |c| c.row.t_end_to_end_s.map(format::time), always: false },
    Column { name: "Gpair/s", cell: |c| pairs(c.row), always: true },
    Column { name: "/CU/clk", cell: |c| c.row.ops_per_cu_clock.map(|ops| three(ops / 2.0)), always: false },
    Column { name: "of limit", cell: |c| of_limit(c.row), always: false },
    Column { name: "gain", cell: |c| c.row.step_x.map(three), always: true },
    Column { name: "total", cell: |c| c.row.total_x.map(three), always: true },
    Column { name: "vs all cores", cell: |c| c.row.cpu_rayon_x.map(three), always: false },
];

const CPU_PAIR_COLUMNS: &[Column] = &[
    Column { name: "median", cell: |c| median(c.row), always: true },
    Column { name: "Gpair/s", cell: |c| pairs(c.row), always: true },
];

const CPU_COLUMNS: &[Column] = &[
    Column { name: "median", cell: |c| median(c.row), always: true },
    Column { name: "GB/s", cell: |c| c.rate(c.row), always: true },
];

impl Cell<'_> {
    /// The row whose verdict the line shows: the plain one, unless only the other went wrong.
    fn judged(&self) -> &Row {
        match self.inside {
            Some(inside) if self.row.status == Status::Ok && inside.status != Status::Ok => inside,
            _ => self.row,
        }
    }

    fn rate(&self, row: &Row) -> Option<String> {
        row.gbps.map(|gbps| four(self.unit.of(gbps)))
    }
}

/// The unit of bandwidths in tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateUnit {
    /// 10^9 bytes a second.
    #[default]
    GB,
    /// 2^30 bytes a second.
    GiB,
}

impl RateUnit {
    /// A rate in this unit.
    fn of(self, gbps: f64) -> f64 {
        match self {
            RateUnit::GB => gbps,
            RateUnit::GiB => gbps * 1e9 / (1u64 << 30) as f64,
        }
    }

    /// A text that speaks of GB/s, in this unit.
    fn named(self, text: &str) -> String {
        match self {
            RateUnit::GB => text.to_owned(),
            RateUnit::GiB => text.replace("GB/s", "GiB/s"),
        }
    }
}

impl View {
    /// Arranges the rows of one ladder: one case on one device.
    pub(super) fn of(rows: &[Row], unit: RateUnit) -> View {
        let (cpu, kernels): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|r| r.on_host());
        let (mut plain, mut inside): (Vec<&Row>, Vec<&Row>) = kernels.iter().partition(|r| r.repeats().is_none());
        if plain.is_empty() {
            std::mem::swap(&mut plain, &mut inside);
        }
        let beside = |row: &Row| inside.iter().copied().find(|r| r.variant == row.variant);
        let wg = common_wg(&plain);
        let cell = |row| Cell { row, inside: None, unit };
        let (rung_columns, cpu_columns) = match rows.first().is_none_or(is_memory_bound) {
            true => (RUNG_COLUMNS, CPU_COLUMNS),
            false => (RUNG_PAIR_COLUMNS, CPU_PAIR_COLUMNS),
        };
        View {
            title: plain
                .first()
                .or(cpu.first())
                .map(|r| title(r, inside.first().copied(), wg, unit))
                .unwrap_or_default(),
            rungs: TextTable::of(
                "rung".to_owned(),
                plain.iter().map(|&row| Cell { inside: beside(row), ..cell(row) }).collect(),
                |r| label(r, wg),
                rung_columns,
            ),
            cpu: TextTable::of(
                cpu.first().map(|r| r.device.clone()).unwrap_or_default(),
                cpu.iter().copied().map(cell).collect(),
                |r| r.variant.clone(),
                cpu_columns,
            ),
            result: result(rows),
            notes: notes(&plain.iter().chain(&cpu).copied().collect::<Vec<_>>(), &inside),
            details: rows.iter().filter_map(|r| detail(r, wg)).collect(),
        }
    }
}

impl TextTable {
    fn of(first: String, cells: Vec<Cell<'_>>, label: impl Fn(&Row) -> String, columns: &[Column]) -> TextTable {
        let has_cell = |c: &Column| c.always || cells.iter().any(|cell| (c.cell)(cell).is_some());
        let columns: Vec<&Column> = columns.iter().filter(|c| has_cell(c)).collect();
        let unit = cells.first().map(|c| c.unit).unwrap_or_default();
        let names = columns.iter().map(|c| unit.named(c.name));
        let line = |cell: &Cell<'_>| {
            let cells = columns.iter().map(|c| (c.cell)(cell).unwrap_or_else(|| "-".to_owned()));
            std::iter::once(label(cell.row)).chain(cells).chain([verdict(cell.judged())]).collect()
        };
        TextTable {
            header: std::iter::once(first).chain(names).chain(["verdict".to_owned()]).collect(),
            rows: cells.iter().map(line).collect(),
            tints: cells.iter().map(|c| tint(c.judged().status)).collect(),
        }
    }
}

/// Additions with a minimum, two operations each, in 10^9 a second.
fn pairs(row: &Row) -> Option<String> {
    row.gops.map(|gops| four(gops / 2.0))
}

/// Whether the row's family is bounded by memory, rather than by arithmetic.
pub(super) fn is_memory_bound(row: &Row) -> bool {
    kernels::family(&row.family).is_none_or(|family| family.ceiling.is_memory())
}

fn four(x: f64) -> String {
    format::significant(x, 4)
}

fn three(x: f64) -> String {
    format::significant(x, 3)
}

fn percent(share: f64) -> String {
    format!("{}%", three(share))
}

/// The share of the measured limit that was reached; where the data fit a cache, memory's limit is none.
pub(super) fn of_limit(row: &Row) -> Option<String> {
    let share = row.ceiling_pct?;
    Some(if row.has_flag(flag::FITS_CACHE) { "in cache".to_owned() } else { percent(share) })
}

/// The median, and half the inter-quartile range as a share of it.
fn median(row: &Row) -> Option<String> {
    let spread = row.noise.map(|n| format!(" ±{}", format::percent(n / 2.0))).unwrap_or_default();
    row.t_median_s.map(|t| format::time(t) + &spread)
}

/// `v3 local`, with its work-group size if that is not the ladder's.
fn label(row: &Row, wg: &str) -> String {
    // Where arithmetic is the bound most rungs have a work-group size of their own.
    let is_common = row.wg.is_empty() || row.wg == wg || !is_memory_bound(row);
    let own = if is_common { String::new() } else { format!(" (wg {})", row.wg) };
    match row.rung {
        Some(number) => format!("v{number} {}{own}", row.variant),
        None => format!("{}{own}", row.variant),
    }
}

/// `v3`, or the name of a reference or baseline.
fn short_label(row: &Row) -> String {
    row.rung.map_or_else(|| row.variant.clone(), |number| format!("v{number}"))
}

/// The work-group size of most rungs.
fn common_wg<'a>(rungs: &[&'a Row]) -> &'a str {
    let frequency = |wg: &str| rungs.iter().filter(|r| r.wg == wg).count();
    // Of equally frequent ones the first.
    rungs.iter().rev().map(|r| r.wg.as_str()).max_by_key(|wg| frequency(wg)).unwrap_or_default()
}

fn title(row: &Row, inside: Option<&Row>, wg: &str, unit: RateUnit) -> String {
    let is_matrix = kernels::family(&row.family).is_some_and(|f| f.form != Form::Vector);
    let size = match is_matrix {
        false => format!("n = {}", format::count(row.n)),
        true => format!("{} x {}", format::count(row.n), format::count(row.m)),
    };
    let wg = if wg.is_empty() || !is_memory_bound(row) { String::new() } else { format!(", wg {wg}") };
    let cache = match row.cache {
        Cache::Warm => "warm",
        Cache::Cold => "cold",
    };
    let ceiling = match (row.ceiling_gbps, row.ceiling_gops) {
        (Some(gbps), _) => unit.named(&format!(", {} ceiling {} GB/s", row.ceiling, four(unit.of(gbps)))),
        (None, Some(gops)) => format!(", {} ceiling {} Gpair/s", row.ceiling, four(gops / 2.0)),
        (None, None) => String::new(),
    };
    let repeats = inside.unwrap_or(row).repeats();
    let inside = repeats.map_or_else(String::new, |nreps| format!(", inside: {nreps} times in one launch"));
    let signed = if row.params.split(' ').any(|set| set == "weights=signed") { ", signed weights" } else { "" };
    format!("{} on {}: {size}, {}{signed}{wg}, {cache} cache{ceiling}{inside}", row.family, row.device, row.dtype)
}

/// Most characters of a verdict, so that a table of all columns stays within 120.
const VERDICT_WIDTH: usize = 30;

fn verdict(row: &Row) -> String {
    if row.status == Status::Ok {
        return "ok".to_owned();
    }
    let inside = if row.repeats().is_some() { "inside " } else { "" };
    let word = format!("{inside}{}", status_word(row.status));
    if row.reason.is_empty() || matches!(row.status, Status::BuildFailed | Status::Timeout) {
        return word;
    }
    format::shorten(&format!("{word}: {}", format::block(&row.reason, "")), VERDICT_WIDTH)
}

pub(super) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Skipped => "skipped",
        Status::BuildFailed => "build failed",
        Status::Suspect => "SUSPECT",
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
        || (row.repeats().is_none() && verdict(row).contains(format::block(&row.reason, "").trim()));
    let inside = if row.repeats().is_some() { " inside" } else { "" };
    (!is_told).then(|| (format!("{}{inside}, {word}", label(row, wg)), row.reason.trim().to_owned()))
}

/// The result: a kernel's, or where none was right the CPU's, which is said.
fn result(rows: &[Row]) -> Option<String> {
    let mut right = rows.iter().filter(|r| r.status == Status::Ok);
    let of_kernels = right.clone().filter(|r| !r.on_host()).find_map(number);
    of_kernels.or_else(|| right.find_map(number).map(|result| format!("{result}, by the CPU alone")))
}

/// A row's result with as many digits as its type holds.
fn number(row: &Row) -> Option<String> {
    let number = match row.result? {
        Number::Integer(value) => value.to_string(),
        Number::Real(0.0) => "0".to_owned(),
        Number::Real(value) => match row.dtype {
            Dtype::F32 => format!("{value:.6e}"),
            Dtype::F64 => format!("{value:.15e}"),
            // From before integers were written as such.
            Dtype::I32 | Dtype::I64 => format!("{value:.0}"),
        },
    };
    Some(format!("{} = {number}", row.family))
}

/// Remarks on the rows; those on rows that repeat their work `inside` only where they must be known to read the table.
fn notes(rows: &[&Row], inside: &[&Row]) -> Vec<String> {
    let mut notes = notes_on(rows);
    let doubtful: Vec<&Row> = inside.iter().filter(|r| r.is_doubtful()).copied().collect();
    if !doubtful.is_empty() {
        let who = who(&doubtful, inside);
        notes.push(format!(
            "inside, {who}: noisy, unsteady, or by another clock than asked for, so small differences mean little"
        ));
    }
    notes
}

fn notes_on(rows: &[&Row]) -> Vec<String> {
    let note = |is_meant: &dyn Fn(&Row) -> bool, text: &str| {
        let meant: Vec<&Row> = rows.iter().copied().filter(|r| is_meant(r)).collect();
        (!meant.is_empty()).then(|| format!("{}: {text}", who(&meant, rows)))
    };
    let fallback = rows.iter().find(|r| r.has_flag(flag::CLOCK_FALLBACK));
    let clock = fallback.map(|r| format!("another clock than asked for ({}): {}", clock_name(r), r.reason));
    let drift = rows.iter().filter(|r| r.has_flag(flag::DRIFT)).filter_map(|r| r.canary).fold(1.0, f64::max);
    let drift = format!(
        "unsteady: a fixed kernel took up to {drift:.2} times its best, so the device's clock or a neighbour changed"
    );
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
            "faster than the ceiling measured on this device; gpulab ceiling measures it again",
        ),
        note(&|r| r.has_flag(flag::CLOCK_FALLBACK), clock.as_deref().unwrap_or_default()),
        note(&is_step_back, "slower than the rung before: on this device and size the idea costs more than it saves"),
        note(&|r| r.has_flag(flag::NOISY), "noisy, so small differences mean little"),
        note(&|r| r.has_flag(flag::DRIFT), &drift),
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
fn who(meant: &[&Row], rows: &[&Row]) -> String {
    let timed = |r: &&Row| !r.on_host() && r.t_median_s.is_some();
    let rungs = rows.iter().filter(|r| timed(r)).count();
    if rungs > 1 && meant.len() == rungs && meant.iter().all(timed) {
        return "all rungs".to_owned();
    }
    meant.iter().map(|r| short_label(r)).collect::<Vec<_>>().join(", ")
}
