//! The model: what launches cost, with the start of their work, and beside it the longest of three: what the family's limit
//! demands, what the segments of global memory take in the caches, and what compute units do. A cache serves one line at a
//! time: a load whose items lie in 32 lines takes as long as 32 loads of one (`gpulab lab stride`, read from cache). A word that
//! is stored to a segment of its own takes longer than its share of a whole one (the same, write). A group of one item has one
//! warp's requests under way, and a unit holds few groups, so that each request takes its time. Where operations set a family's
//! limit, they take what that limit says, and other instructions run beside them. Fewer warps than fill the device work as
//! fast as each does alone.
//!
//! Memory works beside compute units, so the longest counts; within a compute unit instructions and passes of local memory
//! add up, since barriers keep the one from hiding the other. The starts of groups are hidden in part: both are the sides of a
//! right angle, and the time is the third. Each part is an amount that is counted, or that the problem demands, over a rate that
//! was measured of the device. A CPU has neither warps nor segments nor banks: its parts are in `items.rs`. Nothing else runs on
//! its cores while they wait for memory: there what the limit demands adds to the longer of the others.

use super::items::{ItemRates, RateBySize};
use super::tally::{LINE, Tally, WARP, is_bounded_by_operations};
use crate::ceilings::{CROWD, CROWD_GROUPS, CeilingRow, SUM, Site, VECTORS, WORDS};
use crate::count::LockstepModel;
use gpulab_model::outcome::Cache;
use gpulab_model::plan::WorkGroup;
use gpulab_record::{Row, flag};

/// Bytes of a segment, and those that a pass of local memory gives at most, in the counts.
const SEGMENT: f64 = LockstepModel::USUAL.segment as f64;
const PASS: f64 = 4.0 * LockstepModel::USUAL.banks as f64;

const WORD: f64 = 4.0;

/// Instructions that the simulator counts of an item of the probe that meets at barriers.
pub const INSTRUCTIONS_IN_A_TREE: f64 = 140.0;

/// Bytes of the widest request of an item.
const WIDEST: f64 = 16.0;

/// Times that a prediction may miss by; beyond, something acts that counts do not see.
pub(super) const PARTED: f64 = 1.5;

/// Rates of a device that the model needs, a second.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceRates {
    /// Whether work-items run in warps.
    pub is_gpu: bool,
    /// Bytes read from the caches.
    reading: f64,
    /// Bytes written to the caches.
    writing: f64,
    /// Bytes read and written at once in the caches.
    copying: f64,
    /// Bytes of arrays that are read, or copied, again and again, by their size.
    curves: [RateBySize; 2],
    /// Bytes read by groups of one item; none where that was not measured.
    alone: Option<f64>,
    /// Words written, each to a segment of its own; none where that was not measured.
    scattered: Option<f64>,
    /// Bytes of local memory.
    local: f64,
    /// Additions: on a CPU, of whole vectors.
    adding: f64,
    /// Additions of one warp; none where that was not measured.
    warp: Option<f64>,
    /// Seconds of a launch, for rows that do not say what theirs cost.
    launch: Option<f64>,
    /// Seconds from the beginning of a launch that reads, meets at barriers and writes to its end, beyond those of an empty one.
    startup: f64,
    /// Seconds that the device takes to start a group.
    group: f64,
    /// What a CPU's items get.
    items: ItemRates,
}

impl DeviceRates {
    /// Those of the device whose ceilings these are.
    pub fn new(ceilings: &[CeilingRow], is_gpu: bool) -> Result<DeviceRates, String> {
        let find = |what: &str, place: Site, element: &str| {
            let is_it = |row: &&CeilingRow| row.what == what && row.place == place && row.element == element;
            ceilings.iter().filter(is_it).find(|row| row.value.is_some())
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
            let is_it = |row: &&CeilingRow| row.what == what && places.contains(&row.place);
            RateBySize::new(ceilings.iter().filter(is_it).filter_map(|row| Some((row.bytes? as f64, 1e9 * row.value?))))
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

    /// Bytes a second of arrays that are read or copied again and again; where rates by size were not measured, of those that fit a
    /// cache.
    fn repeated(&self, is_copy: bool, bytes: f64, fits_cache: bool) -> Option<f64> {
        let (curve, cached) = if is_copy { (&self.curves[1], self.copying) } else { (&self.curves[0], self.reading) };
        // Of the smallest sizes the launch takes most.
        if curve.is_below(bytes) { Some(cached) } else { curve.at(bytes).or(fits_cache.then_some(cached)) }
    }
}

/// A part of the model's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePart {
    Launches,
    /// What the family's limit demands: bytes of memory, or operations.
    Limit,
    /// Lines that loads touch, and segments that stores do, in the caches.
    Caches,
    Local,
    Instructions,
    /// The starts of groups, as far as nothing hides them.
    Groups,
}

impl TimePart {
    pub const ALL: [TimePart; 6] = [
        TimePart::Launches,
        TimePart::Limit,
        TimePart::Caches,
        TimePart::Local,
        TimePart::Instructions,
        TimePart::Groups,
    ];
}

/// The parts of a time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelTime {
    /// Whether compute units work while memory does.
    pub is_gpu: bool,
    pub launches: f64,
    /// What the family's limit demands.
    pub limit: f64,
    pub caches: f64,
    pub local: f64,
    pub instructions: f64,
    /// What it takes to start all groups; the work hides a part of it.
    pub starts: f64,
}

