//! What would pay most: each kind of waste in the counts, the line with most of it, and the time that its removal saves.

use super::model::{DeviceRates, LINE, ModelTime, SEGMENT, Tally, WARP, is_counted_of, is_usual};
use crate::count::{CountRow, Counts, LockstepModel, RequestCounts};
use gpulab_model::outcome::Status;
use gpulab_model::plan::WorkGroup;
use gpulab_record::Row;

/// Savings below this share are not reported.
pub const WORTH: f64 = 0.05;

/// The factor by which the model may miss a time. Beyond it, something acts that counts do not see.
const MISSED: f64 = 1.5;

/// Warp instructions that a GPU executes while memory delivers a segment (H200: 7.3).
const INSTRUCTIONS_A_SEGMENT: f64 = 8.0;

/// Groups that leave most compute units of a GPU without one; and those that fill half of a large one, which are few if a
/// model says that more would pay.
const FEW: [f64; 2] = [16.0, 512.0];

/// Times that a group reads a segment from which on a tile in local memory may pay (H200: a tile gained 1.2 times with 16 and lost with
/// 2.9, `grade.csv`).
const AGAIN: f64 = 8.0;

/// Instructions that take as long as a turn at a word that atomic operations of several items want (H200: 784).
const INSTRUCTIONS_A_TURN: f64 = 784.0;

/// Instructions that take as long as a division of integers (H200: 29.7).
const INSTRUCTIONS_A_DIVISION: f64 = 30.0;

/// The group that is taken instead of one that does not fill a warp.
const GROUP: WorkGroup = WorkGroup::linear(256);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waste {
    /// Passes of local memory beyond those the words need.
    BankConflicts,
    /// Segments of loads and stores beyond those the bytes need.
    Scattered,
    /// Lanes idle in a branch or at the end of a loop.
    MaskedLanes,
    /// Segments that a group loads again.
    Rereads,
    /// Divisions of integers by a number that the compiler does not know.
    Divisions,
    /// Instructions other than loads, stores and floating-point arithmetic. Half would do, if each served two elements.
    Bookkeeping,
    Launches,
    /// Atomic operations of a warp on one word of global memory, which take their turns.
    Contention,
    /// Work-groups that do not fill the device.
    FewGroups,
}

impl Waste {
    pub const ALL: [Waste; 9] = [
        Waste::BankConflicts,
        Waste::Scattered,
        Waste::MaskedLanes,
        Waste::Rereads,
        Waste::Divisions,
        Waste::Bookkeeping,
        Waste::Launches,
        Waste::Contention,
        Waste::FewGroups,
    ];
}

/// One kind of waste, and what its removal could save.
#[derive(Clone, Debug, PartialEq)]
pub struct Payoff {
    pub waste: Waste,
    /// File and line with most of it, if it belongs to a line.
    pub place: Option<(String, u64)>,
    /// Of scattered accesses, those that waste more there: `load` or `store`.
    pub access: &'static str,
    /// The count there, and what would be enough.
    pub counted: f64,
    pub enough: f64,
    /// The largest share saved: of the time, or, where the model does not fit, of passes, segments and instructions.
    pub saves: f64,
}

/// The wastes of a kernel, largest saving first; bookkeeping last, as every kernel has some.
#[derive(Clone, Debug, PartialEq)]
pub struct Payoffs {
    /// Whether savings are shares of the modelled time; else of counts alone: there is no time, or the model misses it.
    pub is_of_time: bool,
    all: Vec<Payoff>,
}

/// A case's counts, and the rows by line.
struct CaseWork<'a> {
    tally: Tally,
    lines: Vec<&'a CountRow>,
    wg: WorkGroup,
    launches: f64,
    elements: f64,
    /// So many groups of a launch are few: of a case that is small by itself, one.
    few: f64,
    /// Whether a model fits.
    has_model: bool,
}

