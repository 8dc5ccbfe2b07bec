//! The beginnings of a family's file for somebody else's kernel: what its text says is filled in, and what only its host
//! knows is a question mark.

use super::description::taken;
use crate::c_text::{ValueType, is_identifier};
use crate::signature::{AddressSpace, CSource, KernelParameter, Usage, closing};
use gpulab_model::plan::ImageKind;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A file for a kernel of a text, which stands in `file`.
pub fn draft(text: &str, file: &str, kernel: Option<&str>) -> Result<String, String> {
    let mut source = CSource::new(text, &[]);
    let kernels = source.kernels();
    let kernel = match (kernel, &kernels[..]) {
        (Some(name), all) if all.iter().any(|known| known == name) => name.to_owned(),
        (Some(name), all) => {
            return Err(format!(
                "there is no kernel {name} in {file}; it has {}",
                all.join(", ")
            ));
        }
        (None, [only]) => only.clone(),
        (None, []) => return Err(format!("there is no kernel in {file}")),
        (None, all) => {
            return Err(format!(
                "{file} has several kernels: name one, as in {file}:{}; it has {}",
                all[0],
                all.join(", ")
            ));
        }
    };
    let dimensions = dimensions(source.body(&kernel).unwrap_or_default());
    let guesses = source.guesses(dimensions, "float");
    source.define(&guesses);
    let parameters = source.parameters(&kernel).unwrap_or_default();
    // Writing to a String cannot fail.
    let mut out = String::new();
    let _ = writeln!(
        out,
        "# A ladder for {kernel}, as far as its text says. Each ? is yours to fill in."
    );
    let named = if kernels.len() == 1 {
        file.to_owned()
    } else {
        format!("{file}:{kernel}")
    };
    let _ = writeln!(out, "kernel = {named:?}");
    let body = source.body(&kernel).unwrap_or_default();
    let places = places(body);
    let mut usages: Vec<Usage> = parameters
        .iter()
        .map(|parameter| source.usage(&kernel, &parameter.name))
        .collect();
    // A kernel writes something: where nothing is seen to be written, the only buffer that can be.
    let mut candidates = (parameters.iter().zip(&mut usages))
        .filter(|(parameter, _)| parameter.space == AddressSpace::Global && !parameter.is_const);
    if let (Some((_, only)), None) = (candidates.next(), candidates.next()) {
        *only = match only.changes() {
            true => *only,
            false => Usage {
                is_written: true,
                ..Usage::default()
            },
        };
    }
    let args: Vec<DraftArg> = parameters
        .iter()
        .zip(usages)
        .map(|(parameter, usage)| {
            let length = length(body, &places, &parameter.name, dimensions);
            let is_bound = is_bound(body, &places, &parameter.name);
            draft_arg(parameter, usage, &length, is_bound)
        })
        .collect();
    let has_group = args.iter().any(|arg| arg.text.contains(A_GROUP));
    write_head(&mut out, &source, &kernel, (dimensions, guesses), has_group);
    out.push_str("args   = [\n");
    let width = args.iter().map(|arg| arg.text.len()).max().unwrap_or(0) + 3;
    for (arg, parameter) in args.iter().zip(&parameters) {
        let quoted = format!("{:?},", arg.text);
        let _ = writeln!(
            out,
            "  {quoted:width$} # {} {}{}",
            parameter.type_name, parameter.name, arg.comment
        );
    }
    out.push_str("]\n");
    let outputs: Vec<String> = args
        .iter()
        .filter_map(|arg| arg.output.as_ref())
        .map(|name| format!("{name} = ?"))
        .collect();
    let _ = writeln!(out, "check  = \"numpy: {}\"", outputs.join("; "));
    Ok(out)
}

/// The lines of a kernel's file that are not of one argument.
fn write_head(
    out: &mut String,
    source: &CSource,
    kernel: &str,
    (dimensions, mut macros): (usize, BTreeMap<String, String>),
    has_group: bool,
) {
    let (form, n, items) = match dimensions {
        1 => ("", 1 << 20, "n"),
        2 => ("form   = \"square\"\n", 1024, "n, n"),
        _ => ("", 64, "n, n, n"),
    };
    let _ = writeln!(out, "{form}n      = {n}");
    macros.extend(
        source
            .host_names()
            .into_iter()
            .map(|name| (name, "?".to_owned())),
    );
    if !macros.is_empty() {
        let all: Vec<String> = macros
            .iter()
            .map(|(name, value)| format!("{name} = {value:?}"))
            .collect();
        let _ = writeln!(out, "define = {{ {} }}", all.join(", "));
    }
    let usual = [256, 16, 8][dimensions - 1];
    let wg = match source.required_group(kernel) {
        Some(required) => Some(required.to_string()),
        None => ["", "16x16", "8x8x4"]
            .get(dimensions - 1)
            .filter(|wg| !wg.is_empty())
            .map(|wg| (*wg).to_owned()),
    };
    let is_guarded = is_guarded(source, kernel);
    if !is_guarded {
        let _ = writeln!(
            out,
            "multiple = {usual}  # no comparison of an index with a size was seen"
        );
    }
    if let Some(wg) = wg.or((!is_guarded || has_group).then(|| usual.to_string())) {
        let _ = writeln!(out, "wg     = {wg:?}");
    }
    let _ = writeln!(out, "items  = {items:?}  # work-items; or groups = ...");
}

