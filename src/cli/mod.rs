//! The command line: clap types only.

mod checking;
mod device;
pub mod environment;
mod ladders;
mod measuring;
mod recorded;
mod search;
mod shared;
mod tunables;

pub use crate::commands::exercise::{ExerciseAction, ExerciseCheck};
pub use checking::CheckArgs;
pub use device::{AsmArgs, CeilingArgs, CountArgs, DrawArgs, HostProgram, Lab, TimeArgs};
pub use ladders::{
    DotArgs, GraphJob, Ladder, Loop, MinPlusArgs, PrintedSource, ReduceArgs, TransposeArgs, TryArgs,
};
pub use measuring::{MeasureArgs, Output};
pub use recorded::{Compare, PictureKind, PlotArgs, Show};
pub use search::{Sweep, TuneArgs};
pub use shared::{CaseOptions, RowFiles};

use crate::report::wrap::hung;
use crate::values;
use checking::CHECK_HELP;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use device::{COUNT_HELP, TIME_HELP};
use ladders::TRY_TRUST;
use std::path::PathBuf;

/// A portable OpenCL optimisation laboratory: ladders of kernels, checked, timed and explained.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 110, mut_subcommands = take_negative_numbers)]
#[command(disable_help_subcommand = true, help_template = overview())]
pub struct Cli {
    /// The command; without one, gpulab shows the default device and what to try.
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub global: Global,
}

/// The names of all commands that people use, in order.
pub fn command_names() -> Vec<String> {
    let program = Cli::command();
    program
        .get_subcommands()
        .filter(|c| !c.is_hide_set())
        .map(|c| c.get_name().to_owned())
        .collect()
}

/// The commands, by what people come for.
const GROUPS: [(&str, &str); 5] = [
    ("Learn", "list explain source lab exercise draw"),
    ("Measure", "reduce dot transpose minplus ceiling sweep tune"),
    ("My kernel", "try check count asm time"),
    ("Records", "show plot report compare record"),
    ("System", "devices doctor mcp help"),
];

/// What `gpulab --help` shows.
fn overview() -> String {
    let program = Command::augment_subcommands(clap::Command::new("gpulab"));
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        text += &format!("\n{group}:\n");
        for command in names
            .split(' ')
            .filter_map(|name| program.find_subcommand(name))
        {
            let about = command
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            let about = about
                .split([';', '('])
                .next()
                .and_then(|about| about.split(": ").next())
                .unwrap_or_default()
                .trim();
            text += &hung(about, &format!("  {:<11}", command.get_name()), 80);
        }
    }
    text + "\n{options}\n\nWithout a command, gpulab shows the default device and commands to try.\n`gpulab help columns` explains the columns of tables and files.\n"
}

