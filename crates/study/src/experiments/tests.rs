//! Every experiment: names, plans, and what its claims come to on made-up devices.

use super::*;
use gpulab_model::outcome::{Status, fake_info};
use gpulab_model::plan::{REPEATS, TOLD};

type Values = fn(&str, f64) -> f64;

/// The points of a plan on a GPU on which a series has `value(series, x)`; without a number they are skipped.
fn points_of(name: &str, noise: f64, value: impl Fn(&str, f64) -> f64) -> Vec<Point> {
    let experiment = experiment(name).unwrap();
    let target = Target {
        gpu: true,
        register_caps: true,
        ..fake_info().target
    };
    let point = |t: Trial| {
        let value = value(&t.series, t.x);
        let mut point = gpulab_record::point(&t.series, 1, value, noise);
        (point.x, point.metric, point.unit) = (t.x, t.metric.name.into(), t.metric.unit.into());
        if !value.is_finite() {
            (point.status, point.value) = (Status::Skipped, None);
        }
        point
    };
    experiment
        .plan(&Scope {
            target: &target,
            quick: false,
            seed: 1,
        })
        .into_iter()
        .map(point)
        .collect()
}

fn finding(name: &str, noise: f64, value: impl Fn(&str, f64) -> f64) -> String {
    experiment(name)
        .unwrap()
        .finding(&points_of(name, noise, value))
}

fn alike(_: &str, _: f64) -> f64 {
    4.0
}

fn banked(series: &str, stride: f64) -> f64 {
    match stride % 2.0 == 1.0 || stride == 0.0 || series.ends_with("permuted") {
        true => 100.0,
        false => 100.0 / stride.min(if series.starts_with('8') { 16.0 } else { 32.0 }),
    }
}

fn diverging(series: &str, g: f64) -> f64 {
    match series {
        "all the first branch" => 100.0,
        "all both branches" => 198.0,
        _ if g < 32.0 => 199.0,
        _ => 101.0,
    }
}

fn levels(series: &str, bytes: f64) -> f64 {
    match series {
        "dependent" if bytes >= 1048576.0 => 200.0,
        "dependent" => 20.0,
        "clock, as stated" => 1.98,
        _ => 2.0,
    }
}

fn kept(series: &str, bytes: f64) -> f64 {
    if series.starts_with("4 chains") || bytes < 8000.0 {
        100.0
    } else {
        50.0
    }
}

/// What is told where there is an effect, and where there is none.
const ANSWERS: [(&str, Values, &str, Values, &str); 13] = [
    (
        "banks",
        banked,
        "local memory has 32 banks of 4 bytes",
        alike,
        "no doubling of the stride from 1 to 64 costs much",
    ),
    (
        "constant",
        |_, addresses| 40.0 / addresses,
        "compared with one, all are 32.0 times slower",
        alike,
        "no path of its own",
    ),
    (
        "divergence",
        diverging,
        "from g = 32 on, so that 32 items run in lockstep",
        one_way,
        "no lockstep shows",
    ),
    (
        "group",
        |_, wg| wg / (wg / 32.0).ceil(),
        "Sizes off the multiple of 32 cost",
        alike,
        "no idle lanes show",
    ),
    (
        "group",
        |_, wg| wg / (wg / 8.0).ceil(),
        "Sizes off the multiple of 8 cost",
        alike,
        "reached: everywhere",
    ),
    (
        "grid",
        |_, groups| groups / (groups / 2.0).ceil(),
        "but up to 25 % slower (groups = 3)",
        alike,
        "no tail shows",
    ),
    (
        "latency",
        levels,
        "20.0 ns from 4 KiB to 512 KiB, 200 ns from 1 MiB to 512 MiB",
        alike,
        "throughput was measured",
    ),
    (
        "occupancy",
        kept,
        "4 chains, groups of 64 everywhere",
        alike,
        "is kept: everywhere",
    ),
    (
        "overlap",
        overlapping,
        "on 4 queues up to 2.00 times as fast (chunks = 2): stages overlap",
        alike,
        "no overlap shows",
    ),
    (
        "pitch",
        camping,
        "padded rows are up to 1.60 times as fast (n = 1024): rows collide",
        alike,
        "no rows collide",
    ),
    (
        "rounding",
        |_, x| x,
        "errors of 0.00000100 to 0.00000800 by one item",
        alike,
        "0.00000400 by one item",
    ),
    (
        "stride",
        |_, stride| 100.0 / stride.min(8.0),
        "a segment has 32 bytes",
        alike,
        "no doubling of the stride from 1 to 64 costs much",
    ),
    (
        "zerocopy",
        copied,
        "with the device's own, is as fast (to within 2 %): both",
        alike,
        "first, is as fast (to within 2 %)",
    ),
];

