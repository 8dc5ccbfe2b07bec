//! Readers' kernels: wrong ones get the hint that their file names, right ones land on the ladder.

use crate::binary::run;
use gpulab::data::{Array, Dtype, Fill, generate};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Kernels whose mistakes are of different kinds, and right ones that are declared in different ways.
const WRONG: &str =
    "reduce_no_barrier_in_tree reduce_int_sum reduce_last_step_missing reduce_item_takes_one dot_absolute
    transpose_unturned minplus_transposed";
const RIGHT: &str =
    "reduce_tree reduce_of_a_host dot_included_tree transpose_local_argument minplus_tiled";

/// A kernel of `tests/own`, with what its first lines say.
struct Own {
    path: PathBuf,
    text: String,
}

impl Own {
    /// What stands behind `// name:`.
    fn says(&self, name: &str) -> Option<&str> {
        self.text.lines().find_map(|line| {
            line.strip_prefix("// ")?
                .strip_prefix(name)?
                .strip_prefix(": ")
        })
    }

    /// Standard output and standard error of `gpulab try`, and its exit code.
    fn tried(&self, more: &[&str]) -> (String, String, i32) {
        let options = self.says("options").unwrap_or_default().split_whitespace();
        let path = self.path.to_str().unwrap();
        let family = self.says("family").unwrap();
        let args: Vec<&str> = ["try", path, "--as", family, "--quick"]
            .into_iter()
            .chain(options)
            .collect();
        run(&[&args, more].concat())
    }
}

/// These kernels of a folder.
fn kernels(folder: &str, names: &str) -> Vec<Own> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/own")
        .join(folder);
    let paths = names
        .split_whitespace()
        .map(|name| folder.join(format!("{name}.cl")));
    paths
        .map(|path| Own {
            text: fs::read_to_string(&path).unwrap(),
            path,
        })
        .collect()
}

/// Does something with each, a few at a time; what it objects to.
fn each(all: &[Own], object: impl Fn(&Own) -> Option<String> + Sync) -> Vec<String> {
    let (next, objections) = (Mutex::new(all.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(own) = next.lock().unwrap().next() else {
                        return;
                    };
                    let objection =
                        object(own).map(|what| format!("{}: {what}", own.path.display()));
                    objections.lock().unwrap().extend(objection);
                }
            });
        }
    });
    objections.into_inner().unwrap()
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn wrong_kernels_get_their_hints_and_are_not_timed() {
    let objections = each(&kernels("wrong", WRONG), |own| {
        let (told, said, code) = own.tried(&["--variant", "1"]);
        let (hint, exit) = (own.says("hint").unwrap(), own.says("exit").unwrap_or("4"));
        let flat = on_one_line(&told);
        if !flat.contains("hint: ")
            || !flat.contains("next: ")
            || !flat.contains(hint)
            || code.to_string() != exit
        {
            return Some(format!("wants {exit}, {hint}; got {code}:\n{told}{said}"));
        }
        told.contains("GB/s")
            .then(|| format!("the ladder ran all the same:\n{told}"))
    });
    assert!(objections.is_empty(), "{}", objections.join("\n\n"));
}

#[test]
fn right_kernels_are_right_and_land() {
    let objections = each(&kernels("right", RIGHT), |own| {
        let (told, said, code) = own.tried(&["--variant", "1-2"]);
        let flat = on_one_line(&told);
        let name = own.path.file_stem().unwrap().to_str().unwrap();
        let lands = [format!("{name} ("), ": right at ".into()]
            .iter()
            .all(|text| flat.contains(text.as_str()))
            && [" lands between ", " is slower than ", " is the fastest"]
                .iter()
                .any(|text| flat.contains(text));
        (code != 0 || !lands || flat.contains("hint: "))
            .then(|| format!("got {code}:\n{told}{said}"))
    });
    assert!(objections.is_empty(), "{}", objections.join("\n\n"));
}

