//! What is measured: one list of quantities, each with the shapes worth trying, in order of importance.

use gpulab_kernels::exchange;
use gpulab_kernels::lab::instructions;
use gpulab_kernels::lab::memory::STRIDES;
use gpulab_kernels::lab::{self, memory};
use gpulab_kernels::probes::{ADDED_TO, OP, VEC, lanes};
use gpulab_kernels::{Bound, Form};
use gpulab_model::data::{Dtype, Params, Shape};
use gpulab_model::named_enum;
use gpulab_model::outcome::{Clock, Outcome};
use gpulab_model::plan::{Case, REPEATS, Target, WorkGroup};
use serde::{Deserialize, Serialize};

/// What of a case counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    Bytes,
    Ops,
    /// Pairs of operations a second.
    Pairs,
    /// Seconds of a run; the fewest are the best.
    Seconds,
    /// Seconds of an operation; the fewest are the best.
    Latency,
}

impl Rate {
    pub fn unit(self) -> &'static str {
        match self {
            Rate::Bytes => "GB/s",
            Rate::Ops => "Gop/s",
            Rate::Pairs => "Gpair/s",
            Rate::Seconds => "us",
            Rate::Latency => "ns",
        }
    }

    /// A case's value, in [`Rate::unit`], for a run of so many seconds.
    pub fn value(self, outcome: &Outcome, seconds: f64) -> f64 {
        match self {
            Rate::Bytes => outcome.bytes / 1e9 / seconds,
            Rate::Ops => outcome.ops / 1e9 / seconds,
            Rate::Pairs => outcome.ops / 2e9 / seconds,
            Rate::Seconds => seconds * 1e6,
            Rate::Latency => seconds * 1e9 / outcome.ops,
        }
    }

    /// Whether the least is the best.
    pub(super) fn is_time(self) -> bool {
        matches!(self, Rate::Seconds | Rate::Latency)
    }

    /// What the search maximises, for a run of so many seconds.
    pub(super) fn merit(self, outcome: &Outcome, seconds: f64) -> f64 {
        if self.is_time() {
            1.0 / seconds
        } else {
            self.value(outcome, seconds)
        }
    }
}

/// A setting and its values worth trying, the likeliest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// `wg`, or the name of a tunable.
    pub name: &'static str,
    pub values: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProbeSpace {
    /// What is the same for all of them.
    pub case: Case,
    /// The settings, the most important first.
    pub axes: Vec<Axis>,
}

impl ProbeSpace {
    /// Without the settings of which the device allows no value.
    fn new(case: Case, mut axes: Vec<Axis>) -> ProbeSpace {
        axes.retain(|axis| !axis.values.is_empty());
        ProbeSpace { case, axes }
    }

    /// A case without settings to try.
    fn only(case: Case) -> Vec<ProbeSpace> {
        vec![ProbeSpace::new(case, Vec::new())]
    }

    pub fn at(&self, place: &[usize]) -> Case {
        let mut case = self.case.clone();
        for (axis, &value) in self.axes.iter().zip(place) {
            let value = axis.values[value];
            match axis.name {
                "wg" => case.wg = WorkGroup::linear(value.parse().unwrap_or(1)),
                name => _ = case.params.insert(name.to_owned(), value.to_owned()),
            }
        }
        case
    }
}

/// A thing that a device does, and where its best is looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name: `read`, `fma`.
    pub what: &'static str,
    /// The element type, where it matters: `f32`.
    pub element: &'static str,
    /// Bytes of the data, where they matter; the final measurement is made with so many.
    pub bytes: Option<u64>,
    pub measure: Rate,
    pub spaces: Vec<ProbeSpace>,
    pub place: Site,
}

named_enum! {
    /// Where a quantity is measured, or under which condition.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Site {
        /// Global memory, beyond all caches.
        Memory = "memory",
        /// The caches: the same data again and again within a launch.
        Cache = "cache",
        /// Global memory, by groups of one item.
        Alone = "alone",
        /// Global memory, one word of each segment at a time.
        Scattered = "scattered",
        /// One word of global memory, which all items want.
        Word = "word",
        /// 256 words of global memory.
        Few = "few",
        /// 256 words of local memory.
        Group = "group",
        /// Global memory, by items of large groups that take turns, so that each jumps over all the others.
        Strided = "strided",
        /// The same, of data that fit a cache.
        Near = "near",
        /// A point of the curve over size.
        Curve = "curve",
        /// Compute units, and what is nearest to them.
        Unit = "unit",
        /// Compute units, in forms that elements of either sign allow: of earlier versions.
        Signed = "signed",
        Warp = "warp",
        /// Items of groups that meet at barriers, one element each.
        Tree = "tree",
        Host = "host",
    }
}

