//! A family as its TOML file describes it: the file's keys as they are written, and what they come to.
//!
//! What is said for the whole file counts for each rung that does not say it itself.

use super::args::{BufferRole, Content, Declared, DescribedArg, parse_arg};
use super::formula::{Formula, is_name, is_word};
use crate::c_text::MACROS;
use crate::{Bound, Form};
use gpulab_model::Joined;
use gpulab_model::data::{Dtype, Shape};
use gpulab_model::plan::WorkGroup;
use gpulab_model::suggest::{did_you_mean, nearest};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use toml::Spanned;

/// Most elements of a buffer, and most work-items of a launch.
pub const MOST: u64 = 1 << 40;

/// Most settings of a rung: each has a plan before the first one runs.
const MOST_SETTINGS: usize = 1_000_000;

/// Most work-items along a side of a group.
const MOST_SIDE: usize = 1 << 16;

/// Names of sizes that every formula may have: columns, rows, and bytes of an element.
const SIZES: [&str; 3] = ["n", "m", "size"];

/// Names of the work-group's sizes, in formulas of rungs.
const GROUP: [&str; 3] = ["WG", "WG_X", "WG_Y"];

/// Families whose references can be asked about any inputs.
const ANSWERING: [&str; 3] = ["reduce", "dot", "minplus"];

/// Why a name is none.
const TAKEN: &str = "is taken, or cannot be a name in OpenCL C: choose another one, as names need not be those of parameters";

/// A reader's family: what a worker is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FamilyFile {
    /// What the family is called unless its text says so.
    pub name: String,
    pub text: String,
    /// Its folder, from the root: programs are run there, and files of data are there.
    pub folder: PathBuf,
    /// The texts of its kernels, with what they include, by the names of their files.
    pub sources: BTreeMap<String, String>,
}

/// A line of a reader's file that says something wrong.
#[derive(Debug, PartialEq)]
pub struct DeclarationError {
    /// Its number, from 1 on; none if it is about the whole file.
    pub line: Option<usize>,
    /// What is wrong, and what would be right.
    pub why: String,
}

impl std::fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.why),
            None => write!(f, "{}", self.why),
        }
    }
}

/// The keys of a launch, which serde cannot flatten where unknown keys are refused, and these.
macro_rules! launch_keys {
    ($name:ident { $($own:tt)* }) => {
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name {
            $($own)*
            kernel: Option<String>,
            wg: Option<Text>,
            items: Option<Text>,
            groups: Option<Text>,
            args: Option<Spanned<Vec<Text>>>,
            #[serde(default, rename = "loop", deserialize_with = "several")]
            loops: Option<Vec<String>>,
            #[serde(default, deserialize_with = "several")]
            swap: Option<Vec<String>>,
            #[serde(rename = "while")]
            flag: Option<String>,
            /// Several launches: of a rung, or in a loop.
            launch: Option<Vec<LaunchKeys>>,
        }
    };
}

/// The keys of a rung that may stand for the whole file, too, and these.
macro_rules! rung_keys {
    ($name:ident { $($own:tt)* }) => {
        launch_keys! { $name {
            $($own)*
            name: Option<String>,
            tune: Option<BTreeMap<String, Vec<u64>>>,
            #[serde(default)]
            define: BTreeMap<String, Text>,
            /// Build options, with blanks between them.
            options: Option<String>,
            #[serde(rename = "where")]
            conditions: Option<Vec<String>>,
            /// Elements of local memory that the kernel's text declares.
            local: Option<Text>,
        } }
    };
}

rung_keys! { FileKeys {
    #[serde(default)]
    about: String,
    #[serde(default)]
    types: Vec<Dtype>,
    #[serde(default)]
    form: Form,
    n: Option<u64>,
    m: Option<u64>,
    multiple: Option<u64>,
    sizes: Option<String>,
    limit: Option<String>,
    bytes: Option<Text>,
    operations: Option<Text>,
    flops: Option<Text>,
    check: Option<String>,
    tolerance: Option<toml::Value>,
    /// Folders of included files.
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    rung: Vec<RungKeys>,
} }

rung_keys! { RungKeys {} }

launch_keys! { LaunchKeys {
    timed: Option<bool>,
} }

/// How far a float may be from the right result: by this much, and by a share of the right number; or else by a share of the
/// largest right result, by default what the type's roundings may come to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    #[serde(skip)]
    pub of_largest: Option<f64>,
    #[serde(default)]
    pub absolute: f64,
    #[serde(default)]
    pub relative: f64,
}

/// A text, or a number that is written without quotes.
#[derive(Clone, Debug)]
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        text(toml::Value::deserialize(from)?)
            .map(Text)
            .map_err(D::Error::custom)
    }
}

fn text(value: toml::Value) -> Result<String, &'static str> {
    match value {
        toml::Value::String(text) => Ok(text),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(format!("{number:?}")),
        _ => Err("it must be a number or a text in quotes, as in \"2 * n\""),
    }
}

/// Several texts, or one alone.
fn several<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    let all = match toml::Value::deserialize(from)? {
        toml::Value::Array(all) => all,
        one => vec![one],
    };
    all.into_iter()
        .map(text)
        .collect::<Result<_, _>>()
        .map(Some)
        .map_err(D::Error::custom)
}

#[derive(Clone, Debug)]
pub struct Description {
    pub name: String,
    pub about: String,
    /// Element types of `T`; where the file names none, that of the first output, once the kernels are known.
    pub types: Vec<Dtype>,
    pub form: Form,
    /// Elements or columns, and rows, by default.
    n: Option<u64>,
    m: Option<u64>,
    /// What n and m must be multiples of.
    pub multiple: u64,
    /// Whether it works at its default sizes alone.
    pub is_fixed: bool,
    pub bound: Bound,
    /// Those of all inputs and outputs where the file says nothing.
    pub bytes: Option<Formula>,
    pub operations: Option<Formula>,
    /// Macros of the whole file whose values follow from the sizes: they are names in all formulas.
    pub named: BTreeMap<String, Formula>,
    /// Inputs and outputs, in the order in which they are named.
    pub buffers: Vec<Declared>,
    pub checker: Checker,
    /// Folders from the file's own in which included files are, beside the kernels'.
    pub include: Vec<String>,
    pub tolerance: Allowance,
    pub rungs: Vec<DescribedRung>,
}

#[derive(Clone, Debug)]
pub struct DescribedRung {
    pub name: String,
    pub file: String,
    pub wg: Option<WorkGroup>,
    /// Those that a search may try, the default first; empty for the usual ones.
    pub groups: Vec<WorkGroup>,
    /// Elements of local memory that the kernel's text declares.
    pub local: Option<Formula>,
    /// Macros and their values; those of the group's sides are in `groups`.
    pub tune: BTreeMap<String, Vec<u64>>,
    pub conditions: Vec<Formula>,
    /// Macros, and their values: a formula of known names, or text.
    pub defines: BTreeMap<String, String>,
    /// Those that are formulas, which its other formulas may name.
    pub named: BTreeMap<String, Formula>,
    pub scratch: Vec<Declared>,
    pub steps: Vec<RungStep>,
}

