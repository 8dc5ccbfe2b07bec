//! Families that readers describe: the examples are right, wrong kernels are caught, and what cannot be is refused.

use crate::binary::gpulab;
use std::fs;
use std::path::{Path, PathBuf};

/// A copy of an example, to be spoilt.
struct Copy {
    folder: tempfile::TempDir,
}

impl Copy {
    fn of(example: &str) -> Copy {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("data/examples")
            .join(example);
        let folder = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
        Copy { folder }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// With another text in place of this one, which must be there.
    fn with(self, file: &str, from: &str, to: &str) -> Copy {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{file} has no {from:?}");
        fs::write(self.path(file), text.replace(from, to)).unwrap();
        self
    }

    /// With these lines for NumPy in place of the reference.
    fn answered_by(self, lines: &str) -> Copy {
        let check = format!("check = '''numpy: {lines}'''");
        self.with("family.toml", "check = \"kernel: reference.cl\"", &check)
    }

    /// Standard output and standard error together, and the exit code.
    fn run(&self, options: &[&str]) -> (String, i32) {
        let file = self.path("family.toml");
        let budget = ["try", file.to_str().unwrap(), "--quick", "--budget", "1s"];
        let output = gpulab(&[&budget, options].concat()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (
            text(&output.stdout) + &text(&output.stderr),
            output.status.code().unwrap(),
        )
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_examples_are_right_in_each_of_their_types() {
    for (example, types, n) in [
        ("scan", "i32 f32 i64 f64", "100003"),
        ("product", "f32 f64", "65"),
        ("histogram", "i32", "100003"),
        ("template", "f32", "100003"),
    ] {
        let rungs = if example == "template" { 2 } else { 3 };
        for (t, dtype) in types.split(' ').enumerate() {
            // All rungs in the first type, one in each of the others.
            let of_type = format!("{}", t % rungs + 1);
            let (options, expected) = if t == 0 {
                (vec![], rungs)
            } else {
                (vec!["--variant", of_type.as_str()], 1)
            };
            let options = [
                &["-n", n, "--dtype", dtype, "--json", "-", "-q"],
                &options[..],
            ]
            .concat();
            let (said, code) = Copy::of(example).run(&options);
            assert_eq!(code, 0, "{example} {dtype}: {said}");
            assert_eq!(
                said.matches("\"status\":\"ok\"").count(),
                expected,
                "{example} {dtype}: {said}"
            );
        }
    }
}

/// Examples in few lines of TOML, a size that has a rest everywhere, and the number of their rungs.
const SHORT: [(&str, &str, usize); 13] = [
    ("convolution", "-n 203 --m 101", 3),
    ("dot_product", "-n 10007", 2),
    ("floyd_warshall", "-n 67", 2),
    ("levels", "-n 1009", 2),
    ("nbody", "-n 503", 3),
    ("product_half", "-n 67", 3),
    ("saxpy", "-n 10007", 3),
    ("smooth", "-n 67 --m 45", 2),
    ("softmax", "-n 503 --m 37", 3),
    ("sort", "-n 10007", 2),
    ("spmv", "-n 10007", 3),
    ("stencil", "-n 203 --m 101", 3),
    ("transposition", "-n 203 --m 101", 3),
];

/// Runs a short example at its size; Python needs NumPy, which says what is right in all of them.
fn run_short(copy: &Copy, example: &str, options: &[&str]) -> (String, i32) {
    let (_, size, _) = SHORT
        .into_iter()
        .find(|(name, ..)| *name == example)
        .unwrap();
    let size: Vec<&str> = size.split(' ').collect();
    copy.run(&[&size[..], options].concat())
}

#[test]
fn the_short_examples_are_right() {
    for (example, _, rungs) in SHORT {
        let (said, code) = run_short(&Copy::of(example), example, &["--json", "-", "-q"]);
        assert_eq!(code, 0, "{example}: {said}");
        assert_eq!(
            said.matches("\"status\":\"ok\"").count(),
            rungs,
            "{example}: {said}"
        );
    }
}

/// An example, the rung that is spoilt, the file, what of it, what it becomes, and what is said, or one of several things.
type Spoilt = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

/// Each does what a check is there for.
#[rustfmt::skip]
const SPOILT: &[Spoilt] = &[
    // A race: additions of several groups get lost, on a busy machine too, as each takes long enough for another to begin.
    ("histogram", "atomic", "atomic.cl", "atomic_inc(&counts[x[i]])", "{ const T had = counts[x[i]]; for (volatile int w = 0; w < 20; w++); counts[x[i]] = had + 1; }", "want"),
    ("scan", "local", "local.cl", "    if (i < n)\n        out[i] += sums", "    if (i <= n)\n        out[i] += sums", "behind"),
    // No guard: rows are written into each other.
    ("product", "naive", "naive.cl", "column >= n || row >= n", "row >= n", "outside"),
    // Only whole groups are launched, though the size asked for has no rest.
    ("scan", "local", "family.toml", "items = \"n\"", "groups = \"n / WG\"", "before the run"),
    // What the run before left is taken for the result.
    ("product", "naive", "naive.cl", "    T sum = 0;", "    if (fabs(c[row * n + column]) < 1e9f) return;\n    T sum = 0;", "after a change of the data"),
    // The input is scribbled on.
    ("scan", "serial", "serial.cl", "        out[i] = sum;", "        out[i] = sum;\n        ((__global T *)x)[i] = 0;", "changed its input"),
    // Memory between launches is taken for cleared: a sum is off by what was there, -559038737, or is that where it comes to 0.
    ("scan", "serial", "serial.cl", "    sums[chunk] = sum;", "    if (sum) sums[chunk] += sum;", "is -5590|before the run"),
    // Right for the size that is asked for alone.
    ("product", "registers", "registers.cl", "        sum[r] = 0;", "        sum[r] = n == 64 ? 0 : 1;", "n=1"),
];

#[test]
fn wrong_kernels_are_caught() {
    let sizes = |example: &str| match example {
        "product" => "64",
        "scan" => "65536",
        _ => "262144",
    };
    let objections = SPOILT
        .iter()
        .filter_map(|&(example, variant, file, from, to, why)| {
            let copy = Copy::of(example).with(file, from, to);
            let (said, code) = copy.run(&["-n", sizes(example), "--variant", variant, "-v"]);
            let is_caught = code == 4 && why.split('|').any(|why| on_one_line(&said).contains(why));
            (!is_caught).then(|| format!("{example} {variant} {to}: {code}, {said}"))
        });
    let objections: Vec<String> = objections.collect();
    assert!(objections.is_empty(), "{}", objections.join("\n"));
}

/// A short example, the rung that is spoilt, the file, what of it, what it becomes, and what is said.
#[rustfmt::skip]
const SHORT_SPOILT: &[Spoilt] = &[
    ("saxpy", "strides", "strides.cl", "i < n;", "i + 1 < n;", "n=1"),
    // One of two outputs is as it was.
    ("nbody", "bodies", "bodies.cl", "            velocity[i] = speed;\n", "", "of velocity"),
    // Each launch of a loop counts.
    ("stencil", "naive", "family.toml", "0..8", "0..7", "want"),
    // Bytes: a rounding that is right for most pixels.
    ("convolution", "tile", "tile.cl", "sums[p] >> 8", "(sums[p] + 1) >> 8", "want"),
    // Another channel, and a wrong number under a flag.
    ("smooth", "linear", "linear.cl", "sum / 4)", "(sum / 4).yxzw)", "want"),
    ("levels", "seldom", "naive.cl", "level + 1;", "level + 2;", "want"),
    // Large numbers overflow.
    ("softmax", "naive", "naive.cl", "float most = x[0],", "float most = 0,", "is NaN"),
];

#[test]
fn wrong_short_examples_are_caught() {
    for &(example, variant, file, from, to, why) in SHORT_SPOILT.iter() {
        let copy = Copy::of(example).with(file, from, to);
        let (said, code) = run_short(&copy, example, &["--variant", variant, "-v"]);
        assert!(
            code == 4 && on_one_line(&said).contains(why),
            "{example} {variant} {to}: {code}, {said}"
        );
    }
}

#[test]
fn a_family_says_what_is_right_for_inputs_like_its_own() {
    let by = |example: &str, check: &str| {
        Copy::of(example).with("family.toml", check, "check = \"family: dot\"")
    };
    let right = || by("dot_product", "check = \"numpy: out = np.dot(x, y)\"");
    let (said, code) = run_short(&right(), "dot_product", &["--variant", "groups"]);
    assert!(
        code == 0 && said.contains("the reference is the CPU's result of dot"),
        "{said}"
    );
    let from = "half_width];\n        barrier(CLK_LOCAL_MEM_FENCE);";
    let wrong = right().with("groups.cl", from, "half_width];");
    assert_eq!(
        run_short(&wrong, "dot_product", &["--variant", "groups"]).1,
        4
    );
    let other = by("saxpy", "check = \"numpy: y = 3 * x + y\"").with(
        "family.toml",
        "inout y[n]",
        "inout y[2*n]",
    );
    let (said, code) = run_short(&other, "saxpy", &["--variant", "naive"]);
    assert!(
        code == 1 && said.contains("and these are others"),
        "{code}: {said}"
    );
}

#[test]
fn races_that_a_driver_hides_are_found_in_the_simulator() {
    // Work-items that run one after the other never see it.
    let from = "        barrier(CLK_LOCAL_MEM_FENCE);\n        const T other";
    let copy = Copy::of("scan").with("group.cl", from, "        const T other");
    let (said, code) = copy.run(&["-n", "10000", "--variant", "local", "--check"]);
    if said.contains("Oclgrind, which is not installed") {
        return;
    }
    assert!(code == 4 && said.contains("a race"), "{said}");
    let (said, code) = Copy::of("histogram").run(&["-n", "10000", "--check"]);
    assert!(code == 0 && said.matches("no race").count() == 3, "{said}");
}

#[test]
fn references_that_give_no_answer_are_told_and_blame_no_rung() {
    for (lines, why) in [
        (
            "import os; os.kill(os.getpid(), 11); out = x",
            "the reference numpy ended with signal: 11",
        ),
        (
            "import os; os.write(2, b'it is broken\\n'); os._exit(3); out = x",
            "ended with exit status: 3, and said: it is broken",
        ),
        ("out = np.cumsum(x)[:100]", "out has 100 elements"),
        ("out = np.nan * x", "element 0 is NaN"),
    ] {
        let (said, code) = Copy::of("scan")
            .answered_by(lines)
            .run(&["-n", "1000", "--dtype", "f32"]);
        assert_eq!(code, 1, "{lines}: {said}");
        assert!(on_one_line(&said).contains(why), "{lines}: {said}");
        assert!(!said.contains("WRONG"), "{lines}: {said}");
    }
}

#[test]
fn reference_kernels_that_end_the_process_or_never_end_are_told() {
    let text = |body: &str| format!("{{\n    volatile INDEX zero = 0;\n    {body}\n");
    for (body, options, why) in [
        (
            "while (zero == 0) ;",
            &["-n", "16", "--deadline", "3"][..],
            "while asking the reference for the right \
                                                                       result",
        ),
        (
            "*(volatile __global T *)(size_t)zero = 1;",
            &["-n", "16"],
            "while asking the reference for the right result",
        ),
        (
            "no_such_function();",
            &["-n", "16"],
            "the reference reference.cl on",
        ),
    ] {
        let (said, code) = Copy::of("product")
            .with(
                "reference.cl",
                "const INDEX n)\n{\n",
                &format!("const INDEX n)\n{}", text(body)),
            )
            .run(options);
        assert_eq!(code, 1, "{body}: {said}");
        assert!(on_one_line(&said).contains(why), "{body}: {said}");
    }
}

#[test]
fn an_answer_that_is_wrong_makes_all_rungs_wrong() {
    let (said, code) = Copy::of("scan").answered_by("out = x").run(&["-n", "1000"]);
    assert_eq!(code, 4, "{said}");
    assert_eq!(said.matches("WRONG: ").count(), 3, "{said}");
}

#[test]
fn what_cannot_be_is_refused_with_the_next_step() {
    let scan = |from: &str, to: &str, why: &str, options: &[&str]| {
        let (said, code) = Copy::of("scan").with("family.toml", from, to).run(options);
        assert_eq!(code, 2, "{to}: {said}");
        assert!(on_one_line(&said).contains(why), "{to}: {said}");
    };
    scan("about =", "abuot =", "line 5: unknown field `abuot`", &[]);
    scan(
        "name = \"scan\"",
        "name = \"reduce\"",
        "gpulab already has a family \"reduce\"",
        &[],
    );
    scan("\"serial.cl\"", "\"none.cl\"", "none.cl: No such file", &[]);
    scan(
        "kernel = \"scan_chunks\"",
        "kernel = \"scan_chunk\"",
        "there is no kernel scan_chunk in serial.cl",
        &[],
    );
    scan(
        "out T out[n]",
        "out T out[n - 2000]",
        "\"n - 2000\" is -1000",
        &["-n", "1000"],
    );
    scan(
        "out T out[n]",
        "out T out[n - 1000]",
        "is 0, and must be from 1",
        &["-n", "1000"],
    );
    scan(
        "out T out[n]",
        "out T out[n*n*n*n]",
        "and must be from 1",
        &["-n", "1Mi"],
    );
    scan(
        "out T out[n]",
        "out T out[n / 0]",
        "it divides by zero",
        &["-n", "1000"],
    );
    scan("small 8", "file none.npy", "cannot use input", &[]);
    scan(
        "limit = \"copy\"",
        "limit = \"cpoy\"",
        "there is read, write, copy",
        &[],
    );
    scan("n = 1048576", "n = -5", "line 7", &[]);
    scan("n = 1048576", "n = ", "line 7", &[]);
    let (said, code) = Copy::of("scan").run(&["--set", "chunks=5"]);
    assert!(code == 2 && said.contains("chunk"), "{said}");
    let (said, code) = Copy::of("scan").run(&["--m", "5"]);
    assert!(code == 2 && said.contains("no matrix"), "{said}");
    let output = gpulab(&["try", "no-such.toml"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(2) && on_one_line(&said).contains("--template DIR"),
        "{said}"
    );
}

#[test]
fn data_over_which_a_kernel_that_reads_nothing_would_pass_are_refused() {
    let template = |fill: &str| {
        Copy::of("template").with(
            "family.toml",
            "random\", \"out",
            &format!("{fill}\", \"out"),
        )
    };
    for fill in ["ones", "below 1", "below RADIUS"] {
        let (said, code) = template(fill).run(&["-n", "5000"]);
        assert!(
            code == 2 && on_one_line(&said).contains("makes all elements the same"),
            "{fill}: {said}"
        );
    }
    let copy = template("file same.f32");
    fs::write(copy.path("same.f32"), 1.5f32.to_le_bytes().repeat(6000)).unwrap();
    let (said, _) = copy.run(&["-n", "5000", "--dtype", "f32"]);
    assert!(
        on_one_line(&said).contains("are all the same, so a kernel that never reads"),
        "{said}"
    );
    let constant = Copy::of("template")
        .with(
            "naive.cl",
            "out[i] = sum / (2 * RADIUS + 1);",
            "out[i] = sum > 100 ? 2 : 1;",
        )
        .with("reference.cl", "out[i] = ", "out[i] = 1 + 0 * ");
    let (said, code) = constant.run(&["-n", "5000", "--dtype", "f32", "--variant", "naive"]);
    assert!(
        code == 1 && on_one_line(&said).contains("right answer over other data is the same"),
        "{said}"
    );
}

#[test]
fn numpys_errors_name_the_line_and_the_shapes() {
    for (to, why) in [
        (
            "one = 1\ny = 3 * x + y[1:]",
            "ValueError: operands could not be broadcast together with shapes (5000,) (4999,)",
        ),
        (
            "one = 1\ny = 3 * x + z",
            "NameError: name 'z' is not defined",
        ),
        ("one = 1\ny = 3 * (x", "SyntaxError: '(' was never closed"),
    ] {
        let copy = Copy::of("saxpy").with(
            "family.toml",
            "\"numpy: y = 3 * x + y\"",
            &format!("\"\"\"numpy: {to}\"\"\""),
        );
        let (said, code) = copy.run(&["-n", "5000"]);
        let said = on_one_line(&said);
        let line = to.lines().last().unwrap();
        assert!(
            code == 1 && said.contains(why) && said.contains(&format!("in its line 2, `{line}`")),
            "{said}"
        );
        assert!(
            why.starts_with("Syntax") || said.contains("where x is (5000,)"),
            "{said}"
        );
    }
}

#[test]
fn files_of_data_are_as_long_as_they_are() {
    let copy = Copy::of("histogram").with("family.toml", "below BINS", "file x.i32");
    let bytes: Vec<u8> = (0..5000i32)
        .flat_map(|i| (i * i % 251).to_le_bytes())
        .collect();
    fs::write(copy.path("x.i32"), bytes).unwrap();
    let (said, code) = copy.run(&["-n", "5000"]);
    assert_eq!(code, 0, "{said}");
    let (said, code) = copy.run(&["-n", "5001"]);
    assert!(
        code == 2 && on_one_line(&said).contains("x.i32 has 5000 elements, and x needs 5001"),
        "{said}"
    );
}

#[test]
fn what_is_no_image_and_no_sampler_is_refused_with_the_next_step() {
    for (from, to, why) in [
        (
            "image rgba8 picture",
            "image rgb8 picture",
            "needs the format of its pixels",
        ),
        (
            "image rgba8 picture[m, n]",
            "u8 picture[m, n]",
            "it is an image, and args gives picture: write \"image FORMAT",
        ),
        (
            "picture[m, n]",
            "picture[m * n]",
            "picture has 1 of 2 sides: write them as in picture[m, n]",
        ),
        (
            "out image rgba8 smoothed",
            "image rgba8 smoothed",
            "no argument is an output",
        ),
        (
            "\"sampler clamp_to_edge nearest\"",
            "\"sampler clamp_to_edge cubic\"",
            "a sampler has no \"cubic\"",
        ),
        (
            "\"sampler clamp_to_edge nearest\"",
            "\"sampler repeat\"",
            "needs coordinates from 0 to 1",
        ),
        (
            "\"sampler clamp_to_edge nearest\"",
            "4",
            "it is a sampler, and args gives a number: write one as in",
        ),
        (
            "\"sampler clamp_to_edge nearest\", \"n\"",
            "\"n\", \"sampler\"",
            "and args gives a",
        ),
    ] {
        let (said, code) = Copy::of("smooth").with("family.toml", from, to).run(&[]);
        assert!(
            code == 2 && on_one_line(&said).contains(why),
            "{to}: {code}, {said}"
        );
    }
    for (from, to, why) in [
        (
            "while = \"is_new\", args",
            "while = \"rows\", args",
            "which is only an input",
        ),
        ("loop = \"level in 0..min(n, 1000)\", ", "", "need a loop"),
    ] {
        let (said, code) = Copy::of("levels").with("family.toml", from, to).run(&[]);
        assert!(
            code == 2 && on_one_line(&said).contains(why),
            "{to}: {code}, {said}"
        );
    }
}

#[test]
fn other_commands_take_the_file_as_well() {
    let copy = Copy::of("scan");
    let file = copy.path("family.toml");
    let rows = copy.path("rows.csv");
    let (file, rows) = (file.to_str().unwrap(), rows.to_str().unwrap());
    let sweep = [
        "sweep",
        file,
        "-n",
        "5000",
        "--variant",
        "local",
        "--wg",
        "32,64",
        "--max-runs",
        "3",
        "-o",
        rows,
    ];
    gpulab(&sweep).assert().success();
    assert_eq!(fs::read_to_string(rows).unwrap().matches(",ok,").count(), 2);
    gpulab(&[
        "tune",
        file,
        "-n",
        "5000",
        "--variant",
        "local",
        "--budget",
        "1s",
    ])
    .assert()
    .success();
    // Whose reference is a kernel, which the simulator runs, too.
    let template = Copy::of("template");
    gpulab(&[
        "count",
        template.path("family.toml").to_str().unwrap(),
        "-n",
        "16",
    ])
    .assert()
    .success();
    let tried = gpulab(&["try", copy.path("local.cl").to_str().unwrap(), "--as", file])
        .output()
        .unwrap();
    assert!(
        tried.status.code() == Some(2)
            && String::from_utf8(tried.stderr)
                .unwrap()
                .contains("[[rung]]")
    );
}

/// In each the fourth parameter of a right kernel cannot take its argument.
const UNFIT: [(&str, &str, &str); 4] = [
    (
        "__read_only image2d_t e",
        "in",
        "`image2d_t e`: it is an image, and args gives in: write \"image FORMAT e[m, n]\"",
    ),
    (
        "sampler_t e",
        "n",
        "`sampler_t e`: it is a sampler, and args gives a number: write one as in",
    ),
    (
        "const float e",
        "in",
        "`float e`: it is handed over by value, and args gives in",
    ),
    (
        "__global T *e",
        "local 4",
        "`T e`: it is a buffer, and args gives local memory",
    ),
];

#[test]
fn arguments_that_a_parameter_cannot_take_are_refused() {
    let objections = UNFIT.iter().filter_map(|(parameter, arg, why)| {
        let args = [
            "items = \"n\"",
            &format!("items = \"n\"\nargs = [\"in\", \"out\", \"n\", \"{arg}\"]"),
        ];
        let copy = Copy::of("template")
            .with(
                "naive.cl",
                "const INDEX n)",
                &format!("const INDEX n, {parameter})"),
            )
            .with("family.toml", args[0], args[1]);
        let (said, code) = copy.run(&["-n", "5000", "--variant", "naive"]);
        let is_refused = code == 2 && on_one_line(&said).contains(why);
        (!is_refused).then(|| format!("{parameter}: {code}, {said}"))
    });
    let objections: Vec<String> = objections.collect();
    assert!(objections.is_empty(), "{}", objections.join("\n"));
}

#[test]
fn the_template_works_at_once_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("mine");
    let mine = mine.to_str().unwrap();
    gpulab(&["try", "--template", mine]).assert().success();
    let file = format!("{mine}/family.toml");
    gpulab(&["ladder", &file, "--quick", "--budget", "1s", "-n", "10000"])
        .assert()
        .success();
    gpulab(&["try", "--template", mine]).assert().code(2);
}

/// A family of one kernel, of one parameter for each of its arguments.
fn made(kernel: &str, keys: &str) -> Copy {
    let copy = Copy {
        folder: tempfile::tempdir().unwrap(),
    };
    fs::write(copy.path("k.cl"), format!("__kernel void k({kernel}")).unwrap();
    fs::write(
        copy.path("family.toml"),
        format!("kernel = \"k.cl\"\nitems = \"n\"\n{keys}\n"),
    )
    .unwrap();
    copy
}

/// Parameters and body of a kernel, the keys of its file, options, and what is said of it. None of them may be ok: each does too
/// little or too much where data or sizes are such that nothing showed it.
#[rustfmt::skip]
const UNEARNED: &[(&str, &str, &str, i32, &str)] = &[
    // Without a guard: what it copies lies beside one buffer, and what it writes beside another.
    ("__global float *a, __global float *b, int n) { int i = get_global_id(0); b[i] = a[i]; }",
     "n = 65536\nargs = [\"a[n]\", \"out b[n]\", \"n\"]\ncheck = \"numpy: b = a\"", "", 4, "outside buffer"),
    ("__global int *a, __global int *b, int n) { int i = get_global_id(0); if (i <= n) b[i] = a[i]; }",
     "n = 65536\nargs = [\"a[n] below 2\", \"out b[n]\", \"n\"]\ncheck = \"numpy: b = a\"", "", 4, "outside buffer"),
    ("__global uchar *x, __global uchar *y, int n) { int i = get_global_id(0); uchar a = x[i]; x[i] = y[i]; y[i] = a; }",
     "n = 65536\nargs = [\"inout x[n]\", \"inout y[n]\", \"n\"]\ncheck = \"numpy: x, y = y, x\"", "", 4, "outside buffer"),
    // Groups of more work-items than some devices take.
    ("__global float *a, __global float *b, int n) { int i = get_global_id(0); b[i] = 2 * a[i]; }",
     "n = 65536\nargs = [\"a[n]\", \"out b[n]\", \"n\"]\ncheck = \"numpy: b = 2 * a\"", "--wg 2048", 4, "outside buffer"),
    ("__global float *a, __global float *b, int n) { int i = get_global_id(0); b[i] = 2 * a[i]; }",
     "n = 65536\nargs = [\"a[n]\", \"out b[n]\", \"n\"]\ncheck = \"numpy: b = 2 * a\"\nwhere = [\"n > 9999\"]", "",
     1, "at none of the edge sizes that it is checked at (its file rules this out: where \"n > 9999\")"),
    // What is right is there before the run, or is a copy.
    ("__global int *to, __global float *w, __global float *d, int n) { }",
     "n = 4096\nargs = [\"to[n] below n\", \"w[n] positive\", \"inout d[n] positive\", \"n\"]\ncheck = \"\"\"numpy: d = d.copy()\nnp.minimum.at(d, to, 2 + w)\"\"\"",
     "", 1, "the right result d is what d holds before the run"),
    ("__global float *x, __global float *y, int n) { int i = get_global_id(0); if (i < n) y[i] = -x[i]; }",
     "n = 4096\ntolerance = 1e-3\nargs = [\"inout x[n]\", \"out y[n]\", \"n\"]\ncheck = \"numpy: y = -x; x = x * 1.0001\"",
     "", 1, "the right result x is what x holds before the run"),
    ("__global float *x, int n) { }", "n = 4096\nargs = [\"inout x[n] sorted\", \"n\"]\ncheck = \"numpy: x = np.sort(x)\"",
     "", 1, "the right result x is what x holds before the run"),
    ("__global float *x, __global float *y, int n) { int i = get_global_id(0); if (i < n) y[i] = x[i]; }",
     "n = 4096\nargs = [\"x[n] sorted\", \"out y[n]\", \"n\"]\ncheck = \"numpy: y = np.sort(x)\"", "", 1, "the right result y is what x holds before the run"),
    ("__global int *x, __global int *count, int n) { }",
     "n = 500\nargs = [\"x[n] positive\", \"out count[1] = 0\", \"n\"]\ncheck = \"numpy: count = (x < 0).sum()\"",
     "", 1, "right answer over other data is the same"),
    // Half-precision numbers are whole up to 2048.
    ("__global half *id, int n) { int i = get_global_id(0); if (i < n) vstore_half((float)i, i, id); }",
     "n = 5000\nargs = [\"out id[n]\", \"n\"]\ncheck = \"numpy: id = np.arange(n)\"", "", 1, "id's element 2049 is 2049, which float16 cannot hold"),
    // Of launches back to back the first ones alone work, as it counts them.
    ("__global int *x, __global int *y, __global int *calls, int n) {
        int i = get_global_id(0);
        if (i == 0) calls[0] = calls[1] == 123456789 ? calls[0] + 1 : 1;
        if (i == 0) calls[1] = 123456789;
        if (i < n && calls[0] < 30) y[i] = 3 * x[i];
     }",
     "n = 1000\nwg = 1000\nargs = [\"x[n]\", \"out y[n]\", \"scratch calls[2]\", \"n\"]\ncheck = \"numpy: y = 3 * x\"", "", 4, "the value that was there before the run"),
];

#[test]
fn a_reference_kernel_sees_what_an_inout_buffer_holds() {
    let keys =
        "args = [\"x[n] small 8\", \"inout y[n] small 8\", \"n\"]\ncheck = \"kernel: serial.cl\"\n";
    let parameters = "__global const int *x, __global int *y, int n";
    let copy = made(
        &format!("{parameters}) {{ int i = get_global_id(0); if (i < n) y[i] += 2 * x[i]; }}"),
        keys,
    );
    let serial = format!(
        "__kernel void serial({parameters}) {{ for (int i = 0; i < n; i++) y[i] += 2 * x[i]; }}"
    );
    fs::write(copy.path("serial.cl"), serial).unwrap();
    let (said, code) = copy.run(&["-n", "1000"]);
    assert_eq!(code, 0, "{said}");
    let (said, code) = copy.run(&["-n", "0"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("no elements"), "{said}");
}

#[test]
fn nothing_is_ok_that_was_not_looked_at() {
    let objections = UNEARNED
        .iter()
        .filter_map(|(kernel, keys, options, want, why)| {
            let options: Vec<&str> = options.split_whitespace().collect();
            let (said, code) = made(kernel, keys).run(&options);
            let is_said =
                code == *want && why.split('|').any(|why| on_one_line(&said).contains(why));
            (!is_said).then(|| format!("{kernel}: {code}, {said}"))
        });
    let objections: Vec<String> = objections.collect();
    assert!(objections.is_empty(), "{}", objections.join("\n"));
}

/// Sums of two vectors, with these lines in its file besides.
fn sums(lines: &str) -> Copy {
    let copy = Copy {
        folder: tempfile::tempdir().unwrap(),
    };
    let kernel = "__kernel void add(__global const T *a, __global const T *b, __global T *c, const INDEX n)\n\
                  { size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0); if (i < n) c[i] = a[i] + b[i]; }";
    fs::write(copy.path("add.cl"), kernel).unwrap();
    let keys = "kernel = \"add.cl\"\nn = 5000\nitems = \"WG_X, ceil(n, WG_X)\"\ncheck = \"numpy: c = a + b\"\n\
                args = [\"a[n] small 8\", \"b[n] small 8\", \"out c[n]\", \"n\"]\n";
    fs::write(copy.path("family.toml"), format!("{keys}{lines}\n")).unwrap();
    copy
}

/// Standard output and standard error of a command over a family, whose remembered settings are its own.
fn said_by(copy: &Copy, words: &str) -> (String, String) {
    let file = copy.path("family.toml");
    let words: Vec<&str> = words
        .split(' ')
        .map(|word| {
            if word == "FILE" {
                file.to_str().unwrap()
            } else {
                word
            }
        })
        .collect();
    let output = gpulab(&words)
        .env("GPULAB_DATA", copy.path("data"))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| on_one_line(&String::from_utf8(bytes).unwrap());
    (text(output.stdout), text(output.stderr))
}

#[test]
fn groups_and_conditions_of_a_file_are_what_is_swept_and_tuned() {
    let copy = sums(
        "tune = { WG_X = [8, 16], WG_Y = [2, 1], t = [1, 2] }\nwhere = [\"WG_X == 8 * t\", \"WG_Y < 9\"]",
    );
    let (planned, told) = said_by(&copy, "sweep FILE --dry-run");
    let row = |wg: &str, t: u32| format!("add/add f32 n=5000 wg={wg} t={t} ");
    let rows: String = [row("8x2", 1), row("8", 1), row("16x2", 2), row("16", 2)].concat();
    assert_eq!(
        planned,
        format!("{rows}4 configurations; 0 cannot run here")
    );
    assert!(
        told.contains("v1 add: 4 of 8 settings can run here; `where` \"WG_X == 8 * t\" excludes 4"),
        "{told}"
    );
    let (planned, _) = said_by(&copy, "sweep FILE --dry-run --wg 16x2 --set t=2");
    assert_eq!(
        planned,
        format!("{}1 configurations; 0 cannot run here", row("16x2", 2))
    );
    for (lines, why) in [
        (
            "wg = 8\ntune = { WG_X = [8] }",
            "line 7: rung add: wg and the WG_X of tune both give the work-group",
        ),
        ("tune = { WG = [8], WG_Y = [1] }", "WG is WG_X * WG_Y"),
        ("tune = { WG_X = [0] }", "WG_X must have values from 1"),
        (
            "tune = { WG_X = [8, 16] }\nwhere = [\"WG_X == 7\"]",
            "0 of 2 settings can run here; `where` \"WG_X == 7\" excludes 2",
        ),
        (
            "tune = { WG_X = [65536] }",
            "the device is too small for 1: work-group 65536",
        ),
        (
            "wg = 8\nlocal = 16000000",
            "needs 64000000 bytes of local memory",
        ),
    ] {
        for command in ["sweep FILE --dry-run", "tune FILE --quick"] {
            let (_, told) = said_by(&sums(lines), command);
            assert!(told.contains(why), "{command} {lines}: {told}");
        }
    }
}

#[test]
fn a_setting_that_is_wrong_at_other_sizes_never_wins() {
    // With t = 2 it is faster, and right at the size of the file alone.
    let copy = sums("tune = { WG_X = [8], t = [1, 2] }");
    let text = fs::read_to_string(copy.path("add.cl")).unwrap();
    let spoilt = "if (i < n) c[i] = t == 2 && n != 5000 ? 0 : a[i] + b[i]; if (t == 1) for (volatile int k = 0; k < 99; k++);";
    fs::write(
        copy.path("add.cl"),
        text.replace("if (i < n) c[i] = a[i] + b[i];", spoilt),
    )
    .unwrap();
    let (best, told) = said_by(&copy, "tune FILE --quick --sample-time 0.01");
    assert!(
        best.contains("best: v1 add, wg 8, t=1") && told.contains("wrong result"),
        "{best} {told}"
    );
}

/// A ladder of kernels `a`, `b` ... of these bodies, which are given `x[n]`, `y[n]` and `n`, and are right where y = x.
fn ladder_of(bodies: &[&str], options: &[&str]) -> (String, i32) {
    let folder = tempfile::tempdir().unwrap();
    let mut toml = String::from(
        "n = 1024\nwg = \"256\"\nitems = \"n\"\nargs = [\"x[n] small 8\", \"out y[n]\", \"n\"]\ncheck = \"numpy: y = x\"\n",
    );
    for (name, body) in ('a'..).zip(bodies) {
        let kernel = format!(
            "__kernel void {name}(__global const float *x, __global float *y, int n)\n{{\n    __local float t[256], s[256];\n    \
             int l = get_local_id(0), i = get_global_id(0);\n    float a = 0;\n{body}\n    if (i < n)\n        y[i] = x[i] + (a == -1 ? 1 : 0);\n}}\n"
        );
        fs::write(folder.path().join(format!("{name}.cl")), kernel).unwrap();
        toml += &format!("[[rung]]\nkernel = \"{name}.cl\"\n");
    }
    fs::write(folder.path().join("family.toml"), toml).unwrap();
    Copy { folder }.run(options)
}

#[test]
fn a_check_says_what_it_did_not_look_at() {
    const NEVER_SET: &str =
        "    for (int k = 0; k < 64; k++) if (t[(l + k) % 256] > 1e30f) a += 1;";
    const RACE: &str = "    s[l] = i < n ? x[i] : 0;\n    a = s[(l + 1) % 256] > 9 ? 1 : 0;";
    const ENDS: &str = "    if ((ulong)x >> 48) a = *(__global volatile float *)((ulong)x | 1);\n    if ((ulong)x >> 48) for (;;) a += x[0];";
    let both = format!("{NEVER_SET}\n{RACE}");
    let cases: [(&[&str], &str, [i32; 2], &str); 6] = [
        (&[""], "", [0, 0], "a: check: no race"),
        (
            &[&both],
            "",
            [4, 4],
            "a race|never set|not looked at to its end: the simulator writes down 2000",
        ),
        // What one rung uses up is none of the next one's.
        (&[NEVER_SET, RACE], "", [4, 4], "b.cl, line 6: a race"),
        (
            &[ENDS, RACE],
            "--deadline 5",
            [4, 4],
            "a: check: a.cl, line 6|end: no result within 5 s|b.cl, line 6: a race",
        ),
        (
            &["__local float more[16384]; more[l] = 0;"],
            "",
            [0, 0],
            "a: check: no race|a.cl, line 6: 64 KiB of local memory for a group",
        ),
        (
            &["#ifdef __SPIR64__\na = 0;\n#endif"],
            "",
            [7, 7],
            "not looked at: the kernel asks for the macro __SPIR64__",
        ),
    ];
    for (bodies, options, codes, wanted) in cases {
        let runs = if codes[0] == codes[1] { 1 } else { 2 };
        for (strict, code) in ["", "--strict"].into_iter().zip(codes).take(runs) {
            let options: Vec<&str> = "--check"
                .split(' ')
                .chain(options.split(' '))
                .chain([strict])
                .filter(|o| !o.is_empty())
                .collect();
            let (said, ended) = ladder_of(bodies, &options);
            let said = on_one_line(&said);
            if said.contains("Oclgrind, which is not installed") {
                return;
            }
            // A timer's doubts fail with --strict, too.
            assert!(
                ended == code || ended == 7 && !strict.is_empty(),
                "{bodies:?} {options:?}: {ended} {said}"
            );
            assert!(
                wanted.split('|').all(|wanted| said.contains(wanted)),
                "{bodies:?}: {said}"
            );
            assert_eq!(
                said.contains("no race"),
                wanted.contains("no race"),
                "{bodies:?}: {said}"
            );
            assert!(!said.contains("races were not looked for"), "{said}");
        }
    }
    let (said, code) = ladder_of(&[""], &[]);
    assert!(
        code == 0 && said.contains("races were not looked for: --check does"),
        "{said}"
    );
}
