//! The options of commands that ask what a device does, or a simulator what kernels do.

use super::measuring::MeasureArgs;
use super::shared::{CaseOptions, ChosenRungs, Given, NamedFamily, RowFiles, machine, row_files};
use crate::count::{CountAllowances, LockstepModel};
use crate::data::Fill;
use crate::report::drawing::Chosen;
use crate::values;
use clap::{Arg, Args};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(mut_args(|arg| row_files(arg, "ceiling", "ceilings")))]
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
    /// Time limit of a shape in seconds, without its sampling [default: 60, more for large data]
    #[arg(long, value_name = "S", value_parser = values::deadline)]
    pub deadline: Option<f64>,
    /// Run kernels in this process, for debuggers, profilers and simulators
    #[arg(long)]
    pub in_process: bool,
    #[command(flatten)]
    pub rows: RowFiles,
}

#[derive(Debug, Args)]
#[command(mut_args(|arg| row_files(arg, "point", "points")), mut_group("RowFiles", |rows| rows.requires("name")))]
pub struct Lab {
    /// The experiment to run, or all; without a name, gpulab lists them
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub given: Given,
    #[command(flatten)]
    pub rows: RowFiles,
    /// What was found on a GPU that gpulab has records of [default: h200 beside a CPU device]
    #[arg(long, value_name = "GPU")]
    pub on: Option<String>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Debug, Args)]
pub struct DrawArgs {
    /// A rung, as in reduce:2, mine/family.toml:tiled (a family's file and a rung) or branches:thread (a file that comes with
    /// gpulab, as gpulab list names them); your own kernel, as in my.cl with --as reduce; an experiment, as in banks:8; or an exercise, as in exercise:strides or solution:strides. With two, the picture
    /// of a file alternates between them, and their films play side by side
    #[arg(required = true, num_args = 1..=2, value_name = "WHAT")]
    pub what: Vec<String>,
    /// The family whose problem your own kernel solves, as for gpulab try
    #[arg(long = "as", value_name = "FAMILY")]
    pub family: Option<String>,
    #[command(flatten)]
    pub case: CaseOptions,
    /// Seed of the random data
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>, default_value_t = 1)]
    pub seed: u64,
    /// Numbers in place of random ones: ones, ramp (0, 1, 2 and so on) or small (0 to 9) [default: of the ladders small]
    #[arg(long, value_name = "KIND", value_parser = data)]
    pub data: Option<Fill>,
    /// Count for this machine: cc1.0, cc1.1, cc1.2, cc1.3, cc2.0, gtx280, s1070, today or wave64 [default: today]
    #[arg(long, value_name = "NAME", value_parser = machine)]
    pub machine: Option<LockstepModel>,
    /// Work-groups to show, the first of each launch; totals cover all groups [default: 2; of units four waves]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub groups: Option<u64>,
    /// Time limit of the simulator, in seconds
    #[arg(long, value_name = "S", value_parser = values::deadline, default_value = "120")]
    pub deadline: f64,
    #[command(flatten)]
    pub chosen: Chosen,
    /// Write the picture to FILE.svg instead; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// Write a page instead, film.html by default, that plays what the warps do, step by step, and needs no network; - is standard output. Where the
    /// result of your kernel, or of a family's file, hangs on the order of its work-items, it plays an order that wins and one that loses.
    /// Orders are tried where one kernel is given
    #[arg(long, value_name = "FILE.html", num_args = 0..=1, default_missing_value = "film.html", conflicts_with_all = ["view", "each", "warp", "group", "output"])]
    pub film: Option<String>,
}

fn data(text: &str) -> Result<Fill, String> {
    match text {
        "ones" => Ok(Fill::Ones),
        "ramp" => Ok(Fill::Ramp),
        "small" => Ok(Fill::Below(10)),
        _ => Err("give ones, ramp or small".to_owned()),
    }
}

const ASM_SIZE: &str =
    "Elements, or columns of matrices [default: 2^20; matrices 1024, minplus 256]";

#[derive(Debug, Args)]
#[command(mut_args(|arg| if arg.get_id() == "n" { arg.help(ASM_SIZE) } else { arg }))]
pub struct AsmArgs {
    /// A rung, as in reduce:3; a family's file and a rung, as in mine/family.toml:tiled; or your own kernel, as in my.cl
    /// with --as reduce. With two, their instructions by kind side by side
    #[arg(required = true, num_args = 1..=2, value_name = "WHAT")]
    pub what: Vec<String>,
    /// The family whose problem your own kernel solves, as for gpulab try
    #[arg(long = "as", value_name = "FAMILY")]
    pub family: Option<String>,
    #[command(flatten)]
    pub case: CaseOptions,
    /// Read kernel sources from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub cl_dir: Option<PathBuf>,
    /// Registers of a work-item, 32 bits each, for how many groups a compute unit holds [default: what the driver reports]
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>)]
    pub registers: Option<u64>,
    /// Say so of this generation of compute units: a compute capability, as in 9.0, or AMD's target, as in gfx90a
    /// [default: the device's]
    #[arg(long, value_name = "NAME")]
    pub generation: Option<String>,
}