#[derive(Clone, Debug)]
pub enum RungStep {
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

impl DescribedRung {
    pub fn first_kernel(&self) -> &str {
        let mut steps = self.steps.as_slice();
        loop {
            match steps.first() {
                Some(RungStep::Launch(launch)) => return &launch.kernel,
                Some(RungStep::Loop { steps: inner, .. }) => steps = inner,
                None => return "",
            }
        }
    }
}

impl RungStep {
    pub fn launches(&mut self) -> Vec<&mut DescribedLaunch> {
        match self {
            RungStep::Launch(launch) => vec![launch],
            RungStep::Loop { steps, .. } => steps.iter_mut().flat_map(RungStep::launches).collect(),
        }
    }

    /// Whether buffers change places or flags are lowered in it, however deep.
    pub fn needs_restoring(&self) -> bool {
        match self {
            RungStep::Launch(_) => false,
            RungStep::Loop {
                swap, flag, steps, ..
            } => !swap.is_empty() || flag.is_some() || steps.iter().any(RungStep::needs_restoring),
        }
    }

    /// The most dimensions of a launch.
    pub fn dimensions(&self) -> usize {
        match self {
            RungStep::Launch(launch) => launch.sides.len(),
            RungStep::Loop { steps, .. } => {
                steps.iter().map(RungStep::dimensions).max().unwrap_or(0)
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct DescribedLaunch {
    /// Empty where the file has one kernel alone.
    pub kernel: String,
    /// The line of the file's text on which its arguments begin.
    pub line: Option<usize>,
    /// So many work-items in each dimension, rounded up to whole groups, or so many groups.
    pub sides: Vec<Formula>,
    pub is_of_groups: bool,
    pub wg: Option<WorkGroup>,
    pub args: Vec<DescribedArg>,
    pub is_timed: bool,
}

/// A check that compares a kernel with other runs of its own.
pub const ITSELF: &str = "itself";

#[derive(Clone, Debug)]
pub enum Checker {
    /// A file with one kernel, which one work-item runs.
    Kernel(String),
    /// Lines of Python that assign each output.
    Numpy(String),
    Rung(String),
    /// Another run of the only rung: nobody says what is right.
    Itself,
    /// The CPU's result of one of gpulab's families over the same inputs.
    Family(String),
    /// Files with the outputs' results over one set of data, as in `C = c.npy; D = d.npy`.
    Files(String),
    /// Nobody yet: kernels can be counted and drawn, and not judged.
    Missing,
}

/// A word of the line that something wrong stands on, and why it is wrong.
type Complaint = (String, String);

fn complain<T>(word: &str, why: impl Into<String>) -> Result<T, Complaint> {
    Err((word.to_owned(), why.into()))
}

fn formula(text: &Text) -> Result<Formula, Complaint> {
    Formula::parse(&text.0).map_err(|why| (text.0.clone(), why))
}

/// A rung's name made of a kernel's or of a file's.
fn rung_name(text: &str) -> String {
    let stem = text.rsplit('/').next().unwrap_or(text);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let name: String = stem
        .chars()
        .map(|c: char| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .take(38)
        .collect();
    if is_rung_name(&name) {
        name
    } else {
        format!("k_{name}")
    }
}

fn is_rung_name(name: &str) -> bool {
    let is_number = name
        .strip_prefix('v')
        .unwrap_or(name)
        .starts_with(|c: char| c.is_ascii_digit());
    (1..=40).contains(&name.len())
        && !is_number
        && name.starts_with(char::is_alphabetic)
        && name
            .chars()
            .all(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Whether a name is that of a size, of a macro or of something in formulas and arguments.
pub fn taken(name: &str) -> bool {
    SIZES.contains(&name)
        || MACROS.contains(&name)
        || is_word(name)
        || ["local", "struct", "sampler"].contains(&name)
}

impl Description {
    /// The rung whose result is the right one, if one is.
    pub fn right_rung(&self) -> Option<&str> {
        match &self.checker {
            Checker::Rung(name) => Some(name),
            Checker::Itself => self.rungs.first().map(|rung| rung.name.as_str()),
            _ => None,
        }
    }

    /// Understands a file's text; `name` is the family's unless the text says another.
    pub fn parse(text: &str, name: &str) -> Result<Description, DeclarationError> {
        let unfilled = unfilled(text);
        // Without its check a kernel can be counted and drawn.
        if let Some((first, _)) = unfilled.iter().find(|(_, line)| !line.starts_with("check")) {
            let lines = unfilled
                .iter()
                .map(|(number, _)| number.to_string())
                .joined(", ");
            return Err(DeclarationError {
                line: Some(*first),
                why: format!("fill in each ? of the draft: lines {lines}"),
            });
        }
        let line_at = |byte: usize| {
            text.get(..byte)
                .map(|before| before.matches('\n').count() + 1)
        };
        let keys: FileKeys = toml::from_str(text).map_err(|error| DeclarationError {
            line: error.span().and_then(|span| line_at(span.start)),
            why: error.message().replace('\n', " "),
        })?;
        // The line that has the word as a value, or else at all.
        let find = |word: &str| {
            text.lines()
                .position(|line| !word.is_empty() && line.contains(word))
        };
        let mut lowering = Lowering {
            line_at: &line_at,
            buffers: Vec::new(),
            named: BTreeMap::new(),
        };
        lowering
            .description(keys, name)
            .map_err(|(word, why)| DeclarationError {
                line: find(&format!("\"{word}\""))
                    .or_else(|| find(&word))
                    .map(|line| line + 1),
                why,
            })
    }

    /// Its default shape: as the file says, but no more than `usual` where it is to be `small`; `usual` elements or
    /// columns where the file says nothing.
    pub fn usual_shape(&self, usual: u64, small: bool) -> Shape {
        let size = |given: u64| match small && !self.is_fixed {
            true => given.min(usual).next_multiple_of(self.multiple),
            false => given.next_multiple_of(self.multiple),
        };
        self.form
            .shape(size(self.n.unwrap_or(usual)), self.m.map(size))
    }

    pub fn files(&self) -> BTreeSet<String> {
        let rungs = self.rungs.iter().map(|rung| rung.file.clone());
        let mut files = BTreeSet::from_iter(rungs);
        if let Checker::Kernel(file) = &self.checker {
            files.insert(file.clone());
        }
        files
    }

    pub fn data_files(&self) -> Vec<String> {
        self.buffers
            .iter()
            .filter_map(|buffer| buffer.file().map(str::to_owned))
            .collect()
    }

    pub fn reference_sizes(&self, shape: Shape) -> Vec<u64> {
        if self.form == Form::Matrix {
            vec![shape.n, shape.m]
        } else {
            vec![shape.n]
        }
    }

    /// The numbers that references have as names or macros beside n and m.
    pub fn reference_names(&self, shape: Shape, dtype: Dtype) -> BTreeMap<String, u64> {
        self.named
            .keys()
            .filter_map(|name| Some((name.clone(), self.size(name, shape, dtype)?)))
            .collect()
    }

    /// What a size's name or a macro's stands for.
    pub fn size(&self, name: &str, shape: Shape, dtype: Dtype) -> Option<u64> {
        match name {
            "n" => Some(shape.n),
            "m" => Some(shape.m),
            "size" => Some(dtype.size() as u64),
            name => {
                let value = self
                    .named
                    .get(name)?
                    .value(&|name| self.size(name, shape, dtype));
                u64::try_from(value.ok()?).ok()
            }
        }
    }

    pub fn outputs(&self) -> impl Iterator<Item = &Declared> {
        self.buffers.iter().filter(|buffer| buffer.role.is_output())
    }

    pub fn inputs(&self) -> impl Iterator<Item = &Declared> {
        self.buffers.iter().filter(|buffer| buffer.role.is_input())
    }
}

/// The way from the file's keys to a description.
struct Lowering<'a> {
    line_at: &'a dyn Fn(usize) -> Option<usize>,
    buffers: Vec<Declared>,
    /// Macros of the whole file that are formulas of sizes.
    named: BTreeMap<String, Formula>,
}

impl Lowering<'_> {
    fn description(&mut self, mut keys: FileKeys, name: &str) -> Result<Description, Complaint> {
        self.named = named(&keys.define, &[]);
        self.declare_ahead(&keys);
        let mut rungs = std::mem::take(&mut keys.rung);
        if rungs.is_empty() {
            rungs.push(RungKeys::default());
        }
        let rungs = rungs
            .into_iter()
            .map(|rung| self.rung(&keys, rung))
            .collect::<Result<Vec<_>, _>>()?;
        let bound = match &keys.limit {
            Some(name) => Bound::named(name).ok_or_else(|| {
                let names = Bound::ALL.map(Bound::name).join(", ");
                (
                    name.clone(),
                    format!("limit: there is no {name:?}; there is {names}"),
                )
            })?,
            None if keys.flops.is_some() => Bound::Fma,
            None => Bound::Copy,
        };
        let description = Description {
            name: keys.name.unwrap_or_else(|| {
                if name.is_empty() {
                    rungs[0].name.clone()
                } else {
                    rung_name(name)
                }
            }),
            about: keys.about,
            types: keys.types,
            form: keys.form,
            n: keys.n,
            m: keys.m,
            multiple: keys.multiple.unwrap_or(1),
            is_fixed: keys.sizes.as_deref() == Some("only"),
            bound,
            bytes: keys.bytes.as_ref().map(formula).transpose()?,
            operations: keys
                .flops
                .or(keys.operations)
                .as_ref()
                .map(formula)
                .transpose()?,
            named: self.named.clone(),
            buffers: self.buffers.clone(),
            include: keys.include,
            checker: checker(keys.check.as_deref()).map_err(|why| ("check".to_owned(), why))?,
            tolerance: allowance(keys.tolerance).map_err(|why| ("tolerance".to_owned(), why))?,
            rungs,
        };
        description.check()?;
        if let Some(sizes) = keys
            .sizes
            .filter(|sizes| !["only", "any"].contains(&sizes.as_str()))
        {
            return complain(
                &sizes,
                format!("sizes: {sizes:?} is neither \"only\" nor \"any\""),
            );
        }
        Ok(description)
    }

    /// Notes the buffers of all arguments, so that a rung may name one that is declared behind it. What is wrong in them is said
    /// where they are used.
    fn declare_ahead(&mut self, keys: &FileKeys) {
        fn texts<'a>(
            args: Option<&'a Spanned<Vec<Text>>>,
            launches: Option<&'a Vec<LaunchKeys>>,
            all: &mut Vec<&'a Text>,
        ) {
            all.extend(args.into_iter().flat_map(|args| args.as_ref()));
            launches
                .into_iter()
                .flatten()
                .for_each(|launch| texts(launch.args.as_ref(), launch.launch.as_ref(), all));
        }
        let mut all = Vec::new();
        texts(keys.args.as_ref(), keys.launch.as_ref(), &mut all);
        keys.rung
            .iter()
            .for_each(|rung| texts(rung.args.as_ref(), rung.launch.as_ref(), &mut all));
        for Text(text) in all {
            if let Ok((_, Some(declared))) = parse_arg(text)
                && declared.role != BufferRole::Scratch
            {
                let _ = self.add(declared);
            }
        }
    }

    /// Notes an input or an output; one that was noted before must be the same.
    fn add(&mut self, declared: Declared) -> Result<(), Complaint> {
        match self
            .buffers
            .iter()
            .find(|known| known.name == declared.name)
        {
            Some(known) if *known != declared => {
                let name = &known.name;
                complain(
                    name,
                    format!(
                        "{name} is declared twice, and not alike: declare it once, then write {name:?}"
                    ),
                )
            }
            Some(_) => Ok(()),
            None => {
                self.buffers.push(declared);
                Ok(())
            }
        }
    }

    /// A rung, with what the whole file says where it says nothing itself.
    fn rung(&mut self, keys: &FileKeys, own: RungKeys) -> Result<DescribedRung, Complaint> {
        let Some(kernel) = own.kernel.or_else(|| keys.kernel.clone()) else {
            return complain(
                "rung",
                "each rung needs its kernel, as in kernel = \"mine.cl:name\"",
            );
        };
        let (file, kernel) = kernel.rsplit_once(':').unwrap_or((&kernel, ""));
        let name = own
            .name
            .unwrap_or_else(|| rung_name(if kernel.is_empty() { file } else { kernel }));
        let says_wg = own.wg.is_some();
        let says_tune = own.tune.is_some();
        let mut wg = own.wg.or_else(|| keys.wg.clone());
        let mut tune = own.tune.or_else(|| keys.tune.clone()).unwrap_or_default();
        if let (Some(_), Some(side)) =
            (&wg, GROUP.into_iter().find(|side| tune.contains_key(*side)))
        {
            // What a rung says itself takes the place of what the file says.
            match (says_wg, says_tune) {
                (true, false) => tune.retain(|name, _| !GROUP.contains(&name.as_str())),
                (false, true) => wg = None,
                _ => {
                    let why = format!(
                        "wg and the {side} of tune both give the work-group: leave one of them out"
                    );
                    return complain(&format!("{side} ="), format!("rung {name}: {why}"));
                }
            }
        }
        let wg = work_group(wg.as_ref())?;
        let mut groups =
            tuned_groups(&mut tune).map_err(|(word, why)| (word, format!("rung {name}: {why}")))?;
        if groups.is_empty() {
            // No other can take the place of one with several dimensions.
            groups.extend(wg.filter(|wg| wg.0[1] > 1 || wg.0[2] > 1));
        }
        let mut define = keys.define.clone();
        define.extend(own.define);
        if let Some(option) = define.keys().find(|name| name.starts_with('-')) {
            return complain(
                option,
                format!("define: {option} is no macro; build options stand in options"),
            );
        }
        let options = own
            .options
            .or_else(|| keys.options.clone())
            .unwrap_or_default();
        for option in options.split_whitespace() {
            check_option(option).map_err(|why| (option.to_owned(), why))?;
            define.insert(option.to_owned(), Text(String::new()));
        }
        let more: Vec<&str> = GROUP
            .into_iter()
            .chain(tune.keys().map(String::as_str))
            .collect();
        let named = named(&define, &more);
        let conditions = own
            .conditions
            .or_else(|| keys.conditions.clone())
            .unwrap_or_default();
        let conditions = conditions
            .iter()
            .map(|text| Formula::condition(text).map_err(|why| (text.clone(), why)));
        let extent = match (own.items, own.groups) {
            (None, None) => (keys.items.clone(), keys.groups.clone()),
            own => own,
        };
        let whole = LaunchKeys {
            kernel: Some(kernel.to_owned()),
            items: extent.0,
            groups: extent.1,
            args: own.args.or_else(|| keys.args.clone()),
            loops: own.loops.or_else(|| keys.loops.clone()),
            swap: own.swap.or_else(|| keys.swap.clone()),
            flag: own.flag.or_else(|| keys.flag.clone()),
            // What is said of the whole rung counts for each launch of it.
            launch: own.launch.or_else(|| keys.launch.clone()),
            ..LaunchKeys::default()
        };
        let mut rung = DescribedRung {
            name,
            file: file.to_owned(),
            wg: groups.first().copied().or(wg),
            groups,
            local: own
                .local
                .as_ref()
                .or(keys.local.as_ref())
                .map(formula)
                .transpose()?,
            named,
            tune,
            conditions: conditions.collect::<Result<_, _>>()?,
            defines: define
                .into_iter()
                .map(|(name, value)| (name, value.0))
                .collect(),
            scratch: Vec::new(),
            steps: Vec::new(),
        };
        rung.steps = self.steps(&mut rung, whole.clone(), &whole)?;
        Ok(rung)
    }

    /// What a launch, or several in a loop, are.
    fn steps(
        &mut self,
        rung: &mut DescribedRung,
        keys: LaunchKeys,
        whole: &LaunchKeys,
    ) -> Result<Vec<RungStep>, Complaint> {
        let LaunchKeys {
            kernel,
            items,
            groups,
            wg,
            args,
            loops,
            swap,
            flag,
            timed,
            launch,
        } = keys;
        let mut steps = Vec::new();
        match launch {
            Some(launches) => {
                for launch in launches {
                    steps.extend(self.steps(rung, launch, whole)?);
                }
            }
            None => {
                let kernel = kernel.or_else(|| whole.kernel.clone()).unwrap_or_default();
                // The file is the rung's.
                let kernel = kernel
                    .rsplit_once(':')
                    .map_or(kernel.as_str(), |(_, kernel)| kernel)
                    .to_owned();
                let word = format!("kernel = {kernel:?}");
                let launch = match kernel.as_str() {
                    "" => String::new(),
                    kernel => format!("launch of {kernel}: "),
                };
                let at = |why: &str| (word.clone(), format!("rung {}: {launch}{why}", rung.name));
                let (items, groups) = match (items, groups) {
                    (None, None) => (whole.items.clone(), whole.groups.clone()),
                    own => own,
                };
                let is_of_groups = groups.is_some();
                let Some(Text(extent)) = items.xor(groups) else {
                    return Err(at(
                        "it needs either items, as in \"n\" or \"n, m\", or groups",
                    ));
                };
                let sides = Formula::list(&extent).map_err(|why| (extent.clone(), why))?;
                if sides.len() > 3 {
                    return Err(at("a launch has three dimensions at most"));
                }
                let Some(texts) = args.or_else(|| whole.args.clone()) else {
                    return Err(at(
                        "it needs args, as in args = [\"A[n]\", \"out C[n]\", \"n\"]",
                    ));
                };
                let wg = work_group(wg.as_ref())?;
                let line = (self.line_at)(texts.span().start);
                let mut args = Vec::new();
                for Text(text) in texts.into_inner() {
                    let (arg, declared) = parse_arg(&text).map_err(|why| {
                        (text.clone(), format!("rung {}: {launch}{why}", rung.name))
                    })?;
                    if let Some(declared) = declared {
                        self.declare(rung, declared)?;
                    }
                    args.push(self.named_buffer(rung, arg));
                }
                let is_timed = timed.unwrap_or(true);
                steps.push(RungStep::Launch(DescribedLaunch {
                    kernel,
                    line,
                    sides,
                    is_of_groups,
                    wg,
                    args,
                    is_timed,
                }));
            }
        }
        let at = |word: &str, why: String| (word.to_owned(), format!("rung {}: {why}", rung.name));
        let mut swap = swap
            .map_or(Ok(Vec::new()), |swap| swaps(&swap))
            .map_err(|why| at("swap", why))?;
        let Some(loops) = loops else {
            return match (flag, swap.is_empty()) {
                (None, true) => Ok(steps),
                _ => Err(at(
                    "loop",
                    "swap and while need a loop, as in loop = \"k in 0..n\"".into(),
                )),
            };
        };
        if flag.is_some() && !swap.is_empty() {
            let why = "there is no swap beside while, as its loop may end after any turn: let each turn launch there and back";
            return Err(at("swap", why.into()));
        }
        let mut flag = flag;
        for text in loops.iter().rev() {
            let (variable, ends) = loop_of(text).map_err(|why| at(text, why))?;
            let swap = std::mem::take(&mut swap);
            steps = vec![RungStep::Loop {
                variable,
                ends,
                swap,
                flag: flag.take(),
                steps,
            }];
        }
        Ok(steps)
    }

    /// Notes a buffer that an argument declares.
    fn declare(&mut self, rung: &mut DescribedRung, declared: Declared) -> Result<(), Complaint> {
        if taken(&declared.name) {
            return complain(
                &format!("{}[", declared.name),
                format!("the name {:?} {TAKEN}", declared.name),
            );
        }
        match declared.role {
            BufferRole::Scratch if rung.scratch.iter().any(|known| known.name == declared.name) => {
                Ok(())
            }
            BufferRole::Scratch => {
                rung.scratch.push(declared);
                Ok(())
            }
            _ => self.add(declared),
        }
    }

    /// An argument; a name alone may be that of a buffer.
    fn named_buffer(&self, rung: &DescribedRung, arg: DescribedArg) -> DescribedArg {
        let name = if let DescribedArg::Number(formula, None) = &arg {
            formula.name()
        } else {
            None
        };
        match name {
            Some(name)
                if self
                    .buffers
                    .iter()
                    .chain(&rung.scratch)
                    .any(|known| known.name == name) =>
            {
                DescribedArg::Buffer(name.to_owned())
            }
            _ => arg,
        }
    }
}

/// The lines with a question mark of a draft, from 1: one that stands alone, and that no colon follows, as in C's `a ? b : c`.
fn unfilled(text: &str) -> Vec<(usize, &str)> {
    let is_open = |line: &str| {
        let value = line.split('#').next().unwrap_or_default();
        let Some((before, behind)) = value.split_once('?') else {
            return false;
        };
        before.ends_with(['"', ' ', '(', '{', '['])
            && behind.starts_with(['"', ' ', ')', '}', ']', ',', ';'])
            && !behind.contains(':')
    };
    let lines = (1..).zip(text.lines());
    lines.filter(|(_, line)| is_open(line)).collect()
}

/// Refuses what is no option of OpenCL's compilers, or says what gpulab says another way.
pub fn check_option(option: &str) -> Result<(), String> {
    match option {
        _ if option.starts_with("-cl-") || option == "-w" || option == "-Werror" => Ok(()),
        _ if option.starts_with("-D") => Err(format!("options: {option}: macros stand in define")),
        _ => Err(format!(
            "options: {option} is no build option of OpenCL, as -cl-std=CL2.0, -cl-fast-relaxed-math or -cl-mad-enable"
        )),
    }
}

/// Those macros whose values are formulas of sizes, `more`, and each other.
fn named(define: &BTreeMap<String, Text>, more: &[&str]) -> BTreeMap<String, Formula> {
    let is_number = |name: &str| SIZES.contains(&name) || more.contains(&name);
    let mut named = BTreeMap::new();
    let mut left: Vec<(String, Formula)> = define
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), Formula::parse(&value.0).ok()?)))
        .filter(|(name, _)| is_name(name) && !is_number(name))
        .collect();
    // Those that name each other in a circle stay behind.
    loop {
        let (known, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, formula)| {
            formula
                .names()
                .iter()
                .all(|name: &&str| is_number(name) || named.contains_key(*name))
        });
        if known.is_empty() {
            return named;
        }
        named.extend(known);
        left = rest;
    }
}

