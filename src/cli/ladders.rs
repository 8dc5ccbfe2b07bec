//! The options of the ladders' commands.

use super::device::HostProgram;
use super::measuring::{MeasureArgs, Output};
use super::shared::Given;
use super::tunables::{OfDot, OfMinPlus, OfReduce, OfTranspose, Tunables};
use crate::data::Dtype;
use crate::kernels::Form;
use crate::kernels::transpose::MOST_NREPS;
use crate::plan::WorkGroup;
use crate::values::{self, Peak};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

#[derive(Clone, Debug, Args)]
pub struct Ladder {
    /// Rungs to run: numbers, ranges and names, as in 3, 2-5, local,wide [default: all]
    #[arg(long, value_name = "LIST")]
    pub variant: Option<String>,
    /// Element type [default: what the input file holds, or the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Work-group size, as in 256 or 32x8 [default: 256]
    #[arg(long, value_name = "WG", value_parser = values::work_group)]
    pub wg: Option<WorkGroup>,
    #[command(flatten)]
    pub given: Given,
    /// Ignore tuned settings
    #[arg(long)]
    pub no_tuned: bool,
    /// Measure everything N times, each time in a fresh process. Files hold every round; the table shows each rung's
    /// median round. Six rounds show how far runs differ; gpulab compare needs them for a verdict
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), default_value_t = 1)]
    pub rounds: u32,
    /// Explain below the table why each step pays or not, from kernel counts and the device's measured limits
    #[arg(long)]
    pub why: bool,
    /// Times on a GPU that gpulab has records of, measured there or by the model [default: h200 beside a CPU device]
    #[arg(long, value_name = "GPU")]
    pub on: Option<String>,
    /// Theoretical rate of the device, as in 4800GB/s or 60TFLOP/s, for the column "of peak"; repeatable, or as a list
    #[arg(long, value_name = "RATE", value_parser = values::peak, value_delimiter = ',')]
    pub peak: Vec<Peak>,
    #[command(flatten)]
    pub measure: MeasureArgs,
    #[command(flatten)]
    pub output: Output,
}

impl Ladder {
    /// The options that these words give, and the defaults of all others.
    pub fn of<'a>(words: impl Iterator<Item = &'a str>) -> Result<Ladder, String> {
        let command = Ladder::augment_args(clap::Command::new("ladder").no_binary_name(true));
        let matches = command
            .try_get_matches_from(words)
            .map_err(|e| e.to_string())?;
        clap::FromArgMatches::from_arg_matches(&matches).map_err(|e| e.to_string())
    }

    /// Elements, or columns, by default.
    pub fn default_size(&self, form: Form) -> u64 {
        form.ladder_size(self.measure.quick)
    }

    /// What sampling is fitted into; none where the options say themselves how long it goes on.
    pub fn budget(&self) -> Option<f64> {
        let MeasureArgs {
            max_runs,
            min_time,
            timeout,
            quick,
            budget,
            ..
        } = self.measure;
        let is_told = max_runs.is_some() || min_time.is_some() || timeout.is_some();
        let whole = budget.unwrap_or(if quick { 2.0 } else { 5.0 });
        (!is_told).then_some(whole)
    }
}

#[derive(Debug, Args)]
pub struct DotArgs {
    /// The set-up of a source, with its claim beside this device's figures; options given explicitly win
    #[arg(long = "as", value_name = "SOURCE", conflicts_with = "input", value_parser = [PossibleValue::new("cmsoft").help(CMSOFT)])]
    pub source: Option<String>,
    /// Elements of each vector [default: 2^24, with --quick 2^20, or the source's]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Real data: a .npy file or raw little-endian numbers
    #[arg(long, value_name = "FILE", conflicts_with = "n")]
    pub input: Option<String>,
    /// The second vector; without it, the first is multiplied by itself
    #[arg(long, value_name = "FILE", requires = "input")]
    pub input2: Option<String>,
    #[command(flatten)]
    pub tunables: Tunables<OfDot>,
    #[command(flatten)]
    pub ladder: Ladder,
}

/// The source whose set-up can be repeated.
const CMSOFT: &str = "The CMSoft article \"Optimization strategies\": 10^6 elements, 1024 work-items, the rungs naive, coalesced \
                      and local (--items 1024 --variant 1-3 --presum device), and a CPU loop in double";

