//! The runner on a scripted device: what is right gets a time, what is wrong never does.

use crate::fake::{FakeDevice, FakeKernel, Memory, Seen};
use gpulab::data::{Dtype, Params, Shape};
use gpulab::device::DeviceError;
use gpulab::kernels::Sources;
use gpulab::outcome::{Cache, Clock, Number, Outcome, Settings, Status, fake_info};
use gpulab::plan::{Arg, Case, Launch, WorkGroup};
use gpulab::record::{Flags, Row, Run, Scene, flag};
use gpulab::runner::Session;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

const KERNEL_NS: u64 = 5_000_000;

fn case(dtype: Dtype, n: u64) -> Case {
    Case {
        family: "dot".into(),
        variant: "naive".into(),
        dtype,
        shape: Shape::vector(n),
        wg: WorkGroup::linear(32),
        params: Params::new(),
        seed: 1,
    }
}

fn settings() -> Settings {
    Settings {
        warmup: 1,
        max_runs: 20,
        min_time: 0.0,
        timeout: 5.0,
        ..Settings::default()
    }
}

/// A session on a scripted device, and what the device sees.
fn watched(script: FakeKernel) -> (Session, Rc<RefCell<Seen>>) {
    let device = FakeDevice::new(script);
    let seen = Rc::clone(&device.seen);
    (
        Session::new(Box::new(device), Sources::default(), None),
        seen,
    )
}

fn run_case(script: FakeKernel, case: &Case, settings: &Settings) -> Outcome {
    Session::new(Box::new(FakeDevice::new(script)), Sources::default(), None).run(case, settings)
}

/// What `dot_naive` does, in f32, over the elements that `pick` keeps.
fn naive(launch: &Launch, memory: &mut Memory, pick: impl Fn(usize, usize) -> usize) {
    let [x_arg, y_arg, out, Arg::Index(n)] = launch.args.as_slice() else {
        panic!("{:?}", launch.args)
    };
    let (x, y): (Vec<f32>, Vec<f32>) = (memory.get(x_arg), memory.get(y_arg));
    let (n, items) = (*n as usize, launch.global[0]);
    let chunk = n.div_ceil(items);
    for id in 0..items {
        let range = (id * chunk).min(n)..((id + 1) * chunk).min(n);
        let sum = range
            .map(|i| pick(i, n))
            .map(|i| if i < n { x[i] * y[i] } else { 0.0 })
            .sum::<f32>();
        memory.set(out, id, sum);
    }
}

/// A time that varies a little from run to run, as real ones do.
fn jitter(count: &mut u64) -> u64 {
    *count += 1;
    KERNEL_NS + 100 * (*count % 7)
}

fn right() -> FakeKernel {
    let mut count = 0;
    Box::new(move |launch, memory| {
        naive(launch, memory, |i, _| i);
        Ok(jitter(&mut count))
    })
}

fn wrong(effect: impl Fn(&Launch, &mut Memory) + 'static) -> FakeKernel {
    Box::new(move |launch, memory| {
        effect(launch, memory);
        Ok(KERNEL_NS)
    })
}

#[test]
fn a_right_kernel_is_timed_by_its_events() {
    let outcome = run_case(right(), &case(Dtype::F32, 1000), &settings());
    assert_eq!(outcome.status(), Status::Ok, "{}", outcome.reason());
    assert_eq!(
        (
            outcome.clock(),
            outcome.measured().unwrap().stopped_by.as_str()
        ),
        (Clock::Event, "steady")
    );
    assert_eq!(outcome.samples().len(), 10);
    assert!(
        outcome
            .times()
            .iter()
            .all(|&t| (5e-3..5.001e-3).contains(&t))
    );
    assert_eq!((outcome.bytes, outcome.ops), (8000.0, 2000.0));
    assert!(outcome.measured().is_some_and(|m| {
        m.max_err
            .zip(m.tol)
            .is_some_and(|(error, allowed)| error <= allowed)
    }));
    assert!(outcome.measured().and_then(|m| m.end_to_end).unwrap() > 0.0);
    assert_eq!(
        outcome.measured().and_then(|m| m.batch),
        None,
        "5 ms is not short"
    );
}

