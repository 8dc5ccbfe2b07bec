//! A family as its TOML file describes it.

mod checks;
mod lowering;
mod names;
#[cfg(test)]
pub(super) mod tests;

use super::args::{Content, Declared, DescribedArg};
use super::content::DataKind;
use super::file::ArrayFormat;
use super::formula::Formula;
use super::restriction::Restriction;
use crate::{Bound, Form};
use gpulab_model::data::{Dtype, Shape};
use gpulab_model::plan::WorkGroup;
pub(super) use lowering::line_at;
pub(super) use names::taken;
use std::collections::{BTreeMap, BTreeSet};

/// Most elements of a buffer, and most work-items of a launch.
pub(super) const MOST: u64 = 1 << 40;

/// Whether a group has one dimension.
pub(super) fn is_flat(wg: WorkGroup) -> bool {
    wg.0[1] == 1 && wg.0[2] == 1
}

#[derive(Clone, Debug)]
pub struct Description {
    pub name: String,
    pub(crate) about: String,
    /// BufferElement types of `T`; where the file names none, that of the first output, once the kernels are known.
    pub(crate) types: Vec<Dtype>,
    pub(crate) form: Form,
    /// Elements, or columns, by default.
    pub(super) n: Option<u64>,
    /// Rows by default.
    pub(super) m: Option<u64>,
    /// What n and m must be multiples of.
    pub(crate) multiple: u64,
    /// Whether it works at its default sizes alone.
    pub(crate) is_fixed: bool,
    pub(crate) bound: Bound,
    /// Those of all inputs and outputs where the file says nothing.
    pub(crate) bytes: Option<Formula>,
    pub(crate) operations: Option<Formula>,
    pub(crate) constants: BTreeMap<String, u64>,
    /// Macros of the whole file whose values follow from the sizes: they are names in all formulas.
    pub(crate) named: BTreeMap<String, Formula>,
    /// Inputs and outputs, in the order in which they are named.
    pub(crate) buffers: Vec<DescribedBuffer>,
    pub(super) checker: Checker,
    pub(crate) tolerance: Allowance,
    pub(crate) rungs: Vec<DescribedRung>,
}

/// An input or an output, and what kind of data it is filled with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DescribedBuffer {
    pub(crate) declared: Declared,
    /// None of a file, and of what is only written.
    pub(crate) kind: Option<DataKind>,
}

impl DescribedBuffer {
    /// Whether its elements may not be changed one by one.
    pub(crate) fn is_frozen(&self) -> bool {
        let is_frozen = match &self.declared.content {
            Content::Fill { is_frozen, .. } | Content::File { is_frozen, .. } => *is_frozen,
            Content::Noise | Content::Zeros => true,
        };
        is_frozen || self.kind.as_ref().is_some_and(DataKind::has_structure)
    }

    pub(crate) fn file(&self) -> Option<&str> {
        if let Content::File { name, .. } = &self.declared.content { Some(name) } else { None }
    }
}

/// How far a float may be from the right result.
#[derive(Clone, Debug)]
pub(crate) enum Allowance {
    /// A share of the largest right result; by default what the type's roundings may come to.
    OfLargest(Option<f64>),
    /// `absolute * times + relative * |right|`.
    Formula { absolute: f64, relative: f64, times: Option<Formula> },
}

#[derive(Clone, Debug)]
pub(crate) struct DescribedRung {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) wg: Option<WorkGroup>,
    /// Those that a search may try, the default first; empty for the usual ones.
    pub(crate) groups: Vec<WorkGroup>,
    /// Elements of local memory that the kernel's text declares.
    pub(crate) local: Option<Formula>,
    /// Macros and their values; those of the group's sides are in `groups`.
    pub(crate) tune: BTreeMap<String, Vec<u64>>,
    pub(crate) conditions: Vec<Restriction>,
    /// Macros, and their values: a formula of known names, or text.
    pub(crate) defines: BTreeMap<String, String>,
    /// Those that are formulas, which its other formulas may name.
    pub(crate) named: BTreeMap<String, Formula>,
    pub(crate) scratch: Vec<Declared>,
    pub(crate) steps: Vec<RungStep>,
}

#[derive(Clone, Debug)]
pub(crate) enum RungStep {
    Launch(DescribedLaunch),
    Loop {
        variable: String,
        /// The first value, and the one behind the last.
        ends: [Formula; 2],
        /// Buffers that change places after each turn.
        swap: Vec<[String; 2]>,
        /// The buffer that must not be zero after a turn for the next to follow; it is zero before each.
        flag: Option<String>,
        steps: Vec<RungStep>,
    },
}

impl RungStep {
    pub(crate) fn launches(&self) -> Vec<&DescribedLaunch> {
        match self {
            RungStep::Launch(launch) => vec![launch],
            RungStep::Loop { steps, .. } => steps.iter().flat_map(RungStep::launches).collect(),
        }
    }

