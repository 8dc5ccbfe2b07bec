//! Chains of dependent steps, each a multiplication with an addition, in several settings.

use super::memory::GATHERING;
use super::*;
use crate::read_once;
use rayon::prelude::*;

// Chains of dependent steps, each a multiplication with an addition: the kernel of `ilp` and `grid`.

static SUMS: Exact = Exact {
    inputs: |shape, params| starts(shape, given(params, CHAINS)),
    companions: |case, plan| checked(case, plan, CHECKS),
    ..Exact::of_each(
        Fill::Exact(LARGEST),
        |case| sums_cost(case, chain_size(case)),
        |case, inputs| sums(case, inputs, chain_size(case)),
    )
};

/// n items with chains of multiplications, each with an addition.
pub static INDEPENDENT: Family = BuiltInFamily {
    name: "chains",
    about: "chains of multiplications with an addition",
    problem: &SUMS,
    ladder: const { &ladder([rung("lab/chains/independent.cl", independent, &[])]) },
    choices: &[CHAINS, ROUNDS],
    ..FLOAT_STEPS
}
.family();

pub const CHAINS: Tunable = setting("chains", "independent chains of an item");

/// Steps of a chain in a round, as in the kernel.
const A_ROUND: u64 = 16;

/// Chains of an item, and steps of each.
fn chain_size(case: &Case) -> (u64, u64) {
    (get(case, CHAINS), A_ROUND * get(case, ROUNDS))
}

/// Largest number that a chain begins with, of either sign.
const LARGEST: u64 = 64;

/// The input's length: chains begin with elements from their item's own on, so that none follows from another.
pub(super) fn starts(shape: Shape, chains: u64) -> Vec<usize> {
    vec![(shape.n + chains.saturating_sub(1)) as usize]
}

/// Setting of checks: a step halves, so that one without its multiplication shows, and a chain that was made of another's
/// end by what was between their beginnings.
pub(super) const HALVING: &str = "halving";
/// Setting of checks: a step adds so little that it depends on the chain's own number whether that is lost in rounding.
/// Steps, or chains, that were added up before show.
const SLIGHT: &str = "slight";
const CHECKS: &[&str] = &[HALVING, SLIGHT];

/// A step: a multiplication with an addition. Products are exact, so that a step rounds once, fused or not.
#[derive(Clone, Copy)]
struct ChainStep {
    factor: f32,
    term: f32,
}

impl ChainStep {
    /// The case's step, which adds one unless it is checked otherwise.
    pub fn of(case: &Case) -> ChainStep {
        // 1.5 units in the last place of a number from 16 on, and less than half a unit from 32 on.
        const LITTLE: f32 = 3.0 / (1 << 21) as f32;
        let is_set = |name| case.params.contains_key(name);
        match () {
            () if is_set(HALVING) => ChainStep {
                factor: 0.5,
                term: 0.5,
            },
            () if is_set(SLIGHT) => ChainStep {
                factor: 1.0,
                term: LITTLE,
            },
            () => ChainStep {
                factor: 1.0,
                term: 1.0,
            },
        }
    }

    /// Where so many steps lead from a whole number.
    pub fn end(self, start: f32, steps: u64) -> f32 {
        if self.factor == 1.0 && self.term == 1.0 {
            return start + steps as f32;
        }
        let mut at = start;
        for _ in 0..steps {
            let next = at * self.factor + self.term;
            if next == at {
                break;
            }
            at = next;
        }
        at
    }

    /// The factor and the term, which kernels have as floats.
    pub fn args(self) -> [Arg; 2] {
        [self.factor, self.term].map(|number| Arg::Float(number.to_bits()))
    }
}

/// Of n items with chains, each of so many steps. An operation is a step: a multiplication with an addition.
fn sums_cost(case: &Case, (chains, steps): (u64, u64)) -> Cost {
    let n = case.shape.n as f64;
    Cost {
        bytes: 8.0 * n,
        ops: n * (chains * steps) as f64,
    }
}

