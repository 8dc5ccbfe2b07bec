//! The beginnings of a family's file for somebody else's kernel: what its text says is filled in, and what only its host
//! knows is a question mark.

use crate::signature::{AddressSpace, CSource, KernelParameter, Usage, ValueType};
use std::fmt::Write as _;

/// A file for a kernel of a text, which stands in `file`.
///
/// # Errors
/// A text without this kernel, or with several and no name.
pub fn draft(text: &str, file: &str, kernel: Option<&str>) -> Result<String, String> {
    let source = CSource::new(text, &[]);
    let kernels = source.kernels();
    let kernel = match (kernel, &kernels[..]) {
        (Some(name), all) if all.iter().any(|known| known == name) => name.to_owned(),
        (Some(name), all) => return Err(format!("there is no kernel {name} in {file}; it has {}", all.join(", "))),
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
    let parameters = source.parameters(&kernel).unwrap_or_default();
    let body = source.body(&kernel).unwrap_or_default();
    let dimensions = dimensions(body);
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# A ladder for {kernel}, as far as its text says. Each ? is yours to fill in.");
    let named = if kernels.len() == 1 { file.to_owned() } else { format!("{file}:{kernel}") };
    let _ = writeln!(out, "kernel = {named:?}");
    let (form, n, items, length) = match dimensions {
        1 => ("", 1 << 20, "n", "n"),
        _ => ("form   = \"square\"\n", 1024, "n, n", "n*n"),
    };
    let _ = writeln!(out, "{form}n      = {n}");
    let macros = source.unset_macros();
    if !macros.is_empty() {
        let all: Vec<String> = macros.iter().map(|name| format!("{name} = \"?\"")).collect();
        let _ = writeln!(out, "define = {{ {} }}", all.join(", "));
    }
    match source.required_group(&kernel) {
        Some([x, y, 1]) if y > 1 => _ = writeln!(out, "wg     = \"{x}x{y}\""),
        Some([x, ..]) => _ = writeln!(out, "wg     = \"{x}\""),
        None if dimensions > 1 => out.push_str("wg     = \"16x16\"\n"),
        None => {}
    }
    let _ = writeln!(out, "items  = {items:?}  # work-items; or groups = ...");
    out.push_str("args   = [\n");
    let args: Vec<DraftArg> = parameters
        .iter()
        .map(|parameter| draft_arg(parameter, source.usage(&kernel, &parameter.name), length))
        .collect();
    let width = args.iter().map(|arg| arg.text.len()).max().unwrap_or(0) + 3;
    for (arg, parameter) in args.iter().zip(&parameters) {
        let quoted = format!("{:?},", arg.text);
        let _ = writeln!(out, "  {quoted:width$} # {} {}{}", parameter.type_name, parameter.name, arg.remark);
    }
    out.push_str("]\n");
    let outputs: Vec<String> =
        args.iter().filter_map(|arg| arg.output.as_ref()).map(|name| format!("{name} = ?")).collect();
    let _ = writeln!(out, "check  = \"numpy: {}\"", outputs.join("; "));
    Ok(out)
}

struct DraftArg {
    text: String,
    remark: String,
    /// The name of the output that it is.
    output: Option<String>,
}

fn draft_arg(parameter: &KernelParameter, usage: Usage, length: &str) -> DraftArg {
    let name = &parameter.name;
    let plain = |text: String, remark: &str| DraftArg { text, remark: remark.to_owned(), output: None };
    let unknown = if parameter.value_type.is_none() { "? " } else { "" };
    let remark = if parameter.value_type.is_none() { ": its type is not known here" } else { "" };
    match parameter.space {
        AddressSpace::Global | AddressSpace::Constant
            if parameter.is_const || !usage.changes() && !usage.is_handed_on =>
        {
            let data = data_of(parameter);
            plain(format!("{unknown}{name}[{length}]{data}"), remark)
        }
        AddressSpace::Global | AddressSpace::Constant => {
            let (role, content) = match usage {
                Usage { is_accumulated: true, is_read: false, is_written: false, .. } => ("out", " = 0"),
                Usage { is_updated: true, .. } | Usage { is_read: true, .. } => ("inout", ""),
                _ => ("out", ""),
            };
            let text = format!("{role} {unknown}{name}[{length}]{content}");
            DraftArg { text, remark: remark.to_owned(), output: Some(name.clone()) }
        }
        AddressSpace::Local => plain("local WG".into(), ": elements of local memory"),
        AddressSpace::Image | AddressSpace::Sampler => plain("?".into(), ": images cannot be given by a file yet"),
        AddressSpace::Value => match &parameter.value_type {
            Some(ValueType::Index) => plain("n".into(), ""),
            Some(ValueType::Number(scalar, 1)) if !scalar.is_float() && is_size(name) => plain("n".into(), ""),
            Some(ValueType::Number(_, lanes)) if *lanes > 1 => plain(format!("({})", vec!["?"; *lanes].join(", ")), ""),
            Some(ValueType::Struct(layout)) => {
                let fields: Vec<&str> = layout.fields.iter().map(|field| field.name.as_str()).collect();
                plain(format!("{{{}}}", vec!["?"; fields.len()].join(", ")), &format!(": {}", fields.join(", ")))
            }
            _ => plain("?".into(), ""),
        },
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

/// Whether a parameter's name is that of a size.
fn is_size(name: &str) -> bool {
    let small = name.to_lowercase();
    const NAMES: [&str; 9] = ["n", "m", "k", "w", "h", "nx", "ny", "ncols", "nrows"];
    const PARTS: [&str; 10] = ["num", "size", "len", "count", "width", "height", "elem", "rows", "cols", "dim"];
    NAMES.contains(&small.as_str()) || PARTS.iter().any(|part| small.contains(part))
}

/// In how many dimensions a kernel asks where it is.
fn dimensions(body: &[String]) -> usize {
    let asks = |pair: &[String]| {
        matches!(pair[0].as_str(), "get_global_id" | "get_group_id" | "get_local_id") && pair[1] == "("
    };
    let places = body.windows(3).filter(|three| asks(&three[..2])).filter_map(|three| three[2].parse::<usize>().ok());
    places.max().unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_text_says_is_filled_in() {
        let text = "__kernel void scale(__global const float *x, __global float *y, const int n, const float a)
            { int i = get_global_id(0); if (i < n) y[i] = a * x[i]; }
            __kernel void count(__global int *bins, __global uchar *img, uint2 size, __local int *tile)
            { int x = get_global_id(1); atomic_inc(&bins[img[x * BLOCK]]); }";
        assert!(draft(text, "a.cl", None).unwrap_err().contains("a.cl:scale; it has scale, count"));
        assert!(draft(text, "a.cl", Some("no")).unwrap_err().contains("there is no kernel no"));
        assert_eq!(
            draft(text, "a.cl", Some("scale")).unwrap(),
            "# A ladder for scale, as far as its text says. Each ? is yours to fill in.\n\
             kernel = \"a.cl:scale\"\nn      = 1048576\ndefine = { BLOCK = \"?\" }\n\
             items  = \"n\"  # work-items; or groups = ...\nargs   = [\n  \"x[n] small 8\", # float x\n  \
             \"out y[n]\",     # float y\n  \"n\",            # int n\n  \"?\",            # float a\n]\n\
             check  = \"numpy: y = ?\"\n"
        );
        let count = draft(text, "a.cl", Some("count")).unwrap();
        for line in
            ["form   = \"square\"", "\"out bins[n*n] = 0\"", "\"img[n*n]\"", "\"(?, ?)\"", "\"local WG\"", "bins = ?"]
        {
            assert!(count.contains(line), "{line}: {count}");
        }
    }
}
