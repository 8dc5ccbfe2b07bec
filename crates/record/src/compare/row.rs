//! The line that files hold of a compared case.

use super::{ComparedCase, SpeedVerdict};
use crate::{SCHEMA, columns};
use gpulab_model::data::Dtype;
use gpulab_model::outcome::Cache;
use serde::{Deserialize, Serialize};

columns! {
    texts: before, after, device, family, variant, before_params, after_params, reason;
    /// A case that two files have in common; its fields are the columns of CSV files and the names in JSON.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct ComparisonRow {
        /// Version of the columns.
        pub schema: u32,
        /// The first file, or files joined by commas: the others are compared with it.
        pub before: String,
        /// The file, or files joined by commas, that is compared with `before`.
        pub after: String,
        /// Device name in `after`.
        pub device: String,
        /// The problem.
        pub family: String,
        /// Number in the ladder; none for references and CPU baselines.
        pub rung: Option<u32>,
        /// The idea, or the name of the reference or baseline.
        pub variant: String,
        /// Element type.
        pub dtype: Dtype,
        /// Elements, or columns.
        pub n: u64,
        /// Rows; 1 for vectors.
        pub m: u64,
        /// Whether runs found their data in cache.
        pub cache: Cache,
        /// Work-group size in `before`.
        pub before_wg: String,
        /// Settings in `before`.
        pub before_params: String,
        /// Runs of the program in `before`: a verdict takes six of each side.
        pub before_runs: u64,
        /// Median time in `before`; for several runs of the program, the median of their medians.
        #[unit = "s"]
        pub before_s: f64,
        /// Work-group size in `after`.
        pub after_wg: String,
        /// Settings in `after`.
        pub after_params: String,
        /// Runs of the program in `after`.
        pub after_runs: u64,
        /// Median time in `after`; for several runs of the program, the median of their medians.
        #[unit = "s"]
        pub after_s: f64,
        /// How many times as long the case takes in `after` as in `before`.
        #[unit = "1"]
        pub ratio: f64,
        /// Lower end of the ratio's 99 % interval; none for too few runs.
        #[unit = "1"]
        pub ratio_low: Option<f64>,
        /// Upper end of the ratio's 99 % interval.
        #[unit = "1"]
        pub ratio_high: Option<f64>,
        /// `SLOWER`, `FASTER`, `SAME` or `UNDECIDED`.
        pub verdict: SpeedVerdict,
        /// Why the verdict is undecided.
        pub reason: String,
        /// For a case that has too few runs to decide: how many more of each side would decide it.
        pub more_runs: Option<u64>,
    }
}

impl ComparisonRow {
    /// Of a case of the files with these names, the first of which is `before`.
    pub fn new([before, after]: [&str; 2], case: &ComparedCase<'_>) -> ComparisonRow {
        let ComparedCase { before: first, after: second, interval, .. } = case;
        ComparisonRow {
            schema: SCHEMA,
            before: before.into(),
            after: after.into(),
            device: second.device.to_string(),
            family: second.family.to_string(),
            rung: second.rung,
            variant: second.variant.to_string(),
            dtype: second.dtype,
            n: second.n,
            m: second.m,
            cache: second.cache,
            before_wg: first.wg_text(),
            before_params: first.params.to_string(),
            before_runs: case.runs[0] as u64,
            before_s: case.seconds[0],
            after_wg: second.wg_text(),
            after_params: second.params.to_string(),
            after_runs: case.runs[1] as u64,
            after_s: case.seconds[1],
            ratio: case.ratio,
            ratio_low: interval.map(|interval| interval.low),
            ratio_high: interval.map(|interval| interval.high),
            verdict: case.verdict,
            reason: case.reason(),
            more_runs: case.more_runs.map(|runs| runs as u64),
        }
    }
}
