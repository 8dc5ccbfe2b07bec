//! A ladder's report before it is given a form: the same cells and sentences for every renderer.
//! Texts are raw; renderers escape them.

use super::columns::whole_x;
use super::rungs::{is_memory_bound, label, limit, short_label, who};
use crate::format::{self, Tint};
use gpulab_kernels::{Form, minplus};
use gpulab_model::data::Dtype;
use gpulab_model::outcome::{Number, Status};
use gpulab_model::plan::WorkGroup;
use gpulab_model::stats::ratio;
use gpulab_record::{CPU_EXACT, Flags, Row, clear_factor, flag};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateUnit {
    /// 10^9 bytes a second.
    #[default]
    GB,
    /// 2^30 bytes a second.
    GiB,
}

impl RateUnit {
    pub fn of(self, gbps: f64) -> f64 {
        match self {
            RateUnit::GB => gbps,
            RateUnit::GiB => gbps * 1e9 / (1u64 << 30) as f64,
        }
    }

    /// A text that speaks of GB/s, in this unit.
    pub fn named(self, text: &str) -> String {
        match self {
            RateUnit::GB => text.to_owned(),
            RateUnit::GiB => text.replace("GB/s", "GiB/s"),
        }
    }
}

pub struct View<'a> {
    pub unit: RateUnit,
    /// Problem, device and conditions.
    pub title: String,
    pub rungs: Vec<&'a Row>,
    pub cpu: Vec<&'a Row>,
    /// The rows that repeat their work inside, beside those that do not.
    inside: Vec<&'a Row>,
    /// `dot = 123456.7`.
    pub result: Option<String>,
    /// What needs care, a sentence each, what matters most first.
    pub notes: Vec<String>,
    /// Why a ladder's order is another one than its ideas promise, where that shows: told whatever else there is to say.
    pub lesson: Option<&'static str>,
    /// Rows that gave no number, with their reasons.
    pub troubled: Vec<&'a Row>,
}

impl<'a> View<'a> {
    /// Arranges the rows of one ladder: one case on one device.
    pub fn of(rows: &'a [Row], unit: RateUnit) -> View<'a> {
        let (cpu, kernels): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|r| r.on_host());
        let (mut plain, mut inside): (Vec<&Row>, Vec<&Row>) =
            kernels.iter().partition(|r| r.repeats().is_none());
        if plain.is_empty() {
            std::mem::swap(&mut plain, &mut inside);
        }
        let wg = common_wg(&plain);
        let all: Vec<&Row> = plain.iter().chain(&cpu).copied().collect();
        View {
            title: plain
                .first()
                .or(cpu.first())
                .map(|r| title(r, &plain, &inside, wg, unit))
                .unwrap_or_default(),
            troubled: rows
                .iter()
                .filter(|r| r.status != Status::Ok && !r.reason.trim().is_empty())
                .collect(),
            result: result(rows),
            lesson: lesson(&plain),
            notes: tuned(&plain)
                .into_iter()
                .chain(notes(&all, &inside))
                .collect(),
            rungs: plain,
            cpu,
            inside,
            unit,
        }
    }

    /// The right result of the rung before.
    pub fn before(&self, row: &Row) -> Option<&'a Row> {
        let before = self
            .rungs
            .iter()
            .copied()
            .take_while(|own| !std::ptr::eq(*own, row));
        before.filter(|row| is_base(row)).last()
    }

    /// The row of the same kernel that repeats its work inside, beside one that does not.
    pub fn inside(&self, row: &Row) -> Option<&'a Row> {
        self.inside
            .iter()
            .copied()
            .find(|inside| inside.variant == row.variant)
    }

    /// The row whose verdict a line shows: the plain one, unless only the other went wrong.
    pub fn judged(&self, row: &'a Row) -> &'a Row {
        let inside = self
            .inside(row)
            .filter(|inside| row.status == Status::Ok && inside.status != Status::Ok);
        inside.unwrap_or(row)
    }

    /// The fastest rung's place, where there are several: a right result that is not faster than anything explains.
    pub fn best(&self) -> Option<usize> {
        let rungs = self
            .rungs
            .iter()
            .enumerate()
            .filter(|(_, row)| row.rung.is_some() && row.is_believed());
        let timed: Vec<(usize, f64)> = rungs
            .filter_map(|(at, row)| Some((at, row.t_median_s?)))
            .collect();
        let fastest = timed.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        (timed.len() > 1).then_some(fastest.0)
    }
}

fn four(x: f64) -> String {
    format::significant(x, 4)
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
    Some(format!(
        "{}: tuned; {gains}(--no-tuned: defaults)",
        who(&tuned, rungs)
    ))
}

/// The work-group size of most rungs; none where all rows are the CPU's.
fn common_wg(rungs: &[&Row]) -> Option<WorkGroup> {
    // Of equally frequent ones the first.
    rungs
        .iter()
        .rev()
        .filter_map(|r| r.wg)
        .max_by_key(|wg| rungs.iter().filter(|r| r.wg == Some(*wg)).count())
}

