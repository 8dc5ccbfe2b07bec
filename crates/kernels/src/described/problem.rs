//! The problem of a described family: its data, its cost, and what is right by its oracle.

use super::description::{Description, MOST};
use super::formula::Formula;
use super::oracle::{Oracle, OracleQuestion};
use crate::{Bound, Form, Problem, Spot};
use gpulab_model::data::{self, Array, Change, Dtype, Fill, Params, Shape};
use gpulab_model::plan::{Case, Cost, Near, Plan, Reference, Refusal};

/// A problem that a file describes.
pub(super) struct DescribedProblem {
    pub(super) description: Description,
    pub(super) oracle: Box<dyn Oracle>,
}

impl DescribedProblem {
    /// What a size's name or a constant's stands for.
    pub(super) fn size(&self, name: &str, shape: Shape, dtype: Dtype) -> Option<u64> {
        match name {
            "n" => Some(shape.n),
            "m" => Some(shape.m),
            "size" => Some(dtype.size() as u64),
            constant => self.description.constant(constant),
        }
    }

    fn count(&self, formula: &Formula, shape: Shape, dtype: Dtype) -> Result<u64, String> {
        formula.count((1, MOST), &|name| self.size(name, shape, dtype))
    }

    /// Lengths of the inputs.
    pub(super) fn lens(&self, shape: Shape, dtype: Dtype) -> Result<Vec<u64>, String> {
        let len = |input: &super::description::DescribedInput| {
            self.count(&input.length, shape, dtype).map_err(|why| format!("the length of {}: {why}", input.name))
        };
        self.description.input.iter().map(len).collect()
    }

    /// What an input is made from; none of a file.
    fn fill_of(&self, index: usize) -> Option<Fill> {
        let input = self.description.input.get(index)?;
        self.description.fill(input).ok().flatten()
    }

    /// The answer as a reference, if it can be one.
    fn judged(&self, case: &Case, answer: Array) -> Result<Reference, String> {
        let want = self.result(case.shape, &case.params);
        let (len, dtype) = (answer.len(), answer.dtype());
        if (len, dtype) != (want, case.dtype) {
            return Err(format!("the reference gave {len} elements of {dtype}, not {want} of {}", case.dtype));
        }
        if let Some(index) = first_nan(&answer) {
            return Err(format!("the reference's element {index} is NaN, which cannot be compared"));
        }
        let Some(allowed) = self.description.tolerance.as_ref().filter(|_| case.dtype.is_float()) else {
            return Ok(Reference::Exact(answer));
        };
        let times = match &allowed.times {
            Some(formula) => formula.value(&|name| self.size(name, case.shape, case.dtype))? as f64,
            None => 1.0,
        };
        let near = Near { values: answer, absolute: allowed.absolute * times, relative: allowed.relative };
        // 0 is within a relative error of itself alone.
        let largest = near.values.widened().into_iter().map(f64::abs).fold(0.0, f64::max);
        if largest > 0.0 && near.absolute >= largest {
            return Err(format!(
                "the tolerance of {:.1e} would let zeros pass, as the largest result is {largest:.1e}: make it smaller",
                near.absolute
            ));
        }
        Ok(Reference::Near(near))
    }
}

/// Whether the first elements are all the same; fewer than some tens may be so by accident.
fn is_constant(array: &Array, len: usize) -> bool {
    const LEAST: usize = 64;
    let size = array.dtype().size();
    let (first, all) = (array.as_bytes().get(..size), array.as_bytes().chunks(size).take(len));
    len >= LEAST && all.map(Some).all(|element| element == first)
}

fn first_nan(array: &Array) -> Option<usize> {
    match array {
        Array::F32(v) => v.iter().position(|x| x.is_nan()),
        Array::F64(v) => v.iter().position(|x| x.is_nan()),
        Array::I32(_) | Array::I64(_) => None,
    }
}

