//! Recorded results shown again, without a device; and the data dictionary.

use crate::binary::{NOWHERE, gpulab, run};
use gpulab::ceilings::{CeilingRow, Kept, Site};
use gpulab::experiments::experiment;
use gpulab::record::{CsvRecord, Point, Row, SampleRow};
use gpulab::store::{read_points, shipped};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/results");

/// Every recorded CSV file.
fn recorded() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = gpulab::files::below(Path::new(RESULTS))
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "csv"))
        .collect();
    files.sort();
    assert!(files.len() > 30, "{files:?}");
    files
}

/// What `gpulab show` prints, on a machine without OpenCL.
fn show(args: &[&str]) -> String {
    let mut command = gpulab(&[&["show"], args].concat());
    let output = command.env("GPULAB_OPENCL_LIB", NOWHERE).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Rows from before caches were measured do not say that their data fit one: the device's recorded limits do.
#[test]
fn shipped_rows_of_data_in_a_cache_have_no_share_of_memorys_limit() {
    let path = format!("{RESULTS}/nvidia-h200/dot_everyday.csv");
    let recorded = std::fs::read_to_string(path).unwrap();
    assert!(!recorded.contains("fits_cache") && recorded.contains(",8000000,"), "{recorded}");
    let everyday = show(&["h200", "dot_everyday"]);
    assert!(
        everyday.contains("in cache") && !everyday.contains("limit 4") && everyday.contains("vs fastest"),
        "{everyday}"
    );
    // A few partial results more than the curve's largest size in the cache.
    let small = show(&["h200", "reduce", "--where", "n=2^22"]);
    assert!(small.contains("in cache") && !words(&small).contains("limit 4"), "{small}");
    let large = show(&["h200", "reduce_peak"]);
    assert!(!large.contains("in cache") && words(&large).contains("limit 4"), "{large}");
}

/// The reasons of a ladder's rows alone come from the limits that are kept here, if the rows were held against one of them:
/// another machine's device may have the same name. Without them the command that measures these is named.
#[test]
fn reasons_use_the_limits_that_rows_were_held_against_or_name_the_command_that_measures_them() {
    let folder = TempDir::new().unwrap();
    let alone = folder.path().join("rows.csv");
    std::fs::copy(format!("{RESULTS}/nvidia-h200/dot_cmsoft.csv"), &alone).unwrap();
    let why = || {
        let mut command = gpulab(&["show", alone.to_str().unwrap(), "--why"]);
        let output = command.env("GPULAB_OPENCL_LIB", NOWHERE).env("GPULAB_DATA", folder.path()).output().unwrap();
        words(&String::from_utf8(output.stdout).unwrap())
    };
    assert!(
        why().contains("no limit was recorded for additions of f32 on NVIDIA H200 with these rows: run gpulab ceiling"),
        "{}",
        why()
    );
    let text = std::fs::read(format!("{RESULTS}/nvidia-h200/ceilings.csv")).unwrap();
    let ceilings = gpulab::store::of_csv::<CeilingRow>(&text, "ceilings.csv").unwrap().0;
    let rows = gpulab::store::of_csv::<Row>(&std::fs::read(&alone).unwrap(), "rows.csv").unwrap().0;
    let row = rows.into_iter().find(|row| row.platform != gpulab::record::HOST).unwrap();
    let mut kept = Kept { platform: row.platform, device: row.device, driver: row.driver, ceilings };
    kept.save(folder.path()).unwrap();
    assert!(why().contains("no limit was recorded"), "limits of another run: {}", why());
    let read = kept.ceilings.iter_mut().find(|limit| limit.what == "read" && limit.place == Site::Memory).unwrap();
    read.value = row.ceiling_gbps;
    kept.save(folder.path()).unwrap();
    assert!(!why().contains("no limit") && why().contains("v1 to v2"), "{}", why());
}

/// The words of a text, whatever its lines.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_recorded_file_is_shown_within_80_columns_and_as_markdown_with_whole_tables() {
    for path in recorded() {
        let text = show(&[path.to_str().unwrap()]);
        assert!(text.lines().count() > 4, "{path:?}: {text}");
        let long = text.lines().find(|line| line.chars().count() > 80);
        assert!(long.is_none(), "{path:?}: {long:?}");
        let markdown = show(&[path.to_str().unwrap(), "--md", "-"]);
        assert!(!table_cells(&markdown).is_empty(), "{path:?}: {markdown}");
        if std::fs::read_to_string(&path).unwrap().lines().next().unwrap().contains(",experiment,") {
            findings_are_told(&read_points(&path).unwrap(), &text);
        }
    }
}

