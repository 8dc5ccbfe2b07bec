//! Hints for kernels that do not compile, or that take other arguments than they are given, from the compiler's log.

use super::words::{Hint, hint};
use gpulab_study::judgement::Judgement;
use gpulab_system::text::Joined;
use std::collections::BTreeSet;

const MACROS: &str = "gpulab sets T, the element type; INDEX, an unsigned integer for sizes; WG, the group's work-items, and of \
                      matrices WG_X and WG_Y. // gpulab: tune NAME 1 2 4 sets a macro of your own.";

pub(super) fn hint(judgement: &Judgement) -> Hint {
    let log = judgement.failed().map(|tried| tried.reason.as_str()).unwrap_or_default();
    let signature = judgement.parameters.join(", ");
    let have = judgement.traits.parameters.len();
    let want = judgement.parameters.len();
    if log.contains("clSetKernelArg") || log.contains("CL_INVALID_KERNEL_ARGS") {
        let said = numbers_of_arguments(log).or((have != want && have > 0).then_some([have, want]));
        let count = match said {
            Some([have, want]) => format!("has {have} parameters, and is given {want}"),
            None => "takes other arguments than it is given".into(),
        };
        return hint!(
            "The kernel {count}.",
            "Its parameters are ({signature}), in this order; names are free. `local` among the // gpulab: lines adds one."
        );
    }
    by_log(log, &signature, &judgement.traits.left_to_host).unwrap_or_else(|| {
        hint!(
            "The kernel does not compile; the lines above are those of your file.",
            "Fix the first error first: later ones often follow from it."
        )
    })
}

/// What a line of the log says, the names that it says it of (any, where none are listed), what that looks like, and what to
/// try next: the first that fits counts, of every error, as the order of a log is its compiler's.
const LOGS: &[(&[&str], &[&str], &str, &str)] = &[
    (
        &["undeclared identifier"],
        &["NO_EDGE", "SMALLER"],
        "{name} is not declared.",
        "It comes from #include \"common/smaller.cl\", on a line of its own.",
    ),
    (
        &["undeclared identifier"],
        &["WIDTH", "HEIGHT", "N"],
        "{name} is not declared.",
        "Sizes come as arguments: ({signature}). {macros}",
    ),
    (&["undeclared identifier"], &[], "{name} is not declared.", "{macros} What its own host would define: {defines}."),
    (
        &[
            "must reside in",
            "kernel argument cannot be declared as a pointer",
            "pointer to type '__private",
            "in the private address space",
            "pointer arguments to kernel functions",
        ],
        &[],
        "A pointer among the kernel's parameters has no address space: __global is missing.",
        "Write the parameters as ({signature}).",
    ),
    (
        &["'double' requires", "cl_khr_fp64", "unknown type name 'double'"],
        &[],
        "The kernel uses double, which this device does not have.",
        "Write T for elements and sums, and 0.5f for constants of type float.",
    ),
    (
        &["unknown type name"],
        &[],
        "{name} is not a type of OpenCL C.",
        "{macros} What its own host would define: {defines}.",
    ),
    (
        &["implicit declaration of function"],
        &["__syncthreads"],
        "There is no function {name}.",
        "CUDA's __syncthreads() is barrier(CLK_LOCAL_MEM_FENCE) in OpenCL C.",
    ),
    (
        &["implicit declaration of function"],
        &["printf"],
        "There is no function {name}.",
        "Leave printf out: results are checked by gpulab.",
    ),
    (
        &["implicit declaration of function"],
        &[],
        "There is no function {name}.",
        "Write the function above the kernel, or include the file that has it: common/tree.cl, for example.",
    ),
    (
        &["Cannot find symbol", "nresolved extern function"],
        &[],
        "The function {name} has no body: its host adds one.",
        "Write a file that defines {name} and, below it, includes this one, as in #include \"theirs.cl\": try that file.",
    ),
    (
        &[
            "variables in function scope cannot be declared",
            "variable length array",
            "array size is not a constant",
            "non-constant",
        ],
        &[],
        "The size of an array is not known when the kernel is compiled.",
        "Write a number or a macro, as in __local T scratch[WG];, or declare // gpulab: local WG and take __local T *scratch.",
    ),
    (
        &["threadIdx", "blockIdx", "__shared__", "__global__"],
        &[],
        "The text is CUDA's.",
        "In OpenCL C, threadIdx.x is get_local_id(0), blockIdx.x is get_group_id(0), and __shared__ is __local.",
    ),
    (
        &["expected ';'", "expected ')'", "expected '}'", "expected expression"],
        &[],
        "The compiler misses a sign: a semicolon or a bracket.",
        "Look at the line that the first error names, and at the one above it.",
    ),
    (
        &["no kernel `"],
        &[],
        "The program has no kernel of this name.",
        "Is it inside an #if that is false, or does a macro make its name?",
    ),
];

