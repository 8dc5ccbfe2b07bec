//! The command line through the binary: answers, bad input, exit codes, outputs.

use crate::binary::{DATA, NOWHERE, gpulab, run};
use crate::sources::edited_kernels;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Lines of an error but for what the parser of the command line adds to its one: candidates, usage, and where help is.
pub fn messages(err: &str) -> usize {
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
    let (out, err, code) = run(&["dot", "--n", "10000", "--wg", "64", "--quick"]);
    assert_eq!(code, 0);
    assert!(!out.contains(['\x1b', '\r']) && !err.contains(['\x1b', '\r']), "rows in place are for terminals: {err}");
    let names = ["naive", "coalesced", "local", "vectorised", "accumulators", "single_pass", "wide"];
    for name in names.iter().chain(&["cpu_exact", "cpu_sequential", "cpu_rayon", "dot = "]) {
        assert!(out.contains(name), "{name} is missing in:\n{out}");
    }
}

#[test]
fn verbose_says_what_is_done_and_quiet_says_nothing() {
    let (_, err, code) = quick(&["-v", "--budget", "500ms"]);
    assert_eq!(code, 0, "{err}");
    for what in ["dot_local global", "MB moved", "built in", "checked in", "limits used: "] {
        assert!(err.contains(what), "{what} is missing in:\n{err}");
    }
    assert_eq!(quick(&["-q"]).1, "");
}

#[cfg(unix)]
#[test]
fn an_interrupt_prints_what_is_there_and_names_what_is_missing() {
    use std::process::{Command, Stdio};
    let mut command = Command::new(gpulab(&[]).get_program());
    command.args(["dot", "--n", "2^22", "-v", "--sample-time", "1", "--max-noise", "1e-9", "--max-runs", "1000000"]);
    command.env("GPULAB_DATA", DATA).env_remove("GPULAB_DEVICE").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(notes.any(|line| line.starts_with("v1 naive: ")), "the first row is told of");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let rest: Vec<String> = notes.collect();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{rest:?}");
    assert!(out.contains("v1 naive") && !out.contains("v7 wide"), "{out}");
    let missing = rest.iter().find(|line| line.starts_with("not measured: ")).unwrap();
    assert!(missing.contains("v7 wide") && missing.contains("cpu_rayon") && !missing.contains("v1 naive"), "{missing}");
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
        (vec!["--sample-time", "-1"], "from 0 to 1000000"),
        (vec!["--budget", "0s"], "500ms, 10s or 2m"),
        (vec!["--budget", "soon"], "500ms, 10s or 2m"),
        (vec!["--max-noise", "-0.1"], "above 0"),
        (vec!["--items", "0"], "from 1 on"),
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
    check(&["--input", &three, "--input2", &four], "equal length");
}

#[test]
fn a_theoretical_rate_stands_beside_the_measured_limit() {
    let (out, err, code) = quick(&["--peak", "100GB/s,2TFLOP/s", "--cache", "cold", "--json", "-"]);
    assert_eq!(code, 0, "{err}");
    let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
    let row = rows.as_array().unwrap().iter().find(|r| r["variant"] == "local").unwrap();
    let (share, rate) = (row["peak_pct"].as_f64().unwrap(), row["gbps"].as_f64().unwrap());
    assert!((share - rate).abs() < 1e-6 * rate, "of 100 GB/s: {row}");
    assert_eq!((row["peak_gbps"].as_f64(), row["peak_gops"].as_f64()), (Some(100.0), Some(2000.0)));
    let (out, _, code) = quick(&["--peak", "100GB/s", "--cache", "cold", "-v"]);
    assert!(code == 0 && out.contains("peak") && out.contains("400_000 bytes / "), "{out}");
    for (args, word) in [
        (&["--peak", "fast"][..], "4800GB/s"),
        (&["--peak", "60TFLOP/s"], "write 4800GB/s"),
        (&["--peak", "1GB/s", "--peak", "2GB/s"], "one rate of bytes"),
    ] {
        let (out, err, code) = quick(args);
        assert!(code == 2 && out.is_empty() && err.contains(word), "{args:?}: {err}");
    }
}

#[test]
fn what_leaves_the_device_counts_in_every_ladder() {
    for args in [
        &["dot", "--n", "50000", "--variant", "naive"][..],
        &["reduce", "--n", "50000", "--variant", "sequential"],
        &["transpose", "--n", "128", "--variant", "naive", "--loop", "kernel"],
        &["minplus", "--n", "64", "--variant", "naive"],
    ] {
        let (out, err, code) = run(&[args, &["--quick", "--color", "never", "-v"]].concat());
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("vs all cores") && out.contains("end to end: allocation"), "{args:?}: {out}");
        let narrow = |line: &str| line.chars().count() <= 80;
        assert!(out.lines().all(narrow), "{args:?}: {out}");
        let sums = matches!(args[0], "dot" | "reduce");
        assert_eq!(
            out.lines().any(|line| line.contains("  host  ") || line.contains("  part  ")),
            sums,
            "{args:?}: {out}"
        );
    }
}