impl Problem for DescribedProblem {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        let count = self.description.input.len();
        if shape.elements() == 0 {
            return vec![0; count];
        }
        // Plans refuse what has no length; until then nothing can hold it.
        let impossible = || vec![u64::MAX; count];
        let lens = self.lens(shape, Dtype::I32).unwrap_or_else(|_| impossible());
        lens.into_iter().map(|len| len as usize).collect()
    }

    fn input(&self, case: &Case, index: usize, len: usize, _: Fill, seed: u64) -> Array {
        let fill = self.fill_of(index);
        let file = self.description.input.get(index).and_then(|input| input.file.as_ref());
        match (fill, file) {
            (None, Some(file)) => {
                // Plans refuse a file that cannot be read.
                let whole = self.oracle.file(file, case.dtype);
                whole.map_or_else(|_| Array::zeros(case.dtype, len), |whole| whole.beginning(len))
            }
            (fill, _) => data::generate(fill.unwrap_or(Fill::Real), case.dtype, seed, index as u64, 0, len),
        }
    }

    fn result(&self, shape: Shape, _: &Params) -> usize {
        let empty = (shape.elements() == 0).then_some(0);
        let len = || self.count(&self.description.output.length, shape, Dtype::I32).unwrap_or(u64::MAX);
        empty.unwrap_or_else(len) as usize
    }

    fn fill(&self, _: &Case) -> Fill {
        self.fill_of(0).unwrap_or(Fill::Real)
    }

    /// None where all inputs are files, which are the same for every seed.
    fn second_fill(&self, case: &Case) -> Option<Fill> {
        (0..self.description.input.len()).any(|index| self.fill_of(index).is_some()).then(|| self.fill(case))
    }

    fn is_exact(&self, _: &Case) -> bool {
        true
    }

    /// One element of any input, as other data of its kind have it; of a file, as another place of it does.
    fn decide(&self, _: &Case, inputs: &[Array], _: Option<&Reference>, _: f64, spot: Spot) -> Vec<Change> {
        let first = inputs.first().map_or(0, Array::len).max(1) as u128;
        let input = (spot.draw >> 8) as usize % inputs.len().max(1);
        let Some(data) = inputs.get(input).filter(|data| !data.is_empty()) else { return Vec::new() };
        let index = (spot.at as u128 * data.len() as u128 / first) as usize;
        let value = match self.fill_of(input) {
            Some(fill) => Some(data::generate(fill, data.dtype(), spot.draw, 0, index as u64, 1)),
            None => data.at((spot.draw % data.len() as u64) as usize),
        };
        let is_other = |value: &Array| data.at(index).is_some_and(|old| old.as_bytes() != value.as_bytes());
        value.filter(is_other).map(|value| Change { input, index, value }).into_iter().collect()
    }

    /// Edge sizes: one element; about a group's items, and about its elements; some groups and a rest.
    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        /// Elements of a small case.
        const FEW: u64 = 1 << 18;
        let form = self.description.form();
        let multiple = self.description.multiple;
        let rounded = |size: u64| size.max(1).next_multiple_of(multiple);
        let mut shapes: Vec<Shape> = edges(form, case.shape, plan)
            .into_iter()
            .map(|[n, m]| form.shape(rounded(n), (form == Form::Matrix).then(|| rounded(m))))
            .filter(|shape| shape.elements() <= FEW.min(case.shape.elements()) && *shape != case.shape)
            .collect();
        shapes.sort_by_key(|shape| (shape.elements(), shape.n));
        shapes.dedup();
        shapes.into_iter().map(|shape| Case { shape, ..case.clone() }).collect()
    }

    fn counted(&self) -> &str {
        if self.description.bound().is_some_and(Bound::is_memory) {
            &self.description.bytes.text
        } else {
            &self.description.operations.text
        }
    }

    fn cost(&self, case: &Case) -> Cost {
        let count = |formula: &Formula| {
            formula.value(&|name| self.size(name, case.shape, case.dtype)).map_or(0.0, |count| count as f64)
        };
        Cost { bytes: count(&self.description.bytes), ops: count(&self.description.operations) }
    }

    fn usual_shape(&self, usual: u64, small: bool) -> Option<Shape> {
        Some(self.description.usual_shape(usual, small))
    }

    fn check(&self, shape: Shape, dtype: Dtype) -> Result<(), Refusal> {
        let multiple = self.description.multiple;
        let is_vector = self.description.form() == Form::Vector;
        if !shape.n.is_multiple_of(multiple) || !(is_vector || shape.m.is_multiple_of(multiple)) {
            return Err(Refusal::Size(format!("its sizes must be multiples of {multiple}, as its file says")));
        }
        let lens = self.lens(shape, dtype).map_err(Refusal::Size)?;
        let Description { output, bytes, operations, .. } = &self.description;
        self.count(&output.length, shape, dtype)
            .map_err(|why| Refusal::Size(format!("the length of {}: {why}", output.name)))?;
        for (what, formula) in [("bytes", bytes), ("operations", operations)] {
            let count = formula.count((0, 1 << 62), &|name| self.size(name, shape, dtype));
            count.map_err(|why| Refusal::Size(format!("{what}: {why}")))?;
        }
        for (input, len) in self.description.input.iter().zip(lens) {
            let Some(file) = &input.file else { continue };
            let whole = self.oracle.file(file, dtype).map_err(Refusal::Setting)?;
            let has = whole.len() as u64;
            if has >= len && is_constant(&whole, len as usize) {
                let why = format!(
                    "the first {len} elements of {file} are all the same, so a kernel that never reads {} would pass: \
                     choose another file",
                    input.name
                );
                return Err(Refusal::Setting(why));
            }
            if has < len {
                let why = format!("{file} has {has} elements, and {} needs {len}: choose a smaller -n", input.name);
                return Err(Refusal::Size(why));
            }
        }
        Ok(())
    }

    fn oracle(&self) -> Option<String> {
        Some(self.oracle.describe())
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let len = self.result(case.shape, &case.params);
        let names = self.description.input.iter().map(|input| input.name.as_str()).collect();
        let answer = self.oracle.answer(&OracleQuestion { case, inputs, names, len });
        answer.and_then(|answer| self.judged(case, answer)).unwrap_or_else(Reference::Unknown)
    }
}

/// Sizes at which kernels go wrong, by what a group of the plan's largest launch has: columns and rows.
fn edges(form: Form, shape: Shape, plan: &Plan) -> Vec<[u64; 2]> {
    let items = |pass: &&gpulab_model::plan::Pass| pass.global.iter().product::<usize>();
    let Some(pass) = plan.passes.iter().max_by_key(items) else { return Vec::new() };
    let tile = |d: usize, size: u64| {
        let groups = (pass.global[d] / pass.local[d].max(1)).max(1) as u64;
        (size.div_ceil(groups)).max(pass.local[d] as u64).next_power_of_two()
    };
    let (wide, high) = (tile(0, shape.n), tile(1, shape.m));
    match form {
        Form::Vector => {
            let wg = plan.wg.size() as u64;
            [1, 2, wg - 1, wg + 1, wide, wide + 1, 3 * wide + 5].map(|n| [n, 1]).to_vec()
        }
        Form::Square => [1, wide - 1, wide + 1, 2 * wide + 5].map(|n| [n, n]).to_vec(),
        Form::Matrix => {
            [[1, 1], [1, high + 1], [wide + 1, 1], [wide - 1, high + 1], [2 * wide + 5, 3 * high + 1]].to_vec()
        }
    }
}
