//! Kernels that a reader wrote, as rungs of a family: what the lines `// gpulab: ...` of their file say, or their parameters
//! suggest, is put into the words that describe families.
//!
//! [`super::Registry::adopt`] makes a file the last rung of its family, so that whatever works on rungs works on it: ladders,
//! sweeps, tuning, counting.

use crate::builder::RESTORE;
use crate::c_text::ValueType;
use crate::c_text::{tokens, without_comments, without_definitions};
use crate::described::{
    DeclarationError, DescribedArg, Formula, bound, check_option, is_guarded, is_name, macro_value,
    parse_arg, parts,
};
use crate::family::BroughtKernel;
use crate::shape::{self, Grid, HOST_FINISH};
use crate::signature::{
    ACCUMULATED, AddressSpace, CHANGED, CSource, HANDED_ON, KernelParameter, Usage, hidden_macros,
};
use crate::tunable::DeclaredMacro;
use crate::values::work_group;
use crate::{Ask, Builder, Family, Form, Planned, Rung, minplus, reduce};
use gpulab_model::data::{Dtype, Params, Shape};
use gpulab_model::plan::{Arg, Refusal, WorkGroup};
use gpulab_model::{Joined, has_part, is_among};
use serde::{Deserialize, Serialize};

/// What begins a line that declares something.
const MARK: &str = "// gpulab:";

/// A reader's kernel: what a worker is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnKernel {
    pub family: String,
    pub name: String,
    /// Its text, with what it includes.
    pub text: String,
}

pub fn rung(own: &OwnKernel, family: &Family) -> Result<Rung, DeclarationError> {
    let file = format!("{}.cl", own.name);
    let mut declared = Declaration::read(&own.text, family.form, &file)?;
    let dimensions = if family.form == Form::Vector { 1 } else { 2 };
    let guesses = CSource::new(&own.text, &declared.defines).guesses(dimensions, "T");
    declared.defines.extend(guesses.clone());
    let source = CSource::new(&own.text, &declared.defines);
    let inputs = family
        .problem
        .inputs(Shape { n: 1, m: 1 }, &Params::new())
        .len();
    let args = OwnArgs::of(&source, &declared, family.form, inputs)
        .map_err(|why| DeclarationError { line: None, why })?;
    let mut guess = String::new();
    let mut dtype = None;
    if let Some(args) = &args {
        guess.clone_from(&args.guess);
        dtype = args.dtype;
        if declared.elements.is_none()
            && declared.items.is_none()
            && args.lanes > 1
            && family.form == Form::Vector
        {
            declared.elements = Formula::list(&format!("{}, 1", args.lanes)).ok();
        }
        declared.items_leave_results = declared
            .items_leave_results
            .or((args.is_of_items && family.form == Form::Vector).then_some(true));
    }
    if !guesses.is_empty() {
        let all = guesses.iter();
        let all = all.map(|(name, value)| format!("{name} = {value}"));
        let part = if guess.is_empty() { "" } else { "; " };
        guess += &format!(
            "{part}its host's macros are taken for {} (--declare says others)",
            all.joined(", ")
        );
    }
    let zeroed = args.as_ref().filter(|args| args.is_zeroed);
    let restoring = zeroed
        .and_then(|_| crate::text(RESTORE))
        .unwrap_or_default();
    let hidden = hidden_macros(&own.text);
    let traits = SourceTraits::of(&own.text, &declared.kernel);
    let kernel = BroughtKernel {
        text: without_definitions(&own.text, |name| {
            declared.defines.iter().any(|(given, _)| given == name)
        }) + restoring,
        work_group: declared.wg,
        work_groups: Vec::new(),
        declaration: String::new(),
        macros: declared.tunables.clone(),
        traits: (
            SourceTraits {
                left_to_host: source.host_names(),
                ..traits
            },
            declared.parameters(family.form, inputs),
        ),
        multiple: declared.multiple,
        dtype,
        guess: (!guess.is_empty()).then_some(guess),
        plan: Box::new(move |ask| {
            let mut plan = OwnLaunch {
                own: &declared,
                args: args.as_ref(),
                ask,
                wg: declared.group(ask)?,
            }
            .plan()?;
            plan.defines
                .retain(|(name, _)| !hidden.contains(&name.as_str()));
            Ok(plan)
        }),
    };
    Ok(Rung::brought(
        &format!("{}/{}", family.name, own.name),
        None,
        kernel,
    ))
}

/// How a kernel is launched, as its file declares it.
#[derive(Debug, Default)]
struct Declaration {
    /// The `__kernel` function that is launched first.
    kernel: String,
    /// What each work-item takes: of vectors in a row, of matrices columns and rows.
    elements: Option<Vec<Formula>>,
    /// The number of work-items, whatever the size.
    items: Option<Formula>,
    /// Whether each work-item leaves a result of a problem with a single one, and not each group; the host joins them.
    items_leave_results: Option<bool>,
    wg: Option<WorkGroup>,
    /// Elements of local memory that are handed over as the last argument.
    local: Option<Formula>,
    /// Macros that may be set, swept and tuned.
    tunables: Vec<DeclaredMacro>,
    /// What its arguments are, in words, where it says so.
    args: Option<String>,
    multiple: u64,
    /// Macros that its host would set, and their values: a formula, or text.
    defines: Vec<(String, String)>,
}

