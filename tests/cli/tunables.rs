//! What `gpulab list` shows of settings is what ladders and sweeps take.

use crate::binary::run;
use gpulab::kernels::{FAMILIES, Family, Rung};

/// The settings that `gpulab list FAMILY` shows, with their values.
fn listed(family: &Family) -> Vec<(String, Vec<String>)> {
    let (out, err, code) = run(&["list", &family.name]);
    assert_eq!(code, 0, "{err}");
    let lines = out
        .lines()
        .skip_while(|line| !line.starts_with("  Tunables, "))
        .skip(1);
    let all: Vec<(String, Vec<String>)> = lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let name = line.split_whitespace().next().unwrap().to_owned();
            let values = line
                .rsplit_once('[')
                .and_then(|(_, rest)| rest.strip_suffix(']'))
                .unwrap();
            (name, values.split(", ").map(str::to_owned).collect())
        })
        .collect();
    assert!(all.len() >= 4, "{}: {all:?}", family.name);
    all
}

/// The first rung that reads a setting.
fn reader<'a>(family: &'a Family, name: &str) -> &'a Rung {
    let reads = |rung: &&Rung| {
        family
            .choices
            .iter()
            .copied()
            .chain(rung.tunables())
            .any(|t| t.name == name)
    };
    family.kernels().find(reads).unwrap()
}

/// Of one repetition there is no loop: that is the ladder's other timing.
fn is_meant(name: &str, value: &str) -> bool {
    (name, value) != ("nreps", "1")
}

#[test]
fn every_setting_reaches_the_kernels_of_its_ladder() {
    for family in FAMILIES {
        // Of fewer elements, work-items in flight are as many as there are.
        let n = if matches!(&*family.name, "reduce" | "dot") {
            "1000000"
        } else {
            "200"
        };
        for (name, values) in listed(family) {
            let variant = reader(family, &name).variant();
            let is_ok = |value: &String| {
                let args = [
                    "--n",
                    n,
                    "--quick",
                    "--max-runs",
                    "1",
                    "--variant",
                    variant,
                    "--json",
                    "-",
                ];
                let (out, err, code) =
                    run(&[&[&*family.name, &format!("--{name}"), value][..], &args].concat());
                if code == 2 && err.contains("no device could take it") {
                    return false;
                }
                assert_eq!(code, 0, "{} --{name} {value}: {err}", family.name);
                let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
                let set = format!("{name}={value}");
                let is_set = |row: &serde_json::Value| {
                    row["params"].as_str().unwrap().split(' ').any(|p| p == set)
                };
                rows.as_array()
                    .unwrap()
                    .iter()
                    .any(|row| is_set(row) && row["status"] == "ok")
            };
            // Not every value suits every device, nor every variant.
            let is_any = values
                .iter()
                .filter(|value| is_meant(&name, value))
                .any(is_ok);
            assert!(
                is_any,
                "{} --{name}: no row with any of {values:?}",
                family.name
            );
        }
    }
}

#[test]
fn every_value_that_list_shows_is_taken_by_a_sweep() {
    for family in FAMILIES {
        for (name, values) in listed(family) {
            let sweep = |set: &str| {
                run(&[
                    "sweep",
                    "--kernel",
                    &family.name,
                    "--n",
                    "200",
                    "--set",
                    set,
                    "--dry-run",
                ])
            };
            for value in &values {
                let (out, err, code) = sweep(&format!("{name}={value}"));
                assert!(
                    code == 0 && !out.is_empty(),
                    "{} {name}={value}: {err}",
                    family.name
                );
            }
            let (out, err, code) = sweep(&format!("{name}={}", values.join(",")));
            assert_eq!(code, 0, "{} {name}: {err}", family.name);
            assert!(
                out.lines().any(|line| !line.contains("skipped")),
                "{} {name}: {out}",
                family.name
            );
            let (_, err, code) = sweep(&format!("{name}=-7"));
            assert_eq!(code, 2, "{} {name}: {err}", family.name);
        }
    }
}
