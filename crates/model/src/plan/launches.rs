//! What a case turns into: buffers, and launches over them.

use super::arg::{Arg, BufferId};
use super::command::{FlagCheck, Launch};
use super::image::Image;
use super::{Refusal, Target, WorkGroup};
use crate::data::{Dtype, Params};

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Name of the `__kernel` function.
    pub kernel: String,
    /// Work-items in each dimension; a multiple of `local`.
    pub global: [usize; 3],
    /// Work-items of a group in each dimension.
    pub local: [usize; 3],
    pub args: Vec<Arg>,
    pub timed: bool,
    /// What is looked at when it has ended, if launches behind it depend on that.
    pub check: Option<FlagCheck<usize>>,
}

impl Pass {
    pub fn groups(&self) -> u64 {
        (self.global.iter().product::<usize>() / self.local.iter().product::<usize>().max(1)) as u64
    }

    /// The launch, with the buffers that the plan's indices stand for.
    pub fn bound(&self, buffer: impl Fn(usize) -> BufferId) -> Launch {
        let Pass { kernel, global, local, args, check, .. } = self;
        Launch {
            kernel: kernel.clone(),
            global: *global,
            local: *local,
            args: args.iter().map(|arg| arg.bound(&buffer)).collect(),
            check: check.clone().map(|FlagCheck { name, buffer: at, bytes, skips, last_turn }| FlagCheck {
                name,
                buffer: buffer(at),
                bytes,
                skips,
                last_turn,
            }),
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
            _ => self.outputs().map(|index| self.buffers[index].bytes()).sum(),
        }
    }
}