/// The file of an output's result, in a list as `C = c.npy; D = d.npy`.
pub fn result_file<'a>(files: &'a str, output: &str) -> Option<&'a str> {
    let pairs = files.split(';').filter_map(|pair| pair.split_once('='));
    let mut of_output = pairs.filter(|(name, _)| name.trim() == output);
    of_output.next().map(|(_, file)| file.trim())
}

fn checker(line: Option<&str>) -> Result<Checker, String> {
    const NONE: &str = "check says what is right: \"numpy: C = A + B\", \"kernel: slow.cl\", \"rung: naive\" or \"family: minplus\"";
    let Some(line) = line else {
        return Ok(Checker::Missing);
    };
    if line == ITSELF {
        return Ok(Checker::Itself);
    }
    let (word, rest) = line.split_once(':').ok_or(NONE)?;
    let rest = rest.trim().to_owned();
    match word.trim() {
        "numpy" if rest.contains("= ?") || rest.is_empty() => Ok(Checker::Missing),
        "numpy" => Ok(Checker::Numpy(rest)),
        "kernel" => Ok(Checker::Kernel(rest)),
        "rung" => Ok(Checker::Rung(rest)),
        "family" => Ok(Checker::Family(rest)),
        "file" => Ok(Checker::Files(rest)),
        _ => Err(NONE.into()),
    }
}

