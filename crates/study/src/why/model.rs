//! The model of a rung's time. Each part is an amount, counted or demanded by the problem, over a rate measured on the device.
//!
//! On a GPU the time is the launches with the start of their work, and beside it the longest of three parts:
//! - the limit: the bytes or operations that the problem demands. Where operations set the limit, other instructions run beside them;
//!   where bytes do, few bytes under way leave memory idle: it takes the hypotenuse of the bytes' time and that for which resident
//!   warps wait for their loads;
//! - the caches: cache lines of loads and segments of stores, or atomic operations that meet in a word. A cache serves one line at a time, so a load whose items lie in 32
//!   lines takes as long as 32 loads of one line (`gpulab lab stride`, read from cache). A word stored to a segment of its own takes
//!   longer than its share of a whole segment. Groups of one item have few requests in flight, and a rate of their own;
//! - compute units: instructions plus passes of local memory, since barriers keep the one from hiding the other. Where barriers are
//!   far apart, the longer of both. Other instructions run beside divisions of integers, which have a rate of their own. Few warps work
//!   as fast as each does alone, and wait for their loads (J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", 1961).
//!
//! Work hides the starts of groups in part: the time is the hypotenuse of both.
//!
//! A CPU has no warps, segments or banks: its parts are jumps and instructions: its cores run one work-item after the other, from barrier to
//! barrier, and an item whose loop loads beside its neighbours' (coalesced on a GPU) jumps over their elements at each turn. Cores run nothing else while they wait for memory, so the
//! limit is added to the longer of the others.

use crate::ceilings::{
    ATOMIC, CROWD, CROWD_GROUPS, CeilingRow, DIVISION, FOUR, LOAD, SUM, Site, VECTORS, WORDS,
};
use crate::count::{CountRow, Counts, LockstepModel, RequestCounts, counted_settings, stretched};
use gpulab_kernels::{Form, Registry, Rung};
use gpulab_model::data::Shape;
use gpulab_model::outcome::Cache;
use gpulab_model::plan::{Case, Target, WorkGroup};
use gpulab_record::{Row, flag};

/// Bytes of a segment of global memory, and of a cache line, in the counts.
pub(super) const SEGMENT: f64 = LockstepModel::USUAL.segment as f64;
pub(super) const LINE: f64 = 128.0;
/// Bytes that a pass of local memory gives at most.
const PASS: f64 = 4.0 * LockstepModel::USUAL.banks as f64;
/// Work-items of a warp in the counts.
pub(super) const WARP: f64 = LockstepModel::USUAL.warp as f64;

const WORD: f64 = 4.0;

/// Warps, and groups, that a scheduler holds at most: those of NVIDIA's GPUs for data centres since 2014. A compute unit has four
/// schedulers.
const RESIDENT_WARPS: f64 = 16.0;
const RESIDENT_GROUPS: f64 = 8.0;

/// Instructions of a work-item of the tree probe, as the simulator counts them.
pub const INSTRUCTIONS_IN_A_TREE: f64 = 70.0;

/// Bytes of a work-item's widest load.
const WIDEST: f64 = 16.0;

/// Barriers are far apart when a warp makes more passes of local memory than this between two of them. One load takes the time of some
/// tens of passes.
const DISTANT: f64 = 128.0;

/// Loads of an item that make a walk.
const TURNS: f64 = 16.0;

/// Rates by size of array, ascending, in bytes.
type RateBySize = Vec<(f64, f64)>;

fn row_of<'a>(
    ceilings: &'a [CeilingRow],
    what: &str,
    place: Site,
    element: &str,
) -> Option<&'a CeilingRow> {
    let mut own = ceilings.iter().filter(|row| {
        (row.what.as_str(), row.place, row.element.as_str()) == (what, place, element)
    });
    own.find(|row| {
        row.value
            .is_some_and(|value| value.is_finite() && value > 0.0)
    })
}

