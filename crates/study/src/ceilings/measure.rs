//! Measuring a quantity: the search over its spaces, and a longer look at the best.

use super::search::descend;
use super::{CeilingRow, ProbeSpace, Quantity, Site};
use gpulab_model::Error;
use gpulab_model::data::Shape;
use gpulab_model::outcome::{Executor, Job, Outcome, Settings, Status};
use gpulab_model::plan::{Case, Target};
use gpulab_record::Run;
use std::collections::BTreeMap;
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Settings that are varied, of those of a space the first ones.
    axes: usize,
    values: usize,
    /// Spaces that are looked at, the likeliest first, until so many gave a rate.
    spaces: usize,
    passes: usize,
    /// Seconds that a shape is timed for, and the best ones at the end.
    seconds: [f64; 2],
    /// Shapes that are measured again at the end, of memory over all of the data; none: as they were looked at is enough.
    finalists: usize,
    /// Whether it is less than what ceilings are kept of for good.
    quick: bool,
    /// Seconds that the search may take, if they are limited. The likeliest shape is tried whatever they are, and no other
    /// that is likely to end after them.
    within: Option<f64>,
}

impl Effort {
    /// For a ladder of which no ceiling is kept.
    pub const BRIEF: Effort = Effort {
        axes: 2,
        values: 5,
        spaces: usize::MAX,
        passes: 1,
        seconds: [0.02, 0.1],
        finalists: 1,
        quick: true,
        within: None,
    };

    /// For a first look: the likeliest shape of a GPU's likeliest space. CPUs differ in which that is: of theirs the likeliest
    /// shape of each.
    pub fn quick(target: &Target) -> Effort {
        let spaces = if target.gpu { 1 } else { usize::MAX };
        let seconds = [0.02, 0.02];
        Effort { axes: 0, values: 1, spaces, passes: 1, seconds, finalists: 0, quick: true, within: None }
    }

    /// For ceilings that are kept: about a minute on a GPU, some minutes on a CPU, where other work on the machine
    /// makes shapes look worse than they are.
    pub fn full(target: &Target) -> Effort {
        let (seconds, finalists) = if target.gpu { ([0.02, 0.15], 4) } else { ([0.04, 0.4], 4) };
        let all = usize::MAX;
        Effort { axes: all, values: all, spaces: all, passes: 2, seconds, finalists, quick: false, within: None }
    }

    /// The same in so many seconds, if they are limited.
    pub(super) fn within(self, seconds: Option<f64>) -> Effort {
        Effort { within: seconds, ..self }
    }
}

/// Shapes of a space whose first reaches less than this part of the best are not looked at.
const HOPELESS: f64 = 0.5;

/// Seconds after which another of the best shapes is not looked at again on a GPU: what is written is checked on the host,
/// which takes seconds.
const CONFIRM_S: f64 = 1.0;

struct Tried {
    case: Case,
    merit: f64,
    outcome: Outcome,
}

struct Hunt<'a> {
    quantity: &'a Quantity,
    executor: &'a mut dyn Executor,
    /// Those that gave a right result and a time.
    tried: Vec<Tried>,
    /// One that did not.
    refused: Option<Outcome>,
    count: usize,
    deadline: Deadline,
}

/// What attempts take, and when all of them are to be over.
struct Deadline {
    began: Instant,
    /// Seconds from the beginning.
    within: Option<f64>,
    /// Seconds that the slowest attempt with each probe took for an element of its data: they differ many times over, and a
    /// slow one says nothing of the others.
    per_element: BTreeMap<String, f64>,
    /// Whether something was left out for want of time.
    is_cut: bool,
}

impl Deadline {
    fn begin(within: Option<f64>) -> Deadline {
        Deadline { began: Instant::now(), within, per_element: BTreeMap::new(), is_cut: false }
    }

