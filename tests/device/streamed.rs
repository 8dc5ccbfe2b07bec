//! Data that go through a part of a device in chunks: right at every size, and never more of the device than was given.

use crate::drivers::{is_turn, on_every_real_driver, on_pocl, open, session};
use crate::sources::edited_kernels;
use crate::wrong_device::{Wrong, WrongDevice};
use gpulab::data::{Array, Dtype, Params, Shape};
use gpulab::kernels::{Family, Sources, dot, minplus, reduce, transpose};
use gpulab::outcome::{Number, Outcome, Settings, Status};
use gpulab::plan::{CHUNK, Case, WorkGroup};
use gpulab::runner::Session;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room for three chunks of 4096 floats of two vectors each with partial results, and not for three of twice as many.
const BYTES: u64 = 150_000;

fn case(family: &Family, variant: &str, dtype: Dtype, n: u64) -> Case {
    Case { wg: WorkGroup::linear(64), ..Case::of(&family.name, variant, dtype, Shape::vector(n)) }
}

fn stream(session: &mut Session, case: &Case, bytes: u64) -> Outcome {
    session.run(case, &Settings { stream: Some(bytes), max_runs: 2, ..Settings::once() })
}

fn chunk(outcome: &Outcome) -> u64 {
    outcome.params.get(CHUNK).unwrap().parse().unwrap()
}

#[test]
#[ignore = "long"]
fn every_fold_is_right_at_sizes_around_whole_chunks() {
    on_every_real_driver(|driver| {
        let mut session = session(driver, None);
        let mut count = 0;
        for (f, (family, dtype)) in
            [(&reduce::FAMILY, Dtype::I32), (&dot::FAMILY, Dtype::F32), (&reduce::FAMILY, Dtype::F32)]
                .into_iter()
                .enumerate()
        {
            for (r, rung) in family.kernels().enumerate() {
                for (s, n) in [1, 4095, 4096, 4097, 3 * 4096, 13 * 4096 + 17].into_iter().enumerate() {
                    if !is_turn(driver, f + 2 * r + s) || rung.variant() == "subgroup" {
                        continue;
                    }
                    let case = case(family, rung.variant(), dtype, n);
                    let outcome = stream(&mut session, &case, BYTES);
                    assert_eq!(outcome.status(), Status::Ok, "{driver} {case:?}: {}", outcome.reason());
                    let inputs = family.problem.inputs(Shape::vector(chunk(&outcome)), &case.params);
                    assert!(
                        3 * 4 * inputs.iter().sum::<usize>() as u64 <= BYTES,
                        "{driver} {case:?}: {}",
                        chunk(&outcome)
                    );
                    let apart = outcome.measured().unwrap().streamed.unwrap();
                    assert!(apart.copies > 0.0 && apart.kernels > 0.0);
                    count += 1;
                }
            }
        }
        count
    });
}

#[test]
fn the_host_adds_what_each_chunk_leaves_it() {
    on_pocl(|driver| {
        let numbers: Vec<i32> = (0..20_000).collect();
        let mut session = session(driver, Some(vec![Array::I32(numbers.clone())]));
        let params = Params::from([("presum".to_owned(), "host".to_owned())]);
        let case = Case { params, ..case(&reduce::FAMILY, "sequential", Dtype::I32, 20_000) };
        let outcome = stream(&mut session, &case, BYTES);
        assert_eq!(outcome.status(), Status::Ok, "{}", outcome.reason());
        let sum = numbers.iter().map(|&x| i64::from(x)).sum();
        assert_eq!(outcome.measured().unwrap().result, Some(Number::Integer(sum)));
        1
    });
}

#[test]
fn too_little_memory_and_what_cannot_be_streamed_are_refused() {
    on_pocl(|driver| {
        let mut session = session(driver, None);
        let outcome = stream(&mut session, &case(&reduce::FAMILY, "sequential", Dtype::I32, 20_000), 1);
        assert_eq!(outcome.status(), Status::Skipped);
        assert!(outcome.reason().contains("it may have 1: give more with --memory"), "{}", outcome.reason());
        let square = |family: &Family| Case { shape: Shape { n: 8, m: 8 }, ..case(family, "naive", Dtype::F32, 8) };
        let outcome = stream(&mut session, &square(&minplus::FAMILY), BYTES);
        assert!(outcome.reason().contains("minplus is not streamed"), "{}", outcome.reason());
        let outcome = stream(&mut session, &square(&transpose::FAMILY), 1);
        assert!(outcome.reason().contains("it may have 1: give more with --memory"), "{}", outcome.reason());
        3
    });
}

#[test]
#[ignore = "long"]
fn every_transposition_and_copy_is_right_in_tiles_of_any_edges() {
    on_every_real_driver(|driver| {
        let mut session = session(driver, None);
        let mut count = 0;
        let references = [transpose::FAMILY.rung("copy").unwrap(), transpose::FAMILY.rung("local_copy").unwrap()];
        for (r, rung) in transpose::FAMILY.kernels().chain(references).enumerate() {
            for (s, (n, m, gap)) in
                [(1, 1, 0), (64, 64, 0), (65, 1, 0), (200, 300, 0), (257, 131, 3)].into_iter().enumerate()
            {
                // Mesa's rusticl says CL_OUT_OF_RESOURCES of its launches over tiles; why is not known.
                let is_refused = driver == "rusticl" && rung.variant() == "vectorised";
                if is_refused || !is_turn(driver, r + s) {
                    continue;
                }
                let params = Params::from([("gap".to_owned(), gap.to_string())]);
                let dtype = if s % 2 == 0 { Dtype::F32 } else { Dtype::I32 };
                let case = Case { shape: Shape { n, m }, params, ..case(&transpose::FAMILY, rung.variant(), dtype, n) };
                let outcome = stream(&mut session, &case, BYTES);
                assert_eq!(outcome.status(), Status::Ok, "{driver} {case:?}: {}", outcome.reason());
                let apart = outcome.measured().unwrap().streamed.unwrap();
                assert!(apart.copies > 0.0 && apart.kernels > 0.0, "{driver} {case:?}");
                count += 1;
            }
        }
        count
    });
}