#[derive(Debug, Args)]
pub struct ReduceArgs {
    /// Elements of the vector [default: 2^24, with --quick 2^20]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Real data: a .npy file or raw little-endian numbers
    #[arg(long, value_name = "FILE", conflicts_with = "n")]
    pub input: Option<String>,
    #[command(flatten)]
    pub tunables: Tunables<OfReduce>,
    #[command(flatten)]
    pub ladder: Ladder,
}

#[derive(Debug, Args)]
pub struct TransposeArgs {
    /// Rows and columns of a square matrix [default: 2048, with --quick 1024]
    #[arg(short, long, value_name = "N", value_parser = values::size, conflicts_with_all = ["width", "height"])]
    pub n: Option<u64>,
    /// Columns of the matrix
    #[arg(long, value_name = "W", value_parser = values::size, requires = "height")]
    pub width: Option<u64>,
    /// Rows of the matrix
    #[arg(long, value_name = "H", value_parser = values::size, requires = "width")]
    pub height: Option<u64>,
    /// What to time: one launch after the other, or a launch that repeats its work inside the kernel
    #[arg(
        long = "loop",
        value_enum,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "kernel,inside"
    )]
    pub loops: Vec<Loop>,
    /// Repetitions of the work inside the kernel
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=MOST_NREPS), default_value_t = 10)]
    pub nreps: u64,
    #[command(flatten)]
    pub tunables: Tunables<OfTranspose>,
    #[command(flatten)]
    pub ladder: Ladder,
}

/// Where the loop of a timing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Loop {
    /// Over launches of the kernel.
    Kernel,
    /// Inside the kernel.
    Inside,
}

#[derive(Debug, Args)]
pub struct MinPlusArgs {
    /// Rows and columns of the matrix [default: 1024, with --quick 256]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    #[command(flatten)]
    pub tunables: Tunables<OfMinPlus>,
    #[command(flatten)]
    pub ladder: Ladder,
    #[command(flatten)]
    pub graph: GraphJob,
}

/// `gpulab minplus --input`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Distances in a graph, in place of the ladder")]
#[group(conflicts_with_all = LADDER_ONLY)]
pub struct GraphJob {
    /// A graph. Edges may be a list (CSV with the header from,to,weight, or text with two or three columns) or
    /// Matrix Market .mtx, or a square matrix .npy, where inf is no edge and nodes are numbered from 0. Writes
    /// from,to,distance for all pairs of different nodes that have a path with at most one stop. Weights are f32 unless
    /// --dtype or NumPy's file says otherwise
    #[arg(long, value_name = "FILE")]
    pub input: Option<String>,
    /// Shortest distances with any number of stops, by Floyd and Warshall's algorithm; --variant chooses squaring,
    /// textbook, blocked or blocked_wide
    #[arg(long, requires = "input")]
    pub closure: bool,
    /// Add the column `next`: the node after `from` on a shortest path to `to`
    #[arg(long, requires = "closure")]
    pub paths: bool,
    /// Only paths from this node, or from several, separated by commas; repeatable
    #[arg(
        long,
        value_name = "NAME",
        requires = "input",
        allow_hyphen_values = true
    )]
    pub from: Vec<String>,
    /// Only paths to this node, or to several, separated by commas; repeatable
    #[arg(
        long,
        value_name = "NAME",
        requires = "input",
        allow_hyphen_values = true
    )]
    pub to: Vec<String>,
    /// Each edge leads both ways
    #[arg(long, requires = "input")]
    pub undirected: bool,
    /// In a matrix 0 is no edge, but on the diagonal
    #[arg(long, requires = "input")]
    pub zero_is_none: bool,
    /// Write the distances to this file instead of standard output; to a .npy as a matrix, its rows and columns in the order in
    /// which nodes first appear
    #[arg(short, long, value_name = "FILE", requires = "input")]
    pub output: Option<String>,
}

/// Options of a ladder that have no meaning for a graph. The whole group excludes them: an option whose `requires` is
/// excluded by another is taken without it.
#[rustfmt::skip]
const LADDER_ONLY: &[&str] = &[
    "n", "wg", "seed",
    "warmup", "min_runs", "max_runs", "min_time", "timeout", "max_noise", "cache", "clock", "quick", "budget",
    "in_process", "strict", "csv", "json", "md", "samples", "gib", "peak",
];

