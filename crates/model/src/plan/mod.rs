//! The words that all rooms share: what was asked, what it turns into, and what a device is told to do. Plain data that names
//! nothing above it.

mod image;
mod movement;

pub use image::{Addressing, Image, ImageKind, PixelFormat, Sampler};
pub use movement::Movement;

use crate::data::{Array, Dtype, Layout, NumberValue, Params, Scalar, Shape};
use serde::{Deserialize, Serialize};

/// Options of every build. Argument types make drivers check the buffers that they are given.
pub const BUILD_OPTIONS: &str = "-cl-std=CL1.2 -cl-kernel-arg-info";

/// Setting of kernels that repeat their work inside, so many times.
pub const REPEATS: &str = "nreps";

/// Setting of cases of which the record says what the driver tells of the build.
pub const TOLD: &str = "told";

/// A definition that, unless it is 0, caps the registers of a work-item where the driver can:
/// [`Target::register_caps`].
pub const MAX_REGISTERS: &str = "MAX_REGISTERS";

/// Work-items of a work-group, in up to three dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorkGroup(pub [usize; 3]);

impl WorkGroup {
    pub const fn linear(size: usize) -> WorkGroup {
        WorkGroup([size, 1, 1])
    }

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
    pub family: String,
    /// The rung's idea, as in `coalesced`.
    pub variant: String,
    pub dtype: Dtype,
    pub shape: Shape,
    /// Work-group size asked for; a rung may fix its own.
    pub wg: WorkGroup,
    /// Settings asked for; a rung reads those it declares.
    pub params: Params,
    pub seed: u64,
}

impl Case {
    /// With groups of one item, no settings, and the first seed.
    pub fn of(family: &str, variant: &str, dtype: Dtype, shape: Shape) -> Case {
        let family = family.into();
        let variant = variant.into();
        let wg = WorkGroup::linear(1);
        let params = Params::new();
        Case {
            family,
            variant,
            dtype,
            shape,
            wg,
            params,
            seed: 1,
        }
    }
}

/// Bytes that an algorithm has to move through global memory and operations that it has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Bytes read plus bytes written.
    pub bytes: f64,
    pub ops: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// This result and no other.
    Exact(Array),
    /// A number that roundings may miss.
    Rounded(Rounded),
    /// The result is an error, which may be so large.
    Error(f64),
    /// Numbers each of which may be missed by a little.
    Near {
        /// The right results, of floats.
        values: Array,
        /// What each may be missed by.
        absolute: f64,
        /// Share of each that it may be missed by besides.
        relative: f64,
    },
    /// The bytes of several outputs, or of elements that are no numbers of one type; of no output where nobody was asked.
    Parts(Vec<OutputPart>),
    /// Nobody knows it, and why.
    Unknown(String),
}

impl Reference {
    /// The result that is the only right one, if there is one.
    pub fn exact(&self) -> Option<&Array> {
        if let Reference::Exact(result) = self {
            Some(result)
        } else {
            None
        }
    }

    /// The sum that roundings may miss, if it is one.
    pub fn rounded(&self) -> Option<Rounded> {
        if let Reference::Rounded(sum) = self {
            Some(*sum)
        } else {
            None
        }
    }
}

/// What is right in one of the outputs whose bytes follow each other.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputPart {
    /// The output's name; empty where there is only one.
    pub name: String,
    /// Its first byte among those of all outputs.
    pub at: usize,
    pub layout: Layout,
    /// The right bytes; those between fields do not count.
    pub want: Vec<u8>,
    /// What floats may be missed by: of each field.
    pub absolute: Vec<f64>,
    /// Share of each that it may be missed by besides.
    pub relative: f64,
}

/// A sum, with what is needed to judge a rounded one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounded {
    /// The exact sum, rounded to f64.
    pub value: f64,
    /// Sum of the terms' magnitudes: the S of the error bound gamma(d) * S.
    pub magnitude: f64,
}

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

/// A buffer of a device, or memory of the host that it copies from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// A kernel argument; of a plan, or, with [`BufferId`], of a launch on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "plans have few arguments, and copies are simpler than owners"
)]
pub enum Arg<B = usize> {
    /// A buffer: of a plan its index there.
    Buffer(B),
    /// An element index or count; its width in the kernel is the macro `INDEX`.
    Index(u64),
    Uint(u32),
    /// A `float`, by its bits.
    Float(u32),
    Int(i32),
    /// A number of another type, or a struct.
    Value(ArgValue),
    /// `__local` memory of this many bytes.
    Local(usize),
    Sampler(Sampler),
}

/// Bytes that are handed over by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgValue {
    len: u16,
    bytes: [u8; ArgValue::MOST],
}

impl ArgValue {
    /// Most bytes: OpenCL promises 256 for all arguments of a kernel together in its embedded profile.
    pub const MOST: usize = 256;

