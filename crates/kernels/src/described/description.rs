//! What a reader's TOML file says of a family: its keys, and what they must be.

use super::formula::{Formula, Formulas, is_name};
use super::oracle::OracleQuestion;
use crate::{Bound, DeclarationError, Form, shape};
use gpulab_model::data::{Dtype, Fill, Shape};
use gpulab_model::plan::WorkGroup;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Most elements of a buffer, and most work-items of a launch.
pub(super) const MOST: u64 = 1 << 40;

/// Names of sizes that every formula may have: columns, rows, and bytes of an element.
const SIZES: [&str; 3] = ["n", "m", "size"];

/// Names of the work-group's sizes, in formulas of rungs.
const GROUP: [&str; 3] = ["WG", "WG_X", "WG_Y"];

/// Macros that gpulab sets itself.
const MACROS: [&str; 5] = ["T", "INDEX", "WG", "WG_X", "WG_Y"];

/// A family, as its file describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// As in records.
    pub name: String,
    /// One line for people.
    #[serde(default)]
    pub(crate) about: String,
    pub(crate) types: Vec<Dtype>,
    #[serde(default)]
    form: FormName,
    /// Elements, or columns, by default.
    n: Option<u64>,
    /// Rows by default.
    m: Option<u64>,
    /// What n and m must be multiples of.
    #[serde(default = "one")]
    pub(crate) multiple: u64,
    limit: String,
    pub(crate) bytes: Formula,
    pub(crate) operations: Formula,
    #[serde(default)]
    pub(crate) constants: BTreeMap<String, u64>,
    pub(crate) input: Vec<DescribedInput>,
    pub(crate) output: DescribedOutput,
    pub(crate) check: DescribedCheck,
    pub(crate) tolerance: Option<Allowance>,
    pub(crate) rung: Vec<DescribedRung>,
}

fn one() -> u64 {
    1
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FormName {
    #[default]
    Vector,
    Matrix,
    Square,
}

/// An input: what it is called, how long it is, and what is in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DescribedInput {
    pub(crate) name: String,
    pub(crate) length: Formula,
    fill: Option<String>,
    pub(crate) file: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DescribedOutput {
    #[serde(default = "out")]
    pub(crate) name: String,
    pub(crate) length: Formula,
}

fn out() -> String {
    "out".into()
}

/// What says which results are right: a program, or a kernel that one work-item runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DescribedCheck {
    command: Option<Vec<String>>,
    #[serde(default)]
    format: ArrayFormat,
    #[serde(default = "minute")]
    seconds: u64,
    kernel: Option<String>,
}

fn minute() -> u64 {
    60
}

/// How arrays are handed to a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrayFormat {
    /// Little-endian elements and nothing else.
    #[default]
    Raw,
    /// NumPy's.
    Npy,
}

