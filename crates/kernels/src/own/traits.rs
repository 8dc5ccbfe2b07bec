//! What stands in a kernel's text, as far as it helps to say why it is wrong. No compiler: words and brackets only.

use crate::signature::HostNames;
use crate::tokens::{tokens, without_comments};
use gpulab_system::text::Joined;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceTraits {
    pub has_local: bool,
    pub barriers: u64,
    pub parameters: Vec<String>,
    /// Macros that only its host can define.
    pub left_to_host: HostNames,
}

impl SourceTraits {
    /// Looks at a kernel's text; `kernel` is the function that is launched first.
    pub fn of(text: &str, kernel: &str) -> SourceTraits {
        let code = without_comments(text);
        let words = tokens(&code);
        let count = |names: [&str; 2]| words.iter().filter(|word| names.contains(&word.as_str())).count();
        SourceTraits {
            has_local: count(["__local", "local"]) > 0,
            barriers: count(["barrier", "work_group_barrier"]) as u64,
            parameters: parameters(&code, kernel),
            left_to_host: HostNames::default(),
        }
    }
}

fn parameters(code: &str, kernel: &str) -> Vec<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named = code.match_indices(kernel).map(|(at, _)| (&code[..at], &code[at + kernel.len()..]));
    let mut named = named.filter(|(before, after)| {
        !before.ends_with(is_word) && before.trim_end().ends_with("void") && after.trim_start().starts_with('(')
            || before.trim_end().ends_with(')') && after.trim_start().starts_with('(')
    });
    let Some((_, after)) = named.next().filter(|_| !kernel.is_empty()) else { return Vec::new() };
    let list = after.trim_start().trim_start_matches('(');
    let Some(end) = list.find([')', '{', ';']) else { return Vec::new() };
    let all: Vec<String> = list[..end]
        .split(',')
        .map(|text: &str| text.split_whitespace().joined(" "))
        .filter(|text| !text.is_empty())
        .collect();
    if all == ["void"] { Vec::new() } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "
// barrier in a comment, __local too
__kernel void tree(__global const T *x, __global T *partials, const INDEX n)
{
    __local T scratch[256]; /* return; */
    const uint lid = get_local_id(0);
    scratch[lid] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = WG / 2; s > 0; s /= 2) {
        if (lid < s)
            scratch[lid] += scratch[lid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0) partials[get_group_id(0)] = scratch[0];
}";

    #[test]
    fn words_are_found_outside_of_comments_only() {
        let traits = SourceTraits::of(TREE, "tree");
        assert_eq!((traits.barriers, traits.has_local), (2, true));
        assert_eq!(traits.parameters, ["__global const T *x", "__global T *partials", "const INDEX n"]);
    }

    #[test]
    fn any_text_is_taken() {
        for text in ["", "/", "/*", "//", "}}}}", "((((", "if", "é\u{0}{", "void k(", "k("] {
            let traits = SourceTraits::of(text, "k");
            assert!(traits.parameters.is_empty(), "{text}");
        }
        assert_eq!(SourceTraits::of("kernel void k(void) {}", "k").parameters, Vec::<String>::new());
    }
}
