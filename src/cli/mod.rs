//! The command line: clap types only.

pub mod environment;
pub mod examples;
mod exercise;
mod tunables;

pub use exercise::{ExerciseAction, ExerciseCheck};

use crate::count::LockstepModel;
use crate::data::Dtype;
use crate::kernels::Form;
use crate::kernels::transpose::MOST_NREPS;
use crate::plan::WorkGroup;
use crate::runner::{Budget, Cache, Candidate, Clock, Settings, Status};
use crate::sweep::Order;
use crate::tune::Strategy;
use crate::values::{self, Condition, List, Peak, SearchBudget};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use tunables::{OfDot, OfMinPlus, OfReduce, OfTranspose, Tunables};

/// A portable OpenCL optimisation laboratory: ladders of kernels, checked, timed and explained.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 110, mut_subcommands = take_negative_numbers)]
#[command(disable_help_subcommand = true, after_help = MORE_HELP)]
pub struct Cli {
    /// What to do; without it, the device that would be used and what to try.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
}

/// The names of all commands that people use, in order.
pub fn command_names() -> Vec<String> {
    let program = Cli::command();
    program.get_subcommands().filter(|c| !c.is_hide_set()).map(|c| c.get_name().to_owned()).collect()
}

/// Ends `gpulab --help`.
const MORE_HELP: &str = "Without a command: the device that would be used, and three commands to try.
`gpulab help columns` explains the columns of the tables.";

/// What --json of `gpulab try` writes.
const TRY_JSON: &str = "Write an object for grading scripts as JSON: verdict, hint, what was tried and found, where it lands, and the \
                        ladder's records";

/// Ends `gpulab try --help`.
const TRY_TRUST: &str = "A kernel runs in a process of its own, with a deadline and, on CPU devices, a memory limit; it may include files of \
                         its own folder and gpulab's. That is no sandbox: OpenCL drivers run kernels as native code with your rights. Grade \
                         kernels of strangers as another user, or in a container.";

/// Ends `gpulab ladder --help`.
const LADDER_TRUST: &str = "The keys of the file are in docs/own-family.md. A file may name a program that says what is right: it runs \
                            with your rights, as the kernels do. Read a stranger's file before you run it.";

/// Takes `-1` for an option's value, so that its own message says what is wrong with it.
fn take_negative_numbers(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| {
        let takes_values = !arg.is_positional() && arg.get_action().takes_values();
        if takes_values { arg.allow_negative_numbers(true) } else { arg }
    })
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List platforms and devices, and how to select each
    Devices {
        /// Write the list as JSON to FILE; - is standard output
        #[arg(long, value_name = "FILE")]
        json: Option<String>,
    },
    /// Look at the loader, drivers, compilers and timers: what is missing and what to install
    Doctor {
        /// Write what was found as JSON to FILE; - is standard output
        #[arg(long, value_name = "FILE")]
        json: Option<String>,
    },
    /// List families with their rungs, experiments and sources; of one family, what its rungs do and its tunables
    List {
        /// Only this family (each rung's idea, what it removes and what remains, and the tunables), this experiment, or all
        /// experiments
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// The road through one of the sources that the ladders follow, from slide to command: bornhofen, ppc, cmsoft,
        /// nvidia or maruyama
        #[arg(long, value_name = "NAME", conflicts_with = "name")]
        source: Option<String>,
        /// As Markdown tables
        #[arg(long, conflicts_with = "source")]
        md: bool,
    },
    /// Explain a ladder, a rung or an experiment: the idea, what to expect, when it does not help, what proves it, CUDA's words
    Explain {
        /// A family, as in reduce; a rung, as in reduce:3 or reduce:sequential; or an experiment, as in stride
        #[arg(value_name = "FAMILY|FAMILY:RUNG|EXPERIMENT")]
        lesson: String,
    },
    /// Print the kernel of a rung, as in reduce:3, or the kernels of an experiment
    Source(SourceArgs),
    /// Show what changed between two rungs of a ladder: what their headers say, and the lines of code
    Diff(DiffArgs),
    /// Run the reduction's ladder (sum, min, max, and, or, xor): check it, time it, compare it with the CPU
    Reduce(Box<ReduceArgs>),
    /// Run the dot product's ladder: check it, time it, compare it with the CPU
    Dot(Box<DotArgs>),
    /// Run the matrix transposition's ladder: check it, time it, compare it with copies and with the CPU
    Transpose(Box<TransposeArgs>),
    /// Run the min-plus product's ladder; with --input, write the distances in a graph
    Minplus(Box<MinPlusArgs>),
    /// Check and time your own kernel on the ladder of a family, and say where it lands and what to try next
    #[command(mut_arg("json", |arg| arg.help(TRY_JSON)), after_help = TRY_TRUST)]
    Try(Box<TryArgs>),
    /// Run a ladder of your own: a TOML file names its kernels, its data, and who says what is right
    #[command(after_help = LADDER_TRUST)]
    Ladder(Box<LadderArgs>),
    /// Learn by steps: start from a file that is right and slow, and have your own checked by what it does, not by its time
    Exercise {
        /// What to do; without it, the list.
        #[command(subcommand)]
        action: Option<ExerciseAction>,
    },
    /// Measure what the device does at best (memory, caches, local memory, arithmetic) and keep it: ladders say how far
    /// they are from it
    Ceiling(Box<CeilingArgs>),
    /// Run a small experiment, or list them: one question, one varied parameter, one answer
    Lab(Box<Lab>),
    /// Count in a simulator what a kernel does: busy lanes, memory segments, bank conflicts; by rung, launch and source line
    #[command(after_help = COUNT_HELP)]
    Count(Box<CountArgs>),
    /// Say how many groups a compute unit holds at once, and what limits them: registers, local memory or work-items
    Occupancy(Occupancy),
    /// Run every combination of rungs, work-groups, sizes, types and tunables: one CSV row each
    Sweep(Box<Sweep>),
    /// Search a family's settings for the fastest ones that pass their check, and remember them: from then on ladders use them
    Tune(Box<TuneArgs>),
    /// List, show, forget, export or import what tuning found
    Tuned {
        /// What to do; without it, the list.
        #[command(subcommand)]
        action: Option<TunedAction>,
    },
    /// Join the files of a sweep's shards into one
    Merge {
        /// The shards' files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Where the whole sweep goes; - is standard output
        #[arg(short, long, value_name = "FILE")]
        output: String,
    },
    /// Show recorded results again: tables, charts and findings, of files or of devices whose records come with gpulab
    Show(Show),
    /// Draw a picture of recorded results, for slides and pages: a ladder, a roofline, a sweep, ...
    Plot(PlotArgs),
    /// Write recorded results as a page to look at: one HTML file with pictures, reasons and the data, which needs no network; or renew the
    /// tables, texts and pictures of documents
    Report(ReportArgs),
    /// Compare recorded runs: which cases are faster, slower or the same, and how sure that is
    Compare(Compare),
    /// Measure the same kernel as two sides, in turn: the smallest difference that this machine can see now
    Noise(Box<NoiseArgs>),
    /// Record a device whole, to compare it and to send it in: its facts and limits, all ladders and experiments, in a folder
    Record(RecordArgs),
    /// Say what the columns of CSV and JSON files hold: name, type, unit and meaning
    Columns {
        /// As Markdown tables
        #[arg(long, conflicts_with = "json")]
        md: bool,
        /// As a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Explain a command, or with `columns` the columns of the tables
    Help {
        /// A command, or columns
        #[arg(value_name = "COMMAND")]
        topic: Option<String>,
        /// All commands with their options, as Markdown
        #[arg(long, conflicts_with = "topic")]
        md: bool,
    },
    /// Print a shell's completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the man pages into a folder
    Man {
        /// The folder, which must exist
        dir: PathBuf,
    },
    /// Run cases for a parent process
    #[command(hide = true)]
    Worker,
}

