//! The beginnings of a family's file for somebody else's kernel: what its text says is filled in, and what only its host
//! knows is a question mark.

use super::description::{ITSELF, taken};
use crate::c_text::{ValueType, is_identifier};
use crate::signature::{AddressSpace, CSource, KernelParameter, Usage, closing};
use gpulab_model::data::Scalar;
use gpulab_model::is_among;
use gpulab_model::plan::ImageKind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A file for a kernel of a text, which stands in `file`.
pub fn draft(text: &str, file: &str, kernel: Option<&str>) -> Result<String, String> {
    let (lines, outputs) = unchecked(text, file, kernel, &BTreeMap::new())?;
    let outputs: Vec<String> = outputs.iter().map(|name| format!("{name} = ?")).collect();
    Ok(format!(
        "{lines}check  = \"numpy: {}\"\n",
        outputs.join("; ")
    ))
}

const TYPE_UNKNOWN: &str = ": its type is not known here";

/// What a macro is that only the host knows, where its name says nothing.
pub const UNNAMED: &str = "4";

/// A family's file for one kernel.
pub struct KernelDraft {
    pub text: String,
    /// What was guessed, in a line.
    pub guesses: String,
    /// Macros whose names say nothing of their values.
    pub unknown: Vec<String>,
}

impl KernelDraft {
    /// Whether one of its numbers may be any other.
    pub fn has_choice(&self) -> bool {
        self.text.contains(": or ")
    }

    /// The same file with other numbers than those that were guessed, no two alike, and what they are; nothing where none was guessed. Sizes
    /// become smaller, so that they fit the data, but not of a kernel that leaves no work-items out.
    pub fn with_other_numbers(&self) -> Option<(String, String)> {
        let is_guarded = !self.text.contains("\nmultiple");
        let mut text = String::new();
        let mut numbers = Vec::new();
        let (mut known, mut steps) = (0, 0);
        for line in self.text.lines() {
            let mut line = keeping(line);
            let argument = line.trim_start().split(',').next().unwrap_or_default();
            let other = match argument {
                "\"1.5\"" => Some(format!("\"{}\"", 0.75 - numbers.len() as f64 / 64.0)),
                // Steps are often powers of two.
                "\"1\"" if is_guarded => {
                    steps += 1;
                    Some(format!("\"{}\"", 1 << steps))
                }
                // The first may be the one that all data follow.
                "\"n\"" if is_guarded && !is_never_smaller(&line) => {
                    known += 1;
                    (known > 1).then(|| format!("\"ceil(n, {known})\""))
                }
                _ => None,
            };
            if let Some(other) = other {
                line = line.replacen(argument, &other, 1);
                numbers.extend(guess_of_line(&line));
            }
            text += &line;
            text.push('\n');
        }
        (!numbers.is_empty()).then(|| (text, numbers.join(", ")))
    }

    /// The same file, with outputs that keep what they held where a kernel does not write them.
    pub fn keeping_outputs(&self) -> String {
        let lines = self.text.lines().map(keeping);
        lines.map(|line| line + "\n").collect()
    }

    /// Whether an argument is local memory, as long as the host says.
    pub fn has_local(&self) -> bool {
        self.text.contains("\"local ")
    }
}

/// Drafts a family for one kernel of a text, with these lines `besides`; `defines` are macros of its host. What is compared with [`ITSELF`] need not write all of its
/// outputs. With `room`, buffers are longer than guessed, by some elements and a row.
///
/// Errors: a type that only the kernel's host knows.
pub fn draft_alone(
    text: &str,
    (file, kernel): (&str, Option<&str>),
    defines: &BTreeMap<String, String>,
    (besides, room): (&str, bool),
) -> Result<KernelDraft, String> {
    let (mut lines, _) = unchecked(text, file, kernel, defines)?;
    let is_unknown = |line: &&str| line.ends_with(TYPE_UNKNOWN) || line.trim().starts_with("\"?\"");
    if let Some(line) = lines.lines().find(is_unknown) {
        let (_, parameter) = line.split_once("# ").unwrap_or_default();
        let parameter = parameter.trim_end_matches(TYPE_UNKNOWN);
        let (type_name, _) = parameter.rsplit_once(' ').unwrap_or((parameter, ""));
        return Err(format!(
            "the type of the parameter {parameter} of {} is in none of its files: give it, as in -D {type_name}=float",
            kernel.unwrap_or(file)
        ));
    }
    let unknown = lines
        .split(" = \"?\"")
        .map(|before| before.rsplit([' ', ',']).next());
    let mut unknown: Vec<String> = unknown.flatten().map(str::to_owned).collect();
    unknown.pop();
    // What may be written is taken for written.
    lines = lines
        .replace(" = \"?\"", &format!(" = {UNNAMED:?}"))
        .replace("\"? ", "\"inout ");
    let guesses: Vec<String> = lines.lines().filter_map(guess_of_line).collect();
    let row = if lines.contains(SQUARE) { "n + " } else { "" };
    let mut changed = String::new();
    for line in lines.lines() {
        let mut line = line.to_owned();
        if besides.contains(ITSELF) {
            line = keeping(&line);
        }
        if room && line.starts_with("  \"") && !line.contains("image ") {
            line = line.replacen(']', &format!(" + {row}64]"), 1);
        }
        changed += &line;
        changed.push('\n');
    }
    Ok(KernelDraft {
        text: changed + besides,
        guesses: guesses.join(", "),
        unknown,
    })
}

