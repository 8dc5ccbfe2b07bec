//! The model: what launches cost, and beside it the longest of three: what the family's limit demands, what the segments of
//! global memory take in the caches, and what compute units do. A cache serves one line at a time: a load whose items lie in 32
//! lines takes as long as 32 loads of one (`gpulab lab stride`, read from cache). A word that is stored to a segment of its own
//! takes longer than its share of a whole one (the same, write). A group of one item has one warp's requests under way, and a
//! unit holds few groups, so that each request takes its time.
//!
//! Where operations set a family's limit, they take what that limit says, and other instructions run beside them.
//!
//! Memory works beside compute units, so the longest counts; within a compute unit instructions and passes of local memory
//! add up, since barriers keep the one from hiding the other. Each part is an amount that is counted, or that the problem
//! demands, over a rate that was measured of the device. On a CPU, where a core runs one item after the other, neither warps
//! nor segments nor banks exist: compute units' part is the items' instructions at the rate of single ones.

use super::tally::Tally;
use crate::ceilings::{CeilingRow, Site};
use crate::count::LockstepModel;
use gpulab_record::{Row, flag};

/// Work-items of a warp, bytes of a segment and of a cache line, and bytes that a pass of local memory gives at most: those of
/// the counts.
const WARP: f64 = LockstepModel::USUAL.warp as f64;
const SEGMENT: f64 = LockstepModel::USUAL.segment as f64;
pub(super) const LINE: f64 = 128.0;
const PASS: f64 = 4.0 * LockstepModel::USUAL.banks as f64;

const WORD: f64 = 4.0;

/// Bytes of the widest request of an item.
const WIDEST: f64 = 16.0;

/// Times that a prediction may miss by; beyond, something acts that counts do not see.
pub(super) const PARTED: f64 = 1.5;

/// Rates of a device that the model needs, a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceRates {
    /// Whether work-items run in warps.
    pub is_gpu: bool,
    /// Bytes read from the caches.
    reading: f64,
    /// Bytes written to the caches.
    writing: f64,
    /// Bytes read and written at once in the caches.
    copying: f64,
    /// Bytes read by groups of one item; none where that was not measured.
    alone: Option<f64>,
    /// Words written, each to a segment of its own; none where that was not measured.
    scattered: Option<f64>,
    /// Bytes of local memory.
    local: f64,
    /// Additions: on a CPU, of single elements.
    adding: f64,
    /// Seconds of a launch, for rows that do not say what theirs cost.
    launch: Option<f64>,
}

impl DeviceRates {
    /// Those of the device whose ceilings these are.
    pub fn new(ceilings: &[CeilingRow], is_gpu: bool) -> Result<DeviceRates, String> {
        let find = |what: &str, place: Site, element: &str| {
            let is_it = |row: &&CeilingRow| row.what == what && row.place == place && row.element == element;
            ceilings.iter().filter(is_it).find(|row| row.value.is_some())
        };
        let rate = |what: &str, place: Site, element: &str, told: &str| {
            let value =
                find(what, place, element).and_then(|row| row.value).filter(|value| value.is_finite() && *value > 0.0);
            value.map(|value| 1e9 * value).ok_or_else(|| told.to_owned())
        };
        // A CPU's additions are measured of whole vectors.
        let vector = find("add", Site::Unit, "f32").and_then(|row| row.params.get("vec")?.parse::<f64>().ok());
        let lanes = if is_gpu { 1.0 } else { vector.filter(|lanes| *lanes >= 1.0).unwrap_or(1.0) };
        Ok(DeviceRates {
            is_gpu,
            reading: rate("read", Site::Cache, "", "reads of its caches")?,
            writing: rate("write", Site::Cache, "", "writes to its caches")?,
            copying: rate("copy", Site::Cache, "", "copies within its caches")?,
            alone: rate("read", Site::Alone, "", "").ok(),
            scattered: rate("write", Site::Scattered, "", "").ok().map(|bytes| bytes / WORD),
            local: rate("local", Site::Unit, "", "local memory")?,
            adding: rate("add", Site::Unit, "f32", "additions of f32")? / lanes,
            launch: find("launch, event time", Site::Host, "").and_then(|row| row.value).map(|us| us * 1e-6),
        })
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
}

/// The parts of a time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelTime {
    pub launches: f64,
    /// What the family's limit demands.
    pub limit: f64,
    pub caches: f64,
    pub local: f64,
    pub instructions: f64,
}