#[test]
fn wrong_kernels_are_never_timed() {
    type Effect = fn(&Launch, &mut Memory);
    fn behind(launch: &Launch, memory: &mut Memory, more: usize) {
        let bytes = memory.bytes(&launch.args[2]).len();
        memory.stray(&launch.args[2], (bytes + more) as isize);
    }
    // What is done beside the right thing, or after it.
    let mutants: [(&str, bool, Effect); 10] = [
        ("empty", false, |_, _| {}),
        ("drops the last element", false, |l, m| {
            naive(l, m, |i, n| if i + 1 == n { n } else { i })
        }),
        ("doubles an element", false, |l, m| {
            naive(l, m, |i, n| if i == n / 2 { i - 1 } else { i })
        }),
        ("writes past the end", true, |l, m| behind(l, m, 0)),
        ("writes far past the end", true, |l, m| behind(l, m, 16_383)),
        ("writes before the start", true, |l, m| {
            m.stray(&l.args[2], -1)
        }),
        ("writes before an input", true, |l, m| {
            m.stray(&l.args[0], -4096)
        }),
        ("changes an input", true, |l, m| {
            m.set(&l.args[1], 500, 2.0f32)
        }),
        ("gives NaN", true, |l, m| m.set(&l.args[2], 0, f32::NAN)),
        ("leaves a partial sum unwritten", false, |l, m| {
            let poison: Vec<u32> = m.get(&l.args[2]);
            naive(l, m, |i, _| i);
            m.set(&l.args[2], 3, poison[3]);
        }),
    ];
    for (what, after, effect) in mutants {
        let effect = move |launch: &Launch, memory: &mut Memory| {
            if after {
                naive(launch, memory, |i, _| i);
            }
            effect(launch, memory);
        };
        let outcome = run_case(wrong(effect), &case(Dtype::F32, 1000), &settings());
        assert_eq!(
            outcome.status(),
            Status::WrongResult,
            "{what}: {}",
            outcome.reason()
        );
        assert!(
            outcome.samples().is_empty()
                && outcome.measured().and_then(|m| m.batch).is_none()
                && outcome.measured().and_then(|m| m.end_to_end).is_none(),
            "{what}"
        );
        assert!(!outcome.reason().is_empty(), "{what}");
    }
}

#[test]
fn a_result_that_goes_wrong_while_it_is_timed_is_found() {
    let mut runs = 0;
    let script: FakeKernel = Box::new(move |launch, memory| {
        runs += 1;
        naive(
            launch,
            memory,
            |i, n| if runs > 10 && i == 0 { n } else { i },
        );
        Ok(KERNEL_NS + runs)
    });
    let outcome = run_case(script, &case(Dtype::F32, 1000), &settings());
    assert_eq!(outcome.status(), Status::WrongResult);
    assert!(outcome.samples().is_empty());
}

/// The partial sums that `dot_naive` leaves, and where.
fn partials(launch: &Launch, memory: &mut Memory) -> Vec<f32> {
    naive(launch, memory, |i, _| i);
    memory.get(&launch.args[2])
}

/// A kernel that works when `works` says so of the number of its launch and of what its output holds, and otherwise does
/// with its output what `idles` does; it is given what it left last.
fn lazy(
    works: impl Fn(u64, &[f32]) -> bool + 'static,
    idles: impl Fn(&Launch, &mut Memory, &[f32]) + 'static,
) -> FakeKernel {
    let (mut launches, mut last) = (0, Vec::new());
    Box::new(move |launch, memory| {
        launches += 1;
        let found: Vec<f32> = memory.get(&launch.args[2]);
        if works(launches, &found) {
            last = partials(launch, memory);
        } else {
            idles(launch, memory, &last);
        }
        Ok(KERNEL_NS + launches % 7)
    })
}

