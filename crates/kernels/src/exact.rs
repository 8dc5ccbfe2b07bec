//! Problems with exact answers, as plain data.

use crate::Problem;
use gpulab_model::data::{Array, Fill, Params, Shape};
use gpulab_model::plan::{Case, Cost, Plan, Reference};

/// A problem with one answer, exact in every bit, for data of one kind.
pub(crate) struct Exact {
    /// Lengths of the inputs, in elements.
    pub(crate) inputs: fn(Shape, &Params) -> Vec<usize>,
    /// Length of the result, in elements.
    pub(crate) result: fn(Shape, &Params) -> usize,
    pub(crate) fill: Fill,
    pub(crate) cost: fn(&Case) -> Cost,
    pub(crate) answer: fn(&Case, &[Array]) -> Array,
    /// Makes the result of the output buffer.
    pub(crate) finish: fn(&Case, Array) -> Array,
    pub(crate) companions: fn(&Case, &Plan) -> Vec<Case>,
}

impl Exact {
    /// n results of n elements, each of its own.
    pub(crate) const fn of_each(fill: Fill, cost: fn(&Case) -> Cost, answer: fn(&Case, &[Array]) -> Array) -> Exact {
        Exact {
            inputs: |shape, _| vec![shape.n as usize],
            result: |shape, _| shape.n as usize,
            fill,
            cost,
            answer,
            finish: |_, output| output,
            companions: |_, _| Vec::new(),
        }
    }

    /// The wrapping sum of n words.
    pub(crate) const fn of_sum(cost: fn(&Case) -> Cost, answer: fn(&Case, &[Array]) -> Array) -> Exact {
        Exact {
            result: |_, _| 1,
            finish: |_, output| gpulab_cpu::wrapping_sum(&output),
            ..Exact::of_each(Fill::Real, cost, answer)
        }
    }
}

/// Of n words that are read once, with one operation for each.
pub(crate) fn read_once(case: &Case) -> Cost {
    let n = case.shape.n as f64;
    Cost { bytes: 4.0 * n, ops: n }
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

    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        (self.companions)(case, plan)
    }

    fn cost(&self, case: &Case) -> Cost {
        (self.cost)(case)
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        Reference::Exact((self.answer)(case, inputs))
    }

    fn finish(&self, case: &Case, output: Array, _: &[Array]) -> Array {
        (self.finish)(case, output)
    }
}
