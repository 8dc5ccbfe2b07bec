//! The problem of a described family: its data, its cost, and what is right by its oracle.

use super::args::{BufferRole, Content, Declared, FillKind};
use super::description::{Allowance, Checker, Description, MOST};
use super::formula::Formula;
use super::planner::bytes_of;
use super::{Oracle, OracleBuffer, OracleQuestion};
use crate::c_text::ValueType;
use crate::{Described, Form, Planned, Problem, Spot};
use gpulab_model::data::{
    Array, Change, Dtype, Field, Fill, Layout, NumberValue, Params, Scalar, Shape,
};
use gpulab_model::plan::{Case, Cost, OutputPart, Plan, Reference, Refusal, Target};
use std::collections::BTreeSet;

pub struct DescribedProblem {
    pub description: Description,
    /// Of each rung those of gpulab's macros whose names its text uses for something of its own.
    pub hidden: Vec<Vec<&'static str>>,
    pub oracle: Box<dyn Oracle>,
    /// The launches of the rung at this place.
    pub planner: fn(&DescribedProblem, usize, &Case, &Target) -> Planned,
}

/// How a buffer's elements lie in an array of the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Storage {
    pub dtype: Dtype,
    /// Elements of the array for one of the buffer's.
    each: usize,
    layout: Layout,
    lanes: usize,
}

impl Storage {
    pub fn of(buffer: &Declared, case: Dtype) -> Storage {
        let (layout, lanes): (Layout, usize) = match &buffer.resolved {
            Some(ValueType::Number(scalar, lanes)) => ((*scalar).into(), *lanes),
            Some(ValueType::Struct(layout)) => (layout.clone(), 1),
            Some(ValueType::Pixel(format, _)) => (format.scalar.into(), format.channels),
            Some(ValueType::Case | ValueType::Index) | None => (Scalar::from(case).into(), 1),
        };
        match layout.scalar().and_then(Scalar::dtype) {
            Some(dtype) => Storage {
                dtype,
                each: lanes,
                layout,
                lanes,
            },
            None => Storage {
                dtype: Dtype::U8,
                each: layout.size * lanes,
                layout,
                lanes,
            },
        }
    }

    /// Elements of the array for so many of the buffer's.
    pub fn len(&self, elements: u64) -> usize {
        (elements as usize).saturating_mul(self.each)
    }

    /// Numbers, or structs, in an array of so many elements.
    fn numbers(&self, len: usize) -> usize {
        len * self.dtype.size() / self.layout.size.max(1)
    }
}

impl DescribedProblem {
    fn count(&self, formula: &Formula, shape: Shape, dtype: Dtype) -> Result<u64, String> {
        formula.count(1, MOST, &|name| self.description.size(name, shape, dtype))
    }

    pub fn len(&self, buffer: &Declared, shape: Shape, dtype: Dtype) -> Result<usize, String> {
        let count = self.count(&buffer.length, shape, dtype);
        let count = count.map_err(|why| format!("the length of {}: {why}", buffer.name))?;
        let len = Storage::of(buffer, dtype).len(count);
        if len as u64 > MOST {
            Err(format!("{} has more than {MOST} elements", buffer.name))
        } else {
            Ok(len)
        }
    }

    /// What an input is made from; none of a file.
    fn fill_of(&self, index: usize, shape: Shape, dtype: Dtype) -> Option<Fill> {
        let kind = self.description.inputs().nth(index)?.kind()?;
        kind.fill(&|name| self.description.size(name, shape, dtype))
            .ok()
    }

    /// As much of the beginning of an input's file as is needed.
    fn part_of_file(
        &self,
        input: &Declared,
        file: &str,
        shape: Shape,
        dtype: Dtype,
    ) -> Result<Array, Refusal> {
        let storage = Storage::of(input, dtype);
        let name = &input.name;
        let whole = self
            .oracle
            .file(file, storage.dtype, &storage.layout)
            .map_err(Refusal::Setting)?;
        let has = whole.len();
        let len = self.len(input, shape, dtype).map_err(Refusal::Size)?;
        if has < len {
            return Err(Refusal::Size(format!(
                "{file} has {has} elements, and {name} needs {len}: choose a smaller -n"
            )));
        }
        Ok(whole.beginning(len))
    }

