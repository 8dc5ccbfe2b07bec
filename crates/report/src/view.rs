//! A ladder's report before it is given a form: the same cells and sentences for every renderer.
//! Texts are raw; renderers escape them.

use super::columns::{self, COLUMNS, Subject, TableColumn, whole_x};
use super::launching;
use super::rungs::{is_memory_bound, limit, range, short_label, who};
use crate::prelude::*;
use gpulab_kernels::{Form, minplus};
use gpulab_model::outcome::Number;
use gpulab_model::plan::WorkGroup;
use gpulab_model::stats::ratio;
use gpulab_record::{CPU_EXACT, CPU_RAYON, Flags, clear_factor};

pub(super) struct View<'a> {
    /// Problem, device and conditions.
    pub(super) title: String,
    pub(super) rungs: Vec<Cell<'a>>,
    pub(super) cpu: Vec<Cell<'a>>,
    /// `dot = 123456.7`.
    pub(super) result: Option<String>,
    /// What needs care, a sentence each, what matters most first.
    pub(super) notes: Vec<String>,
    /// Why a ladder's order is another one than its ideas promise, where that shows: told whatever else there is to say.
    pub(super) lesson: Option<&'static str>,
    /// Rows that gave no number, with their reasons.
    pub(super) troubled: Vec<&'a Row>,
}

pub(super) fn columns(cells: &[Cell<'_>], parts: &[Subject]) -> Vec<(&'static TableColumn, Vec<Option<Value>>)> {
    let bound = cells.first().and_then(|cell| cell.row.bound());
    let all = COLUMNS.iter().filter(|c| c.is_of(bound) && parts.contains(&c.part));
    let with_values = all.map(|c| (c, cells.iter().map(|cell| (c.value)(cell)).collect::<Vec<_>>()));
    with_values.filter(|(c, values)| c.always || values.iter().any(Option::is_some)).collect()
}

impl<'a> View<'a> {
    /// Arranges the rows of one ladder: one case on one device.
    pub(super) fn of(rows: &'a [Row], unit: RateUnit) -> View<'a> {
        let (cpu, kernels): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|r| r.on_host());
        let (mut plain, mut inside): (Vec<&Row>, Vec<&Row>) = kernels.iter().partition(|r| r.repeats().is_none());
        if plain.is_empty() {
            std::mem::swap(&mut plain, &mut inside);
        }
        let beside = |row: &Row| inside.iter().copied().find(|r| r.variant == row.variant);
        let before = |at: usize| plain[..at].iter().copied().rfind(|row| is_base(row));
        let wg = common_wg(&plain);
        let cell = |row| Cell { row, before: None, inside: None, unit };
        let rungs = plain.iter().enumerate();
        let all: Vec<&Row> = plain.iter().chain(&cpu).copied().collect();
        View {
            title: plain.first().or(cpu.first()).map(|r| title(r, &plain, &inside, wg, unit)).unwrap_or_default(),
            rungs: rungs.map(|(at, &row)| Cell { before: before(at), inside: beside(row), ..cell(row) }).collect(),
            cpu: cpu.iter().copied().map(cell).collect(),
            troubled: rows.iter().filter(|r| r.status != Status::Ok && !r.reason.trim().is_empty()).collect(),
            result: result(rows),
            lesson: lesson(&plain),
            notes: tuned(&plain)
                .into_iter()
                .chain(notes(&all, &inside))
                .chain(wg.and_then(|wg| own_groups(&plain, wg)))
                .chain(meanings(&all))
                .collect(),
        }
    }

    /// The fastest rung's place, where there are several: a right result that is not faster than anything explains.
    pub(super) fn best(&self) -> Option<usize> {
        let rungs = self.rungs.iter().enumerate().filter(|(_, c)| c.row.rung.is_some() && c.row.is_believed());
        let timed: Vec<(usize, f64)> = rungs.filter_map(|(at, c)| Some((at, c.row.t_median_s?))).collect();
        let fastest = timed.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        (timed.len() > 1).then_some(fastest.0)
    }

    /// What the signs in the rungs' table mean, in a line; `is_marked` is whether the best has its star.
    pub(super) fn legend(&self, is_marked: bool) -> Option<String> {
        let columns = columns(&self.rungs, &[Subject::Timing, Subject::Kernels, Subject::Whole]);
        columns::legend(is_marked, columns.into_iter().flat_map(|(_, values)| values).flatten().map(Value::text))
    }
}

fn four(x: f64) -> String {
    format::significant(x, 4)
}

fn three(x: f64) -> String {
    format::significant(x, 3)
}

/// More rungs than these, with other work-group sizes than most, have no room in a title.
const NAMED_GROUPS: usize = 3;

/// `v5 16x16, v7 1`: the rungs whose work-groups are not those of most.
fn other_groups(rungs: &[&Row], wg: WorkGroup) -> Vec<String> {
    let own = rungs.iter().filter_map(|r| Some((r, r.wg.filter(|own| *own != wg)?)));
    own.map(|(r, own)| format!("{} has {own}", short_label(r))).collect()
}

fn own_groups(rungs: &[&Row], wg: WorkGroup) -> Option<String> {
    // Where arithmetic is the bound most rungs have a work-group size of their own.
    let is_told = rungs.first().is_some_and(|row| is_memory_bound(row));
    let told = other_groups(rungs, wg);
    (is_told && told.len() > NAMED_GROUPS).then(|| format!("work-groups: {}; all others {wg}", told.join(", ")))
}

/// Which rungs have tuned settings, and what follows for gains.
fn tuned(rungs: &[&Row]) -> Option<String> {
    let timed: Vec<&Row> = rungs.iter().copied().filter(|row| is_base(row)).collect();
    let tuned: Vec<&Row> = timed.iter().copied().filter(|row| row.is_tuned()).collect();
    let gains = match tuned.len() {
        0 => return None,
        len if len == timed.len() => "",
        _ => "no gains between tuned and default rungs ",
    };
    Some(format!("{}: tuned; {gains}(--no-tuned: defaults)", who(&tuned, rungs)))
}

/// The work-group size of most rungs; none where all rows are the CPU's.
fn common_wg(rungs: &[&Row]) -> Option<WorkGroup> {
    let frequency = |wg: WorkGroup| rungs.iter().filter(|r| r.wg == Some(wg)).count();
    // Of equally frequent ones the first.
    rungs.iter().rev().filter_map(|r| r.wg).max_by_key(|wg| frequency(*wg))
}

/// Whether some row's time, if there are any, is held against the measured limit: not where the data fit a cache.
pub(super) fn is_held_against_limit<'r>(rows: impl IntoIterator<Item = &'r Row>) -> bool {
    is_any_beyond_caches(rows.into_iter().filter(|row| row.t_median_s.is_some()).map(|row| row.flags))
}