/// The sum of an item's chains: the k-th begins with the k-th element from its own on. A whole number that f32 has, where
/// each step adds one; else added up in the kernels' order.
pub(super) fn sums(case: &Case, inputs: &[Array], (chains, steps): (u64, u64)) -> Array {
    let step = ChainStep::of(case);
    match &inputs[0] {
        Array::F32(x) => {
            let ends: Vec<f32> = x.par_iter().map(|&start| step.end(start, steps)).collect();
            Array::F32(
                ends.par_windows(chains.max(1) as usize)
                    .map(|ends: &[f32]| ends.iter().fold(0.0, |sum, end| sum + end))
                    .collect(),
            )
        }
        other => Array::zeros(other.dtype(), other.len()),
    }
}

fn independent(ask: &Ask<'_>) -> Planned {
    let chains = get(ask.case, CHAINS).to_string();
    let [factor, term] = ChainStep::of(ask.case).args();
    of_each_item(
        ask,
        &[("CHAINS", chains)],
        &[arg(ask, ROUNDS), factor, term],
        0,
    )
}

// Many values of an item that are all needed at once, in as many registers as the compiler likes or in fewer.

/// n items with live values.
pub static REGISTERS: Family = BuiltInFamily {
    name: "registers",
    about: "chains of multiplications with an addition on many values of an item",
    problem: &Exact {
        inputs: |shape, params| starts(shape, given(params, LIVE)),
        companions: |case, plan| checked(case, plan, CHECKS),
        ..Exact::of_each(
            Fill::Exact(64),
            |case| sums_cost(case, live_size(case)),
            |case, inputs| sums(case, inputs, live_size(case)),
        )
    },
    ladder: const { &ladder([rung("lab/registers/live.cl", live_values, &[MAX_REGISTERS])]) },
    choices: &[LIVE, ROUNDS],
    ..FLOAT_STEPS
}
.family();

pub const LIVE: Tunable = setting("live", "values of an item that are needed at once");
/// The macro of this name is also the build option; see [`gpulab_model::plan::MAX_REGISTERS`].
pub const MAX_REGISTERS: Tunable = setting(
    "max_registers",
    "registers of an item that the compiler may use; 0 for as many as it likes",
);

/// Values that an item may have at most: NVIDIA's have 255 registers.
const MOST_LIVE: u64 = 256;
/// The least cap that NVIDIA's compiler takes as it is.
const LEAST_CAP: u64 = 16;

/// Values of an item, and steps of each.
fn live_size(case: &Case) -> (u64, u64) {
    (get(case, LIVE), get(case, ROUNDS))
}

fn live_values(ask: &Ask<'_>) -> Planned {
    whole_groups(ask)?;
    let live = get(ask.case, LIVE);
    let cap = get(ask.case, MAX_REGISTERS);
    if !(1..=MOST_LIVE).contains(&live) {
        return Err(Refusal::Setting(format!(
            "live={live}: from 1 to {MOST_LIVE} values are possible"
        )));
    }
    if cap > 0 && !ask.target.register_caps {
        let why = "this driver takes no cap on registers (cl_nv_compiler_options is missing)";
        return Err(Refusal::Feature(format!("max_registers={cap}: {why}")));
    }
    if cap > 0 && !(LEAST_CAP..=255).contains(&cap) {
        return Err(Refusal::Setting(format!(
            "max_registers={cap}: 0, or from {LEAST_CAP} to 255, is needed"
        )));
    }
    let [factor, term] = ChainStep::of(ask.case).args();
    let defines = [
        ("LIVE", live.to_string()),
        (gpulab_model::plan::MAX_REGISTERS, cap.to_string()),
    ];
    of_each_item(ask, &defines, &[arg(ask, ROUNDS), factor, term], 0)
}

// Chains of steps in groups of any size, whose items all hold as much.