/// Whether some row's time, if there are any, is held against the measured limit: not where the data fit a cache.
pub fn is_held_against_limit<'r>(rows: impl IntoIterator<Item = &'r Row>) -> bool {
    is_any_beyond_caches(
        rows.into_iter()
            .filter(|row| row.t_median_s.is_some())
            .map(|row| row.flags),
    )
}

/// The same, by the flags of those with a time.
pub fn is_any_beyond_caches(timed: impl Iterator<Item = Flags>) -> bool {
    let mut timed = timed.peekable();
    timed.peek().is_none() || timed.any(|flags| !flags.contains(flag::FITS_CACHE))
}

/// What the ladder of these rungs is about; `inside` are those that repeat their work.
fn title(
    row: &Row,
    rungs: &[&Row],
    inside: &[&Row],
    wg: Option<WorkGroup>,
    unit: RateUnit,
) -> String {
    let is_matrix = row.form() != Form::Vector;
    let size = match is_matrix {
        false => format!("n = {}", format::count(row.n)),
        true => format!("{} x {}", format::count(row.n), format::count(row.m)),
    };
    let wg = wg
        .filter(|_| is_memory_bound(row))
        .map_or_else(String::new, |wg| {
            let is_all = rungs.iter().all(|row| row.wg.is_none_or(|own| own == wg));
            format!(", wg {wg}{}", if is_all { "" } else { " for most" })
        });
    let is_held = is_held_against_limit(rungs.iter().chain(inside).copied());
    let ceiling = match limit(row) {
        Some(("GB/s", gbps)) if is_held => unit.named(&format!(
            ", limit {} GB/s ({})",
            four(unit.of(gbps)),
            row.ceiling
        )),
        Some((rate, limit)) if is_held => {
            format!(", limit {} {rate} ({})", four(limit), row.ceiling)
        }
        _ => String::new(),
    };
    let repeats = inside.first().unwrap_or(&row).repeats();
    let inside = repeats.map_or_else(String::new, |nreps| {
        format!(", inside: {nreps} times in one launch")
    });
    let signed = if minplus::is_signed(&row.params) {
        ", signed weights"
    } else {
        ""
    };
    let device = format::device(&row.device);
    // Bytes stand for elements of any type that none of gpulab's own families has.
    let dtype = if row.dtype == Dtype::U8 {
        String::new()
    } else {
        format!(", {}", row.dtype)
    };
    format!(
        "{} on {device}: {size}{dtype}{signed}{wg}, {} cache{ceiling}{inside}",
        row.family,
        row.cache.name()
    )
}

/// `ok`, or what went wrong and why, in `width` characters or fewer.
pub fn verdict(row: &Row, width: usize) -> String {
    if row.status == Status::Ok {
        return if row.is_tuned() { "ok, tuned" } else { "ok" }.to_owned();
    }
    let word = format!(
        "{}{}",
        if row.repeats().is_some() {
            "inside "
        } else {
            ""
        },
        status_word(row.status)
    );
    if row.reason.is_empty() || matches!(row.status, Status::BuildFailed | Status::Timeout) {
        return word;
    }
    let whole = format!("{word}: {}", format::block(&row.reason, ""));
    // A word or two of a reason say nothing.
    if width >= word.len() + 12 {
        format::shorten(&whole, width)
    } else {
        word
    }
}

pub fn status_word(status: Status) -> &'static str {
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

pub fn tint(status: Status) -> Tint {
    match status {
        Status::Ok => Tint::Green,
        Status::Skipped => Tint::Yellow,
        _ => Tint::Red,
    }
}

/// A row and its verdict, and its reason where what is shown of that does not hold all of it.
pub fn detail(row: &Row, shown: Option<&str>) -> Option<(String, String)> {
    let is_told =
        shown.is_some_and(|shown: &str| shown.contains(format::block(&row.reason, "").trim()));
    let inside = if row.repeats().is_some() {
        " inside"
    } else {
        ""
    };
    let who = format!("{}{inside}, {}", label(row), status_word(row.status));
    (!is_told).then(|| (who, row.reason.trim().to_owned()))
}

/// The result: a kernel's, or where none was right the CPU's, which is said; the exact one, too, where roundings left few digits.
pub fn result(rows: &[Row]) -> Option<String> {
    const ROUNDINGS: f64 = 1e4;
    let mut right = rows
        .iter()
        .filter(|r| r.status == Status::Ok && r.result.is_some());
    let Some(row) = right.clone().find(|r| !r.on_host()) else {
        return right
            .find_map(number)
            .map(|result| format!("{result}, by the CPU alone"));
    };
    let said = number(row)?;
    let own = row.result.map_or(0.0, Number::rounded);
    let far = ROUNDINGS * row.dtype.unit_roundoff();
    let exact = right.filter(|r| r.variant == CPU_EXACT).find(|r| {
        let exact = r.result.map_or(0.0, Number::rounded);
        (exact - own).abs() > far * exact.abs()
    });
    let Some(exact) = exact.and_then(number) else {
        return Some(said);
    };
    let bound = row.tol.unwrap_or(f64::INFINITY);
    Some(format!(
        "{exact} (cpu_exact), {said} ({}, error bound {bound:.1e})",
        short_label(row)
    ))
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
    if is_plain {
        format::significant(value, digits)
    } else {
        format!("{value:.*e}", digits - 1)
    }
}