impl Declaration {
    fn read(text: &str, form: Form, file: &str) -> Result<Declaration, DeclarationError> {
        let mut own = Declaration {
            multiple: 1,
            ..Declaration::default()
        };
        let mut next = 1;
        for line in text.lines() {
            let number = next;
            // Lines are those of the reader's file, as compilers count them.
            let named = line
                .strip_prefix("#line ")
                .and_then(|rest| rest.split(' ').next()?.parse().ok());
            next = named.unwrap_or(number + 1);
            if let Some(words) = line.trim_start().strip_prefix(MARK) {
                own.take(words, form).map_err(|why| DeclarationError {
                    line: Some(number),
                    why,
                })?;
            }
        }
        own.find_kernel(&CSource::new(text, &own.defines), file)
            .map_err(|why| DeclarationError { line: None, why })?;
        Ok(own)
    }

    fn find_kernel(&mut self, source: &CSource, file: &str) -> Result<(), String> {
        let named = Some(self.kernel.as_str()).filter(|name| !name.is_empty());
        self.kernel = source.kernel(named, file)?;
        // Macros that nobody sets.
        let used = self
            .elements
            .iter()
            .flatten()
            .chain(&self.items)
            .chain(&self.local)
            .flat_map(Formula::names);
        let is_known = |name: &str| {
            ["n", "m", "size", "WG", "WG_X", "WG_Y"].contains(&name)
                || self
                    .tunables
                    .iter()
                    .any(|t| t.name.eq_ignore_ascii_case(name))
        };
        match used.into_iter().find(|name| !is_known(name)) {
            Some(name) => Err(format!(
                "{name} is neither WG nor declared: add \
                 `{MARK} tune {name} 1 2 4`"
            )),
            None => Ok(()),
        }
    }

    fn take(&mut self, words: &str, form: Form) -> Result<(), String> {
        let is_vector = form == Form::Vector;
        // What stands in brackets is for people, but of formulas and texts.
        let (word, rest) = words.trim().split_once(' ').unwrap_or((words.trim(), ""));
        let plain = rest.split('(').next().unwrap_or_default().trim();
        match word {
            "kernel" => self.kernel = plain.into(),
            "args" => self.args = Some(rest.trim().to_owned()),
            "define" => {
                let (name, value) = rest
                    .trim()
                    .split_once([' ', '='])
                    .unwrap_or((rest.trim(), "1"));
                if !is_name(name) {
                    return Err(
                        "define takes a name and a value, as in `define BLOCK_SIZE 16`".into(),
                    );
                }
                self.defines
                    .push((name.to_owned(), value.trim().to_owned()));
            }
            "options" => {
                for option in rest.split_whitespace() {
                    check_option(option)?;
                    self.defines.push((option.to_owned(), String::new()));
                }
            }
            "multiple" => {
                let multiple = plain
                    .parse()
                    .ok()
                    .filter(|multiple| (1..=1 << 20).contains(multiple));
                self.multiple = multiple.ok_or("multiple takes a number, as in `multiple 64`")?;
            }
            "elements" if is_vector => self.elements = Some(vec![amount(plain)?, amount("1")?]),
            "elements" => {
                let sides = plain
                    .split_once('x')
                    .ok_or("elements takes a work-item's columns x rows, as in `elements 1x4`")?;
                self.elements = Some(vec![amount(sides.0)?, amount(sides.1)?]);
            }
            "items" if is_vector => self.items = Some(amount(plain)?),
            "results" if is_vector && ["item", "group"].contains(&plain) => {
                self.items_leave_results = Some(plain == "item");
            }
            "wg" => {
                let wg = work_group(plain).ok().filter(|wg| wg.0[2] == 1);
                self.wg = Some(wg.ok_or("wg takes a size, as in `wg 256` or `wg 32x8`")?);
            }
            "local" => self.local = Some(amount(plain)?),
            "tune" => {
                let (name, values) = plain.split_once(' ').unwrap_or((plain, ""));
                let numbers: Option<Vec<u64>> = values
                    .split_whitespace()
                    .map(|value| value.parse().ok())
                    .collect();
                let is_macro = is_name(name)
                    && name != "WG"
                    && !name.contains(|c: char| c.is_ascii_lowercase());
                match numbers.filter(|numbers| is_macro && !numbers.is_empty()) {
                    Some(numbers) => self.tunables.push(DeclaredMacro::new(name, &numbers)),
                    None => {
                        return Err("tune takes a macro in capitals and whole numbers, as in `tune ROWS 1 2 4`".into());
                    }
                }
            }
            _ => {
                let more = if is_vector { ", items, results" } else { "" };
                let known = "kernel, args, define, options, multiple, elements, wg, local, tune";
                return Err(format!(
                    "`{}` is not a declaration; there is {known}{more}",
                    words.trim()
                ));
            }
        }
        Ok(())
    }