    /// These bytes, at most [`ArgValue::MOST`]; none of more.
    pub fn new(bytes: &[u8]) -> Option<ArgValue> {
        let mut value = ArgValue {
            len: bytes.len().try_into().ok()?,
            bytes: [0; ArgValue::MOST],
        };
        value.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(value)
    }

    /// A number of this type; none that the type does not hold.
    pub fn of(scalar: Scalar, number: NumberValue) -> Option<ArgValue> {
        ArgValue::new(&scalar.bytes(number)?)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len.into()]
    }
}

impl Arg {
    /// The same argument, with the buffer that a plan's index stands for.
    pub fn bound(self, buffer: impl FnOnce(usize) -> BufferId) -> Arg<BufferId> {
        match self {
            Arg::Buffer(index) => Arg::Buffer(buffer(index)),
            Arg::Index(index) => Arg::Index(index),
            Arg::Uint(value) => Arg::Uint(value),
            Arg::Float(bits) => Arg::Float(bits),
            Arg::Int(value) => Arg::Int(value),
            Arg::Value(value) => Arg::Value(value),
            Arg::Local(bytes) => Arg::Local(bytes),
            Arg::Sampler(sampler) => Arg::Sampler(sampler),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Where the driver likes: a GPU's own memory.
    Device,
    /// In memory of the host that the device can reach.
    Host,
}

/// Bytes on their way between the host and a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub host: BufferId,
    pub from: usize,
    pub buffer: BufferId,
    /// First byte there.
    pub at: usize,
    pub bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Launch(Launch),
    /// Copies from the host to a buffer.
    Write(Transfer),
    /// Copies from a buffer to the host.
    Read(Transfer),
    /// Maps a part of a buffer, copies from the host's memory to it, and unmaps it. The host waits for the mapping.
    Fill(Transfer),
    /// Maps a part of a buffer, copies from it to the host's memory, and unmaps it. The host waits for the mapping.
    Fetch(Transfer),
    /// The host computes: so many steps of `cpu::spin`, while the device goes on.
    Work(u64),
}

/// A command on one of several queues, each of which keeps its own commands in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedCommand {
    /// The queue, from 0.
    pub queue: usize,
    pub action: Action,
}

/// One launch of a kernel; of a plan a [`Pass`], whose arguments are places of buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch<B = BufferId> {
    /// Name of the `__kernel` function.
    pub kernel: String,
    /// Work-items in each dimension; a multiple of `local`.
    pub global: [usize; 3],
    /// Work-items of a group in each dimension.
    pub local: [usize; 3],
    pub args: Vec<Arg<B>>,
    pub timed: bool,
    /// What is looked at when it has ended, if launches behind it depend on that.
    pub check: Option<FlagCheck<B>>,
}

pub type Pass = Launch<usize>;

impl Launch {
    /// So many work-items from the first on, in groups of `wg`.
    pub fn linear(kernel: &str, items: usize, wg: usize, args: Vec<Arg<BufferId>>) -> Launch {
        Launch {
            kernel: kernel.to_owned(),
            global: [items, 1, 1],
            local: [wg, 1, 1],
            args,
            timed: true,
            check: None,
        }
    }
}

/// A flag that a kernel raises: as long as it is, the launches that follow go on, one turn after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagCheck<B> {
    /// As the reader calls it.
    pub name: String,
    pub buffer: B,
    pub bytes: usize,
    /// Launches that are left out if all bytes are zero.
    pub skips: usize,
    /// The turn, from 1 on, if it is the last that is allowed.
    pub last_turn: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The problem's input of this index.
    Input(usize),
    /// Read back and checked; poisoned before each check. The bytes of several follow each other.
    Output,
    /// Intermediate results; poisoned before each check.
    Scratch,
    /// Set to zero once, before the first launch; kernels leave it zero again.
    Zeroed,
    Image {
        /// The other's index, which is lower.
        of: usize,
        image: Image,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferSpec {
    pub role: Role,
    pub dtype: Dtype,
    pub len: usize,
}

impl BufferSpec {
    pub fn bytes(&self) -> usize {
        self.len * self.dtype.size()
    }
}

impl Pass {
    pub fn groups(&self) -> u64 {
        (self.global.iter().product::<usize>() / self.local.iter().product::<usize>().max(1)) as u64
    }

    /// The launch, with the buffers that the plan's indices stand for.
    pub fn bound(&self, buffer: impl Fn(usize) -> BufferId) -> Launch {
        let Launch {
            kernel,
            global,
            local,
            args,
            timed,
            check,
        } = self;
        Launch {
            kernel: kernel.clone(),
            global: *global,
            local: *local,
            args: args.iter().map(|arg| arg.bound(&buffer)).collect(),
            timed: *timed,
            check: check.clone().map(
                |FlagCheck {
                     name,
                     buffer: at,
                     bytes,
                     skips,
                     last_turn,
                 }| FlagCheck {
                    name,
                    buffer: buffer(at),
                    bytes,
                    skips,
                    last_turn,
                },
            ),
        }
    }
}

/// A case turned into data: what to build, allocate and launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Preprocessor definitions, `-D name=value`.
    pub defines: Vec<(String, String)>,
    /// Every buffer that the passes use; one at least has [`Role::Output`].
    pub buffers: Vec<BufferSpec>,
    /// Launches in order, on one in-order queue.
    pub passes: Vec<Pass>,
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
    /// Whether kernels change what untimed launches put into buffers, so that these must precede each run.
    pub restored: bool,
}