#[test]
fn templates_are_right() {
    let folder = tempfile::tempdir().unwrap();
    for family in ["reduce", "dot", "transpose", "minplus"] {
        let path = folder.path().join(format!("{family}.cl"));
        let (text, _, code) = run(&["try", "--template", family]);
        assert_eq!(code, 0);
        fs::write(&path, text).unwrap();
        let (told, said, code) = run(&[
            "try",
            path.to_str().unwrap(),
            "--as",
            family,
            "--quick",
            "--variant",
            "1",
        ]);
        assert_eq!(code, 0, "{told}{said}");
        assert!(told.contains(": right at "), "{told}");
    }
}

/// A file of this name with this text, tried as a reduction.
fn tried(name: &str, text: impl AsRef<[u8]>, more: &[&str]) -> (String, String, i32) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    run(&[
        &[
            "try",
            path.to_str().unwrap(),
            "--as",
            "reduce",
            "--quick",
            "--variant",
            "1",
        ],
        more,
    ]
    .concat())
}

#[test]
fn files_that_are_no_kernels_are_refused_in_words() {
    let cases: [(&str, &[u8], &str); 9] = [
        ("empty.cl", b" \n", "it is empty"),
        ("binary.cl", b"\xff\xfe\x00", "NUL byte"),
        ("zero.cl", b"int x;\0", "NUL byte"),
        (
            "none.cl",
            b"// __kernel void k() {}",
            "there is no kernel in none.cl",
        ),
        (
            "word.cl",
            b"\n// gpulab: element 4\n__kernel void k() {}",
            "line 2: `element 4` is not a declaration",
        ),
        (
            "hidden.cl",
            b"/**/#include \"/etc/passwd\"\n__kernel void k() {}",
            "makes the compiler read a file",
        ),
        (
            "joined.cl",
            b"#inc\\\nlude \"/etc/passwd\"\n__kernel void k() {}",
            "makes the compiler read a file",
        ),
        (
            "above.cl",
            b"#include \"../secret.cl\"\n__kernel void k() {}",
            "line 1: there is no ../secret.cl",
        ),
        (
            "path.cl",
            b"#include \"/etc/passwd\"\n__kernel void k() {}",
            "line 1: there is no /etc/passwd",
        ),
    ];
    for (name, text, why) in cases {
        let (told, said, code) = tried(name, text, &[]);
        assert_eq!((code, told.as_str()), (2, ""), "{name}: {said}");
        assert!(
            said.starts_with("gpulab: ") && said.contains(why),
            "{name}: {said}"
        );
    }
    let large = vec![b'a'; 2 << 20];
    assert!(tried("large.cl", large, &[]).1.contains("at most 1048576"));
    let folder = env!("CARGO_MANIFEST_DIR");
    assert!(
        run(&["try", folder, "--as", "reduce"])
            .1
            .contains("it is a folder")
    );
    assert_eq!(run(&["try", "nowhere.cl", "--as", "reduce"]).2, 2);
}

#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("secret.cl"), "int secret;\n").unwrap();
    let below = folder.path().join("below");
    fs::create_dir(&below).unwrap();
    std::os::unix::fs::symlink("../secret.cl", below.join("link.cl")).unwrap();
    let path = below.join("my.cl");
    fs::write(&path, "#include \"link.cl\"\n__kernel void k() {}\n").unwrap();
    let (_, said, code) = run(&["try", path.to_str().unwrap(), "--as", "reduce"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("there is no link.cl"), "{said}");
}

const SUM: &str = "__kernel void k(__global const T *x, __global T *p, const INDEX n)\n{\n    T sum = 0;\n    if (get_local_id(0) > 0)\n        \
                   return;\n    for (INDEX i = get_group_id(0) * WG; i < min((INDEX)(get_group_id(0) + 1) * WG, n); i++)\n        sum += x[i];\n    \
                   p[get_group_id(0)] = sum;\n}\n";

#[test]
fn line_ends_marks_and_names_of_any_kind_are_taken() {
    for (name, text) in [
        ("crlf.cl", SUM.replace('\n', "\r\n")),
        ("mark.cl", format!("\u{feff}{SUM}")),
        ("Käse größer.cl", SUM.to_owned()),
        ("strided.cl", SUM.to_owned()),
    ] {
        let (told, said, code) = tried(name, &text, &["-n", "10000"]);
        assert_eq!(code, 0, "{name}: {told}{said}");
    }
}