/// Writes the answer of another time.
fn remember(launch: &Launch, memory: &mut Memory, last: &[f32]) {
    last.iter()
        .enumerate()
        .for_each(|(id, &sum)| memory.set(&launch.args[2], id, sum));
}

/// Launches that check a dot product before it is timed: three over exact data, 41 over single values and 10 over two, two
/// over real data and three with an infinity or NaN in them. Another one goes from end to end.
const BEFORE: u64 = 59;

#[test]
fn kernels_that_only_sometimes_work_are_found() {
    let nothing = |_: &Launch, _: &mut Memory, _: &[f32]| {};
    type Make = fn() -> FakeKernel;
    let scripts: [(&str, Make); 6] = [
        ("works until it is timed", || {
            lazy(|launch, _| launch <= BEFORE + 1, |_, _, _| {})
        }),
        ("works once in a while", || {
            lazy(
                |launch, _| launch <= BEFORE + 1 || launch % 3 == 0,
                |_, _, _| {},
            )
        }),
        ("idles in the middle", || {
            lazy(
                |launch, _| !(BEFORE + 4..BEFORE + 10).contains(&launch),
                |_, _, _| {},
            )
        }),
        ("remembers its answer", || {
            lazy(|launch, _| launch <= BEFORE + 1, remember)
        }),
        ("remembers its answer for a while", || {
            lazy(
                |launch, _| !(BEFORE + 2..BEFORE + 10).contains(&launch),
                remember,
            )
        }),
        ("works when its output is poisoned in front", || {
            lazy(|_, found| found[0].is_nan(), remember)
        }),
    ];
    let honest = run_case(
        lazy(|_, _| true, nothing),
        &case(Dtype::F32, 1000),
        &settings(),
    );
    assert_eq!(honest.status(), Status::Ok, "{}", honest.reason());
    for (what, script) in scripts {
        for (clock, cache) in [
            (Clock::Event, Cache::Warm),
            (Clock::Wall, Cache::Warm),
            (Clock::Event, Cache::Cold),
        ] {
            let settings = Settings {
                clock,
                cache,
                ..settings()
            };
            let outcome = run_case(script(), &case(Dtype::F32, 1000), &settings);
            assert_eq!(
                outcome.status(),
                Status::WrongResult,
                "{what}, {clock:?}, {cache:?}: {}",
                outcome.reason()
            );
        }
    }
}

#[test]
fn launches_that_idle_in_a_batch_make_the_row_suspect() {
    // By itself a launch works; of launches in a row, as no poison comes between them, only the first, once it was checked.
    let mut launches = 0;
    let script: FakeKernel = Box::new(move |launch, memory| {
        let found: Vec<f32> = memory.get(&launch.args[2]);
        launches += 1;
        // A new buffer holds something else, too.
        if launches > BEFORE + 1 && !found[0].is_nan() && found[0].to_bits() != 0xAAAA_AAAA {
            return Ok(100);
        }
        naive(launch, memory, |i, _| i);
        Ok(4_000_000 + u64::from(found[1].to_bits() % 7))
    });
    let outcome = run_case(
        script,
        &case(Dtype::F32, 1000),
        &Settings {
            clock: Clock::Batch,
            ..settings()
        },
    );
    // A look between two batches, or behind them, may find the stale result first.
    let is_found = match outcome.status() {
        Status::Suspect => outcome.reason().contains("back to back"),
        Status::WrongResult => ["while it was timed", "after timing"]
            .iter()
            .any(|when| outcome.reason().contains(when)),
        _ => false,
    };
    assert!(is_found, "{:?}: {}", outcome.status(), outcome.reason());
}

