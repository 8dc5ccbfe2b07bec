//! What stands in a kernel's text, as far as it helps to say why it is wrong. No compiler: words and brackets only.

use crate::signature::HostNames;
use crate::tokens::{tokens, without_comments};
use gpulab_system::text::Joined;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceTraits {
    pub has_local: bool,
    pub barriers: u64,
    /// Whether a barrier stands behind a `return` that some items may take.
    pub returns_before_barrier: bool,
    /// Whether a barrier stands within an `if`.
    pub branches_round_barrier: bool,
    pub asks_group: bool,
    /// Whether it asks for the place of an item in its group.
    pub asks_local: bool,
    /// Whether it asks for the place of an item in the launch.
    pub asks_global: bool,
    /// Whether it asks for the number of items in the launch, or of groups: for a stride.
    pub asks_size: bool,
    pub has_atomics: bool,
    pub names_element: bool,
    pub float_type: Option<String>,
    /// An integer type that it names, other than for indices.
    pub integer_type: Option<String>,
    pub names_group_size: bool,
    /// Powers of two from 8 to 1024 that are written as numbers.
    pub sizes: Vec<u64>,
    pub parameters: Vec<String>,
    /// Macros that only its host can define.
    pub left_to_host: HostNames,
}

impl SourceTraits {
    /// Looks at a kernel's text; `kernel` is the function that is launched first.
    pub fn of(text: &str, kernel: &str) -> SourceTraits {
        let code = without_comments(text);
        let words = tokens(&code);
        let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        // `float4` is a vector of `float`.
        let scalar = |word: &String| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        let first = |names: &[&str]| words.iter().find(|word| names.contains(&scalar(word).as_str())).cloned();
        let is_size = |number: &u64| number.is_power_of_two() && (8..=1024).contains(number);
        let mut sizes: Vec<u64> = words.iter().filter_map(|word| word.parse().ok()).filter(is_size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let (barriers, returns_before_barrier, branches_round_barrier) = barriers(&words);
        SourceTraits {
            has_local: has(&["__local", "local"]),
            barriers,
            returns_before_barrier,
            branches_round_barrier,
            asks_group: has(&["get_group_id"]),
            asks_local: has(&["get_local_id"]),
            asks_global: has(&["get_global_id"]),
            asks_size: has(&["get_global_size", "get_num_groups"]),
            has_atomics: words.iter().any(|word| word.starts_with("atomic_") || word.starts_with("atom_")),
            names_element: has(&["T"]),
            float_type: first(&["float", "double", "half"]),
            integer_type: first(&["int", "uint", "long", "ulong", "short", "char"]),
            names_group_size: has(&["WG", "WG_X", "WG_Y", "get_local_size"]),
            sizes,
            parameters: parameters(&code, kernel),
            left_to_host: HostNames::default(),
        }
    }
}

/// How many barriers there are, and whether one stands behind a bare `return` of its function, or within an `if`.
fn barriers(words: &[String]) -> (u64, bool, bool) {
    // Of each open block whether it is an `if`'s.
    let mut blocks: Vec<bool> = Vec::new();
    let mut count = 0;
    let mut behind = false;
    let mut within = false;
    let mut returned = false;
    // Behind `if (...)` without a bracket, up to the end of the statement.
    let mut pending = false;
    let mut bracket = 0usize;
    let mut branch_condition = None;
    for (at, word) in words.iter().enumerate() {
        match word.as_str() {
            "barrier" | "work_group_barrier" => {
                count += 1;
                behind |= returned;
                within |= pending || blocks.contains(&true);
            }
            "return" if words.get(at + 1).is_some_and(|next| next == ";") => returned = true,
            "if" => branch_condition = Some(bracket),
            "else" => pending = true,
            "(" => bracket += 1,
            ")" => {
                bracket = bracket.saturating_sub(1);
                if branch_condition == Some(bracket) {
                    (branch_condition, pending) = (None, true);
                }
            }
            "{" => blocks.push(std::mem::take(&mut pending)),
            "}" => {
                blocks.pop();
                returned &= !blocks.is_empty();
            }
            ";" if bracket == 0 => pending = false,
            _ => {}
        }
    }
    (count, behind, within)
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
        assert!(!traits.returns_before_barrier && !traits.branches_round_barrier);
        assert_eq!(traits.sizes, [256]);
        assert_eq!(traits.parameters, ["__global const T *x", "__global T *partials", "const INDEX n"]);
        assert_eq!(traits.float_type, None);
        assert!(traits.names_element && traits.names_group_size);
    }

    #[test]
    fn barriers_that_not_all_items_reach_are_found() {
        let of = |body: &str| SourceTraits::of(&format!("__kernel void k(__global T *x) {{ {body} }}"), "k");
        assert!(of("if (i >= n) return; x[i] = 1; barrier(1);").returns_before_barrier);
        assert!(!of("barrier(1); if (i >= n) return;").returns_before_barrier);
        assert!(of("if (i < n) { x[i] = 1; barrier(1); }").branches_round_barrier);
        assert!(of("if (i < n) barrier(1);").branches_round_barrier);
        assert!(of("if (i < n) x[i] = (1); else barrier(1);").branches_round_barrier);
        assert!(!of("if (i < n) x[i] = 1; barrier(1);").branches_round_barrier);
        assert!(!of("if (f(i) < g(n)) { x[i] = 1; } barrier(1);").branches_round_barrier);
    }

    #[test]
    fn any_text_is_taken() {
        for text in ["", "/", "/*", "//", "}}}}", "((((", "if", "é\u{0}{", "void k(", "k("] {
            let traits = SourceTraits::of(text, "k");
            assert!(traits.parameters.is_empty(), "{text}");
        }
        assert_eq!(SourceTraits::of("kernel void k(void) {}", "k").parameters, Vec::<String>::new());
        assert_eq!(SourceTraits::of("kernel void k(global float4 *a) {}", "k").float_type.as_deref(), Some("float4"));
    }
}
