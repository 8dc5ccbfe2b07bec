//! The words that all rooms share: what was asked, what it turns into, and what a device is told to do. Plain data that names
//! nothing above it.

mod arg;
mod command;
mod image;
mod launches;
mod movement;
mod target;

pub use arg::{Arg, ArgValue, BufferId};
pub use command::{Action, FlagCheck, Holding, HostId, Launch, MemoryKind, QueuedCommand, Transfer};
pub use image::{Addressing, Image, ImageKind, PixelFormat, Sampler};
pub use launches::{BufferSpec, Pass, Plan, Role};
pub use movement::Movement;
pub use target::{Refusal, Target};

use crate::data::{Array, Dtype, Layout, Params, Shape};
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
        Case { family, variant, dtype, shape, wg, params, seed: 1 }
    }
}

/// Bytes that an algorithm has to move through global memory and operations that it has to do.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    Near(Near),
    /// The bytes of several outputs, or of elements that are no numbers of one type.
    Parts(Vec<OutputPart>),
    /// Nobody knows it, and why.
    Unknown(String),
}

impl Reference {
    /// The result that is the only right one, if there is one.
    pub fn exact(&self) -> Option<&Array> {
        if let Reference::Exact(result) = self { Some(result) } else { None }
    }

    /// The sum that roundings may miss, if it is one.
    pub fn rounded(&self) -> Option<Rounded> {
        if let Reference::Rounded(sum) = self { Some(*sum) } else { None }
    }
}

/// Right results, and how far others may be from them: `absolute + relative * |right|`.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// The right results, of floats.
    pub values: Array,
    /// What each may be missed by.
    pub absolute: f64,
    /// Share of each that it may be missed by besides.
    pub relative: f64,
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
