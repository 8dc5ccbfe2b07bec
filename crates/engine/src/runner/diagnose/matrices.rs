//! Of kernels over matrices: which cells of the result are right, and what the others hold.

use super::super::inputs::Data;
use super::super::session::Session;
use super::probe::{ProbedKernel, survey, tile};
use gpulab_kernels::{Family, Form};
use gpulab_model::check::{self, CellRegion, MatrixFlags};
use gpulab_model::data::{self, Array, Dtype, Inputs, Shape};
use gpulab_model::outcome::{CellSymptoms, Likeness, Stop, Symptoms, TriedShape};
use gpulab_model::plan::{Case, Movement};

const MOST_SIDE: u64 = 256;

pub(super) fn diagnose(session: &mut Session, family: &Family, case: &Case) -> Result<Symptoms, Stop> {
    let tile = tile(session, family, case)?.map(|side| side.min(MOST_SIDE) as usize);
    let mut shapes = Vec::new();
    let mut found: Option<Symptoms> = None;
    for (shape, is_whole) in shapes_to_try(family.form, tile) {
        let small = Case { shape, ..case.clone() };
        let symptoms = if family.problem.movement(&small).is_some() {
            moved(session, family, &small, tile)?
        } else {
            product(session, family, &small, tile)?
        };
        shapes.push(TriedShape { shape, is_whole, is_right: symptoms.is_right });
        if found.as_ref().is_none_or(|known| known.is_right) {
            found = Some(symptoms);
        }
    }
    let Some(mut symptoms) = found else { return Err(Stop::failed("no shape could be tried")) };
    if let Some(cells) = &mut symptoms.cells {
        cells.shapes = shapes;
    }
    Ok(symptoms)
}

/// Whole squares first, then other whole shapes, then such with a rest.
fn shapes_to_try(form: Form, [wide, high]: [usize; 2]) -> Vec<(Shape, bool)> {
    let side = wide.max(high) as u64;
    let [wide, high] = [wide, high].map(|side| side as u64);
    match form {
        Form::Square => {
            vec![(Shape { n: 2 * side, m: 2 * side }, true), (Shape { n: 2 * side + 3, m: 2 * side + 3 }, false)]
        }
        _ => vec![
            (Shape { n: 2 * side, m: 2 * side }, true),
            (Shape { n: 3 * side, m: 2 * side }, true),
            (Shape { n: 2 * side, m: 3 * side }, true),
            (Shape { n: 2 * wide + 3, m: 3 * high + 1 }, false),
        ],
    }
}

fn cells(shape: Shape, tile: [usize; 2]) -> CellSymptoms {
    CellSymptoms {
        tile: tile.map(|side| side as u64),
        shapes: Vec::new(),
        shape,
        right: CellRegion::All,
        right_count: shape.elements(),
        written: CellRegion::All,
        foreign: 0,
        looks_like: None,
        steps: None,
        step_count: [0; 2],
        starts_from: None,
    }
}

/// Numbers from 1 on, which every type holds.
fn numbered(dtype: Dtype, len: usize) -> Array {
    Array::narrowed(dtype, (1..=len).map(|number| number as f64))
}

fn moved(session: &mut Session, family: &Family, case: &Case, tile: [usize; 2]) -> Result<Symptoms, Stop> {
    let Some(movement) = family.problem.movement(case) else { return Err(Stop::failed("nothing is moved")) };
    let input = numbered(case.dtype, movement.input_len());
    let mut output = Array::zeros(case.dtype, movement.output_len());
    movement.carry_out(&input, &mut output);
    let want = output.widened();
    session.probe(family, case, vec![input], |probe| {
        let mut symptoms = survey(probe, 1, |got| got.widened() == want)?;
        let zero = Array::zeros(case.dtype, 1);
        let got = probe.run_scrubbed(&zero)?.widened();
        let mut cells = cells(case.shape, tile);
        let at = |index: usize| (index % movement.columns) * movement.to_pitch + index / movement.columns;
        let by_input =
            |is: &dyn Fn(usize) -> bool| -> Vec<bool> { (0..got.len()).map(|index| is(at(index))).collect() };
        let right = by_input(&|at| got[at] == want[at]);
        let written = by_input(&|at| got[at] != 0.0);
        let region = |is_in: &[bool]| check::region(MatrixFlags { is_in, columns: movement.columns, tile });
        (cells.right, cells.written) = (region(&right), region(&written));
        cells.right_count = right.iter().filter(|is| **is).count() as u64;
        let len = got.len() as f64;
        cells.foreign =
            got.iter().filter(|x| **x != 0.0 && !(**x >= 1.0 && **x <= len && x.fract() == 0.0)).count() as u64;
        if !symptoms.is_right {
            cells.looks_like = likeness_of_moved(&got, &want, &movement, tile);
        }
        symptoms.cells = Some(cells);
        Ok(symptoms)
    })
}

