//! Why a rung takes its time, and why the next one is faster. Counts of its kernels over the device's measured rates make a time
//! (`model.rs`); the count that differs most between two rungs makes a reason.

mod model;
mod payoff;

pub use model::{
    DeviceRates, INSTRUCTIONS_IN_A_TREE, ModelTime, Tally, TimePart, case_of, is_counted_of,
    results, tally,
};
pub use payoff::{Payoff, Payoffs, WORTH, Waste};

use crate::count::{CountRow, LockstepModel};
use gpulab_kernels::Registry;
use gpulab_model::outcome::Status;
use gpulab_record::{Row, clear_factor};
use model::is_of_rung;

/// Predictions within this factor are equal.
const DIFFERENT: f64 = 1.02;

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
    fn factor(&self) -> f64 {
        let factor = self.after / self.before;
        if self.cause == Cause::LanesBusy {
            1.0 / factor
        } else {
            factor
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum StepReason {
    /// The times differ by less than this factor, which cannot be seen, or cannot be compared.
    Undecided(f64),
    /// A rung was not counted.
    Uncounted,
    /// The counts do not explain the difference; the speed-up by the model.
    Unexplained(f64),
    Explained {
        /// The speed-up by the model.
        predicted: f64,
        /// The part that changes most.
        part: TimePart,
        change: CountChange,
    },
}

/// The times of a ladder's rungs, and the reasons of its steps.
#[derive(Clone, Debug)]
pub struct LadderReasons {
    pub rungs: Vec<RungTime>,
    /// For each step, the measured speed-up and its reason.
    pub steps: Vec<(f64, StepReason)>,
}

/// The reasons of one ladder: rows of one case on one device.
pub fn reasons(
    registry: &Registry,
    rows: &[Row],
    counts: &[CountRow],
    rates: &DeviceRates,
) -> LadderReasons {
    let mut rungs: Vec<RungTime> = Vec::new();
    for row in rows
        .iter()
        .filter(|row| is_of_rung(registry, row) && row.status == Status::Ok && row.is_plain())
    {
        let Some(measured) = row
            .t_median_s
            .filter(|seconds| seconds.is_finite() && *seconds > 0.0)
        else {
            continue;
        };
        let own: Vec<&CountRow> = counts
            .iter()
            .filter(|count| is_counted_of(count, row))
            .collect();
        let why = if own.iter().any(|count| count.status != Status::Ok) {
            "the simulator lacks what its kernel needs"
        } else if registry.family(&row.family).is_none() {
            "counts of a file's kernels do not come with gpulab: gpulab count FILE --on GPU makes them"
        } else {
            "not counted with these settings"
        };
        let model = tally(registry, row, counts, rates.is_gpu)
            .ok_or(why)
            .and_then(|tally| {
                let time = ModelTime::of(row, &tally, rates)
                    .ok_or("its row lacks the limit or what launches cost")?;
                Ok((tally, time))
            });
        let note = own
            .iter()
            .find(|count| count.status == Status::Ok)
            .map(|count| count.reason.clone());
        let counted = model.as_ref().ok().filter(|_| rates.is_gpu);
        let payoffs = counted
            .and_then(|(tally, time)| Payoffs::of_rung(row, tally, Some(time), counts, rates));
        rungs.push(RungTime {
            row: row.clone(),
            measured,
            model,
            note: note.unwrap_or_default(),
            payoffs,
        });
    }
    let steps = rungs.windows(2).map(|pair: &[RungTime]| {
        (
            pair[0].measured / pair[1].measured,
            step_reason(&pair[0], &pair[1], rates.is_gpu),
        )
    });
    LadderReasons {
        steps: steps.collect(),
        rungs,
    }
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
    let (old, new) = match (&before.model, &after.model) {
        (Ok(old), Ok(new)) => (old, new),
        _ => return StepReason::Uncounted,
    };
    let predicted = old.1.whole() / new.1.whole();
    let is_alike = (gain > 1.0) == (predicted > 1.0) && predicted.max(1.0 / predicted) >= DIFFERENT;
    match explain((&before.row, old), (&after.row, new), gain > 1.0, is_gpu).filter(|_| is_alike) {
        Some((part, change)) => StepReason::Explained {
            predicted,
            part,
            change,
        },
        None => StepReason::Unexplained(predicted),
    }
}

type Counted<'a> = (&'a Row, &'a (Tally, ModelTime));

/// The part that changes most in the measured direction, and the count behind it.
fn explain(
    before: Counted<'_>,
    after: Counted<'_>,
    is_gain: bool,
    is_gpu: bool,
) -> Option<(TimePart, CountChange)> {
    let old = &before.1.1;
    let new = &after.1.1;
    let sign = if is_gain { 1.0 } else { -1.0 };
    // What was not the longest before a gain, or is not after a loss, hides behind another part.
    let slower = if is_gain { old } else { new };
    let counting = TimePart::ALL
        .into_iter()
        .filter(|part| slower.counts(*part));
    let falls = counting.map(|part| (part, sign * (old.get(part) - new.get(part))));
    let part = falls
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, fall)| *fall > 0.0)?
        .0;
    let is_of_pairs = before.1.0.is_of_pairs;
    let most = causes(part, before.1, after.1, is_gpu)
        .iter()
        .map(|cause| CountChange {
            cause: *cause,
            before: value(*cause, before),
            after: value(*cause, after),
            is_of_pairs,
        })
        .filter(|change: &CountChange| match change.cause {
            // These may be in one rung alone.
            Cause::JumpingBytes | Cause::Divisions => change.before != change.after,
            _ => change.before > 0.0 && change.after > 0.0,
        })
        .filter(|change| sign * change.factor().ln() < 0.0)
        .max_by(|a, b| a.factor().ln().abs().total_cmp(&b.factor().ln().abs()))?;
    Some((part, most))
}