/// A line whose output keeps what it held; one that begins at 0 does already.
fn keeping(line: &str) -> String {
    match line.contains("] = 0") {
        true => line.to_owned(),
        false => line.replace("\"out ", "\"inout "),
    }
}

/// Whether a line is of an argument that is no smaller than the data, as `n_padded` or `pitch`.
fn is_never_smaller(line: &str) -> bool {
    let comment = line.split_once('#').map_or("", |(_, comment)| comment);
    let name = comment.to_lowercase();
    ["pad", "pitch", "stride", "lda", "ldb", "ldc"]
        .iter()
        .any(|part| name.contains(part))
}

/// What a line of a draft guesses: `n = 1024`, `x[n] small 8`, or `a = 1.5` of a parameter that is a number.
fn guess_of_line(line: &str) -> Option<String> {
    let (said, comment) = line.split_once('#').unwrap_or((line, ""));
    let said = said.trim().trim_end_matches(',').replace('"', "");
    let is_argument = line.starts_with(' ');
    if said.is_empty() || said == "]" || said.starts_with("kernel ") || said.starts_with("args ") {
        return None;
    }
    let parameter = comment.split(':').next().unwrap_or_default();
    let name = parameter.rsplit([' ', '*']).next().unwrap_or_default();
    Some(match is_argument && !said.contains('[') {
        true => format!("{name} = {said}"),
        false => said,
    })
}

/// The lines of a kernel's file but for its check, and the names of its outputs.
fn unchecked(
    text: &str,
    file: &str,
    kernel: Option<&str>,
    defines: &BTreeMap<String, String>,
) -> Result<(String, Vec<String>), String> {
    let given: Vec<(String, String)> = defines.clone().into_iter().collect();
    let mut source = CSource::new(text, &given);
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
    let mut guesses = source.guesses(dimensions, "float");
    guesses.extend(defines.clone());
    source.define(&guesses);
    let parameters = source.parameters(&kernel).unwrap_or_default();
    // Writing to a String cannot fail.
    let mut out = String::new();
    let _ = writeln!(
        out,
        "# A ladder for {kernel}: numbers and lengths are guesses, and each ? is yours to fill in."
    );
    let named = if kernels.len() == 1 {
        file.to_owned()
    } else {
        format!("{file}:{kernel}")
    };
    let _ = writeln!(out, "kernel = {named:?}");
    let reading = Reading::new(&source, &kernel, dimensions, &parameters);
    let mut usages: Vec<Usage> = parameters
        .iter()
        .map(|parameter| source.usage(&kernel, &parameter.name))
        .collect();
    // A kernel writes something: where nothing is seen to be written, the only buffer that can be.
    let mut candidates = (parameters.iter().zip(&mut usages))
        .filter(|(parameter, _)| parameter.space == AddressSpace::Global && !parameter.is_const);
    if let (Some((_, only)), None) = (candidates.next(), candidates.next())
        && !only.changes()
    {
        *only = Usage {
            is_written: true,
            ..Usage::default()
        };
    }
    let args: Vec<DraftArg> = parameters
        .iter()
        .zip(usages)
        .map(|(parameter, usage)| draft_arg(&reading, &parameters, parameter, usage))
        .collect();
    write_head(&mut out, (&source, &kernel), &reading, guesses, &args);
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
    let group = source.required_group(&kernel);
    let group = group.or_else(|| source.named_group(dimensions));
    let group = group.map(|group| group.0.iter().product::<usize>() as u64);
    if let Some(group) = group.or_else(|| source.local_length(&kernel)) {
        out = out.replace(A_GROUP, &format!("ceil(n, {group})"));
    }
    let outputs = args.into_iter().filter_map(|arg| arg.output);
    Ok((out, outputs.collect()))
}