    /// So many elements whose numbers are these, again and again.
    fn values(
        &self,
        values: &[Formula],
        storage: &Storage,
        len: usize,
        (shape, dtype): (Shape, Dtype),
    ) -> Result<Array, Refusal> {
        let mut array = Array::zeros(storage.dtype, len);
        let mut values = values.iter().cycle();
        for element in array.as_bytes_mut().chunks_mut(storage.layout.size) {
            for (field, value) in storage.layout.fields.iter().zip(&mut values) {
                let bytes = bytes_of(value, field.scalar, &|name| {
                    self.description.size(name, shape, dtype)
                })?;
                element[field.at..][..bytes.len()].copy_from_slice(&bytes);
            }
        }
        Ok(array)
    }

    fn question<'a>(&'a self, case: &'a Case, inputs: &'a [Array]) -> OracleQuestion<'a> {
        let mut inputs = inputs.iter();
        let buffers = self
            .description
            .buffers
            .iter()
            .map(|buffer: &'a Declared| {
                let Storage { dtype, layout, lanes, .. } = Storage::of(buffer, case.dtype);
                OracleBuffer {
                    name: &buffer.name,
                    layout,
                    lanes,
                    dtype,
                    len: self.len(buffer, case.shape, case.dtype).unwrap_or(0),
                    input: if buffer.role.is_input() { inputs.next() } else { None },
                    is_output: buffer.role.is_output(),
                    is_share: matches!(buffer.resolved, Some(ValueType::Pixel(format, _)) if format.is_share),
                }
            })
            .collect();
        OracleQuestion {
            case,
            buffers,
            plan: None,
        }
    }

    /// The answer as a reference, if it can be one.
    fn judged(
        &self,
        question: &OracleQuestion<'_>,
        answers: Vec<Array>,
    ) -> Result<Reference, String> {
        let outputs: Vec<&OracleBuffer<'_>> = question.outputs().collect();
        let is_single = outputs.len() == 1;
        let mut parts = Vec::new();
        let mut at = 0;
        for (output, answer) in outputs.iter().zip(&answers) {
            let of = if is_single {
                String::new()
            } else {
                format!(" for {}", output.name)
            };
            if (answer.len(), answer.dtype()) != (output.len, output.dtype) {
                return Err(format!(
                    "the reference gave {} elements of {}, not {} of {}{of}",
                    answer.len(),
                    answer.dtype(),
                    output.len,
                    output.dtype
                ));
            }
            let bytes = answer.as_bytes();
            let seen = output
                .layout
                .fields
                .iter()
                .map(|field| (field, largest_of(bytes, &output.layout, field)));
            let seen: Vec<(&Field, Result<f64, usize>)> = seen.collect();
            if let Some(index) = seen.iter().filter_map(|(_, largest)| largest.err()).min() {
                return Err(format!(
                    "the reference's element {index} is NaN{of}, which cannot be compared"
                ));
            }
            let fields = seen
                .iter()
                .filter_map(|(field, largest)| Some((field, largest.ok()?)));
            let tolerance = &self.description.tolerance;
            let absolute: Vec<f64> = fields
                .clone()
                .map(|(field, largest)| match output.is_share {
                    // A device may round a share either way, unless the file forbids it.
                    true => f64::from(!tolerance.is_exact()),
                    false => tolerance.absolute_of(field.scalar, largest),
                })
                .collect();
            let allowed = absolute.iter().copied().fold(0.0, f64::max);
            let largest = fields.map(|(_, largest)| largest).fold(0.0, f64::max);
            // 0 is within a relative error of itself alone.
            if !output.is_share && largest > 0.0 && allowed >= largest {
                return Err(format!(
                    "the tolerance of {allowed:.1e} would let zeros pass, as the largest result is {largest:.1e}: make it \
                     smaller"
                ));
            }
            let name = if is_single {
                String::new()
            } else {
                output.name.to_owned()
            };
            let layout = output.layout.clone();
            let want = bytes.to_vec();
            parts.push(OutputPart {
                name,
                at,
                layout,
                want,
                absolute,
                relative: tolerance.relative,
            });
            at += bytes.len();
        }
        // Numbers of one of gpulab's own types are compared as those of its families are.
        match (&mut parts[..], answers.into_iter().next()) {
            ([part], Some(answer))
                if answer.dtype() != Dtype::U8
                    && (answer.dtype().is_float() || part.absolute[0] == 0.0) =>
            {
                Ok(match answer.dtype().is_float() {
                    true => Reference::Near {
                        values: answer,
                        absolute: part.absolute[0],
                        relative: part.relative,
                    },
                    false => Reference::Exact(answer),
                })
            }
            _ => Ok(Reference::Parts(parts)),
        }
    }
}