/// The same, by the flags of those with a time.
pub(super) fn is_any_beyond_caches(timed: impl Iterator<Item = Flags>) -> bool {
    let mut timed = timed.peekable();
    timed.peek().is_none() || timed.any(|flags| !flags.contains(flag::FITS_CACHE))
}

/// What the ladder of these rungs is about; `inside` are those that repeat their work.
fn title(row: &Row, rungs: &[&Row], inside: &[&Row], wg: Option<WorkGroup>, unit: RateUnit) -> String {
    let is_matrix = row.form() != Form::Vector;
    let size = match is_matrix {
        false => format!("n = {}", format::count(row.n)),
        true => format!("{} x {}", format::count(row.n), format::count(row.m)),
    };
    let others = wg.map_or_else(Vec::new, |wg| other_groups(rungs, wg));
    let wg = match (wg, others.len()) {
        _ if wg.is_none() || !is_memory_bound(row) => String::new(),
        (Some(wg), 0) => format!(", wg {wg}"),
        (Some(wg), 1..=NAMED_GROUPS) => format!(", wg {wg} ({})", others.join(", ")),
        _ => ", each rung with a wg of its own".to_owned(),
    };
    let is_held = is_held_against_limit(rungs.iter().chain(inside).copied());
    let ceiling = match limit(row) {
        Some(("GB/s", gbps)) if is_held => {
            unit.named(&format!(", limit {} GB/s ({})", four(unit.of(gbps)), row.ceiling))
        }
        Some((rate, limit)) if is_held => format!(", limit {} {rate} ({})", four(limit), row.ceiling),
        _ => String::new(),
    };
    let repeats = inside.first().unwrap_or(&row).repeats();
    let inside = repeats.map_or_else(String::new, |nreps| format!(", inside: {nreps} times in one launch"));
    let signed = if minplus::is_signed(&row.params) { ", signed weights" } else { "" };
    let device = format::device(&row.device);
    // Bytes stand for elements of any type that none of gpulab's own families has.
    let dtype = if row.dtype == Dtype::U8 { String::new() } else { format!(", {}", row.dtype) };
    format!("{} on {device}: {size}{dtype}{signed}{wg}, {} cache{ceiling}{inside}", row.family, row.cache.name())
}

