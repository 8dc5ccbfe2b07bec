use super::*;
use crate::record::Row;
use serde_json::json;

/// A row of a rung with these quartiles in microseconds.
fn row(variant: &str, [q1, median, q3]: [f64; 3]) -> Row {
    let text =
        |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), json!(""))).collect::<serde_json::Map<_, _>>();
    let mut row =
        text(&["run_id", "time_utc", "gpulab", "driver", "cl_version", "wg", "params", "reason", "ceiling", "flags"]);
    let known = json!({
        "schema": crate::record::SCHEMA, "platform": "P", "device": "D", "family": "dot", "rung": 1, "variant": variant,
        "dtype": "f32", "n": 1000, "m": 1, "cache": "warm", "clock": "event", "status": "ok", "runs": 100,
        "t_q1_s": q1 * 1e-6, "t_median_s": median * 1e-6, "t_q3_s": q3 * 1e-6,
    });
    row.extend(known.as_object().unwrap().clone());
    serde_json::from_value(row.into()).unwrap()
}

/// A steady one, half a per cent wide.
fn steady(variant: &str, median: f64) -> Row {
    row(variant, [0.9975 * median, median, 1.0025 * median])
}

fn verdicts(before: &[Row], after: &[Row]) -> Vec<SpeedVerdict> {
    compare(before, after, 0.02).pairs.iter().map(|pair| pair.verdict).collect()
}

#[test]
fn a_change_counts_where_it_is_larger_than_the_noise() {
    let of = |after: f64| verdicts(&[steady("a", 100.0)], &[steady("a", after)]);
    assert_eq!(of(103.0), [SpeedVerdict::Slower]);
    assert_eq!(of(97.0), [SpeedVerdict::Faster]);
    assert_eq!(of(101.0), [SpeedVerdict::Undecided]);
    let noisy = |median: f64| row("a", [0.95 * median, median, 1.05 * median]);
    assert_eq!(verdicts(&[noisy(100.0)], &[noisy(103.0)]), [SpeedVerdict::Undecided]);
    assert_eq!(verdicts(&[noisy(100.0)], &[noisy(150.0)]), [SpeedVerdict::Slower]);
    let equal = |median| row("a", [median; 3]);
    assert_eq!(verdicts(&[equal(100.0)], &[equal(100.0)]), [SpeedVerdict::Same], "clocks have steps");
    assert_eq!(verdicts(&[equal(100.0)], &[equal(100.5)]), [SpeedVerdict::Same]);
    assert_eq!(verdicts(&[equal(100.0)], &[equal(101.5)]), [SpeedVerdict::Slower]);
}

#[test]
fn several_runs_of_the_program_say_themselves_how_far_they_can_be_repeated() {
    let runs = |median: f64, step: f64| [-1.0, 0.0, 1.0, 0.5, -0.5].map(|k| steady("a", median * (1.0 + k * step)));
    // Steady within a run, but ten per cent apart from run to run.
    assert_eq!(verdicts(&runs(100.0, 0.1), &runs(106.0, 0.1)), [SpeedVerdict::Undecided]);
    assert_eq!(verdicts(&runs(100.0, 0.001), &runs(102.0, 0.001)), [SpeedVerdict::Slower]);
    assert_eq!(verdicts(&runs(100.0, 0.001), &runs(100.1, 0.001)), [SpeedVerdict::Same]);
}