/// The lines of a kernel's file that are not of one argument.
fn write_head(
    out: &mut String,
    (source, kernel): (&CSource, &str),
    reading: &Reading<'_>,
    mut macros: BTreeMap<String, String>,
    args: &[DraftArg],
) {
    let has = |part: &str| args.iter().any(|arg| arg.text.contains(part));
    let dimensions = reading.dimensions;
    let (form, n, items) = match dimensions {
        1 if reading.is_flat => (SQUARE, 1024, "n*n"),
        1 if has("n*n") => (SQUARE, 1024, "n"),
        1 if reading.has_long_loop() => ("", 4096, "n"),
        1 => ("", 1 << 20, "n"),
        2 => (SQUARE, 1024, "n, n"),
        _ => ("", 64, "n, n, n"),
    };
    let own = reading.own_side(source).filter(|_| dimensions == 2);
    let only = if own.is_some() {
        "sizes  = \"only\"\n"
    } else {
        ""
    };
    let _ = writeln!(out, "{form}n      = {}", own.unwrap_or(n));
    out.push_str(only);
    let unset = source.host_names().into_iter();
    macros.extend(unset.map(|name| {
        let value = if is_size(&name) { "n" } else { "?" };
        (name, value.to_owned())
    }));
    if !macros.is_empty() {
        let all: Vec<String> = macros
            .iter()
            .map(|(name, value)| format!("{name} = {value:?}"))
            .collect();
        let _ = writeln!(out, "define = {{ {} }}", all.join(", "));
    }
    let own = source.local_length(kernel).filter(|_| dimensions == 1);
    let usual = own.unwrap_or([256, 16, 8][dimensions - 1]);
    let named = source.required_group(kernel);
    let wg = match named.or_else(|| source.named_group(dimensions)) {
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
            "multiple = {usual}  # nothing was seen that leaves work-items out"
        );
    }
    if let Some(wg) =
        wg.or((!is_guarded || has(A_GROUP) || own.is_some()).then(|| usual.to_string()))
    {
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

fn draft_arg(
    reading: &Reading<'_>,
    all: &[KernelParameter],
    parameter: &KernelParameter,
    usage: Usage,
) -> DraftArg {
    let name = &free_name(&parameter.name);
    let length = &reading.length(parameter);
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
        TYPE_UNKNOWN
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
                format!(
                    "{unknown}{name}[{length}]{}",
                    reading.data(all, parameter, length)
                ),
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
            let elements = if length.contains("WG") {
                length
            } else {
                "2 * WG"
            };
            plain(format!("local {elements}"), ": elements of local memory")
        }
        AddressSpace::Image => {
            let dimensions = ImageKind::in_c(&parameter.type_name).map_or(2, ImageKind::dimensions);
            let role = if parameter.is_const { "" } else { "out " };
            let format = reading.pixels(&parameter.name);
            let text = format!(
                "{role}image {format} {name}[{}]",
                vec!["n"; dimensions].join(", ")
            );
            DraftArg {
                text,
                comment: ": or another format, such as rgba8 or r32f".into(),
                output: (!parameter.is_const).then(|| name.clone()),
            }
        }
        AddressSpace::Sampler => plain(
            "sampler clamp_to_edge nearest".into(),
            ": as its host makes it",
        ),
        AddressSpace::Value => match &parameter.value_type {
            Some(ValueType::Index) => plain("n".into(), ""),
            Some(ValueType::Number(scalar, 1)) => {
                let value = match reading.sizes.contains(&parameter.name) {
                    true => "n",
                    false if !scalar.is_float() && reading.is_offset(&parameter.name) => "0",
                    false => guess(*scalar, &parameter.name),
                };
                let comment = match value {
                    "n" => "",
                    _ if is_step(&parameter.name) => {
                        ": or a step of the host's, as in loop = \"k in 0..n\""
                    }
                    _ => ": or another number",
                };
                plain(value.into(), comment)
            }
            Some(ValueType::Number(scalar, lanes)) => {
                let all = vec![guess(*scalar, &parameter.name); *lanes];
                plain(format!("({})", all.join(", ")), ": or others")
            }
            Some(ValueType::Struct(layout)) => {
                let fields = layout.fields.iter();
                let (names, values): (Vec<&str>, Vec<&str>) = fields
                    .map(|field| (field.name.as_str(), guess(field.scalar, &field.name)))
                    .unzip();
                plain(
                    format!("{{{}}}", values.join(", ")),
                    &format!(": {}", names.join(", ")),
                )
            }
            _ => plain("?".into(), ""),
        },
    }
}

