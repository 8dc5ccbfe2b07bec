//! Reasons: the count that differs between two rungs and makes the model's difference.

use super::model::{DeviceRates, ModelTime, PARTED, TimePart};
use super::payoff::Payoffs;
use super::tally::{Tally, is_counted_of, is_of_rung, tally};
use crate::count::{CountRow, LockstepModel, MemoryCounts, RequestCounts};
use gpulab_kernels::Registry;
use gpulab_model::outcome::Status;
use gpulab_model::plan::WorkGroup;
use gpulab_record::{Row, clear_factor};

/// Predictions within this factor are equal.
pub const DIFFERENT: f64 = 1.02;

const WARP: u64 = LockstepModel::USUAL.warp;

/// A rung's time, as measured and as the model has it.
#[derive(Clone, Debug)]
pub struct RungTime {
    pub row: Row,
    /// Median seconds.
    pub measured: f64,
    /// Counts and modelled time, or why there are none.
    pub model: Result<(Tally, ModelTime), &'static str>,
    /// What is to be known of the counts, or empty.
    pub note: String,
    /// What would pay most; `None` on a CPU, which has no warps, segments or banks, and without counts.
    pub payoffs: Option<Payoffs>,
}

/// Why a measured time and the model's differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parting {
    /// Groups of fewer items than a warp.
    LonelyItems,
    /// Scattered segments.
    Scattered,
    /// Waiting at barriers.
    Barriers,
    /// A core that runs items one after the other, each on addresses of its own.
    ItemByItem,
    /// Latency, or caches that miss.
    Latency,
    /// The device's compiler keeps more in registers than the simulator's.
    Registers,
    /// The device's compiler vectorises over items.
    Vectors,
    /// Work that overlaps, or caches that help.
    Overlap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Launches,
    Groups,
    /// Bytes that the problem demands.
    Bytes,
    /// Cache lines of a load from global memory.
    ReadLines,
    /// Segments of a load from global memory.
    ReadSegments,
    /// Segments of a store to global memory.
    WriteSegments,
    /// Bytes loaded in jumps over neighbours' elements, for each result.
    JumpingBytes,
    /// Requests of global memory for 32 results.
    GlobalRequests,
    /// Requests of local memory for 32 results.
    LocalRequests,
    /// Passes of a request of local memory.
    LocalPasses,
    /// Passes of local memory that a warp makes between two barriers.
    PassesBetweenBarriers,
    /// Divisions of integers by warps, for 32 results.
    Divisions,
    /// Waits of warps for loads, for 32 results.
    Waits,
    /// Instructions of items for each result.
    Instructions,
    /// The share of lanes that are busy.
    LanesBusy,
}

/// A count before and after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountChange {
    pub cause: Cause,
    pub before: f64,
    pub after: f64,
    /// Whether results are pairs of elements.
    pub is_of_pairs: bool,
}

