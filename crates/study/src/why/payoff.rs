//! What would pay most: each kind of waste in the counts, the line with most of it, and the time that its removal saves.

use super::model::{DeviceRates, ModelTime, is_parted};
use super::tally::{LINE, Tally, is_counted_of, is_usual};
use crate::count::{CountRow, Counts, LockstepModel, RequestCounts};
use gpulab_model::outcome::Status;
use gpulab_model::plan::WorkGroup;
use gpulab_record::Row;

/// Savings below this share are not reported.
pub const WORTH: f64 = 0.05;

/// Steps of a tree within one warp, which need no barrier.
const STEPS_OF_A_WARP: f64 = 5.0;

/// Warp instructions that a GPU executes while memory delivers a segment (H200: 7.3).
const INSTRUCTIONS_A_SEGMENT: f64 = 8.0;

/// Instructions that take as long as a division of integers (H200: 29.7).
const INSTRUCTIONS_A_DIVISION: f64 = 30.0;

const WARP: f64 = LockstepModel::USUAL.warp as f64;
const SEGMENT: f64 = LockstepModel::USUAL.segment as f64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waste {
    /// Passes of local memory beyond those the words need.
    BankConflicts,
    /// Segments of loads beyond those the bytes need.
    ScatteredReads,
    /// Segments of stores beyond those the bytes need.
    ScatteredWrites,
    /// Lanes idle in a branch or at the end of a loop.
    MaskedLanes,
    /// Lanes without an item, because groups do not fill warps.
    UnfilledWarps,
    /// Segments that a group loads again.
    Rereads,
    /// Divisions of integers by a number that the compiler does not know.
    Divisions,
    /// Instructions other than loads, stores and floating-point arithmetic. Half would do, if each served two elements.
    Bookkeeping,
    Launches,
    Barriers,
}

impl Waste {
    pub const ALL: [Waste; 10] = [
        Waste::BankConflicts,
        Waste::ScatteredReads,
        Waste::ScatteredWrites,
        Waste::MaskedLanes,
        Waste::UnfilledWarps,
        Waste::Rereads,
        Waste::Divisions,
        Waste::Bookkeeping,
        Waste::Launches,
        Waste::Barriers,
    ];
}

/// One kind of waste, and what its removal could save.
#[derive(Clone, Debug, PartialEq)]
pub struct Payoff {
    pub waste: Waste,
    /// File and line with most of it, if it belongs to a line.
    pub place: Option<(String, u64)>,
    /// The count there, and what would be enough.
    pub counted: f64,
    pub enough: f64,
    /// The largest share saved: of the time, or, where the model does not fit, of passes, segments and instructions.
    pub saves: f64,
    /// The whole count, and what would be enough.
    total: (f64, f64),
}

/// What savings are shares of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShareBasis {
    /// The modelled time.
    Model,
    /// Counts alone, since the measured time is this many times the model's.
    Misfit(f64),
    /// Counts alone, without a measured time or limits.
    Counts,
}

/// The wastes of a kernel, largest saving first; bookkeeping last, as every kernel has some.
#[derive(Clone, Debug, PartialEq)]
pub struct Payoffs {
    pub basis: ShareBasis,
    all: Vec<Payoff>,
}

/// A case's counts, and the rows by line.
struct CaseWork<'a> {
    tally: Tally,
    lines: Vec<&'a CountRow>,
    wg: WorkGroup,
    launches: f64,
    /// Whether a model fits.
    has_model: bool,
}

