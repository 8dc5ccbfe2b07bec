use super::*;
use gpulab_model::data::{Dtype, Params, Shape};
use gpulab_model::outcome::{Canary, Measured, Number, Sample};
use gpulab_model::outcome::{Outcome, Status};
use gpulab_model::plan::{Case, WorkGroup};

fn outcome(variant: &str, seconds: &[f64]) -> Outcome {
    let params = Params::from([
        ("presum".to_owned(), "host".to_owned()),
        ("items".to_owned(), "8".to_owned()),
    ]);
    let case = Case {
        wg: WorkGroup::linear(64),
        params: params.clone(),
        ..Case::of("dot", variant, Dtype::F32, Shape::vector(1000))
    };
    let samples = seconds
        .iter()
        .map(|&s| Sample {
            event: Some(s),
            wall: 2.0 * s,
        })
        .collect();
    let measured = Measured {
        max_err: None,
        tol: Some(0.5),
        result: Some(Number::Real(f64::NAN)),
        samples,
        end_to_end: Some(1.0),
        stopped_by: "steady".to_owned(),
        ..Measured::equal()
    };
    let pending = Outcome {
        params,
        bytes: 8000.0,
        ops: 2000.0,
        ..Outcome::pending(&case, Clock::Event)
    };
    Outcome {
        working_set: 8000,
        launches: 1,
        ..pending
    }
    .ended(Ok(measured))
}

fn with(outcome: Outcome, change: impl FnOnce(&mut Measured)) -> Outcome {
    let end = outcome.end.map(|mut measured| {
        change(&mut measured);
        measured
    });
    Outcome { end, ..outcome }
}

fn scene() -> Scene {
    Scene {
        platform: "P".to_owned(),
        device: "D".to_owned(),
        ceiling: Some(Ceiling {
            bound: Bound::Read,
            rate: 0.016,
        }),
        launch: Some(LaunchCost {
            clock: Clock::Event,
            first: 4e-6,
            next: 3e-6,
        }),
        peaks: vec![Peak::Bytes(0.032)],
        ..Scene::on_host(&Run::default(), 2, &Settings::default())
    }
}

fn made(rung: u32, seconds: f64) -> Row {
    Row::of(&scene(), Some(rung), &outcome("naive", &[seconds; 3]))
}

#[test]
fn tuned_rungs_gain_against_tuned_ones_alone() {
    let of = |rung, seconds: f64, tuned| {
        Row::of(
            &Scene { tuned, ..scene() },
            Some(rung),
            &outcome("naive", &[seconds; 3]),
        )
    };
    let mut ladder = [
        of(1, 8e-3, false),
        of(2, 1e-3, true),
        of(3, 5e-4, true),
        of(4, 4e-3, false),
        of(5, 2e-3, false),
    ];
    relate(&mut ladder);
    assert_eq!(
        ladder.each_ref().map(|r| r.step_x),
        [None, None, Some(2.0), None, Some(2.0)]
    );
    assert_eq!(
        ladder.each_ref().map(|r| r.total_x),
        [Some(1.0), None, None, Some(2.0), Some(4.0)]
    );
    assert_eq!(
        ladder.map(|row| row.is_tuned()),
        [false, true, true, false, false]
    );
}

#[test]
fn rates_come_from_the_cost_model_and_the_median() {
    let row = made(1, 1e-3);
    assert_eq!((row.bytes, row.ops, row.runs), (Some(8000), Some(2000), 3));
    assert_eq!(
        (row.gbps, row.gops, row.ceiling_pct),
        (Some(0.008), Some(0.002), Some(50.0))
    );
    assert_eq!(
        (row.t_median_s, row.t_wall_median_s),
        (Some(1e-3), Some(2e-3))
    );
    assert_eq!(
        (row.ceiling.as_str(), row.ceiling_gbps),
        ("read", Some(0.016))
    );
    assert_eq!(
        (
            params_text(&row.params),
            row.wg_text(),
            row.flags.to_string()
        ),
        ("items=8 presum=host".into(), "64".into(), "".into())
    );
    assert_eq!(
        (row.max_err, row.tol, row.result),
        (None, Some(0.5), None),
        "no cell is infinite or NaN"
    );
}

