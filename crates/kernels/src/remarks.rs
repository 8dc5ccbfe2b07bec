//! What a kernel's text shows by itself, without a run: what the language promises nobody, by line.

use crate::c_text::{
    ValueType, is_identifier, is_qualifier, logical_lines, tokens, without_comments,
};
use crate::described::Formula;
use crate::signature::CSource;
use gpulab_model::Joined;

/// Bytes of local memory that every GPU gives a group.
const LOCAL_MEMORY: u64 = 32 << 10;

/// Work-items that every GPU gives a group.
const GROUP_ITEMS: usize = 256;

/// What an assembled text shows, each kind with its first place; `defines` are the macros and the build options, which begin with
/// `-`, that it is built with. Kernels that are not `launched` are left out.
pub fn remarks(text: &str, defines: &[(String, String)], launched: &[&str]) -> Vec<String> {
    let options: Vec<&str> = defines.iter().map(|(name, _)| name.as_str()).collect();
    let source = CSource::new(text, defines);
    let values = defines.iter().flat_map(|(_, value)| tokens(value));
    let words: Vec<String> = tokens(&without_comments(text))
        .into_iter()
        .chain(values)
        .collect();
    let of_vectors = words
        .iter()
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()));
    let has = |names: &[&str]| of_vectors.clone().any(|word| names.contains(&word));
    let has_wide = has(&["long", "ulong", "size_t", "INDEX", "T"]);
    let has_double = has(&["double", "T"]) || options.contains(&"-cl-single-precision-constant");
    let promised = options
        .iter()
        .find(|option| ["-cl-fast-relaxed-math", "-cl-finite-math-only"].contains(*option));
    // By the types of its instructions.
    let types = [".u32", ".s32", ".b32", ".f32", ".u64"];
    let is_ptx = types.iter().any(|name| text.contains(name));
    let groups = launched
        .iter()
        .filter_map(|kernel| source.required_group(kernel));
    let items = groups.map(|group| group.size()).max();
    let mut all: Vec<String> = Vec::new();
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
        let line_words = tokens(&code);
        if let Some(at) = line_words
            .iter()
            .position(|word| ["kernel", "__kernel"].contains(&word.as_str()))
        {
            // Its name stands before the bracket of its parameters, and not before that of an attribute.
            let rest = &line_words[at..];
            let mut names = rest
                .windows(2)
                .filter(|pair| pair[1] == "(" && is_identifier(&pair[0]))
                .map(|pair| &pair[0]);
            let name = names.find(|name| {
                !["attribute", "group_size", "vec_type"]
                    .iter()
                    .any(|part| name.contains(part))
            });
            is_meant = name.is_none_or(|name| launched.contains(&name.as_str()));
        }
        let was_meant = is_meant;
        // A function ends where a line begins with its bracket.
        is_meant |= code.starts_with('}');
        if !was_meant {
            continue;
        }
        let local = local_bytes(&code, &source).filter(|bytes| *bytes > LOCAL_MEMORY);
        let said = [
            local.map(|bytes| {
                format!("{} KiB of local memory for a group: GPUs give 32 to 64 KiB, many 48 at most", bytes >> 10)
            }),
            items
                .filter(|items| *items > GROUP_ITEMS && code.contains("reqd_work_group_size"))
                .map(|items| format!("groups of {items} work-items: GPUs give 256 to 1024 at most")),
            waits(&code).then(|| {
                "a loop waits for another work-item, which a device may not run until this one ends: let one launch end, and \
                 go on in another"
                    .to_owned()
            }),
            double(&code).filter(|_| !has_double).map(|literal| {
                format!("{literal} is a double, which devices convert to and from: {literal}f is a float")
            }),
            shifted(&code).filter(|by| *by >= 64 || !has_wide && *by >= 32).map(|by| {
                let bits = if by < 64 { 32 } else { 64 };
                format!("a shift by {by}: OpenCL takes it modulo {bits} for a number of {bits} bits, so this shifts by {}", by % bits)
            }),
            promised.filter(|_| asks_for_nan(&code)).map(|option| {
                format!("isnan or isinf is asked, and the build option {option} promises that there is no NaN and no infinity")
            }),
            (is_ptx && line_words.iter().any(|word| word.trim_matches('_') == "asm")).then(|| {
                "asm with NVIDIA's instructions (PTX), which only NVIDIA's driver builds".to_owned()
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
                all.push(format!("{file}, line {line}: {says}"));
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
    let condition = &behind[..end];
    let body = behind[end + 1..].replace(' ', "");
    let words = tokens(condition);
    // What the loop changes itself, it does not wait for; and a `do` has its body before.
    let changes = words.windows(3).any(|three| {
        let is_sign = |word: &str| ["<", ">", "=", "!"].contains(&word);
        three[1] == "=" && !is_sign(&three[0]) && three[2] != "="
    }) || ["++", "--"].iter().any(|sign| condition.contains(sign));
    let is_idle = body.starts_with(';') || body.starts_with("{}");
    let has_body_before = before.trim_end().ends_with('}');
    let asks = words.iter().any(|word| word == "[" || word == "*")
        || words
            .windows(2)
            .any(|pair| pair[0].starts_with("atom") && pair[1] == "(");
    is_idle && asks && !changes && !has_body_before
}

/// Bytes of an array in local memory that a line declares, if its size follows from macros.
fn local_bytes(code: &str, source: &CSource) -> Option<u64> {
    let words = tokens(code);
    let at = words
        .iter()
        .position(|word| word == "__local" || word == "local")?;
    let mut rest = words[at..].iter().skip_while(|word| is_qualifier(word));
    let ValueType::Number(scalar, lanes) = source.value_type(rest.next()?)? else {
        return None;
    };
    let declared = rest
        .skip(1)
        .map(String::as_str)
        .take_while(|word| *word != ";" && *word != ",")
        .joined(" ");
    let sides = declared;
    let sides = sides.strip_prefix('[')?.strip_suffix(']')?.split("] [");
    let mut bytes = (lanes * scalar.size()) as u64;
    for side in sides {
        let count = Formula::parse(side)
            .ok()?
            .value(&|name| source.number(name))
            .ok()?;
        bytes = bytes.saturating_mul(u64::try_from(count).ok()?);
    }
    Some(bytes)
}

/// Whether a text has doubles, or literals of that type.
pub fn has_doubles(text: &str) -> bool {
    let text = without_comments(text);
    double(&text).is_some() || tokens(&text).iter().any(|word| word.starts_with("double"))
}

/// A literal of the type double.
fn double(code: &str) -> Option<String> {
    // Directives, and what stands in quotation marks, have none.
    let code: String = match code.trim_start().starts_with('#') {
        true => String::new(),
        false => code.split('"').step_by(2).joined(" "),
    };
    let mut words: Vec<String> = vec![String::new()];
    for c in code.chars() {
        match words.last_mut() {
            Some(word)
                if c.is_ascii_alphanumeric()
                    || c == '.'
                    || c == '_'
                    || "+-".contains(c)
                        && word.starts_with(|c: char| c.is_ascii_digit())
                        && word.ends_with(['e', 'E']) =>
            {
                word.push(c);
            }
            _ => words.push(String::new()),
        }
    }
    let is_double = |word: &String| {
        let begins = word
            .trim_start_matches('.')
            .starts_with(|c: char| c.is_ascii_digit());
        begins
            && word.contains('.')
            && !word.contains(|c: char| c.is_ascii_alphabetic() && !"eE".contains(c))
    };
    words.into_iter().find(is_double)
}

/// The number that a line shifts by, if it is written down and stands alone: `32 - k` is none.
fn shifted(code: &str) -> Option<u64> {
    let behind = ["<<", ">>"]
        .into_iter()
        .flat_map(|sign| code.split(sign).skip(1));
    let mut numbers = behind.filter_map(|behind| {
        let behind = behind.trim_start_matches(['=', ' ']);
        let end = behind
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(behind.len());
        let is_alone = behind[end..]
            .trim_start()
            .starts_with([';', ')', ',', '|', '&', ']']);
        behind[..end].parse::<u64>().ok().filter(|_| is_alone)
    });
    numbers.find(|number| *number >= 32)
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
            let begins = all.iter().map(|said| {
                let (place, says) = said.split_once(": ").unwrap();
                format!("{} {}", place.replace(", line ", ":"), &says[..10])
            });
            begins.collect::<Vec<_>>().join(", ")
        };
        for (text, options, want) in [
            (
                "\nwhile (atomic_add(c, 0) < G) ;",
                &[][..],
                "a.cl:2 a loop wai",
            ),
            ("do { x++; } while (x[0] < 3);", &[], ""),
            ("} while (atomic_cmpxchg(p, old, new) != old);", &[], ""),
            ("while ((i = atomic_inc(next)) < n) y[i] = x[i];", &[], ""),
            ("while (k < n && x[k++] > 1e30f) ;", &[], ""),
            ("while (k < n_atoms && k < 7) k++;", &[], ""),
            ("x = y * 1.0e-5f; print(\"at 1.5\");", &[], ""),
            ("x = y * 1.0e-5;", &[], "a.cl:1 1.0e-5 is "),
            ("x = y << k | y >> 32 - k;", &[], ""),
            ("ulong4 v = w << 32;", &[], ""),
            (
                "#if 0\n#define TS 128\n#else\n#define TS 16\n#endif\n__local float t[TS][TS];",
                &[],
                "",
            ),
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
            (
                "kernel __attribute__((reqd_work_group_size(512, 1, 1)))\nvoid k(int x) { int i = get_global_id(0);\n}",
                &[],
                "a.cl:1 groups of ",
            ),
            (
                "__attribute__((reqd_work_group_size(32, 16, 1))) kernel void k(int x) {}",
                &[],
                "a.cl:1 groups of ",
            ),
            ("y = mul24(x, 3);", &[], "a.cl:1 mul24 mult"),
            (
                "asm volatile(\"mov.u32 %0, 1;\" : \"=r\"(y));",
                &[],
                "a.cl:1 asm with N",
            ),
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