fn by_size(ceilings: &[CeilingRow], what: &str, places: &[Site]) -> RateBySize {
    let own = ceilings
        .iter()
        .filter(|row: &&CeilingRow| row.what == what && places.contains(&row.place));
    let mut points: RateBySize = own
        .filter_map(|row| Some((row.bytes? as f64, 1e9 * row.value?)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// The rate at a size, interpolated on logarithmic scales; beyond the ends, the end's rate.
fn rate_at(rates: &RateBySize, bytes: f64) -> Option<f64> {
    let above = rates
        .iter()
        .position(|(size, _)| *size >= bytes)
        .unwrap_or(rates.len());
    let (Some(&(small, fast)), Some(&(large, slow))) =
        (rates.get(above.wrapping_sub(1)), rates.get(above))
    else {
        return rates.get(above).or(rates.last()).map(|(_, rate)| *rate);
    };
    let share = (bytes / small).ln() / (large / small).ln();
    Some(fast.powf(1.0 - share) * slow.powf(share))
}

/// The device's measured rates, per second, and times.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceRates {
    /// Whether work-items run in warps.
    pub is_gpu: bool,
    /// Bytes read from cache.
    reading: f64,
    /// Bytes written to cache.
    writing: f64,
    /// Bytes copied within the caches.
    copying: f64,
    /// Bytes of arrays read, and copied, repeatedly, by their size.
    curves: [RateBySize; 2],
    /// Bytes read by groups of one item, if measured.
    alone: Option<f64>,
    /// Words written, each to a segment of its own, if measured.
    scattered: Option<f64>,
    /// Atomic operations on one word of global memory, on 256 words, and on 256 words of a group's local memory, if measured.
    meeting: [Option<f64>; 3],
    /// Bytes read from local memory.
    local: f64,
    /// Additions; on a CPU, by whole vectors.
    adding: f64,
    /// Additions of one warp alone, if measured.
    warp: Option<f64>,
    /// Divisions of integers, if measured.
    dividing: Option<f64>,
    /// Seconds from a load to the next whose address it gives, from the cache and from memory, if measured.
    latency: [Option<f64>; 2],
    /// Seconds of a launch, for rows without the column.
    launch: Option<f64>,
    /// Seconds from a launch to the next one in a row of them.
    next: Option<f64>,
    /// Seconds that one small sum (reads, barriers, a write) takes beyond an empty launch.
    startup: f64,
    /// Seconds to start a group.
    group: f64,
    /// On a CPU, instructions of items between barriers, one item at a time.
    single: f64,
    /// On a CPU, bytes loaded in jumps, as words and as vectors of 16 bytes.
    walks: [RateBySize; 2],
}

impl DeviceRates {
    /// From a device's ceilings; the error names the missing one.
    pub fn new(ceilings: &[CeilingRow], is_gpu: bool) -> Result<DeviceRates, &'static str> {
        let rate =
            |what, place, element| Some(1e9 * row_of(ceilings, what, place, element)?.value?);
        let [launch, four, sum, crowd] = ["launch, event time", FOUR, SUM, CROWD]
            .map(|what| Some(1e-6 * row_of(ceilings, what, Site::Host, "")?.value?));
        let adding = rate("add", Site::Unit, "f32").ok_or("additions of f32")?;
        // A CPU's additions are measured of whole vectors.
        let vector = row_of(ceilings, "add", Site::Unit, "f32")
            .and_then(|row| row.params.get("vec")?.parse::<f64>().ok());
        let single = adding / vector.filter(|lanes| *lanes >= 1.0).unwrap_or(1.0);
        Ok(DeviceRates {
            is_gpu,
            reading: rate("read", Site::Cache, "").ok_or("reads of its caches")?,
            writing: rate("write", Site::Cache, "").ok_or("writes to its caches")?,
            copying: rate("copy", Site::Cache, "").ok_or("copies within its caches")?,
            curves: ["read", "copy"].map(|what| by_size(ceilings, what, &[Site::Curve])),
            alone: rate("read", Site::Alone, ""),
            scattered: rate("write", Site::Scattered, "").map(|bytes| bytes / WORD),
            meeting: [Site::Word, Site::Few, Site::Group].map(|place| rate(ATOMIC, place, "i32")),
            local: rate("local", Site::Unit, "").ok_or("local memory")?,
            adding,
            warp: rate("add", Site::Warp, "f32"),
            dividing: rate(DIVISION, Site::Unit, "i32"),
            latency: [Site::Cache, Site::Memory]
                .map(|place| Some(1e-9 * row_of(ceilings, LOAD, place, "")?.value?)),
            launch,
            next: four.zip(launch).map(|(four, launch)| (four - launch) / 3.0),
            startup: sum
                .zip(launch)
                .map_or(0.0, |(sum, launch)| (sum - launch).max(0.0)),
            group: crowd.zip(launch).map_or(0.0, |(crowd, launch)| {
                (crowd - launch).max(0.0) / CROWD_GROUPS as f64
            }),
            single: rate("add", Site::Tree, "i32")
                .map_or(single, |elements| INSTRUCTIONS_IN_A_TREE * elements),
            walks: [WORDS, VECTORS]
                .map(|what| by_size(ceilings, what, &[Site::Near, Site::Strided])),
        })
    }

    /// Seconds of a CPU's loads that jump, and of its instructions.
    fn of_items(&self, row: &Row, tally: &Tally) -> [f64; 2] {
        /// Bytes of the smallest vector load.
        const WIDE: f64 = 8.0;
        let has_small_groups = row.wg.map_or(1, WorkGroup::size) < WARP as usize;
        let rate = if has_small_groups || is_bounded_by_operations(row) {
            self.adding
        } else {
            self.single
        };
        let jumps = tally.jumping_bytes(row);
        let is_wide = jumps >= WIDE * WARP * tally.counts.memory.global_read.requests as f64;
        let walk = row
            .bytes
            .and_then(|bytes| rate_at(&self.walks[usize::from(is_wide)], bytes as f64));
        [
            walk.map_or(0.0, |rate| jumps / rate),
            tally.counts.lanes as f64 / rate,
        ]
    }

    /// Seconds of all warps, of which so many are resident at once, each with its instructions and its waits for loads; and of the
    /// loads alone, with nothing between them.
    fn waiting(&self, row: &Row, tally: &Tally, issued: f64) -> Option<(f64, f64)> {
        let rate = self.warp?;
        let schedulers = self.adding / rate;
        let warps = warps_a_group(row);
        let resident = (schedulers * RESIDENT_WARPS.min(RESIDENT_GROUPS * warps))
            .min(tally.groups as f64 * warps);
        let is_near = is_bounded_by_operations(row)
            || self.keeps(row)
            || row.flags.contains(flag::FITS_CACHE);
        let latency = if is_near {
            self.latency[0]
        } else {
            self.latency[1]
        }?;
        let hidden = WARP * tally.counts.hidden as f64 / rate;
        let loads = tally.counts.waits as f64 * latency;
        let waits = (loads - hidden).max(0.0);
        Some(((issued / rate + waits) / resident, loads / resident))
    }

    /// Seconds of atomic operations in global memory; `None` if their rates were not measured, and where whole warps want one word: a
    /// compiler joins these if it knows that, which counts do not tell.
    pub fn meeting(&self, counts: &RequestCounts) -> Option<f64> {
        /// Passes of a request from which on its items are taken to meet in few words: those of 32 items among 512 words at random.
        const MANY: f64 = 1.6;
        let [of_word, of_few, _] = self.meeting;
        let [requests, items, passes] =
            [counts.requests, counts.items, counts.passes].map(|count| count as f64);
        let meeting = if passes > MANY * requests { items } else { 0.0 };
        let is_known = passes < items || passes <= requests;
        is_known.then_some((passes / of_word?).max(meeting / of_few?))
    }

    /// Whether caches keep a row's arrays from run to run: they are read or copied 1.5 times as fast as from memory at least.
    fn keeps(&self, row: &Row) -> bool {
        let rate = self.repeated(row.ceiling == "copy", row.bytes.unwrap_or(0) as f64, false);
        let memory = row.ceiling_gbps.unwrap_or(f64::INFINITY);
        row.cache == Cache::Warm && rate.is_some_and(|rate| rate >= 1.5e9 * memory)
    }

    /// Bytes per second of arrays read or copied repeatedly. Without rates by size, the cache's rate for arrays that fit.
    fn repeated(&self, is_copy: bool, bytes: f64, fits_cache: bool) -> Option<f64> {
        let curve = &self.curves[usize::from(is_copy)];
        let cached = if is_copy { self.copying } else { self.reading };
        // Of the smallest sizes the launch takes most.
        match curve.first().is_some_and(|(size, _)| bytes < *size) {
            true => Some(cached),
            false => rate_at(curve, bytes).or(fits_cache.then_some(cached)),
        }
    }
}

/// A part of the modelled time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePart {
    Launches,
    /// The bytes or operations that the problem demands.
    Limit,
    /// Cache lines of loads, and segments of stores; or atomic operations.
    Caches,
    Local,
    Instructions,
    /// Divisions of integers, as far as no instructions run beside them.
    Divisions,
    /// Waits for loads from global memory.
    Waits,
    /// The starts of groups, as far as work does not hide them.
    Groups,
}

