//! What a device says of itself.

use crate::kernels::Target;
use serde::{Deserialize, Serialize};

/// A device, as listed and as written into records. Sizes in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Row number of `gpulab devices`, from 0.
    pub index: usize,
    /// `platform:device`, both from 0.
    pub selector: String,
    /// Platform name.
    pub platform: String,
    /// Device name.
    pub name: String,
    /// Device vendor.
    pub vendor: String,
    /// `gpu`, `cpu`, `accelerator` or `other`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Driver version.
    pub driver: String,
    /// As in `OpenCL 3.0 CUDA`.
    pub cl_version: String,
    /// Clock in MHz; 0 when unknown.
    pub clock_mhz: u32,
    /// Step of the profiling timer as the driver reports it, in nanoseconds.
    pub timer_ns: u64,
    /// Extensions, separated by blanks.
    pub extensions: String,
    /// What plans are made for.
    #[serde(flatten)]
    pub target: Target,
}
