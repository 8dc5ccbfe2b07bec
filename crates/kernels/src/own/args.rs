//! What a reader's kernel is given: in gpulab's order, as its file or its caller says, or as its parameters suggest.

use super::super::Form;
use super::super::described::{Formula, parts};
use super::super::signature::{AddressSpace, CSource, KernelParameter, ValueType};
use gpulab_model::data::Dtype;
use gpulab_model::plan::{ImageKind, Sampler};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum OwnArg {
    /// The input of this number, from 0.
    In(usize),
    Out {
        /// Whether it holds zeros before each run.
        is_zeroed: bool,
    },
    /// An image of the input of this number.
    InImage(usize, ImageKind),
    OutImage(ImageKind),
    Sampler(Sampler),
    /// A number of this type, of the sizes `n` (elements, or columns) and `m` (rows); without a type an index.
    Number(Formula, Option<ValueType>),
    /// So many elements of local memory, of this type; of the case's without one.
    Local(Formula, Option<ValueType>),
}

impl OwnArg {
    fn is_input(&self, index: usize) -> bool {
        matches!(self, OwnArg::In(of) | OwnArg::InImage(of, _) if *of == index)
    }

    fn is_result(&self) -> bool {
        matches!(self, OwnArg::Out { .. } | OwnArg::OutImage(_))
    }

    /// An input, or the result where there is no index, as its parameter takes it.
    fn data(index: Option<usize>, parameter: &KernelParameter) -> Result<OwnArg, String> {
        let kind = match parameter.space {
            AddressSpace::Image => Some(ImageKind::in_c(&parameter.type_name).ok_or_else(|| {
                format!(
                    "{} {} cannot be given: image1d_t, image2d_t and image3d_t can",
                    parameter.type_name, parameter.name
                )
            })?),
            _ => None,
        };
        Ok(match (index, kind) {
            (Some(index), Some(kind)) => OwnArg::InImage(index, kind),
            (Some(index), None) => OwnArg::In(index),
            (None, Some(kind)) => OwnArg::OutImage(kind),
            (None, None) => OwnArg::Out { is_zeroed: false },
        })
    }
}

/// The sampler where nobody says another.
const SAMPLER: &str = "sampler clamp_to_edge nearest";

/// What a kernel's arguments are, and what was guessed of them in words.
pub(super) struct OwnArgs {
    pub(super) args: Vec<OwnArg>,
    /// None where the parameters are those of gpulab's own kernels, or somebody said the arguments.
    pub(super) guess: Option<String>,
    /// The type of the input's elements, where it is written out.
    pub(super) dtype: Option<Dtype>,
    /// Numbers of an input's vector, as 4 of `float4 *`.
    pub(super) lanes: u64,
    /// Whether each work-item leaves a result: no kernel without local memory joins those of a group.
    pub(super) is_of_items: bool,
}

/// Names of a result, in kernels of many.
const RESULTS: &str = "out output odata g_odata res result results dst dest partial partials \
                       sum sums partialsums partial_sums b_out y_out c d_result group_result reduced d_odata";

/// The arguments of a kernel with these parameters: `said` in words, or guessed; none where gpulab's own order is meant.
pub(super) fn of(
    source: &CSource,
    kernel: &str,
    (form, inputs): (Form, usize),
    said: Option<&str>,
    has_local: bool,
) -> Result<Option<OwnArgs>, String> {
    let Some(parameters) = source.parameters(kernel) else { return Ok(None) };
    if let Some(said) = said {
        let said = words(said, &parameters, inputs)?;
        let result = said.args.iter().position(OwnArg::is_result).map_or("", |at| parameters[at].name.as_str());
        let is_of_items = leaves_items(source, kernel, &parameters, result);
        return Ok(Some(OwnArgs { is_of_items, ..said }));
    }
    if is_gpulabs(&parameters, form, inputs, has_local) {
        return Ok(None);
    }
    // Without a size among its parameters nothing is guessed: the driver's check then names what is missing.
    if !parameters.iter().any(is_whole) {
        return Ok(None);
    }
    guess(source, kernel, &parameters, form, inputs).map(Some)
}

