use super::*;

/// A row of a rung with these quartiles in microseconds.
fn row(variant: &str, quartiles: [f64; 3]) -> Row {
    let [t_q1_s, t_median_s, t_q3_s] = quartiles.map(|us| Some(us * 1e-6));
    Row {
        n: 1000,
        runs: 100,
        t_q1_s,
        t_median_s,
        t_q3_s,
        flags: crate::Flags::default(),
        ..crate::row(variant)
    }
}

/// A steady one, half a per cent wide.
fn steady(variant: &str, median: f64) -> Row {
    row(variant, [0.9975 * median, median, 1.0025 * median])
}

/// So many runs, each of its own process, whose medians are a share of `step` apart from one to the next.
fn runs(count: u32, median: f64, step: f64) -> Vec<Row> {
    let one = |k: u32| {
        let away = f64::from(k) - f64::from(count - 1) / 2.0;
        Row {
            run_id: format!("{median}-{k}"),
            ..steady("a", median * (1.0 + away * step))
        }
    };
    (0..count).map(one).collect()
}

fn only<'a>(before: &'a [Row], after: &'a [Row]) -> ComparedCase<'a> {
    let mut pairs = compare(before, after, 0.02).pairs;
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
        assert_eq!(
            (case.verdict, case.interval),
            (SpeedVerdict::Undecided, None),
            "{count}"
        );
        assert_eq!(case.more_runs, Some(FEWEST - count as usize), "{count}");
        assert_eq!(
            ComparisonRow::new(["", ""], &case).reason,
            "6 runs of each side are needed"
        );
    }
    assert_eq!(
        verdict(&runs(6, 100.0, 0.001), &runs(6, 1000.0, 0.001)),
        SpeedVerdict::Slower
    );
}

#[test]
fn a_change_counts_where_it_is_larger_than_runs_differ() {
    let of = |after: f64, step: f64| verdict(&runs(6, 100.0, step), &runs(6, after, step));
    assert_eq!(of(103.0, 0.002), SpeedVerdict::Slower);
    assert_eq!(of(97.0, 0.002), SpeedVerdict::Faster);
    assert_eq!(of(101.5, 0.01), SpeedVerdict::Undecided);
    assert_eq!(of(100.0, 0.001), SpeedVerdict::Same);
    assert_eq!(
        of(106.0, 0.05),
        SpeedVerdict::Undecided,
        "steady within a run, but apart from run to run"
    );
    assert_eq!(of(150.0, 0.05), SpeedVerdict::Slower);
    let before = runs(6, 100.0, 0.05);
    let after = runs(6, 106.0, 0.05);
    let undecided = only(&before, &after);
    assert!(
        undecided
            .more_runs
            .is_some_and(|more| (10..500).contains(&more)),
        "{:?}",
        undecided.more_runs
    );
}

#[test]
fn rows_of_one_run_count_once() {
    let one = vec![steady("a", 100.0); 6];
    let other = vec![steady("a", 300.0); 6];
    let case = only(&one, &other);
    assert_eq!(
        (case.runs, case.verdict),
        ([1, 1], SpeedVerdict::Undecided),
        "the same file six times is one run"
    );
}

#[test]
fn times_of_different_clocks_are_never_compared() {
    let before = runs(6, 100.0, 0.001);
    let mut after = runs(6, 110.0, 0.001);
    // Its time says nothing.
    after.push(Row {
        run_id: "odd".into(),
        clock: Clock::Wall,
        ..steady("a", 5.0)
    });
    let compared = compare(&before, &after, 0.02);
    assert_eq!(
        (
            compared.pairs[0].verdict,
            compared.pairs.len(),
            compared.only_after
        ),
        (SpeedVerdict::Slower, 1, 1)
    );
    let sizes: Vec<usize> = timed(&after).iter().map(Vec::len).collect();
    assert_eq!(sizes, [6, 1], "nor does it make rounds look apart");
}

#[test]
fn sides_take_turns_where_their_runs_alternate_in_time() {
    let at = |row: Row, minute: u32| Row {
        time_utc: format!("2026-01-02T03:{minute:02}:00Z"),
        ..row
    };
    let side = |median: f64, from: u32, step: u32| -> Vec<Row> {
        runs(6, median, 0.001)
            .into_iter()
            .zip(0..)
            .map(|(row, k)| at(row, from + step * k))
            .collect()
    };
    let turns = |before: &[Row], after: &[Row]| only(before, after).in_turn;
    assert!(turns(&side(100.0, 0, 2), &side(110.0, 1, 2)));
    assert!(!turns(&side(100.0, 0, 1), &side(110.0, 20, 1)));
    assert!(!turns(&side(100.0, 20, 1), &side(110.0, 0, 1)));
    assert!(
        !turns(&side(100.0, 0, 1), &side(110.0, 5, 1)),
        "one run alone lies between"
    );
}