/// `gpulab source`.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// A rung, by its family and its number or name, as in reduce:3 or transpose:copy; or an experiment, as in stride
    #[arg(value_name = "FAMILY:RUNG|EXPERIMENT")]
    pub lesson: String,
    /// As the compiler gets it: with the fragments that it includes, below the options of the build on the device, for the
    /// ladder's usual size
    #[arg(long)]
    pub expanded: bool,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
}

/// `gpulab diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The family of both rungs
    #[arg(value_name = "FAMILY")]
    pub family: String,
    /// The rung to begin with, by number or name, as in 2 or strided
    #[arg(value_name = "FROM")]
    pub from: String,
    /// The rung to compare it with
    #[arg(value_name = "TO")]
    pub to: String,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
}

/// `gpulab occupancy`.
#[derive(Debug, Args)]
pub struct Occupancy {
    /// Take what a group needs from a build of a family's rung.
    #[command(flatten)]
    pub built: OptionalFamily,
    /// The rung to build, by number or name, as in 3 or local
    #[arg(long, value_name = "V", requires = "OptionalFamily")]
    pub variant: Option<String>,
    /// Element type of the rung to build [default: the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE", requires = "OptionalFamily")]
    pub dtype: Option<Dtype>,
    /// Registers of a work-item, 32 bits each; needed where no driver tells them
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>)]
    pub registers: Option<u64>,
    /// Local memory of a group, in bytes, as in 8192 or 48Ki
    #[arg(long, value_name = "BYTES", value_parser = values::size, default_value_t = 0, conflicts_with = "OptionalFamily")]
    pub local: u64,
    /// Work-items of a group, as in 256 or 32x8
    #[arg(long, value_name = "WG", value_parser = values::work_group, default_value = "256")]
    pub wg: WorkGroup,
    /// Of this generation in place of the device's: NVIDIA's compute capability, as 1.0 or 9.0, or AMD's target, as gfx90a,
    /// or gfx1030-wave64 for wavefronts of 64. With --kernel, the device builds, and this generation is counted for
    #[arg(long, value_name = "NAME")]
    pub generation: Option<String>,
    /// Draw how much of the compute unit is filled over registers, local memory and group size, each with the others fixed
    #[arg(long)]
    pub curves: bool,
}

/// Ends `gpulab count --help`: the model.
const COUNT_HELP: &str = "The model:
- A warp is --warp work-items of a group with successive local ids. Between two barriers, the n-th execution of one
  instruction by each of its items is one instruction of the warp. So items that part at a branch meet again as soon as
  they execute the same instruction as often; where loops stand in loops, that is the fewest instructions possible.
- Instructions are LLVM's, after Clang's optimiser; arithmetic on a vector counts once for each element.
- A load or store of global memory moves each segment that holds a byte asked for. There are no caches.
- A bank of local memory gives one word of 4 bytes in a pass, to all items that ask for it. Requests of 8 bytes an item
  go in two halves of the warp, those of 16 bytes in four quarters; reads in half as many parts where neighbours at
  distance 1, or all at distance 2, read the same.
- An instruction counts once however long a machine takes: a remainder costs as much as a sum.
The simulator, Oclgrind, runs every work-item, and all are counted: choose small sizes.";