impl Allowance {
    fn is_exact(&self) -> bool {
        self.of_largest == Some(0.0) && self.absolute == 0.0 && self.relative == 0.0
    }

    /// The absolute error allowed of a field, whose largest right number is `largest`.
    fn absolute_of(&self, scalar: Scalar, largest: f64) -> f64 {
        // Of integers a share says nothing.
        if !scalar.is_float() {
            return self.absolute;
        }
        // What roundings may come to, where the file says nothing.
        let usual = match scalar {
            Scalar::F16 => 2e-3,
            Scalar::F32 => 1e-5,
            _ => 1e-12,
        };
        self.absolute + self.of_largest.unwrap_or(usual) * largest
    }
}

/// The largest magnitude of a field's numbers, or the first element that is NaN.
fn largest_of(bytes: &[u8], layout: &Layout, field: &Field) -> Result<f64, usize> {
    let mut largest = 0.0;
    for (index, element) in bytes.chunks_exact(layout.size.max(1)).enumerate() {
        match field
            .scalar
            .read(&element[field.at..][..field.scalar.size()])
        {
            NumberValue::Real(number) if number.is_nan() => return Err(index),
            NumberValue::Real(number) => largest = number.abs().max(largest),
            NumberValue::Whole(number) => largest = (number as f64).abs().max(largest),
        }
    }
    Ok(largest)
}

/// Whether the first elements are all the same; fewer than some tens may be so by accident.
fn is_constant(array: &Array, len: usize) -> bool {
    const LEAST: usize = 64;
    let size = array.dtype().size();
    let first = array.as_bytes().get(..size);
    let all = array.as_bytes().chunks(size).take(len);
    len >= LEAST && all.map(Some).all(|element| element == first)
}