    /// Whether an attempt with a probe over so many elements is likely to end in time. If not, the search is cut. Of a probe
    /// that was not tried the slowest one tells.
    fn has_time_for(&mut self, probe: &str, elements: u64) -> bool {
        let needed = self
            .per_element
            .get(probe)
            .copied()
            .unwrap_or_else(|| self.per_element.values().copied().fold(0.0, f64::max))
            * elements as f64;
        let has_time = self.within.is_none_or(|within| self.began.elapsed().as_secs_f64() + needed <= within);
        self.is_cut |= !has_time;
        has_time
    }

    fn note(&mut self, probe: &str, elements: u64, seconds: f64) {
        let own = self.per_element.entry(probe.to_owned()).or_default();
        *own = own.max(seconds / elements.max(1) as f64);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Not even all spaces were looked at: the best may be far below what the device can do.
    Likeliest,
    /// The likeliest shape of each space, at least.
    Spaces,
    /// All that was asked for.
    Whole,
}

/// Finds the best of a quantity, and says how far the search came. `tell` hears of every shape that went wrong.
pub fn measure(
    quantity: &Quantity,
    effort: Effort,
    run: &Run,
    executor: &mut dyn Executor,
    tell: &mut dyn FnMut(&Outcome),
) -> Result<(CeilingRow, Reach), Error> {
    let info = executor.info().clone();
    let started = Instant::now();
    let deadline = Deadline::begin(effort.within);
    let mut hunt = Hunt { quantity, executor, tried: Vec::new(), refused: None, count: 0, deadline };
    let has_spaces = hunt.search(effort, tell)?;
    hunt.confirm(effort, tell)?;
    let Hunt { tried, refused, count, deadline, .. } = hunt;
    let reach = match (has_spaces, deadline.is_cut) {
        (false, _) => Reach::Likeliest,
        (true, true) => Reach::Spaces,
        (true, false) => Reach::Whole,
    };
    let best = tried.iter().max_by(|a, b| a.merit.total_cmp(&b.merit));
    let row = match (best, refused) {
        (Some(best), _) => {
            let value = fastest(&best.outcome).map(|seconds| quantity.measure.value(&best.outcome, seconds));
            Ok(CeilingRow::new(quantity, (run, &info), (&best.outcome, value, count), effort.quick))
        }
        (None, Some(outcome)) => Ok(CeilingRow::new(quantity, (run, &info), (&outcome, None, count), effort.quick)),
        (None, None) => Err(Error::Failed(format!("{}: nothing to measure", quantity.what))),
    };
    row.map(|row| (CeilingRow { t_search_s: started.elapsed().as_secs_f64(), ..row }, reach))
}

impl Hunt<'_> {
    /// Looks at the first shape of every space, then into those that are not hopeless; whether there was time for the first.
    fn search(&mut self, effort: Effort, tell: &mut dyn FnMut(&Outcome)) -> Result<bool, Error> {
        let settings = settings(effort.seconds[0], 3);
        let mut firsts = Vec::new();
        for space in &self.quantity.spaces {
            if firsts.iter().flatten().count() >= effort.spaces {
                break;
            }
            firsts.push(self.attempt(space.at(&vec![0; space.axes.len()]), &settings, tell)?);
        }
        let has_spaces = !self.deadline.is_cut;
        let best = firsts.iter().copied().flatten().fold(0.0, f64::max);
        for (space, first) in self.quantity.spaces.iter().zip(firsts) {
            if first.is_none_or(|first| first >= HOPELESS * best) {
                self.descend(space, first, effort, &settings, tell)?;
            }
        }
        Ok(has_spaces)
    }