#[test]
fn a_source_s_set_up_is_repeated_and_its_claim_told() {
    let (out, err, code) = run(&["dot", "--as", "cmsoft", "--quick", "--n", "100000"]);
    assert_eq!(code, 0, "{err}");
    for word in ["v1 naive", "v2 coalesced", "v3 local", "cpu_double", "about 25 times", "Here, n = 100_000: "] {
        assert!(out.contains(word), "{word:?} is missing in {out}");
    }
    assert!(!out.contains("v4"), "{out}");
    let (out, err, code) =
        run(&["dot", "--as", "cmsoft", "--quick", "--n", "5000", "--variant", "4", "--items", "2048", "--json", "-"]);
    assert_eq!(code, 0, "{err}");
    let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
    let rungs: Vec<_> = rows.as_array().unwrap().iter().filter(|r| !r["rung"].is_null()).collect();
    assert_eq!(rungs.len(), 1, "what is given wins");
    assert_eq!(rungs[0]["params"], "items=1280 mad=0 presum=device", "as many as 5000 elements need");
    for (args, word) in [
        (&["--as", "nobody"][..], "cmsoft"),
        (&["--as", "cmsoft", "--dtype", "i32"], "f32 or f64"),
        (&["--as", "cmsoft", "--input", "x.npy"], "--input"),
    ] {
        let (out, err, code) = run(&[&["dot"], args].concat());
        assert!(code == 2 && out.is_empty() && err.contains(word), "{args:?}: {err}");
    }
}

