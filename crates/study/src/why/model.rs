//! The model of a rung's time. Each part is an amount, counted or demanded by the problem, over a rate measured on the device.
//!
//! On a GPU the time is the launches with the start of their work, and beside it the longest of three parts:
//! - the limit: the bytes or operations that the problem demands. Where operations set the limit, other instructions run beside them;
//! - the caches: cache lines of loads and segments of stores. A cache serves one line at a time, so a load whose items lie in 32
//!   lines takes as long as 32 loads of one line (`gpulab lab stride`, read from cache). A word stored to a segment of its own takes
//!   longer than its share of a whole segment. Groups of one item have few requests in flight, and a rate of their own;
//! - compute units: instructions plus passes of local memory, since barriers keep the one from hiding the other. Where barriers are
//!   far apart, the longer of both. Other instructions run beside divisions of integers, which have a rate of their own. Few warps work
//!   as fast as each does alone, and wait for their loads (J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", 1961).
//!
//! Work hides the starts of groups in part: the time is the hypotenuse of both.
//!
//! A CPU has no warps, segments or banks: its parts are in `items.rs`. Its cores run nothing else while they wait for memory, so the
//! limit is added to the longer of the others.

use super::items::{ItemRates, RateBySize};
use super::tally::{LINE, Tally, WARP, is_bounded_by_operations, warps_a_group};
use crate::ceilings::{CROWD, CROWD_GROUPS, CeilingRow, DIVISION, LOAD, SUM, Site, VECTORS, WORDS};
use crate::count::LockstepModel;
use gpulab_model::outcome::Cache;
use gpulab_model::plan::WorkGroup;
use gpulab_record::{Row, flag};

/// Bytes of a segment of global memory in the counts.
const SEGMENT: f64 = LockstepModel::USUAL.segment as f64;
/// Bytes that a pass of local memory gives at most.
const PASS: f64 = 4.0 * LockstepModel::USUAL.banks as f64;

const WORD: f64 = 4.0;

/// Warps, and groups, that a scheduler holds at most: those of NVIDIA's GPUs for data centres since 2014. A compute unit has four
/// schedulers.
const RESIDENT_WARPS: f64 = 16.0;
const RESIDENT_GROUPS: f64 = 8.0;

/// Instructions of a work-item of the tree probe, as the simulator counts them.
pub const INSTRUCTIONS_IN_A_TREE: f64 = 70.0;

/// Bytes of a work-item's widest load.
const WIDEST: f64 = 16.0;

/// The factor by which a prediction may miss. Beyond it, something acts that counts do not see.
pub(super) const PARTED: f64 = 1.5;

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
    /// Seconds that one small sum (reads, barriers, a write) takes beyond an empty launch.
    startup: f64,
    /// Seconds to start a group.
    group: f64,
    /// Rates of work-items on a CPU.
    items: ItemRates,
}