/// A buffer's name that neither formulas nor Python have for something else.
fn free_name(name: &str) -> String {
    const PYTHON: &str = "in is as from with not and or lambda class def del";
    if is_among(name, PYTHON) || taken(name) {
        format!("{name}_")
    } else {
        name.to_owned()
    }
}

/// A value with which most kernels work.
fn guess(scalar: Scalar, name: &str) -> &'static str {
    match (scalar.is_float(), is_size(name)) {
        (true, _) => "1.5",
        (_, true) if scalar.size() > 1 => "n",
        _ => "1",
    }
}

/// Whether a host usually counts by a number of this name.
fn is_step(name: &str) -> bool {
    is_among(&name.to_lowercase(), "k j i step stage pass")
}

fn is_size(name: &str) -> bool {
    let small = name.to_lowercase();
    let has = |parts: &str| parts.split(' ').any(|part| small.contains(part));
    // Sizes of something else than the data. A small k may as well count a loop's turns.
    !has("mask filter kernel block wind tile bin class k_")
        && (is_among(&small, "n w h nx ny nz ni nj nk")
            || ["M", "K"].contains(&name)
            || has("num size len count width height elem rows cols dim"))
}

/// Which numbers of its own a work-item's variables are made of: bits 0 to 2 for its place along each axis, 3 for its group's, and 4
/// for its place in the group.
type Places<'a> = BTreeMap<&'a str, u8>;

const GROUP: u8 = 8;
const IN_GROUP: u8 = 16;

/// The length of a buffer with an element for each group of the usual size: lengths know no work-group.
const A_GROUP: &str = "ceil(n, 256)";

const SQUARE: &str = "form   = \"square\"\n";

/// What a kernel's text says of its data.
struct Reading<'a> {
    body: &'a [String],
    dimensions: usize,
    places: Places<'a>,
    /// The parameters that are the data's sizes.
    sizes: BTreeSet<String>,
    /// Variables that are a multiple of a size: where a row begins.
    rows: BTreeSet<&'a str>,
    /// Variables that run over a row of a sparse matrix.
    row_elements: BTreeSet<&'a str>,
    /// Variables that are a multiple of a work-item's place, and by what.
    factors: BTreeMap<&'a str, u64>,
    /// Buffers of bytes, which are indices below 256 where they are any.
    bytes: BTreeSet<&'a str>,
    /// Whether a work-item's only number is divided by a size, to be a row and a column.
    is_flat: bool,
}