#[test]
fn operations_are_checked_before_anything_runs() {
    let dir = TempDir::new().unwrap();
    let nan = write(&dir, "nan.csv", b"1.5\nnan\n2.5\n");
    let nan = nan.to_str().unwrap();
    for (args, word) in [
        (vec!["--op", "mean"], "xor"),
        (vec!["--op", "xor", "--dtype", "f32"], "needs an integer type"),
        (vec!["--op", "and", "--dtype", "f64"], "needs an integer type"),
        (vec!["--op", "or", "--input", nan, "--dtype", "f32"], "needs an integer type"),
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
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("512 bytes of local memory, groups of 128 work-items"), "{out}");
    assert!(out.contains("reduce_sequential on 9.0: 12 groups of 128") && out.contains("by registers"), "{out}");
    let (out, err, code) = run(&built);
    let is_told = !out.contains("registers unknown");
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
fn occupancy_draws_curves_of_the_classic_example() {
    let classic = ["--generation", "1.1", "--registers", "20", "--local", "68", "--wg", "192"];
    let (plain, err, code) = run(&[&["occupancy"], &classic[..]].concat());
    assert!(code == 0 && plain.contains("12 of 24 warps (50%)"), "{plain}{err}");
    let (out, err, code) = run(&[&["occupancy", "--curves"], &classic[..]].concat());
    assert!(code == 0 && out.starts_with(&plain), "{out}{err}");
    assert_eq!(out.matches("100% |").count(), 3, "{out}");
    assert!(out.lines().skip(1).all(|line| line.chars().count() <= 80), "{out}");
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
        (vec!["--registers", "32", "--generation", "1.3", "--wg", "1024"], "512"),
        (vec!["--registers", "64", "--generation", "3.0"], "63"),
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
    let kernels = edited_kernels("dot/local.cl", "i < end;", "i + 1 < end;");
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
    let kernels = edited_kernels("dot/local.cl", "T sum = 0;", "T sum = zero;");
    let (out, _, code) = quick(&["--cl-dir", kernels.path().to_str().unwrap()]);
    assert_eq!(code, 5);
    assert!(out.contains("local.cl") && out.contains("zero"), "{out}");
}

#[test]
fn a_kernel_that_never_ends_costs_its_row_and_no_more() {
    let kernels = edited_kernels("dot/local.cl", "i += get_global_size(0))", "i += n_zero(i))");
    let path = kernels.path().join("dot/local.cl");
    let text = fs::read_to_string(&path).unwrap();
    let helper = "INDEX n_zero(const INDEX i) { return i > 1u << 30 ? 1 : 0; }\n__kernel";
    fs::write(&path, text.replacen("__kernel", helper, 1)).unwrap();
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
    let kernels =
        edited_kernels("dot/local.cl", "partial[get_group_id(0)] += scratch[0];", "partial[1 << 29] += scratch[0];");
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
fn an_infinite_input_is_answered_although_its_error_has_no_size() {
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "infinite.csv", b"1\ninf\n-3\n");
    for args in [&[][..], &["--in-process"]] {
        let args =
            [&["reduce", "--quick", "--input", path.to_str().unwrap(), "--variant", "sequential", "--json", "-"], args];
        let (out, err, code) = run(&args.concat());
        assert_eq!(code, 0, "{err}");
        let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
        let row = rows.as_array().unwrap().iter().find(|row| row["variant"] == "sequential").unwrap();
        assert!(row["status"] == "ok" && row["t_median_s"].is_number() && row["tol"].is_null(), "{row}");
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
        // A compiler that sees a kernel for the first time may warn.
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.lines().all(|line| line.contains(" printed: ")), "{args:?}: {said}");
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
    for what in ["read, memory", "write, memory", "copy, cache", "local", "fma f32", "fma i32", "add-min f32"] {
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
    assert!(code == 0 && err.contains("ceilings measured at") && err.contains("quickly"), "{err}");
    assert!(fs::read_to_string(&rows).unwrap().contains(&format!("\"ceiling_gbps\":{read}")), "{read}");
    // Without -d those of every device are shown, with -d those of one.
    let file = fs::read_dir(dir.path().join("ceilings")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    let device = text.split("\"device\": \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let other = dir.path().join("ceilings/a.json");
    fs::write(&other, text.replace(device, "another device")).unwrap();
    let (both, err, code) = with(&["ceiling", "--show"]);
    assert_eq!((err.as_str(), code), ("", 0));
    assert!(both.starts_with("ceilings of another device") && both.ends_with(&format!("\n{shown}")), "{both}");
    assert_eq!(both.matches("\nfma f32 ").count(), 2, "{both}");
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
    assert!(
        told.len() == 1 && told[0].contains("gpulab ceiling") && told[0].contains("without kept ceilings"),
        "{err}"
    );
}

#[test]
fn a_folder_for_data_that_is_none_leaves_the_outputs_alone() {
    let dir = TempDir::new().unwrap();
    let (file, keep) = (write(&dir, "file", b""), write(&dir, "keep.csv", b"kept\n"));
    for (args, status) in [(&["ceiling", "--quick"][..], 74), (&["ceiling", "--show"], 1)] {
        let args = [args, &["--force", "--csv", keep.to_str().unwrap()]].concat();
        let output = gpulab(&args).env("GPULAB_DATA", &file).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{err}");
        assert!(status != 74 || err.contains("GPULAB_DATA") && err.contains(file.to_str().unwrap()), "{err}");
        assert_eq!(fs::read(&keep).unwrap(), b"kept\n", "{args:?}");
    }
}

/// Every option that names an output, of every command that measures, with what else the command needs.
const OUTPUTS: &[(&[&str], &[&str])] = &[
    (&["dot", "--quick"], &["--csv", "--json", "--md", "--samples"]),
    (&["reduce", "--quick"], &["--csv", "--json", "--md", "--samples"]),
    (&["transpose", "--quick"], &["--csv", "--json", "--md", "--samples"]),
    (&["minplus", "--quick"], &["--csv", "--json", "--md", "--samples"]),
    (&["lab", "overlap", "--quick"], &["--csv", "--json", "--svg"]),
    (&["ceiling", "--quick"], &["--csv", "--json"]),
    (&["sweep", "--kernel", "dot", "--quick"], &["-o"]),
];

#[test]
fn a_run_that_ends_before_its_first_row_leaves_its_outputs_alone() {
    let dir = TempDir::new().unwrap();
    let (old, new) = (write(&dir, "old.csv", b""), dir.path().join("new"));
    let graph = write(&dir, "graph.csv", b"from,to,weight\na,b,1\n");
    let graph = ["minplus", "--input", graph.to_str().unwrap()];
    let outputs = OUTPUTS.iter().copied().chain([(&graph[..], &["-o"][..])]);
    for (command, options) in outputs {
        for option in options {
            let kept = "kept\n";
            fs::write(&old, kept).unwrap();
            for path in [&old, &new] {
                let args = [command, &[option, path.to_str().unwrap(), "--force", "-d", "no such device"]].concat();
                let output = gpulab(&args).env("GPULAB_DATA", dir.path()).output().unwrap();
                let err = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.code() == Some(3) && output.stdout.is_empty(), "{args:?}: {err}");
            }
            assert_eq!(fs::read_to_string(&old).unwrap(), kept, "{command:?} {option}");
            assert!(!new.exists(), "{command:?} {option}: an empty file stays");
        }
    }
    for args in [["--wg", "100000"], ["--n", "1e12"], ["--variant", "99"]] {
        fs::write(&old, "kept\n").unwrap();
        let (_, err, code) = run(&[&["dot", "--force", "--csv", old.to_str().unwrap()], &args[..]].concat());
        assert!(code == 2 && fs::read_to_string(&old).unwrap() == "kept\n", "{args:?}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn an_output_that_is_an_input_or_another_output_is_refused() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let data = write(&dir, "d.csv", b"b\n1\n2\n3\n");
    let (hard, soft) = (at("hard"), at("soft"));
    fs::hard_link(&data, &hard).unwrap();
    std::os::unix::fs::symlink(&data, &soft).unwrap();
    fs::create_dir(at("folder")).unwrap();
    let before = fs::read(&data).unwrap();
    let paths = [at("d.csv"), hard, soft, at("folder/../d.csv")];
    let input = at("d.csv") + ":b";
    let refused = |args: &[&str], word: &str| {
        let (out, err, code) = run(args);
        assert!(code == 2 && out.is_empty() && err.contains(word), "{args:?}: {code} {out}{err}");
        assert_eq!(fs::read(&data).unwrap(), before, "{args:?}");
    };
    for path in &paths {
        for option in ["--csv", "--json", "--md", "--samples"] {
            refused(&["dot", "--quick", "--input", &input, option, path], "is the input");
        }
        let one = write(&dir, "one.csv", b"1\n2\n");
        refused(&["reduce", "--quick", "--input", &input, "--json", path], "is the input");
        refused(
            &["dot", "--input", one.to_str().unwrap(), "--input2", &input, "--csv", path],
            if path == &paths[0] { "d.csv" } else { "" },
        );
        refused(&["minplus", "--input", &at("d.csv"), "-o", path], "is the input");
        refused(&["merge", &at("d.csv"), "-o", path], "is the input");
        refused(&["transpose", "--csv", path, "--json", &at("d.csv")], "are one file");
    }
    // Two names of one file that is not there yet.
    refused(&["transpose", "--csv", &at("new"), "--md", &at("folder/../new")], "are one file");
    assert!(!dir.path().join("new").exists());
    // A kernel's source is read, too.
    let kernels = edited_kernels("dot/local.cl", "T sum = 0;", "T sum = 0;");
    let source = kernels.path().join("common/tree.cl");
    let text = fs::read(&source).unwrap();
    let folder = kernels.path().to_str().unwrap();
    for command in [&["dot"][..], &["lab", "stride"], &["ceiling"], &["sweep", "--kernel", "dot"]] {
        let option = if command[0] == "sweep" { "-o" } else { "--csv" };
        let args = [command, &["--quick", "--cl-dir", folder, option, source.to_str().unwrap()]].concat();
        let output = gpulab(&args).env("GPULAB_DATA", dir.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::read(&source).unwrap(), text, "{args:?}");
    }
    // Added to by a shell.
    let added = fs::OpenOptions::new().append(true).open(&data).unwrap();
    let status = std::process::Command::new(assert_cmd::cargo::cargo_bin("gpulab"))
        .args(["dot", "--input", &input, "--csv", "-"])
        .stdout(added)
        .status();
    assert_eq!((status.unwrap().code(), fs::read(&data).unwrap()), (Some(2), before));
}

#[cfg(unix)]
#[test]
fn nothing_that_is_not_there_takes_what_is_written() {
    for args in [
        &["list"][..],
        &["--help"],
        &["--version"],
        &["lab"],
        &["explain", "reduce"],
        &["source", "reduce:3"],
        &["diff", "reduce", "2", "3"],
        &["completions", "bash"],
        &["devices"],
        &["dot", "--quick", "--n", "1000"],
        &["transpose", "--quick", "--json", "-"],
        &["lab", "stride", "--quick"],
        &["ceiling", "--quick"],
        &["sweep", "--kernel", "dot", "--quick"],
        &["sweep", "--kernel", "dot", "--n", "1000", "--dry-run"],
        &["occupancy", "--registers", "32", "--generation", "9.0"],
    ] {
        let dir = TempDir::new().unwrap();
        for to in ["&-", "/dev/full"] {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", &format!("exec \"$0\" \"$@\" >{to}")]).arg(assert_cmd::cargo::cargo_bin("gpulab"));
            let output = command.args(args).env("GPULAB_DATA", dir.path()).output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(74), "{args:?} >{to}: {err}");
            assert!(err.contains("standard output"), "{args:?} >{to}: {err}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_reader_who_goes_away_hides_no_wrong_result() {
    let kernels = edited_kernels("dot/local.cl", "i < end;", "i + 1 < end;");
    let dir = kernels.path().to_str().unwrap();
    let ladder = ["dot", "--quick", "--n", "50000", "--variant", "3,7", "--cl-dir", dir];
    let sweep =
        ["sweep", "--kernel", "dot", "--quick", "--n", "50000", "--variant", "3", "--wg", "64", "--cl-dir", dir];
    for args in
        [&ladder[..], &[&ladder[..], &["--csv", "-"]].concat(), &[&ladder[..], &["--json", "-"]].concat(), &sweep]
    {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("gpulab"))
            .args(args)
            .env("GPULAB_DATA", dir)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(4), "{args:?}");
    }
}

/// Characters that ring, return, clear the screen or turn the direction of writing.
const SLY: &str = "\x1b[2J\x07\r\u{202e}\u{9b}x";

fn assert_harmless(text: &str, of: &str) {
    let sly = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
    assert!(!text.chars().any(sly), "{of}: {text:?}");
}

#[test]
fn nothing_from_outside_steers_the_terminal() {
    let dir = TempDir::new().unwrap();
    let missing = dir.path().join(SLY);
    let missing = missing.to_str().unwrap();
    for args in [
        vec!["dot", "--n", "1000", "-d", SLY],
        vec!["dot", "--n", SLY],
        vec!["dot", "--variant", SLY],
        vec!["dot", "--input", missing],
        vec!["dot", "--csv", missing, "--json", missing],
        vec!["dot", "--cl-dir", missing],
        vec!["dot", SLY],
        vec![SLY],
        vec!["list", SLY],
        vec!["lab", SLY],
        vec!["explain", SLY],
        vec!["source", SLY],
        vec!["diff", SLY, "1", "2"],
        vec!["merge", missing, "-o", "-"],
        vec!["sweep", "--kernel", SLY],
        vec!["sweep", "--kernel", "dot", "--set", SLY],
        vec!["minplus", "--input", missing],
        vec!["minplus", "--tile", SLY],
        vec!["occupancy", "--registers", "32", "--generation", SLY],
    ] {
        let (out, err, code) = run(&args);
        assert!(code != 0 && !err.is_empty(), "{args:?}: {out}{err}");
        assert_harmless(&out, &format!("{args:?}"));
        assert_harmless(&err, &format!("{args:?}"));
    }
    let graph = write(&dir, "g.csv", format!("from,to,weight\n\"{SLY}\",b,x\n").as_bytes());
    let (_, err, code) = run(&["minplus", "--input", graph.to_str().unwrap()]);
    assert!(code == 2 && !err.is_empty());
    assert_harmless(&err, "a weight");
    fs::write(&graph, format!("from,to,weight\n\"{SLY}\",b,1\n")).unwrap();
    let (_, err, code) = run(&["minplus", "--input", graph.to_str().unwrap(), "--from", SLY, "--to", "none"]);
    assert_eq!(code, 2);
    assert_harmless(&err, "a node");
    // A file, or a pipe, gets the data as they are.
    let (out, err, code) = run(&["minplus", "-q", "--input", graph.to_str().unwrap()]);
    assert!(code == 0 && out.contains(SLY), "{out:?}{err}");
    // Ceilings may be kept under any name.
    let folder = dir.path().join("ceilings");
    fs::create_dir(&folder).unwrap();
    let name = serde_json::to_string(SLY).unwrap();
    fs::write(folder.join("x.json"), KEPT.replace("\"A device\"", &name)).unwrap();
    for args in [&["ceiling", "--show"][..], &["ceiling", "--show", "--json", "-"]] {
        let output = gpulab(args).env("GPULAB_DATA", dir.path()).output().unwrap();
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success() && out.contains("[2J"), "{out}{err}");
        assert_harmless(&out, "a table");
        assert_harmless(&err, "a table");
        if args.len() > 2 {
            let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
            assert_eq!(rows[0]["device"], SLY, "JSON holds the name as it is");
        }
    }
}

/// What is kept of one device.
const KEPT: &str = r#"{"platform": "P", "device": "A device", "driver": "1", "ceilings": [{
    "schema": 1, "run_id": "r1", "time_utc": "2026-01-02T03:04:05Z", "gpulab": "0.1.0", "platform": "P",
    "device": "A device", "driver": "1", "what": "read", "place": "memory", "element": "", "bytes": 1048576,
    "value": 12.5, "unit": "GB/s", "probe": "read/strided", "wg": "64", "params": "", "tried": 1, "runs": 3,
    "noise": null, "clock": "event", "quick": false, "status": "ok", "reason": "", "flags": "", "t_search_s": 1.0}]}"#;

