use super::*;
use crate::golden;
use crate::groups::{experiments, families, ladders, sweeps};
use crate::shown::{finding, question};
use gpulab_model::outcome::Status;
use gpulab_record::Flags;
use gpulab_record::store::{Recorded, of_csv, recorded, shipped};
use gpulab_record::{Point, Row, point, row};
use gpulab_study::ceilings::CeilingRow;

/// A rung's row with a time, its spread and a rate.
fn timed(rung: u32, variant: &str, seconds: f64) -> Row {
    Row {
        rung: Some(rung),
        t_q1_s: Some(0.97 * seconds),
        t_median_s: Some(seconds),
        t_q3_s: Some(1.05 * seconds),
        noise: Some(0.08),
        gbps: Some(8e-3 / seconds),
        gops: Some(2e-3 / seconds),
        ops: Some(2000),
        ceiling: "read".to_owned(),
        ceiling_gbps: Some(40.0),
        ceiling_pct: Some(8e-1 / seconds / 40.0),
        flags: Flags::default(),
        device: "Device".to_owned(),
        ..row(variant)
    }
}

fn typical() -> Vec<Row> {
    let skipped = Row {
        status: Status::Skipped,
        reason: "no sub-groups".to_owned(),
        t_median_s: None,
        ..timed(3, "subgroup", 1.0)
    };
    let cpu = Row {
        platform: "host".to_owned(),
        rung: None,
        wg: None,
        ..timed(0, "cpu_rayon", 2e-3)
    };
    vec![
        timed(1, "naive", 1e-3),
        timed(2, "local", 2.5e-4),
        skipped,
        cpu,
    ]
}

fn swept() -> Vec<Row> {
    let field = |rung, variant: &str, wg: &str, seconds| Row {
        sweep_id: "s1".to_owned(),
        wg: Some(gpulab_kernels::values::work_group(wg).unwrap()),
        ..timed(rung, variant, seconds)
    };
    vec![
        field(1, "naive", "32", 9e-4),
        field(1, "naive", "64", 7e-4),
        field(2, "local", "32", 2.6e-4),
        field(2, "local", "64", 2.55e-4),
        field(2, "local", "128", 8e-4),
    ]
}

fn studied() -> Vec<Point> {
    let series = [("read", 1.0), ("write", 0.8)];
    let of = |(name, factor): &(&'static str, f64)| {
        [1u64, 2, 4, 8, 16]
            .map(|n| point(name, n, factor * 100.0 / n as f64, 0.1))
            .to_vec()
    };
    series.iter().flat_map(of).collect()
}

fn studied_with(finding: &str) -> Picture {
    experiment(&studied(), "Does it help?", finding).unwrap()
}

/// A text's left, top, right and bottom, by the font alone.
fn corners(node: &roxmltree::Node<'_, '_>) -> [f64; 4] {
    let [x, y, size] =
        ["x", "y", "font-size"].map(|name| node.attribute(name).unwrap().parse::<f64>().unwrap());
    let wide = sheet::width(node.text().unwrap_or_default(), size);
    let left = match node.attribute("text-anchor") {
        Some("middle") => x - wide / 2.0,
        Some("end") => x - wide,
        _ => x,
    };
    // Letters reach from three quarters of their height above their line to a fifth below it.
    [left, y - 0.74 * size, left + wide, y + 0.2 * size]
}

/// What every picture must hold: well-formed, with title and description, only numbers in its places, each text on the sheet,
/// none upon another.
fn check(what: &str, picture: &Picture) {
    let svg = picture.svg();
    let tree = roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{what}: {e}"));
    let root = tree.root_element();
    assert_eq!(root.attribute("role"), Some("img"), "{what}");
    for name in ["title", "desc"] {
        let own = root
            .children()
            .find(|child| child.has_tag_name(("http://www.w3.org/2000/svg", name)))
            .unwrap();
        assert!(
            !own.text().unwrap_or_default().trim().is_empty(),
            "{what} has no {name}"
        );
        assert!(
            root.attribute("aria-labelledby")
                .unwrap()
                .contains(own.attribute("id").unwrap()),
            "{what}"
        );
    }
    let view: Vec<f64> = root
        .attribute("viewBox")
        .unwrap()
        .split(' ')
        .map(|n| n.parse().unwrap())
        .collect();
    let mut texts: Vec<([f64; 4], &str)> = Vec::new();
    for node in tree.descendants().filter(roxmltree::Node::is_element) {
        for attribute in node.attributes() {
            let is_word = [
                "class",
                "id",
                "aria-labelledby",
                "font-family",
                "stroke-linejoin",
            ]
            .contains(&attribute.name());
            let is_none = ["NaN", "inf", "e-"]
                .iter()
                .any(|word| attribute.value().contains(word));
            assert!(
                is_word || !is_none,
                "{what}: {} = {}",
                attribute.name(),
                attribute.value()
            );
        }
        if node.has_tag_name(("http://www.w3.org/2000/svg", "text")) {
            let [left, top, right, bottom] = corners(&node);
            let text = node.text().unwrap_or_default();
            assert!(
                left >= 0.0 && top >= 0.0 && right <= view[2] && bottom <= view[3],
                "{what}: {text} is outside"
            );
            let covered = texts
                .iter()
                .find(|(a, _)| left < a[2] && a[0] < right && top < a[3] && a[1] < bottom);
            assert_eq!(covered, None, "{what}: {text} upon another");
            texts.push(([left, top, right, bottom], text));
        }
    }
}