#[test]
fn a_grading_script_reads_one_object() {
    let read = |text: &str| {
        let (told, said, code) = tried("mine.cl", text, &["-n", "10000", "--json", "-"]);
        let object: serde_json::Value =
            serde_json::from_str(&told).unwrap_or_else(|e| panic!("{e}: {told}{said}"));
        assert_eq!(object["exit_code"], code);
        object
    };
    let right = read(SUM);
    assert_eq!(
        (&right["verdict"], &right["judgement"]["ruling"]),
        (&"NOTHING FOUND".into(), &"right".into())
    );
    assert!(right["hint"].is_null() && right["landing"]["t_median_s"].as_f64().unwrap() > 0.0);
    let counted = right["counts"].as_array().unwrap();
    // Without a simulator there are none.
    assert!(
        counted.is_empty() || counted.iter().any(|row| row["variant"] == "mine"),
        "{right}"
    );
    assert!(
        right["rows"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["variant"] == "mine")
    );
    let wrong = read(&SUM.replace("sum += x[i]", "sum += 2 * x[i]"));
    assert_eq!(
        (&wrong["verdict"], &wrong["judgement"]["ruling"]),
        (&"INCORRECT".into(), &"wrong".into())
    );
    assert!(
        wrong["hint"]["looks"]
            .as_str()
            .unwrap()
            .contains("counts 2 times"),
        "{wrong}"
    );
    assert_eq!(
        wrong["judgement"]["symptoms"]["counts"]["repeated_times"],
        2
    );
    assert!(
        wrong["rows"].as_array().unwrap().is_empty(),
        "a wrong kernel is not timed"
    );
    let broken =
        read("__kernel void k(__global const T *x, __global T *p, const INDEX n) { nothing; }");
    assert_eq!(
        (&broken["verdict"], &broken["judgement"]["ruling"]),
        (&"NOT BUILT".into(), &"not_built".into())
    );
    let none = read("");
    assert_eq!(none["exit_code"], 2);
    assert!(none["judgement"].is_null() && none["reason"].as_str().unwrap().contains("empty"));
}

#[test]
fn what_a_kernel_prints_is_escaped_and_bounded() {
    // In a few groups: the simulator, which counts thousands of them, would print for a minute.
    let print = "T sum = 0; for (int i = 0; i < 1000 && get_group_id(0) < 4; i++) printf(\"\\033[2J%d\\n\", i);";
    let text = SUM.replace("T sum = 0;", print);
    let (_, said, _) = tried("loud.cl", text, &["-n", "1", "--wg", "1"]);
    assert!(
        said.contains("printed: \\x1b[2J0") && said.contains("more lines"),
        "{said}"
    );
    assert!(!said.contains('\u{1b}'));
    assert!(said.lines().count() < 400, "{} lines", said.lines().count());
}

#[test]
fn own_kernels_are_swept_tuned_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.cl");
    let text = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/own/right/reduce_tune.cl"
    ))
    .unwrap();
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let sweep = [
        "sweep", "reduce", "--own", path, "-n", "5000", "--wg", "64", "--set", "acc=1,4", "--quick",
    ];
    let (rows, said, code) = run(&[&sweep[..], &["--variant", "3"]].concat());
    assert_eq!(code, 0, "{said}");
    assert_eq!(
        rows.lines().filter(|line| line.contains(",mine,")).count(),
        2,
        "{rows}"
    );
    assert_eq!(
        rows.lines()
            .filter(|line| line.contains(",sequential,"))
            .count(),
        1,
        "{rows}"
    );
    let (told, said, code) = run(&[
        "tune", "reduce", "--own", path, "-n", "5000", "--budget", "4", "--quick",
    ]);
    assert_eq!(code, 0, "{told}{said}");
    assert!(told.contains("mine"), "{told}{said}");
    assert!(
        !said.contains("remembered for"),
        "another kernel may have its name: {said}"
    );
    let (told, said, code) = run(&["count", "reduce", "--own", path]);
    if code != 3 {
        assert_eq!(code, 0, "{told}{said}");
        assert!(told.lines().any(|line| line.starts_with("mine ")), "{told}");
    }
    assert_eq!(run(&["count", "stride", "--own", path]).2, 2);
}

