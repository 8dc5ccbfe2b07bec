//! A portion of a case's work, which one device does while others do the rest: what is asked, and what is held for it.

use super::inputs::exactly;
use super::prelude::*;
use gpulab_model::data::{DrawnInput, Params};
use gpulab_model::each_array;
use gpulab_model::plan::WorkGroup;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::SystemTime;

/// So many elements of a vector, or rows of a result, from one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Portion {
    pub from: u64,
    pub len: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortionWork {
    /// The whole.
    pub case: Case,
    pub portion: Portion,
    /// Over data whose result is exact in any order, in place of the case's own.
    pub exact: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortionFacts {
    pub wg: WorkGroup,
    pub params: Params,
    pub launches: u64,
    pub bytes: u64,
    pub depth: u64,
}

/// Where a portion's result goes: bytes of a file, from one on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortionPlace {
    pub path: PathBuf,
    pub at: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortionRun {
    /// When it begins, by [`host_clock`].
    pub at: u64,
    /// None for the kernels alone. Else the run is from end to end: from no buffers to the result in its place.
    pub whole: Option<PortionPlace>,
}

/// When a run began and ended, by [`host_clock`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortionTimes {
    pub begin: u64,
    pub end: u64,
    /// Seconds of its kernels by the driver's events, where they are possible.
    pub event: Option<f64>,
}

/// Roundings of the host, which makes one result of those of portions.
pub(crate) const JOINING: u64 = 2;

/// Nanoseconds of the clock that all processes of this host share.
pub(crate) fn host_clock() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// The data of a case, or data whose result is exact, with their seed.
pub(crate) fn portion_fill(family: &Family, case: &Case, exact: bool) -> (Fill, u64) {
    match family.problem.fold().filter(|_| exact) {
        Some(fold) => (fold.exact_fill(case), !case.seed),
        None => (family.problem.fill(case), case.seed),
    }
}

/// What is right over the random data of a case, or over data whose result is exact; data of a fold are never held whole.
pub(crate) fn drawn_reference(family: &Family, case: &Case, exact: bool) -> Reference {
    let (fill, seed) = portion_fill(family, case, exact);
    let lens = family.problem.inputs(case.shape, &case.params);
    let right = match family.problem.fold() {
        Some(fold) => {
            let drawn = (0..).zip(lens).map(|(stream, len)| DrawnInput::new(fill, case.dtype, seed, stream, len));
            fold.streamed(case, &drawn.collect::<Vec<_>>()).0
        }
        None => {
            let inputs = lens.into_iter().enumerate();
            let inputs = inputs.map(|(index, len)| family.problem.input(case, index, len, fill, seed));
            family.problem.reference(case, &inputs.collect::<Vec<_>>())
        }
    };
    if exact { exactly(right, case.dtype) } else { right }
}

pub(super) fn part_of(array: &Array, from: usize, len: usize) -> Array {
    each_array!(array, v => v[from..][..len].to_vec().into())
}

pub(super) struct HeldPortion {
    /// Of a vector a case of the portion's own size; else the whole.
    pub(super) case: Case,
    pub(super) portion: Portion,
    pub(super) plan: Plan,
    pub(super) program: ProgramId,
    pub(super) data: Data,
    /// None before and after its data are on the device.
    pub(super) bound: Option<BoundPlan>,
}

impl HeldPortion {
    pub(super) fn is_rows(&self) -> bool {
        self.plan.rows.is_some()
    }

    /// The launches, the last of which makes this portion's rows alone.
    pub(super) fn launches(&self, bound: &BoundPlan) -> Vec<Launch> {
        let mut launches = bound.launches();
        if let (Some(rows), Some(last)) = (self.plan.rows, launches.last_mut()) {
            rows.narrow(last, self.portion.from, self.portion.len);
        }
        launches
    }

    /// The portion's rows, of which no other row was written.
    pub(super) fn rows(&self, device: &mut dyn Device, bound: &BoundPlan) -> Result<Array, Stop> {
        let Some(output) = self.plan.outputs().next() else { return Err(Stop::failed("the plan has no output")) };
        let [start, len] = [self.portion.from, self.portion.len].map(|rows| (rows * self.case.shape.n) as usize);
        Ok(bound.part(device, output, start, len)?)
    }

    pub(super) fn release(&mut self, device: &mut dyn Device) {
        if let Some(bound) = self.bound.take() {
            bound.free(device);
        }
        self.data.unload(device);
    }
}

impl PortionPlace {
    pub(super) fn put(&self, result: &Array) -> Result<(), Stop> {
        let write = || {
            let mut file = OpenOptions::new().write(true).open(&self.path)?;
            file.seek(SeekFrom::Start(self.at))?;
            file.write_all(result.as_bytes())
        };
        write().map_err(|error: std::io::Error| Stop::failed(format!("{}: {error}", self.path.display())))
    }
}