impl ModelTime {
    /// Of a measured row whose kernels did this; none where the row lacks its limit or its launches' cost.
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
        let (counts, memory) = (&tally.counts, &tally.counts.memory);
        let requests = WARP * (counts.global().requests + counts.local().requests) as f64;
        // A loop that the simulator's compiler does not unroll is not what a GPU runs: then the operations that the problem
        // demands count, and the requests.
        let is_unrolled = tally.private == 0;
        // Lanes without an item take as long as those with one.
        let all_lanes = |amount: f64| Some(amount / counts.lanes_busy(LockstepModel::USUAL.warp)?);
        let issued = WARP * counts.issued as f64;
        let instructions = match is_bounded_by_operations(row) {
            true => {
                let others = if is_unrolled { issued - all_lanes(row.ops? as f64)? } else { requests };
                all_lanes(limit)?.max(others / rates.adding)
            }
            false if is_unrolled => issued / rates.adding,
            false => (all_lanes(row.ops? as f64)? + requests) / rates.adding,
        };
        let wg = row.wg.map(WorkGroup::size);
        // Fewer warps than fill the device work as fast as each does alone.
        let warps = tally.groups as f64 * wg.map_or(1.0, |wg| (wg as f64 / WARP).ceil());
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
        Some(ModelTime {
            caches: (read / rates.reading + written).max(alone),
            local: PASS * counts.local().passes as f64 / rates.local / filled,
            instructions: instructions / filled,
            ..shared
        })
    }

    /// Seconds of a part.
    pub fn get(&self, part: TimePart) -> f64 {
        match part {
            TimePart::Launches => self.launches,
            TimePart::Limit => self.limit,
            TimePart::Caches => self.caches,
            TimePart::Local => self.local,
            TimePart::Instructions => self.instructions,
            TimePart::Groups => self.work().hypot(self.starts) - self.work(),
        }
    }

    /// What memory, caches and compute units take, one beside the other as far as the device can.
    pub fn work(&self) -> f64 {
        let busy = self.caches.max(self.compute());
        if self.is_gpu { self.limit.max(busy) } else { self.limit + busy }
    }

    /// Whether the whole time would be another if this part took no time.
    pub fn counts(&self, part: TimePart) -> bool {
        // Within what rounding leaves of a sum.
        let most = |seconds: f64, others: f64| seconds >= others * (1.0 - 1e-9);
        let limit = if self.is_gpu { self.limit } else { 0.0 };
        match part {
            TimePart::Launches | TimePart::Groups => true,
            TimePart::Limit => !self.is_gpu || most(limit, self.caches.max(self.compute())),
            TimePart::Caches => most(self.caches, limit.max(self.compute())),
            TimePart::Local | TimePart::Instructions => most(self.compute(), limit.max(self.caches)),
        }
    }

    /// What compute units take.
    pub fn compute(&self) -> f64 {
        self.local + self.instructions
    }

    /// The whole time, in seconds.
    pub fn whole(&self) -> f64 {
        self.launches + self.work().hypot(self.starts)
    }

    /// The part that takes most of what counts.
    pub fn largest(&self) -> TimePart {
        if self.launches >= self.whole() - self.launches {
            return TimePart::Launches;
        }
        if self.starts > self.work() {
            return TimePart::Groups;
        }
        let parts = [TimePart::Local, TimePart::Instructions, TimePart::Caches, TimePart::Limit];
        let counted = parts.into_iter().filter(|part| self.counts(*part));
        counted.max_by(|a, b| self.get(*a).total_cmp(&self.get(*b))).unwrap_or(TimePart::Limit)
    }
}

/// Seconds that the family's limit demands: of memory's, or where runs find their data again, of the caches'.
fn limit(row: &Row, rates: &DeviceRates) -> Option<f64> {
    if is_bounded_by_operations(row) {
        return Some(row.ops? as f64 / (1e9 * row.ceiling_gops?));
    }
    let (bytes, memory) = (row.bytes? as f64, 1e9 * row.ceiling_gbps?);
    let fits_cache = row.flags.contains(flag::FITS_CACHE);
    let is_repeated = row.cache == Cache::Warm || fits_cache;
    let repeated = if is_repeated { rates.repeated(row.ceiling == "copy", bytes, fits_cache) } else { None };
    Some(bytes / repeated.map_or(memory, |rate| rate.max(memory)))
}

/// Whether two factors part by more than a prediction may miss by.
pub fn is_parted(measured: f64, predicted: f64) -> bool {
    (measured / predicted).max(predicted / measured) > PARTED
}
