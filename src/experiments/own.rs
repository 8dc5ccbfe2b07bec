//! What the kernels of experiments have in common: problems with exact answers, and plans of one launch.

use super::{Scope, Trial};
use crate::data::{Array, Dtype, Fill, Params, Shape};
use crate::kernels::shape::{self, Grid};
use crate::kernels::{self, Ask, Family, Problem, Tunable};
use crate::plan::{Arg, BufferSpec, Case, Cost, Plan, REPEATS, Reference, Refusal, Role, Target, WorkGroup};
use crate::record::{Metric, Row};

/// A problem with one answer, exact in every bit, for data of one kind.
pub(super) struct Exact {
    /// Lengths of the inputs, in elements.
    pub(super) inputs: fn(Shape, &Params) -> Vec<usize>,
    /// Length of the result, in elements.
    pub(super) result: fn(Shape, &Params) -> usize,
    /// What the inputs hold.
    pub(super) fill: Fill,
    /// Bytes moved and operations done.
    pub(super) cost: fn(&Case) -> Cost,
    /// The result.
    pub(super) answer: fn(&Case, &[Array]) -> Array,
    /// Makes the result of the output buffer.
    pub(super) finish: fn(&Case, Array) -> Array,
}

/// For outputs that are the result.
pub(super) fn as_it_is(_: &Case, output: Array) -> Array {
    output
}

impl Problem for Exact {
    fn inputs(&self, shape: Shape, params: &Params) -> Vec<usize> {
        (self.inputs)(shape, params)
    }

    fn result(&self, shape: Shape, params: &Params) -> usize {
        (self.result)(shape, params)
    }

    fn fill(&self, _: &Case) -> Fill {
        self.fill
    }

    fn is_exact(&self, _: &Case) -> bool {
        true
    }

    fn cost(&self, case: &Case) -> Cost {
        (self.cost)(case)
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        Reference { value: 0.0, magnitude: 0.0, exact: Some((self.answer)(case, inputs)) }
    }

    fn finish(&self, case: &Case, output: Array, _: &[Array]) -> Array {
        (self.finish)(case, output)
    }
}

/// How often a kernel repeats its work inside. Every trial of these kernels has it, which also keeps what comes from
/// caches and registers from being held against the memory's ceiling.
pub(super) const ROUNDS: Tunable = Tunable { name: REPEATS, about: "times that the work is repeated", values: &[] };

/// A setting of these kernels that is a number.
pub(super) const fn setting(name: &'static str, about: &'static str) -> Tunable {
    Tunable { name, about, values: &[] }
}

/// From one operation of a lone item to its next, in nanoseconds.
pub(super) const LATENCY: Metric = Metric { name: "latency", unit: "ns", of: latency };

fn latency(row: &Row) -> Option<f64> {
    let per_item = row.ops? as f64 / row.n as f64;
    Some(1e9 * row.t_median_s? / per_item).filter(|ns| ns.is_finite())
}

/// The number that a setting has; 0 if it was not given or is none.
pub(super) fn get(params: &Params, name: &str) -> u64 {
    params.get(name).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// As [`get`], for an argument.
pub(super) fn arg(ask: &Ask<'_>, name: &str) -> Arg {
    Arg::Uint(get(&ask.case.params, name) as u32)
}

/// One of these kernels' cases.
pub(super) struct Own<'a> {
    pub(super) family: &'static Family,
    pub(super) variant: &'static str,
    pub(super) dtype: Dtype,
    /// The size of the vectors, in elements.
    pub(super) n: u64,
    /// Work-items of a group.
    pub(super) wg: usize,
    pub(super) params: &'a [(&'static str, u64)],
}

impl Own<'_> {
    /// The point of a series that it makes.
    pub(super) fn trial(&self, scope: &Scope<'_>, series: impl Into<String>, x: f64, metric: Metric) -> Trial {
        let params = self.params.iter().map(|(name, value)| ((*name).to_owned(), value.to_string()));
        let case = Case {
            family: self.family.name.into(),
            variant: self.variant.into(),
            dtype: self.dtype,
            shape: Shape::vector(self.n),
            wg: WorkGroup::linear(self.wg),
            params: params.collect(),
            seed: scope.seed,
        };
        Trial { series: series.into(), x, metric, case }
    }
}

/// The case's size, an item for each element, where work-groups divide it.
pub(super) fn whole_groups(ask: &Ask<'_>) -> Result<u64, Refusal> {
    let (n, wg) = (ask.case.shape.n, ask.case.wg);
    if n.is_multiple_of(wg.size() as u64) {
        Ok(n)
    } else {
        Err(Refusal::Size(format!("n={n}: a multiple of {wg} is needed")))
    }
}

/// How the items of a device that it fills share a number of accesses.
pub(super) struct Walk {
    pub(super) grid: Grid,
    /// From the first access of an item to that of the next.
    pub(super) apart: u64,
    /// From one access of an item to its next.
    pub(super) step: u64,
    /// Accesses of an item.
    pub(super) share: u64,
}

/// Items of a walk to each compute unit of a GPU: many more than it runs at once, so that its last turn counts little.
pub(super) const IN_TURNS: u64 = 16384;
/// About as many as it runs at once, so that all go on together and none begins when others are at the end.
pub(super) const AT_ONCE: u64 = 2048;

