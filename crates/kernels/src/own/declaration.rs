//! What a reader's kernel says of itself: the lines `// gpulab: ...` of its file.

use super::super::tunable::DeclaredMacro;
use super::super::{Family, Form};
use crate::tokens::without_comments;
use crate::values::work_group;
use gpulab_model::data::{Params, Shape};
use gpulab_model::plan::WorkGroup;
use std::collections::BTreeSet;

/// What begins a line that declares something.
const MARK: &str = "// gpulab:";

/// How a kernel is launched, as its file declares it.
#[derive(Debug)]
pub(crate) struct Declaration {
    /// The `__kernel` function that is launched first.
    pub(crate) kernel: String,
    /// One that joins the partial results of the first, in a single group.
    pub(crate) then: Option<String>,
    pub(crate) work: OwnWork,
    /// How many results they leave, of a problem with a single one.
    pub(crate) results: OwnResults,
    pub(crate) wg: Option<WorkGroup>,
    /// Elements of local memory that are handed over as the last argument.
    pub(crate) local: Option<Product>,
    /// Macros that may be set, swept and tuned.
    pub(crate) tunables: Vec<DeclaredMacro>,
    /// What its arguments are, in words, where it says so.
    pub(crate) args: Option<String>,
    pub(crate) multiple: u64,
    /// Whether it says what a work-item takes, and who leaves results.
    pub(crate) says_work: bool,
    pub(crate) says_results: bool,
    /// Macros that its host would set, and their values: a formula, or text.
    pub(crate) defines: Vec<(String, String)>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum OwnWork {
    /// Each takes so many elements: of vectors in a row, of matrices columns and rows.
    Elements([Product; 2]),
    /// So many, whatever the size.
    Items(Product),
}

/// How many results a launch leaves of a problem with a single one; the host joins them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OwnResults {
    Item,
    Group,
}

/// Numbers and macros that are multiplied, as in `4*ITEMS`.
#[derive(Debug, PartialEq)]
pub(crate) struct Product(Vec<Factor>);

#[derive(Debug, PartialEq)]
enum Factor {
    Number(u64),
    Macro(String),
}

/// A line of the file that says something wrong.
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

impl Product {
    fn one() -> Product {
        Product(vec![Factor::Number(1)])
    }

    pub(crate) fn value(&self, macros: &dyn Fn(&str) -> Option<u64>) -> Option<u64> {
        self.0.iter().try_fold(1u64, |product, factor| {
            let factor = match factor {
                Factor::Number(number) => *number,
                Factor::Macro(name) => macros(name)?,
            };
            product.checked_mul(factor).filter(|value| *value > 0)
        })
    }

    fn parse(text: &str) -> Option<Product> {
        text.split('*')
            .map(|text: &str| match text.parse::<u64>() {
                Ok(0) => None,
                Ok(number) => Some(Factor::Number(number)),
                Err(_) => is_macro(text).then(|| Factor::Macro(text.to_owned())),
            })
            .collect::<Option<Vec<Factor>>>()
            .map(Product)
    }

    fn macros(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|factor| match factor {
            Factor::Macro(name) => Some(name.as_str()),
            Factor::Number(_) => None,
        })
    }
}