impl TimePart {
    pub const ALL: [TimePart; 8] = [
        TimePart::Launches,
        TimePart::Limit,
        TimePart::Caches,
        TimePart::Local,
        TimePart::Instructions,
        TimePart::Divisions,
        TimePart::Waits,
        TimePart::Groups,
    ];
}

/// The parts of a modelled time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelTime {
    /// Whether compute units and memory work side by side.
    pub is_gpu: bool,
    pub launches: f64,
    pub limit: f64,
    pub caches: f64,
    /// Passes of local memory, as far as no instructions run beside them.
    pub local: f64,
    pub instructions: f64,
    /// Divisions of integers, as far as no instructions run beside them.
    pub divisions: f64,
    /// Waiting for loads, as far as resident warps do not hide it.
    pub waits: f64,
    /// Starting all groups, with nothing to hide it.
    pub starts: f64,
}

impl ModelTime {
    /// The model of a measured row. `None` if the row lacks its limit or its launches' cost.
    pub fn of(row: &Row, tally: &Tally, rates: &DeviceRates) -> Option<ModelTime> {
        let limit = limit(row, rates)?;
        let many = row.launches.unwrap_or(1).max(1) as f64;
        let launches = row
            .t_launches_s
            .or_else(|| Some(row.launches? as f64 * rates.launch?))?;
        // The host hands over one after the other.
        let handed = rates.next.map_or(0.0, |next| (many - 1.0) * next);
        let shared = ModelTime {
            is_gpu: rates.is_gpu,
            launches: (launches + many * rates.startup).max(handed),
            limit,
            starts: tally.groups as f64 * rates.group,
            ..ModelTime::default()
        };
        if !rates.is_gpu {
            let [caches, instructions] = rates.of_items(row, tally);
            return Some(ModelTime {
                caches,
                instructions,
                ..shared
            });
        }
        let counts = &tally.counts;
        let memory = &tally.counts.memory;
        let requests = WARP * (counts.global().requests + counts.local().requests) as f64;
        // A loop that the simulator's compiler does not unroll is not what a GPU runs: then the operations that the problem
        // demands count, and the requests.
        let is_unrolled = tally.private == 0;
        // Lanes without an item take as long as those with one.
        let busy = counts.lanes_busy(LockstepModel::USUAL.warp);
        let issued = if is_unrolled {
            WARP * counts.issued as f64
        } else {
            row.ops? as f64 / busy? + requests
        };
        let instructions = issued / rates.adding;
        let divided = WARP * counts.divisions as f64;
        let instructions = if is_bounded_by_operations(row) {
            (limit / busy?).max(instructions)
        } else {
            instructions
        };
        let wg = row.wg.map(WorkGroup::size);
        // Fewer warps than fill the device work as fast as each does alone.
        let warps = tally.groups as f64 * warps_a_group(row);
        let filled = rates
            .warp
            .map_or(1.0, |warp| (warps * warp / rates.adding).min(1.0));
        let reads = &memory.global_read;
        // Counts of earlier versions have no lines.
        let read = if reads.lines > 0 {
            LINE * reads.lines as f64
        } else {
            SEGMENT * reads.segments as f64
        };
        let writes = &memory.global_write;
        let segments = writes.segments as f64;
        // As many as there are if each segment that is not full has one word.
        let lonely =
            ((SEGMENT * segments - writes.bytes as f64) / (SEGMENT - WORD)).clamp(0.0, segments);
        let written = match rates.scattered {
            Some(rate) => SEGMENT * (segments - lonely) / rates.writing + lonely / rate,
            None => SEGMENT * segments / rates.writing,
        };
        let is_alone = wg.is_some_and(|wg| (wg as f64) < WARP);
        let alone = rates
            .alone
            .filter(|_| is_alone)
            .map_or(0.0, |rate| WIDEST * counts.global().requests as f64 / rate);
        let atomics = rates.meeting[2].map_or(0.0, |rate| memory.local_atomic.items as f64 / rate);
        let passing = PASS * counts.local().passes as f64 / rates.local + atomics;
        let local = if tally.are_barriers_distant(row) {
            (passing - instructions).max(0.0)
        } else {
            passing
        };
        let busy = ModelTime {
            caches: (read / rates.reading + written)
                .max(alone)
                .max(rates.meeting(&memory.global_atomic).unwrap_or(0.0)),
            local: local / filled,
            instructions: instructions / filled,
            divisions: (rates.dividing.map_or(0.0, |rate| divided / rate) - instructions).max(0.0)
                / filled,
            ..shared
        };
        let Some((warps, loads)) = rates.waiting(row, tally, issued) else {
            return Some(busy);
        };
        let limit = match is_bounded_by_operations(row) {
            true => limit,
            false => limit.hypot(loads),
        };
        Some(ModelTime {
            limit,
            waits: (warps - busy.compute()).max(0.0),
            ..busy
        })
    }

