//! The probes that measure what a device can do at best: those of memory, here, and the list of all.
//!
//! They are families like any other, so the same runner checks and times them; they are not in the list
//! that users see.

use super::arithmetic::{ADD_MIN, LANES, lanes};
use super::shape::{self, Grid};
use super::*;
use crate::data::combinations;
use crate::{cpu, rung};

/// Reads `n` 32-bit words, a multiple of 64.
pub const READ: Family = Family {
    name: "read",
    about: "read global memory as fast as possible",
    form: Form::Vector,
    references: &[],
    problem: &Read,
    ladder: &[rung!("read/v1_strided", read_strided, &[]), rung!("read/v2_wide", read_wide, &[])],
    choices: &[],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Read,
};

/// Copies `n` 32-bit words, a multiple of 64.
pub const COPY: Family = Family {
    name: "copy",
    about: "copy global memory as fast as possible",
    form: Form::Vector,
    references: &[],
    problem: &Copy,
    ladder: &[rung!("copy/v1_vectors", copy_vectors, &[]), rung!("copy/v2_wide", copy_wide, &[])],
    choices: &[],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Copy,
};

/// All probes, in the order in which they run.
pub const PROBES: &[&Family] = &[&READ, &COPY, &ADD_MIN, &LANES];

/// The cases that find the limit which a bound names for elements of this type: the best of them is the ceiling.
pub fn cases(bound: Bound, dtype: Dtype, target: &Target, seed: u64) -> Vec<Case> {
    let probes = PROBES.iter().filter(|family| family.ceiling == bound);
    let rungs = probes.flat_map(|family| family.ladder.iter().map(move |rung| (family, rung)));
    let case = |family: &Family, rung: &Rung, wg: usize, params: Params| Case {
        family: family.name.into(),
        variant: rung.variant().into(),
        dtype: if bound.is_memory() { Dtype::I32 } else { dtype },
        shape: Shape::vector(if bound.is_memory() { elements(target) } else { lanes(target) }),
        wg: WorkGroup::linear(target.max_wg.min(wg)),
        params,
        seed,
    };
    let settings =
        |family: &Family, rung: &Rung| family.choices.iter().chain(rung.tunables).map(|t| (t.name, t.values));
    let of_rung = |(family, rung): (&&Family, &Rung)| -> Vec<Case> {
        // Arithmetic needs the device's own shape; of memory the other one may be as fast.
        let suits = bound.is_memory() || (family.name == LANES.name) != target.gpu;
        let params = if suits { combinations(settings(family, rung)) } else { Vec::new() };
        // More registers may fit an item of a smaller group.
        let wgs: &[usize] = if family.name == ADD_MIN.name { &[128, 256] } else { &[256] };
        let settings = params.into_iter().flat_map(|params| wgs.iter().map(move |&wg| (wg, params.clone())));
        settings.map(|(wg, params)| case(family, rung, wg, params)).collect()
    };
    rungs.flat_map(of_rung).collect()
}

/// How many words to probe a device's memory with: several times any cache, within its memory.
fn elements(target: &Target) -> u64 {
    // A GPU's driver may report a part of its last-level cache; 1 GiB is beyond all of them.
    let wanted = if target.gpu { 1 << 30 } else { (4 * target.cache).clamp(64 << 20, 1 << 30) };
    let bytes = wanted.min(target.max_alloc).min(target.global_mem / 8);
    (bytes / 4 / 64).max(1) * 64
}

struct Read;
struct Copy;

impl Problem for Read {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.n as usize]
    }

    fn exact_fill(&self, _: &Case) -> Fill {
        Fill::Exact(64)
    }

    fn cost(&self, case: &Case) -> Cost {
        Cost { bytes: case.shape.n as f64 * case.dtype.size() as f64, ops: case.shape.n as f64 }
    }

    fn reference(&self, _: &Case, inputs: &[Array]) -> Reference {
        Reference { value: 0.0, magnitude: 0.0, exact: Some(cpu::wrapping_sum(&inputs[0])) }
    }

    fn finish(&self, _: &Case, output: Array, _: &[Array]) -> Array {
        cpu::wrapping_sum(&output)
    }
}

impl Problem for Copy {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.n as usize]
    }

    fn fill(&self, _: &Case) -> Fill {
        Fill::Bits
    }

    fn cost(&self, case: &Case) -> Cost {
        Cost { bytes: 2.0 * case.shape.n as f64 * case.dtype.size() as f64, ops: 0.0 }
    }

    fn reference(&self, _: &Case, inputs: &[Array]) -> Reference {
        Reference { value: 0.0, magnitude: 0.0, exact: Some(inputs[0].clone()) }
    }

    fn movement(&self, case: &Case) -> Option<Movement> {
        Some(Movement::copy(case.shape.n as usize))
    }
}

fn read_strided(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let (n, wg) = (ask.case.shape.n, ask.case.wg.size());
    let grid = Grid::filling(ask.target, wg, n.div_ceil(16));
    let pass = shape::pass(&ask.rung.kernel(), grid, vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Index(n)]);
    plan(ask, grid.groups, grid, pass)
}

fn read_wide(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let (grid, chunk) = shape::chunks(ask.target, ask.case.shape.n);
    let args = vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Index(chunk), Arg::Index(ask.case.shape.n)];
    plan(ask, grid.items(), grid, shape::pass(&ask.rung.kernel(), grid, args))
}

fn copy_vectors(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let vectors = ask.case.shape.n / 4;
    let grid = Grid::covering(ask.case.wg.size(), vectors);
    let args = vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Index(vectors)];
    plan(ask, ask.case.shape.n as usize, grid, shape::pass(&ask.rung.kernel(), grid, args))
}

fn copy_wide(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let n = ask.case.shape.n;
    let (grid, chunk) = shape::chunks(ask.target, n);
    let args = vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Index(chunk), Arg::Index(n)];
    plan(ask, n as usize, grid, shape::pass(&ask.rung.kernel(), grid, args))
}

/// One pass from input 0 to an output of `len` words.
fn plan(ask: &Ask<'_>, len: usize, grid: Grid, pass: Pass) -> Result<Plan, Refusal> {
    let mut defines = shape::defines(shape::wrapping(Dtype::I32), ask.case.shape.n);
    defines.push(("WG".into(), grid.wg.to_string()));
    Ok(Plan {
        defines,
        buffers: vec![
            BufferSpec { role: Role::Input(0), dtype: Dtype::I32, len: ask.case.shape.n as usize },
            BufferSpec { role: Role::Output, dtype: Dtype::I32, len },
        ],
        passes: vec![pass],
        wg: WorkGroup::linear(grid.wg),
        params: Params::new(),
        local_bytes: (grid.wg * 4) as u64,
        depth: 0,
        host_tail: None,
    })
}
