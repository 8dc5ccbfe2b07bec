//! The three answers of a finding, for every experiment: an effect with its size, none beyond a resolution, or undecided.

use super::tests::points_of;
use super::*;

type Values = fn(&str, f64) -> f64;

/// Made-up values of an experiment's series: some with an effect and some with none, and what is then said.
struct Answers {
    experiment: &'static Experiment,
    effect: (Values, &'static str),
    none: (Values, &'static str),
    /// Whether noise can hide the answer: not where results are counted or exact.
    is_timed: bool,
}

const fn timed(
    experiment: &'static Experiment,
    effect: (Values, &'static str),
    none: (Values, &'static str),
) -> Answers {
    Answers { experiment, effect, none, is_timed: true }
}

const ALL: &[Answers] = &[
    timed(
        &banks::BANKS,
        (
            |series, stride| {
                if stride % 2.0 == 1.0 || stride == 0.0 || series.ends_with("permuted") {
                    100.0
                } else {
                    100.0 / stride.min(32.0)
                }
            },
            "has 32 banks",
        ),
        (alike, "stride 32 is as fast as stride 1 (to within 2 %)"),
    ),
    timed(
        &camping::CAMPING,
        (|series, pitch| if series == "down columns" && pitch > 1000.0 { 10.0 } else { 40.0 }, "sets. For"),
        (alike, "changes the speed by less than 2 %"),
    ),
    timed(&constant::CONSTANT, (|_, addresses| 40.0 / addresses, "32.0 times slower"), (alike, "(to within 2 %)")),
    timed(
        &divergence::DIVERGENCE,
        (diverges, "32 items run in lockstep"),
        (|series, _| if series == "all both branches" { 198.0 } else { 100.0 }, "at most 2 % longer"),
    ),
    timed(
        &grid::GRID,
        (|_, groups| groups / (groups / 2.0).ceil(), "3 groups run at 75 %"),
        (alike, "never costs more than 5 % of the rate"),
    ),
    timed(
        &group::GROUP,
        (|_, wg| wg / (wg / 32.0).ceil(), "Sizes off the multiple of 32 cost"),
        (alike, "to within 10 %: no idle lanes"),
    ),
    timed(&ilp::ILP, (chains, "With 1 chain even 1024 items reach 25 %"), (alike, "takes 32 items with 1 chain")),
    timed(
        &image::IMAGE,
        (|series, _| if series == "buffer" { 10.0 } else { 20.0 }, "faster along rows (2.00 times)"),
        (alike, "in every order (to within 2 %)"),
    ),
    timed(
        &instructions::INSTRUCTIONS,
        (|series, _| if series == "int div" { 1.0 } else { 32.0 }, "int div, takes 32.0 times"),
        (alike, "no function is more than 2 %"),
    ),
    timed(
        &intensity::INTENSITY,
        (|_, intensity| if intensity <= 8.0 { 100.0 } else { 800.0 / intensity }, "the limit up to 8 operations"),
        (alike, "as loading it (to within 2 %)"),
    ),
    timed(
        &latency::LATENCY,
        (levels, "from 1 MiB on"),
        (|series, _| if series == "dependent" || series == "local" { 20.0 } else { 2.0 }, "no other level shows"),
    ),
    timed(
        &launch::LAUNCH,
        (|series, _| if series.contains("log2") { 8.0 } else { 4.0 }, "up to 2.00 times as long"),
        (alike, "take equally long (to within 2 %)"),
    ),
    Answers {
        experiment: &lockstep::LOCKSTEP,
        effect: (|series, _| if series == "synchronised" { 0.0 } else { 5.0 }, "up to 5 % of the sums are wrong"),
        none: (|_, _| 0.0, "proves nothing"),
        is_timed: false,
    },
    timed(
        &occupancy::OCCUPANCY,
        (|_, bytes| 1e6 / bytes, "bandwidth falls to"),
        (alike, "No slowdown over 10 % shows"),
    ),
    timed(
        &offset::OFFSET,
        (|_, offset| if offset % 8.0 == 0.0 { 5.0 } else { 4.0 }, "up to 20 % slower"),
        (alike, "lose less than 2 % at any offset"),
    ),
    timed(&overlap::OVERLAP, (overlaps, "times as fast"), (in_turn, "no overlap over 4 % of the shorter one")),
    timed(
        &pitch::PITCH,
        (
            |series, n| if (n as u64).is_power_of_two() && !series.ends_with("+32") { 50.0 } else { 80.0 },
            "makes it up to 1.60 times as fast",
        ),
        (alike, "by less than 2 %"),
    ),
    timed(
        &presum::PRESUM,
        (
            |series, rest| if series.starts_with("device") && rest > 0.0 { 18.0 } else { 10.0 },
            "device takes up to 1.80 times",
        ),
        (alike, "cost less than 2 %"),
    ),
    timed(
        &registers::REGISTERS,
        (|_, values| if values > 64.0 { 10.0 } else { 100.0 }, "20 % of it is lost at 96"),
        (|_, values| 100.0 - values / 100.0, "at least 80 % of it is kept"),
    ),
    Answers {
        experiment: &rounding::ROUNDING,
        effect: (|_, x| x, "errors of 1.00e-6 to 8.00e-6"),
        none: (alike, "errors of 4.00e-6 to 4.00e-6"),
        is_timed: false,
    },
    timed(
        &stride::STRIDE,
        (|_, stride| 100.0 / stride.min(8.0), "a segment has 32 bytes"),
        (alike, "as at stride 1 (to within 2 %)"),
    ),
    timed(
        &transfer::TRANSFER,
        (|series, _| if series.starts_with("pinned") { 20.0 } else { 5.0 }, "4.00 times as fast as pageable"),
        (alike, "pageable memory (to within 2 %)"),
    ),
    timed(
        &vector::VECTOR,
        (|_, width| 4.0 * width, "float16 is 16.0 times as fast"),
        (alike, "no faster than float (at most 2 %)"),
    ),
    timed(
        &zerocopy::ZERO_COPY,
        (|series, _| if series.starts_with("copied") { 4.0 } else { 40.0 }, "10.0 times slower than copying"),
        (alike, "copying them first (to within 2 %)"),
    ),
];

fn alike(_: &str, _: f64) -> f64 {
    4.0
}

fn diverges(series: &str, g: f64) -> f64 {
    match series {
        "all the first branch" => 100.0,
        "all both branches" => 198.0,
        _ if g < 32.0 => 199.0,
        _ => 101.0,
    }
}

fn chains(series: &str, _: f64) -> f64 {
    let chains = series.split(' ').next().and_then(|word| word.parse::<f64>().ok());
    chains.map_or(2.0, |chains| 4.0 * chains.min(4.0))
}

fn levels(series: &str, bytes: f64) -> f64 {
    match series {
        "dependent" if bytes >= 1048576.0 => 200.0,
        "dependent" => 20.0,
        _ => 2.0,
    }
}

fn overlaps(series: &str, chunks: f64) -> f64 {
    match series {
        "1 queue" if chunks == 1.0 => 3000.0,
        _ => 1000.0 + 200.0 / chunks,
    }
}

fn in_turn(series: &str, _: f64) -> f64 {
    match series {
        _ if series.contains("queue") => 3000.0,
        _ if series.contains("beside") => 2000.0,
        _ => 1000.0,
    }
}

/// The finding of values with this relative spread.
fn finding(experiment: &Experiment, values: Values, noise: f64) -> String {
    experiment.finding(&points_of(experiment, true, noise, values))
}

/// Whether a text tells a speed as a part of another, as in `0.04 times`.
fn has_inverse_factor(text: &str) -> bool {
    text.match_indices(" times").any(|(end, _)| {
        let factor = text[..end].rsplit(' ').next().unwrap_or("").trim_start_matches('(');
        factor.parse::<f64>().is_ok_and(|factor| factor < 0.995)
    })
}

#[test]
fn every_experiment_has_three_answers() {
    let names: Vec<&str> = ALL.iter().map(|answers| answers.experiment.name).collect();
    assert_eq!(names, EXPERIMENTS.iter().map(|e| e.name).collect::<Vec<_>>());
    for Answers { experiment, effect, none, is_timed } in ALL {
        let name = experiment.name;
        let [said, nothing] = [effect, none].map(|(values, _)| finding(experiment, *values, 0.01));
        assert!(said.contains(effect.1), "{name}: {said}");
        assert!(nothing.contains(none.1), "{name}: {nothing}");
        assert_ne!(said, nothing, "{name}");
        assert!(!nothing.contains("undecided"), "{name}: {nothing}");
        let noisy = finding(experiment, none.0, 0.6);
        let is_undecided =
            noisy.contains("undecided: differences under 1") && noisy.contains("% cannot be seen in this run");
        assert_eq!(is_undecided, *is_timed, "{name}: {noisy}");
        assert_eq!(noisy.contains("measure again on a quieter machine"), *is_timed, "{name}: {noisy}");
        for text in [said, nothing, noisy] {
            assert!(!has_inverse_factor(&text), "{name}: {text}");
        }
    }
}

#[test]
fn values_of_one_or_two_runs_decide_only_what_is_large() {
    for Answers { experiment, effect, none, is_timed } in ALL {
        let few = |values: Values| {
            let mut points = points_of(experiment, true, 0.0, values);
            points.iter_mut().for_each(|point| point.runs = Some(2));
            experiment.finding(&points)
        };
        assert_eq!(few(none.0).to_lowercase().contains("undecided"), *is_timed, "{}: {}", experiment.name, few(none.0));
        assert!(!has_inverse_factor(&few(effect.0)), "{}", experiment.name);
    }
}

#[test]
fn factors_below_one_are_found() {
    assert!(has_inverse_factor("at 0.04 times the speed") && has_inverse_factor("x (0.50 times)"));
    assert!(!has_inverse_factor("25.0 times slower, 1.00 times, many times"));
}

/// One point of each series shows no rule: not the one that all of them would.
#[test]
fn one_point_of_each_series_shows_no_rule() {
    /// Those that tell a comparison at a named place, or of what has no x to vary, and no rule.
    const OF_PLACES: [&str; 9] =
        ["camping", "constant", "launch", "lockstep", "overlap", "pitch", "rounding", "transfer", "zerocopy"];
    /// Whose rule is a threshold, of which the least that was measured is one.
    const THRESHOLDS: [&str; 1] = ["ilp"];
    for Answers { experiment, none, .. } in ALL {
        let mut seen = Vec::new();
        let mut points = points_of(experiment, true, 0.01, none.0);
        points.retain(|p| {
            let is_first = !seen.contains(&p.series);
            seen.push(p.series.clone());
            is_first
        });
        let few = experiment.finding(&points);
        let is_exempt = OF_PLACES.iter().chain(&THRESHOLDS).any(|name| *name == experiment.name);
        assert!(is_exempt || !few.contains(none.1), "{}: {few}", experiment.name);
    }
}