/// A terminal for standard output, and what reads it.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the system's functions for terminals")]
fn terminal() -> (fs::File, fs::File) {
    use std::os::fd::AsRawFd;
    let master = fs::OpenOptions::new().read(true).write(true).open("/dev/ptmx").unwrap();
    let mut name = [0; 64];
    // SAFETY: the descriptor is that of a terminal's master, and the name has room for its length.
    let made = unsafe {
        let fd = master.as_raw_fd();
        libc::grantpt(fd) | libc::unlockpt(fd) | libc::ptsname_r(fd, name.as_mut_ptr(), name.len())
    };
    assert_eq!(made, 0);
    let end = name.iter().position(|c| *c == 0).unwrap();
    let path = String::from_utf8(name[..end].iter().map(|&c| c as u8).collect()).unwrap();
    (master, fs::OpenOptions::new().read(true).write(true).open(path).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn cells_that_go_to_a_terminal_do_not_steer_it() {
    use std::io::Read;
    let dir = TempDir::new().unwrap();
    let graph = write(&dir, "g.csv", format!("from,to,weight\n\"{SLY}\",b,1\n").as_bytes());
    let folder = dir.path().join("ceilings");
    fs::create_dir(&folder).unwrap();
    let name = serde_json::to_string(SLY).unwrap();
    fs::write(folder.join("x.json"), KEPT.replace("\"A device\"", &name)).unwrap();
    let graph = ["minplus", "-q", "--input", graph.to_str().unwrap()];
    for args in [&graph[..], &["ceiling", "--show", "--csv", "-", "-q"], &["ceiling", "--show"]] {
        let (mut master, slave) = terminal();
        let binary = assert_cmd::cargo::cargo_bin("gpulab");
        let mut command = std::process::Command::new(binary);
        let status = command.args(args).env("GPULAB_DATA", dir.path()).stdout(slave).status().unwrap();
        drop(command);
        let (mut text, mut piece) = (Vec::new(), [0; 4096]);
        // With nobody at the other end a terminal gives an error when it is empty.
        while let Ok(n @ 1..) = master.read(&mut piece) {
            text.extend_from_slice(&piece[..n]);
        }
        let text = String::from_utf8(text).unwrap().replace("\r\n", "\n");
        assert!(status.success() && text.contains("[2J"), "{args:?}: {text:?}");
        assert_harmless(&text, &format!("{args:?}"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_may_not_grow_holds_whole_rows_and_hides_nothing_of_the_rest() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let limited = |args: &[&str], to: &str| {
        let script = format!("ulimit -f 2; exec \"$0\" \"$@\"{to}");
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &script]).arg(assert_cmd::cargo::cargo_bin("gpulab")).args(args);
        let output = command.env("GPULAB_DATA", dir.path().join("none")).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(output.status.code(), Some(74), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("cannot write"), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let rows = |path: &str| {
        assert!(fs::metadata(path).unwrap().len() <= 2 << 10);
        let read = gpulab::store::read_rows(Path::new(path)).unwrap();
        assert!(read.torn.is_none() && !read.rows.is_empty(), "{path}");
        read.rows.len()
    };
    // Without elements nothing is compiled, which writes files too.
    let (csv, json, md) = (at("a.csv"), at("a.json"), at("a.md"));
    let none = ["dot", "--n", "0", "-q"];
    let out = limited(&[&none[..], &["--csv", &csv, "--json", &json, "--md", &md]].concat(), "");
    assert!(rows(&csv) < 7 && out.contains("v7 wide") && out.contains("dot = 0"), "{out}");
    assert!(fs::read_to_string(&md).unwrap().contains("v7 wide"), "the others get their data");
    let text = fs::read_to_string(&json).unwrap();
    let ends = text.trim_end().ends_with(['}', ']']);
    assert!(ends, "no object is torn: {text}");
    // Standard output that a shell sends to a file is one, too.
    let redirected = at("r.csv");
    limited(&[&none[..], &["--csv", "-"]].concat(), &format!(" >{redirected}"));
    rows(&redirected);
    let sweep = at("s.csv");
    let quiet = ["sweep", "--kernel", "dot", "-q", "--n", "0", "--wg", "32..1024*2", "-o", &sweep];
    limited(&quiet, "");
    assert!(rows(&sweep) < 7);
}

#[test]
fn integers_keep_every_digit() {
    let dir = TempDir::new().unwrap();
    let values: Vec<u8> = [(1i64 << 60) + 1, 1, 1].iter().flat_map(|x| x.to_le_bytes()).collect();
    let input = write(&dir, "x.i64", &values);
    let (csv, json) = (dir.path().join("x.csv"), dir.path().join("x.json"));
    let [input, csv_path, json_path] = [&input, &csv, &json].map(|path| path.to_str().unwrap());
    let outputs = ["--csv", csv_path, "--json", json_path];
    let (out, err, code) =
        run(&[&["reduce", "--quick", "--variant", "sequential", "--input", input], &outputs[..]].concat());
    assert_eq!(code, 0, "{err}");
    let want = "1152921504606846979";
    assert!(out.contains(&format!("reduce = {want}\n")), "{out}");
    let json = fs::read_to_string(json).unwrap();
    assert_eq!(json.matches(&format!("\"result\":{want},")).count(), json.matches("\"result\"").count(), "{json}");
    let mut reader = csv::Reader::from_path(&csv).unwrap();
    let column = reader.headers().unwrap().iter().position(|name| name == "result").unwrap();
    let results: Vec<String> = reader.records().map(|record| record.unwrap()[column].to_owned()).collect();
    assert!(!results.is_empty() && results.iter().all(|result| result == want), "{results:?}");
}

#[test]
fn settings_that_no_device_could_take_are_refused() {
    for (args, word) in [
        (&["minplus", "--tile", "0x0"][..], "64x64"),
        (&["minplus", "--item", "99x99"], "8x8"),
        (&["minplus", "--vec", "3"], "2, 4, 8, 16"),
        (&["minplus", "--tile", "32x32", "--item", "99x99"], "item"),
        (&["minplus", "--variant", "4", "--depth", "63"], "depth"),
        (&["transpose", "--tile", "7", "--variant", "6"], "tile"),
        (&["sweep", "--kernel", "minplus", "--set", "tile=64x64,7x7"], "7x7"),
        (&["sweep", "--kernel", "minplus", "--set", "vec=3"], "2, 4, 8 or 16"),
        (&["sweep", "--kernel", "reduce", "--set", "acc=4,17"], "from 1 to 16"),
        (&["sweep", "--kernel", "reduce", "--dtype", "f32", "--set", "op=xor"], "integer type"),
        (&["dot", "--n", "_1"], "1_000_000"),
        (&["dot", "--n", "1__0"], "1_000_000"),
        (&["dot", "--items", "1_"], "from 1 on"),
    ] {
        let mut command = gpulab(args);
        // Before a device is asked for.
        let output = command.args(["-d", "no such device"]).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {err}");
        assert!(err.contains(word) && output.stdout.is_empty(), "{args:?}: {word:?} is missing in {err}");
    }
    // What only does not go together is skipped when its turn comes.
    let together = ["sweep", "--kernel", "minplus", "--variant", "4", "--n", "64", "--dry-run"];
    let settings = ["--set", "tile=64x64,32x32", "--set", "item=8x8,4x4"];
    let (out, err, code) = run(&[&together[..], &settings[..]].concat());
    assert!(code == 0 && out.contains("skipped: ") && !out.contains("; 4 cannot"), "{out}{err}");
}

#[test]
fn a_folder_without_kernels_is_one_line() {
    let dir = TempDir::new().unwrap();
    let missing = dir.path().join("none");
    for command in [&["ceiling"][..], &["dot"], &["lab", "stride"], &["sweep", "--kernel", "dot"]] {
        for folder in [dir.path(), &missing] {
            let mut command = gpulab(&[command, &["--quick", "-q", "--cl-dir", folder.to_str().unwrap()]].concat());
            let output = command.env("GPULAB_DATA", dir.path().join("data")).output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), err.lines().count()), (Some(2), 1), "{command:?}: {err}");
            assert!(err.contains("--cl-dir") && err.len() < 500, "{err}");
        }
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_where_files_belong_keep_nobody_waiting() {
    let dir = TempDir::new().unwrap();
    let folder = dir.path().join("ceilings");
    fs::create_dir(&folder).unwrap();
    let fifo = |path: &Path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for name in ["p.csv", "p.npy", "ceilings/p.json"] {
        fifo(&dir.path().join(name));
    }
    let kernels = edited_kernels("dot/local.cl", "T sum = 0;", "T sum = 0;");
    let fragment = kernels.path().join("common/tree.cl");
    fs::remove_file(&fragment).unwrap();
    fifo(&fragment);
    let sources = kernels.path().to_str().unwrap();
    for (args, code) in [
        (vec!["ceiling", "--show"], 1),
        (vec!["dot", "--input", &at("p.npy")], 2),
        (vec!["minplus", "--input", &at("p.csv")], 2),
        (vec!["merge", &at("p.csv"), "-o", "-"], 1),
        (vec!["sweep", "--kernel", "dot", "--quick", "--resume", "-o", &at("p.csv")], 2),
        (vec!["sweep", "--kernel", "dot", "--quick", "--resume", "-o", "/dev/null"], 2),
        (vec!["dot", "--quick", "--csv", &at("p.csv")], 74),
        (vec!["dot", "--quick", "--csv", dir.path().to_str().unwrap()], 74),
        (vec!["sweep", "--kernel", "dot", "--variant", "3", "--quick", "--n", "1000", "--cl-dir", sources], 2),
    ] {
        let mut command = gpulab(&args);
        let output = command.env("GPULAB_DATA", dir.path()).timeout(Duration::from_secs(60)).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
    }
}

#[test]
fn ceilings_that_no_device_has_are_put_aside() {
    let dir = TempDir::new().unwrap();
    let with = |args: &[&str]| {
        let output = gpulab(args).env("GPULAB_DATA", dir.path()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
    };
    // A ladder keeps the ceiling that it measures.
    let (_, err, code) = with(&["dot", "--quick", "--n", "1000", "--variant", "local"]);
    assert_eq!(code, 0, "{err}");
    let file = fs::read_dir(dir.path().join("ceilings")).unwrap().next().unwrap().unwrap().path();
    let mut kept: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    kept["ceilings"][0]["value"] = 1e300.into();
    fs::write(&file, kept.to_string()).unwrap();
    let (_, err, code) = with(&["ceiling", "--show"]);
    assert!(code == 1 && err.contains("1e300"), "{err}");
    let (_, err, code) = with(&["dot", "--quick", "--n", "1000", "--variant", "local"]);
    let aside = file.display().to_string() + ".bad";
    assert!(code == 0 && err.contains("1e300") && err.contains(&aside), "{err}");
    assert!(fs::read_to_string(&aside).unwrap().contains("1e+300"), "what was wrong is still there to look at");
    let (_, err, _) = with(&["dot", "--quick", "--n", "1000", "--variant", "local"]);
    assert!(!err.contains("1e300"), "it is said once: {err}");
}

/// Kernel sources of which rung 3 of the reduction prints what looks like a reply, and much else.
fn printing_kernels(lines: usize) -> TempDir {
    let prints = format!(
        "if (get_global_id(0) == 0) for (int i = 0; i < {lines}; ++i) printf(\"{{\\\"number\\\":%d,\\\"what\\\":\
         {{\\\"Done\\\":{{}}}}}}\\n\\033[2J%d\\n\", i, i);\n    if (id == 0)\n        partial["
    );
    edited_kernels("reduce/sequential.cl", "if (id == 0)\n        partial[", &prints)
}

#[test]
fn what_a_kernel_prints_is_told_on_standard_error_and_forges_nothing() {
    let dir = printing_kernels(2000);
    let args = ["reduce", "-q", "--n", "5000", "--variant", "sequential,wide", "--json", "-"];
    let few = ["--warmup", "0", "--min-runs", "3", "--max-runs", "3", "--cl-dir", dir.path().to_str().unwrap()];
    for how in [&[][..], &["--in-process"]] {
        let (out, err, code) = run(&[&args[..], &few, how].concat());
        assert_eq!(code, 0, "{how:?}: {err}");
        let rows: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{how:?}: {e}: {out}"));
        let rows = rows.as_array().unwrap();
        assert_eq!(rows.len(), 5, "{how:?}: {out}");
        assert!(rows.iter().all(|row| row["status"] == "ok" && row["result"] == rows[0]["result"]), "{how:?}: {out}");
        assert!(err.contains("\"Done\""), "{how:?}: {err}");
        if how.is_empty() {
            assert!(err.contains("reduce v3 sequential printed: {\"number\":0"), "{err}");
            assert!(err.contains(" more lines\n") && err.lines().count() < 30, "{err}");
            assert!(!err.contains('\x1b') && !err.contains("v11 wide printed"), "{err}");
        }
    }
}

#[test]
fn a_wrong_kernel_that_prints_is_still_wrong() {
    let right = "partial[get_group_id(0)] = scratch[0];";
    let wrong =
        "{ printf(\"\\n{\\\"number\\\":2,\\\"what\\\":{\\\"Done\\\":{}}}\\n\"); partial[get_group_id(0)] = 1; }";
    let dir = edited_kernels("reduce/sequential.cl", right, wrong);
    let dir = dir.path().to_str().unwrap();
    let (out, err, code) =
        run(&["reduce", "--quick", "--n", "500", "--variant", "sequential", "--cl-dir", dir, "--csv", "-"]);
    assert_eq!(code, 4, "{err}");
    assert!(out.contains("wrong_result"), "{out}");
}

#[test]
fn a_worker_without_requests_ends_with_a_message() {
    for (input, code, word) in
        [("", 2, "no request"), ("hello\n", 1, "not a request"), ("{\"number\":1}\n", 1, "not a request")]
    {
        let output = gpulab(&["worker"]).write_stdin(input).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{input:?}: {err}");
        assert!(err.contains(word) && err.lines().count() == 1, "{input:?}: {err}");
        assert!(output.stdout.is_empty(), "{input:?}");
    }
}

/// Runs a command line of the shell with `$0` for the program.
#[cfg(unix)]
fn shell(line: &str) -> (String, String, Option<i32>) {
    let program = assert_cmd::cargo::cargo_bin("gpulab");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line]).arg(program).env_remove("GPULAB_DEVICE").env("GPULAB_DATA", DATA);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[cfg(unix)]
#[test]
fn closed_descriptors_mix_up_nothing() {
    let dir = TempDir::new().unwrap();
    assert_eq!(shell("exec \"$0\" worker <&-").2, Some(2));
    assert_eq!(shell("exec \"$0\" worker <&- >&- 2>&-").2, Some(2));
    // Without standard output nothing is begun.
    assert_eq!(shell("exec \"$0\" dot -q --quick --n 1000 --variant wide <&- >&- 2>&-").2, Some(74));
    for closed in ["<&-", "2>&-", "<&- 2>&-"] {
        let csv = dir.path().join(format!("{}.csv", closed.replace(['<', '>', '&', ' '], "_")));
        let csv = csv.to_str().unwrap();
        let line = format!("exec \"$0\" dot -q --quick --n 1000 --variant wide --csv '{csv}' {closed}");
        let (_, err, _) = shell(&line);
        let rows = fs::read_to_string(csv).unwrap();
        assert_eq!(rows.lines().count(), 5, "{closed}: {rows}{err}");
        assert!(rows.starts_with("schema,") && !rows.contains("number"), "{closed}: {rows}");
    }
}

/// A folder of registered drivers: the system's, and one whose library does this when it is loaded.
#[cfg(unix)]
fn with_a_broken_driver(does: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    let source = write(&dir, "broken.c", format!("#include <stdlib.h>\n#include <stdio.h>\n#include <unistd.h>\n__attribute__((constructor)) static void load(void) {{ {does} }}\n").as_bytes());
    let library = dir.path().join("libbroken.so");
    let built = std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
    assert!(built.unwrap().success());
    fs::write(dir.path().join("a-broken.icd"), format!("{}\n", library.display())).unwrap();
    for entry in fs::read_dir("/etc/OpenCL/vendors").into_iter().flatten().flatten() {
        fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
    }
    dir
}

#[cfg(unix)]
#[test]
fn a_driver_that_crashes_while_it_is_listed_hides_no_other() {
    let (whole, _, _) = run(&["devices", "--json", "-"]);
    for does in ["abort();", "*(volatile int *)0 = 1;", "_exit(0);", "puts(\"[]\"); fflush(stdout); _exit(0);"] {
        let dir = with_a_broken_driver(does);
        let output = gpulab(&["devices", "--json", "-"]).env("OCL_ICD_VENDORS", dir.path()).output().unwrap();
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(1), "{does}: {err}");
        assert!(err.contains("a-broken.icd: the driver ended the process"), "{does}: {err}");
        assert_eq!(out, whole, "{does}");
    }
}

#[cfg(unix)]
#[test]
fn a_driver_that_prints_while_it_is_listed_changes_no_list() {
    let dir = with_a_broken_driver("puts(\"hello\"); fflush(stdout);");
    let output = gpulab(&["devices", "--json", "-"]).env("OCL_ICD_VENDORS", dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), run(&["devices", "--json", "-"]).0);
}

#[cfg(unix)]
#[test]
fn the_cause_is_told_why_there_is_no_device() {
    let dir = TempDir::new().unwrap();
    let file = write(&dir, "file", b"");
    let file = file.to_str().unwrap();
    for command in ["devices", "dot --quick -q --n 1000 --variant wide"] {
        let (_, err, code) = shell(&format!("GPULAB_OPENCL_LIB=bad exec \"$0\" {command}"));
        assert!(code == Some(3) && err.contains("GPULAB_OPENCL_LIB") && err.contains("unset it"), "{command}: {err}");
        let (_, err, code) = shell(&format!("ulimit -v 100000; exec \"$0\" {command}"));
        assert!(code == Some(3) && err.contains("ulimit -v"), "{command}: {err}");
        let (out, err, code) = shell(&format!("POCL_CACHE_DIR=/proc/none exec \"$0\" {command}"));
        // Where there are other devices there is nothing to tell.
        assert!(code == Some(0) || (out + &err).contains("set POCL_CACHE_DIR to one that is"), "{command}: {err}");
    }
    let (out, err, code) =
        shell(&format!("POCL_CACHE_DIR={file}/x exec \"$0\" dot --quick -q --n 1000 --variant wide"));
    assert!(code == Some(0) || (out + &err).contains("set POCL_CACHE_DIR to one that is"), "{err}");
}
