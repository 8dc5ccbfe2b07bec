//! The table: what a compute unit of each generation holds, and how it gives it away.
//!
//! NVIDIA's limits up to compute capability 6.0 are those of the table in its CUDA Occupancy Calculator
//! (`CUDA_Occupancy_Calculator.xls`), which also says how registers are given: until 1.3 to whole groups, whose warps count
//! in pairs; since then to warps, from the registers of as many parts of the unit as the calculator's "warp allocation
//! granularity". The least that is given is 256 registers, but 512 in 1.2 and 1.3, and 64 in 2.x. Limits since 6.1 are those
//! of the tables of technical specifications per compute capability in the CUDA C++ Programming Guide. They are the
//! hardware's: NVIDIA's OpenCL itself gives a group 48 KiB of local memory and no more. On 1.x, kernels' arguments lie in
//! local memory too and count with it.
//!
//! AMD's are those that LLVM's AMDGPU back end computes with (`AMDGPUBaseInfo.cpp`, and the features of each target in
//! `GCNProcessors.td` and `AMDGPU.td`): registers of a SIMD unit and their granule, waves of a SIMD unit, and barriers of a
//! compute unit; RDNA's unit is the workgroup processor of two. RDNA runs wavefronts of 32 work-items, or of 64 where the
//! compiler chose so (`-wave64`): these have half as many registers a work-item to share, in half the granule. Scalar
//! registers, which hardly ever limit anything, are left out.

use super::{ComputeUnit, Receiver};
use gpulab_model::Error;

/// NVIDIA until 1.3: a single part, and registers that are given to whole groups. Both kinds of registers are a work-item's.
const fn tesla(name: &'static str, warps: u64, [registers, granule]: [u64; 2]) -> ComputeUnit {
    ComputeUnit {
        name,
        lockstep: 32,
        warp: "warp",
        parts: 1,
        warps,
        groups: 8,
        most_items: 512,
        singles_are_free: false,
        registers,
        receiver: Receiver::Group,
        granule,
        most_registers: 124,
        most_group_registers: registers,
        local: 16 << 10,
        most_local: 16 << 10,
        local_granule: 512,
        local_kept: 0,
    }
}

/// NVIDIA 2.x.
const fn fermi(name: &'static str) -> ComputeUnit {
    ComputeUnit {
        parts: 2,
        warps: 24,
        groups: 8,
        granule: 2,
        most_registers: 63,
        most_group_registers: 1024,
        local_granule: 128,
        ..nvidia(name, 48, 8, [48, 48])
    }
}

/// NVIDIA before Ampere. Local memory of the unit, and the most of a group, are in KiB.
const fn nvidia(name: &'static str, warps: u64, groups: u64, [local_kib, most_local_kib]: [u64; 2]) -> ComputeUnit {
    ComputeUnit {
        name,
        lockstep: 32,
        warp: "warp",
        parts: 4,
        warps: warps / 4,
        groups,
        most_items: 1024,
        singles_are_free: false,
        registers: 512,
        receiver: Receiver::Warp,
        granule: 8,
        most_registers: 255,
        most_group_registers: 2048,
        local: local_kib << 10,
        most_local: most_local_kib << 10,
        local_granule: 256,
        local_kept: 0,
    }
}

/// NVIDIA since Ampere: the system keeps 1 KiB of local memory for each group.
const fn ampere(name: &'static str, warps: u64, groups: u64, local_kib: u64) -> ComputeUnit {
    let older = nvidia(name, warps, groups, [local_kib, local_kib - 1]);
    ComputeUnit { local_granule: 128, local_kept: 1 << 10, ..older }
}

/// AMD; of a work-item are the registers.
const fn amd(
    name: &'static str,
    lockstep: u64,
    warps: u64,
    [registers, granule, most_registers]: [u64; 3],
) -> ComputeUnit {
    let is_pair = lockstep == 32;
    ComputeUnit {
        name,
        lockstep,
        warp: "wavefront",
        parts: 4,
        warps,
        groups: if is_pair { 32 } else { 16 },
        most_items: 1024,
        singles_are_free: true,
        registers,
        receiver: Receiver::Warp,
        granule,
        most_registers,
        most_group_registers: 4 * registers,
        local: if is_pair { 128 << 10 } else { 64 << 10 },
        most_local: 64 << 10,
        local_granule: 512,
        local_kept: 0,
    }
}