fn recorded_on(device: &str) -> (Vec<Row>, Vec<Point>, Vec<CeilingRow>) {
    let mut rows = Vec::new();
    let mut points = Vec::new();
    let mut ceilings = Vec::new();
    for file in shipped().iter().filter(|file| file.device == device) {
        match recorded(file.text, file.name).unwrap().0 {
            Recorded::Rows(own) => rows.extend(own),
            Recorded::Points(own) => points.extend(own),
            Recorded::Other { .. } if file.name == "ceilings" => {
                ceilings = of_csv(file.text, file.name).unwrap().0
            }
            _ => {}
        }
    }
    (rows, points, ceilings)
}

#[test]
fn every_kind_of_picture_is_sound_on_all_recorded_data() {
    let mut devices: Vec<&str> = shipped().iter().map(|file| file.device).collect();
    devices.dedup();
    let mut drawn: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for device in devices {
        let (rows, points, ceilings) = recorded_on(device);
        let mut note = |kind: &'static str, what: String, picture: Drawn| {
            if let Ok(picture) = picture {
                check(&format!("{kind} {what} on {device}"), &picture);
                *drawn.entry(kind).or_default() += 1;
            }
        };
        let case = |rows: &[Row]| format!("{} {} {}", rows[0].family, rows[0].dtype, rows[0].n);
        for own in ladders(&rows) {
            note("ladder", case(&own), ladder(&own));
            note(
                "roofline",
                case(&own),
                roofline(std::slice::from_ref(&own), &ceilings),
            );
            note(
                "roofline",
                format!("{} alone", case(&own)),
                roofline(&[own], &[]),
            );
        }
        note(
            "roofline",
            "all".to_owned(),
            roofline(&ladders(&rows), &ceilings),
        );
        sweeps(&rows)
            .iter()
            .for_each(|own| note("sweep", case(own), sweep(own)));
        families(&rows)
            .iter()
            .for_each(|own| note("size", case(own), size(own, &ceilings)));
        for own in experiments(&points) {
            let drawn = experiment(&own, question(&own), &finding(&own));
            note("experiment", own[0].experiment.clone(), drawn);
        }
    }
    for (kind, least) in [
        ("ladder", 50),
        ("roofline", 60),
        ("sweep", 10),
        ("size", 6),
        ("experiment", 60),
    ] {
        assert!(
            drawn.get(kind).is_some_and(|count| *count >= least),
            "{kind}: {drawn:?}"
        );
    }
}

#[test]
fn pictures_are_drawn_as_before() {
    for (name, picture) in [
        ("picture_ladder", ladder(&typical()).unwrap()),
        ("picture_sweep", sweep(&swept()).unwrap()),
        (
            "picture_experiment",
            studied_with("Reads fall off at stride 2; writes too. So."),
        ),
    ] {
        check(name, &picture);
        golden::compare(name, &picture.svg());
    }
}

#[test]
fn titles_say_what_is_learnt() {
    assert_eq!(
        ladder(&typical()).unwrap().title,
        "v2 local is fastest: 80 % of the limit"
    );
    let alike = [timed(1, "naive", 1e-3), timed(2, "local", 1.02e-3)];
    assert_eq!(
        ladder(&alike).unwrap().title,
        "No rung is clearly fastest: 20 % of the limit"
    );
    let mut wrong = timed(3, "vectorised", 1e-4);
    wrong.status = Status::WrongResult;
    let title = ladder(&[alike.as_slice(), &[wrong.clone()]].concat())
        .unwrap()
        .title;
    assert_eq!(
        title,
        "No rung is clearly fastest: 20 % of the limit; not to be believed: v3"
    );
    assert_eq!(
        ladder(&[wrong]).unwrap().title,
        "No rung has a time to trust"
    );
    let title = sweep(&swept()).unwrap().title;
    assert_eq!(
        title,
        "v2 local is fastest: 255 µs at 64 work-items of a group"
    );
    let path = roofline(&[typical()], &[]).unwrap().title;
    assert_eq!(
        path,
        "From v1 naive to v2 local: 4.00 times as fast, 80 % of the limit"
    );
}