#[test]
fn what_needs_care_is_flagged() {
    let flags_of = |scene: &Scene, rung, outcome| Row::of(scene, rung, &outcome).flags;
    assert_eq!(
        made(1, 49e-6).flags,
        flag::LAUNCH_BOUND | flag::ABOVE_CEILING
    );
    let host = Scene::on_host(&scene().run, 2, &Settings::default());
    assert!(flags_of(&host, None, outcome(CPU_SEQ, &[1e-6])).is_empty());
    assert_eq!(
        flags_of(&scene(), Some(1), outcome("naive", &[1e-3, 2e-3, 3e-3])),
        flag::NOISY
    );
    let large_cache = Scene {
        cache_bytes: 8000,
        cache_reach: 8000,
        ..scene()
    };
    assert_eq!(
        flags_of(&large_cache, Some(1), outcome("naive", &[1e-3])),
        flag::FITS_CACHE
    );
    let peaks = vec![Peak::Bytes(1.0)];
    let shares = |scene: &Scene| {
        let row = Row::of(
            &Scene {
                peaks: peaks.clone(),
                ..scene.clone()
            },
            Some(1),
            &outcome("naive", &[1e-4]),
        );
        (
            row.ceiling_pct.is_some(),
            row.peak_pct.is_some(),
            row.ceiling_gbps.is_some(),
        )
    };
    assert_eq!(shares(&scene()), (true, true, true));
    assert_eq!(
        shares(&large_cache),
        (false, false, true),
        "memory does not bound what a cache holds"
    );
    // Faster than memory, and no larger than what a driver may leave unsaid.
    let unsaid = Scene {
        cache_reach: 8000,
        ..scene()
    };
    assert_eq!(made(1, 1e-4).flags, flag::ABOVE_CEILING);
    assert_eq!(
        flags_of(&unsaid, Some(1), outcome("naive", &[1e-4])),
        flag::FITS_CACHE | flag::ABOVE_CEILING
    );
    assert!(flags_of(&unsaid, Some(1), outcome("naive", &[1e-3])).is_empty());
    let cold = Scene {
        cache: Cache::Cold,
        ..large_cache
    };
    assert!(flags_of(&cold, Some(1), outcome("naive", &[1e-3])).is_empty());
    let wall = with(outcome("naive", &[1e-3]), |m| {
        (m.clock, m.clock_note) = (Clock::Wall, Some("late".to_owned()));
    });
    let row = Row::of(&scene(), Some(1), &wall);
    assert_eq!(row.flags, flag::CLOCK_FALLBACK);
    assert_eq!(row.reason, "late");
    assert_eq!(row.t_median_s, Some(2e-3));
}

#[test]
fn rows_measured_during_drift_are_flagged() {
    let drifting = |ratio: f64| {
        let canary = Some(Canary {
            ratio,
            fastest: 1e-4,
        });
        Row::of(
            &scene(),
            Some(1),
            &with(outcome("naive", &[1e-3; 3]), |m| m.canary = canary),
        )
    };
    assert!(drifting(1.0).flags.is_empty());
    let row = drifting(2.0);
    assert_eq!(
        (row.flags, row.canary, row.is_doubtful()),
        (flag::DRIFT, Some(2.0), true)
    );
    assert_eq!(made(1, 1e-3).canary, None, "not measured");
}

#[test]
fn a_case_without_samples_has_no_numbers() {
    let row = Row::of(&scene(), Some(1), &outcome("naive", &[]));
    assert_eq!(
        (
            row.runs,
            row.t_median_s,
            row.gbps,
            row.ceiling_pct,
            row.noise
        ),
        (0, None, None, None, None)
    );
    assert!(row.flags.is_empty());
}

