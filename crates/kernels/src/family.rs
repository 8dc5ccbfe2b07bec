//! Families, rungs and problems, as plain data.

use super::own::SourceTraits;
use super::tunable::{DeclaredMacro, Tunable};
use crate::cpu::Baseline;
use gpulab_model::data::{self, Array, Change, DrawnInput, Dtype, Fill, Params, Shape};
use gpulab_model::plan::{Case, Cost, Movement, Plan, Reference, Refusal, Target, WorkGroup};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// A problem and its ladder.
#[derive(Clone)]
pub struct Family {
    /// As on the command line.
    pub name: Cow<'static, str>,
    /// One line for the help.
    pub about: Cow<'static, str>,
    pub form: Form,
    /// How inputs, answers and costs are made.
    pub problem: AnyProblem,
    /// The rungs, in teaching order; [`ladder()`] gives them their numbers.
    pub ladder: Cow<'static, [Rung]>,
    /// Settings that change the answer, and not only how it is found.
    pub choices: &'static [Tunable<'static>],
    /// Element types that the kernels are written for; the first is the default.
    pub dtypes: Cow<'static, [Dtype]>,
    pub ceiling: Bound,
}

/// A problem of gpulab's own, or the one that a reader's file describes.
#[derive(Clone)]
pub enum AnyProblem {
    BuiltIn(&'static dyn Problem),
    Described(Arc<dyn Problem>),
}

impl Deref for AnyProblem {
    type Target = dyn Problem;

    fn deref(&self) -> &Self::Target {
        match self {
            AnyProblem::BuiltIn(problem) => *problem,
            AnyProblem::Described(problem) => &**problem,
        }
    }
}

/// Setting of checks: each repetition works on data of its own, so that one that is left out is seen.
pub const APART: &str = "apart";

/// What a family works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Vectors of n elements.
    Vector,
    /// Matrices of n columns and m rows.
    Matrix,
    /// Matrices of n columns and n rows.
    Square,
}

impl Form {
    /// The shape of size `n`, with another number of rows than columns if `m` is given.
    pub fn shape(self, n: u64, m: Option<u64>) -> Shape {
        match self {
            Form::Vector => Shape::vector(n),
            Form::Matrix => Shape { n, m: m.unwrap_or(n) },
            Form::Square => Shape { n, m: n },
        }
    }

    /// Elements, or columns, of a ladder by default; fewer where it is to be quick.
    pub fn ladder_size(self, quick: bool) -> u64 {
        match (self, quick) {
            (Form::Vector, false) => 1 << 24,
            (Form::Vector, true) => 1 << 20,
            (Form::Matrix, false) => 2048,
            (Form::Matrix, true) => 1024,
            (Form::Square, false) => 1024,
            (Form::Square, true) => 256,
        }
    }

    /// Elements, or columns, to sweep over by default.
    pub fn default_size(self) -> u64 {
        match self {
            Form::Vector => 1 << 20,
            Form::Matrix => 2048,
            Form::Square => 1024,
        }
    }
}

/// Which of the device's measured limits bounds a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Read,
    /// Reading and writing global memory at once.
    Copy,
    /// Additions, each followed by a minimum.
    AddMin,
    Write,
    Local,
    /// Multiplications, each with an addition: floating-point operations of most programs.
    Fma,
    /// Operations of other kinds: no limit of theirs is measured.
    Arithmetic,
}

impl Bound {
    pub(crate) const ALL: [Bound; 7] =
        [Bound::Read, Bound::Write, Bound::Copy, Bound::Local, Bound::AddMin, Bound::Fma, Bound::Arithmetic];

    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Read => "read",
            Bound::Copy => "copy",
            Bound::AddMin => "add-min",
            Bound::Write => "write",
            Bound::Local => "local",
            Bound::Fma => "fma",
            Bound::Arithmetic => "arithmetic",
        }
    }

    /// The limit of this name.
    pub fn named(name: &str) -> Option<Bound> {
        Bound::ALL.into_iter().find(|bound| bound.name() == name)
    }

    /// Whether it limits bytes; otherwise operations.
    pub fn is_memory(self) -> bool {
        !matches!(self, Bound::AddMin | Bound::Fma | Bound::Arithmetic)
    }

    /// What of a case's cost it limits: bytes or operations.
    pub fn limited(self, cost: Cost) -> f64 {
        if self.is_memory() { cost.bytes } else { cost.ops }
    }
}