/// Each experiment's finding follows from its points, and is in the text.
fn findings_are_told(points: &[Point], text: &str) {
    let mut runs: Vec<(&str, &str)> = points.iter().map(|p| (p.run_id.as_str(), p.experiment.as_str())).collect();
    runs.dedup();
    for (run, name) in runs {
        let own: Vec<Point> =
            points.iter().filter(|p| (p.run_id.as_str(), p.experiment.as_str()) == (run, name)).cloned().collect();
        let Some(known) = experiment(name) else { continue };
        let finding = known.finding(&own);
        assert!(words(text).contains(&words(&format!("finding: {finding}"))), "{name}: {finding}\n{text}");
    }
}

#[test]
fn what_ships_with_the_program_is_what_lies_in_the_folder() {
    let all = shipped();
    let on_disk = recorded();
    assert_eq!(all.len(), on_disk.len());
    for file in &all {
        let path = Path::new(RESULTS).join(file.device).join(file.name).with_extension("csv");
        assert!(std::fs::read(&path).unwrap() == file.text, "{path:?}");
    }
    let list = show(&[]);
    let devices = show(&["h200"]);
    for file in &all {
        assert!(list.contains(file.device) && list.contains(file.name), "{list}");
        assert!(file.device != "nvidia-h200" || devices.contains(file.name), "{devices}");
    }
    assert!(list.lines().chain(devices.lines()).all(|line| line.chars().count() <= 80), "{list}{devices}");
    let of_file = show(&[&format!("{RESULTS}/nvidia-h200/minplus.csv")]);
    assert_eq!(show(&["H200", "minplus"]), format!("nvidia-h200/minplus\n\n{of_file}"));
    let stride = show(&["h200", "stride"]);
    assert!(stride.contains("stride on NVIDIA H200") && !stride.contains("banks on"), "{stride}");
}

#[test]
fn a_folder_with_the_name_of_a_family_hides_no_record() {
    let dir = TempDir::new().unwrap();
    std::fs::create_dir(dir.path().join("reduce")).unwrap();
    let shown = |place: &str| gpulab(&["show", "h200", "reduce"]).current_dir(place).output().unwrap();
    let [beside, elsewhere] = [dir.path().to_str().unwrap(), "/"].map(shown);
    assert!(beside.status.success() && beside.stdout == elsewhere.stdout, "{beside:?}");
}

