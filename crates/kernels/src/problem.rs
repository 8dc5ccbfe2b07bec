//! What a problem is: its inputs, what is right for them, and what they cost.

use gpulab_cpu::Baseline;
use gpulab_model::data::{self, Array, Change, Dtype, Fill, Params, Shape};
use gpulab_model::plan::{Case, Cost, Movement, Plan, Reference, Refusal};

/// Setting of checks: each repetition works on data of its own, so that one that is left out is seen.
pub const APART: &str = "apart";

/// Where an input is changed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub at: usize,
    pub draw: u64,
}

#[derive(Clone, Debug)]
pub struct Changed {
    pub change: Change,
    pub old: Array,
}

/// Values of which each decides the result, to its last bit, where all other elements are neutral.
#[derive(Clone, Debug)]
pub struct Lone {
    /// Of each input the element that leaves the result to the others, as an array of one.
    pub neutral: Vec<Array>,
    /// Of each input one element, as an array of one.
    pub values: Vec<Vec<Array>>,
    /// Two such elements each that decide together.
    pub pairs: Vec<[Vec<Array>; 2]>,
}

impl Lone {
    /// Pairs of elements of a single input.
    pub(crate) fn pairs(pairs: Vec<[Array; 2]>) -> Vec<[Vec<Array>; 2]> {
        pairs
            .into_iter()
            .map(|pair| pair.map(|element| vec![element]))
            .collect()
    }

    /// Pairs that no sum of one of them tells apart: infinities of both signs, one beside NaN, numbers whose sum is too
    /// large or nearly, and such whose sum has the first and the last bit of its type. `element` makes one of a term.
    pub(crate) fn sums(
        dtype: Dtype,
        element: impl Fn(Array) -> Vec<Array>,
    ) -> Vec<[Vec<Array>; 2]> {
        let [largest, large, one, last_bit] = match dtype {
            Dtype::F32 => {
                [f32::MAX, -f32::MAX / 4.0, 1.0, f32::EPSILON].map(|x| Array::F32(vec![x]))
            }
            Dtype::F64 => {
                [f64::MAX, -f64::MAX / 4.0, 1.0, f64::EPSILON].map(|x| Array::F64(vec![x]))
            }
            Dtype::I32 | Dtype::I64 | Dtype::U8 => return Vec::new(),
        };
        let [above, below, nan] = &data::not_finite(dtype)[..] else {
            return Vec::new();
        };
        let odd = [
            (above, below),
            (below, above),
            (below, nan),
            (&largest, &largest),
        ];
        let pairs = odd.into_iter().chain([(&large, &large), (&one, &last_bit)]);
        pairs
            .map(|(a, b)| [a, b].map(|term| element(term.clone())))
            .collect()
    }
}

/// The largest K with which sums of so many of 1..=K, of random signs, lie within `bits` bits with a probability that is as
/// good as one: they are 14 standard deviations away.
pub(crate) fn largest_exact(bits: u32, n: u64) -> f64 {
    2f64.powi(bits as i32) / (8.0 * (n as f64).sqrt().max(1.0))
}

/// The element of the first input at this spot as other data of this kind have it; nothing if that is the same.
fn redrawn(fill: Fill, inputs: &[Array], Spot { at, draw }: Spot) -> Vec<Change> {
    let Some(old) = inputs.first().and_then(|input| input.at(at)) else {
        return Vec::new();
    };
    let value = data::generate(fill, old.dtype(), draw, 0, at as u64, 1);
    if value.as_bytes() == old.as_bytes() {
        Vec::new()
    } else {
        vec![Change {
            input: 0,
            index: at,
            value,
        }]
    }
}