#[test]
fn what_was_measured_otherwise_is_undecided() {
    let slow = steady("a", 200.0);
    let by_wall = Row { clock: crate::runner::Clock::Wall, ..slow.clone() };
    let drifting = Row { flags: "noisy drift".into(), ..slow.clone() };
    let why = |after: &Row| {
        let pair = compare(&[steady("a", 100.0)], std::slice::from_ref(after), 0.02).pairs.remove(0);
        (pair.verdict, pair.why_not)
    };
    let on_host = |median| Row { platform: crate::record::HOST.into(), rung: None, ..steady("a", median) };
    let once = compare(&[on_host(100.0)], &[on_host(200.0)], 0.02).pairs.remove(0);
    assert_eq!((once.verdict, once.why_not), (SpeedVerdict::Undecided, Some(WhyNot::Unwatched)));
    let often = |median: f64| [0.99, 1.0, 1.01].map(|factor| on_host(factor * median));
    assert_eq!(verdicts(&often(100.0), &often(200.0)), [SpeedVerdict::Slower]);
    assert_eq!(why(&slow), (SpeedVerdict::Slower, None));
    assert_eq!(why(&by_wall), (SpeedVerdict::Undecided, Some(WhyNot::Clocks)));
    assert_eq!(why(&drifting), (SpeedVerdict::Undecided, Some(WhyNot::Unsteady)));
    // Twice the time is more than a device makes that was 1.5 times slower, and less than one of 2.5.
    let by = |canary| Row { canary: Some(canary), ..drifting.clone() };
    assert_eq!(why(&by(1.5)), (SpeedVerdict::Slower, None));
    assert_eq!(why(&by(2.5)), (SpeedVerdict::Undecided, Some(WhyNot::Unsteady)));
}

#[test]
fn cases_are_matched_by_what_they_compute_and_by_settings_where_there_are_several() {
    let with = |wg: &str, median: f64| Row { wg: wg.into(), ..steady("a", median) };
    // A default that changed is the same case.
    let one = compare(&[with("128", 100.0)], &[with("256", 50.0)], 0.02);
    assert_eq!(
        (one.pairs.len(), one.pairs[0].verdict, one.pairs[0].has_other_settings()),
        (1, SpeedVerdict::Faster, true)
    );
    let sweep = [with("64", 100.0), with("128", 50.0), with("256", 25.0)];
    let other = [with("256", 25.0), with("64", 200.0), with("512", 10.0)];
    let both = compare(&sweep, &other, 0.02);
    let matched: Vec<_> = both.pairs.iter().map(|pair| (pair.before.wg.as_str(), pair.verdict)).collect();
    assert_eq!(matched, [("64", SpeedVerdict::Slower), ("256", SpeedVerdict::Same)]);
    assert_eq!((both.only_before, both.only_after), (1, 1));
    let failed = Row { status: crate::runner::Status::Failed, t_median_s: None, ..steady("a", 1.0) };
    let lost = compare(&[steady("a", 1.0), steady("b", 1.0)], &[failed, steady("b", 1.0)], 0.02);
    assert_eq!((lost.pairs.len(), lost.only_before, lost.only_after), (1, 1, 0));
    let larger = Row { n: 2000, ..steady("a", 1.0) };
    assert!(compare(&[steady("a", 1.0)], &[larger], 0.02).pairs.is_empty());
}

/// Medians and quartiles of runs whose times are drawn from a distribution with a tail to the right, and whose level differs
/// from run to run by as much as the times within one.
fn drawn(seed: u64, factor: f64, sd: f64) -> Row {
    let uniform = |k: u64| (crate::data::draw(seed, k) >> 11) as f64 / (1u64 << 53) as f64;
    let normal = |k: u64| (0..12).map(|i| uniform(100 * k + i)).sum::<f64>() - 6.0;
    let level = factor * (sd * normal(0)).exp();
    let times: Vec<f64> = (1..=60).map(|k| level * (sd * normal(k)).exp() * 1e-4).collect();
    let times = crate::stats::summarise(&times).unwrap();
    Row { runs: 60, ..row("a", [times.q1 * 1e6, times.median * 1e6, times.q3 * 1e6]) }
}