/// What must be known to read the numbers right, what matters most first; of rows that repeat their work `inside` only
/// whether they can be believed.
fn notes(rows: &[&Row], inside: &[&Row]) -> Vec<String> {
    let drift = rows
        .iter()
        .filter(|r| r.flags.contains(flag::DRIFT))
        .filter_map(|r| r.canary)
        .fold(1.0, f64::max);
    let drift = format!(
        "unsteady (the device's clock or a neighbour changed; a fixed kernel took {drift:.2} times its best)"
    );
    let doubt =
        "noisy, unsteady, or by another clock than asked for, so small differences mean little";
    let all = [
        note(
            rows,
            &|r| r.flags.contains(flag::CLOCK_FALLBACK),
            "timed by another clock than asked for",
        ),
        note(
            rows,
            &|r| r.flags.contains(flag::ABOVE_CEILING) && !r.flags.contains(flag::FITS_CACHE),
            "faster than the limit measured on this device; gpulab ceiling measures it again",
        ),
        note(rows, &|r| r.flags.contains(flag::DRIFT), &drift),
        note(
            rows,
            &|r| r.flags.contains(flag::NOISY),
            "noisy, so small differences mean little",
        ),
        note(inside, &Row::is_doubtful, doubt).map(|note| format!("inside, {note}")),
        mostly_launches(rows),
        note(
            rows,
            &wins_only_with_data,
            "faster than all CPU cores only where the device already has the data",
        ),
    ];
    all.into_iter().flatten().collect()
}

/// Whether a kernel beats all CPU cores, and is clearly beaten by them from end to end.
fn wins_only_with_data(row: &Row) -> bool {
    const CLEAR: f64 = 1.1;
    let [clear, whole_clear] =
        [row.noise, row.end_to_end_noise].map(|noise| CLEAR * (1.0 + noise.unwrap_or(0.0)));
    !row.on_host()
        && row.cpu_rayon_x.is_some_and(|kernels| kernels > clear)
        && whole_x(row).is_some_and(|whole| 1.0 / whole > whole_clear)
}

/// The rungs of which launches are most of the time, and from which size on they are at most a tenth of what the device's limit
/// allows.
fn mostly_launches(rows: &[&Row]) -> Option<String> {
    let said = note(rows, &is_mostly_launches, "launches are most of the time")?;
    let meant = rows.iter().copied().filter(|row| is_mostly_launches(row));
    let timed = meant.filter_map(|row| Some((row, row.t_launches_s?)));
    let (most, launching) = timed.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let at_limit = match is_memory_bound(most) {
        true => most.bytes.zip(most.ceiling_gbps),
        false => most.ops.zip(most.ceiling_gops),
    };
    let power = match most.form() {
        Form::Vector => 1.0,
        Form::Matrix => 2.0,
        Form::Square => 3.0,
    };
    let from = at_limit.map(|(amount, limit)| {
        let scale = (9.0 * launching * limit * 1e9 / amount as f64).powf(1.0 / power);
        (most.n as f64 * scale.max(1.0)).log2().ceil()
    });
    // Cells of files may hold any numbers.
    let from = from.filter(|log| (1.0..62.0).contains(log));
    Some(
        said + &from.map_or_else(String::new, |log| {
            format!("; from about --n 2^{log} on they are at most a tenth")
        }),
    )
}

fn is_mostly_launches(row: &Row) -> bool {
    row.t_launches_s
        .zip(row.t_median_s)
        .is_some_and(|(part, whole)| 2.0 * part >= whole)
}

fn note(rows: &[&Row], is_meant: &dyn Fn(&Row) -> bool, text: &str) -> Option<String> {
    let meant: Vec<&Row> = rows.iter().copied().filter(|r| is_meant(r)).collect();
    (!meant.is_empty()).then(|| format!("{}: {text}", who(&meant, rows)))
}

/// What makes a CPU device turn round what is right on a GPU.
const ON_CPU: &str = "on a CPU device the order may reverse: one thread runs a whole work-group, local memory is ordinary \
                      memory, and what neighbouring work-items read together is a stride for one core";

/// Why rungs are slower than those before them, if some clearly are, and it is a CPU device's rows.
fn lesson(rungs: &[&Row]) -> Option<&'static str> {
    let bases: Vec<&Row> = rungs
        .iter()
        .copied()
        .filter(|row| is_base(row) && row.is_on_cpu_device())
        .collect();
    let is_slower = |pair: &[&Row]| {
        let loss = pair[1].step_x.and_then(|gain| ratio(1.0, gain));
        loss.is_some_and(|loss| loss > clear_factor(Some(pair[0]), pair[1]))
    };
    bases.windows(2).any(is_slower).then_some(ON_CPU)
}

/// Whether rungs are compared with this row: a right result of one, with a time.
pub fn is_base(row: &Row) -> bool {
    row.rung.is_some() && row.status == Status::Ok && row.t_median_s.is_some()
}