impl DeviceRates {
    /// From a device's ceilings; the error names the missing one.
    pub fn new(ceilings: &[CeilingRow], is_gpu: bool) -> Result<DeviceRates, String> {
        let find = |what: &str, place: Site, element: &str| {
            ceilings
                .iter()
                .filter(|row: &&CeilingRow| row.what == what && row.place == place && row.element == element)
                .find(|row| row.value.is_some())
        };
        let value = |what: &str, place: Site, element: &str| {
            find(what, place, element).and_then(|row| row.value).filter(|value| value.is_finite() && *value > 0.0)
        };
        let known = |what: &str, place: Site, element: &str| value(what, place, element).map(|value| 1e9 * value);
        let rate = |what: &str, place: Site, element: &str, told: &str| {
            known(what, place, element).ok_or_else(|| told.to_owned())
        };
        let seconds = |what: &str| value(what, Site::Host, "").map(|us| 1e-6 * us);
        let launch = seconds("launch, event time");
        let beyond_a_launch = |what: &str| Some((seconds(what)? - launch?).max(0.0));
        let by_size = |what: &str, places: &[Site]| {
            RateBySize::new(
                ceilings
                    .iter()
                    .filter(|row: &&CeilingRow| row.what == what && places.contains(&row.place))
                    .filter_map(|row| Some((row.bytes? as f64, 1e9 * row.value?))),
            )
        };
        // A CPU's additions are measured of whole vectors.
        let vector = find("add", Site::Unit, "f32").and_then(|row| row.params.get("vec")?.parse::<f64>().ok());
        let adding = rate("add", Site::Unit, "f32", "additions of f32")?;
        let single = adding / vector.filter(|lanes| *lanes >= 1.0).unwrap_or(1.0);
        let tree = known("add", Site::Tree, "i32").map(|elements| INSTRUCTIONS_IN_A_TREE * elements);
        Ok(DeviceRates {
            is_gpu,
            reading: rate("read", Site::Cache, "", "reads of its caches")?,
            writing: rate("write", Site::Cache, "", "writes to its caches")?,
            copying: rate("copy", Site::Cache, "", "copies within its caches")?,
            curves: ["read", "copy"].map(|what| by_size(what, &[Site::Curve])),
            alone: known("read", Site::Alone, ""),
            scattered: known("write", Site::Scattered, "").map(|bytes| bytes / WORD),
            local: rate("local", Site::Unit, "", "local memory")?,
            adding,
            warp: known("add", Site::Warp, "f32"),
            dividing: known(DIVISION, Site::Unit, "i32"),
            latency: [Site::Cache, Site::Memory].map(|place| value(LOAD, place, "").map(|ns| 1e-9 * ns)),
            launch,
            startup: beyond_a_launch(SUM).unwrap_or(0.0),
            group: beyond_a_launch(CROWD).map_or(0.0, |seconds| seconds / CROWD_GROUPS as f64),
            items: ItemRates {
                vectors: adding,
                single: tree.unwrap_or(single),
                walks: [WORDS, VECTORS].map(|what| by_size(what, &[Site::Near, Site::Strided])),
            },
        })
    }

    /// Seconds of all warps, of which so many are resident at once, each with its instructions and its waits for loads.
    fn waiting(&self, row: &Row, tally: &Tally, issued: f64) -> Option<f64> {
        let rate = self.warp?;
        let schedulers = self.adding / rate;
        let warps = warps_a_group(row);
        let resident = (schedulers * RESIDENT_WARPS.min(RESIDENT_GROUPS * warps)).min(tally.groups as f64 * warps);
        let is_near = is_bounded_by_operations(row) || row.cache == Cache::Warm || row.flags.contains(flag::FITS_CACHE);
        let latency = if is_near { self.latency[0] } else { self.latency[1] }?;
        let hidden = WARP * tally.counts.hidden as f64 / rate;
        let waits = (tally.counts.waits as f64 * latency - hidden).max(0.0);
        Some((issued / rate + waits) / resident)
    }

    /// Bytes per second of arrays read or copied repeatedly. Without rates by size, the cache's rate for arrays that fit.
    fn repeated(&self, is_copy: bool, bytes: f64, fits_cache: bool) -> Option<f64> {
        let (curve, cached) = if is_copy { (&self.curves[1], self.copying) } else { (&self.curves[0], self.reading) };
        // Of the smallest sizes the launch takes most.
        if curve.is_below(bytes) { Some(cached) } else { curve.at(bytes).or(fits_cache.then_some(cached)) }
    }
}

