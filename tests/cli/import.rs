//! Scripts for other tuners: what they give their tuner becomes a family's file, and nothing of them is run.

use crate::binary::gpulab;
use std::fs;
use std::path::Path;

const VECTOR_ADD: &str = r#"
import numpy
from kernel_tuner import tune_kernel
from kernel_tuner.file_utils import store_output_file
source = """
__kernel void vector_add(__global float *c, __global const float *a, __global const float *b, int n) {
    int i = get_global_id(0);
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
"""
size = 100000
a = numpy.random.randn(size).astype(numpy.float32)
b = numpy.random.randn(size).astype(numpy.float32)
args = [numpy.zeros_like(a), a, b, numpy.int32(size)]
results, _ = tune_kernel("vector_add", source, size, args, {"block_size_x": [128, 64]})
store_output_file("results.json", results, {})
open("results.json", "w").write("not real")
"#;

const MATMUL: &str = r#"
import numpy as np
import kernel_tuner

def tune():
    size = (256, 256)
    A = np.random.randn(*size).astype(np.float32)
    B = np.random.randn(*size).astype(np.float32)
    tune_params = dict(block_size_x=[16, 32], block_size_y=[4, 8, 16], tile_size_y=[1, 2, 4], layout=["row"])
    kernel_tuner.run_kernel("product", "product.cl", size, [np.zeros_like(A), A, B], dict(block_size_x=16))
    kernel_tuner.tune_kernel("product", "product.cl", size, [np.zeros_like(A), A, B], tune_params,
        grid_div_y=["block_size_y", "tile_size_y"], answer=[A @ B, None, None], defines={"WIDTH": 256},
        restrictions=["block_size_x == block_size_y*tile_size_y and tile_size_y*4//2 <= 8", "tile_size_y == 1 or not block_size_x < 16", "tile_size_y == 1 or True"])

if __name__ == "__main__":
    tune()
"#;

const PRODUCT: &str = "
#define WIDTH 4096
__kernel void product(__global float *C, __global float *A, __global float *B) {
    int x = get_global_id(0);
    for (int i = 0; i < tile_size_y; i++) {
        int y = (get_group_id(1) * tile_size_y + i) * block_size_y + get_local_id(1);
        float sum = 0;
        for (int k = 0; k < WIDTH; k++)
            sum += A[y * WIDTH + k] * B[k * WIDTH + x];
        C[y * WIDTH + x] = sum;
    }
}
";

const REDUCTION: &str = r#"
import numpy
from kernel_tuner import tune_kernel
kernel_string = open("sums.cl").read()
x = numpy.random.rand(5000).astype(numpy.float32)
index = numpy.arange(5000).astype(numpy.int32)
args = [numpy.zeros(64).astype(numpy.float32), x, index, numpy.int32(x.size), numpy.float32(0.5)]
params = {"block_size_x": [2**i for i in range(5, 8)], "num_blocks": [16, 64], "vector": [1]}
tune_kernel("sums", kernel_string, "num_blocks", args, params, grid_div_x=[], restrictions=lambda p: True)
"#;

const SUMS: &str = "__kernel void sums(__global float *out, __global float *in, __global int *at, int n, float scale) {
    float sum = 0;
    for (int i = get_global_id(0); i < n; i += num_blocks * block_size_x) sum += in[at[i]];
    out[get_global_id(0)] = sum * scale;
}";

/// What importing a script says, its exit code, and the family's file.
fn import(folder: &Path, script: &str) -> (String, i32, String) {
    fs::write(folder.join("script.py"), script).unwrap();
    let output = gpulab(&["import", "kernel-tuner", "script.py"]).current_dir(folder).output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (said, output.status.code().unwrap(), fs::read_to_string(folder.join("script.toml")).unwrap_or_default())
}

