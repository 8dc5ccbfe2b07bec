//! `gpulab asm`: claims about compilers in kernels' headers and in pages, tested on PoCL.

use crate::binary::run;
use std::collections::BTreeMap;
use std::fs;

/// How many instructions of each kind PoCL makes of two kernels; nothing without PoCL or a disassembler for it.
fn pocl(words: &str) -> Option<BTreeMap<String, [u64; 2]>> {
    let (table, said, code) = run(&[
        &["asm", "-q", "-d", "portable"][..],
        &words.split(' ').collect::<Vec<_>>(),
    ]
    .concat());
    if code == 3 || cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    assert_eq!(code, 0, "{words}: {said}");
    // A name, and three numbers behind it.
    let row = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().rev().collect();
        let [_, b, a, name @ ..] = &cells[..] else {
            return None;
        };
        let name: Vec<&str> = name.iter().rev().copied().collect();
        Some((name.join(" "), [a.parse().ok()?, b.parse().ok()?]))
    };
    Some(table.lines().filter_map(row).collect())
}

fn of(counts: &BTreeMap<String, [u64; 2]>, kind: &str) -> [u64; 2] {
    counts.get(kind).copied().unwrap_or_default()
}

#[test]
fn a_product_and_a_sum_are_fused_by_the_rules_of_contraction() {
    // cl/dot/muladd.cl: the plain form lets the compiler fuse, and mad() leaves it free.
    let (Some(plain), Some(mad)) = (
        pocl("dot:naive dot:coalesced --set mad=0"),
        pocl("dot:naive dot:coalesced --set mad=1"),
    ) else {
        return;
    };
    if fs::read_to_string("/proc/cpuinfo").is_ok_and(|info| !info.contains(" fma ")) {
        return;
    }
    for at in [0, 1] {
        assert!(
            of(&plain, "fma")[at] > 0 && of(&plain, "mul")[at] == 0,
            "{plain:?}"
        );
        assert!(of(&mad, "fma")[at] + of(&mad, "mul")[at] > 0, "{mad:?}");
    }
}

#[test]
fn groups_at_once_follow_from_what_a_kernel_needs() {
    let words = [
        "asm",
        "reduce:sequential",
        "-q",
        "-d",
        "portable",
        "--wg",
        "128",
        "--registers",
        "40",
    ];
    let (table, said, code) = run(&[&words[..], &["--generation", "9.0"]].concat());
    if code == 3 || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, 0, "{said}");
    assert!(
        table.contains("a compute unit of 9.0 holds 12 groups at once, 48 of 64 warps (75"),
        "{table}"
    );
    assert!(table.contains("limited by registers"), "{table}");
    let (_, said, code) = run(&[&words[..], &["--generation", "9.9"]].concat());
    assert!(code == 2 && said.contains("12.1"), "{said}");
}
