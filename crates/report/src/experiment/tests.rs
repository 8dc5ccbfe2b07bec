use super::*;
use crate::golden::{self, SCREEN};
use gpulab_record::point;
use gpulab_record::store::{Recorded, recorded as read, shipped};

fn typical() -> Vec<Point> {
    let speeds = [(1024, [38.2, 19.07, 41.5]), (2048, [40.16, 12.34, 44.0])];
    let names = ["tiled, pitch n", "naive, pitch n", "tiled, pitch n+32"];
    let all = speeds.iter().flat_map(|(n, speeds)| {
        names
            .iter()
            .zip(speeds)
            .map(|(name, &gbps)| (*name, *n, gbps))
    });
    all.map(|(series, n, gbps)| point(series, n, gbps, 0.01))
        .collect()
}

fn without_value(series: &str, n: u64, status: Status, reason: &str) -> Point {
    Point {
        status,
        reason: reason.into(),
        value: None,
        t_median_s: None,
        noise: None,
        ..point(series, n, 1.0, 0.0)
    }
}

/// Points that were left out, went wrong, need care, or are not there at all.
fn troubled() -> Vec<Point> {
    let mut points = typical();
    points.pop();
    points[0].flags = flag::NOISY | flag::FITS_CACHE;
    points[1] = without_value(
        "naive, pitch n",
        1024,
        Status::WrongResult,
        "row 0, column 1 is 2, want 3",
    );
    points.push(without_value(
        "tiled, pitch n",
        65536,
        Status::Skipped,
        "needs too many bytes\x1b[2J",
    ));
    let log = "diagonal.cl:7:3: error: use of undeclared identifier 'gid'\n\tgid = 0;\n\t^";
    points.push(without_value(
        "naive, pitch n",
        65536,
        Status::BuildFailed,
        log,
    ));
    points
}

fn golden(name: &str, points: &[Point]) {
    let render = |screen| text(points, "Does it help?", "It does.", screen);
    golden::compare(name, &golden::at_all_widths(name, &render));
}

#[test]
fn experiments_read_well_in_a_terminal() {
    golden("experiment_typical", &typical());
    golden("experiment_troubled", &troubled());
    let single: Vec<Point> = (0..6)
        .map(|i| point("strided", 1 << i, 64.0 / f64::from(1 << i), 0.0))
        .collect();
    golden("experiment_single", &single);
    let mut mixed = vec![
        point("a step", 1, 2.0, 0.0),
        point("1 chain", 32, 8.0, 0.0),
        point("1 chain", 64, 9.0, 0.0),
    ];
    (mixed[0].metric, mixed[0].unit) = ("latency".into(), "ns".into());
    mixed.iter_mut().for_each(|point| point.x_label += " items");
    golden("experiment_mixed", &mixed);
    let names: Vec<String> = (1..=17).map(|i| format!("operation {i}, many")).collect();
    let mut many: Vec<Point> = names
        .iter()
        .flat_map(|name| [point(name, 8, 5.0, 0.0), point(name, 1, 2.0, 0.0)])
        .collect();
    many.remove(3);
    golden("experiment_many", &many);
}

fn recorded() -> Vec<Point> {
    let mut all = Vec::new();
    for file in shipped() {
        if let Recorded::Points(points) = read(file.text, file.name).unwrap().0 {
            all.extend(points);
        }
    }
    all
}

#[test]
fn recorded_experiments_fit_every_screen_and_each_column_holds_what_it_names() {
    let all = recorded();
    let runs = distinct(&all, |p| (p.run_id.as_str(), p.experiment.as_str()));
    assert!(runs.len() > 20, "{}", runs.len());
    for (run, experiment) in runs {
        let own: Vec<Point> = all
            .iter()
            .filter(|p| (p.run_id.as_str(), p.experiment.as_str()) == (run, experiment))
            .cloned()
            .collect();
        golden::at_all_widths(experiment, &|screen| text(&own, "Why?", "So.", screen));
        for grid in [by_x(&own), by_series(&own)] {
            let cells: usize = grid.columns[1..]
                .iter()
                .map(|c| c.cells.iter().filter(|c| *c != "-").count())
                .sum();
            let shown: Vec<Point> = own.iter().filter(|p| value(p) != "-").cloned().collect();
            let places = distinct(&shown, |p| {
                (p.x.to_bits(), p.series.as_str(), measure_of(p))
            });
            assert_eq!(
                cells,
                places.len(),
                "{experiment}: a column holds what it does not name"
            );
        }
    }
}

#[test]
fn points_that_agree_have_no_chart_and_a_wide_range_a_logarithmic_axis() {
    let points: Vec<Point> = (1..=6)
        .map(|n| point("a", n, 100.0 + n as f64 / 2.0, 0.0))
        .collect();
    let said = text(&points, "Why?", "So.", SCREEN);
    assert!(
        said.contains("all 6 points agree within 5% (100.5 to 103.0 GB/s)"),
        "{said}"
    );
    assert!(!said.contains('┤') && !said.contains('█'), "{said}");
    let upto = |most: f64| -> Vec<Point> {
        [1.0, 3.0, most]
            .iter()
            .zip(1..)
            .map(|(&v, n)| point("a", n, v, 0.0))
            .collect()
    };
    let said = |most| text(&upto(most), "Why?", "So.", SCREEN);
    assert!(said(51.0).contains("log scale") && !said(49.0).contains("log scale"));
    assert_eq!(
        text(&[], "Why?", "So.", SCREEN),
        "Why?\n\nnothing was measured\n"
    );
}
