//! What single families have of their own, on real drivers: settings that go together, special weights, loops inside kernels.

use crate::drivers::{on_every_driver, on_every_real_driver, on_pocl, open, session};
use crate::skips::{self, verify};
use gpulab::check::{check_exact, check_moved, poisoned};
use gpulab::cpu::minplus::all_threads;
use gpulab::data::{Array, Dtype, Fill, NO_EDGE, Shape, generate};
use gpulab::device::{BuildUnit, Device};
use gpulab::kernels::{self, FAMILIES, Family, Form, Rung, Sources, minplus, transpose};
use gpulab::outcome::{Settings, Status};
use gpulab::plan::{Arg, Case, Launch, WorkGroup};

fn case(
    family: &Family,
    rung: &Rung,
    dtype: Dtype,
    shape: Shape,
    wg: usize,
    set: &[(&str, &str)],
) -> Case {
    let params = set
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Case {
        wg: WorkGroup::linear(wg),
        params,
        ..Case::of(&family.name, rung.variant(), dtype, shape)
    }
}

/// What goes together: work-groups of rare sizes, few items with many turns, shared k, folded launches, skewed tiles.
#[test]
fn settings_that_go_together_are_right() {
    on_pocl(|driver| {
        let mut session = session(driver, None);
        let max = session.device().info().target.max_wg;
        let mut count = 0;
        for (family, wg) in FAMILIES
            .iter()
            .flat_map(|f| [1, 3, max].map(|wg| (*f, wg)))
            .filter(|(f, _)| f.form == Form::Vector)
        {
            for rung in &*family.ladder {
                let few: &[_] = if rung.tunables().any(|t| t.name == "items") {
                    &[("items", "96")]
                } else {
                    &[]
                };
                count += verify(
                    &mut session,
                    driver,
                    &case(family, rung, Dtype::I32, Shape::vector(4099), wg, few),
                );
            }
        }
        let three_way = minplus::FAMILY.rung("three_way").unwrap();
        for (buffers, split) in [("1", "2"), ("2", "3")] {
            let set = [
                ("buffers", buffers),
                ("split", split),
                ("tile", "32x64"),
                ("item", "8x4"),
            ];
            let shape = Form::Square.shape(131, None);
            count += verify(
                &mut session,
                driver,
                &case(&minplus::FAMILY, three_way, Dtype::F32, shape, 64, &set),
            );
        }
        let transpose = &transpose::FAMILY;
        let diagonal = transpose.rung("diagonal").unwrap();
        for (order, (n, m)) in ["rows", "columns", "diagonal"].into_iter().zip([
            (3, 300_000),
            (300_000, 3),
            (3, 300_000),
        ]) {
            let set = [("tile", "4"), ("rows", "4"), ("order", order)];
            count += verify(
                &mut session,
                driver,
                &case(transpose, diagonal, Dtype::F32, Shape { n, m }, 64, &set),
            );
        }
        // Rows of the output that begin anywhere beside a whole vector, in matrices of less than a tile, of a rest, and of many.
        let registers = transpose.rung("registers").unwrap();
        for (dtype, (n, m)) in transpose
            .dtypes
            .iter()
            .zip([(5, 31), (131, 67), (257, 1023)])
        {
            for more in [("order", "diagonal"), ("gap", "3")] {
                let set = [("skew", "1"), ("tile", "32"), more];
                count += verify(
                    &mut session,
                    driver,
                    &case(transpose, registers, *dtype, Shape { n, m }, 256, &set),
                );
            }
        }
        count
    });
}

#[test]
fn special_weights_are_right() {
    on_pocl(|driver| {
        let inf = f32::INFINITY;
        let mut count = 0;
        let mut session = session(driver, None);
        let matrices = [
            (
                Array::F32(
                    (0..25)
                        .map(|i| [0.0, -0.0, f32::MAX, inf, 1e-3][i % 5])
                        .collect(),
                ),
                "non_negative",
            ),
            (
                Array::F32(
                    (0..25)
                        .map(|i| [-f32::MAX, f32::MAX, inf, -1.0, 0.5][i * 3 % 5])
                        .collect(),
                ),
                "signed",
            ),
            (
                Array::I32(
                    (0..25)
                        .map(|i| [NO_EDGE, 1 - NO_EDGE, 0, -1, NO_EDGE - 1][i * 3 % 5])
                        .collect(),
                ),
                "signed",
            ),
        ];
        for (d, weights) in &matrices {
            let mut want = Array::zeros(d.dtype(), d.len());
            all_threads(5, d, &mut want);
            let family = &minplus::FAMILY;
            for rung in &*family.ladder {
                let case = case(
                    family,
                    rung,
                    d.dtype(),
                    Form::Square.shape(5, None),
                    64,
                    &[("weights", weights)],
                );
                count += skips::run(&mut session, driver, &case, |session, case| {
                    let computed = session.compute(case, std::slice::from_ref(d))?;
                    let verdict = check_exact(&computed.output, &want);
                    assert!(verdict.ok, "{} {d:?}: {:?}", rung.path, verdict.why);
                    Ok(())
                });
            }
        }
        // Without the word that weights may be negative, their order as integers is wrong.
        let d = Array::F32(vec![-1.0, -2.0, -3.0, -4.0]);
        let mut want = Array::zeros(Dtype::F32, 4);
        all_threads(2, &d, &mut want);
        let rung = minplus::FAMILY.rung("three_way").unwrap();
        for (weights, is_right) in [("signed", true), ("non_negative", false)] {
            let set = [("weights", weights)];
            let case = case(
                &minplus::FAMILY,
                rung,
                Dtype::F32,
                Form::Square.shape(2, None),
                64,
                &set,
            );
            let found = session
                .compute(&case, std::slice::from_ref(&d))
                .unwrap()
                .output;
            assert_eq!(check_exact(&found, &want).ok, is_right, "{weights}");
        }
        count
    });
}

