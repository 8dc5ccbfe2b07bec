//! What would pay most: planted waste is named first, at its line, and a clean kernel has none.

use crate::binary::{run, write};
use gpulab::simulator::PACKAGES;

/// A transposition through a padded tile.
const TURN: &str = "// gpulab: wg 32x8
// gpulab: elements 1x4
__kernel void turn(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    __local T tile[32][33];
    const INDEX column = get_group_id(0) * 32, row = get_group_id(1) * 32;
    const uint x = get_local_id(0), y = get_local_id(1);
    for (uint k = 0; k < 32; k += 8)
        if (column + x < width && row + y + k < height)
            tile[y + k][x] = in[(row + y + k) * width + column + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 32; k += 8)
        if (row + x < height && column + y + k < width)
            out[(column + y + k) * height + row + x] = tile[x][y + k];
}
";

/// A sum whose items read many elements each, over a grid.
const SUM: &str = "// gpulab: items 1024
// gpulab: local WG
__kernel void sum(__global const T *x, __global T *partials, const INDEX n, __local T *scratch)
{
    const uint id = get_local_id(0);
    T own = 0;
    for (INDEX i = get_global_id(0); i < n; i += get_global_size(0))
        own += x[i];
    scratch[id] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = WG / 2; s > 0; s /= 2) {
        if (id < s)
            scratch[id] += scratch[id + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0)
        partials[get_group_id(0)] = scratch[0];
}
";

const NOTHING: &str = "nothing that the counts show would save 5%";

/// A kernel's file, its family, a text in it, what takes its place, and what is said first.
const PLANTS: [(&str, &str, &str, &str, &str); 8] = [
    ("turn", "transpose", "", "", NOTHING),
    ("sum", "reduce", "", "", NOTHING),
    (
        "sum",
        "reduce",
        "items 1024",
        "items WG",
        "all work is in one work-group, which a GPU runs on one of its compute units; more groups (for a sum, \
         with a launch that joins their results) would do (gpulab lab grid)",
    ),
    (
        "turn",
        "transpose",
        "[33]",
        "[32]",
        "turn.cl:14: 32 passes per request of local memory; 1 would do (gpulab explain transpose:3)",
    ),
    (
        "turn",
        "transpose",
        "out[(column + y + k) * height + row + x] = tile[x][y + k]",
        "out[(column + x) * height + row + y + k] = tile[y + k][x]",
        "turn.cl:14: 32 segments per store, 88% of the bytes unused; 4 would do (gpulab explain transpose:2)",
    ),
    (
        "sum",
        "reduce",
        "INDEX i = get_global_id(0); i < n; i += get_global_size(0)",
        "INDEX k = get_global_id(0) * (n / get_global_size(0)), i = k; i < k + n / get_global_size(0); i++",
        "sum.cl:8: 32 segments per load, 88% of the bytes unused; 4 would do (gpulab exercise show strides)",
    ),
    (
        "sum",
        "reduce",
        "        own += x[i];",
        "        if (id % 4 == 0) for (uint j = 0; j < 4; j++) own += x[i + j];",
        "sum.cl:8: 29% of the lanes are busy; full warps would do (gpulab explain reduce:2)",
    ),
    (
        "sum",
        "reduce",
        "own += x[i];",
        "{ uint h = i; for (uint j = 0; j < 16; j++) h = h * 1664525u ^ h >> 15; own += h == 77u ? -x[i] : x[i]; }",
        "sum.cl:8: 98% of the instructions are integer arithmetic, addresses and branches; two elements for each would do \
         (gpulab explain reduce:4)",
    ),
];

/// What is said first of a kernel; or why nothing is counted here.
fn first(file: &str, family: &str) -> Result<String, String> {
    let n = if family == "reduce" { "16384" } else { "64" };
    let (out, said, code) = run(&["count", file, "--as", family, "-n", n, "--lines", "-q"]);
    if said.contains(PACKAGES) {
        return Err(said);
    }
    assert_eq!(code, 0, "{file}: {said}");
    let (_, pays) = out
        .split_once("what would pay most on a GPU, by counts alone\n")
        .unwrap();
    let lines = pays
        .lines()
        .enumerate()
        .take_while(|(at, line)| *at == 0 || line.starts_with("    "));
    Ok(lines
        .map(|(_, line)| line.trim())
        .collect::<Vec<_>>()
        .join(" "))
}

#[test]
fn planted_waste_is_named_first_at_its_line() {
    let dir = tempfile::tempdir().unwrap();
    for (name, family, from, to, wanted) in PLANTS {
        let text = if name == "turn" { TURN } else { SUM };
        assert!(text.contains(from), "{from}");
        let path = write(
            &dir,
            &format!("{name}.cl"),
            text.replacen(from, to, 1).as_bytes(),
        );
        match first(path.to_str().unwrap(), family) {
            Ok(said) => assert_eq!(said, wanted, "{name}: {to}"),
            Err(why) => return eprintln!("skipped: {why}"),
        }
    }
}

#[test]
fn atomic_operations_that_meet_in_a_word_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = "__kernel void bins(__global const int *x, __global int *bins, int n)
{
    int i = get_global_id(0);
    if (i < n)
        atomic_inc(&bins[x[i] % 8]);
}
";
    let file = "kernel = \"bins.cl\"\nn = 4096\nitems = \"n\"\nargs = [\"x[n] below 100\", \"out bins[8] = 0\", \"n\"]
check = \"numpy: bins = np.bincount(x % 8, minlength=8)\"\n";
    std::fs::write(folder.path().join("bins.cl"), kernel).unwrap();
    let path = folder.path().join("bins.toml");
    std::fs::write(&path, file).unwrap();
    let (out, said, code) = run(&["count", path.to_str().unwrap(), "--lines", "-q"]);
    if said.contains(PACKAGES) {
        return;
    }
    let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        code == 0
            && flat.contains("bins.cl:5:")
            && flat.contains("atomic operations of a warp meet in one word"),
        "{out}{said}"
    );
}

#[test]
fn rungs_have_times_on_a_gpu_that_was_recorded() {
    let here = "on an NVIDIA H200, which is not here";
    let (out, err, code) = run(&["dot", "-n", "1000", "--quick", "--variant", "1-2"]);
    assert!(
        code == 0 && out.contains(here) && out.contains("measured there"),
        "{out}{err}"
    );
    let (out, err, _) = run(&["dot", "-n", "1000", "--quick", "-q"]);
    assert!(!out.contains(here), "{out}{err}");
    let (_, err, code) = run(&["dot", "-n", "1000", "--quick", "--on", "pocl"]);
    assert!(code == 2 && err.contains("several devices"), "{err}");
    let (_, err, code) = run(&["dot", "-n", "1000", "--quick", "--on", "nobody"]);
    assert!(code == 2 && err.contains("nobody"), "{err}");
}

#[test]
fn planted_faults_have_times_and_advice_by_the_model_where_it_knows_them() {
    let (out, err, code) = run(&["count", "tests/grade/tile_banks.toml", "--on", "h200"]);
    assert!(
        code == 0 && out.contains("tile_banks.cl:10: 32 passes per request"),
        "{out}{err}"
    );
    assert!(out.contains("model: from counts"), "{out}");
    let (out, _, _) = run(&["count", "tests/grade/histogram.toml", "--on", "h200"]);
    assert!(
        !out.contains("no time of slow") && out.contains("atomic operations of a warp"),
        "{out}"
    );
}