/// `gpulab count`.
#[derive(Debug, Args)]
pub struct CountArgs {
    /// A family, of which the rungs are counted, or an experiment, of which the trials are
    #[arg(value_name = "NAME", required_unless_present_any = ["kernel", "of"], conflicts_with_all = ["kernel", "of"])]
    family: Option<String>,
    /// The same as NAME
    #[arg(long, value_name = "NAME", conflicts_with = "of")]
    kernel: Option<String>,
    /// Count the rungs of these files' ladders with the settings that they were measured with, each at two small sizes
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["variant", "n", "m", "dtype", "wg", "set", "seed"])]
    pub of: Vec<PathBuf>,
    /// Rungs to count: numbers, ranges and names, as in 3, 2-5, local,wide [default: all]
    #[arg(long, value_name = "LIST")]
    pub variant: Option<String>,
    /// Your own kernel, in a file as gpulab try takes it, beside the rungs of --variant, or alone
    #[arg(long, value_name = "FILE", conflicts_with = "of")]
    pub own: Option<PathBuf>,
    /// Elements, or columns of matrices [default: 2^14; of transpose 128, of minplus 64, of experiments 2^12 at most]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Rows of a matrix [default: as many as columns]
    #[arg(long, value_name = "N", value_parser = values::size)]
    pub m: Option<u64>,
    /// Element type [default: the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Work-items of a work-group, as in 256 or 32x8 [default: 256]
    #[arg(long, value_name = "WG", value_parser = values::work_group)]
    pub wg: Option<WorkGroup>,
    /// A tunable and its value, as in items=1024; repeatable. Rungs that do not have it run without
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The reduction's operation, as in max: the same as --set op=max
    #[arg(long, value_name = "OP", conflicts_with = "of")]
    pub op: Option<String>,
    /// Seed of the random data
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>, default_value_t = 1)]
    pub seed: u64,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
    /// Work-items of a warp
    #[arg(long, value_name = "N", value_parser = one_of::<32, 64, 64>, default_value_t = LockstepModel::USUAL.warp)]
    pub warp: u64,
    /// Bytes of a segment of global memory
    #[arg(long, value_name = "BYTES", value_parser = one_of::<32, 64, 128>, default_value_t = LockstepModel::USUAL.segment)]
    pub segment: u64,
    /// Banks of local memory, each 4 bytes wide
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024), default_value_t = LockstepModel::USUAL.banks)]
    pub banks: u64,
    /// Which line of the source costs what; files get a row for each line, too
    #[arg(long)]
    pub lines: bool,
    /// What a case may take, in seconds
    #[arg(long, value_name = "S", value_parser = values::deadline, default_value = "600")]
    pub deadline: f64,
    /// Write one row per launch as CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write an array of rows as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

impl CountArgs {
    /// What to count.
    pub fn name(&self) -> &str {
        // One of them is required.
        self.family.as_deref().or(self.kernel.as_deref()).unwrap_or_default()
    }
}

/// Reads one of three numbers.
fn one_of<const A: u64, const B: u64, const C: u64>(text: &str) -> Result<u64, String> {
    let value = text.parse().ok().filter(|value| [A, B, C].contains(value));
    value.ok_or_else(|| if B == C { format!("it must be {A} or {B}") } else { format!("it must be {A}, {B} or {C}") })
}

/// A family whose rung is built, by its place or by --kernel.
#[derive(Debug, Args)]
#[group(multiple = false, requires = "variant")]
pub struct OptionalFamily {
    /// Take what a group needs from a build of this family's --variant: registers, where the driver tells them, local
    /// memory and work-items
    #[arg(value_name = "FAMILY")]
    family: Option<String>,
    /// The same as FAMILY
    #[arg(long, value_name = "FAMILY")]
    kernel: Option<String>,
}

impl OptionalFamily {
    /// The family, if one was named.
    pub fn name(&self) -> Option<&str> {
        self.family.as_deref().or(self.kernel.as_deref())
    }
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// A row of `gpulab devices`, P:D, gpu, cpu, a driver (pocl, cuda, intel, ...), or a part of the name or vendor
    #[arg(short, long, global = true, value_name = "SEL", env = DEVICE_VARIABLE)]
    pub device: Option<String>,
    /// No progress and no notes
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more of what is done
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Replace files that outputs are to go to even if gpulab did not write them, and a sweep's rows without --resume. Without it
    /// only results of the same kind are replaced, once there are new ones; never what the command reads
    #[arg(long, global = true)]
    pub force: bool,
    /// Colour in tables
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
}

/// The environment variable that stands for --device.
pub const DEVICE_VARIABLE: &str = "GPULAB_DEVICE";

impl Global {
    /// The device that the command line names. What the environment says, and the command line at most repeats, is none.
    pub fn device_given(&self) -> Option<&str> {
        self.device.as_deref().filter(|device| std::env::var(DEVICE_VARIABLE).ok().as_deref() != Some(device))
    }
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// `gpulab dot`.
#[derive(Debug, Args)]
pub struct DotArgs {
    /// The set-up of a source, with its claim beside this device's figures; what is given besides wins
    #[arg(long = "as", value_enum, value_name = "SOURCE", conflicts_with = "input")]
    pub source: Option<Source>,
    /// Elements of each vector [default: 2^24, with --quick 2^20, or the source's]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Real data: a .npy file, a CSV column (FILE.csv:COLUMN) or raw little-endian numbers
    #[arg(long, value_name = "FILE", conflicts_with = "n")]
    pub input: Option<String>,
    /// The second vector; without it the first is multiplied with itself
    #[arg(long, value_name = "FILE", requires = "input")]
    pub input2: Option<String>,
    /// Settings of the kernels.
    #[command(flatten)]
    pub tunables: Tunables<OfDot>,
    /// Options of all ladders.
    #[command(flatten)]
    pub ladder: Ladder,
}

/// A source whose set-up can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Source {
    /// The CMSoft article "Optimization strategies": 10^6 elements, 1024 work-items, the rungs naive, coalesced and local
    /// (--items 1024 --variant 1-3 --presum device), and a CPU loop in double
    Cmsoft,
}

