//! All shortest distances: by squaring, by Floyd and Warshall's n launches, and by blocks of nodes, which takes the work of one
//! product.

use crate::minplus::{
    ASYNC, BLOCK, BUFFERS, DEPTH, ITEM, MinPlus, STRIP, STRIP_HEIGHT, TILE, Tiling, VEC, WEIGHTS,
    begin, define_pairs, is_ordered, vectors_of,
};
use crate::{
    Ask, Bound, Builder, BuiltInFamily, Family, Form, Planned, Problem, ladder_from, rung, shape,
};
use gpulab_cpu::minplus as host;
use gpulab_model::data::{self, Array, Dtype, Fill, Params, Shape};
use gpulab_model::plan::{Arg, Case, Cost, Reference, Refusal, WorkGroup};

/// The family of all shortest distances. Its matrices are of weights without a negative cycle.
pub static FAMILY: Family = BuiltInFamily {
    name: "closure",
    about: "all shortest distances in a graph, as of gpulab minplus --closure",
    form: Form::Square,
    problem: &AllPairs,
    ladder: const {
        &ladder_from(
            0,
            [
                rung(
                    "closure/squaring.cl",
                    squaring,
                    &[TILE, ITEM, DEPTH, BUFFERS, ASYNC],
                )
                .with(&[
                    "closure/blocked.cl",
                    "closure/padded.cl",
                    "closure/panels.cl",
                ]),
                rung("closure/textbook.cl", textbook, &[]).with(&["closure/padded.cl"]),
                rung(
                    "closure/blocked.cl",
                    blocked,
                    &[BLOCK, TILE, ITEM, DEPTH, BUFFERS, ASYNC],
                )
                .with(&[
                    "closure/padded.cl",
                    "closure/pivot.cl",
                    "closure/panels.cl",
                ]),
                rung("closure/blocked_wide.cl", blocked_wide, &[BLOCK, VEC, ITEM])
                    .with(&["closure/padded.cl"]),
            ],
        )
    },
    choices: &[WEIGHTS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::AddMin,
}
.family();

struct AllPairs;

impl Problem for AllPairs {
    fn inputs(&self, shape: Shape, params: &Params) -> Vec<usize> {
        MinPlus.inputs(shape, params)
    }

    fn result(&self, shape: Shape, params: &Params) -> usize {
        MinPlus.result(shape, params)
    }

    /// Whole weights, whose sums are exact in any order. Of 16 edges one is there, and those of a way around all nodes.
    fn input(&self, case: &Case, index: usize, len: usize, fill: Fill, seed: u64) -> Array {
        let n = case.shape.n as usize;
        let mut weights = data::generate(fill, case.dtype, seed, index as u64, 0, len);
        let zero = Array::zeros(case.dtype, 1);
        let no_edge = match case.dtype {
            Dtype::I32 => Array::I32(vec![data::NO_EDGE]),
            dtype => Array::narrowed(dtype, [f64::INFINITY]),
        };
        for at in 0..len {
            let i = at / n;
            let j = at % n;
            if i == j {
                weights.put(at, &zero);
            } else if (i + 1) % n != j && !data::draw(!seed, at as u64).is_multiple_of(16) {
                weights.put(at, &no_edge);
            }
        }
        weights
    }

    fn fill(&self, _: &Case) -> Fill {
        Fill::Below(1000)
    }

    fn counted(&self) -> &'static str {
        MinPlus.counted()
    }

    /// That of the product, which is that of Floyd and Warshall's.
    fn cost(&self, case: &Case) -> Cost {
        MinPlus.cost(case)
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let n = case.shape.n as usize;
        let mut distances = inputs[0].clone();
        let zero = Array::zeros(case.dtype, 1);
        (0..n).for_each(|i| _ = distances.put(i * (n + 1), &zero));
        let mut next = distances.clone();
        // A path has less than n edges; each product joins two.
        for _ in 0..case.shape.n.next_power_of_two().trailing_zeros() {
            host::all_threads(n, &distances, &mut next);
            std::mem::swap(&mut distances, &mut next);
        }
        Reference::Exact(distances)
    }
}

/// Launches of an item for each element of a square.
fn each(plan: &mut Builder<'_>, kernel: &str, side: u64, args: Vec<Arg>) -> Result<(), Refusal> {
    let wg = WorkGroup([32, if plan.ask.target.max_wg < 256 { 1 } else { 8 }, 1]);
    shape::check_wg(wg, plan.ask.target)?;
    plan.launch_of(
        kernel,
        [
            side.div_ceil(wg.0[0] as u64),
            side.div_ceil(wg.0[1] as u64),
            1,
        ],
        wg,
        args,
    );
    plan.wg = wg;
    Ok(())
}