impl<'a> Reading<'a> {
    fn new(
        source: &'a CSource,
        kernel: &str,
        dimensions: usize,
        parameters: &'a [KernelParameter],
    ) -> Reading<'a> {
        let body = source.body(kernel).unwrap_or_default();
        let places = places(body);
        let is_size_of_data = |parameter: &&KernelParameter| {
            let name = &parameter.name;
            let is_whole = whole(parameter).is_some_and(|scalar| scalar.size() >= 4);
            let is_one =
                || is_size(name) && indices(body, name).iter().all(|index| *index == ["0"]);
            is_whole
                && match parameter.space {
                    AddressSpace::Value => is_size(name) || is_bound(body, &places, name),
                    AddressSpace::Global | AddressSpace::Constant => is_one(),
                    _ => false,
                }
        };
        let mut sizes: BTreeSet<String> = parameters
            .iter()
            .filter(is_size_of_data)
            .map(|parameter| parameter.name.clone())
            .collect();
        for (name, value) in assignments(body) {
            let is_size = match value {
                [_, size] | [_, _, size] => sizes.contains(size),
                [_, call, _, _, _] => call == "get_global_size",
                _ => false,
            };
            if is_size {
                sizes.insert(name.to_owned());
            }
        }
        let is_flat = dimensions == 1
            && (1..body.len()).any(|at| {
                sizes.contains(&body[at])
                    && ["/", "%"].contains(&body[at - 1].as_str())
                    && made_of(&body[at.saturating_sub(5)..at], &places) > 0
            });
        let mut reading = Reading {
            body,
            dimensions,
            places,
            sizes,
            rows: BTreeSet::new(),
            row_elements: BTreeSet::new(),
            factors: BTreeMap::new(),
            bytes: BTreeSet::new(),
            is_flat,
        };
        let bytes = parameters
            .iter()
            .filter(|parameter| whole(parameter).is_some_and(|scalar| scalar.size() == 1));
        reading.bytes = bytes.map(|parameter| parameter.name.as_str()).collect();
        let offsets = parameters
            .iter()
            .filter(|parameter| reading.has_offsets(parameter));
        let offsets: BTreeSet<&String> = offsets.map(|parameter| &parameter.name).collect();
        for (name, value) in assignments(body) {
            if reading.spans_rows(value) {
                reading.rows.insert(name);
            }
            let begins_row = value.iter().any(|word| offsets.contains(word));
            let is_of_row = |word: &String| reading.row_elements.contains(word.as_str());
            if begins_row || without_indices(value).iter().any(is_of_row) {
                reading.row_elements.insert(name);
            }
            let factor = reading.factor(value);
            if factor > 1 && !loads(value) {
                reading.factors.insert(name, factor);
            }
        }
        reading
    }

    /// Whether words multiply by a size, here or in a variable.
    fn spans_rows(&self, words: &[String]) -> bool {
        words.iter().any(|word| self.rows.contains(word.as_str()))
            || words.windows(2).any(|pair| {
                pair[0] == "*" && self.sizes.contains(&pair[1])
                    || pair[1] == "*" && self.sizes.contains(&pair[0])
            })
    }

    /// Whether a number says where data begin, in elements or in rows.
    fn is_offset(&self, name: &str) -> bool {
        let is_row = |four: &[String]| {
            four[0] == name && four[1] == "*" && four[2] == "(" && self.sizes.contains(&four[3])
        };
        self.is_only_added(name) || self.body.windows(4).any(is_row)
    }

    /// The side of a matrix that the text itself says, as `WIDTH` of `y * WIDTH + x`.
    fn own_side(&self, source: &CSource) -> Option<u64> {
        let mut factors = self.body.windows(2).filter(|two| two[0] == "*");
        factors.find_map(|two| source.number(&two[1]).filter(|_| is_size(&two[1])))
    }

    /// Whether a number is part of nothing but sums.
    fn is_only_added(&self, name: &str) -> bool {
        let word = |at: usize| self.body.get(at).map_or("", String::as_str);
        let mut around = (1..self.body.len())
            .filter(|at| self.body[*at] == name)
            .map(|at| [word(at - 1), word(at + 1)]);
        around.all(|around| {
            around.contains(&"+") && !around.iter().any(|sign| ["*", "/", "%"].contains(sign))
        })
    }

    /// What a variable stays below: a number, or a size of the data.
    fn bound(&self, word: &str) -> Option<&'a str> {
        let mut tests = self
            .body
            .windows(3)
            .filter(|three| three[0] == word && three[1] == "<");
        tests.find_map(|three| match three[2].parse::<u32>() {
            Ok(_) => Some(three[2].as_str()),
            Err(_) => self.sizes.contains(&three[2]).then_some("n"),
        })
    }

    /// Whether each work-item counts to a size, so that large ones take long.
    fn has_long_loop(&self) -> bool {
        let is_size = |word: &String| self.sizes.contains(word) || word == "get_global_size";
        let mut heads = self
            .body
            .windows(3)
            .filter(|three| three[1] == "<" && is_size(&three[2]));
        heads.any(|three| {
            self.places.get(three[0].as_str()) == Some(&0)
                && self
                    .body
                    .windows(3)
                    .any(|next| next[0] == three[0] && next[1] == "+" && next[2] == "+")
        })
    }

    /// How many elements a buffer has, as far as its indices say.
    fn length(&self, parameter: &KernelParameter) -> String {
        let name = parameter.name.as_str();
        // An array says its own.
        let own = parameter.text.split_once('[');
        let own = own.map(|(_, behind)| behind.trim_matches([']', ' ']).replace("] [", "*"));
        if let Some(own) = own.filter(|own| !own.is_empty()) {
            return own;
        }
        let usual = match (self.dimensions, self.is_flat) {
            (1, false) => "n",
            (1 | 2, _) => "n*n",
            _ => "n*n*n",
        };
        let indices = indices(self.body, name);
        // `*x`, or `atomic_inc(x)`.
        let is_followed = |three: &[String]| {
            three[2] == name
                && (three[1] == "*" && !is_identifier(&three[0]) || three[0].starts_with("atomic"))
        };
        if indices.is_empty() && self.body.windows(3).any(is_followed)
            || !indices.is_empty() && indices.iter().all(|index| *index == ["0"])
        {
            return "1".to_owned();
        }
        if indices.is_empty() {
            let lanes = self.lanes(name);
            return if lanes == 1 {
                usual.to_owned()
            } else {
                format!("{lanes}*{usual}")
            };
        }
        if self.has_offsets(parameter) {
            return "n + 1".to_owned();
        }
        let is_of_row = |word: &String| self.row_elements.contains(word.as_str());
        if indices
            .iter()
            .any(|index| index.iter().any(is_of_row) && !loads(index))
        {
            return format!("{A_ROW}*n");
        }
        let is_of_bytes = |index: &&[String]| {
            let mut words = index.iter();
            loads(index) && words.any(|word| self.bytes.contains(word.as_str()))
        };
        if indices.iter().any(is_of_bytes) {
            return BINS.to_owned();
        }
        let mask = indices
            .iter()
            .fold(0, |mask, index| mask | made_of(index, &self.places));
        let by = indices
            .iter()
            .map(|index| self.factor(index))
            .max()
            .unwrap_or(1);
        let bound = indices
            .iter()
            .copied()
            .flatten()
            .find_map(|word| self.bound(word));
        let spans_rows = indices.iter().any(|index| self.spans_rows(index));
        let is_plain = indices.iter().all(|index| index.len() == 1);
        match mask {
            0 if spans_rows => "n*n".to_owned(),
            0 => bound.unwrap_or(BINS).to_owned(),
            // The group's size is none of a buffer's.
            IN_GROUP if parameter.space != AddressSpace::Local => usual.to_owned(),
            IN_GROUP if by > 1 => format!("{by} * WG"),
            // Of two halves that take turns.
            IN_GROUP if indices.iter().any(|index| index.contains(&"*".to_owned())) => {
                "2 * WG".to_owned()
            }
            IN_GROUP => "WG".to_owned(),
            GROUP => A_GROUP.to_owned(),
            _ if self.dimensions == 1 && spans_rows => "n*n".to_owned(),
            _ if self.dimensions == 1 && by > 1 => format!("{by}*{usual}"),
            _ if self.dimensions > 1 && is_plain && mask.count_ones() == 1 => "n".to_owned(),
            _ => usual.to_owned(),
        }
    }

    /// Whether a buffer says where the rows of a sparse matrix begin, as whole numbers of which `x[i]` and `x[i + 1]` are read.
    fn has_offsets(&self, parameter: &KernelParameter) -> bool {
        match &indices(self.body, &parameter.name)[..] {
            [[start], [of, sign, one]] => {
                whole(parameter).is_some() && start == of && sign == "+" && one == "1"
            }
            _ => false,
        }
    }

    /// The largest number that an index multiplies a work-item's place with, also by way of a variable.
    fn factor(&self, index: &[String]) -> u64 {
        let of_place = |words: &[String]| made_of(words, &self.places) > 0;
        let products = (1..index.len().saturating_sub(1)).filter(|at| index[*at] == "*");
        let factors = products.filter_map(|at| {
            let before = &index[at.saturating_sub(4)..at];
            match (of_place(before), of_place(&index[at + 1..at + 2])) {
                (true, _) => index[at + 1].parse().ok(),
                (_, true) => index[at - 1].parse().ok(),
                _ => None,
            }
        });
        let variables = index
            .iter()
            .filter_map(|word| self.factors.get(word.as_str()).copied());
        factors.chain(variables).max().unwrap_or(1)
    }

    /// How many elements functions of vectors read or write of a pointer at a time.
    fn lanes(&self, name: &str) -> u64 {
        let calls = (0..self.body.len()).filter(|at| {
            let word = &self.body[*at];
            word.starts_with("vload") || word.starts_with("vstore")
        });
        let of_name = calls.filter(|at| {
            closing(self.body, at + 1).is_some_and(|close| self.body[close - 1] == name)
        });
        let lanes = of_name.filter_map(|at| {
            self.body[at]
                .trim_start_matches(char::is_alphabetic)
                .parse()
                .ok()
        });
        lanes.max().unwrap_or(1)
    }

    /// Data that leave sums exact, that stay inside of what they are an index of, or the one size that they are.
    fn data(&self, all: &[KernelParameter], parameter: &KernelParameter, length: &str) -> String {
        match &parameter.value_type {
            Some(ValueType::Number(scalar, _)) if scalar.size() == 1 => String::new(),
            _ if self.has_offsets(parameter) => format!(" offsets {A_ROW}"),
            _ if whole(parameter).is_some() => {
                if length == "1" && self.sizes.contains(&parameter.name) {
                    return " = n".to_owned();
                }
                match self.length_of_target(all, &parameter.name) {
                    Some(target) => format!(" below {target}"),
                    None => " small 8".to_owned(),
                }
            }
            Some(ValueType::Number(..) | ValueType::Case) => " small 8".to_owned(),
            _ => String::new(),
        }
    }

    /// The length of the buffer whose index a buffer's elements are.
    fn length_of_target(&self, all: &[KernelParameter], name: &str) -> Option<String> {
        let loaded = assignments(self.body)
            .filter(|(_, value)| {
                value
                    .windows(2)
                    .any(|pair| pair[0] == name && pair[1] == "[")
            })
            .map(|(variable, _)| variable);
        let names: BTreeSet<&str> = loaded.chain([name]).collect();
        let targets = all
            .iter()
            .filter(|target| target.space != AddressSpace::Local && target.name != name);
        targets
            .filter(|target| {
                let mut words = indices(self.body, &target.name).into_iter().flatten();
                words.any(|word| names.contains(word.as_str()))
            })
            .map(|target| self.length(target))
            .next()
    }

    /// The format of an image's pixels that the functions for it read or write.
    fn pixels(&self, name: &str) -> &'static str {
        let call = self
            .body
            .windows(3)
            .find(|three| three[2] == name && three[0].contains("_image"));
        match call.map_or("", |call| call[0].as_str()) {
            function if function.ends_with("ui") => "rgba8ui",
            function if function.ends_with('i') => "rgba32i",
            _ => "rgba32f",
        }
    }
}