    /// The parameters of the kernel that is launched first, as they would be written.
    fn parameters(&self, form: Form, inputs: usize) -> Vec<String> {
        let names: &[&str] = if inputs == 2 { &["x", "y"] } else { &["in"] };
        let sizes: &[&str] = if form == Form::Matrix {
            &["width", "height"]
        } else {
            &["n"]
        };
        let mut all: Vec<String> = names
            .iter()
            .map(|name| format!("__global const T *{name}"))
            .collect();
        all.push("__global T *out".to_owned());
        all.extend(sizes.iter().map(|name| format!("const INDEX {name}")));
        all.extend(
            self.local
                .is_some()
                .then(|| "__local T *scratch".to_owned()),
        );
        all
    }

    /// The group asked for, if it has as many dimensions as the declared one.
    fn group(&self, ask: &Ask<'_>) -> Result<WorkGroup, Refusal> {
        let asked = ask.case.wg;
        let wg = match self.wg {
            _ if asked.0[1] > 1 => asked,
            Some(declared) if declared.0[1] > 1 => declared,
            None if ask.family.form != Form::Vector => {
                WorkGroup([16, asked.size().div_ceil(16).min(16), 1])
            }
            _ => asked,
        };
        shape::check_wg(wg, ask.target)?;
        Ok(wg)
    }
}

/// A number of elements or work-items.
fn amount(text: &str) -> Result<Formula, String> {
    let formula = Formula::parse(text)?;
    if formula.names().is_empty() {
        formula.count(1, 1 << 40, &|_| None)?;
    }
    Ok(formula)
}

/// Names of a result, in kernels of many.
const RESULTS: &str = "out output odata g_odata res result results dst dest partial partials \
                       sum sums partialsums partial_sums b_out y_out c d_result group_result reduced d_odata";

/// What a kernel's arguments are, in the words that describe families; inputs and the result are buffers of the names `in` (or
/// `x` and `y`) and `out`.
struct OwnArgs {
    args: Vec<DescribedArg>,
    /// Whether the result holds zeros before each run.
    is_zeroed: bool,
    /// What was guessed of them, in words; empty where somebody said them.
    guess: String,
    /// The type of the input's elements, where it is written out.
    dtype: Option<Dtype>,
    /// Numbers of an input's vector, as 4 of `float4 *`.
    lanes: u64,
    /// Whether each work-item leaves a result: no kernel without local memory joins those of a group.
    is_of_items: bool,
}

impl OwnArgs {
    /// The arguments of a kernel with these parameters: as its file says, or guessed; none where gpulab's own order is meant.
    fn of(
        source: &CSource,
        own: &Declaration,
        form: Form,
        inputs: usize,
    ) -> Result<Option<OwnArgs>, String> {
        let kernel = &own.kernel;
        let Some(parameters) = source.parameters(kernel) else {
            return Ok(None);
        };
        if let Some(image) = parameters
            .iter()
            .find(|parameter| parameter.space == AddressSpace::Image)
        {
            return Err(format!(
                "{} is an image, which only a family of your own can have: gpulab try FILE:{kernel} begins one",
                image.name
            ));
        }
        let words: Vec<String> = match &own.args {
            Some(said) => parts(said).map(|word| word.trim().to_owned()).collect(),
            // Without a size among its parameters nothing is guessed: the driver's check then names what is missing.
            None if is_gpulabs(&parameters, form, inputs, own.local.is_some())
                || !parameters.iter().any(is_whole) =>
            {
                return Ok(None);
            }
            None => guess(source, kernel, &parameters, form, inputs)?,
        };
        let names = parameters.iter().map(|parameter| parameter.name.as_str());
        if words.len() != parameters.len() {
            return Err(format!(
                "the kernel has {} parameters ({}), and --args gives {}",
                parameters.len(),
                names.joined(", "),
                words.len()
            ));
        }
        let pairs = names
            .zip(&words)
            .map(|(name, word)| format!("{name} = {word}"));
        let mut guess = format!(
            "its arguments are taken for {} (--args says others)",
            pairs.joined(", ")
        );
        if own.args.is_some() {
            guess.clear();
        }
        let is_zeroed = words
            .iter()
            .any(|word| ["out = 0", "out=0"].contains(&word.as_str()));
        let mut all = OwnArgs {
            args: Vec::new(),
            is_zeroed,
            guess,
            dtype: None,
            lanes: 1,
            is_of_items: false,
        };
        for (word, parameter) in words.iter().zip(&parameters) {
            all.add(word, parameter, inputs)?;
        }
        let given = |name: &str| {
            all.args
                .iter()
                .filter(|arg| **arg == DescribedArg::Buffer(name.into()))
                .count()
        };
        if let Some(missing) = input_names(inputs).iter().find(|name| given(name) == 0) {
            return Err(format!(
                "no argument is the input: write {missing} in --args"
            ));
        }
        if given("out") != 1 {
            return Err(format!(
                "{} arguments are the result: write out once in --args",
                given("out")
            ));
        }
        let result = all
            .args
            .iter()
            .position(|arg| *arg == DescribedArg::Buffer("out".into()))
            .unwrap_or_default();
        let body = source.body(kernel).unwrap_or_default();
        all.is_of_items = !body
            .iter()
            .any(|word| ["__local", "local", "barrier"].contains(&word.as_str()))
            && parameters
                .iter()
                .all(|parameter| parameter.space != AddressSpace::Local)
            && source.usage(kernel, &parameters[result].name) & ACCUMULATED == 0;
        Ok(Some(all))
    }

