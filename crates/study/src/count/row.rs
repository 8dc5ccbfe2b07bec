//! The flat rows that files of counts hold.

use super::{
    CountedCase, CountedLaunch, Counts, LaunchCounts, LockstepModel, MemoryCounts, RequestCounts,
};
use gpulab_model::data::{Dtype, Params};
use gpulab_model::outcome::{Status, Stop};
use gpulab_model::plan::{Case, WorkGroup};
use gpulab_record::{Run, SCHEMA, columns};
use serde::{Deserialize, Serialize};

/// What a row is of.
#[derive(Clone, Copy, Debug)]
pub struct CountSubject<'a> {
    pub run: &'a Run,
    /// As in `Oclgrind 21.10`.
    pub simulator: &'a str,
    /// The machine that is counted for.
    pub model: LockstepModel,
    pub case: &'a Case,
    pub rung: Option<u32>,
    /// Of an experiment its name, the trial's series and the value of what is varied.
    pub trial: Option<(&'a str, &'a str, f64)>,
    /// What is to be known of the counts.
    pub note: &'a str,
}

columns! {
    /// What was counted of a launch, or of the instructions of one line of its source; its fields are the columns of CSV
    /// files and the names in JSON.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct CountRow {
        /// Version of the columns.
        pub schema: u32,
        /// Different for each run of the program.
        pub run_id: String,
        /// When the run began: UTC, ISO 8601.
        pub time_utc: String,
        /// The program's version.
        pub gpulab: String,
        /// The simulator and its version.
        pub simulator: String,
        /// The family of the kernel.
        pub family: String,
        /// Number of the rung in its ladder.
        pub rung: Option<u32>,
        /// The rung's idea.
        pub variant: String,
        /// Element type.
        pub dtype: Dtype,
        /// Elements, or columns of the matrix.
        pub n: u64,
        /// Rows of the matrix; 1 for vectors.
        pub m: u64,
        /// Work-group used.
        #[serde(with = "gpulab_record::text::work_group")]
        pub wg: WorkGroup,
        /// Settings used, `name=value` separated by blanks.
        #[serde(with = "gpulab_record::text::params")]
        pub params: Params,
        /// Seed of the data.
        pub seed: u64,
        /// The experiment, if the case is a trial of one.
        pub experiment: String,
        /// The trial's series.
        pub series: String,
        /// The trial's value of the varied parameter.
        pub x: Option<f64>,
        /// Work-items of a warp in the model.
        pub warp: u64,
        /// Size of a segment of global memory in the model.
        #[unit = "B"]
        pub segment: u64,
        /// Banks of local memory in the model, each 4 bytes wide.
        pub banks: u64,
        /// How it ended.
        pub status: Status,
        /// Why, unless `ok`; for `ok`, a note on the counts.
        pub reason: String,
        /// Number of the launch among those of the case, from 1.
        pub launch: Option<u64>,
        /// Launches of the case.
        pub launches: Option<u64>,
        /// Whether a ladder times the launch; false for preparation.
        pub timed: Option<bool>,
        /// The kernel launched.
        pub kernel: String,
        /// The source file of this row's line, below `cl/`; empty for the row of a whole launch.
        pub file: String,
        /// This row's line; 0 for instructions without one, empty for the row of a whole launch.
        pub line: Option<u64>,
        /// Work-groups.
        pub groups: Option<u64>,
        /// Work-items.
        pub items: Option<u64>,
        /// Warps, those with fewer items included.
        pub warps: Option<u64>,
        /// Barriers, counted once for each group that reaches one.
        pub barriers: Option<u64>,
        /// Accesses to private memory: arrays that the compiler did not keep in registers.
        pub private_accesses: Option<u64>,
        /// Pieces copied by async_work_group_copy; not counted as requests.
        pub group_copies: Option<u64>,
        /// Instructions that warps executed; arithmetic on a vector counts once for each element.
        pub warp_instructions: Option<u64>,
        /// Instructions that work-items executed.
        pub item_instructions: Option<u64>,
        /// Floating-point operations of all work-items.
        pub flops: Option<u64>,
        /// Loads of warps from global memory.
        pub global_read_requests: Option<u64>,
        /// Segments with a byte that these loads ask for; each counts once a request.
        pub global_read_segments: Option<u64>,
        /// Bytes that the work-items of these loads ask for.
        #[unit = "B"]
        pub global_read_bytes: Option<u64>,
        /// Stores of warps to global memory.
        pub global_write_requests: Option<u64>,
        /// Segments with a byte that these stores write; each counts once a request.
        pub global_write_segments: Option<u64>,
        /// Bytes that the work-items of these stores write.
        #[unit = "B"]
        pub global_write_bytes: Option<u64>,
        /// Loads of warps from local memory.
        pub local_read_requests: Option<u64>,
        /// Passes that these loads take: a bank gives one word in each.
        pub local_read_passes: Option<u64>,
        /// Bank conflicts: passes beyond the minimum for as many words.
        pub local_read_conflicts: Option<u64>,
        /// Loads in which one word serves several work-items.
        pub local_read_broadcasts: Option<u64>,
        /// Stores of warps to local memory.
        pub local_write_requests: Option<u64>,
        /// Passes that these stores take.
        pub local_write_passes: Option<u64>,
        /// Bank conflicts: passes beyond the fewest that as many words need.
        pub local_write_conflicts: Option<u64>,
        /// Loads of warps from constant memory.
        pub constant_requests: Option<u64>,
        /// Different words that these loads ask for; each counts once a request.
        pub constant_words: Option<u64>,
        /// Atomic operations of warps in global memory.
        pub global_atomic_requests: Option<u64>,
        /// Atomic operations of work-items in global memory.
        pub global_atomic_items: Option<u64>,
        /// Passes of these operations: the most work-items at one address, for each request.
        pub global_atomic_passes: Option<u64>,
        /// Atomic operations of warps in local memory.
        pub local_atomic_requests: Option<u64>,
        /// Atomic operations of work-items in local memory.
        pub local_atomic_items: Option<u64>,
        /// Passes of these operations: the most work-items at one address, for each request.
        pub local_atomic_passes: Option<u64>,
        /// Instructions of work-items for each element of the problem (n m).
        pub instructions_an_element: Option<f64>,
        /// Share of lanes that are busy: instructions of work-items over those of warps times a warp's size.
        #[unit = "1"]
        pub lanes_busy: Option<f64>,
        /// Segments of a load from global memory.
        pub segments_a_read: Option<f64>,
        /// Segments of a store to global memory.
        pub segments_a_write: Option<f64>,
        /// Bytes of segments that are moved for each byte that work-items ask for.
        pub moved_an_asked_byte: Option<f64>,
        /// Passes of a load from local memory or a store to it.
        pub passes_a_local_request: Option<f64>,
        /// Floating-point operations for each byte of segments that is moved.
        pub flops_a_byte: Option<f64>,
        /// The machine by its name, if --machine named one.
        #[serde(default)]
        pub machine: String,
        /// Partitions of global memory in the model, each 256 bytes wide; empty without.
        pub partitions: Option<u64>,
        /// Bytes of all transactions of loads from global memory.
        #[unit = "B"]
        pub global_read_moved: Option<u64>,
        /// Bytes of all transactions of stores to global memory.
        #[unit = "B"]
        pub global_write_moved: Option<u64>,
        /// Transactions of loads that the busiest partition has: the sum over all executions of an instruction by groups that
        /// run at once.
        pub global_read_busiest: Option<u64>,
        /// The same of stores.
        pub global_write_busiest: Option<u64>,
        /// The busiest partitions' transactions over an even share: 1 if partitions share evenly, their number if each
        /// moment's transactions fall on one.
        #[unit = "1"]
        pub partition_load: Option<f64>,
        /// Cache lines of 128 bytes that loads from global memory touch, each once a load of a warp.
        pub global_read_lines: Option<u64>,
        /// The same of stores.
        pub global_write_lines: Option<u64>,
        /// Divisions of integers by warps, where the divisor is not a constant.
        #[serde(default)]
        pub divisions: Option<u64>,
        /// Waits of warps for loads from global memory. Loads count as one batch if the warp waits for none of them before the last,
        /// or would not in a short loop that is unrolled four times.
        #[serde(default)]
        pub global_waits: Option<u64>,
        /// Instructions of warps between those loads and the waits.
        #[serde(default)]
        pub hidden_instructions: Option<u64>,
        /// Segments of loads from global memory that their group loads for the first time. A cache that keeps all that a group
        /// loads misses no others.
        #[serde(default)]
        pub global_read_group_segments: Option<u64>,
        /// Segments of loads from global memory that their launch loads for the first time.
        #[serde(default)]
        pub global_read_launch_segments: Option<u64>,
    }
}

