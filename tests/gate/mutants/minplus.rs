//! Wrong min-plus products.

use super::mutant::{Mutant, command, kernel};
use gpulab::data::Dtype::{F64, I32};

const NAIVE: &str = "minplus/naive";
const COALESCED: &str = "minplus/coalesced";
const REGISTERS: &str = "minplus/registers";
const LOCAL: &str = "minplus/local";
const TILED: &str = "minplus/tiled";
const THREE_WAY: &str = "minplus/three_way";
const WIDE: &str = "minplus/wide";

/// Of `naive` and `coalesced`.
const FROM: &str = "T best = NO_EDGE;";
const LOOP: &str = "for (INDEX k = 0; k < n; k++)";
const SUM: &str = "d[i * n + k] + d[k * n + j]";
const SMALLER: &str = "best = SMALLER(best, d[i * n + k] + d[k * n + j]);";
const AS_FLOATS: &str =
    "{ const T way = d[i * n + k] + d[k * n + j]; best = (float)way < (float)best ? way : best; }";
const STORE: &str = "r[i * n + j] = best;";
const FRESH: &str = "if (!isnan(r[i * n + j])) return; T best = NO_EDGE;";

pub const MUTANTS: &[Mutant] = &[
    // Where there is no edge, or no path.
    kernel(COALESCED, "no edge costs 1", FROM, "T best = 1.0f;"),
    kernel(COALESCED, "no edge costs 2", FROM, "T best = 2.0f;"),
    kernel(COALESCED, "no edge costs a lot", FROM, "T best = 1e6f;"),
    kernel(COALESCED, "no edge costs the most of a float", FROM, "T best = FLT_MAX;"),
    kernel(COALESCED, "no edge costs 2^29", FROM, "T best = 1 << 29;").dtype(I32),
    kernel(COALESCED, "no edge costs the most of an integer", FROM, "T best = INT_MAX;").dtype(I32),
    kernel(COALESCED, "no edge costs 1, of signed weights", FROM, "T best = 1.0f;").with("weights=signed"),
    kernel(REGISTERS, "no edge costs 1", "best[i][j] = NO_EDGE;", "best[i][j] = 1;").dtype(F64),
    kernel(LOCAL, "no edge costs 1", "best[i][j] = NO_EDGE;", "best[i][j] = 1.0f;"),
    kernel(TILED, "no edge costs 1", "best[i][j] = NO_EDGE;", "best[i][j] = 1.0f;"),
    kernel(THREE_WAY, "no edge costs 1", "#define NONE as_int((T)NO_EDGE)", "#define NONE as_int(1.0f)")
        .file_is("common/lower.cl"),
    kernel(WIDE, "no edge costs 1", ": NO_EDGE;\n                lower", ": 1.0f;\n                lower"),
    kernel(REGISTERS, "pads with 0", ": NO_EDGE;", ": 0;")
        .file_is("minplus/panels.cl")
        .equivalent("v2 takes no k beyond the matrix, and stores no result beyond it"),
    kernel(LOCAL, "pads with 0", ": NO_EDGE;", ": 0;").file_is("minplus/panels.cl"),
    kernel(LOCAL, "pads with 1", ": NO_EDGE;", ": 1;").file_is("minplus/panels.cl"),
    kernel(TILED, "pads with the largest weight", ": NO_EDGE;", ": 1 << 28;").file_is("minplus/panels.cl").dtype(I32),
    kernel(THREE_WAY, "pads with 1", ": NO_EDGE;", ": 1;").file_is("minplus/pairs.cl"),
    // Edges.
    kernel(COALESCED, "never takes one edge first", SUM, "(i == 17 && k == 23 ? NO_EDGE : d[i * n + k]) + d[k * n + j]"),
    kernel(COALESCED, "never takes one edge second", SUM, "d[i * n + k] + (k == 17 && j == 23 ? NO_EDGE : d[k * n + j])"),
    kernel(NAIVE, "never takes one edge first, of integers", SUM, "(i == 55 && k == 3 ? NO_EDGE : d[i * n + k]) + d[k * n + j]")
    .dtype(I32),
    // Values.
    kernel(COALESCED, "drops signs", SUM, "fabs(d[i * n + k]) + fabs(d[k * n + j])"),
    kernel(COALESCED, "drops signs of signed weights", SUM, "fabs(d[i * n + k]) + fabs(d[k * n + j])")
        .with("weights=signed"),
    kernel(COALESCED, "drops signs of one side", SUM, "d[i * n + k] + fabs(d[k * n + j])").with("weights=signed"),
    kernel(WIDE, "orders signed weights by their bits", "#ifdef ORDERED", "#if 1")
        .file_is("common/lanes.cl")
        .with("weights=signed"),
    kernel(COALESCED, "compares doubles as floats", SMALLER, AS_FLOATS).dtype(F64),
    kernel(COALESCED, "compares integers as floats", SMALLER, AS_FLOATS).dtype(I32),
    kernel(COALESCED, "compares integers as floats, of signed weights", SMALLER, AS_FLOATS)
        .dtype(I32)
        .with("weights=signed"),
    kernel(COALESCED, "clamps large negative sums", SUM, "fmax(d[i * n + k] + d[k * n + j], -1e9f)")
        .with("weights=signed"),
    kernel(COALESCED, "adds in single precision", SUM, "(float)d[i * n + k] + (float)d[k * n + j]").dtype(F64),
    kernel(COALESCED, "weights are at most 1", SUM, "fmin(d[i * n + k], 1.0f) + fmin(d[k * n + j], 1.0f)"),
    kernel(COALESCED, "sums are at most 2", STORE, "r[i * n + j] = best > 2 ? INFINITY : best;"),
    kernel(COALESCED, "takes an edge of length zero for none", SMALLER, "best = SMALLER(best, d[i * n + k] == 0 || d[k * n + j] == 0 ? NO_EDGE : d[i * n + k] + d[k * n + j]);").with("weights=signed"),
    kernel(COALESCED, "takes edges beyond 1e30 for none", SMALLER, "best = SMALLER(best, fmax(d[i * n + k], d[k * n + j]) > 1e30f ? NO_EDGE : d[i * n + k] + d[k * n + j]);"),
    kernel(COALESCED, "takes sums beyond 5e36 for none", SMALLER, "{ const T way = d[i * n + k] + d[k * n + j]; best = SMALLER(best, way > 5e36f ? NO_EDGE : way); }"),
    kernel(COALESCED, "takes sums beyond 1e37 for none, of doubles", SMALLER, "{ const T way = d[i * n + k] + d[k * n + j]; best = SMALLER(best, way > 1e37 ? NO_EDGE : way); }").dtype(F64),
    kernel(COALESCED, "stops at -1e30", SUM, "fmax(d[i * n + k] + d[k * n + j], -1e30f)").with("weights=signed"),
    kernel(COALESCED, "stops at -1e300, of doubles", SUM, "fmax(d[i * n + k] + d[k * n + j], -1e300)").dtype(F64).with("weights=signed"),
    kernel(COALESCED, "compares doubles as floats from 128 nodes on", SMALLER, "{ const T way = d[i * n + k] + d[k * n + j]; best = n < 128 ? SMALLER(best, way) : (float)way < (float)best ? way : best; }").dtype(F64).n(130),
    kernel(COALESCED, "stops at -2^29", SMALLER, "best = SMALLER(best, max(d[i * n + k] + d[k * n + j], -(1 << 29) - 64));").dtype(I32).with("weights=signed"),
    kernel(COALESCED, "the greatest", "SMALLER(best,", "fmax(best == INFINITY ? 0 : best,"),
    // k that do not count.
    kernel(COALESCED, "leaves k = 0 out", LOOP, "for (INDEX k = 1; k < n; k++)"),
    kernel(COALESCED, "leaves the last k out", LOOP, "for (INDEX k = 0; k + 1 < n; k++)"),
    kernel(COALESCED, "leaves one k out", LOOP, "for (INDEX k = 0; k < n; k += k == 40 ? 2 : 1)"),
    kernel(COALESCED, "leaves one k out, of signed integers", LOOP, "for (INDEX k = 0; k < n; k += k == 40 ? 2 : 1)")
        .dtype(I32)
        .with("weights=signed"),
    kernel(COALESCED, "leaves one k out of many", LOOP, "for (INDEX k = 0; k < n; k += k == 101 ? 2 : 1)").n(300),
    kernel(COALESCED, "leaves k = i out", SUM, "(k == i ? NO_EDGE : d[i * n + k] + d[k * n + j])"),
    kernel(COALESCED, "leaves k = j out", SUM, "(k == j ? NO_EDGE : d[i * n + k] + d[k * n + j])"),
    kernel(NAIVE, "every second k", LOOP, "for (INDEX k = 0; k < n; k += 2)"),
    kernel(NAIVE, "the row twice", SUM, "d[i * n + k] + d[j * n + k]"),
    kernel(NAIVE, "as if the matrix were symmetric", SUM, "d[i * n + k] + d[k * n + j]").and(&[(STORE, "if (i <= j) { r[i * n + j] = best; r[j * n + i] = best; }")]),
    kernel(REGISTERS, "leaves the last k out", LOOP, "for (INDEX k = 0; k + 1 < n; k++)").n(130),
    kernel(LOCAL, "leaves the last panel out", "first < n; first += DEPTH", "first + DEPTH < n; first += DEPTH"),
    kernel(LOCAL, "leaves one k of each panel out", "for (uint k = 0; k < DEPTH; k++) {\n            T x", "for (uint k = 1; k < DEPTH; k++) {\n            T x"),
    kernel(TILED, "leaves the last panel out", "if (first >= n)", "if (first + DEPTH >= n)"),
    kernel(TILED, "takes the first panel again", "now = next;", ""),
    kernel(THREE_WAY, "leaves the last k out", "end = min(begin + part, n);", "end = min(begin + part, n) / DEPTH * DEPTH;"),
    kernel(THREE_WAY, "takes one of two sums", "#define LOWER(best, s, t) min(best, min(as_int(s), as_int(t)))", "#define LOWER(best, s, t) min(best, as_int(s))")
    .file_is("common/lower.cl"),
    kernel(THREE_WAY, "takes one of two sums of signed weights", "SMALLER(SMALLER(best, s), t)", "SMALLER(best, t)")
        .file_is("common/lower.cl")
        .with("weights=signed"),
    kernel(WIDE, "forgets what the first strip gave", "first > 0 &&", "first > 100000 &&").with("depth=32"),
    kernel(WIDE, "leaves the last k of a strip out", "for (INDEX k = 0; k < depth; k++)", "for (INDEX k = 0; k + 1 < depth; k++)"),
    kernel(WIDE, "leaves one row of a block out", "for (INDEX i = 0; i < rows; i++)\n                    for (INDEX j = 0; j < columns", "for (INDEX i = 0; i + 1 < rows; i++)\n                    for (INDEX j = 0; j < columns"),
    kernel(REGISTERS, "leaves the last column out", "left + across + j * ITEM < n)", "left + across + j * ITEM + 1 < n)"),
    // Stale results.
    kernel(COALESCED, "works only for results that are poisoned", FROM, FRESH),
    kernel(COALESCED, "works only for results that are poisoned, in batches", FROM, FRESH).batch(),
    kernel(COALESCED, "works only for results that are poisoned, in a cold cache", FROM, FRESH).cold(),
    kernel(COALESCED, "lowers what is there", FROM, "T best = isnan(r[i * n + j]) ? NO_EDGE : r[i * n + j];"),
    kernel(WIDE, "works only for results that are poisoned", "LOWEST best[ROWS][VECTORS];", "if (0) return; LOWEST best[ROWS][VECTORS];").and(&[("T block[ROWS * WIDTH];", "T block[ROWS * WIDTH]; if (!isnan(r[min(top * ROWS, n - 1) * n + min(left * WIDTH, n - 1)])) return;")]),
    kernel(LOCAL, "trusts its panels' preparation", "const T value =", "if (rows[(top + y) * pitch + left + x] == rows[(top + y) * pitch + left + x]) continue; const T value =")
    .file_is("minplus/panels.cl"),
    // Memory that is not the kernel's.
    kernel(COALESCED, "guards only rows", "if (i >= n || j >= n)", "if (i >= n)").broken(),
    kernel(COALESCED, "writes a row behind its results", STORE, "r[i * n + j] = best; if (i + 1 == n) r[n * n + j] = best;")
    .broken(),
    kernel(COALESCED, "writes before its results", STORE, "r[i * n + j] = best; if (i + 1 == n) (r - 1 - j)[0] = best;")
        .broken(),
    kernel(COALESCED, "takes a k behind the last", LOOP, "for (INDEX k = 0; k <= n; k++)"),
    kernel(COALESCED, "takes a k behind the last, of signed integers", LOOP, "for (INDEX k = 0; k <= n; k++)")
        .dtype(I32)
        .with("weights=signed"),
    kernel(COALESCED, "relaxes its input in place", STORE, "r[i * n + j] = best; ((__global T *)d)[i * n + j] = SMALLER(d[i * n + j], best);"),
    kernel(COALESCED, "clears its input's last element", STORE, "r[i * n + j] = best; if (i + 1 == n && j + 1 == n) ((__global T *)d)[n * n - 1] = NO_EDGE;"),
    command("minplus --n 67 --wg 64 --variant 1 --quick --csv ROWS", "minplus/coalesced.cl", "no edge costs 1", FROM, "T best = 1.0f;"),
    command("minplus --n 67 --wg 64 --variant 6 --quick --csv ROWS", "minplus/wide.cl", "leaves the last k of a strip out", "for (INDEX k = 0; k < depth; k++)", "for (INDEX k = 0; k + 1 < depth; k++)"),
    command("sweep --kernel minplus --n 67 --wg 64 --variant 3 --quick -o ROWS", "minplus/local.cl", "leaves the last panel out", "first < n; first += DEPTH", "first + DEPTH < n; first += DEPTH"),
];
