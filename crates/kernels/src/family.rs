//! Families and rungs, as plain data.

use super::own::SourceTraits;
use super::problem::{Described, Problem};
use super::tunable::{DeclaredMacro, Tunable};
use gpulab_model::data::{Dtype, Shape};
use gpulab_model::named_enum;
use gpulab_model::plan::Cost;
use gpulab_model::plan::{Case, Plan, Refusal, Target, WorkGroup};
use serde::Deserialize;
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
    /// With kernels that rungs are measured against, in the order in which they run; without numbers.
    Referenced(&'static dyn Problem, &'static [Rung]),
    Described(Arc<dyn Described>),
}

impl AnyProblem {
    /// The kernels that rungs are measured against.
    pub fn references(&self) -> &'static [Rung] {
        if let AnyProblem::Referenced(_, references) = self {
            references
        } else {
            &[]
        }
    }
}

impl Deref for AnyProblem {
    type Target = dyn Problem;

    fn deref(&self) -> &Self::Target {
        match self {
            AnyProblem::BuiltIn(problem) | AnyProblem::Referenced(problem, _) => *problem,
            AnyProblem::Described(described) => &**described,
        }
    }
}

/// One step of a ladder: one kernel file, one idea.
#[derive(Clone)]
pub struct Rung {
    /// Path below `cl/`, as in `dot/naive.cl`.
    pub path: Cow<'static, str>,
    number: Option<u32>,
    /// Files below `cl/` that are put behind its own, with the kernels that are launched besides its own.
    pub behind: &'static [&'static str],
    kernel: RungKernel,
}

/// A plan, or why a device cannot run the case.
pub(crate) type Planned = Result<Plan, Refusal>;

type Planner = dyn Fn(&Ask<'_>) -> Planned + Send + Sync;

#[derive(Clone)]
enum RungKernel {
    BuiltIn {
        tunables: &'static [Tunable<'static>],
        /// Turns a case into a plan, or says why this device cannot run it.
        plan: fn(&Ask<'_>) -> Planned,
    },
    Brought(Arc<BroughtKernel>),
}

pub(crate) struct BroughtKernel {
    /// Its text, with what it includes.
    pub text: String,
    pub work_group: Option<WorkGroup>,
    /// Those that a search may try, the default first; empty for the usual ones.
    pub work_groups: Vec<WorkGroup>,
    /// What besides its text says how it is launched: that of the file that describes its family.
    pub declaration: String,
    pub macros: Vec<DeclaredMacro>,
    pub plan: Box<Planner>,
    /// What stands in its text, and the parameters that it must have, as they would be written; nothing of a rung of a
    /// described family.
    pub traits: (SourceTraits, Vec<String>),
    /// What sizes must be multiples of.
    pub multiple: u64,
    /// The type of its elements, where its text names it.
    pub dtype: Option<Dtype>,
    /// What was guessed of its arguments, in words.
    pub guess: Option<String>,
}

pub struct Ask<'a> {
    pub family: &'a Family,
    pub rung: &'a Rung,
    /// What to run; never of size 0.
    pub case: &'a Case,
    pub target: &'a Target,
}

impl Ask<'_> {
    /// Elements, or columns.
    pub(crate) fn n(&self) -> u64 {
        self.case.shape.n
    }

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
    plan: fn(&Ask<'_>) -> Planned,
    tunables: &'static [Tunable<'static>],
) -> Rung {
    Rung {
        path: Cow::Borrowed(path),
        number: None,
        behind: &[],
        kernel: RungKernel::BuiltIn { tunables, plan },
    }
}

/// A ladder: its rungs, numbered in this order from 1 on.
pub const fn ladder<const N: usize>(rungs: [Rung; N]) -> [Rung; N] {
    ladder_from(1, rungs)
}

/// As [`ladder`], from `first` on.
pub(crate) const fn ladder_from<const N: usize>(first: u32, mut rungs: [Rung; N]) -> [Rung; N] {
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
            behind: &[],
            kernel: RungKernel::Brought(Arc::new(kernel)),
        }
    }

    fn own(&self) -> Option<&BroughtKernel> {
        if let RungKernel::Brought(kernel) = &self.kernel {
            Some(kernel)
        } else {
            None
        }
    }

    pub fn tunables(&self) -> impl Iterator<Item = Tunable<'_>> + Clone {
        let (built_in, declared) = match &self.kernel {
            RungKernel::BuiltIn { tunables, .. } => (*tunables, &[][..]),
            RungKernel::Brought(kernel) => (&[][..], &*kernel.macros),
        };
        built_in
            .iter()
            .copied()
            .chain(declared.iter().map(DeclaredMacro::tunable))
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

    pub fn own_text(&self) -> Option<&str> {
        self.own().map(|own| own.text.as_str())
    }

    /// What stands in the text of a reader's kernel, and the parameters that it must have, as they would be written.
    pub fn own_traits(&self) -> (SourceTraits, Vec<String>) {
        self.own().map(|own| own.traits.clone()).unwrap_or_default()
    }

    /// With these files behind its own.
    pub const fn with(mut self, behind: &'static [&'static str]) -> Rung {
        self.behind = behind;
        self
    }

    /// The files that it is built from, in order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.path).chain(self.behind.iter().copied())
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

/// A family that comes with gpulab, as it is written down: the fields are those of [`Family`].
pub(crate) struct BuiltInFamily {
    pub name: &'static str,
    pub about: &'static str,
    pub form: Form,
    pub problem: &'static dyn Problem,
    pub ladder: &'static [Rung],
    pub choices: &'static [Tunable<'static>],
    pub dtypes: &'static [Dtype],
    pub ceiling: Bound,
}

