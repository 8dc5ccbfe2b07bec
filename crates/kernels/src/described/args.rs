//! How a kernel's arguments are written: `out f32 C[n*n] = 0`, `A[n*n] small 8`, `local float[WG]`, `n`, `0.5`, `{1.0, n}`; and
//! the data that buffers are filled with: a fill of gpulab's, or data with a structure that kernels rely on.

use super::formula::{Formula, is_name};
use crate::c_text::{ValueType, layout_of_letters};
use gpulab_model::Joined;
use gpulab_model::data::{self, Fill, Layout, NumberValue, Scalar};
use gpulab_model::plan::{PixelFormat, Sampler};

#[derive(Clone, Debug, PartialEq)]
pub enum DescribedArg {
    Buffer(String),
    /// A number; the type is the parameter's unless it is given.
    Number(Formula, Option<ValueType>),
    /// The numbers of a vector or of a struct; the type is the parameter's unless it is given.
    Numbers(Vec<Formula>, Option<ValueType>),
    /// So many elements of local memory; their type is the parameter's unless it is given.
    Local(Formula, Option<ValueType>),
    Sampler(Sampler),
}

impl DescribedArg {
    /// Gives it the type of its parameter, unless it has one.
    pub fn take_type(&mut self, parameter: &Option<ValueType>) {
        if let DescribedArg::Number(_, of)
        | DescribedArg::Numbers(_, of)
        | DescribedArg::Local(_, of) = self
        {
            *of = of.take().or_else(|| parameter.clone());
        }
    }

    pub fn formulas(&self) -> &[Formula] {
        match self {
            DescribedArg::Buffer(_) | DescribedArg::Sampler(_) => &[],
            DescribedArg::Number(formula, _) | DescribedArg::Local(formula, _) => {
                std::slice::from_ref(formula)
            }
            DescribedArg::Numbers(formulas, _) => formulas,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferRole {
    In,
    Out,
    /// It holds data before each run, and is checked afterwards.
    InOut,
    /// Only launches know of it.
    Scratch,
}

impl BufferRole {
    pub fn is_input(self) -> bool {
        matches!(self, BufferRole::In | BufferRole::InOut)
    }

    pub fn is_output(self) -> bool {
        matches!(self, BufferRole::Out | BufferRole::InOut)
    }
}

/// The type of a buffer's elements, as far as the file says it.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementName {
    /// That of the kernel's parameter.
    Parameter,
    /// `T`, the case's.
    Case,
    Number(Scalar),
    /// Of a struct, by its fields' letters.
    Letters(Layout),
    /// A name of OpenCL C, or of a type that the kernel's file defines.
    Named(String),
    /// Of an image's pixels.
    Pixels(PixelFormat),
}

/// A buffer, as an argument declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    pub name: String,
    pub role: BufferRole,
    pub element: ElementName,
    pub length: Formula,
    /// The factors that the length is written as: slices, rows, columns.
    pub sides: Vec<Formula>,
    /// What is in it before a run; of outputs, whether it is zeros.
    pub content: Content,
    /// Its elements, once the kernels are known.
    pub resolved: Option<ValueType>,
}

impl Declared {
    /// Whether its elements may not be changed one by one.
    pub fn is_frozen(&self) -> bool {
        match &self.content {
            Content::Fill(kind, is_frozen) => *is_frozen || kind.has_structure(),
            Content::File(_, is_frozen) => *is_frozen,
            Content::Noise | Content::Zeros | Content::Values(_) => true,
        }
    }

    pub fn file(&self) -> Option<&str> {
        if let Content::File(name, _) = &self.content {
            Some(name)
        } else {
            None
        }
    }

