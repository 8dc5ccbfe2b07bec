//! What kernels need, and what a case launches.

use crate::data::Params;
use crate::plan::WorkGroup;
use serde::{Deserialize, Serialize};

/// What a driver tells of a built kernel; nothing where it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Registers of a work-item, 32 bits each.
    pub registers: Option<u64>,
    /// Bytes that a work-item stores to memory, and loads from it, for want of registers.
    pub spills: Option<[u64; 2]>,
    /// Bytes of the kernel's own `__local` arrays.
    pub local: Option<u64>,
}

/// A kernel of a plan, and what a work-group of it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspected {
    pub kernel: String,
    /// What the driver tells of it.
    pub told: Told,
    /// Bytes of local memory of a group, the kernel's own arrays and its arguments: what the plan foresees where the driver
    /// does not tell.
    pub local: u64,
    pub wg: u64,
}

/// A case's program as its driver gives it, built for the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramBinary {
    /// Its text, if it is one: PTX.
    pub text: Option<String>,
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchedOnce {
    /// The work-group that the rung made of the one asked for.
    pub wg: WorkGroup,
    /// Its settings, those that the answer depends on included.
    pub params: Params,
    /// Of each launch its kernel, and whether its time would count.
    pub launches: Vec<(String, bool)>,
}