/// What is measured of the probe of single operations, and by which of them. Where fma() is no instruction but a call, it
/// is slow, or even wrong; on GPUs it is what a multiplication with an addition is made of.
const OPERATIONS: &[(&str, &[&str], Rate)] = &[
    ("fma", &["mad", "fma"], Rate::Ops),
    ("add", &["add"], Rate::Ops),
    ("add-min", &["add_min"], Rate::Pairs),
];

const ELEMENTS: [(&str, Dtype); 3] = [
    ("f32", Dtype::F32),
    ("i32", Dtype::I32),
    ("f64", Dtype::F64),
];

/// Everything that is measured on this device, in the order of the report. `quick`: less of it.
pub fn quantities(target: &Target, quick: bool) -> Vec<Quantity> {
    let memory = [Bound::Read, Bound::Write, Bound::Copy];
    let mut all: Vec<Quantity> = memory.iter().map(|&bound| far(bound, target)).collect();
    all.extend(memory.iter().map(|&bound| near(bound, target)));
    all.push(local(target));
    all.extend(poor(target));
    all.extend(waiting(target));
    if !quick {
        all.extend(
            memory
                .iter()
                .flat_map(|&bound| sizes(target).map(move |bytes| point(bound, bytes, target))),
        );
    }
    all.extend(of_items(target));
    all.extend(between(target, quick));
    for (element, dtype) in ELEMENTS {
        if dtype == Dtype::F64 && (quick || !target.fp64) {
            continue;
        }
        for &(what, ops, measure) in OPERATIONS {
            // The arithmetic of most programs, that of the min-plus step, and what a model of times needs.
            if !quick || what != "add" || element == "f32" {
                let spaces = arithmetic(what, ops, dtype, target, quick);
                all.push(of_elements(what, element, measure, Site::Unit, spaces));
            }
        }
    }
    all
}

/// What a model of kernels' times needs beside a family's limit: the caches, local memory, poor accesses, single additions, a
/// launch.
pub fn for_model(target: &Target) -> Vec<Quantity> {
    let caches = [Bound::Read, Bound::Write, Bound::Copy].map(|bound| near(bound, target));
    let spaces = arithmetic("add", &["add"], Dtype::F32, target, true);
    let add = of_elements("add", "f32", Rate::Ops, Site::Unit, spaces);
    let (launch, _) = launch_cost(Clock::Event);
    let launches = BUSY_LAUNCHES.map(|(what, variant)| launching(what, variant));
    let kernels = caches
        .into_iter()
        .chain([local(target)])
        .chain(poor(target))
        .chain(waiting(target));
    let kernels = kernels.chain(of_items(target));
    kernels.chain([add, launch]).chain(launches).collect()
}

/// What launches cost, and what the link between host and device gives: one large transfer.
fn between(target: &Target, quick: bool) -> impl Iterator<Item = Quantity> + use<> {
    let bytes: u64 = if target.gpu { 128 << 20 } else { 64 << 20 };
    let bytes = if quick { bytes / 4 } else { bytes };
    let bytes = bytes.min(target.max_alloc / 4 * 4);
    let launches = LAUNCHES
        .iter()
        .chain(&BUSY_LAUNCHES)
        .map(|(what, variant)| launching(what, variant));
    let transfers = TRANSFERS.iter().map(move |(what, variant)| {
        let case = exchange::case(&exchange::TRANSFER, variant, bytes / 4, &[], 1);
        on_host(what, Some(bytes), Rate::Bytes, case)
    });
    launches.chain(transfers)
}

fn on_host(what: &'static str, bytes: Option<u64>, measure: Rate, case: Case) -> Quantity {
    Quantity {
        bytes,
        ..of_elements(what, "", measure, Site::Host, ProbeSpace::only(case))
    }
}

/// What launching a kernel costs that does next to nothing, or sums a few words.
fn launching(what: &'static str, variant: &str) -> Quantity {
    const SUMMED: u64 = 1 << 18;
    let n = match variant {
        exchange::SUM => SUMMED,
        exchange::CROWD => CROWD_GROUPS,
        _ => 1,
    };
    on_host(
        what,
        None,
        Rate::Seconds,
        exchange::case(&exchange::LAUNCH, variant, n, &[], 1),
    )
}

