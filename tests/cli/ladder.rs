//! The command line through the binary: answers, bad input, exit codes, outputs.

use crate::binary::{NOWHERE, gpulab, run};
use crate::sources::edited_kernels;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Lines of an error but for what the parser of the command line adds to its one: candidates, usage, and where help is.
fn messages(err: &str) -> usize {
    let is_added = |line: &str| {
        ["  ", "Usage: ", "For more information, try "].iter().any(|begin| line.starts_with(begin)) || line.is_empty()
    };
    err.lines().filter(|line| !is_added(line)).count()
}

/// Seconds that a command takes that opens no device: what starting a process costs on this machine now.
fn start_up() -> Duration {
    let began = Instant::now();
    run(&["--version"]);
    began.elapsed()
}

/// A small run of one rung, with these options added.
fn quick(args: &[&str]) -> (String, String, i32) {
    let mut all = vec!["dot", "--quick", "--n", "50000", "--variant", "local"];
    all.extend(args);
    run(&all)
}

fn write(dir: &TempDir, name: &str, text: &[u8]) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn the_ladder_prints_every_rung_and_the_cpu() {
    let (out, _, code) = run(&["dot", "--n", "10000", "--wg", "64", "--quick"]);
    assert_eq!(code, 0);
    let names = ["naive", "coalesced", "local", "vectorised", "accumulators", "single_pass", "wide"];
    for name in names.iter().chain(&["cpu_exact", "cpu_sequential", "cpu_rayon", "dot = "]) {
        assert!(out.contains(name), "{name} is missing in:\n{out}");
    }
}

#[test]
fn bad_options_are_one_clear_message_and_exit_code_2() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, text: &[u8]| write(&dir, name, text).to_str().unwrap().to_owned();
    let (three, four) = (file("three.csv", b"1\n2\n3\n"), file("four.csv", b"1\n2\n3\n4\n"));
    let absent = format!("{NOWHERE}.npy");
    let cases: Vec<(Vec<&str>, &str)> = vec![
        (vec!["--wg", "0"], "work-group"),
        (vec!["--wg", "100000"], "at most"),
        (vec!["--n", "abc"], "1Mi"),
        (vec!["--n", "-5"], "-5"),
        (vec!["--n", "1e12"], "GiB"),
        (vec!["--n", "2^63"], "bytes"),
        (vec!["--variant", "99"], "1 naive"),
        (vec!["--variant", "5-2"], "1 naive"),
        (vec!["--dtype", "f16"], "f32"),
        (vec!["--dtype", "i64"], "i64"),
        (vec!["--max-noise", "NaN"], "0.05"),
        (vec!["--timeout", "inf"], "seconds"),
        (vec!["--timeout", "-1"], "from 0 to 1000000"),
        (vec!["--max-noise", "-0.1"], "above 0"),
        (vec!["--items", "0"], "above 0"),
        (vec!["--acc", "17"], "17"),
        (vec!["--csv", "-", "--json", "-"], "only one"),
        (vec!["--cl-dir", NOWHERE], "nowhere"),
        (vec!["--input", &absent], "nowhere"),
        (vec!["--input2", &three], "--input"),
    ];
    let files: Vec<(String, &str)> = vec![
        (file("empty.csv", b""), "empty"),
        (file("ragged.csv", b"a,b\n1,2\n3\n"), "ragged"),
        (file("words.csv", b"x\none\ntwo\n"), "words"),
        (file("odd.f32", b"12345"), "odd"),
        (file("not.npy", b"\x93NUMPZ"), "not"),
    ];
    let check = |args: &[&str], word: &str| {
        let (out, err, code) = run(&[&["dot", "--quick", "-q"], args].concat());
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(err.contains(word), "{args:?}: {word:?} is missing in {err}");
        assert!(out.is_empty(), "{args:?}: {out}");
        assert_eq!(messages(&err), 1, "{args:?}: {err}");
    };
    cases.iter().for_each(|(args, word)| check(args, word));
    files.iter().for_each(|(path, word)| check(&["--input", path], word));
    check(&["--input", &three, "--input2", &four], "one length");
}