/// n items with chains of multiplications with an addition, in groups that the case chooses.
pub static GROUP: Family = BuiltInFamily {
    name: "group",
    about: "chains of multiplications with an addition in groups of any size",
    problem: &Exact {
        inputs: |shape, _| starts(shape, HELD),
        companions: |case, plan| checked(case, plan, CHECKS),
        ..Exact::of_each(
            Fill::Exact(64),
            |case| sums_cost(case, held_size(case)),
            held_answer,
        )
    },
    ladder: const { &ladder([rung("lab/group/held.cl", held, &[])]) },
    choices: &[ROUNDS],
    ..FLOAT_STEPS
}
.family();

/// Chains of an item, as in the kernel.
const HELD: u64 = 4;

/// Chains of an item, and steps of each.
fn held_size(case: &Case) -> (u64, u64) {
    (HELD, A_ROUND * get(case, ROUNDS))
}

/// Neighbours are the same in groups of any size, and so are the results: data are kept from size to size.
fn held_answer(case: &Case, inputs: &[Array]) -> Array {
    match sums(case, inputs, held_size(case)) {
        Array::F32(x) => Array::F32(
            x.chunks(2)
                .flat_map(|pair| pair.iter().rev().copied())
                .collect(),
        ),
        other => other,
    }
}

fn held(ask: &Ask<'_>) -> Planned {
    whole_groups(ask)?;
    let wg = ask.case.wg.size();
    if !wg.is_multiple_of(2) {
        return Err(Refusal::Group(format!(
            "work-group {wg}: an even number is needed"
        )));
    }
    let [factor, term] = ChainStep::of(ask.case).args();
    of_each_item(
        ask,
        &[],
        &[arg(ask, ROUNDS), factor, term],
        4 * HELD * wg as u64,
    )
}

// Reads, and chains of steps, in groups that hold `__local` memory as ballast, so that fewer of them are resident.

/// Reads n words, a power of two, each as often as the rounds say.
pub static STREAMS: Family = BuiltInFamily {
    name: "streams",
    about: "read every word of an array in groups with ballast",
    problem: &GATHERING,
    ladder: const {
        &ladder([rung(
            "lab/streams/laden.cl",
            read_laden,
            &[BALLAST, TOGETHER],
        )])
    },
    choices: &[ROUNDS],
    ..READS
}
.family();

/// n items with chains, in groups with ballast.
pub static LADEN: Family = BuiltInFamily {
    name: "steps",
    about: "chains of multiplications with an addition in groups with ballast",
    problem: &SUMS,
    ladder: const { &ladder([rung("lab/steps/laden.cl", step_laden, &[BALLAST])]) },
    choices: &[CHAINS, ROUNDS],
    ..FLOAT_STEPS
}
.family();

pub const BALLAST: Tunable = setting("ballast", "bytes of local memory that a group holds");
pub const TOGETHER: Tunable = setting("together", "reads of an item that are under way at once");

/// The ballast and the place of its last word.
fn ballast(ask: &Ask<'_>) -> Result<[Arg; 2], Refusal> {
    let bytes = get(ask.case, BALLAST);
    let wg = ask.case.wg;
    match u32::try_from(bytes / 4) {
        Ok(words) if words as usize >= wg.size() => {
            Ok([Arg::Local(4 * words as usize), Arg::Uint(words - 1)])
        }
        _ => Err(Refusal::Setting(format!(
            "ballast={bytes}: from 4 bytes for each of {wg} items to 2^34 are needed"
        ))),
    }
}

fn read_laden(ask: &Ask<'_>) -> Planned {
    let n = ask.n();
    let wg = ask.case.wg.size();
    let together = get(ask.case, TOGETHER).max(1);
    let total = n * get(ask.case, ROUNDS);
    if [n, total, together]
        .iter()
        .any(|number| !number.is_power_of_two())
        || total > u64::from(u32::MAX)
    {
        return Err(Refusal::Size(format!(
            "{total} reads: powers of two below 2^32 are needed"
        )));
    }

    let items = equal_items(ask, items(ask.target), total / together)?;
    let step_laden = step_over(items, total / n);
    let numbers = [n - 1, step_laden, total / items, 0].map(|number| Arg::Uint(number as u32));
    let args: Vec<Arg> = ballast(ask)?.into_iter().chain(numbers).collect();
    laden(
        ask,
        Grid::covering(wg, items),
        items as usize,
        (TOGETHER.name, together),
        &args,
    )
}

