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
use crate::outcome::{Cache, Candidate, Clock, Settings, Status};
use crate::plan::WorkGroup;
use crate::runner::Budget;
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
    /// The command; without one, gpulab shows the default device and what to try.
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
const MORE_HELP: &str = "Without a command, gpulab shows the default device and three commands to try.
`gpulab help columns` explains the columns of the tables.";

/// What --json of `gpulab try` writes.
const TRY_JSON: &str = "Write a JSON object for grading scripts: verdict, hint, cases tried, findings, place on the \
                        ladder, and the ladder's records";

/// Ends `gpulab try --help`.
const TRY_TRUST: &str = "A kernel runs in its own process with a deadline and, on CPU devices, a memory limit; it may \
                         include files of its own folder and gpulab's. This is not a sandbox: OpenCL drivers run \
                         kernels as native code with your rights. Grade strangers' kernels as another user or in a \
                         container.";

/// Ends `gpulab ladder --help`.
const LADDER_TRUST: &str = "docs/own-family.md explains the keys of the file. A file may name a reference program, \
                            which runs with your rights, as the kernels do. Read a stranger's file before you run it.";

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
    /// Check the loader, drivers, compilers and timers; say what is missing and what to install
    Doctor {
        /// Write the findings as JSON to FILE; - is standard output
        #[arg(long, value_name = "FILE")]
        json: Option<String>,
    },
    /// List families with their rungs, experiments and sources; or one family's rungs and tunables
    List {
        /// Show this family (its tunables; each rung's idea, what it removes and what remains), this experiment, or all
        /// experiments
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Follow one of the ladders' sources from slide to command: bornhofen, ppc, cmsoft, nvidia or maruyama
        #[arg(long, value_name = "NAME", conflicts_with = "name")]
        source: Option<String>,
        /// Print Markdown tables
        #[arg(long, conflicts_with = "source")]
        md: bool,
    },
    /// Explain a ladder, a rung or an experiment: the idea, what to expect, when it does not help, what proves it,
    /// CUDA's terms
    Explain {
        /// A family, as in reduce; a rung, as in reduce:3 or reduce:sequential; or an experiment, as in stride
        #[arg(value_name = "FAMILY|FAMILY:RUNG|EXPERIMENT")]
        lesson: String,
    },
    /// Print the kernel of a rung, as in reduce:3, or the kernels of an experiment
    Source(SourceArgs),
    /// Show what changed between two rungs of a ladder: their header comments and lines of code
    Diff(DiffArgs),
    /// Run the reduction's ladder (sum, min, max, and, or, xor): check it, time it, compare it with the CPU
    Reduce(Box<ReduceArgs>),
    /// Run the dot product's ladder: check it, time it, compare it with the CPU
    Dot(Box<DotArgs>),
    /// Run the matrix transposition's ladder: check it, time it, compare it with copies and with the CPU
    Transpose(Box<TransposeArgs>),
    /// Run the min-plus product's ladder; with --input, write the distances in a graph
    Minplus(Box<MinPlusArgs>),
    /// Check and time your own kernel on a family's ladder; say where it lands and what to try next
    #[command(mut_arg("json", |arg| arg.help(TRY_JSON)), after_help = TRY_TRUST)]
    Try(Box<TryArgs>),
    /// Run a ladder of your own: a TOML file names its kernels, its data and its reference
    #[command(after_help = LADDER_TRUST)]
    Ladder(Box<LadderArgs>),
    /// Learn step by step: improve a right but slow kernel; the check looks at what your kernel does, not at its time
    Exercise {
        /// The action; without one, gpulab lists the entries.
        #[command(subcommand)]
        action: Option<ExerciseAction>,
    },
    /// Measure the device's limits (memory, caches, local memory, arithmetic) and keep them; ladders show their share
    /// of a limit
    Ceiling(Box<CeilingArgs>),
    /// Run a small experiment, or list all: each has one question, one varied parameter, one answer
    Lab(Box<Lab>),
    /// Count a kernel's busy lanes, memory segments and bank conflicts in a simulator, by rung, launch and source line
    #[command(after_help = COUNT_HELP)]
    Count(Box<CountArgs>),
    /// Say how many groups a compute unit holds at once, and what limits them: registers, local memory or work-items
    Occupancy(Occupancy),
    /// Run every combination of rungs, work-group sizes, problem sizes, types and tunables: one CSV row each
    Sweep(Box<Sweep>),
    /// Find a family's fastest settings that pass their check, and remember them; ladders then use them
    Tune(Box<TuneArgs>),
    /// List, show, forget, export or import tuned settings
    Tuned {
        /// The action; without one, gpulab lists the entries.
        #[command(subcommand)]
        action: Option<TunedAction>,
    },
    /// Join the files of a sweep's shards into one
    Merge {
        /// The shards' files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The file of the whole sweep; - is standard output
        #[arg(short, long, value_name = "FILE")]
        output: String,
    },
    /// Show recorded results again as tables, charts and findings: your files, or records that come with gpulab
    Show(Show),
    /// Draw a picture of recorded results, for slides and pages: a ladder, a roofline, a sweep, ...
    Plot(PlotArgs),
    /// Write recorded results as one HTML page with pictures, reasons and data, which needs no network; or renew the
    /// tables, texts and pictures of documents
    Report(ReportArgs),
    /// Compare recorded runs: which cases are faster, slower or the same, and how sure that is
    Compare(Compare),
    /// Measure one kernel against itself: the smallest difference that this machine can show now
    Noise(Box<NoiseArgs>),
    /// Record a whole device in a folder, to compare it or send it in: its facts and limits, all ladders and
    /// experiments
    Record(RecordArgs),
    /// Describe the columns of CSV and JSON files: name, type, unit and meaning
    Columns {
        /// Print Markdown tables
        #[arg(long, conflicts_with = "json")]
        md: bool,
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Explain a command, or, with `columns`, the columns of the tables
    Help {
        /// A command, or columns
        #[arg(value_name = "COMMAND")]
        topic: Option<String>,
        /// Print all commands with their options as Markdown
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
    /// Print what the compiler gets at the ladder's usual size: the device's build options, then the source with its
    /// includes
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
    /// The first rung, by number or name, as in 2 or strided
    #[arg(value_name = "FROM")]
    pub from: String,
    /// The second rung, by number or name
    #[arg(value_name = "TO")]
    pub to: String,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
}

/// `gpulab occupancy`.
#[derive(Debug, Args)]
pub struct Occupancy {
    /// Read a group's needs from a build of a family's rung.
    #[command(flatten)]
    pub built: OptionalFamily,
    /// The rung to build, by number or name, as in 3 or local
    #[arg(long, value_name = "V", requires = "OptionalFamily")]
    pub variant: Option<String>,
    /// Element type of the rung to build [default: the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE", requires = "OptionalFamily")]
    pub dtype: Option<Dtype>,
    /// 32-bit registers of a work-item; needed where no driver reports them
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>)]
    pub registers: Option<u64>,
    /// Local memory of a group, in bytes, as in 8192 or 48Ki
    #[arg(long, value_name = "BYTES", value_parser = values::size, default_value_t = 0, conflicts_with = "OptionalFamily")]
    pub local: u64,
    /// Work-group size, as in 256 or 32x8
    #[arg(long, value_name = "WG", value_parser = values::work_group, default_value = "256")]
    pub wg: WorkGroup,
    /// Calculate for this generation, not the device's: an NVIDIA compute capability, as in 1.0 or 9.0, or an AMD
    /// target, as in gfx90a, or gfx1030-wave64 for wavefronts of 64. With --kernel, the device still builds the kernel
    #[arg(long, value_name = "NAME")]
    pub generation: Option<String>,
    /// Draw occupancy over registers, local memory and work-group size, each with the other two fixed
    #[arg(long)]
    pub curves: bool,
}