#[test]
fn speed_ups_pass_over_rungs_without_a_right_result() {
    let host = Scene::on_host(&scene().run, 2, &Settings::default());
    let cpu = |name, s| Row::of(&host, None, &outcome(name, &[s]));
    let mut ladder = vec![
        made(1, 8e-3),
        made(2, 1e-3),
        made(3, 2e-3),
        cpu(CPU_SEQ, 16e-3),
    ];
    ladder[1].status = Status::WrongResult;
    relate(&mut ladder);
    let [one, wrong, three, seq] = [0, 1, 2, 3].map(|i| &ladder[i]);
    assert_eq!(
        (one.step_x, one.total_x, one.cpu_seq_x, one.cpu_rayon_x),
        (None, Some(1.0), Some(2.0), None)
    );
    assert_eq!(
        (wrong.step_x, wrong.total_x, wrong.cpu_seq_x),
        (None, None, None)
    );
    assert_eq!(
        (three.step_x, three.total_x, three.cpu_seq_x),
        (Some(4.0), Some(4.0), Some(8.0))
    );
    assert_eq!(
        (seq.step_x, seq.total_x, seq.cpu_seq_x),
        (None, None, Some(1.0))
    );
    ladder.push(cpu(CPU_RAYON, 4e-3));
    relate(&mut ladder);
    assert_eq!(ladder[2].cpu_rayon_x, Some(2.0));
    let row = &ladder[3];
    assert_eq!(
        (row.rung, row.wg, row.device.as_str()),
        (None, None, "CPU, 2 threads")
    );
}

#[test]
fn work_repeated_inside_is_compared_with_its_like() {
    let made = |rung: Option<u32>, variant: &str, seconds, repeats: bool| {
        let mut row = Row::of(&scene(), rung, &outcome(variant, &[seconds]));
        if repeats {
            row.params.insert(REPEATS.into(), "10".into());
        }
        row
    };
    let host = Scene::on_host(&scene().run, 2, &Settings::default());
    let mut ladder = vec![
        Row::of(&host, None, &outcome(CPU_SEQ, &[8e-3])),
        made(None, COPY, 1e-3, false),
        made(None, COPY, 8e-3, true),
        made(Some(1), "naive", 4e-3, false),
        made(Some(1), "naive", 16e-3, true),
        made(Some(2), "local", 2e-3, false),
        made(Some(2), "local", 10e-3, true),
    ];
    relate(&mut ladder);
    let [plain, inside] = [5, 6].map(|i| &ladder[i]);
    assert_eq!(
        (plain.step_x, plain.copy_pct, plain.cpu_seq_x),
        (Some(2.0), Some(50.0), Some(4.0))
    );
    assert_eq!(
        (inside.step_x, inside.copy_pct, inside.cpu_seq_x),
        (Some(1.6), Some(80.0), None)
    );
    assert_eq!(
        (ladder[0].copy_pct, ladder[1].copy_pct, ladder[1].step_x),
        (None, Some(100.0), None)
    );
}

#[test]
fn a_run_says_when_but_not_where() {
    let run = Run::begin();
    assert!(
        run.id.len() == 9
            && run.id.starts_with('r')
            && run.id[1..].chars().all(|c| c.is_ascii_hexdigit())
    );
    assert!(
        run.time_utc.len() == 20
            && run.time_utc.ends_with('Z')
            && run.time_utc.as_bytes()[10] == b'T'
    );
}

#[test]
fn launches_and_peaks_are_told_of_what_they_hold_for() {
    let many = Outcome {
        launches: 3,
        ..outcome("naive", &[20e-6; 3])
    };
    let row = Row::of(&scene(), Some(1), &many);
    // 4 us, and twice 3 us; 8000 bytes in 20 us are 0.4 GB/s of 0.032.
    approx::assert_relative_eq!(row.t_launches_s.unwrap(), 10e-6);
    approx::assert_relative_eq!(row.peak_pct.unwrap(), 1250.0, max_relative = 1e-9);
    assert_eq!((row.peak_gbps, row.peak_gops), (Some(0.032), None));
    let by_wall = with(many.clone(), |m| m.clock = Clock::Wall);
    assert_eq!(
        Row::of(&scene(), Some(1), &by_wall).t_launches_s,
        None,
        "by another clock"
    );
    let prepared = with(many.clone(), |m| m.preparation = Some(1e-6));
    assert_eq!(
        Row::of(&scene(), Some(1), &prepared).t_launches_s,
        None,
        "not all launches are timed"
    );
    let unknown = Scene {
        launch: None,
        peaks: Vec::new(),
        ..scene()
    };
    let row = Row::of(&unknown, Some(1), &many);
    assert_eq!(
        (row.t_launches_s, row.peak_pct, row.peak_gbps),
        (None, None, None)
    );
}

#[test]
fn seconds_are_told_as_dates() {
    for (second, told) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_767_323_045, "2026-01-02T03:04:05Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
    ] {
        assert_eq!(crate::utc(second), told);
    }
}
