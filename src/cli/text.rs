//! The options of commands that print what gpulab knows, without a device.

use super::shared::KernelFolder;
use clap::Args;

#[derive(Debug, Args)]
pub struct SourceArgs {
    /// A rung, by its family and its number or name, as in reduce:3 or transpose:copy; or an experiment, as in stride
    #[arg(value_name = "FAMILY:RUNG|EXPERIMENT")]
    pub lesson: String,
    /// Print the source with its includes in place
    #[arg(long)]
    pub expanded: bool,
    #[command(flatten)]
    pub kernels: KernelFolder,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// Two rungs, as in reduce:2 reduce:3; or a family and two of its rungs, as in reduce 2 3
    #[arg(required = true, num_args = 2..=3, value_name = "RUNG")]
    pub what: Vec<String>,
    #[command(flatten)]
    pub kernels: KernelFolder,
}