fn textbook(ask: &Ask<'_>) -> Planned {
    let n = ask.n();
    let mut plan = begin(ask, n)?;
    let result = plan.output(ask.case.shape.elements() as usize);
    let args = plan.args([result, Arg::Index(n), Arg::Index(n)]);
    each(&mut plan, "pad", n, args)?;
    for k in 0..n {
        each(
            &mut plan,
            &ask.rung.kernel(),
            n,
            vec![result, Arg::Index(n), Arg::Index(k)],
        )?;
    }
    Ok(plan.plan(0, n))
}

/// Lowers, by the panels of a step, the tiles from a column and a row on, up to a column and a row.
type Lower<'a> = dyn Fn(&mut Builder<'_>, [Arg; 3], [u64; 2], [u64; 2]) + 'a;

/// Launches over a padded matrix: `steps` gets its panels of rows and of columns, and itself.
fn on_padded<'a>(
    mut plan: Builder<'a>,
    [block, pitch]: [u64; 2],
    steps: impl FnOnce(&mut Builder<'_>, [Arg; 3]),
) -> Result<Builder<'a>, Refusal> {
    let n = plan.n();
    let [rows, columns] = [(); 2].map(|()| plan.scratch((block * pitch) as usize));
    let d = plan.scratch((pitch * pitch) as usize);
    let result = plan.output(plan.ask.case.shape.elements() as usize);
    let sizes = [Arg::Index(n), Arg::Index(pitch)];
    let args = plan.args([d].into_iter().chain(sizes));
    each(&mut plan, "pad", pitch, args)?;
    steps(&mut plan, [rows, columns, d]);
    each(
        &mut plan,
        "unpad",
        n,
        [d, result].into_iter().chain(sizes).collect(),
    )?;
    Ok(plan)
}

/// The launches of all steps: `panels` makes the panels of the step from this node on.
fn in_blocks<'a>(
    plan: Builder<'a>,
    [block, pitch]: [u64; 2],
    pivots: WorkGroup,
    panels: &dyn Fn(&mut Builder<'_>, [Arg; 3], u64),
    lower: &Lower<'_>,
) -> Result<Builder<'a>, Refusal> {
    shape::check_wg(pivots, plan.ask.target)?;
    let n = plan.n();
    on_padded(plan, [block, pitch], |plan, buffers| {
        for first in (0..n).step_by(block as usize) {
            let last = first + block;
            plan.launch_of(
                "pivot",
                [1, 1, 1],
                pivots,
                vec![buffers[2], Arg::Index(pitch), Arg::Index(first)],
            );
            panels(plan, buffers, first);
            lower(plan, buffers, [0, first], [pitch, last]);
            lower(plan, buffers, [first, 0], [last, pitch]);
            panels(plan, buffers, first);
            lower(plan, buffers, [0, 0], [pitch, pitch]);
        }
    })
}

/// Roundings of the longest sum: one for each node of a block, and two more for each block.
fn roundings(n: u64, block: u64) -> u64 {
    n + 2 * n.div_ceil(block)
}

/// Blocks of nodes whose panels are lowered by the tiles of a group.
#[derive(Clone, Copy)]
struct BlockTiles {
    tiling: Tiling,
    block: u64,
    pitch: u64,
}

impl BlockTiles {
    fn begin<'a>(ask: &'a Ask<'a>) -> Result<(BlockTiles, Builder<'a>), Refusal> {
        let is_small = ask.case.dtype.size() == 4;
        let [tile, item] = if is_small {
            [[64, 64], [8, 8]]
        } else {
            [[32, 64], [4, 8]]
        };
        let tiling = Tiling::of(
            ask,
            Tiling {
                tile,
                item,
                depth: 16,
                buffers: 2,
            },
        )?;
        // A CPU driver takes long over the pivot of a larger one.
        let block = BLOCK
            .get(&ask.case.params)?
            .unwrap_or(if is_small && ask.target.gpu { 128 } else { 64 });
        let n = ask.n();
        let divisors = [tiling.tile[0], tiling.tile[1], tiling.depth, STRIP];
        if block > 256
            || divisors
                .into_iter()
                .any(|divisor| !block.is_multiple_of(divisor))
        {
            let [rows, columns, depth, strip] = divisors;
            let why = format!(
                "block={block}: up to 256, a multiple of {strip}, depth={depth} and tile={rows}x{columns}"
            );
            return Err(Refusal::Setting(format!("{why} is needed")));
        }
        let mut plan = tiling.begin(ask, tiling.pitch(n))?;
        plan.define("BLOCK", block);
        define_pairs(&mut plan, ask, &tiling)?;
        shape::check_wg(tiling.work_group(), ask.target)?;
        Ok((
            BlockTiles {
                tiling,
                block,
                pitch: n.next_multiple_of(block),
            },
            plan,
        ))
    }

    fn panels(&self, plan: &mut Builder<'_>, [rows, columns, d]: [Arg; 3], first: u64) {
        let strips = WorkGroup([STRIP as usize, STRIP_HEIGHT, 1]);
        let groups = [self.pitch / STRIP, self.block / STRIP, 2];
        plan.launch_of(
            "panels",
            groups,
            strips,
            vec![d, rows, columns, Arg::Index(self.pitch), Arg::Index(first)],
        );
    }

    fn lower(
        &self,
        plan: &mut Builder<'_>,
        buffers: [Arg; 3],
        [left, top]: [u64; 2],
        [right, bottom]: [u64; 2],
    ) {
        let sizes = [self.pitch, left, top].map(Arg::Index);
        let args = buffers
            .into_iter()
            .chain(sizes)
            .chain([Arg::Int(1)])
            .collect();
        let [rows, columns] = self.tiling.tile;
        plan.launch(
            [(right - left) / columns, (bottom - top) / rows, 1],
            self.tiling.work_group(),
            args,
        );
    }
}

