//! What the plugin counts of a launch, and what follows.

use gpulab_model::data::Params;
use gpulab_model::plan::WorkGroup;
use serde::Deserialize;
use std::ops::AddAssign;

/// Requests of one kind of memory: what the items of a warp ask for by one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RequestCounts {
    pub requests: u64,
    /// Items that took part in them.
    pub items: u64,
    /// Bytes that all items asked for.
    pub bytes: u64,
    /// Segments of global memory that hold a byte asked for, each once a request.
    pub segments: u64,
    /// Cache lines of 128 bytes that hold a byte asked for, each once a request.
    pub lines: u64,
    /// Segments that a group loads for the first time; 0 of stores.
    pub group_segments: u64,
    /// Segments that the launch loads for the first time.
    pub launch_segments: u64,
    /// Passes: of local memory the most words that a bank is asked for, of atomics the most items at one address.
    pub passes: u64,
    /// Bank conflicts: passes of local memory beyond those that as many words need at least.
    pub conflicts: u64,
    /// Requests of local memory in which one word serves several items.
    pub broadcasts: u64,
    /// Different words of constant memory.
    pub words: u64,
    /// Bytes of all transactions of global memory.
    pub moved: u64,
    /// Transactions of the busiest partition of global memory, over all moments; 0 without partitions.
    pub busiest: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct MemoryCounts {
    pub global_read: RequestCounts,
    pub global_write: RequestCounts,
    pub local_read: RequestCounts,
    pub local_write: RequestCounts,
    pub constant_read: RequestCounts,
    pub global_atomic: RequestCounts,
    pub local_atomic: RequestCounts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Instructions that warps executed.
    pub issued: u64,
    /// Instructions that items executed.
    pub lanes: u64,
    pub flops: u64,
    /// Divisions of integers that warps executed, by divisors that the compiler does not know.
    pub divisions: u64,
    /// Waits of warps for loads from global memory.
    pub waits: u64,
    /// Instructions that warps executed between those loads and the waits for them.
    pub hidden: u64,
    pub memory: MemoryCounts,
}

/// An instruction, and its line in the source; line 0 of one that has none.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct InstructionCounts {
    /// Path of the source below `cl/`.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    #[serde(flatten)]
    pub counts: Counts,
}