    fn descend(
        &mut self,
        space: &ProbeSpace,
        first: Option<f64>,
        effort: Effort,
        settings: &Settings,
        tell: &mut dyn FnMut(&Outcome),
    ) -> Result<(), Error> {
        let axes = space.axes.iter().take(effort.axes).map(|axis| axis.values.len().min(effort.values));
        let pad = |place: &[usize]| [place, &vec![0; space.axes.len() - place.len()]].concat();
        let Quantity { place, element, spaces, .. } = self.quantity;
        // Whether settings depend on each other so much that a second look at each pays.
        let is_intricate = *place == Site::Unit && matches!(*element, "f32" | "i32") && spaces.len() == 1;
        let passes = if is_intricate { effort.passes } else { 1 };
        let axes = axes.collect::<Vec<_>>();
        let mut attempt = |place: &[usize]| match place.iter().all(|&value| value == 0) {
            true => Ok(first),
            false => self.attempt(space.at(&pad(place)), settings, tell),
        };
        descend(&axes, passes, &mut attempt)?;
        Ok(())
    }

    /// Measures the best shapes once more, for longer and over all of the data.
    fn confirm(&mut self, effort: Effort, tell: &mut dyn FnMut(&Outcome)) -> Result<(), Error> {
        if self.quantity.place == Site::Curve || effort.finalists == 0 {
            return Ok(());
        }
        self.tried.sort_by(|a, b| b.merit.total_cmp(&a.merit));
        let shape = self.quantity.bytes.map(|bytes| Shape::vector(bytes / 4));
        let final_case = |tried: &Tried| Case { shape: shape.unwrap_or(tried.case.shape), ..tried.case.clone() };
        let mut finalists: Vec<Case> = self.tried.iter().take(effort.finalists).map(final_case).collect();
        // What was found so far is better than what comes too late.
        if finalists.iter().any(|case| !self.deadline.has_time_for(&probe(case), case.shape.elements())) {
            return Ok(());
        }
        // Over a part of the data more may come from the caches.
        self.tried.retain(|tried| shape.is_none_or(|shape| tried.case.shape == shape));
        if effort.seconds[1] <= effort.seconds[0] {
            finalists.retain(|case| self.tried.iter().all(|tried| tried.case != *case));
        }
        if !finalists.is_empty() {
            // Why some shape was refused matters less than why the best were.
            self.refused = None;
        }
        let settings = settings(effort.seconds[1], 10);
        let started = Instant::now();
        for case in finalists {
            self.attempt(case, &settings, tell)?;
            if started.elapsed().as_secs_f64() > CONFIRM_S && self.executor.info().target.gpu {
                break;
            }
        }
        Ok(())
    }

    /// Runs a shape; what the search maximises of a right result.
    fn attempt(
        &mut self,
        case: Case,
        settings: &Settings,
        tell: &mut dyn FnMut(&Outcome),
    ) -> Result<Option<f64>, Error> {
        let elements = case.shape.elements();
        let probe = probe(&case);
        // Without a rate there is no ceiling.
        if !self.tried.is_empty() && !self.deadline.has_time_for(&probe, elements) {
            return Ok(None);
        }
        self.count += 1;
        let job = Job { baseline: false, case, settings: settings.clone(), again: false };
        let started = Instant::now();
        let outcome = self.executor.run(&job)?;
        self.deadline.note(&probe, elements, started.elapsed().as_secs_f64());
        if !matches!(outcome.status(), Status::Ok | Status::Skipped) {
            tell(&outcome);
        }
        let Some(seconds) = fastest(&outcome) else {
            self.refused.get_or_insert(outcome);
            return Ok(None);
        };
        let merit = self.quantity.measure.merit(&outcome, seconds);
        self.tried.push(Tried { case: job.case, merit, outcome });
        Ok(Some(merit))
    }
}

/// What tells the probes apart that a case may run: `read/strided`.
fn probe(case: &Case) -> String {
    format!("{}/{}", case.family, case.variant)
}

/// Seconds of the fastest run of a right result.
fn fastest(outcome: &Outcome) -> Option<f64> {
    let fastest = outcome.times().into_iter().reduce(f64::min)?;
    (outcome.status() == Status::Ok && fastest > 0.0).then_some(fastest)
}