fn squaring(ask: &Ask<'_>) -> Planned {
    let (tiles, plan) = BlockTiles::begin(ask)?;
    let BlockTiles { block, pitch, .. } = tiles;
    let n = plan.n();
    // Paths have less than n edges, and a round lets any two join, at any node.
    let rounds = u64::from(n.next_power_of_two().trailing_zeros());
    let plan = on_padded(plan, [block, pitch], |plan, buffers| {
        for first in (0..rounds).flat_map(|_| (0..n).step_by(block as usize)) {
            tiles.panels(plan, buffers, first);
            tiles.lower(plan, buffers, [0, 0], [pitch, pitch]);
        }
    })?;
    Ok(plan.plan(tiles.tiling.local_elements(), rounds * n.div_ceil(block)))
}

fn blocked(ask: &Ask<'_>) -> Planned {
    let (tiles, mut plan) = BlockTiles::begin(ask)?;
    let BlockTiles { block, pitch, .. } = tiles;
    plan.note(BLOCK.name, block);
    let plan = in_blocks(
        plan,
        [block, pitch],
        WorkGroup::linear(256),
        &|plan, buffers, first| tiles.panels(plan, buffers, first),
        &|plan, buffers, from, to| tiles.lower(plan, buffers, from, to),
    )?;
    let roundings = roundings(ask.n(), block);
    Ok(plan.plan(tiles.tiling.local_elements().max(4 * block), roundings))
}

fn blocked_wide(ask: &Ask<'_>) -> Planned {
    /// Rows of an item, whose strips stay in a core's own cache while those of columns pass.
    const ROWS: u64 = 48;
    let n = ask.n();
    let params = &ask.case.params;
    let [vec, rows, vectors] = vectors_of(ask, [4, 2])?;
    let block = BLOCK.get(params)?.unwrap_or(128);
    if rows * vectors > 64
        || block > 1024
        || !block.is_multiple_of(rows)
        || !block.is_multiple_of(vec * vectors)
    {
        let why = format!(
            "block={block} vec={vec} item={rows}x{vectors}: at most 64 vectors, and up to 1024 nodes"
        );
        return Err(Refusal::Setting(format!(
            "{why}, a multiple of an item's rows and columns, are needed"
        )));
    }
    let pitch = n.next_multiple_of(block);
    let one = WorkGroup::linear(1);
    let mut plan = begin(ask, pitch)?;
    plan.set(VEC.name, vec);
    plan.set(BLOCK.name, block);
    plan.note(ITEM.name, format!("{rows}x{vectors}"));
    plan.define("ROWS", rows);
    plan.define("VECTORS", vectors);
    if is_ordered(ask.case.dtype, params) {
        plan.define("ORDERED", 1);
    }
    let width = vec * vectors;
    let high = ROWS.div_ceil(rows);
    // Enough items for all to end at about the same time.
    let items = 32 * u64::from(ask.target.compute_units.max(1));
    let plan = in_blocks(
        plan,
        [block, pitch],
        one,
        &|plan, [ys, xs, d], first| {
            let args = vec![d, ys, xs, Arg::Index(pitch), Arg::Index(first)];
            plan.launch_of("panels", [pitch / width + pitch / rows, 1, 1], one, args);
        },
        &|plan, buffers, from, to| {
            let [left, right] = [from[0] / width, to[0] / width];
            let [top, bottom] = [from[1] / rows, to[1] / rows];
            let down = (bottom - top).div_ceil(high);
            let wide = (right - left).div_ceil(items.div_ceil(down));
            let sizes = [pitch, left, top, right, bottom, wide, high].map(Arg::Index);
            let groups = [(right - left).div_ceil(wide), down, 1];
            plan.launch(groups, one, buffers.into_iter().chain(sizes).collect());
        },
    )?;
    Ok(plan.plan(0, roundings(n, block)))
}
