//! What a kernel's text tells its compiler to read. Pure.

/// The name in a line that includes a file in the one way that is allowed: alone on its line, without anything hidden.
pub(super) fn included(line: &str) -> Option<&str> {
    line.strip_prefix("#include \"").and_then(|rest| rest.trim_end().strip_suffix('"'))
}

/// The first line, from 1, of a text that makes a compiler look at a file, however it is hidden: as the phases of
/// translation of C99, section 5.1.1.2, leave it, with trigraphs, joined lines and comments gone.
pub(super) fn reads_a_file(text: &str) -> Option<usize> {
    let mut found = None;
    for (number, line) in logical_lines(text) {
        let directive = line.trim_start().strip_prefix('#').or_else(|| line.trim_start().strip_prefix("%:"));
        let word = directive.map(str::trim_start).unwrap_or_default();
        let reads = ["include", "import", "embed"].iter().any(|reading| word.starts_with(reading));
        let names = ["__has_include", "__has_embed", ".incbin"].iter().any(|name| line.contains(name));
        let depends = line.to_lowercase().contains("pragma") && line.contains("dependency");
        if reads || names || depends {
            found = found.or(Some(number));
        }
    }
    found
}

/// What macros of drivers and of the simulator begin with, beside `__`.
const BEGINNINGS: &str =
    "cl_ cles_ CL_VERSION _CL POCL GPULAB_ FP_FAST NV_ get_max_sub_group_size kernel_exec linux unix";

/// Macros that have the same value in the simulator and for devices, and words that only look like macros.
const ALIKE: &str = r"__LINE__ __FILE__ __ENDIAN_LITTLE__ __OPENCL_C_VERSION__ cl_khr_fp64 cl_khr_byte_addressable_store
    cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics
    cl_khr_local_int32_extended_atomics cl_mem_fence_flags __attribute__ __restrict__ __volatile__ __inline__ __const__
    __signed__ __asm__ __aligned__ __packed__ __noinline__ __always_inline__";

/// What the names of macros end with that keep a file from being read twice.
const GUARDS: &str = "_h _cl _clh _hpp";

/// That an assembled text asks for a macro of compilers, so that it may do something else in the simulator than on a device.
pub(crate) fn asks(text: &str) -> Option<String> {
    logical_lines(text).into_iter().find_map(|(_, line)| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let directive = words.clone().next().filter(|_| line.trim_start().starts_with(['#', '%'])).unwrap_or_default();
        let is_condition = directive.starts_with("if") || directive.starts_with("el");
        let name = words.find(|name| {
            let is_predefined = name.starts_with("__") && (is_condition || name.ends_with("__"));
            let is_given = BEGINNINGS.split(' ').any(|beginning| name.starts_with(beginning));
            let stem = name.trim_end_matches('_').to_lowercase();
            (is_predefined && directive != "line" || is_given && (is_condition || directive == "define"))
                && !ALIKE.split_whitespace().any(|alike| alike == *name)
                && !GUARDS.split(' ').any(|guard| stem.ends_with(guard))
        })?;
        Some(format!("the kernel asks for the macro {name}, so that a device may run other code than the simulator"))
    })
}

/// Lines without comments, joined where a backslash says so, each with the number of its first line.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    #[derive(PartialEq)]
    enum Scan {
        Code,
        Line,
        Block,
        Quoted(char),
    }
    let characters = joined(text);
    let mut lines = vec![(1, String::new())];
    let mut state = Scan::Code;
    let mut rest = characters.iter().copied().peekable();
    while let Some((c, number)) = rest.next() {
        let next = rest.peek().map(|(next, _)| *next);
        if c == '\n' {
            // A string or a character ends with its line, closed or not.
            if state != Scan::Block {
                state = Scan::Code;
            }
            lines.push((number + 1, String::new()));
            continue;
        }
        let mut keep = |c: char| lines.last_mut().map(|(_, line)| line.push(c));
        match state {
            Scan::Code if c == '/' && next == Some('/') => state = Scan::Line,
            Scan::Code if c == '/' && next == Some('*') => {
                rest.next();
                keep(' ');
                state = Scan::Block;
            }
            Scan::Code => {
                if c == '"' || c == '\'' {
                    state = Scan::Quoted(c);
                }
                keep(c);
            }
            Scan::Block if c == '*' && next == Some('/') => {
                rest.next();
                state = Scan::Code;
            }
            Scan::Line | Scan::Block => {}
            Scan::Quoted(quote) => {
                keep(c);
                if c == '\\' && next.is_some_and(|next| next != '\n') {
                    rest.next().map(|(c, _)| keep(c));
                } else if c == quote {
                    state = Scan::Code;
                }
            }
        }
    }
    lines
}