struct DraftArg {
    text: String,
    comment: String,
    /// The name of the output that it is.
    output: Option<String>,
}

fn draft_arg(parameter: &KernelParameter, usage: Usage, length: &str, is_bound: bool) -> DraftArg {
    let name = &free_name(&parameter.name);
    // The group's size is none of a buffer's; an array says its own.
    let own = parameter.text.split_once('[');
    let own = own.map(|(_, behind)| behind.trim_matches([']', ' ']));
    let length = match own.filter(|own| !own.is_empty()) {
        Some(own) => own,
        None if length.contains("WG") && parameter.space != AddressSpace::Local => "?",
        None => length,
    };
    let plain = |text: String, comment: &str| DraftArg {
        text,
        comment: comment.to_owned(),
        output: None,
    };
    let unknown = if parameter.value_type.is_none() {
        "? "
    } else {
        ""
    };
    let comment = if parameter.value_type.is_none() {
        ": its type is not known here"
    } else {
        ""
    };
    match parameter.space {
        // Behind another name it may be written.
        AddressSpace::Global
            if !parameter.is_const
                && usage
                    == Usage {
                        is_handed_on: true,
                        ..Usage::default()
                    } =>
        {
            plain(format!("? {name}[{length}]"), ": in, out or inout?")
        }
        AddressSpace::Global | AddressSpace::Constant if parameter.is_const || !usage.changes() => {
            plain(
                format!("{unknown}{name}[{length}]{}", data_of(parameter)),
                comment,
            )
        }
        AddressSpace::Global | AddressSpace::Constant => {
            let (role, content) = match usage {
                Usage {
                    is_accumulated: true,
                    is_read: false,
                    is_written: false,
                    ..
                } => ("out", " = 0"),
                Usage {
                    is_updated: true, ..
                }
                | Usage { is_read: true, .. } => ("inout", ""),
                _ => ("out", ""),
            };
            let text = format!("{role} {unknown}{name}[{length}]{content}");
            DraftArg {
                text,
                comment: comment.to_owned(),
                output: Some(name.clone()),
            }
        }
        AddressSpace::Local => {
            let elements = if length.contains("WG") { length } else { "?" };
            plain(format!("local {elements}"), ": elements of local memory")
        }
        AddressSpace::Image => {
            let dimensions = ImageKind::in_c(&parameter.type_name).map_or(2, ImageKind::dimensions);
            let role = if parameter.is_const { "" } else { "out " };
            let text = format!("{role}image ? {name}[{}]", vec!["n"; dimensions].join(", "));
            let output = (!parameter.is_const).then(|| name.clone());
            DraftArg {
                text,
                comment: ": a format such as rgba8, r32f or rgba32f".into(),
                output,
            }
        }
        AddressSpace::Sampler => plain(
            "sampler clamp_to_edge nearest".into(),
            ": as its host makes it",
        ),
        AddressSpace::Value => match &parameter.value_type {
            Some(ValueType::Index) => plain("n".into(), ""),
            Some(ValueType::Number(scalar, 1))
                if !scalar.is_float()
                    && scalar.size() >= 4
                    && (is_bound || is_size(&parameter.name)) =>
            {
                plain("n".into(), "")
            }
            Some(ValueType::Number(..))
                if ["float", "double", "half"].contains(&parameter.type_name.as_str()) =>
            {
                plain("1.5".into(), ": or another number")
            }
            Some(ValueType::Number(_, lanes)) if *lanes > 1 => {
                plain(format!("({})", vec!["?"; *lanes].join(", ")), "")
            }
            Some(ValueType::Struct(layout)) => {
                let fields: Vec<&str> = layout
                    .fields
                    .iter()
                    .map(|field| field.name.as_str())
                    .collect();
                plain(
                    format!("{{{}}}", vec!["?"; fields.len()].join(", ")),
                    &format!(": {}", fields.join(", ")),
                )
            }
            _ => plain("?".into(), ""),
        },
    }
}