impl Problem for DescribedProblem {
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        let dtype = self
            .description
            .types
            .first()
            .copied()
            .unwrap_or(Dtype::F32);
        self.description
            .inputs()
            .map(|input: &Declared| match shape.elements() {
                0 => 0,
                // Plans refuse what has no length; until then nothing can hold it.
                _ => self.len(input, shape, dtype).unwrap_or(usize::MAX),
            })
            .collect()
    }

    fn input(&self, case: &Case, index: usize, len: usize, fill: Fill, seed: u64) -> Array {
        let Some(input) = self.description.inputs().nth(index) else {
            return Array::zeros(case.dtype, len);
        };
        let storage = Storage::of(input, case.dtype);
        match &input.content {
            // Plans refuse what the type cannot hold.
            Content::Values(values) => self
                .values(values, &storage, len, (case.shape, case.dtype))
                .unwrap_or_else(|_| Array::zeros(storage.dtype, len)),
            Content::File(file, _) => {
                // Plans refuse a file that cannot be read, or is too short.
                let part = self.part_of_file(input, file, case.shape, case.dtype);
                part.ok()
                    .filter(|part| part.len() == len)
                    .unwrap_or_else(|| Array::zeros(storage.dtype, len))
            }
            Content::Fill(kind, _) => {
                let own = self.fill_of(index, case.shape, case.dtype);
                // Others than the problem's own take the place of random numbers alone.
                let fill = match own.unwrap_or(Fill::Real) {
                    Fill::Real if fill != self.fill(case) => fill,
                    Fill::Exact(_) if matches!(fill, Fill::Fractions(_)) => fill,
                    own => own,
                };
                let mut array = Array::zeros(storage.dtype, len);
                let bytes = kind.generate(
                    fill,
                    &storage.layout,
                    seed,
                    index as u64,
                    storage.numbers(len),
                );
                array.as_bytes_mut().copy_from_slice(&bytes);
                array
            }
            Content::Noise | Content::Zeros => Array::zeros(storage.dtype, len),
        }
    }

    fn result(&self, shape: Shape, _: &Params) -> usize {
        if shape.elements() == 0 {
            return 0;
        }
        let dtype = self
            .description
            .types
            .first()
            .copied()
            .unwrap_or(Dtype::F32);
        let outputs: Vec<&Declared> = self.description.outputs().collect();
        let lens = outputs
            .iter()
            .map(|output| match self.len(output, shape, dtype) {
                Ok(len) if outputs.len() > 1 => {
                    len.saturating_mul(Storage::of(output, dtype).dtype.size())
                }
                Ok(len) => len,
                Err(_) => usize::MAX,
            });
        lens.fold(0, usize::saturating_add)
    }

    fn fill(&self, case: &Case) -> Fill {
        self.fill_of(0, case.shape, case.dtype)
            .unwrap_or(Fill::Real)
    }

    /// None where all inputs are files, which are the same for every seed. Where a kernel says what is right, it does so of other
    /// numbers than small whole ones, too.
    fn second_fill(&self, case: &Case) -> Option<Fill> {
        let fill = match self.fill(case) {
            Fill::Exact(most) if self.is_checked_by_a_rung() => Fill::Fractions(most),
            fill => fill,
        };
        self.description
            .inputs()
            .any(|input| input.kind().is_some())
            .then_some(fill)
    }

    /// One element of any input, as other data of its kind have it; of a file, as another place of it does.
    fn decide(
        &self,
        case: &Case,
        inputs: &[Array],
        _: Option<&Reference>,
        _: f64,
        spot: Spot,
    ) -> Vec<Change> {
        let free: Vec<usize> = self
            .description
            .inputs()
            .enumerate()
            .filter(|(_, input)| !input.is_frozen())
            .map(|(at, _)| at)
            .collect();
        let first = inputs.first().map_or(0, Array::len).max(1) as u128;
        if free.is_empty() {
            return Vec::new();
        }
        let index = free[(spot.draw >> 8) as usize % free.len()];
        let (Some(data), Some(input)) = (
            inputs.get(index).filter(|data| !data.is_empty()),
            self.description.inputs().nth(index),
        ) else {
            return Vec::new();
        };
        let storage = Storage::of(input, case.dtype);
        // One number, or one struct, of the array.
        let each = (storage.layout.size / storage.dtype.size()).max(1);
        let count = (data.len() / each).max(1);
        let place = (spot.at as u128 * count as u128 / first) as usize % count;
        let value = match (input.kind(), self.fill_of(index, case.shape, case.dtype)) {
            (Some(kind), Some(fill)) => {
                let mut value = Array::zeros(storage.dtype, each);
                value.as_bytes_mut().copy_from_slice(&kind.generate(
                    fill,
                    &storage.layout,
                    spot.draw,
                    0,
                    1,
                ));
                value
            }
            _ => data
                .tail((spot.draw % count as u64) as usize * each)
                .beginning(each),
        };
        let elements = (0..each).filter_map(|part| Some((place * each + part, value.at(part)?)));
        let is_other = |(at, value): &(usize, Array)| {
            data.at(*at)
                .is_some_and(|old| old.as_bytes() != value.as_bytes())
        };
        elements
            .filter(is_other)
            .map(|(at, value)| Change {
                input: index,
                index: at,
                value,
            })
            .collect()
    }

    /// Edge sizes: one element; about a group's items, and about its elements; some groups and a rest.
    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        /// Elements of a small case.
        const FEW: u64 = 1 << 18;
        if self.description.is_fixed {
            return Vec::new();
        }
        let form = self.description.form;
        let multiple = self.description.multiple;
        let rounded = |size: u64| size.max(1).next_multiple_of(multiple);
        let mut shapes: Vec<Shape> = edges(form, case.shape, plan)
            .into_iter()
            .map(|[n, m]| form.shape(rounded(n), (form == Form::Matrix).then(|| rounded(m))))
            .filter(|shape| {
                shape.elements() <= FEW.min(case.shape.elements()) && *shape != case.shape
            })
            .collect();
        shapes.sort_by_key(|shape| (shape.elements(), shape.n));
        shapes.dedup();
        shapes
            .into_iter()
            .map(|shape| Case {
                shape,
                ..case.clone()
            })
            .collect()
    }

    fn counted(&self) -> &str {
        let Description {
            bytes, operations, ..
        } = &self.description;
        let formula = if self.description.bound.is_memory() {
            bytes
        } else {
            operations
        };
        let all = if self.description.bound.is_memory() {
            "each buffer once, inout twice"
        } else {
            "n"
        };
        formula.as_ref().map_or(all, |formula| &formula.text)
    }

    fn cost(&self, case: &Case) -> Cost {
        let Description {
            bytes,
            operations,
            buffers,
            ..
        } = &self.description;
        let count = |formula: &Formula| {
            formula
                .value(&|name| self.description.size(name, case.shape, case.dtype))
                .map_or(0.0, |count| count as f64)
        };
        // Each buffer once; what is read and written, twice.
        let each = buffers.iter().map(|buffer| {
            let len = self.len(buffer, case.shape, case.dtype).unwrap_or(0);
            let times = if buffer.role == BufferRole::InOut {
                2.0
            } else {
                1.0
            };
            times * (len * Storage::of(buffer, case.dtype).dtype.size()) as f64
        });
        Cost {
            bytes: bytes.as_ref().map_or_else(|| each.sum(), count),
            ops: operations
                .as_ref()
                .map_or(case.shape.elements() as f64, count),
        }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        if let Checker::Missing = &self.description.checker {
            return Reference::Parts(Vec::new());
        }
        let mut question = self.question(case, inputs);
        if let Some(name) = self.description.right_rung() {
            match self.plan_of(name, case) {
                Ok(plan) => question.plan = Some(plan),
                Err(why) => {
                    return Reference::Unknown(format!(
                        "the rung {name}, which says what is right: {why}"
                    ));
                }
            }
        }
        let answers = self.oracle.answer(&question);
        answers
            .and_then(|answers| self.judged(&question, answers))
            .unwrap_or_else(Reference::Unknown)
    }
}