/// `gpulab reduce`.
#[derive(Debug, Args)]
pub struct ReduceArgs {
    /// Elements of the vector [default: 2^24, with --quick 2^20]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Real data: a .npy file, a CSV column (FILE.csv:COLUMN) or raw little-endian numbers
    #[arg(long, value_name = "FILE", conflicts_with = "n")]
    pub input: Option<String>,
    /// Settings of the kernels.
    #[command(flatten)]
    pub tunables: Tunables<OfReduce>,
    /// Options of all ladders.
    #[command(flatten)]
    pub ladder: Ladder,
}

/// `gpulab transpose`.
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
    #[arg(long = "loop", value_enum, value_name = "LIST", value_delimiter = ',', default_value = "kernel,inside")]
    pub loops: Vec<Loop>,
    /// Times that the kernel repeats its work inside
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=MOST_NREPS), default_value_t = 10)]
    pub nreps: u64,
    /// Settings of the kernels.
    #[command(flatten)]
    pub tunables: Tunables<OfTranspose>,
    /// Options of all ladders.
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

/// `gpulab minplus`.
#[derive(Debug, Args)]
pub struct MinPlusArgs {
    /// Rows and columns of the matrix [default: 1024, with --quick 256]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Settings of the kernels.
    #[command(flatten)]
    pub tunables: Tunables<OfMinPlus>,
    /// Options of all ladders.
    #[command(flatten)]
    pub ladder: Ladder,
    /// Distances in a graph.
    #[command(flatten)]
    pub graph: GraphJob,
}

/// `gpulab minplus --input`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Distances in a graph, in place of the ladder")]
#[group(conflicts_with_all = LADDER_ONLY)]
pub struct GraphJob {
    /// A CSV of edges with the line from,to,weight, or a square matrix as .npy or as CSV without names (inf or an empty
    /// cell is no edge; nodes are numbered from 0). Writes from,to,distance with at most one stop in between, for all
    /// pairs of different nodes that have a path; weights are of f32 unless --dtype or the .npy says otherwise
    #[arg(long, value_name = "FILE")]
    pub input: Option<String>,
    /// Shortest distances with any number of stops: the step is repeated until nothing changes
    #[arg(long, requires = "input")]
    pub closure: bool,
    /// Add the column next: the node after from on a shortest path to to
    #[arg(long, requires = "closure")]
    pub paths: bool,
    /// Only paths from this node; repeatable
    #[arg(long, value_name = "NAME", requires = "input", allow_hyphen_values = true)]
    pub from: Vec<String>,
    /// Only paths to this node; repeatable
    #[arg(long, value_name = "NAME", requires = "input", allow_hyphen_values = true)]
    pub to: Vec<String>,
    /// Each edge leads both ways
    #[arg(long, requires = "input")]
    pub undirected: bool,
    /// Write the distances to this file instead of standard output
    #[arg(short, long, value_name = "FILE", requires = "input")]
    pub output: Option<String>,
}

/// Options of a ladder that have no meaning for a graph. The whole group excludes them: an option whose `requires` is
/// excluded by another is taken without it.
#[rustfmt::skip]
const LADDER_ONLY: &[&str] = &[
    "n", "wg", "seed",
    "warmup", "min_runs", "max_runs", "min_time", "timeout", "max_noise", "cache", "clock", "quick", "budget",
    "in_process", "strict", "csv", "json", "md", "samples", "gib", "save", "against", "peak",
];

/// Options of all ladders.
#[derive(Clone, Debug, Args)]
pub struct Ladder {
    /// Rungs to run: numbers, ranges and names, as in 3, 2-5, local,wide [default: all]
    #[arg(long, value_name = "LIST")]
    pub variant: Option<String>,
    /// Element type [default: what the input file holds, or the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Work-items of a work-group, as in 256 or 32x8 [default: 256]
    #[arg(long, value_name = "WG", value_parser = values::work_group)]
    pub wg: Option<WorkGroup>,
    /// Seed of the random data
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>, default_value_t = 1)]
    pub seed: u64,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
    /// Leave settings that gpulab tune found aside
    #[arg(long)]
    pub no_tuned: bool,
    /// Measure all of it so often, each time in a fresh process. Files hold every round, the table a rung's median one. Six
    /// rounds tell how far runs differ, which gpulab compare and --against need for a verdict
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), default_value_t = 1)]
    pub rounds: u32,
    /// Say below the table why each step pays or does not: from counts of the kernels and the device's measured limits
    #[arg(long)]
    pub why: bool,
    /// Theoretical rate of the device, as in 4800GB/s or 60TFLOP/s, for the column "of peak"; repeatable, or as a list
    #[arg(long, value_name = "RATE", value_parser = values::peak, value_delimiter = ',')]
    pub peak: Vec<Peak>,
    /// How to measure.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
}

/// `gpulab try`.
#[derive(Debug, Args)]
pub struct TryArgs {
    /// Your kernel, in OpenCL C
    #[arg(value_name = "FILE", required_unless_present = "template", requires = "family")]
    pub file: Option<PathBuf>,
    /// The family whose problem it solves: reduce, dot, transpose or minplus
    #[arg(long = "as", value_name = "FAMILY")]
    pub family: Option<String>,
    /// Print a kernel of this family to begin with: right, slow, and its interface explained
    #[arg(long, value_name = "FAMILY", conflicts_with_all = ["file", "family"])]
    pub template: Option<String>,
    /// Elements, or columns of matrices [default: as the family's ladder]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Rows of a matrix [default: as many as columns]
    #[arg(long, value_name = "N", value_parser = values::size)]
    pub m: Option<u64>,
    /// A setting of your kernel or of the family, as in acc=4 for // gpulab: tune ACC; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Run the kernel in the simulator Oclgrind, too: races, accesses out of bounds, values that were never set
    #[arg(long)]
    pub check: bool,
    /// Try it again whenever the file, or what it includes, is saved; Ctrl-C ends it
    #[arg(long)]
    pub watch: bool,
    /// Bytes that the process that runs your kernel may take beside its driver's, as in 4Gi; of CPU devices [default: by the
    /// size]
    #[arg(long, value_name = "N", value_parser = values::size)]
    pub memory: Option<u64>,
    /// Options of all ladders.
    #[command(flatten)]
    pub ladder: Ladder,
}