    /// A part's seconds.
    pub fn get(&self, part: TimePart) -> f64 {
        match part {
            TimePart::Launches => self.launches,
            TimePart::Limit => self.limit,
            TimePart::Caches => self.caches,
            TimePart::Local => self.local,
            TimePart::Instructions => self.instructions,
            TimePart::Divisions => self.divisions,
            TimePart::Waits => self.waits,
            TimePart::Groups => self.work().hypot(self.starts) - self.work(),
        }
    }

    /// Memory, caches and compute units together.
    pub fn work(&self) -> f64 {
        let busy = self.caches.max(self.compute());
        if self.is_gpu {
            self.limit.max(busy)
        } else {
            self.limit + busy
        }
    }

    /// Whether the whole time would change if this part took none.
    pub fn counts(&self, part: TimePart) -> bool {
        // Within what rounding leaves of a sum.
        const LESS: f64 = 1.0 - 1e-9;
        let limit = if self.is_gpu { self.limit } else { 0.0 };
        match part {
            TimePart::Launches | TimePart::Groups => true,
            TimePart::Limit => !self.is_gpu || limit >= LESS * self.caches.max(self.compute()),
            TimePart::Caches => self.caches >= LESS * limit.max(self.compute()),
            TimePart::Local | TimePart::Instructions | TimePart::Divisions | TimePart::Waits => {
                self.compute() >= LESS * limit.max(self.caches)
            }
        }
    }