/// Whether nine of ten cells hold these values, of those where they are others than the right ones.
fn is_likely(cells: impl Iterator<Item = (usize, f64)>, got: &[f64], want: &[f64]) -> bool {
    let decided = cells.filter(|(at, x)| want[*at] != *x);
    let (so, of) = decided.fold((0, 0), |(so, of), (at, x)| (so + usize::from(got[at] == x), of + 1));
    of > 0 && 10 * so >= 9 * of
}

/// What a moved matrix is instead, if nine of ten cells that are decided by it are so.
fn likeness_of_moved(got: &[f64], want: &[f64], movement: &Movement, tile: [usize; 2]) -> Option<Likeness> {
    let Movement { rows, columns, .. } = *movement;
    let source =
        |row: usize, column: usize| (row < rows && column < columns).then(|| (row * columns + column + 1) as f64);
    // What the output's cell holds, where that is another than the right one.
    let is_so = |cell: &dyn Fn(usize, usize) -> Option<f64>| {
        let all = (0..columns).flat_map(|r| (0..rows).map(move |c| (r, c)));
        is_likely(all.filter_map(|(r, c)| Some((r * rows + c, cell(r, c)?))), got, want)
    };
    let flat = |at: usize| (at < got.len()).then_some((at + 1) as f64);
    let at = |r: usize, c: usize| r * rows + c;
    if is_so(&|r, c| flat(at(r, c))) {
        return Some(Likeness::Input);
    }
    for side in [tile[0], tile[1], 8, 16, 32, 64].into_iter().filter(|side| *side > 1) {
        if is_so(&|r, c| source(r / side * side + c % side, c / side * side + r % side)) {
            return Some(Likeness::TilesStay(side as u64));
        }
        if is_so(&|r, c| source(c / side * side + r % side, r / side * side + c % side)) {
            return Some(Likeness::TilesUnturned(side as u64));
        }
    }
    if rows == columns {
        return None;
    }
    // Written at column * width + row: where several meet, any of them.
    let strayed = (0..rows * columns).filter(|index| {
        let place = (index % columns) * columns + index / columns;
        place < got.len() && got[place] == (index + 1) as f64
    });
    if strayed.count() * 2 > rows.min(columns) * columns {
        return Some(Likeness::OutputPitch);
    }
    is_so(&|r, c| flat(c * rows + r)).then_some(Likeness::InputPitch)
}

fn product(session: &mut Session, family: &Family, case: &Case, tile: [usize; 2]) -> Result<Symptoms, Stop> {
    /// Few, so that sums of products are exact.
    const WEIGHTS: u64 = 97;
    let n = case.shape.n as usize;
    let weights = (0..n * n).map(|at| (1 + data::draw(case.seed, at as u64) % WEIGHTS) as f64);
    let input = Array::narrowed(case.dtype, weights);
    let right_of = |input: &Array| -> Vec<f64> {
        let data = Data::of(family, case, Inputs(vec![input.clone()]));
        data.reference().and_then(|r| r.exact()).map(Array::widened).unwrap_or_default()
    };
    let d = input.widened();
    let want = right_of(&input);
    session.probe(family, case, vec![input], |probe| {
        let mut symptoms = survey(probe, 1, |got| got.widened() == want)?;
        let mut nothing = Array::zeros(case.dtype, 1);
        nothing.as_bytes_mut().copy_from_slice(&check::poison(case.dtype));
        let output = probe.run_scrubbed(&nothing)?;
        let got = output.widened();
        let is_written: Vec<bool> =
            output.as_bytes().chunks(case.dtype.size()).map(|x| x != nothing.as_bytes()).collect();
        let right: Vec<bool> = got.iter().zip(&want).map(|(got, want)| got == want).collect();
        let region = |is_in: &[bool]| check::region(MatrixFlags { is_in, columns: n, tile });
        let mut cells = cells(case.shape, tile);
        (cells.right, cells.written) = (region(&right), region(&is_written));
        cells.right_count = right.iter().filter(|is| **is).count() as u64;
        if !symptoms.is_right {
            cells.looks_like = likeness_of_product(n, &d, &got, &want);
            let steps = steps(probe, &right_of, &is_written, n)?;
            cells.step_count = [n as u64, steps.iter().filter(|is| **is).count() as u64];
            cells.steps = Some(check::share(&steps, tile[0]));
            cells.starts_from = start(probe, &right_of, &is_written, n)?;
        }
        symptoms.cells = Some(cells);
        Ok(symptoms)
    })
}

