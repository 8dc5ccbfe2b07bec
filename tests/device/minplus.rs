//! The min-plus step's kernels on real drivers: sizes, tilings, types, signs, and special values.

use crate::drivers::{is_turn, is_whole, on_every_driver, on_every_real_driver, session};
use crate::skips::{self, verify};
use gpulab::check::check_exact;
use gpulab::cpu::minplus::all_threads;
use gpulab::data::{Array, Dtype, NO_EDGE, Params};
use gpulab::kernels::{
    Form, Rung,
    minplus::{CLOSURE, FAMILY, LARGEST_SMALL, SOME_ROWS},
};
use gpulab::plan::{Case, WorkGroup};

fn case(rung: &Rung, dtype: Dtype, n: u64, wg: usize, params: &[(&str, &str)]) -> Case {
    Case {
        family: FAMILY.name.to_string(),
        variant: rung.variant().into(),
        dtype,
        shape: Form::Square.shape(n, None),
        wg: WorkGroup::linear(wg),
        params: params.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Params>(),
        seed: 1,
    }
}

/// A small tile for a simulator, where a rung has tiles.
fn small_tile(driver: &str, rung: &Rung) -> impl Iterator<Item = (&'static str, &'static str)> {
    let has_tiles = driver == "oclgrind" && rung.tunables().any(|t| t.name == "tile");
    [("tile", "16x32"), ("item", "4x4")].into_iter().filter(move |_| has_tiles)
}

#[test]
fn special_values_are_right() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        let wg = session.device().info().target.max_wg.min(64);
        let inf = f32::INFINITY;
        let non_negative: [Vec<f32>; 4] = [
            vec![inf; 25],
            vec![0.0; 25],
            (0..25).map(|i| [0.0, -0.0, f32::MAX, inf, 1e-3][i % 5]).collect(),
            (0..25).map(|i| [f32::MAX, 3e38, inf, 1.0, f32::MIN_POSITIVE][i * 7 % 5]).collect(),
        ];
        let signed = (0..25).map(|i| [-f32::MAX, f32::MAX, inf, -1.0, 0.5][i * 3 % 5]).collect();
        let whole = (0..25).map(|i| [NO_EDGE, 1 - NO_EDGE, 0, -1, NO_EDGE - 1][i * 3 % 5]).collect();
        let mut matrices: Vec<(Array, &str)> =
            non_negative.into_iter().map(|m| (Array::F32(m), "non_negative")).collect();
        matrices.extend([(Array::F32(signed), "signed"), (Array::I32(whole), "signed")]);
        // The simulator: those with both signs and with numbers near overflow.
        let first = if driver == "oclgrind" { 3 } else { 0 };
        let mut count = 0;
        for (d, weights) in &matrices[first..] {
            let mut want = Array::zeros(d.dtype(), d.len());
            all_threads(5, d, &mut want);
            for rung in &*FAMILY.ladder {
                let settings: Vec<_> = [("weights", *weights)].into_iter().chain(small_tile(driver, rung)).collect();
                let case = case(rung, d.dtype(), 5, wg, &settings);
                count += skips::run(&mut session, driver, &case, |session, case| {
                    let computed = session.compute(case, std::slice::from_ref(d))?;
                    let verdict = check_exact(&computed.output, &want);
                    assert!(verdict.ok, "{} {d:?}: {:?}", rung.path, verdict.why);
                    Ok(())
                });
            }
        }
        count
    });
}

/// Without the word that weights may be negative, their order as integers is wrong, and the check says so.
#[test]
fn an_undeclared_negative_weight_is_noticed() {
    on_every_real_driver(|driver| {
        let mut session = session(driver, None);
        let d = Array::F32(vec![-1.0, -2.0, -3.0, -4.0]);
        let mut want = Array::zeros(Dtype::F32, 4);
        all_threads(2, &d, &mut want);
        let rung = FAMILY.rung("three_way").unwrap();
        let mut is_right = |weights| {
            let case = case(rung, Dtype::F32, 2, 64, &[("weights", weights)]);
            check_exact(&session.compute(&case, std::slice::from_ref(&d)).unwrap().output, &want).ok
        };
        assert!(is_right("signed"));
        assert!(!is_right("non_negative"));
        2
    });
}