/// How to make a family's inputs and right answers, and what they cost.
pub trait Problem: Send + Sync {
    /// Lengths of the inputs, in elements: most families read one vector.
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.n as usize]
    }

    fn result(&self, _: Shape, _: &Params) -> usize {
        1
    }

    /// Input number `index`, of so many elements: data of this kind, unless the problem says itself what the input is.
    fn input(&self, case: &Case, index: usize, len: usize, fill: Fill, seed: u64) -> Array {
        data::generate(fill, case.dtype, seed, index as u64, 0, len)
    }

    /// The data that cases are timed over.
    fn fill(&self, _: &Case) -> Fill {
        Fill::Real
    }

    /// What lies before and behind buffers: data that change the result if they are read.
    fn beside(&self, case: &Case) -> Fill {
        self.fill(case)
    }

    /// What the formula of [`Problem::cost`] counts, in words.
    fn counted(&self) -> &str {
        ""
    }

    /// Bytes moved and operations done, from the one formula of the family.
    fn cost(&self, case: &Case) -> Cost;

    /// The right answer for these inputs, all of one type and of the lengths that `inputs` gave. Not asked for where
    /// [`Problem::movement`] says what is right.
    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference;

    /// For a problem that only moves elements of its one input: what goes where. Its results are then compared with
    /// the input itself, which is [`Fill::Bits`], and no memory is needed for a reference.
    fn movement(&self, _: &Case) -> Option<Movement> {
        None
    }

    /// Completes on the host what the device left: `output` is the output buffer, `tails` the inputs
    /// from [`Plan::host_tail`] on (empty without one).
    fn finish(&self, _: &Case, output: Array, _: &[Array]) -> Array {
        output
    }

    /// The error of a result, where that is what the reference is of, as an array of one.
    fn error(&self, _: &Case, _result: &Array, _inputs: &[Array]) -> Option<Array> {
        None
    }

    /// What else checks a problem whose one result is folded out of all elements. Of all others, results over the data that are
    /// timed are exact in any order: they show every mistake, and no other data are needed to check a case.
    fn fold(&self) -> Option<&dyn Fold> {
        None
    }

    /// The data of a second seed, which no kernel can know, of a problem that is no [`Fold`]. None where the
    /// [`Problem::companions`] are of the case's own size: they are of that seed anyway.
    fn second_fill(&self, case: &Case) -> Option<Fill> {
        Some(self.fill(case))
    }

    /// Other cases, mostly smaller, that show of the same source what the case's own data cannot; `plan` is that of the case.
    fn companions(&self, _: &Case, _: &Plan) -> Vec<Case> {
        Vec::new()
    }

    /// Changes of elements at or about place `at` of the inputs after which the result is another one, by more than `margin`,
    /// the error allowed. `draw` is a random number; `before` is the right answer so far. Empty where there are none.
    fn decide(
        &self,
        case: &Case,
        inputs: &[Array],
        _before: Option<&Reference>,
        _margin: f64,
        spot: Spot,
    ) -> Vec<Change> {
        redrawn(self.fill(case), inputs, spot)
    }

    /// The right answer for `inputs`, to which these changes of [`Problem::decide`] were made since it was `before`.
    fn amended(
        &self,
        case: &Case,
        inputs: &[Array],
        _changes: &[Changed],
        _before: &Reference,
    ) -> Reference {
        self.reference(case, inputs)
    }

    fn baselines(&self) -> &'static [Baseline] {
        &[]
    }

    /// Why a baseline is not worth its time at this size, if it is not.
    fn spared(&self, _: &Baseline, _: Shape) -> Option<String> {
        None
    }
}

/// A problem with one answer, exact in every bit, for data of one kind.
pub(crate) struct Exact {
    /// Lengths of the inputs, in elements.
    pub inputs: fn(Shape, &Params) -> Vec<usize>,
    /// Length of the result, in elements.
    pub result: fn(Shape, &Params) -> usize,
    pub fill: Fill,
    pub cost: fn(&Case) -> Cost,
    pub answer: fn(&Case, &[Array]) -> Array,
    /// Makes the result of the output buffer.
    pub finish: fn(&Case, Array) -> Array,
    pub companions: fn(&Case, &Plan) -> Vec<Case>,
}

impl Exact {
    /// n results of n elements, each of its own.
    pub const fn of_each(
        fill: Fill,
        cost: fn(&Case) -> Cost,
        answer: fn(&Case, &[Array]) -> Array,
    ) -> Exact {
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
    pub const fn of_sum(cost: fn(&Case) -> Cost, answer: fn(&Case, &[Array]) -> Array) -> Exact {
        Exact {
            result: |_, _| 1,
            finish: |_, output| gpulab_cpu::wrapping_sum(&output),
            ..Exact::of_each(Fill::Real, cost, answer)
        }
    }
}

/// Of n words that are read once, with one operation for each.
/// The case with a plan's settings, and with this one.
pub(crate) fn with_setting(case: &Case, plan: &Plan, name: &str, value: impl ToString) -> Case {
    let mut params = plan.params.clone();
    params.insert(name.to_owned(), value.to_string());
    Case {
        params,
        ..case.clone()
    }
}

pub(crate) fn read_once(case: &Case) -> Cost {
    let n = case.shape.n as f64;
    Cost {
        bytes: 4.0 * n,
        ops: n,
    }
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

/// How to check a problem whose one result is folded out of all elements: over the data that are timed it may be rounded, and
/// many elements may not count.
pub trait Fold: Problem {
    /// The data that makes results exact in the case's element type and size.
    fn exact_fill(&self, case: &Case) -> Fill;

    /// More such data, for mistakes that the first cannot show.
    fn more_exact_fills(&self, case: &Case) -> Vec<Fill>;

    /// Values that a case is checked over by themselves; `draw` is a random number.
    fn lone(&self, case: &Case, draw: u64) -> Lone;

    /// Whether one element can decide the result, so that of several changes some may not count.
    fn is_decided_by_one(&self, _: &Case) -> bool {
        false
    }
}

/// What only the file of a reader's family can say.
pub trait Described: Problem {
    /// The default shape, but no more than `usual` where it is to be `small`.
    fn usual_shape(&self, usual: u64, small: bool) -> Shape;

    /// Why there can be no case of this shape and type.
    fn check(&self, shape: Shape, dtype: Dtype) -> Result<(), Refusal>;

    /// Who says what is right.
    fn oracle(&self) -> String;

    /// Whether somebody else than the kernels themselves says it.
    fn is_compared(&self) -> bool;

    /// What outputs hold though no kernel has worked, or one that only copies an input that is never changed: the output's
    /// number, what it holds, and why that is no right result to check kernels by.
    fn idle<'a>(&self, inputs: &'a [Array]) -> Vec<(usize, &'a Array, String)>;

    /// This value in place of some elements of inputs that do not have it, though nothing rules it out; empty where that cannot be
    /// said. There may be no answer over it.
    fn seldom(&self, case: &Case, inputs: &[Array], value: f32) -> Vec<Change>;
}
