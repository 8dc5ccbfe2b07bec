//! Distances in tiles of a matrix in the host's memory: right for all sizes, by one device or two; and whatever the second does
//! at whatever call, the first makes up for it, or what is wrong is seen.

use crate::drivers::{is_turn, on_every_real_driver, on_pocl, open};
use crate::wrong_device::{Wrong, WrongDevice};
use gpulab::cpu::minplus::{EdgeJoin, Semiring};
use gpulab::data::{Array, Dtype, Shape};
use gpulab::device::Device;
use gpulab::graph;
use gpulab::kernels::minplus::CLOSURE;
use gpulab::kernels::{Rung, Sources};
use gpulab::outcome::Stop;
use gpulab::plan::Case;
use gpulab::runner::{Session, TileWorker};
use gpulab::team::{Hand, TiledClosure, close};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room for two devices' panels of 130 nodes in f32 with the smallest blocks, and for none of their tiles or for all.
const BYTES: [u64; 2] = [1_050_000, 1_500_000];

fn case(variant: &str, dtype: Dtype, n: usize) -> Case {
    Case::of("closure", variant, dtype, Shape { n: n as u64, m: n as u64 })
}

fn weights(case: &Case) -> Array {
    let n = case.shape.n as usize;
    CLOSURE.problem.input(case, 0, n * n, CLOSURE.problem.fill(case), 1)
}

fn hand(name: &str, case: &Case, device: impl FnOnce() -> Box<dyn Device> + Send + 'static) -> Hand<'static> {
    let case = case.clone();
    let open = move || {
        let rung: &'static Rung = CLOSURE.rung(&case.variant).unwrap();
        TileWorker::new(Session::new(device(), Sources::default(), None), &[(rung, case)])
    };
    Hand { name: name.into(), open: Box::new(open) }
}

fn good(driver: &str, case: &Case) -> Hand<'static> {
    let driver = driver.to_owned();
    hand("good", case, move || Box::new(open(&driver)))
}

fn closed(hands: Vec<Hand<'static>>, case: &Case, bytes: u64) -> Result<TiledClosure, Stop> {
    close(hands, case.shape.n as usize, &weights(case), Semiring::MinPlus, bytes)
}

/// Whether the distances are those of the weights, and if they are said to be right.
fn is_right(case: &Case, distances: &Array) -> bool {
    graph::prove(EdgeJoin::Sum, case.shape.n as usize, &weights(case), distances, &[]).is_ok()
}

#[test]
#[ignore = "long"]
fn all_sizes_are_right_in_few_tiles_and_in_many() {
    on_every_real_driver(|driver| {
        let mut count = 0;
        let sizes = [(1, 1), (127, 1), (128, 1), (129, 2), (300, 3), (515, 5)];
        for (d, dtype) in [Dtype::F32, Dtype::I32].into_iter().enumerate() {
            for (s, (n, rows)) in sizes.into_iter().enumerate() {
                if !is_turn(driver, d + s) {
                    continue;
                }
                let case = case("blocked_wide", dtype, n);
                let found = closed(vec![good(driver, &case)], &case, 2_000_000).unwrap();
                assert_eq!(found.distances, *CLOSURE.problem.reference(&case, &[weights(&case)]).exact().unwrap());
                assert!(found.grid.rows() >= rows && found.lost.is_empty(), "{driver} {case:?}: {:?}", found.grid);
                assert_eq!(found.done[0].tiles, found.grid.rows().pow(3), "{driver}: each tile in each step");
                count += 1;
            }
        }
        count
    });
}

#[test]
fn the_shape_for_gpus_works_on_tiles_too() {
    on_pocl(|driver| {
        let case = case("blocked", Dtype::F32, 150);
        let found = closed(vec![good(driver, &case)], &case, 1_000_000).unwrap();
        assert!(is_right(&case, &found.distances) && found.grid.rows() > 1, "{:?}", found.grid);
        1
    });
}

#[test]
fn two_devices_share_all_tiles() {
    on_pocl(|driver| {
        let case = case("blocked_wide", Dtype::F32, 700);
        let found = closed(vec![good(driver, &case), good(driver, &case)], &case, u64::MAX).unwrap();
        assert!(is_right(&case, &found.distances) && found.lost.is_empty(), "{:?}", found.lost);
        let done: Vec<usize> = found.done.iter().map(|done| done.tiles).collect();
        assert_eq!(done.iter().sum::<usize>(), found.grid.rows().pow(3));
        assert!(done.iter().all(|tiles| *tiles > 0), "{done:?}");
        1
    });
}