/// What the launches of a run cost by a clock: one launch, and how many launches the other quantity is of; of launches back
/// to back each counts by itself.
pub(super) fn launch_cost(clock: Clock) -> (Quantity, Option<(Quantity, u64)>) {
    let [round_trip, back_to_back, _, event, four] =
        LAUNCHES.map(|(what, variant)| launching(what, variant));
    match clock {
        Clock::Event => (event, Some((four, 4))),
        Clock::Wall => (round_trip, Some((back_to_back, 1))),
        Clock::Batch => (back_to_back, None),
    }
}

/// Of a kernel that does next to nothing: what is measured, and by which variant.
const LAUNCHES: [(&str, &str); 5] = [
    ("launch, round trip", exchange::ROUND_TRIP),
    ("launch, back to back", exchange::BACK_TO_BACK),
    ("launch, queued to start", exchange::QUEUED_TO_START),
    ("launch, event time", exchange::EVENT),
    (FOUR, exchange::FOUR),
];

/// Groups of the launch of many.
pub const CROWD_GROUPS: u64 = 65536;
pub const CROWD: &str = "launch of 65536 groups, event time";
pub const FOUR: &str = "four launches, event time";
pub const SUM: &str = "launch of a sum, event time";

/// Of a kernel of many groups, and of one that reads memory, meets at barriers and writes.
const BUSY_LAUNCHES: [(&str, &str); 2] = [(CROWD, exchange::CROWD), (SUM, exchange::SUM)];

const TRANSFERS: [(&str, &str); 4] = [
    ("to the device, pageable", "pageable_in"),
    ("to the device, pinned", "pinned_in"),
    ("to the host, pageable", "pageable_out"),
    ("to the host, pinned", "pinned_out"),
];

