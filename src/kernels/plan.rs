//! What a case turns into: plain data that any device can carry out.

use crate::data::{Dtype, Params, Shape};
use serde::{Deserialize, Serialize};

/// Work-items of a work-group, in up to three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorkGroup(pub [usize; 3]);

impl WorkGroup {
    /// A one-dimensional work-group.
    pub fn linear(size: usize) -> WorkGroup {
        WorkGroup([size, 1, 1])
    }

    /// Work-items in the group.
    pub fn size(self) -> usize {
        self.0.iter().product()
    }
}

impl std::fmt::Display for WorkGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.0;
        match (y, z) {
            (1, 1) => write!(f, "{x}"),
            (_, 1) => write!(f, "{x}x{y}"),
            _ => write!(f, "{x}x{y}x{z}"),
        }
    }
}

/// One concrete choice of everything that a plan is made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The family's name.
    pub family: String,
    /// The rung's idea, as in `coalesced`.
    pub variant: String,
    /// Element type of inputs and result.
    pub dtype: Dtype,
    /// Problem size.
    pub shape: Shape,
    /// Work-group size asked for; a rung may fix its own.
    pub wg: WorkGroup,
    /// Settings asked for; a rung reads those it declares.
    pub params: Params,
    /// Seed of the test data.
    pub seed: u64,
}

/// What a plan needs to know of a device. All sizes in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Whether the device has a GPU's shape (many work-items hide latency); CPUs want few, wide ones.
    pub gpu: bool,
    /// Compute units.
    pub compute_units: u32,
    /// Largest work-group, in work-items.
    pub max_wg: usize,
    /// Largest work-group in each dimension.
    pub max_wg_dims: [usize; 3],
    /// `__local` memory of a work-group.
    pub local_mem: u64,
    /// Global memory.
    pub global_mem: u64,
    /// Largest single buffer that the device promises.
    pub max_alloc: u64,
    /// Last-level cache; 0 when unknown.
    pub cache: u64,
    /// Floats in a vector as wide as the device's own; 0 when unknown.
    pub float_lanes: u32,
    /// Whether `double` can be used.
    pub fp64: bool,
    /// Whether kernels may compute with `half`.
    #[serde(default)]
    pub fp16: bool,
    /// Whether kernels may use NVIDIA's PTX instructions.
    pub nvidia: bool,
    /// Whether those that copy from global to local memory by no register are among them: NVIDIA since Ampere.
    pub async_copy: bool,
    /// Whether OpenCL C has the functions of `cl_khr_subgroups`.
    pub subgroups: bool,
    /// Whether kernels may read images.
    #[serde(default)]
    pub images: bool,
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
    /// The device or its driver lacks what the rung needs.
    #[error("{0}")]
    Feature(String),
    /// It does not fit the device's memory or this machine's.
    #[error("{0}")]
    Memory(String),
}

impl Refusal {
    /// The kind's name.
    pub fn kind(&self) -> &'static str {
        match self {
            Refusal::Size(_) => "size",
            Refusal::Group(_) => "group",
            Refusal::Setting(_) => "setting",
            Refusal::Feature(_) => "feature",
            Refusal::Memory(_) => "memory",
        }
    }
}

/// An image with one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels of a row.
    pub width: usize,
    /// Rows of an `image2d_t`; none for an `image1d_buffer_t`.
    pub height: Option<usize>,
}

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The problem's input of this index.
    Input(usize),
    /// Read back and checked; poisoned before each check.
    Output,
    /// Intermediate results; poisoned before each check.
    Scratch,
    /// Set to zero once, before the first launch; kernels leave it zero again.
    Zeroed,
    /// None, but an image of the elements of another.
    Image {
        /// The other's index, which is lower.
        of: usize,
        /// Its size.
        image: Image,
    },
}

/// A buffer of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferSpec {
    /// What it is for.
    pub role: Role,
    /// Its elements' type.
    pub dtype: Dtype,
    /// Its elements.
    pub len: usize,
}

impl BufferSpec {
    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.len * self.dtype.size()
    }
}

/// A kernel argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The plan's buffer of this index.
    Buffer(usize),
    /// An element index or count; its width in the kernel is the macro `INDEX`.
    Index(u64),
    /// A `uint`.
    Uint(u32),
    /// An `int`.
    Int(i32),
    /// `__local` memory of this many bytes.
    Local(usize),
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Name of the `__kernel` function.
    pub kernel: String,
    /// Work-items in each dimension; a multiple of `local`.
    pub global: [usize; 3],
    /// Work-items of a group in each dimension.
    pub local: [usize; 3],
    /// Arguments in order.
    pub args: Vec<Arg>,
    /// Whether its time counts.
    pub timed: bool,
}

/// A case turned into data: what to build, allocate and launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Preprocessor definitions, `-D name=value`.
    pub defines: Vec<(String, String)>,
    /// Every buffer that the passes use; exactly one has [`Role::Output`].
    pub buffers: Vec<BufferSpec>,
    /// Launches in order, on one in-order queue.
    pub passes: Vec<Pass>,
    /// The work-group size used.
    pub wg: WorkGroup,
    /// The settings used, defaults filled in.
    pub params: Params,
    /// `__local` bytes of a work-group, static and by argument.
    pub local_bytes: u64,
    /// Most roundings that any one term passes through on the device and in the host's finish
    /// (the d of gamma(d); see [`crate::check`]).
    pub depth: u64,
    /// First element that the host adds itself, if any (`--presum host`).
    pub host_tail: Option<u64>,
}

impl Plan {
    /// Bytes of all buffers together.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().map(|b| b.bytes() as u64).sum()
    }

    /// Index of the output buffer.
    pub fn output(&self) -> Option<usize> {
        self.buffers.iter().position(|b| b.role == Role::Output)
    }
}

/// Bytes that an algorithm has to move through global memory and operations that it has to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Bytes read plus bytes written.
    pub bytes: f64,
    /// Arithmetic operations.
    pub ops: f64,
}
