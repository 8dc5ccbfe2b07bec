//! Reads of every word of a matrix once, down its columns or along its rows, which may have any pitch.

use super::*;
use crate::read_once;
use rayon::prelude::*;

/// Reads n words, a power of two, of a matrix.
pub static FAMILY: Family = BuiltInFamily {
    name: "columns",
    about: "read a matrix down its columns",
    form: Form::Vector,
    problem: &Exact {
        inputs: |shape, params| vec![PaddedRows::of(shape, params).len()],
        ..Exact::of_sum(read_once, |case, inputs| PaddedRows::of(case.shape, &case.params).sum(&inputs[0]))
    },
    ladder: const { &ladder([rung("lab/columns/walk.cl", plan, &[DOWN])]) },
    choices: &[COLUMNS, PAD],
    dtypes: &[Dtype::I32],
    ceiling: Bound::Read,
}
.family();

pub const COLUMNS: Tunable = setting("columns", "logarithm of the words of a row");
pub const PAD: Tunable = setting("padding", "unused words behind each row");
pub const DOWN: Tunable = setting("down", "whether the walk is down the columns");

/// Where the words of a matrix lie.
struct PaddedRows {
    rows: usize,
    columns: usize,
    /// Words from the start of a row to that of the next.
    pitch: usize,
}

impl PaddedRows {
    fn of(shape: Shape, params: &Params) -> PaddedRows {
        let columns = (1u64 << get(params, COLUMNS.name).min(31)).min(shape.n.max(1)) as usize;
        let pitch = columns + get(params, PAD.name) as usize;
        PaddedRows { rows: shape.n as usize / columns, columns, pitch }
    }

    fn len(&self) -> usize {
        self.rows * self.pitch
    }

    fn sum(&self, x: &Array) -> Array {
        let Array::I32(words) = x else { return Array::zeros(x.dtype(), 1) };
        Array::I32(vec![
            words
                .par_chunks(self.pitch)
                .map(|row: &[i32]| row[..self.columns].iter().fold(0, |a: i32, &b| a.wrapping_add(b)))
                .reduce(|| 0, i32::wrapping_add),
        ])
    }
}

/// Accesses that are written out in the kernel.
const UNROLLED: u64 = 8;

fn plan(ask: &Ask<'_>) -> Planned {
    let walk = Walk::over(ask, ask.case.shape.n, UNROLLED, IN_TURNS)?;
    let PaddedRows { rows, columns, pitch } = PaddedRows::of(ask.case.shape, &ask.case.params);
    let formula = match get(&ask.case.params, DOWN.name) {
        1 => [rows.ilog2() as usize, pitch, 1],
        _ => [columns.ilog2() as usize, 1, pitch],
    };
    let args: Vec<Arg> = formula.map(|number| Arg::Uint(number as u32)).into_iter().chain(walk.args()).collect();
    OneLaunch { grid: walk.grid, output: walk.grid.items(), defines: &[], args: &args, local: 0 }.plan(ask)
}