#[test]
fn operations_are_checked_before_anything_runs() {
    let dir = TempDir::new().unwrap();
    let nan = write(&dir, "nan.csv", b"1.5\nnan\n2.5\n");
    let nan = nan.to_str().unwrap();
    for (args, word) in [
        (vec!["--op", "mean"], "xor"),
        (vec!["--op", "xor", "--dtype", "f32"], "bits of integers"),
        (vec!["--op", "and", "--dtype", "f64"], "bits of integers"),
        (vec!["--op", "or", "--input", nan, "--dtype", "f32"], "bits of integers"),
        (vec!["--op", "min", "--input", nan, "--dtype", "f32"], "element 1 is NaN"),
        (vec!["--finish", "nobody"], "device"),
    ] {
        let (out, err, code) = run(&[&["reduce", "--quick", "-q"], &args[..]].concat());
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(err.contains(word) && out.is_empty(), "{args:?}: {word:?} is missing in {out}{err}");
    }
}

#[test]
fn a_reduction_names_its_operation_in_every_row() {
    let args = ["reduce", "--quick", "--n", "5000", "--op", "max", "--variant", "sequential,wide", "--json", "-"];
    let (out, err, code) = run(&args);
    assert_eq!(code, 0, "{err}");
    let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 5);
    for row in rows {
        assert!(row["params"].as_str().unwrap().contains("op=max") && row["dtype"] == "i32", "{row}");
        assert_eq!(row["result"], rows[0]["result"]);
    }
}

#[test]
fn a_reduction_of_nothing_is_the_identity() {
    for (op, identity) in [("sum", "= 0"), ("and", "= -1"), ("min", "= 2147483647"), ("max", "= -2147483648")] {
        let (out, _, code) = run(&["reduce", "--n", "0", "--op", op]);
        assert!(code == 0 && out.contains(identity), "{op}: {out}");
    }
}

