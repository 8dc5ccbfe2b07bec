//! Every case that the tests on drivers may leave out, in one list with the reasons. A case that is refused and is not
//! listed fails, and so does a listed one that runs.

use gpulab::cpu::reduce::Op;
use gpulab::data::Dtype;
use gpulab::exchange;
use gpulab::outcome::{Status, Stop};
use gpulab::plan::{Case, Refusal, Target};
use gpulab::runner::Session;

/// A kind of case that is left out.
struct Skip {
    /// `family` or `family/rung`; none for all.
    of: &'static [&'static str],
    /// Element types; none for all.
    dtypes: &'static [Dtype],
    /// Drivers; none for all.
    drivers: &'static [&'static str],
    when: fn(&Case, &Target) -> bool,
    how: How,
    why: &'static str,
}

/// How a case is left out.
#[derive(Clone, Copy, PartialEq)]
enum How {
    /// It is refused, with a refusal of this kind.
    Refused(&'static str),
    /// It may run or be refused so, by what of the device no test can know.
    MayBeRefused(&'static str),
    /// It is not tried.
    Spared,
}
use How::{MayBeRefused, Refused, Spared};

const ALL: Skip = Skip {
    of: &[],
    dtypes: &[],
    drivers: &[],
    when: |_, _| true,
    how: Spared,
    why: "",
};
const FLOATS: &[Dtype] = &[Dtype::F32, Dtype::F64];
/// Rungs that halve a work-group until one item is left.
const HALVING: &[&str] = &[
    "reduce/interleaved",
    "reduce/strided",
    "reduce/sequential",
    "reduce/first_add",
    "reduce/last_warp",
    "reduce/unrolled",
    "reduce/raking",
];
/// Rungs whose items run in lockstep.
const LOCKSTEP: &[&str] = &[
    "reduce/last_warp",
    "reduce/unrolled",
    "reduce/raking",
    "reduce/subgroup",
];
/// Rungs whose tile the work-group size or `rows` shares out.
const SHARED_OUT: &[&str] = &[
    "transpose/copy",
    "transpose/local_copy",
    "transpose/naive",
    "transpose/coalesced",
    "transpose/conflict_free",
    "transpose/diagonal",
    "transpose/vectorised",
];

const SKIPS: &[Skip] = &[
    Skip {
        dtypes: &[Dtype::F64],
        when: |_, target| !target.fp64,
        how: Refused("feature"),
        why: "the device has no doubles",
        ..ALL
    },
    Skip {
        when: |case, target| is(case, "half", "1") && (case.dtype != Dtype::F32 || !target.fp16),
        how: Refused("feature"),
        why: "the device has no halves, and they stand in for floats only",
        ..ALL
    },
    Skip {
        of: HALVING,
        when: |case, _| !case.wg.size().is_power_of_two(),
        how: Refused("group"),
        why: "a tree halves its group",
        ..ALL
    },
    Skip {
        of: &["reduce"],
        dtypes: FLOATS,
        when: |case, _| is_bitwise(case),
        how: Refused("setting"),
        why: "floats have no bits to join",
        ..ALL
    },
    Skip {
        of: LOCKSTEP,
        when: |case, target| target.nvidia && !case.wg.size().is_multiple_of(32),
        how: Refused("group"),
        why: "a warp's instructions need whole warps",
        ..ALL
    },
    Skip {
        of: &["reduce/subgroup"],
        when: |_, target| !target.nvidia && !target.subgroups,
        how: Refused("feature"),
        why: "nothing keeps items in step",
        ..ALL
    },
    Skip {
        of: &["reduce/subgroup"],
        when: |case, target| !target.nvidia && is_bitwise(case),
        how: Refused("feature"),
        why: "OpenCL's sub-groups join no bits",
        ..ALL
    },
    Skip {
        of: &["reduce/subgroup"],
        when: |case, target| !target.nvidia && case.wg.size() == 1,
        how: Refused("group"),
        why: "a sub-group of one item has nothing to reduce",
        ..ALL
    },
    Skip {
        of: &["lockstep/bare", "lockstep/volatile"],
        drivers: &["oclgrind"],
        why: "their race is what they show",
        ..ALL
    },
    Skip {
        of: &["registers"],
        when: |case, target| {
            !target.register_caps && number(case, "max_registers").is_some_and(|cap| cap > 0)
        },
        how: Refused("feature"),
        why: "of the drivers known only NVIDIA's caps registers",
        ..ALL
    },
    Skip {
        of: &["presum"],
        when: |case, _| case.shape.n < 8 * case.wg.size() as u64,
        how: Refused("size"),
        why: "no whole group is left",
        ..ALL
    },
    Skip {
        of: SHARED_OUT,
        when: |case, _| number(case, "rows").is_some_and(|rows| !tile(case).is_multiple_of(rows)),
        how: Refused("setting"),
        why: "a tile has no whole number of such parts",
        ..ALL
    },
    Skip {
        of: SHARED_OUT,
        when: |case, _| {
            let (columns, wg) = (columns(case), case.wg.size());
            number(case, "rows").is_none()
                && (!wg.is_multiple_of(columns) || wg / columns > tile(case))
        },
        how: Refused("group"),
        why: "the work-group has no share of the tile",
        ..ALL
    },
    Skip {
        of: SHARED_OUT,
        when: |case, target| {
            number(case, "rows")
                .is_some_and(|rows| columns(case) * tile(case) / rows > target.max_wg)
        },
        how: Refused("group"),
        why: "so many parts are more items than the device takes",
        ..ALL
    },
    Skip {
        of: &["transpose/registers"],
        when: |case, target| {
            number(case, "tile").is_none()
                && number(case, "rows").is_some_and(|rows| 64 * 64 / rows > target.max_wg)
        },
        how: Refused("group"),
        why: "an item for so few elements of a tile makes more of them than the device takes",
        ..ALL
    },
    Skip {
        of: &["minplus/tiled", "minplus/three_way"],
        dtypes: &[Dtype::F32, Dtype::I32],
        when: |case, _| {
            ["4x2", "6x2", "8x2"]
                .iter()
                .any(|item| is(case, "item", item))
        },
        how: Refused("setting"),
        why: "an item takes vectors of four",
        ..ALL
    },
    Skip {
        of: &["minplus/tiled"],
        dtypes: &[Dtype::F32, Dtype::I32],
        when: |case, target| {
            let [tile, item] = [("tile", [128, 128]), ("item", [8, 8])]
                .map(|(name, or)| pair(case, name).unwrap_or(or));
            let vectors = 4 * (tile[0] / item[0]) * (tile[1] / item[1]);
            tile.iter()
                .any(|side| !(stage(case, target) * side).is_multiple_of(vectors))
        },
        how: Refused("setting"),
        why: "cannot share the staged elements evenly",
        ..ALL
    },
    Skip {
        of: &["minplus/tiled"],
        dtypes: &[Dtype::I32],
        when: |case, target| !target.gpu && stage(case, target) < 16,
        how: Refused("setting"),
        why: "the compiler of Intel's driver crashes over integers in panels of few rows",
        ..ALL
    },
    Skip {
        of: &["minplus/wide"],
        when: |case, _| is(case, "item", "16x8"),
        how: Refused("setting"),
        why: "128 vectors are more than an item has registers",
        ..ALL
    },
    Skip {
        of: &["minplus", "transpose"],
        // As they are without settings, they run anywhere.
        when: |case, _| case.params.keys().any(|name| name != "weights"),
        how: MayBeRefused("memory"),
        why: "tiles may be larger than local memory, and registers fewer than needed",
        ..ALL
    },
    Skip {
        of: &["minplus/tiled", "transpose/vectorised"],
        drivers: &["rusticl"],
        how: MayBeRefused("memory"),
        why: "of the 32 KiB of local memory that Mesa 22.3 states for llvmpipe, a kernel may declare 16",
        ..ALL
    },
    Skip {
        of: &["arith"],
        drivers: &["rusticl"],
        when: |case, _| is(case, "op", "fma"),
        why: "rusticl's fma() is no instruction, and its results are not those of one",
        ..ALL
    },
    Skip {
        of: &["texels/line", "texels/plane", "sampled"],
        drivers: &["oclgrind"],
        why: "Oclgrind 21.10 takes what an image gives for uninitialised, now and then and at constant coordinates too",
        ..ALL
    },
    Skip {
        of: &["launch/back_to_back"],
        drivers: &["oclgrind"],
        why: "a simulator needs seconds for what is launched a thousand times",
        ..ALL
    },
    Skip {
        of: &["pipeline/chunks"],
        drivers: &["oclgrind"],
        when: |case, _| number(case, exchange::CHUNKS_SET).is_some_and(|chunks| chunks > 1),
        why: "Oclgrind 21.10 takes a buffer that is written in parts for uninitialised",
        ..ALL
    },
];

fn is(case: &Case, name: &str, value: &str) -> bool {
    case.params.get(name).is_some_and(|given| given == value)
}

fn number(case: &Case, name: &str) -> Option<usize> {
    case.params.get(name)?.parse().ok()
}

fn pair(case: &Case, name: &str) -> Option<[usize; 2]> {
    let (high, wide) = case.params.get(name)?.split_once('x')?;
    Some([high.parse().ok()?, wide.parse().ok()?])
}

/// Rows of a panel that min-plus' fourth rung stages at once.
fn stage(case: &Case, target: &Target) -> usize {
    number(case, "depth").unwrap_or(if case.dtype == Dtype::I32 && !target.gpu {
        16
    } else {
        8
    })
}

fn is_bitwise(case: &Case) -> bool {
    Op::of(&case.params).is_some_and(Op::is_bitwise)
}

/// Rows of a tile of the transposition.
fn tile(case: &Case) -> usize {
    number(case, "tile").unwrap_or(if case.variant == "vectorised" { 64 } else { 32 })
}

/// Items that a row of it takes.
fn columns(case: &Case) -> usize {
    if case.variant == "vectorised" {
        tile(case) / 4
    } else {
        tile(case)
    }
}

/// How a case is to be left out on a driver, if it is listed.
fn listed(driver: &str, case: &Case, target: &Target) -> Option<&'static Skip> {
    let rung = format!("{}/{}", case.family, case.variant);
    // Without elements nothing is planned.
    let is_empty = case.shape.elements() == 0;
    SKIPS.iter().find(|skip| {
        (skip.of.is_empty() || skip.of.iter().any(|of| *of == case.family || *of == rung))
            && (skip.dtypes.is_empty() || skip.dtypes.contains(&case.dtype))
            && (skip.drivers.is_empty() || skip.drivers.contains(&driver))
            && (!is_empty || skip.how == Spared)
            && (skip.when)(case, target)
    })
}

/// Verifies one case and returns 1; 0 for a listed skip.
pub fn verify(session: &mut Session, driver: &str, case: &Case) -> usize {
    run(session, driver, case, |session, case| {
        session.verify(case).end.map(drop)
    })
}

/// As [`verify`], by another way to run a case.
pub fn run(
    session: &mut Session,
    driver: &str,
    case: &Case,
    run: impl Fn(&mut Session, &Case) -> Result<(), Stop>,
) -> usize {
    let skip = listed(driver, case, &session.device().info().target);
    if skip.is_some_and(|skip| skip.how == Spared) {
        return 0;
    }
    let end = run(session, case);
    let refused = end
        .as_ref()
        .err()
        .and_then(|stop| stop.refusal.as_ref())
        .map(Refusal::kind);
    let (status, reason) = end.map_or_else(
        |stop| (stop.status, stop.reason),
        |()| (Status::Ok, String::new()),
    );
    match skip.map(|skip| (skip.how, skip.why)) {
        Some((MayBeRefused(kind), _)) if refused == Some(kind) => 0,
        Some((Refused(kind), why)) => {
            assert_eq!(
                (status, refused),
                (Status::Skipped, Some(kind)),
                "{driver}: {why}: {case:?}: {reason}"
            );
            0
        }
        _ => {
            assert_eq!(
                status,
                Status::Ok,
                "{driver}: {case:?}: {refused:?}: {reason}"
            );
            1
        }
    }
}
