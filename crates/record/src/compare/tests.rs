use super::*;
use crate::Row;
use gpulab_model::plan::WorkGroup;

/// A row of a rung with these quartiles in microseconds.
fn row(variant: &str, quartiles: [f64; 3]) -> Row {
    let [t_q1_s, t_median_s, t_q3_s] = quartiles.map(|us| Some(us * 1e-6));
    Row { n: 1000, runs: 100, t_q1_s, t_median_s, t_q3_s, flags: crate::Flags::default(), ..crate::row(variant) }
}

/// A steady one, half a per cent wide.
fn steady(variant: &str, median: f64) -> Row {
    row(variant, [0.9975 * median, median, 1.0025 * median])
}

/// So many runs, each of its own process, whose medians are a share of `step` apart from one to the next.
fn runs(count: u32, median: f64, step: f64) -> Vec<Row> {
    let one = |k: u32| {
        let away = f64::from(k) - f64::from(count - 1) / 2.0;
        Row { run_id: format!("{median}-{k}"), ..steady("a", median * (1.0 + away * step)) }
    };
    (0..count).map(one).collect()
}

/// What comparisons take of rows, for as long as the tests run.
fn of(rows: &[Row]) -> &'static [CaseRun] {
    super::runs(rows).leak()
}

fn only(before: &[Row], after: &[Row]) -> ComparedCase<'static> {
    let mut pairs = compare(of(before), of(after), 0.02).pairs;
    assert_eq!(pairs.len(), 1);
    pairs.remove(0)
}

fn verdict(before: &[Row], after: &[Row]) -> SpeedVerdict {
    only(before, after).verdict
}

#[test]
fn fewer_than_six_runs_of_a_side_decide_nothing_however_far_apart_they_are() {
    for count in 1..FEWEST as u32 {
        let before = runs(count, 100.0, 0.001);
        let after = runs(count, 1000.0, 0.001);
        let case = only(&before, &after);
        assert_eq!((case.verdict, case.interval), (SpeedVerdict::Undecided, None), "{count}");
        assert_eq!(case.more_runs, Some(FEWEST - count as usize), "{count}");
        assert_eq!(case.reason(), "6 runs of each side are needed");
    }
    assert_eq!(verdict(&runs(6, 100.0, 0.001), &runs(6, 1000.0, 0.001)), SpeedVerdict::Slower);
}

#[test]
fn a_change_counts_where_it_is_larger_than_runs_differ() {
    let of = |after: f64, step: f64| verdict(&runs(6, 100.0, step), &runs(6, after, step));
    assert_eq!(of(103.0, 0.002), SpeedVerdict::Slower);
    assert_eq!(of(97.0, 0.002), SpeedVerdict::Faster);
    assert_eq!(of(101.5, 0.01), SpeedVerdict::Undecided);
    assert_eq!(of(100.0, 0.001), SpeedVerdict::Same);
    assert_eq!(of(106.0, 0.05), SpeedVerdict::Undecided, "steady within a run, but apart from run to run");
    assert_eq!(of(150.0, 0.05), SpeedVerdict::Slower);
    let before = runs(6, 100.0, 0.05);
    let after = runs(6, 106.0, 0.05);
    let undecided = only(&before, &after);
    assert!(undecided.more_runs.is_some_and(|more| (10..500).contains(&more)), "{:?}", undecided.more_runs);
    assert_eq!(undecided.reason(), "runs of the same side differ by too much");
}

#[test]
fn rows_of_one_run_count_once() {
    let one = vec![steady("a", 100.0); 6];
    let other = vec![steady("a", 300.0); 6];
    let case = only(&one, &other);
    assert_eq!((case.runs, case.verdict), ([1, 1], SpeedVerdict::Undecided), "the same file six times is one run");
}

#[test]
fn times_of_different_clocks_are_never_compared() {
    let by_wall: Vec<Row> =
        runs(6, 200.0, 0.001).into_iter().map(|row| Row { clock: gpulab_model::outcome::Clock::Wall, ..row }).collect();
    let before = runs(6, 100.0, 0.001);
    let case = only(&before, &by_wall);
    assert_eq!((case.verdict, case.more_runs), (SpeedVerdict::Undecided, None));
    assert_eq!(case.reason(), "the times come from different clocks");
}