fn allowance(value: Option<toml::Value>) -> Result<Allowance, String> {
    let share = match value {
        None => return Ok(Allowance::default()),
        Some(toml::Value::Float(share)) => share,
        Some(toml::Value::Integer(share)) => share as f64,
        Some(table) => {
            let table: Allowance = table
                .try_into()
                .map_err(|error| error.message().to_owned())?;
            let is_sound = table.absolute.is_finite()
                && table.absolute >= 0.0
                && (0.0..0.1).contains(&table.relative);
            let why = "tolerance: absolute must be 0 or more, and relative from 0 to less than 0.1";
            return if is_sound {
                Ok(Allowance {
                    of_largest: Some(0.0),
                    ..table
                })
            } else {
                Err(why.into())
            };
        }
    };
    match (0.0..0.1).contains(&share) {
        true => Ok(Allowance {
            of_largest: Some(share),
            ..Allowance::default()
        }),
        false => {
            Err("tolerance, a share of the largest result, must be from 0 to less than 0.1".into())
        }
    }
}

/// `k in 0..n`.
fn loop_of(text: &str) -> Result<(String, [Formula; 2]), String> {
    let wrong = || format!("{text:?} is no loop: write it as in \"k in 0..n\"");
    let (variable, range) = text.split_once(" in ").ok_or_else(wrong)?;
    let (from, to) = range.split_once("..").ok_or_else(wrong)?;
    let variable = variable.trim();
    if !is_name(variable) || taken(variable) {
        return Err(format!(
            "{variable:?} cannot be the name of a loop's number"
        ));
    }
    Ok((
        variable.to_owned(),
        [Formula::parse(from)?, Formula::parse(to)?],
    ))
}