fn n(cell: Option<u64>) -> u64 {
    cell.unwrap_or(0)
}

impl CountRow {
    /// The row of a case of which nothing was counted.
    pub fn stopped(subject: &CountSubject<'_>, stop: &Stop) -> CountRow {
        let mut row = CountRow::blank(subject);
        (row.status, row.reason) = (stop.status, stop.reason.clone());
        row
    }

    /// A row for each launch, and behind it one for each line of its source.
    pub fn of(subject: &CountSubject<'_>, counted: &CountedCase) -> Vec<CountRow> {
        let launches = counted.launches.len() as u64;
        let mut case = CountRow::blank(subject);
        (case.wg, case.params) = (counted.wg, counted.params.clone());
        (1..)
            .zip(&counted.launches)
            .flat_map(
                |(launch, CountedLaunch { timed, counts }): (u64, &CountedLaunch)| {
                    let of_launch = CountRow {
                        launch: Some(launch),
                        launches: Some(launches),
                        timed: Some(*timed),
                        kernel: counts.kernel.clone(),
                        ..case.clone()
                    };
                    of_launch.with_lines(counts)
                },
            )
            .collect()
    }

    /// The row of a launch with these counts, and one for each line.
    fn with_lines(self, counts: &LaunchCounts) -> Vec<CountRow> {
        let whole = CountRow {
            groups: Some(counts.groups),
            items: Some(counts.items),
            warps: Some(counts.warps),
            barriers: Some(counts.barriers),
            private_accesses: Some(counts.private),
            group_copies: Some(counts.copies),
            ..self.clone().with_counts(counts.total())
        };
        let lines = counts.by_line().into_iter().map(|(file, line, counts)| {
            let of_line = CountRow {
                file: file.to_owned(),
                line: Some(line),
                ..self.clone()
            };
            of_line.with_counts(counts)
        });
        std::iter::once(whole).chain(lines).collect()
    }