#[derive(Debug, Args)]
#[command(mut_args(count_arg))]
pub struct CountArgs {
    #[command(flatten)]
    pub subject: NamedFamily,
    /// Count the rungs of the ladders in these files with their measured settings, each at two small sizes
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = OF_EXCLUDES)]
    pub of: Vec<PathBuf>,
    #[command(flatten)]
    pub rungs: ChosenRungs,
    /// The family whose problem your own kernel solves: NAME is its file then, as in my.cl or my.cl:kernel
    #[arg(long = "as", value_name = "FAMILY", conflicts_with = "own")]
    pub solves: Option<String>,
    #[command(flatten)]
    pub case: CaseOptions,
    #[command(flatten)]
    pub given: Given,
    /// Count for this machine: cc1.0, cc1.1, cc1.2, cc1.3, cc2.0, gtx280, s1070, today or wave64 [default: today]
    #[arg(long, value_name = "NAME", value_parser = machine)]
    pub machine: Option<LockstepModel>,
    /// Show the cost of each source line; files also get a row for each line
    #[arg(long)]
    pub lines: bool,
    /// What each rung takes on a GPU that gpulab has records of, and what would pay most there, as in h200
    #[arg(long, value_name = "GPU", conflicts_with = "program")]
    pub on: Option<String>,
    /// Compare with the counts that --csv wrote before: what changed, and by how much; --json then writes
    /// the verdict, and no rows
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Exit with code 6 if one of these counts grew by more than its share, as in passes:1%,segments; all names every count
    #[arg(long, value_name = "COUNT[:PCT],...", requires = "against", value_parser = CountAllowances::parse)]
    pub fail_on: Option<CountAllowances>,
    /// Time limit of a case, in seconds
    #[arg(long, value_name = "S", value_parser = values::deadline, default_value = "600")]
    pub deadline: f64,
    #[command(flatten)]
    pub rows: RowFiles,
    /// Of a host program: look for races and values never set, in place of counting
    #[arg(long, conflicts_with_all = ["lines", "against", "csv", "json"])]
    pub check: bool,
    /// A host program and its arguments: count the kernels that it launches
    #[arg(last = true, value_name = "PROGRAM", conflicts_with_all = OF_EXCLUDES, conflicts_with_all = ["of", "cl_dir"])]
    pub program: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(mut_args(|arg| row_files(arg, "kernel, kind of command or refused call", "these")))]
#[command(mut_arg("program", |arg| arg.required(true)))]
pub struct TimeArgs {
    #[command(flatten)]
    pub host: HostProgram,
    #[command(flatten)]
    pub rows: RowFiles,
}

/// A program that is looked at while it runs.
#[derive(Debug, Args)]
pub struct HostProgram {
    /// Keep a launch of this kernel as a family: its text, options, arguments and data, with its own result as the right one
    #[arg(long, value_name = "KERNEL", requires = "output", requires = "program")]
    pub keep: Option<String>,
    /// Which launch of that kernel, from 1
    #[arg(long, value_name = "N", requires = "keep", value_parser = clap::value_parser!(u64).range(1..), default_value_t = 1)]
    pub launch: u64,
    /// The family's file; the kernel's text and the data stand beside it, in files that begin with its name
    #[arg(short, long, value_name = "FILE.toml", requires = "keep")]
    pub output: Option<PathBuf>,
    /// A host program and its arguments: run it, and list its kernels and transfers
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Shared options, in the words of `gpulab count`.
fn count_arg(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "family" => arg
            .value_name("NAME")
            .help("A family (counts its rungs), a rung, as in reduce:3, your own kernel with --as, or an experiment")
            .required_unless_present_any(["kernel", "of", "program"]),
        "kernel" => arg.value_name("NAME").help("The same as NAME"),
        "set" => arg.help("A tunable and its value, as in items=4; repeatable. Rungs without this tunable ignore it"),
        "csv" => arg.help("Write one row per launch as CSV; - is standard output"),
        _ => arg,
    }
}

/// Options that have no meaning for what was measured.
const OF_EXCLUDES: [&str; 11] = [
    "family", "kernel", "variant", "own", "solves", "n", "m", "dtype", "wg", "set", "seed",
];

/// Ends `gpulab time --help`.
pub const TIME_HELP: &str = "The program keeps its input, output and exit code; the report goes to standard error. A layer between it and OpenCL's loader looks on, and turns on the times of its queues. docs/programs.md says what it does not see.";

/// Ends `gpulab count --help`: the model.
pub const COUNT_HELP: &str = "The model:
- A warp is 32 work-items of a group with successive local ids, on wave64 64. Between two barriers, its items' n-th executions of
  one instruction count as one instruction of the warp. So items that diverge at a branch meet again as
  soon as they execute the same instruction equally often; in nested loops, this is the fewest instructions possible.
- Instructions are LLVM's, after Clang's optimiser; arithmetic on a vector counts once for each element.
- A load or store of global memory moves every segment that holds a requested byte. There are no caches.
- A bank of local memory gives one word of 4 bytes in a pass, to all items that request it. A load or store takes as
  many passes as the busiest bank has words to deliver. Requests of 8 bytes an item
  run in two halves of the warp, those of 16 bytes in four quarters. Reads run in half as many parts where neighbours
  at distance 1, or all at distance 2, read the same word.
- --machine gives older machines' rules. On cc1.0 to cc1.3 requests are half a warp's, and a pass of local memory gives a
  single word to several items. Global memory has partitions of 256 bytes. Groups run at once, one a compute unit. Of each
  instruction that they execute, the busiest partition's transactions count against an even share. partition_load is the
  ratio: 1 is even, 8 with 8 partitions is partition camping.
- Every instruction counts once, however long it takes: a modulo counts like an addition.
The simulator, Oclgrind, runs and counts every work-item: choose small sizes.";