impl Payoffs {
    /// For a measured rung, by the model.
    pub fn of_rung(
        row: &Row,
        (tally, model): (&Tally, &ModelTime),
        counts: &[CountRow],
        rates: &DeviceRates,
    ) -> Option<Payoffs> {
        let is_own = |count: &&CountRow| is_counted_of(count, row);
        let own: Vec<&CountRow> = largest(&counts.iter().filter(is_own).collect::<Vec<_>>());
        let launches = row.launches.unwrap_or(1).max(1) as f64;
        let over = row.t_median_s? / model.whole();
        let has_model = !is_parted(over, 1.0);
        let work = CaseWork { tally: *tally, lines: with_lines(own), wg: row.wg?, launches, has_model };
        if !has_model {
            return Some(Payoffs { basis: ShareBasis::Misfit(over), all: work.payoffs(&|tally, _| work.slots(tally)) });
        }
        let time = |tally: &Tally, launches: f64| {
            let share = launches / work.launches;
            let cost = row.t_launches_s.map(|seconds| share * seconds);
            let row = Row { t_launches_s: cost, launches: Some(launches as u64), ..row.clone() };
            ModelTime::of(&row, tally, rates).map_or(f64::NAN, |model| model.whole())
        };
        Some(Payoffs { basis: ShareBasis::Model, all: work.payoffs(&time) })
    }

    /// For a counted case, by its counts alone; `None` for other machines than the usual one.
    pub fn of_case(rows: &[CountRow]) -> Option<Payoffs> {
        let own = largest(&rows.iter().filter(|row| is_usual(row)).collect::<Vec<_>>());
        let launches: Vec<&CountRow> = own.iter().copied().filter(|row| row.is_of_launch()).collect();
        let wg = launches.first()?.wg;
        let tally = Tally::sum(launches.iter().copied());
        let work = CaseWork { tally, lines: with_lines(own), wg, launches: 1.0, has_model: false };
        Some(Payoffs { basis: ShareBasis::Counts, all: work.payoffs(&|tally, _| work.slots(tally)) })
    }

    /// The three largest.
    pub fn best(&self) -> impl Iterator<Item = &Payoff> {
        self.all.iter().filter(|one| one.saves >= WORTH).take(3)
    }

    /// The largest saving that the next rung puts to the test: it removes at least half of the waste. Both rungs compute `results`
    /// results.
    pub fn kept_by(&self, next: &Payoffs, results: (f64, f64)) -> Option<&Payoff> {
        let is_removed = |one: &&Payoff| {
            let after = next.all.iter().find(|other| other.waste == one.waste).map_or(0.0, |other| other.total.0);
            let each = (one.total.0 / results.0, one.total.1 / results.0, after / results.1);
            each.2 <= (each.0 + each.1) / 2.0
        };
        self.all.iter().filter(|one| one.saves >= WORTH).find(is_removed)
    }

    /// Whether the next rung trades scattered accesses for bank conflicts.
    pub fn trades_for_conflicts(&self, gone: Waste) -> bool {
        let is_scattered = matches!(gone, Waste::ScatteredReads | Waste::ScatteredWrites);
        is_scattered && self.all.iter().any(|one| one.waste == Waste::BankConflicts && one.saves >= WORTH)
    }
}

/// The timed rows of the largest case.
fn largest<'a>(rows: &[&'a CountRow]) -> Vec<&'a CountRow> {
    let timed = || rows.iter().copied().filter(|row| row.status == Status::Ok && row.timed == Some(true));
    let size = timed().map(CountRow::elements).max();
    timed().filter(|row| Some(row.elements()) == size).collect()
}

/// Rows by line; without any, rows by launch.
fn with_lines(rows: Vec<&CountRow>) -> Vec<&CountRow> {
    let has_lines = rows.iter().any(|row| row.line.is_some());
    rows.into_iter().filter(|row| row.line.is_some() == has_lines).collect()
}

/// A count, and what would be enough.
type Enough = (f64, f64);