impl Declaration {
    pub(crate) fn read(text: &str, form: Form) -> Result<Declaration, DeclarationError> {
        let mut own = Declaration {
            kernel: String::new(),
            then: None,
            work: OwnWork::Elements([Product::one(), Product::one()]),
            results: OwnResults::Group,
            wg: None,
            local: None,
            tunables: Vec::new(),
            args: None,
            multiple: 1,
            says_work: false,
            says_results: false,
            defines: Vec::new(),
        };
        let mut next = 1;
        for line in text.lines() {
            let number = next;
            // Lines are those of the reader's file, as compilers count them.
            let named = line.strip_prefix("#line ").and_then(|rest| rest.split(' ').next()?.parse().ok());
            next = named.unwrap_or(number + 1);
            let Some(words) = line.trim_start().strip_prefix(MARK) else { continue };
            own.take(words, form).map_err(|why| DeclarationError { line: Some(number), why })?;
        }
        let kernels = kernel_names(text);
        let whole = |why: String| DeclarationError { line: None, why };
        if own.kernel.is_empty() {
            let others = kernels.iter().filter(|name| Some(*name) != own.then.as_ref());
            match others.collect::<Vec<_>>()[..] {
                [] => return Err(whole("there is no `__kernel void name(...)` in it".into())),
                [only] => own.kernel.clone_from(only),
                _ => {
                    let names = kernels.join(", ");
                    return Err(whole(format!(
                        "it has several kernels, {names}: name one behind the file, as in mine.cl:{}, or in it by `{MARK} kernel \
                         {0}`",
                        kernels[0]
                    )));
                }
            }
        }
        for name in [Some(&own.kernel), own.then.as_ref()].into_iter().flatten() {
            if !kernels.contains(name) {
                return Err(whole(format!("there is no kernel {name} in it; it has {}", kernels.join(", "))));
            }
        }
        own.check_macros().map_err(whole)?;
        Ok(own)
    }

    /// Has each work-item leave a result.
    pub(super) fn take_items(&mut self) {
        self.results = OwnResults::Item;
    }

    /// Has each work-item take one vector of so many numbers.
    pub(super) fn take_lanes(&mut self, lanes: u64, form: Form) {
        if lanes > 1 && form == Form::Vector {
            self.work = OwnWork::Elements([Product(vec![Factor::Number(lanes)]), Product::one()]);
        }
    }

    fn take(&mut self, words: &str, form: Form) -> Result<(), String> {
        if let Some(args) = words.trim_start().strip_prefix("args ") {
            self.args = Some(args.trim().to_owned());
            return Ok(());
        }
        if let Some(define) = words.trim_start().strip_prefix("define ") {
            let (name, value) = define.trim().split_once([' ', '=']).unwrap_or((define.trim(), "1"));
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !is_name {
                return Err("define takes a name and a value, as in `define BLOCK_SIZE 16` or `define BLOCK WG`".into());
            }
            self.defines.push((name.to_owned(), value.trim().to_owned()));
            return Ok(());
        }
        // What stands in brackets is for people.
        let said = words.split('(').next().unwrap_or_default();
        let words: Vec<&str> = said.split_whitespace().collect();
        match words[..] {
            ["kernel", name] => self.kernel = name.into(),
            ["then", name] if form == Form::Vector => self.then = Some(name.into()),
            ["multiple", text] => {
                let multiple = text.parse().ok().filter(|multiple| (1..=1 << 20).contains(multiple));
                self.multiple = multiple.ok_or("multiple takes a number, as in `multiple 64`")?;
            }
            ["elements", text] => {
                self.says_work = true;
                self.work = OwnWork::Elements(elements(text, form).ok_or_else(|| example_of_elements(form))?);
            }
            ["items", text] if form == Form::Vector => {
                let items = Product::parse(text).ok_or("items takes a number, as in `items 65536`")?;
                self.work = OwnWork::Items(items);
            }
            ["results", who @ ("item" | "group")] if form == Form::Vector => {
                self.says_results = true;
                self.results = if who == "item" { OwnResults::Item } else { OwnResults::Group };
            }
            ["wg", text] => {
                let wg = work_group(text).ok().filter(|wg| wg.0[2] == 1);
                self.wg = Some(wg.ok_or("wg takes a size, as in `wg 256` or `wg 32x8`")?);
            }
            ["local", text] => {
                self.local =
                    Some(Product::parse(text).ok_or("local takes elements, as in `local WG` or `local 32*33`")?);
            }
            ["tune", name, ref values @ ..] if !values.is_empty() => self.tunables.push(tunable(name, values)?),
            _ => return Err(format!("`{}` is not a declaration; there is {}", said.trim(), known(form))),
        }
        Ok(())
    }