fn one_way(series: &str, _: f64) -> f64 {
    if series == "all both branches" {
        198.0
    } else {
        100.0
    }
}

fn overlapping(series: &str, chunks: f64) -> f64 {
    if series.ends_with("queues") && chunks > 1.0 {
        50.0
    } else {
        100.0
    }
}

fn camping(series: &str, n: f64) -> f64 {
    if (n as u64).is_power_of_two() && !series.ends_with("+32") {
        50.0
    } else {
        80.0
    }
}

fn copied(series: &str, _: f64) -> f64 {
    if series.starts_with("copied") {
        4.0
    } else {
        40.0
    }
}

#[test]
fn effects_and_their_absence_are_told_and_noise_decides_nothing() {
    for (name, effect, said, none, nothing) in ANSWERS {
        let told = finding(name, 0.01, effect);
        assert!(told.contains(said), "{name}: {told}");
        let told = finding(name, 0.01, none);
        assert!(told.contains(nothing), "{name}: {told}");
        assert!(!told.contains("undecided"), "{name}: {told}");
        let noisy = finding(name, 0.6, none);
        let is_undecided =
            noisy.contains("% cannot be seen)") && noisy.contains("A quieter machine");
        assert_eq!(is_undecided, name != "rounding", "{name}: {noisy}");
        let mut points = points_of(name, 0.0, none);
        points.iter_mut().for_each(|point| point.runs = Some(2));
        let few = experiment(name).unwrap().finding(&points);
        assert_eq!(
            few.contains("undecided"),
            name != "rounding",
            "two runs have no spread: {few}"
        );
    }
}

#[test]
fn lone_points_and_failed_controls_show_no_rule() {
    for lone in [1.0, 64.0, 1024.0] {
        let told = finding("divergence", 0.01, |series, g| match series {
            "chosen by (id / g) % 2" if g == lone => 199.0,
            series => one_way(series, g),
        });
        assert!(
            !told.contains("lockstep") && told.contains(&format!("g = {lone}")),
            "{told}"
        );
    }
    let told = finding("divergence", 0.01, |series, _| {
        if series == "all both branches" {
            110.0
        } else {
            100.0
        }
    });
    assert_eq!(
        told,
        "No conclusion: the speed of both branches beside one is at 91 %, 91 %, and ought to be from 38 % to 77 %."
    );
    let told = finding(
        "divergence",
        0.01,
        |series, g| if g == 1.0 { 2.0 } else { 1.0 } * one_way(series, g),
    );
    assert!(
        told.contains("No conclusion: the speed of one branch in long runs"),
        "{told}"
    );
    // A cache's knee: an odd stride is as slow as the even ones.
    let told = finding("banks", 0.01, |_, stride| 200.0 / stride.clamp(1.0, 16.0));
    assert!(
        told.contains("doublings that cost follow no rule") && !told.contains("banks"),
        "{told}"
    );
    for speeds in [
        [64.0, 32.0, 31.0, 15.0, 14.0, 13.0, 12.0],
        [64.0, 32.0, 16.0, 8.0, 40.0, 39.0, 38.0],
    ] {
        let told = finding("stride", 0.01, |_, stride| speeds[stride.log2() as usize]);
        assert!(
            told.contains("follow no rule") && !told.contains("a segment has"),
            "{told}"
        );
    }
    let mut points = points_of("stride", 0.01, |_, stride| 100.0 / stride.min(8.0));
    points.retain(|p| p.x != 4.0);
    assert!(
        !experiment("stride")
            .unwrap()
            .finding(&points)
            .contains("a segment has")
    );
}

/// Of one point of each series nothing is told that all of them would show.
#[test]
fn one_point_of_each_series_shows_no_rule() {
    for (name, .., none, nothing) in ANSWERS {
        let mut points = points_of(name, 0.01, none);
        let mut seen = Vec::new();
        points.retain(|p| {
            let is_first = !seen.contains(&p.series);
            seen.push(p.series.clone());
            is_first
        });
        let told = experiment(name).unwrap().finding(&points);
        let is_of_places = ["constant", "pitch", "rounding", "zerocopy"].contains(&name);
        assert!(is_of_places || !told.contains(nothing), "{name}: {told}");
    }
}