/// `ok`, or what went wrong and why, in `width` characters or fewer.
pub(super) fn verdict(row: &Row, width: usize) -> String {
    if row.status == Status::Ok {
        return if row.is_tuned() { "ok, tuned" } else { "ok" }.to_owned();
    }
    let word = format!("{}{}", if row.repeats().is_some() { "inside " } else { "" }, status_word(row.status));
    if row.reason.is_empty() || matches!(row.status, Status::BuildFailed | Status::Timeout) {
        return word;
    }
    let whole = format!("{word}: {}", format::block(&row.reason, ""));
    // A word or two of a reason say nothing.
    if width >= word.len() + 12 { format::shorten(&whole, width) } else { word }
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

pub(super) fn tint(status: Status) -> Tint {
    match status {
        Status::Ok => Tint::Green,
        Status::Skipped => Tint::Yellow,
        _ => Tint::Red,
    }
}

/// A row and its verdict, and its reason where what is shown of that does not hold all of it.
pub(super) fn detail(row: &Row, shown: Option<&str>) -> Option<(String, String)> {
    let is_told = shown.is_some_and(|shown: &str| shown.contains(format::block(&row.reason, "").trim()));
    let inside = if row.repeats().is_some() { " inside" } else { "" };
    let who = format!("{}{inside}, {}", label(row), status_word(row.status));
    (!is_told).then(|| (who, row.reason.trim().to_owned()))
}

/// The result: a kernel's, or where none was right the CPU's, which is said; the exact one, too, where roundings left few digits.
pub(super) fn result(rows: &[Row]) -> Option<String> {
    const ROUNDINGS: f64 = 1e4;
    let mut right = rows.iter().filter(|r| r.status == Status::Ok && r.result.is_some());
    let Some(row) = right.clone().find(|r| !r.on_host()) else {
        return right.find_map(number).map(|result| format!("{result}, by the CPU alone"));
    };
    let said = number(row)?;
    let value = |row: &Row| row.result.map_or(0.0, Number::rounded);
    let far = ROUNDINGS * row.dtype.unit_roundoff();
    let exact = right.find(|r| r.variant == CPU_EXACT && (value(r) - value(row)).abs() > far * value(r).abs());
    let Some(exact) = exact.and_then(number) else { return Some(said) };
    let bound = row.tol.unwrap_or(f64::INFINITY);
    Some(format!("{exact} (cpu_exact), {said} ({}, error bound {bound:.1e})", short_label(row)))
}

/// A row's result with as many digits as its type holds.
fn number(row: &Row) -> Option<String> {
    let number = match row.result? {
        Number::Integer(value) => value.to_string(),
        Number::Real(0.0) => "0".to_owned(),
        Number::Real(value) => match row.dtype {
            Dtype::F32 => readable(value, 7),
            Dtype::F64 => readable(value, 16),
            // From before integers were written as such.
            Dtype::I32 | Dtype::I64 | Dtype::U8 => format!("{value:.0}"),
        },
    };
    Some(format!("{} = {number}", row.family))
}

/// So many digits, plain where these reach to the point or near it.
fn readable(value: f64, digits: usize) -> String {
    let is_plain = (1e-4..10f64.powi(digits as i32)).contains(&value.abs());
    if is_plain { format::significant(value, digits) } else { format!("{value:.*e}", digits - 1) }
}

/// What must be known to read the numbers right, what matters most first; of rows that repeat their work `inside` only
/// whether they can be believed.
fn notes(rows: &[&Row], inside: &[&Row]) -> Vec<String> {
    let fallback = rows.iter().find(|r| r.flags.contains(flag::CLOCK_FALLBACK));
    let clock = fallback.map(|r| format!("another clock than asked for ({}): {}", r.clock.name(), r.reason));
    let drift = rows.iter().filter(|r| r.flags.contains(flag::DRIFT)).filter_map(|r| r.canary).fold(1.0, f64::max);
    let has_gain = rows.iter().any(|r| r.flags.contains(flag::DRIFT) && r.rung.is_some());
    let drift = format!(
        "unsteady (the device's clock or a neighbour changed; a fixed kernel took {drift:.2} times its best){}",
        if has_gain { ", so smaller gains from and to these rows are undecided" } else { "" }
    );
    let doubtful = |is_meant: &dyn Fn(&Row) -> bool, text: &str| {
        let meant: Vec<&Row> = rows.iter().copied().filter(|row| is_meant(row)).collect();
        (!meant.is_empty()).then(|| format!("{}: {text}", whoever(&meant, rows)))
    };
    let is_untold = |r: &Row| r.flags.contains(flag::LAUNCH_BOUND) && r.t_launches_s.is_none();
    let doubtful_inside: Vec<&Row> = inside.iter().filter(|r| r.is_doubtful()).copied().collect();
    let text = "noisy, unsteady, or by another clock than asked for, so small differences mean little";
    let inside_doubt =
        (!doubtful_inside.is_empty()).then(|| format!("inside, {}: {text}", who(&doubtful_inside, inside)));
    let doubts = [
        note(rows, &|r| r.flags.contains(flag::CLOCK_FALLBACK), clock.as_deref().unwrap_or_default()),
        note(
            rows,
            &|r| r.flags.contains(flag::ABOVE_CEILING) && !r.flags.contains(flag::FITS_CACHE),
            "faster than the limit measured on this device; gpulab ceiling measures it again",
        ),
        note(
            rows,
            &|r| {
                r.ceiling_pct > Some(100.0)
                    && ![flag::ABOVE_CEILING, flag::FITS_CACHE].iter().any(|&f| r.flags.contains(f))
            },
            "above the limit, but within the 5 % by which a limit differs from run to run",
        ),
        doubtful(&|r| r.flags.contains(flag::DRIFT), &drift),
        doubtful(&|r| r.flags.contains(flag::NOISY), "noisy, so small differences mean little"),
        inside_doubt,
    ];
    let launches = [
        note(rows, &is_untold, "under 50 us, and the launch is a good part of it"),
        note(rows, &|r| is_untold(r) && r.launches > Some(1), "several launches a run, and each costs time"),
    ];
    let known = only_where_data_are(rows);
    let doubts = doubts.into_iter().flatten();
    doubts
        .chain(launching::notes(rows))
        .chain(launches.into_iter().flatten())
        .chain(steps_back(rows))
        .chain(known)
        .collect()
}

fn note(rows: &[&Row], is_meant: &dyn Fn(&Row) -> bool, text: &str) -> Option<String> {
    let meant: Vec<&Row> = rows.iter().copied().filter(|r| is_meant(r)).collect();
    (!meant.is_empty()).then(|| format!("{}: {text}", who(&meant, rows)))
}

/// What the table's words mean, of those that it has.
fn meanings(rows: &[&Row]) -> Vec<String> {
    let cache = note(
        rows,
        &|r| r.flags.contains(flag::FITS_CACHE),
        "the data fit a cache, so memory's limit does not bound it",
    );
    let batch = if rows.iter().any(|r| r.t_batch_s.is_some()) { "; back to back: a run among many" } else { "" };
    let text = "end to end: allocation, transfers, kernels and the host's part, with the program built before";
    let end_to_end = rows.iter().any(|r| r.t_end_to_end_s.is_some()).then(|| format!("{text}{batch}"));
    cache.into_iter().chain(end_to_end).collect()
}

/// By how much a factor must be above 1 to be told.
const CLEAR: f64 = 1.1;

/// The rungs that beat all CPU cores by their kernels, but from end to end are beaten by them. What the spread could turn
/// round is not told.
fn only_where_data_are(rows: &[&Row]) -> Option<String> {
    let of_cpu = rows.iter().find(|r| r.variant == CPU_RAYON).and_then(|r| r.noise).unwrap_or(0.0);
    let factors = |r: &&&Row| {
        let kernels = r.cpu_rayon_x?;
        let whole = ratio(1.0, whole_x(r)?)?;
        let noise = [r.noise, r.end_to_end_noise].map(|noise| 1.0 + noise.unwrap_or(0.0) + of_cpu);
        (kernels > CLEAR * noise[0] && whole > CLEAR * noise[1]).then_some((kernels, whole))
    };
    let meant: Vec<&Row> = rows.iter().filter(|r| !r.on_host() && factors(r).is_some()).copied().collect();
    let (kernels, whole): (Vec<f64>, Vec<f64>) = meant.iter().filter_map(|r| factors(&r)).unzip();
    (!meant.is_empty()).then(|| {
        format!(
            "the device wins only if it already has the data ({}): its kernels by {} times; from end to end all CPU \
             cores win by {} times",
            who(&meant, rows),
            range(&kernels, three),
            range(&whole, three),
        )
    })
}

/// The rungs that are clearly slower than the rung before, and by how much. A reason is said only where launches are most of
/// their time.
fn steps_back(rows: &[&Row]) -> Vec<String> {
    const WHYS: [&str; 3] = [
        ", on this device and at this size",
        ": the launches cost more here, not the idea",
        ", but launches are most of that time, so this says little of the idea",
    ];
    let rungs: Vec<&Row> = rows.iter().copied().filter(|row| is_base(row)).collect();
    let pairs = rungs.windows(2).map(|pair| (pair[0], pair[1]));
    let slower: Vec<(&Row, f64, &str)> = pairs
        .filter_map(|(before, row)| {
            let more = |time: fn(&Row) -> Option<f64>| Some(time(row)? - time(before)?);
            let launches = more(|r| r.t_launches_s);
            let whole = more(|r| r.t_median_s);
            let why = match launches.zip(whole) {
                _ if !launching::is_mostly(row) => WHYS[0],
                // Half of what the rung takes more, or above.
                Some((launches, whole)) if 2.0 * launches >= whole => WHYS[1],
                _ => WHYS[2],
            };
            Some((row, loss(before, row)?, why))
        })
        .collect();
    WHYS.iter()
        .filter_map(|why: &&str| {
            let (meant, losses): (Vec<&Row>, Vec<f64>) =
                slower.iter().filter(|(_, _, own)| own == why).map(|&(row, loss, _)| (row, loss)).unzip();
            let told =
                || format!("{}: {} times slower than the rung before{why}", who(&meant, rows), range(&losses, three));
            (!meant.is_empty()).then(told)
        })
        .collect()
}

/// What makes a CPU device turn round what is right on a GPU.
const ON_CPU: &str = "on a CPU device the order may reverse: one thread runs a whole work-group, local memory is ordinary \
                      memory, and what neighbouring work-items read together is a stride for one core";

/// Why rungs are slower than those before them, if some clearly are, not for their launches, and it is a CPU device's rows.
fn lesson(rungs: &[&Row]) -> Option<&'static str> {
    let bases: Vec<&Row> = rungs.iter().copied().filter(|row| is_base(row) && row.is_on_cpu_device()).collect();
    bases
        .windows(2)
        .any(|pair: &[&Row]| loss(pair[0], pair[1]).is_some() && !launching::is_mostly(pair[1]))
        .then_some(ON_CPU)
}

/// Whether rungs are compared with this row: a right result of one, with a time.
pub(super) fn is_base(row: &Row) -> bool {
    row.rung.is_some() && row.status == Status::Ok && row.t_median_s.is_some()
}

/// How many times slower a rung is than the one before; nothing where the spreads of both, too few runs, an unsteady device
/// or two different clocks could be the reason.
fn loss(before: &Row, row: &Row) -> Option<f64> {
    let is_sure = |r: &Row| r.runs > 2;
    // The shape for CPU devices is no step of the ladder on others.
    let is_comparable = before.clock == row.clock && row.variant != "wide";
    let factor = ratio(1.0, row.step_x?)?;
    (is_comparable && is_sure(before) && is_sure(row) && factor > clear_factor(Some(before), row)).then_some(factor)
}

/// As [`who`], but `most rows` where more than half of them would need many names.
fn whoever(meant: &[&Row], rows: &[&Row]) -> String {
    /// More names than these are not read.
    const NAMES: usize = 3;
    let names = who(meant, rows);
    let is_most = 2 * meant.len() > rows.iter().filter(|row| row.t_median_s.is_some()).count();
    if is_most && names.split(", ").count() > NAMES { "most rows".to_owned() } else { names }
}
