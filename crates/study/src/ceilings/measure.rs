//! Measuring a quantity: the search over its spaces, and a longer look at the best.

use super::{CeilingRow, ProbeSpace, Quantity, Site};
use gpulab_model::data::Shape;
use gpulab_model::outcome::{Executor, Job, Outcome, Settings, Status};
use gpulab_model::plan::{Case, Target};
use gpulab_model::{Error, Result};
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
    };

    /// For a first look: the likeliest shape of a GPU's likeliest space. CPUs differ in which that is: of theirs the likeliest
    /// shape of each.
    pub fn quick(target: &Target) -> Effort {
        let spaces = if target.gpu { 1 } else { usize::MAX };
        Effort {
            axes: 0,
            values: 1,
            spaces,
            seconds: [0.02, 0.02],
            finalists: 0,
            ..Effort::BRIEF
        }
    }

    /// For ceilings that are kept: about a minute on a GPU, some minutes on a CPU, where other work on the machine
    /// makes shapes look worse than they are.
    pub fn full(target: &Target) -> Effort {
        let seconds = if target.gpu {
            [0.02, 0.15]
        } else {
            [0.04, 0.4]
        };
        let all = usize::MAX;
        Effort {
            axes: all,
            values: all,
            spaces: all,
            passes: 2,
            seconds,
            finalists: 4,
            quick: false,
        }
    }
}

/// Shapes of a space whose first reaches less than this part of the best are not looked at.
const HOPELESS: f64 = 0.5;

/// Seconds after which another of the best shapes is not looked at again on a GPU: what is written is checked on the host,
/// which takes seconds.
const CONFIRM_S: f64 = 1.0;

struct Hunt<'a> {
    quantity: &'a Quantity,
    effort: Effort,
    executor: &'a mut dyn Executor,
    /// Hears of every shape that went wrong.
    tell: &'a mut dyn FnMut(&Outcome),
    /// Those that gave a right result and a time.
    tried: Vec<Outcome>,
    /// One that did not.
    refused: Option<Outcome>,
    count: usize,
    /// When the search is to be over, if that is limited: no shape but the first begins later.
    end: Option<Instant>,
    is_cut: bool,
}

/// Finds the best of a quantity, and whether there was time for all that was asked for. `tell` hears of every shape that went
/// wrong.
pub fn measure(
    quantity: &Quantity,
    effort: Effort,
    end: Option<Instant>,
    run: &Run,
    executor: &mut dyn Executor,
    tell: &mut dyn FnMut(&Outcome),
) -> Result<(CeilingRow, bool)> {
    let info = executor.info().clone();
    let started = Instant::now();
    let tried = Vec::new();
    let mut hunt = Hunt {
        quantity,
        effort,
        executor,
        tell,
        tried,
        refused: None,
        count: 0,
        end,
        is_cut: false,
    };
    hunt.search()?;
    hunt.confirm()?;
    let Hunt {
        tried,
        refused,
        count,
        is_cut,
        ..
    } = hunt;
    let best = tried
        .iter()
        .max_by(|a, b| merit(quantity, a).total_cmp(&merit(quantity, b)));
    let value = best.and_then(|best| Some(quantity.measure.value(best, fastest(best)?)));
    let outcome = best.or(refused.as_ref());
    let outcome =
        outcome.ok_or_else(|| Error::Failed(format!("{}: nothing to measure", quantity.what)))?;
    let row = CeilingRow::new(
        quantity,
        (run, &info),
        (outcome, value, count),
        effort.quick,
    );
    Ok((
        CeilingRow {
            t_search_s: started.elapsed().as_secs_f64(),
            ..row
        },
        !is_cut,
    ))
}