/// What a product is instead, if nine of ten cells that are decided by it are so.
fn likeness_of_product(n: usize, d: &[f64], got: &[f64], want: &[f64]) -> Option<Likeness> {
    let over = |join: fn(f64, f64) -> f64, term: &dyn Fn(usize, usize, usize) -> f64, i: usize, j: usize| {
        (1..n).fold(term(i, j, 0), |all, k| join(all, term(i, j, k)))
    };
    let is_so =
        |cell: &dyn Fn(usize, usize) -> f64| is_likely((0..n * n).map(|at| (at, cell(at / n, at % n))), got, want);
    let rows = |i: usize, j: usize, k: usize| d[i * n + k] + d[j * n + k];
    let columns = |i: usize, j: usize, k: usize| d[k * n + i] + d[k * n + j];
    let sums = |i: usize, j: usize, k: usize| d[i * n + k] + d[k * n + j];
    let products = |i: usize, j: usize, k: usize| d[i * n + k] * d[k * n + j];
    type TermOfProduct<'c> = &'c dyn Fn(usize, usize) -> f64;
    let named: [(Likeness, TermOfProduct<'_>); 8] = [
        (Likeness::Input, &|i, j| d[i * n + j]),
        (Likeness::TransposedProduct, &|i, j| want[j * n + i]),
        (Likeness::RowsTwice, &|i, j| over(f64::min, &rows, i, j)),
        (Likeness::ColumnsTwice, &|i, j| over(f64::min, &columns, i, j)),
        (Likeness::Maximum, &|i, j| over(f64::max, &sums, i, j)),
        (Likeness::SumOfProducts, &|i, j| over(|a, b| a + b, &products, i, j)),
        (Likeness::MinimumOfProducts, &|i, j| over(f64::min, &products, i, j)),
        (Likeness::WithInput, &|i, j| want[i * n + j].min(d[i * n + j])),
    ];
    named.iter().find(|(_, cell)| is_so(cell)).map(|(likeness, _)| *likeness)
}

fn no_edge(dtype: Dtype) -> f64 {
    if dtype.is_float() { f64::INFINITY } else { f64::from(data::NO_EDGE) }
}

/// Which k count: for each a matrix in which all ways lead over it.
fn steps(
    probe: &mut ProbedKernel<'_>,
    right_of: &dyn Fn(&Array) -> Vec<f64>,
    is_written: &[bool],
    n: usize,
) -> Result<Vec<bool>, Stop> {
    let dtype = probe.job.case.dtype;
    let zero = Array::zeros(dtype, 1);
    (0..n)
        .map(|k| {
            let input = Array::narrowed(
                dtype,
                (0..n * n)
                    .map(|at: usize| if at / n == k || at % n == k { (1 + at % 13) as f64 } else { no_edge(dtype) }),
            );
            let want = right_of(&input);
            probe.set(vec![input])?;
            let got = probe.run(&zero)?.widened();
            // MatrixFlags that other faults leave alone, off the row and the column of k.
            let cells = (0..n * n).filter(|&at| is_written[at] && at / n != k && at % n != k);
            Ok(cells.into_iter().any(|at| got[at] == want[at]))
        })
        .collect()
}

/// What a cell that is written holds where there is no way at all, if that is wrong.
fn start(
    probe: &mut ProbedKernel<'_>,
    right_of: &dyn Fn(&Array) -> Vec<f64>,
    is_written: &[bool],
    n: usize,
) -> Result<Option<f64>, Stop> {
    let dtype = probe.job.case.dtype;
    let input = Array::narrowed(dtype, std::iter::repeat_n(no_edge(dtype), n * n));
    let want = right_of(&input);
    probe.set(vec![input])?;
    let got = probe.run_scrubbed(&Array::zeros(dtype, 1))?.widened();
    let wrong = (0..n * n).find(|&at| is_written[at] && got[at] != want[at]);
    Ok(wrong.map(|at| got[at]).filter(|value| value.is_finite()))
}
