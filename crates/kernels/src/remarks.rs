//! What a kernel's text shows by itself, without a run: what the language promises nobody, by line.

use crate::c_text::{is_qualifier, logical_lines, tokens, without_comments};
use crate::described::Formula;
use gpulab_model::data::Scalar;
use std::collections::BTreeMap;

/// A place of a text, and what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    pub file: String,
    /// From 1.
    pub line: u64,
    pub says: String,
}

/// Bytes of local memory that every GPU gives a group.
const LOCAL_MEMORY: u64 = 32 << 10;

/// What an assembled text shows, each kind at its first place; `defines` are the macros and the build options, which begin with
/// `-`, that it is built with. Kernels that are not `launched` are left out.
pub fn remarks(text: &str, defines: &[(String, String)], launched: &[&str]) -> Vec<Remark> {
    let options: Vec<&str> = defines.iter().map(|(name, _)| name.as_str()).collect();
    let numbers = defines
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), value.parse().ok()?)));
    let mut numbers: BTreeMap<String, u64> = numbers.collect();
    let words = tokens(&without_comments(text));
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    let has_wide = has(&["long", "ulong", "size_t", "INDEX", "T"]);
    let has_double = has(&["double", "T"]) || options.contains(&"-cl-single-precision-constant");
    let promised = options
        .iter()
        .find(|option| ["-cl-fast-relaxed-math", "-cl-finite-math-only"].contains(*option));
    let mut all: Vec<Remark> = Vec::new();
    let mut seen = Vec::new();
    let (mut file, mut shift) = (String::new(), 0);
    let mut is_meant = true;
    for (number, code) in logical_lines(text) {
        if let Some((line, name)) = code
            .strip_prefix("#line ")
            .and_then(|rest| rest.split_once(' '))
        {
            file = name.trim_matches('"').to_owned();
            shift = number as i64 + 1 - line.parse::<i64>().unwrap_or(0);
            continue;
        }
        if let Some((name, value)) = code
            .trim()
            .strip_prefix("#define ")
            .and_then(|rest| rest.split_once(' '))
        {
            numbers.extend(
                value
                    .trim()
                    .parse()
                    .ok()
                    .map(|value| (name.to_owned(), value)),
            );
        }
        if let Some((_, behind)) = code
            .split_once("kernel")
            .filter(|(_, behind)| behind.contains('('))
        {
            let head = behind.split('(').next().unwrap_or_default();
            let name = head.split_whitespace().next_back().unwrap_or_default();
            is_meant =
                name == "void" || name.starts_with("__attribute") || launched.contains(&name);
        }
        let was_meant = is_meant;
        // A function ends where a line begins with its bracket.
        is_meant |= code.starts_with('}');
        if !was_meant {
            continue;
        }
        let local = local_bytes(&code, &numbers).filter(|bytes| *bytes > LOCAL_MEMORY);
        let said = [
            local.map(|bytes| {
                format!("{} KiB of local memory for a group: GPUs give 32 to 64 KiB, many 48 at most", bytes >> 10)
            }),
            waits(&code).then(|| {
                "a loop waits for another work-item, which a device may not run until this one ends: let one launch end, and \
                 go on in another"
                    .to_owned()
            }),
            double(&code).filter(|_| !has_double).map(|literal| {
                format!("{literal} is a double: {literal}f is a float, and takes no conversion")
            }),
            shifted(&code).filter(|by| *by >= 64 || !has_wide && *by >= 32).map(|by| {
                let bits = if by < 64 { 32 } else { 64 };
                format!("a shift by {by}: of {bits} bits OpenCL shifts by {by} modulo {bits}, which is {}", by % bits)
            }),
            promised.filter(|_| asks_for_nan(&code)).map(|option| {
                format!("isnan or isinf is asked, and the build option {option} promises that there is no NaN and no infinity")
            }),
            code.contains("mul24(").then(|| {
                "mul24 multiplies integers of 24 bits: what it gives for larger factors differs from device to device"
                    .to_owned()
            }),
        ];
        let line = u64::try_from(number as i64 - shift).unwrap_or(0);
        for (kind, says) in said.into_iter().enumerate() {
            if let Some(says) = says.filter(|_| !seen.contains(&kind)) {
                seen.push(kind);
                all.push(Remark {
                    file: file.clone(),
                    line,
                    says,
                });
            }
        }
    }
    all
}

