//! Edits of kernels, and what `gpulab count --against` must say of each.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::{fs, io};
use tempfile::TempDir;

/// An edit of a kernel's file.
pub struct Edit {
    /// The words behind `gpulab count`.
    what: &'static str,
    file: &'static str,
    about: &'static str,
    /// What is replaced, wherever it stands, and by what.
    patches: &'static [(&'static str, &'static str)],
    /// Of a plant the count that must be named, and a part of the line that it must be named with.
    found: Option<(&'static str, &'static str)>,
}

/// What every edit is judged by.
const LIMITS: &str = "all:2%";

impl Edit {
    pub fn name(&self) -> String {
        format!("{} {}", self.what, self.about)
    }

    pub fn is_plant(&self) -> bool {
        self.found.is_some()
    }
}

/// Copies of the kernels' files, and counts of what was not edited.
pub struct Tree {
    base: TempDir,
    kept: Mutex<BTreeMap<&'static str, Arc<Mutex<Option<String>>>>>,
}

/// The folders that edits may name.
const FOLDERS: [&str; 3] = ["cl", "data/examples", "tests/own/right"];

impl Tree {
    pub fn new() -> io::Result<Tree> {
        Ok(Tree { base: copies()?, kept: Mutex::default() })
    }

    /// What is wrong with the verdict on an edit, if anything.
    pub fn objection(&self, edit: &Edit) -> Option<String> {
        self.judge(edit).unwrap_or_else(Some)
    }

    fn judge(&self, edit: &Edit) -> Result<Option<String>, String> {
        let kept = self.kept(edit.what)?;
        let folder = copies().map_err(|e| e.to_string())?;
        let file = folder.path().join(edit.file);
        let mut text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", edit.file))?;
        for (find, put) in edit.patches {
            if !text.contains(find) {
                return Err(format!("{}: {find:?} is not there", edit.file));
            }
            text = text.replace(find, put);
        }
        fs::write(&file, text).map_err(|e| e.to_string())?;
        fs::write(folder.path().join("base.json"), kept).map_err(|e| e.to_string())?;
        let (code, said) = count(folder.path(), edit.what, &["--against", "base.json", "--fail-on", LIMITS])?;
        let is_as_it_must = match edit.found {
            None => code == 0,
            Some((count, line)) => {
                let sentence = said.lines().find(|said| said.contains(&format!("has more {count}:")));
                let place = sentence.and_then(|said| said.split_once("most at ")).map(|(_, place)| place);
                let place = place.map(|place| place.split_once("; edited was ").map_or(place, |(place, _)| place));
                code == 6 && place.is_some_and(|place| place.contains(line))
            }
        };
        Ok((!is_as_it_must).then(|| format!("JUDGED WRONG: {code}: {said}")))
    }

    /// What `--save` writes of the kernel as it is.
    fn kept(&self, what: &'static str) -> Result<String, String> {
        let kept = self.kept.lock().map_err(|e| e.to_string())?.entry(what).or_default().clone();
        let mut kept = kept.lock().map_err(|e| e.to_string())?;
        if let Some(kept) = &*kept {
            return Ok(kept.clone());
        }
        let file = format!("{}.json", what.replace(['/', ' ', ':'], "_"));
        let (code, said) = count(self.base.path(), what, &["--save", &file])?;
        let text = fs::read_to_string(self.base.path().join(file)).map_err(|e| format!("{code}: {said}: {e}"))?;
        Ok(kept.insert(text).clone())
    }
}

fn copies() -> io::Result<TempDir> {
    let to = tempfile::tempdir()?;
    FOLDERS
        .iter()
        .try_for_each(|name| copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name), &to.path().join(name)))?;
    Ok(to)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() { copy(&path, &to)? } else { fs::copy(&path, to).map(drop)? }
    }
    Ok(())
}

/// Runs `gpulab count` in a folder: its exit code, and what it says on standard error.
fn count(folder: &Path, what: &str, more: &[&str]) -> Result<(i32, String), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
    command.current_dir(folder).arg("count").args(what.split(' ')).args(more).arg("-q");
    if !what.contains('/') {
        command.args(["--cl-dir", "cl"]);
    }
    command.env("GPULAB_DATA", Path::new(env!("CARGO_TARGET_TMPDIR")).join("data"));
    let output = command.output().map_err(|e| e.to_string())?;
    Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned()))
}