/// One step of a ladder: one kernel file, one idea.
#[derive(Clone)]
pub struct Rung {
    /// Path below `cl/`, as in `dot/naive.cl`.
    pub path: Cow<'static, str>,
    number: Option<u32>,
    /// Files below `cl/` that are put in front of its own where gpulab builds it. Its own says what it is; they say what it is
    /// measured as.
    pub before: &'static [&'static str],
    /// Files that are put behind it, with the kernels that are launched besides its own.
    pub behind: &'static [&'static str],
    kernel: RungKernel,
}

type Planner = dyn Fn(&Ask<'_>) -> Result<Plan, Refusal> + Send + Sync;

#[derive(Clone)]
enum RungKernel {
    BuiltIn {
        tunables: &'static [Tunable<'static>],
        /// Turns a case into a plan, or says why this device cannot run it.
        plan: fn(&Ask<'_>) -> Result<Plan, Refusal>,
    },
    Brought(Arc<BroughtKernel>),
}

/// A kernel that a reader brought, with what its file declares.
pub(crate) struct BroughtKernel {
    /// Its text, with what it includes.
    pub(crate) text: String,
    pub(crate) work_group: Option<WorkGroup>,
    /// Those that a search may try, the default first; empty for the usual ones.
    pub(crate) work_groups: Vec<WorkGroup>,
    /// What besides its text says how it is launched: that of the file that describes its family.
    pub(crate) declaration: String,
    pub(crate) macros: Vec<DeclaredMacro>,
    pub(crate) plan: Box<Planner>,
    /// What stands in its text, and the parameters that it must have, as they would be written; nothing of a rung of a
    /// described family.
    pub(crate) traits: (SourceTraits, Vec<String>),
    /// What sizes must be multiples of.
    pub(super) multiple: u64,
    /// The type of its elements, where its text names it.
    pub(super) dtype: Option<Dtype>,
    /// What was guessed of its arguments, in words.
    pub(super) guess: Option<String>,
}

/// What a rung's planner is given.
pub struct Ask<'a> {
    pub family: &'a Family,
    pub rung: &'a Rung,
    /// What to run; never of size 0.
    pub case: &'a Case,
    pub target: &'a Target,
}

impl Ask<'_> {
    /// Whether the rung has this setting.
    pub(crate) fn reads(&self, tunable: &Tunable<'_>) -> bool {
        self.rung.tunables().any(|t| t.name == tunable.name)
    }
}

/// Name of the kernel that a file is about: of `lab/banks/strided.cl` it is `banks_strided`.
pub fn entry_point(path: &str) -> String {
    let stem = path.trim_end_matches(".cl");
    let folder = stem.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    stem[folder..].replace('/', "_")
}

/// Where readers' kernels stand among paths below `cl/`.
const OWN: &str = "own";

/// A rung without its number: idea, kernel and source all come from its path below `cl/`.
pub const fn rung(
    path: &'static str,
    plan: fn(&Ask<'_>) -> Result<Plan, Refusal>,
    tunables: &'static [Tunable<'static>],
) -> Rung {
    Rung {
        path: Cow::Borrowed(path),
        number: None,
        before: &[],
        behind: &[],
        kernel: RungKernel::BuiltIn { tunables, plan },
    }
}

/// A ladder: its rungs, numbered in this order from `first` on.
pub const fn ladder<const N: usize>(first: u32, mut rungs: [Rung; N]) -> [Rung; N] {
    let mut place = 0;
    while place < N {
        rungs[place].number = Some(first + place as u32);
        place += 1;
    }
    rungs
}

impl Rung {
    /// A rung that a reader brought, by its place below `own/`.
    pub(super) fn brought(place: &str, number: Option<u32>, kernel: BroughtKernel) -> Rung {
        Rung {
            path: format!("{OWN}/{place}.cl").into(),
            number,
            before: &[],
            behind: &[],
            kernel: RungKernel::Brought(Arc::new(kernel)),
        }
    }