/// Whether a line loops until memory changes that nothing in the loop changes.
fn waits(code: &str) -> bool {
    let Some((before, behind)) = code.split_once("while") else {
        return false;
    };
    let mut depth = 0;
    let end = behind.find(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ')' && depth == 0
    });
    let Some(end) = end else { return false };
    let (condition, body) = (&behind[..end], behind[end + 1..].trim());
    let is_idle = body.starts_with(';') || body.replace(' ', "").starts_with("{}");
    let is_memory = condition.contains('[') || condition.contains('*');
    condition.contains("atom") || is_idle && is_memory && !before.trim_end().ends_with('}')
}

/// Bytes of an array in local memory that a line declares, if its size follows from these numbers.
fn local_bytes(code: &str, numbers: &BTreeMap<String, u64>) -> Option<u64> {
    let words = tokens(code);
    let at = words
        .iter()
        .position(|word| word == "__local" || word == "local")?;
    let mut rest = words[at..].iter().skip_while(|word| is_qualifier(word));
    let of = rest.next()?;
    let base = of.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes: u64 = of[base.len()..].parse().unwrap_or(1);
    let declared: Vec<&str> = rest
        .skip(1)
        .map(String::as_str)
        .take_while(|word| *word != ";" && *word != ",")
        .collect();
    let sides = declared.join(" ");
    let sides = sides.strip_prefix('[')?.strip_suffix(']')?.split("] [");
    let mut bytes = Scalar::in_c(base)?.size() as u64 * lanes;
    for side in sides {
        let count = Formula::parse(side)
            .ok()?
            .value(&|name| numbers.get(name).copied())
            .ok()?;
        bytes = bytes.saturating_mul(u64::try_from(count).ok()?);
    }
    Some(bytes)
}

/// A literal of the type double.
fn double(code: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
    let mut words = code.split(|c: char| !is_part(c));
    words
        .find(|word| {
            let is_number = word.starts_with(|c: char| c.is_ascii_digit() || c == '.');
            let digits = word.chars().any(|c| c.is_ascii_digit());
            is_number
                && digits
                && word.contains('.')
                && word
                    .chars()
                    .all(|c| c.is_ascii_digit() || c == '.' || c == 'e')
                && !code.trim_start().starts_with('#')
        })
        .map(str::to_owned)
}

/// The number that a line shifts by, if it is written down.
fn shifted(code: &str) -> Option<u64> {
    let behind = code.split_once("<<").or_else(|| code.split_once(">>"))?.1;
    let digits: String = behind
        .trim_start_matches(['=', ' '])
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

fn asks_for_nan(code: &str) -> bool {
    ["isnan(", "isinf(", "isfinite(", "isnormal("]
        .iter()
        .any(|call| code.contains(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_shows_is_said_of_it_alone() {
        let said = |text: &str, options: &[&str]| {
            let text = format!("#line 1 \"a.cl\"\n{text}");
            let options: Vec<_> = options
                .iter()
                .map(|name| (name.to_string(), String::new()))
                .collect();
            let all = remarks(&text, &options, &["k"]);
            all.iter()
                .map(|one| format!("{}:{} {}", one.file, one.line, &one.says[..10]))
                .collect::<Vec<_>>()
                .join(", ")
        };
        for (text, options, want) in [
            (
                "\nwhile (atomic_add(c, 0) < G) ;",
                &[][..],
                "a.cl:2 a loop wai",
            ),
            ("do { x++; } while (x[0] < 3);", &[], ""),
            ("while (*flag == 0) { }", &[], "a.cl:1 a loop wai"),
            ("while (i < n) i += 4;", &[], ""),
            (
                "float x = 0.5 * y; float z = 0.5f;",
                &[],
                "a.cl:1 0.5 is a d",
            ),
            ("float x = 1.0f + 3; // 0.5", &[], ""),
            ("double x = 0.5;", &[], ""),
            ("#pragma OPENCL 1.2", &[], ""),
            ("int x = y >> 32;", &[], "a.cl:1 a shift by"),
            ("ulong x = y >> 32;", &[], ""),
            (
                "y = isnan(x);",
                &["-cl-fast-relaxed-math"],
                "a.cl:1 isnan or i",
            ),
            ("y = isnan(x);", &[], ""),
            ("y = mul24(x, 3);", &[], "a.cl:1 mul24 mult"),
            (
                "__kernel void other(int x) {\n y = 0.5;\n}\nkernel void k(int x) { y = 0.25;\n}",
                &[],
                "a.cl:4 0.25 is a ",
            ),
            (
                "#define TS 64\n__local float4 t[TS][TS + 1];",
                &[],
                "a.cl:2 65 KiB of ",
            ),
            ("__local float t[64][64]; local int *p;", &[], ""),
        ] {
            assert_eq!(said(text, options), want, "{text}");
        }
    }
}
