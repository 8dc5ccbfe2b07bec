//! The beginnings of a family's file for somebody else's kernel: what its text says is filled in, and what only its host
//! knows is a question mark.

use super::description::{ITSELF, taken};
use crate::c_text::{ValueType, is_identifier};
use crate::signature::{
    ACCUMULATED, AddressSpace, CHANGED, CSource, HANDED_ON, KernelParameter, READ, UPDATED, Usage,
    WRITTEN, closing,
};
use gpulab_model::data::Scalar;
use gpulab_model::plan::{ImageKind, WorkGroup};
use gpulab_model::{Joined, has_part, is_among};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A file for a kernel of a text, which stands in `file`.
pub fn draft(text: &str, file: &str, kernel: Option<&str>) -> Result<String, String> {
    let draft = unchecked(text, (file, kernel), &BTreeMap::new(), "?")?;
    let outputs = draft.args.iter().filter_map(|arg| arg.output.as_ref());
    let outputs = outputs.map(|name| format!("{name} = ?"));
    Ok(format!(
        "{}check  = \"numpy: {}\"\n",
        draft.text(),
        outputs.joined("; ")
    ))
}

/// Where nothing says for which work-group local memory is as long as it is.
const OTHER_GROUP: &str = "; the work-group is a guess, and local memory may be meant for another";

const TYPE_UNKNOWN: &str = ": its type is not known here";

const ROW_LENGTH: &str = ": or longer, with what pads a row";

/// What a macro is that only the host knows, where its name says nothing.
pub const UNNAMED: &str = "4";

/// A family's file for one kernel.
#[derive(Clone)]
pub struct KernelDraft {
    /// The lines above its arguments.
    head: String,
    args: Vec<DraftArg>,
    /// The lines below them.
    besides: String,
    /// Those of the last rung of these lines, if it takes others.
    args_of_last: Vec<DraftArg>,
    /// What was guessed, in a line.
    pub guesses: String,
    /// Macros whose names say nothing of their values.
    pub unknown: Vec<String>,
    /// Whether it takes any number of groups, and asks how many there are.
    pub strides: bool,
}

impl KernelDraft {
    pub fn text(&self) -> String {
        let args = self.args.iter();
        let width = args.map(|arg| arg.text.len()).max().unwrap_or(0) + 3;
        let mut text = format!("{}args   = [\n", self.head);
        for arg in &self.args {
            let quoted = format!("{:?},", arg.text);
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {quoted:width$} # {}{}", arg.parameter, arg.comment);
        }
        text += "]\n";
        text += &self.besides;
        let of_last = self.args_of_last.iter().map(|arg| {
            let own = self.args.iter().find(|own| own.name() == arg.name());
            format!("{:?}", own.unwrap_or(arg).reference())
        });
        match &*of_last.joined(", ") {
            "" => text,
            of_last => format!("{text}args = [{of_last}]\n"),
        }
    }

    /// Gives the last rung of the lines below the arguments of another kernel, if these are more or fewer: those of one name are the same.
    ///
    /// Errors: a buffer that this kernel has not.
    pub fn take_args_of(&mut self, other: &KernelDraft) -> Result<(), String> {
        if other.args.len() == self.args.len() {
            return Ok(());
        }
        let mut buffers = other.args.iter().filter(|arg| arg.text.contains('['));
        if let Some(arg) = buffers.find(|arg| self.args.iter().all(|own| own.name() != arg.name()))
        {
            return Err(format!(
                "it takes {}, which the older kernel does not: say in a file what it holds",
                arg.parameter
            ));
        }
        self.args_of_last.clone_from(&other.args);
        Ok(())
    }

    /// Whether one of its numbers may be any other.
    fn has_choice(&self) -> bool {
        let mut args = self.args.iter();
        args.any(|arg| arg.comment.starts_with(": or "))
    }

