//! A ladder's report before it is given a form: the same cells and sentences for every renderer.
//! Texts are raw; renderers escape them.

use super::format::{self, Tint};
use super::launching;
use crate::data::Dtype;
use crate::kernels::{self, Form};
use crate::record::{CPU_RAYON, Row, flag};
use crate::runner::{Cache, Number, Status};
use crate::stats::ratio;

/// A ladder's report in parts.
pub(super) struct View {
    /// Problem, device and conditions.
    pub(super) title: String,
    /// The rungs, if there are any.
    pub(super) rungs: TextTable,
    /// The rungs with all that belongs to a result, beside the CPU; without rows where nothing of that is known.
    pub(super) whole: TextTable,
    /// The CPU baselines, if there are any.
    pub(super) cpu: TextTable,
    /// `dot = 1.234567e5`.
    pub(super) result: Option<String>,
    /// What needs care, a sentence each.
    pub(super) notes: Vec<String>,
    /// Rows that gave no number, as (row and verdict, reason in full), where the table had no room.
    pub(super) details: Vec<(String, String)>,
}

/// A table. The first column is text, and so is the last where rows have verdicts; the others are numbers. A line feed in a
/// header is where a narrow column breaks it.
pub(super) struct TextTable {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// The colour of each row's verdict; empty where rows have none.
    pub(super) tints: Vec<Tint>,
}

/// A column: its name, its cells, whether it stays when no row has a cell for it, and whether it is the first to go where a
/// table is too wide.
struct Column {
    name: &'static str,
    cell: fn(&Cell<'_>) -> Option<String>,
    always: bool,
    spare: bool,
}

impl Column {
    /// A column that is always there.
    const fn always(name: &'static str, cell: fn(&Cell<'_>) -> Option<String>) -> Column {
        Column { name, cell, always: true, spare: false }
    }

    /// A column that is there if some row has a cell for it.
    const fn where_known(name: &'static str, cell: fn(&Cell<'_>) -> Option<String>) -> Column {
        Column { name, cell, always: false, spare: false }
    }

    /// The first to go where a table is too wide.
    const fn if_room(self) -> Column {
        Column { spare: true, ..self }
    }
}

/// What a table's cell is made from.
struct Cell<'a> {
    row: &'a Row,
    /// The row of the same kernel that repeats its work inside, beside one that does not.
    inside: Option<&'a Row>,
    unit: RateUnit,
}

const RUNG_COLUMNS: &[Column] = &[
    Column::always("median", |c| median(c.row)),
    Column::always("GB/s", |c| c.rate(c.row)),
    Column::where_known("inside\nGB/s", |c| c.rate(c.inside?)),
    Column::where_known("of\ncopy", |c| c.row.copy_pct.map(percent)),
    Column::where_known("of\nlimit", |c| of_limit(c.row)),
    Column::where_known("of\npeak", |c| of_peak(c.row)),
    Column::always("gain", |c| c.row.step_x.map(three)),
    Column::always("total", |c| c.row.total_x.map(three)).if_room(),
];

/// Of families that arithmetic bounds.
const RUNG_PAIR_COLUMNS: &[Column] = &[
    Column::always("median", |c| median(c.row)),
    Column::always("Gpair/s", |c| pairs(c.row)),
    Column::where_known("/CU/clk", |c| c.row.ops_per_cu_clock.map(|ops| three(ops / 2.0))).if_room(),
    Column::where_known("of\nlimit", |c| of_limit(c.row)),
    Column::where_known("of\npeak", |c| of_peak(c.row)),
    Column::always("gain", |c| c.row.step_x.map(three)),
    Column::always("total", |c| c.row.total_x.map(three)),
];

/// What a program has to do besides the timed kernels, and the CPU.
const WHOLE_COLUMNS: &[Column] = &[
    Column::where_known("back to\nback", |c| c.row.t_batch_s.map(format::time)),
    Column::where_known("prep", |c| c.row.t_preparation_s.map(format::time)),
    Column::where_known("vs 1\ncore", |c| c.row.cpu_seq_x.map(three)),
    Column::where_known("vs all\ncores", |c| c.row.cpu_rayon_x.map(three)),
    Column::where_known("host\npart", |c| c.row.t_host_part_s.map(format::time)),
    Column::where_known("end to\nend", |c| c.row.t_end_to_end_s.map(format::time)),
    Column::where_known("end to end\nvs all cores", |c| whole_x(c.row).map(three)),
];

const CPU_PAIR_COLUMNS: &[Column] =
    &[Column::always("median", |c| median(c.row)), Column::always("Gpair/s", |c| pairs(c.row))];

