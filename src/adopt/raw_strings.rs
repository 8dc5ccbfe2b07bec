//! Kernels within raw strings of C++, as `R"CL(...)CL"`: libraries include such files as text.

/// What the raw strings of a text hold, where that has a kernel or nothing but comments stands beside it: all else is gone, but
/// each line keeps its number.
pub(super) fn kernels_of(text: &str) -> Option<String> {
    let mut kept = String::new();
    let mut beside = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("R\"") {
        kept.extend(before.chars().filter(|c| *c == '\n'));
        beside.push_str(before);
        rest = behind;
        if let Some((delimiter, inside)) = behind.split_once('(').filter(|(word, _)| is_delimiter(word)) {
            let (held, after) = inside.split_once(&format!("){delimiter}\""))?;
            kept.push_str(held);
            rest = after;
        }
    }
    beside.push_str(rest);
    let has_kernel = kept.contains("__kernel") || kept.contains("kernel void");
    (has_kernel
        || !kept.is_empty()
            && beside.lines().all(|line: &str| line.trim().is_empty() || line.trim_start().starts_with("//")))
    .then_some(kept)
}

fn is_delimiter(word: &str) -> bool {
    word.len() <= 16 && !word.contains([')', '\\', '"', ' ', '\t', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_raw_strings_hold_keeps_its_lines() {
        let text = "// An R\"string\" of\nstd::string a{R\"CL(\n__kernel void k() { f(\")\"); }\n)CL\"};\nint x = R\"(\n#define A\n)\";";
        assert_eq!(kernels_of(text).unwrap(), "\n\n__kernel void k() { f(\")\"); }\n\n\n#define A\n");
        assert_eq!(kernels_of("// Common.\nR\"(\n#define A 1\n)\"\n// End.").unwrap(), "\n\n#define A 1\n");
        for plain in [
            "__kernel void k() {}",
            "char *R = R\"(no)\"; __kernel void k() {}",
            "R\"(__kernel void k() {}",
            "// No string.",
        ] {
            assert_eq!(kernels_of(plain), None, "{plain}");
        }
    }
}