    /// Adds what a word says of a parameter.
    fn add(
        &mut self,
        word: &str,
        parameter: &KernelParameter,
        inputs: usize,
    ) -> Result<(), String> {
        let names = input_names(inputs);
        let name = match word {
            "in" | "x" | "a" => names[0],
            "y" | "b" if inputs > 1 => names[1],
            "out" | "out = 0" | "out=0" => "out",
            "width" | "columns" => "n",
            "height" | "rows" => "m",
            other => other,
        };
        if name != "out" && !names.contains(&name) {
            let mut arg = parse_arg(name)?.0;
            arg.take_type(&parameter.value_type);
            self.args.push(arg);
            return Ok(());
        }
        if let (true, Some(ValueType::Number(scalar, lanes))) =
            (name == names[0], &parameter.value_type)
        {
            self.lanes = *lanes as u64;
            // A sum of unsigned numbers has the bits of one of signed ones.
            self.dtype = match scalar.name() {
                "u32" => Some(Dtype::I32),
                "u64" => Some(Dtype::I64),
                _ => scalar.dtype(),
            };
        }
        self.args.push(DescribedArg::Buffer(name.to_owned()));
        Ok(())
    }
}

fn input_names(inputs: usize) -> &'static [&'static str] {
    if inputs == 1 { &["in"] } else { &["x", "y"] }
}

/// Whether the parameters are in gpulab's order: inputs, result, sizes, local memory if it is declared.
fn is_gpulabs(parameters: &[KernelParameter], form: Form, inputs: usize, has_local: bool) -> bool {
    let sizes = if form == Form::Matrix { 2 } else { 1 };
    let is_of = |at: usize, parameter: &KernelParameter| match at {
        at if at <= inputs => parameter.space.is_data(),
        at if at <= inputs + sizes => parameter.value_type == Some(ValueType::Index),
        _ => parameter.space == AddressSpace::Local,
    };
    // A kernel in gpulab's words that has it wrong is told so by the driver's check.
    parameters
        .iter()
        .any(|parameter| parameter.value_type == Some(ValueType::Index))
        || parameters.len() == inputs + 1 + sizes + usize::from(has_local)
            && parameters
                .iter()
                .enumerate()
                .all(|(at, one)| is_of(at, one))
}

/// What the parameters probably are, a word for each.
fn guess(
    source: &CSource,
    kernel: &str,
    parameters: &[KernelParameter],
    form: Form,
    inputs: usize,
) -> Result<Vec<String>, String> {
    let buffers: Vec<&KernelParameter> = parameters
        .iter()
        .filter(|parameter| parameter.space.is_data())
        .collect();
    if buffers.len() != inputs + 1 {
        return Err(format!(
            "kernel {kernel} has {} pointers where {} and a result are needed: make it a family of its own, which gpulab try \
             FILE:{kernel} begins",
            buffers.len(),
            if inputs == 1 {
                "an input"
            } else {
                "two inputs"
            }
        ));
    }
    let uses = |one: &KernelParameter, usage: Usage| {
        !one.is_const && source.usage(kernel, &one.name) & usage != 0
    };
    let stores = |one: &KernelParameter| uses(one, CHANGED);
    let mut written = buffers.clone();
    written.retain(|one| uses(one, CHANGED | HANDED_ON));
    // What a function is given is mostly read there, where the kernel itself stores elsewhere.
    if written.iter().filter(|one| stores(one)).count() == 1 {
        written.retain(|one| stores(one));
    }
    if written.len() > 1 {
        written.retain(|one| is_among(&one.name.to_lowercase(), RESULTS));
    }
    let result = if let [only] = written[..] {
        Some(only.name.as_str())
    } else {
        None
    };
    let stored = buffers.iter().find(|one| stores(one));
    let fallback = stored.or(buffers.last());
    let shown = result.or(fallback.map(|one| one.name.as_str()));
    let mut unsure = result
        .is_none()
        .then(|| format!("which pointer of kernel {kernel} is the result is not clear"));
    let mut next = 0;
    let mut sizes = 0;
    let mut words = Vec::new();
    for parameter in parameters {
        let word = match parameter.space {
            space if space.is_data() && Some(parameter.name.as_str()) == shown => "out",
            space if space.is_data() => {
                next += 1;
                input_names(inputs).get(next - 1).copied().unwrap_or("in")
            }
            // As a tile with a column more, which does no harm where it is not needed.
            AddressSpace::Local if form != Form::Vector => "local (WG_X + 1) * (WG_Y + 1)",
            AddressSpace::Local => "local WG",
            _ => match size_word(&parameter.name, form, sizes).filter(|_| is_whole(parameter)) {
                Some(word) => {
                    sizes += usize::from(!matches!(word, "0" | "1"));
                    word
                }
                None => {
                    unsure = unsure.or(Some(format!(
                        "what {} of kernel {kernel} is cannot be guessed",
                        parameter.name
                    )));
                    if is_whole(parameter) { "n" } else { "2.5" }
                }
            },
        };
        words.push(word.to_owned());
    }
    match unsure {
        Some(why) => Err(format!(
            "{why}: say what each is, as in --args \"{}\"",
            words.join(", ")
        )),
        None => Ok(words),
    }
}

