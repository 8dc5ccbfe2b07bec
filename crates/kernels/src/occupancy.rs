//! How many work-groups a compute unit holds at once, from what each of them needs.
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

use gpulab_model::{Error, Result, usage_error};

/// What a compute unit of some generation holds. Registers are those of one work-item, 32 bits each; memory is in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputeUnit {
    /// `8.6` for a compute capability, `gfx90a` for AMD's target.
    pub name: &'static str,
    pub lockstep: u64,
    /// Its parts, with registers and warps of their own.
    pub parts: u64,
    /// Warps at once of each part.
    pub warps: u64,
    pub groups: u64,
    /// Most work-items of a group.
    pub most_items: u64,
    /// Whether groups of a single warp are limited by the number of warps only.
    pub singles_are_free: bool,
    /// Registers of a work-item that the warps of a part share.
    pub registers: u64,
    /// Whether a group has its registers as a whole, and its warps count in pairs; else each warp has them from its part's.
    pub takes_whole_groups: bool,
    /// Registers are given in multiples of this.
    pub granule: u64,
    /// Most registers of a work-item.
    pub most_registers: u64,
    pub most_group_registers: u64,
    /// Local memory that groups share.
    pub local: u64,
    /// Most local memory of a group.
    pub most_local: u64,
    /// Local memory is given in multiples of this.
    pub local_granule: u64,
    /// Local memory that each group takes beside its own.
    pub local_kept: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    pub groups: u64,
    pub warps: u64,
    pub most_warps: u64,
    /// Resources that allow no more groups than there are.
    pub limited_by: Vec<&'static str>,
}

impl ComputeUnit {
    /// How many groups of `wg` work-items, with so many registers each and so many bytes of local memory together, it holds at
    /// once; 0 if not even one.
    pub fn resident(&self, registers: u64, local: u64, wg: u64) -> Result<Resident> {
        if !(1..=self.most_items).contains(&wg) {
            let most = self.most_items;
            return usage_error(format!(
                "--wg {wg}: from 1 to {most} work-items are possible"
            ));
        }
        if registers > self.most_registers {
            let most = self.most_registers;
            return usage_error(format!(
                "--registers {registers}: a work-item has {most} at most"
            ));
        }
        if local > self.most_local {
            let most = self.most_local;
            return usage_error(format!(
                "{local} bytes of local memory: a group has {most} at most (--local)"
            ));
        }
        let warps = wg.div_ceil(self.lockstep);
        let most_warps = self.parts * self.warps;
        let local = (local + self.local_kept).next_multiple_of(self.local_granule);
        let is_free = self.singles_are_free && warps == 1;
        let limits = [
            (
                "registers",
                self.groups_by_registers(registers.max(1), warps),
            ),
            (
                "local memory",
                self.local.checked_div(local).unwrap_or(u64::MAX),
            ),
            ("work-items", most_warps / warps),
            ("groups", if is_free { u64::MAX } else { self.groups }),
        ];
        let groups = limits.iter().map(|(_, groups)| *groups).min().unwrap_or(0);
        let limited_by = limits
            .into_iter()
            .filter(|(_, most)| *most == groups)
            .map(|(name, _)| name)
            .collect();
        Ok(Resident {
            groups,
            warps: groups * warps,
            most_warps,
            limited_by,
        })
    }

    /// How many groups of so many warps the registers allow, where each work-item has this many.
    fn groups_by_registers(&self, registers: u64, warps: u64) -> u64 {
        if self.takes_whole_groups {
            return self.registers
                / (warps.next_multiple_of(2) * registers).next_multiple_of(self.granule);
        }
        let given = registers.next_multiple_of(self.granule);
        let fits = warps * given <= self.most_group_registers;
        if fits {
            self.parts * (self.registers / given) / warps
        } else {
            0
        }
    }
}