    fn own(&self) -> Option<&BroughtKernel> {
        if let RungKernel::Brought(kernel) = &self.kernel { Some(kernel) } else { None }
    }

    pub fn tunables(&self) -> impl Iterator<Item = Tunable<'_>> + Clone {
        let (built_in, declared) = match &self.kernel {
            RungKernel::BuiltIn { tunables, .. } => (*tunables, &[][..]),
            RungKernel::Brought(kernel) => (&[][..], &*kernel.macros),
        };
        built_in.iter().copied().chain(declared.iter().map(DeclaredMacro::tunable))
    }

    /// The work-group that a reader's file declares; none of gpulab's own rungs.
    pub fn work_group(&self) -> Option<WorkGroup> {
        self.own()?.work_group
    }

    /// The work-groups that a reader's file lets a search try, the default first; empty for the usual ones.
    pub fn work_groups(&self) -> &[WorkGroup] {
        self.own().map_or(&[], |own| &own.work_groups)
    }

    /// The text of the file that describes the rung's family; empty of other rungs.
    pub fn declaration(&self) -> &str {
        self.own().map_or("", |own| &own.declaration)
    }

    /// What the sizes of a reader's kernel must be multiples of.
    pub fn multiple(&self) -> u64 {
        self.own().map_or(1, |own| own.multiple)
    }

    /// The type of the elements of a reader's kernel, where its text names it.
    pub fn own_dtype(&self) -> Option<Dtype> {
        self.own()?.dtype
    }

    /// What was guessed of the arguments of a reader's kernel, in words.
    pub fn guess(&self) -> Option<&str> {
        self.own()?.guess.as_deref()
    }

    /// The text of a reader's kernel.
    pub fn own_text(&self) -> Option<&str> {
        self.own().map(|own| own.text.as_str())
    }

    /// What stands in the text of a reader's kernel, and the parameters that it must have, as they would be written.
    pub fn own_traits(&self) -> (SourceTraits, Vec<String>) {
        self.own().map(|own| own.traits.clone()).unwrap_or_default()
    }

    /// With these files in front of its own and behind it.
    pub const fn between(mut self, before: &'static [&'static str], behind: &'static [&'static str]) -> Rung {
        self.before = before;
        self.behind = behind;
        self
    }

    /// The files that it is built from, in order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.before.iter().copied().chain([&*self.path]).chain(self.behind.iter().copied())
    }

    /// Whether a reader brought it.
    pub fn is_own(&self) -> bool {
        self.own().is_some()
    }

    /// Place in the ladder; references and readers' own kernels have none.
    pub fn number(&self) -> Option<u32> {
        self.number
    }

    /// The idea's name, which is the file's without folder and ending: `local` of `dot/local.cl`.
    pub fn variant(&self) -> &str {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        file.strip_suffix(".cl").unwrap_or(file)
    }

    /// As in tables: `v3 local`, or the name of a reference.
    pub fn label(&self) -> String {
        match self.number() {
            Some(number) => format!("v{number} {}", self.variant()),
            None => self.variant().to_owned(),
        }
    }

    /// The main kernel's name: `dot_local`.
    pub fn kernel(&self) -> String {
        entry_point(&self.path)
    }
}

impl Family {
    /// The references, then the ladder.
    pub fn kernels(&self) -> impl Iterator<Item = &Rung> {
        self.problem.references().iter().chain(&*self.ladder)
    }

    /// The rungs, the best for a device first: from the end of the ladder, but first or, on GPUs, last those of CPUs.
    pub fn preferred(&self, gpu: bool) -> Vec<&Rung> {
        let mut rungs: Vec<&Rung> = self.ladder.iter().rev().collect();
        rungs.sort_by_key(|rung| rung.variant().ends_with("wide") == gpu);
        rungs
    }