/// Ends `gpulab count --help`: the model.
const COUNT_HELP: &str = "The model:
- A warp is --warp work-items of a group with successive local ids. Between two barriers, its items' n-th executions of
  one instruction count as one instruction of the warp. So items that diverge at a branch meet again as
  soon as they execute the same instruction equally often; in nested loops, this is the fewest instructions possible.
- Instructions are LLVM's, after Clang's optimiser; arithmetic on a vector counts once for each element.
- A load or store of global memory moves every segment that holds a requested byte. There are no caches.
- A bank of local memory gives one word of 4 bytes in a pass, to all items that request it. Requests of 8 bytes an item
  run in two halves of the warp, those of 16 bytes in four quarters. Reads run in half as many parts where neighbours
  at distance 1, or all at distance 2, read the same word.
- Every instruction counts once, however long it takes: a remainder costs as much as a sum.
The simulator, Oclgrind, runs and counts every work-item: choose small sizes.";

/// `gpulab count`.
#[derive(Debug, Args)]
pub struct CountArgs {
    /// A family (counts its rungs) or an experiment (counts its trials)
    #[arg(value_name = "NAME", required_unless_present_any = ["kernel", "of"], conflicts_with_all = ["kernel", "of"])]
    family: Option<String>,
    /// The same as NAME
    #[arg(long, value_name = "NAME", conflicts_with = "of")]
    kernel: Option<String>,
    /// Count the rungs of the ladders in these files with their measured settings, each at two small sizes
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["variant", "n", "m", "dtype", "wg", "set", "seed"])]
    pub of: Vec<PathBuf>,
    /// Rungs to count: numbers, ranges and names, as in 3, 2-5, local,wide [default: all]
    #[arg(long, value_name = "LIST")]
    pub variant: Option<String>,
    /// The file of your own kernel, as for gpulab try; runs beside the rungs of --variant, or alone
    #[arg(long, value_name = "FILE", conflicts_with = "of")]
    pub own: Option<PathBuf>,
    /// Elements, or columns of matrices [default: 2^14; transpose 128, minplus 64, experiments at most 2^12]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Rows of a matrix [default: as many as columns]
    #[arg(long, value_name = "N", value_parser = values::size)]
    pub m: Option<u64>,
    /// Element type [default: the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Work-group size, as in 256 or 32x8 [default: 256]
    #[arg(long, value_name = "WG", value_parser = values::work_group)]
    pub wg: Option<WorkGroup>,
    /// A tunable and its value, as in items=1024; repeatable. Rungs without this tunable ignore it
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
    /// Show the cost of each source line; files also get a row for each line
    #[arg(long)]
    pub lines: bool,
    /// Time limit of a case, in seconds
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
    /// Read a group's needs from a build of this family's --variant: registers, where the driver reports them, local
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
    /// Show no progress and no notes
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more detail
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Replace output files even if gpulab did not write them, and a sweep's rows without --resume. Without --force,
    /// only results of the same kind are replaced, once new ones exist. Files that the command reads are never replaced
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
    /// The set-up of a source, with its claim beside this device's figures; options given explicitly win
    #[arg(long = "as", value_enum, value_name = "SOURCE", conflicts_with = "input")]
    pub source: Option<Source>,
    /// Elements of each vector [default: 2^24, with --quick 2^20, or the source's]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Real data: a .npy file, a CSV column (FILE.csv:COLUMN) or raw little-endian numbers
    #[arg(long, value_name = "FILE", conflicts_with = "n")]
    pub input: Option<String>,
    /// The second vector; without it, the first is multiplied by itself
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
    /// Repetitions of the work inside the kernel
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
    /// A CSV of edges with the header from,to,weight, or a square matrix as .npy or as CSV without names (inf or an
    /// empty cell is no edge; nodes are numbered from 0). Writes from,to,distance for all pairs of different nodes that
    /// have a path with at most one stop. Weights are f32 unless --dtype or the .npy says otherwise
    #[arg(long, value_name = "FILE")]
    pub input: Option<String>,
    /// Shortest distances with any number of stops: the step is repeated until nothing changes
    #[arg(long, requires = "input")]
    pub closure: bool,
    /// Add the column `next`: the node after `from` on a shortest path to `to`
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
    /// Work-group size, as in 256 or 32x8 [default: 256]
    #[arg(long, value_name = "WG", value_parser = values::work_group)]
    pub wg: Option<WorkGroup>,
    /// Seed of the random data
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>, default_value_t = 1)]
    pub seed: u64,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
    /// Ignore tuned settings
    #[arg(long)]
    pub no_tuned: bool,
    /// Measure everything N times, each time in a fresh process. Files hold every round; the table shows each rung's
    /// median round. Six rounds show how far runs differ; gpulab compare and --against need them for a verdict
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), default_value_t = 1)]
    pub rounds: u32,
    /// Explain below the table why each step pays or not, from kernel counts and the device's measured limits
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
    /// The family whose problem your kernel solves: reduce, dot, transpose or minplus
    #[arg(long = "as", value_name = "FAMILY")]
    pub family: Option<String>,
    /// Print a starting kernel of this family: right, slow, with its interface explained
    #[arg(long, value_name = "FAMILY", conflicts_with_all = ["file", "family"])]
    pub template: Option<String>,
    /// Elements, or columns of matrices [default: the size of the family's ladder]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Rows of a matrix [default: as many as columns]
    #[arg(long, value_name = "N", value_parser = values::size)]
    pub m: Option<u64>,
    /// A setting of your kernel or of the family, as in acc=4 for // gpulab: tune ACC; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Also run the kernel in the simulator Oclgrind: finds races, accesses out of bounds, values never set
    #[arg(long)]
    pub check: bool,
    /// Repeat whenever the file, or a file it includes, is saved; Ctrl-C ends it
    #[arg(long)]
    pub watch: bool,
    /// Memory limit of your kernel's process, without the driver's share, as in 4Gi; for CPU devices [default: by size]
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
    /// Write a starting family into this folder: a commented file, two kernels and a reference that work at once
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub template: Option<PathBuf>,
    /// Elements, or columns of matrices [default: from the file]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Rows of a matrix [default: from the file]
    #[arg(long, value_name = "N", value_parser = values::size)]
    pub m: Option<u64>,
    /// First run each rung in the simulator Oclgrind: finds races, accesses out of bounds, values never set
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
    /// A quick pass (seconds): fewer quantities, one shape each; keeps the better value
    #[arg(long, conflicts_with = "show")]
    pub quick: bool,
    /// Print the kept limits and when they were measured, of --device or else of every device; measures nothing
    #[arg(long)]
    pub show: bool,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
    /// Time limit of a shape beyond its sampling, in seconds [default: 60, more for large data]
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
    /// The experiment to run, or all; without a name, gpulab lists them
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
    /// Draw the timeline of one run of the fastest way as SVG (only overlap)
    #[arg(long, value_name = "FILE", requires = "name")]
    pub svg: Option<String>,
    /// How to measure.
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// `gpulab show`.
#[derive(Debug, Args)]
pub struct Show {
    /// CSV or JSON files that gpulab wrote; or a device whose records come with gpulab, as in h200, and its families,
    /// experiments or files, as in reduce. Several devices before a name share it, as in h200 pocl-epyc-2 ceilings.
    /// Without arguments, gpulab lists these devices
    #[arg(value_name = "FILE|DEVICE [NAME]")]
    pub what: Vec<String>,
    /// Show bandwidths in tables as GiB/s, 2^30 bytes a second
    #[arg(long)]
    pub gib: bool,
    /// Explain below each ladder why its steps pay or not; one of the files must hold the device's ceilings. With --by:
    /// how far the model is from the measured times, one line for each value of COLUMN
    #[arg(long)]
    pub why: bool,
    /// Only records whose COLUMN has one of these values, as in n=2^28 or dtype=f32,i32; repeatable. COLUMN is one of
    /// `gpulab columns`, or a setting, as in size=constant. For platform, device and driver, a part is enough
    #[arg(long = "where", value_name = "COLUMN=VALUE,...", value_parser = values::condition)]
    pub conditions: Vec<Condition>,
    /// Only these columns, in this order: a ladder's own, as in rung,time,gbs,of_limit, those of `gpulab columns`, or
    /// settings
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Put rungs side by side: one line for each value of this column, as in n, wg, dtype or device, and one column for
    /// each rung. Other programs' figures with the same columns stand beside them
    #[arg(long, value_name = "COLUMN", conflicts_with = "columns")]
    pub by: Option<String>,
    /// With --by: the column in the cells, as in gbs, gain or t_end_to_end_s [default: time]
    #[arg(long, value_name = "COLUMN", requires = "by", conflicts_with = "why")]
    pub value: Option<String>,
    /// Show only what each experiment found on each device, without its points
    #[arg(long, conflicts_with_all = ["columns", "by", "why"])]
    pub findings: bool,
    /// Also write Markdown; - is standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    pub md: Option<String>,
}