#[test]
fn no_roof_of_memory_is_above_data_that_a_cache_holds() {
    let mut cached = typical();
    cached.iter_mut().for_each(Row::set_in_cache);
    let limits = |picture: &Picture| {
        let names = picture.figures.iter().map(|row| row[0].clone());
        names
            .filter(|name| name.starts_with("limit"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        limits(&roofline(&[typical()], &[]).unwrap()),
        ["limit: read"]
    );
    let alone = roofline(&[cached.clone()], &[]).unwrap();
    assert!(
        limits(&alone).is_empty() && !alone.title.contains('%'),
        "{}",
        alone.title
    );
    // Beside data in memory they stand where a cache has a roof, too.
    let points = |ceilings: &[CeilingRow]| {
        let both = roofline(&[typical(), cached.clone()], ceilings).unwrap();
        both.figures.len() - limits(&both).len()
    };
    let text = include_bytes!("../../../../data/results/nvidia-h200/ceilings.csv");
    let ceilings = of_csv::<CeilingRow>(text, "ceilings").unwrap().0;
    assert_eq!((points(&[]), points(&ceilings)), (2, 4));
}

#[test]
fn an_undecided_finding_is_grey() {
    let class = |finding: &str| {
        let svg = studied_with(finding).svg();
        svg.split("<text").nth(1).unwrap().contains("class=\"dim\"")
    };
    assert!(class("Whether it helps is undecided. So."));
    assert!(class("It helps by 3 %; beyond 8 it is undecided. So."));
    assert!(!class("It helps. What offsets cost is undecided."));
}

#[test]
fn what_comes_from_outside_is_text() {
    const EVIL: &str = "</text></svg><script>alert(1)</script>\"'&\u{1b}[2J\u{202e}\u{0}";
    let evil = |row: Row| Row {
        device: EVIL.to_owned(),
        variant: format!("{EVIL}{}", row.variant),
        family: EVIL.to_owned(),
        reason: EVIL.to_owned(),
        params: [(EVIL.to_owned(), EVIL.to_owned())].into(),
        ceiling: EVIL.to_owned(),
        ..row
    };
    let rows: Vec<Row> = typical().into_iter().map(evil).collect();
    let swept: Vec<Row> = swept().into_iter().map(evil).collect();
    let sizes: Vec<Row> = [1000, 2000]
        .into_iter()
        .flat_map(|n| rows.iter().map(move |row| Row { n, ..row.clone() }))
        .collect();
    let points: Vec<Point> = studied()
        .into_iter()
        .map(|p| Point {
            series: format!("{EVIL}{}", p.series),
            x_name: EVIL.to_owned(),
            x_label: format!("1{EVIL}"),
            metric: EVIL.to_owned(),
            unit: EVIL.to_owned(),
            device: EVIL.to_owned(),
            ..p
        })
        .collect();
    let pictures = [
        ladder(&rows).unwrap(),
        roofline(&[rows], &[]).unwrap(),
        sweep(&swept).unwrap(),
        size(&sizes, &[]).unwrap(),
        experiment(&points, EVIL, EVIL).unwrap(),
    ];
    for picture in pictures {
        let svg = picture.svg();
        let tree = roxmltree::Document::parse(&svg).unwrap();
        assert!(
            tree.descendants()
                .all(|node| !node.has_tag_name(("http://www.w3.org/2000/svg", "script"))),
            "{svg}"
        );
        assert_eq!(svg.matches("</svg>").count(), 1);
        assert!(svg.contains("&lt;script&gt;"), "the name is there, as text");
        assert!(
            !svg.chars()
                .any(|c| c == '\u{1b}' || c == '\u{202e}' || c == '\u{0}')
        );
    }
}

#[test]
fn numbers_that_are_none_are_left_out() {
    let mut rows = typical();
    rows[0].gbps = Some(f64::NAN);
    rows[1].t_q1_s = Some(f64::INFINITY);
    check("ladder", &ladder(&rows).unwrap());
    let mut points = studied();
    (points[0].value, points[1].noise, points[2].noise) =
        (Some(f64::NAN), Some(f64::INFINITY), Some(f64::NAN));
    check("experiment", &experiment(&points, "", "So.").unwrap());
}

#[test]
fn what_cannot_be_drawn_says_why() {
    let none: Vec<Row> = typical()
        .into_iter()
        .map(|row| Row {
            t_median_s: None,
            ..row
        })
        .collect();
    for (drawn, why) in [
        (ladder(&none), "no rung has a time"),
        (
            roofline(std::slice::from_ref(&none), &[]),
            "no rung has operations",
        ),
        (sweep(&none), "no row has a time"),
        (sweep(&typical()[..1]), "two work-items of a group or more"),
        (size(&typical(), &[]), "two elements n or more"),
        (experiment(&[], "", ""), "no point has a value"),
    ] {
        assert!(drawn.as_ref().is_err_and(|e| e.contains(why)), "{drawn:?}");
    }
}