/// The characters with their lines' numbers, without trigraphs, and without the ends of lines that go on.
fn joined(text: &str) -> Vec<(char, usize)> {
    const TRIGRAPHS: [(&str, char); 9] = [
        ("??=", '#'),
        ("??/", '\\'),
        ("??'", '^'),
        ("??(", '['),
        ("??)", ']'),
        ("??!", '|'),
        ("??<", '{'),
        ("??>", '}'),
        ("??-", '~'),
    ];
    let mut text = text.replace("\r\n", "\n").replace('\r', "\n");
    for (trigraph, c) in TRIGRAPHS {
        text = text.replace(trigraph, &c.to_string());
    }
    let mut characters = Vec::new();
    for (number, line) in (1..).zip(text.split('\n')) {
        // Compilers let blanks stand behind the backslash.
        let body = line.trim_end().strip_suffix('\\');
        characters.extend(body.unwrap_or(line).chars().map(|c| (c, number)));
        if body.is_none() {
            characters.push(('\n', number));
        }
    }
    characters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_a_simulator_from_a_device_is_found() {
        for line in [
            "#ifdef __x86_64__",
            "#if !defined(__SPIR64__)",
            "#if defined __SPIR__ && 1",
            "# elif __OPENCL_VERSION__ > 120",
            "#ifdef __oclgrind__",
            "??=ifdef POCL_DEVICE_ADDRESS_BITS",
            "%:ifndef GPULAB_WARP",
            "#if 1 && \\\n defined(cl_khr_subgroups)",
            "char *s = \"/*\"; if (__clang_major__ > 14) // */",
            "#define IS_CPU defined(__SSE2__)",
            "#define SUB cl_intel_subgroups",
            "#if __has_builtin(__builtin_ia32_pause)",
            "#ifdef __NV_CL_C_VERSION",
        ] {
            let said = asks(&format!("#line 1 \"__a__.cl\"\nint x;\n{line}\n"));
            assert!(said.as_ref().is_some_and(|said| said.contains("asks for the macro ")), "{line}: {said:?}");
        }
        for line in [
            "__kernel void k(__global int *restrict x, __local int *y) __attribute__((aligned(16)))",
            "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable",
            "#ifdef SINGLE_PRECISION\n#define G __global",
            "#ifndef __REDUCE_H__\n#define __REDUCE_H__",
            "#if __OPENCL_C_VERSION__ >= 120 // not __SPIR__",
            "#ifndef blockSize\n#define blockSize 64",
            "barrier(CLK_LOCAL_MEM_FENCE); /* __x86_64__ */ const cl_mem_fence_flags flags = 1; printf(\"%d\", 1);",
        ] {
            assert_eq!(asks(line), None, "{line}");
        }
    }

    #[test]
    fn one_way_to_include_is_allowed() {
        assert_eq!(included("#include \"common/tree.cl\""), Some("common/tree.cl"));
        assert_eq!(included("#include \"a.cl\"  "), Some("a.cl"));
        for line in [" #include \"a\"", "#include <a>", "# include \"a\"", "#include \"a\" // b", "int x;"] {
            assert_eq!(included(line), None, "{line}");
        }
    }

    #[test]
    fn every_other_way_is_found() {
        let ways = [
            "#include \"/etc/passwd\"",
            " #include \"/etc/passwd\"",
            "# include \"/etc/passwd\"",
            "#include </etc/passwd>",
            "#include_next \"x\"",
            "#import \"x\"",
            "#embed \"x\"",
            "%:include \"x\"",
            "??=include \"x\"",
            "#/**/include \"x\"",
            "/**/#include \"x\"",
            "/* a\n b */ #include \"x\"",
            "\u{c}#\u{b}include \"x\"",
            "#\\\ninclude \"x\"",
            "#inc\\\nlude \"x\"",
            "#inc\\  \nlude \"x\"",
            "#inc??/\nlude \"x\"",
            "%\\\n:include \"x\"",
            "/\\\n* a */ #include \"x\"",
            "int a;\r#include \"x\"",
            "' /*\n#include \"x\"",
            "char *s = \"/*\";\n#include \"x\"",
            "char c = '\\'';\n#include \"x\"",
            "// a comment /*\n#include \"x\"",
            "/* // */ #include \"x\"",
            "#if __has_include(\"/etc/passwd\")",
            "asm(\".incbin \\\"/etc/passwd\\\"\");",
            "#pragma GCC dependency \"/etc/passwd\"",
        ];
        for way in ways {
            assert!(reads_a_file(way).is_some(), "{way:?}");
        }
        assert_eq!(reads_a_file("a\nb /* \n */\n  #include \"x\"\n"), Some(4));
    }

    #[test]
    fn what_reads_nothing_passes() {
        let texts = [
            "",
            "int x = 1; // #include \"x\" is how",
            "/* #include \"x\"\n#include \"y\" */ int a;",
            "#define include 1",
            "#if INCLUDED",
            "#pragma unroll",
            "a / b * c; // \\\n#include \"x\"",
            "char *s = \"#include\";",
            "\"\\",
        ];
        for text in texts {
            assert_eq!(reads_a_file(text), None, "{text:?}");
        }
    }
}
