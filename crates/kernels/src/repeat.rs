//! Repetition of a kernel's work inside it, which no kernel's file needs to know of.

/// The macros of the loop; in front of each rung whose work can be repeated.
pub(crate) const MACROS: &str = "transpose/repeat.cl";

/// The text with this kernel's work in the loop, which begins behind its `__local` memory; with no line more or less. None if
/// there is no such kernel.
pub fn repeated(text: &str, kernel: &str) -> Option<String> {
    let begin = text.find(&format!("{kernel}("))? + kernel.len();
    let bracket = begin + closing(&text[begin..], ['(', ')'])?;
    let brace = bracket + text[bracket..].find('{')?;
    let end = brace + closing(&text[brace..], ['{', '}'])?;
    let body = &text[brace + 1..end];
    let lines = body.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some((*at, line))
    });
    let memory = lines.filter(|(_, line)| line.trim_start().starts_with("__local ")).last();
    let (start, sync) = match memory {
        Some((behind, line)) => (behind - (line.len() - line.trim_end().len()), " REPEAT_SYNC;"),
        None => (0, ""),
    };
    let parameters = &text[..bracket];
    let kept = &body[..start];
    let work = &body[start..];
    let between = &text[bracket..=brace];
    Some(format!("{parameters} REPEAT_ARGS{between}{kept} REPEAT {{{work}{sync} }}{}", &text[end..]))
}

/// Where the bracket closes that a text begins with.
fn closing(text: &str, [open, close]: [char; 2]) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, letter)| {
        depth += i32::from(letter == open) - i32::from(letter == close);
        (letter == close && depth == 0).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_stands_around_the_work_and_local_memory_outside() {
        let kernel = "void f(int x);\n__kernel void k(__global T *in,\n              __global T *out)\n{\n    out[f(0)] = in[0];\n}\nrest\n";
        let said = "void f(int x);\n__kernel void k(__global T *in,\n              __global T *out REPEAT_ARGS)\n{ REPEAT {\n    out[f(0)] = in[0];\n }}\nrest\n";
        assert_eq!(repeated(kernel, "k").as_deref(), Some(said));
        assert_eq!(repeated(kernel, "other"), None);
        let kernel = "__kernel void k()\n{\n    __local T t[1];\n    if (a) {\n        b;\n    }\n}\n";
        let said = "__kernel void k( REPEAT_ARGS)\n{\n    __local T t[1]; REPEAT {\n    if (a) {\n        b;\n    }\n REPEAT_SYNC; }}\n";
        assert_eq!(repeated(kernel, "k").as_deref(), Some(said));
    }
}