#[test]
fn cases_are_matched_by_what_they_compute_and_by_settings_where_there_are_several() {
    let with = |wg: &str, median: f64| -> Vec<Row> {
        runs(6, median, 0.0)
            .into_iter()
            .map(|row| Row {
                wg: Some(gpulab_kernels::values::work_group(wg).unwrap()),
                ..row
            })
            .collect()
    };
    // A default that changed is the same case.
    let before = with("128", 100.0);
    let after = with("256", 50.0);
    let one = only(&before, &after);
    assert_eq!(
        (one.verdict, one.has_other_settings()),
        (SpeedVerdict::Faster, true)
    );
    let sweep = [with("64", 100.0), with("128", 50.0), with("256", 25.0)].concat();
    let other = [with("256", 25.0), with("64", 200.0), with("512", 10.0)].concat();
    let both = compare(&sweep, &other, 0.02);
    let matched: Vec<_> = both
        .pairs
        .iter()
        .map(|pair| (pair.before.wg.map_or(0, WorkGroup::size), pair.verdict))
        .collect();
    assert_eq!(
        matched,
        [(64, SpeedVerdict::Slower), (256, SpeedVerdict::Same)]
    );
    assert_eq!((both.only_before, both.only_after), (1, 1));
    let failed = Row {
        status: gpulab_model::outcome::Status::Failed,
        t_median_s: None,
        ..steady("a", 1.0)
    };
    let before = [steady("a", 1.0), steady("b", 1.0)];
    let after = [failed, steady("b", 1.0)];
    let lost = compare(&before, &after, 0.02);
    assert_eq!(
        (lost.pairs.len(), lost.only_before, lost.only_after),
        (1, 1, 0)
    );
    let larger = Row {
        n: 2000,
        ..steady("a", 1.0)
    };
    assert!(
        compare(&[steady("a", 1.0)], &[larger], 0.02)
            .pairs
            .is_empty()
    );
}

/// Runs whose times within each are steady, while each process finds its own of two levels that are far apart: as memory of
/// virtual machines does.
fn of_two_kinds(seed: u64, count: u64) -> Vec<Row> {
    let level = |k: u64| {
        if gpulab_model::data::draw(seed, k).is_multiple_of(2) {
            36.0
        } else {
            64.0
        }
    };
    (0..count)
        .map(|k| Row {
            run_id: format!("{seed}-{k}"),
            ..steady("a", level(k))
        })
        .collect()
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
fn eight_times_the_rows_take_far_less_than_sixty_four_times_as_long() {
    let seconds = |count: u64, settings: bool| {
        let one = |i: u64| {
            if settings {
                Row {
                    wg: Some(WorkGroup::linear(i as usize)),
                    ..steady("a", 1.0)
                }
            } else {
                Row {
                    n: i,
                    ..steady("a", 1.0)
                }
            }
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
    let ladders = steps(&rows[..6]);
    let [ladder] = ladders.as_slice() else {
        panic!("{ladders:?}")
    };
    assert!(ladder.devices.iter().all(|device| device.n == 1000));
    let gains = |(_, _, gains): &(u32, String, Vec<Option<RatioInterval>>)| {
        gains
            .iter()
            .map(|gain| gain.map(|gain| (100.0 * gain.ratio).round()))
            .collect::<Vec<_>>()
    };
    let all: Vec<_> = ladder.rungs.iter().map(gains).collect();
    assert_eq!(
        all,
        [[None, None], [Some(200.0), Some(50.0)], [None, Some(300.0)]]
    );
    assert!(steps(&rows[..3]).is_empty(), "one device alone");
    assert_eq!(steps(&rows).len(), 1);
}

#[test]
fn an_interval_says_one_of_four_things() {
    let of = |low: f64, high: f64| {
        SpeedVerdict::of(
            &RatioInterval {
                ratio: (low * high).sqrt(),
                low,
                high,
            },
            0.01,
        )
    };
    assert_eq!(of(1.02, 1.08), SpeedVerdict::Slower);
    assert_eq!(of(1.001, 1.08), SpeedVerdict::Slower);
    assert_eq!(of(0.9, 0.95), SpeedVerdict::Faster);
    assert_eq!(of(0.995, 1.005), SpeedVerdict::Same);
    assert_eq!(
        of(1.001, 1.005),
        SpeedVerdict::Same,
        "it differs, but by less than counts"
    );
    assert_eq!(of(0.97, 1.04), SpeedVerdict::Undecided);
    assert_eq!(
        of(0.99, 1.02),
        SpeedVerdict::Undecided,
        "a change of 2 % cannot be ruled out"
    );
}