impl Walk {
    /// `total` accesses, a power of two, of which an item makes `together` at a time. A GPU's items, so many to a compute
    /// unit, lie beside each other in every step; one of a CPU, which runs after its neighbour, walks over a part of its own.
    pub(super) fn over(ask: &Ask<'_>, total: u64, together: u64, to_a_unit: u64) -> Result<Walk, Refusal> {
        let wg = ask.case.wg.size();
        if !total.is_power_of_two() || total > u64::from(u32::MAX) {
            return Err(Refusal::Size(format!("{total} accesses: a power of two below 2^32 is needed")));
        }
        let wanted = u64::from(ask.target.compute_units.max(1)) * if ask.target.gpu { to_a_unit } else { 16 };
        // A power of two, too, so that every item has the same share.
        let items = (1 << wanted.ilog2()).min(total / together);
        if items == 0 || !items.is_multiple_of(wg as u64) {
            return Err(Refusal::Group(format!("work-group {wg}: a divisor of {items} is needed")));
        }
        let share = total / items;
        let (apart, step) = if ask.target.gpu { (1, items) } else { (share, 1) };
        Ok(Walk { grid: Grid::covering(wg, items), apart, step, share })
    }
}

/// What a launch has beside its inputs.
pub(super) struct Launch<'a> {
    pub(super) grid: Grid,
    /// The output's elements.
    pub(super) output: usize,
    /// Macros beside `T`, `INDEX` and `WG`.
    pub(super) defines: &'a [(&'a str, String)],
    /// Arguments behind the inputs and the output.
    pub(super) args: &'a [Arg],
    /// Bytes of `__local` memory that a group has.
    pub(super) local: u64,
}

impl Launch<'_> {
    /// One launch of the rung's kernel.
    pub(super) fn plan(&self, ask: &Ask<'_>) -> Result<Plan, Refusal> {
        let Case { dtype, shape, params, wg, .. } = ask.case;
        shape::check_wg(*wg, ask.target)?;
        let family =
            kernels::family(&ask.case.family).ok_or_else(|| Refusal::Setting("there is no such family".into()))?;
        let lens = family.problem.inputs(*shape, params);
        let buffer = |role, len| BufferSpec { role, dtype: *dtype, len };
        let mut buffers: Vec<BufferSpec> = (0..).zip(lens).map(|(i, len)| buffer(Role::Input(i), len)).collect();
        buffers.push(buffer(Role::Output, self.output));
        let mut defines = shape::defines(shape::wrapping(*dtype), shape.n);
        defines.push(("WG".into(), self.grid.wg.to_string()));
        defines.extend(self.defines.iter().map(|(name, value)| ((*name).into(), value.clone())));
        let args = (0..buffers.len()).map(Arg::Buffer).chain(self.args.iter().copied()).collect();
        Ok(Plan {
            defines,
            buffers,
            passes: vec![shape::pass(&ask.rung.kernel(), self.grid, args)],
            wg: WorkGroup::linear(self.grid.wg),
            params: params.clone(),
            local_bytes: self.local,
            depth: 0,
            host_tail: None,
        })
    }
}

/// Work-items that fill a device: on a GPU several times as many as go through its compute units at once.
pub(super) fn items(target: &Target) -> u64 {
    u64::from(target.compute_units.max(1)) * if target.gpu { 8192 } else { 1024 }
}

/// Work-items of a usual group on this device.
pub(super) fn usual_wg(target: &Target) -> usize {
    target.max_wg.min(256)
}

/// The elements of an array of 32-bit words; none of another type.
pub(super) fn words(array: &Array) -> Vec<u32> {
    match array {
        Array::I32(v) => v.iter().map(|w| w.cast_unsigned()).collect(),
        _ => Vec::new(),
    }
}

/// An array of 32-bit words.
pub(super) fn array(words: impl Iterator<Item = u32>) -> Array {
    Array::I32(words.map(u32::cast_signed).collect())
}

/// The points of an experiment's plan on a made-up device on which a trial has the value that `value` gives for its
/// series and x; trials that it gives none are skipped.
#[cfg(test)]
pub(super) fn points_of(
    experiment: &dyn super::Experiment,
    gpu: bool,
    noise: f64,
    value: impl Fn(&str, f64) -> f64,
) -> Vec<crate::record::Point> {
    let target = Target { gpu, ..crate::device::fake::fake_info().target };
    let plan = experiment.plan(&Scope { target: &target, quick: false, seed: 1 });
    let point = |t: &Trial| {
        let value = value(&t.series, t.x);
        let mut point = crate::record::point(&t.series, 1, value, noise);
        (point.x, point.metric, point.unit) = (t.x, t.metric.name.into(), t.metric.unit.into());
        if !value.is_finite() {
            (point.status, point.value) = (crate::runner::Status::Skipped, None);
        }
        point
    };
    plan.iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::vector::Vector;
    use crate::experiments::{Experiment, Scope};

    #[test]
    fn a_walk_makes_each_access_once_in_either_shape() {
        for gpu in [true, false] {
            let target = Target { gpu, ..crate::device::fake::fake_info().target };
            let case = Vector.plan(&Scope { target: &target, quick: true, seed: 1 }).remove(0).case;
            let rung = kernels::family(&case.family).unwrap().rung(&case.variant).unwrap();
            let ask = Ask { rung, case: &case, target: &target };
            let walk = Walk::over(&ask, 1 << 20, 4, AT_ONCE).unwrap();
            let item = |id: u64| (0..walk.share).map(move |turn| (id, turn));
            let accesses = (0..walk.grid.items() as u64).flat_map(item);
            let mut all: Vec<u64> = accesses.map(|(id, turn)| id * walk.apart + turn * walk.step).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..1 << 20), "{gpu}");
            assert!(Walk::over(&ask, 1000, 4, AT_ONCE).is_err());
        }
    }
}