const CPU_COLUMNS: &[Column] =
    &[Column::always("median", |c| median(c.row)), Column::always("GB/s", |c| c.rate(c.row))];

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
    /// Arranges the rows of one ladder: one case on one device. Tables are at most `width` characters wide, if that is given
    /// and can be.
    pub(super) fn of(rows: &[Row], unit: RateUnit, width: Option<usize>) -> View {
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
        let heading = |first: &str, columns| Heading { first: first.to_owned(), columns, width };
        let timed = plain.iter().filter(|r| r.t_median_s.is_some());
        let cpu_table = TextTable::of(
            heading(cpu.first().map_or("", |r| &r.device), cpu_columns),
            cpu.iter().copied().map(cell).collect(),
            true,
        );
        let rungs = TextTable::of(
            heading("rung", rung_columns),
            plain.iter().map(|&row| Cell { inside: beside(row), ..cell(row) }).collect(),
            true,
        );
        View {
            title: plain
                .first()
                .or(cpu.first())
                .map(|r| title(r, inside.first().copied(), wg, unit))
                .unwrap_or_default(),
            whole: TextTable::of(heading("beside the CPU", WHOLE_COLUMNS), timed.copied().map(cell).collect(), false),
            details: rows.iter().filter_map(|r| detail(r, rungs.verdict(r).or(cpu_table.verdict(r)))).collect(),
            rungs,
            cpu: cpu_table,
            result: result(rows),
            notes: own_groups(&plain, wg)
                .into_iter()
                .chain(notes(&plain.iter().chain(&cpu).copied().collect::<Vec<_>>(), &inside))
                .collect(),
        }
    }
}

/// What a table begins with, what its columns are, and how wide it may be.
struct Heading<'a> {
    first: String,
    columns: &'a [Column],
    width: Option<usize>,
}

impl TextTable {
    /// A line for each cell's row; without columns there is none.
    fn of(heading: Heading<'_>, cells: Vec<Cell<'_>>, has_verdicts: bool) -> TextTable {
        let has_cell = |c: &Column| c.always || cells.iter().any(|cell| (c.cell)(cell).is_some());
        let mut columns: Vec<&Column> = heading.columns.iter().filter(|c| has_cell(c)).collect();
        let made = |columns: &[&Column]| TextTable::plain(&heading.first, columns, &cells);
        let mut table = made(&columns);
        let room = heading.width.map(|width| width - if has_verdicts { GAP + LEAST_VERDICT } else { 0 });
        while room.is_some_and(|room| table.width() > room)
            && let Some(spare) = columns.iter().position(|c| c.spare)
        {
            columns.remove(spare);
            table = made(&columns);
        }
        if columns.is_empty() {
            table.rows.clear();
        }
        if has_verdicts {
            let room = heading.width.map_or(VERDICT_WIDTH, |width| width.saturating_sub(table.width() + GAP));
            table.header.push("verdict".to_owned());
            for (line, cell) in table.rows.iter_mut().zip(&cells) {
                line.push(verdict(cell.judged(), room.max(LEAST_VERDICT)));
            }
            table.tints = cells.iter().map(|c| tint(c.judged().status)).collect();
        }
        table
    }

    /// Without verdicts.
    fn plain(first: &str, columns: &[&Column], cells: &[Cell<'_>]) -> TextTable {
        let unit = cells.first().map(|c| c.unit).unwrap_or_default();
        let names = columns.iter().map(|c| unit.named(c.name));
        let line = |cell: &Cell<'_>| {
            let numbers = columns.iter().map(|c| (c.cell)(cell).unwrap_or_else(|| "-".to_owned()));
            std::iter::once(label(cell.row)).chain(numbers).collect()
        };
        TextTable {
            header: std::iter::once(first.to_owned()).chain(names).collect(),
            rows: cells.iter().map(line).collect(),
            tints: Vec::new(),
        }
    }