#[test]
fn event_times_beyond_the_ceiling_give_way_to_the_wall_clock() {
    // The wall clock of a fake device adds a microsecond to each run.
    let settings = Settings {
        least_time: Some(5.0008e-3),
        ..settings()
    };
    let outcome = run_case(right(), &case(Dtype::F32, 1000), &settings);
    assert_eq!(
        (outcome.status(), outcome.clock()),
        (Status::Ok, Clock::Wall),
        "{}",
        outcome.reason()
    );
    assert!(outcome.clock_note().unwrap().contains("ceiling"));
}

#[test]
fn times_that_no_clock_lifts_above_the_limit_are_suspect() {
    let settings = Settings {
        least_time: Some(1.0),
        ..settings()
    };
    let outcome = run_case(right(), &case(Dtype::F32, 1000), &settings);
    assert_eq!(
        (outcome.status(), outcome.clock()),
        (Status::Suspect, Clock::Wall)
    );
    assert!(outcome.reason().contains("limit"), "{}", outcome.reason());
}

#[test]
fn short_kernels_are_also_timed_back_to_back() {
    let mut count = 0;
    let script: FakeKernel = Box::new(move |launch, memory| {
        naive(launch, memory, |i, _| i);
        count += 1;
        Ok(10_000 + count % 5)
    });
    let outcome = run_case(script, &case(Dtype::F32, 1000), &settings());
    assert!(outcome.measured().and_then(|m| m.batch).unwrap() > 1e-5);
}

#[test]
fn a_cold_cache_rotates_buffers() {
    let timed = |cache| {
        let (mut session, seen) = watched(right());
        let outcome = session.run(
            &case(Dtype::F32, 100_000),
            &Settings {
                cache,
                ..settings()
            },
        );
        assert_eq!(outcome.status(), Status::Ok, "{}", outcome.reason());
        seen.borrow()
            .launches
            .iter()
            .rev()
            .take(10)
            .map(|l| l.args[..3].to_vec())
            .collect::<Vec<_>>()
    };
    let cold = timed(Cache::Cold);
    for (one, next) in cold.iter().zip(&cold[1..]) {
        assert!(
            one.iter().zip(next).all(|(one, next)| one != next),
            "the same buffers twice running: {cold:?}"
        );
    }
    let warm = timed(Cache::Warm);
    assert!(warm.iter().all(|buffers| *buffers == warm[0]), "{warm:?}");
}

#[test]
fn the_last_of_the_rotated_buffers_is_checked() {
    let settings = Settings {
        cache: Cache::Cold,
        min_runs: 4,
        max_runs: 4,
        ..settings()
    };
    let run = |wrong_at: Option<usize>| {
        let count = Rc::new(Cell::new(0));
        let counted = Rc::clone(&count);
        let script: FakeKernel = Box::new(move |launch, memory| {
            let is_wrong = wrong_at == Some(counted.replace(counted.get() + 1));
            naive(
                launch,
                memory,
                |i, n| if i == 0 && is_wrong { n } else { i },
            );
            Ok(KERNEL_NS + counted.get() as u64)
        });
        (
            run_case(script, &case(Dtype::F32, 100_000), &settings),
            count.get(),
        )
    };
    let (right, launches) = run(None);
    assert_eq!(right.status(), Status::Ok, "{}", right.reason());
    let (wrong, _) = run(Some(launches - 1));
    assert_eq!(wrong.status(), Status::WrongResult);
    assert!(
        wrong.reason().contains("after timing"),
        "{}",
        wrong.reason()
    );
}

#[test]
fn buffers_are_given_back() {
    let (mut session, seen) = watched(right());
    let settings = Settings {
        cache: Cache::Cold,
        ..settings()
    };
    let mut live = Vec::new();
    for n in [1000, 3000, 1000, 3000] {
        assert_eq!(
            session.run(&case(Dtype::F32, n), &settings).status(),
            Status::Ok
        );
        live.push(seen.borrow().live.len());
    }
    assert!(
        live[0] > 0 && live.iter().all(|&count| count == live[0]),
        "{live:?}"
    );
}