/// From a read of one of so many items to its next, powers of two both: no item comes back to a word before it has read
/// all that are a multiple of the step away, and what is read in another round is read by items far behind in the grid.
/// However few groups are resident, no cache serves them.
fn step_over(items: u64, rounds: u64) -> u64 {
    if rounds > 1 {
        items + items / rounds
    } else {
        items
    }
}

fn step_laden(ask: &Ask<'_>) -> Planned {
    let items = whole_groups(ask)?;
    let chains = get(ask.case, CHAINS);
    let step_laden = ChainStep::of(ask.case).args();
    let args: Vec<Arg> = ballast(ask)?
        .into_iter()
        .chain([arg(ask, ROUNDS)])
        .chain(step_laden)
        .collect();
    laden(
        ask,
        Grid::covering(ask.case.wg.size(), items),
        items as usize,
        (CHAINS.name, chains),
        &args,
    )
}

/// One launch, with the number that says how much of its work an item does at once.
fn laden(ask: &Ask<'_>, grid: Grid, output: usize, at_once: (&str, u64), args: &[Arg]) -> Planned {
    let defines = [(at_once.0.to_uppercase(), at_once.1.to_string())];
    let defines = defines
        .each_ref()
        .map(|(name, value)| (name.as_str(), value.clone()));
    let local = get(ask.case, BALLAST);
    one_launch(ask, grid, output, &defines, args, local)
}

// Floats that are loaded, and added to in registers, as vectors of 1 to 16 of them.

/// Reads n floats, a power of two.
pub static LOADING: Family = BuiltInFamily {
    name: "loads",
    about: "read floats as vectors",
    problem: &Exact {
        result: |_, _| 1,
        finish: |_, output| float_total(&output),
        // Every sum is a whole number that f32 has.
        ..Exact::of_each(Fill::Exact(8), read_once, |_, inputs| {
            float_total(&inputs[0])
        })
    },
    ladder: const { &ladder([rung("lab/loads/vectors.cl", load, &[VEC])]) },
    dtypes: &[Dtype::F32],
    ..READS
}
.family();

/// Adds to n floats.
pub static ADDING: Family = BuiltInFamily {
    name: "adds",
    about: "add to floats in registers as vectors",
    problem: &Exact {
        companions: |case, plan| checked(case, plan, &[SLIGHT]),
        ..Exact::of_each(
            Fill::Exact(64),
            |case| Cost {
                bytes: 8.0 * case.shape.n as f64,
                ops: (case.shape.n * added(case)) as f64,
            },
            increased,
        )
    },
    ladder: const { &ladder([rung("lab/adds/vectors.cl", add, &[VEC])]) },
    choices: &[ROUNDS],
    ..FLOAT_STEPS
}
.family();

pub const VEC: Tunable = setting("vec", "floats of a vector");

/// The sum of small whole numbers, as the only element.
fn float_total(values: &Array) -> Array {
    match values {
        Array::F32(v) => Array::F32(vec![v.iter().map(|&x| f64::from(x)).sum::<f64>() as f32]),
        other => Array::zeros(other.dtype(), 1),
    }
}

/// Additions to a float, 16 in a round as in the kernel.
fn added(case: &Case) -> u64 {
    16 * get(case, ROUNDS)
}

fn increased(case: &Case, inputs: &[Array]) -> Array {
    let step = ChainStep::of(case);
    match &inputs[0] {
        Array::F32(v) => Array::F32(v.iter().map(|&x| step.end(x, added(case))).collect()),
        other => Array::zeros(other.dtype(), other.len()),
    }
}

/// The vectors that n floats make.
fn vectors(ask: &Ask<'_>) -> Result<(u64, u64), Refusal> {
    let n = ask.n();
    let vec = get(ask.case, VEC).max(1);
    if n.is_multiple_of(vec) {
        Ok((vec, n / vec))
    } else {
        Err(Refusal::Size(format!(
            "n={n}: a multiple of {vec} is needed"
        )))
    }
}