    /// Its settings, those of all its rungs included, each once.
    pub fn tunables(&self) -> Vec<Tunable<'_>> {
        let mut all: Vec<Tunable<'_>> = Vec::new();
        for tunable in self.choices.iter().copied().chain(self.kernels().flat_map(Rung::tunables)) {
            if all.iter().all(|known| known.name != tunable.name) {
                all.push(tunable);
            }
        }
        all
    }

    /// What one of the rungs makes of a case, which is never of size 0, or why this device cannot run it.
    pub fn plan(&self, rung: &Rung, case: &Case, target: &Target) -> Result<Plan, Refusal> {
        let ask = Ask { family: self, rung, case, target };
        match &rung.kernel {
            RungKernel::BuiltIn { plan, .. } => plan(&ask),
            RungKernel::Brought(kernel) => (kernel.plan)(&ask),
        }
    }

    /// The rung or the reference with this name.
    pub fn rung(&self, variant: &str) -> Option<&Rung> {
        self.kernels().find(|r| r.variant() == variant)
    }

    /// Whether a reader's file describes it.
    pub fn is_described(&self) -> bool {
        matches!(self.problem, AnyProblem::Described(_))
    }

    /// Its default shape: as a reader's file says, but no more than `usual` where it is to be `small`; of gpulab's own
    /// `usual` elements or columns.
    pub fn usual_shape(&self, usual: u64, small: bool) -> Shape {
        self.problem.usual_shape(usual, small).unwrap_or_else(|| self.form.shape(usual, None))
    }

    /// Other cases that check a case of this plan, by [`Problem::companions`]. In a described family a launch of few
    /// elements may have nothing to do: such cases are left out.
    pub fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        let mut all = self.problem.companions(case, plan);
        let target = Target::with_everything(true);
        let is_possible = |rung: &Rung, case: &Case| self.plan(rung, case, &target).is_ok();
        if self.is_described() {
            all.retain(|case| self.rung(&case.variant).is_some_and(|rung| is_possible(rung, case)));
        }
        all
    }
}

/// Where an input is changed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// A place in the first input.
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
        pairs.into_iter().map(|pair| pair.map(|element| vec![element])).collect()
    }

    /// Pairs that no sum of one of them tells apart: infinities of both signs, one beside NaN, numbers whose sum is too
    /// large or nearly, and such whose sum has the first and the last bit of its type. `element` makes one of a term.
    pub(crate) fn sums(dtype: Dtype, element: impl Fn(Array) -> Vec<Array>) -> Vec<[Vec<Array>; 2]> {
        let pair = |a: Array, b: Array| [element(a), element(b)];
        let [largest, large, one, last_bit] = match dtype {
            Dtype::F32 => [f32::MAX, -f32::MAX / 4.0, 1.0, f32::EPSILON].map(|x| Array::F32(vec![x])),
            Dtype::F64 => [f64::MAX, -f64::MAX / 4.0, 1.0, f64::EPSILON].map(|x| Array::F64(vec![x])),
            Dtype::I32 | Dtype::I64 | Dtype::U8 => return Vec::new(),
        };
        let [above, below, nan] = &data::not_finite(dtype)[..] else { return Vec::new() };
        let odd = [(above, below), (below, above), (below, nan), (&largest, &largest)];
        let pairs = odd.into_iter().chain([(&large, &large), (&one, &last_bit)]);
        pairs.map(|(a, b)| pair(a.clone(), b.clone())).collect()
    }
}

/// The largest K with which sums of so many of 1..=K, of random signs, lie within `bits` bits with a probability that is as
/// good as one: they are 14 standard deviations away.
pub(crate) fn largest_exact(bits: u32, n: u64) -> f64 {
    2f64.powi(bits as i32) / (8.0 * (n as f64).sqrt().max(1.0))
}

/// The element of the first input at this spot as other data of this kind have it; nothing if that is the same.
fn redrawn(fill: Fill, inputs: &[Array], Spot { at, draw }: Spot) -> Vec<Change> {
    let Some(old) = inputs.first().and_then(|input| input.at(at)) else { return Vec::new() };
    let value = data::generate(fill, old.dtype(), draw, 0, at as u64, 1);
    if value.as_bytes() == old.as_bytes() { Vec::new() } else { vec![Change { input: 0, index: at, value }] }
}

/// What is right for inputs of a case that are drawn, and their prints.
pub type Stream = fn(&Case, &[DrawnInput]) -> (Reference, Vec<u64>);