/// The quantity that a bound names for elements of this type. For a quick look, or a brief one, the likeliest probe comes first,
/// over data that are soon checked.
pub fn bounding(bound: Bound, dtype: Dtype, target: &Target, quick: bool) -> Option<Quantity> {
    let (what, ops, measure): (&str, &[&'static str], Rate) = match bound {
        Bound::Read | Bound::Write | Bound::Copy => return Some(far(bound, target)),
        Bound::Local => return Some(local(target)),
        Bound::Arithmetic => return None,
        Bound::AddMin => ("add-min", &["add_min"], Rate::Pairs),
        Bound::Fma => ("fma", &["mad", "fma"], Rate::Ops),
    };
    let (element, _) = ELEMENTS.into_iter().find(|(_, known)| *known == dtype)?;
    Some(of_elements(
        bound.name(),
        element,
        measure,
        Site::Unit,
        arithmetic(what, ops, dtype, target, quick),
    ))
}

fn far(bound: Bound, target: &Target) -> Quantity {
    // What is written is checked on the host, which takes time.
    let bytes = if target.gpu && bound != Bound::Read {
        far_bytes(target) / 2
    } else {
        far_bytes(target)
    };
    let part = bytes.min(if bound == Bound::Read {
        256 << 20
    } else {
        128 << 20
    });
    // Shapes are compared over a part, which is enough to be beyond the caches of a GPU.
    let spaces = memory_spaces(
        bound,
        if target.gpu { part } else { bytes },
        &Params::new(),
        target,
    );
    of_bytes(bound.name(), Site::Memory, bytes, spaces)
}

/// What a GPU's memory gives to kernels that use it poorly: 16 bytes at a time to items that are alone in their groups, and
/// words that are written each to another segment than its neighbours.
fn poor(target: &Target) -> Vec<Quantity> {
    if !target.gpu {
        return Vec::new();
    }
    let bytes = far_bytes(target).min(256 << 20);
    let alone = case("read", "wide", Dtype::I32, bytes / 4, 1, &Params::new());
    let alone = ProbeSpace::new(alone, vec![axis("chunks", &["1024", "256", "64"])]);
    // Eight words are a segment.
    let strides = params([(STRIDES.name, 3)]);
    let written = 1 << (bytes / 2).ilog2();
    let scattered = case(
        "scatter",
        "walk",
        Dtype::I32,
        written / 4,
        group(target, 256),
        &strides,
    );
    let scattered = ProbeSpace::new(scattered, vec![groups(target, &["256", "128", "512"])]);
    let places = [
        (Site::Word, "words", 1, 1 << 22),
        (Site::Few, "words", 256, 1 << 22),
        (Site::Group, "local", 256, 1 << 28),
    ];
    let meeting = places.map(|(place, variant, words, n)| {
        let settings = params([(ADDED_TO.name, words)]);
        let wg = group(target, 256);
        let case = case("atomics", variant, Dtype::I32, n, wg, &settings);
        of_elements(ATOMIC, "i32", Rate::Ops, place, ProbeSpace::only(case))
    });
    [
        of_bytes("read", Site::Alone, bytes, vec![alone]),
        of_bytes("write", Site::Scattered, written, vec![scattered]),
    ]
    .into_iter()
    .chain(meeting)
    .collect()
}

/// An atomic addition whose items meet in few words.
pub const ATOMIC: &str = "atomic";

/// What keeps a warp of a GPU long: loads, each of which gives the next one's address, and divisions by a number that the compiler does
/// not know.
fn waiting(target: &Target) -> Vec<Quantity> {
    const LOADS: u64 = 1 << 16;
    if !target.gpu {
        return Vec::new();
    }
    let loads = [
        (Site::Cache, 8 << 20),
        (Site::Memory, far_bytes(target) / 2),
    ]
    .map(|(place, bytes)| {
        let settings = params([
            (memory::DEPENDENT.name, 1),
            (lab::ROUNDS.name, LOADS / memory::LOADS - 1),
        ]);
        let nodes = 1 << (bytes / (4 << memory::LINE)).max(2).ilog2();
        let case = case("chase", "global", Dtype::I32, nodes, 1, &settings);
        of_elements(LOAD, "", Rate::Latency, place, ProbeSpace::only(case))
    });
    let division = instructions::OPERATIONS
        .iter()
        .position(|one| one.name == instructions::DIV)
        .unwrap_or_default() as u64;
    let settings = params([
        (instructions::OP.name, division),
        ("chains", 8),
        (lab::ROUNDS.name, 16),
    ]);
    let division = case(
        "instructions",
        "pairs",
        Dtype::I32,
        lab::items(target),
        group(target, 256),
        &settings,
    );
    loads
        .into_iter()
        .chain([of_elements(
            DIVISION,
            "i32",
            Rate::Ops,
            Site::Unit,
            ProbeSpace::only(division),
        )])
        .collect()
}

/// From a load to the next, where the one gives the other's address.
pub const LOAD: &str = "latency of a load";
pub const DIVISION: &str = "div";

/// What items get that the device was not made for: a warp of a GPU without others beside it; on a CPU, whose cores run item
/// after item, items of large groups that take turns in reading, or meet at barriers.
fn of_items(target: &Target) -> Vec<Quantity> {
    if target.gpu {
        let params = params([(OP.name, "add"), ("vec", "1"), ("sweeps", "32")]);
        let case = case(
            "arith",
            "chains",
            Dtype::F32,
            32,
            group(target, 32),
            &params,
        );
        let spaces = vec![ProbeSpace::new(case, vec![axis("chains", &["8", "16"])])];
        return vec![of_elements("add", "f32", Rate::Ops, Site::Warp, spaces)];
    }
    let case = |bytes: u64, params: Params| {
        ProbeSpace::only(case(
            "read",
            "strided",
            Dtype::I32,
            bytes / 4,
            group(target, 256),
            &params,
        ))
    };
    let far = 1 << far_bytes(target).ilog2();
    let mut all = Vec::new();
    for (place, bytes) in [(Site::Near, far / 32), (Site::Strided, far)] {
        for (what, vec) in [(WORDS, "1"), (VECTORS, "4")] {
            all.push(of_bytes(
                what,
                place,
                bytes,
                case(bytes, params([("loads", "1"), (VEC.name, vec)])),
            ));
        }
    }
    // Each item has one word, so that the tree of its group takes the time.
    let spaces = case(
        1 << 22,
        params([("loads", "1"), (VEC.name, "1"), ("waves", "all")]),
    );
    all.push(of_elements("add", "i32", Rate::Ops, Site::Tree, spaces));
    all
}

/// Reads of 4 and of 16 bytes.
pub const WORDS: &str = "read";
pub const VECTORS: &str = "read of 16 bytes";

/// From the caches: the same data again and again within a launch.
fn near(bound: Bound, target: &Target) -> Quantity {
    let bytes = if target.gpu {
        8 << 20
    } else {
        u64::from(target.compute_units.max(1)).next_power_of_two() << 13
    };
    let spaces = memory_spaces(bound, bytes, &repeated(bytes, target), target);
    of_bytes(bound.name(), Site::Cache, bytes, spaces)
}

/// A point of the curve over size, in the shape that keeps each compute unit at its own part.
fn point(bound: Bound, bytes: u64, target: &Target) -> Quantity {
    let mut spaces = memory_spaces(bound, bytes, &repeated(bytes, target), target);
    let stay = if target.gpu {
        ("waves", "1")
    } else {
        ("chunks", "1")
    };
    spaces.truncate(1);
    for space in &mut spaces {
        space.case = space.at(&vec![0; space.axes.len()]);
        space.case.params.insert(stay.0.into(), stay.1.into());
        space.axes.clear();
    }
    of_bytes(bound.name(), Site::Curve, bytes, spaces)
}

/// Sizes of the curve, in bytes: 16 KiB and on in factors of four.
fn sizes(target: &Target) -> impl Iterator<Item = u64> + use<> {
    let most = far_bytes(target);
    (7..15)
        .map(|k| 1 << (2 * k))
        .filter(move |&bytes| bytes <= most)
}

/// Several times any cache, within the device's memory.
fn far_bytes(target: &Target) -> u64 {
    // A GPU's driver may report a part of its last-level cache; 1 GiB is beyond all of them.
    let wanted = if target.gpu {
        1 << 30
    } else {
        (4 * target.cache).clamp(64 << 20, 1 << 30)
    };
    (wanted.min(target.max_alloc).min(target.global_mem / 8) / 256).max(1) * 256
}

/// So many repeats that launching costs nothing beside them.
fn repeated(bytes: u64, target: &Target) -> Params {
    let moved: u64 = if target.gpu { 4 << 30 } else { 128 << 20 };
    params([(REPEATS, (moved / bytes).clamp(1, 16384))])
}

fn params<V: ToString>(settings: impl IntoIterator<Item = (&'static str, V)>) -> Params {
    settings
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_string()))
        .collect()
}