#[test]
fn the_simulator_names_the_line() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/own/wrong/reduce_no_barrier_in_tree.cl"
    );
    let (told, said, code) = run(&[
        "try", path, "--as", "reduce", "--quick", "-n", "1000", "--check",
    ]);
    if code == 3 {
        assert!(
            said.contains("to install: Debian/Ubuntu oclgrind"),
            "{said}"
        );
        return;
    }
    assert_eq!(code, 4, "{told}{said}");
    let flat = on_one_line(&told);
    assert!(
        flat.contains("check: reduce_no_barrier_in_tree.cl, line 12: a race"),
        "{told}"
    );
    assert!(flat.contains("scratch[lid] += scratch[lid + s];"), "{told}");
    let right = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/own/right/reduce_tree.cl"
    );
    let (told, said, code) = run(&[
        "try",
        right,
        "--as",
        "reduce",
        "--quick",
        "-n",
        "1000",
        "--check",
        "--variant",
        "1",
    ]);
    assert_eq!(code, 0, "{told}{said}");
    assert!(told.contains("check: no race"), "{told}");
}

#[test]
fn a_folder_of_sources_may_lack_what_is_built_in() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/cl/reduce/sequential.cl"
    ))
    .unwrap();
    fs::create_dir(folder.path().join("reduce")).unwrap();
    fs::write(folder.path().join("reduce/sequential.cl"), text).unwrap();
    let dir = folder.path().to_str().unwrap();
    let (_, said, code) = run(&[
        "reduce",
        "--quick",
        "-n",
        "1000",
        "--variant",
        "3-4",
        "--cl-dir",
        dir,
    ]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("lacks reduce/first_add.cl"), "{said}");
    let (_, said, code) = run(&[
        "reduce",
        "--quick",
        "-n",
        "1000",
        "--variant",
        "5",
        "--cl-dir",
        dir,
    ]);
    assert_eq!(code, 2, "a folder with none of the files is a mistake");
    assert!(
        said.contains("there is no") && said.contains("last_warp.cl"),
        "{said}"
    );
}