    pub fn kind(&self) -> Option<&FillKind> {
        if let Content::Fill(kind, _) = &self.content {
            Some(kind)
        } else {
            None
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Nothing that a kernel may rely on.
    Noise,
    Zeros,
    /// Data of a kind, and whether they are frozen: never changed to see what a kernel reads.
    Fill(FillKind, bool),
    /// What a file holds, and whether it is frozen.
    File(String, bool),
    /// These numbers, again and again.
    Values(Vec<Formula>),
}

/// Understands an argument; a declaration comes with the name that later ones may use.
pub fn parse_arg(text: &str) -> Result<(DescribedArg, Option<Declared>), String> {
    let text = text.trim();
    let plain = |arg| Ok((arg, None));
    if let Some(rest) = text.strip_prefix("local ") {
        let Some((of, count)) = rest.split_once('[') else {
            return plain(DescribedArg::Local(Formula::parse(rest)?, None));
        };
        let count = count
            .trim_end()
            .strip_suffix(']')
            .ok_or_else(|| bracket(text))?;
        // A name may stand behind the type, for who reads the file.
        let of = of.split_whitespace().next().map(number_type).transpose()?;
        return plain(DescribedArg::Local(product(&Formula::list(count)?)?, of));
    }
    if text == "sampler" || text.starts_with("sampler ") {
        return plain(DescribedArg::Sampler(Sampler::parse(
            text.trim_start_matches("sampler"),
        )?));
    }
    let is_struct = text.starts_with("struct ") && (text.contains('{') || !text.contains('['));
    if is_struct || text.starts_with('{') {
        return numbers(text).and_then(plain);
    }
    if text.starts_with('(') && text.ends_with(')') && Formula::parse(text).is_err() {
        let inner = &text[1..text.len() - 1];
        return plain(DescribedArg::Numbers(Formula::list(inner)?, None));
    }
    if text.contains('[') {
        let declared = declaration(text)?;
        return Ok((DescribedArg::Buffer(declared.name.clone()), Some(declared)));
    }
    let typed = text
        .split_once(' ')
        .and_then(|(word, rest)| Some((ValueType::Number(Scalar::named(word)?, 1), rest)));
    match typed {
        Some((of, rest)) => plain(DescribedArg::Number(Formula::parse(rest)?, Some(of))),
        None => plain(DescribedArg::Number(Formula::parse(text)?, None)),
    }
}

fn bracket(text: &str) -> String {
    format!("{text:?}: a `]` is missing")
}

/// Lengths in several dimensions, multiplied.
fn product(sides: &[Formula]) -> Result<Formula, String> {
    match sides {
        [only] => Ok(only.clone()),
        all => Formula::parse(
            &all.iter()
                .map(|side| format!("({})", side.text))
                .joined(" * "),
        ),
    }
}

fn number_type(word: &str) -> Result<ValueType, String> {
    Scalar::named(word)
        .or_else(|| Scalar::in_c(word))
        .map(|scalar| ValueType::Number(scalar, 1))
        .ok_or_else(|| {
            format!(
                "{word:?} is no type of numbers: write f32, i32, u8, ... or float, int, uchar, ..."
            )
        })
}

/// `struct <ffi> {1.0, 2.0, n}`, or without the layout, which is then the parameter's.
fn numbers(text: &str) -> Result<DescribedArg, String> {
    let rest = text.strip_prefix("struct ").unwrap_or(text).trim();
    let (layout, rest) = match rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some((letters, rest)) => (
            Some(ValueType::Struct(layout_of_letters(letters)?)),
            rest.trim(),
        ),
        None => (None, rest),
    };
    let inner = rest
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .unwrap_or(rest);
    let values = Formula::list(inner).map_err(|why| format!("{text:?}: {why}"))?;
    Ok(DescribedArg::Numbers(values, layout))
}

/// `[role] [type] name[length] [content]`.
fn declaration(text: &str) -> Result<Declared, String> {
    let wrong = |why: &str| {
        format!("{text:?}: {why}: write it as in \"out f32 C[n] = 0\" or \"A[n, n] small 8\"")
    };
    let (before, rest) = text.split_once('[').ok_or_else(|| bracket(text))?;
    let (length, content) = rest.split_once(']').ok_or_else(|| bracket(text))?;
    if before.contains('?') {
        return Err(format!(
            "{text:?} has a question mark: say in, out or inout, and a type or format that is not known"
        ));
    }
    let mut words: Vec<&str> = before.split_whitespace().collect();
    let name = words
        .pop()
        .filter(|name| is_name(name))
        .ok_or_else(|| wrong("a buffer needs a name"))?;
    let role = match words.first() {
        Some(&"in") => Some(BufferRole::In),
        Some(&"out") => Some(BufferRole::Out),
        Some(&"inout") => Some(BufferRole::InOut),
        Some(&"scratch") => Some(BufferRole::Scratch),
        _ => None,
    };
    if role.is_some() {
        words.remove(0);
    }
    let role = role.unwrap_or(if name == "out" {
        BufferRole::Out
    } else {
        BufferRole::In
    });
    let of = words.join(" ");
    let element = match of.as_str() {
        "" => ElementName::Parameter,
        image if image == "image" || image.starts_with("image ") => {
            let format = PixelFormat::named(image.trim_start_matches("image").trim());
            ElementName::Pixels(format.ok_or_else(|| pixels(text))?)
        }
        "T" => ElementName::Case,
        _ => match (
            Scalar::named(&of),
            of.strip_prefix("struct <")
                .and_then(|rest| rest.strip_suffix('>')),
        ) {
            (Some(scalar), _) => ElementName::Number(scalar),
            (_, Some(letters)) => ElementName::Letters(layout_of_letters(letters)?),
            _ => ElementName::Named(of),
        },
    };
    let content = content_of(content.trim(), role).map_err(|why| wrong(&why))?;
    let sides = Formula::list(length)?;
    Ok(Declared {
        name: name.to_owned(),
        role,
        element,
        length: product(&sides)?,
        sides,
        content,
        resolved: None,
    })
}

fn pixels(text: &str) -> String {
    format!(
        "{text:?}: an image needs the format of its pixels, which is r, rg or rgba, and 8, 16 (read as floats from 0 to 1), 16f, \
         32f, 8i, 16i, 32i, 8ui, 16ui or 32ui: write it as in \"image rgba8 picture[m, n]\""
    )
}

fn content_of(text: &str, role: BufferRole) -> Result<Content, String> {
    let (text, is_frozen) = match text.strip_suffix("frozen") {
        Some(rest) => (rest.trim(), true),
        None => (text, false),
    };
    match (role, text) {
        (BufferRole::Out | BufferRole::Scratch, "") => Ok(Content::Noise),
        (BufferRole::Out | BufferRole::Scratch, "= 0" | "=0" | "0") => Ok(Content::Zeros),
        (BufferRole::Out, _) => Err(format!(
            "an output has `= 0` or nothing behind it, and not {text:?} (an inout has data)"
        )),
        (BufferRole::Scratch, _) => Err("scratch has `= 0` or nothing behind it".into()),
        (BufferRole::In | BufferRole::InOut, _) => {
            match (text.strip_prefix("file "), text.strip_prefix('=')) {
                (Some(name), _) => Ok(Content::File(name.trim().to_owned(), is_frozen)),
                (_, Some(values)) => {
                    let values = values.trim();
                    let inner = values
                        .strip_prefix('{')
                        .and_then(|rest| rest.strip_suffix('}'));
                    Formula::list(inner.unwrap_or(values)).map(Content::Values)
                }
                _ => Ok(Content::Fill(
                    FillKind::parse(if text.is_empty() { "random" } else { text })?,
                    is_frozen,
                )),
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum FillKind {
    Random,
    Positive,
    /// Up to so many, of both signs.
    Small(Formula),
    /// From 0 on, below this.
    Below(Formula),
    /// Random numbers in ascending order.
    Sorted,
    /// Each of 0 to the length less one, once.
    Permutation,
    /// From 0 on, each up to so many more than the one before: where the rows of a sparse matrix begin.
    Offsets(Formula),
}

const KINDS: &str = "random, positive, small 8, below 256, sorted, permutation, offsets 8";

impl FillKind {
    pub fn parse(text: &str) -> Result<FillKind, String> {
        let (word, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let most = || {
            Formula::parse(rest)
                .map_err(|_| format!("fill \"{text}\": there is no number behind {word}"))
        };
        match (word, rest) {
            ("random", "") => Ok(FillKind::Random),
            ("positive", "") => Ok(FillKind::Positive),
            ("sorted", "") => Ok(FillKind::Sorted),
            ("permutation", "") => Ok(FillKind::Permutation),
            ("small", _) => most().map(FillKind::Small),
            ("below", _) => most().map(FillKind::Below),
            ("offsets", _) => most().map(FillKind::Offsets),
            ("ones", "") => Err(same(text)),
            _ => Err(format!("there is no fill {text:?}; there is {KINDS}")),
        }
    }

    pub fn formula(&self) -> Option<&Formula> {
        match self {
            FillKind::Small(most) | FillKind::Below(most) | FillKind::Offsets(most) => Some(most),
            _ => None,
        }
    }

    /// Whether one element may not be changed without the others.
    pub fn has_structure(&self) -> bool {
        matches!(
            self,
            FillKind::Sorted | FillKind::Permutation | FillKind::Offsets(_)
        )
    }

    /// The fill whose elements it has, where names have these values.
    pub fn fill(&self, names: &dyn Fn(&str) -> Option<u64>) -> Result<Fill, String> {
        // So many are exact in every element type.
        let most = |formula: &Formula| formula.count(1, 1 << 24, names);
        Ok(match self {
            FillKind::Positive => Fill::Positive,
            FillKind::Small(formula) => Fill::Exact(most(formula)?),
            FillKind::Below(formula) => Fill::Below(most(formula)?),
            FillKind::Offsets(formula) => Fill::Below(most(formula)? + 1),
            FillKind::Random | FillKind::Sorted | FillKind::Permutation => Fill::Real,
        })
    }

    /// Refuses data that tell no kernels apart, at whatever size.
    pub fn demand_difference(&self, names: &dyn Fn(&str) -> Option<u64>) -> Result<(), String> {
        match (self, self.fill(names)?) {
            (FillKind::Below(formula), Fill::Below(1)) => {
                Err(same(&format!("below {}", formula.text)))
            }
            _ => Ok(()),
        }
    }

    /// The bytes of `len` numbers of a type, or of structs.
    pub fn generate(
        &self,
        fill: Fill,
        layout: &Layout,
        seed: u64,
        stream: u64,
        len: usize,
    ) -> Vec<u8> {
        let plain = || layout.generate(fill, seed, stream, 0, len);
        let Some(scalar) = layout.scalar() else {
            return plain();
        };
        match (self, fill) {
            (FillKind::Sorted, _) => {
                let bytes = plain();
                let mut numbers: Vec<NumberValue> = bytes
                    .chunks(scalar.size())
                    .map(|number| scalar.read(number))
                    .collect();
                numbers.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
                numbers
                    .into_iter()
                    .filter_map(|number| scalar.bytes(number))
                    .flatten()
                    .collect()
            }
            (FillKind::Permutation, _) => {
                let mut places: Vec<u64> = (0..len as u64).collect();
                places.sort_by_key(|place| data::draw(seed ^ stream, *place));
                places
                    .into_iter()
                    .flat_map(|number| cut(scalar, number))
                    .collect()
            }
            (FillKind::Offsets(_), Fill::Below(end)) => {
                let mut bytes = Vec::new();
                let mut sum = 0;
                for place in 0..len as u64 {
                    bytes.extend(cut(scalar, sum));
                    sum += data::draw(data::draw(seed, stream), place) % end;
                }
                bytes
            }
            _ => plain(),
        }
    }
}

fn same(text: &str) -> String {
    format!(
        "fill {text:?} makes all elements the same, so a kernel that never reads them would pass: choose random, \
         positive, small 8 or below 256"
    )
}

fn value(number: NumberValue) -> f64 {
    match number {
        NumberValue::Whole(whole) => whole as f64,
        NumberValue::Real(real) => real,
    }
}

/// The bytes of a whole number; its upper bits are cut where the type is too small.
fn cut(scalar: Scalar, number: u64) -> Vec<u8> {
    let kept = if scalar.is_float() || scalar.size() == 8 {
        number
    } else {
        number & ((1 << (8 * scalar.size() - 1)) - 1)
    };
    scalar
        .bytes(NumberValue::Whole(kept.into()))
        .unwrap_or_else(|| vec![0; scalar.size()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(text: &str) -> Declared {
        parse_arg(text).unwrap().1.unwrap()
    }

    #[test]
    fn buffers_are_declared_where_they_are_used() {
        let c = declared("out f32 C[n, n] = 0");
        assert_eq!(
            (c.role, c.length.text.as_str(), c.content),
            (BufferRole::Out, "(n) * (n)", Content::Zeros)
        );
        assert_eq!(
            (c.name.as_str(), c.element),
            ("C", ElementName::Number(Scalar::F32))
        );
        let a = declared("A[n*n] small 8");
        let fill =
            |words: &str, is_frozen| Content::Fill(FillKind::parse(words).unwrap(), is_frozen);
        assert_eq!(
            (a.role, a.element, a.content),
            (
                BufferRole::In,
                ElementName::Parameter,
                fill("small 8", false)
            )
        );
        assert_eq!(
            declared("i32 rows[n+1] offsets 8 frozen").content,
            fill("offsets 8", true)
        );
        assert_eq!(declared("inout D[n]").content, fill("random", false));
        assert_eq!(
            declared("struct <ffi> bodies[n]").element,
            ElementName::Letters(layout_of_letters("ffi").unwrap())
        );
        assert_eq!(
            declared("unsigned int x[4]").element,
            ElementName::Named("unsigned int".into())
        );
        let image = declared("out image rgba8 picture[m, n]");
        let bytes = PixelFormat::named("rgba8").unwrap();
        assert_eq!(
            (image.role, image.element, image.sides.len()),
            (BufferRole::Out, ElementName::Pixels(bytes), 2)
        );
        let file = Content::File("x.npy".into(), false);
        assert_eq!(declared("x[n] file x.npy").content, file);
        assert_eq!(
            declared("scratch sums[ceil(n, WG)]").role,
            BufferRole::Scratch
        );
    }

    #[test]
    fn values_stand_in_place() {
        let formula = |text: &str| Formula::parse(text).unwrap();
        let values = |text: &str| declared(text).content;
        assert_eq!(values("w[1] = n"), Content::Values(vec![formula("n")]));
        let three = ["1", "-2.5", "n + 1"].map(formula).to_vec();
        assert_eq!(
            values("inout w[3] = {1, -2.5, n + 1}"),
            Content::Values(three)
        );
    }

    #[test]
    fn other_arguments_are_numbers_and_local_memory() {
        let arg = |text: &str| parse_arg(text).unwrap().0;
        let formula = |text: &str| Formula::parse(text).unwrap();
        let number = |scalar| ValueType::Number(scalar, 1);
        assert_eq!(arg("n"), DescribedArg::Number(formula("n"), None));
        assert_eq!(
            arg("u64 2 * n"),
            DescribedArg::Number(formula("2 * n"), Some(number(Scalar::U64)))
        );
        assert_eq!(arg("-0.5"), DescribedArg::Number(formula("-0.5"), None));
        assert_eq!(
            arg("(n + 1) * 2"),
            DescribedArg::Number(formula("(n + 1) * 2"), None)
        );
        assert_eq!(
            arg("(1, 2)"),
            DescribedArg::Numbers(vec![formula("1"), formula("2")], None)
        );
        let layout = ValueType::Struct(layout_of_letters("fi").unwrap());
        assert_eq!(
            arg("struct <fi> {0.5, n}"),
            DescribedArg::Numbers(vec![formula("0.5"), formula("n")], Some(layout))
        );
        assert_eq!(
            arg("sampler clamp"),
            DescribedArg::Sampler(Sampler::parse("clamp").unwrap())
        );
        assert_eq!(
            arg("local 4 * WG"),
            DescribedArg::Local(formula("4 * WG"), None)
        );
        assert_eq!(
            arg("local float[WG]"),
            DescribedArg::Local(formula("WG"), Some(number(Scalar::F32)))
        );
    }

    #[test]
    fn mistakes_say_what_would_be_right() {
        for (text, why) in [
            ("out C[n", "`]` is missing"),
            ("? C[n]", "question mark: say in, out or inout"),
            ("[n]", "needs a name"),
            ("out C[n] small 8", "an inout has data"),
            ("A[n] = {1, }", "missing"),
            ("local bogus[4]", "no type of numbers"),
            ("struct <fx> {1}", "'x'"),
            ("A[n +]", "missing"),
            ("", "missing"),
            ("image picture[m, n]", "needs the format of its pixels"),
            (
                "image rgb8 picture[m, n]",
                "write it as in \"image rgba8 picture[m, n]\"",
            ),
            ("sampler blurred", "no \"blurred\""),
        ] {
            let said = parse_arg(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    fn numbers(text: &str, scalar: Scalar, len: usize) -> Vec<f64> {
        let kind = FillKind::parse(text).unwrap();
        let fill = kind.fill(&|name| (name == "n").then_some(5)).unwrap();
        let bytes = kind.generate(fill, &scalar.into(), 7, 1, len);
        bytes
            .chunks(scalar.size())
            .map(|number| value(scalar.read(number)))
            .collect()
    }

    #[test]
    fn structure_is_as_it_is_named() {
        assert!(
            numbers("sorted", Scalar::F32, 100).is_sorted()
                && numbers("sorted", Scalar::I64, 100).is_sorted()
        );
        let mut places = numbers("permutation", Scalar::U32, 100);
        assert!(!places.is_sorted());
        places.sort_by(f64::total_cmp);
        assert_eq!(places, (0..100).map(f64::from).collect::<Vec<_>>());
        let offsets = numbers("offsets 3", Scalar::I32, 100);
        assert_eq!(offsets[0], 0.0);
        assert!(
            offsets
                .windows(2)
                .all(|pair| (0.0..=3.0).contains(&(pair[1] - pair[0])))
        );
        assert!(offsets.windows(2).any(|pair| pair[1] - pair[0] == 3.0));
        assert!(
            numbers("below n", Scalar::U8, 100)
                .iter()
                .all(|number| (0.0..5.0).contains(number))
        );
    }

    #[test]
    fn what_tells_no_kernels_apart_is_refused() {
        let names = |_: &str| None;
        assert!(FillKind::parse("ones").unwrap_err().contains("never reads"));
        let below = FillKind::parse("below 1").unwrap();
        assert!(
            below
                .demand_difference(&names)
                .unwrap_err()
                .contains("never reads")
        );
        assert!(FillKind::parse("small").unwrap_err().contains("no number"));
        assert!(
            FillKind::parse("little")
                .unwrap_err()
                .contains("there is random")
        );
        assert!(FillKind::parse("small 0").unwrap().fill(&names).is_err());
    }
}