/// `gpulab ladder`.
#[derive(Debug, Args)]
pub struct LadderArgs {
    /// Your family, in TOML
    #[arg(value_name = "FILE", required_unless_present = "template")]
    pub file: Option<PathBuf>,
    /// Write a family to begin with into this folder: a commented file, two kernels and a reference that work at once
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub template: Option<PathBuf>,
    /// Elements, or columns of matrices [default: as the file says]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Rows of a matrix [default: as the file says]
    #[arg(long, value_name = "N", value_parser = values::size)]
    pub m: Option<u64>,
    /// First run each rung in the simulator Oclgrind: races, accesses out of bounds, values that were never set
    #[arg(long)]
    pub check: bool,
    /// A setting that the file declares, as in items=4 for tune = { ITEMS = [1, 2, 4] }; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Options of all ladders.
    #[command(flatten)]
    pub ladder: Ladder,
}

/// `gpulab ceiling`.
#[derive(Debug, Args)]
pub struct CeilingArgs {
    /// Fewer quantities, one shape of each, in seconds: what is better is kept
    #[arg(long, conflicts_with = "show")]
    pub quick: bool,
    /// Measure nothing: print what is kept, and when it was measured; with --device of that device, else of every device
    #[arg(long)]
    pub show: bool,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
    /// What a shape may take beyond its sampling, in seconds [default: 60, and more for large data]
    #[arg(long, value_name = "S", value_parser = values::deadline)]
    pub deadline: Option<f64>,
    /// Run kernels in this process, for debuggers, profilers and simulators
    #[arg(long)]
    pub in_process: bool,
    /// Write one row per ceiling as CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write an array of ceilings as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// `gpulab lab`.
#[derive(Debug, Args)]
pub struct Lab {
    /// The experiment to run, or all; without it, the list
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Seed of the random data
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>, default_value_t = 1)]
    pub seed: u64,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
    /// Write one row per point as CSV; - is standard output
    #[arg(long, value_name = "FILE", requires = "name")]
    pub csv: Option<String>,
    /// Write an array of points as JSON; - is standard output
    #[arg(long, value_name = "FILE", requires = "name")]
    pub json: Option<String>,
    /// Draw what overlapped in one run of the fastest way as SVG (overlap)
    #[arg(long, value_name = "FILE", requires = "name")]
    pub svg: Option<String>,
    /// How to measure.
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// `gpulab show`.
#[derive(Debug, Args)]
pub struct Show {
    /// CSV or JSON files that gpulab wrote; or a device whose records come with gpulab, as in h200, and families,
    /// experiments or files of it, as in reduce. Several devices before a name share it, as in h200 pocl-epyc-2 ceilings.
    /// Without it, the list of those
    #[arg(value_name = "FILE|DEVICE [NAME]")]
    pub what: Vec<String>,
    /// Bandwidths of tables in GiB/s, 2^30 bytes a second
    #[arg(long)]
    pub gib: bool,
    /// Say below each ladder why its steps pay or do not; of files, one of them must hold the device's ceilings. With --by:
    /// how far the model is from the measured times, a line for each value of COLUMN
    #[arg(long)]
    pub why: bool,
    /// Only records whose COLUMN has one of these values, as in n=2^28 or dtype=f32,i32; repeatable. A column of `gpulab
    /// columns`, or a setting as in size=constant; of platform, device and driver a part is enough
    #[arg(long = "where", value_name = "COLUMN=VALUE,...", value_parser = values::condition)]
    pub conditions: Vec<Condition>,
    /// Only these columns, in this order: a ladder's own as in rung,time,gbs,of_limit, those of `gpulab columns`, or settings
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Put rungs side by side: a line for each value of this column, as in n, wg, dtype or device, a column for each rung;
    /// beside them other programs' figures of the same columns
    #[arg(long, value_name = "COLUMN", conflicts_with = "columns")]
    pub by: Option<String>,
    /// With --by: what the cells hold, as in gbs, gain or t_end_to_end_s [default: time]
    #[arg(long, value_name = "COLUMN", requires = "by", conflicts_with = "why")]
    pub value: Option<String>,
    /// What each experiment found, on each device, without its points
    #[arg(long, conflicts_with_all = ["columns", "by", "why"])]
    pub findings: bool,
    /// Write it as Markdown, too; - is standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    pub md: Option<String>,
}

/// `gpulab report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// CSV or JSON files that gpulab wrote, or folders of them; or a device whose records come with gpulab, as in h200, and
    /// families, experiments or files of it, as in reduce; with --splice Markdown documents
    #[arg(required = true, value_name = "FILE|DEVICE [NAME]")]
    pub files: Vec<String>,
    /// Where the page goes; - is standard output. A folder, its name ending in /, gets a page for each folder of files and
    /// index.html, which compares them [default: report.html]
    #[arg(short, long, value_name = "FILE|FOLDER/", conflicts_with = "splice")]
    pub output: Option<String>,
    /// How documents are filled.
    #[command(flatten)]
    pub splicing: SpliceArgs,
}

