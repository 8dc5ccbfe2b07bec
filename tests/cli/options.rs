//! Options and settings that cannot be: refused in one line before anything runs.

use crate::binary::{NOWHERE, gpulab, messages, run, write};
use tempfile::TempDir;

#[test]
fn bad_options_are_one_clear_message_and_exit_code_2() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, text: &[u8]| write(&dir, name, text).to_str().unwrap().to_owned();
    let (three, four) = (file("three.f32", &[0; 12]), file("four.f32", &[0; 16]));
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
        (file("empty.f32", b""), "empty"),
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
    files
        .iter()
        .for_each(|(path, word)| check(&["--input", path], word));
    check(&["--input", &three, "--input2", &four], "equal length");
}

#[test]
fn operations_are_checked_before_anything_runs() {
    let dir = TempDir::new().unwrap();
    let bytes = [1.5, f32::NAN, 2.5].map(f32::to_le_bytes).concat();
    let nan = write(&dir, "nan.f32", &bytes);
    let nan = nan.to_str().unwrap();
    for (args, word) in [
        (vec!["--op", "mean"], "xor"),
        (
            vec!["--op", "xor", "--dtype", "f32"],
            "needs an integer type",
        ),
        (
            vec!["--op", "and", "--dtype", "f64"],
            "needs an integer type",
        ),
        (
            vec!["--op", "or", "--input", nan, "--dtype", "f32"],
            "needs an integer type",
        ),
        (
            vec!["--op", "min", "--input", nan, "--dtype", "f32"],
            "NaN in 1 of 3 elements, first in element 1: min and max are undefined",
        ),
        (vec!["--finish", "nobody"], "device"),
    ] {
        let (out, err, code) = run(&[&["reduce", "--quick", "-q"], &args[..]].concat());
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(
            err.contains(word) && out.is_empty(),
            "{args:?}: {word:?} is missing in {out}{err}"
        );
    }
}

#[test]
fn data_that_hide_what_a_sum_should_show_are_named() {
    let dir = TempDir::new().unwrap();
    let terms = |large: f32| [vec![large; 1000], vec![1.0; 3000], vec![-large; 1000]].concat();
    let file = |name: &str, terms: Vec<f32>| {
        let bytes: Vec<u8> = terms.into_iter().flat_map(f32::to_le_bytes).collect();
        write(&dir, name, &bytes).to_str().unwrap().to_owned()
    };
    let nan = file("nan.f32", vec![1.0, 2.0, f32::NAN, f32::NAN]);
    for (command, input, words) in [
        (
            "reduce",
            file("cancels.f32", terms(1e9)),
            [
                "reduce = 3000.000 (cpu_exact), reduce = ",
                "(v1, error bound ",
            ],
        ),
        (
            "reduce",
            file("sums.f32", terms(1.0)),
            ["reduce = 3000.000\n", ""],
        ),
        (
            "reduce",
            nan.clone(),
            ["NaN in 2 of 4 elements, first in element 2", "remove NaN"],
        ),
        (
            "dot",
            nan,
            ["NaN in 2 of 4 elements, first in element 2", "remove NaN"],
        ),
    ] {
        let (out, err, code) = run(&[
            command,
            "--quick",
            "-q",
            "--variant",
            "1",
            "--input",
            &input,
        ]);
        assert!(
            code == 0 && words.iter().all(|word| (out.clone() + &err).contains(word)),
            "{command}: {out}{err}"
        );
    }
}

#[test]
fn distances_without_a_graph_are_refused() {
    for option in [
        &["--closure"][..],
        &["--paths"],
        &["--from", "a"],
        &["--to", "b"],
        &["--undirected"],
        &["-o", "f"],
    ] {
        for n in [&[][..], &["--n", "100"], &["--quick"]] {
            let (out, err, code) = run(&[&["minplus"], n, option].concat());
            assert_eq!((code, out.as_str()), (2, ""), "{n:?} {option:?}: {err}");
            assert!(
                err.contains(option[0]) || err.contains("--input"),
                "{n:?} {option:?}: {err}"
            );
        }
    }
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
        (
            &["sweep", "--kernel", "minplus", "--set", "tile=64x64,7x7"],
            "7x7",
        ),
        (
            &["sweep", "--kernel", "minplus", "--set", "vec=3"],
            "2, 4, 8 or 16",
        ),
        (
            &["sweep", "--kernel", "reduce", "--set", "acc=4,17"],
            "from 1 to 16",
        ),
        (
            &[
                "sweep", "--kernel", "reduce", "--dtype", "f32", "--set", "op=xor",
            ],
            "integer type",
        ),
        (&["dot", "--n", "_1"], "1_000_000"),
        (&["dot", "--n", "1__0"], "1_000_000"),
        (&["dot", "--items", "1_"], "from 1 on"),
    ] {
        let mut command = gpulab(args);
        // Before a device is asked for.
        let output = command.args(["-d", "no such device"]).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {err}");
        assert!(
            err.contains(word) && output.stdout.is_empty(),
            "{args:?}: {word:?} is missing in {err}"
        );
    }
    // What only does not go together is skipped when its turn comes.
    let together = [
        "sweep",
        "--kernel",
        "minplus",
        "--variant",
        "4",
        "--n",
        "64",
        "--dry-run",
    ];
    let settings = ["--set", "tile=64x64,32x32", "--set", "item=8x8,4x4"];
    let (out, err, code) = run(&[&together[..], &settings[..]].concat());
    assert!(
        code == 0 && out.contains("skipped: ") && !out.contains("; 4 cannot"),
        "{out}{err}"
    );
}

#[test]
fn a_worker_without_requests_ends_with_a_message() {
    for (input, code, word) in [
        ("", 2, "no request"),
        ("hello\n", 1, "not a request"),
        ("{\"number\":1}\n", 1, "not a request"),
    ] {
        let output = gpulab(&["worker"]).write_stdin(input).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{input:?}: {err}");
        assert!(
            err.contains(word) && err.lines().count() == 1,
            "{input:?}: {err}"
        );
        assert!(output.stdout.is_empty(), "{input:?}");
    }
}