impl Described for DescribedProblem {
    fn usual_shape(&self, usual: u64, small: bool) -> Shape {
        self.description.usual_shape(usual, small)
    }

    fn check(&self, shape: Shape, dtype: Dtype) -> Result<(), Refusal> {
        let description = &self.description;
        let multiple = self.description.multiple;
        if description.is_fixed && shape != description.usual_shape(shape.n, false) {
            return Err(Refusal::Size(
                "its kernels work at the size of its file alone, as that says: sizes = \"only\""
                    .into(),
            ));
        }
        let is_vector = description.form == Form::Vector;
        if !shape.n.is_multiple_of(multiple) || !(is_vector || shape.m.is_multiple_of(multiple)) {
            return Err(Refusal::Size(format!(
                "its sizes must be multiples of {multiple}, as its file says"
            )));
        }
        for buffer in &description.buffers {
            self.len(buffer, shape, dtype).map_err(Refusal::Size)?;
            let fill = buffer
                .kind()
                .map(|kind| kind.fill(&|name| self.description.size(name, shape, dtype)));
            fill.transpose()
                .map_err(|why| Refusal::Size(format!("{}: {why}", buffer.name)))?;
        }
        for (what, formula) in [
            ("bytes", &description.bytes),
            ("operations", &description.operations),
        ] {
            let count = |formula: &Formula| {
                formula.count(0, 1 << 62, &|name| {
                    self.description.size(name, shape, dtype)
                })
            };
            formula
                .as_ref()
                .map(count)
                .transpose()
                .map_err(|why| Refusal::Size(format!("{what}: {why}")))?;
        }
        for input in description.inputs() {
            if let Content::Values(values) = &input.content {
                let storage = Storage::of(input, dtype);
                self.values(values, &storage, storage.len(1), (shape, dtype))?;
            }
            let (Some(file), name) = (input.file(), &input.name) else {
                continue;
            };
            let part = self.part_of_file(input, file, shape, dtype)?;
            let len = part.len();
            let is_one = matches!(self.description.checker, Checker::Files(_));
            if is_constant(&part, len) && !is_one {
                let why = format!(
                    "the first {len} elements of {file} are all the same, so a kernel that never reads {name} would pass: \
                     choose another file"
                );
                return Err(Refusal::Setting(why));
            }
        }
        Ok(())
    }

    fn oracle(&self) -> String {
        self.oracle.describe()
    }

    fn is_compared(&self) -> bool {
        !matches!(self.description.checker, Checker::Itself)
    }