impl Payoffs {
    /// For a rung, by the model if there is one that fits its time, or if it has no time; else by its counts at the row's size.
    pub fn of_rung(
        row: &Row,
        tally: &Tally,
        model: Option<&ModelTime>,
        counts: &[CountRow],
        rates: &DeviceRates,
    ) -> Option<Payoffs> {
        let has_model = model.is_some_and(|model| {
            let over = row.t_median_s.unwrap_or(model.whole()) / model.whole();
            over.max(1.0 / over) <= MISSED
        });
        let own = counts.iter().filter(|count| is_counted_of(count, row));
        let work = CaseWork {
            tally: *tally,
            lines: with_lines(largest(own.collect())),
            wg: row.wg?,
            launches: row.launches.unwrap_or(1).max(1) as f64,
            elements: row.n as f64 * row.m as f64,
            few: FEW[usize::from(has_model)],
            has_model,
        };
        let all = work.payoffs(&|tally, launches, wg| {
            if !has_model {
                return slots(tally);
            }
            let cost = row
                .t_launches_s
                .map(|seconds| seconds * launches / work.launches);
            // Memory delivers no more than is asked for.
            let [asked, before] = [tally, &work.tally].map(|one| one.counts.global().segments);
            let bytes = match asked < before {
                true => row.bytes.map(|bytes| bytes.min(SEGMENT as u64 * asked)),
                false => row.bytes,
            };
            let row = Row {
                bytes,
                t_launches_s: cost,
                launches: Some(launches as u64),
                wg: Some(wg),
                ..row.clone()
            };
            ModelTime::of(&row, tally, rates).map_or(f64::NAN, |model| model.whole())
        });
        Some(Payoffs {
            is_of_time: has_model,
            all,
        })
    }

    /// For a counted case, by its counts alone; `None` for other machines than the usual one.
    pub fn of_case(rows: &[CountRow]) -> Option<Payoffs> {
        let own = largest(rows.iter().filter(|row| is_usual(row)).collect());
        let launches: Vec<&CountRow> = own
            .iter()
            .copied()
            .filter(|row| row.is_of_launch())
            .collect();
        let first = *launches.first()?;
        let wg = first.wg;
        let tally = Tally::sum(launches.into_iter());
        let work = CaseWork {
            tally,
            lines: with_lines(own),
            wg,
            launches: 1.0,
            elements: first.elements() as f64,
            few: 1.0,
            has_model: false,
        };
        Some(Payoffs {
            is_of_time: false,
            all: work.payoffs(&|tally, _, _| slots(tally)),
        })
    }

    /// The three largest.
    pub fn best(&self) -> impl Iterator<Item = &Payoff> {
        self.all.iter().filter(|one| one.saves >= WORTH).take(3)
    }
}

/// The timed rows of the largest case.
fn largest(mut rows: Vec<&CountRow>) -> Vec<&CountRow> {
    rows.retain(|row| row.status == Status::Ok && row.timed == Some(true));
    let size = rows.iter().map(|row| row.elements()).max();
    rows.retain(|row| Some(row.elements()) == size);
    rows
}

/// Rows by line; without any, rows by launch.
fn with_lines(mut rows: Vec<&CountRow>) -> Vec<&CountRow> {
    let has_lines = rows.iter().any(|row| row.line.is_some());
    rows.retain(|row| row.line.is_some() == has_lines);
    rows
}

/// A count, and what would be enough.
type Enough = (f64, f64);

fn each(line: Enough, by: u64) -> Enough {
    (line.0 / by.max(1) as f64, line.1 / by.max(1) as f64)
}

/// The cost of kernels if each pass, segment and instruction of a warp costs one.
fn slots(tally: &Tally) -> f64 {
    let counts = &tally.counts;
    let divisions = INSTRUCTIONS_A_DIVISION * counts.divisions as f64;
    let atomics = &counts.memory.global_atomic;
    let turns = INSTRUCTIONS_A_TURN * atomics.passes.saturating_sub(atomics.requests) as f64;
    let passes = counts.local().passes + atomics.requests;
    (counts.issued + passes + counts.global().segments) as f64 + divisions + turns
}

/// Segments, and those the bytes need. One more for each request, which does not begin where a segment does, is not scattered: a
/// cache has it from the request before.
fn scattered(requests: &RequestCounts) -> Enough {
    let needed = requests
        .bytes
        .div_ceil(LockstepModel::USUAL.segment)
        .max(requests.requests);
    let is_scattered = requests.segments > needed + requests.requests;
    let enough = if is_scattered {
        needed
    } else {
        requests.segments
    };
    (requests.segments as f64, enough as f64)
}

/// The segments of loads and of stores.
fn accesses(counts: &Counts) -> [Enough; 2] {
    let memory = &counts.memory;
    [memory.global_read, memory.global_write].map(|one| scattered(&one))
}

/// Leaves the share of counts that is there without the excess; `of` is the same count of the lines.
fn cut<const N: usize>(excess: f64, of: u64, counts: [&mut u64; N]) {
    let share = 1.0 - excess / (of as f64).max(1.0);
    counts
        .into_iter()
        .for_each(|count| *count = (*count as f64 * share).round() as u64);
}