/// What is measured over so many bytes.
fn of_bytes(what: &'static str, place: Site, bytes: u64, spaces: Vec<ProbeSpace>) -> Quantity {
    Quantity {
        bytes: Some(bytes),
        ..of_elements(what, "", Rate::Bytes, place, spaces)
    }
}

/// What is measured of elements, whose number does not matter.
fn of_elements(
    what: &'static str,
    element: &'static str,
    measure: Rate,
    place: Site,
    spaces: Vec<ProbeSpace>,
) -> Quantity {
    Quantity {
        what,
        element,
        bytes: None,
        measure,
        spaces,
        place,
    }
}

fn case(family: &str, variant: &str, dtype: Dtype, n: u64, wg: usize, params: &Params) -> Case {
    Case {
        wg: WorkGroup::linear(wg),
        params: params.clone(),
        ..Case::of(family, variant, dtype, Shape::vector(n))
    }
}

fn axis(name: &'static str, values: &[&'static str]) -> Axis {
    Axis {
        name,
        values: values.to_vec(),
    }
}

/// Work-items of a group, a power of two: `most`, or fewer where the device allows no more.
fn group(target: &Target, most: usize) -> usize {
    1 << target.max_wg.clamp(1, most).ilog2()
}

/// Work-groups that the device allows.
fn groups(target: &Target, values: &[&'static str]) -> Axis {
    let mut values = values.to_vec();
    values.retain(|size| size.parse().is_ok_and(|size: usize| size <= target.max_wg));
    Axis { name: "wg", values }
}

/// A GPU's shape and a CPU's, of which either may be the faster.
fn memory_spaces(bound: Bound, bytes: u64, params: &Params, target: &Target) -> Vec<ProbeSpace> {
    let (variant, loads, waves): (_, &[&str], &[&str]) = match bound {
        Bound::Read => ("strided", &["4", "2", "8"], &["2", "all", "4"]),
        _ => ("vectors", &["1", "2"], &["all", "2"]),
    };
    let strided = vec![
        axis("loads", loads),
        axis("waves", waves),
        groups(target, &["256", "512", "128"]),
    ];
    let mut wide = vec![axis("chunks", &["16", "1", "4", "64"])];
    if bound != Bound::Read {
        wide.insert(0, axis("stream", &["0", "1"]));
    }
    let mut spaces = [(variant, group(target, 256), strided), ("wide", 1, wide)];
    if !target.gpu {
        spaces.reverse();
    }
    let spaces = spaces.into_iter().map(|(variant, wg, axes)| {
        ProbeSpace::new(
            case(bound.name(), variant, Dtype::I32, bytes / 4, wg, params),
            axes,
        )
    });
    spaces.collect()
}

fn local(target: &Target) -> Quantity {
    let units = u64::from(target.compute_units.max(1)).next_power_of_two();
    let n = if target.gpu { units << 14 } else { units << 15 };
    let params = params([(REPEATS, 1024)]);
    let (vec, wg): (&[&str], &[&str]) = if target.gpu {
        (&["4", "2", "1"], &["256", "512", "1024", "128"])
    } else {
        (&["16", "8", "4"], &["1", "16", "64", "256"])
    };
    let axes = vec![
        axis("vec", vec),
        axis("loads", &["4", "2", "8", "1"]),
        groups(target, wg),
    ];
    let wg = group(target, wg[0].parse().unwrap_or(1));
    let space = ProbeSpace::new(case("local", "vectors", Dtype::I32, n, wg, &params), axes);
    of_elements("local", "", Rate::Bytes, Site::Unit, vec![space])
}

/// The spaces of an operation: chains of it, and of additions with minima also the forms that rungs have.
fn arithmetic(
    what: &str,
    ops: &[&'static str],
    dtype: Dtype,
    target: &Target,
    quick: bool,
) -> Vec<ProbeSpace> {
    let mut spaces = if what == "add-min" {
        add_min(dtype, target, quick)
    } else {
        Vec::new()
    };
    let op = if target.gpu { ops.last() } else { ops.first() };
    let mut params = params(op.map(|op| (OP.name, op)));
    let n = lanes(target).next_multiple_of(if target.gpu { 1 << 12 } else { 1 << 10 });
    let wg: &[&str] = if target.gpu {
        &["256", "512", "1024"]
    } else {
        &["1", "64"]
    };
    let mut axes = match target.gpu {
        true => vec![axis("vec", &["1"]), axis("chains", &["8", "16", "4"])],
        false => vec![
            axis("vec", &["8", "16", "4", "2", "1"]),
            axis("chains", &["8", "12", "4", "16"]),
        ],
    };
    axes.push(groups(target, wg));
    if target.gpu {
        // The loop's own instructions count there.
        params.insert("sweeps".into(), "32".into());
    } else if ops.len() > 1 {
        axes.push(Axis {
            name: OP.name,
            values: ops.to_vec(),
        });
    }
    let wg = group(target, wg[0].parse().unwrap_or(1));
    spaces.push(ProbeSpace::new(
        case("arith", "chains", dtype, n, wg, &params),
        axes,
    ));
    spaces
}

/// The forms that the rungs of the min-plus step have, on devices of their kind.
fn add_min(dtype: Dtype, target: &Target, quick: bool) -> Vec<ProbeSpace> {
    let space = |family, variant, axes| {
        let case = case(
            family,
            variant,
            dtype,
            lanes(target),
            group(target, 128),
            &Params::new(),
        );
        ProbeSpace::new(case, axes)
    };
    if !target.gpu {
        // Which form is faster differs from one CPU to the next: a quick look tries the first shape of each space.
        let forms: &[&str] = if dtype == Dtype::F32 {
            &["0", "1"]
        } else {
            &["0"]
        };
        return forms
            .iter()
            .map(|ordered: &&str| {
                let mut made = space(
                    "lanes",
                    "fed",
                    vec![axis("vectors", &["6x2", "4x2", "8x2", "12x2"])],
                );
                made.case.params.insert("ordered".into(), (*ordered).into());
                made
            })
            .collect();
    }
    let registers = axis("registers", &["4x16", "8x8"]);
    let two_way = space("addmin", "two_way", vec![registers.clone()]);
    if dtype == Dtype::F64 && !target.nvidia {
        return vec![two_way];
    }
    let together = axis("together", &["0", "1"]);
    let mut spaces = vec![
        space("addmin", "three_way", vec![together, registers]),
        two_way,
    ];
    if dtype == Dtype::I32 && target.nvidia {
        // Of integers no probe reaches what this rung does, which shares them out between two pipelines.
        let rung = case("minplus", "three_way", dtype, 0, 64, &Params::new());
        let shape = Form::Square.shape(if quick { 4096 } else { 8192 }, None);
        spaces.insert(
            if quick { 0 } else { spaces.len() },
            ProbeSpace::new(Case { shape, ..rung }, Vec::new()),
        );
    }
    spaces
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_kernels as kernels;

    fn target(gpu: bool) -> Target {
        Target {
            max_alloc: 16 << 30,
            global_mem: 64 << 30,
            ..Target::with_everything(gpu)
        }
    }

    #[test]
    fn every_shape_is_one_that_its_probe_knows_and_can_plan() {
        for target in [target(false), target(true)] {
            let mut quantities = quantities(&target, false);
            assert!(quantities.len() > 35 && quantities.iter().all(|q| !q.spaces.is_empty()));
            quantities.extend(super::quantities(&target, true));
            for space in quantities
                .iter()
                .filter(|q| q.place != Site::Host)
                .flat_map(|q| &q.spaces)
            {
                let family = kernels::built_in(&space.case.family).unwrap();
                let rung = family.rung(&space.case.variant).unwrap();
                for (axis, place) in (0..space.axes.len())
                    .flat_map(|a| (0..space.axes[a].values.len()).map(move |v| (a, v)))
                {
                    let name = space.axes[axis].name;
                    let known = || {
                        family
                            .choices
                            .iter()
                            .copied()
                            .chain(rung.tunables())
                            .any(|t| t.name == name)
                    };
                    assert!(name == "wg" || known(), "{}: {name}", rung.path);
                    let mut at = vec![0; space.axes.len()];
                    at[axis] = place;
                    let case = space.at(&at);
                    let plan = family.plan(rung, &case, &target);
                    let plan = plan.unwrap_or_else(|refusal| panic!("{case:?}: {refusal}"));
                    assert!(
                        plan.passes[0].global[0] > 0 && family.problem.cost(&case).bytes > 0.0,
                        "{case:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn small_work_groups_leave_something_to_measure() {
        for (gpu, max_wg) in [true, false]
            .into_iter()
            .flat_map(|gpu| [1, 12, 96, 200].map(|most| (gpu, most)))
        {
            let target = Target {
                max_wg,
                max_wg_dims: [max_wg; 3],
                ..target(gpu)
            };
            let all = quantities(&target, false);
            // Rungs with groups of their own size may need more.
            let own = |space: &&ProbeSpace| {
                kernels::built_in(&space.case.family).is_some() && space.case.family != "minplus"
            };
            for space in all
                .iter()
                .filter(|q| q.place != Site::Host)
                .flat_map(|q| &q.spaces)
                .filter(own)
            {
                let case = space.at(&vec![0; space.axes.len()]);
                let family = kernels::built_in(&case.family).unwrap();
                let plan = family.plan(family.rung(&case.variant).unwrap(), &case, &target);
                assert!(plan.is_ok(), "{case:?}: {}", plan.unwrap_err());
            }
        }
    }

    #[test]
    fn a_quick_look_is_a_part_of_the_whole() {
        for gpu in [true, false] {
            let whole = quantities(&target(gpu), false);
            let quick = quantities(&target(gpu), true);
            for quantity in &quick {
                let same = |q: &&Quantity| {
                    (q.what, q.element, q.place)
                        == (quantity.what, quantity.element, quantity.place)
                };
                let same = whole.iter().find(same).unwrap();
                let probe =
                    |space: &ProbeSpace| (space.case.family.clone(), space.case.variant.clone());
                let probes: Vec<_> = same.spaces.iter().map(probe).collect();
                assert!(
                    quantity
                        .spaces
                        .iter()
                        .all(|space| probes.contains(&probe(space))),
                    "{quantity:?}"
                );
                assert!(quantity.bytes <= same.bytes, "{quantity:?}");
            }
            assert!(
                20 * quick.len() < 11 * whole.len(),
                "{} of {}",
                quick.len(),
                whole.len()
            );
            // Reports of a quick record have reasons.
            for needed in for_model(&target(gpu)) {
                assert!(
                    quick.iter().any(|q: &Quantity| (q.what, q.element, q.place)
                        == (needed.what, needed.element, needed.place)),
                    "{needed:?}"
                );
            }
        }
        let without = Target {
            fp64: false,
            ..target(true)
        };
        assert!(
            quantities(&without, false)
                .iter()
                .all(|q| q.element != "f64")
        );
    }
}