impl BuiltInFamily {
    pub const fn family(self) -> Family {
        Family {
            name: Cow::Borrowed(self.name),
            about: Cow::Borrowed(self.about),
            form: self.form,
            problem: AnyProblem::BuiltIn(self.problem),
            ladder: Cow::Borrowed(self.ladder),
            choices: self.choices,
            dtypes: Cow::Borrowed(self.dtypes),
            ceiling: self.ceiling,
        }
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
        for tunable in self
            .choices
            .iter()
            .copied()
            .chain(self.kernels().flat_map(Rung::tunables))
        {
            if all.iter().all(|known| known.name != tunable.name) {
                all.push(tunable);
            }
        }
        all
    }

    /// What one of the rungs makes of a case, which is never of size 0, or why this device cannot run it.
    pub fn plan(&self, rung: &Rung, case: &Case, target: &Target) -> Result<Plan, Refusal> {
        /// More elements than any device has room for, and few enough to count with.
        const MOST: u64 = 1 << 48;
        let Shape { n, m } = case.shape;
        let m = if self.form == Form::Square { n } else { m };
        if !(1..=MOST).contains(&Shape { n, m }.elements()) {
            return Err(Refusal::Size(format!(
                "n = {n}, m = {m}: at least 1 and at most 2^48 elements"
            )));
        }
        let ask = Ask {
            family: self,
            rung,
            case,
            target,
        };
        match &rung.kernel {
            RungKernel::BuiltIn { plan, .. } => plan(&ask),
            RungKernel::Brought(kernel) => (kernel.plan)(&ask),
        }
    }

    pub fn rung(&self, variant: &str) -> Option<&Rung> {
        self.kernels().find(|r| r.variant() == variant)
    }

    /// The rung that a rung of the ladder follows.
    pub fn before(&self, rung: &Rung) -> Option<&Rung> {
        let last = rung.number()?.checked_sub(1);
        self.ladder
            .iter()
            .find(|known| last.is_some() && known.number() == last)
    }

    /// Its problem, where a reader's file describes it.
    pub fn described(&self) -> Option<&dyn Described> {
        if let AnyProblem::Described(described) = &self.problem {
            Some(&**described)
        } else {
            None
        }
    }

    /// Its default shape: as a reader's file says, but no more than `usual` where it is to be `small`; of gpulab's own
    /// `usual` elements or columns.
    pub fn usual_shape(&self, usual: u64, small: bool) -> Shape {
        self.described().map_or_else(
            || self.form.shape(usual, None),
            |described| described.usual_shape(usual, small),
        )
    }

    /// Other cases that check a case of this plan on a device, by [`Problem::companions`]. In a described family a launch of
    /// few elements may have nothing to do: such cases are left out, but not all of them.
    pub fn companions(
        &self,
        case: &Case,
        plan: &Plan,
        target: &Target,
    ) -> Result<Vec<Case>, Refusal> {
        let mut all = self.problem.companions(case, plan);
        let Some(rung) = self
            .rung(&case.variant)
            .filter(|_| self.described().is_some())
        else {
            return Ok(all);
        };
        let mut refused = None;
        all.retain(|case| {
            self.plan(rung, case, target)
                .map_err(|refusal| refused = Some(refusal))
                .is_ok()
        });
        refused.filter(|_| all.is_empty()).map_or(Ok(all), Err)
    }
}

/// What a family works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    #[default]
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
            Form::Matrix => Shape {
                n,
                m: m.unwrap_or(n),
            },
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

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Bound {
        Read = "read",
        Write = "write",
        /// Reading and writing global memory at once.
        Copy = "copy",
        Local = "local",
        /// Additions, each followed by a minimum.
        AddMin = "add-min",
        /// Multiplications, each with an addition: floating-point operations of most programs.
        Fma = "fma",
        /// Operations of other kinds: no limit of theirs is measured.
        Arithmetic = "arithmetic",
    }
}

impl Bound {
    /// Whether it limits bytes; otherwise operations.
    pub fn is_memory(self) -> bool {
        !matches!(self, Bound::AddMin | Bound::Fma | Bound::Arithmetic)
    }

    /// What of a case's cost it limits: bytes or operations.
    pub fn limited(self, cost: Cost) -> f64 {
        if self.is_memory() {
            cost.bytes
        } else {
            cost.ops
        }
    }
}

/// Elements that a work-group of the rung has: of vectors in a row and 1, of matrices columns and rows. Where the grid does
/// not grow, an element for each work-item.
pub fn tile_of_a_group(
    family: &Family,
    rung: &Rung,
    case: &Case,
    target: &Target,
) -> Result<[u64; 2], Refusal> {
    let is_vector = family.form == Form::Vector;
    let side: u64 = if is_vector { 1 << 26 } else { 1 << 13 };
    let mut few = [0; 2];
    let mut tile = [1; 2];
    for side in [side, 2 * side] {
        let case = Case {
            shape: family.form.shape(side, None),
            ..case.clone()
        };
        let plan = family.plan(rung, &case, target)?;
        // Of several launches the last is the result's; of vectors the first, as the others only join.
        let mut timed = plan.passes.iter().filter(|pass| pass.timed);
        let Some(pass) = (if is_vector {
            timed.next()
        } else {
            timed.next_back()
        }) else {
            continue;
        };
        for d in 0..if is_vector { 1 } else { 2 } {
            let groups = pass.global[d] / pass.local[d].max(1);
            let grown = (side as f64 / groups as f64).round().max(1.0) as u64;
            tile[d] = if groups > few[d] {
                grown
            } else {
                pass.local[d].max(1) as u64
            };
            few[d] = groups;
        }
    }
    Ok(tile)
}
