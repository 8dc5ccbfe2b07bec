//! What devices and platforms say of themselves.

use crate::plan::Target;
use serde::{Deserialize, Serialize};

/// A device, as listed and as written into records. Sizes in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Row number of `gpulab devices`, from 0.
    pub index: usize,
    /// `platform:device`, both from 0.
    pub selector: String,
    pub platform: String,
    pub name: String,
    pub vendor: String,
    /// `gpu`, `cpu`, `accelerator` or `other`.
    #[serde(rename = "type")]
    pub kind: String,
    pub driver: String,
    /// As in `OpenCL 3.0 CUDA`.
    pub cl_version: String,
    /// Clock in MHz; 0 when unknown.
    pub clock_mhz: u32,
    /// Step of the profiling timer as the driver reports it, in nanoseconds; 0 when unknown.
    pub timer_ns: u64,
    /// Extensions, separated by blanks.
    pub extensions: String,
    #[serde(flatten)]
    pub target: Target,
}

impl DeviceInfo {
    /// Whether this is a simulator, whose times say nothing and which finds wild accesses itself.
    pub fn is_simulator(&self) -> bool {
        self.platform.contains("Oclgrind")
    }
}

/// A platform: one driver's name for itself, and its devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlatformInfo {
    /// The first number of its devices' selectors.
    pub index: usize,
    pub name: String,
    pub vendor: String,
    /// As in `OpenCL 3.0 CUDA 12.2`.
    pub version: String,
    pub devices: Vec<DeviceInfo>,
    /// Why devices are missing, if the driver says so or it can be told.
    pub problem: Option<String>,
}

/// What a device that follows a script says of itself: for tests.
pub fn fake_info() -> DeviceInfo {
    DeviceInfo {
        index: 0,
        selector: "0:0".into(),
        platform: "Fake platform".into(),
        name: "Fake device".into(),
        vendor: "gpulab".into(),
        kind: "cpu".into(),
        driver: "1.0".into(),
        cl_version: "OpenCL 1.2 fake".into(),
        clock_mhz: 1000,
        timer_ns: 1,
        extensions: String::new(),
        target: Target {
            compute_units: 2,
            local_mem: 32 << 10,
            global_mem: 1 << 30,
            max_alloc: 1 << 28,
            cache: 1 << 20,
            float_lanes: 0,
            fp16: false,
            prefetch: false,
            subgroups: false,
            ..Target::with_everything(false)
        },
    }
}