/// How to make a family's inputs and right answers, and what they cost.
pub trait Problem: Send + Sync {
    /// Lengths of the inputs, in elements: most families read one vector.
    fn inputs(&self, shape: Shape, _: &Params) -> Vec<usize> {
        vec![shape.n as usize]
    }

    /// Length of the result, in elements.
    fn result(&self, _: Shape, _: &Params) -> usize {
        1
    }

    /// The type of an input's elements.
    fn input_dtype(&self, case: &Case, _index: usize) -> Dtype {
        case.dtype
    }

    /// Input number `index`, of so many elements: data of this kind, unless the problem says itself what the input is.
    fn input(&self, case: &Case, index: usize, len: usize, fill: Fill, seed: u64) -> Array {
        data::generate(fill, case.dtype, seed, index as u64, 0, len)
    }

    /// The data that cases are timed over.
    fn fill(&self, _: &Case) -> Fill {
        Fill::Real
    }

    /// Whether results over the data that are timed are exact in any order, so that they show every mistake and no
    /// other data are needed to check a case.
    fn is_exact(&self, case: &Case) -> bool {
        self.movement(case).is_some()
    }

    /// The data that makes results exact in the case's element type and size. Not asked for where
    /// [`Problem::is_exact`] says that others do.
    fn exact_fill(&self, _: &Case) -> Fill {
        Fill::Ones
    }

    /// More such data, for mistakes that the first cannot show.
    fn more_exact_fills(&self, _: &Case) -> Vec<Fill> {
        Vec::new()
    }

    /// The data of a second seed, which no kernel can know, where [`Problem::is_exact`] says that no others are needed. None
    /// where the [`Problem::companions`] are of the case's own size: they are of that seed anyway.
    fn second_fill(&self, case: &Case) -> Option<Fill> {
        Some(self.fill(case))
    }

    /// Values that a case is checked over by themselves; `draw` is a random number. None where the result is more than one.
    fn lone(&self, _: &Case, _draw: u64) -> Option<Lone> {
        None
    }

    /// Whether one element can decide the result, so that of several changes some may not count.
    fn is_decided_by_one(&self, _: &Case) -> bool {
        false
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

    /// Zeros in place of some elements of inputs that have none, though nothing rules them out; empty where that cannot be said.
    /// There may be no answer over them.
    fn zeros(&self, _: &Case, _inputs: &[Array]) -> Vec<Change> {
        Vec::new()
    }

    /// The right answer for `inputs`, to which these changes of [`Problem::decide`] were made since it was `before`.
    fn amended(&self, case: &Case, inputs: &[Array], _changes: &[Changed], _before: &Reference) -> Reference {
        self.reference(case, inputs)
    }

    /// Other cases, mostly smaller, that show of the same source what the case's own data cannot; `plan` is that of the case.
    fn companions(&self, _: &Case, _: &Plan) -> Vec<Case> {
        Vec::new()
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

    /// As [`Problem::reference`], of inputs that are drawn and pass by once, with their prints: of problems whose inputs may be
    /// too many for the host. They ask no more of inputs than the elements at the places of changes: [`Problem::decide`] is
    /// then given those as arrays of one, and [`Problem::amended`] none.
    fn streamed(&self) -> Option<Stream> {
        None
    }

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

    /// As of [`Family::usual_shape`], where a reader's file says it.
    fn usual_shape(&self, _usual: u64, _small: bool) -> Option<Shape> {
        None
    }

    /// Why there can be no case of this shape and type, in a family that a reader's file describes.
    fn check(&self, _: Shape, _: Dtype) -> Result<(), Refusal> {
        Ok(())
    }

    /// Who says what is right, in a family that a reader's file describes.
    fn oracle(&self) -> Option<String> {
        None
    }

    /// Kernels that rungs are measured against, in the order in which they run; without numbers.
    fn references(&self) -> &'static [Rung] {
        &[]
    }

    /// The CPU baselines, timed beside the rungs.
    fn baselines(&self) -> &'static [Baseline] {
        &[]
    }

    /// Why a baseline is not worth its time at this size, if it is not.
    fn spared(&self, _: &Baseline, _: Shape) -> Option<String> {
        None
    }
}