/// Takes `-1` for an option's value, so that its own message says what is wrong with it.
fn take_negative_numbers(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| {
        let takes_values = !arg.is_positional() && arg.get_action().takes_values();
        if takes_values {
            arg.allow_negative_numbers(true)
        } else {
            arg
        }
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
    Doctor,
    /// List families with their rungs, experiments and sources; or one family's rungs and tunables
    List {
        /// Show this family (its tunables; each rung's idea, what it removes and what remains), or this experiment
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Follow one of the ladders' sources from slide to command: bornhofen, ppc, cmsoft, nvidia or maruyama
        #[arg(long, value_name = "NAME", conflicts_with = "name")]
        source: Option<String>,
    },
    /// Explain a ladder, a rung, an experiment or a word: the idea, what to expect, when it does not help, what proves it,
    /// CUDA's terms
    #[command(
        override_usage = "gpulab explain [OPTIONS] <FAMILY|FAMILY:RUNG|EXPERIMENT|WORD>, as in gpulab explain coalescing"
    )]
    Explain {
        /// A family, as in reduce; a rung, as in reduce:3 or reduce:sequential; an experiment, as in stride; or a word of the
        /// field, as in coalescing or "bank conflict"
        #[arg(value_name = "FAMILY|FAMILY:RUNG|EXPERIMENT|WORD")]
        lesson: String,
    },
    /// Print the kernel of a rung, as in reduce:3, or the kernels of an experiment; of two rungs what changed: their header
    /// comments and lines of code
    #[command(alias = "diff")]
    Source {
        /// A rung, by its family and its number or name, as in reduce:3 or transpose:copy; or an experiment, as in stride. With
        /// two rungs, as in reduce:2 reduce:3, or reduce 2 3, what changed
        #[arg(required = true, num_args = 1..=3, value_name = "FAMILY:RUNG|EXPERIMENT")]
        what: Vec<String>,
        /// Print the source with its includes in place
        #[arg(long)]
        expanded: bool,
        /// Read kernel sources from this folder instead of the built-in ones
        #[arg(long, value_name = "DIR")]
        cl_dir: Option<PathBuf>,
    },
    /// Run the reduction's ladder (sum, min, max, and, or, xor): check it, time it, compare it with the CPU
    Reduce(Box<ReduceArgs>),
    /// Run the dot product's ladder: check it, time it, compare it with the CPU
    Dot(Box<DotArgs>),
    /// Run the matrix transposition's ladder: check it, time it, compare it with copies and with the CPU
    Transpose(Box<TransposeArgs>),
    /// Run the min-plus product's ladder; with --input, write the distances in a graph
    Minplus(Box<MinPlusArgs>),
    /// Look at any kernel, check and time your own on a family's ladder, or a ladder of your own that a TOML file describes
    #[command(alias = "ladder", after_help = TRY_TRUST)]
    Try(Box<TryArgs>),
    /// Check every kernel of a repository: build it with each driver and for GPUs that are not here, and look for races and
    /// accesses out of bounds in the simulator
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Learn step by step: improve a right but slow kernel; the check looks at what your kernel does, not at its time
    Exercise {
        /// The action; without one, gpulab lists the exercises.
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
    /// Draw one access of a kernel: which lane touches which word, in which segments and banks; or write a film, a page that
    /// plays what its warps do: lines, lanes, addresses, barriers, local memory
    #[command(override_usage = "gpulab draw [OPTIONS] <WHAT>..., as in gpulab draw dot:1")]
    Draw(Box<DrawArgs>),
    /// Show the device's instructions of a kernel by kind and source line; two kernels side by side
    Asm(Box<AsmArgs>),
    /// Run a host program on its device, and list its kernels, transfers, refused calls and what it never released; or keep a launch
    #[command(override_usage = "gpulab time [OPTIONS] -- <PROGRAM>...", after_help = TIME_HELP)]
    Time(Box<TimeArgs>),
    /// Run every combination of rungs, work-group sizes, problem sizes, types and tunables: one CSV row each
    Sweep(Box<Sweep>),
    /// Find a family's fastest settings that pass their check, and remember them; ladders then use them
    Tune(Box<TuneArgs>),
    /// Show recorded results again as tables, charts and findings: your files, or records that come with gpulab
    Show(Show),
    /// Draw a picture of recorded results, for slides and pages: a ladder, a roofline, a sweep, ...
    Plot(PlotArgs),
    /// Write recorded results as one HTML page with pictures, reasons and data, which needs no network
    Report {
        /// CSV or JSON files that gpulab wrote, or folders of them. Or a device whose records come with gpulab, as in h200,
        /// and its families, experiments or files, as in reduce
        #[arg(required = true, value_name = "FILE|DEVICE [NAME]")]
        files: Vec<String>,
        /// The file of the page; - is standard output
        #[arg(short, long, value_name = "FILE", default_value = "report.html")]
        output: String,
    },
    /// Compare recorded runs: which cases are faster, slower or the same, and how sure that is
    Compare(Compare),
    /// Record a whole device in a folder, to compare it or send it in: its limits, all ladders and experiments
    Record {
        /// Run the commands and keep their files in this folder; those that are there are not run again. Without it: list the
        /// commands
        #[arg(short, long, value_name = "DIR")]
        output: Option<PathBuf>,
        /// One small size of each ladder, and fewer and shorter runs
        #[arg(long)]
        quick: bool,
        /// Time for the whole record, as in 10m; each command has its share. Checks are never cut, so slow devices take
        /// longer [default: 15m, quick: 2m]
        #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true)]
        budget: Option<f64>,
    },
    /// Serve check, try, judge, count, explain and glossary to programs that speak the Model Context Protocol
    Mcp {
        /// The folder that their paths must be below
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Explain a command, or, with `columns`, the columns of tables and files
    Help {
        /// A command, or columns
        #[arg(value_name = "COMMAND")]
        topic: Option<String>,
        /// Print all commands with their options as Markdown; with `columns` those of files
        #[arg(long)]
        md: bool,
    },
    /// Print a shell's completion script
    #[command(hide = true)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Run cases for a parent process
    #[command(hide = true)]
    Worker,
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
        self.device
            .as_deref()
            .filter(|device| std::env::var(DEVICE_VARIABLE).ok().as_deref() != Some(device))
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