    /// What was guessed that a fault in this memory may follow from; a race follows from no work-group.
    pub fn guess_behind(&self, is_race: bool, memory: Option<&str>) -> Option<&'static str> {
        match () {
            () if self.has_choice() => Some("a number"),
            () if !self.unknown.is_empty() => Some("a macro"),
            () if !is_race && self.head.contains(OTHER_GROUP) => Some("a work-group"),
            // What indices scatter meets where two are alike.
            () if is_race && memory == Some("global") && self.is_scattering() => Some("an index"),
            () => None,
        }
    }

    fn is_scattering(&self) -> bool {
        let has = |part: &str| self.args.iter().any(|arg| arg.text.contains(part));
        has("out ") && !has("inout ") && has(" below ")
    }

    /// Whether it may have other sizes than multiples of its group.
    pub fn is_ragged(&self) -> bool {
        !self.head.contains("\nmultiple") && !self.head.contains("\nsizes")
    }

    /// Whether an argument is local memory, as long as the host says.
    pub fn has_local(&self) -> bool {
        self.args.iter().any(|arg| arg.text.starts_with("local "))
    }

    /// Files with another number than one that was guessed, and which: buffers have room for it. Sizes become smaller, but not of a kernel that
    /// leaves no work-items out.
    pub fn with_other_numbers(&self) -> Vec<(String, String)> {
        let mut roomy = self.keeping_outputs();
        roomy.lengthen("2*(", ") + 64");
        let mut all = Vec::new();
        for (at, arg) in self.args.iter().enumerate() {
            let other = match arg.text.as_str() {
                "1.5" => "0.75",
                "1" => "2",
                // Data are often aligned.
                "0" => "16",
                "n" if arg.comment == ROW_LENGTH => "n + 4",
                // The data may follow the first size.
                "n" if self.args[..at].iter().any(|before| before.text == "n")
                    && self.is_ragged() =>
                {
                    "ceil(n, 2)"
                }
                _ => continue,
            };
            let mut draft = roomy.clone();
            other.clone_into(&mut draft.args[at].text);
            all.push((draft.text(), draft.args[at].guess()));
        }
        all
    }

    /// The same, with outputs that keep what they held where a kernel does not write them; those that begin at 0 do already.
    pub fn keeping_outputs(&self) -> KernelDraft {
        let mut draft = self.clone();
        for arg in &mut draft.args {
            if let (Some(rest), false) = (arg.text.strip_prefix("out "), arg.text.ends_with("= 0"))
            {
                arg.text = format!("inout {rest}");
            }
        }
        draft
    }

    /// Puts these before and behind the lengths of buffers.
    fn lengthen(&mut self, before: &str, behind: &str) {
        let buffers = self.args.iter_mut();
        for arg in buffers.filter(|arg| !arg.text.contains("image ")) {
            let text = arg.text.replacen('[', &format!("[{before}"), 1);
            arg.text = text.replacen(']', &format!("{behind}]"), 1);
        }
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
    let mut draft = unchecked(text, (file, kernel), defines, UNNAMED)?;
    let mut args = draft.args.iter();
    if let Some(arg) = args.find(|arg| arg.comment == TYPE_UNKNOWN || arg.text == "?") {
        let parameter = &arg.parameter;
        let (type_name, _) = parameter.rsplit_once(' ').unwrap_or_default();
        let kernel = kernel.unwrap_or(file);
        return Err(match has_part(type_name, "pipe atomic_") {
            true => format!("gpulab cannot make the argument {parameter} of {kernel}"),
            false => format!(
                "the type of the parameter {parameter} of {kernel} is in none of its files: give it, as in -D {type_name}=float"
            ),
        });
    }
    if besides.contains(ITSELF) {
        draft = draft.keeping_outputs();
    }
    if room {
        let row = if draft.head.contains(SQUARE) {
            "n + "
        } else {
            ""
        };
        draft.lengthen("", &format!(" + {row}64"));
    }
    besides.clone_into(&mut draft.besides);
    Ok(draft)
}