    /// Refuses macros that nobody sets.
    fn check_macros(&self) -> Result<(), String> {
        let work: Vec<&Product> = match &self.work {
            OwnWork::Elements(products) => products.iter().collect(),
            OwnWork::Items(product) => vec![product],
        };
        let used = work.into_iter().chain(&self.local).flat_map(Product::macros);
        let is_known = |name: &str| name == "WG" || self.tunables.iter().any(|t| t.name.eq_ignore_ascii_case(name));
        match used.into_iter().find(|name| !is_known(name)) {
            Some(name) => Err(format!("{name} is neither WG nor declared: add `{MARK} tune {name} 1 2 4`")),
            None => Ok(()),
        }
    }
}

/// The declarations that a file for such a family may have.
fn known(form: Form) -> &'static str {
    match form {
        Form::Vector => "kernel, args, define, multiple, elements, items, results, then, wg, local, tune",
        Form::Matrix | Form::Square => "kernel, args, define, multiple, elements, wg, local, tune",
    }
}

fn elements(text: &str, form: Form) -> Option<[Product; 2]> {
    match (form, text.split_once('x')) {
        (Form::Vector, _) => Some([Product::parse(text)?, Product::one()]),
        (_, Some((across, down))) => Some([Product::parse(across)?, Product::parse(down)?]),
        _ => None,
    }
}

fn example_of_elements(form: Form) -> String {
    match form {
        Form::Vector => "elements takes what a work-item reads, as in `elements 4` or `elements 4*ACC`".into(),
        _ => "elements takes a work-item's columns x rows, as in `elements 1x4` or `elements 1xROWS`".into(),
    }
}

/// `tune ROWS 1 2 4`: the first value is the default.
fn tunable(name: &str, values: &[&str]) -> Result<DeclaredMacro, String> {
    if !is_macro(name) || name == "WG" {
        return Err(format!("tune {name}: a macro's name in capitals is needed, as in `tune ROWS 1 2 4`"));
    }
    let numbers: Option<Vec<u64>> = values.iter().map(|value| value.parse().ok()).collect();
    numbers
        .map(|numbers| DeclaredMacro::new(name, &numbers))
        .ok_or_else(|| format!("tune {name}: its values must be whole numbers"))
}