/// A buffer's name that neither formulas nor Python have for something else.
fn free_name(name: &str) -> String {
    const PYTHON: [&str; 12] = [
        "in", "is", "as", "from", "with", "not", "and", "or", "lambda", "class", "def", "del",
    ];
    if PYTHON.contains(&name) || taken(name) {
        format!("{name}_")
    } else {
        name.to_owned()
    }
}

/// Data that leave sums exact, where the elements are numbers.
fn data_of(parameter: &KernelParameter) -> &'static str {
    match &parameter.value_type {
        Some(ValueType::Number(scalar, _)) if scalar.size() == 1 => "",
        Some(ValueType::Number(..) | ValueType::Case) => " small 8",
        _ => "",
    }
}

fn is_size(name: &str) -> bool {
    let small = name.to_lowercase();
    const NAMES: [&str; 11] = [
        "n", "w", "h", "nx", "ny", "nz", "ni", "nj", "nk", "ncols", "nrows",
    ];
    const PARTS: [&str; 10] = [
        "num", "size", "len", "count", "width", "height", "elem", "rows", "cols", "dim",
    ];
    // Sizes of something else than the data. A small k may as well count a loop's turns.
    const OTHER: [&str; 9] = [
        "mask", "filter", "kernel", "block", "wind", "tile", "bin", "class", "k_",
    ];
    if OTHER.iter().any(|part| small.contains(part)) {
        return false;
    }
    NAMES.contains(&small.as_str()) || PARTS.iter().any(|part| small.contains(part))
}

/// Which numbers of its own a work-item's variables are made of: bits 0 to 2 for its place along each axis, 3 for its group's, and 4
/// for its place in the group.
type Places<'a> = BTreeMap<&'a str, u8>;

const GROUP: u8 = 8;
const IN_GROUP: u8 = 16;

/// The length of a buffer with an element for each group of the usual size: lengths know no work-group.
const A_GROUP: &str = "ceil(n, 256)";

fn places(body: &[String]) -> Places<'_> {
    let mut places = Places::new();
    for statement in body.split(|word| [";", "{", "}"].contains(&word.as_str())) {
        if let Some(at) = statement
            .iter()
            .position(|word| word == "=")
            .filter(|at| *at > 0)
        {
            // What is loaded is no place, whatever its index.
            let mask = match statement[at..].iter().any(|word| word == "[") {
                true => 0,
                false => made_of(&statement[at..], &places),
            };
            *places.entry(statement[at - 1].as_str()).or_default() |= mask;
        }
    }
    places
}

fn made_of(words: &[String], places: &Places<'_>) -> u8 {
    let called = words.windows(3).map(|three| {
        let axis = three[2].parse::<u8>().unwrap_or(0).min(2);
        match three[0].as_str() {
            "get_global_id" => 1 << axis,
            "get_group_id" => GROUP,
            "get_local_id" => IN_GROUP,
            _ => 0,
        }
    });
    let named = words
        .iter()
        .filter_map(|word| places.get(word.as_str()).copied());
    called.chain(named).fold(0, |all, mask| all | mask)
}

/// How many elements a buffer has, as far as its indices say.
fn length(body: &[String], places: &Places<'_>, name: &str, dimensions: usize) -> String {
    let usual = ["n", "n*n", "n*n*n"][dimensions - 1].to_owned();
    let mut mask = 0;
    let mut by = 1;
    let mut is_plain = true;
    let mut is_first = true;
    let mut indices = 0;
    for at in 0..body.len().saturating_sub(1) {
        if body[at] != name || body[at + 1] != "[" {
            continue;
        }
        let Some(close) = closing(body, at + 1) else {
            continue;
        };
        let index = &body[at + 2..close];
        indices += 1;
        mask |= made_of(index, places);
        is_plain &= index.len() == 1;
        is_first &= index == ["0"];
        let of_place = |word: &String| places.get(word.as_str()).is_some_and(|mask| *mask > 0);
        for three in index.windows(3).filter(|three| three[1] == "*") {
            let factor = match (of_place(&three[0]), of_place(&three[2])) {
                (true, _) => three[2].parse(),
                (_, true) => three[0].parse(),
                _ => continue,
            };
            by = factor.unwrap_or(1).max(by);
        }
    }
    match (indices, mask) {
        (0, _)
            if body
                .windows(3)
                .any(|three| !is_identifier(&three[0]) && three[1] == "*" && three[2] == name) =>
        {
            "1".to_owned()
        }
        (0, _) => usual,
        _ if is_first => "1".to_owned(),
        (_, 0) => "?".to_owned(),
        (_, IN_GROUP) if by > 1 => format!("{by} * WG"),
        (_, IN_GROUP) => "WG".to_owned(),
        (_, GROUP) => A_GROUP.to_owned(),
        _ if dimensions == 1 && by > 1 => format!("{by}*n"),
        _ if dimensions > 1 && is_plain && mask.count_ones() == 1 => "n".to_owned(),
        _ => usual,
    }
}