impl CaseWork<'_> {
    /// Items of a warp, and warps of a group.
    fn warps(&self) -> (f64, f64) {
        let items = self.wg.size().max(1) as f64;
        let warps = (items / WARP).ceil();
        (items / warps, warps)
    }

    /// The cost of kernels if each pass, segment, instruction and barrier of a warp costs one.
    fn slots(&self, tally: &Tally) -> f64 {
        let counts = &tally.counts;
        let barriers = tally.barriers as f64 * self.warps().1;
        let divisions = INSTRUCTIONS_A_DIVISION * counts.divisions as f64;
        (counts.issued + counts.local().passes + counts.global().segments) as f64 + barriers + divisions
    }

    fn payoffs(&self, cost: &dyn Fn(&Tally, f64) -> f64) -> Vec<Payoff> {
        let now = cost(&self.tally, self.launches);
        let payoff = |waste: Waste| {
            let total = self.total(waste);
            (total.1 < total.0).then_some(())?;
            let (tally, launches) = self.without(waste, total);
            let saves = 1.0 - cost(&tally, launches) / now;
            let (place, counted, enough) = self.worst(waste, total);
            (saves > 0.0).then_some(Payoff { waste, place, counted, enough, saves, total })
        };
        let mut all: Vec<Payoff> = Waste::ALL.into_iter().filter_map(payoff).collect();
        let order = |one: &Payoff| (one.waste == Waste::Bookkeeping, -one.saves);
        all.sort_by(|a, b| order(a).0.cmp(&order(b).0).then(order(a).1.total_cmp(&order(b).1)));
        all
    }

    /// A waste in the whole case.
    fn total(&self, waste: Waste) -> Enough {
        match waste {
            Waste::Launches => (self.launches, 1.0),
            Waste::Barriers => {
                let groups = self.tally.groups as f64;
                let barriers = self.tally.barriers as f64;
                (barriers, (barriers - STEPS_OF_A_WARP * groups).max(groups).min(barriers))
            }
            _ => self
                .lines
                .iter()
                .map(|row| self.of_line(waste, &row.counts()))
                .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1)),
        }
    }

    /// A waste in one line's instructions.
    fn of_line(&self, waste: Waste, counts: &Counts) -> Enough {
        let memory = &counts.memory;
        let issued = counts.issued as f64;
        let lanes = counts.lanes as f64;
        let (items, _) = self.warps();
        match waste {
            Waste::BankConflicts => {
                let local = counts.local();
                (local.passes as f64, local.passes.saturating_sub(local.conflicts) as f64)
            }
            Waste::ScatteredReads => scattered(&memory.global_read),
            Waste::ScatteredWrites => scattered(&memory.global_write),
            Waste::MaskedLanes => (issued, (lanes / items).min(issued)),
            Waste::UnfilledWarps => (issued, issued * items / WARP),
            Waste::Rereads => {
                let (_, needed) = scattered(&memory.global_read);
                (needed, needed.min(memory.global_read.group_segments as f64))
            }
            Waste::Divisions => (counts.divisions as f64, 0.0),
            Waste::Bookkeeping if self.is_bookkeeping_hidden() => (0.0, 0.0),
            Waste::Bookkeeping => {
                let requests = counts.global().requests + counts.local().requests + counts.atomics().requests;
                let arithmetic = counts.flops as f64 * issued / lanes.max(1.0);
                let other = (issued - requests as f64 - arithmetic).max(0.0);
                (other, other / 2.0)
            }
            Waste::Launches | Waste::Barriers => (0.0, 0.0),
        }
    }

    /// Whether bookkeeping goes unreported: a GPU's compiler unrolls the loops that the simulator's leaves, or, without a model,
    /// memory takes longer than all instructions.
    fn is_bookkeeping_hidden(&self) -> bool {
        let counts = &self.tally.counts;
        let is_beside_memory = (counts.issued as f64) < INSTRUCTIONS_A_SEGMENT * counts.global().segments as f64;
        self.tally.private > 0 || (!self.has_model && is_beside_memory)
    }

    /// The counts with a waste cut to what is enough.
    fn without(&self, waste: Waste, (counted, enough): Enough) -> (Tally, f64) {
        let mut tally = self.tally;
        let mut launches = self.launches;
        let mut small = Counts::default();
        self.lines.iter().for_each(|row| small += row.counts());
        // The share of a count that is left without the excess; `of` is the same count of the lines.
        let kept = |of: u64| 1.0 - (counted - enough) / (of as f64).max(1.0);
        let times = |count: &mut u64, share: f64| *count = (*count as f64 * share).round() as u64;
        let counts = &mut tally.counts;
        let memory = &mut counts.memory;
        match waste {
            Waste::BankConflicts => {
                let share = kept(small.local().passes);
                times(&mut memory.local_read.passes, share);
                times(&mut memory.local_write.passes, share);
            }
            Waste::ScatteredReads => {
                let one = &mut memory.global_read;
                times(&mut one.segments, kept(small.memory.global_read.segments));
                one.lines = one.lines.min((one.segments as f64 * SEGMENT / LINE).ceil() as u64);
            }
            Waste::ScatteredWrites => {
                times(&mut memory.global_write.segments, kept(small.memory.global_write.segments))
            }
            Waste::MaskedLanes => times(&mut counts.issued, kept(small.issued)),
            Waste::UnfilledWarps => {
                let share = kept(small.issued);
                for count in [&mut counts.issued, &mut counts.divisions, &mut counts.waits, &mut counts.hidden] {
                    times(count, share);
                }
                for one in [&mut memory.global_read, &mut memory.global_write] {
                    let needed = (one.bytes as f64 / SEGMENT).round() as u64;
                    times(&mut one.requests, share);
                    one.segments = one.segments.min(needed.max(one.requests));
                    one.lines = one.lines.min(((one.bytes as f64 / LINE).round() as u64).max(one.requests));
                }
                for one in [&mut memory.local_read, &mut memory.local_write] {
                    times(&mut one.requests, share);
                    times(&mut one.passes, share);
                }
            }
            Waste::Rereads => {
                let requests = memory.global_read.requests;
                let share = kept(small.memory.global_read.segments);
                let one = &mut memory.global_read;
                [&mut one.segments, &mut one.lines, &mut one.requests]
                    .into_iter()
                    .for_each(|count| times(count, share));
                // What global memory does not give comes from the tile.
                let from_tile = requests - memory.global_read.requests;
                memory.local_read.requests += from_tile;
                memory.local_read.passes += from_tile;
            }
            Waste::Divisions => counts.divisions = 0,
            Waste::Bookkeeping => {
                let share = kept(small.issued);
                times(&mut counts.issued, share);
                times(&mut counts.lanes, share);
                // Half of the groups do, whose items have two elements each.
                times(&mut tally.groups, 0.5);
            }
            Waste::Launches => launches = enough,
            Waste::Barriers => tally.barriers = enough as u64,
        }
        (tally, launches)
    }

    /// The line with most of a waste, and its count.
    fn worst(&self, waste: Waste, total: Enough) -> (Option<(String, u64)>, f64, f64) {
        let excess = |row: &CountRow| {
            let (counted, enough) = self.of_line(waste, &row.counts());
            counted - enough
        };
        let named = self.lines.iter().filter(|row| row.line.unwrap_or(0) > 0);
        let worst = named.max_by(|a, b| excess(a).total_cmp(&excess(b))).filter(|row| excess(row) > 0.0);
        let place = worst.and_then(|row| Some((row.file.clone(), row.line?)));
        let counts = worst.map_or(self.tally.counts, |row| row.counts());
        let (items, _) = self.warps();
        let line = self.of_line(waste, &counts);
        let each = |by: u64| (line.0 / by.max(1) as f64, line.1 / by.max(1) as f64);
        let (counted, enough) = match waste {
            Waste::BankConflicts => each(counts.local().requests),
            Waste::ScatteredReads => each(counts.memory.global_read.requests),
            Waste::ScatteredWrites => each(counts.memory.global_write.requests),
            Waste::MaskedLanes => (line.1 / line.0, 1.0),
            Waste::Divisions => line,
            Waste::UnfilledWarps => return (None, items, WARP),
            Waste::Rereads => (total.0 / total.1, 1.0),
            Waste::Bookkeeping => {
                let issued: f64 = self.lines.iter().map(|row| row.counts().issued as f64).sum();
                (total.0 / issued, total.1 / issued)
            }
            Waste::Launches => return (None, total.0, total.1),
            Waste::Barriers => {
                let groups = self.tally.groups.max(1) as f64;
                return (None, total.0 / groups, total.1 / groups);
            }
        };
        (place, counted, enough)
    }
}

/// Segments, and those the bytes need.
fn scattered(requests: &RequestCounts) -> Enough {
    let needed = requests.bytes.div_ceil(LockstepModel::USUAL.segment).max(requests.requests);
    (requests.segments as f64, needed.min(requests.segments) as f64)
}