#[test]
fn tiles_stay_on_a_device_that_has_room_for_them() {
    on_pocl(|driver| {
        let case = case("blocked_wide", Dtype::F32, 300);
        // Each of nine tiles goes in once or in each of three steps. Those that stay come back as panels, as pivots and at last.
        for (bytes, moved) in [(990_000, [27, 25]), (1_200_000, [21, 23]), (1_600_000, [9, 19])] {
            let found = closed(vec![good(driver, &case)], &case, bytes).unwrap();
            assert!(is_right(&case, &found.distances) && found.grid.rows() == 3, "{:?}", found.grid);
            assert_eq!(found.moved.map(|of| of / found.grid.bytes() as u64), moved, "{bytes}");
        }
        3
    });
}

#[test]
fn what_cannot_be_done_in_tiles_is_refused() {
    on_pocl(|driver| {
        for (variant, bytes, why) in
            [("textbook", u64::MAX, "choose blocked"), ("blocked_wide", 1000, "give more with --memory")]
        {
            let case = case(variant, Dtype::F32, 300);
            let stop = closed(vec![good(driver, &case)], &case, bytes).err().unwrap();
            assert!(stop.reason.contains(why) && stop.refusal.is_some(), "{stop:?}");
        }
        2
    });
}

/// What comes of two devices of which one does something wrong; and how many calls that had.
fn with_wrong(
    driver: &str,
    case: &Case,
    is_first: bool,
    wrong: Wrong,
    at: usize,
    bytes: u64,
) -> (Result<TiledClosure, Stop>, usize) {
    let calls = Arc::new(AtomicUsize::new(0));
    let (device, counted) = (driver.to_owned(), Arc::clone(&calls));
    let bad = hand("bad", case, move || Box::new(WrongDevice { inner: open(&device), wrong, at, calls: counted }));
    let hands = if is_first { vec![bad, good(driver, case)] } else { vec![good(driver, case), bad] };
    (closed(hands, case, bytes), calls.load(Ordering::Relaxed))
}

#[test]
#[ignore = "long"]
fn whatever_call_of_a_device_fails_the_other_does_its_share() {
    on_pocl(|driver| {
        let case = case("blocked_wide", Dtype::F32, 130);
        let mut tried = 0;
        // Of the first device fewer: it differs by the tiles that it holds.
        for (is_first, wrong, each) in
            [(false, Wrong::Fails, 1), (false, Wrong::Dies, 9), (true, Wrong::Fails, 7), (true, Wrong::Dies, 15)]
        {
            let calls = with_wrong(driver, &case, is_first, wrong, usize::MAX, BYTES[1]).1;
            assert!(calls > 50, "{calls}");
            for at in (0..calls).step_by(each) {
                let (found, met) = with_wrong(driver, &case, is_first, wrong, at, BYTES[at % 2]);
                let found = found.unwrap_or_else(|stop| panic!("{wrong:?} {at}: {stop:?}"));
                assert!(is_right(&case, &found.distances), "{wrong:?} {at}");
                assert!(met <= at || found.lost.len() == 1, "{wrong:?} {at}: {:?}", found.lost);
                assert!(found.lost.iter().all(|why| why.starts_with("bad did not do its share: ")), "{:?}", found.lost);
                tried += usize::from(met > at);
            }
        }
        assert!(tried > 70, "{tried}");
        tried
    });
}

#[test]
#[ignore = "long"]
fn tiles_of_a_device_that_becomes_slow_move_to_the_other() {
    on_pocl(|driver| {
        let case = case("blocked_wide", Dtype::F32, 700);
        let room = 20_000_000;
        let calls = with_wrong(driver, &case, false, Wrong::Slows, usize::MAX, room).1;
        for (is_first, at) in [(false, 0), (false, calls / 3), (true, calls / 3)] {
            let found = with_wrong(driver, &case, is_first, Wrong::Slows, at, room).0.unwrap();
            assert!(is_right(&case, &found.distances) && found.lost.is_empty(), "{:?}", found.lost);
            let [bad, good] =
                ["bad", "good"].map(|name| found.done.iter().find(|done| done.name == name).unwrap().tiles);
            assert!(bad < good, "{is_first} {at}: {bad} {good}");
        }
        3
    });
}

#[test]
fn a_device_that_only_pretends_is_seen() {
    on_pocl(|driver| {
        let case = case("blocked_wide", Dtype::F32, 130);
        for is_first in [false, true] {
            let (found, _) = with_wrong(driver, &case, is_first, Wrong::Pretends, 0, BYTES[0]);
            assert!(found.is_err() || !is_right(&case, &found.unwrap().distances));
        }
        2
    });
}
