//! `gpulab occupancy`: what a kernel needs, and how many of its groups a multiprocessor holds.

use crate::binary::{NOWHERE, gpulab, run};

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