/// A compiler could see that a kernel that repeats its work does the same again and again, and leave that out. The
/// very program that is timed is given other data for each repetition here: all of them must be moved.
#[test]
fn the_loop_inside_the_kernel_is_carried_out() {
    const REPEATS: usize = 3;
    on_every_driver(|driver| {
        let mut device = open(driver);
        let target = device.info().target.clone();
        let family = &transpose::FAMILY;
        let mut count = 0;
        for rung in family.kernels() {
            let case = case(
                family,
                rung,
                Dtype::F32,
                Shape { n: 96, m: 64 },
                target.max_wg.min(256),
                &[("nreps", "3")],
            );
            let plan = family.plan(rung, &case, &target).unwrap();
            let text = Sources::default().for_plan(rung, &plan).unwrap();
            let unit = BuildUnit {
                path: rung.path.to_string(),
                text,
                defines: plan.defines.clone(),
                kernels: vec![rung.kernel()],
            };
            let program = device.build(&unit).unwrap();
            let len = plan.buffers[0].len;
            let input = generate(Fill::Bits, case.dtype, 1, 0, 0, REPEATS * len);
            let mut output = poisoned(case.dtype, REPEATS * len);
            let ids = [&input, &output].map(|array| {
                let id = device.alloc(array.as_bytes().len()).unwrap();
                device.write(id, 0, array.as_bytes()).unwrap();
                id
            });
            let pass = &plan.passes[0];
            let mut args = pass.args.clone();
            assert_eq!(
                args.pop(),
                Some(Arg::Index(0)),
                "timed over the same data each time"
            );
            args.push(Arg::Index(len as u64));
            let args = args
                .into_iter()
                .map(|arg| arg.bound(|index| ids[index]))
                .collect();
            let launch = Launch {
                kernel: pass.kernel.clone(),
                global: pass.global,
                local: pass.local,
                args,
                timed: true,
                check: None,
            };
            if let Err(error) = device.run(program, &[launch]) {
                assert!(error.is_refusal(), "{}: {error}", rung.path);
                continue;
            }
            device.read(ids[1], 0, output.as_bytes_mut()).unwrap();
            let movement = family.problem.movement(&case).unwrap();
            let [Array::F32(input), Array::F32(output)] = [&input, &output] else {
                unreachable!("f32 only")
            };
            for (input, output) in input.chunks(len).zip(output.chunks(len)) {
                let verdict = check_moved(
                    &Array::F32(output.to_vec()),
                    &Array::F32(input.to_vec()),
                    &movement,
                );
                assert!(verdict.ok, "{}: {:?}", rung.path, verdict.why);
            }
            ids.iter().for_each(|&id| device.free(id.0));
            count += 1;
        }
        count
    });
}

#[test]
fn every_remedy_of_a_rest_adds_each_element_once_and_a_host_that_adds_is_timed() {
    on_every_real_driver(|driver| {
        let mut session = session(driver, None);
        let mut count = 0;
        let family = &kernels::lab::sums::PRESUM;
        let of = |rung: &Rung, n| case(family, rung, Dtype::I32, Shape::vector(n), 8, &[]);
        for n in [64, 65, 127, 320, 383] {
            for rung in &*family.ladder {
                count += verify(&mut session, driver, &of(rung, n));
            }
        }
        assert_eq!(
            verify(&mut session, driver, &of(family.rung("guard").unwrap(), 63)),
            0,
            "no whole group"
        );
        let settings = Settings {
            warmup: 0,
            min_runs: 1,
            max_runs: 1,
            min_time: 0.0,
            timeout: 1.0,
            ..Settings::default()
        };
        for (variant, rest, is_timed) in
            [("host", 0, false), ("host", 1, true), ("device", 1, false)]
        {
            let outcome = session.run(&of(family.rung(variant).unwrap(), 128 + rest), &settings);
            assert_eq!(outcome.status(), Status::Ok, "{}", outcome.reason());
            let host_tail = outcome.measured().and_then(|m| m.host_tail);
            assert_eq!(
                host_tail.is_some_and(|s| s > 0.0),
                is_timed,
                "{variant}, rest {rest}"
            );
        }
        count
    });
}
