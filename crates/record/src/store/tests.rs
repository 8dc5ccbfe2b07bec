use super::*;
use crate::Flags;
use crate::{SampleRow, row};
use gpulab_model::data::{Dtype, Params};
use gpulab_model::outcome::Status;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// A path at which nothing can be: a file is no folder.
const NOWHERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml/rows.csv");

fn place() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv").to_str().unwrap().to_owned();
    (folder, path)
}

fn write(path: &str, open: fn(&str) -> Result<CsvFile<Row>, Error>, rows: &[Row]) {
    let mut file = open(path).unwrap();
    rows.iter().for_each(|r| file.write(r).unwrap());
}

fn read(path: &str) -> Rows {
    read_rows(&PathBuf::from(path)).unwrap()
}

#[test]
fn rows_come_back_as_they_went() {
    let (_folder, path) = place();
    let rows = [
        row("naive"),
        Row {
            rung: None,
            reason: "line 1\nline 2, \"quoted\"".to_owned(),
            status: Status::BuildFailed,
            ..row("local")
        },
    ];
    write(&path, CsvFile::create, &rows);
    assert_eq!(
        read(&path),
        Rows {
            rows: rows.to_vec(),
            torn: None
        }
    );
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("schema,run_id,time_utc,gpulab,platform,device,"));
    assert!(
        text.lines()
            .next()
            .unwrap()
            .ends_with(",registers,spilled_bytes,occupancy_pct,wg_x,wg_y,wg_z,seed,warmup,quick,sample_time_s,command,host_cpu,host_threads,os,t_case_s,t_canary_s")
    );
}

#[test]
fn creating_replaces_and_appending_adds() {
    let (_folder, path) = place();
    write(&path, CsvFile::append, &[row("a"), row("b")]);
    write(&path, CsvFile::create, &[row("c")]);
    write(&path, CsvFile::append, &[row("d")]);
    let variants: Vec<String> = read(&path).rows.into_iter().map(|r| r.variant).collect();
    assert_eq!(variants, ["c", "d"]);
}

#[test]
fn a_torn_last_line_is_left_out_wherever_it_was_cut() {
    let (_folder, path) = place();
    let lines = Row {
        reason: "log\nof é lines\n".to_owned(),
        ..row("second")
    };
    write(&path, CsvFile::create, &[row("first"), lines]);
    let whole = std::fs::read(&path).unwrap();
    let second = whole.windows(6).rposition(|w| w == b"second").unwrap();
    for cut in second..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let back = read(&path);
        assert_eq!(back.rows.len(), 1, "cut at {cut}");
        assert!(back.torn.unwrap().contains("line 3"));
        let file = CsvFile::<Row>::append(&path).unwrap();
        assert!(file.torn().is_some());
        drop(file);
        write(&path, CsvFile::append, &[row("third")]);
        let back = read(&path);
        assert_eq!(
            (back.rows[1].variant.as_str(), back.rows.len(), back.torn),
            ("third", 2, None)
        );
    }
}

