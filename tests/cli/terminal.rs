//! What comes from outside steers no terminal.

use crate::binary::{gpulab, run, write};
use std::fs;
use tempfile::TempDir;

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
        vec!["diff", SLY, "reduce:1"],
        vec!["sweep", "--merge", missing, "-o", "-"],
        vec!["sweep", "--kernel", SLY],
        vec!["sweep", "--kernel", "dot", "--set", SLY],
        vec!["minplus", "--input", missing],
        vec!["minplus", "--tile", SLY],
        vec!["asm", "reduce:3", "--generation", SLY],
    ] {
        let (out, err, code) = run(&args);
        assert!(code != 0 && !err.is_empty(), "{args:?}: {out}{err}");
        assert_harmless(&out, &format!("{args:?}"));
        assert_harmless(&err, &format!("{args:?}"));
    }
    let graph = write(
        &dir,
        "g.csv",
        format!("from,to,weight\n\"{SLY}\",b,x\n").as_bytes(),
    );
    let (_, err, code) = run(&["minplus", "--input", graph.to_str().unwrap()]);
    assert!(code == 2 && !err.is_empty());
    assert_harmless(&err, "a weight");
    fs::write(&graph, format!("from,to,weight\n\"{SLY}\",b,1\n")).unwrap();
    let (_, err, code) = run(&[
        "minplus",
        "--input",
        graph.to_str().unwrap(),
        "--from",
        SLY,
        "--to",
        "none",
    ]);
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
    for args in [
        &["ceiling", "--show"][..],
        &["ceiling", "--show", "--json", "-"],
    ] {
        let output = gpulab(args)
            .env("GPULAB_DATA", dir.path())
            .output()
            .unwrap();
        let (out, err) = (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        );
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
    let master = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/ptmx")
        .unwrap();
    let mut name = [0; 64];
    // SAFETY: the descriptor is that of a terminal's master, and the name has room for its length.
    let made = unsafe {
        let fd = master.as_raw_fd();
        libc::grantpt(fd) | libc::unlockpt(fd) | libc::ptsname_r(fd, name.as_mut_ptr(), name.len())
    };
    assert_eq!(made, 0);
    let end = name.iter().position(|c| *c == 0).unwrap();
    let path = String::from_utf8(name[..end].iter().map(|&c| c as u8).collect()).unwrap();
    (
        master,
        fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap(),
    )
}

#[cfg(target_os = "linux")]
#[test]
fn cells_that_go_to_a_terminal_do_not_steer_it() {
    use std::io::Read;
    let dir = TempDir::new().unwrap();
    let graph = write(
        &dir,
        "g.csv",
        format!("from,to,weight\n\"{SLY}\",b,1\n").as_bytes(),
    );
    let folder = dir.path().join("ceilings");
    fs::create_dir(&folder).unwrap();
    let name = serde_json::to_string(SLY).unwrap();
    fs::write(folder.join("x.json"), KEPT.replace("\"A device\"", &name)).unwrap();
    let graph = ["minplus", "-q", "--input", graph.to_str().unwrap()];
    for args in [
        &graph[..],
        &["ceiling", "--show", "--csv", "-", "-q"],
        &["ceiling", "--show"],
    ] {
        let (mut master, slave) = terminal();
        let binary = assert_cmd::cargo::cargo_bin("gpulab");
        let mut command = std::process::Command::new(binary);
        let status = command
            .args(args)
            .env("GPULAB_DATA", dir.path())
            .stdout(slave)
            .status()
            .unwrap();
        drop(command);
        let (mut text, mut piece) = (Vec::new(), [0; 4096]);
        // With nobody at the other end a terminal gives an error when it is empty.
        while let Ok(n @ 1..) = master.read(&mut piece) {
            text.extend_from_slice(&piece[..n]);
        }
        let text = String::from_utf8(text).unwrap().replace("\r\n", "\n");
        assert!(
            status.success() && text.contains("[2J"),
            "{args:?}: {text:?}"
        );
        assert_harmless(&text, &format!("{args:?}"));
    }
}