    /// The compute units' time.
    pub fn compute(&self) -> f64 {
        self.local + self.instructions + self.divisions + self.waits
    }

    /// The whole time, in seconds.
    pub fn whole(&self) -> f64 {
        self.launches + self.work().hypot(self.starts)
    }

    /// The longest of the parts that count.
    pub fn largest(&self) -> TimePart {
        if self.launches >= self.whole() - self.launches {
            return TimePart::Launches;
        }
        if self.starts > self.work() {
            return TimePart::Groups;
        }
        let counted = TimePart::ALL
            .into_iter()
            .filter(|part| *part != TimePart::Launches && self.counts(*part));
        counted
            .max_by(|a, b| self.get(*a).total_cmp(&self.get(*b)))
            .unwrap_or(TimePart::Limit)
    }
}

/// Seconds at the family's limit: memory's rate, or the caches' where data stay there between runs.
fn limit(row: &Row, rates: &DeviceRates) -> Option<f64> {
    if is_bounded_by_operations(row) {
        return Some(row.ops? as f64 / (1e9 * row.ceiling_gops?));
    }
    let bytes = row.bytes? as f64;
    let memory = 1e9 * row.ceiling_gbps?;
    let fits_cache = row.flags.contains(flag::FITS_CACHE);
    let is_repeated = row.cache == Cache::Warm || fits_cache;
    let repeated = if is_repeated {
        rates.repeated(row.ceiling == "copy", bytes, fits_cache)
    } else {
        None
    };
    Some(bytes / repeated.map_or(memory, |rate| rate.max(memory)))
}

/// Counts of all timed launches of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    pub counts: Counts,
    pub groups: u64,
    /// Barriers, one for each group that comes to one.
    pub barriers: u64,
    /// Accesses to arrays that the simulator's compiler did not keep in registers.
    pub private: u64,
    /// Whether work is counted in pairs of elements, as in a product of matrices.
    pub is_of_pairs: bool,
}

/// Whether a count has a measured row's kernel and settings, at any size, on the usual machine.
pub fn is_counted_of(count: &CountRow, row: &Row) -> bool {
    let is_same_kernel = (
        count.family.as_str(),
        count.variant.as_str(),
        count.dtype,
        Some(count.wg),
    ) == (row.family.as_str(), row.variant.as_str(), row.dtype, row.wg);
    is_same_kernel
        && is_usual(count)
        && counted_settings(&count.params) == counted_settings(&row.params)
}