/// The type of a parameter that is a whole number, or whose elements are.
fn whole(parameter: &KernelParameter) -> Option<Scalar> {
    match &parameter.value_type {
        Some(ValueType::Number(scalar, 1)) if !scalar.is_float() => Some(*scalar),
        _ => None,
    }
}

/// Whether words read an element.
fn loads(words: &[String]) -> bool {
    words.iter().any(|word| word == "[")
}

/// The indices of a pointer.
fn indices<'a>(body: &'a [String], name: &str) -> Vec<&'a [String]> {
    let starts = (1..body.len()).filter(|at| body[at - 1] == name && body[*at] == "[");
    starts
        .filter_map(|open| Some(&body[open + 1..closing(body, open)?]))
        .collect()
}

/// Elements of a sparse matrix's row.
const A_ROW: u64 = 8;

/// Elements of a buffer whose indices are no places: bins of a histogram, weights of a filter.
const BINS: &str = "256";

/// What is assigned in a body, by the name before the sign.
fn assignments(body: &[String]) -> impl Iterator<Item = (&str, &[String])> {
    let is_sign = |at: &usize| {
        body[*at] == "="
            && is_identifier(&body[at - 1])
            && body.get(at + 1).is_some_and(|next| next != "=")
    };
    (1..body.len()).filter(is_sign).map(|at| {
        let end = body[at..].iter().position(|word| word == ";");
        (
            body[at - 1].as_str(),
            &body[at..end.map_or(body.len(), |end| at + end)],
        )
    })
}

