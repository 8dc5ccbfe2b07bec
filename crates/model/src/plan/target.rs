//! What plans are made for, and why one cannot be made.

use serde::{Deserialize, Serialize};

/// What a plan needs to know of a device. All sizes in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Whether the device has a GPU's shape (many work-items hide latency); CPUs want few, wide ones.
    pub gpu: bool,
    pub compute_units: u32,
    /// Largest work-group, in work-items.
    pub max_wg: usize,
    pub max_wg_dims: [usize; 3],
    /// `__local` memory of a work-group.
    pub local_mem: u64,
    pub global_mem: u64,
    /// Largest single buffer that the device promises.
    pub max_alloc: u64,
    /// Last-level cache; 0 when unknown.
    pub cache: u64,
    /// Floats in a vector as wide as the device's own; 0 when unknown.
    pub float_lanes: u32,
    pub fp64: bool,
    /// Whether kernels may compute with `half`.
    #[serde(default)]
    pub fp16: bool,
    /// Whether kernels may use NVIDIA's PTX instructions.
    pub nvidia: bool,
    /// Whether those that copy from global to local memory by no register are among them: NVIDIA since Ampere.
    pub async_copy: bool,
    /// Whether a build can cap the registers of a work-item: `cl_nv_compiler_options`.
    #[serde(default)]
    pub register_caps: bool,
    /// Whether kernels may ask for memory ahead of its use by their compiler's own `__builtin_prefetch`, a CPU's instruction, as
    /// on PoCL and Intel's driver.
    #[serde(default)]
    pub prefetch: bool,
    /// Whether OpenCL C has the functions of `cl_khr_subgroups`.
    pub subgroups: bool,
    #[serde(default)]
    pub images: bool,
}

impl Target {
    /// A made-up GPU, or CPU, that has every feature, for what must be known without a device, as which kernels an experiment
    /// may run. No measurement is of it.
    pub fn with_everything(gpu: bool) -> Target {
        Target {
            gpu,
            compute_units: 64,
            max_wg: 1024,
            max_wg_dims: [1024; 3],
            local_mem: 64 << 10,
            global_mem: 16 << 30,
            max_alloc: 4 << 30,
            cache: 32 << 20,
            float_lanes: 8,
            fp64: true,
            fp16: true,
            nvidia: gpu,
            async_copy: gpu,
            register_caps: gpu,
            prefetch: !gpu,
            subgroups: true,
            images: true,
        }
    }

    /// The same, with as much of everything as any device has, for what no device may be the reason of.
    pub fn without_limits(gpu: bool) -> Target {
        Target {
            max_wg: 8192,
            max_wg_dims: [8192; 3],
            local_mem: 1 << 40,
            global_mem: 1 << 50,
            max_alloc: 1 << 50,
            ..Target::with_everything(gpu)
        }
    }
}

/// Why a rung cannot run a case on a device: of which kind, and in words for the row's `reason`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The problem's size does not suit the rung.
    #[error("{0}")]
    Size(String),
    /// The work-group does not suit the rung or the device.
    #[error("{0}")]
    Group(String),
    /// A setting has a value that the rung cannot use.
    #[error("{0}")]
    Setting(String),
    /// A condition of the reader's file, which the settings do not meet.
    #[error("its file rules this out: where {0:?}")]
    Excluded(String),
    /// The device or its driver lacks what the rung needs.
    #[error("{0}")]
    Feature(String),
    /// It does not fit the device's memory or this machine's.
    #[error("{0}")]
    Memory(String),
}

impl Refusal {
    pub fn kind(&self) -> &'static str {
        match self {
            Refusal::Size(_) => "size",
            Refusal::Group(_) => "group",
            Refusal::Setting(_) | Refusal::Excluded(_) => "setting",
            Refusal::Feature(_) => "feature",
            Refusal::Memory(_) => "memory",
        }
    }
}