fn is_whole(parameter: &KernelParameter) -> bool {
    matches!(&parameter.value_type, Some(ValueType::Number(scalar, 1)) if !scalar.is_float())
        || parameter.value_type == Some(ValueType::Index)
}

/// The size that a whole number is, by its name and its place among them.
fn size_word(name: &str, form: Form, place: usize) -> Option<&'static str> {
    let small = name.to_lowercase();
    let has = |parts: &str| has_part(&small, parts);
    match form {
        _ if has("offset start begin zero identity conj") => Some("0"),
        _ if small.starts_with("inc") || small.ends_with("inc") => Some("1"),
        Form::Matrix if has("height rows ny") || small == "h" || small == "m" => Some("m"),
        Form::Matrix if has("width col nx") || small == "w" || small == "n" => Some("n"),
        Form::Matrix if place < 2 => Some(["n", "m"][place]),
        Form::Square if place == 0 => Some("n"),
        Form::Vector if place == 0 && !has("log pass stage") => Some("n"),
        // A pitch or a second size is as long as a row.
        Form::Square if has("n size width pitch") => Some("n"),
        _ => None,
    }
}

/// The launches of a case.
struct OwnLaunch<'a> {
    own: &'a Declaration,
    args: Option<&'a OwnArgs>,
    ask: &'a Ask<'a>,
    wg: WorkGroup,
}

impl<'a> OwnLaunch<'a> {
    fn plan(&self) -> Planned {
        let shape = self.ask.case.shape;
        let multiple = self.own.multiple;
        let is_vector = self.ask.family.form == Form::Vector;
        let sides = if is_vector {
            vec![shape.n]
        } else {
            vec![shape.n, shape.m]
        };
        if let Some(side) = sides.iter().find(|side| !side.is_multiple_of(multiple)) {
            let next = side.next_multiple_of(multiple);
            return Err(Refusal::Size(format!(
                "its sizes must be multiples of {multiple}, as is said of it: {side} is none, {next} is"
            )));
        }
        if is_vector {
            self.over_vectors()
        } else {
            self.over_matrices()
        }
    }

    fn count(&self, formula: &Formula) -> Result<u64, Refusal> {
        formula
            .count(1, 1 << 40, &|name| self.size(name))
            .map_err(Refusal::Setting)
    }

    /// What a work-item takes along a side.
    fn each(&self, side: usize) -> Result<u64, Refusal> {
        self.own
            .elements
            .as_ref()
            .map_or(Ok(1), |elements| self.count(&elements[side]))
    }

    /// The macros: sizes of the group, and the tunables.
    fn set_up(&self, plan: &mut Builder<'a>) -> Result<(), Refusal> {
        plan.wg = self.wg;
        for name in ["WG", "WG_X", "WG_Y"] {
            plan.define(name, self.size(name).unwrap_or_default());
        }
        for tunable in self.ask.rung.tunables() {
            tunable.given(&self.ask.case.params)?;
            plan.set(tunable.name, self.size(tunable.name).unwrap_or_default());
        }
        for (name, text) in &self.own.defines {
            plan.define(name, macro_value(text, &|name| self.size(name)));
        }
        Ok(())
    }