#[test]
fn mixed_answers_name_their_places() {
    let told = finding("image", 0.01, |series, way| {
        if series == "2D image" && way > 0.0 {
            8.0
        } else {
            4.0
        }
    });
    assert!(
        told.contains(
            "a 1D image and a 3D image are as fast (to within 2 %); a 2D image is up to 2.00 times as fast (way = down columns)"
        ),
        "{told}"
    );
    let told = finding("ilp", 0.02, |series, items| {
        if series == "1 chain" {
            items.min(512.0)
        } else {
            512.0
        }
    });
    assert!(
        told.contains(
            "reached: with 1 chain from items = 512 on; with 2 chains and with 4 chains and with 8 chains everywhere"
        ),
        "{told}"
    );
    let told = finding("lockstep", 0.0, |series, _| {
        if series == "synchronised" { 0.0 } else { 5.0 }
    });
    assert!(
        told.ends_with(
            "were wrong: 5 % without synchronisation; 5 % with volatile; 0 % synchronised."
        ),
        "{told}"
    );
    let told = finding("launch", 0.01, |series, n| {
        if series.contains("log2") && n < 100_000.0 {
            8.0
        } else {
            4.0
        }
    });
    assert!(told.contains("is up to 2.00 times slower (n = 256). Many launches take at most 1.1 times as long as one: from n = 262144 on."), "{told}");
    let mut points = points_of("image", 0.01, alike);
    points
        .iter_mut()
        .filter(|p| p.x == 7.0)
        .for_each(|p| (p.status, p.value) = (Status::WrongResult, None));
    let told = experiment("image").unwrap().finding(&points);
    assert!(told.ends_with("in 10 of 12 modes that were checked, but not in: repeat (nearest, normalised); repeat (linear, normalised)."), "{told}");
}

#[test]
fn why_nothing_follows() {
    for experiment in EXPERIMENTS {
        assert_eq!(
            experiment.finding(&[]),
            "Nothing was measured.",
            "{}",
            experiment.name
        );
    }
    let told = |status| {
        let mut points = points_of("stride", 0.01, alike);
        points.iter_mut().for_each(|point| point.status = status);
        experiment("stride").unwrap().finding(&points)
    };
    assert_eq!(
        told(Status::WrongResult),
        "No point has a value: every result was wrong."
    );
    assert_eq!(
        told(Status::Skipped),
        "No point has a value: all were skipped."
    );
}

#[test]
fn names_are_single_words_in_order_and_questions_are_questions() {
    let names: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for experiment in EXPERIMENTS {
        assert!(
            experiment.name.chars().all(|c| c.is_ascii_lowercase()) && experiment.name != "all"
        );
        assert!(
            experiment.question.ends_with('?') && !experiment.question.contains('\n'),
            "{}",
            experiment.name
        );
    }
}

/// What heads the columns of a table: a series, or, where some series holds several kinds of values, an x and a metric.
#[test]
fn plans_have_each_point_once_run_what_there_is_and_have_one_unit_a_column() {
    let target = fake_info().target;
    let targets = [
        Target {
            gpu: true,
            register_caps: true,
            ..target.clone()
        },
        target,
    ];
    for (experiment, target) in EXPERIMENTS
        .iter()
        .flat_map(|e| targets.iter().map(move |target| (e, target)))
    {
        for quick in [false, true] {
            let plan = experiment.plan(&Scope {
                target,
                quick,
                seed: 7,
            });
            let name = experiment.name;
            assert!(!plan.is_empty(), "{name}");
            let all = experiment.sources();
            for (i, trial) in plan.iter().enumerate() {
                let is_twice = plan[..i].iter().any(|t| {
                    (&t.series, t.x, t.metric.name) == (&trial.series, trial.x, trial.metric.name)
                });
                assert!(!is_twice, "{trial:?}");
                let Case {
                    family,
                    variant,
                    params,
                    ..
                } = &trial.case;
                let is_exchange = exchange(family).is_some_and(|e| e.clock(variant).is_some());
                let family = kernels::built_in(family).filter(|f| f.rung(variant).is_some());
                assert!(is_exchange || family.is_some(), "{trial:?}");
                let tunables = family.map(kernels::Family::tunables).unwrap_or_default();
                let is_known = |name: &str| {
                    [TOLD, REPEATS].contains(&name) || tunables.iter().any(|t| t.name == name)
                };
                assert!(
                    is_exchange || params.keys().all(|name| is_known(name)),
                    "{trial:?}"
                );
                assert_eq!(trial.case.seed, 7);
                assert!(
                    gpulab_record::si(trial.metric.unit).is_some(),
                    "{}",
                    trial.metric.unit
                );
                assert!(
                    files_of(&trial.case)
                        .iter()
                        .all(|path| all.contains(path) && kernels::text(path).is_some())
                );
            }
            let alike = |is_alike: fn(&Trial, &Trial) -> bool| {
                let pairs = plan.iter().flat_map(|a| plan.iter().map(move |b| (a, b)));
                pairs
                    .filter(|(a, b)| is_alike(a, b))
                    .all(|(a, b)| a.metric.unit == b.metric.unit)
            };
            assert!(
                alike(|a, b| a.metric.name == b.metric.name),
                "{name}: a metric has two units"
            );
            let by_x = alike(|a, b| a.x == b.x && a.metric.name == b.metric.name);
            assert!(
                by_x || alike(|a, b| a.series == b.series),
                "{name}: no columns of one unit"
            );
        }
    }
}
