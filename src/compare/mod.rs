//! What two runs of the same cases differ in: rows matched by case, and verdicts from intervals; and what each step of a
//! ladder brought on several devices.

mod interval;
mod matching;
mod noise;
mod row;
mod steps;
mod verdict;

#[cfg(test)]
mod tests;

pub use interval::{RatioInterval, TimeEstimate};
pub use matching::{ComparedCase, FileComparison, WhyNot, compare};
pub use noise::Noise;
pub use row::ComparisonRow;
pub use steps::{LadderDevice, LadderSteps, steps};
pub use verdict::SpeedVerdict;