    /// Characters of a line, columns two blanks apart.
    fn width(&self) -> usize {
        let widest = |text: &String| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let column = |i: usize| {
            let cells = self.rows.iter().filter_map(move |row| row.get(i));
            std::iter::once(&self.header[i]).chain(cells).map(widest).max().unwrap_or(0)
        };
        (0..self.header.len()).map(|i| column(i) + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// The verdict that a row's line shows, if it has a line.
    fn verdict(&self, row: &Row) -> Option<&str> {
        let lines = self.rows.iter().filter(|line| line.first() == Some(&label(row)));
        lines.filter_map(|line| line.last()).map(String::as_str).next()
    }
}

/// How many times faster than all CPU cores a result is from end to end.
fn whole_x(row: &Row) -> Option<f64> {
    ratio(row.cpu_rayon_x? * row.t_median_s?, row.t_end_to_end_s?)
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

/// The share of the theoretical rate that was given. Memory's says nothing of data in a cache.
fn of_peak(row: &Row) -> Option<String> {
    let share = row.peak_pct?;
    Some(if row.has_flag(flag::FITS_CACHE) { "in cache".to_owned() } else { percent(share) })
}

/// The median, and half the inter-quartile range as a share of it.
fn median(row: &Row) -> Option<String> {
    let spread = row.noise.map(|n| format!(" ±{}", format::percent(n / 2.0))).unwrap_or_default();
    row.t_median_s.map(|t| format::time(t) + &spread)
}

/// `v3 local`.
fn label(row: &Row) -> String {
    row.rung.map_or_else(|| row.variant.clone(), |number| format!("v{number} {}", row.variant))
}

/// `v5 16x16, v7 1`: of the rungs whose work-groups are not the ladder's.
fn own_groups(rungs: &[&Row], wg: &str) -> Option<String> {
    // Where arithmetic is the bound most rungs have a work-group size of their own.
    let own = rungs.iter().filter(|r| !r.wg.is_empty() && r.wg != wg && is_memory_bound(r));
    let told: Vec<String> = own.map(|r| format!("{} {}", short_label(r), r.wg)).collect();
    (!told.is_empty()).then(|| format!("work-groups of another size: {}", told.join(", ")))
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

/// Blanks between columns.
const GAP: usize = 2;

/// Most characters of a verdict where nothing else bounds it.
const VERDICT_WIDTH: usize = 30;

/// Characters that every verdict may have: those of its longest word.
const LEAST_VERDICT: usize = 12;

fn verdict(row: &Row, width: usize) -> String {
    if row.status == Status::Ok {
        return "ok".to_owned();
    }
    let inside = if row.repeats().is_some() { "inside " } else { "" };
    let word = format!("{inside}{}", status_word(row.status));
    if row.reason.is_empty() || matches!(row.status, Status::BuildFailed | Status::Timeout) {
        return word;
    }
    let whole = format!("{word}: {}", format::block(&row.reason, ""));
    // A word or two of a reason say nothing.
    if width >= word.len() + 12 { format::shorten(&whole, width.min(VERDICT_WIDTH)) } else { word }
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

/// A row's reason where the verdict that is shown does not hold all of it.
fn detail(row: &Row, shown: Option<&str>) -> Option<(String, String)> {
    let word = status_word(row.status);
    let holds = |shown: &str| shown.contains(format::block(&row.reason, "").trim());
    let is_told = row.status == Status::Ok
        || row.reason.trim().is_empty()
        || (row.repeats().is_none() && shown.is_some_and(holds));
    let inside = if row.repeats().is_some() { " inside" } else { "" };
    (!is_told).then(|| (format!("{}{inside}, {word}", label(row)), row.reason.trim().to_owned()))
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
    let is_untold = |r: &Row| r.has_flag(flag::LAUNCH_BOUND) && r.t_launches_s.is_none();
    let known = [only_where_data_are(rows), end_to_end(rows)].into_iter().flatten();
    let launches = launching::notes(rows);
    let others = [
        note(&is_untold, "launch-bound, as short as a launch itself"),
        note(&|r| is_untold(r) && r.launches > Some(1), "several launches a run, each of which has its price"),
        note(&|r| r.has_flag(flag::FITS_CACHE), "the data fit the cache, so memory's ceiling is no limit"),
        note(
            &|r| r.has_flag(flag::ABOVE_CEILING) && !r.has_flag(flag::FITS_CACHE),
            "faster than the ceiling measured on this device; gpulab ceiling measures it again",
        ),
        note(&|r| r.has_flag(flag::CLOCK_FALLBACK), clock.as_deref().unwrap_or_default()),
        note(&|r| r.has_flag(flag::NOISY), "noisy, so small differences mean little"),
        note(&|r| r.has_flag(flag::DRIFT), &drift),
    ];
    known.chain(launches).chain(steps_back(rows)).chain(others.into_iter().flatten()).collect()
}

/// What the times from end to end are, where there are any.
fn end_to_end(rows: &[&Row]) -> Option<String> {
    let text = "end to end: allocation, transfers, kernels and the host's part, with the program built before";
    let batch = if rows.iter().any(|r| r.t_batch_s.is_some()) { "; back to back: a run among many" } else { "" };
    rows.iter().any(|r| r.t_end_to_end_s.is_some()).then(|| format!("{text}{batch}"))
}

/// By how much a factor must be above 1 to be told.
const CLEAR: f64 = 1.1;

/// The rungs that beat all CPU cores by their kernels, but from end to end are beaten by them. What the spread could turn
/// round is not told.
fn only_where_data_are(rows: &[&Row]) -> Option<String> {
    let of_cpu = rows.iter().find(|r| r.variant == CPU_RAYON).and_then(|r| r.noise).unwrap_or(0.0);
    let factors = |r: &&&Row| {
        let (kernels, whole) = (r.cpu_rayon_x?, ratio(1.0, whole_x(r)?)?);
        let noise = [r.noise, r.end_to_end_noise].map(|noise| 1.0 + noise.unwrap_or(0.0) + of_cpu);
        (kernels > CLEAR * noise[0] && whole > CLEAR * noise[1]).then_some((kernels, whole))
    };
    let meant: Vec<&Row> = rows.iter().filter(|r| !r.on_host() && factors(r).is_some()).copied().collect();
    let (kernels, whole): (Vec<f64>, Vec<f64>) = meant.iter().filter_map(|r| factors(&r)).unzip();
    (!meant.is_empty()).then(|| {
        format!(
            "the device wins only where the data are there already ({}): its kernels are {} times as fast as all CPU \
             cores, but from end to end the CPU is {} times as fast",
            who(&meant, rows),
            range(&kernels, three),
            range(&whole, three),
        )
    })
}

/// `1.5`, or `1.5 to 7`: the least and the most.
pub(super) fn range(values: &[f64], text: fn(f64) -> String) -> String {
    let least = text(values.iter().copied().fold(f64::INFINITY, f64::min));
    let most = text(values.iter().copied().fold(0.0, f64::max));
    if least == most { least } else { format!("{least} to {most}") }
}

/// The rungs that are clearly slower than the rung before, and by how much. A reason is said only where launches are most of
/// their time.
fn steps_back(rows: &[&Row]) -> Vec<String> {
    const WHYS: [&str; 3] = [
        ", on this device and at this size",
        ": not the idea costs more here, but its launches",
        ", but launches are most of that time, so this says little of the idea",
    ];
    let is_base = |r: &&Row| r.rung.is_some() && r.status == Status::Ok && r.t_median_s.is_some();
    let rungs: Vec<&Row> = rows.iter().copied().filter(is_base).collect();
    let pairs = rungs.windows(2).map(|pair| (pair[0], pair[1]));
    let slower: Vec<(&Row, f64, &str)> = pairs
        .filter_map(|(before, row)| {
            let why = match (launching::is_mostly(row), launches_make_it(before, row)) {
                (false, _) => WHYS[0],
                (true, true) => WHYS[1],
                (true, false) => WHYS[2],
            };
            Some((row, loss(before, row)?, why))
        })
        .collect();
    let note = |why: &&str| {
        let (meant, losses): (Vec<&Row>, Vec<f64>) =
            slower.iter().filter(|(_, _, own)| own == why).map(|&(row, loss, _)| (row, loss)).unzip();
        let told =
            || format!("{}: {} times slower than the rung before{why}", who(&meant, rows), range(&losses, three));
        (!meant.is_empty()).then(told)
    };
    WHYS.iter().filter_map(note).collect()
}

/// How many times slower a rung is than the one before; nothing where the spreads of both, too few runs, an unsteady device
/// or two different clocks could be the reason.
fn loss(before: &Row, row: &Row) -> Option<f64> {
    /// A smaller loss than this is none.
    const LEAST: f64 = 0.03;
    let is_sure = |r: &Row| !r.has_flag(flag::DRIFT) && r.runs > 2;
    // The shape for CPU devices is no step of the ladder on others.
    let is_comparable = before.clock == row.clock && row.variant != "wide";
    let spread = before.noise.unwrap_or(0.0) + row.noise.unwrap_or(0.0);
    let factor = ratio(1.0, row.step_x?)?;
    (is_comparable && is_sure(before) && is_sure(row) && factor - 1.0 > spread.max(LEAST)).then_some(factor)
}

/// Whether what a rung's launches take more than those of the one before is half of what it takes more, or above.
fn launches_make_it(before: &Row, row: &Row) -> bool {
    let more = |time: fn(&Row) -> Option<f64>| Some(time(row)? - time(before)?);
    let (launches, whole) = (more(|r| r.t_launches_s), more(|r| r.t_median_s));
    launches.zip(whole).is_some_and(|(launches, whole)| 2.0 * launches >= whole)
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
pub(super) fn who(meant: &[&Row], rows: &[&Row]) -> String {
    let timed = |r: &&Row| !r.on_host() && r.t_median_s.is_some();
    let rungs = rows.iter().filter(|r| timed(r)).count();
    if rungs > 1 && meant.len() == rungs && meant.iter().all(timed) {
        return "all rungs".to_owned();
    }
    meant.iter().map(|r| short_label(r)).collect::<Vec<_>>().join(", ")
}
