//! `gpulab minplus` through the binary: the ladder, its units, bad input.

/// Standard output, standard error and exit code of a quick run.
fn run(args: &[&str]) -> (String, String, i32) {
    crate::binary::run(&[&["minplus"], args, &["--quick"]].concat())
}

fn rows(json: &str) -> Vec<serde_json::Value> {
    serde_json::from_str(json).unwrap()
}

#[test]
fn every_rung_is_timed_beside_its_ceiling_and_its_preparation() {
    let (json, log, code) = run(&["--n", "131", "--json", "-"]);
    assert_eq!(code, 0, "{log}");
    let rows = rows(&json);
    let rungs: Vec<_> = rows.iter().filter(|r| r["platform"] != "host").collect();
    assert_eq!((rungs.len(), rows.len()), (7, 7 + 3), "{json}");
    for (number, row) in rungs.iter().enumerate() {
        assert_eq!(
            (row["rung"].as_u64(), &row["status"]),
            (Some(number as u64), &"ok".into()),
            "{row}"
        );
        assert_eq!(
            (row["ops"].as_u64(), row["m"].as_u64()),
            (Some(2 * 131 * 131 * 131), Some(131))
        );
        assert_eq!(
            (&row["ceiling"], row["ceiling_gbps"].is_null()),
            (&"add-min".into(), true)
        );
        let share = row["gops"].as_f64().unwrap() / row["ceiling_gops"].as_f64().unwrap();
        assert!(
            (100.0 * share / row["ceiling_pct"].as_f64().unwrap() - 1.0).abs() < 1e-9,
            "{row}"
        );
        let is_prepared = row["launches"] == 2;
        assert_eq!(is_prepared, number >= 2);
        let by_events = row["clock"] == "event";
        assert_eq!(
            row["t_preparation_s"].is_number(),
            is_prepared && by_events,
            "{row}"
        );
        assert!(row["t_end_to_end_s"].as_f64() > Some(0.0));
        assert!(
            !row["flags"].as_str().unwrap().contains("fits_cache"),
            "no memory bounds it: {row}"
        );
    }
    let title = log.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        log.contains("Gpair/s") && title.contains("131 x 131") && !log.contains("GB/s"),
        "{log}"
    );
    let mut table = log
        .lines()
        .skip_while(|line| !line.starts_with("minplus on "));
    assert!(
        table.clone().count() > 10 && table.all(|line| line.chars().count() <= 80),
        "{log}"
    );
}

#[test]
fn numbers_begin_at_0() {
    let (json, log, code) = run(&[
        "--n",
        "40",
        "--variant",
        "0-1",
        "--wg",
        "8x4",
        "--json",
        "-",
    ]);
    assert_eq!(code, 0, "{log}");
    let names: Vec<String> = rows(&json)
        .iter()
        .map(|r| r["variant"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names[3..], ["naive", "coalesced"]);
    assert!(rows(&json)[3..].iter().all(|r| r["wg"] == "8x4"), "{json}");
}

#[test]
fn settings_reach_the_kernels() {
    let set = [
        "--tile",
        "32x64",
        "--item",
        "4x4",
        "--depth",
        "16",
        "--buffers",
        "1",
        "--weights",
        "signed",
    ];
    let (json, log, code) =
        run(&[&["--n", "70", "--variant", "4-5", "--json", "-"][..], &set].concat());
    assert_eq!(code, 0, "{log}");
    for row in rows(&json).iter().filter(|r| r["platform"] != "host") {
        let params = row["params"].as_str().unwrap();
        for set in [
            "buffers=1",
            "depth=16",
            "item=4x4",
            "tile=32x64",
            "weights=signed",
        ] {
            assert!(params.contains(set), "{params}");
        }
    }
}

#[test]
fn a_tiling_that_does_not_exist_is_refused_with_what_there_is() {
    for (option, value, why) in [
        ("--tile", "60x64", "a tile has no whole number of items"),
        ("--tile", "16x64", "a multiple of 4 items down"),
        ("--item", "3x8", "multiples of 4"),
        ("--depth", "3", "try another depth"),
    ] {
        let (out, err, code) = run(&["--n", "64", "--variant", "4", option, value]);
        assert_eq!((out.as_str(), code), ("", 2), "{option} {value}: {err}");
        assert!(
            err.contains(why) && err.contains(&format!("{} may be ", &option[2..])),
            "{option} {value}: {err}"
        );
    }
}