fn by_log(log: &str, signature: &str, host: &[String]) -> Option<Hint> {
    LOGS.iter().find_map(|(says, names, looks, next)| {
        let name = match looks.contains("{name}") {
            true => says.iter().find_map(|words| quoted(log, words))?,
            false => String::new(),
        };
        let is_said = log.lines().any(|line| says.iter().any(|text| line.contains(text)));
        let filled = |text: &str| {
            let text = text.replace("{name}", &name).replace("{defines}", &defines(log, host));
            text.replace("{signature}", signature).replace("{macros}", MACROS)
        };
        let is_meant = is_said && (names.is_empty() || names.contains(&name.as_str()));
        is_meant.then(|| Hint { looks: filled(looks), next: filled(next) })
    })
}

/// The options that would define all that is missing: what the text leaves to its host, or else what the log misses.
fn defines(log: &str, host: &[String]) -> String {
    let mut known = BTreeSet::new();
    let names: Vec<String> = match host {
        [] => log
            .lines()
            .filter_map(|line| {
                ["undeclared identifier", "unknown type name"].iter().find_map(|words| quoted(line, words))
            })
            .filter(|name| known.insert(name.clone()))
            .collect(),
        unset => unset.to_vec(),
    };
    names.iter().map(|name| format!("--declare \"define {name} VALUE\"")).joined(" ")
}

/// How many arguments a kernel has, and was given, where that is what is wrong.
fn numbers_of_arguments(log: &str) -> Option<[usize; 2]> {
    let (before, after) = log.split_once(" arguments and was given ")?;
    let has = before.rsplit(' ').next()?.parse().ok()?;
    let given = after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    Some([has, given])
}

fn quoted(log: &str, words: &str) -> Option<String> {
    let line = log.lines().find(|line| line.contains(words))?;
    let after = line.split_once(words)?.1;
    let name = after.split(['\'', '"', '`']).nth(1).or_else(|| after.split_whitespace().next())?;
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_several_compilers_are_read() {
        let none: [String; 0] = [];
        let said = |log: &str| by_log(log, "x", &none).map(|hint| hint.looks).unwrap_or_default();
        assert_eq!(said("my.cl:3:5: error: use of undeclared identifier 'NO_EDGE'"), "NO_EDGE is not declared.");
        assert_eq!(said("<stdin>:1:1: error: unknown type name 'vec4'"), "vec4 is not a type of OpenCL C.");
        assert!(said("error: implicit declaration of function '__syncthreads' is invalid").contains("__syncthreads"));
        assert!(said("error: use of type 'double' requires cl_khr_fp64 support").contains("double"));
        assert!(said("error: pointer arguments to kernel functions must reside in '__global'").contains("__global"));
        assert_eq!(numbers_of_arguments("kernel `k` has 0 arguments and was given 3"), Some([0, 3]));
        let two = "unknown type name 'REAL'\nuse of undeclared identifier 'SIDE'\nunknown type name 'REAL'";
        assert_eq!(defines(two, &none), "--declare \"define REAL VALUE\" --declare \"define SIDE VALUE\"");
        let host = ["SIDE".to_owned()];
        let line = "use of undeclared identifier 'declared_by_a_line_that_failed'";
        assert_eq!(defines(line, &host), "--declare \"define SIDE VALUE\"");
        assert_eq!(said("Cannot find symbol op in kernel library"), "The function op has no body: its host adds one.");
        assert_eq!(
            said("ptxas fatal: Unresolved extern function 'op'"),
            "The function op has no body: its host adds one."
        );
        assert_eq!(by_log("something else", "x", &none), None);
        assert_eq!(by_log("undeclared identifier", "x", &none), None, "a log that is cut");
    }
}