/// Whether the parameters are in gpulab's order: inputs, result, sizes, local memory if it is declared.
fn is_gpulabs(parameters: &[KernelParameter], form: Form, inputs: usize, has_local: bool) -> bool {
    let sizes = if form == Form::Matrix { 2 } else { 1 };
    let count = inputs + 1 + sizes + usize::from(has_local);
    let is_of = |at: usize, parameter: &KernelParameter| match at {
        at if at <= inputs => parameter.space.is_data(),
        at if at <= inputs + sizes => parameter.value_type == Some(ValueType::Index),
        _ => parameter.space == AddressSpace::Local,
    };
    // A kernel in gpulab's words that has it wrong is told so by the driver's check.
    let speaks_ours = parameters.iter().any(|parameter| parameter.value_type == Some(ValueType::Index));
    speaks_ours || (parameters.len() == count && parameters.iter().enumerate().all(|(at, one)| is_of(at, one)))
}

fn words(said: &str, parameters: &[KernelParameter], inputs: usize) -> Result<OwnArgs, String> {
    let mut next = 0;
    let mut args = Vec::new();
    let all: Vec<&str> = parts(said).map(str::trim).collect();
    if all.len() != parameters.len() {
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        return Err(format!(
            "the kernel has {} parameters ({}), and --args gives {}",
            parameters.len(),
            names.join(", "),
            all.len()
        ));
    }
    for (word, parameter) in all.iter().zip(parameters) {
        let of = parameter.value_type.clone();
        args.push(match *word {
            "in" | "x" | "a" => {
                next += 1;
                OwnArg::data(Some(next - 1), parameter)?
            }
            "y" | "b" if inputs > 1 => OwnArg::data(Some(1), parameter)?,
            "out" => OwnArg::data(None, parameter)?,
            "out = 0" | "out=0" if parameter.space != AddressSpace::Image => OwnArg::Out { is_zeroed: true },
            word if word.split_whitespace().next() == Some("sampler") => {
                OwnArg::Sampler(Sampler::parse(word.trim_start_matches("sampler"))?)
            }
            "width" | "columns" => OwnArg::Number(Formula::parse("n")?, of),
            "height" | "rows" => OwnArg::Number(Formula::parse("m")?, of),
            word => match word.strip_prefix("local ") {
                Some(elements) => OwnArg::Local(Formula::parse(elements)?, of),
                None => OwnArg::Number(Formula::parse(word)?, of),
            },
        });
    }
    demand(&args, inputs)?;
    Ok(OwnArgs {
        dtype: dtype_of(&args, parameters),
        lanes: lanes_of(&args, parameters),
        is_of_items: false,
        args,
        guess: None,
    })
}

/// Each input once, and the result once.
fn demand(args: &[OwnArg], inputs: usize) -> Result<(), String> {
    let missing = (0..inputs).find(|index| !args.iter().any(|arg| arg.is_input(*index)));
    let names = if inputs == 1 { &["in"][..] } else { &["x", "y"] };
    match (missing, args.iter().filter(|arg| arg.is_result()).count()) {
        (Some(index), _) => Err(format!("no argument is the input: write {} in --args", names[index])),
        (None, 1) => Ok(()),
        (None, 0) => Err("no argument is the result: write out in --args".into()),
        (None, _) => Err("several arguments are the result: write out once in --args".into()),
    }
}