/// `A, B`, or several of them.
fn swaps(all: &[String]) -> Result<Vec<[String; 2]>, String> {
    // `swap = ["A", "B"]` is one pair.
    let texts = if all.len() == 2 && all.iter().all(|text| is_name(text)) {
        vec![all.join(",")]
    } else {
        all.to_vec()
    };
    texts
        .iter()
        .map(|text: &String| {
            let (a, b) = text.split_once(',').filter(|(a, b)| a.trim() != b.trim())?;
            Some([a, b].map(|name| name.trim().to_owned()))
        })
        .collect::<Option<_>>()
        .ok_or_else(|| "swap has two buffers, as in swap = [\"A\", \"B\"]".into())
}

/// Takes the names of the group's sides from what is tuned: the groups that they span, the first of each side first.
fn tuned_groups(tune: &mut BTreeMap<String, Vec<u64>>) -> Result<Vec<WorkGroup>, Complaint> {
    let mut sides = GROUP.map(|name| tune.remove(name));
    for (name, values) in GROUP.iter().zip(&sides) {
        if values
            .iter()
            .flatten()
            .any(|side| !(1..=MOST_SIDE as u64).contains(side))
            || values == &Some(Vec::new())
        {
            return complain(
                &format!("{name} ="),
                format!("tune: {name} must have values from 1 to {MOST_SIDE}"),
            );
        }
    }
    let mut groups = match sides.each_mut().map(Option::take) {
        [None, None, None] => Vec::new(),
        [Some(sizes), None, None] => sizes
            .into_iter()
            .map(|size| WorkGroup::linear(size as usize))
            .collect(),
        [Some(_), ..] => {
            return complain(
                "WG =",
                "tune: WG is WG_X * WG_Y: give either WG or its sides",
            );
        }
        [None, x, y] => {
            let [x, y] = [x, y].map(|side| side.unwrap_or_else(|| vec![1]));
            x.iter()
                .flat_map(|&x| {
                    y.iter()
                        .map(move |&y| WorkGroup([x as usize, y as usize, 1]))
                })
                .collect()
        }
    };
    let mut seen = BTreeSet::new();
    groups.retain(|wg| seen.insert(wg.0));
    Ok(groups)
}