#[test]
fn two_lengths_a_word_are_right_up_to_their_largest() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        let rung = FAMILY.rung("three_way").unwrap();
        let with = |n, params: &[(&str, &str)]| {
            let set = [&[("weights", "small"), ("item", "4x4"), ("tile", "16x32")], params].concat();
            case(rung, Dtype::I32, n, 64, &set)
        };
        let mut count = 0;
        let others: &[(u64, &[(&str, &str)])] = &[(1, &[]), (130, &[("split", "2")]), (65, &[("packed", "0")])];
        for &(n, params) in [(19, &[][..])].iter().chain(others).filter(|(n, _)| *n == 19 || driver != "oclgrind") {
            count += verify(&mut session, driver, &with(n, params));
        }
        // The largest weights, whose sums are one below what stands for no edge.
        let (most, no) = (LARGEST_SMALL, NO_EDGE);
        let d = Array::I32(vec![most, most, no, no, most, 0, 1, no, no]);
        let want = Array::I32(vec![2 * most, 2 * most, most, 1, 2 * most, most, most + 1, most + 1, no]);
        count += skips::run(&mut session, driver, &with(3, &[]), |session, case| {
            let verdict = check_exact(&session.compute(case, std::slice::from_ref(&d))?.output, &want);
            assert!(verdict.ok, "{driver}: {:?}", verdict.why);
            Ok(())
        });
        count
    });
}

#[test]
fn rows_of_some_nodes_are_right() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        let rung = SOME_ROWS.rung("relax").unwrap();
        let sizes: &[u64] = if ["oclgrind", "rusticl"].contains(&driver) { &[19] } else { &[1, 2, 33, 130] };
        let mut count = 0;
        for (at, &n) in sizes.iter().enumerate() {
            for (s, semiring) in ["min_plus", "max_plus", "max_min", "or_and"].into_iter().enumerate() {
                let sources = ["1", "3", "16"][(at + s) % 3];
                let set = [("sources", sources), ("semiring", semiring)];
                let case = case(rung, SOME_ROWS.dtypes[(at + s) % 3], n, 64, &set);
                count += verify(&mut session, driver, &Case { family: SOME_ROWS.name.to_string(), ..case });
            }
        }
        count
    });
}

#[test]
fn every_semiring_is_right() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        let is_simulated = driver == "oclgrind";
        let mut count = 0;
        for (s, semiring) in ["max_plus", "max_min", "or_and"].into_iter().enumerate() {
            for family in [&FAMILY, &CLOSURE] {
                for (r, rung) in family.ladder.iter().enumerate() {
                    let dtype = family.dtypes[(s + r) % family.dtypes.len()];
                    let signed = ["non_negative", "signed"][(s + r / 2) % 2];
                    let has = |name: &str| rung.tunables().any(|t| t.name == name);
                    let small = [("block", "32"), ("tile", "32x32"), ("item", "4x4")].into_iter();
                    let small = small.filter(|(name, _)| has(name) && (*name != "item" || has("tile")));
                    let set: Vec<_> = small.chain([("semiring", semiring), ("weights", signed)]).collect();
                    let n = if is_simulated || driver == "rusticl" { 19 } else { 70 };
                    // A rung differs by one macro: one of the three is tried of each.
                    let is_other = !is_whole() && (s + r) % 3 != 0;
                    if is_other || !is_turn(driver, r / 3) || (is_simulated && family.name == CLOSURE.name) {
                        continue;
                    }
                    let case = Case { family: family.name.to_string(), ..case(rung, dtype, n, 64, &set) };
                    count += verify(&mut session, driver, &case);
                }
            }
        }
        count
    });
}