/// `gpulab report --splice`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Documents")]
pub struct SpliceArgs {
    /// Fill the blocks of these Markdown files. A block is a line <!-- gpulab show h200 dot --md - -->, or with another
    /// command that needs no device, and a line <!-- end -->: what stands between them is replaced by what the command
    /// prints; of gpulab plot ... -o FILE.svg by the picture, whose file is written. A figure in the text is a number
    /// behind <!--= FILE CONDITIONS : FORMULA -->, as in <!--= results/nvidia-h200/dot n=2^28 rung=2 : step_x -->3.27,
    /// and is renewed from data/FILE.csv with as many decimals as it has
    #[arg(long)]
    pub splice: bool,
    /// With --splice: write nothing, and end with 1 if a block or a figure is not what its command or its file gives now
    #[arg(long, requires = "splice")]
    pub check: bool,
}

/// `gpulab plot`.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// CSV or JSON files that gpulab wrote, with the device's ceilings among them for a roofline; or a device whose records
    /// come with gpulab, as in h200, and families, experiments or files of it, as in reduce
    #[arg(required = true, value_name = "FILE|DEVICE [NAME]")]
    pub files: Vec<String>,
    /// What to draw
    #[arg(long, value_enum, value_name = "KIND")]
    pub what: PictureKind,
    /// Where it goes: FILE.svg, or FILE.png for pixels; - is standard output, as SVG
    #[arg(short, long, value_name = "FILE")]
    pub output: String,
    /// Of this family or experiment, where the files hold several
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Of this many elements, or columns of matrices [default: the most]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Of this element type
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// On which paper: auto follows the reader's system, and is light in PNG
    #[arg(long, value_enum, default_value_t = Paper::Auto)]
    pub theme: Paper,
    /// Pixels that a PNG is wide
    #[arg(long, value_name = "PX", default_value_t = 1920)]
    pub width: u32,
}

/// A kind of picture.
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
    /// Lines over what an experiment varies
    Experiment,
    /// Copies and kernels over time, of the experiment overlap
    Timeline,
}

/// The paper of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Paper {
    /// As the reader's system asks for.
    Auto,
    /// White.
    Light,
    /// Black.
    Dark,
}

/// `gpulab noise`.
#[derive(Debug, Args)]
pub struct NoiseArgs {
    /// The family of the kernel
    #[arg(value_name = "FAMILY", default_value = "reduce")]
    pub family: String,
    /// Its rung, by number or name, as in 3 or local
    #[arg(long, value_name = "V", default_value = "4")]
    pub variant: String,
    /// Elements, or columns of matrices [default: that of the family's ladder]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Element type [default: the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Work-items of a work-group, as in 256 or 32x8 [default: 256]
    #[arg(long, value_name = "WG", value_parser = values::work_group)]
    pub wg: Option<WorkGroup>,
    /// Rounds: in each, both sides are measured once, each in a fresh process
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(6..=1000), default_value_t = 10)]
    pub rounds: u32,
    /// How to measure.
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// `gpulab record`.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The folder, which is gone on with if this command began it; without it, what would be run, and a name
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// One small size of each ladder, and fewer and shorter runs
    #[arg(long)]
    pub quick: bool,
    /// Time for the whole, as in 10m, of which each command has its share. Checks are never cut, so slow devices take longer
    /// [default: 15m, quick: 2m]
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true)]
    pub budget: Option<f64>,
}

/// `gpulab compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Files that --csv or --json wrote, the first of which the others are held against. A verdict takes six runs of each side:
    /// one file of a ladder with --rounds 6, files joined by commas as in a1.csv,a2.csv, or a folder of such files
    #[arg(required = true, num_args = 1.., value_name = "FILE")]
    pub files: Vec<String>,
    /// Say how often comparisons of these runs, all of one program, would be wrong, and which slowdowns they would find: the
    /// operating curve, from a file of a ladder with --rounds 60 or so
    #[arg(long, conflicts_with_all = ["fail_on", "csv", "json"])]
    pub curve: bool,
    /// End with exit code 6 if a case is SLOWER, or with slower:5 if one is slower by 5 % at least
    #[arg(long, value_name = "slower[:PCT]", value_parser = values::slower)]
    pub fail_on: Option<f64>,
    /// Cases that are shown to differ by less count as the same
    #[arg(long, value_name = "SHARE", value_parser = values::spread, default_value = "2%")]
    pub same: f64,
    /// Write one row per case of each pair of files as CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write an array of compared cases as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// `gpulab sweep`. Lists are as in 64,128,256; ranges as in 32..1024*2 and 1000..5000+500.