#[test]
fn occupancy_takes_what_a_kernel_needs_from_its_build() {
    let built =
        ["occupancy", "-q", "--kernel", "reduce", "--variant", "sequential", "--wg", "128", "--generation", "9.0"];
    let (out, err, code) = run(&[&built[..], &["--registers", "40"]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("512 bytes of local memory, groups of 128 work-items"), "{out}");
    assert!(out.contains("reduce_v3_sequential on 9.0: 12 groups of 128") && out.contains("by registers"), "{out}");
    let (out, err, code) = run(&built);
    let is_told = !out.contains("registers not told");
    assert_eq!(
        (code, err.contains("give them with --registers N")),
        if is_told { (0, false) } else { (2, true) },
        "{err}"
    );
}

#[test]
fn occupancy_takes_local_memory_as_sizes_are_written() {
    for local in ["48Ki", "49152", "49_152"] {
        let (out, err, code) = run(&["occupancy", "--registers", "32", "--generation", "9.0", "--local", local]);
        assert!(code == 0 && out.contains("4 groups of 256"), "{local}: {out}{err}");
    }
}

#[test]
fn distances_without_a_graph_are_refused() {
    for option in [&["--closure"][..], &["--paths"], &["--from", "a"], &["--to", "b"], &["--undirected"], &["-o", "f"]]
    {
        for n in [&[][..], &["--n", "100"], &["--quick"]] {
            let (out, err, code) = run(&[&["minplus"], n, option].concat());
            assert_eq!((code, out.as_str()), (2, ""), "{n:?} {option:?}: {err}");
            assert!(err.contains(option[0]) || err.contains("--input"), "{n:?} {option:?}: {err}");
        }
    }
}

#[test]
fn what_no_group_can_need_is_refused_before_a_device_is_opened() {
    let reduce = |variant| vec!["--kernel", "reduce", "--variant", variant];
    for (args, word) in [
        (vec![], "--kernel FAMILY"),
        (vec!["--registers", "32", "--generation", "9.0", "-d", "0"], "--device"),
        (vec!["--registers", "32", "--generation", "9.9"], "12.1"),
        (vec!["--registers", "256", "--generation", "9.0"], "255"),
        (vec!["--registers", "32", "--generation", "6.1", "--local", "49153"], "49152"),
        (vec!["--registers", "32", "--generation", "9.0", "--local", "2^63"], "232448"),
        (vec!["--registers", "32", "--generation", "9.0", "--local", "1e9"], "232448"),
        (vec!["--registers", "32", "--generation", "9.0", "--local", "48KB"], "1Mi"),
        (vec!["--registers", "32", "--generation", "9.0", "--wg", "2000"], "1024"),
        (vec!["--registers", "32", "--wg", "0"], "work-group"),
        (vec!["--kernel", "reduce"], "--variant"),
        (vec!["--kernel", "nothing", "--variant", "3"], "minplus"),
        (reduce("tiled"), "11 wide"),
        (reduce("2-4"), "choose one"),
        ([reduce("3"), vec!["--local", "8"]].concat(), "--local"),
        ([reduce("3"), vec!["--generation", "9.9"]].concat(), "12.1"),
        (vec!["--kernel", "minplus", "--variant", "3", "--dtype", "i64"], "f64"),
    ] {
        let mut command = gpulab(&[&["occupancy"], &args[..]].concat());
        let output = command.env("OCL_ICD_VENDORS", NOWHERE).env_remove("OCL_ICD_FILENAMES").output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {err}");
        assert!(err.contains(word) && output.stdout.is_empty() && !err.contains("panicked"), "{args:?}: {err}");
    }
}

#[test]
fn an_unknown_device_lists_the_candidates() {
    let (_, err, code) = run(&["dot", "--n", "1000", "-d", "no such device"]);
    assert_eq!(code, 3);
    assert!(err.contains("no such device") && err.contains("0:0"), "{err}");
}

#[test]
fn no_driver_is_exit_code_3_at_once() {
    for args in [vec!["devices"], vec!["doctor"], vec!["dot", "--n", "1000"]] {
        // The `ocl` crate would sleep 10 s.
        let most = Duration::from_secs(9) + 50 * start_up();
        let started = Instant::now();
        let mut command = gpulab(&args);
        command.env("OCL_ICD_VENDORS", NOWHERE).env_remove("OCL_ICD_FILENAMES");
        command.assert().code(3);
        assert!(started.elapsed() < most, "{args:?} took {:?}", started.elapsed());
    }
}

#[test]
fn no_library_is_needed_to_start() {
    let missing = |args: &[&str]| gpulab(args).env("GPULAB_OPENCL_LIB", NOWHERE).assert();
    for args in [["--help"], ["--version"], ["list"]] {
        missing(&args).success();
    }
    missing(&["devices"]).code(3);
}

#[test]
fn no_elements_are_answered_at_once() {
    let (out, _, code) = run(&["dot", "--n", "0"]);
    assert_eq!(code, 0);
    assert!(out.contains("dot = 0"), "{out}");
}

#[test]
fn a_wrong_kernel_is_exit_code_4_and_never_shown_with_a_time() {
    let kernels = edited_kernels("dot/v3_local.cl", "i < end;", "i + 1 < end;");
    let (out, err, code) = quick(&["--cl-dir", kernels.path().to_str().unwrap(), "--csv", "-"]);
    assert_eq!(code, 4, "{err}");
    let row = out.lines().find(|l| l.contains(",local,")).unwrap();
    assert!(row.contains("wrong_result"), "{row}");
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let median = headers.iter().position(|h| h == "t_median_s").unwrap();
    let variant = headers.iter().position(|h| h == "variant").unwrap();
    for record in reader.records().map(Result::unwrap).filter(|r| &r[variant] == "local") {
        assert_eq!(&record[median], "");
    }
}

#[test]
fn a_kernel_that_does_not_compile_is_exit_code_5_with_its_log() {
    let kernels = edited_kernels("dot/v3_local.cl", "T sum = 0;", "T sum = zero;");
    let (out, _, code) = quick(&["--cl-dir", kernels.path().to_str().unwrap()]);
    assert_eq!(code, 5);
    assert!(out.contains("v3_local.cl") && out.contains("zero"), "{out}");
}

#[test]
fn a_kernel_that_never_ends_costs_its_row_and_no_more() {
    let kernels = edited_kernels("dot/v3_local.cl", "i += get_global_size(0))", "i += n_zero(i))");
    let path = kernels.path().join("dot/v3_local.cl");
    let text = fs::read_to_string(&path).unwrap();
    let helper = "INDEX n_zero(const INDEX i) { return i > 1u << 30 ? 1 : 0; }\n__kernel void dot_v3_local_clear";
    fs::write(&path, text.replacen("__kernel void dot_v3_local_clear", helper, 1)).unwrap();
    let dir = kernels.path().to_str().unwrap();
    let args = ["dot", "--quick", "--n", "50000", "--variant", "3-4", "--deadline", "15", "--cl-dir", dir];
    let (out, err, code) = run(&args);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("timeout"), "{out}");
    let next = out.lines().find(|l| l.contains("v4 vectorised")).unwrap();
    assert!(next.contains("ok"), "{next}");
}

#[test]
fn a_kernel_that_crashes_costs_its_row_and_no_more() {
    let kernels = edited_kernels("dot/v3_local.cl", "partial[get_group_id(0)] += sum;", "partial[1 << 29] += sum;");
    let dir = kernels.path().to_str().unwrap();
    let (out, err, code) = run(&["dot", "--quick", "--n", "50000", "--variant", "3-4", "--cl-dir", dir]);
    assert!(code == 1 || code == 4, "{code}: {err}");
    let next = out.lines().find(|l| l.contains("v4 vectorised")).unwrap();
    assert!(next.contains("ok"), "{next}");
}