/// Puts these texts in the place of others, and climbs the ladder.
fn climbed(folder: &Path, filled: &[(&str, &str)]) {
    let mut text = fs::read_to_string(folder.join("script.toml")).unwrap();
    for (from, to) in filled {
        assert!(text.contains(from), "{from}: {text}");
        text = text.replace(from, to);
    }
    fs::write(folder.join("script.toml"), &text).unwrap();
    let output = gpulab(&["ladder", "script.toml", "--quick", "--budget", "1s", "-q"]).current_dir(folder).output();
    let output = output.unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}\n{said}");
}

#[test]
fn a_kernel_in_a_string_is_written_beside_the_script() {
    let folder = tempfile::tempdir().unwrap();
    let (said, code, text) = import(folder.path(), VECTOR_ADD);
    assert!(code == 0 && said.contains("with your rights") && said.contains("wrote script.cl"), "{said}");
    assert!(!folder.path().join("results.json").exists(), "what the script does with results does not happen");
    for line in [
        "kernel = \"script.cl\"",
        "n      = 100000",
        "tune   = { WG_X = [128, 64] }",
        "define = { block_size_x = \"WG_X\" }",
        "groups = \"ceil(n, block_size_x)\"",
        "\"out c[n]\"",
        "\"a[n] small 8\"",
        "check  = \"numpy: c = ?\"",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("sizes"), "{text}");
    let (said, code, _) = import(folder.path(), VECTOR_ADD);
    assert!(code == 2 && said.contains("exists already"), "{said}");
    climbed(folder.path(), &[("c = ?", "c = a + b")]);
}

#[test]
fn restrictions_and_divisors_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("product.cl"), PRODUCT).unwrap();
    let (said, code, text) = import(folder.path(), MATMUL);
    assert_eq!(code, 0, "{said}");
    for line in [
        "kernel = \"product.cl\"",
        "form   = \"square\"\nn      = 256\nsizes  = \"only\"",
        "tune   = { WG_X = [16, 32], WG_Y = [4, 8, 16], tile_size_y = [1, 2, 4] }",
        "define = { block_size_x = \"WG_X\", block_size_y = \"WG_Y\", layout = \"?\", WIDTH = \"256\" }",
        "where  = [\"block_size_x == block_size_y*tile_size_y\", \"tile_size_y*4/2 <= 8\", \"tile_size_y == 1 or not block_size_x < 16\"]\n# Not all",
        "groups = \"ceil(n, block_size_x), ceil(n, block_size_y * tile_size_y)\"",
        "\"out C[n*n]\"",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!folder.path().join("script.cl").exists());
    let filled = [
        ("C = ?", "C = A.reshape(n, n) @ B.reshape(n, n)"),
        (", layout = \"?\"", ""),
        ("[16, 32], WG_Y = [4,", "[16], WG_Y = [16,"),
    ];
    climbed(folder.path(), &filled);
}

#[test]
fn a_text_that_the_script_read_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sums.cl"), SUMS).unwrap();
    let (said, code, text) = import(folder.path(), REDUCTION);
    assert_eq!(code, 0, "{said}");
    for line in [
        "kernel = \"sums.cl\"",
        "n      = 5000",
        "num_blocks = [16, 64]",
        "vector = 1",
        "groups = \"num_blocks\"",
        "\"out out[64]\"",
        "\"in_[n] small 8\"",
        "\"at[n] offsets 1\"",
        "\"n\"",
        "\"0.5\"",
        "# Not all restrictions",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn what_is_no_opencl_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let cuda = VECTOR_ADD.replace("__kernel void", "__global__ void");
    let (said, code, _) = import(folder.path(), &cuda);
    assert!(code == 2 && said.contains("is CUDA, and gpulab runs OpenCL alone"), "{said}");
    let (said, code, _) = import(folder.path(), "import kernel_tuner\nraise ValueError('no data')");
    assert!(code == 2 && said.contains("ValueError: no data"), "{said}");
    let (said, code, _) = import(folder.path(), &VECTOR_ADD.replace(", numpy.int32(size)]", "]"));
    assert!(code == 2 && said.contains("has 4 parameters, and the script gives 3"), "{said}");
    assert!(!folder.path().join("script.toml").exists());
}