#[derive(Debug, Args)]
pub struct Sweep {
    /// What to sweep.
    #[command(flatten)]
    pub swept: FamilyName,
    /// Rungs to run: numbers, ranges and names, as in 3, 2-5, local,wide [default: all]
    #[arg(long, value_name = "LIST")]
    pub variant: Option<String>,
    /// Your own kernel, in a file as gpulab try takes it, beside the rungs of --variant, or alone
    #[arg(long, value_name = "FILE")]
    pub own: Option<PathBuf>,
    /// Elements, or columns of matrices: sizes and ranges, as in 1000,1M or 1000..5000+500 [default: 2^20; of matrices 2048, of minplus 1024]
    #[arg(short, long, value_name = "LIST", value_parser = values::sizes)]
    pub n: Option<List<u64>>,
    /// Rows of matrices: sizes and ranges [default: as many as columns]
    #[arg(long, value_name = "LIST", value_parser = values::sizes)]
    pub m: Option<List<u64>>,
    /// Work-groups: sizes and ranges, as in 64,16x16 or 32..1024*2 [default: powers of two from 32 that the device allows]
    #[arg(long, value_name = "LIST", value_parser = values::work_groups)]
    pub wg: Option<List<WorkGroup>>,
    /// Element types [default: f32, or the family's first]
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub dtype: Vec<Dtype>,
    /// A tunable and its values, as in items=1024,4096; repeatable. Rungs that do not have it run without
    #[arg(long, value_name = "NAME=LIST")]
    pub set: Vec<String>,
    /// Seed of the random data
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>, default_value_t = 1)]
    pub seed: u64,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
    /// Write the rows to this file; - is standard output
    #[arg(short, long, visible_alias = "csv", value_name = "FILE", default_value = "-")]
    pub output: String,
    /// Go on with the sweep that FILE holds: what has a row is not run again, whatever its status (but see --retry)
    #[arg(long)]
    pub resume: bool,
    /// With --resume: run what has a row of one of these statuses again
    #[arg(long, requires = "resume", value_name = "STATUS,...", value_delimiter = ',')]
    #[arg(value_parser = Status::ALL.map(Status::name))]
    pub retry: Vec<String>,
    /// Leave settings that gpulab tune found aside
    #[arg(long)]
    pub no_tuned: bool,
    /// Print the plan and its size, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Run the I-th of N parts; gpulab merge joins their files
    #[arg(long, value_name = "I/N", value_parser = values::part)]
    pub shard: Option<(u64, u64)>,
    /// Take samples in rounds over blocks of 16 configurations, so that drift favours none, or one configuration after
    /// the other
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = Order::Interleave)]
    pub order: Order,
    /// How to measure.
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// `gpulab tune`.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The family to tune
    #[arg(value_name = "FAMILY", required_unless_present_any = ["kernel", "replay"], conflicts_with = "replay")]
    pub family: Option<String>,
    /// The same as FAMILY
    #[arg(long, value_name = "FAMILY", conflicts_with_all = ["family", "replay"])]
    pub kernel: Option<String>,
    /// Rungs to tune: numbers, ranges and names, as in 3, 2-5, local,wide [default: all]
    #[arg(long, value_name = "LIST")]
    pub variant: Option<String>,
    /// Your own kernel, in a file as gpulab try takes it, beside the rungs of --variant, or alone
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub own: Option<PathBuf>,
    /// Elements, or columns of a matrix [default: as the ladder's]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Rows of a matrix [default: as many as columns]
    #[arg(long, value_name = "N", value_parser = values::size)]
    pub m: Option<u64>,
    /// Element type [default: the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Work-groups to try [default: 256, and powers of two from 32 that the device allows]
    #[arg(long, value_name = "LIST", value_parser = values::work_groups)]
    pub wg: Option<List<WorkGroup>>,
    /// A tunable and the values to try in place of its own, as in tile=8,16; repeatable
    #[arg(long, value_name = "NAME=LIST")]
    pub set: Vec<String>,
    /// What to use up: a time with its unit, as in 60s or 2m, or a number of configurations, as in 200 [default: 60s]
    #[arg(long, value_name = "TIME|N", value_parser = values::search_budget, allow_hyphen_values = true)]
    pub budget: Option<SearchBudget>,
    /// How to search
    #[arg(long, value_enum, value_name = "STRATEGY", default_value_t = Strategy::Auto)]
    pub strategy: Strategy,
    /// Seed of the random data, and of what is random in the search
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>, default_value_t = 1)]
    pub seed: u64,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
    /// Write the rows to this file, which is gone on with if it has rows of the same search; - is standard output
    #[arg(short = 'o', long, visible_alias = "output", value_name = "FILE")]
    pub csv: Option<String>,
    /// Write an array of rows as JSON at the end, the last of each configuration; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write what was measured for another tuner: its name, kernel-tuner, and a file
    #[arg(long, num_args = 2, value_names = values::FORMAT_AND_FILE)]
    pub export: Vec<String>,
    /// Run the strategies over the recorded rows of sweeps or exhaustive searches, with no device, and say how many
    /// evaluations each needs
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["variant", "n", "m", "dtype", "wg", "set", "budget", "cl_dir", "csv", "json"])]
    pub replay: Vec<PathBuf>,
    /// With --replay: write as Markdown, in one table, how many evaluations bring each strategy within 2 % of the fastest; - is
    /// standard output, in place of the text
    #[arg(long, value_name = "FILE", requires = "replay")]
    pub md: Option<String>,
    /// Print how many configurations there are, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Most time to sample a configuration for, in seconds [default: 0.2, quick: 0.05]
    #[arg(long = "sample-time", value_name = "S", value_parser = values::seconds)]
    pub sample_time: Option<f64>,
    /// Spread (inter-quartile range over median) at which sampling may end
    #[arg(long, value_name = "X", value_parser = values::spread, default_value = "5%")]
    pub max_noise: f64,
    /// The same buffers every time, or copies that together exceed the last-level cache
    #[arg(long, value_enum, default_value_t = Cache::Warm)]
    pub cache: Cache,
    /// The clock that times come from
    #[arg(long, value_enum, default_value_t = Clock::Event)]
    pub clock: Clock,
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,
    /// What a configuration may take beyond --sample-time, in seconds [default: 60, and more for large data]
    #[arg(long, value_name = "S", value_parser = values::seconds)]
    pub deadline: Option<f64>,
    /// Run kernels in this process, for debuggers, profilers and simulators
    #[arg(long)]
    pub in_process: bool,
}

impl TuneArgs {
    /// The family's name; none for a replay.
    pub fn name(&self) -> Option<&str> {
        self.family.as_deref().or(self.kernel.as_deref())
    }

    /// How a configuration is measured.
    pub fn settings(&self) -> Settings {
        let pick = |normal, quick| if self.quick { quick } else { normal };
        Settings {
            warmup: if self.quick { 1 } else { 2 },
            min_runs: if self.quick { 3 } else { 5 },
            max_runs: if self.quick { 20 } else { 200 },
            min_time: 0.0,
            timeout: self.sample_time.unwrap_or(pick(0.2, 0.05)),
            max_noise: self.max_noise,
            cache: self.cache,
            clock: self.clock,
            least_time: None,
            candidate: Some(Candidate { give_up_above: None }),
        }
    }
}