/// A launch, as the plugin writes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LaunchCounts {
    pub kernel: String,
    /// The OpenCL program that it is of, from 1, where programs are told apart.
    #[serde(default)]
    pub program: u64,
    /// Items of a group along each axis.
    #[serde(default)]
    pub wg: [usize; 3],
    pub groups: u64,
    pub items: u64,
    /// Warps, those with fewer items included.
    pub warps: u64,
    /// Barriers, one for each group that comes to one.
    pub barriers: u64,
    /// Pieces that whole groups copied (`async_work_group_copy`), which are no item's requests.
    pub copies: u64,
    /// Accesses to private memory: arrays that the compiler did not keep in registers.
    pub private: u64,
    /// Whether items ran in an order that the plugin does not foresee, so that the counts are worth nothing.
    pub unordered: bool,
    /// Its instructions, in the order in which they were first executed.
    pub instructions: Vec<InstructionCounts>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CountedCase {
    /// The work-group that the rung made of the one asked for.
    pub wg: WorkGroup,
    pub params: Params,
    pub launches: Vec<CountedLaunch>,
    /// Why the result is wrong, where that is no reason to stop.
    pub wrong: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CountedLaunch {
    /// Whether its time would count: others prepare the data.
    pub timed: bool,
    pub counts: LaunchCounts,
}

/// What joins two counts of the same thing.
type Joining<'a> = &'a dyn Fn(u64, u64) -> u64;

impl RequestCounts {
    fn joined(&self, other: &RequestCounts, with: Joining<'_>) -> RequestCounts {
        RequestCounts {
            requests: with(self.requests, other.requests),
            items: with(self.items, other.items),
            bytes: with(self.bytes, other.bytes),
            segments: with(self.segments, other.segments),
            lines: with(self.lines, other.lines),
            group_segments: with(self.group_segments, other.group_segments),
            launch_segments: with(self.launch_segments, other.launch_segments),
            passes: with(self.passes, other.passes),
            conflicts: with(self.conflicts, other.conflicts),
            broadcasts: with(self.broadcasts, other.broadcasts),
            words: with(self.words, other.words),
            moved: with(self.moved, other.moved),
            busiest: with(self.busiest, other.busiest),
        }
    }
}

impl MemoryCounts {
    fn joined(&self, other: &MemoryCounts, with: Joining<'_>) -> MemoryCounts {
        MemoryCounts {
            global_read: self.global_read.joined(&other.global_read, with),
            global_write: self.global_write.joined(&other.global_write, with),
            local_read: self.local_read.joined(&other.local_read, with),
            local_write: self.local_write.joined(&other.local_write, with),
            constant_read: self.constant_read.joined(&other.constant_read, with),
            global_atomic: self.global_atomic.joined(&other.global_atomic, with),
            local_atomic: self.local_atomic.joined(&other.local_atomic, with),
        }
    }
}

impl Counts {
    pub(super) fn joined(&self, other: &Counts, with: Joining<'_>) -> Counts {
        Counts {
            issued: with(self.issued, other.issued),
            lanes: with(self.lanes, other.lanes),
            flops: with(self.flops, other.flops),
            divisions: with(self.divisions, other.divisions),
            waits: with(self.waits, other.waits),
            hidden: with(self.hidden, other.hidden),
            memory: self.memory.joined(&other.memory, with),
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        *self = self.joined(&other, &add);
    }
}

impl LaunchCounts {
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.instructions.iter().for_each(|one| total += one.counts);
        total
    }

    /// The instructions of each line of the source, by file and line.
    pub fn by_line(&self) -> Vec<(&str, u64, Counts)> {
        let mut lines: Vec<(&str, u64, Counts)> = Vec::new();
        for one in &self.instructions {
            match lines
                .iter_mut()
                .find(|(file, line, _)| (*file, *line) == (one.file.as_str(), one.line))
            {
                Some((_, _, counts)) => *counts += one.counts,
                None => lines.push((&one.file, one.line, one.counts)),
            }
        }
        lines.sort_by_key(|(file, line, _)| (*file, *line));
        lines
    }
}

fn add(a: u64, b: u64) -> u64 {
    a.saturating_add(b)
}

/// A ratio, where there is something to divide by.
fn ratio(of: u64, by: u64) -> Option<f64> {
    (by > 0).then(|| of as f64 / by as f64)
}

impl RequestCounts {
    /// Cache lines of a request, where they were counted.
    pub fn lines_a_request(&self) -> Option<f64> {
        ratio(self.lines, self.requests).filter(|_| self.lines > 0)
    }

    pub fn segments_a_request(&self) -> Option<f64> {
        ratio(self.segments, self.requests)
    }

    pub fn passes_a_request(&self) -> Option<f64> {
        ratio(self.passes, self.requests)
    }

    pub fn conflicts_a_request(&self) -> Option<f64> {
        ratio(self.conflicts, self.requests)
    }
}

impl Counts {
    /// The share of lanes that are busy in warps of so many items.
    pub fn lanes_busy(&self, warp: u64) -> Option<f64> {
        ratio(self.lanes, self.issued.saturating_mul(warp))
    }

    /// Requests of global memory, without atomics.
    pub fn global(&self) -> RequestCounts {
        self.memory
            .global_read
            .joined(&self.memory.global_write, &add)
    }

    /// Requests of local memory, without atomics.
    pub fn local(&self) -> RequestCounts {
        self.memory
            .local_read
            .joined(&self.memory.local_write, &add)
    }

    /// Atomic requests of either memory.
    pub fn atomics(&self) -> RequestCounts {
        self.memory
            .global_atomic
            .joined(&self.memory.local_atomic, &add)
    }

    /// Bytes that global requests move, for each byte that their items ask for.
    pub fn moved_an_asked_byte(&self) -> Option<f64> {
        ratio(self.global().moved, self.global().bytes)
    }

    /// Floating-point operations for each byte that global requests move.
    pub fn flops_a_byte(&self) -> Option<f64> {
        ratio(self.flops, self.global().moved).filter(|_| self.flops > 0)
    }

    /// How many times as long global transactions take as if they fell evenly on so many partitions: 1 if they do, the
    /// number of partitions if each moment's fall on one.
    pub fn partition_load(&self, partitions: u64) -> Option<f64> {
        let all = self.global();
        ratio(all.busiest.saturating_mul(partitions), all.segments).filter(|_| partitions > 0)
    }
}
