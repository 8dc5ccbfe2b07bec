//! How many work-groups a compute unit holds at once, from what each of them needs: a small table of devices, and arithmetic.
//!
//! NVIDIA's limits are those of the tables of technical specifications per compute capability in the CUDA C++ Programming
//! Guide, 6.1 from editions that still had it; that registers are given to warps in units of 256, from a quarter of the
//! unit's 65536, is from NVIDIA's occupancy calculator. They are the hardware's: NVIDIA's OpenCL itself gives a group 48 KiB
//! of local memory and no more. AMD's are those that LLVM's AMDGPU back end computes with (`AMDGPUBaseInfo.cpp`, and the
//! features of each target in `GCNProcessors.td` and `AMDGPU.td`): registers of a SIMD unit and their granule, waves of a
//! SIMD unit, and barriers of a compute unit; RDNA's unit is the workgroup processor of two. Scalar registers, which hardly
//! ever limit anything, are left out.

use crate::Error;

/// What a compute unit of some generation holds. Registers are those of one work-item, 32 bits each; memory is in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputeUnit {
    /// `8.6` for a compute capability, `gfx90a` for AMD's target.
    pub name: &'static str,
    /// Work-items in lockstep.
    pub lockstep: u64,
    /// What those are called: `warp` or `wavefront`.
    pub warp: &'static str,
    /// Warps at once of each of its four parts.
    pub warps: u64,
    /// Groups at once.
    pub groups: u64,
    /// Whether groups of a single warp are limited by the number of warps only.
    pub singles_are_free: bool,
    /// Registers that the warps of a part share.
    pub registers: u64,
    /// Registers are given in multiples of this.
    pub granule: u64,
    /// Most registers of a work-item.
    pub most_registers: u64,
    /// Local memory that groups share.
    pub local: u64,
    /// Most local memory of a group.
    pub most_local: u64,
    /// Local memory is given in multiples of this.
    pub local_granule: u64,
    /// Local memory that each group takes beside its own.
    pub local_kept: u64,
}

/// Parts of a compute unit with registers and warps of their own, in every generation of the table.
const PARTS: u64 = 4;

/// Most work-items of a group, in every generation of the table.
const MOST_ITEMS: u64 = 1024;

/// NVIDIA before Ampere. Local memory of the unit, and the most of a group, are in KiB.
const fn nvidia(name: &'static str, warps: u64, groups: u64, [local_kib, most_local_kib]: [u64; 2]) -> ComputeUnit {
    ComputeUnit {
        name,
        lockstep: 32,
        warp: "warp",
        warps: warps / PARTS,
        groups,
        singles_are_free: false,
        registers: 512,
        granule: 8,
        most_registers: 255,
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
        warps,
        groups: if is_pair { 32 } else { 16 },
        singles_are_free: true,
        registers,
        granule,
        most_registers,
        local: if is_pair { 128 << 10 } else { 64 << 10 },
        most_local: 64 << 10,
        local_granule: 512,
        local_kept: 0,
    }
}

/// The generations that are known.
pub const UNITS: &[ComputeUnit] = &[
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
];

/// The generation of this name.
pub fn unit(name: &str) -> Option<&'static ComputeUnit> {
    UNITS.iter().find(|unit| unit.name == name)
}

/// What a group needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupNeeds {
    /// Registers of a work-item.
    pub registers: u64,
    /// Bytes of local memory.
    pub local: u64,
    /// Work-items.
    pub wg: u64,
}

/// The name of local memory among the limits.
pub const LOCAL: &str = "local memory";

/// What is held at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Groups.
    pub groups: u64,
    /// Their warps.
    pub warps: u64,
    /// The most warps that the unit can hold.
    pub most_warps: u64,
    /// How many groups each resource allows.
    pub limits: Vec<(&'static str, u64)>,
}

impl Resident {
    /// Resources that allow no more groups than there are.
    pub fn limited_by(&self) -> Vec<&'static str> {
        self.limits.iter().filter(|(_, groups)| *groups == self.groups).map(|(name, _)| *name).collect()
    }
}

