//! Options that several commands have, each declared once.

use crate::count::{LockstepModel, MACHINES, Machine};
use crate::data::Dtype;
use crate::outcome::{Cache, Clock};
use crate::plan::WorkGroup;
use crate::values;
use clap::{Arg, Args};
use gpulab_model::Joined;
use std::path::PathBuf;

/// The machine that the simulator counts for.
pub fn machine(name: &str) -> Result<LockstepModel, String> {
    Machine::named(name)
        .map(|machine| machine.model)
        .ok_or_else(|| {
            format!(
                "it must be one of {}",
                MACHINES.iter().map(|machine| machine.name).joined(", ")
            )
        })
}

/// A family, by its place or by --kernel.
#[derive(Clone, Debug, Args)]
#[group(multiple = false)]
pub struct NamedFamily {
    /// The family
    #[arg(value_name = "FAMILY")]
    family: Option<String>,
    /// The same as FAMILY
    #[arg(long, value_name = "FAMILY")]
    kernel: Option<String>,
}

impl NamedFamily {
    /// The family, if one was named.
    pub fn name(&self) -> Option<&str> {
        self.family.as_deref().or(self.kernel.as_deref())
    }
}

/// The rungs of a family to run.
#[derive(Clone, Debug, Args)]
pub struct ChosenRungs {
    /// Rungs to run: numbers, ranges and names, as in 3, 2-5, local,wide [default: all]
    #[arg(long, value_name = "LIST")]
    pub variant: Option<String>,
    /// The file of your own kernel, as for gpulab try; runs beside the rungs of --variant, or alone
    #[arg(long, value_name = "FILE")]
    pub own: Option<PathBuf>,
}

/// What every case of a command is given.
#[derive(Clone, Debug, Args)]
pub struct Given {
    /// Seed of the random data
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>, default_value_t = 1)]
    pub seed: u64,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
}

/// One case of a family, whose other parts are its rung and its data.
#[derive(Debug, Args)]
pub struct CaseOptions {
    /// Elements, or columns of matrices [default: 2^14; transpose 128, minplus 64, experiments at most 2^12]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Rows of a matrix [default: as many as columns]
    #[arg(long, value_name = "N", value_parser = values::size)]
    pub m: Option<u64>,
    /// Element type [default: the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Work-group size, as in 256 or 32x8 [default: the rung's, or 256]
    #[arg(long, value_name = "WG", value_parser = values::work_group)]
    pub wg: Option<WorkGroup>,
    /// A tunable and its value, as in items=4; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Sampling {
    /// Sampling may end at this spread (inter-quartile range over median)
    #[arg(long, value_name = "X", value_parser = values::spread, default_value = "5%")]
    pub max_noise: f64,
    /// Use the same buffers every time, or copies that together exceed the last-level cache
    #[arg(long, value_enum, default_value_t = Cache::Warm)]
    pub cache: Cache,
    /// The clock that measures times
    #[arg(long, value_enum, default_value_t = Clock::Event)]
    pub clock: Clock,
}

#[derive(Clone, Debug, Args)]
pub struct RowFiles {
    /// Write one row per case as CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write an array of rows as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// The options of [`RowFiles`] with words for what a row is of, and for all rows.
pub fn row_files(arg: Arg, one: &str, all: &str) -> Arg {
    match arg.get_id().as_str() {
        "csv" => arg.help(format!(
            "Write one row per {one} as CSV; - is standard output"
        )),
        "json" => arg.help(format!(
            "Write an array of {all} as JSON; - is standard output"
        )),
        _ => arg,
    }
}
