use super::*;
use crate::columns::{BESIDE, TableColumn};
use crate::golden::{self, SCREEN};
use crate::markdown;
use gpulab_model::outcome::{Clock, Number};
use gpulab_model::plan::WorkGroup;
use gpulab_record::terminal::text as painted;
use gpulab_record::{COPY, CPU_RAYON, CPU_SEQ, Flags, HOST, params_of, row};

#[test]
fn tuned_rungs_are_marked_and_no_single_work_group_is_claimed() {
    let mut rows = vec![
        rung(1, "naive", 2e-3),
        rung(2, "local", 1e-3),
        rung(3, "wide", 1e-3),
    ];
    assert!(table(&rows, RateUnit::GB, SCREEN, false).contains("f32, wg 256, warm"));
    (rows[1].wg, rows[1].flags) = (Some(WorkGroup::linear(64)), flag::TUNED);
    let text = table(&rows, RateUnit::GB, SCREEN, false);
    for said in [
        "f32, wg 256 for most, warm",
        "ok, tuned ",
        "note: v2: tuned; no gains between tuned and default rungs (--no-tuned: defaults)\n",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(crate::markdown::ladder(&rows, RateUnit::GB).contains("| ok, tuned |"));
    assert!(
        crate::picture::waterfall(&rows).is_err_and(|why| why.contains("some rungs are tuned"))
    );
}

fn rung(number: u32, variant: &str, seconds: f64) -> Row {
    Row {
        rung: Some(number),
        device: "NVIDIA H200".to_owned(),
        n: 16_777_216,
        wg: Some(WorkGroup::linear(256)),
        t_median_s: Some(seconds),
        noise: Some(0.0234),
        gbps: Some(0.134217728 / seconds),
        ceiling: "read".to_owned(),
        ceiling_gbps: Some(4000.0),
        ceiling_pct: Some(100.0 * 0.134217728 / seconds / 4000.0),
        step_x: None,
        total_x: Some(2.5e-3 / seconds),
        cpu_seq_x: Some(11e-3 / seconds),
        cpu_rayon_x: Some(1.5e-3 / seconds),
        t_end_to_end_s: Some(6.2e-3 + seconds),
        end_to_end_noise: Some(0.05),
        max_err: Some(0.021),
        tol: Some(1.0),
        flags: Flags::default(),
        result: Some(Number::Real(123456.789)),
        ..row(variant)
    }
}

fn cpu(variant: &str, seconds: f64) -> Row {
    let plain = rung(0, variant, seconds);
    Row {
        rung: None,
        platform: HOST.to_owned(),
        device: "CPU, 16 threads".to_owned(),
        wg: None,
        t_end_to_end_s: None,
        noise: Some(0.004),
        ..plain
    }
}

fn no_times(row: Row, status: Status, reason: &str) -> Row {
    Row {
        status,
        reason: reason.to_owned(),
        t_median_s: None,
        noise: None,
        gbps: None,
        ceiling_pct: None,
        step_x: None,
        total_x: None,
        cpu_seq_x: None,
        cpu_rayon_x: None,
        t_end_to_end_s: None,
        max_err: None,
        result: None,
        ..row
    }
}

fn typical() -> Vec<Row> {
    let mut rows = vec![
        rung(1, "naive", 2.5e-3),
        rung(2, "coalesced", 310.2e-6),
        rung(3, "local", 96.4e-6),
        rung(4, "sequential", 70.12e-6),
        rung(5, "wide", 36.2e-6),
        cpu(CPU_SEQ, 11e-3),
        cpu(CPU_RAYON, 1.5e-3),
    ];
    for i in 1..5 {
        rows[i].step_x = gpulab_model::stats::ratio(
            rows[i - 1].t_median_s.unwrap(),
            rows[i].t_median_s.unwrap(),
        );
    }
    rows[4].wg = Some(WorkGroup::linear(1));
    // The host adds a partial sum of each work-item, or of each group.
    rows[0].t_host_part_s = Some(1.21e-3);
    rows[2].t_host_part_s = Some(9.3e-6);
    rows
}

fn troubled() -> Vec<Row> {
    let log = "coalesced.cl:7:3: error: use of undeclared identifier 'gid'\n\tgid = 0;\n\t^\n1 error generated.";
    vec![
        rung(1, "naive", 2.5e-3),
        no_times(rung(2, "coalesced", 1.0), Status::BuildFailed, log),
        no_times(
            rung(3, "local", 1.0),
            Status::WrongResult,
            "got 1.5, want 1.25 within 1.31e-4",
        ),
        no_times(
            rung(4, "sequential", 1.0),
            Status::Skipped,
            "needs cl_khr_fp64",
        ),
        no_times(
            rung(5, "subgroup", 1.0),
            Status::Skipped,
            "needs sub-groups of 32 work-items, the device has 8 | 16",
        ),
        no_times(
            rung(6, "vector", 1.0),
            Status::Timeout,
            "no answer within 30 s; the worker was ended",
        ),
        no_times(
            rung(7, "wide", 1.0),
            Status::Failed,
            "CL_OUT_OF_RESOURCES \x1b[2J(-5)",
        ),
    ]
}

fn launch_bound() -> Vec<Row> {
    let short = |number, variant, seconds, flags: [Flags; 3]| Row {
        t_batch_s: Some(seconds / 2.0),
        flags: flags.into_iter().collect(),
        n: 1000,
        ..rung(number, variant, seconds)
    };
    let mut rows = vec![
        short(
            1,
            "naive",
            12.3e-6,
            [flag::LAUNCH_BOUND, flag::FITS_CACHE, flag::NOISY],
        ),
        short(
            2,
            "local",
            6.1e-6,
            [flag::LAUNCH_BOUND, flag::FITS_CACHE, flag::ABOVE_CEILING],
        ),
        short(
            3,
            "wide",
            5.9e-6,
            [
                flag::LAUNCH_BOUND,
                flag::CLOCK_FALLBACK,
                flag::ABOVE_CEILING,
            ],
        ),
    ];
    rows[2].clock = Clock::Wall;
    rows[2].reason = "all event times were equal".to_owned();
    rows[1].flags = rows[1].flags | flag::DRIFT;
    rows[1].canary = Some(1.234);
    rows
}

fn empty() -> Vec<Row> {
    let exact = |r: Row| Row {
        max_err: Some(0.0),
        tol: Some(0.0),
        n: 0,
        result: Some(Number::Real(0.0)),
        ..no_times(r, Status::Ok, "")
    };
    vec![
        exact(rung(1, "naive", 1.0)),
        exact(rung(2, "local", 1.0)),
        exact(cpu(CPU_SEQ, 1.0)),
    ]
}

/// A matrix: a reference, and each kernel also with its work repeated inside.
fn repeated() -> Vec<Row> {
    let matrix = |row: Row, copy_pct: f64| Row {
        family: "transpose".to_owned(),
        n: 2048,
        m: 1024,
        params: params_of("rows=4 tile=32").unwrap(),
        wg: Some(WorkGroup([32, 8, 1])),
        ceiling: "copy".to_owned(),
        copy_pct: Some(copy_pct),
        tol: Some(0.0),
        max_err: Some(0.0),
        result: None,
        ..row
    };
    let copy = |seconds| Row {
        rung: None,
        step_x: None,
        total_x: None,
        ..matrix(rung(0, COPY, seconds), 100.0)
    };
    let inside = |row: Row| Row {
        params: params_of("nreps=10 rows=4 tile=32").unwrap(),
        ..row
    };
    vec![
        copy(40e-6),
        inside(copy(350e-6)),
        matrix(rung(1, "naive", 160e-6), 25.0),
        inside(matrix(rung(1, "naive", 1500e-6), 23.3)),
        matrix(rung(2, "coalesced", 50e-6), 80.0),
        Row {
            copy_pct: None,
            ..inside(no_times(
                matrix(rung(2, "coalesced", 1.0), 0.0),
                Status::WrongResult,
                "row 0, column 1 is 2, want 3",
            ))
        },
    ]
}

/// At all widths, without what only `-v` tells.
fn compare(name: &str, rows: &[Row]) {
    let render = |screen| table(rows, RateUnit::GB, screen, false);
    golden::compare(name, &golden::at_all_widths(name, &render));
}

/// All that is told on a usual terminal.
fn said(rows: &[Row]) -> String {
    table(rows, RateUnit::GB, SCREEN, true).replace("\n  ", " ")
}

#[test]
fn ladders_read_well_in_a_terminal() {
    compare("ladder_typical", &typical());
    compare("ladder_troubled", &troubled());
    compare("ladder_launch_bound", &launch_bound());
    compare("ladder_empty", &empty());
    let render = |screen| table(&launch_bound(), RateUnit::GB, screen, true);
    golden::compare(
        "ladder_verbose",
        &golden::at_all_widths("ladder_verbose", &render),
    );
}

#[test]
fn ladders_read_well_in_markdown_and_nothing_is_said_of_nothing() {
    golden::compare(
        "markdown_typical",
        &markdown::ladder(&typical(), RateUnit::GB),
    );
    golden::compare(
        "markdown_troubled",
        &markdown::ladder(&troubled(), RateUnit::GB),
    );
    let mut hostile = typical();
    hostile[0].device = "evil\x1b[2J\nname".to_owned();
    hostile[0].variant = "x\x07".to_owned();
    let text = table(&hostile, RateUnit::GB, SCREEN, false);
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    assert!(text.starts_with("dot on evil\\x1b[2J name: n = 16_777_216"));
    assert_eq!(table(&[], RateUnit::GB, SCREEN, false), "nothing was run\n");
    assert_eq!(markdown::ladder(&[], RateUnit::GB), "Nothing was run.\n");
}

#[test]
fn colour_changes_signs_only() {
    let colored = Screen {
        color: true,
        ..SCREEN
    };
    let text = painted(&table(&troubled(), RateUnit::GB, colored, false));
    assert!(text.contains("\x1b[32mok\x1b[0m"), "{text}");
    assert!(
        text.contains("\x1b[33mskipped: needs cl_khr_fp64\x1b[0m\n"),
        "{text}"
    );
    assert!(text.contains("\x1b[31mbuild failed\x1b[0m\n"), "{text}");
    for rows in [troubled(), typical(), repeated()] {
        let text = painted(&table(&rows, RateUnit::GB, colored, false));
        let codes = ["\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"];
        assert_eq!(
            codes.iter().fold(text, |t, code| t.replace(code, "")),
            table(&rows, RateUnit::GB, SCREEN, false)
        );
    }
}

/// `gpulab help columns` names what stands above a column; of its cells each is a number, a dash or `in cache`, as units stand
/// in the head alone.
#[test]
fn columns_have_their_names_in_the_help_and_hold_one_unit() {
    let mut names: Vec<String> = COLUMNS
        .into_iter()
        .flatten()
        .map(TableColumn::name)
        .collect();
    names.extend(BESIDE.map(|(name, ..)| name.to_owned()));
    for rows in [typical(), launch_bound(), repeated(), troubled()] {
        let view = View::of(&rows, RateUnit::GB);
        let part = Section::of(&view, &view.rungs, view.best());
        let columns = part.grid().columns;
        for column in &columns {
            let head = column.head.trim().replace('\n', " ");
            let is_unit = |rest: &str| ["", " ns", " us", " ms", " s"].contains(&rest);
            let is_known = names
                .iter()
                .any(|name| head.strip_prefix(name.as_str()).is_some_and(is_unit));
            assert!(is_known, "{head}: {names:?}");
        }
        assert!(names.iter().any(|name| name == part.bar_head()));
        for column in &columns[1..columns.len() - 1] {
            for cell in column.cells.iter().map(|cell| cell.trim()) {
                let number = cell
                    .trim_start_matches(['▲', '▼'])
                    .trim_end_matches(['%', '?']);
                let is_word = ["-", "=", "in cache"].contains(&cell);
                assert!(
                    is_word || number.parse::<f64>().is_ok(),
                    "{}: {cell}",
                    column.head
                );
            }
        }
    }
}

#[test]
fn a_title_names_a_limit_only_where_a_row_is_held_against_it() {
    let mut rows = typical();
    assert!(
        said(&rows).contains("limit 4000 GB/s (read)"),
        "{}",
        said(&rows)
    );
    rows[1..]
        .iter_mut()
        .for_each(|row| row.flags = flag::FITS_CACHE);
    assert!(
        said(&rows).contains("limit 4000 GB/s (read)"),
        "{}",
        said(&rows)
    );
    rows[0].flags = flag::FITS_CACHE;
    assert!(!said(&rows).contains("limit 4000"), "{}", said(&rows));
    assert!(!markdown::ladder(&rows, RateUnit::GB).contains("limit 4000"));
}

#[test]
fn work_repeated_inside_stands_beside_its_kernel() {
    compare("ladder_repeated", &repeated());
    assert!(table(&repeated(), RateUnit::GiB, SCREEN, false).contains("GiB/s"));
    let inside: Vec<Row> = repeated()
        .into_iter()
        .filter(|r| r.repeats().is_some())
        .collect();
    compare("ladder_inside_only", &inside);
}

#[test]
fn data_in_a_cache_have_no_share_of_a_limit_whether_one_was_measured_or_a_peak_given() {
    for (ceiling, peak) in [
        (None, None),
        (Some(238.0), None),
        (None, Some(120.0)),
        (Some(238.0), Some(120.0)),
    ] {
        let row = Row {
            ceiling_pct: ceiling,
            peak_pct: peak,
            flags: flag::FITS_CACHE,
            ..rung(1, "naive", 1e-3)
        };
        let rows = [
            row.clone(),
            Row {
                rung: Some(2),
                ..row
            },
        ];
        for text in [
            table(&rows, RateUnit::GB, SCREEN, true),
            markdown::ladder(&rows, RateUnit::GB),
        ] {
            assert!(text.contains("in cache"), "{text}");
            assert!(!text.contains("238") && !text.contains("120"), "{text}");
        }
    }
}

#[test]
fn columns_go_in_the_order_of_the_list_that_explains_them() {
    let mut drops: Vec<u8> = COLUMNS
        .into_iter()
        .flatten()
        .map(|column| column.drop)
        .chain([BAR_DROP])
        .filter(|&d| d > 0)
        .collect();
    drops.sort_unstable();
    assert!(
        drops.windows(2).all(|pair| pair[0] < pair[1]),
        "{drops:?}: no two go at once"
    );
    for column in COLUMNS.into_iter().flatten() {
        assert!(
            !column.about.is_empty() && !column.name().contains('\n'),
            "{}",
            column.name()
        );
    }
}

#[test]
fn a_cpu_device_is_told_to_reverse_the_order_where_it_does() {
    let told = |device: &str, host: &str, step: f64, verbose: bool| {
        let mut rows = vec![rung(1, "naive", 20e-6), rung(2, "coalesced", 30e-6)];
        rows[1].step_x = Some(step);
        rows.iter_mut()
            .for_each(|row| (row.device, row.host_cpu) = (device.to_owned(), host.to_owned()));
        let text = table(&rows, RateUnit::GB, SCREEN, verbose).replace("\n  ", " ");
        text.matches("one thread runs a whole work-group").count()
    };
    let xeon = "Intel(R) Xeon(R) 6975P-C";
    for (device, host) in [
        ("cpu-haswell-AMD EPYC", ""),
        (xeon, xeon),
        ("AMD EPYC 7B13 64-Core Processor", ""),
    ] {
        assert_eq!(
            [
                told(device, host, 0.6, true),
                told(device, host, 0.6, false)
            ],
            [1, 1],
            "{device}"
        );
        assert_eq!(
            [
                told(device, host, 1.6, true),
                told(device, host, 0.98, true)
            ],
            [0, 0],
            "{device}: in order"
        );
    }
    assert_eq!(told("NVIDIA H200", xeon, 0.6, true), 0);
}