#[test]
fn real_inputs_of_every_format_give_the_same_answer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/inputs");
    let dir = TempDir::new().unwrap();
    let sunspots = folder.join("sunspots.csv");
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(&sunspots).unwrap();
    let numbers: Vec<f64> = reader.records().filter_map(|record| record.unwrap().get(1)?.trim().parse().ok()).collect();
    assert!(numbers.len() > 300, "{}", numbers.len());
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let raw = write(&dir, "sunspots.f64", &bytes).to_str().unwrap().to_owned();
    let right: f64 = numbers.iter().map(|x| x * x).sum();
    let column = format!("{}:2", sunspots.to_str().unwrap());
    for input in [folder.join("sunspots.npy").to_str().unwrap(), &column, &raw] {
        let args = ["dot", "--quick", "--variant", "local", "--dtype", "f64", "--input", input, "--json", "-"];
        let (out, err, code) = run(&args);
        assert_eq!(code, 0, "{err}");
        let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
        let rows = rows.as_array().unwrap();
        assert_eq!(rows.len(), 4, "three baselines and a rung: {out}");
        for row in rows {
            let result = row["result"].as_f64().unwrap();
            assert!((result - right).abs() < 1e-12 * right, "{input}: {result}, and not {right}");
            assert_eq!(row["n"].as_u64(), Some(numbers.len() as u64), "{input}");
        }
    }
}

#[test]
fn outputs_hold_what_the_table_shows() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (csv, json, md, samples) = (path("a.csv"), path("a.json"), path("a.md"), path("s.csv"));
    let (_, err, code) = quick(&["--csv", &csv, "--json", &json, "--md", &md, "--samples", &samples]);
    assert_eq!(code, 0, "{err}");
    let mut reader = csv::Reader::from_path(&csv).unwrap();
    let columns: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(reader.records().count(), 4, "three baselines and a rung");
    let rows: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let mut names: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    let mut wanted: Vec<&String> = columns.iter().collect();
    names.sort();
    wanted.sort();
    assert_eq!(names, wanted);
    assert!(fs::read_to_string(&md).unwrap().contains("| v3 local"));
    assert!(fs::read_to_string(&samples).unwrap().lines().count() > 12);
}

