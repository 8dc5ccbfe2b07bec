//! The options of commands that read recorded results.

use super::shared::{RowFiles, row_files};
use crate::data::Dtype;
use crate::values::{self, FailOn};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct Show {
    /// CSV or JSON files that gpulab wrote; or a device whose records come with gpulab, as in h200, and its families,
    /// experiments or files, as in reduce.
    /// Without arguments, gpulab lists these devices
    #[arg(value_name = "FILE|DEVICE [NAME]")]
    pub what: Vec<String>,
    /// Show bandwidths in tables as GiB/s, 2^30 bytes a second
    #[arg(long)]
    pub gib: bool,
    /// Explain below each ladder why its steps pay or not; one of the files must hold the device's ceilings
    #[arg(long)]
    pub why: bool,
    /// Only ladders and sweeps of this number of elements, or columns of matrices
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
}

#[derive(Debug, Args)]
pub struct PlotArgs {
    /// CSV or JSON files that gpulab wrote, with the device's ceilings among them for a roofline. Or a device whose
    /// records come with gpulab, as in h200, and its families, experiments or files, as in reduce
    #[arg(required = true, value_name = "FILE|DEVICE [NAME]")]
    pub files: Vec<String>,
    /// What to draw
    #[arg(long, value_enum, value_name = "KIND")]
    pub what: PictureKind,
    /// The file of the picture, FILE.svg; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: String,
    /// Draw this family or experiment, if the files hold several
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Draw this number of elements, or columns of matrices [default: the largest]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Draw this element type
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PictureKind {
    /// The rate of each rung, with its spread, against the limit
    Ladder,
    /// Ladders under the limits of memory and arithmetic
    Roofline,
    /// A map of rungs and work-groups
    Sweep,
    /// Time over the size of the problem
    Size,
    /// Lines over an experiment's varied parameter
    Experiment,
}

#[derive(Debug, Args)]
#[command(mut_args(|arg| row_files(arg, "case of each pair of files", "compared cases")))]
pub struct Compare {
    /// Files that --csv or --json wrote; the others are compared with the first. A verdict needs six runs of each side:
    /// one file of a ladder with --rounds 6, files joined by commas, as in a1.csv,a2.csv, or a folder of such files
    #[arg(required_unless_present_any = ["run", "curve"], num_args = 2.., value_name = "FILE")]
    pub files: Vec<String>,
    /// Run two commands in turn until it is known which takes less time, as in --run "./old 1000" "./new 1000"; their output is
    /// dropped. With --curve, one command against itself
    #[arg(long, value_name = "COMMAND", num_args = 1..=2)]
    #[arg(conflicts_with_all = ["files", "fail_on", "csv"])]
    pub run: Vec<String>,
    /// Measure this kernel, or the command of --run, in pairs with itself: how often differences of 1 to 30 % would be found,
    /// and in which time
    #[arg(long, value_name = "FAMILY:RUNG", num_args = 0..=1, default_missing_value = "reduce:4")]
    #[arg(conflicts_with_all = ["files", "fail_on", "csv", "json"])]
    pub curve: Option<String>,
    /// Seconds for --run (60) and --curve (20)
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    pub budget: Option<f64>,
    /// Exit with code 6 if a case is SLOWER, with slower:5 only if by at least 5 %; with undecided if a case is UNDECIDED
    /// or only in the first file. A list takes both: slower:5,undecided
    #[arg(long, value_name = "slower[:PCT]|undecided", value_parser = values::fail_on, value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,
    /// Cases that provably differ by less count as the same
    #[arg(long, value_name = "SHARE", value_parser = values::spread, default_value = "2%")]
    pub same: f64,
    #[command(flatten)]
    pub rows: RowFiles,
}