/// Vectors that an item loads at a time, as in the kernel.
const LOADED: u64 = 4;

fn load(ask: &Ask<'_>) -> Planned {
    let (vec, vectors) = vectors(ask)?;
    let walk = Walk::over(ask, vectors, LOADED, IN_TURNS)?;
    walk.plan(ask, &[("VEC", vec.to_string())], &[])
}

fn add(ask: &Ask<'_>) -> Planned {
    let (vec, vectors) = vectors(ask)?;
    let wg = ask.case.wg.size();
    if !vectors.is_multiple_of(wg as u64) {
        return Err(Refusal::Size(format!(
            "{vectors} items: a multiple of {wg} is needed"
        )));
    }
    let [_, term] = ChainStep::of(ask.case).args();
    let args = [arg(ask, ROUNDS), term];
    let output = ask.n() as usize;
    let defines = [("VEC", vec.to_string())];
    one_launch(ask, Grid::covering(wg, vectors), output, &defines, &args, 0)
}

// Few or many operations on elements of global memory, and values that are computed again or loaded.

/// What the rows of these families have in common.
const IN_VECTORS: BuiltInFamily = BuiltInFamily {
    choices: &[STEPS, VEC, ROUNDS],
    dtypes: &[Dtype::F32],
    ceiling: Bound::Copy,
    ..READS
};

/// n floats that are read, calculated with and written.
pub static INTENSITY: Family = BuiltInFamily {
    name: "intensity",
    about: "multiplications with additions on elements of global memory",
    problem: &Exact {
        companions: |case, plan| checked(case, plan, &[HALVING]),
        // Every result is a whole number that f32 has, unless it is halved.
        ..Exact::of_each(Fill::Exact(64), steps_cost, |case, inputs| {
            // Two steps more are one on each of an item's first two vectors.
            let step = ChainStep::of(case);
            let steps = steps(case);
            let quarter = quarter(case);
            changed(case, &inputs[0], |vector, x| {
                step.end(
                    x,
                    steps / VECTORS + u64::from(steps % VECTORS > vector / quarter),
                )
            })
        })
    },
    ladder: const { &ladder([rung("lab/intensity/steps.cl", calculate, &[])]) },
    ..IN_VECTORS
}
.family();

/// n floats to each of which a value is added that takes steps.
pub static RECOMPUTE: Family = BuiltInFamily {
    name: "recompute",
    about: "add values that are computed again",
    problem: &Exact {
        companions: |case, plan| checked(case, plan, &[HALVING]),
        ..Exact::of_each(Fill::Exact(64), steps_cost, |case, inputs| {
            let step = ChainStep::of(case);
            let steps = steps(case);
            let quarter = quarter(case);
            changed(case, &inputs[0], |vector, x| {
                let start = VECTORS * ((vector % quarter) & 15) + vector / quarter;
                x + step.end(start as f32, steps / VECTORS)
            })
        })
    },
    ladder: const { &ladder([rung("lab/recompute/again.cl", calculate, &[])]) },
    ..IN_VECTORS
}
.family();

/// n floats to each of which a value is added that is loaded.
pub static RELOAD: Family = BuiltInFamily {
    name: "reload",
    about: "add values that are loaded",
    problem: &Exact {
        inputs: |shape, _| vec![shape.n as usize; 2],
        ..Exact::of_each(
            Fill::Exact(64),
            |case| Cost {
                bytes: 12.0 * case.shape.n as f64,
                ops: case.shape.n as f64,
            },
            |_, inputs| match (&inputs[0], &inputs[1]) {
                (Array::F32(x), Array::F32(table)) => Array::F32(
                    x.par_iter()
                        .zip(table)
                        .map(|(x, value)| x + value)
                        .collect(),
                ),
                (other, _) => Array::zeros(other.dtype(), other.len()),
            },
        )
    },
    ladder: const {
        &ladder([rung(
            "lab/reload/table.cl",
            |ask| in_vectors(ask, &[], &[]),
            &[VEC],
        )])
    },
    choices: &[ROUNDS],
    ..IN_VECTORS
}
.family();