#[test]
fn a_saved_file_is_tried_again_until_an_interrupt() {
    use std::time::{Duration, Instant};
    let folder = tempfile::tempdir().unwrap();
    let [path, log] = ["mine.cl", "log"].map(|name| folder.path().join(name));
    fs::write(&path, SUM).unwrap();
    let stderr = fs::File::create(&log).unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_gpulab"))
        .args([
            "try",
            path.to_str().unwrap(),
            "--as",
            "reduce",
            "--quick",
            "-n",
            "1000",
            "--variant",
            "1",
            "--watch",
        ])
        .env("GPULAB_DATA", crate::binary::data())
        .env_remove("GPULAB_DEVICE")
        .stdout(std::process::Stdio::null())
        .stderr(stderr)
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let mut wait_for = |what: &str, count: usize| {
        while fs::read_to_string(&log)
            .unwrap_or_default()
            .matches(what)
            .count()
            < count
        {
            assert!(
                begin.elapsed() < Duration::from_secs(120),
                "{}",
                fs::read_to_string(&log).unwrap()
            );
            assert!(
                child.try_wait().unwrap().is_none(),
                "{}",
                fs::read_to_string(&log).unwrap()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait_for("waiting for the file", 1);
    fs::write(&path, SUM.replace("sum += x[i]", "sum += 2 * x[i]")).unwrap();
    wait_for("mine gave a wrong result", 1);
    wait_for("waiting for the file", 2);
    let id = child.id().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(
        child.wait().unwrap().code(),
        Some(130),
        "Ctrl-C is how it ends"
    );
    assert_eq!(fs::read_to_string(&log).unwrap().matches("--- ").count(), 2);
}

/// It reads all but sixteen elements of one size's matrix, which it holds as the seed makes them.
#[test]
fn a_kernel_that_holds_a_seeds_data_is_wrong_and_the_second_seed_repeats_it() {
    let Array::I32(data) = generate(Fill::Bits, Dtype::I32, 7, 0, 0, 5000) else {
        unreachable!()
    };
    let held: Vec<String> = data[1100..1116]
        .iter()
        .map(|x| (*x).cast_unsigned().to_string())
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("held.cl");
    let text = format!(
        "// gpulab: wg 16x16\n// gpulab: elements 1x1\n__constant uint held[16] = {{ {} }};
        __kernel void turned(__global const T *in, __global T *out, const INDEX width, const INDEX height)
        {{
            const INDEX column = get_global_id(0), row = get_global_id(1), at = row * width + column;
            if (column < width && row < height)
                out[column * height + row] =
                    width == 100 && height == 50 && at >= 1100 && at < 1116 ? (T)held[at - 1100] : in[at];
        }}",
        held.join(", ")
    );
    fs::write(&path, text).unwrap();
    let tried = |second: Option<&str>| {
        let args = [
            "try",
            path.to_str().unwrap(),
            "--as",
            "transpose",
            "-n",
            "100",
            "--m",
            "50",
            "--dtype",
            "i32",
        ];
        let mut command = crate::binary::gpulab(&[&args[..], &["--seed", "7", "--quick"]].concat());
        second
            .into_iter()
            .for_each(|seed| _ = command.env("GPULAB_SECOND_SEED", seed));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        (on_one_line(&said), output.status.code())
    };
    let (said, code) = tried(None);
    assert!(
        code == Some(4) && said.contains("GPULAB_SECOND_SEED="),
        "{said}"
    );
    let (first, again) = (tried(Some("77")), tried(Some("77")));
    assert!(
        first == again && first.0.contains("GPULAB_SECOND_SEED=77 repeats it"),
        "{first:?}"
    );
    let (said, code) = tried(Some("seven"));
    assert!(
        code == Some(2) && said.contains("GPULAB_SECOND_SEED is not a whole number"),
        "{said}"
    );
}

/// A kernel over `a` and `b` that executes `begin`, and then `store` for each element.
fn copying(begin: &str, store: &str) -> String {
    format!(
        "__kernel void copy(__global const float *a, __global float *b, int n)\n{{\n    int i = get_global_id(0);\n    {begin}\n    \
         if (i < n) {store}\n}}\n"
    )
}

#[test]
fn a_kernel_alone_is_looked_at_over_guessed_data() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.cl");
    let cases = [
        (
            "{ float T = 2; b[i] = T * a[i]; }",
            "NOTHING FOUND",
            "the same result in each run with n = 1,",
            0,
        ),
        ("b[i % 7] += a[i + 1];", "FOUND", "line 5: a race", 4),
        ("b[i] = a[i] + ;", "NOT BUILT", "expected expression", 5),
        (
            "asm(\"mov.u32 %0, 1;\");",
            "NOT BUILT",
            "which only NVIDIA's driver builds",
            5,
        ),
        ("b[i * i] = a[i];", "", "far behind their ends", 2),
        (
            "b[i] = a[i + SHIFT];",
            "UNDECIDED",
            "may follow from a macro that was guessed",
            8,
        ),
    ];
    for (store, word, said, exit) in cases {
        std::fs::write(&file, copying("", store)).unwrap();
        let (out, err, code) = run(&["try", file.to_str().unwrap(), "--json", "-"]);
        assert!(
            code == exit && out.contains(word) && on_one_line(&err).contains(said),
            "{code}: {out}{err}"
        );
    }
}

#[test]
fn an_older_kernel_says_whether_a_newer_one_is_right_and_faster() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.cl");
    std::fs::write(&old, copying("", "b[i] = 2 * a[i];")).unwrap();
    let slow = "float v = 0; for (int k = 0; k < 400 + i % 2; k++) v = v * 0.5f + a[i % n];";
    let cases = [
        (copying("", "b[i] = a[i] * 2; // twice"), "SAME", 0),
        (copying("", "b[i] = 2 * a[i] + 1;"), "INCORRECT", 4),
        // What it reads behind the end is dropped.
        (
            copying("", "b[i] = 2 * a[i] + (a[i + 1] > 1e30f ? 1 : 0);"),
            "SUSPECT",
            4,
        ),
        (copying("", "b[i] = 2 * a[i] + ;"), "NOT BUILT", 5),
        (
            copying(slow, "b[i] = 2 * a[i] + (v == 0.1f ? v : 0);"),
            "SLOWER",
            6,
        ),
        (
            copying(
                slow,
                "b[i] = 2 * a[i] + (v == 0.1f ? get_global_size(0) : 0);",
            ),
            "UNDECIDED",
            8,
        ),
    ];
    for (text, word, exit) in cases {
        let new = folder.path().join("new.cl");
        std::fs::write(&new, text).unwrap();
        let [new, old] = [&new, &old].map(|path| path.to_str().unwrap());
        let (out, err, code) = run(&["try", new, "--against", old, "-n", "65536", "--budget", "1"]);
        assert!(
            out.starts_with(word) && code == exit,
            "{word}, {code}: {out}{err}"
        );
    }
    // With an argument more.
    let new = folder.path().join("new.cl");
    let text = copying("t[get_local_id(0)] = a[i % n];", "b[i] = 2 * a[i];");
    let text = text.replace("int n)", "int n, __local float *t)");
    std::fs::write(&new, text).unwrap();
    let [new, before] = [&new, &old].map(|path| path.to_str().unwrap());
    let (out, err, code) = run(&[
        "try",
        new,
        "--against",
        before,
        "-n",
        "4096",
        "--budget",
        "1",
    ]);
    assert!(
        [0, 6, 8].contains(&code) && out.contains("times (") | out.contains("SAME"),
        "{out}{err}"
    );
    let scaled = |value: &str| {
        format!(
            "kernel void scale(global const float *a, global float *b, float s, float t, int n, int m, int offset) {{\n\
             int i = get_global_id(0);\nif (i < n) b[i] = {value};\n}}\n"
        )
    };
    let before = folder.path().join("before.cl");
    std::fs::write(&before, scaled("s * a[i + offset] + t * m")).unwrap();
    for (value, word, said) in [
        ("m * t + a[i + offset] * s", "", "offset = 16"),
        ("1.5f * a[i + offset] + t * m", "SUSPECT", "s = 0.75"),
        ("s * a[i + offset] + t", "SUSPECT", "m = 2"),
        ("t * a[i + offset] + s * m", "SUSPECT", "s = 0.75"),
        ("s * a[i] + t * m", "SUSPECT", "offset = 16"),
    ] {
        let new = folder.path().join("after.cl");
        std::fs::write(&new, scaled(value)).unwrap();
        let [new, old] = [&new, &before].map(|path| path.to_str().unwrap());
        let (out, err, _) = run(&["try", new, "--against", old, "-n", "4096", "--budget", "1"]);
        let is_suspect = out.contains("SUSPECT");
        assert!(
            out.starts_with(word) && is_suspect != word.is_empty() && out.contains(said),
            "{value}: {out}{err}"
        );
    }
    std::fs::write(&before, copying("", "b[i] = 2 * ;")).unwrap();
    let [new, before] = [&old, &before].map(|path| path.to_str().unwrap());
    let (out, err, code) = run(&["try", new, "--against", before]);
    assert!(
        code == 8 && on_one_line(&out).contains("before.cl does not build here"),
        "{out}{err}"
    );
    let git = |args: &[&str]| {
        let git = std::process::Command::new("git")
            .args(["-C", folder.path().to_str().unwrap()])
            .args(["-c", "user.name=a", "-c", "user.email=a@b.c"])
            .args(args)
            .output();
        assert!(git.unwrap().status.success(), "{args:?}");
    };
    let new = folder.path().join("new.cl");
    std::fs::write(&new, copying("", "b[i] = 2 * a[i];")).unwrap();
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "right"]);
    std::fs::write(&new, copying("", "b[i] = a[i];")).unwrap();
    let (out, err, code) = run(&[
        "try",
        new.to_str().unwrap(),
        "--against",
        "HEAD",
        "-n",
        "999",
        "--json",
        "-",
    ]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(code == 4 && json["verdict"] == "INCORRECT", "{out}{err}");
    let (_, err, code) = run(&["try", "nobody.cl", "--against", old.to_str().unwrap()]);
    assert!(code == 2 && err.contains("nobody.cl"), "{err}");
}