/// Whether it was counted for the usual machine.
pub(super) fn is_usual(count: &CountRow) -> bool {
    let usual = LockstepModel::USUAL;
    (count.warp, count.segment, count.banks) == (usual.warp, usual.segment, usual.banks)
        && count.partitions.is_none()
        && matches!(count.machine.as_str(), "" | "today")
}

/// Whether a row is a rung's or a reader's kernel's; not a reference's or a CPU baseline's.
pub(super) fn is_of_rung(registry: &Registry, row: &Row) -> bool {
    row.rung.is_some()
        || registry
            .family(&row.family)
            .and_then(|family| family.rung(&row.variant))
            .is_some_and(Rung::is_own)
}

/// A measured rung's case; `None` for references and CPU baselines.
pub fn case_of(registry: &Registry, row: &Row) -> Option<Case> {
    if !is_of_rung(registry, row) {
        return None;
    }
    Some(Case {
        wg: row.wg?,
        params: row.params.clone(),
        ..Case::of(
            &row.family,
            &row.variant,
            row.dtype,
            Shape { n: row.n, m: row.m },
        )
    })
}

/// Counts of a measured row's kernels; `None` without two counted cases of its settings.
pub fn tally(registry: &Registry, row: &Row, counts: &[CountRow], is_gpu: bool) -> Option<Tally> {
    let case = case_of(registry, row)?;
    let family = registry.family(&row.family)?;
    let plan = family
        .plan(
            family.rung(&row.variant)?,
            &case,
            &Target::with_everything(is_gpu),
        )
        .ok()?;
    let own = counts
        .iter()
        .filter(|count: &&CountRow| count.is_of_launch() && is_counted_of(count, row));
    let own: Vec<CountRow> = own.cloned().collect();
    let launches = stretched(family.form, &case, &plan, &own)?;
    let timed = launches.iter().filter(|launch| launch.timed == Some(true));
    Some(Tally {
        is_of_pairs: family.form == Form::Square,
        ..Tally::sum(timed)
    })
}

fn warps_a_group(row: &Row) -> f64 {
    row.wg.map_or(1.0, |wg| (wg.size() as f64 / WARP).ceil())
}

fn is_bounded_by_operations(row: &Row) -> bool {
    row.bound().is_some_and(|bound| !bound.is_memory())
}

impl Tally {
    /// Bytes that items load in jumps: each turn of an item's loop skips what its neighbours load. A CPU, which runs one item after
    /// the other, then touches a cache line for each load. 0 if items load little, or each from a stretch of its own.
    pub(super) fn jumping_bytes(&self, row: &Row) -> f64 {
        let wg = row.wg.map_or(1.0, |wg| WorkGroup::size(wg) as f64);
        let reads = &self.counts.memory.global_read;
        let bytes = reads.bytes as f64;
        let loads = WARP * reads.requests as f64;
        let is_walk = loads >= TURNS * self.groups as f64 * wg;
        // Twice as many lines as they fill: what neighbours load lies side by side.
        let is_beside = reads.lines as f64 <= 2.0 * (bytes / LINE).max(reads.requests as f64);
        let jumps = wg >= WARP && !is_bounded_by_operations(row) && is_walk && is_beside;
        if jumps { bytes } else { 0.0 }
    }

    /// Passes of local memory that a warp makes between two barriers; 0 where groups have at most one.
    fn passes_between_barriers(&self, row: &Row) -> f64 {
        let passes = self.counts.local().passes as f64;
        if self.barriers > self.groups {
            passes / (self.barriers as f64 * warps_a_group(row))
        } else {
            0.0
        }
    }

    /// Whether barriers are so far apart that instructions run beside passes of local memory.
    fn are_barriers_distant(&self, row: &Row) -> bool {
        self.passes_between_barriers(row) > DISTANT
    }

    /// The sum of launches.
    pub(super) fn sum<'a>(launches: impl Iterator<Item = &'a CountRow>) -> Tally {
        launches.fold(Tally::default(), |mut sum, launch| {
            sum.counts += launch.counts();
            sum.groups += launch.groups.unwrap_or(0);
            sum.barriers += launch.barriers.unwrap_or(0);
            sum.private += launch.private_accesses.unwrap_or(0);
            sum
        })
    }
}

/// Results: elements, or pairs in a product of matrices.
pub fn results(row: &Row, tally: &Tally) -> f64 {
    let elements = row.n as f64 * row.m as f64;
    if tally.is_of_pairs {
        elements * row.n as f64
    } else {
        elements
    }
}