const fn plant(
    (what, file): (&'static str, &'static str),
    about: &'static str,
    found: (&'static str, &'static str),
    patches: &'static [(&'static str, &'static str)],
) -> Edit {
    Edit { what, file, about, patches, found: Some(found) }
}

const fn harmless(
    (what, file): (&'static str, &'static str),
    about: &'static str,
    patches: &'static [(&'static str, &'static str)],
) -> Edit {
    Edit { what, file, about, patches, found: None }
}

const SEQUENTIAL: (&str, &str) = ("reduce:3", "cl/reduce/sequential.cl");
const UNROLLED: (&str, &str) = ("reduce:6", "cl/reduce/unrolled.cl");
const RAKING: (&str, &str) = ("reduce:7", "cl/reduce/raking.cl");
const COALESCED: (&str, &str) = ("dot:coalesced", "cl/dot/coalesced.cl");
const LOCAL: (&str, &str) = ("dot:local", "cl/dot/local.cl");
const VECTORISED: (&str, &str) = ("dot:vectorised", "cl/dot/vectorised.cl");
const PADDED: (&str, &str) = ("transpose:conflict_free", "cl/transpose/conflict_free.cl");
const MINPLUS: (&str, &str) = ("minplus:coalesced", "cl/minplus/coalesced.cl");
const BLOCKS: (&str, &str) = ("minplus:registers", "cl/minplus/registers.cl");
const TREE: (&str, &str) = ("tests/own/right/reduce_tree.cl --as reduce", "tests/own/right/reduce_tree.cl");
const VECTORS: (&str, &str) =
    ("tests/own/right/reduce_vectorised.cl --as reduce -n 65536", "tests/own/right/reduce_vectorised.cl");
const TILED: (&str, &str) = ("tests/own/right/transpose_tiled.cl --as transpose", "tests/own/right/transpose_tiled.cl");
const TILES: (&str, &str) = ("tests/own/right/minplus_tiled.cl:tiles --as minplus", "tests/own/right/minplus_tiled.cl");
const TURNED: (&str, &str) = ("data/examples/transposition/family.toml:padded", "data/examples/transposition/tile.cl");
const PRODUCT: (&str, &str) = ("data/examples/product/family.toml:tiled -n 64", "data/examples/product/tiled.cl");
const HISTOGRAM: (&str, &str) = ("data/examples/histogram/family.toml:local", "data/examples/histogram/local.cl");
const STENCIL: (&str, &str) = ("data/examples/stencil/family.toml:local -n 64", "data/examples/stencil/local.cl");
const SAXPY: (&str, &str) = ("data/examples/saxpy/family.toml:vectors", "data/examples/saxpy/vectors.cl");
const SOFTMAX: (&str, &str) = ("data/examples/softmax/family.toml:group -n 64", "data/examples/softmax/group.cl");
const NBODY: (&str, &str) = ("data/examples/nbody/family.toml:tile -n 512", "data/examples/nbody/tile.cl");

/// The tree of `sequential`, and of readers.
const FOLD: &str = "scratch[id] = REDUCE(scratch[id], scratch[id + offset]);";
const LOOP: &str = "for (uint offset = size / 2; offset > 0; offset /= 2) {";
const OWN_LOOP: &str =
    "for (uint s = WG / 2; s > 0; s /= 2) {\n        if (lid < s)\n            scratch[lid] += scratch[lid + s];";
const HALVING: &str = "for (uint offset = WG / 2; offset > 0; offset /= 2) {\n        barrier(CLK_LOCAL_MEM_FENCE);\n        if (id < offset)\n            scratch[id] = REDUCE(scratch[id], scratch[id + offset]);\n    }";

