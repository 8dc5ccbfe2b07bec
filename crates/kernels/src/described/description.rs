//! A family as its TOML file describes it: the file's keys, understood and checked against each other.

use super::args::{self, BufferRole, Content, Declared, DescribedArg, ElementName};
use super::content::DataKind;
use super::file::{
    ArrayFormat, CheckKeys, FileKeys, FormName, LaunchKeys, RungKeys, SizesName, Text, Texts, ToleranceKeys,
};
use super::formula::{Formula, Formulas, is_function, is_name};
use super::restriction::Restriction;
use crate::signature::MACROS;
use crate::{Bound, DeclarationError, Form};
use gpulab_model::data::{Dtype, Shape};
use gpulab_model::plan::WorkGroup;
use gpulab_model::suggest::{did_you_mean, nearest};
use std::collections::{BTreeMap, BTreeSet};

/// Most elements of a buffer, and most work-items of a launch.
pub(super) const MOST: u64 = 1 << 40;

/// Most work-items along a side of a group.
const MOST_SIDE: u64 = 1 << 16;

/// Names of sizes that every formula may have: columns, rows, and bytes of an element.
const SIZES: [&str; 3] = ["n", "m", "size"];

/// Names of the work-group's sizes, in formulas of rungs.
const GROUP: [&str; 3] = ["WG", "WG_X", "WG_Y"];

/// Whether a group has one dimension.
pub(super) fn is_flat(wg: WorkGroup) -> bool {
    wg.0[1] == 1 && wg.0[2] == 1
}

/// A family, as its file describes it.
#[derive(Clone, Debug)]
pub struct Description {
    pub name: String,
    pub(crate) about: String,
    /// BufferElement types of `T`; where the file names none, that of the first output, once the kernels are known.
    pub(crate) types: Vec<Dtype>,
    form: FormName,
    /// Elements, or columns, by default.
    n: Option<u64>,
    /// Rows by default.
    m: Option<u64>,
    /// What n and m must be multiples of.
    pub(crate) multiple: u64,
    /// Whether it works at its default sizes alone.
    pub(crate) is_fixed: bool,
    limit: Bound,
    /// Those of all inputs and outputs where the file says nothing.
    pub(crate) bytes: Option<Formula>,
    pub(crate) operations: Option<Formula>,
    pub(crate) constants: BTreeMap<String, u64>,
    /// Macros of the whole file whose values follow from the sizes: they are names in all formulas.
    pub(crate) named: BTreeMap<String, Formula>,
    /// Inputs and outputs, in the order in which they are named.
    pub(crate) buffers: Vec<DescribedBuffer>,
    checker: Checker,
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

    /// The file whose elements it has.
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
    /// Its work-group, unless another is asked for.
    pub(crate) wg: Option<WorkGroup>,
    /// Those that a search may try, the default first; empty for the usual ones.
    pub(crate) groups: Vec<WorkGroup>,
    /// Elements of local memory that the kernel's text declares.
    pub(crate) local: Option<Formula>,
    /// Macros and their values; those of the group's sides are in `groups`.
    pub(crate) tune: BTreeMap<String, Vec<u64>>,
    /// What must be true of its settings.
    pub(crate) conditions: Vec<Restriction>,
    /// Macros, and their values: a formula of known names, or text.
    pub(crate) defines: BTreeMap<String, String>,
    /// Those that are formulas, which its other formulas may name.
    pub(crate) named: BTreeMap<String, Formula>,
    pub(crate) scratch: Vec<Declared>,
    pub(crate) steps: Vec<RungStep>,
}

/// What a rung does: a launch, or steps that are repeated.
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
    /// The launches in it, each once.
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

/// What says which results are right.
#[derive(Clone, Debug)]
pub enum Checker {
    /// A program, with its arguments.
    Program {
        /// The words of its command line, with names in braces to be replaced.
        command: Vec<String>,
        /// How arrays are handed over.
        format: ArrayFormat,
        /// Seconds that it may take.
        seconds: u64,
    },
    /// A file with one kernel, which one work-item runs.
    Kernel {
        file: String,
    },
    /// Lines of Python that assign each output.
    Numpy {
        code: String,
        /// Seconds that they may take.
        seconds: u64,
    },
    Rung {
        name: String,
    },
}

/// A word of the line that something wrong stands on, and why it is wrong.
type Complaint = (String, String);

impl Description {
    /// Understands a file's text; `name` is the family's unless the text says another.
    pub fn parse(text: &str, name: &str) -> Result<Description, DeclarationError> {
        let keys: FileKeys = toml::from_str(text).map_err(|error| DeclarationError {
            line: error.span().and_then(|span| line_at(text, span.start)),
            why: error.message().replace('\n', " "),
        })?;
        let description = Lowering::new(keys).description(name);
        description
            .and_then(|description| description.check().map(|()| description))
            .map_err(|(word, why)| DeclarationError { line: line_of(text, &word), why })
    }

    pub(crate) fn form(&self) -> Form {
        match self.form {
            FormName::Vector => Form::Vector,
            FormName::Matrix => Form::Matrix,
            FormName::Square => Form::Square,
        }
    }

    /// Its default shape: as the file says, but no more than `usual` where it is to be `small`; `usual` elements or
    /// columns where the file says nothing.
    pub(crate) fn usual_shape(&self, usual: u64, small: bool) -> Shape {
        let size = |given: u64| match small && !self.is_fixed {
            true => given.min(usual).next_multiple_of(self.multiple),
            false => given.next_multiple_of(self.multiple),
        };
        self.form().shape(size(self.n.unwrap_or(usual)), self.m.map(size))
    }

    pub(crate) fn bound(&self) -> Bound {
        self.limit
    }

    /// What says which results are right.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// The file of a rung's kernels.
    pub fn file_of(&self, rung: &str) -> Option<&str> {
        self.rungs.iter().find(|known| known.name == rung).map(|rung| rung.file.as_str())
    }