impl Hunt<'_> {
    /// Looks at the first shape of every space, then into those that are not hopeless.
    fn search(&mut self) -> Result<()> {
        let settings = settings(self.effort.seconds[0], 3);
        let mut firsts: Vec<Option<f64>> = Vec::new();
        for space in &self.quantity.spaces {
            if firsts.iter().flatten().count() >= self.effort.spaces {
                break;
            }
            firsts.push(self.attempt(space.at(&vec![0; space.axes.len()]), &settings)?);
        }
        let best = firsts.iter().copied().flatten().fold(0.0, f64::max);
        for (space, first) in self.quantity.spaces.iter().zip(firsts) {
            if first.is_none_or(|first| first >= HOPELESS * best) {
                self.descend(space, first, &settings)?;
            }
        }
        Ok(())
    }

    /// One setting after the other, the best value of each kept before the next is varied, until a pass improves nothing. No
    /// place is tried twice.
    fn descend(
        &mut self,
        space: &ProbeSpace,
        first: Option<f64>,
        settings: &Settings,
    ) -> Result<()> {
        let Quantity {
            place: site,
            element,
            spaces,
            ..
        } = self.quantity;
        // Whether settings depend on each other so much that a second look at each pays.
        let is_intricate =
            *site == Site::Unit && matches!(*element, "f32" | "i32") && spaces.len() == 1;
        let mut place = vec![0; space.axes.len()];
        let mut known = BTreeMap::from([(place.clone(), first)]);
        let mut best = first;
        for _ in 0..if is_intricate { self.effort.passes } else { 1 } {
            let before = place.clone();
            for axis in 0..space.axes.len().min(self.effort.axes) {
                let mut candidate = place.clone();
                for value in 0..space.axes[axis].values.len().min(self.effort.values) {
                    candidate[axis] = value;
                    let rate = match known.get(&candidate) {
                        Some(rate) => *rate,
                        None => self.attempt(space.at(&candidate), settings)?,
                    };
                    known.insert(candidate.clone(), rate);
                    if rate.is_some_and(|rate| best.is_none_or(|best| rate > best)) {
                        (best, place) = (rate, candidate.clone());
                    }
                }
            }
            if place == before {
                break;
            }
        }
        Ok(())
    }

    /// Measures the best shapes once more, for longer and over all of the data.
    fn confirm(&mut self) -> Result<()> {
        let [brief, long] = self.effort.seconds;
        if self.quantity.place == Site::Curve || self.effort.finalists == 0 || self.is_late() {
            return Ok(());
        }
        let quantity = self.quantity;
        self.tried
            .sort_by(|a, b| merit(quantity, b).total_cmp(&merit(quantity, a)));
        let shape = self.quantity.bytes.map(|bytes| Shape::vector(bytes / 4));
        let best = self
            .tried
            .iter()
            .take(self.effort.finalists)
            .map(|tried| &tried.case);
        let mut finalists: Vec<Case> = best
            .map(|case| Case {
                shape: shape.unwrap_or(case.shape),
                ..case.clone()
            })
            .collect();
        // Over a part of the data more may come from the caches.
        self.tried
            .retain(|tried| shape.is_none_or(|shape| tried.case.shape == shape));
        if long <= brief {
            finalists.retain(|case| self.tried.iter().all(|tried| tried.case != *case));
        }
        if !finalists.is_empty() {
            // Why some shape was refused matters less than why the best were.
            self.refused = None;
        }
        let started = Instant::now();
        for case in finalists {
            self.attempt(case, &settings(long, 10))?;
            if started.elapsed().as_secs_f64() > CONFIRM_S && self.executor.info().target.gpu {
                break;
            }
        }
        Ok(())
    }

    /// Whether no time is left; then the search is cut.
    fn is_late(&mut self) -> bool {
        self.is_cut |= self.end.is_some_and(|end| Instant::now() >= end);
        self.is_cut
    }

    /// Runs a shape; what the search maximises of a right result.
    fn attempt(&mut self, case: Case, settings: &Settings) -> Result<Option<f64>> {
        // Without a rate there is no ceiling.
        if !self.tried.is_empty() && self.is_late() {
            return Ok(None);
        }
        self.count += 1;
        let job = Job::new(case, settings.clone());
        let outcome = self.executor.run(&job)?;
        if !matches!(outcome.status(), Status::Ok | Status::Skipped) {
            (self.tell)(&outcome);
        }
        if fastest(&outcome).is_none() {
            self.refused.get_or_insert(outcome);
            return Ok(None);
        }
        let merit = merit(self.quantity, &outcome);
        self.tried.push(outcome);
        Ok(Some(merit))
    }
}

/// What the search maximises; 0 of what has no time.
fn merit(quantity: &Quantity, outcome: &Outcome) -> f64 {
    fastest(outcome).map_or(0.0, |seconds| quantity.measure.merit(outcome, seconds))
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
    use gpulab_model::outcome::{Clock, DeviceInfo, Measured, Sample};
    use std::time::Duration;

    /// A device that takes some milliseconds for every case, and reaches the same rate with each.
    pub(in crate::ceilings) struct Slow(
        pub(in crate::ceilings) DeviceInfo,
        pub(in crate::ceilings) Vec<u64>,
    );

    impl Executor for Slow {
        fn info(&self) -> &DeviceInfo {
            &self.0
        }

        fn run(&mut self, job: &Job) -> Result<Outcome> {
            std::thread::sleep(Duration::from_millis(5));
            self.1.push(job.case.shape.n);
            let samples = vec![
                Sample {
                    event: Some(1e-3),
                    wall: 2e-3
                };
                3
            ];
            let measured = Measured {
                samples,
                ..Measured::equal()
            };
            Ok(Outcome {
                bytes: 1e6,
                ..Outcome::pending(&job.case, Clock::Event).ended(Ok(measured))
            })
        }
    }

    pub(in crate::ceilings) fn gpu() -> DeviceInfo {
        let info = fake_info();
        let target = Target {
            gpu: true,
            global_mem: 64 << 30,
            max_alloc: 16 << 30,
            ..info.target
        };
        DeviceInfo { target, ..info }
    }

    #[test]
    fn a_search_without_time_tries_the_likeliest_shape_alone() {
        // The line of a search for a GPU's read limit, whether it had time, and the sizes of what was tried.
        let searched = |effort: Effort, end: Option<Instant>| {
            let info = gpu();
            let quantity = bounding(Bound::Read, Dtype::I32, &info.target, true).unwrap();
            let mut slow = Slow(info, Vec::new());
            let (row, is_whole) = measure(
                &quantity,
                effort,
                end,
                &Run::begin(),
                &mut slow,
                &mut |_| (),
            )
            .unwrap();
            (row, is_whole, slow.1)
        };
        let (row, is_whole, sizes) = searched(Effort::BRIEF, Some(Instant::now()));
        assert_eq!(
            (row.tried, sizes.len(), row.quick, is_whole),
            (1, 1, true, false)
        );
        assert!(row.value.is_some() && row.bytes == Some(4 * sizes[0]));
        let (row, is_whole, all) = searched(Effort::BRIEF, None);
        let (last, shapes) = all.split_last().unwrap();
        assert!(
            is_whole && shapes.len() > 5 && shapes.iter().all(|n| n == &sizes[0]),
            "{all:?}"
        );
        assert!(
            *last > sizes[0] && row.bytes == Some(4 * last),
            "the best over all of the data: {all:?}"
        );
        let (_, is_whole, quick) = searched(Effort::quick(&gpu().target), None);
        assert_eq!((quick, is_whole), (sizes, true), "one space is enough");
    }
}