#[test]
fn no_elements_need_no_launch() {
    let script: FakeKernel = Box::new(|_, _| panic!("launched"));
    let outcome = run_case(script, &case(Dtype::F32, 0), &settings());
    assert_eq!(
        (outcome.status(), outcome.measured().and_then(|m| m.result)),
        (Status::Ok, Some(Number::Real(0.0)))
    );
}

#[test]
fn what_does_not_fit_is_skipped_with_its_reason() {
    let too_wide = Case {
        wg: WorkGroup::linear(2048),
        ..case(Dtype::F32, 1000)
    };
    for (case, word) in [
        (too_wide, "1024"),
        (case(Dtype::F32, 1 << 30), "global memory"),
    ] {
        let outcome = run_case(right(), &case, &settings());
        assert_eq!(outcome.status(), Status::Skipped);
        assert!(outcome.reason().contains(word), "{}", outcome.reason());
    }
}

#[test]
fn so_many_roundings_that_no_bound_shows_mistakes_are_refused() {
    let params = Params::from([("items".into(), "1".into())]);
    let long = Case {
        params,
        wg: WorkGroup::linear(1),
        ..case(Dtype::F32, 2_000_000)
    };
    let outcome = run_case(right(), &long, &settings());
    assert_eq!(outcome.status(), Status::Skipped);
    assert!(
        outcome.reason().contains("choose more work-items"),
        "{}",
        outcome.reason()
    );
}

/// What is right, and what is on the device, are for the next case as if the failed one had never been.
#[test]
fn whichever_launch_fails_the_next_case_is_judged_as_before() {
    let failing = Rc::new(Cell::new(0));
    for launch in 1..=BEFORE + 12 {
        failing.set(launch);
        let left = Rc::clone(&failing);
        let script: FakeKernel = Box::new(move |launch, memory| {
            left.set(left.get().wrapping_sub(1));
            if left.get() == 0 {
                return Err(DeviceError::call("clEnqueueNDRangeKernel", -36));
            }
            naive(launch, memory, |i, _| i);
            Ok(KERNEL_NS + left.get() % 7)
        });
        let mut session = Session::new(Box::new(FakeDevice::new(script)), Sources::default(), None);
        let case = case(Dtype::F32, 1000);
        let first = session.run(&case, &settings());
        // How often a case is timed depends on the machine: there may be no such launch.
        if (1..=launch).contains(&failing.get()) {
            assert!(launch > BEFORE / 2, "no launch {launch}");
            break;
        }
        assert_eq!(first.status(), Status::Failed, "launch {launch}");
        assert!(
            first.reason().contains("clEnqueueNDRangeKernel"),
            "{}",
            first.reason()
        );
        let next = session.run(&case, &settings());
        assert_eq!(
            next.status(),
            Status::Ok,
            "after launch {launch} failed: {}",
            next.reason()
        );
    }
}

fn shortcut(variant: &str, n: u64) -> Case {
    let shape = Shape { n, m: n };
    Case {
        family: "minplus".into(),
        variant: variant.into(),
        shape,
        ..case(Dtype::F32, n)
    }
}

/// What `minplus_registers` and the preparation before it do.
fn min_plus(launch: &Launch, memory: &mut Memory) {
    let Arg::Index(n) = launch.args[3] else {
        panic!("{:?}", launch.args)
    };
    let (n, pitch) = (n as usize, 64);
    let first: Vec<f32> = memory.get(&launch.args[0]);
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        if launch.kernel == "panels" {
            memory.set(&launch.args[1], i * pitch + j, first[i * n + j]);
            memory.set(&launch.args[2], j * pitch + i, first[i * n + j]);
        } else {
            let columns: Vec<f32> = memory.get(&launch.args[1]);
            let sums = (0..n).map(|k| columns[k * pitch + i] + first[k * pitch + j]);
            memory.set(
                &launch.args[2],
                i * n + j,
                sums.fold(f32::INFINITY, f32::min),
            );
        }
    }
}