fn settings(seconds: f64, min_runs: u32) -> Settings {
    Settings {
        warmup: 2,
        min_runs,
        max_runs: 500,
        min_time: seconds,
        timeout: 3.0 * seconds.max(0.02),
        max_noise: 0.03,
        ..Settings::default()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ceilings::bounding;
    use gpulab_kernels::Bound;
    use gpulab_model::data::Dtype;
    use gpulab_model::outcome::fake_info;
    use gpulab_model::outcome::{Clock, DeviceInfo, Judged, Measured, Sample};
    use std::time::Duration;

    #[test]
    fn an_attempt_is_made_if_the_slowest_so_far_would_end_in_time() {
        let mut deadline = Deadline::begin(Some(1000.0));
        assert!(deadline.has_time_for("slow", u64::MAX), "nothing is known yet");
        deadline.note("slow", 100, 2.0);
        deadline.note("slow", 100, 0.1);
        deadline.note("fast", 100, 0.02);
        assert!(deadline.has_time_for("slow", 40_000) && !deadline.has_time_for("slow", 60_000));
        assert!(deadline.has_time_for("fast", 4_000_000) && !deadline.has_time_for("fast", 6_000_000));
        assert!(deadline.has_time_for("new", 40_000) && !deadline.has_time_for("new", 60_000));
        deadline.within = Some(0.0);
        assert!(!deadline.has_time_for("fast", 1));
        deadline.within = None;
        assert!(deadline.has_time_for("slow", u64::MAX), "time is not limited");
    }

    /// A device that takes some milliseconds for every case, and reaches the same rate with each.
    pub(in crate::ceilings) struct Slow(pub(in crate::ceilings) DeviceInfo, pub(in crate::ceilings) Vec<u64>);

    impl Executor for Slow {
        fn info(&self) -> &DeviceInfo {
            &self.0
        }

        fn run(&mut self, job: &Job) -> Result<Outcome, Error> {
            std::thread::sleep(Duration::from_millis(5));
            self.1.push(job.case.shape.n);
            let samples = vec![Sample { event: Some(1e-3), wall: 2e-3 }; 3];
            let measured = Measured { samples, ..Measured::of(Judged::equal(), Clock::Event) };
            Ok(Outcome { bytes: 1e6, ..Outcome::pending(&job.case, Clock::Event).ended(Ok(measured)) })
        }
    }

    pub(in crate::ceilings) fn gpu() -> DeviceInfo {
        let info = fake_info();
        let target = Target { gpu: true, global_mem: 64 << 30, max_alloc: 16 << 30, ..info.target };
        DeviceInfo { target, ..info }
    }

    /// The line of a search for a GPU's read limit, how far it came, and the sizes of what was tried.
    fn searched(effort: Effort) -> (CeilingRow, Reach, Vec<u64>) {
        let info = gpu();
        let quantity = bounding(Bound::Read, Dtype::I32, false, &info.target, true).unwrap();
        let mut slow = Slow(info, Vec::new());
        let (row, reach) = measure(&quantity, effort, &Run::begin(), &mut slow, &mut |_| ()).unwrap();
        (row, reach, slow.1)
    }

    #[test]
    fn a_search_without_time_tries_the_likeliest_shape_alone() {
        let (row, reach, sizes) = searched(Effort::BRIEF.within(Some(0.0)));
        assert_eq!((row.tried, sizes.len(), row.quick, reach), (1, 1, true, Reach::Likeliest));
        assert!(row.value.is_some() && row.bytes == Some(4 * sizes[0]));
        let (row, reach, all) = searched(Effort::BRIEF);
        assert_eq!(reach, Reach::Whole);
        let (last, shapes) = all.split_last().unwrap();
        assert!(shapes.len() > 5 && shapes.iter().all(|n| n == &sizes[0]), "{all:?}");
        assert!(*last > sizes[0] && row.bytes == Some(4 * last), "the best over all of the data: {all:?}");
        let (_, reach, quick) = searched(Effort::quick(&gpu().target));
        assert_eq!((quick, reach), (sizes, Reach::Whole), "one space is enough");
    }
}