impl CaseWork<'_> {
    fn payoffs(&self, cost: &dyn Fn(&Tally, f64, WorkGroup) -> f64) -> Vec<Payoff> {
        let now = cost(&self.tally, self.launches, self.wg);
        let mut all: Vec<Payoff> = Vec::new();
        for waste in Waste::ALL {
            let total = match waste {
                Waste::Launches => (self.launches, 1.0),
                Waste::FewGroups => self.groups(),
                _ => {
                    let lines = self
                        .lines
                        .iter()
                        .map(|row| self.of_line(waste, &row.counts()));
                    lines.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
                }
            };
            let launches = if waste == Waste::Launches {
                1.0
            } else {
                self.launches
            };
            let wg = if waste == Waste::MaskedLanes && self.has_small_groups() {
                GROUP
            } else {
                self.wg
            };
            let saves = match waste {
                Waste::FewGroups if !self.has_model => 1.0 - total.1 / total.0,
                _ => 1.0 - cost(&self.without(waste, total), launches, wg) / now,
            };
            if total.1 < total.0 && saves > 0.0 {
                all.push(Payoff {
                    saves,
                    ..self.worst(waste, total)
                });
            }
        }
        all.sort_by(|a, b| {
            let is_last = [a, b].map(|one| one.waste == Waste::Bookkeeping);
            is_last[0]
                .cmp(&is_last[1])
                .then(b.saves.total_cmp(&a.saves))
        });
        all
    }

    /// Whether groups do not fill a warp.
    fn has_small_groups(&self) -> bool {
        self.wg.size() < WARP as usize
    }

    /// A waste in one line's instructions.
    fn of_line(&self, waste: Waste, counts: &Counts) -> Enough {
        let memory = &counts.memory;
        let issued = counts.issued as f64;
        let lanes = counts.lanes as f64;
        match waste {
            Waste::BankConflicts => {
                let local = counts.local();
                (
                    local.passes as f64,
                    local.passes.saturating_sub(local.conflicts) as f64,
                )
            }
            Waste::Scattered => {
                let [loads, stores] = accesses(counts);
                (loads.0 + stores.0, loads.1 + stores.1)
            }
            Waste::MaskedLanes => (issued, (lanes / WARP).min(issued)),
            Waste::Rereads => {
                let (_, needed) = scattered(&memory.global_read);
                let once = memory.global_read.group_segments as f64;
                let enough = if needed < AGAIN * once { needed } else { once };
                (needed, enough.min(needed))
            }
            Waste::Divisions => (counts.divisions as f64, 0.0),
            Waste::Bookkeeping if self.is_bookkeeping_hidden() => (0.0, 0.0),
            Waste::Bookkeeping => {
                let requests =
                    counts.global().requests + counts.local().requests + counts.atomics().requests;
                let arithmetic = counts.flops as f64 * issued / lanes.max(1.0);
                let other = (issued - requests as f64 - arithmetic).max(0.0);
                (other, other / 2.0)
            }
            Waste::Contention => {
                let atomics = &memory.global_atomic;
                (atomics.passes as f64, atomics.requests as f64)
            }
            Waste::Launches | Waste::FewGroups => (0.0, 0.0),
        }
    }

    /// Groups that would do, and those of a launch: where these are few and items have many elements each.
    fn groups(&self) -> Enough {
        /// Elements that are few enough for an item.
        const MANY: f64 = 16.0;
        let groups = self.tally.groups as f64 / self.launches;
        let all = self.elements / (MANY * self.wg.size() as f64);
        match groups <= self.few {
            true => (all.max(groups), groups),
            false => (groups, groups),
        }
    }

    /// Whether bookkeeping goes unreported: a GPU's compiler unrolls the loops that the simulator's leaves, or, without a model,
    /// memory takes longer than all instructions.
    fn is_bookkeeping_hidden(&self) -> bool {
        let counts = &self.tally.counts;
        let is_beside_memory =
            (counts.issued as f64) < INSTRUCTIONS_A_SEGMENT * counts.global().segments as f64;
        self.tally.private > 0 || (!self.has_model && is_beside_memory)
    }

    /// The counts with a waste cut to what is enough.
    fn without(&self, waste: Waste, (counted, enough): Enough) -> Tally {
        let mut tally = self.tally;
        let mut small = Counts::default();
        self.lines.iter().for_each(|row| small += row.counts());
        let excess = counted - enough;
        let counts = &mut tally.counts;
        let memory = &mut counts.memory;
        match waste {
            Waste::BankConflicts => {
                cut(
                    excess,
                    small.local().passes,
                    [
                        &mut memory.local_read.passes,
                        &mut memory.local_write.passes,
                    ],
                );
            }
            Waste::Scattered => {
                let mut excess = [0.0; 2];
                for row in &self.lines {
                    let own = accesses(&row.counts()).map(|(counted, enough)| counted - enough);
                    excess = [excess[0] + own[0], excess[1] + own[1]];
                }
                let [read, write] = [&mut memory.global_read, &mut memory.global_write];
                cut(
                    excess[0],
                    small.memory.global_read.segments,
                    [&mut read.segments],
                );
                cut(
                    excess[1],
                    small.memory.global_write.segments,
                    [&mut write.segments],
                );
                if excess[0] > 0.0 {
                    let full = (read.segments as f64 * SEGMENT / LINE).ceil() as u64;
                    read.lines = read.lines.min(full);
                }
            }
            Waste::MaskedLanes => {
                cut(excess, small.issued, [&mut counts.issued]);
                if self.has_small_groups() {
                    let of_warps = [
                        &mut memory.global_read.requests,
                        &mut memory.global_write.requests,
                        &mut counts.waits,
                        &mut counts.hidden,
                    ];
                    cut(excess, small.issued, of_warps);
                    let items = tally.groups * self.wg.size() as u64;
                    tally.groups = items.div_ceil(GROUP.size() as u64);
                }
            }
            Waste::Rereads => {
                let one = &mut memory.global_read;
                let requests = one.requests;
                let all = [&mut one.segments, &mut one.lines, &mut one.requests];
                cut(excess, small.memory.global_read.segments, all);
                // What global memory does not give comes from the tile.
                let from_tile = requests - memory.global_read.requests;
                memory.local_read.requests += from_tile;
                memory.local_read.passes += from_tile;
            }
            Waste::Divisions => counts.divisions = 0,
            Waste::Bookkeeping => {
                cut(
                    excess,
                    small.issued,
                    [&mut counts.issued, &mut counts.lanes],
                );
                // Half of the groups do, whose items have two elements each.
                tally.groups = tally.groups.div_ceil(2);
            }
            Waste::Contention => {
                let atomics = std::mem::take(&mut memory.global_atomic);
                memory.local_atomic.items += atomics.items;
            }
            Waste::FewGroups => tally.groups = (counted * self.launches) as u64,
            Waste::Launches => {}
        }
        tally
    }

    /// A waste with the line that has most of it, and its count there.
    fn worst(&self, waste: Waste, total: Enough) -> Payoff {
        let named = self.lines.iter().filter(|row| row.line.unwrap_or(0) > 0);
        let excesses = named.map(|row| {
            let line = self.of_line(waste, &row.counts());
            (row, line.0 - line.1)
        });
        let worst = excesses
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .filter(|(_, excess)| *excess > 0.0)
            .map(|(row, _)| row);
        let place = worst.and_then(|row| Some((row.file.clone(), row.line?)));
        let counts = worst.map_or(self.tally.counts, |row| row.counts());
        let line = self.of_line(waste, &counts);
        let memory = &counts.memory;
        let [loads, stores] = accesses(&counts);
        let access = match loads.0 - loads.1 >= stores.0 - stores.1 {
            true => "load",
            false => "store",
        };
        let (counted, enough) = match waste {
            Waste::BankConflicts => each(line, counts.local().requests),
            Waste::Scattered if access == "load" => each(loads, memory.global_read.requests),
            Waste::Scattered => each(stores, memory.global_write.requests),
            Waste::MaskedLanes => (line.1 / line.0, 1.0),
            Waste::Divisions => line,
            Waste::Rereads => (total.0 / total.1, 1.0),
            Waste::Bookkeeping => {
                let issued: f64 = self
                    .lines
                    .iter()
                    .map(|row| row.counts().issued as f64)
                    .sum();
                (total.0 / issued, total.1 / issued)
            }
            Waste::Contention => each(line, counts.memory.global_atomic.requests),
            Waste::Launches | Waste::FewGroups => total,
        };
        Payoff {
            waste,
            place,
            access,
            counted,
            enough,
            saves: 0.0,
        }
    }
}