/// `gpulab tuned`. With --device only what is remembered of that device.
#[derive(Debug, Subcommand)]
pub enum TunedAction {
    /// A line for each entry
    List,
    /// All that is known of each entry, of one family or of all
    Show {
        /// Only this family
        #[arg(value_name = "FAMILY")]
        family: Option<String>,
    },
    /// Forget the entries of one family or of all
    Clear {
        /// Only this family
        #[arg(value_name = "FAMILY")]
        family: Option<String>,
    },
    /// Write all entries to a file as JSON
    Export {
        /// The file; - is standard output
        #[arg(value_name = "FILE")]
        file: String,
    },
    /// Take in what `gpulab tuned export` wrote
    Import {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// A family, by its place or by --kernel.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct FamilyName {
    /// The family to sweep
    #[arg(value_name = "FAMILY")]
    family: Option<String>,
    /// The same as FAMILY
    #[arg(long, value_name = "FAMILY")]
    kernel: Option<String>,
}

impl FamilyName {
    /// The family.
    pub fn name(&self) -> &str {
        // One of them is required.
        self.family.as_deref().or(self.kernel.as_deref()).unwrap_or_default()
    }
}

/// How to measure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measuring")]
pub struct MeasureArgs {
    /// Time for the whole run, as in 500ms, 10s or 2m, that samples are shortened to fit into, the same share for each case.
    /// Checks are never cut, and each case has a few samples [default: of a ladder 5s, quick: 2s; else none]
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["timeout", "min_time", "max_runs"])]
    pub budget: Option<f64>,
    /// Runs before the first sample
    #[arg(long, value_name = "N", value_parser = values::whole::<u32>, default_value_t = 3)]
    pub warmup: u32,
    /// Fewest samples [default: 10, quick: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub min_runs: Option<u32>,
    /// Most samples [default: 1000, quick: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_runs: Option<u32>,
    /// Least time to sample for, in seconds [default: 0.05, quick: 0]
    #[arg(long, value_name = "S", value_parser = values::seconds)]
    pub min_time: Option<f64>,
    /// Most time to sample for, in seconds [default: 0.5, quick: 0.1; a ladder's by --budget]
    #[arg(long = "sample-time", alias = "timeout", value_name = "S", value_parser = values::seconds)]
    pub timeout: Option<f64>,
    /// Spread (inter-quartile range over median) at which sampling may end
    #[arg(long, value_name = "X", value_parser = values::spread, default_value = "5%")]
    pub max_noise: f64,
    /// The same buffers every time, or copies that together exceed the last-level cache
    #[arg(long, value_enum, default_value_t = Cache::Warm)]
    pub cache: Cache,
    /// The clock that times come from
    #[arg(long, value_enum, default_value_t = Clock::Event)]
    pub clock: Clock,
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,
    /// What a case may take beyond --sample-time, in seconds [default: 60, and more for large data]
    #[arg(long, value_name = "S", value_parser = values::deadline)]
    pub deadline: Option<f64>,
    /// Run kernels in this process, for debuggers, profilers and simulators
    #[arg(long)]
    pub in_process: bool,
    /// Fail with exit code 7 if a row cannot be trusted
    #[arg(long)]
    pub strict: bool,
}

/// Where results go; - is standard output.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output (- is standard output, where the table makes room)")]
pub struct Output {
    /// Write one row per case as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write an array of records as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the table as Markdown
    #[arg(long, value_name = "FILE")]
    pub md: Option<String>,
    /// Write every single timed run as CSV
    #[arg(long, value_name = "FILE")]
    pub samples: Option<String>,
    /// Bandwidths of tables in GiB/s, 2^30 bytes a second; files keep GB/s
    #[arg(long)]
    pub gib: bool,
    /// Keep the rows under this name, for --against
    #[arg(long, value_name = "NAME", value_parser = values::name)]
    pub save: Option<String>,
    /// Say which rungs are faster, slower or the same as in the run that was kept under this name
    #[arg(long, value_name = "NAME", value_parser = values::name)]
    pub against: Option<String>,
}

impl Ladder {
    /// Elements, or columns, if nobody says how many.
    pub fn default_size(&self, form: Form) -> u64 {
        form.ladder_size(self.measure.quick)
    }

    /// What sampling is fitted into; none where the options say themselves how long it goes on.
    pub fn budget(&self) -> Option<Budget> {
        let MeasureArgs { max_runs, min_time, timeout, quick, budget, .. } = self.measure;
        let is_told = max_runs.is_some() || min_time.is_some() || timeout.is_some();
        let whole = budget.unwrap_or(if quick { 2.0 } else { 5.0 });
        (!is_told).then_some(Budget { whole })
    }
}

impl MeasureArgs {
    /// The budget that was given.
    pub fn whole_budget(&self) -> Option<Budget> {
        self.budget.map(|whole| Budget { whole })
    }

    /// The settings that these options make.
    pub fn settings(&self) -> Settings {
        let pick = |normal, quick| if self.quick { quick } else { normal };
        let min_runs = self.min_runs.unwrap_or(if self.quick { 3 } else { 10 });
        let max_runs = self.max_runs.unwrap_or(if self.quick { 20 } else { 1000 });
        Settings {
            warmup: self.warmup,
            min_runs: min_runs.min(max_runs),
            max_runs,
            min_time: self.min_time.unwrap_or(pick(0.05, 0.0)),
            timeout: self.timeout.unwrap_or(pick(0.5, 0.1)),
            max_noise: self.max_noise,
            cache: self.cache,
            clock: self.clock,
            least_time: None,
            candidate: None,
        }
    }
}
