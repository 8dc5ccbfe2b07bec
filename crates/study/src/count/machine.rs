//! The machines that are counted for. The head of the simulator's plugin states what each rule counts.

/// Which requests make which transactions of global memory, and how local memory serves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRule {
    /// A warp's request moves the segments that it touches.
    Segments,
    /// Compute capability 1.0 and 1.1: half a warp in step is one transaction, any other one for each work-item.
    Strict,
    /// Compute capability 1.2 and 1.3: half a warp moves the blocks that it touches, which shrink to the half that is used.
    Shrinking,
}

impl AccessRule {
    /// Its name for the plugin.
    pub const fn name(self) -> &'static str {
        match self {
            AccessRule::Segments => "segments",
            AccessRule::Strict => "strict",
            AccessRule::Shrinking => "shrinking",
        }
    }
}

/// The machine that is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockstepModel {
    /// Its name in [`MACHINES`]; empty where none was asked for.
    pub machine: &'static str,
    pub warp: u64,
    /// Bytes of a segment of global memory, or of the largest transaction.
    pub segment: u64,
    /// Banks of local memory, each 4 bytes wide.
    pub banks: u64,
    pub rule: AccessRule,
    /// Partitions of global memory, each 256 bytes wide; 0 where addresses are spread in no known way.
    pub partitions: u64,
    /// Compute units: groups that run at once, for the load of partitions.
    pub units: u64,
}

impl LockstepModel {
    /// NVIDIA's GPUs, and near enough to others.
    pub const USUAL: LockstepModel = LockstepModel {
        machine: "",
        warp: 32,
        segment: 32,
        banks: 32,
        rule: AccessRule::Segments,
        partitions: 0,
        units: 1,
    };
}

#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub name: &'static str,
    pub about: &'static str,
    pub source: &'static str,
    pub model: LockstepModel,
}

const fn machine(about: &'static str, source: &'static str, model: LockstepModel) -> Machine {
    Machine {
        name: model.machine,
        about,
        source,
        model,
    }
}

/// An 8-series GPU of compute capability 1.0, as the GeForce 8800 GTX.
const SERIES_8: LockstepModel = LockstepModel {
    machine: "cc1.0",
    segment: 128,
    banks: 16,
    rule: AccessRule::Strict,
    partitions: 6,
    units: 16,
    ..LockstepModel::USUAL
};

/// A 10-series GPU of compute capability 1.3.
const SERIES_10: LockstepModel = LockstepModel {
    machine: "cc1.2",
    segment: 128,
    banks: 16,
    rule: AccessRule::Shrinking,
    partitions: 8,
    units: 30,
    ..LockstepModel::USUAL
};

pub const MACHINES: &[Machine] = &[
    machine(
        "compute capability 1.0, 8-series: half-warps in step or a transaction for each work-item",
        "NVIDIA, Optimizing CUDA (2009): coalescing, banks, 6 partitions of 256 bytes, G80 with 16 multiprocessors",
        SERIES_8,
    ),
    machine(
        "compute capability 1.1: as cc1.0",
        "NVIDIA, Optimizing CUDA (2009)",
        LockstepModel {
            machine: "cc1.1",
            ..SERIES_8
        },
    ),
    machine(
        "compute capability 1.2, 10-series: half-warps, transactions of 32, 64 or 128 bytes",
        "NVIDIA, Optimizing CUDA (2009): coalescing, banks, 8 partitions of 256 bytes, 30 multiprocessors",
        SERIES_10,
    ),
    machine(
        "compute capability 1.3: as cc1.2",
        "NVIDIA, Optimizing CUDA (2009)",
        LockstepModel {
            machine: "cc1.3",
            ..SERIES_10
        },
    ),
    machine(
        "GeForce GTX 280, compute capability 1.3",
        "NVIDIA, Optimizing CUDA (2009), whose study of the transposition ran on it",
        LockstepModel {
            machine: "gtx280",
            ..SERIES_10
        },
    ),
    machine(
        "a GPU of the Tesla S1070, compute capability 1.3",
        "Maruyama's lecture on optimising CUDA programs (Tokyo Tech), which ran on TSUBAME's; Optimizing CUDA (2009)",
        LockstepModel {
            machine: "s1070",
            ..SERIES_10
        },
    ),
    machine(
        "compute capability 2.0: warps, lines of 128 bytes, 32 banks",
        "NVIDIA, CUDA C Programming Guide 4.2, Compute Capabilities; Bornhofen, GPU Programming III: 32 banks",
        LockstepModel {
            machine: "cc2.0",
            segment: 128,
            ..LockstepModel::USUAL
        },
    ),
    machine(
        "what is counted without --machine: warps, segments of 32 bytes, 32 banks",
        "NVIDIA, CUDA C++ Best Practices Guide, Coalesced Access to Global Memory; an H200's counters",
        LockstepModel {
            machine: "today",
            ..LockstepModel::USUAL
        },
    ),
    machine(
        "today, with wavefronts of 64 work-items",
        "AMD, OpenCL Programming Optimization Guide: wavefronts of 64, 32 banks of local memory",
        LockstepModel {
            machine: "wave64",
            warp: 64,
            ..LockstepModel::USUAL
        },
    ),
];

impl Machine {
    pub fn named(name: &str) -> Option<&'static Machine> {
        MACHINES.iter().find(|machine| machine.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_names_of_their_own_and_today_is_the_usual_one() {
        for (at, machine) in MACHINES.iter().enumerate() {
            assert!(!machine.name.is_empty() && !machine.source.is_empty());
            assert!(
                MACHINES[..at]
                    .iter()
                    .all(|other| other.name != machine.name),
                "{}",
                machine.name
            );
        }
        let today = Machine::named("today").unwrap().model;
        assert_eq!(
            LockstepModel {
                machine: "",
                ..today
            },
            LockstepModel::USUAL
        );
        assert!(Machine::named("gtx290").is_none());
    }
}
