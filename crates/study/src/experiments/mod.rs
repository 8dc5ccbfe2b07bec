//! The experiments of `gpulab lab`: small controlled studies, each of one question and one varied parameter.
//!
//! An experiment is data, as a ladder is: a plan of trials, and claims about their points that `claims.rs` judges and words. How
//! trials are checked, timed in rounds, written and drawn is the same for all of them and no part of an experiment.

mod arithmetic;
mod claims;
mod image;
mod local;
mod memory;
mod transfers;

use claims::Claim;
use gpulab_kernels as kernels;
use gpulab_kernels::exchange::exchange;
use gpulab_model::data::{Dtype, Shape};
use gpulab_model::plan::{Case, Target, WorkGroup};
use gpulab_record::groups::distinct;
use gpulab_record::{Metric, Point};

pub const EXPERIMENTS: &[&Experiment] = &[
    &local::BANKS,
    &memory::CONSTANT,
    &arithmetic::DIVERGENCE,
    &arithmetic::GRID,
    &arithmetic::GROUP,
    &arithmetic::ILP,
    &image::IMAGE,
    &arithmetic::INSTRUCTIONS,
    &arithmetic::INTENSITY,
    &memory::LATENCY,
    &transfers::LAUNCH,
    &local::LOCKSTEP,
    &local::OCCUPANCY,
    &memory::OFFSET,
    &transfers::OVERLAP,
    &memory::PITCH,
    &arithmetic::PRESUM,
    &local::REGISTERS,
    &arithmetic::ROUNDING,
    &memory::STRIDE,
    &transfers::TRANSFER,
    &memory::VECTOR,
    &transfers::ZERO_COPY,
];

/// A small controlled study, as data.
pub struct Experiment {
    /// As on the command line: one word.
    pub name: &'static str,
    /// What it answers: one line that ends in a question mark.
    pub question: &'static str,
    // In sentences, none of which states a measured figure: those are for the finding.
    /// What it does, and what it holds fixed.
    pub idea: &'static str,
    pub expect: &'static str,
    /// Where the answer is another one, or says nothing.
    pub but: &'static str,
    pub cuda: &'static str,
    /// What is varied, as in `n`: the meaning of [`Trial::x`].
    pub x_name: &'static str,
    pub x_label: fn(f64) -> String,
    plan: fn(&Scope<'_>) -> Vec<Trial>,
    claims: &'static [Claim],
}

impl Experiment {
    /// What to measure on this device, in the order in which a table shows it. Trials that share their data come one
    /// after the other, which saves making the data again.
    pub fn plan(&self, scope: &Scope<'_>) -> Vec<Trial> {
        (self.plan)(scope)
    }

    /// The kernel files that its trials run on some device, as paths below `cl/`, each once and in the plan's order. Those of
    /// transfers alone run none.
    pub fn sources(&self) -> Vec<&'static str> {
        let targets = [true, false].map(Target::with_everything);
        let plans = targets.iter().flat_map(|target| {
            self.plan(&Scope {
                target,
                quick: false,
                seed: 1,
            })
        });
        distinct(plans.flat_map(|trial| files_of(&trial.case)))
    }

    /// The answer: what the claims come to, each an effect with its size, none beyond a stated resolution, or undecided. It
    /// follows from the points alone, never from the device's name, so that recorded points give the same answer. Any
    /// point may be missing or have no value.
    pub fn finding(&self, points: &[Point]) -> String {
        claims::finding(self, points)
    }
}

fn files_of(case: &Case) -> Vec<&'static str> {
    match exchange(&case.family) {
        Some(exchange) => exchange.sources.to_vec(),
        None => {
            let rung =
                kernels::built_in(&case.family).and_then(|family| family.rung(&case.variant));
            rung.map(|rung| &*rung.path).into_iter().collect()
        }
    }
}

/// A value of what is varied, as a number.
fn plain(x: f64) -> String {
    x.to_string()
}

fn bytes(x: f64) -> String {
    kernels::values::binary(x as u64)
}

pub struct Scope<'a> {
    pub target: &'a Target,
    /// Whether a short answer is wanted: fewer and smaller trials.
    pub quick: bool,
    pub seed: u64,
}

impl Scope<'_> {
    /// What suits the device and the question: of GPUs and of other devices, each in full and for a short answer.
    fn pick<T: Copy>(&self, gpu: [T; 2], other: [T; 2]) -> T {
        let kind = if self.target.gpu { gpu } else { other };
        kind[usize::from(self.quick)]
    }

    /// Work-items of a usual group; of a CPU device's that read memory one, which is a loop of its own.
    fn wg_of_reads(&self) -> usize {
        if self.target.gpu {
            kernels::lab::usual_wg(self.target)
        } else {
            1
        }
    }

    fn units(&self) -> u64 {
        u64::from(self.target.compute_units.max(1))
    }
}

#[derive(Clone, Debug)]
pub struct Trial {
    /// What is compared: points of one series differ in `x` only.
    pub series: String,
    pub x: f64,
    pub metric: Metric,
    /// What to run: any family's or exchange's case, which the runner checks and times.
    pub case: Case,
}

/// A rung of a family, or a variant of an exchange, over n elements in groups of `wg`.
struct Work<'a> {
    rung: (&'a str, &'a str),
    dtype: Dtype,
    n: u64,
    wg: usize,
}

impl Work<'_> {
    /// A point of a series, with these settings.
    fn trial(
        &self,
        scope: &Scope<'_>,
        series: &str,
        x: f64,
        metric: Metric,
        settings: &[(&str, u64)],
    ) -> Trial {
        let case = Case {
            wg: WorkGroup::linear(self.wg),
            params: settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.to_string()))
                .collect(),
            seed: scope.seed,
            ..Case::of(self.rung.0, self.rung.1, self.dtype, Shape::vector(self.n))
        };
        Trial {
            series: series.to_owned(),
            x,
            metric,
            case,
        }
    }
}

pub fn experiment(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().copied().find(|e| e.name == name)
}

#[cfg(test)]
mod tests;