impl ModelTime {
    /// Of a measured row whose kernels did this; none where the row lacks its limit or its launches' cost.
    pub fn of(row: &Row, tally: &Tally, rates: &DeviceRates) -> Option<ModelTime> {
        let limit = limit(row, rates)?;
        let (counts, memory) = (&tally.counts, &tally.counts.memory);
        let requests = WARP * (counts.global().requests + counts.local().requests) as f64;
        // A loop that the simulator's compiler does not unroll is not what a GPU runs: then the operations that the problem
        // demands count, and the requests.
        let is_unrolled = tally.private == 0;
        // Lanes without an item take as long as those with one.
        let all_lanes = |amount: f64| Some(amount / counts.lanes_busy(LockstepModel::USUAL.warp)?);
        let issued = WARP * counts.issued as f64;
        let instructions = match (rates.is_gpu, is_bounded_by_operations(row)) {
            (false, _) => counts.lanes as f64 / rates.adding,
            (true, true) => {
                let others = if is_unrolled { issued - all_lanes(row.ops? as f64)? } else { requests };
                all_lanes(limit)?.max(others / rates.adding)
            }
            (true, false) if is_unrolled => issued / rates.adding,
            (true, false) => (all_lanes(row.ops? as f64)? + requests) / rates.adding,
        };
        let gpu_only = |seconds: f64| if rates.is_gpu { seconds } else { 0.0 };
        let reads = &memory.global_read;
        // Counts of earlier versions have no lines.
        let read = if reads.lines > 0 { LINE * reads.lines as f64 } else { SEGMENT * reads.segments as f64 };
        let writes = &memory.global_write;
        let segments = writes.segments as f64;
        // As many as there are if each segment that is not full has one word.
        let lonely = ((SEGMENT * segments - writes.bytes as f64) / (SEGMENT - WORD)).clamp(0.0, segments);
        let (lonely, scattered) = rates.scattered.map_or((0.0, 0.0), |rate| (lonely, lonely / rate));
        let written = SEGMENT * (segments - lonely) / rates.writing + scattered;
        let is_alone = row.wg.is_some_and(|wg| (wg.size() as f64) < WARP);
        let alone =
            rates.alone.filter(|_| is_alone).map_or(0.0, |rate| WIDEST * counts.global().requests as f64 / rate);
        Some(ModelTime {
            launches: row.t_launches_s.or_else(|| Some(row.launches? as f64 * rates.launch?))?,
            limit,
            caches: gpu_only((read / rates.reading + written).max(alone)),
            local: gpu_only(PASS * counts.local().passes as f64 / rates.local),
            instructions,
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
        }
    }

    /// What compute units take.
    pub fn compute(&self) -> f64 {
        self.local + self.instructions
    }

    /// The whole time, in seconds.
    pub fn whole(&self) -> f64 {
        self.launches + self.limit.max(self.caches).max(self.compute())
    }

    /// The part that takes most of what counts.
    pub fn largest(&self) -> TimePart {
        let beside = self.whole() - self.launches;
        if self.launches >= beside {
            return TimePart::Launches;
        }
        let beside = beside * (1.0 - 1e-9);
        match (beside <= self.limit, beside <= self.caches, self.local > self.instructions) {
            (true, ..) => TimePart::Limit,
            (_, true, _) => TimePart::Caches,
            (_, _, true) => TimePart::Local,
            _ => TimePart::Instructions,
        }
    }
}

fn is_bounded_by_operations(row: &Row) -> bool {
    row.bound().is_some_and(|bound| !bound.is_memory())
}

/// Seconds that the family's limit demands: of memory's, or of a cache's where the data fit it.
fn limit(row: &Row, rates: &DeviceRates) -> Option<f64> {
    if is_bounded_by_operations(row) {
        return Some(row.ops? as f64 / (1e9 * row.ceiling_gops?));
    }
    let cached = if row.ceiling == "copy" { rates.copying } else { rates.reading };
    let rate = if row.flags.contains(flag::FITS_CACHE) { cached } else { 1e9 * row.ceiling_gbps? };
    Some(row.bytes? as f64 / rate)
}

/// Whether two factors part by more than a prediction may miss by.
pub fn is_parted(measured: f64, predicted: f64) -> bool {
    (measured / predicted).max(predicted / measured) > PARTED
}