    /// The kernels' files that it names, each once.
    pub fn files(&self) -> Vec<String> {
        let reference = if let Checker::Kernel { file } = &self.checker { Some(file.clone()) } else { None };
        let rungs = self.rungs.iter().map(|rung| rung.file.clone());
        rungs.chain(reference).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The files of real data that it names.
    pub fn data_files(&self) -> Vec<String> {
        self.buffers.iter().filter_map(|buffer| buffer.file().map(str::to_owned)).collect()
    }

    /// The sizes that a reference kernel is given.
    pub fn reference_sizes(&self, shape: Shape) -> Vec<u64> {
        if self.form() == Form::Matrix { vec![shape.n, shape.m] } else { vec![shape.n] }
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

    /// The value of one of its constants.
    pub(crate) fn constant(&self, name: &str) -> Option<u64> {
        self.constants.get(name).copied()
    }

    /// What a size's name, a constant's or a macro's stands for.
    pub(crate) fn size(&self, name: &str, shape: Shape, dtype: Dtype) -> Option<u64> {
        match name {
            "n" => Some(shape.n),
            "m" => Some(shape.m),
            "size" => Some(dtype.size() as u64),
            name => self.constant(name).or_else(|| {
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

    /// Refuses what cannot be meant.
    fn check(&self) -> Result<(), Complaint> {
        let at = |word: &str, why: String| Err((word.to_owned(), why));
        if !is_rung_name(&self.name) {
            return at(&self.name, format!("name: {:?} must be of small letters, digits and _", self.name));
        }
        if self.outputs().next().is_none() {
            return at("args", "no argument is an output: write `out` before its name, as in \"out C[n]\"".into());
        }
        if self.multiple == 0 || [self.n, self.m].contains(&Some(0)) {
            return at("multiple", "n, m and multiple must be 1 at least".into());
        }
        if self.is_fixed && self.n.is_none() {
            return at("sizes", "sizes = \"only\" needs n, the size at which the kernels work".into());
        }
        self.check_names()?;
        self.check_checker().map_err(|why| ("check".to_owned(), why))?;
        self.check_tolerance().map_err(|why| ("tolerance".to_owned(), why))?;
        for formula in self.bytes.iter().chain(&self.operations) {
            self.check_formula(formula, &[])?;
        }
        for buffer in &self.buffers {
            self.check_length(&buffer.declared.length)?;
            let Some(kind) = &buffer.kind else { continue };
            kind.formula().map_or(Ok(()), |formula| self.check_formula(formula, &[]))?;
            let name = &buffer.declared.name;
            // A formula of the sizes has no value yet.
            let names = |name: &str| {
                if SIZES.contains(&name) { Some(2) } else { self.size(name, self.form().shape(2, None), Dtype::F32) }
            };
            kind.fill(&names)
                .and_then(|fill| kind.demand_difference(fill))
                .map_err(|why| (name.clone(), format!("{name}: {why}")))?;
        }
        self.rungs.iter().try_for_each(|rung| self.check_rung(rung))
    }

    fn check_checker(&self) -> Result<(), String> {
        match &self.checker {
            Checker::Program { command, seconds, .. } => self.check_command(command, *seconds),
            Checker::Numpy { code, .. } if code.contains("= ?") => {
                Err("check has a question mark: put the right result there, as in \"numpy: C = A + B\"".into())
            }
            Checker::Numpy { code, .. } => {
                let assigned = |name: &str| code.contains(name);
                match self.outputs().map(|output| &output.declared.name).find(|name| !assigned(name)) {
                    None => Ok(()),
                    Some(name) => Err(format!("check: the lines for numpy must assign {name}, as in {name} = A + B")),
                }
            }
            Checker::Rung { name } => match self.rungs.iter().any(|rung| rung.name == *name) {
                true if self.rungs.len() > 1 => Ok(()),
                true => Err(format!("check: {name} is the only rung, and would be compared with itself")),
                false => Err(format!("check: there is no rung {name:?}")),
            },
            Checker::Kernel { .. } => Ok(()),
        }
    }

    fn check_command(&self, command: &[String], seconds: u64) -> Result<(), String> {
        let in_braces = |word: &String| -> Vec<String> {
            let parts = word.split('{').skip(1).filter_map(|part| part.split_once('}'));
            let is_meant = |name: &String| is_name(name) || name.strip_prefix("out.").is_some_and(is_name);
            parts.map(|(name, _)| name.to_owned()).filter(is_meant).collect()
        };
        let named: Vec<String> = command.iter().flat_map(in_braces).collect();
        let outputs: Vec<&str> = self.outputs().map(|output| output.declared.name.as_str()).collect();
        let results = match outputs[..] {
            [_] => vec!["out".to_owned()],
            _ => outputs.iter().map(|name| format!("out.{name}")).collect(),
        };
        let inputs = self.inputs().map(|input| input.declared.name.clone());
        let known: Vec<String> = inputs.chain(results.clone()).chain(["n", "m", "type"].map(str::to_owned)).collect();
        if let Some(name) = named.iter().find(|name| !known.contains(name)) {
            return Err(format!("[check] command: {{{name}}} is unknown; there is {{{}}}", known.join("}, {")));
        }
        match results.iter().find(|result| !named.contains(result)) {
            Some(result) => {
                Err(format!("[check] command: one word must have {{{result}}}, the file that the program writes"))
            }
            None if seconds == 0 => Err("[check] seconds must be 1 at least".into()),
            None => Ok(()),
        }
    }

    fn check_tolerance(&self) -> Result<(), String> {
        match &self.tolerance {
            Allowance::OfLargest(None) => Ok(()),
            Allowance::OfLargest(Some(share)) => match (0.0..0.1).contains(share) {
                true => Ok(()),
                false => Err("tolerance, a share of the largest result, must be from 0 to less than 0.1".into()),
            },
            Allowance::Formula { absolute, relative, times } => {
                let is_sound = absolute.is_finite() && *absolute >= 0.0 && (0.0..0.1).contains(relative);
                if !is_sound {
                    return Err("[tolerance]: absolute must be 0 or more, and relative from 0 to less than 0.1".into());
                }
                times.iter().try_for_each(|formula| self.check_formula(formula, &[]).map_err(|(_, why)| why))
            }
        }
    }

    /// Names of buffers and macros: each once, and none that means something else.
    fn check_names(&self) -> Result<(), Complaint> {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for name in self.buffers.iter().map(|buffer| &buffer.declared.name).chain(self.constants.keys()) {
            if !is_name(name) || taken(name) || !known.insert(name) {
                let is_key = self.constants.contains_key(name);
                let word = if is_key { name.clone() } else { format!("name = {name:?}") };
                return Err((word, format!("the name {name:?} {TAKEN}")));
            }
        }
        let mut rungs: BTreeSet<&str> = BTreeSet::new();
        for rung in &self.rungs {
            if !is_rung_name(&rung.name) || !rungs.insert(&rung.name) {
                let why = "a rung's name has small letters, digits and _, starts with a letter that no digit follows";
                return Err((rung.name.clone(), format!("[[rung]] {:?}: {why}, and is unique", rung.name)));
            }
            let scratch = rung.scratch.iter().map(|declared| &declared.name);
            for name in scratch.chain(rung.tune.keys()) {
                if !is_name(name) || taken(name) || known.contains(name.as_str()) {
                    let why = format!("[[rung]] {}: the name {name:?} {TAKEN}", rung.name);
                    return Err((name.clone(), why));
                }
            }
        }
        Ok(())
    }

    fn check_rung(&self, rung: &DescribedRung) -> Result<(), Complaint> {
        let at = |word: &str, why: String| (word.to_owned(), format!("[[rung]] {}: {why}", rung.name));
        for (name, values) in &rung.tune {
            if values.is_empty() {
                return Err(at(name, format!("tune: {name} must have values, as in ITEMS = [1, 2]")));
            }
        }
        if let Some((name, _)) = rung.defines.iter().find(|(_, value)| value.trim() == "?") {
            return Err(at(name, format!("define: {name} has a question mark: put what its host gives there")));
        }
        let same =
            rung.tune.keys().enumerate().find_map(|(place, name)| {
                rung.tune.keys().skip(place + 1).find(|other| other.eq_ignore_ascii_case(name))
            });
        if let Some(name) = same {
            return Err(at(name, format!("tune: {name} differs from another by the size of its letters alone")));
        }
        let own = rung.tune.keys().chain(rung.named.keys()).map(String::as_str);
        let mut more: Vec<&str> = GROUP.into_iter().chain(own).collect();
        let lengths = rung.scratch.iter().map(|declared| &declared.length);
        for formula in lengths.chain(&rung.local).chain(rung.conditions.iter().flat_map(Restriction::formulas)) {
            self.check_formula(formula, &more)?;
        }
        self.check_steps(rung, &rung.steps, &mut more)?;
        let launches: Vec<&DescribedLaunch> = rung.steps.iter().flat_map(RungStep::launches).collect();
        let has = |name: &str| {
            launches.iter().flat_map(|launch| &launch.args).any(|arg| *arg == DescribedArg::Buffer(name.to_owned()))
        };
        match self.outputs().map(|output| &output.declared.name).find(|name| !has(name)) {
            None => Ok(()),
            Some(name) => Err(at(&rung.name, format!("no launch has the output {name:?} among its args"))),
        }
    }

    fn check_steps<'a>(
        &self,
        rung: &DescribedRung,
        steps: &'a [RungStep],
        more: &mut Vec<&'a str>,
    ) -> Result<(), Complaint> {
        for step in steps {
            match step {
                RungStep::Launch(launch) => {
                    let sides = launch.extent.sides();
                    if sides.len() > 3 {
                        let why = "a launch has three dimensions at most";
                        let word = format!("kernel = {:?}", launch.kernel);
                        return Err((word, format!("[[rung]] {}: launch of {}: {why}", rung.name, launch.kernel)));
                    }
                    sides.iter().try_for_each(|side| self.check_formula(side, more))?;
                    for formula in launch.args.iter().flat_map(DescribedArg::formulas) {
                        self.check_formula(formula, more)
                            .map_err(|(word, why)| (word, self.meant(rung, formula, why)))?;
                    }
                }
                RungStep::Loop { variable, ends, swap, flag, steps } => {
                    ends.iter().try_for_each(|end| self.check_formula(end, more))?;
                    let at = |name: &String, why: String| Err((name.clone(), format!("[[rung]] {}: {why}", rung.name)));
                    let is_input = |name: &&String| {
                        self.inputs()
                            .any(|input| input.declared.role == BufferRole::In && input.declared.name == **name)
                    };
                    if let Some(name) = swap.iter().flatten().find(is_input) {
                        return at(name, format!("swap exchanges {name}, which is only an input: write inout {name}"));
                    }
                    if let Some(name) = flag.iter().find(is_input) {
                        return at(name, format!("while: no kernel can raise {name}, which is only an input"));
                    }
                    for (key, name) in
                        swap.iter().flatten().map(|name| ("swap", name)).chain(flag.iter().map(|name| ("while", name)))
                    {
                        if !self.is_buffer(rung, name) {
                            return at(name, format!("{key}: there is no buffer {name}"));
                        }
                    }
                    more.push(variable);
                    self.check_steps(rung, steps, more)?;
                    more.pop();
                }
            }
        }
        Ok(())
    }

    fn is_buffer(&self, rung: &DescribedRung, name: &str) -> bool {
        let scratch = rung.scratch.iter();
        self.buffers.iter().map(|buffer| &buffer.declared).chain(scratch).any(|declared| declared.name == name)
    }

    /// A complaint about an argument's formula, with the buffers whose names it may have meant.
    fn meant(&self, rung: &DescribedRung, formula: &Formula, why: String) -> String {
        let Some(name) = formula.name() else { return why };
        let buffers = self.buffers.iter().map(|buffer| &buffer.declared).chain(&rung.scratch);
        let buffers: Vec<&str> = buffers.map(|declared| declared.name.as_str()).collect();
        let meant: Vec<&str> = nearest(name, buffers.iter().copied(), |name| *name);
        format!("{why}, and the buffers {}{}", buffers.join(", "), did_you_mean(&meant))
    }

    /// As [`Description::check_formula`]; lengths are in elements, whatever their type.
    fn check_length(&self, formula: &Formula) -> Result<(), Complaint> {
        match formula.names().contains(&"size") {
            true => Err((formula.text.clone(), format!("\"{}\": lengths are in elements, without size", formula.text))),
            false => self.check_formula(formula, &[]).map_err(|(word, why)| {
                (
                    word,
                    format!("{why}. Lengths of inputs and outputs are the same whatever the work-group and settings"),
                )
            }),
        }
    }

    /// Refuses names that mean nothing.
    fn check_formula(&self, formula: &Formula, more: &[&str]) -> Result<(), Complaint> {
        let own = self.constants.keys().chain(self.named.keys()).map(String::as_str);
        let mut known: Vec<&str> = SIZES.into_iter().chain(own).collect();
        known.extend(more.iter().filter(|name| !self.named.contains_key(**name)));
        let Some(name) = formula.names().into_iter().find(|name| !known.contains(name)) else { return Ok(()) };
        Err((
            formula.text.clone(),
            format!("\"{}\": {name} is unknown here; there is {}", formula.text, known.join(", ")),
        ))
    }
}

/// The way from the file's keys to a description.
struct Lowering {
    keys: FileKeys,
    buffers: Vec<DescribedBuffer>,
}

impl Lowering {
    fn new(keys: FileKeys) -> Lowering {
        Lowering { keys, buffers: Vec::new() }
    }

    fn description(mut self, name: &str) -> Result<Description, Complaint> {
        self.take_tables()?;
        let named = self.named(self.keys.define.as_ref().map(texts).unwrap_or_default(), &[]);
        self.declare_ahead();
        let rungs = match std::mem::take(&mut self.keys.rung) {
            none if none.is_empty() => vec![RungKeys::default()],
            some => some,
        };
        let rungs = rungs.into_iter().map(|rung| self.rung(rung)).collect::<Result<Vec<_>, _>>()?;
        let keys = self.keys;
        let limit = match &keys.limit {
            Some(name) => Bound::named(name).ok_or_else(|| {
                let names = Bound::ALL.map(Bound::name).join(", ");
                (name.clone(), format!("limit: there is no {name:?}; there is {names}"))
            })?,
            None if keys.flops.is_some() => Bound::Fma,
            None => Bound::Copy,
        };
        Ok(Description {
            name: keys.name.unwrap_or_else(|| match (name, rungs.first()) {
                ("", Some(rung)) => rung.name.clone(),
                _ => rung_name(name),
            }),
            about: keys.about,
            types: keys.types,
            form: keys.form,
            n: keys.n,
            m: keys.m,
            multiple: keys.multiple.unwrap_or(1),
            is_fixed: keys.sizes == SizesName::Only,
            limit,
            bytes: keys.bytes,
            operations: keys.flops.or(keys.operations),
            constants: keys.constants,
            named,
            buffers: self.buffers,
            checker: checker(keys.check).map_err(|why| ("check".to_owned(), why))?,
            tolerance: allowance(keys.tolerance).map_err(|why| ("tolerance".to_owned(), why))?,
            rungs,
        })
    }

    /// Notes the buffers of all arguments, so that a rung may name one that is declared behind it. What is wrong in them is said
    /// where they are used.
    fn declare_ahead(&mut self) {
        fn texts<'a>(launches: Option<&'a Vec<LaunchKeys>>, all: &mut Vec<&'a Text>) {
            for launch in launches.into_iter().flatten() {
                all.extend(launch.args.iter().flat_map(|args| args.as_ref()));
                texts(launch.launch.as_ref(), all);
            }
        }
        let mut all: Vec<&Text> = self.keys.args.iter().flat_map(|args| args.as_ref()).collect();
        texts(self.keys.launch.as_ref(), &mut all);
        for rung in &self.keys.rung {
            all.extend(rung.args.iter().flat_map(|args| args.as_ref()));
            texts(rung.launch.as_ref(), &mut all);
        }
        let declared: Vec<Declared> = all.into_iter().filter_map(|Text(text)| args::parse(text).ok()?.1).collect();
        for declared in declared.into_iter().filter(|declared| declared.role != BufferRole::Scratch) {
            let _ = self.add(declared);
        }
    }

    /// Takes what tables say of inputs and of the output.
    fn take_tables(&mut self) -> Result<(), Complaint> {
        for input in std::mem::take(&mut self.keys.input) {
            let content = match (input.fill, input.file) {
                (Some(_), Some(_)) => {
                    let why = format!("[[input]] {}: it has both a fill and a file: leave one out", input.name);
                    return Err((input.name, why));
                }
                (None, Some(name)) => Content::File { name, is_frozen: false },
                (fill, None) => Content::Fill { words: fill.unwrap_or_else(|| "random".into()), is_frozen: false },
            };
            let (role, element) = (BufferRole::In, ElementName::Case);
            let sides = vec![input.length.clone()];
            self.add(Declared { name: input.name, role, element, length: input.length, sides, content })?;
        }
        if let Some(output) = self.keys.output.take() {
            let (role, element, content) = (BufferRole::Out, ElementName::Case, Content::Noise);
            let sides = vec![output.length.clone()];
            self.add(Declared { name: output.name, role, element, length: output.length, sides, content })?;
        }
        Ok(())
    }

    /// Notes an input or an output; one that was noted before must be the same.
    fn add(&mut self, declared: Declared) -> Result<(), Complaint> {
        let name = declared.name.clone();
        let kind = match &declared.content {
            Content::Fill { words, .. } => {
                Some(DataKind::parse(words).map_err(|why| (words.clone(), format!("{name}: {why}")))?)
            }
            _ => None,
        };
        let buffer = DescribedBuffer { declared, kind };
        match self.buffers.iter().find(|known| known.declared.name == name) {
            Some(known) if *known != buffer => Err((
                name.clone(),
                format!("{name} is declared twice, and not alike: declare it once, then write {name:?}"),
            )),
            Some(_) => Ok(()),
            None => {
                self.buffers.push(buffer);
                Ok(())
            }
        }
    }

    /// A rung, with what the whole file says where it says nothing itself.
    fn rung(&mut self, own: RungKeys) -> Result<DescribedRung, Complaint> {
        let keys = &self.keys;
        let kernel = own.kernel.or_else(|| keys.kernel.clone());
        let (file, kernel) = match (own.file, kernel) {
            (Some(file), kernel) => (file, kernel.unwrap_or_default()),
            (None, Some(kernel)) => match kernel.rsplit_once(':') {
                Some((file, kernel)) => (file.to_owned(), kernel.to_owned()),
                None => (kernel, String::new()),
            },
            (None, None) => {
                let why = "each rung needs its kernel, as in kernel = \"mine.cl:name\" (or file = \"mine.cl\")";
                return Err(("rung".into(), why.into()));
            }
        };
        let name = own.name.unwrap_or_else(|| rung_name(if kernel.is_empty() { &file } else { &kernel }));
        let at = |word: &str, why: String| (word.to_owned(), format!("[[rung]] {name}: {why}"));
        let is_said = (own.wg.is_some(), own.tune.is_some());
        let mut wg = own.wg.or_else(|| keys.wg.clone());
        let mut tune: BTreeMap<String, Vec<u64>> = own.tune.or_else(|| keys.tune.clone()).unwrap_or_default();
        if let (Some(_), Some(side)) = (&wg, GROUP.into_iter().find(|side| tune.contains_key(*side))) {
            // What a rung says itself takes the place of what the file says.
            match is_said {
                (true, false) => tune.retain(|name, _| !GROUP.contains(&name.as_str())),
                (false, true) => wg = None,
                _ => {
                    let why = format!("wg and the {side} of tune both give the work-group: leave one of them out");
                    return Err(at(&format!("{side} ="), why));
                }
            }
        }
        let wg = work_group(wg.as_ref()).map_err(|why| at(&name, why))?;
        let mut groups = tuned_groups(&mut tune).map_err(|(word, why)| at(&word, why))?;
        if groups.is_empty() {
            // No other can take the place of one with several dimensions.
            groups.extend(wg.filter(|wg| !is_flat(*wg)));
        }
        let mut defines = keys.define.as_ref().map(texts).unwrap_or_default();
        defines.extend(own.define.as_ref().map(texts).unwrap_or_default());
        let more: Vec<&str> = GROUP.into_iter().chain(tune.keys().map(String::as_str)).collect();
        let named = self.named(defines.clone(), &more);
        let whole = LaunchKeys {
            kernel: Some(kernel),
            items: own.items.or_else(|| keys.items.clone()),
            groups: own.groups.or_else(|| keys.groups.clone()),
            wg: None,
            args: own.args.or_else(|| keys.args.clone()),
            loops: own.loops.or_else(|| keys.loops.clone()),
            swap: own.swap.or_else(|| keys.swap.clone()),
            flag: own.flag.or_else(|| keys.flag.clone()),
            timed: None,
            launch: None,
        };
        let launches = own.launch.or_else(|| keys.launch.clone());
        let mut rung = DescribedRung {
            name: name.clone(),
            file,
            wg: groups.first().copied().or(wg),
            groups,
            local: own.local.or_else(|| keys.local.clone()),
            named,
            tune,
            conditions: own.conditions.or_else(|| keys.conditions.clone()).unwrap_or_default(),
            defines,
            scratch: Vec::new(),
            steps: Vec::new(),
        };
        for (name, length) in own.scratch {
            let (role, element, content) = (BufferRole::Scratch, ElementName::Case, Content::Noise);
            let sides = vec![length.clone()];
            rung.scratch.push(Declared { name, role, element, length, sides, content });
        }
        let steps = match launches {
            // What is said of the whole rung counts for each launch of it.
            Some(launches) => LaunchKeys { launch: Some(launches), ..whole.clone() },
            None => whole.clone(),
        };
        rung.steps = self.steps(&mut rung, steps, &whole)?;
        match rung.steps.is_empty() {
            true => Err(at(&name, "it has no [[rung.launch]]".into())),
            false => Ok(rung),
        }
    }

    /// Those macros whose values are formulas of sizes, constants, `more`, and each other.
    fn named(&self, defines: BTreeMap<String, String>, more: &[&str]) -> BTreeMap<String, Formula> {
        let is_number =
            |name: &str| SIZES.contains(&name) || self.keys.constants.contains_key(name) || more.contains(&name);
        let mut named = BTreeMap::new();
        let mut left: Vec<(String, Formula)> = defines
            .into_iter()
            .filter_map(|(name, value)| Some((name, Formula::parse(&value).ok()?)))
            .filter(|(name, _)| is_name(name) && !is_number(name))
            .collect();
        // Those that name each other in a circle stay behind.
        loop {
            let is_known = |name: &&str| is_number(name) || named.contains_key(*name);
            let (known, rest): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|(_, formula)| formula.names().iter().all(is_known));
            if known.is_empty() {
                return named;
            }
            named.extend(known);
            left = rest;
        }
    }

    /// What a launch, or several in a loop, are.
    fn steps(
        &mut self,
        rung: &mut DescribedRung,
        keys: LaunchKeys,
        whole: &LaunchKeys,
    ) -> Result<Vec<RungStep>, Complaint> {
        let LaunchKeys { kernel, items, groups, wg, args, loops, swap, flag, timed, launch } = keys;
        let inner = match launch {
            Some(launches) => {
                let mut all = Vec::new();
                for launch in launches {
                    all.extend(self.steps(rung, launch, whole)?);
                }
                all
            }
            None => {
                let kernel = kernel.or_else(|| whole.kernel.clone()).unwrap_or_default();
                // The file is the rung's.
                let kernel = kernel.rsplit_once(':').map_or(kernel.clone(), |(_, kernel)| kernel.to_owned());
                let word = format!("kernel = {kernel:?}");
                let place = if kernel.is_empty() { String::new() } else { format!("launch of {kernel}: ") };
                let at = |why: String| (word.clone(), format!("[[rung]] {}: {place}{why}", rung.name));
                let is_own = items.is_some() || groups.is_some();
                let whole_extent = |whole: &Option<Formulas>| if is_own { None } else { whole.clone() };
                let extent = match (items.or(whole_extent(&whole.items)), groups.or(whole_extent(&whole.groups))) {
                    (Some(items), None) => Extent::Items(items.0),
                    (None, Some(groups)) => Extent::Groups(groups.0),
                    _ => return Err(at("it needs either items, as in \"n\" or \"n, m\", or groups".into())),
                };
                let wg = work_group(wg.as_ref()).map_err(&at)?;
                let texts = args.or_else(|| whole.args.clone());
                let texts =
                    texts.ok_or_else(|| at("it needs args, as in args = [\"A[n]\", \"out C[n]\", \"n\"]".into()))?;
                let (begin, mut args) = (texts.span().start, Vec::new());
                for Text(text) in texts.into_inner() {
                    args.push(
                        self.arg(rung, &text)
                            .map_err(|(text, why)| (text, format!("[[rung]] {}: {place}{why}", rung.name)))?,
                    );
                }
                let is_timed = timed.unwrap_or(true);
                vec![RungStep::Launch(DescribedLaunch { kernel, at: begin, extent, wg, args, is_timed })]
            }
        };
        let at = |text: &str, why: String| (text.to_owned(), format!("[[rung]] {}: {why}", rung.name));
        let pairs = swap.map_or(Ok(Vec::new()), |swap| swaps(&swap)).map_err(|why| at("swap", why))?;
        let Some(Texts(loops)) = loops else {
            return match pairs.is_empty() {
                _ if flag.is_some() => {
                    let why =
                        "while needs a loop that says how many turns there are at most, as in loop = \"turn in 0..n\"";
                    Err(at("while", why.into()))
                }
                true => Ok(inner),
                false => Err(at("swap", "swap needs a loop, as in loop = \"k in 0..n\"".into())),
            };
        };
        if flag.is_some() && !pairs.is_empty() {
            let why = "while ends a loop after any turn, and swap would leave results in either buffer: write both turns as \
                       two launches, without swap";
            return Err(at("while", why.into()));
        }
        let mut steps = inner;
        let (mut swap, mut flag) = (pairs, flag);
        for text in loops.iter().rev() {
            let (variable, ends) = loop_of(text).map_err(|why| at(text, why))?;
            let (swap, flag) = (std::mem::take(&mut swap), flag.take());
            steps = vec![RungStep::Loop { variable, ends, swap, flag, steps }];
        }
        Ok(steps)
    }

    /// An argument; a buffer that it declares is noted.
    fn arg(&mut self, rung: &mut DescribedRung, text: &str) -> Result<DescribedArg, Complaint> {
        let (arg, declared) = args::parse(text).map_err(|why| (text.to_owned(), why))?;
        if let Some(declared) = declared {
            if taken(&declared.name) {
                return Err((text.to_owned(), format!("the name {:?} {TAKEN}", declared.name)));
            }
            let is_known = rung.scratch.iter().any(|known| known.name == declared.name);
            match declared.role {
                BufferRole::Scratch if is_known => {}
                BufferRole::Scratch => rung.scratch.push(declared),
                _ => self.add(declared)?,
            }
        }
        let name = match &arg {
            DescribedArg::Number(formula, None) => formula.name(),
            _ => None,
        };
        let is_buffer = |name: &&str| {
            let scratch = rung.scratch.iter();
            self.buffers.iter().map(|known| &known.declared).chain(scratch).any(|known| known.name == **name)
        };
        let buffer = name.filter(is_buffer).map(str::to_owned);
        Ok(buffer.map_or(arg, DescribedArg::Buffer))
    }
}

fn checker(keys: Option<CheckKeys>) -> Result<Checker, String> {
    /// Seconds that a line for numpy may take.
    const SECONDS: u64 = 120;
    let none = "check says what is right: \"numpy: C = A + B\", \"kernel: slow.cl\", \"rung: naive\", or a table with \
                command, a program";
    match keys {
        None => Err(none.into()),
        Some(CheckKeys::Line(line)) => {
            let (word, rest) = line.split_once(':').ok_or(none)?;
            let rest = rest.trim().to_owned();
            match word.trim() {
                "numpy" => Ok(Checker::Numpy { code: rest, seconds: SECONDS }),
                "kernel" => Ok(Checker::Kernel { file: rest }),
                "rung" => Ok(Checker::Rung { name: rest }),
                _ => Err(none.into()),
            }
        }
        Some(CheckKeys::Table(table)) => match (table.command, table.kernel, table.numpy, table.rung) {
            (Some(command), None, None, None) => {
                Ok(Checker::Program { command, format: table.format, seconds: table.seconds })
            }
            (None, Some(file), None, None) => Ok(Checker::Kernel { file }),
            (None, None, Some(code), None) => Ok(Checker::Numpy { code, seconds: table.seconds }),
            (None, None, None, Some(name)) => Ok(Checker::Rung { name }),
            _ => Err("[check] needs one of command, a program; kernel, a file with a slow kernel; numpy, lines of \
                      Python; rung, another rung"
                .into()),
        },
    }
}

fn allowance(keys: Option<ToleranceKeys>) -> Result<Allowance, String> {
    match keys {
        None => Ok(Allowance::OfLargest(None)),
        Some(ToleranceKeys::OfLargest(share)) => Ok(Allowance::OfLargest(Some(share))),
        Some(ToleranceKeys::Table(table)) if table.reason.trim().is_empty() => {
            Err("[tolerance] reason: say in a few words why this error is right".into())
        }
        Some(ToleranceKeys::Table(table)) => {
            Ok(Allowance::Formula { absolute: table.absolute, relative: table.relative, times: table.times })
        }
    }
}

/// `k in 0..n`.
fn loop_of(text: &str) -> Result<(String, [Formula; 2]), String> {
    let wrong = || format!("{text:?} is no loop: write it as in \"k in 0..n\"");
    let (variable, range) = text.split_once(" in ").ok_or_else(wrong)?;
    let (from, to) = range.split_once("..").ok_or_else(wrong)?;
    let variable = variable.trim();
    if !is_name(variable) || SIZES.contains(&variable) || MACROS.contains(&variable) || is_word(variable) {
        return Err(format!("{variable:?} cannot be the name of a loop's number"));
    }
    Ok((variable.to_owned(), [Formula::parse(from)?, Formula::parse(to)?]))
}

/// `A, B`, or several of them.
fn swaps(Texts(all): &Texts) -> Result<Vec<[String; 2]>, String> {
    // `swap = ["A", "B"]` is one pair.
    let texts = if all.len() == 2 && all.iter().all(|text| is_name(text)) { vec![all.join(",")] } else { all.clone() };
    let pair = |text: &String| {
        let (a, b) = text.split_once(',').filter(|(a, b)| a.trim() != b.trim())?;
        Some([a, b].map(|name| name.trim().to_owned()))
    };
    texts
        .iter()
        .map(pair)
        .collect::<Option<_>>()
        .ok_or_else(|| "swap has two buffers, as in swap = [\"A\", \"B\"]".into())
}

fn texts(define: &BTreeMap<String, Text>) -> BTreeMap<String, String> {
    define.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect()
}

/// A rung's name made of a kernel's or of a file's.
fn rung_name(text: &str) -> String {
    let stem = text.rsplit('/').next().unwrap_or(text);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = stem.chars().map(plain).take(38).collect();
    if is_rung_name(&name) { name } else { format!("k_{name}") }
}

/// Whether a name can be a rung's, or a family's.
fn is_rung_name(name: &str) -> bool {
    let is_number = name.strip_prefix('v').unwrap_or(name).starts_with(|c: char| c.is_ascii_digit());
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (1..=40).contains(&name.len()) && !is_number && name.starts_with(char::is_alphabetic) && name.chars().all(is_plain)
}

/// Why a name is none.
const TAKEN: &str =
    "is taken, or cannot be a name in OpenCL C: choose another one, as names need not be those of parameters";

/// Whether a name is that of a size, of a macro or of something in formulas.
pub(super) fn taken(name: &str) -> bool {
    SIZES.contains(&name) || MACROS.contains(&name) || is_word(name)
}

/// Whether formulas and arguments have this word for something else.
fn is_word(name: &str) -> bool {
    is_function(name) || ["local", "struct", "sampler"].contains(&name)
}

pub(super) fn line_at(text: &str, byte: usize) -> Option<usize> {
    text.get(..byte).map(|before| before.matches('\n').count() + 1)
}

/// The line of a file that has a word as a value, or else at all.
fn line_of(text: &str, word: &str) -> Option<usize> {
    let find = |word: &str| text.lines().position(|line| line.contains(word)).map(|line| line + 1);
    find(&format!("\"{word}\"")).or_else(|| find(word)).filter(|_| !word.is_empty())
}

/// Takes the names of the group's sides from what is tuned: the groups that they span, the first of each side first.
fn tuned_groups(tune: &mut BTreeMap<String, Vec<u64>>) -> Result<Vec<WorkGroup>, Complaint> {
    let mut side = |name: &str| -> Result<Option<Vec<usize>>, Complaint> {
        let Some(values) = tune.remove(name) else { return Ok(None) };
        match values.is_empty() || values.iter().any(|side| !(1..=MOST_SIDE).contains(side)) {
            true => Err((format!("{name} ="), format!("tune: {name} must have values from 1 to {MOST_SIDE}"))),
            false => Ok(Some(values.into_iter().map(|side| side as usize).collect())),
        }
    };
    let [size, x, y] = [side("WG")?, side("WG_X")?, side("WG_Y")?];
    let mut groups = match (size, x, y) {
        (None, None, None) => Vec::new(),
        (Some(sizes), None, None) => sizes.into_iter().map(WorkGroup::linear).collect(),
        (Some(_), ..) => return Err(("WG =".into(), "tune: WG is WG_X * WG_Y: give either WG or its sides".into())),
        (None, x, y) => {
            let [x, y] = [x, y].map(|side| side.unwrap_or_else(|| vec![1]));
            x.iter().flat_map(|&x| y.iter().map(move |&y| WorkGroup([x, y, 1]))).collect()
        }
    };
    let mut seen = BTreeSet::new();
    groups.retain(|wg| seen.insert(wg.0));
    Ok(groups)
}

fn work_group(text: Option<&Text>) -> Result<Option<WorkGroup>, String> {
    let Some(Text(text)) = text else { return Ok(None) };
    let sides: Option<Vec<usize>> = text
        .split('x')
        .map(|side| side.trim().parse().ok().filter(|side| (1..=MOST_SIDE as usize).contains(side)))
        .collect();
    match sides.as_deref() {
        Some(&[x]) => Ok(Some(WorkGroup::linear(x))),
        Some(&[x, y]) => Ok(Some(WorkGroup([x, y, 1]))),
        Some(&[x, y, z]) => Ok(Some(WorkGroup([x, y, z]))),
        _ => Err(format!("wg = {text:?} is not a work-group: write \"256\" or \"16x16\"")),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) const TOML: &str = r#"
name = "doubled"
about = "each element twice"
types = ["i32", "f32"]
n = 1000
limit = "copy"
bytes = "2 * n * size"
operations = "n"

[[input]]
name = "x"
length = "n"
fill = "small 8"

[output]
length = "n"

[check]
command = ["cat", "{x}", "{out}"]

[tolerance]
reason = "twice a whole number is exact"

[[rung]]
name = "naive"
file = "naive.cl"
wg = "64"
tune = { ITEMS = [1, 2] }

[[rung.launch]]
kernel = "doubled"
items = "ceil(n, ITEMS)"
args = ["x", "out", "n"]
"#;

    fn parse(text: &str) -> Result<Description, DeclarationError> {
        Description::parse(text, "Two times")
    }

    fn error(from: &str, to: &str) -> DeclarationError {
        assert!(TOML.contains(from), "{from}");
        parse(&TOML.replacen(from, to, 1)).unwrap_err()
    }

    #[test]
    fn a_file_is_understood() {
        let all = parse(TOML).unwrap();
        assert_eq!((all.name.as_str(), all.form()), ("doubled", Form::Vector));
        let shapes = [(1 << 20, false), (1 << 20, true), (64, true), (64, false)];
        assert_eq!(shapes.map(|(usual, small)| all.usual_shape(usual, small).n), [1000, 1000, 64, 1000]);
        let launch = all.rungs[0].steps[0].launches()[0];
        assert_eq!(launch.args[0], DescribedArg::Buffer("x".into()));
        assert!(matches!(&launch.args[2], DescribedArg::Number(n, None) if n.text == "n"));
        assert_eq!(all.files(), ["naive.cl"]);
    }

    /// The same family, in few lines.
    const SHORT: &str = r#"
kernel = "naive.cl:doubled"
n      = 1000
tune   = { ITEMS = [1, 2] }
where  = ["ITEMS * WG <= 4096"]
items  = "ceil(n, ITEMS)"
args   = ["x[n] small 8", "out y[n]", "n"]
check  = "numpy: y = 2 * x"
"#;

    #[test]
    fn few_lines_are_enough() {
        let all = parse(SHORT).unwrap();
        assert_eq!((all.name.as_str(), all.rungs[0].name.as_str()), ("two_times", "doubled"));
        assert_eq!(all.rungs[0].steps[0].launches()[0].kernel, "doubled");
        let names: Vec<&str> = all.buffers.iter().map(|buffer| buffer.declared.name.as_str()).collect();
        assert_eq!((names, all.bound()), (vec!["x", "y"], Bound::Copy));
        assert!(matches!(all.checker(), Checker::Numpy { code, .. } if code == "y = 2 * x"));
        let two = SHORT.replace("items ", "[[rung]]\nname = \"other\"\nwg = \"64\"\nitems ");
        let why = parse(&two).unwrap_err().why;
        assert!(why.contains("unknown field `check`"), "keys of the file stand before the first rung: {why}");
    }

    #[test]
    fn rungs_take_what_they_do_not_say_from_the_file() {
        let text = format!(
            "{SHORT}[[rung]]\n[[rung]]\nname = \"four\"\nkernel = \"four.cl\"\nitems = \"ceil(n, 4)\"\ntune = {{}}\nwhere = []\n"
        );
        let all = parse(&text).unwrap();
        let rungs: Vec<(&str, &str, usize)> =
            all.rungs.iter().map(|rung| (rung.name.as_str(), rung.file.as_str(), rung.tune.len())).collect();
        assert_eq!(rungs, [("doubled", "naive.cl", 1), ("four", "four.cl", 0)]);
        assert_eq!(all.rungs[1].steps[0].launches()[0].args.len(), 3);
        let text = format!(
            "define = {{ A = 1, B = 2 }}\n{SHORT}[[rung]]\nargs = [\"x\", \"y\", \"A + B\"]\ndefine = {{ B = \"n\" }}\n"
        );
        let all = parse(&text).unwrap();
        assert_eq!(all.rungs[0].steps[0].launches()[0].args[0], DescribedArg::Buffer("x".into()), "declared behind it");
        let defines: Vec<&str> = all.rungs[0].defines.values().map(String::as_str).collect();
        assert_eq!(defines, ["1", "n"], "a rung's own macros are added");
    }

    #[test]
    fn macros_are_names_in_formulas() {
        let define =
            "define = { REAL = \"float\", R = 2, SIDE = \"n + 2 * R\", STEP = \"WG / R\", A = \"B\", B = \"A\" }\n";
        let text = format!("{define}{}", SHORT.replace("x[n]", "x[SIDE]").replace("ceil(n, ITEMS)", "ceil(n, STEP)"));
        let all = parse(&text).unwrap();
        assert_eq!(all.named.keys().collect::<Vec<_>>(), ["R", "SIDE"]);
        assert_eq!(all.size("SIDE", Shape::vector(10), Dtype::F32), Some(14));
        assert_eq!(all.rungs[0].named.keys().collect::<Vec<_>>(), ["R", "SIDE", "STEP"]);
        for (from, to, why) in [
            ("x[SIDE]", "x[STEP]", "STEP is unknown here; there is n, m, size, R, SIDE"),
            ("ceil(n, STEP)", "n * A", "A is unknown"),
            ("ceil(n, STEP)", "n * REAL", "REAL is unknown"),
        ] {
            let error = parse(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.why.contains(why), "{to}: {error}");
        }
    }

    #[test]
    fn loops_are_launches_that_are_repeated() {
        let text = SHORT
            .replace("x[n]", "inout x[n]")
            .replace("numpy: ", "numpy: x = x; ")
            .replace("items ", "loop = [\"k in 0..log2(n)\", \"j in 0..k\"]\nswap = [\"x\", \"y\"]\nitems ");
        let all = parse(&text).unwrap();
        let RungStep::Loop { variable, swap, steps, .. } = &all.rungs[0].steps[0] else { panic!() };
        assert!(variable == "k" && swap.is_empty());
        let RungStep::Loop { variable, swap, .. } = &steps[0] else { panic!() };
        assert_eq!((variable.as_str(), swap.len()), ("j", 1));
        assert!(all.rungs[0].steps[0].needs_restoring(), "the exchange is in the inner loop");
        let deep = text.replacen("\"j in 0..k\"", "\"j in 0..k\", \"i in 0..2\"", 1);
        assert!(parse(&deep).unwrap().rungs[0].steps[0].needs_restoring(), "or deeper");
        for (from, to, why) in [
            ("k in 0..log2(n)", "k from 0 to 9", "is no loop"),
            ("k in 0..log2(n)", "n in 0..9", "cannot be the name"),
            ("[\"x\", \"y\"]", "[\"x\", \"z\"]", "there is no buffer z"),
            ("[\"x\", \"y\"]", "\"x\"", "swap has two buffers"),
            ("inout x[n]", "x[n]", "which is only an input"),
            ("loop = [\"k in 0..log2(n)\", \"j in 0..k\"]\n", "", "swap needs a loop"),
            ("swap = [\"x\", \"y\"]", "while = \"z\"", "while: there is no buffer z"),
            ("swap = ", "while = \"y\"\nswap = ", "without swap"),
            (
                "loop = [\"k in 0..log2(n)\", \"j in 0..k\"]\nswap = [\"x\", \"y\"]",
                "while = \"y\"",
                "while needs a loop",
            ),
        ] {
            let error = parse(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.why.contains(why), "{to}: {error}");
        }
    }

    #[test]
    fn what_a_short_file_lacks_is_named() {
        for (from, to, why) in [
            ("check  = \"numpy: y = 2 * x\"", "", "check says what is right"),
            ("numpy: y = 2 * x", "numpy: z = 2 * x", "must assign y"),
            ("numpy: y = 2 * x", "rung: other", "there is no rung"),
            ("numpy: y = 2 * x", "rung: doubled", "compared with itself"),
            ("numpy: y = 2 * x", "magic", "check says what is right"),
            ("\"out y[n]\"", "\"y[n]\"", "no argument is an output"),
            ("kernel = \"naive.cl:doubled\"", "", "each rung needs its kernel"),
            ("args   = [\"x[n] small 8\", \"out y[n]\", \"n\"]", "", "it needs args"),
            ("ITEMS * WG <= 4096", "ITEMS * WG", "compares nothing"),
            ("ITEMS * WG <= 4096", "ITEM <= 4096", "ITEM is unknown"),
            ("ITEMS = [1, 2]", "ITEMS = [1, 2], items = [1]", "size of its letters"),
            ("n      = 1000", "sizes = \"only\"", "needs n"),
            ("\"x[n] small 8\"", "\"x[n] small 8\", \"x[n]\"", "declared twice"),
            ("\"x[n] small 8\"", "\"T[n] small 8\"", "the name \"T\" is taken"),
            ("\"x[n] small 8\"", "\"x[n*WG] small 8\"", "the same whatever the work-group"),
            ("n      = 1000", "tolerance = 0.5", "less than 0.1"),
        ] {
            assert!(SHORT.contains(from), "{from}");
            let error = parse(&SHORT.replacen(from, to, 1)).unwrap_err();
            assert!(error.why.contains(why), "{to}: {error}");
        }
    }

    #[test]
    fn mistakes_name_their_line_and_what_would_be_right() {
        for (from, to, line, why) in [
            ("about =", "abuot =", 3, "unknown field `abuot`, expected one of"),
            ("\"i32\"", "\"i16\"", 4, "unknown variant `i16`"),
            ("\"2 * n * size\"", "\"2 * k\"", 7, "k is unknown here; there is n, m, size"),
            ("\"2 * n * size\"", "\"2 n\"", 7, "is not expected here"),
            ("\"2 * n * size\"", "[]", 7, "a number or a formula in quotes"),
            ("\"copy\"", "\"speed\"", 6, "there is read, write, copy"),
            ("small 8", "little", 13, "there is random"),
            ("small 8", "small 0", 11, "must be from 1"),
            ("\"doubled\"\nabout", "\"Doubled!\"\nabout", 2, "small letters"),
            ("name = \"x\"", "name = \"n\"", 11, "is taken"),
            ("\"{out}\"", "\"-\"", 18, "{out}"),
            ("ITEMS = [1, 2]", "ITEMS = []", 28, "must have values"),
            ("ITEMS = [1, 2]", "T = [1, 2]", 28, "is taken"),
            ("wg = \"64\"", "wg = \"64y\"", 25, "is not a work-group"),
            ("\"naive\"", "\"v1\"", 25, "a rung's name"),
            ("items = \"ceil(n, ITEMS)\"\n", "", 31, "needs either items"),
            ("items = \"ceil(n, ITEMS)\"", "items = \"n,n,n,n\"", 31, "three dimensions"),
            ("\"x\", \"out\", \"n\"", "\"x\", \"n\"", 25, "no launch has the output"),
            ("\"x\", \"out\", \"n\"", "\"y\", \"out\"", 33, "y is unknown here"),
            ("\"x\", \"out\", \"n\"", "\"x\", \"out\", \"outp\"", 33, "buffers x, out; did you mean `out`?"),
        ] {
            let error = error(from, to);
            assert_eq!(error.line, Some(line), "{to}: {error}");
            assert!(error.why.contains(why), "{to}: {error}");
        }
    }

    #[test]
    fn a_tolerance_can_be_missed() {
        let reason = "reason = \"twice a whole number is exact\"";
        for (to, why) in [
            ("reason = \" \"", "say in a few words why"),
            ("relative = 0.5\nreason = \"wide\"", "less than 0.1"),
            ("absolute = inf\nreason = \"wide\"", "absolute must be"),
            ("absolute = nan\nreason = \"wide\"", "absolute must be"),
            ("absolute = -1\nreason = \"wide\"", "absolute must be"),
            ("times = \"k\"\nreason = \"wide\"", "k is unknown"),
        ] {
            let error = error(reason, to);
            assert!(error.why.contains(why), "{to}: {error}");
        }
    }
}