const fn wave64(name: &'static str, warps: u64, registers: u64, granule: u64) -> ComputeUnit {
    let narrow = amd(name, 32, warps, [registers / 2, granule / 2, 256]);
    ComputeUnit { lockstep: 64, ..narrow }
}

pub const UNITS: &[ComputeUnit] = &[
    tesla("1.0", 24, [256, 8]),
    tesla("1.1", 24, [256, 8]),
    tesla("1.2", 32, [512, 16]),
    tesla("1.3", 32, [512, 16]),
    fermi("2.0"),
    fermi("2.1"),
    ComputeUnit { most_registers: 63, ..nvidia("3.0", 64, 16, [48, 48]) },
    nvidia("3.5", 64, 16, [48, 48]),
    ComputeUnit { registers: 1024, ..nvidia("3.7", 64, 16, [112, 48]) },
    nvidia("5.0", 64, 32, [64, 48]),
    nvidia("5.2", 64, 32, [96, 48]),
    ComputeUnit { most_group_registers: 1024, ..nvidia("5.3", 64, 32, [64, 48]) },
    ComputeUnit { parts: 2, warps: 32, registers: 1024, ..nvidia("6.0", 64, 32, [64, 48]) },
    nvidia("6.1", 64, 32, [96, 48]),
    nvidia("7.0", 64, 32, [96, 96]),
    nvidia("7.5", 32, 16, [64, 64]),
    ampere("8.0", 64, 32, 164),
    ampere("8.6", 48, 16, 100),
    ampere("8.7", 48, 16, 164),
    ampere("8.9", 48, 24, 100),
    ampere("9.0", 64, 32, 228),
    ampere("10.0", 64, 32, 228),
    ampere("10.3", 64, 32, 228),
    ampere("12.0", 48, 24, 100),
    ampere("12.1", 48, 24, 100),
    ComputeUnit { most_local: 32 << 10, local_granule: 256, ..amd("gfx600", 64, 10, [256, 4, 256]) },
    amd("gfx700", 64, 10, [256, 4, 256]),
    amd("gfx803", 64, 10, [256, 4, 256]),
    amd("gfx900", 64, 10, [256, 4, 256]),
    amd("gfx906", 64, 10, [256, 4, 256]),
    amd("gfx908", 64, 10, [256, 4, 256]),
    amd("gfx90a", 64, 8, [512, 8, 512]),
    amd("gfx942", 64, 8, [512, 8, 512]),
    amd("gfx1010", 32, 20, [1024, 8, 256]),
    amd("gfx1030", 32, 16, [1024, 16, 256]),
    amd("gfx1031", 32, 16, [1024, 16, 256]),
    amd("gfx1032", 32, 16, [1024, 16, 256]),
    amd("gfx1100", 32, 16, [1536, 24, 256]),
    amd("gfx1101", 32, 16, [1536, 24, 256]),
    amd("gfx1102", 32, 16, [1024, 16, 256]),
    amd("gfx1103", 32, 16, [1024, 16, 256]),
    wave64("gfx1010-wave64", 20, 1024, 8),
    wave64("gfx1030-wave64", 16, 1024, 16),
    wave64("gfx1031-wave64", 16, 1024, 16),
    wave64("gfx1032-wave64", 16, 1024, 16),
    wave64("gfx1100-wave64", 16, 1536, 24),
    wave64("gfx1101-wave64", 16, 1536, 24),
    wave64("gfx1102-wave64", 16, 1024, 16),
    wave64("gfx1103-wave64", 16, 1024, 16),
];

pub fn unit(name: &str) -> Option<&'static ComputeUnit> {
    UNITS.iter().find(|unit| unit.name == name)
}

pub fn known(name: &str) -> Result<&'static ComputeUnit, Error> {
    let names: Vec<&str> = UNITS.iter().map(|unit| unit.name).collect();
    unit(name).ok_or_else(|| {
        Error::Usage(format!(
            "`{name}` is unknown; --generation knows NVIDIA's compute capabilities and AMD's targets, as in \
             --generation 9.0: {}. gpulab lab occupancy measures what groups cost",
            names.join(", ")
        ))
    })
}