/// What stands for the read of v1, and what the refusal says.
const WRONG_READS: [(&str, &str); 3] = [
    ("in_pitch + (x == 30 ? 0 : x)]", "want"),
    ("in_pitch + x], ((volatile __global T *)in)[(y + j) * in_pitch + x] = 7", "changed its input"),
    // Between two rows.
    ("in_pitch + x], ((volatile __global T *)in)[(y + j) * in_pitch + in_pitch - 1] = 7", "changed its input"),
];

#[test]
fn a_wrong_transposition_has_no_times() {
    on_pocl(|driver| {
        for (read, told) in WRONG_READS {
            let edited = edited_kernels("transpose/naive.cl", "in_pitch + x]", read);
            let sources = Sources { dir: Some(edited.path().into()) };
            let mut session = Session::new(Box::new(open(driver)), sources, None);
            let params = Params::from([("gap".to_owned(), "3".to_owned())]);
            let case =
                Case { shape: Shape { n: 200, m: 300 }, params, ..case(&transpose::FAMILY, "naive", Dtype::I32, 200) };
            let outcome = stream(&mut session, &case, BYTES);
            let (status, reason) = (outcome.status(), outcome.reason());
            assert!(status == Status::WrongResult && reason.contains(told), "{read}: {status:?} {reason}");
            assert!(outcome.samples().is_empty(), "{read}");
        }
        WRONG_READS.len()
    });
}

/// What comes of a stream over a device that does something wrong, and how many calls that had.
fn with_wrong(driver: &str, case: &Case, wrong: Wrong, at: usize) -> (Outcome, usize) {
    let calls = Arc::new(AtomicUsize::new(0));
    let device = WrongDevice { inner: open(driver), wrong, at, calls: Arc::clone(&calls) };
    let mut session = Session::new(Box::new(device), Sources::default(), None);
    (stream(&mut session, case, BYTES), calls.load(Ordering::Relaxed))
}

#[test]
#[ignore = "long"]
fn whatever_call_fails_a_stream_ends_with_a_reason() {
    on_pocl(|driver| {
        let mut tried = 0;
        for case in [
            case(&reduce::FAMILY, "sequential", Dtype::I32, 20_000),
            Case { shape: Shape { n: 200, m: 300 }, ..case(&transpose::FAMILY, "coalesced", Dtype::I32, 200) },
        ] {
            let (good, calls) = with_wrong(driver, &case, Wrong::Fails, usize::MAX);
            assert!(good.status() == Status::Ok && calls > 30, "{calls}: {}", good.reason());
            for at in (0..calls).step_by(calls.div_ceil(12)) {
                let (outcome, met) = with_wrong(driver, &case, Wrong::Fails, at);
                let is_told =
                    matches!(outcome.status(), Status::Failed | Status::Skipped) && !outcome.reason().is_empty();
                assert!(is_told || met <= at || outcome.status() == Status::Ok, "{at}: {}", outcome.reason());
                tried += usize::from(is_told);
            }
            // Whatever the last good run left on the host is no result of the next.
            let plays_at = |at: usize| with_wrong(driver, &case, Wrong::Pretends, at).0;
            assert!((0..calls / 2).step_by(calls.div_ceil(12)).all(|at| plays_at(at).status() != Status::Ok));
        }
        assert!(tried > 10, "{tried}");
        tried
    });
}

/// Mistakes that a single chunk would not show, and such that it would.
const MISTAKES: [(&str, &str, &str, &str); 4] = [
    ("the ticket stays", "single_pass", "atomic_xchg(ticket, 0u);", ""),
    (
        "it writes its input",
        "single_pass",
        "if (!last)\n        return;",
        "((volatile __global T *)x)[1] = 7;\n    if (!last)\n        return;",
    ),
    (
        "it adds what the chunk before left",
        "single_pass",
        "result[0] = value;\n        atomic",
        "result[0] += value;\n        atomic",
    ),
    ("a part is left out", "single_pass", "for (uint g = get_local_id(0);", "for (uint g = 1 + get_local_id(0);"),
];

#[test]
fn wrong_kernels_have_no_times() {
    on_pocl(|driver| {
        for (what, variant, from, to) in MISTAKES {
            let edited = edited_kernels(&format!("reduce/{variant}.cl"), from, to);
            let sources = Sources { dir: Some(edited.path().into()) };
            let mut session = Session::new(Box::new(open(driver)), sources, None);
            let outcome = stream(&mut session, &case(&reduce::FAMILY, variant, Dtype::I32, 13 * 4096), BYTES);
            assert_eq!(outcome.status(), Status::WrongResult, "{what}: {}", outcome.reason());
            assert!(outcome.samples().is_empty(), "{what}");
        }
        MISTAKES.len()
    });
}
