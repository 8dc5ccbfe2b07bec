//! Kernels of experiments: problems with exact answers, and plans of one launch. One file a theme.

pub mod chains;
pub mod divergence;
pub mod images;
pub mod instructions;
pub mod memory;
pub mod sums;

use crate::prelude::*;
use gpulab_model::plan::{REPEATS, Target};
use rayon::prelude::*;

/// For each of these settings of checks, a case with it of few groups and rounds.
pub(crate) fn checked(case: &Case, plan: &Plan, settings: &[&str]) -> Vec<Case> {
    // A multiple of what any kernel here needs that has them.
    let n = case.shape.n.min(64 * case.wg.size() as u64);
    let rounds = given(&plan.params, ROUNDS).min(16);
    settings
        .iter()
        .map(|setting: &&str| {
            let mut params = plan.params.clone();
            params.extend([
                (ROUNDS.name.to_owned(), rounds.to_string()),
                ((*setting).to_owned(), "1".to_owned()),
            ]);
            Case {
                shape: Shape { n, ..case.shape },
                params,
                ..case.clone()
            }
        })
        .collect()
}

/// How often a kernel repeats its work inside. Every trial of these kernels has it, which also keeps what comes from
/// caches and registers from being held against the memory's ceiling.
pub const ROUNDS: Tunable = setting(REPEATS, "times that the work is repeated");

/// A setting of these kernels that is a number.
pub(crate) const fn setting(name: &'static str, about: &'static str) -> Tunable<'static> {
    Tunable::number(name, about, (0, u64::MAX), "")
}