#[test]
fn other_columns_are_refused_and_left_alone() {
    let (_folder, path) = place();
    for text in [
        "schema,run_id\n1,r1\n",
        "hello\n",
        "hello",
        "\n",
        "schema\n1,2\n3,4\n",
    ] {
        std::fs::write(&path, text).unwrap();
        assert!(
            matches!(CsvFile::<Row>::append(&path), Err(Error::Usage(_))),
            "{text}"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn damaged_rows_are_named() {
    let (_folder, path) = place();
    write(&path, CsvFile::create, &[row("a"), row("b")]);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("f32", "f99", 1)).unwrap();
    let message = read_rows(Path::new(&path)).unwrap_err().to_string();
    assert!(
        message.contains("line 2") && message.contains("f99"),
        "{message}"
    );
    std::fs::write(&path, text.replacen("\n2,", "\n7,", 1)).unwrap();
    assert!(
        read_rows(Path::new(&path))
            .unwrap_err()
            .to_string()
            .contains("schema 7")
    );
    // An older one is shown, but neither joined nor added to.
    let old = text.replace("\n2,", "\n1,");
    std::fs::write(&path, &old).unwrap();
    assert!(
        read_rows(Path::new(&path))
            .unwrap_err()
            .to_string()
            .contains("schema 1")
    );
    assert!(
        matches!(recorded(old.as_bytes(), "old").unwrap().0, Recorded::Rows(rows) if rows.len() == 2)
    );
    assert!(matches!(
        read_rows(Path::new(NOWHERE)),
        Err(Error::Failed(_))
    ));
}

#[test]
fn files_from_before_a_column_was_added_are_read() {
    let (_folder, path) = place();
    let newest = Row {
        ceiling_gbps: None,
        stopped_by: String::new(),
        result: None,
        cpu_exact_x: None,
        launches: None,
        wg_x: None,
        wg_y: None,
        wg_z: None,
        seed: None,
        warmup: None,
        quick: None,
        sample_time_s: None,
        command: String::new(),
        host_cpu: String::new(),
        host_threads: None,
        os: String::new(),
        ..row("a")
    };
    write(&path, CsvFile::create, std::slice::from_ref(&newest));
    let text = std::fs::read_to_string(&path).unwrap();
    let header = text.lines().next().unwrap();
    let added = header.split(",flags,").nth(1).unwrap();
    let empty = ",".repeat(added.split(',').count());
    let old = text
        .replace(&format!(",{added}\n"), "\n")
        .replace(&format!("{empty}\n"), "\n");
    std::fs::write(&path, old).unwrap();
    assert_eq!(read(&path).rows, [newest]);
}

#[test]
fn a_second_writer_is_refused() {
    let (_folder, path) = place();
    let mut first = CsvFile::<Row>::create(&path).unwrap();
    first.write(&row("a")).unwrap();
    assert!(matches!(
        CsvFile::<Row>::create(&path),
        Err(Error::Usage(_))
    ));
    assert!(matches!(
        CsvFile::<Row>::append(&path),
        Err(Error::Usage(_))
    ));
    assert!(matches!(JsonFile::create(&path), Err(Error::Usage(_))));
    first.write(&row("b")).unwrap();
    assert_eq!(read(&path).rows.len(), 2);
}

#[test]
fn outputs_that_cannot_be_written_say_so_at_once() {
    let (folder, _) = place();
    let mut impossible = vec![
        folder.path().to_str().unwrap().to_owned(),
        NOWHERE.to_owned(),
    ];
    if Path::new("/dev/full").exists() {
        impossible.push("/dev/full".to_owned());
    }
    for path in impossible {
        assert_eq!(
            CsvFile::<Row>::create(&path).err().map(|e| e.exit_code()),
            Some(74),
            "{path}"
        );
        assert_eq!(
            JsonFile::create(&path).err().map(|e| e.exit_code()),
            Some(74),
            "{path}"
        );
    }
}

#[test]
fn json_is_an_array_with_the_columns_names() {
    let (_folder, path) = place();
    for count in 0..3 {
        let mut file = JsonFile::create(&path).unwrap();
        (0..count).for_each(|_| file.write(&row("naive")).unwrap());
        file.finish().unwrap();
        let value: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(value.as_array().unwrap().len(), count);
        for object in value.as_array().unwrap() {
            let names: Vec<&String> = object.as_object().unwrap().keys().collect();
            assert_eq!(names.len(), Row::COLUMNS.len());
            assert!(Row::COLUMNS.iter().all(|c| object.get(c).is_some()));
            assert!(
                object["noise"].is_null()
                    && object["status"] == "ok"
                    && object["max_err"].is_null()
            );
            assert_eq!(
                serde_json::from_value::<Row>(object.clone()).unwrap(),
                row("naive")
            );
        }
    }
}

#[test]
fn samples_are_lines() {
    let (_folder, path) = place();
    let sample = SampleRow {
        run_id: "r1".to_owned(),
        family: "dot".to_owned(),
        rung: None,
        variant: "cpu_seq".to_owned(),
        dtype: Dtype::I64,
        n: 5,
        wg: None,
        params: Params::new(),
        sample: 0,
        event_s: None,
        wall_s: 0.25,
    };
    CsvFile::create(&path).unwrap().write(&sample).unwrap();
    let want = "run_id,family,rung,variant,dtype,n,wg,params,sample,event_s,wall_s\nr1,dot,,cpu_seq,i64,5,,,0,,0.25\n";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), want);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_and_number_survive(device in "\\PC*", reason in "(?s).*", t in proptest::num::f64::NORMAL) {
        let (_folder, path) = place();
        let odd = Row { device, reason, t_median_s: Some(t), ..row("a") };
        write(&path, CsvFile::create, std::slice::from_ref(&odd));
        prop_assert_eq!(read(&path).rows, [odd]);
    }

    #[test]
    fn no_file_makes_reading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let (_folder, path) = place();
        std::fs::write(&path, &bytes).unwrap();
        let _ = read_rows(Path::new(&path));
        let _ = CsvFile::<Row>::append(&path);
    }
}

#[test]
fn a_deferred_file_goes_again_if_nothing_is_written() {
    let (_folder, path) = place();
    let exists = || PathBuf::from(&path).exists();
    let unused = Sink::open(&path).unwrap();
    assert!(exists());
    drop(unused);
    assert!(!exists());
    let failed = Sink::open(&path)
        .unwrap()
        .replace(|_| Err::<(), _>(std::io::Error::other("no")));
    assert!(failed.is_err() && !exists());
    Sink::open(&path)
        .unwrap()
        .replace(|out| out.write_all(b"a\n"))
        .unwrap();
    drop(Sink::open(&path).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), b"a\n");
    std::fs::write(&path, "").unwrap();
    drop(Sink::open(&path).unwrap());
    assert!(exists(), "it was there before");
}

#[test]
fn rows_of_data_in_a_cache_lose_the_share_of_memory_that_older_files_have() {
    let share = |flags: Flags| {
        let (_folder, path) = place();
        write(
            &path,
            CsvFile::create,
            &[Row {
                ceiling_pct: Some(233.4),
                flags,
                ..row("naive")
            }],
        );
        match recorded(&std::fs::read(&path).unwrap(), &path).unwrap().0 {
            Recorded::Rows(rows) => rows[0].ceiling_pct,
            _ => panic!("rows are expected"),
        }
    };
    assert_eq!(share(crate::flag::NOISY), Some(233.4));
    assert_eq!(share(crate::flag::FITS_CACHE | crate::flag::NOISY), None);
}
