//! How many work-groups a compute unit holds at once, from what each of them needs: a table of devices (`units.rs`),
//! arithmetic, and curves over each need (`curve.rs`).

mod curve;
mod units;

pub use curve::Curve;
use gpulab_model::Error;
pub use units::{UNITS, known, unit};

/// What a compute unit of some generation holds. Registers are those of one work-item, 32 bits each; memory is in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputeUnit {
    /// `8.6` for a compute capability, `gfx90a` for AMD's target.
    pub name: &'static str,
    pub lockstep: u64,
    /// What those are called: `warp` or `wavefront`.
    pub warp: &'static str,
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
    pub receiver: Receiver,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// To each warp, from its part's registers.
    Warp,
    /// To a group as a whole, whose warps count in pairs.
    Group,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupNeeds {
    pub registers: u64,
    /// Bytes of local memory.
    pub local: u64,
    pub wg: u64,
}

pub const LOCAL: &str = "local memory";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    pub groups: u64,
    pub warps: u64,
    pub most_warps: u64,
    pub limits: Vec<(&'static str, u64)>,
}

impl Resident {
    /// The share of the unit's warps that are resident, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.warps as f64 / self.most_warps as f64
    }

    /// Resources that allow no more groups than there are.
    pub fn limited_by(&self) -> Vec<&'static str> {
        self.limits.iter().filter(|(_, groups)| *groups == self.groups).map(|(name, _)| *name).collect()
    }
}

impl ComputeUnit {
    /// How many groups with these needs it holds at once; 0 if not even one.
    pub fn resident(&self, need: GroupNeeds) -> Result<Resident, Error> {
        if !(1..=self.most_items).contains(&need.wg) {
            let wg = need.wg;
            let most = self.most_items;
            return Err(Error::Usage(format!("--wg {wg}: from 1 to {most} work-items are possible")));
        }
        if need.registers > self.most_registers {
            let most = self.most_registers;
            return Err(Error::Usage(format!("--registers {}: a work-item has {most} at most", need.registers)));
        }
        if need.local > self.most_local {
            let local = need.local;
            let most = self.most_local;
            return Err(Error::Usage(format!("{local} bytes of local memory: a group has {most} at most (--local)")));
        }
        let warps = need.wg.div_ceil(self.lockstep);
        let most_warps = self.parts * self.warps;
        let local = (need.local + self.local_kept).next_multiple_of(self.local_granule);
        let is_free = self.singles_are_free && warps == 1;
        let limits = vec![
            ("registers", self.groups_by_registers(need.registers.max(1), warps)),
            (LOCAL, self.local.checked_div(local).unwrap_or(u64::MAX)),
            ("work-items", most_warps / warps),
            ("groups", if is_free { u64::MAX } else { self.groups }),
        ];
        let groups = limits.iter().map(|(_, groups)| *groups).min().unwrap_or(0);
        Ok(Resident { groups, warps: groups * warps, most_warps, limits })
    }

    /// How many groups of so many warps the registers allow, where each work-item has this many.
    fn groups_by_registers(&self, registers: u64, warps: u64) -> u64 {
        match self.receiver {
            Receiver::Group => self.registers / (warps.next_multiple_of(2) * registers).next_multiple_of(self.granule),
            Receiver::Warp => {
                let given = registers.next_multiple_of(self.granule);
                if warps * given > self.most_group_registers {
                    return 0;
                }
                self.parts * (self.registers / given) / warps
            }
        }
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
            assert_eq!(groups(name, 20, 68, 192).limited_by(), ["registers"]);
            assert_eq!((of(name, 12, 0, 128), of(name, 12, 0, 256)), ((5, 20, 24), (2, 16, 24)), "{name}");
        }
        for name in ["1.2", "1.3"] {
            assert_eq!(of(name, 20, 68, 192), (4, 24, 32), "{name}");
            assert_eq!((of(name, 16, 0, 512), of(name, 17, 0, 512)), ((2, 32, 32), (1, 16, 32)), "{name}");
        }
        assert_eq!(of("1.0", 10, 0, 96), (6, 18, 24), "three warps take the registers of four");
    }

    /// Rows of NVIDIA's calculator: registers to warps, in the granules and from the parts of the generation.
    #[test]
    fn later_generations_give_registers_to_warps() {
        let of = |name, registers, local, wg| {
            let resident = groups(name, registers, local, wg);
            (resident.groups, resident.warps, resident.most_warps)
        };
        // 32768 registers: 20 of them a work-item fill 48 warps, 21 take 704 a warp and leave 46.
        assert_eq!((of("2.0", 20, 0, 256), of("2.0", 21, 0, 256)), ((6, 48, 48), (5, 40, 48)));
        assert_eq!(of("2.1", 63, 0, 64), (8, 16, 48), "2048 a warp");
        assert_eq!(of("2.0", 20, 16 << 10, 128), (3, 12, 48));
        assert_eq!(of("3.0", 32, 0, 256), (8, 64, 64));
        assert_eq!(of("3.5", 33, 0, 256), (6, 48, 64), "40 registers a warp's work-item");
        assert_eq!(of("3.7", 64, 0, 256), (8, 64, 64), "twice the registers of 3.5");
        assert_eq!(of("3.7", 65, 0, 1024).0, 0, "a group has 65536 registers at most");
        assert_eq!((of("5.0", 32, 4096, 64), of("5.2", 32, 4096, 64)), ((16, 32, 64), (24, 48, 64)));
        assert_eq!((of("5.3", 32, 0, 1024).0, of("5.3", 33, 0, 1024).0), (2, 0), "32768 registers a group");
        // 65536 / (144 x 32) are 14 warps; 6.0 counts them in pairs, the others in fours.
        assert_eq!((of("6.0", 72, 0, 32).1, of("6.1", 72, 0, 32).1), (28, 28));
        assert_eq!((of("6.0", 144, 0, 32).1, of("6.1", 144, 0, 32).1), (14, 12));
    }

    /// LLVM's arithmetic: half the registers and half the granule in wavefronts of 64.
    #[test]
    fn wide_wavefronts_halve_registers() {
        for (name, narrow, wide) in [("gfx1010", 64, 32), ("gfx1030", 64, 32), ("gfx1100", 64, 40), ("gfx1102", 64, 32)]
        {
            let warps = |name: &str| groups(name, 64, 0, 256).warps;
            assert_eq!((warps(name), warps(&format!("{name}-wave64"))), (narrow, wide), "{name}");
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
    fn unknown_generations_are_refused_with_those_that_are_known() {
        let unknown = known("pthread").unwrap_err().to_string();
        assert!(unknown.contains("gfx90a") && unknown.contains("gpulab lab occupancy"), "{unknown}");
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