/// The number that a setting has in these; 0 if it was not given or is none.
pub(crate) fn given(params: &Params, setting: Tunable<'_>) -> u64 {
    let text = params.get(setting.name);
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The number that a setting of a case has, as [`given`].
pub(crate) fn get(case: &Case, setting: Tunable<'_>) -> u64 {
    given(&case.params, setting)
}

pub(crate) fn arg(ask: &Ask<'_>, setting: Tunable<'_>) -> Arg {
    Arg::Uint(get(ask.case, setting) as u32)
}

/// The case's size, an item for each element, where work-groups divide it.
pub(crate) fn whole_groups(ask: &Ask<'_>) -> Result<u64, Refusal> {
    let n = ask.n();
    let wg = ask.case.wg;
    if n.is_multiple_of(wg.size() as u64) {
        Ok(n)
    } else {
        Err(Refusal::Size(format!(
            "n={n}: a multiple of {wg} is needed"
        )))
    }
}

/// Work-items that fill a device: on a GPU several times as many as go through its compute units at once.
pub fn items(target: &Target) -> u64 {
    u64::from(target.compute_units.max(1)) * if target.gpu { 8192 } else { 1024 }
}

/// At most so many items, and at most as many as there are shares; a power of two, as the shares are, so that all have the same.
pub(crate) fn equal_items(ask: &Ask<'_>, wanted: u64, shares: u64) -> Result<u64, Refusal> {
    let wg = ask.case.wg.size();
    let items = (1 << wanted.ilog2()).min(shares);
    if items == 0 || !items.is_multiple_of(wg as u64) {
        let why = format!("work-group {wg}: a divisor of {items} is needed");
        return Err(Refusal::Group(why));
    }
    Ok(items)
}

/// How the items of a device that it fills share a number of accesses.
pub(crate) struct Walk {
    pub grid: Grid,
    /// From the first access of an item to that of the next.
    pub apart: u64,
    /// From one access of an item to its next.
    pub step: u64,
    /// Accesses of an item.
    pub share: u64,
}

/// Items of a walk to each compute unit of a GPU: many more than it runs at once, so that its last turn counts little.
pub(crate) const IN_TURNS: u64 = 16384;
/// About as many as it runs at once, so that all go on together and none begins when others are at the end.
pub(crate) const AT_ONCE: u64 = 2048;

impl Walk {
    /// `total` accesses, a power of two, of which an item makes `together` at a time. A GPU's items, so many to a compute
    /// unit, lie beside each other in every step; one of a CPU, which runs after its neighbour, walks over a part of its own.
    pub fn over(ask: &Ask<'_>, total: u64, together: u64, to_a_unit: u64) -> Result<Walk, Refusal> {
        let wg = ask.case.wg.size();
        if !total.is_power_of_two() || total > u64::from(u32::MAX) {
            return Err(Refusal::Size(format!(
                "{total} accesses: a power of two below 2^32 is needed"
            )));
        }
        let wanted = u64::from(ask.target.compute_units.max(1))
            * if ask.target.gpu { to_a_unit } else { 16 };
        let items = equal_items(ask, wanted, total / together)?;
        let share = total / items;
        let (apart, step) = if ask.target.gpu {
            (1, items)
        } else {
            (share, 1)
        };
        Ok(Walk {
            grid: Grid::covering(wg, items),
            apart,
            step,
            share,
        })
    }

    /// One launch, whose items each leave a sum; the numbers of accesses are its last arguments.
    pub fn plan(&self, ask: &Ask<'_>, defines: &[(&str, String)], args: &[Arg]) -> Planned {
        let args = [args, &self.args()].concat();
        one_launch(ask, self.grid, self.grid.items(), defines, &args, 0)
    }

    /// The numbers of accesses, as the kernels' last arguments.
    pub fn args(&self) -> [Arg; 3] {
        [self.apart, self.step, self.share].map(|number| Arg::Uint(number as u32))
    }
}

/// One launch of the rung's kernel: `defines` are macros beside `T`, `INDEX` and `WG`, `args` stand behind the inputs and the
/// output of so many elements, and a group has `local` bytes of `__local` memory.
pub(crate) fn one_launch(
    ask: &Ask<'_>,
    grid: Grid,
    output: usize,
    defines: &[(&str, String)],
    args: &[Arg],
    local: u64,
) -> Planned {
    shape::check_wg(ask.case.wg, ask.target)?;
    let mut plan = Builder::linear(ask, shape::wrapping(ask.case.dtype), grid);
    plan.note_all();
    defines
        .iter()
        .for_each(|(name, value)| plan.define(name, value));
    let output = plan.output(output);
    plan.pass(
        grid,
        plan.args([output].into_iter().chain(args.iter().copied())),
    );
    Ok(plan.plan_with(local, 0))
}

/// One launch of an item for each element, with a result of each.
pub(crate) fn of_each_item(
    ask: &Ask<'_>,
    defines: &[(&str, String)],
    args: &[Arg],
    local: u64,
) -> Planned {
    let n = whole_groups(ask)?;
    one_launch(
        ask,
        Grid::covering(ask.case.wg.size(), n),
        n as usize,
        defines,
        args,
        local,
    )
}

/// Of families that read words: most of what their rows have in common.
pub(crate) const READS: BuiltInFamily = BuiltInFamily {
    name: "",
    about: "",
    form: Form::Vector,
    problem: &Exact::of_sum(crate::read_once, |_, inputs| cpu::wrapping_sum(&inputs[0])),
    ladder: &[],
    choices: &[],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Read,
};

/// Of those that compute with floats.
pub(crate) const FLOAT_STEPS: BuiltInFamily = BuiltInFamily {
    dtypes: &[Dtype::F32],
    ceiling: Bound::Arithmetic,
    ..READS
};

/// Work-items of a usual group on this device.
pub fn usual_wg(target: &Target) -> usize {
    target.max_wg.min(256)
}

/// The elements of an array of 32-bit words; none of another type.
pub(crate) fn words(array: &Array) -> Vec<u32> {
    match array {
        Array::I32(v) => v.iter().map(|w| w.cast_unsigned()).collect(),
        _ => Vec::new(),
    }
}

/// The wrapping sum of what `of` makes of each 32-bit word.
pub(crate) fn total(array: &Array, of: impl Fn(u32) -> u32 + Sync) -> u32 {
    match array {
        Array::I32(v) => v
            .par_iter()
            .map(|word| of(word.cast_unsigned()))
            .reduce(|| 0, u32::wrapping_add),
        _ => 0,
    }
}

/// An array of so many 32-bit words, of which threads make many at a time.
pub(crate) fn par_array(len: usize, word: impl Fn(usize) -> u32 + Sync) -> Array {
    let words = (0..len)
        .into_par_iter()
        .with_min_len(1 << 12)
        .map(|at| word(at).cast_signed());
    Array::I32(words.collect())
}

pub(crate) fn array(words: impl Iterator<Item = u32>) -> Array {
    Array::I32(words.map(u32::cast_signed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::READ;
    use gpulab_model::outcome::fake_info;

    #[test]
    fn a_walk_makes_each_access_once_in_either_shape() {
        let case = Case::of(
            &READ.name,
            READ.ladder[0].variant(),
            Dtype::I32,
            Shape::vector(1 << 20),
        );
        for gpu in [true, false] {
            let target = Target {
                gpu,
                ..fake_info().target
            };
            let ask = Ask {
                family: &READ,
                rung: &READ.ladder[0],
                case: &case,
                target: &target,
            };
            let walk = Walk::over(&ask, 1 << 20, 4, AT_ONCE).unwrap();
            let accesses = (0..walk.grid.items() as u64)
                .flat_map(|id: u64| (0..walk.share).map(move |turn| (id, turn)));
            let mut all: Vec<u64> = accesses
                .map(|(id, turn)| id * walk.apart + turn * walk.step)
                .collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..1 << 20), "{gpu}");
            assert!(Walk::over(&ask, 1000, 4, AT_ONCE).is_err());
        }
    }
}