    fn idle<'a>(&self, inputs: &'a [Array]) -> Vec<(usize, &'a Array, String)> {
        let mut all = Vec::new();
        if !self.is_compared() {
            return all;
        }
        for (input, held) in self.description.inputs().zip(inputs) {
            for (number, output) in self.description.outputs().enumerate() {
                let of = &input.name;
                let name = &output.name;
                // A result that stands in a file may well be a copy of an input, whose data cannot be changed.
                let is_copy =
                    input.is_frozen() && !matches!(self.description.checker, Checker::Files(_));
                if name == of || is_copy {
                    let why = format!(
                        "the right result {name} is what {of} holds before the run, so a kernel that does no more than keep \
                         or copy that would pass: choose another fill or file for {of}, or leave out inout where no kernel \
                         writes"
                    );
                    all.push((number, held, why));
                }
            }
        }
        all
    }

    /// Random floats and small numbers are never 0, which kernels may treat apart, nor so large that exponentials overflow.
    fn seldom(&self, case: &Case, inputs: &[Array], value: f32) -> Vec<Change> {
        let mut all = Vec::new();
        if value != 0.0 && !self.is_checked_by_a_rung() {
            return all;
        }
        for (index, (input, data)) in self.description.inputs().zip(inputs).enumerate() {
            if input.is_frozen()
                || !matches!(input.kind(), Some(FillKind::Random | FillKind::Small(_)))
            {
                continue;
            }
            let storage = Storage::of(input, case.dtype);
            let one = match storage.dtype {
                Dtype::F32 => Array::F32(vec![value]),
                Dtype::F64 => Array::F64(vec![value.into()]),
                _ if value == 0.0 => Array::zeros(storage.dtype, 1),
                _ => continue,
            };
            let each = (storage.layout.size / storage.dtype.size()).max(1);
            let count = data.len() / each;
            let places = BTreeSet::from([count / 3, 2 * count / 3, count.saturating_sub(1)]);
            for at in places
                .into_iter()
                .filter(|place| *place < count)
                .flat_map(|place| place * each..(place + 1) * each)
            {
                all.push(Change {
                    input: index,
                    index: at,
                    value: one.clone(),
                });
            }
        }
        all
    }
}

impl DescribedProblem {
    fn is_checked_by_a_rung(&self) -> bool {
        matches!(self.description.checker, Checker::Rung(_))
    }

    /// The launches of a rung with its default settings; its device is known to the oracle alone.
    fn plan_of(&self, name: &str, case: &Case) -> Planned {
        let rungs = &self.description.rungs;
        let Some(at) = rungs.iter().position(|rung| rung.name == name) else {
            return Err(Refusal::Setting("it is not there".into()));
        };
        let case = Case {
            variant: name.to_owned(),
            wg: rungs[at].wg.unwrap_or(case.wg),
            params: Params::new(),
            ..case.clone()
        };
        (self.planner)(self, at, &case, &Target::without_limits(false))
    }
}

/// Sizes at which kernels go wrong, by what a group of the plan's largest launch has: columns and rows.
fn edges(form: Form, shape: Shape, plan: &Plan) -> Vec<[u64; 2]> {
    let timed = plan.passes.iter().filter(|pass| pass.timed);
    let Some(pass) = timed.max_by_key(|pass| pass.global.iter().product::<usize>()) else {
        return Vec::new();
    };
    let tile = |d: usize, size: u64| {
        let groups = (pass.global[d] / pass.local[d].max(1)).max(1) as u64;
        (size.div_ceil(groups))
            .max(pass.local[d] as u64)
            .next_power_of_two()
    };
    let wide = tile(0, shape.n);
    let high = tile(1, shape.m);
    match form {
        Form::Vector => {
            let wg = plan.wg.size() as u64;
            // Powers of two hide what a count of rounds has wrong, some groups and a rest do not.
            [
                1,
                2,
                wg - 1,
                wg + 1,
                wide,
                wide + 1,
                3 * wide + 5,
                5 * wide + 5,
                9 * wide + 7,
            ]
            .map(|n| [n, 1])
            .to_vec()
        }
        Form::Square => [1, wide - 1, wide + 1, 2 * wide + 5]
            .map(|n| [n, n])
            .to_vec(),
        Form::Matrix => [
            [1, 1],
            [1, high + 1],
            [wide + 1, 1],
            [wide - 1, high + 1],
            // A launch over columns alone strays into the rows behind.
            [wide + 1, 3],
            [2 * wide + 5, 3 * high + 1],
        ]
        .to_vec(),
    }
}
