//! How far the time of a case is known, and the ratio of two such times.

use super::CaseRun;
use gpulab_model::stats;

/// The 0.995 quantiles of Student's distribution with 2, 3, ... degrees of freedom: intervals hold the true ratio in 99 of 100
/// cases. The last stands for more.
const T: [f64; 9] = [9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169];

/// Standard deviations of half an interval where the spread between runs is not known: the 0.9995 quantile of the normal
/// distribution, as the spread within a run may be less than that, and is itself known from few samples.
const WITHIN: f64 = 3.291;

/// The inter-quartile range of a normal distribution, in standard deviations.
const IQR_OF_SD: f64 = 1.349;

/// The standard error of a median of n values, in those of a mean.
const MEDIAN_OF_MEAN: f64 = 1.253;

/// Least standard deviation between two runs of the program, as a share of the time: clocks have steps, and two processes never
/// find memory and clocks quite alike.
const LEAST_SD: f64 = 0.002;

/// Runs that say themselves how far they can be repeated.
const SEVERAL: usize = 3;

/// What is known about the time of a rung, for the gain over another rung of the same runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeEstimate {
    /// Median time in seconds; of several runs of the program the median of theirs.
    pub seconds: f64,
    /// Half-width of its 99 % interval, of the time's logarithm.
    half: f64,
}

impl TimeEstimate {
    /// Of a case's rows, one for each run of the program: of three and more, from how their medians differ (Kalibera and
    /// Jones, "Rigorous benchmarking in reasonable time", ISMM 2013: the highest level of repetition says how far a figure can
    /// be repeated); of fewer, with the spread within a run in place of the spread between runs, beside the standard error of
    /// the median (McGill, Tukey and Larsen, "Variations of box plots", The American Statistician 32(1), 1978). None without
    /// times.
    pub fn of(rows: &[&CaseRun]) -> Option<TimeEstimate> {
        let medians: Vec<f64> = rows.iter().map(|row| row.t_median_s.filter(|t| *t > 0.0)).collect::<Option<_>>()?;
        let seconds = stats::summarise(&medians)?.median;
        let count = medians.len();
        if count >= SEVERAL {
            return Some(TimeEstimate { seconds, half: half_of_runs(run_spread(rows)?, count) });
        }
        let widest = rows.iter().filter_map(|row| within(row)).fold(LEAST_SD, f64::max);
        let runs = rows.iter().map(|row| row.runs).min().unwrap_or(0).max(1) as f64;
        let of_median = MEDIAN_OF_MEAN * widest / runs.sqrt();
        Some(TimeEstimate { seconds, half: WITHIN * widest.hypot(of_median) / (count as f64).sqrt() })
    }
}

/// The standard deviation between the medians of several runs, as a share of the time.
fn run_spread(rows: &[&CaseRun]) -> Option<f64> {
    let logs: Vec<f64> = rows.iter().map(|row| row.t_median_s.map(f64::ln)).collect::<Option<_>>()?;
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let variance = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (logs.len() - 1) as f64;
    Some(variance.sqrt().max(LEAST_SD))
}

/// Half the interval of the median of so many runs, three at least, with this standard deviation.
fn half_of_runs(sd: f64, count: usize) -> f64 {
    T[(count - SEVERAL).min(T.len() - 1)] * MEDIAN_OF_MEAN * sd / (count as f64).sqrt()
}

/// The standard deviation of a row's times over their median, by the quartiles.
fn within(row: &CaseRun) -> Option<f64> {
    Some(row.spread? / IQR_OF_SD).filter(|sd| sd.is_finite())
}

/// How many times slower one side is than the other, and the interval that holds it; `ranks.rs` makes it from runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioInterval {
    /// Time of the second over time of the first.
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
}

impl RatioInterval {
    pub fn new(before: TimeEstimate, after: TimeEstimate) -> RatioInterval {
        let ratio = after.seconds / before.seconds;
        let factor = before.half.hypot(after.half).exp();
        RatioInterval { ratio, low: ratio / factor, high: ratio * factor }
    }

    /// The interval where the device may have been so many times slower while either side was timed.
    pub(super) fn beside_drift(self, drift: f64) -> RatioInterval {
        RatioInterval { low: self.low / drift, high: self.high * drift, ..self }
    }
}
