//! The options of commands that watch a kernel in the simulator.

use super::shared::{CaseOptions, NamedMachine, RandomData};
use crate::report::drawing::DrawnView;
use crate::report::moment::FilmLine;
use crate::values;
use clap::Args;

/// What is watched, and on which machine.
#[derive(Debug, Args)]
pub struct WatchedKernel {
    /// The family whose problem your own kernel solves, as for gpulab try
    #[arg(long = "as", value_name = "FAMILY")]
    pub family: Option<String>,
    #[command(flatten)]
    pub case: CaseOptions,
    #[command(flatten)]
    pub data: RandomData,
    #[command(flatten)]
    pub machine: NamedMachine,
    /// Work-groups to show, the first of each launch; totals cover all groups
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64), default_value_t = 2)]
    pub groups: u64,
    /// Time limit of the simulator, in seconds
    #[arg(long, value_name = "S", value_parser = values::deadline, default_value = "120")]
    pub deadline: f64,
}

#[derive(Debug, Args)]
pub struct FilmArgs {
    /// A rung, as in reduce:2 or mine/family.toml:tiled (a family's file and a rung); your own kernel, as in my.cl with --as
    /// reduce; an experiment, as in banks:8; or an exercise, as in exercise:strides or solution:strides. With two, both films
    /// play side by side
    #[arg(required = true, num_args = 1..=2, value_name = "WHAT")]
    pub what: Vec<String>,
    #[command(flatten)]
    pub kernel: WatchedKernel,
    /// Open the page where this line costs most, as in 33 or strided.cl:33; worst is the costliest of all [default: the beginning]
    #[arg(long, value_name = "LINE")]
    pub line: Option<FilmLine>,
    /// The page, which needs no network; - is standard output
    #[arg(short, long, value_name = "FILE.html")]
    pub output: String,
}

#[derive(Debug, Args)]
pub struct DrawArgs {
    /// A rung, as in reduce:2 or mine/family.toml:tiled (a family's file and a rung); your own kernel, as in my.cl with --as
    /// reduce; an experiment, as in banks:8; or an exercise, as in exercise:strides or solution:strides. With two, the picture
    /// of a file alternates between them
    #[arg(required = true, num_args = 1..=2, value_name = "WHAT")]
    pub what: Vec<String>,
    #[command(flatten)]
    pub kernel: WatchedKernel,
    /// What to draw
    #[arg(long, value_enum, value_name = "VIEW", default_value_t = DrawnView::Access)]
    pub view: DrawnView,
    /// Draw what this line does [default: all lines; of accesses the one that costs most]
    #[arg(long, value_name = "LINE")]
    pub line: Option<u64>,
    /// Draw what happens in this step of the group, as its film counts them, from launch to launch
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub step: Option<u64>,
    /// Draw what this warp of the group does
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warp: u64,
    /// Draw what this group does, one of those that --groups watches
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub group: u64,
    /// Write the picture to FILE.svg instead; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
}