#[test]
fn what_cannot_be_shown_is_refused_in_one_line() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let whole = std::fs::read_to_string(format!("{RESULTS}/nvidia-h200/pitch.csv")).unwrap();
    let header = whole.lines().next().unwrap();
    let folder = dir.path().to_str().unwrap().to_owned();
    for (path, code, word) in [
        (dir.path().join("no.csv").to_str().unwrap().to_owned(), 1, "No such file"),
        (folder, 1, "directory"),
        (file("empty.csv", ""), 2, "is empty"),
        (file("header.csv", &format!("{header}\n")), 2, "no results below"),
        (file("other.csv", "time,place\n1,2\n"), 2, "no results of gpulab"),
        (file("text.csv", "hello\n"), 2, "no results of gpulab"),
        (file("cells.csv", &whole.replacen(",ok,", ",ok", 1)), 2, "cells instead of"),
        (file("word.csv", &whole.replacen(",ok,", ",fine,", 1)), 2, "line 2"),
        (file("newer.csv", &whole.replacen("\n1,", "\n9,", 1)), 2, "schema 9"),
        (
            file(
                "samples.csv",
                "schema,run_id,family,rung,variant,dtype,n,m,wg,params,sample,event_s,wall_s\n\
                 1,r1,dot,1,naive,f32,8,1,64,,0,1e-6,2e-6\n",
            ),
            2,
            "single timed runs",
        ),
        (file("torn.json", "[\n{\"schema\":2,\n"), 2, "ends too early"),
        (file("object.json", "{\"a\":1}"), 2, "is not JSON that gpulab wrote"),
        (file("none.json", "[]"), 2, "no results"),
        (file("newer.json", "[{\"schema\":9,\"experiment\":\"pitch\"}]"), 2, "schema 9"),
        (file("part.json", "[{\"schema\":2,\"experiment\":\"pitch\"}]"), 2, "element 1"),
        ("mi300".to_owned(), 2, "nvidia-h200"),
        ("epyc".to_owned(), 2, "pocl-epyc-2"),
    ] {
        let (out, err, got) = run(&["show", &path]);
        assert_eq!(got, code, "{path}: {err}");
        assert!(out.is_empty() && err.contains(word) && err.trim_end().lines().count() == 1, "{path}: {out}{err}");
    }
    let (_, err, code) = run(&["show", "h200", "nothing"]);
    assert!(code == 2 && err.contains("reduce_sweep"), "{err}");
}

#[cfg(unix)]
#[test]
fn a_pipe_that_never_ends_is_refused() {
    let dir = TempDir::new().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (_, err, code) = run(&["show", pipe.to_str().unwrap()]);
    assert!(code == 1 && err.contains("not a regular file"), "{err}");
}

#[test]
fn a_torn_line_is_left_out_and_told() {
    let dir = TempDir::new().unwrap();
    let whole = std::fs::read_to_string(format!("{RESULTS}/nvidia-h200/pitch.csv")).unwrap();
    let path = dir.path().join("torn.csv");
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let (out, err, code) = run(&["show", path.to_str().unwrap()]);
    assert!(code == 0 && err.contains("ended in the middle of line") && out.contains("finding: "), "{out}{err}");
}