/// A kernel's file but for its check; `unnamed` are macros whose names say nothing.
fn unchecked(
    text: &str,
    (file, kernel): (&str, Option<&str>),
    defines: &BTreeMap<String, String>,
    unnamed: &str,
) -> Result<KernelDraft, String> {
    let given: Vec<(String, String)> = defines.clone().into_iter().collect();
    let mut source = CSource::new(text, &given);
    let kernel = source.kernel(kernel, file)?;
    let dimensions = dimensions(source.body(&kernel).unwrap_or_default());
    let mut macros = source.guesses(dimensions, "float");
    source.define(&macros);
    source.define(defines);
    let parameters = source.parameters(&kernel).unwrap_or_default();
    let named = match source.kernels().len() {
        1 => file.to_owned(),
        _ => format!("{file}:{kernel}"),
    };
    let reading = Reading::new(&source, &kernel, dimensions, &parameters);
    let mut usages: Vec<Usage> = parameters
        .iter()
        .map(|parameter| source.usage(&kernel, &parameter.name))
        .collect();
    // A kernel writes something: where nothing is seen to be written, the only buffer that can be.
    let mut candidates = (parameters.iter().zip(&mut usages))
        .filter(|(parameter, _)| parameter.space == AddressSpace::Global && !parameter.is_const);
    if let (Some((_, only)), None) = (candidates.next(), candidates.next())
        && *only & CHANGED == 0
    {
        *only = WRITTEN;
    }
    let mut args: Vec<DraftArg> = parameters
        .iter()
        .zip(usages)
        .map(|(parameter, usage)| draft_arg(&reading, &parameters, parameter, usage))
        .collect();
    let group = source.required_group(&kernel);
    let group = group.or_else(|| source.named_group(dimensions));
    let lines = lines((&source, &kernel, text), &reading, (group, &args));
    let items = group.map(|group| group.size() as u64);
    for arg in &mut args {
        if let Some(items) = items.or_else(|| source.local_length(&kernel)) {
            arg.text = arg.text.replace(A_GROUP, &format!("ceil(n, {items})"));
        }
        // What may be written is taken for written.
        if let (Some(rest), UNNAMED) = (arg.text.strip_prefix("? "), unnamed) {
            arg.text = format!("inout {rest}");
        }
    }
    let mut unknown = source.host_names();
    let sizes = unknown.extract_if(.., |name| is_size(name));
    macros.extend(sizes.map(|name| (name, "n".to_owned())));
    let others = unknown.iter();
    macros.extend(others.map(|name| (name.clone(), unnamed.to_owned())));
    let values = macros
        .iter()
        .map(|(name, value)| format!("{name} = {value}"));
    let said = lines.lines().map(|line| {
        let (said, _) = line.split_once('#').unwrap_or((line, ""));
        said.trim().replace('"', "")
    });
    let guesses = said
        .chain(values)
        .chain(args.iter().map(DraftArg::guess))
        .joined(", ");
    macros.extend(defines.clone());
    let defined = macros
        .iter()
        .map(|(name, value)| format!("{name} = {value:?}"));
    let mut define = defined.joined(", ");
    if !define.is_empty() {
        define = format!("define = {{ {define} }}\n");
    }
    Ok(KernelDraft {
        head: format!(
            "# A ladder for {kernel}: numbers and lengths are guesses, and each ? is yours to fill in.\nkernel = {named:?}\n{define}{lines}"
        ),
        args,
        besides: String::new(),
        args_of_last: Vec::new(),
        guesses,
        unknown,
        strides: (reading.body.iter()).any(|word| is_among(word, "get_num_groups get_global_size")),
    })
}

/// The lines of a kernel's file that say how it is launched.
fn lines(
    (source, kernel, text): (&CSource, &str, &str),
    reading: &Reading<'_>,
    (group, args): (Option<WorkGroup>, &[DraftArg]),
) -> String {
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
    let mut out = format!("{form}n      = {}\n{only}", own.unwrap_or(n));
    // Of all work-groups a kernel is meant for one if it never asks for its own, and for one work-item if it asks for nothing.
    let is_one_group = !has_part(text, "get_global get_group");
    let is_one_item = is_one_group && !has_part(text, "get_local get_sub");
    let own = match is_one_item {
        true => Some(1),
        false => source.local_length(kernel).filter(|_| dimensions == 1),
    };
    let usual = own.unwrap_or([256, 16, 8][dimensions - 1]);
    let is_guarded = is_one_item || is_guarded(source, kernel);
    if !is_guarded {
        let _ = writeln!(
            out,
            "multiple = {usual}  # nothing was seen that leaves work-items out"
        );
    }
    let is_counted_on = !is_guarded || has(A_GROUP) || own.is_some();
    let wg = match (group, dimensions) {
        (Some(group), _) => group.to_string(),
        (None, 2) => "16x16".to_owned(),
        (None, 3) => "8x8x4".to_owned(),
        _ if is_counted_on => usual.to_string(),
        _ => String::new(),
    };
    if !wg.is_empty() {
        let _ = writeln!(out, "wg     = {wg:?}");
    }
    let mut words = source.body(kernel).unwrap_or_default().iter();
    let has_local = words.any(|word| word.trim_matches('_') == "local");
    let other = match group.is_none() && own.is_none() && has_local {
        true => OTHER_GROUP,
        false => "",
    };
    out + &match is_one_group {
        true => format!("groups = \"1\"  # no work-item asks for its group{other}\n"),
        false => format!("items  = {items:?}  # work-items; or groups = ...{other}\n"),
    }
}