/// How far a result may be from the reference: `absolute * times + relative * |right|`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowance {
    #[serde(default)]
    pub(crate) absolute: f64,
    #[serde(default)]
    pub(crate) relative: f64,
    pub(crate) times: Option<Formula>,
    /// Why so much, for who reads the file.
    reason: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DescribedRung {
    pub(crate) name: String,
    pub(crate) file: String,
    wg: Option<String>,
    /// Elements of local memory that the kernel's text declares.
    pub(crate) local: Option<Formula>,
    #[serde(default)]
    pub(crate) tune: BTreeMap<String, Vec<u64>>,
    #[serde(default)]
    pub(crate) scratch: BTreeMap<String, Formula>,
    pub(crate) launch: Vec<DescribedLaunch>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DescribedLaunch {
    pub(crate) kernel: String,
    items: Option<Formulas>,
    groups: Option<Formulas>,
    wg: Option<String>,
    args: Vec<String>,
}

/// How many work-items a launch has, in one dimension, two or three.
pub(crate) enum Extent<'a> {
    /// So many, rounded up to whole groups.
    Items(&'a [Formula]),
    Groups(&'a [Formula]),
}

/// An argument of a kernel.
#[derive(Debug, PartialEq)]
pub(crate) enum DescribedArg {
    /// The buffer of this name.
    Buffer(String),
    /// A number, of type `INDEX`.
    Number(Formula),
    /// So many elements of local memory.
    Local(Formula),
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
        /// The file's name.
        file: String,
    },
}

impl Description {
    /// Understands a file's text.
    ///
    /// # Errors
    /// The first key or value that is none, with its line.
    pub fn parse(text: &str) -> Result<Description, DeclarationError> {
        let line_at = |byte: usize| text.get(..byte).map(|before| before.matches('\n').count() + 1);
        let description: Description = toml::from_str(text).map_err(|error| DeclarationError {
            line: error.span().and_then(|span| line_at(span.start)),
            why: error.message().replace('\n', " "),
        })?;
        description.check().map_err(|(word, why)| DeclarationError { line: line_of(text, &word), why })?;
        Ok(description)
    }

    /// What its sizes mean.
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
        let size = |given: u64| (if small { given.min(usual) } else { given }).next_multiple_of(self.multiple);
        self.form().shape(size(self.n.unwrap_or(usual)), self.m.map(size))
    }

    pub(crate) fn bound(&self) -> Option<Bound> {
        Bound::named(&self.limit)
    }

    /// What says which results are right.
    ///
    /// # Errors
    /// None, or two.
    pub fn checker(&self) -> Result<Checker, String> {
        let DescribedCheck { command, format, seconds, kernel } = &self.check;
        match (command, kernel) {
            (Some(command), None) => {
                Ok(Checker::Program { command: command.clone(), format: *format, seconds: *seconds })
            }
            (None, Some(file)) => Ok(Checker::Kernel { file: file.clone() }),
            _ => Err("[check] needs either command, a program, or kernel, a file with a slow kernel".into()),
        }
    }

    /// The kernels' files that it names, each once.
    pub fn files(&self) -> Vec<String> {
        let rungs = self.rung.iter().map(|rung| rung.file.clone());
        rungs.chain(self.check.kernel.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The files of real data that it names.
    pub fn data_files(&self) -> Vec<String> {
        self.input.iter().filter_map(|input| input.file.clone()).collect()
    }

    /// The definitions of a reference kernel.
    pub fn reference_defines(&self, question: &OracleQuestion<'_>) -> Vec<(String, String)> {
        let longest = question.inputs.iter().map(|input| input.len()).max().unwrap_or(0).max(question.len) as u64;
        let longest = longest.max(question.case.shape.elements());
        let constants = self.constants.iter().map(|(name, value)| (name.clone(), value.to_string()));
        shape::defines(shape::signed(question.case.dtype), longest).into_iter().chain(constants).collect()
    }

    /// The sizes that a reference kernel is given.
    pub fn reference_sizes(&self, shape: Shape) -> Vec<u64> {
        if self.form() == Form::Matrix { vec![shape.n, shape.m] } else { vec![shape.n] }
    }

    /// The value of one of its constants.
    pub(crate) fn constant(&self, name: &str) -> Option<u64> {
        self.constants.get(name).copied()
    }

    /// Refuses what cannot be meant: a word of the line that it stands on, and why.
    fn check(&self) -> Result<(), (String, String)> {
        let at = |word: &str, why: String| Err((word.to_owned(), why));
        if !is_rung_name(&self.name) {
            return at(&self.name, format!("name: {:?} must be of small letters, digits and _", self.name));
        }
        if self.types.is_empty() || self.input.is_empty() || self.rung.is_empty() {
            return at("types", "types, [[input]] and [[rung]] need one entry at least".into());
        }
        if self.multiple == 0 || [self.n, self.m].contains(&Some(0)) {
            return at("multiple", "n, m and multiple must be 1 at least".into());
        }
        if self.bound().is_none() {
            let names = Bound::ALL.map(Bound::name).join(", ");
            return at(&self.limit, format!("limit: there is no {:?}; there is {names}", self.limit));
        }
        self.check_names()?;
        self.checker().and_then(|checker| self.check_checker(&checker)).map_err(|why| ("[check]".to_owned(), why))?;
        self.check_tolerance().map_err(|why| ("tolerance".to_owned(), why))?;
        for formula in [&self.bytes, &self.operations] {
            self.check_formula(formula, &[])?;
        }
        for input in &self.input {
            self.check_length(&input.length)?;
            self.fill(input).map_err(|why| (input.name.clone(), format!("[[input]] {}: {why}", input.name)))?;
        }
        self.check_length(&self.output.length)?;
        self.rung.iter().try_for_each(|rung| self.check_rung(rung))
    }

    fn check_checker(&self, checker: &Checker) -> Result<(), String> {
        let Checker::Program { command, seconds, .. } = checker else { return Ok(()) };
        let in_braces = |word: &String| -> Vec<String> {
            let parts = word.split('{').skip(1).filter_map(|part| part.split_once('}'));
            parts.map(|(name, _)| name.to_owned()).filter(|name| is_name(name)).collect()
        };
        let named: Vec<String> = command.iter().flat_map(in_braces).collect();
        let inputs = self.input.iter().map(|input| input.name.as_str());
        let known: Vec<&str> = inputs.chain(["out", "n", "m", "type"]).collect();
        if let Some(name) = named.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("[check] command: {{{name}}} is unknown; there is {{{}}}", known.join("}, {")));
        }
        match named.iter().any(|name| name == "out") {
            false => Err("[check] command: one word must have {out}, the file that the program writes".into()),
            true if *seconds == 0 => Err("[check] seconds must be 1 at least".into()),
            true => Ok(()),
        }
    }

    fn check_tolerance(&self) -> Result<(), String> {
        let has_floats = self.types.iter().any(|dtype| dtype.is_float());
        match &self.tolerance {
            None if has_floats => {
                Err("floats need a [tolerance]: absolute and relative, 0 for results that are exact, and \
                                       the reason"
                    .into())
            }
            None => Ok(()),
            Some(allowed) if allowed.reason.trim().is_empty() => {
                Err("[tolerance] reason: say in a few words why this error is right".into())
            }
            Some(Allowance { absolute, relative, times, .. }) => {
                let is_sound = absolute.is_finite() && *absolute >= 0.0 && (0.0..0.1).contains(relative);
                if !is_sound {
                    return Err("[tolerance]: absolute must be 0 or more, and relative from 0 to less than 0.1".into());
                }
                times.iter().try_for_each(|formula| self.check_formula(formula, &[]).map_err(|(_, why)| why))
            }
        }
    }

    /// Names of buffers and macros: each once, and none that means something else.
    fn check_names(&self) -> Result<(), (String, String)> {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let buffers = self.input.iter().map(|input| &input.name).chain([&self.output.name]);
        let taken = |name: &str| SIZES.contains(&name) || MACROS.contains(&name) || is_word(name);
        for name in buffers.chain(self.constants.keys()) {
            if !is_name(name) || taken(name) || !known.insert(name) {
                let is_key = self.constants.contains_key(name);
                let word = if is_key { name.clone() } else { format!("name = {name:?}") };
                return Err((word, format!("the name {name:?} is taken, or cannot be a name in OpenCL C")));
            }
        }
        let mut rungs: BTreeSet<&str> = BTreeSet::new();
        for rung in &self.rung {
            if !is_rung_name(&rung.name) || !rungs.insert(&rung.name) {
                let why = "a rung's name has small letters, digits and _, starts with a letter that no digit follows";
                return Err((rung.name.clone(), format!("[[rung]] {:?}: {why}, and is unique", rung.name)));
            }
            let macros = rung.tune.keys();
            for name in rung.scratch.keys().chain(macros) {
                if !is_name(name) || taken(name) || known.contains(name.as_str()) {
                    let why = format!("[[rung]] {}: the name {name:?} is taken, or cannot be a name", rung.name);
                    return Err((name.clone(), why));
                }
            }
        }
        Ok(())
    }

    fn check_rung(&self, rung: &DescribedRung) -> Result<(), (String, String)> {
        let at = |word: &str, why: String| (word.to_owned(), format!("[[rung]] {}: {why}", rung.name));
        for (name, values) in &rung.tune {
            let is_macro = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            if values.is_empty() || !is_macro {
                return Err(at(
                    name,
                    format!("tune: {name} must be in capitals and have values, as in ITEMS = [1, 2]"),
                ));
            }
        }
        let more: Vec<&str> = GROUP.into_iter().chain(rung.tune.keys().map(String::as_str)).collect();
        rung.work_group().map_err(|why| at(&rung.name, why))?;
        for formula in rung.scratch.values().chain(&rung.local) {
            self.check_formula(formula, &more)?;
        }
        for launch in &rung.launch {
            let at = |why: String| {
                at(&format!("kernel = {:?}", launch.kernel), format!("launch of {}: {why}", launch.kernel))
            };
            launch.work_group().map_err(at)?;
            let (Extent::Items(sides) | Extent::Groups(sides)) = launch.extent().map_err(at)?;
            for formula in sides {
                self.check_formula(formula, &more)?;
            }
            for arg in self.args(rung, launch).map_err(at)? {
                match arg {
                    DescribedArg::Buffer(_) => {}
                    DescribedArg::Number(formula) | DescribedArg::Local(formula) => {
                        self.check_formula(&formula, &more)?;
                    }
                }
            }
        }
        let writes = |launch: &DescribedLaunch| launch.args.iter().any(|arg| arg.trim() == self.output.name);
        match rung.launch.iter().any(writes) {
            true => Ok(()),
            false => Err(at(&rung.name, format!("no launch has the output {:?} among its args", self.output.name))),
        }
    }

    /// As [`Description::check_formula`]; lengths are in elements, whatever their type.
    fn check_length(&self, formula: &Formula) -> Result<(), (String, String)> {
        match formula.names().contains(&"size") {
            true => Err((formula.text.clone(), format!("\"{}\": lengths are in elements, without size", formula.text))),
            false => self.check_formula(formula, &[]),
        }
    }

    /// Refuses names that mean nothing.
    fn check_formula(&self, formula: &Formula, more: &[&str]) -> Result<(), (String, String)> {
        let is_known = |name: &str| SIZES.contains(&name) || self.constants.contains_key(name) || more.contains(&name);
        let Some(name) = formula.names().into_iter().find(|name| !is_known(name)) else { return Ok(()) };
        let constants = self.constants.keys().map(String::as_str);
        let known: Vec<&str> = SIZES.into_iter().chain(constants).chain(more.iter().copied()).collect();
        Err((
            formula.text.clone(),
            format!("\"{}\": {name} is unknown here; there is {}", formula.text, known.join(", ")),
        ))
    }

    /// The arguments of a launch, in order.
    pub(crate) fn args(&self, rung: &DescribedRung, launch: &DescribedLaunch) -> Result<Vec<DescribedArg>, String> {
        let is_buffer = |name: &str| {
            self.input.iter().any(|input| input.name == name)
                || self.output.name == name
                || rung.scratch.contains_key(name)
        };
        let arg = |text: &String| {
            if let Some(elements) = text.trim().strip_prefix("local ") {
                return Formula::parse(elements).map(DescribedArg::Local);
            }
            let formula = Formula::parse(text)?;
            match formula.name() {
                Some(name) if is_buffer(name) => Ok(DescribedArg::Buffer(name.to_owned())),
                _ => Ok(DescribedArg::Number(formula)),
            }
        };
        launch.args.iter().map(arg).collect()
    }

    /// What is in an input; none of one that is a file.
    pub(crate) fn fill(&self, input: &DescribedInput) -> Result<Option<Fill>, String> {
        let text = match (&input.fill, &input.file) {
            (Some(_), Some(_)) => return Err("it has both a fill and a file: leave one out".into()),
            (None, Some(_)) => return Ok(None),
            (fill, None) => fill.as_deref().unwrap_or("random"),
        };
        let (word, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let most = || {
            // So many are exact in every element type.
            let value = Formula::parse(rest)?.count((1, 1 << 24), &|name| self.constant(name));
            value.map_err(|why| format!("fill \"{text}\": {why}"))
        };
        match (word, rest) {
            ("random", "") => Ok(Some(Fill::Real)),
            ("positive", "") => Ok(Some(Fill::Positive)),
            ("small", _) => most().map(|most| Some(Fill::Exact(most))),
            ("below", _) if most()? > 1 => most().map(|most| Some(Fill::Below(most))),
            ("below", _) | ("ones", "") => Err(format!(
                "fill {text:?} makes all elements the same, so a kernel that never reads them would pass: choose \
                 random, positive, small 8 or below 256"
            )),
            _ => Err(format!("there is no fill {text:?}; there is random, positive, small 8, below 256")),
        }
    }
}

/// Whether a name can be a rung's, or a family's.
fn is_rung_name(name: &str) -> bool {
    let is_number = name.strip_prefix('v').unwrap_or(name).starts_with(|c: char| c.is_ascii_digit());
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (1..=40).contains(&name.len()) && !is_number && name.starts_with(char::is_alphabetic) && name.chars().all(is_plain)
}

/// Whether formulas and arguments have this word for something else.
fn is_word(name: &str) -> bool {
    ["ceil", "min", "max", "local"].contains(&name)
}

/// The line of a file that has a word as a value, or else at all.
fn line_of(text: &str, word: &str) -> Option<usize> {
    let find = |word: &str| text.lines().position(|line| line.contains(word)).map(|line| line + 1);
    find(&format!("\"{word}\"")).or_else(|| find(word)).filter(|_| !word.is_empty())
}

fn work_group(text: Option<&str>) -> Result<Option<WorkGroup>, String> {
    let Some(text) = text else { return Ok(None) };
    let sides: Option<Vec<usize>> =
        text.split('x').map(|side| side.trim().parse().ok().filter(|side| (1..=1 << 16).contains(side))).collect();
    match sides.as_deref() {
        Some(&[x]) => Ok(Some(WorkGroup::linear(x))),
        Some(&[x, y]) => Ok(Some(WorkGroup([x, y, 1]))),
        Some(&[x, y, z]) => Ok(Some(WorkGroup([x, y, z]))),
        _ => Err(format!("wg = {text:?} is not a work-group: write \"256\" or \"16x16\"")),
    }
}

impl DescribedRung {
    /// Its work-group, unless another is asked for.
    pub(crate) fn work_group(&self) -> Result<Option<WorkGroup>, String> {
        work_group(self.wg.as_deref())
    }
}

impl DescribedLaunch {
    /// Its own work-group, if it has one.
    pub(crate) fn work_group(&self) -> Result<Option<WorkGroup>, String> {
        work_group(self.wg.as_deref())
    }

    /// How many work-items it has.
    pub(crate) fn extent(&self) -> Result<Extent<'_>, String> {
        let extent = match (&self.items, &self.groups) {
            (Some(items), None) => Extent::Items(&items.0),
            (None, Some(groups)) => Extent::Groups(&groups.0),
            _ => return Err("it needs either items, as in \"n\" or \"n, m\", or groups".into()),
        };
        let (Extent::Items(sides) | Extent::Groups(sides)) = &extent;
        if sides.len() > 3 { Err("a launch has three dimensions at most".into()) } else { Ok(extent) }
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

    fn error(from: &str, to: &str) -> DeclarationError {
        assert!(TOML.contains(from), "{from}");
        Description::parse(&TOML.replacen(from, to, 1)).unwrap_err()
    }

    #[test]
    fn a_file_is_understood() {
        let all = Description::parse(TOML).unwrap();
        assert_eq!((all.name.as_str(), all.form()), ("doubled", Form::Vector));
        let shapes = [(1 << 20, false), (1 << 20, true), (64, true), (64, false)];
        assert_eq!(shapes.map(|(usual, small)| all.usual_shape(usual, small).n), [1000, 1000, 64, 1000]);
        assert_eq!(all.fill(&all.input[0]), Ok(Some(Fill::Exact(8))));
        let args = all.args(&all.rung[0], &all.rung[0].launch[0]).unwrap();
        assert_eq!(args[0], DescribedArg::Buffer("x".into()));
        assert!(matches!(&args[2], DescribedArg::Number(n) if n.text == "n"));
        assert_eq!(all.files(), ["naive.cl"]);
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
            ("small 8", "little", 11, "there is random"),
            ("small 8", "small 0", 11, "must be from 1"),
            ("\"doubled\"\nabout", "\"Doubled!\"\nabout", 2, "small letters"),
            ("name = \"x\"", "name = \"n\"", 11, "is taken"),
            ("\"{out}\"", "\"-\"", 18, "{out}"),
            ("ITEMS = [1, 2]", "ITEMS = []", 28, "must be in capitals and have values"),
            ("ITEMS = [1, 2]", "WG = [1, 2]", 28, "is taken"),
            ("wg = \"64\"", "wg = \"64y\"", 25, "is not a work-group"),
            ("\"naive\"", "\"v1\"", 25, "a rung's name"),
            ("items = \"ceil(n, ITEMS)\"\n", "", 31, "needs either items"),
            ("items = \"ceil(n, ITEMS)\"", "items = \"n,n,n,n\"", 31, "three dimensions"),
            ("\"x\", \"out\", \"n\"", "\"x\", \"n\"", 25, "no launch has the output"),
            ("\"x\", \"out\", \"n\"", "\"y\", \"out\"", 33, "y is unknown here"),
        ] {
            let error = error(from, to);
            assert_eq!(error.line, Some(line), "{to}: {error}");
            assert!(error.why.contains(why), "{to}: {error}");
        }
    }

    #[test]
    fn floats_need_a_tolerance_that_can_be_missed() {
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
        let none = error(&format!("[tolerance]\n{reason}"), "");
        assert!(none.why.contains("floats need a [tolerance]"), "{none}");
    }
}