/// The counts behind a part.
fn causes(
    part: TimePart,
    (old, _): &(Tally, ModelTime),
    (new, _): &(Tally, ModelTime),
    is_gpu: bool,
) -> &'static [Cause] {
    let read = old
        .counts
        .memory
        .global_read
        .segments
        .abs_diff(new.counts.memory.global_read.segments);
    let written = old
        .counts
        .memory
        .global_write
        .segments
        .abs_diff(new.counts.memory.global_write.segments);
    match part {
        TimePart::Launches => &[Cause::Launches],
        TimePart::Limit => &[Cause::Bytes, Cause::Waits],
        TimePart::Groups => &[Cause::Groups],
        TimePart::Caches if !is_gpu => &[Cause::JumpingBytes, Cause::GlobalRequests],
        TimePart::Caches if read >= written => {
            &[Cause::ReadLines, Cause::ReadSegments, Cause::GlobalRequests]
        }
        TimePart::Caches => &[Cause::WriteSegments, Cause::GlobalRequests],
        TimePart::Divisions => &[Cause::Divisions],
        TimePart::Waits => &[Cause::Waits],
        TimePart::Local => &[Cause::LocalRequests, Cause::LocalPasses],
        // The device unrolls loops that the simulator's compiler leaves: their instructions are not comparable, requests are.
        TimePart::Instructions if is_gpu && old.private + new.private > 0 => {
            &[Cause::GlobalRequests, Cause::LocalRequests]
        }
        TimePart::Instructions if is_gpu => &[Cause::Instructions, Cause::LanesBusy],
        TimePart::Instructions => &[Cause::Instructions],
    }
}

fn value(cause: Cause, (row, (tally, _)): Counted<'_>) -> f64 {
    const WARP: u64 = LockstepModel::USUAL.warp;
    let counts = &tally.counts;
    let memory = &tally.counts.memory;
    let each = |of: u64| of as f64 / results(row, tally);
    match cause {
        Cause::Launches => row.launches.unwrap_or(0) as f64,
        Cause::Groups => tally.groups as f64,
        Cause::Bytes => row.bytes.unwrap_or(0) as f64,
        Cause::ReadLines => memory.global_read.lines_a_request().unwrap_or(0.0),
        Cause::ReadSegments => memory.global_read.segments_a_request().unwrap_or(0.0),
        Cause::WriteSegments => memory.global_write.segments_a_request().unwrap_or(0.0),
        Cause::JumpingBytes => tally.jumping_bytes(row) / results(row, tally),
        Cause::GlobalRequests => each(WARP * counts.global().requests),
        Cause::LocalRequests => each(WARP * counts.local().requests),
        Cause::LocalPasses => counts.local().passes_a_request().unwrap_or(0.0),
        Cause::Divisions => each(WARP * counts.divisions),
        Cause::Waits => each(WARP * counts.waits),
        Cause::Instructions => each(counts.lanes),
        Cause::LanesBusy => counts.lanes_busy(WARP).unwrap_or(0.0),
    }
}

impl RungTime {
    pub fn model_time(&self) -> Option<&ModelTime> {
        self.model.as_ref().ok().map(|(_, model)| model)
    }

    pub fn over_model(&self) -> Option<f64> {
        Some(self.measured / self.model_time()?.whole())
    }
}