fn work_group(text: Option<&Text>) -> Result<Option<WorkGroup>, Complaint> {
    let Some(Text(text)) = text else {
        return Ok(None);
    };
    match crate::values::work_group(&text.replace(' ', "")) {
        Ok(wg) if wg.0.iter().all(|side| *side <= MOST_SIDE) => Ok(Some(wg)),
        _ => complain(
            text,
            format!("wg = {text:?} is not a work-group: write \"256\" or \"16x16\""),
        ),
    }
}

/// Refusals of what cannot be meant.
impl Description {
    fn check(&self) -> Result<(), Complaint> {
        if !is_rung_name(&self.name) {
            return complain(
                &self.name,
                format!(
                    "name: {:?} must be of small letters, digits and _",
                    self.name
                ),
            );
        }
        if self.outputs().next().is_none() {
            return complain(
                "args",
                "no argument is an output: write `out` before its name, as in \"out C[n]\"",
            );
        }
        if self.multiple == 0 || [self.n, self.m].contains(&Some(0)) {
            return complain("multiple", "n, m and multiple must be 1 at least");
        }
        if self.is_fixed && self.n.is_none() {
            return complain(
                "sizes",
                "sizes = \"only\" needs n, the size at which the kernels work",
            );
        }
        self.check_checker()
            .map_err(|why| ("check".to_owned(), format!("check: {why}")))?;
        for formula in self.bytes.iter().chain(&self.operations) {
            self.check_formula(formula, &[])?;
        }
        for buffer in &self.buffers {
            let Formula { text, .. } = &buffer.length;
            if buffer.length.names().contains(&"size") {
                return complain(
                    text,
                    format!("\"{text}\": lengths are in elements, without size"),
                );
            }
            self.check_formula(&buffer.length, &[]).map_err(|(word, why)| {
                (
                    word,
                    format!("{why}. Lengths of inputs and outputs are the same whatever the work-group and settings"),
                )
            })?;
            if let Content::Values(values) = &buffer.content {
                values
                    .iter()
                    .try_for_each(|value| self.check_formula(value, &[]))?;
            }
            if let Content::Fill(kind, _) = &buffer.content {
                kind.formula()
                    .map_or(Ok(()), |formula| self.check_formula(formula, &[]))?;
                // A formula of the sizes has no value yet.
                kind.demand_difference(&|name| match SIZES.contains(&name) {
                    true => Some(self.multiple.max(2)),
                    false => self.size(name, self.form.shape(2, None), Dtype::F32),
                })
                .map_err(|why| {
                    (
                        format!("{}[", buffer.name),
                        format!("{}: {why}", buffer.name),
                    )
                })?;
            }
        }
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for rung in &self.rungs {
            if !is_rung_name(&rung.name) || !names.insert(&rung.name) {
                let why = "a rung's name has small letters, digits and _, starts with a letter that no digit follows";
                return complain(
                    &rung.name,
                    format!("rung {:?}: {why}, and is unique", rung.name),
                );
            }
            self.check_rung(rung)
                .map_err(|(word, why)| (word, format!("rung {}: {why}", rung.name)))?;
        }
        Ok(())
    }

    fn check_checker(&self) -> Result<(), String> {
        let outputs: Vec<&str> = self.outputs().map(|output| output.name.as_str()).collect();
        match &self.checker {
            Checker::Numpy(code) => match outputs.iter().find(|name| !code.contains(**name)) {
                None => Ok(()),
                Some(name) => Err(format!(
                    "the lines for numpy must assign {name}, as in {name} = A + B"
                )),
            },
            Checker::Rung(name) => match self.rungs.iter().any(|rung| rung.name == *name) {
                true if self.rungs.len() > 1 => Ok(()),
                true => Err(format!(
                    "{name} is the only rung, and would be compared with itself"
                )),
                false => Err(format!("there is no rung {name:?}")),
            },
            Checker::Kernel(_) | Checker::Missing | Checker::Itself => Ok(()),
            Checker::Family(name) if !ANSWERING.contains(&name.as_str()) => Err(format!(
                "family: {name}: gpulab has a reference of its own for {}",
                ANSWERING.join(", ")
            )),
            Checker::Family(name) if outputs.len() > 1 => Err(format!(
                "{name} has one result, and this family has several outputs"
            )),
            Checker::Family(_) => Ok(()),
            Checker::Files(files) => {
                let is_one = self.is_fixed && self.inputs().all(Declared::is_frozen);
                let missing = outputs
                    .iter()
                    .find(|name| result_file(files, name).is_none());
                match missing {
                    Some(name) => Err(format!("file: it lacks {name}, as in {name} = {name}.npy")),
                    None if is_one => Ok(()),
                    None => Err("file: that is right for one size and set of data: write sizes = \"only\", and frozen behind each input".into()),
                }
            }
        }
    }

    fn check_rung(&self, rung: &DescribedRung) -> Result<(), Complaint> {
        let spanned = rung
            .tune
            .values()
            .map(Vec::len)
            .chain([rung.groups.len().max(1)]);
        if spanned.fold(1usize, usize::saturating_mul) > MOST_SETTINGS {
            return complain(
                "tune",
                format!("tune spans more than {MOST_SETTINGS} settings: give fewer values"),
            );
        }
        for name in rung
            .scratch
            .iter()
            .map(|declared| &declared.name)
            .chain(rung.tune.keys())
        {
            let is_twice = self.buffers.iter().any(|buffer| buffer.name == *name)
                || rung
                    .tune
                    .keys()
                    .any(|other| other != name && other.eq_ignore_ascii_case(name));
            if !is_name(name) || taken(name) || is_twice {
                return complain(name, format!("the name {name:?} {TAKEN}"));
            }
        }
        if let Some((name, _)) = rung.tune.iter().find(|(_, values)| values.is_empty()) {
            return complain(
                name,
                format!("tune: {name} must have values, as in ITEMS = [1, 2]"),
            );
        }
        if let Some((name, _)) = rung.defines.iter().find(|(_, value)| value.trim() == "?") {
            return complain(
                name,
                format!("define: {name} has a question mark: put what its host gives there"),
            );
        }
        let own = rung
            .tune
            .keys()
            .chain(rung.named.keys())
            .map(String::as_str);
        let mut more: Vec<&str> = GROUP.into_iter().chain(own).collect();
        let lengths = rung.scratch.iter().map(|declared| &declared.length);
        for formula in lengths.chain(&rung.local).chain(&rung.conditions) {
            self.check_formula(formula, &more)?;
        }
        let mut given = BTreeSet::new();
        self.check_steps(rung, &rung.steps, &mut more, &mut given)?;
        match self
            .outputs()
            .find(|output| !given.contains(output.name.as_str()))
        {
            None => Ok(()),
            Some(output) => complain(
                &rung.name,
                format!("no launch has the output {:?} among its args", output.name),
            ),
        }
    }