#[derive(Debug, Args)]
pub struct TryArgs {
    /// Your kernel in OpenCL C, FILE.cl or FILE.cl:KERNEL; your family, FILE.toml; or an exercise, as in exercise:banks
    #[arg(value_name = "FILE", required_unless_present_any = ["template", "source", "program"], conflicts_with = "program")]
    pub file: Option<String>,
    /// The family whose problem your kernel solves: reduce, dot, transpose or minplus
    #[arg(long = "as", value_name = "FAMILY", requires = "file")]
    pub family: Option<String>,
    /// The kernel's arguments in order, if gpulab should not guess them: "out, in, n, 2.5, local WG"
    #[arg(long, value_name = "LIST", requires = "family")]
    pub args: Option<String>,
    /// Declare what the file does not, as in "multiple 16", "elements 4", "define BLOCK_SIZE WG_X"; repeatable
    #[arg(long, value_name = "DECLARATION", requires = "family")]
    pub declare: Vec<String>,
    /// Print a starting kernel of this family; or write a starting family of your own into this folder
    #[arg(long, value_name = "FAMILY|DIR", conflicts_with_all = ["file", "family"])]
    pub template: Option<String>,
    /// Run a source's kernels as printed, at its sizes; show its times beside this device's
    #[arg(long, value_enum, value_name = "SOURCE", conflicts_with_all = ["file", "template"])]
    pub source: Option<PrintedSource>,
    /// Run the source's kernels on inputs where they fail, beside corrected ones; shows what the simulator finds
    #[arg(long, requires = "source")]
    pub faults: bool,
    /// A macro that the host of a kernel without --as defines; repeatable
    #[arg(
        short = 'D',
        long,
        value_name = "NAME=VALUE",
        conflicts_with = "family"
    )]
    pub define: Vec<String>,
    /// Print the beginnings of a family's file for the kernel; nothing runs
    #[arg(long, requires = "file")]
    pub draft: bool,
    /// Elements, or columns of matrices [default: the size of the family's ladder, or the file's]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Rows of a matrix [default: as many as columns, or from the file]
    #[arg(long, value_name = "N", value_parser = values::size)]
    pub m: Option<u64>,
    /// A setting of your kernel or of the family, as in acc=4 for // gpulab: tune ACC; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Also run kernels in the simulator Oclgrind: finds races, accesses out of bounds, values never set. A kernel without --as
    /// is always run there; what is right for it may stand here, as in --check="numpy: y = a * x"
    #[arg(long, value_name = "RIGHT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub check: Option<String>,
    /// Repeat whenever the file, or a file it includes, is saved; Ctrl-C ends it
    #[arg(long)]
    pub watch: bool,
    /// An older kernel with the same arguments, OLD.cl or OLD.cl:KERNEL, which says what is right: say whether FILE is faster. Exit
    /// code 0 (FASTER, SAME), 4 (INCORRECT), 5 (NOT BUILT), 6 (SLOWER) or 8 (UNDECIDED)
    #[arg(
        long,
        value_name = "OLD.cl",
        requires = "file",
        conflicts_with = "family"
    )]
    pub against: Option<String>,
    #[command(flatten)]
    pub host: HostProgram,
    #[command(flatten)]
    pub ladder: Ladder,
}

/// A source whose kernels can be run as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PrintedSource {
    /// Bornhofen's slides: solutions 1 to 6 of the reduction, the last being the final kernel
    Bornhofen,
    /// PPC, chapter 4: versions 0 to 3 of the step to shorter paths
    Ppc,
    /// The CMSoft article: its three dot products
    Cmsoft,
    /// NVIDIA's "Optimizing CUDA": the study of the transposition, timed over launches and with the loop in the kernel
    Nvidia,
    /// Maruyama's lecture: seven kernels of the reduction
    Maruyama,
}

/// Ends `gpulab try --help`.
pub const TRY_TRUST: &str = "A kernel runs in its own process with a deadline and, on CPU devices, a memory limit; it may \
                         include files of its own folder and gpulab's. A family's file may name a reference program. This is \
                         not a sandbox: OpenCL drivers run kernels as native code with your rights, and so run programs. Try \
                         strangers' files as another user or in a container. docs/own-kernel.md explains the keys of a \
                         family's file; --json of a kernel is an object for grading scripts.";