impl CountChange {
    /// The factor by which this change alone lengthens its part.
    pub fn factor(&self) -> f64 {
        match self.cause {
            Cause::LanesBusy | Cause::PassesBetweenBarriers => self.before / self.after,
            _ => self.after / self.before,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum StepReason {
    /// The times differ by less than this factor, which cannot be seen, or cannot be compared.
    Undecided(f64),
    /// A rung was not counted.
    Uncounted(&'static str),
    /// The counts do not explain the difference.
    Unexplained {
        /// The speed-up by the model.
        predicted: f64,
        /// Whether the limit alone sets both modelled times.
        at_limit: bool,
        /// The request count that changed most in the measured direction, at least twofold, though the model hides its cost.
        hidden: Option<CountChange>,
    },
    Explained {
        /// The speed-up by the model.
        predicted: f64,
        /// The part that changes most.
        part: TimePart,
        change: CountChange,
    },
}

impl StepReason {
    /// The share of a gain that the model carries, by logarithms: 0 if it goes the other way, `None` without a model.
    pub fn carried(&self, gain: f64) -> Option<f64> {
        match self {
            StepReason::Explained { predicted, .. } | StepReason::Unexplained { predicted, .. } => {
                Some((predicted.ln() / gain.ln()).max(0.0))
            }
            _ => None,
        }
    }
}

/// The times of a ladder's rungs, and the reasons of its steps.
#[derive(Clone, Debug)]
pub struct LadderReasons {
    pub rungs: Vec<RungTime>,
    /// For each step, the measured speed-up and its reason.
    pub steps: Vec<(f64, StepReason)>,
}

/// The reasons of one ladder: rows of one case on one device.
pub fn reasons(registry: &Registry, rows: &[Row], counts: &[CountRow], rates: &DeviceRates) -> LadderReasons {
    let is_rung = |row: &&Row| is_of_rung(registry, row) && row.status == Status::Ok && row.is_plain();
    let time = |row: &Row| {
        let is_beyond = counts.iter().any(|count| is_counted_of(count, row) && count.status != Status::Ok);
        let why =
            if is_beyond { "the simulator lacks what its kernel needs" } else { "not counted with these settings" };
        let counted = tally(registry, row, counts, rates.is_gpu).ok_or(why);
        let model = counted.and_then(|tally| {
            let time = ModelTime::of(row, &tally, rates).ok_or("its row lacks the limit or what launches cost")?;
            Ok((tally, time))
        });
        let note = counts.iter().find(|count| is_counted_of(count, row) && count.status == Status::Ok);
        let note = note.map_or_else(String::new, |count| count.reason.clone());
        let measured = row.t_median_s.filter(|seconds| seconds.is_finite() && *seconds > 0.0)?;
        let counted = model.as_ref().ok().filter(|_| rates.is_gpu);
        let payoffs = counted.and_then(|(tally, time)| Payoffs::of_rung(row, (tally, time), counts, rates));
        Some(RungTime { row: row.clone(), measured, model, note, payoffs })
    };
    let rungs: Vec<RungTime> = rows.iter().filter(is_rung).filter_map(time).collect();
    let steps = rungs
        .windows(2)
        .map(|pair: &[RungTime]| (pair[0].measured / pair[1].measured, step_reason(&pair[0], &pair[1], rates.is_gpu)))
        .collect();
    LadderReasons { rungs, steps }
}

fn step_reason(before: &RungTime, after: &RungTime, is_gpu: bool) -> StepReason {
    let gain = before.measured / after.measured;
    if before.row.is_tuned() != after.row.is_tuned() {
        return StepReason::Undecided(f64::INFINITY);
    }
    let clear = clear_factor(Some(&before.row), &after.row);
    if gain.max(1.0 / gain) <= clear {
        return StepReason::Undecided(clear);
    }
    let (Ok(old), Ok(new)) = (&before.model, &after.model) else {
        let why = [before, after].iter().find_map(|rung| rung.model.as_ref().err().copied());
        return StepReason::Uncounted(why.unwrap_or_default());
    };
    let predicted = old.1.whole() / new.1.whole();
    let is_alike = (gain > 1.0) == (predicted > 1.0) && predicted.max(1.0 / predicted) >= DIFFERENT;
    let explained = is_alike.then(|| explain((&before.row, old), (&after.row, new), gain > 1.0, is_gpu)).flatten();
    match explained {
        Some((part, change)) => StepReason::Explained { predicted, part, change },
        None => {
            let launches = (old.1.launches - new.1.launches).abs();
            let at_limit =
                [old, new].iter().all(|(_, model): &&(Tally, ModelTime)| is_gpu && model.largest() == TimePart::Limit)
                    && launches < 0.01 * new.1.whole();
            let hidden = hidden((&before.row, old), (&after.row, new), gain > 1.0).filter(|_| is_gpu);
            StepReason::Unexplained { predicted, at_limit, hidden }
        }
    }
}

type Counted<'a> = (&'a Row, &'a (Tally, ModelTime));

/// The part that changes most in the measured direction, and the count behind it.
fn explain(before: Counted<'_>, after: Counted<'_>, is_gain: bool, is_gpu: bool) -> Option<(TimePart, CountChange)> {
    let old = &before.1.1;
    let new = &after.1.1;
    let sign = if is_gain { 1.0 } else { -1.0 };
    // What was not the longest before a gain, or is not after a loss, hides behind another part.
    let slower = if is_gain { old } else { new };
    let all = TimePart::ALL;
    let fall = |part: &TimePart| sign * (old.get(*part) - new.get(*part));
    let part = all.into_iter().filter(|part| slower.counts(*part)).max_by(|a, b| fall(a).total_cmp(&fall(b)))?;
    let change = changes(part, before, after, is_gpu).into_iter().filter(|change| sign * change.factor().ln() < 0.0);
    let most = change.max_by(|a, b| a.factor().ln().abs().total_cmp(&b.factor().ln().abs()))?;
    (fall(&part) > 0.0).then_some((part, most))
}

/// The segments or passes of a request that changed most in the measured direction, at least twofold.
fn hidden(before: Counted<'_>, after: Counted<'_>, is_gain: bool) -> Option<CountChange> {
    let causes = [Cause::ReadSegments, Cause::WriteSegments, Cause::LocalPasses];
    let sign = if is_gain { 1.0 } else { -1.0 };
    let fall = |change: &CountChange| -sign * change.factor().ln();
    let changes = counted(&causes, before, after).into_iter().filter(|change| fall(change) >= f64::ln(2.0));
    changes.max_by(|a, b| fall(a).total_cmp(&fall(b)))
}

/// The counts behind a part, before and after.
fn changes(part: TimePart, before: Counted<'_>, after: Counted<'_>, is_gpu: bool) -> Vec<CountChange> {
    let segments = |of: fn(&MemoryCounts) -> RequestCounts| {
        let [old, new] = [before, after].map(|(_, (tally, _))| of(&tally.counts.memory).segments);
        old.abs_diff(new)
    };
    let are_distant = [before, after].map(|(row, (tally, _))| tally.are_barriers_distant(row));
    let has_loops = [before, after].iter().any(|(_, (tally, _))| tally.private > 0);
    let causes: &[Cause] = match part {
        // The device unrolls loops that the simulator's compiler leaves: their instructions are not comparable, requests are.
        TimePart::Instructions if has_loops && is_gpu => &[Cause::GlobalRequests, Cause::LocalRequests],
        TimePart::Launches => &[Cause::Launches],
        TimePart::Limit => &[Cause::Bytes],
        TimePart::Groups => &[Cause::Groups],
        TimePart::Caches if !is_gpu => &[Cause::JumpingBytes, Cause::GlobalRequests],
        TimePart::Caches if segments(|memory| memory.global_read) >= segments(|memory| memory.global_write) => {
            &[Cause::ReadLines, Cause::ReadSegments, Cause::GlobalRequests]
        }
        TimePart::Caches => &[Cause::WriteSegments, Cause::GlobalRequests],
        TimePart::Divisions => &[Cause::Divisions],
        TimePart::Waits => &[Cause::Waits],
        TimePart::Local if are_distant[0] != are_distant[1] => &[Cause::PassesBetweenBarriers],
        TimePart::Local => &[Cause::LocalRequests, Cause::LocalPasses],
        TimePart::Instructions if is_gpu => &[Cause::Instructions, Cause::LanesBusy],
        TimePart::Instructions => &[Cause::Instructions],
    };
    counted(causes, before, after)
}

/// Those counts that both rungs have; jumps and divisions may be in one alone.
fn counted(causes: &[Cause], before: Counted<'_>, after: Counted<'_>) -> Vec<CountChange> {
    let is_of_pairs = after.1.0.is_of_pairs;
    let values = |cause| [before, after].map(|rung| value(cause, rung));
    let change = |&cause: &Cause| {
        let [before, after] = values(cause);
        CountChange { cause, before, after, is_of_pairs }
    };
    causes
        .iter()
        .map(change)
        .filter(|change: &CountChange| match change.cause {
            Cause::JumpingBytes | Cause::Divisions => change.before != change.after,
            _ => change.before > 0.0 && change.after > 0.0,
        })
        .collect()
}

fn value(cause: Cause, (row, (tally, _)): Counted<'_>) -> f64 {
    let counts = &tally.counts;
    let memory = &tally.counts.memory;
    let each = |of: u64| of as f64 / results(row, tally);
    let segments = |requests: &RequestCounts| requests.segments_a_request().unwrap_or(0.0);
    match cause {
        Cause::Launches => row.launches.unwrap_or(0) as f64,
        Cause::Groups => tally.groups as f64,
        Cause::Bytes => row.bytes.unwrap_or(0) as f64,
        Cause::ReadLines => memory.global_read.lines_a_request().unwrap_or(0.0),
        Cause::ReadSegments => segments(&memory.global_read),
        Cause::WriteSegments => segments(&memory.global_write),
        Cause::JumpingBytes => tally.jumping_bytes(row) / results(row, tally),
        Cause::GlobalRequests => each(WARP * counts.global().requests),
        Cause::LocalRequests => each(WARP * counts.local().requests),
        Cause::LocalPasses => counts.local().passes_a_request().unwrap_or(0.0),
        Cause::PassesBetweenBarriers => tally.passes_between_barriers(row),
        Cause::Divisions => each(WARP * counts.divisions),
        Cause::Waits => each(WARP * counts.waits),
        Cause::Instructions => each(counts.lanes),
        Cause::LanesBusy => counts.lanes_busy(WARP).unwrap_or(0.0),
    }
}

/// Results: elements, or pairs in a product of matrices.
pub fn results(row: &Row, tally: &Tally) -> f64 {
    let elements = row.n as f64 * row.m as f64;
    if tally.is_of_pairs { elements * row.n as f64 } else { elements }
}

impl RungTime {
    pub fn model_time(&self) -> Option<&ModelTime> {
        self.model.as_ref().ok().map(|(_, model)| model)
    }

    pub fn over_model(&self) -> Option<f64> {
        self.model.as_ref().ok().map(|(_, model)| self.measured / model.whole())
    }

    /// Why the measured time and the model's differ by more than [`PARTED`]. `None` if they do not, or if an unsteady device may
    /// explain it.
    pub fn parting(&self, is_gpu: bool) -> Option<Parting> {
        const MANY_BARRIERS: f64 = 4.0;
        let (tally, model) = self.model.as_ref().ok()?;
        let over = self.measured / model.whole();
        if over < 1.0 / PARTED {
            return Some(match (is_gpu, tally.private > 0) {
                (false, _) => Parting::Vectors,
                (true, true) => Parting::Registers,
                (true, false) => Parting::Overlap,
            });
        }
        let items = self.row.wg.map_or(0, WorkGroup::size) as u64;
        let barriers = tally.barriers as f64 / tally.groups.max(1) as f64;
        (over > PARTED * self.row.drift()).then_some(match is_gpu {
            false if model.caches > 0.0 => Parting::ItemByItem,
            false => Parting::Latency,
            _ if model.largest() == TimePart::Launches => Parting::Latency,
            _ if items < WARP => Parting::LonelyItems,
            _ if model.largest() == TimePart::Caches => Parting::Scattered,
            _ if barriers >= MANY_BARRIERS => Parting::Barriers,
            _ => Parting::Latency,
        })
    }
}