#[test]
fn a_run_and_its_files_say_the_same() {
    let dir = TempDir::new().unwrap();
    let [csv, json] = ["a.csv", "a.json"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    let args = ["lab", "presum", "--quick", "--max-runs", "3", "-q", "--csv", &csv, "--json", &json];
    let (live, err, code) = run(&args);
    assert_eq!(code, 0, "{err}");
    assert_eq!(show(&[&csv]), live);
    // JSON's numbers are read back exactly, too.
    assert_eq!(show(&[&json]), live);
    let elements: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let last = elements.last().unwrap();
    assert_eq!(last["experiment"], "presum");
    assert!(words(&live).contains(&words(last["finding"].as_str().unwrap())), "{last}");
    let point = &read_points(Path::new(&csv)).unwrap()[0];
    assert!(point.command.starts_with("gpulab lab presum --quick"), "{}", point.command);
    assert_eq!((point.quick, point.seed, point.unit_si.as_str()), (Some(true), Some(1), "s"));
    assert!((point.value_si.unwrap() - 1e-6 * point.value.unwrap()).abs() < 1e-15);
    assert!(!point.os.is_empty() && !point.x_label.is_empty() && point.host_threads > Some(0));
}

#[test]
fn the_data_dictionary_is_the_files_header() {
    let dir = TempDir::new().unwrap();
    let [csv, samples] = ["a.csv", "s.csv"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    let args = [
        "dot",
        "--n",
        "1000",
        "--variant",
        "1",
        "--quick",
        "--max-runs",
        "1",
        "-q",
        "--csv",
        &csv,
        "--samples",
        &samples,
    ];
    let (_, err, code) = run(&args);
    assert_eq!(code, 0, "{err}");
    let header = |path: &str| {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().next().unwrap().split(',').map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(Row::COLUMNS, header(&csv));
    assert_eq!(SampleRow::COLUMNS, header(&samples));
    for column in [Row::DICTIONARY, Point::DICTIONARY, SampleRow::DICTIONARY].concat() {
        let meaning = column.meaning();
        assert!(meaning.ends_with('.') && !meaning.contains("[`"), "{column:?}");
        assert!(!column.name.ends_with("_s") || column.unit == "s", "{column:?}");
        assert!(!column.name.ends_with("gbps") || column.unit == "GB/s", "{column:?}");
        assert!(!column.name.ends_with("_pct") || column.unit == "%", "{column:?}");
    }
    let (text, _, _) = run(&["help", "columns"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let (md, _, _) = run(&["help", "columns", "--md"]);
    assert!(md.contains("| `wg_x` | integer |") && md.starts_with("## results"), "{md}");
}

/// Whether Python runs this.
fn python(code: &str) -> bool {
    Command::new("python3").args(["-c", code]).output().is_ok_and(|output| output.status.success())
}

#[test]
fn the_example_in_python_reads_rows_and_points() {
    if !python("pass") {
        eprintln!("skipped: there is no python3");
        return;
    }
    let dir = TempDir::new().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/plot.py");
    for (file, word) in [
        ("reduce", "reduce on NVIDIA H200: n = 4194304, i32, warm cache"),
        ("reduce_sweep", "reduce on NVIDIA H200: n = 1048576"),
        ("minplus", "three_way: 12940 Gpair/s"),
        ("lab_chip", "pitch on NVIDIA H200"),
        ("lab_instructions", "instructions on NVIDIA H200"),
    ] {
        let path = format!("{RESULTS}/nvidia-h200/{file}.csv");
        let output = Command::new("python3").args([script, &path]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(word) && text.lines().count() > 4, "{text}");
        if !python("import pandas, matplotlib") {
            eprintln!("skipped: no picture of {file}, as pandas or matplotlib is not installed");
            let refused = Command::new("python3").args([script, &path, "-o", "picture.png"]).output().unwrap();
            let err = String::from_utf8(refused.stderr).unwrap();
            assert!(!refused.status.success() && err.starts_with("a picture needs pandas and matplotlib"), "{err}");
            continue;
        }
        let picture = dir.path().join(file).with_extension("png");
        let output = Command::new("python3").args([script, &path, "-o", picture.to_str().unwrap()]).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && !err.contains("Warning"), "{file}: {err}");
        assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn what_the_model_is_is_said_once_and_that_nothing_is_explained_too() {
    let (out, _, code) = run(&["show", "h200", "reduce", "dot", "--why"]);
    assert_eq!((out.matches("Model: ").count(), code), (1, 0), "{out}");
    let last = out.rsplit("\n\n").next().unwrap();
    assert!(last.starts_with("Model: ") && out.matches("why, by counts").count() > 3, "{out}");
    for what in [&["h200", "stride"][..], &["h200", "tune-dot-1048576"]] {
        let out = run(&[&["show", "--why"], what].concat()).0;
        assert!(out.ends_with("--why: no ladder is shown, so there is nothing to explain\n"), "{what:?}: {out}");
    }
}
/// What `gpulab show` ends with where it cannot do what it is asked for: its exit code and its error.
fn refused(args: &[&str]) -> (Option<i32>, String) {
    let output = gpulab(&[&["show"], args].concat()).env("GPULAB_OPENCL_LIB", NOWHERE).output().unwrap();
    assert_eq!(output.stdout, b"", "{args:?}");
    (output.status.code(), words(&String::from_utf8(output.stderr).unwrap()))
}

/// The cells of the tables in a text of Markdown, without heads and rules. Rows of a table must be as wide as its head.
fn table_cells(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let inner =
            line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")).unwrap_or_else(|| panic!("{line}"));
        let own = inner.replace("\\|", "\u{1}");
        own.split(" | ").map(|cell| cell.replace('\u{1}', "|")).collect::<Vec<_>>()
    };
    let (mut rows, mut width) = (Vec::new(), None);
    for line in text.lines() {
        match (line.starts_with('|'), width) {
            (false, _) => width = None,
            (true, None) => width = Some(cells(line).len()),
            (true, Some(width)) => {
                assert_eq!(cells(line).len(), width, "{line}");
                rows.extend((!line.contains("---")).then(|| cells(line)));
            }
        }
    }
    rows
}

#[test]
fn markdown_takes_the_place_of_the_text_or_goes_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.md").display().to_string();
    let [alone, both, md] =
        [show(&["h200", "pitch"]), show(&["h200", "pitch", "--md", &file]), show(&["h200", "pitch", "--md", "-"])];
    let marked = format!("<!-- gpulab -->\n{md}");
    assert_eq!((alone, std::fs::read_to_string(&file).unwrap()), (both, marked));
    assert!(md.contains("\n**Finding:** Compared with rows") && md.contains("| 8192 | 3469 | 3270 |"), "{md}");
    let rows = format!("{RESULTS}/nvidia-h200/pitch.csv");
    assert!(refused(&[&rows, "--md", &rows]).1.contains("is the input"));
}

#[test]
fn conditions_and_columns_make_a_table_of_what_was_recorded() {
    let text = |condition: &str, columns: &str| {
        show(&["h200", "dot", "--where", condition, "--where", "dtype=f32", "--columns", columns, "--md", "-"])
    };
    let columns = "variant,n,wg,items";
    let cells = table_cells(&text("n=2^28", columns));
    assert!(cells.contains(&["local", "268435456", "256", "540672"].map(str::to_owned).to_vec()), "{cells:?}");
    // However a value is written.
    for condition in ["n=268435456", "n=256Mi", "n=268_435_456", "n=1,2^28"] {
        assert_eq!(table_cells(&text(condition, columns)), cells);
    }
    let points = show(&["h200", "stride", "--where", "x=64", "--columns", "series,x,value", "--md", "-"]);
    assert!(!table_cells(&points).is_empty() && table_cells(&points).iter().all(|line| line[1] == "64.00"), "{points}");
    let narrow = show(&["h200", "ceilings", "--where", "unit=us", "--columns", "what,value"]);
    assert!(narrow.contains("launch, round trip") && !narrow.contains("fma"), "{narrow}");
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let says = |args: &[&str], what: &str| {
        let (code, said) = refused(args);
        assert!(code == Some(2) && said.contains(what), "{args:?}: {said}");
    };
    says(&["h200", "dot", "--where", "n=5"], "no record has n = 5; there is 268435456, 1000000,");
    says(&["h200", "dot", "--where", "itms=5"], "a column or a setting \"itms\"; did you mean `items`");
    says(&["h200", "dot", "--where", "n"], "not a condition: write COLUMN=VALUE");
    says(&["h200", "dot", "--columns", "rung,varant"], "no column \"varant\" here; did you mean `variant`");
    says(&["h200", "ceilings", "pocl", "ceilings"], "\"pocl\" matches several devices");
    says(&["h200", "pitch", "nothing"], "no record of nothing among those of nvidia-h200");
    says(&["--why"], "show what?");
}

#[test]
fn names_of_any_kind_break_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let hostile = |file: &str| {
        let text = std::fs::read_to_string(format!("{RESULTS}/pocl-epyc-2/{file}")).unwrap();
        let to = path(&file.replace('/', "-"));
        let evil = "x | <script>alert(1)</script> <!-- end --> [a](b) ``` $x$";
        let names = ["pthread-skylake-avx512-AMD EPYC", "pthread-haswell-AMD EPYC"];
        std::fs::write(&to, names.iter().fold(text, |text, name| text.replace(name, evil))).unwrap();
        to
    };
    let files = ["dot.csv", "lab.csv", "ceilings.csv"].map(hostile);
    let [dot, lab, ceilings] = files.each_ref().map(String::as_str);
    for args in [
        &[dot][..],
        &[dot, "--columns", "device,rung,n"],
        &[lab],
        &[ceilings],
        &[ceilings, &format!("{RESULTS}/nvidia-h200/ceilings.csv")],
    ] {
        let text = show(&[args, &["--md", "-"]].concat());
        assert!(!table_cells(&text).is_empty() && text.contains("&lt;script&gt;"), "{args:?}: {text}");
        assert!(!text.contains("<script>") && !text.contains("<!--") && !text.contains("[a]("), "{args:?}: {text}");
    }
}
