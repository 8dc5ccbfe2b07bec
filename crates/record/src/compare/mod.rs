//! What two sides of the same cases differ in: rows matched by case, and verdicts from how far runs differ; and what each step
//! of a ladder brought on several devices.

mod curve;
mod interval;
mod matching;
mod noise;
mod ranks;
mod row;
mod run;
mod steps;
mod verdict;

#[cfg(test)]
mod tests;

pub use curve::{CurvePoint, SIDES, SLOWDOWNS, curve};
pub use interval::{RatioInterval, TimeEstimate};
pub use matching::{CaseRuns, ComparedCase, FileComparison, compare, timed};
pub use noise::Noise;
pub use ranks::{FEWEST, MISSES, Turns, found_from};
pub use row::ComparisonRow;
pub use run::{CaseRun, SharedTexts, runs};
pub use steps::{LadderDevice, LadderSteps, steps};
pub use verdict::SpeedVerdict;
