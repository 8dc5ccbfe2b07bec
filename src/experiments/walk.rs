//! Walks over every word of an array, in strides or from an offset on: the kernels of `stride` and `offset`.

use super::own::{self, Exact, OneLaunch, Own, ROUNDS};
use super::{Scope, Trial};
use crate::cpu;
use crate::data::{Array, Dtype, Fill};
use crate::kernels::{Ask, Bound, Family, Form, Tunable, rung};
use crate::plan::{Arg, Case, Cost, Plan, Refusal, Target};
use crate::record::BANDWIDTH;

/// Reads n words, a power of two, each as often as the rounds say.
pub(super) const GATHER: Family = Family {
    name: "gather",
    about: "read every word of an array in strides",
    form: Form::Vector,
    problem: &Exact {
        inputs: |shape, _| vec![shape.n as usize],
        result: |_, _| 1,
        fill: Fill::Real,
        cost,
        answer: summed,
        finish: |_, output| cpu::wrapping_sum(&output),
    },
    references: &[],
    ladder: &[rung("lab/gather/v1_walk.cl", plan, &[STRIDES, OFFSET])],
    choices: &[ROUNDS],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Read,
};

/// Writes n words, a power of two.
pub(super) const SCATTER: Family = Family {
    name: "scatter",
    about: "write every word of an array in strides",
    form: Form::Vector,
    problem: &Exact {
        inputs: |_, _| vec![1],
        result: |shape, _| shape.n as usize,
        fill: Fill::Real,
        cost,
        answer: numbered,
        finish: own::as_it_is,
    },
    references: &[],
    ladder: &[rung("lab/scatter/v1_walk.cl", plan, &[STRIDES, OFFSET])],
    choices: &[ROUNDS],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Write,
};

const STRIDES: Tunable = own::setting("strides", "logarithm of the stride, in words");
const OFFSET: Tunable = own::setting("offset", "words by which every access is moved");

/// What is walked over, by which kernel.
pub(super) struct Series {
    pub(super) name: &'static str,
    family: &'static Family,
    is_cached: bool,
}

pub(super) const READ: &str = "read";
pub(super) const READ_CACHED: &str = "read from cache";
pub(super) const WRITE: &str = "write";

/// Those that this device is asked: what a GPU's cache hands out in which pieces shows only where nothing comes from
/// further away. A CPU's nearest cache hands out words.
pub(super) fn series(target: &Target) -> impl Iterator<Item = Series> + use<> {
    let all = [(READ, &GATHER, false), (READ_CACHED, &GATHER, true), (WRITE, &SCATTER, false)];
    let is_gpu = target.gpu;
    let all = all.into_iter().filter(move |(_, _, is_cached)| is_gpu || !is_cached);
    all.map(|(name, family, is_cached)| Series { name, family, is_cached })
}

impl Series {
    /// A point of this series: `strides` is the stride's logarithm, `offset` in words.
    pub(super) fn trial(&self, scope: &Scope<'_>, x: u64, strides: u64, offset: u64) -> Trial {
        let (bits, rounds) = self.size(scope);
        let own = Own {
            family: self.family,
            variant: "walk",
            dtype: Dtype::I32,
            n: 1 << bits,
            wg: if scope.target.gpu { own::usual_wg(scope.target) } else { 1 },
            params: &[(STRIDES.name, strides), (OFFSET.name, offset), (ROUNDS.name, rounds)],
        };
        own.trial(scope, self.name, x as f64, BANDWIDTH)
    }

    /// The logarithm of the words, and how often each is accessed: more than any GPU's cache holds, or less than its last
    /// level but more than one unit's own. What is written is read back and checked, and is therefore less. A GPU's items
    /// go through the array together, so that a stride comes back to a segment only when the caches have seen many others.
    fn size(&self, scope: &Scope<'_>) -> (u64, u64) {
        match (scope.target.gpu, self.is_cached) {
            (true, true) => (22, 16),
            (true, false) if self.name == WRITE => (25, 1),
            (true, false) => (26, 1),
            (false, _) if scope.quick => (22, 1),
            (false, _) => (24, 1),
        }
    }
}

fn rounds(case: &Case) -> u64 {
    own::get(&case.params, ROUNDS.name).max(1)
}

/// The bytes that are asked for.
fn cost(case: &Case) -> Cost {
    let accesses = (case.shape.n * rounds(case)) as f64;
    Cost { bytes: 4.0 * accesses, ops: accesses }
}

fn summed(case: &Case, inputs: &[Array]) -> Array {
    let sum = own::words(&cpu::wrapping_sum(&inputs[0])).into_iter();
    own::array(sum.map(|sum| sum.wrapping_mul(rounds(case) as u32)))
}

fn numbered(case: &Case, inputs: &[Array]) -> Array {
    let begin = own::words(&inputs[0]).first().copied().unwrap_or(0);
    own::array((0..case.shape.n as u32).map(|place| begin.wrapping_add(place.wrapping_mul(2_654_435_761))))
}

/// Accesses that are written out in the kernels.
const UNROLLED: u64 = 8;

fn plan(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let n = ask.case.shape.n;
    if !n.is_power_of_two() {
        return Err(Refusal::Size(format!("n={n}: a power of two is needed")));
    }
    let walk = own::Walk::over(ask, n * rounds(ask.case), UNROLLED, own::AT_ONCE)?;
    let settings = [STRIDES.name, OFFSET.name].map(|name| own::arg(ask, name));
    let numbers = [walk.apart, walk.step, walk.share].map(|number| Arg::Uint(number as u32));
    let args: Vec<Arg> = [Arg::Uint(n.ilog2())].into_iter().chain(settings).chain(numbers).collect();
    let output = if ask.case.family == GATHER.name { walk.grid.items() } else { n as usize };
    OneLaunch { grid: walk.grid, output, defines: &[], args: &args, local: 0 }.plan(ask)
}
