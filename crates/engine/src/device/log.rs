//! Compilers' logs: made fit to be shown and stored, and read. Pure.

use gpulab_model::outcome::Told;
use gpulab_system::terminal;
use std::collections::BTreeMap;

/// What compilers call a source that came as a string.
const ANONYMOUS: [&str; 3] = ["<kernel>:", "<program source>:", "<stdin>:"];

/// Drops the NUL at the end and blank ends, shows control characters as escapes, the home folder as `~`,
/// and the unit's path where the compiler has a name of its own for it.
pub(super) fn clean(log: &str, path: &str, home: Option<&str>) -> String {
    let mut text = log.trim_end_matches(['\0', '\n', '\r', ' ']).trim_start_matches(['\n', '\r']).replace("\r\n", "\n");
    if let Some(home) = home.map(|h| h.trim_end_matches('/')).filter(|h| h.len() > 1) {
        text = text.replace(home, "~");
    }
    for name in ANONYMOUS {
        text = text.replace(name, &format!("{path}:"));
    }
    terminal::text(&text)
}

/// What NVIDIA's assembler tells of each function in the log of a verbose build.
pub(super) fn ptxas(log: &str) -> BTreeMap<&str, Told> {
    let mut all: BTreeMap<&str, Told> = BTreeMap::new();
    let mut entry = None;
    let mut function = None;
    for line in log.lines() {
        if let Some(name) = name_after(line, "Compiling entry function") {
            (entry, function) = (Some(name), Some(name));
        } else if let Some(name) = name_after(line, "Function properties for") {
            function = Some(name);
        } else if let Some(registers) = number_before(line, "registers") {
            // A kernel's functions may be told of between its name and its registers.
            let waits = |name: &&str| all.get(name).is_none_or(|usage| usage.registers.is_none());
            let Some(name) = entry.filter(waits).or(function) else { continue };
            let usage = all.entry(name).or_default();
            (usage.registers, usage.local) = (Some(registers), Some(number_before(line, "bytes smem").unwrap_or(0)));
        } else if let Some(stores) = number_before(line, "bytes spill stores")
            && let Some(name) = function
        {
            let loads = number_before(line, "bytes spill loads").unwrap_or(0);
            all.entry(name).or_default().spills = Some([stores, loads]);
        }
    }
    all
}

/// The name behind these words, with or without quotes.
fn name_after<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    let rest = line.split_once(words)?.1.trim_start().trim_start_matches('\'');
    rest.split(['\'', ' ', ':']).next().filter(|name| !name.is_empty())
}

/// The number before this unit, in whichever of a line's parts it is.
fn number_before(line: &str, unit: &str) -> Option<u64> {
    line.split([',', ':'])
        .find_map(|part: &str| part.trim().strip_suffix(unit)?.split_whitespace().last()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_KERNELS: &str = "
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'reduce_vectorised' for 'sm_90'
ptxas info    : Function properties for reduce_vectorised
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 1024 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 4.332 ms
ptxas info    : Compiling entry function 'reduce_finish' for 'sm_90'
ptxas info    : Function properties for reduce_finish
ptxas         .     16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 1 barriers, 400 bytes cmem[0], 255 registers
";

    fn usage(registers: u64, spills: Option<[u64; 2]>, local: u64) -> Told {
        Told { registers: Some(registers), spills, local: Some(local) }
    }

    #[test]
    fn the_assembler_tells_of_each_kernel() {
        let all = ptxas(TWO_KERNELS);
        assert_eq!(all["reduce_vectorised"], usage(40, Some([0, 0]), 1024));
        assert_eq!(all["reduce_finish"], usage(255, Some([8, 12]), 0));
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn functions_of_a_kernel_are_told_from_it() {
        let between = "ptxas info    : Compiling entry function 'k' for 'sm_61'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 12 registers, 328 bytes cmem[0]";
        assert_eq!(ptxas(between)["k"], usage(12, Some([0, 0]), 0));
        let behind = "ptxas info    : Compiling entry function 'k' for 'sm_121a'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 58 registers, 4096 bytes smem
ptxas info    : Function properties for helper
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 22 registers, used 0 barriers";
        assert_eq!(ptxas(behind)["k"], usage(58, Some([0, 0]), 4096));
        let by_the_linker = "info    : Function properties for 'k':
info    : used 28 registers, 0 stack, 64 bytes smem, 412 bytes cmem[0], 0 bytes lmem";
        assert_eq!(ptxas(by_the_linker)["k"], usage(28, None, 64));
    }

    #[test]
    fn logs_of_others_tell_nothing() {
        for log in
            ["", "\n\0", "1 warning generated.", "x.cl:1:2: note: Used 4 registers,", "Compiling entry function '"]
        {
            assert!(ptxas(log).is_empty(), "{log}");
        }
        let unfinished =
            "ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Used many registers";
        assert!(ptxas(unfinished).is_empty());
    }

    #[test]
    fn home_control_characters_and_the_last_nul_go_and_anonymous_sources_get_their_path() {
        let log = "/home/ada/.cache/pocl/x.cl:1:2: error\u{1b}[0m\r\nnext\tline\0\0\n\0";
        assert_eq!(clean(log, "a/b.cl", Some("/home/ada/")), "~/.cache/pocl/x.cl:1:2: error\\x1b[0m\nnext\tline");
        assert_eq!(clean("/some/x\n", "a/b.cl", None), "/some/x");
        assert_eq!(clean("a/b", "a/b.cl", Some("/")), "a/b", "a home of / is no home");
        assert_eq!(clean("<kernel>:3:61: error: x", "dot/naive.cl", None), "dot/naive.cl:3:61: error: x");
    }
}