    /// Whether buffers change places or flags are lowered in it, however deep.
    pub(crate) fn needs_restoring(&self) -> bool {
        match self {
            RungStep::Launch(_) => false,
            RungStep::Loop { swap, flag, steps, .. } => {
                !swap.is_empty() || flag.is_some() || steps.iter().any(RungStep::needs_restoring)
            }
        }
    }

    pub(crate) fn launches_mut(&mut self) -> Vec<&mut DescribedLaunch> {
        match self {
            RungStep::Launch(launch) => vec![launch],
            RungStep::Loop { steps, .. } => steps.iter_mut().flat_map(RungStep::launches_mut).collect(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DescribedLaunch {
    /// Empty where the file has one kernel alone.
    pub(crate) kernel: String,
    /// Where in the file's text its arguments begin.
    pub(crate) at: usize,
    /// Work-items, rounded up to whole groups, or groups.
    pub(crate) extent: Extent,
    pub(crate) wg: Option<WorkGroup>,
    pub(crate) args: Vec<DescribedArg>,
    pub(crate) is_timed: bool,
}

/// How many work-items a launch has, in one dimension, two or three.
#[derive(Clone, Debug)]
pub(crate) enum Extent {
    /// So many, rounded up to whole groups.
    Items(Vec<Formula>),
    Groups(Vec<Formula>),
}

impl Extent {
    pub(crate) fn sides(&self) -> &[Formula] {
        let (Extent::Items(sides) | Extent::Groups(sides)) = self;
        sides
    }
}

#[derive(Clone, Debug)]
pub enum Checker {
    Program {
        /// The words of its command line, with names in braces to be replaced.
        command: Vec<String>,
        format: ArrayFormat,
        seconds: u64,
    },
    /// A file with one kernel, which one work-item runs.
    Kernel {
        file: String,
    },
    /// Lines of Python that assign each output.
    Numpy {
        code: String,
        seconds: u64,
    },
    Rung {
        name: String,
    },
    /// The CPU's result of one of gpulab's families over the same inputs.
    Family {
        name: String,
    },
}

impl Description {
    /// Its default shape: as the file says, but no more than `usual` where it is to be `small`; `usual` elements or
    /// columns where the file says nothing.
    pub(crate) fn usual_shape(&self, usual: u64, small: bool) -> Shape {
        let size = |given: u64| match small && !self.is_fixed {
            true => given.min(usual).next_multiple_of(self.multiple),
            false => given.next_multiple_of(self.multiple),
        };
        self.form.shape(size(self.n.unwrap_or(usual)), self.m.map(size))
    }

    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    pub fn files(&self) -> Vec<String> {
        let reference = if let Checker::Kernel { file } = &self.checker { Some(file.clone()) } else { None };
        let rungs = self.rungs.iter().map(|rung| rung.file.clone());
        rungs.chain(reference).collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub fn data_files(&self) -> Vec<String> {
        self.buffers.iter().filter_map(|buffer| buffer.file().map(str::to_owned)).collect()
    }

    pub fn reference_sizes(&self, shape: Shape) -> Vec<u64> {
        if self.form == Form::Matrix { vec![shape.n, shape.m] } else { vec![shape.n] }
    }

    /// The numbers that lines for numpy have as names beside n and m.
    pub fn reference_names(&self, shape: Shape, dtype: Dtype) -> BTreeMap<String, u64> {
        let named = self.constants.keys().chain(self.named.keys());
        named.filter_map(|name| Some((name.clone(), self.size(name, shape, dtype)?))).collect()
    }

    /// The constants that a reference kernel has as macros.
    pub fn reference_constants(&self) -> impl Iterator<Item = (String, String)> {
        self.constants.iter().map(|(name, value)| (name.clone(), value.to_string()))
    }

    /// What a size's name, a constant's or a macro's stands for.
    pub(crate) fn size(&self, name: &str, shape: Shape, dtype: Dtype) -> Option<u64> {
        match name {
            "n" => Some(shape.n),
            "m" => Some(shape.m),
            "size" => Some(dtype.size() as u64),
            name => self.constants.get(name).copied().or_else(|| {
                let value = self.named.get(name)?.value(&|name| self.size(name, shape, dtype));
                u64::try_from(value.ok()?).ok()
            }),
        }
    }

    pub(crate) fn outputs(&self) -> impl Iterator<Item = &DescribedBuffer> {
        self.buffers.iter().filter(|buffer| buffer.declared.role.is_output())
    }

    pub(crate) fn inputs(&self) -> impl Iterator<Item = &DescribedBuffer> {
        self.buffers.iter().filter(|buffer| buffer.declared.role.is_input())
    }
}