impl Plan {
    /// Notes a setting that is used.
    pub fn note(&mut self, name: &str, value: impl ToString) {
        self.params.insert(name.into(), value.to_string());
    }

    /// Defines a macro, or defines it anew.
    pub fn define(&mut self, name: &str, value: impl ToString) {
        self.defines.retain(|(defined, _)| defined != name);
        self.defines.push((name.into(), value.to_string()));
    }

    /// Notes a setting, and defines the macro that bears its name.
    pub fn set(&mut self, name: &str, value: impl ToString) {
        let value = value.to_string();
        self.define(&name.to_uppercase(), &value);
        self.note(name, value);
    }

    pub fn buffer(&mut self, role: Role, dtype: Dtype, len: usize) -> Arg {
        self.buffers.push(BufferSpec { role, dtype, len });
        Arg::Buffer(self.buffers.len() - 1)
    }

    /// Adds a launch of a kernel that the rung has beside its main one.
    pub fn launch_of(&mut self, kernel: &str, groups: [u64; 3], wg: WorkGroup, args: Vec<Arg>) {
        let global = [0, 1, 2].map(|d| groups[d] as usize * wg.0[d]);
        self.passes.push(Pass {
            kernel: kernel.into(),
            global,
            local: wg.0,
            args,
            timed: true,
            check: None,
        });
    }

    /// Adds a launch that prepares the data, and whose time does not count.
    pub fn prepare(&mut self, kernel: &str, groups: [u64; 3], wg: WorkGroup, args: Vec<Arg>) {
        self.launch_of(kernel, groups, wg, args);
        if let Some(pass) = self.passes.last_mut() {
            pass.timed = false;
        }
    }

    /// Adds an untimed launch that puts zeros into a buffer, in groups of at most so many work-items.
    pub fn zero(&mut self, max_wg: usize, to: Arg) {
        self.restore(max_wg, "gpulab_zero", to, vec![to]);
    }

    /// Adds an untimed launch that puts what a buffer holds into another one of its size.
    pub fn copy(&mut self, max_wg: usize, from: Arg, to: Arg) {
        self.restore(max_wg, "gpulab_copy", to, vec![from, to]);
    }

    fn restore(&mut self, max_wg: usize, kernel: &str, to: Arg, mut args: Vec<Arg>) {
        /// Work-items, each of which takes every so many-th word.
        const ITEMS: usize = 1 << 16;
        const WORD: usize = 16;
        let Arg::Buffer(index) = to else { return };
        let bytes = self.buffers[index].bytes();
        let wg = 64.min(max_wg).max(1);
        args.extend(ArgValue::of(Scalar::U64, NumberValue::Whole(bytes as i128)).map(Arg::Value));
        self.prepare(
            kernel,
            [bytes.div_ceil(WORD).min(ITEMS).div_ceil(wg) as u64, 1, 1],
            WorkGroup::linear(wg),
            args,
        );
    }

    pub fn bytes(&self) -> u64 {
        self.buffers.iter().map(|b| b.bytes() as u64).sum()
    }

    /// Refuses a work-group that needs more local memory than the device has.
    pub fn check_local(&self, target: &Target) -> Result<(), Refusal> {
        if self.local_bytes <= target.local_mem {
            return Ok(());
        }
        Err(Refusal::Memory(format!(
            "needs {} bytes of local memory for a work-group, this device has {}",
            self.local_bytes, target.local_mem
        )))
    }

    pub fn outputs(&self) -> impl Iterator<Item = usize> {
        (0..self.buffers.len()).filter(|&index| self.buffers[index].role == Role::Output)
    }

    /// Elements of the output, or bytes of all outputs if there are several.
    pub fn output_len(&self) -> usize {
        let mut outputs = self.outputs().map(|index| &self.buffers[index]);
        match (outputs.next(), outputs.next()) {
            (Some(only), None) => only.len,
            _ => self
                .outputs()
                .map(|index| self.buffers[index].bytes())
                .sum(),
        }
    }
}
