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
    /// Two rungs, as in reduce:2 reduce:3; or kernels of exercises or of your own family
    #[arg(value_name = "KERNEL", num_args = 2, required = true)]
    pub what: Vec<String>,
    #[command(flatten)]
    pub kernels: KernelFolder,
}