#[test]
fn runs_by_another_clock_than_most_are_left_out_whatever_their_side() {
    let before = runs(9, 100.0, 0.001);
    let slower = runs(9, 110.0, 0.001);
    for (side, at) in [(0, 0), (0, 8), (1, 4)] {
        let mut sides = [before.clone(), slower.clone()];
        // Its time says nothing.
        let odd = &mut sides[side][at];
        (odd.clock, odd.t_median_s) = (gpulab_model::outcome::Clock::Wall, Some(5.0));
        let case = only(&sides[0], &sides[1]);
        assert_eq!((case.verdict, case.runs.iter().sum::<usize>()), (SpeedVerdict::Slower, 17), "{side} {at}");
        assert_eq!(case.left_out, [&CaseRun::from(&sides[side][at])]);
        assert_eq!(timed(of(&sides[side]))[0].seconds.len(), 8, "nor does it make rounds look apart");
    }
}

#[test]
fn sides_take_turns_where_their_runs_alternate_in_time() {
    let at = |row: Row, minute: u32| Row { time_utc: format!("2026-01-02T03:{minute:02}:00Z"), ..row };
    let side = |median: f64, from: u32, step: u32| -> Vec<Row> {
        runs(6, median, 0.001).into_iter().zip(0..).map(|(row, k)| at(row, from + step * k)).collect()
    };
    let turns = |before: &[Row], after: &[Row]| only(before, after).turns;
    assert_eq!(turns(&side(100.0, 0, 2), &side(110.0, 1, 2)), Turns::InTurn);
    assert_eq!(turns(&side(100.0, 0, 1), &side(110.0, 20, 1)), Turns::OneAfterTheOther);
    assert_eq!(turns(&side(100.0, 20, 1), &side(110.0, 0, 1)), Turns::OneAfterTheOther);
    assert_eq!(turns(&side(100.0, 0, 1), &side(110.0, 5, 1)), Turns::OneAfterTheOther, "one run alone lies between");
}

#[test]
fn cases_are_matched_by_what_they_compute_and_by_settings_where_there_are_several() {
    let with = |wg: &str, median: f64| -> Vec<Row> {
        runs(6, median, 0.0)
            .into_iter()
            .map(|row| Row { wg: Some(gpulab_kernels::values::work_group(wg).unwrap()), ..row })
            .collect()
    };
    // A default that changed is the same case.
    let before = with("128", 100.0);
    let after = with("256", 50.0);
    let one = only(&before, &after);
    assert_eq!((one.verdict, one.has_other_settings()), (SpeedVerdict::Faster, true));
    let sweep = [with("64", 100.0), with("128", 50.0), with("256", 25.0)].concat();
    let other = [with("256", 25.0), with("64", 200.0), with("512", 10.0)].concat();
    let both = compare(of(&sweep), of(&other), 0.02);
    let matched: Vec<_> =
        both.pairs.iter().map(|pair| (pair.before.wg.map_or(0, WorkGroup::size), pair.verdict)).collect();
    assert_eq!(matched, [(64, SpeedVerdict::Slower), (256, SpeedVerdict::Same)]);
    assert_eq!((both.only_before, both.only_after), (1, 1));
    let failed = Row { status: gpulab_model::outcome::Status::Failed, t_median_s: None, ..steady("a", 1.0) };
    let before = [steady("a", 1.0), steady("b", 1.0)];
    let after = [failed, steady("b", 1.0)];
    let lost = compare(of(&before), of(&after), 0.02);
    assert_eq!((lost.pairs.len(), lost.only_before, lost.only_after), (1, 1, 0));
    let larger = Row { n: 2000, ..steady("a", 1.0) };
    assert!(compare(of(&[steady("a", 1.0)]), of(&[larger]), 0.02).pairs.is_empty());
}

