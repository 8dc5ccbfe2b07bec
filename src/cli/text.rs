//! The options of commands that print what gpulab knows, without a device.

use super::shared::KernelFolder;
use clap::Args;

#[derive(Debug, Args)]
pub struct SourceArgs {
    /// A rung, by its family and its number or name, as in reduce:3 or transpose:copy; or an experiment, as in stride
    #[arg(value_name = "FAMILY:RUNG|EXPERIMENT")]
    pub lesson: String,
    /// Print what the compiler gets at the ladder's usual size: the device's build options, then the source with its
    /// includes
    #[arg(long)]
    pub expanded: bool,
    #[command(flatten)]
    pub kernels: KernelFolder,
}

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
    #[command(flatten)]
    pub kernels: KernelFolder,
}