fn places(body: &[String]) -> Places<'_> {
    let mut places = Places::new();
    for (name, value) in assignments(body) {
        // What is loaded is no place, whatever its index.
        let mask = match loads(value) {
            true => 0,
            false => made_of(value, &places),
        };
        *places.entry(name).or_default() |= mask;
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
pub fn is_guarded(source: &CSource, kernel: &str) -> bool {
    const TESTS: [&str; 2] = ["if", "while"];
    let body = source.body(kernel).unwrap_or_default();
    let places = places(body);
    let parameters = source.parameters(kernel).unwrap_or_default().into_iter();
    let results = parameters
        .filter(|parameter| parameter.space == AddressSpace::Global && !parameter.is_const);
    let results: Vec<String> = results.map(|parameter| parameter.name).collect();
    // Its place in the group alone leaves nothing out.
    let is_of_place = |words: &[String]| made_of(words, &places) & !IN_GROUP != 0;
    let is_other = |word: &String| {
        is_identifier(word)
            && !TESTS.contains(&word.as_str())
            && !is_among(word, "return else int uint size_t")
            && (!word.starts_with("get_")
                || word.starts_with("get_image")
                || word == "get_global_size")
            && places.get(word.as_str()).is_none_or(|mask| *mask == 0)
    };
    let mut from = 0;
    for statement in body.split(|word| [";", "{", "}"].contains(&word.as_str())) {
        let test = statement
            .iter()
            .position(|word| TESTS.contains(&word.as_str()));
        let length = statement.len();
        let statement = &without_indices(statement);
        let is_compared = statement
            .iter()
            .any(|word| ["<", ">"].contains(&word.as_str()));
        let looped = statement.iter().position(|word| word == "for");
        if test.is_some_and(|test| !has_alternative(body, from + test, &results))
            && is_compared
            && is_of_place(statement)
            && statement.iter().any(is_other)
            || looped.is_some_and(|at| is_of_place(&statement[at..]))
        {
            return true;
        }
        from += length + 1;
    }
    false
}

/// The words that are in no square bracket: what is loaded is no place.
fn without_indices(words: &[String]) -> Vec<String> {
    let mut depth = 0;
    let is_outside = |word: &&String| {
        depth += i32::from(*word == "[") - i32::from(*word == "]");
        depth == 0
    };
    words.iter().filter(is_outside).cloned().collect()
}

/// Whether a result is written as well where the condition of an `if` is false, so that it leaves no work-item out.
fn has_alternative(body: &[String], test: usize, results: &[String]) -> bool {
    let word = |at: usize| body.get(at).map_or("", String::as_str);
    let end_of = |at: usize| match closing(body, at) {
        Some(end) => end,
        None => at + body[at..].iter().take_while(|word| *word != ";").count(),
    };
    let Some(close) = closing(body, test + 1).filter(|_| word(test) == "if") else {
        return false;
    };
    let end = end_of(close + 1);
    word(end + 1) == "else"
        && word(end + 2) != "if"
        && body[end + 2..end_of(end + 2)]
            .iter()
            .any(|word| results.contains(word))
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
    fn a_buffer_of_groups_follows_the_size_of_a_group() {
        for (begin, local, length) in [
            ("", "local float t[128];", "ceil(n, 128)"),
            (
                "__attribute__((reqd_work_group_size(64, 1, 1)))",
                "",
                "ceil(n, 64)",
            ),
            ("", "", "ceil(n, 256)"),
        ] {
            let text = format!(
                "kernel {begin} void k(global const float *x, global float *y, int n)\n{{ {local} int i = get_global_id(0);\n\
                 if (i < n && get_local_id(0) == 0) y[get_group_id(0)] = x[i]; }}"
            );
            let draft = draft(&text, "k.cl", None).unwrap();
            assert!(draft.contains(&format!("y[{length}]")), "{draft}");
        }
    }

    #[test]
    fn other_numbers_are_each_another_and_no_size_grows() {
        let text = "kernel void k(global const float *x, global float *y, float a, float b, int step, int n, int m, int n_padded)
            { int i = get_global_id(0); if (i < n && i < n_padded) y[i] = a * x[i] * step + b * m; }";
        let draft = draft_alone(text, ("k.cl", None), &BTreeMap::new(), ("", false)).unwrap();
        let (text, numbers) = draft.with_other_numbers().unwrap();
        assert_eq!(numbers, "a = 0.75, b = 0.734375, step = 2, m = 4");
        assert!(
            text.contains("\"inout y[n]\"") && text.contains("\"n\","),
            "{text}"
        );
    }

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
            "# A ladder for scale: numbers and lengths are guesses, and each ? is yours to fill in.\n\
             kernel = \"a.cl:scale\"\nn      = 1048576\ndefine = { BLOCK = \"?\", block_size_y = \"1\" }\n\
             items  = \"n\"  # work-items; or groups = ...\nargs   = [\n  \"x[n] small 8\", # float x\n  \
             \"out y[n]\",     # float y\n  \"n\",            # int n\n  \"1.5\",          # float a: or another number\n]\n\
             check  = \"numpy: y = ?\"\n"
        );
        let count = draft(text, "a.cl", Some("count")).unwrap();
        for line in [
            "form   = \"square\"",
            "block_size_y = \"WG_Y\"",
            "\"out bins[256] = 0\"",
            "\"img[n*n]\"",
            "\"(n, n)\"",
            "\"local 2 * WG\"",
            "bins = ?",
        ] {
            assert!(count.contains(line), "{line}: {count}");
        }
    }
}