#[rustfmt::skip]
pub const EDITS: &[Edit] = &[
    // Padding removed.
    plant(PADDED, "loses its padding", ("passes", "tile[lx][ly + j]"), &[("tile[TILE][TILE + PAD]", "tile[TILE][TILE]")]),
    plant(TILED, "loses its padding", ("passes", "tile[x][y + k]"), &[("[32][33]", "[32][32]")]),
    plant(TURNED, "loses its padding", ("passes", "tile[column][row]"), &[("WG_X + PAD", "WG_X")]),
    // Strides.
    plant(SEQUENTIAL, "folds neighbours, far apart", ("passes", "scratch[left] ="), &[(LOOP, "for (uint offset = 1; offset < size; offset *= 2) {\n        const uint left = 2 * offset * id;"), ("if (id < offset)", "if (left < size)"), (FOLD, "scratch[left] = REDUCE(scratch[left], scratch[left + offset]);")]),
    plant(TREE, "folds neighbours, far apart", ("passes", "scratch[2 * s * lid]"), &[(OWN_LOOP, "for (uint s = 1; s < WG; s *= 2) {\n        if (2 * s * lid < WG)\n            scratch[2 * s * lid] += scratch[2 * s * lid + s];")]),
    plant(COALESCED, "gives each item a chunk", ("segments", "MULADD(x[i], y[i], sum)"), &[("for (INDEX i = id; i < end; i += get_global_size(0))", "const INDEX chunk = (end - 1) / get_global_size(0) + 1;\n    for (INDEX i = id * chunk; i < min(end, (id + 1) * chunk); i++)")]),
    plant(VECTORS, "gives each item a chunk", ("segments", "vload4(i, x)"), &[("for (INDEX i = item; i < n / 4; i += items)", "const INDEX chunk = (n / 4 + items - 1) / items;\n    for (INDEX i = item * chunk; i < min(n / 4, (item + 1) * chunk); i++)")]),
    plant(MINPLUS, "turns its items round", ("segments", "SMALLER(best"), &[("j = get_global_id(0), i = get_global_id(1)", "j = get_global_id(1), i = get_global_id(0)")]),
    plant(PADDED, "reads along columns", ("segments", "in[(top + lx) * in_pitch"), &[("INSIDE(left + lx, top + ly + j)", "INSIDE(left + ly + j, top + lx)"), ("tile[ly + j][lx] = in[(top + ly + j) * in_pitch + left + lx]", "tile[lx][ly + j] = in[(top + lx) * in_pitch + left + ly + j]")]),
    // Divergence.
    plant(SEQUENTIAL, "keeps items busy that lie apart", ("instructions", "scratch[id] = REDUCE"), &[(LOOP, "for (uint offset = 1; offset < size; offset *= 2) {"), ("if (id < offset)", "if (id % (2 * offset) == 0)")]),
    plant(TREE, "keeps items busy that lie apart", ("instructions", "scratch[lid] += "), &[(OWN_LOOP, "for (uint s = 1; s < WG; s *= 2) {\n        if (lid % (2 * s) == 0)\n            scratch[lid] += scratch[lid + s];")]),
    plant(SAXPY, "takes two ways", ("requests", "vstore4("), &[("if (4 * i + 4 <= n)", "if (4 * i + 4 <= n && i % 2 == 1)\n        vstore4(mad((float4)(a), vload4(i, x), vload4(i, y)), i, y);\n    else if (4 * i + 4 <= n)")]),
    plant(HISTOGRAM, "counts odd items apart", ("instructions", "atomic_"), &[("if (i < n)", "if (i < n && i % 2 == 1)\n        atomic_add(&mine[x[i]], 1);\n    else if (i < n)")]),
    // Unrolling undone, and divisions.
    plant(UNROLLED, "rolls its tree up", ("instructions", "offset"), &[("unrolled_tree(scratch, id);", HALVING)]),
    plant(RAKING, "rolls its tree up", ("instructions", "offset"), &[("unrolled_tree(scratch, id);", HALVING)]),
    plant(VECTORISED, "sums four in a loop", ("private", "sum4"), &[("T sum = (sum4.s0 + sum4.s1) + (sum4.s2 + sum4.s3);", "T sum = 0;\n    for (uint k = 0; k < 4; k++) sum += ((T *)&sum4)[(k + id) % 4];")]),
    plant(PRODUCT, "divides in its loop", ("instructions", "sum +="), &[("sum += as[y * TILE + k] * bs[k * WG_X + x];", "sum += as[(y * TILE + k) % (n * TILE)] * bs[k * WG_X + x];")]),
    // Vectors split.
    plant(VECTORS, "loads one by one", ("requests", "sums.x +="), &[("sums += vload4(i, x);", "sums.x += x[4 * i], sums.y += x[4 * i + 1], sums.z += x[4 * i + 2], sums.w += x[4 * i + 3];")]),
    plant(VECTORISED, "loads one by one", ("requests", "sum4.s0 ="), &[("sum4 = MULADD(x4[i], y4[i], sum4);", "sum4.s0 = MULADD(x[4 * i], y[4 * i], sum4.s0), sum4.s1 = MULADD(x[4 * i + 1], y[4 * i + 1], sum4.s1), sum4.s2 = MULADD(x[4 * i + 2], y[4 * i + 2], sum4.s2), sum4.s3 = MULADD(x[4 * i + 3], y[4 * i + 3], sum4.s3);")]),
    plant(SAXPY, "stores one by one", ("requests", "y[k] ="), &[("if (4 * i + 4 <= n)\n        vstore4(a * vload4(i, x) + vload4(i, y), i, y);\n    else\n        for (uint k = 4 * i; k < n; k++)", "for (uint k = 4 * i; k < min(n, 4 * i + 4); k++)")]),
    // Barriers added.
    plant(SEQUENTIAL, "waits twice", ("barriers", "barrier("), &[(FOLD, "scratch[id] = REDUCE(scratch[id], scratch[id + offset]);\n        barrier(CLK_LOCAL_MEM_FENCE);")]),
    plant(LOCAL, "waits twice", ("barriers", "barrier("), &[("        barrier(CLK_LOCAL_MEM_FENCE);", "        barrier(CLK_LOCAL_MEM_FENCE);\n        barrier(CLK_LOCAL_MEM_FENCE);")]),
    plant(PADDED, "waits at its end", ("barriers", "barrier("), &[("out[(left + ly + j) * out_pitch + top + lx] = tile[lx][ly + j];", "out[(left + ly + j) * out_pitch + top + lx] = tile[lx][ly + j];\n    barrier(CLK_LOCAL_MEM_FENCE);")]),
    plant(PRODUCT, "waits between its loads", ("barriers", "barrier("), &[("        for (uint i = lid; i < TILE * WG_X; i += WG) {", "        barrier(CLK_LOCAL_MEM_FENCE);\n        for (uint i = lid; i < TILE * WG_X; i += WG) {")]),
    plant(SOFTMAX, "waits in a loop", ("barriers", "barrier("), &[("if (id < width)\n            tree[id] += tree[id + width];", "if (id < width)\n            tree[id] += tree[id + width];\n        barrier(CLK_LOCAL_MEM_FENCE);")]),
    // Reuse lost.
    plant(PRODUCT, "reads global memory again", ("requests", "sum +="), &[("bs[k * WG_X + x];\n        barrier", "b[(first + k) * n + left + x];\n        barrier")]),
    plant(TILES, "reads global memory again", ("requests", "best = SMALLER"), &[("rows[y][k] + columns", "d[i * n + begin + k] + columns")]),
    plant(STENCIL, "reads global memory again", ("requests", "a[row * n + column - 1]"), &[("tile[y + 1][x] +", "a[row * n + column - 1] +")]),
    plant(NBODY, "reads global memory again", ("requests", "pull("), &[("pull(tile[k], at)", "pull(first + k < n ? old[first + k] : (float4)(0), at)")]),
    plant(BLOCKS, "reads a column for each row", ("requests", "best[i][j] = SMALLER"), &[("JOIN(x[i], y[j])", "JOIN(x[i], ((volatile __global const T *)rows)[k * pitch + left + across + j * ITEM])")]),
    plant(HISTOGRAM, "counts each element twice over", ("atomics", "atomic_"), &[("atomic_inc(&mine[x[i]]);", "atomic_add(&mine[x[i]], 2), atomic_sub(&mine[x[i]], 1);")]),

    // Renames.
    harmless(SEQUENTIAL, "names its variables anew", &[("offset", "upper"), ("scratch", "values")]),
    harmless(LOCAL, "names its variables anew", &[("active", "left"), ("scratch", "sums")]),
    harmless(PADDED, "names its variables anew", &[("lx", "column"), ("ly", "line"), ("tile", "block")]),
    harmless(TREE, "names its kernel anew", &[("void tree(", "void fold("), ("scratch", "w")]),
    harmless(SOFTMAX, "names its variables anew", &[("most", "highest"), ("tree", "values")]),
    harmless(NBODY, "names its variables anew", &[("sum", "total"), ("first", "begin"), ("speed", "pace")]),
    // Comments and blank lines.
    harmless(SEQUENTIAL, "says more", &[("    if (id == 0)", "    // The first one.\n\n    /* It alone\n       writes. */\n    if (id == 0) // here")]),
    harmless(COALESCED, "has blank lines", &[("{\n", "{\n\n\n"), ("    T sum", "\n\n    T sum")]),
    harmless(PRODUCT, "says more", &[("        barrier(CLK_LOCAL_MEM_FENCE);\n", "        // All wait here.\n        barrier(CLK_LOCAL_MEM_FENCE);\n\n")]),
    harmless(HISTOGRAM, "says less on more lines", &[("for (uint bin = lid; bin < BINS; bin += WG)", "for (uint bin = lid;\n         bin < BINS;\n         bin += WG)")]),
    // Another order.
    harmless(SEQUENTIAL, "declares in another order", &[("    const INDEX i = get_global_id(0);\n", ""), ("    const uint id = get_local_id(0), size = get_local_size(0);", "    const INDEX i = get_global_id(0);\n    const uint size = get_local_size(0), id = get_local_id(0);")]),
    harmless(PRODUCT, "declares in another order", &[("    T sum = 0;\n", ""), ("    const uint x = get_local_id(0)", "    T sum = 0;\n    const uint x = get_local_id(0)")]),
    harmless(STENCIL, "declares in another order", &[("const uint column = left + x, row = top + y;", "const uint row = top + y, column = left + x;")]),
    harmless(MINPLUS, "declares in another order", &[("    T best = NO_EDGE;\n", ""), ("    const INDEX j", "    T best = NO_EDGE;\n    const INDEX j")]),
    harmless(TILES, "loads in another order", &[("        columns[y][x] = begin + y < n && j < n ? d[(begin + y) * n + j] : NO_EDGE;\n", ""), ("        rows[y][x] =", "        columns[y][x] = begin + y < n && j < n ? d[(begin + y) * n + j] : NO_EDGE;\n        rows[y][x] =")]),
    // Macros.
    harmless(SEQUENTIAL, "has a macro for a step", &[("// scratch has", "#define FOLD(a, b) scratch[a] = REDUCE(scratch[a], scratch[b])\n// scratch has"), (FOLD, "FOLD(id, id + offset);")]),
    harmless(PADDED, "has a macro for a place", &[("\n__kernel", "\n#define FROM(column, row) ((row) * in_pitch + (column))\n__kernel"), ("in[(top + ly + j) * in_pitch + left + lx]", "in[FROM(left + lx, top + ly + j)]")]),
    harmless(TREE, "has a macro for its barrier", &[("barrier(CLK_LOCAL_MEM_FENCE)", "SYNC"), ("__kernel", "#define SYNC barrier(1)\n__kernel")]),
    harmless(STENCIL, "has a macro for its width", &[("WG_X + 2", "WIDE"), ("__kernel", "#define WIDE (WG_X + 2)\n__kernel")]),
    // Other words for the same.
    harmless(SEQUENTIAL, "shifts in place of halving", &[("size / 2", "size >> 1"), ("offset /= 2", "offset >>= 1")]),
    harmless(LOCAL, "has braces", &[("if (id < active / 2)", "if (id < active / 2) {"), ("(active + 1) / 2];", "(active + 1) / 2];\n        }")]),
    harmless(SAXPY, "counts its place first", &[("if (4 * i + 4 <= n)", "const uint first = i * 4;\n    if (first + 4 <= n)"), ("uint k = 4 * i;", "uint k = first;")]),
    harmless(TILED, "has braces and a while", &[("    for (uint k = 0; k < 32; k += 8)\n        if (column < width && row + k < height)\n            tile[y + k][x] = in[(row + k) * width + column];", "    uint k = 0;\n    while (k < 32) {\n        if (column < width && row + k < height) {\n            tile[y + k][x] = in[(row + k) * width + column];\n        }\n        k += 8;\n    }")]),
    harmless(VECTORS, "sums in a variable of its own", &[("sums += vload4(i, x);", "{\n        const T4(T) four = vload4(i, x);\n        sums = sums + four;\n    }")]),
];