#[test]
fn an_unwritable_output_is_exit_code_74_before_anything_runs() {
    let (_, err, code) = quick(&["--csv", NOWHERE]);
    assert_eq!(code, 74, "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_exit_code_74() {
    for args in [vec!["list"], vec!["--help"], vec!["devices"], vec!["completions", "bash"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let binary = assert_cmd::cargo::cargo_bin("gpulab");
        let status = std::process::Command::new(binary).args(&args).stdout(full).status().unwrap();
        assert_eq!(status.code(), Some(74), "{args:?}");
    }
    assert_eq!(quick(&["--csv", "/dev/full"]).2, 74);
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_pipe_ends_quietly() {
    for args in [vec!["list"], vec!["dot", "--n", "1000", "--quick", "--variant", "7", "-q"]] {
        let binary = assert_cmd::cargo::cargo_bin("gpulab");
        let mut child = std::process::Command::new(binary)
            .args(&args)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn man_pages_and_completions_come_out() {
    let dir = TempDir::new().unwrap();
    let (_, err, code) = run(&["man", dir.path().to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    assert!(dir.path().join("gpulab.1").exists() && dir.path().join("gpulab-dot.1").exists());
    for shell in ["bash", "zsh", "fish"] {
        let (out, _, code) = run(&["completions", shell]);
        assert!(code == 0 && out.contains("gpulab"), "{shell}");
    }
}

#[test]
fn without_a_process_of_its_own_a_case_gives_the_same_rows() {
    let rows = |more: &[&str]| {
        let (out, err, code) = quick(&[&["--json", "-"], more].concat());
        assert_eq!(code, 0, "{err}");
        let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
        // All that no clock decides.
        let fixed = [
            "family", "rung", "variant", "dtype", "n", "m", "wg", "params", "status", "reason", "bytes", "ops",
            "result", "max_err", "tol", "platform", "device", "driver", "seed",
        ];
        let row = |row: &serde_json::Value| fixed.map(|column| row[column].to_string());
        rows.as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    let apart = rows(&[]);
    assert_eq!(apart.len(), 4, "three baselines and a rung");
    assert_eq!(rows(&["--in-process"]), apart);
}

#[test]
fn ceilings_are_measured_kept_shown_and_used() {
    let dir = TempDir::new().unwrap();
    let with = |args: &[&str]| {
        let output = gpulab(args).env("GPULAB_DATA", dir.path()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
    };
    for (args, whose) in [(&[][..], "no ceilings are kept yet"), (&["-d", "0"], "with driver")] {
        let (out, err, code) = with(&[&["ceiling", "--show"], args].concat());
        assert!(code == 1 && out.is_empty() && err.contains(whose) && err.contains("measures them"), "{out}{err}");
    }
    let csv = dir.path().join("ceilings.csv");
    let (measured, err, code) = with(&["ceiling", "--quick", "--csv", csv.to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    for what in ["read, memory", "write, memory", "copy, cache", "local", "fma f32", "add i32", "add-min f32"] {
        let line = measured.lines().find(|line| line.starts_with(what)).unwrap_or_else(|| panic!("{what}: {measured}"));
        assert!(line.contains(" wg ") && !line.contains("failed"), "{line}");
    }
    let lines = fs::read_to_string(&csv).unwrap().lines().count();
    let (shown, err, code) = with(&["ceiling", "--show"]);
    assert_eq!((shown.as_str(), err.as_str(), code), (measured.as_str(), "", 0), "as measured, with no device opened");
    let (json, _, _) = with(&["ceiling", "--show", "--json", "-", "-q"]);
    assert_eq!(json.matches("\"what\"").count() + 1, lines, "{json}");
    // A ladder takes the ceiling that is kept, and says so.
    let read = json.split("\"value\":").nth(1).and_then(|rest| rest.split(',').next()).unwrap().to_owned();
    let rows = dir.path().join("rows.json");
    let (_, err, code) =
        with(&["dot", "--quick", "--n", "1000", "--variant", "local", "--json", rows.to_str().unwrap()]);
    assert!(code == 0 && err.contains("ceilings as measured at") && err.contains("quickly"), "{err}");
    assert!(fs::read_to_string(&rows).unwrap().contains(&format!("\"ceiling_gbps\":{read}")), "{read}");
    // Without -d those of every device are shown, with -d those of one.
    let file = fs::read_dir(dir.path().join("ceilings")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    let device = text.split("\"device\": \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let other = dir.path().join("ceilings/a.json");
    fs::write(&other, text.replace(device, "another device")).unwrap();
    let (both, err, code) = with(&["ceiling", "--show"]);
    assert_eq!((both, err.as_str(), code), (format!("{}\n{shown}", shown.replace(device, "another device")), "", 0));
    let (one, _, code) = with(&["ceiling", "--show", "-d", "0"]);
    assert_eq!((&one, code), (&shown, 0));
    // A file that cannot be read is named, and the rest is shown; a ladder goes on as if nothing were kept.
    fs::write(&other, "{").unwrap();
    let (rest, err, code) = with(&["ceiling", "--show"]);
    assert_eq!((&rest, code, err.lines().count()), (&shown, 0, 1), "{err}");
    assert!(err.contains("a.json") && err.contains("remove the file"), "{err}");
    fs::write(&file, "junk").unwrap();
    let (_, err, code) = with(&["ceiling", "--show"]);
    assert!(code == 1 && err.contains("remove the file") && err.contains("no ceilings are kept yet"), "{err}");
    let (out, err, code) = with(&["dot", "--quick", "--n", "1000", "--variant", "local"]);
    assert!(code == 0 && out.contains("v3 local"), "{out}{err}");
    let told: Vec<&str> = err.lines().filter(|line| line.contains("cannot read the ceilings")).collect();
    assert!(told.len() == 1 && told[0].contains("gpulab ceiling") && told[0].contains("as if none"), "{err}");
}

#[test]
fn a_folder_for_data_that_is_none_leaves_the_outputs_alone() {
    let dir = TempDir::new().unwrap();
    let (file, keep) = (write(&dir, "file", b""), write(&dir, "keep.csv", b"kept\n"));
    for (args, status) in [(&["ceiling", "--quick"][..], 74), (&["ceiling", "--show"], 1)] {
        let args = [args, &["--csv", keep.to_str().unwrap()]].concat();
        let output = gpulab(&args).env("GPULAB_DATA", &file).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{err}");
        assert!(status != 74 || err.contains("GPULAB_DATA") && err.contains(file.to_str().unwrap()), "{err}");
        assert_eq!(fs::read(&keep).unwrap(), b"kept\n", "{args:?}");
    }
}