/// Whether a work-item's place is compared with a number.
fn is_bound(body: &[String], places: &Places<'_>, name: &str) -> bool {
    (1..body.len()).filter(|at| body[*at] == name).any(|at| {
        let before = &body[at.saturating_sub(8)..at];
        let is_compared = match before {
            [.., place, sign, equal] if equal == "=" && ["<", ">"].contains(&sign.as_str()) => {
                Some(place)
            }
            [.., place, sign] if ["<", ">"].contains(&sign.as_str()) => Some(place),
            _ => None,
        };
        is_compared.is_some_and(|place| match place.as_str() {
            ")" => made_of(before, &Places::new()) > 0,
            place => places.get(place).is_some_and(|mask| *mask > 0),
        })
    })
}

/// Whether a kernel compares an index that it computes from its place with anything, by which it may leave work-items out.
pub(crate) fn is_guarded(source: &CSource, kernel: &str) -> bool {
    const TESTS: [&str; 6] = ["if", "while", "?", "min", "clamp", "select"];
    let body = source.body(kernel).unwrap_or_default();
    let places = places(body);
    // Its place in the group alone leaves nothing out.
    let is_of_place = |words: &[String]| made_of(words, &places) & !IN_GROUP != 0;
    let is_other = |word: &String| {
        is_identifier(word)
            && !TESTS.contains(&word.as_str())
            && !["return", "else", "int", "uint", "size_t"].contains(&word.as_str())
            && (!word.starts_with("get_")
                || word.starts_with("get_image")
                || word == "get_global_size")
            && places.get(word.as_str()).is_none_or(|mask| *mask == 0)
    };
    let mut statements = body.split(|word| [";", "{", "}"].contains(&word.as_str()));
    statements.any(|statement| {
        let is_tested = statement.iter().any(|word| TESTS.contains(&word.as_str()));
        let is_compared = statement
            .iter()
            .any(|word| ["<", ">", "min", "clamp"].contains(&word.as_str()));
        let looped = statement.iter().position(|word| word == "for");
        is_tested && is_compared && is_of_place(statement) && statement.iter().any(is_other)
            || looped.is_some_and(|at| is_of_place(&statement[at..]))
    })
}

/// In how many dimensions a kernel asks where it is.
fn dimensions(body: &[String]) -> usize {
    const ASKING: [&str; 3] = ["get_global_id", "get_group_id", "get_local_id"];
    let asking = body
        .windows(3)
        .filter(|three| ASKING.contains(&three[0].as_str()) && three[1] == "(");
    asking
        .filter_map(|three| three[2].parse::<usize>().ok())
        .max()
        .unwrap_or(0)
        .min(2)
        + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_text_says_is_filled_in() {
        let text = "__kernel void scale(__global const float *x, __global float *y, const int n, const float a)
            { int i = get_global_id(0); if (i < n) y[i] = a * x[i]; }
            __kernel void count(__global int *bins, __global uchar *img, uint2 size, __local int *tile)
            { int x = get_global_id(1); atomic_inc(&bins[img[x * BLOCK + block_size_y]]); }";
        assert!(
            draft(text, "a.cl", None)
                .unwrap_err()
                .contains("a.cl:scale; it has scale, count")
        );
        assert!(
            draft(text, "a.cl", Some("no"))
                .unwrap_err()
                .contains("there is no kernel no")
        );
        assert_eq!(
            draft(text, "a.cl", Some("scale")).unwrap(),
            "# A ladder for scale, as far as its text says. Each ? is yours to fill in.\n\
             kernel = \"a.cl:scale\"\nn      = 1048576\ndefine = { BLOCK = \"?\", block_size_y = \"1\" }\n\
             items  = \"n\"  # work-items; or groups = ...\nargs   = [\n  \"x[n] small 8\", # float x\n  \
             \"out y[n]\",     # float y\n  \"n\",            # int n\n  \"1.5\",          # float a: or another number\n]\n\
             check  = \"numpy: y = ?\"\n"
        );
        let count = draft(text, "a.cl", Some("count")).unwrap();
        for line in [
            "form   = \"square\"",
            "block_size_y = \"WG_Y\"",
            "\"out bins[n*n] = 0\"",
            "\"img[n*n]\"",
            "\"(?, ?)\"",
            "\"local ?\"",
            "bins = ?",
        ] {
            assert!(count.contains(line), "{line}: {count}");
        }
    }
}