/// NVIDIA until 1.3: a single part, and registers that are given to whole groups. Both kinds of registers are a work-item's.
const fn tesla(name: &'static str, warps: u64, [registers, granule]: [u64; 2]) -> ComputeUnit {
    ComputeUnit {
        name,
        lockstep: 32,
        parts: 1,
        warps,
        groups: 8,
        most_items: 512,
        singles_are_free: false,
        registers,
        takes_whole_groups: true,
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
const fn nvidia(
    name: &'static str,
    warps: u64,
    groups: u64,
    [local_kib, most_local_kib]: [u64; 2],
) -> ComputeUnit {
    ComputeUnit {
        name,
        lockstep: 32,
        parts: 4,
        warps: warps / 4,
        groups,
        most_items: 1024,
        singles_are_free: false,
        registers: 512,
        takes_whole_groups: false,
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
    ComputeUnit {
        local_granule: 128,
        local_kept: 1 << 10,
        ..older
    }
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
        parts: 4,
        warps,
        groups: if is_pair { 32 } else { 16 },
        most_items: 1024,
        singles_are_free: true,
        registers,
        takes_whole_groups: false,
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
    ComputeUnit {
        lockstep: 64,
        ..narrow
    }
}

const UNITS: &[ComputeUnit] = &[
    tesla("1.0", 24, [256, 8]),
    tesla("1.1", 24, [256, 8]),
    tesla("1.2", 32, [512, 16]),
    tesla("1.3", 32, [512, 16]),
    fermi("2.0"),
    fermi("2.1"),
    ComputeUnit {
        most_registers: 63,
        ..nvidia("3.0", 64, 16, [48, 48])
    },
    nvidia("3.5", 64, 16, [48, 48]),
    ComputeUnit {
        registers: 1024,
        ..nvidia("3.7", 64, 16, [112, 48])
    },
    nvidia("5.0", 64, 32, [64, 48]),
    nvidia("5.2", 64, 32, [96, 48]),
    ComputeUnit {
        most_group_registers: 1024,
        ..nvidia("5.3", 64, 32, [64, 48])
    },
    ComputeUnit {
        parts: 2,
        warps: 32,
        registers: 1024,
        ..nvidia("6.0", 64, 32, [64, 48])
    },
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
    ComputeUnit {
        most_local: 32 << 10,
        local_granule: 256,
        ..amd("gfx600", 64, 10, [256, 4, 256])
    },
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

/// A generation by its name, with those that are known if it is none.
pub fn unit(name: &str) -> Result<&'static ComputeUnit> {
    UNITS.iter().find(|unit| unit.name == name).ok_or_else(|| {
        let names: Vec<&str> = UNITS.iter().map(|unit| unit.name).collect();
        Error::Usage(format!(
            "`{name}` is unknown; --generation takes NVIDIA's compute capabilities and AMD's targets: {}",
            names.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(name: &str, registers: u64, local: u64, wg: u64) -> Resident {
        unit(name).unwrap().resident(registers, local, wg).unwrap()
    }

    /// The example of NVIDIA's CUDA C++ Best Practices Guide: 37 registers, and 75% or 63% of the warps.
    #[test]
    fn registers_are_given_to_warps_in_units() {
        let narrow = groups("7.0", 37, 0, 128);
        assert_eq!(
            (narrow.groups, narrow.warps, narrow.most_warps),
            (12, 48, 64)
        );
        let wide = groups("7.0", 37, 0, 320);
        assert_eq!((wide.groups, wide.warps), (4, 40));
        assert_eq!(wide.limited_by, ["registers"]);
        assert_eq!(
            groups("7.0", 32, 0, 256).warps,
            64,
            "at most 32 registers fill the unit"
        );
    }

    /// The slides' example of compute capability 1.x, and those of NVIDIA's guides: 16 registers fill a unit of 1.2 with two
    /// groups of 512 and 17 leave one (CUDA C Programming Guide 4.x, 5.2.3); 12 registers give 83 % of the warps of 1.0 in
    /// groups of 128 and 67 % in groups of 256 (CUDA C Best Practices Guide 4.x, 10.2.1).
    #[test]
    fn early_generations_give_registers_to_groups() {
        let of = |name, registers, local, wg| {
            let resident = groups(name, registers, local, wg);
            (resident.groups, resident.warps, resident.most_warps)
        };
        for name in ["1.0", "1.1"] {
            assert_eq!(of(name, 20, 68, 192), (2, 12, 24), "{name}");
            assert_eq!(groups(name, 20, 68, 192).limited_by, ["registers"]);
            assert_eq!(
                (of(name, 12, 0, 128), of(name, 12, 0, 256)),
                ((5, 20, 24), (2, 16, 24)),
                "{name}"
            );
        }
        for name in ["1.2", "1.3"] {
            assert_eq!(of(name, 20, 68, 192), (4, 24, 32), "{name}");
            assert_eq!(
                (of(name, 16, 0, 512), of(name, 17, 0, 512)),
                ((2, 32, 32), (1, 16, 32)),
                "{name}"
            );
        }
        assert_eq!(
            of("1.0", 10, 0, 96),
            (6, 18, 24),
            "three warps take the registers of four"
        );
    }

    /// Rows of NVIDIA's calculator: registers to warps, in the granules and from the parts of the generation.
    #[test]
    fn later_generations_give_registers_to_warps() {
        let of = |name, registers, local, wg| {
            let resident = groups(name, registers, local, wg);
            (resident.groups, resident.warps, resident.most_warps)
        };
        // 32768 registers: 20 of them a work-item fill 48 warps, 21 take 704 a warp and leave 46.
        assert_eq!(
            (of("2.0", 20, 0, 256), of("2.0", 21, 0, 256)),
            ((6, 48, 48), (5, 40, 48))
        );
        assert_eq!(of("2.1", 63, 0, 64), (8, 16, 48), "2048 a warp");
        assert_eq!(of("2.0", 20, 16 << 10, 128), (3, 12, 48));
        assert_eq!(of("3.0", 32, 0, 256), (8, 64, 64));
        assert_eq!(
            of("3.5", 33, 0, 256),
            (6, 48, 64),
            "40 registers a warp's work-item"
        );
        assert_eq!(
            of("3.7", 64, 0, 256),
            (8, 64, 64),
            "twice the registers of 3.5"
        );
        assert_eq!(
            of("3.7", 65, 0, 1024).0,
            0,
            "a group has 65536 registers at most"
        );
        assert_eq!(
            (of("5.0", 32, 4096, 64), of("5.2", 32, 4096, 64)),
            ((16, 32, 64), (24, 48, 64))
        );
        assert_eq!(
            (of("5.3", 32, 0, 1024).0, of("5.3", 33, 0, 1024).0),
            (2, 0),
            "32768 registers a group"
        );
        // 65536 / (144 x 32) are 14 warps; 6.0 counts them in pairs, the others in fours.
        assert_eq!((of("6.0", 72, 0, 32).1, of("6.1", 72, 0, 32).1), (28, 28));
        assert_eq!((of("6.0", 144, 0, 32).1, of("6.1", 144, 0, 32).1), (14, 12));
    }

    /// LLVM's arithmetic: half the registers and half the granule in wavefronts of 64.
    #[test]
    fn wide_wavefronts_halve_registers() {
        for (name, narrow, wide) in [
            ("gfx1010", 64, 32),
            ("gfx1030", 64, 32),
            ("gfx1100", 64, 40),
            ("gfx1102", 64, 32),
        ] {
            let warps = |name: &str| groups(name, 64, 0, 256).warps;
            assert_eq!(
                (warps(name), warps(&format!("{name}-wave64"))),
                (narrow, wide),
                "{name}"
            );
        }
        assert_eq!(groups("gfx600", 24, 32 << 10, 256).groups, 2);
        assert_eq!(groups("gfx803", 24, 0, 64).warps, 40);
    }

    /// What LLVM's tests of `gfx908` and `gfx90a` say of kernels with 40 and 56 registers.
    #[test]
    fn accelerators_have_registers_of_their_own_number() {
        assert_eq!(groups("gfx908", 40, 0, 64).warps, 4 * 6);
        for name in ["gfx90a", "gfx942"] {
            assert_eq!(groups(name, 56, 0, 64).warps, 4 * 8, "{name}");
        }
        assert_eq!(
            (
                groups("gfx1101", 96, 0, 32).warps,
                groups("gfx1103", 96, 0, 32).warps
            ),
            (4 * 16, 4 * 10)
        );
    }

    /// The table of AMD's OpenCL Optimization Guide: vector registers, and wavefronts of a SIMD unit.
    #[test]
    fn wavefronts_follow_from_vector_registers() {
        for (registers, waves) in [
            (24, 10),
            (28, 9),
            (32, 8),
            (36, 7),
            (40, 6),
            (48, 5),
            (64, 4),
            (84, 3),
            (128, 2),
        ] {
            assert_eq!(
                groups("gfx906", registers, 0, 64).warps,
                4 * waves,
                "{registers}"
            );
        }
        assert_eq!(groups("gfx906", 256, 0, 64).warps, 4);
    }

    #[test]
    fn local_memory_and_group_counts_limit_too() {
        let most = groups("9.0", 32, 48 << 10, 64);
        assert_eq!((most.groups, most.limited_by), (4, vec!["local memory"]));
        assert_eq!(groups("9.0", 32, 227 << 10, 64).groups, 1);
        assert_eq!(groups("8.6", 32, 0, 64).limited_by, ["groups"]);
        assert_eq!(groups("gfx90a", 32, 64 << 10, 64).groups, 1);
        assert_eq!(
            groups("gfx90a", 32, 0, 128).limited_by,
            ["work-items", "groups"]
        );
        assert_eq!(
            groups("gfx90a", 32, 0, 64).groups,
            32,
            "single wavefronts need no barrier"
        );
    }

    #[test]
    fn impossible_needs_are_refused() {
        let answer =
            |name, registers, local, wg| unit(name).unwrap().resident(registers, local, wg);
        let refused = |registers, wg| answer("9.0", registers, 0, wg).is_err();
        assert!(refused(256, 64) && refused(32, 0) && refused(32, 2048));
        assert!(!refused(255, 1024));
        for (name, most_kib) in [
            ("6.1", 48),
            ("7.5", 64),
            ("8.7", 163),
            ("8.9", 99),
            ("10.3", 227),
            ("gfx1102", 64),
        ] {
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