#[derive(Clone)]
struct DraftArg {
    text: String,
    /// Type and name.
    parameter: String,
    comment: String,
    /// The name of the output that it is.
    output: Option<String>,
}

impl DraftArg {
    fn name(&self) -> Option<&str> {
        self.parameter.rsplit(' ').next()
    }

    /// What stands for it where buffers are declared already.
    fn reference(&self) -> &str {
        match self.text.split_once('[') {
            Some((declared, _)) => declared.rsplit(' ').next().unwrap_or_default(),
            None => &self.text,
        }
    }

    /// What it guesses: `x[n] small 8`, or `a = 1.5` of a parameter that is a number.
    fn guess(&self) -> String {
        match self.parameter.rsplit_once(' ') {
            Some((_, name)) if !self.text.contains('[') => format!("{name} = {}", self.text),
            _ => self.text.clone(),
        }
    }
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
        parameter: format!("{} {}", parameter.type_name, parameter.name),
        comment: comment.to_owned(),
        output: None,
    };
    let (unknown, comment) = match parameter.value_type {
        None => ("? ", TYPE_UNKNOWN),
        Some(_) => ("", ""),
    };
    match parameter.space {
        // Behind another name it may be written.
        AddressSpace::Global if !parameter.is_const && usage == HANDED_ON => {
            plain(format!("? {name}[{length}]"), ": in, out or inout?")
        }
        AddressSpace::Global | AddressSpace::Constant
            if parameter.is_const || usage & CHANGED == 0 =>
        {
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
                _ if usage & (ACCUMULATED | READ | WRITTEN) == ACCUMULATED => ("out", " = 0"),
                _ if usage & (UPDATED | READ) != 0 => ("inout", ""),
                _ => ("out", ""),
            };
            let text = format!("{role} {unknown}{name}[{length}]{content}");
            DraftArg {
                output: Some(name.clone()),
                ..plain(text, comment)
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
                output: (!parameter.is_const).then(|| name.clone()),
                ..plain(text, ": or another format, such as rgba8 or r32f")
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
                    "n" if is_row_length(
                        reading.body,
                        &reading.places,
                        (&parameter.name, reading.dimensions),
                    ) =>
                    {
                        ROW_LENGTH
                    }
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
                let values = fields.clone();
                let values = values.map(|field| guess(field.scalar, &field.name));
                let names = fields.map(|field| field.name.as_str()).joined(", ");
                plain(
                    format!("{{{}}}", values.joined(", ")),
                    &format!(": or others, {names}"),
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
    !is_of_other_data(name)
        && (is_among(&small, "n w h nx ny nz ni nj nk")
            || is_among(small.trim_start_matches("ui"), "wa wb wc ha hb hc")
            || ["M", "K"].contains(&name)
            || has("num size len count width height elem rows cols dim"))
}

/// Whether it is a size of something else than the data. A small k may as well count a loop's turns.
fn is_of_other_data(name: &str) -> bool {
    let small = name.to_lowercase();
    let mut parts = "mask filter kernel block wind tile bin class k_".split(' ');
    parts.any(|part| small.contains(part))
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
    /// Whether functions are called that have no value below 0.
    needs_positive: bool,
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
            whole(parameter).is_some_and(|scalar| scalar.size() >= 4)
                && match parameter.space {
                    AddressSpace::Value => {
                        is_size(name)
                            || is_bound(body, &places, name)
                            || is_row_length(body, &places, (name, dimensions))
                    }
                    AddressSpace::Global | AddressSpace::Constant => {
                        is_size(name) && indices(body, name).iter().all(|index| *index == ["0"])
                    }
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
        let bytes = parameters
            .iter()
            .filter(|parameter| whole(parameter).is_some_and(|scalar| scalar.size() == 1));
        let mut reading = Reading {
            body,
            dimensions,
            places,
            sizes,
            rows: BTreeSet::new(),
            row_elements: BTreeSet::new(),
            factors: BTreeMap::new(),
            bytes: bytes.map(|parameter| parameter.name.as_str()).collect(),
            is_flat,
            needs_positive: source
                .has_word("log log2 log10 native_log sqrt native_sqrt rsqrt native_rsqrt pow powr"),
        };
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
        let mut places = self.body.windows(3).filter(|three| three[1] == name);
        places.all(|three| {
            let around = [three[0].as_str(), three[2].as_str()];
            around.contains(&"+") && !["*", "/", "%"].iter().any(|sign| around.contains(sign))
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
        let shifts = index
            .windows(4)
            .filter(|four| four[1] == "<" && four[2] == "<");
        let shifts = shifts.filter(|four| of_place(&four[..1]));
        let powers = shifts.filter_map(|four| 1u64.checked_shl(four[3].parse().ok()?));
        let variables = index
            .iter()
            .filter_map(|word| self.factors.get(word.as_str()).copied());
        factors.chain(powers).chain(variables).max().unwrap_or(1)
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
            Some(ValueType::Number(..) | ValueType::Case) => {
                let kind = if self.needs_positive {
                    " positive"
                } else {
                    " small 8"
                };
                kind.to_owned()
            }
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

/// The indices of a pointer; and in `row = x + y * width`, that of where the row begins.
fn indices<'a>(body: &'a [String], name: &str) -> Vec<&'a [String]> {
    let uses = (1..body.len()).filter(|at| body[at - 1] == name);
    let index = |at: usize| match body[at].as_str() {
        "[" => Some(&body[at + 1..closing(body, at)?]),
        "+" if at > 1 && body[at - 2] == "=" => {
            let length = body[at..].iter().position(|word| word == ";")?;
            Some(&body[at + 1..at + length])
        }
        _ => None,
    };
    uses.filter_map(index).collect()
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
        let mut before = &body[at.saturating_sub(8)..at];
        if let [compared @ .., equal] = before
            && equal == "="
        {
            before = compared;
        }
        let [.., place, sign] = before else {
            return false;
        };
        let mask = match place.as_str() {
            ")" => made_of(before, &Places::new()),
            place => places.get(place).copied().unwrap_or_default(),
        };
        mask > 0 && ["<", ">"].contains(&sign.as_str())
    })
}

/// Whether a number is no size, and by its name says how far apart rows are. A stride that each axis is multiplied by is a step.
fn is_row_length(body: &[String], places: &Places<'_>, (name, dimensions): (&str, usize)) -> bool {
    let small = name.to_lowercase();
    let products = body.windows(3).filter(|three| three[1] == "*");
    let factors: BTreeSet<&str> = products
        .filter(|three| three[0] == name || three[2] == name)
        .map(|three| &*three[if three[0] == name { 2 } else { 0 }])
        .collect();
    let is_factor = match dimensions {
        _ if small.starts_with("ld") || small.contains("pitch") => !factors.is_empty(),
        2 if small.contains("stride") || small.ends_with("step") => {
            factors.len() == 1 && factors.iter().all(|factor| places.get(factor) > Some(&0))
        }
        _ => false,
    };
    is_factor && !is_size(name) && !is_of_other_data(name) && !is_bound(body, places, name)
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
    fn other_numbers_are_tried_where_data_have_room() {
        let text = "kernel void k(global const float *x, global float *y, float a, int step, int n, int m, int pitch, int offset)
            { int i = get_global_id(0); if (i < n) y[i * pitch + m + offset] = a * x[i] * step; }";
        let draft = draft_alone(text, ("k.cl", None), &BTreeMap::new(), ("", false)).unwrap();
        let others = draft.with_other_numbers();
        let numbers: Vec<&str> = others.iter().map(|(_, number)| number.as_str()).collect();
        assert_eq!(
            numbers,
            [
                "a = 0.75",
                "step = 2",
                "m = 16",
                "pitch = n + 4",
                "offset = 16"
            ]
        );
        assert!(
            others[0].0.contains("\"inout y[2*(n*n) + 64]\""),
            "{}",
            others[0].0
        );
    }

    #[test]
    fn rows_are_as_far_apart_as_their_pitch_says() {
        for (index, name, number) in [
            ("y * stride + x", "stride", "n"),
            ("x + pitch * (y + 1)", "pitch", "n"),
            ("(y * stride + z) * w + x * stride", "stride", "1"),
            ("y * w + x + z * stride", "stride", "1"),
        ] {
            let text = format!(
                "kernel void k(global float *a, int w, int {name}) {{ int x = get_global_id(0), y = get_global_id(1), z = w; if (x < w) a[{index}] = 1; }}"
            );
            let draft = draft(&text, "k.cl", None).unwrap();
            assert!(
                draft.contains(&format!("\"{number}\",          # int {name}:")),
                "{index}: {draft}"
            );
        }
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
             kernel = \"a.cl:scale\"\ndefine = { BLOCK = \"?\", block_size_y = \"1\" }\nn      = 1048576\n\
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