/// `gpulab report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// CSV or JSON files that gpulab wrote, or folders of them; or a device whose records come with gpulab, as in h200,
    /// and its families, experiments or files, as in reduce; with --splice, Markdown documents
    #[arg(required = true, value_name = "FILE|DEVICE [NAME]")]
    pub files: Vec<String>,
    /// The file of the page; - is standard output. A folder, with a name that ends in /, gets a page for each folder of
    /// files and index.html, which compares them [default: report.html]
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
    /// Fill the blocks of these Markdown files. A block begins with a line <!-- gpulab show h200 dot --md - -->, or
    /// another command that needs no device, and ends with a line <!-- end -->. The command's output replaces the text
    /// between them; gpulab plot ... -o FILE.svg writes the picture and shows it there. A figure in the text is a
    /// number behind <!--= FILE CONDITIONS : FORMULA -->, as in <!--= results/nvidia-h200/dot n=2^28 rung=2 : step_x
    /// -->3.27. It is renewed from data/FILE.csv with the same number of decimals
    #[arg(long)]
    pub splice: bool,
    /// With --splice: write nothing, and exit with 1 if a block or a figure differs from what its command or file gives
    /// now
    #[arg(long, requires = "splice")]
    pub check: bool,
}

/// `gpulab plot`.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// CSV or JSON files that gpulab wrote, with the device's ceilings among them for a roofline; or a device whose
    /// records come with gpulab, as in h200, and its families, experiments or files, as in reduce
    #[arg(required = true, value_name = "FILE|DEVICE [NAME]")]
    pub files: Vec<String>,
    /// What to draw
    #[arg(long, value_enum, value_name = "KIND")]
    pub what: PictureKind,
    /// The file of the picture: FILE.svg, or FILE.png for pixels; - is standard output, as SVG
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
    /// Light or dark: auto follows the reader's system, and is light in PNG
    #[arg(long, value_enum, default_value_t = Paper::Auto)]
    pub theme: Paper,
    /// Width of a PNG in pixels
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
    /// Lines over an experiment's varied parameter
    Experiment,
    /// Copies and kernels over time in the experiment overlap
    Timeline,
}