fn is_macro(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_uppercase() || c == '_';
    text.starts_with(is_letter) && text.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

/// The names of a file's kernels: what stands before the bracket behind `__kernel ... void`.
pub(crate) fn kernel_names(text: &str) -> Vec<String> {
    let code = without_comments(text);
    let words: Vec<&str> =
        code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    let starts = words.iter().enumerate().filter(|(_, word)| ["__kernel", "kernel"].contains(word));
    let name = |(at, _): (usize, &&str)| {
        let void = words[at..].iter().position(|word| *word == "void")?;
        words.get(at + void + 1).map(|name| (*name).to_owned())
    };
    // Attributes may stand between `void` and the name.
    let mut names: Vec<String> = starts.filter_map(name).filter(|name| name != "__attribute__").collect();
    // One that conditionals choose among.
    let mut known = BTreeSet::new();
    names.retain(|name| known.insert(name.clone()));
    names
}

impl Declaration {
    /// The parameters of the kernel that is launched first, as they would be written.
    pub(crate) fn parameters(&self, family: &Family) -> Vec<String> {
        let inputs = family.problem.inputs(Shape { n: 1, m: 1 }, &Params::new()).len();
        let names: &[&str] = if inputs == 2 { &["x", "y"] } else { &["in"] };
        let pointers = names.iter().map(|name| format!("__global const T *{name}"));
        let sizes: &[&str] = if family.form == Form::Matrix { &["width", "height"] } else { &["n"] };
        let sizes = sizes.iter().map(|name| format!("const INDEX {name}"));
        let local = self.local.is_some().then(|| "__local T *scratch".to_owned());
        pointers.chain(["__global T *out".to_owned()]).chain(sizes).chain(local).collect()
    }

    /// The number that a macro has, where `params` set tunables.
    pub(crate) fn number(&self, name: &str, params: &Params, wg: WorkGroup) -> Option<u64> {
        if name == "WG" {
            return Some(wg.size() as u64);
        }
        let tunable = self.tunables.iter().find(|tunable| tunable.name.eq_ignore_ascii_case(name))?.tunable();
        params.get(tunable.name).map_or(tunable.default, String::as_str).parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "__kernel void mine(__global const T *x, __global T *partials, const INDEX n)\n{\n}\n";

    fn read(lines: &str, form: Form) -> Result<Declaration, DeclarationError> {
        Declaration::read(&format!("{lines}\n{KERNEL}"), form)
    }

    #[test]
    fn a_file_without_declarations_has_an_item_an_element_and_a_result_a_group() {
        let own = Declaration::read(KERNEL, Form::Vector).unwrap();
        assert_eq!((own.kernel.as_str(), own.results), ("mine", OwnResults::Group));
        assert_eq!(own.work, OwnWork::Elements([Product::one(), Product::one()]));
    }

    #[test]
    fn each_declaration_is_taken() {
        let lines = "// gpulab: elements 4*ACC (as vectors)\n// gpulab: tune ACC 2 4 8\n// gpulab: local WG\n\
                     // gpulab: results item\n// gpulab: wg 128";
        let own = read(lines, Form::Vector).unwrap();
        let OwnWork::Elements([each, _]) = &own.work else { panic!("{:?}", own.work) };
        let number = |params: &Params| each.value(&|name| own.number(name, params, WorkGroup::linear(128)));
        assert_eq!(number(&Params::new()), Some(8), "the first value is the default");
        assert_eq!(number(&Params::from([("acc".into(), "8".into())])), Some(32));
        assert_eq!((own.wg, own.results), (Some(WorkGroup::linear(128)), OwnResults::Item));
        assert!(own.local.is_some() && own.tunables[0].name == "acc");
    }

    #[test]
    fn matrices_count_columns_and_rows() {
        let own = read("// gpulab: elements 1xROWS\n// gpulab: tune ROWS 4\n// gpulab: wg 32x8", Form::Matrix).unwrap();
        assert_eq!(own.wg, Some(WorkGroup([32, 8, 1])));
        let why = read("// gpulab: elements 4", Form::Matrix).unwrap_err().why;
        assert!(why.contains("columns x rows"), "{why}");
        assert!(read("// gpulab: results item", Form::Matrix).is_err(), "a matrix has a result an element");
    }

    #[test]
    fn mistakes_name_their_line_and_what_would_be_right() {
        let error = read("\n// gpulab: element 4", Form::Vector).unwrap_err();
        assert_eq!(error.line, Some(2));
        assert!(error.why.contains("elements"), "{}", error.why);
        for wrong in
            ["elements 0", "elements four", "tune acc 1 2", "tune ACC", "tune ACC x", "wg 0", "wg 1x1x1x1", "local -1"]
        {
            assert!(read(&format!("// gpulab: {wrong}"), Form::Vector).is_err(), "{wrong}");
        }
        let why = read("// gpulab: elements ACC", Form::Vector).unwrap_err().why;
        assert!(why.contains("tune ACC"), "{why}");
        assert!(read("// gpulab: kernel other", Form::Vector).is_err());
    }

    #[test]
    fn of_several_kernels_one_is_named_or_the_second_joins() {
        let two = format!(
            "{KERNEL}kernel __attribute__((reqd_work_group_size(64, 1, 1)))\nvoid second(__global T *p)\n{{ }}\n"
        );
        assert!(Declaration::read(&two, Form::Vector).is_err());
        let named = Declaration::read(&format!("// gpulab: kernel second\n{two}"), Form::Vector).unwrap();
        assert_eq!(named.kernel, "second");
        let joined = Declaration::read(&format!("// gpulab: then second\n{two}"), Form::Vector).unwrap();
        assert_eq!((joined.kernel.as_str(), joined.then.as_deref()), ("mine", Some("second")));
        assert!(Declaration::read("// __kernel void no(void)\n", Form::Vector).is_err(), "a comment is no kernel");
    }
}