    /// Whether it is of a kernel that a host program launches, and not of a case: its n is the work-items of all launches.
    pub fn is_of_program(&self) -> bool {
        self.family.is_empty()
    }

    pub fn elements(&self) -> u64 {
        self.n.saturating_mul(self.m)
    }

    /// Whether the row is of a whole launch.
    pub fn is_of_launch(&self) -> bool {
        self.launch.is_some() && self.line.is_none()
    }

    /// The counts of the row; what bytes and broadcasts it does not hold are 0. Rows of earlier versions do not hold what
    /// was moved, nor what was loaded again: all their transactions are whole segments, and no group loads one twice.
    pub fn counts(&self) -> Counts {
        let memory = MemoryCounts {
            global_read: RequestCounts {
                group_segments: self
                    .global_read_group_segments
                    .unwrap_or_else(|| n(self.global_read_segments)),
                launch_segments: n(self.global_read_launch_segments),
                requests: n(self.global_read_requests),
                segments: n(self.global_read_segments),
                lines: n(self.global_read_lines),
                bytes: n(self.global_read_bytes),
                moved: self
                    .global_read_moved
                    .unwrap_or_else(|| n(self.global_read_segments) * self.segment),
                busiest: n(self.global_read_busiest),
                ..RequestCounts::default()
            },
            global_write: RequestCounts {
                requests: n(self.global_write_requests),
                segments: n(self.global_write_segments),
                lines: n(self.global_write_lines),
                bytes: n(self.global_write_bytes),
                moved: self
                    .global_write_moved
                    .unwrap_or_else(|| n(self.global_write_segments) * self.segment),
                busiest: n(self.global_write_busiest),
                ..RequestCounts::default()
            },
            local_read: RequestCounts {
                requests: n(self.local_read_requests),
                passes: n(self.local_read_passes),
                conflicts: n(self.local_read_conflicts),
                broadcasts: n(self.local_read_broadcasts),
                ..RequestCounts::default()
            },
            local_write: RequestCounts {
                requests: n(self.local_write_requests),
                passes: n(self.local_write_passes),
                conflicts: n(self.local_write_conflicts),
                ..RequestCounts::default()
            },
            constant_read: RequestCounts {
                requests: n(self.constant_requests),
                words: n(self.constant_words),
                ..RequestCounts::default()
            },
            global_atomic: RequestCounts {
                requests: n(self.global_atomic_requests),
                items: n(self.global_atomic_items),
                passes: n(self.global_atomic_passes),
                ..RequestCounts::default()
            },
            local_atomic: RequestCounts {
                requests: n(self.local_atomic_requests),
                items: n(self.local_atomic_items),
                passes: n(self.local_atomic_passes),
                ..RequestCounts::default()
            },
        };
        Counts {
            issued: n(self.warp_instructions),
            lanes: n(self.item_instructions),
            flops: n(self.flops),
            divisions: n(self.divisions),
            waits: n(self.global_waits),
            hidden: n(self.hidden_instructions),
            memory,
        }
    }