impl ComputeUnit {
    /// How many groups with these needs it holds at once; 0 if not even one.
    ///
    /// # Errors
    /// [`Error::Usage`] if no kernel can have such needs.
    pub fn resident(&self, need: GroupNeeds) -> Result<Resident, Error> {
        if !(1..=MOST_ITEMS).contains(&need.wg) {
            return Err(Error::Usage(format!("--wg {}: from 1 to {MOST_ITEMS} work-items are possible", need.wg)));
        }
        if need.registers > self.most_registers {
            let most = self.most_registers;
            return Err(Error::Usage(format!("--registers {}: a work-item has {most} at most", need.registers)));
        }
        if need.local > self.most_local {
            let (local, most) = (need.local, self.most_local);
            return Err(Error::Usage(format!("{local} bytes of local memory: a group has {most} at most (--local)")));
        }
        let warps = need.wg.div_ceil(self.lockstep);
        let most_warps = PARTS * self.warps;
        let given = need.registers.max(1).next_multiple_of(self.granule);
        let local = (need.local + self.local_kept).next_multiple_of(self.local_granule);
        let is_free = self.singles_are_free && warps == 1;
        let limits = vec![
            ("registers", PARTS * (self.registers / given) / warps),
            (LOCAL, self.local.checked_div(local).unwrap_or(u64::MAX)),
            ("work-items", most_warps / warps),
            ("groups", if is_free { u64::MAX } else { self.groups }),
        ];
        let groups = limits.iter().map(|(_, groups)| *groups).min().unwrap_or(0);
        Ok(Resident { groups, warps: groups * warps, most_warps, limits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(name: &str, registers: u64, local: u64, wg: u64) -> Resident {
        unit(name).unwrap().resident(GroupNeeds { registers, local, wg }).unwrap()
    }

    /// The example of NVIDIA's CUDA C++ Best Practices Guide: 37 registers, and 75% or 63% of the warps.
    #[test]
    fn registers_are_given_to_warps_in_units() {
        let narrow = groups("7.0", 37, 0, 128);
        assert_eq!((narrow.groups, narrow.warps, narrow.most_warps), (12, 48, 64));
        let wide = groups("7.0", 37, 0, 320);
        assert_eq!((wide.groups, wide.warps), (4, 40));
        assert_eq!(wide.limited_by(), ["registers"]);
        assert_eq!(groups("7.0", 32, 0, 256).warps, 64, "at most 32 registers fill the unit");
    }

    /// What LLVM's tests of `gfx908` and `gfx90a` say of kernels with 40 and 56 registers.
    #[test]
    fn accelerators_have_registers_of_their_own_number() {
        assert_eq!(groups("gfx908", 40, 0, 64).warps, 4 * 6);
        for name in ["gfx90a", "gfx942"] {
            assert_eq!(groups(name, 56, 0, 64).warps, 4 * 8, "{name}");
        }
        assert_eq!((groups("gfx1101", 96, 0, 32).warps, groups("gfx1103", 96, 0, 32).warps), (4 * 16, 4 * 10));
    }

    /// The table of AMD's OpenCL Optimization Guide: vector registers, and wavefronts of a SIMD unit.
    #[test]
    fn wavefronts_follow_from_vector_registers() {
        for (registers, waves) in [(24, 10), (28, 9), (32, 8), (36, 7), (40, 6), (48, 5), (64, 4), (84, 3), (128, 2)] {
            assert_eq!(groups("gfx906", registers, 0, 64).warps, 4 * waves, "{registers}");
        }
        assert_eq!(groups("gfx906", 256, 0, 64).warps, 4);
    }

    #[test]
    fn local_memory_and_group_counts_limit_too() {
        let most = groups("9.0", 32, 48 << 10, 64);
        assert_eq!((most.groups, most.limited_by()), (4, vec!["local memory"]));
        assert_eq!(groups("9.0", 32, 227 << 10, 64).groups, 1);
        assert_eq!(groups("8.6", 32, 0, 64).limited_by(), ["groups"]);
        assert_eq!(groups("gfx90a", 32, 64 << 10, 64).groups, 1);
        assert_eq!(groups("gfx90a", 32, 0, 128).limited_by(), ["work-items", "groups"]);
        assert_eq!(groups("gfx90a", 32, 0, 64).groups, 32, "single wavefronts need no barrier");
    }

    #[test]
    fn impossible_needs_are_refused() {
        let answer = |name, registers, local, wg| unit(name).unwrap().resident(GroupNeeds { registers, local, wg });
        let refused = |registers, wg| answer("9.0", registers, 0, wg).is_err();
        assert!(refused(256, 64) && refused(32, 0) && refused(32, 2048));
        assert!(!refused(255, 1024));
        for (name, most_kib) in [("6.1", 48), ("7.5", 64), ("8.7", 163), ("8.9", 99), ("10.3", 227), ("gfx1102", 64)] {
            let most = most_kib << 10;
            assert!(answer(name, 32, most, 64).unwrap().groups > 0, "{name}");
            for local in [most + 1, u64::MAX] {
                let why = answer(name, 32, local, 64).unwrap_err().to_string();
                assert!(why.contains(&most.to_string()), "{name}: {why}");
            }
        }
        assert_eq!(groups("9.0", 255, 0, 1024).groups, 0);
    }
}