    /// Checks launches and loops; `given` are the buffers that kernels get.
    fn check_steps<'a>(
        &self,
        rung: &DescribedRung,
        steps: &'a [RungStep],
        more: &mut Vec<&'a str>,
        given: &mut BTreeSet<&'a str>,
    ) -> Result<(), Complaint> {
        let buffers = || self.buffers.iter().chain(&rung.scratch);
        for step in steps {
            match step {
                RungStep::Launch(launch) => {
                    launch
                        .sides
                        .iter()
                        .try_for_each(|side| self.check_formula(side, more))?;
                    for arg in &launch.args {
                        if let DescribedArg::Buffer(name) = arg {
                            given.insert(name);
                        }
                        for formula in arg.formulas() {
                            self.check_formula(formula, more).map_err(|(word, why)| {
                                let names: Vec<&str> =
                                    buffers().map(|declared| declared.name.as_str()).collect();
                                let meant = formula.name().map_or(Vec::new(), |name| {
                                    nearest(name, names.iter().copied(), |n| *n)
                                });
                                (
                                    word,
                                    format!(
                                        "{why}, and the buffers {}{}",
                                        names.join(", "),
                                        did_you_mean(&meant)
                                    ),
                                )
                            })?;
                        }
                    }
                }
                RungStep::Loop {
                    variable,
                    ends,
                    swap,
                    flag,
                    steps,
                } => {
                    ends.iter()
                        .try_for_each(|end| self.check_formula(end, more))?;
                    for name in swap.iter().flatten().chain(flag) {
                        match buffers()
                            .find(|declared| declared.name == *name)
                            .map(|declared| declared.role)
                        {
                            None => {
                                return complain(
                                    name,
                                    format!("swap and while: there is no buffer {name}"),
                                );
                            }
                            Some(BufferRole::In) => {
                                let why = format!(
                                    "swap and while change {name}, which is only an input: write inout {name}"
                                );
                                return complain(name, why);
                            }
                            Some(_) => {}
                        }
                    }
                    more.push(variable);
                    self.check_steps(rung, steps, more, given)?;
                    more.pop();
                }
            }
        }
        Ok(())
    }

    /// Refuses names that mean nothing.
    fn check_formula(&self, formula: &Formula, more: &[&str]) -> Result<(), Complaint> {
        let mut known: Vec<&str> = SIZES
            .into_iter()
            .chain(self.named.keys().map(String::as_str))
            .collect();
        known.extend(more.iter().filter(|name| !self.named.contains_key(**name)));
        match formula
            .names()
            .into_iter()
            .find(|name| !known.contains(name))
        {
            None => Ok(()),
            Some(name) => complain(
                &formula.text,
                format!(
                    "\"{}\": {name} is unknown here; there is {}",
                    formula.text,
                    known.join(", ")
                ),
            ),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const TOML: &str = r#"
name = "doubled"
about = "each element twice"
types = ["i32", "f32"]
n = 1000
limit = "copy"
bytes = "2 * n * size"
operations = "n"
tolerance = 0
check = """numpy:
out = 2 * x
"""

[[rung]]
name = "naive"
kernel = "naive.cl"
wg = "64"
tune = { ITEMS = [1, 2] }

[[rung.launch]]
kernel = "doubled"
items = "ceil(n, ITEMS)"
args = ["T x[n] small 8", "out T out[n]", "n"]
"#;

    fn parse(text: &str) -> Result<Description, DeclarationError> {
        Description::parse(text, "Two times")
    }

    fn launch(all: &Description, rung: usize) -> DescribedLaunch {
        all.rungs[rung].steps.clone()[0].launches()[0].clone()
    }

    fn error(from: &str, to: &str) -> DeclarationError {
        assert!(TOML.contains(from), "{from}");
        parse(&TOML.replacen(from, to, 1)).unwrap_err()
    }

    #[test]
    fn a_file_is_understood() {
        let all = parse(TOML).unwrap();
        assert_eq!((all.name.as_str(), all.form), ("doubled", Form::Vector));
        let shapes = [(1 << 20, false), (1 << 20, true), (64, true), (64, false)];
        assert_eq!(
            shapes.map(|(usual, small)| all.usual_shape(usual, small).n),
            [1000, 1000, 64, 1000]
        );
        let launch = launch(&all, 0);
        assert_eq!(launch.args[0], DescribedArg::Buffer("x".into()));
        assert!(matches!(&launch.args[2], DescribedArg::Number(n, None) if n.text == "n"));
        assert!(all.files().into_iter().eq(["naive.cl"]));
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
        assert_eq!(
            (all.name.as_str(), all.rungs[0].name.as_str()),
            ("two_times", "doubled")
        );
        assert_eq!(launch(&all, 0).kernel, "doubled");
        let names: Vec<&str> = all
            .buffers
            .iter()
            .map(|buffer| buffer.name.as_str())
            .collect();
        assert_eq!((names, all.bound), (vec!["x", "y"], Bound::Copy));
        assert!(matches!(&all.checker, Checker::Numpy(code) if code == "y = 2 * x"));
        let two = SHORT.replace("items ", "[[rung]]\nname = \"other\"\nwg = \"64\"\nitems ");
        let why = parse(&two).unwrap_err().why;
        assert!(
            why.contains("unknown field `check`"),
            "keys of the file stand before the first rung: {why}"
        );
    }

    #[test]
    fn rungs_take_what_they_do_not_say_from_the_file() {
        let text = format!(
            "{SHORT}[[rung]]\n[[rung]]\nname = \"four\"\nkernel = \"four.cl\"\ngroups = \"64\"\ntune = {{}}\nwhere = []\n"
        );
        let all = parse(&text).unwrap();
        let rungs: Vec<(&str, &str, usize)> = all
            .rungs
            .iter()
            .map(|rung| (rung.name.as_str(), rung.file.as_str(), rung.tune.len()))
            .collect();
        assert_eq!(rungs, [("doubled", "naive.cl", 1), ("four", "four.cl", 0)]);
        assert_eq!(launch(&all, 1).args.len(), 3);
        let text = format!(
            "define = {{ A = 1, B = 2 }}\n{SHORT}[[rung]]\nargs = [\"x\", \"y\", \"A + B\"]\ndefine = {{ B = \"n\" }}\n"
        );
        let all = parse(&text).unwrap();
        assert_eq!(
            launch(&all, 0).args[0],
            DescribedArg::Buffer("x".into()),
            "declared behind it"
        );
        let defines: Vec<&str> = all.rungs[0].defines.values().map(String::as_str).collect();
        assert_eq!(defines, ["1", "n"], "a rung's own macros are added");
    }

    #[test]
    fn macros_are_names_in_formulas() {
        let define = "define = { REAL = \"float\", R = 2, SIDE = \"n + 2 * R\", STEP = \"WG / R\", A = \"B\", B = \"A\" }\n";
        let text = format!(
            "{define}{}",
            SHORT
                .replace("x[n]", "x[SIDE]")
                .replace("ceil(n, ITEMS)", "ceil(n, STEP)")
        );
        let all = parse(&text).unwrap();
        assert_eq!(all.named.keys().collect::<Vec<_>>(), ["R", "SIDE"]);
        assert_eq!(all.size("SIDE", Shape::vector(10), Dtype::F32), Some(14));
        assert_eq!(
            all.rungs[0].named.keys().collect::<Vec<_>>(),
            ["R", "SIDE", "STEP"]
        );
        for (from, to, why) in [
            (
                "x[SIDE]",
                "x[STEP]",
                "STEP is unknown here; there is n, m, size, R, SIDE",
            ),
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
            .replace(
                "items ",
                "loop = [\"k in 0..log2(n)\", \"j in 0..k\"]\nswap = [\"x\", \"y\"]\nitems ",
            );
        let all = parse(&text).unwrap();
        let RungStep::Loop {
            variable,
            swap,
            steps,
            ..
        } = &all.rungs[0].steps[0]
        else {
            panic!()
        };
        assert!(variable == "k" && swap.is_empty());
        let RungStep::Loop { variable, swap, .. } = &steps[0] else {
            panic!()
        };
        assert_eq!((variable.as_str(), swap.len()), ("j", 1));
        assert!(
            all.rungs[0].steps[0].needs_restoring(),
            "the exchange is in the inner loop"
        );
        let deep = text.replacen("\"j in 0..k\"", "\"j in 0..k\", \"i in 0..2\"", 1);
        assert!(
            parse(&deep).unwrap().rungs[0].steps[0].needs_restoring(),
            "or deeper"
        );
        for (from, to, why) in [
            ("k in 0..log2(n)", "k from 0 to 9", "is no loop"),
            ("k in 0..log2(n)", "n in 0..9", "cannot be the name"),
            ("[\"x\", \"y\"]", "[\"x\", \"z\"]", "there is no buffer z"),
            ("[\"x\", \"y\"]", "\"x\"", "swap has two buffers"),
            ("inout x[n]", "x[n]", "which is only an input"),
            (
                "loop = [\"k in 0..log2(n)\", \"j in 0..k\"]\n",
                "",
                "need a loop",
            ),
            (
                "swap = [\"x\", \"y\"]",
                "while = \"z\"",
                "there is no buffer z",
            ),
            ("swap = ", "while = \"y\"\nswap = ", "no swap beside while"),
            (
                "loop = [\"k in 0..log2(n)\", \"j in 0..k\"]\nswap = [\"x\", \"y\"]",
                "while = \"y\"",
                "need a loop",
            ),
        ] {
            let error = parse(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.why.contains(why), "{to}: {error}");
        }
    }

    #[test]
    fn what_a_short_file_lacks_is_named() {
        let thousand = format!("{:?}", (1..=1000).collect::<Vec<u64>>());
        let spanning = format!("ITEMS = {thousand}, A = {thousand}, B = [1, 2]");
        for (from, to, why) in [
            ("numpy: y = 2 * x", "numpy: z = 2 * x", "must assign y"),
            ("numpy: y = 2 * x", "rung: other", "there is no rung"),
            ("numpy: y = 2 * x", "rung: doubled", "compared with itself"),
            (
                "numpy: y = 2 * x",
                "family: transpose",
                "a reference of its own for reduce, dot, minplus",
            ),
            ("numpy: y = 2 * x", "magic", "check says what is right"),
            ("\"out y[n]\"", "\"y[n]\"", "no argument is an output"),
            (
                "kernel = \"naive.cl:doubled\"",
                "",
                "each rung needs its kernel",
            ),
            (
                "args   = [\"x[n] small 8\", \"out y[n]\", \"n\"]",
                "",
                "it needs args",
            ),
            ("ITEMS * WG <= 4096", "ITEMS * WG", "compares nothing"),
            ("ITEMS * WG <= 4096", "ITEM <= 4096", "ITEM is unknown"),
            ("ITEMS = [1, 2]", "ITEMS = [1, 2], items = [1]", "is taken"),
            (
                "ITEMS = [1, 2]",
                &spanning,
                "tune spans more than 1000000 settings",
            ),
            ("n      = 1000", "sizes = \"only\"", "needs n"),
            (
                "\"x[n] small 8\"",
                "\"x[n] small 8\", \"x[n]\"",
                "declared twice",
            ),
            (
                "\"x[n] small 8\"",
                "\"T[n] small 8\"",
                "the name \"T\" is taken",
            ),
            (
                "\"x[n] small 8\"",
                "\"x[n*WG] small 8\"",
                "the same whatever the work-group",
            ),
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
            (
                "about =",
                "abuot =",
                3,
                "unknown field `abuot`, expected one of",
            ),
            ("\"i32\"", "\"i16\"", 4, "unknown variant `i16`"),
            (
                "\"2 * n * size\"",
                "\"2 * k\"",
                7,
                "k is unknown here; there is n, m, size",
            ),
            ("\"2 * n * size\"", "\"2 n\"", 7, "is not expected here"),
            ("\"2 * n * size\"", "[]", 7, "a number or a text in quotes"),
            ("\"copy\"", "\"speed\"", 6, "there is read, write, copy"),
            ("small 8", "little", 23, "there is random"),
            ("small 8", "small 0", 23, "must be from 1"),
            (
                "\"doubled\"\nabout",
                "\"Doubled!\"\nabout",
                2,
                "small letters",
            ),
            ("T x[n]", "T n[n]", 23, "is taken"),
            ("out = 2 * x", "y = 2 * x", 10, "must assign out"),
            ("ITEMS = [1, 2]", "ITEMS = []", 18, "must have values"),
            ("ITEMS = [1, 2]", "T = [1, 2]", 18, "is taken"),
            ("wg = \"64\"", "wg = \"64y\"", 17, "is not a work-group"),
            ("\"naive\"", "\"v1\"", 15, "a rung's name"),
            ("items = \"ceil(n, ITEMS)\"\n", "", 21, "needs either items"),
            (
                "items = \"ceil(n, ITEMS)\"",
                "items = \"n,n,n,n\"",
                21,
                "three dimensions",
            ),
            (
                "\"n\"]",
                "\"n\", \"outp\"]",
                23,
                "buffers x, out; did you mean `out`?",
            ),
            (
                "tolerance = 0",
                "tolerance = { relative = 0.5 }",
                9,
                "less than 0.1",
            ),
            (
                "tolerance = 0",
                "tolerance = { absolute = inf }",
                9,
                "absolute must be",
            ),
            (
                "tolerance = 0",
                "tolerance = { absolute = -1 }",
                9,
                "absolute must be",
            ),
        ] {
            let error = error(from, to);
            assert!(error.why.contains(why), "{to}: {error}");
            assert_eq!(error.line, Some(line), "{to}: {error}");
        }
    }
}
