use super::*;
use crate::record::point;

fn typical() -> Vec<Point> {
    let speeds = [(1024, [38.2, 19.07, 41.5]), (2048, [40.16, 12.34, 44.0])];
    let names = ["tiled, pitch n", "naive, pitch n", "tiled, pitch n+32"];
    let all = speeds.iter().flat_map(|(n, speeds)| names.iter().zip(speeds).map(|(name, &gbps)| (*name, *n, gbps)));
    all.map(|(series, n, gbps)| point(series, n, gbps, 0.01)).collect()
}

fn without_value(series: &str, n: u64, status: Status, reason: &str) -> Point {
    Point { status, reason: reason.into(), value: None, t_median_s: None, noise: None, ..point(series, n, 1.0, 0.0) }
}

/// Points that were left out, went wrong, need care, or are not there at all.
fn troubled() -> Vec<Point> {
    let mut points = typical();
    points.pop();
    points[0].flags = format!("{} {}", flag::NOISY, flag::FITS_CACHE);
    points[1] = without_value("naive, pitch n", 1024, Status::WrongResult, "row 0, column 1 is 2, want 3");
    points.push(without_value("tiled, pitch n", 65536, Status::Skipped, "needs too many bytes\x1b[2J"));
    let log = "v4_diagonal.cl:7:3: error: use of undeclared identifier 'gid'\n\tgid = 0;\n\t^";
    points.push(without_value("naive, pitch n", 65536, Status::BuildFailed, log));
    points
}

fn golden(name: &str, text: &str) {
    assert!(text.lines().all(|line| line.chars().count() <= 100 || line.starts_with("finding: ")), "{text}");
    crate::report::golden(name, text);
}

#[test]
fn experiments_read_well_in_a_terminal() {
    golden("experiment_typical", &text(&typical(), "Does padding help?", "Padding helps.", &|x| x.to_string()));
    golden("experiment_troubled", &text(&troubled(), "Does padding help?", "Nothing can be said.", &|x| x.to_string()));
    let single: Vec<Point> = (0..6).map(|i| point("strided", 1 << i, 64.0 / f64::from(1 << i), 0.0)).collect();
    golden(
        "experiment_single",
        &text(&single, "What does a stride cost?", "Half for each doubling.", &|x| x.to_string()),
    );
    let mut mixed = vec![point("a step", 1, 2.0, 0.0), point("1 chain", 32, 8.0, 0.0), point("1 chain", 64, 9.0, 0.0)];
    (mixed[0].metric, mixed[0].unit) = ("latency".into(), "ns".into());
    let label = |x: f64| format!("{x} items");
    golden("experiment_mixed", &text(&mixed, "What hides latency?", "Chains do.", &label));
    let names: Vec<String> = (1..=17).map(|i| format!("operation {i}, many")).collect();
    let mut many: Vec<Point> =
        names.iter().flat_map(|name| [point(name, 8, 5.0, 0.0), point(name, 1, 2.0, 0.0)]).collect();
    many.remove(3);
    golden("experiment_many", &text(&many, "What do operations cost?", "This much.", &|x| x.to_string()));
}

#[test]
fn nothing_is_said_of_nothing() {
    assert_eq!(text(&[], "Why?", "So.", &|x| x.to_string()), "Why?\n\nnothing was measured\n");
}

#[test]
fn a_device_cannot_steer_the_terminal() {
    let mut points = typical();
    points[0].device = "evil\x1b[2J\nname".to_owned();
    points[0].series = "x\x07".to_owned();
    let text = text(&points, "Why?", "So.", &|x| x.to_string());
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    assert!(text.starts_with("pitch on evil\\u{1b}[2J\\nname ("), "{text}");
}