/// Minima are checked over no other data, which would take the place of what a wrong run leaves on the device.
#[test]
fn a_wrong_kernel_does_not_spoil_the_next_ones_inputs() {
    let runs = Rc::new(Cell::new(0));
    let spoiling = |run: u64| -> FakeKernel {
        let runs = runs.clone();
        runs.set(0);
        Box::new(move |launch, memory| {
            min_plus(launch, memory);
            runs.set(runs.get() + u64::from(launch.kernel == "panels"));
            if launch.kernel == "panels" && runs.get() == run {
                (20..40).for_each(|index| memory.set(&launch.args[0], index, -50.0f32));
            }
            Ok(KERNEL_NS)
        })
    };
    let session =
        |script| Session::new(Box::new(FakeDevice::new(script)), Sources::default(), None);
    let case = shortcut("registers", 20);
    // As many runs in each session, however busy the machine is.
    let settings = || Settings {
        min_runs: 5,
        max_runs: 5,
        timeout: 60.0,
        ..settings()
    };
    assert_eq!(
        session(spoiling(0)).run(&case, &settings()).status(),
        Status::Ok
    );
    // While it is timed: nothing is uploaded any more.
    let mut session = session(spoiling(runs.get() - 2));
    let wrong = session.run(&case, &settings());
    assert_eq!(wrong.status(), Status::WrongResult, "{}", wrong.reason());
    let right = session.run(&case, &settings());
    assert_eq!(right.status(), Status::Ok, "{}", right.reason());
}

/// A session on a device whose canary takes so many nanoseconds a step.
fn canary(step_ns: impl FnMut() -> u64 + 'static) -> Session {
    Session::new(
        Box::new(FakeDevice::new(right()).drifting(step_ns)),
        Sources::default(),
        None,
    )
}

/// A row's ratio of the canary, with its flags.
fn drift(outcome: Outcome) -> (f64, Flags) {
    let run = Run {
        id: "r1".into(),
        time_utc: "2026-01-02T03:04:05Z".into(),
        ..Run::default()
    };
    let scene = Scene {
        clocks: 0.0,
        cache_bytes: 0,
        ..Scene::on_device(&run, &fake_info(), &settings(), None)
    };
    assert_eq!(outcome.status(), Status::Ok, "{}", outcome.reason());
    (
        outcome.measured().and_then(|m| m.canary).unwrap().ratio,
        Row::of(&scene, Some(1), &outcome).flags,
    )
}

#[test]
fn a_canary_that_slows_down_flags_the_rows_after() {
    let slowness = Rc::new(Cell::new(1000));
    let mut session = canary({
        let slowness = slowness.clone();
        move || slowness.get()
    });
    let case = case(Dtype::F32, 1000);
    assert!(drift(session.run(&case, &settings())).1.is_empty());
    slowness.set(1500);
    let slow = session.run(&case, &settings());
    let fast = {
        slowness.set(1000);
        // Longer than a reading holds, also for the case that begins next.
        std::thread::sleep(std::time::Duration::from_millis(25));
        session.run_again(&case, &settings())
    };
    let (ratio, flags) = drift(slow);
    assert!(
        flags == flag::DRIFT && (ratio - 1.5).abs() < 1e-9,
        "{ratio}: {flags:?}"
    );
    assert!(drift(fast).1.is_empty());
}

#[test]
fn a_canary_that_is_slow_now_and_then_means_nothing() {
    let mut count = 0;
    let mut session = canary(move || {
        count += 1;
        if count % 3 == 0 { 5000 } else { 1000 }
    });
    assert!(
        drift(session.run(&case(Dtype::F32, 1000), &settings()))
            .1
            .is_empty()
    );
}