/// The paper of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Paper {
    /// As the reader's system asks.
    Auto,
    /// White.
    Light,
    /// Black.
    Dark,
}

/// `gpulab noise`.
#[derive(Debug, Args)]
pub struct NoiseArgs {
    /// The kernel's family
    #[arg(value_name = "FAMILY", default_value = "reduce")]
    pub family: String,
    /// The kernel's rung, by number or name, as in 3 or local
    #[arg(long, value_name = "V", default_value = "4")]
    pub variant: String,
    /// Elements, or columns of matrices [default: the size of the family's ladder]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Element type [default: the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Work-group size, as in 256 or 32x8 [default: 256]
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
    /// Output folder; continues an earlier record. Without it: shows the plan and a name
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// One small size of each ladder, and fewer and shorter runs
    #[arg(long)]
    pub quick: bool,
    /// Time for the whole record, as in 10m; each command has its share. Checks are never cut, so slow devices take
    /// longer [default: 15m, quick: 2m]
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true)]
    pub budget: Option<f64>,
}

/// `gpulab compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Files that --csv or --json wrote; the others are compared with the first. A verdict needs six runs of each side:
    /// one file of a ladder with --rounds 6, files joined by commas, as in a1.csv,a2.csv, or a folder of such files
    #[arg(required = true, num_args = 1.., value_name = "FILE")]
    pub files: Vec<String>,
    /// Show the operating curve of these runs of one program: how often comparisons would be wrong, and which slowdowns
    /// they would find. Needs a file of a ladder with about --rounds 60
    #[arg(long, conflicts_with_all = ["fail_on", "csv", "json"])]
    pub curve: bool,
    /// Exit with code 6 if a case is SLOWER; with slower:5, only if it is slower by at least 5 %
    #[arg(long, value_name = "slower[:PCT]", value_parser = values::slower)]
    pub fail_on: Option<f64>,
    /// Cases that provably differ by less count as the same
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
    /// The file of your own kernel, as for gpulab try; runs beside the rungs of --variant, or alone
    #[arg(long, value_name = "FILE")]
    pub own: Option<PathBuf>,
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
    /// Seed of the random data
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>, default_value_t = 1)]
    pub seed: u64,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
    /// Write the rows to this file; - is standard output
    #[arg(short, long, visible_alias = "csv", value_name = "FILE", default_value = "-")]
    pub output: String,
    /// Continue the sweep in FILE: configurations with a row are not run again, whatever their status (but see --retry)
    #[arg(long)]
    pub resume: bool,
    /// With --resume: run configurations with one of these statuses again
    #[arg(long, requires = "resume", value_name = "STATUS,...", value_delimiter = ',')]
    #[arg(value_parser = Status::ALL.map(Status::name))]
    pub retry: Vec<String>,
    /// Ignore tuned settings
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
    /// The file of your own kernel, as for gpulab try; runs beside the rungs of --variant, or alone
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub own: Option<PathBuf>,
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
    /// Seed of the random data and of the random search
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>, default_value_t = 1)]
    pub seed: u64,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
    /// Write the rows to this file; continues a file with rows of the same search; - is standard output
    #[arg(short = 'o', long, visible_alias = "output", value_name = "FILE")]
    pub csv: Option<String>,
    /// Write the last row of each configuration as a JSON array at the end; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the measurements for another tuner: its name, kernel-tuner, and a file
    #[arg(long, num_args = 2, value_names = values::FORMAT_AND_FILE)]
    pub export: Vec<String>,
    /// Run the strategies over recorded rows of sweeps or exhaustive searches, without a device; say how many
    /// evaluations each needs
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["variant", "n", "m", "dtype", "wg", "set", "budget", "cl_dir", "csv", "json"])]
    pub replay: Vec<PathBuf>,
    /// With --replay: write one Markdown table of the evaluations that bring each strategy within 2 % of the fastest; -
    /// is standard output, in place of the text
    #[arg(long, value_name = "FILE", requires = "replay")]
    pub md: Option<String>,
    /// Print the number of configurations, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Longest sampling time of a configuration, in seconds [default: 0.2, quick: 0.05]
    #[arg(long = "sample-time", value_name = "S", value_parser = values::seconds)]
    pub sample_time: Option<f64>,
    /// Spread (inter-quartile range over median) at which sampling may end
    #[arg(long, value_name = "X", value_parser = values::spread, default_value = "5%")]
    pub max_noise: f64,
    /// Use the same buffers every time, or copies that together exceed the last-level cache
    #[arg(long, value_enum, default_value_t = Cache::Warm)]
    pub cache: Cache,
    /// The clock that measures times
    #[arg(long, value_enum, default_value_t = Clock::Event)]
    pub clock: Clock,
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
    /// List the entries, one line each
    List,
    /// Show all details of each entry, of one family or of all
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
    /// Import entries that `gpulab tuned export` wrote
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
    /// Time for the whole run, as in 500ms, 10s or 2m; sampling is shortened to fit, with the same share for each case.
    /// Checks are never cut, and each case has a few samples [default: ladders 5s, quick: 2s; else none]
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
    /// Shortest sampling time, in seconds [default: 0.05, quick: 0]
    #[arg(long, value_name = "S", value_parser = values::seconds)]
    pub min_time: Option<f64>,
    /// Longest sampling time, in seconds [default: 0.5, quick: 0.1; ladders: by --budget]
    #[arg(long = "sample-time", alias = "timeout", value_name = "S", value_parser = values::seconds)]
    pub timeout: Option<f64>,
    /// Spread (inter-quartile range over median) at which sampling may end
    #[arg(long, value_name = "X", value_parser = values::spread, default_value = "5%")]
    pub max_noise: f64,
    /// Use the same buffers every time, or copies that together exceed the last-level cache
    #[arg(long, value_enum, default_value_t = Cache::Warm)]
    pub cache: Cache,
    /// The clock that measures times
    #[arg(long, value_enum, default_value_t = Clock::Event)]
    pub clock: Clock,
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,
    /// Time limit of a case beyond --sample-time, in seconds [default: 60, more for large data]
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
#[command(next_help_heading = "Output (- is standard output; the table then goes to standard error)")]
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
    /// Show bandwidths in tables as GiB/s, 2^30 bytes a second; files keep GB/s
    #[arg(long)]
    pub gib: bool,
    /// Keep the rows under this name, for --against
    #[arg(long, value_name = "NAME", value_parser = values::name)]
    pub save: Option<String>,
    /// Say which rungs are faster, slower or the same as in the run kept under this name
    #[arg(long, value_name = "NAME", value_parser = values::name)]
    pub against: Option<String>,
}

impl Ladder {
    /// Elements, or columns, by default.
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
        let usual = Settings::default();
        let pick = |normal, quick| if self.quick { quick } else { normal };
        let min_runs = self.min_runs.unwrap_or(if self.quick { 3 } else { usual.min_runs });
        let max_runs = self.max_runs.unwrap_or(if self.quick { 20 } else { usual.max_runs });
        Settings {
            warmup: self.warmup,
            min_runs: min_runs.min(max_runs),
            max_runs,
            min_time: self.min_time.unwrap_or(pick(usual.min_time, 0.0)),
            timeout: self.timeout.unwrap_or(pick(usual.timeout, 0.1)),
            max_noise: self.max_noise,
            cache: self.cache,
            clock: self.clock,
            ..usual
        }
    }
}