    fn size(&self, name: &str) -> Option<u64> {
        let case = self.ask.case;
        match name {
            "n" => Some(case.shape.n),
            "m" => Some(case.shape.m),
            "size" => Some(case.dtype.size() as u64),
            "WG" => Some(self.wg.size() as u64),
            "WG_X" => Some(self.wg.0[0] as u64),
            "WG_Y" => Some(self.wg.0[1] as u64),
            other => {
                let tunable = self
                    .own
                    .tunables
                    .iter()
                    .find(|tunable| tunable.name.eq_ignore_ascii_case(other))?;
                let tunable = tunable.tunable();
                case.params
                    .get(tunable.name)
                    .map_or(tunable.default, String::as_str)
                    .parse()
                    .ok()
            }
        }
    }

    /// The local memory that is declared, and its bytes.
    fn local(&self) -> Result<(Option<Arg>, u64), Refusal> {
        let Some(elements) = &self.own.local else {
            return Ok((None, 0));
        };
        let bytes = self
            .count(elements)?
            .saturating_mul(self.ask.case.dtype.size() as u64);
        Ok((Some(Arg::Local(bytes as usize)), bytes))
    }

    /// What the kernel is given: inputs, the result and sizes, and local memory; or what is said of it. With the bytes of local
    /// memory.
    fn arguments(&self, plan: &mut Builder<'a>, result: Arg) -> Result<(Vec<Arg>, u64), Refusal> {
        let shape = self.ask.case.shape;
        let inputs = plan.inputs();
        let Some(own) = self.args else {
            let (local, bytes) = self.local()?;
            let sizes = if self.ask.family.form == Form::Matrix {
                vec![shape.n, shape.m]
            } else {
                vec![shape.n]
            };
            let sizes = sizes.into_iter().map(Arg::Index);
            return Ok((
                inputs
                    .into_iter()
                    .chain([result])
                    .chain(sizes)
                    .chain(local)
                    .collect(),
                bytes,
            ));
        };
        if own.is_zeroed {
            plan.restored = true;
            plan.zero(self.ask.target.max_wg, result);
        }
        let mut bytes = 0;
        let mut all = Vec::new();
        for arg in &own.args {
            let buffers = |name: &str| {
                if name == "out" {
                    Some(result)
                } else {
                    inputs.get(usize::from(name == "y")).copied()
                }
            };
            let given = bound(arg, self.ask.case.dtype, &|name| self.size(name), &buffers)?;
            bytes += if let Arg::Local(bytes) = given {
                bytes as u64
            } else {
                0
            };
            all.push(given);
        }
        Ok((all, bytes))
    }

    fn over_vectors(&self) -> Planned {
        let ask = self.ask;
        let n = ask.n();
        let mut each = self.each(0)?;
        let mut items = n.div_ceil(each);
        if let Some(asked) = &self.own.items {
            items = self.count(asked)?;
            each = n.div_ceil(items);
        }
        let grid = Grid::covering(self.wg.size(), items);
        let mut plan = match &*ask.family.name {
            "reduce" => reduce::begin(ask, grid)?,
            _ => Builder::linear(ask, shape::wrapping(ask.case.dtype), grid),
        };
        self.set_up(&mut plan)?;
        let of_items = self.own.items_leave_results == Some(true);
        let results = if of_items { grid.items() } else { grid.groups };
        let partials = plan.output(results);
        let (args, local_bytes) = self.arguments(&mut plan, partials)?;
        plan.launch_of(&self.own.kernel, [grid.groups as u64, 1, 1], self.wg, args);
        // However a group's items add up: no sum has more terms than the group has elements.
        let depth =
            each.saturating_mul(if of_items { 1 } else { self.wg.size() as u64 }) + HOST_FINISH;
        Ok(plan.plan_with(local_bytes, depth))
    }

    fn over_matrices(&self) -> Planned {
        let ask = self.ask;
        let shape = ask.case.shape;
        let across = self.each(0)?.saturating_mul(self.wg.0[0] as u64);
        let down = self.each(1)?.saturating_mul(self.wg.0[1] as u64);
        let mut plan = match ask.family.form {
            Form::Square => minplus::begin(ask, shape.n)?,
            _ => Builder::new(ask, shape::wrapping(ask.case.dtype), shape.elements()),
        };
        self.set_up(&mut plan)?;
        let result = plan.output(ask.family.problem.result(shape, &ask.case.params));
        let (args, local_bytes) = self.arguments(&mut plan, result)?;
        plan.launch_of(
            &self.own.kernel,
            [shape.n.div_ceil(across), shape.m.div_ceil(down), 1],
            self.wg,
            args,
        );
        Ok(plan.plan_with(local_bytes, 0))
    }
}

/// What stands in a kernel's text, as far as it helps to say why it is wrong. No compiler: words and brackets only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceTraits {
    pub has_local: bool,
    pub barriers: u64,
    /// Whether it compares an index with anything.
    pub is_guarded: bool,
    /// Whether a `return` stands before a barrier.
    pub returns_early: bool,
    pub parameters: Vec<String>,
    /// Macros that only its host can define.
    pub left_to_host: Vec<String>,
}