/// A part of the modelled time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePart {
    Launches,
    /// The bytes or operations that the problem demands.
    Limit,
    /// Cache lines of loads, and segments of stores.
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
        let launches = row.t_launches_s.or_else(|| Some(row.launches? as f64 * rates.launch?))?;
        let shared = ModelTime {
            is_gpu: rates.is_gpu,
            launches: launches + rates.startup,
            limit,
            starts: tally.groups as f64 * rates.group,
            ..ModelTime::default()
        };
        if !rates.is_gpu {
            let (caches, instructions) = rates.items.seconds(row, tally);
            return Some(ModelTime { caches, instructions, ..shared });
        }
        let counts = &tally.counts;
        let memory = &tally.counts.memory;
        let requests = WARP * (counts.global().requests + counts.local().requests) as f64;
        // A loop that the simulator's compiler does not unroll is not what a GPU runs: then the operations that the problem
        // demands count, and the requests.
        let is_unrolled = tally.private == 0;
        // Lanes without an item take as long as those with one.
        let all_lanes = |amount: f64| Some(amount / counts.lanes_busy(LockstepModel::USUAL.warp)?);
        let issued = if is_unrolled { WARP * counts.issued as f64 } else { all_lanes(row.ops? as f64)? + requests };
        let instructions = issued / rates.adding;
        let divided = WARP * counts.divisions as f64;
        let instructions =
            if is_bounded_by_operations(row) { all_lanes(limit)?.max(instructions) } else { instructions };
        let wg = row.wg.map(WorkGroup::size);
        // Fewer warps than fill the device work as fast as each does alone.
        let warps = tally.groups as f64 * warps_a_group(row);
        let filled = rates.warp.map_or(1.0, |warp| (warps * warp / rates.adding).min(1.0));
        let reads = &memory.global_read;
        // Counts of earlier versions have no lines.
        let read = if reads.lines > 0 { LINE * reads.lines as f64 } else { SEGMENT * reads.segments as f64 };
        let writes = &memory.global_write;
        let segments = writes.segments as f64;
        // As many as there are if each segment that is not full has one word.
        let lonely = ((SEGMENT * segments - writes.bytes as f64) / (SEGMENT - WORD)).clamp(0.0, segments);
        let (lonely, scattered) = rates.scattered.map_or((0.0, 0.0), |rate| (lonely, lonely / rate));
        let written = SEGMENT * (segments - lonely) / rates.writing + scattered;
        let is_alone = wg.is_some_and(|wg| (wg as f64) < WARP);
        let alone =
            rates.alone.filter(|_| is_alone).map_or(0.0, |rate| WIDEST * counts.global().requests as f64 / rate);
        let passing = PASS * counts.local().passes as f64 / rates.local;
        let local = if tally.are_barriers_distant(row) { (passing - instructions).max(0.0) } else { passing };
        let busy = ModelTime {
            caches: (read / rates.reading + written).max(alone),
            local: local / filled,
            instructions: instructions / filled,
            divisions: (rates.dividing.map_or(0.0, |rate| divided / rate) - instructions).max(0.0) / filled,
            ..shared
        };
        let waiting = rates.waiting(row, tally, issued);
        Some(ModelTime { waits: waiting.map_or(0.0, |seconds| (seconds - busy.compute()).max(0.0)), ..busy })
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
        if self.is_gpu { self.limit.max(busy) } else { self.limit + busy }
    }

    /// Whether the whole time would change if this part took none.
    pub fn counts(&self, part: TimePart) -> bool {
        // Within what rounding leaves of a sum.
        let most = |seconds: f64, others: f64| seconds >= others * (1.0 - 1e-9);
        let limit = if self.is_gpu { self.limit } else { 0.0 };
        match part {
            TimePart::Launches | TimePart::Groups => true,
            TimePart::Limit => !self.is_gpu || most(limit, self.caches.max(self.compute())),
            TimePart::Caches => most(self.caches, limit.max(self.compute())),
            TimePart::Local | TimePart::Instructions | TimePart::Divisions | TimePart::Waits => {
                most(self.compute(), limit.max(self.caches))
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
        let counted = TimePart::ALL.into_iter().filter(|part| *part != TimePart::Launches && self.counts(*part));
        counted.max_by(|a, b| self.get(*a).total_cmp(&self.get(*b))).unwrap_or(TimePart::Limit)
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
    let repeated = if is_repeated { rates.repeated(row.ceiling == "copy", bytes, fits_cache) } else { None };
    Some(bytes / repeated.map_or(memory, |rate| rate.max(memory)))
}

/// Whether a prediction misses by more than [`PARTED`].
pub fn is_parted(measured: f64, predicted: f64) -> bool {
    (measured / predicted).max(predicted / measured) > PARTED
}