fn guess(
    source: &CSource,
    kernel: &str,
    parameters: &[KernelParameter],
    form: Form,
    inputs: usize,
) -> Result<OwnArgs, String> {
    let unsure = |why: &str| {
        let words = suggestion(source, kernel, parameters, form);
        format!("{why}: say what each is, as in --args \"{}\"", words.join(", "))
    };
    let buffers: Vec<&KernelParameter> = parameters.iter().filter(|parameter| parameter.space.is_data()).collect();
    if buffers.len() != inputs + 1 {
        let pointers =
            if inputs == 1 { "two pointers, an input and a result" } else { "three pointers, two inputs and a result" };
        return Err(format!(
            "kernel {kernel} has {} pointers where {pointers} are needed: make it a family of its own, which gpulab ladder \
             --from FILE:{kernel} begins",
            buffers.len()
        ));
    }
    let writes = |parameter: &&&KernelParameter| {
        let usage = source.usage(kernel, &parameter.name);
        !parameter.is_const && (parameter.space == AddressSpace::Image || usage.changes() || usage.is_handed_on)
    };
    let mut written: Vec<&&KernelParameter> = buffers.iter().filter(writes).collect();
    let stores = |parameter: &&KernelParameter| source.usage(kernel, &parameter.name).changes();
    // What a function is given is mostly read there, where the kernel itself stores elsewhere.
    if written.iter().filter(|parameter| stores(parameter)).count() == 1 {
        written.retain(|parameter| stores(parameter));
    }
    let is_result =
        |parameter: &&&&KernelParameter| RESULTS.split(' ').any(|name| name == parameter.name.to_lowercase());
    let result = match written[..] {
        [only] => only.name.clone(),
        _ => match written.iter().filter(is_result).collect::<Vec<_>>()[..] {
            [only] => only.name.clone(),
            _ => return Err(unsure(&format!("which pointer of kernel {kernel} is the result is not clear"))),
        },
    };
    let mut next = 0;
    let mut args = Vec::new();
    let mut shown = Vec::new();
    let mut sizes = 0;
    for parameter in parameters {
        let (arg, word) = match parameter.space {
            space if space.is_data() && parameter.name == result => (OwnArg::data(None, parameter)?, "out".to_owned()),
            space if space.is_data() => {
                next += 1;
                let word = if inputs == 1 { "in" } else { ["x", "y"][next - 1] };
                (OwnArg::data(Some(next - 1), parameter)?, word.to_owned())
            }
            AddressSpace::Sampler => {
                (OwnArg::Sampler(Sampler::parse(SAMPLER.trim_start_matches("sampler"))?), SAMPLER.to_owned())
            }
            AddressSpace::Local => {
                // As a tile with a column more, which does no harm where it is not needed.
                let elements = if form == Form::Vector { "WG" } else { "(WG_X + 1) * (WG_Y + 1)" };
                (OwnArg::Local(Formula::parse(elements)?, parameter.value_type.clone()), format!("local {elements}"))
            }
            AddressSpace::Value if is_whole(parameter) => {
                let word = size_word(&parameter.name, form, sizes);
                sizes += usize::from(!matches!(word, Some("0" | "1")));
                let Some(word) = word else {
                    return Err(unsure(&format!("what {} of kernel {kernel} is cannot be guessed", parameter.name)));
                };
                (OwnArg::Number(Formula::parse(word)?, parameter.value_type.clone()), word.to_owned())
            }
            _ => return Err(unsure(&format!("what {} of kernel {kernel} is cannot be guessed", parameter.name))),
        };
        args.push(arg);
        shown.push(format!("{} = {word}", parameter.name));
    }
    let is_of_items = leaves_items(source, kernel, parameters, &result);
    let guess = Some(format!("its arguments are taken for {} (--args says others)", shown.join(", ")));
    Ok(OwnArgs { dtype: dtype_of(&args, parameters), lanes: lanes_of(&args, parameters), is_of_items, args, guess })
}

fn is_whole(parameter: &KernelParameter) -> bool {
    matches!(&parameter.value_type, Some(ValueType::Number(scalar, 1)) if !scalar.is_float())
        || parameter.value_type == Some(ValueType::Index)
}

/// The size that a whole number is, by its name and its place among them.
fn size_word(name: &str, form: Form, place: usize) -> Option<&'static str> {
    let small = name.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| small.contains(part));
    match form {
        _ if has(&["offset", "start", "begin", "zero", "identity", "conj"]) => Some("0"),
        _ if small.starts_with("inc") || small.ends_with("inc") => Some("1"),
        Form::Matrix if has(&["height", "rows", "ny"]) || small == "h" || small == "m" => Some("m"),
        Form::Matrix if has(&["width", "col", "nx"]) || small == "w" || small == "n" => Some("n"),
        Form::Matrix if place < 2 => Some(["n", "m"][place]),
        Form::Square if place == 0 => Some("n"),
        Form::Vector if place == 0 && !has(&["log", "pass", "stage", "offset"]) => Some("n"),
        // A pitch or a second size is as long as a row.
        Form::Square if has(&["n", "size", "width", "pitch"]) => Some("n"),
        _ => None,
    }
}

/// Words for parameters, to be put right by who knows better: of the buffers one is the result.
fn suggestion(source: &CSource, kernel: &str, parameters: &[KernelParameter], form: Form) -> Vec<String> {
    let result = parameters
        .iter()
        .position(|one: &KernelParameter| {
            one.space.is_data()
                && !one.is_const
                && (one.space == AddressSpace::Image || source.usage(kernel, &one.name).changes())
        })
        .or(parameters.iter().rposition(|one| one.space.is_data()));
    parameters
        .iter()
        .enumerate()
        .map(|(at, one): (usize, &KernelParameter)| match one.space {
            _ if Some(at) == result => "out".into(),
            space if space.is_data() => "in".into(),
            AddressSpace::Sampler => SAMPLER.into(),
            AddressSpace::Local => "local WG".into(),
            AddressSpace::Value if is_whole(one) => size_word(&one.name, form, 0).unwrap_or("n").into(),
            _ => "2.5".into(),
        })
        .collect()
}