/// A small case on a device whose event clock makes this of a kernel's nanoseconds.
fn by_clock(
    clock: impl FnMut(u64) -> u64 + 'static,
    launch_ns: u64,
    kernel_ns: u64,
) -> (Outcome, Outcome) {
    let mut count = 0;
    let script: FakeKernel = Box::new(move |launch, memory| {
        naive(launch, memory, |i, _| i);
        count += 1;
        Ok(kernel_ns + 40 * (count % 7))
    });
    let device = FakeDevice::new(script).lying(clock, launch_ns);
    let mut session = Session::new(Box::new(device), Sources::default(), None);
    let first = session.run(&case(Dtype::F32, 1000), &settings());
    let again = session.run_again(&case(Dtype::F32, 1000), &settings());
    (first, again)
}

#[test]
fn an_event_clock_that_does_not_keep_time_is_refused_in_every_row_of_its_session() {
    let mut state = 1u64;
    let random = move |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        1_000 + (state >> 33) % 2_000_000
    };
    type Lie = Box<dyn FnMut(u64) -> u64>;
    let lies: Vec<(&str, Lie)> = vec![
        ("constant", Box::new(|_| 12_000)),
        ("x 0.001", Box::new(|ns| ns / 1_000)),
        ("x 1000", Box::new(|ns| ns * 1_000)),
        ("random", Box::new(random)),
    ];
    for (what, clock) in lies {
        let (first, again) = by_clock(clock, 20_000, KERNEL_NS);
        for outcome in [
            first,
            again.clone(),
            again.pooled(by_clock(|ns| ns, 0, KERNEL_NS).0, &settings()),
        ] {
            assert_eq!(
                (outcome.status(), outcome.clock()),
                (Status::Ok, Clock::Wall),
                "{what}: {}",
                outcome.reason()
            );
            let note = outcome.clock_note().unwrap();
            assert!(
                note.contains("not trusted in this session"),
                "{what}: {note}"
            );
            assert!(
                outcome.times().iter().all(|&t| t > 1e-9 * KERNEL_NS as f64),
                "{what}: {:?}",
                outcome.times()
            );
        }
    }
}

#[test]
fn an_honest_event_clock_is_believed_however_coarse_it_is_and_whatever_launches_cost() {
    for (step, launch_ns, kernel_ns) in [
        (1, 0, KERNEL_NS),
        (32, 5_000, 60_000),
        (1_000, 20_000, 200_000),
        (1, 300_000, 20_000),
        (32, 2_000_000, 60_000),
    ] {
        let coarse = move |ns: u64| ns.div_ceil(step) * step;
        let (first, again) = by_clock(coarse, launch_ns, kernel_ns);
        for outcome in [first, again] {
            let what = format!("steps of {step} ns, {launch_ns} ns a launch");
            assert_eq!(
                (outcome.status(), outcome.clock()),
                (Status::Ok, Clock::Event),
                "{what}: {:?}",
                outcome.clock_note()
            );
        }
    }
}

#[test]
fn a_refusal_after_a_launch_is_a_failure() {
    for (failing, status) in [
        (1, Status::Skipped),
        (2, Status::Failed),
        (6, Status::Failed),
    ] {
        for code in [-4, -5, -6] {
            let mut runs = 0;
            let script: FakeKernel = Box::new(move |launch, memory| {
                runs += 1;
                if runs == failing {
                    return Err(DeviceError::call("clEnqueueNDRangeKernel", code));
                }
                naive(launch, memory, |i, _| i);
                Ok(KERNEL_NS + runs)
            });
            let outcome = run_case(script, &case(Dtype::F32, 1000), &settings());
            assert_eq!(
                outcome.status(),
                status,
                "launch {failing}, {code}: {}",
                outcome.reason()
            );
        }
    }
    for code in [-4, -5, -6, -54] {
        let script: FakeKernel = Box::new(move |_, _| Err(DeviceError::call("clFinish", code)));
        assert_eq!(
            run_case(script, &case(Dtype::F32, 1000), &settings()).status(),
            Status::Failed,
            "{code}"
        );
    }
}
