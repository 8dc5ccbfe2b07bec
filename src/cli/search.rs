//! The options of commands that try many configurations.

use super::measuring::MeasureArgs;
use super::shared::{ChosenRungs, Given, NamedFamily, RowFiles, Sampling};
use crate::data::Dtype;
use crate::outcome::{Candidate, Settings};
use crate::plan::WorkGroup;
use crate::tune::Strategy;
use crate::values::{self, List, SearchBudget};
use clap::{Arg, Args};
use std::path::PathBuf;

/// `gpulab sweep`. Lists are as in 64,128,256; ranges as in 32..1024*2 and 1000..5000+500.
#[derive(Clone, Debug, Args)]
#[command(mut_args(sweep_arg))]
pub struct Sweep {
    #[command(flatten)]
    pub subject: NamedFamily,
    #[command(flatten)]
    pub rungs: ChosenRungs,
    /// Elements, or columns of matrices: sizes and ranges, as in 1000,1M or 1000..5000+500 [default: 2^20; matrices
    /// 2048, minplus 1024]
    #[arg(short, long, value_name = "LIST", value_parser = values::sizes)]
    pub n: Option<List<u64>>,
    /// Rows of matrices: sizes and ranges [default: as many as columns]
    #[arg(long, value_name = "LIST", value_parser = values::sizes)]
    pub m: Option<List<u64>>,
    /// Work-group sizes and ranges, as in 64,16x16 or 32..1024*2 [default: powers of two from 32 that the device
    /// allows]
    #[arg(long, value_name = "LIST", value_parser = values::work_groups)]
    pub wg: Option<List<WorkGroup>>,
    /// Element types [default: f32, or the family's first]
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub dtype: Vec<Dtype>,
    /// A tunable and its values, as in items=1024,4096; repeatable. Rungs without this tunable ignore it
    #[arg(long, value_name = "NAME=LIST")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub given: Given,
    /// Write the rows to this file; - is standard output
    #[arg(
        short,
        long,
        visible_alias = "csv",
        value_name = "FILE",
        default_value = "-"
    )]
    pub output: String,
    /// Continue the sweep in FILE: configurations with a row are not run again, whatever their status
    #[arg(long)]
    pub resume: bool,
    /// Print the plan and its size, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Run the I-th of N parts; --merge joins their files
    #[arg(long, value_name = "I/N", value_parser = values::part)]
    pub shard: Option<(u64, u64)>,
    /// Join the files of a sweep's shards into the file of --output, and run nothing
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["family", "kernel", "resume", "shard"])]
    pub merge: Vec<PathBuf>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

fn sweep_arg(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "family" => arg
            .help("The family to sweep")
            .required_unless_present_any(["kernel", "merge"]),
        _ => arg,
    }
}

#[derive(Clone, Debug, Args)]
#[command(mut_args(tune_arg))]
pub struct TuneArgs {
    #[command(flatten)]
    pub subject: NamedFamily,
    #[command(flatten)]
    pub rungs: ChosenRungs,
    /// Elements, or columns of a matrix [default: the ladder's size]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Rows of a matrix [default: as many as columns]
    #[arg(long, value_name = "N", value_parser = values::size)]
    pub m: Option<u64>,
    /// Element type [default: the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Work-group sizes to try [default: 256, and powers of two from 32 that the device allows]
    #[arg(long, value_name = "LIST", value_parser = values::work_groups)]
    pub wg: Option<List<WorkGroup>>,
    /// A tunable and the values to try in place of its own, as in tile=8,16; repeatable
    #[arg(long, value_name = "NAME=LIST")]
    pub set: Vec<String>,
    /// Search budget: a time with its unit, as in 60s or 2m, or a number of configurations, as in 200 [default: 60s]
    #[arg(long, value_name = "TIME|N", value_parser = values::search_budget, allow_hyphen_values = true)]
    pub budget: Option<SearchBudget>,
    /// How to search
    #[arg(long, value_enum, value_name = "STRATEGY", default_value_t = Strategy::Auto)]
    pub strategy: Strategy,
    #[command(flatten)]
    pub given: Given,
    #[command(flatten)]
    pub rows: RowFiles,
    /// List what is remembered: of this family or of all, of --device or of every device
    #[arg(long)]
    pub list: bool,
    /// Forget what is remembered of this family or of all
    #[arg(long, conflicts_with = "list")]
    pub forget: bool,
    /// Longest sampling time of a configuration, in seconds [default: 0.2, quick: 0.05]
    #[arg(long = "sample-time", value_name = "S", value_parser = values::seconds)]
    pub sample_time: Option<f64>,
    #[command(flatten)]
    pub sampling: Sampling,
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,
    /// Time limit of a configuration beyond --sample-time, in seconds [default: 60, more for large data]
    #[arg(long, value_name = "S", value_parser = values::seconds)]
    pub deadline: Option<f64>,
    /// Run kernels in this process, for debuggers, profilers and simulators
    #[arg(long)]
    pub in_process: bool,
}

/// Shared options, in the words of `gpulab tune`.
fn tune_arg(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "family" => {
            let others = ["kernel", "list", "forget"];
            arg.help("The family to tune").required_unless_present_any(others)
        }
        "seed" => arg.help("Seed of the random data and of the random search"),
        "csv" => arg
            .short('o')
            .visible_alias("output")
            .help("Write the rows to this file; - is standard output"),
        "json" => arg.help("Write the last row of each configuration as a JSON array at the end; - is standard output"),
        _ => arg,
    }
}

impl TuneArgs {
    /// How a configuration is measured.
    pub fn settings(&self) -> Settings {
        Settings {
            warmup: if self.quick { 1 } else { 2 },
            min_runs: if self.quick { 3 } else { 5 },
            max_runs: if self.quick { 20 } else { 200 },
            min_time: 0.0,
            timeout: self
                .sample_time
                .unwrap_or(if self.quick { 0.05 } else { 0.2 }),
            max_noise: self.sampling.max_noise,
            cache: self.sampling.cache,
            clock: self.sampling.clock,
            least_time: None,
            candidate: Some(Candidate {
                give_up_above: None,
                is_preliminary: false,
            }),
        }
    }
}
