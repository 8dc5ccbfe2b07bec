//! `gpulab ceiling`: measured, kept, shown and used; and what is kept although no device has it.

use crate::binary::{gpulab, write};
use std::fs;
use tempfile::TempDir;

#[test]
fn ceilings_are_measured_kept_shown_and_used() {
    let dir = TempDir::new().unwrap();
    let with = |args: &[&str]| {
        let output = gpulab(args)
            .env("GPULAB_DATA", dir.path())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (
            text(&output.stdout),
            text(&output.stderr),
            output.status.code().unwrap(),
        )
    };
    for args in [&[][..], &["-d", "0"]] {
        let (out, err, code) = with(&[&["ceiling", "--show"], args].concat());
        assert!(
            code == 1
                && out.is_empty()
                && err.contains("are kept yet: gpulab ceiling measures them"),
            "{out}{err}"
        );
    }
    let csv = dir.path().join("ceilings.csv");
    let (measured, err, code) = with(&["ceiling", "--quick", "--csv", csv.to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    for what in [
        "read, memory",
        "write, memory",
        "copy, cache",
        "local",
        "fma f32",
        "fma i32",
        "add-min f32",
    ] {
        let line = measured
            .lines()
            .find(|line| line.starts_with(what))
            .unwrap_or_else(|| panic!("{what}: {measured}"));
        assert!(line.contains(" wg ") && !line.contains("failed"), "{line}");
    }
    let lines = fs::read_to_string(&csv).unwrap().lines().count();
    let (shown, err, code) = with(&["ceiling", "--show"]);
    assert_eq!(
        (shown.as_str(), err.as_str(), code),
        (measured.as_str(), "", 0),
        "as measured, with no device opened"
    );
    let (json, _, _) = with(&["ceiling", "--show", "--json", "-", "-q"]);
    assert_eq!(json.matches("\"what\"").count() + 1, lines, "{json}");
    // A ladder takes the ceiling that is kept, and says so.
    let read = json
        .split("\"value\":")
        .nth(1)
        .and_then(|rest| rest.split(',').next())
        .unwrap()
        .to_owned();
    let rows = dir.path().join("rows.json");
    let (_, err, code) = with(&[
        "dot",
        "--quick",
        "--n",
        "1000",
        "--variant",
        "local",
        "--json",
        rows.to_str().unwrap(),
    ]);
    assert!(
        code == 0 && err.contains("ceilings measured at") && err.contains("quickly"),
        "{err}"
    );
    assert!(
        fs::read_to_string(&rows)
            .unwrap()
            .contains(&format!("\"ceiling_gbps\":{read}")),
        "{read}"
    );
    // Without -d those of every device are shown, with -d those of one.
    let file = fs::read_dir(dir.path().join("ceilings"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = fs::read_to_string(&file).unwrap();
    let device = text
        .split("\"device\": \"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let other = dir.path().join("ceilings/a.json");
    fs::write(&other, text.replace(device, "another device")).unwrap();
    let (both, err, code) = with(&["ceiling", "--show"]);
    assert_eq!((err.as_str(), code), ("", 0));
    assert!(
        both.starts_with("ceilings of another device") && both.ends_with(&format!("\n{shown}")),
        "{both}"
    );
    assert_eq!(both.matches("\nfma f32 ").count(), 2, "{both}");
    let (one, _, code) = with(&["ceiling", "--show", "-d", "0"]);
    assert_eq!((&one, code), (&shown, 0));
    // A file that cannot be read is named, and the rest is shown; a ladder goes on as if nothing were kept.
    fs::write(&other, "{").unwrap();
    let (rest, err, code) = with(&["ceiling", "--show"]);
    assert_eq!((&rest, code, err.lines().count()), (&shown, 0, 1), "{err}");
    assert!(
        err.contains("a.json") && err.contains("remove the file"),
        "{err}"
    );
    fs::write(&file, "junk").unwrap();
    let (_, err, code) = with(&["ceiling", "--show"]);
    assert!(
        code == 1 && err.contains("remove the file") && err.contains("are kept yet"),
        "{err}"
    );
    let (out, err, code) = with(&["dot", "--quick", "--n", "1000", "--variant", "local"]);
    assert!(code == 0 && out.contains("v3 local"), "{out}{err}");
    let told: Vec<&str> = err
        .lines()
        .filter(|line| line.contains("cannot read the ceilings"))
        .collect();
    assert!(
        told.len() == 1
            && told[0].contains("gpulab ceiling")
            && told[0].contains("without kept ceilings"),
        "{err}"
    );
}

#[test]
fn a_folder_for_data_that_is_none_leaves_the_outputs_alone() {
    let dir = TempDir::new().unwrap();
    let (file, keep) = (write(&dir, "file", b""), write(&dir, "keep.csv", b"kept\n"));
    for (args, status) in [
        (&["ceiling", "--quick"][..], 74),
        (&["ceiling", "--show"], 1),
    ] {
        let args = [args, &["--force", "--csv", keep.to_str().unwrap()]].concat();
        let output = gpulab(&args).env("GPULAB_DATA", &file).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{err}");
        assert!(
            status != 74 || err.contains("GPULAB_DATA") && err.contains(file.to_str().unwrap()),
            "{err}"
        );
        assert_eq!(fs::read(&keep).unwrap(), b"kept\n", "{args:?}");
    }
}

#[test]
fn ceilings_that_no_device_has_are_put_aside() {
    let dir = TempDir::new().unwrap();
    let with = |args: &[&str]| {
        let output = gpulab(args)
            .env("GPULAB_DATA", dir.path())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (
            text(&output.stdout),
            text(&output.stderr),
            output.status.code().unwrap(),
        )
    };
    // A ladder keeps the ceiling that it measures.
    let (_, err, code) = with(&["dot", "--quick", "--n", "1000", "--variant", "local"]);
    assert_eq!(code, 0, "{err}");
    let file = fs::read_dir(dir.path().join("ceilings"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut kept: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    kept["entries"][0]["value"] = 1e300.into();
    fs::write(&file, kept.to_string()).unwrap();
    let (_, err, code) = with(&["ceiling", "--show"]);
    assert!(code == 1 && err.contains("1e300"), "{err}");
    let (_, err, code) = with(&["dot", "--quick", "--n", "1000", "--variant", "local"]);
    let aside = file.display().to_string() + ".bad";
    assert!(
        code == 0 && err.contains("1e300") && err.contains(&aside),
        "{err}"
    );
    assert!(
        fs::read_to_string(&aside).unwrap().contains("1e+300"),
        "what was wrong is still there to look at"
    );
    let (_, err, _) = with(&["dot", "--quick", "--n", "1000", "--variant", "local"]);
    assert!(!err.contains("1e300"), "it is said once: {err}");
}