    fn blank(subject: &CountSubject<'_>) -> CountRow {
        let CountSubject {
            run,
            simulator,
            model,
            case,
            rung,
            trial,
            note,
        } = *subject;
        let (experiment, series, x) =
            trial.map_or(("", "", None), |(name, series, x)| (name, series, Some(x)));
        CountRow {
            schema: SCHEMA,
            run_id: run.id.clone(),
            time_utc: run.time_utc.clone(),
            gpulab: env!("CARGO_PKG_VERSION").to_owned(),
            simulator: simulator.to_owned(),
            family: case.family.clone(),
            rung,
            variant: case.variant.clone(),
            dtype: case.dtype,
            n: case.shape.n,
            m: case.shape.m,
            wg: case.wg,
            params: case.params.clone(),
            seed: case.seed,
            experiment: experiment.to_owned(),
            series: series.to_owned(),
            x,
            reason: note.to_owned(),
            ..CountRow::for_machine(model)
        }
    }

    fn for_machine(model: LockstepModel) -> CountRow {
        CountRow {
            warp: model.warp,
            segment: model.segment,
            banks: model.banks,
            machine: model.machine.to_owned(),
            partitions: Some(model.partitions).filter(|partitions| *partitions > 0),
            ..CountRow::default()
        }
    }

    /// The row with these counts, and what follows from them.
    pub(super) fn with_counts(self, counts: Counts) -> CountRow {
        let memory = &counts.memory;
        CountRow {
            warp_instructions: Some(counts.issued),
            item_instructions: Some(counts.lanes),
            flops: Some(counts.flops),
            global_read_requests: Some(memory.global_read.requests),
            global_read_segments: Some(memory.global_read.segments),
            global_read_bytes: Some(memory.global_read.bytes),
            global_write_requests: Some(memory.global_write.requests),
            global_write_segments: Some(memory.global_write.segments),
            global_write_bytes: Some(memory.global_write.bytes),
            local_read_requests: Some(memory.local_read.requests),
            local_read_passes: Some(memory.local_read.passes),
            local_read_conflicts: Some(memory.local_read.conflicts),
            local_read_broadcasts: Some(memory.local_read.broadcasts),
            local_write_requests: Some(memory.local_write.requests),
            local_write_passes: Some(memory.local_write.passes),
            local_write_conflicts: Some(memory.local_write.conflicts),
            constant_requests: Some(memory.constant_read.requests),
            constant_words: Some(memory.constant_read.words),
            global_atomic_requests: Some(memory.global_atomic.requests),
            global_atomic_items: Some(memory.global_atomic.items),
            global_atomic_passes: Some(memory.global_atomic.passes),
            local_atomic_requests: Some(memory.local_atomic.requests),
            local_atomic_items: Some(memory.local_atomic.items),
            local_atomic_passes: Some(memory.local_atomic.passes),
            instructions_an_element: Some(counts.lanes as f64 / self.elements().max(1) as f64),
            lanes_busy: counts.lanes_busy(self.warp),
            segments_a_read: memory.global_read.segments_a_request(),
            segments_a_write: memory.global_write.segments_a_request(),
            moved_an_asked_byte: counts.moved_an_asked_byte(),
            passes_a_local_request: counts.local().passes_a_request(),
            flops_a_byte: counts.flops_a_byte(),
            global_read_moved: Some(memory.global_read.moved),
            global_write_moved: Some(memory.global_write.moved),
            global_read_busiest: self.partitions.map(|_| memory.global_read.busiest),
            global_write_busiest: self.partitions.map(|_| memory.global_write.busiest),
            partition_load: self
                .partitions
                .and_then(|partitions| counts.partition_load(partitions)),
            global_read_lines: Some(memory.global_read.lines),
            global_write_lines: Some(memory.global_write.lines),
            divisions: Some(counts.divisions),
            global_waits: Some(counts.waits),
            hidden_instructions: Some(counts.hidden),
            global_read_group_segments: Some(memory.global_read.group_segments),
            global_read_launch_segments: Some(memory.global_read.launch_segments),
            ..self
        }
    }
}