pub const STEPS: Tunable = setting(
    "steps",
    "multiplications with an addition on four elements together",
);

/// Vectors of an item, as in the kernels.
pub const VECTORS: u64 = 4;

fn steps(case: &Case) -> u64 {
    get(case, STEPS)
}

fn vec(case: &Case) -> u64 {
    get(case, VEC).max(1)
}

/// From a vector of an item to its next, which is as many as there are items; never 0.
fn quarter(case: &Case) -> u64 {
    (case.shape.n / vec(case) / VECTORS).max(1)
}

/// Two operations a step: the multiplication and the addition.
fn steps_cost(case: &Case) -> Cost {
    let n = case.shape.n as f64;
    Cost {
        bytes: 8.0 * n,
        ops: n * (2 * steps(case)) as f64 / VECTORS as f64,
    }
}

/// What becomes of the elements, given the number of the vector that each is in.
fn changed(case: &Case, x: &Array, to: impl Fn(u64, f32) -> f32 + Sync) -> Array {
    match x {
        Array::F32(x) => {
            let vec = vec(case) as usize;
            let mut all = x.clone();
            let vectors = all.par_chunks_mut(vec).with_min_len(1 << 10).enumerate();
            vectors.for_each(|(vector, lanes)| {
                lanes.iter_mut().for_each(|x| *x = to(vector as u64, *x))
            });
            Array::F32(all)
        }
        other => Array::zeros(other.dtype(), other.len()),
    }
}

fn calculate(ask: &Ask<'_>) -> Planned {
    let steps = steps(ask.case);
    let least = if ask.case.family == INTENSITY.name {
        2
    } else {
        VECTORS
    };
    if !steps.is_multiple_of(least) {
        return Err(Refusal::Setting(format!(
            "steps={steps}: a multiple of {least} is needed"
        )));
    }
    in_vectors(
        ask,
        &[("STEPS", steps.to_string())],
        &ChainStep::of(ask.case).args(),
    )
}

fn in_vectors(ask: &Ask<'_>, defines: &[(&str, String)], args: &[Arg]) -> Planned {
    let n = ask.n();
    let vec = vec(ask.case);
    let wg = ask.case.wg.size();
    let share = VECTORS * vec * wg as u64;
    if ![1, 2, 4, 8, 16].contains(&vec) {
        return Err(Refusal::Setting(format!(
            "vec={vec}: 1, 2, 4, 8 or 16 is needed"
        )));
    }
    if !n.is_multiple_of(share) {
        return Err(Refusal::Size(format!(
            "n={n}: a multiple of {share} is needed"
        )));
    }
    let defines: Vec<(&str, String)> = defines
        .iter()
        .cloned()
        .chain([("VEC", vec.to_string())])
        .collect();
    let grid = Grid::covering(wg, n / (VECTORS * vec));
    one_launch(ask, grid, n as usize, &defines, args, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_reads_no_word_twice_and_all_are_read_as_often() {
        for (n, items, rounds) in [
            (1 << 12, 64, 4),
            (1 << 12, 256, 2),
            (1 << 10, 1 << 10, 2),
            (1 << 10, 128, 1),
        ] {
            let step_laden = step_over(items, rounds);
            let count = n * rounds / items;
            let mut reads = vec![0; n as usize];
            for item in 0..items {
                let mut own: Vec<u64> = (0..count)
                    .map(|turn| (item + turn * step_laden) % n)
                    .collect();
                own.iter().for_each(|&word| reads[word as usize] += 1);
                own.sort_unstable();
                own.dedup();
                assert_eq!(
                    own.len() as u64,
                    count,
                    "{n} words, {items} items, {rounds} rounds: item {item}"
                );
            }
            assert!(
                reads.iter().all(|&times| times == rounds),
                "{n} words, {items} items, {rounds} rounds"
            );
        }
    }
}