/// Whether each work-item leaves a result: without local memory none joins those of its group.
fn leaves_items(source: &CSource, kernel: &str, parameters: &[KernelParameter], result: &str) -> bool {
    let body = source.body(kernel).unwrap_or_default();
    !body.iter().any(|word| ["__local", "local", "barrier"].contains(&word.as_str()))
        && parameters.iter().all(|parameter| parameter.space != AddressSpace::Local)
        && !source.usage(kernel, result).is_accumulated
}

fn input<'a>(args: &[OwnArg], parameters: &'a [KernelParameter]) -> Option<&'a KernelParameter> {
    args.iter().zip(parameters).find(|(arg, _)| arg.is_input(0)).map(|(_, parameter)| parameter)
}

fn dtype_of(args: &[OwnArg], parameters: &[KernelParameter]) -> Option<Dtype> {
    match &input(args, parameters)?.value_type {
        // A sum of unsigned numbers has the bits of one of signed ones.
        Some(ValueType::Number(scalar, _)) => match scalar.name() {
            "u32" => Some(Dtype::I32),
            "u64" => Some(Dtype::I64),
            _ => scalar.dtype(),
        },
        _ => None,
    }
}

fn lanes_of(args: &[OwnArg], parameters: &[KernelParameter]) -> u64 {
    match input(args, parameters).and_then(|parameter| parameter.value_type.as_ref()) {
        Some(ValueType::Number(_, lanes)) => *lanes as u64,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(text: &str, form: Form, inputs: usize, said: Option<&str>) -> Result<Option<OwnArgs>, String> {
        let source = CSource::new(text, &[]);
        let kernel = source.kernels()[0].clone();
        of(&source, &kernel, (form, inputs), said, false)
    }

    fn guess_of(text: &str, form: Form, inputs: usize) -> String {
        guessed(text, form, inputs, None).unwrap().unwrap().guess.unwrap()
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
            assert!(guess_of(text, form, inputs).contains(words), "{}", guess_of(text, form, inputs));
        }
    }

    #[test]
    fn what_is_not_clear_is_asked_for_in_one_line() {
        let text = "kernel void r(global float *a, global float *b, int n, float alpha) { b[0] = alpha * a[0]; }";
        let why = guessed(text, Form::Vector, 1, None).err().unwrap();
        assert!(why.contains("alpha") && why.contains("--args \"in, out, n, 2.5\""), "{why}");
        let said = guessed(text, Form::Vector, 1, Some("in, out, ceil(n, 4), 2.5")).unwrap().unwrap();
        assert_eq!((said.args.len(), said.dtype, said.guess), (4, Some(Dtype::F32), None));
        for (words, why) in [
            ("in, out", "4 parameters (a, b, n, alpha)"),
            ("in, in, 1, 1", "no argument is the result"),
            ("out, 1, 1, 1", "the input"),
        ] {
            let said = guessed(text, Form::Vector, 1, Some(words)).err().unwrap();
            assert!(said.contains(why), "{said}");
        }
        let three = "kernel void r(global float *a, global float *b, global float *c, int n) { c[0] = a[0] + b[0]; }";
        let why = guessed(three, Form::Vector, 1, None).err().unwrap();
        assert!(
            why.contains("3 pointers") && why.contains("gpulab ladder --from FILE:r") && !why.contains("--args"),
            "{why}"
        );
    }

    #[test]
    fn suggested_words_are_taken() {
        for (text, form, inputs) in [
            ("kernel void r(global float *a, global float *b, int n) { a[0] = b[0]; b[0] = a[0]; }", Form::Vector, 1),
            ("kernel void r(global float *a, global float *b, int n) { f(a, b, n); }", Form::Vector, 1),
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
            let why = guessed(text, form, inputs, None).err().unwrap_or_else(|| panic!("{text} is guessed"));
            let words = why.split('"').nth(1).unwrap_or_else(|| panic!("{why}"));
            assert!(guessed(text, form, inputs, Some(words)).is_ok(), "{words}");
        }
    }

    #[test]
    fn kernels_in_gpulabs_words_are_left_alone() {
        let text = "kernel void r(global const T *in, global T *out, const INDEX n) { out[0] = in[0]; }";
        assert!(guessed(text, Form::Vector, 1, None).unwrap().is_none());
    }
}