/// Runs whose times within each are steady, while each process finds its own of two levels that are far apart: as memory of
/// virtual machines does.
fn of_two_kinds(seed: u64, count: u64) -> Vec<Row> {
    let level = |k: u64| if gpulab_model::data::draw(seed, k).is_multiple_of(2) { 36.0 } else { 64.0 };
    (0..count).map(|k| Row { run_id: format!("{seed}-{k}"), ..steady("a", level(k)) }).collect()
}

#[test]
fn processes_of_two_kinds_are_hardly_ever_called_a_change() {
    let is_called = |seed: &u64| {
        let verdict = verdict(&of_two_kinds(2 * seed, 6), &of_two_kinds(2 * seed + 1, 6));
        matches!(verdict, SpeedVerdict::Slower | SpeedVerdict::Faster)
    };
    let called = (1..=2000).filter(is_called).count();
    assert!(called <= 20, "{called} of 2000");
}

#[test]
fn noise_says_what_could_be_seen_and_how_long_to_look() {
    let times = |step: f64| [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5].map(|k| 1e-4 * (1.0 + k * step));
    let noise = |step: f64| Noise::of(&times(step), &times(step)).unwrap();
    assert!(noise(0.001).resolution < 0.02 && noise(0.1).resolution > 0.2);
    assert!(noise(0.001).runs_for(0.01) < noise(0.02).runs_for(0.01));
    assert!(noise(0.02).runs_for(0.1) < noise(0.02).runs_for(0.01));
    assert!(Noise::of(&times(0.01)[..5], &times(0.01)).is_none());
    assert!(!noise(0.01).is_false_alarm());
    assert!(Noise::of(&[1.0; 6], &[1.1; 6]).unwrap().is_false_alarm());
}

#[test]
fn eight_times_the_rows_take_far_less_than_sixty_four_times_as_long() {
    let seconds = |count: u64, settings: bool| {
        let one = |i: u64| {
            if settings {
                Row { wg: Some(WorkGroup::linear(i as usize)), ..steady("a", 1.0) }
            } else {
                Row { n: i, ..steady("a", 1.0) }
            }
        };
        let rows = super::runs(&(0..count).map(one).collect::<Vec<Row>>());
        let once = |_| {
            let began = std::time::Instant::now();
            assert_eq!(compare(&rows, &rows, 0.02).pairs.len() as u64, count);
            began.elapsed().as_secs_f64()
        };
        (0..5).map(once).fold(f64::INFINITY, f64::min)
    };
    for settings in [false, true] {
        let few = seconds(1000, settings);
        let many = seconds(8000, settings);
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
    let ladders = steps(of(&rows[..6]));
    let [ladder] = ladders.as_slice() else { panic!("{ladders:?}") };
    assert!(ladder.devices.iter().all(|device| device.n == 1000));
    let gains = |(_, _, gains): &(u32, String, Vec<Option<RatioInterval>>)| {
        gains.iter().map(|gain| gain.map(|gain| (100.0 * gain.ratio).round())).collect::<Vec<_>>()
    };
    let all: Vec<_> = ladder.rungs.iter().map(gains).collect();
    assert_eq!(all, [[None, None], [Some(200.0), Some(50.0)], [None, Some(300.0)]]);
    assert!(steps(of(&rows[..3])).is_empty(), "one device alone");
    assert_eq!(steps(of(&rows)).len(), 1);
}

#[test]
fn a_run_takes_little_room_beside_its_row() {
    let rows: Vec<Row> = (0..3).map(|k| Row { n: k, ..steady("a", 1.0) }).collect();
    let runs = super::runs(&rows);
    assert!(size_of::<CaseRun>() <= 256 && 4 * size_of::<CaseRun>() < size_of::<Row>());
    let texts = |run: &CaseRun| {
        let CaseRun { run_id, time_utc, platform, device, family, variant, params, .. } = run.clone();
        [run_id, time_utc, platform, device, family, variant, params].map(|text| text.as_ptr())
    };
    assert!(runs.iter().all(|run| texts(run) == texts(&runs[0])), "texts that are alike are there once");
}