impl SourceTraits {
    /// Looks at a kernel's text; `kernel` is the function that is launched first.
    pub fn of(text: &str, kernel: &str) -> SourceTraits {
        let words = tokens(&without_comments(text));
        let count = |names: [&str; 2]| {
            words
                .iter()
                .filter(|word| names.contains(&word.as_str()))
                .count()
        };
        let source = CSource::new(text, &[]);
        let parameters = source.parameters(kernel).unwrap_or_default();
        let body = source.body(kernel).unwrap_or_default();
        SourceTraits {
            is_guarded: is_guarded(&source, kernel),
            has_local: count(["__local", "local"]) > 0,
            returns_early: body
                .iter()
                .position(|word| word == "return")
                .is_some_and(|at| body[at..].iter().any(|word| word == "barrier")),
            barriers: count(["barrier", "work_group_barrier"]) as u64,
            parameters: parameters
                .into_iter()
                .map(|parameter| parameter.text)
                .collect(),
            left_to_host: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(
        text: &str,
        form: Form,
        inputs: usize,
        said: Option<&str>,
    ) -> Result<Option<OwnArgs>, String> {
        let source = CSource::new(text, &[]);
        let own = Declaration {
            kernel: source.kernels()[0].clone(),
            args: said.map(str::to_owned),
            ..Default::default()
        };
        OwnArgs::of(&source, &own, form, inputs)
    }

    fn guess_of(text: &str, form: Form, inputs: usize) -> String {
        guessed(text, form, inputs, None).unwrap().unwrap().guess
    }

    #[test]
    fn other_orders_and_names_are_guessed() {
        for (text, form, inputs, words) in [
            (
                "kernel void r(global float *g_odata, global const float *g_idata, local float *s, unsigned int n) \
                 { g_odata[0] = g_idata[0]; }",
                Form::Vector,
                1,
                "g_odata = out, g_idata = in, s = local WG, n = n",
            ),
            (
                "kernel void d(int len, global float *a, global float *b, global float *c) { c[0] = a[0] * b[0]; }",
                Form::Vector,
                2,
                "len = n, a = x, b = y, c = out",
            ),
            (
                "kernel void t(global float *odata, global float *idata, int height, int width) \
                 { odata[0] = idata[0]; }",
                Form::Matrix,
                1,
                "odata = out, idata = in, height = m, width = n",
            ),
            (
                "kernel void r(global int *front, global int *back, local int *s, ulong length, int zero_elem) \
                 { load(s, front, length); back[0] = s[0]; }",
                Form::Vector,
                1,
                "front = in, back = out, s = local WG, length = n, zero_elem = 0",
            ),
        ] {
            assert!(
                guess_of(text, form, inputs).contains(words),
                "{}",
                guess_of(text, form, inputs)
            );
        }
    }

    #[test]
    fn what_is_not_clear_is_asked_for_in_one_line() {
        let text = "kernel void r(global float *a, global float *b, int n, float alpha) { b[0] = alpha * a[0]; }";
        let why = guessed(text, Form::Vector, 1, None).err().unwrap();
        assert!(
            why.contains("alpha") && why.contains("--args \"in, out, n, 2.5\""),
            "{why}"
        );
        let said = guessed(text, Form::Vector, 1, Some("in, out, ceil(n, 4), 2.5"))
            .unwrap()
            .unwrap();
        assert_eq!(
            (said.args.len(), said.dtype, said.guess),
            (4, Some(Dtype::F32), String::new())
        );
        for (words, why) in [
            ("in, out", "4 parameters (a, b, n, alpha)"),
            ("in, in, 1, 1", "0 arguments are the result"),
            ("out, 1, 1, 1", "the input"),
        ] {
            let said = guessed(text, Form::Vector, 1, Some(words)).err().unwrap();
            assert!(said.contains(why), "{said}");
        }
        let three = "kernel void r(global float *a, global float *b, global float *c, int n) { c[0] = a[0] + b[0]; }";
        let why = guessed(three, Form::Vector, 1, None).err().unwrap();
        assert!(
            why.contains("3 pointers")
                && why.contains("gpulab try FILE:r")
                && !why.contains("--args"),
            "{why}"
        );
    }

    #[test]
    fn suggested_words_are_taken() {
        for (text, form, inputs) in [
            (
                "kernel void r(global float *a, global float *b, int n) { a[0] = b[0]; b[0] = a[0]; }",
                Form::Vector,
                1,
            ),
            (
                "kernel void r(global float *a, global float *b, int n) { f(a, b, n); }",
                Form::Vector,
                1,
            ),
            (
                "kernel void r(global float *a, global float *b, global float *q, int n) { a[0] = b[0] = q[0] = n; }",
                Form::Vector,
                2,
            ),
            (
                "kernel void r(global float *a, global float *b, int seed, float f) { b[0] = f * a[0]; }",
                Form::Matrix,
                1,
            ),
        ] {
            let why = guessed(text, form, inputs, None)
                .err()
                .unwrap_or_else(|| panic!("{text} is guessed"));
            let words = why.split('"').nth(1).unwrap_or_else(|| panic!("{why}"));
            assert!(guessed(text, form, inputs, Some(words)).is_ok(), "{words}");
        }
    }

    #[test]
    fn kernels_in_gpulabs_words_are_left_alone() {
        let text =
            "kernel void r(global const T *in, global T *out, const INDEX n) { out[0] = in[0]; }";
        assert!(guessed(text, Form::Vector, 1, None).unwrap().is_none());
    }

    const KERNEL: &str =
        "__kernel void mine(__global const T *x, __global T *partials, const INDEX n)\n{\n}\n";

    fn read(lines: &str, form: Form) -> Result<Declaration, DeclarationError> {
        Declaration::read(&format!("{lines}\n{KERNEL}"), form, "a.cl")
    }

    #[test]
    fn each_declaration_is_taken() {
        let lines = "// gpulab: elements 4*ACC (as vectors)\n// gpulab: tune ACC 2 4 8\n// gpulab: local WG\n\
                     // gpulab: results item\n// gpulab: wg 128";
        let own = read(lines, Form::Vector).unwrap();
        let each = own.elements.unwrap()[0].value(&|name| (name == "ACC").then_some(8));
        assert_eq!(
            (each, own.wg, own.items_leave_results),
            (Ok(32), Some(WorkGroup::linear(128)), Some(true))
        );
        assert!(own.local.is_some() && own.tunables[0].name == "acc" && own.kernel == "mine");
    }

    #[test]
    fn matrices_count_columns_and_rows() {
        let own = read(
            "// gpulab: elements 1xROWS\n// gpulab: tune ROWS 4\n// gpulab: wg 32x8",
            Form::Matrix,
        )
        .unwrap();
        assert_eq!(own.wg, Some(WorkGroup([32, 8, 1])));
        let why = read("// gpulab: elements 4", Form::Matrix).unwrap_err().why;
        assert!(why.contains("columns x rows"), "{why}");
        assert!(
            read("// gpulab: results item", Form::Matrix).is_err(),
            "a matrix has a result an element"
        );
    }

    #[test]
    fn mistakes_name_their_line_and_what_would_be_right() {
        let error = read("\n// gpulab: element 4", Form::Vector).unwrap_err();
        assert_eq!(error.line, Some(2));
        assert!(error.why.contains("elements"), "{}", error.why);
        for wrong in [
            "elements 0",
            "elements four",
            "tune acc 1 2",
            "tune ACC",
            "tune ACC x",
            "wg 0",
            "wg 1x1x1x1",
            "local -1",
        ] {
            assert!(
                read(&format!("// gpulab: {wrong}"), Form::Vector).is_err(),
                "{wrong}"
            );
        }
        let why = read("// gpulab: elements ACC", Form::Vector)
            .unwrap_err()
            .why;
        assert!(why.contains("tune ACC"), "{why}");
        assert!(read("// gpulab: kernel other", Form::Vector).is_err());
    }

    #[test]
    fn of_several_kernels_one_is_named() {
        let two = format!(
            "{KERNEL}kernel __attribute__((reqd_work_group_size(64, 1, 1)))\nvoid second(__global T *p)\n{{ }}\n"
        );
        assert!(Declaration::read(&two, Form::Vector, "a.cl").is_err());
        let named = Declaration::read(
            &format!("// gpulab: kernel second\n{two}"),
            Form::Vector,
            "a.cl",
        )
        .unwrap();
        assert_eq!(named.kernel, "second");
        assert!(
            Declaration::read("// __kernel void no(void)\n", Form::Vector, "a.cl").is_err(),
            "a comment is no kernel"
        );
    }

    const TREE: &str = "
// barrier in a comment, __local too
__kernel void tree(__global const T *x, __global T *partials, const INDEX n)
{
    __local T scratch[256]; /* return; */
    const uint lid = get_local_id(0);
    scratch[lid] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = WG / 2; s > 0; s /= 2) {
        if (lid < s)
            scratch[lid] += scratch[lid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0) partials[get_group_id(0)] = scratch[0];
}";

    #[test]
    fn words_are_found_outside_of_comments_only() {
        let traits = SourceTraits::of(TREE, "tree");
        assert_eq!((traits.barriers, traits.has_local), (2, true));
        assert_eq!(
            traits.parameters,
            [
                "__global const T *x",
                "__global T *partials",
                "const INDEX n"
            ]
        );
        for text in [
            "",
            "/",
            "/*",
            "//",
            "}}}}",
            "((((",
            "if",
            "é\u{0}{",
            "void k(",
            "k(",
            "kernel void k(void) {}",
        ] {
            assert!(SourceTraits::of(text, "k").parameters.is_empty(), "{text}");
        }
    }
}
