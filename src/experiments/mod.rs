//! The experiments of `gpulab lab`: small controlled studies, each of one question and one varied parameter.
//!
//! An experiment is data, as a ladder is: a plan of trials, and a sentence that follows from their points. How trials
//! are checked, timed in rounds, written and drawn is the same for all of them and no part of an experiment.

pub mod banks;
pub mod camping;
mod chains;
pub mod constant;
pub mod divergence;
mod evidence;
pub mod grid;
pub mod ilp;
pub mod image;
mod image_sampler;
pub mod instructions;
pub mod launch;
pub mod occupancy;
pub mod offset;
pub mod overlap;
mod own;
pub mod pitch;
pub mod presum;
pub mod rounding;
pub mod stride;
pub mod transfer;
pub mod vector;
mod walk;
pub mod zerocopy;

use crate::kernels::Family;
use crate::plan::{Case, Target};
use crate::record::{Metric, Point};

/// What the registry's kernels need of chains, until they are there.
pub(crate) mod chained {
    use super::chains;
    use crate::kernels::{Family, Tunable};

    pub(crate) const FAMILY: Family = chains::FAMILY;
    pub(crate) const CHAINS: Tunable = chains::CHAINS;
}

/// Every experiment, by name.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &banks::Banks,
    &camping::Camping,
    &constant::Constant,
    &divergence::Divergence,
    &grid::Grid,
    &ilp::Ilp,
    &image::Image,
    &instructions::Instructions,
    &launch::Launch,
    &occupancy::Occupancy,
    &offset::Offset,
    &overlap::Overlap,
    &pitch::Pitch,
    &presum::Presum,
    &rounding::Rounding,
    &stride::Stride,
    &transfer::Transfer,
    &vector::Vector,
    &zerocopy::ZeroCopy,
];

/// A small controlled study.
pub trait Experiment: Sync {
    /// As on the command line: one word.
    fn name(&self) -> &'static str;

    /// What it answers: one line that ends in a question mark.
    fn question(&self) -> &'static str;

    /// What is varied, as in `n`: the meaning of [`Trial::x`].
    fn x_name(&self) -> &'static str;

    /// How reports name a value of what is varied.
    fn x_label(&self, x: f64) -> String {
        x.to_string()
    }

    /// Families of kernels that are this experiment's own; `gpulab list` does not show them.
    fn families(&self) -> &'static [&'static Family] {
        &[]
    }

    /// What to measure on this device, in the order in which a table shows it. Trials that share their data come one
    /// after the other, which saves making the data again.
    fn plan(&self, scope: &Scope<'_>) -> Vec<Trial>;

    /// Whether its trials tell when each command began and ended, so that what overlapped can be drawn.
    fn has_timeline(&self) -> bool {
        false
    }

    /// The answer, in at most three sentences. It follows from the points alone, never from the device's name, so
    /// that recorded points give the same answer. Any point may be missing or have no value.
    fn finding(&self, points: &[Point]) -> String;
}

/// What an experiment may adapt its plan to.
pub struct Scope<'a> {
    /// The device's shape and limits.
    pub target: &'a Target,
    /// Whether a short answer is wanted: fewer and smaller trials.
    pub quick: bool,
    /// Seed of the random data.
    pub seed: u64,
}

/// One point to measure.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What is compared: points of one series differ in `x` only.
    pub series: String,
    /// The varied parameter's value.
    pub x: f64,
    /// What the point's value is.
    pub metric: Metric,
    /// What to run: any family's or exchange's case, which the runner checks and times.
    pub case: Case,
}

/// The experiment of this name.
pub fn experiment(name: &str) -> Option<&'static dyn Experiment> {
    EXPERIMENTS.iter().copied().find(|e| e.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::fake::fake_info;
    use crate::exchange::exchange;
    use crate::kernels;

    fn targets() -> [Target; 2] {
        let target = fake_info().target;
        [Target { gpu: true, ..target.clone() }, target]
    }

    #[test]
    fn names_are_single_words_in_order_and_questions_are_questions() {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name()).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        for experiment in EXPERIMENTS {
            let name = experiment.name();
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && name != "all", "{name}");
            assert!(experiment.question().ends_with('?') && !experiment.question().contains('\n'), "{name}");
            assert!(!experiment.x_name().is_empty(), "{name}");
        }
    }

    #[test]
    fn plans_have_each_point_once_and_run_what_there_is() {
        for experiment in EXPERIMENTS {
            for (target, quick) in targets().iter().flat_map(|t| [(t, false), (t, true)]) {
                let plan = experiment.plan(&Scope { target, quick, seed: 7 });
                assert!(!plan.is_empty(), "{}", experiment.name());
                for (i, trial) in plan.iter().enumerate() {
                    let place = |t: &Trial| (t.series.clone(), t.x.to_bits());
                    assert!(plan[..i].iter().all(|t| place(t) != place(trial)), "{}: {trial:?}", experiment.name());
                    let Case { family, variant, .. } = &trial.case;
                    let is_exchange = exchange(family).is_some_and(|e| e.variant(variant).is_some());
                    let is_kernel = kernels::family(family).is_some_and(|f| f.rung(variant).is_some());
                    assert!(is_exchange || is_kernel, "{}: {trial:?}", experiment.name());
                    assert_eq!(trial.case.seed, 7);
                }
            }
        }
    }

    #[test]
    fn findings_are_sentences_even_of_nothing() {
        for experiment in EXPERIMENTS {
            let finding = experiment.finding(&[]);
            assert!(finding.ends_with('.') && !finding.contains('\n'), "{}: {finding}", experiment.name());
        }
    }
}