#[test]
fn the_same_is_hardly_ever_called_changed_and_a_change_of_five_per_cent_is_seen() {
    let called = |factor: f64, sd: f64| {
        let changed = |seed: &u64| {
            let verdict = verdicts(&[drawn(2 * seed, 1.0, sd)], &[drawn(2 * seed + 1, factor, sd)])[0];
            matches!(verdict, SpeedVerdict::Slower | SpeedVerdict::Faster)
        };
        (1..=2000).filter(changed).count()
    };
    for sd in [0.002, 0.01, 0.05] {
        assert!(called(1.0, sd) < 20, "{sd}: {} of 2000", called(1.0, sd));
    }
    assert!(called(1.05, 0.005) > 1800, "{}", called(1.05, 0.005));
}

#[test]
fn noise_says_what_could_be_seen_and_how_long_to_look() {
    let rounds = |step: f64| [-1.0, 0.0, 1.0, 0.5, -0.5].map(|k| steady("a", 100.0 * (1.0 + k * step)));
    let noise = |step: f64| Noise::of(&rounds(step), &rounds(step)).unwrap();
    assert_eq!(noise(0.001).verdict(0.02), SpeedVerdict::Same);
    assert_eq!(noise(0.1).verdict(0.02), SpeedVerdict::Undecided);
    let loud = noise(0.02);
    assert!(noise(0.001).rounds_for(0.01) < loud.rounds_for(0.01));
    assert!(loud.rounds_for(0.1) < loud.rounds_for(0.01));
    assert!(Noise::of(&rounds(0.01)[..2], &rounds(0.01)).is_none());
    // After as many rounds as it names, such a difference is a change; after fewer it is none.
    let half = |rounds: usize| RatioInterval::half_of_rounds(loud.spread, rounds);
    let needed = loud.rounds_for(0.05);
    assert!(needed > 3 && half(needed) <= 1.05f64.ln() && half(needed - 1) > 1.05f64.ln());
}

#[test]
fn eight_times_the_rows_take_far_less_than_sixty_four_times_as_long() {
    let seconds = |count: u64, settings: bool| {
        let one = |i: u64| {
            if settings { Row { wg: i.to_string(), ..steady("a", 1.0) } } else { Row { n: i, ..steady("a", 1.0) } }
        };
        let rows: Vec<Row> = (0..count).map(one).collect();
        let once = |_| {
            let began = std::time::Instant::now();
            assert_eq!(compare(&rows, &rows, 0.02).pairs.len() as u64, count);
            began.elapsed().as_secs_f64()
        };
        (0..5).map(once).fold(f64::INFINITY, f64::min)
    };
    for settings in [false, true] {
        let (few, many) = (seconds(1000, settings), seconds(8000, settings));
        assert!(many < 32.0 * few, "{few} s and {many} s");
    }
}

#[test]
fn steps_stand_side_by_side_for_each_device_at_a_size_that_all_have() {
    let on = |device: &str, rung: u32, n: u64, median: f64| Row {
        device: device.into(),
        rung: Some(rung),
        n,
        ..steady(["", "a", "b", "c"][rung as usize], median)
    };
    let rows = [
        on("X", 1, 1000, 8.0),
        on("X", 2, 1000, 4.0),
        on("X", 1, 4000, 30.0),
        on("Y", 1, 1000, 9.0),
        on("Y", 2, 1000, 18.0),
        on("Y", 3, 1000, 6.0),
        on("Z", 1, 1000, 1.0),
    ];
    let ladders = steps(&rows[..6]);
    let [ladder] = ladders.as_slice() else { panic!("{ladders:?}") };
    assert!(ladder.devices.iter().all(|device| device.n == 1000));
    let gains = |(_, _, gains): &(u32, String, Vec<Option<RatioInterval>>)| {
        gains.iter().map(|gain| gain.map(|gain| (100.0 * gain.ratio).round())).collect::<Vec<_>>()
    };
    let all: Vec<_> = ladder.rungs.iter().map(gains).collect();
    assert_eq!(all, [[None, None], [Some(200.0), Some(50.0)], [None, Some(300.0)]]);
    assert!(steps(&rows[..3]).is_empty(), "one device alone");
    assert_eq!(steps(&rows).len(), 1);
}
