//! The ladders' rungs, and the probes, on real drivers: sizes, work-groups, types, settings, and special values.

use crate::drivers::{alone, is_mine, is_turn, on_every_driver, on_every_real_driver, on_pocl, open, session};
use crate::skips::{self, verify};
use gpulab::check::{check_exact, check_moved, poisoned};
use gpulab::cpu::minplus::all_threads;
use gpulab::data::{Array, Dtype, Fill, NO_EDGE, Shape, generate};
use gpulab::device::{BuildUnit, Device};
use gpulab::kernels::{self, FAMILIES, Family, Form, PROBES, Rung, Sources, closure, minplus, transpose};
use gpulab::outcome::{Cache, Clock, Settings, Status};
use gpulab::plan::{Arg, Case, Launch, WorkGroup};

fn case(family: &Family, rung: &Rung, dtype: Dtype, shape: Shape, wg: usize, set: &[(&str, &str)]) -> Case {
    let params = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Case { wg: WorkGroup::linear(wg), params, ..Case::of(&family.name, rung.variant(), dtype, shape) }
}

/// Shapes of a family: none or one, less than a group, about one, and some with a rest.
fn shapes(family: &Family, is_simulated: bool) -> Vec<Shape> {
    let square = |n| Form::Square.shape(n, None);
    let shapes = match (family.form, is_simulated) {
        (Form::Square, true) => vec![square(19)],
        (Form::Square, false) => [1, 2, 65, 131].map(square).to_vec(),
        (Form::Matrix, true) => vec![Shape { n: 65, m: 47 }],
        (Form::Matrix, false) => [(1, 1), (1, 1000), (17, 31), (257, 255)].map(|(n, m)| Shape { n, m }).to_vec(),
        (_, true) => vec![Shape::vector(257)],
        (_, false) => [0, 1, 7, 257, 4097, 262_147].map(Shape::vector).to_vec(),
    };
    if family.name == closure::FAMILY.name && is_simulated { vec![square(7)] } else { shapes }
}

/// Settings with which compilers unroll little, where a rung has them.
fn small(family: &Family, rung: &Rung) -> Vec<(&'static str, &'static str)> {
    let has = |name: &str| rung.tunables().any(|t| t.name == name);
    match has("tile") && family.form == Form::Square {
        true if has("block") => vec![("block", "32"), ("tile", "32x32"), ("item", "4x4")],
        true => vec![("tile", "16x32"), ("item", "4x4")],
        false => Vec::new(),
    }
}

/// Each rung in its first type over all shapes, and in the others over one.
#[test]
fn every_rung_is_right() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        let is_simulated = driver == "oclgrind";
        let mut count = 0;
        for (f, family) in kernels::ladders().enumerate() {
            let shapes = shapes(family, is_simulated);
            for (r, rung) in family.kernels().enumerate() {
                let set = small(family, rung);
                for (d, &dtype) in family.dtypes.iter().enumerate() {
                    if !is_turn(driver, f + r + d) || (is_simulated && d > 0) {
                        continue;
                    }
                    let meant = if d == 0 { &shapes[..] } else { &shapes[shapes.len() / 2..][..1] };
                    for &shape in meant {
                        count += verify(&mut session, driver, &case(family, rung, dtype, shape, 64, &set));
                    }
                }
            }
        }
        count
    });
}

/// Each value of each tunable and choice alone, each on one driver; and, of reductions, each operation in each type.
#[test]
fn every_setting_is_right() {
    on_every_real_driver(|driver| {
        let mut session = session(driver, None);
        let mut count = 0;
        let mut tried = 0;
        for family in kernels::ladders() {
            let shape = match family.form {
                Form::Square => Form::Square.shape(131, None),
                Form::Matrix => Shape { n: 131, m: 67 },
                _ => Shape::vector(1003),
            };
            for (r, rung) in family.kernels().enumerate() {
                let tunables: Vec<_> = rung.tunables().chain(family.choices.iter().copied()).collect();
                for set in alone(&tunables) {
                    tried += 1;
                    let wg = if r % 3 == 0 { 32 } else { 64 };
                    let dtype = family.dtypes[tried % family.dtypes.len()];
                    if is_mine(driver, tried) {
                        count += verify(&mut session, driver, &case(family, rung, dtype, shape, wg, &set));
                    }
                }
            }
        }
        count
    });
}

/// What goes together: work-groups of rare sizes, few items with many turns, shared k, folded launches, skewed tiles.
#[test]
fn settings_that_go_together_are_right() {
    on_pocl(|driver| {
        let mut session = session(driver, None);
        let max = session.device().info().target.max_wg;
        let mut count = 0;
        for (family, wg) in
            FAMILIES.iter().flat_map(|f| [1, 3, max].map(|wg| (*f, wg))).filter(|(f, _)| f.form == Form::Vector)
        {
            for rung in &*family.ladder {
                let few: &[_] = if rung.tunables().any(|t| t.name == "items") { &[("items", "96")] } else { &[] };
                count += verify(&mut session, driver, &case(family, rung, Dtype::I32, Shape::vector(4099), wg, few));
            }
        }
        let three_way = minplus::FAMILY.rung("three_way").unwrap();
        for (buffers, split) in [("1", "2"), ("2", "3")] {
            let set = [("buffers", buffers), ("split", split), ("tile", "32x64"), ("item", "8x4")];
            let shape = Form::Square.shape(131, None);
            count += verify(&mut session, driver, &case(&minplus::FAMILY, three_way, Dtype::F32, shape, 64, &set));
        }
        let transpose = &transpose::FAMILY;
        let diagonal = transpose.rung("diagonal").unwrap();
        for (order, (n, m)) in
            ["rows", "columns", "diagonal"].into_iter().zip([(3, 300_000), (300_000, 3), (3, 300_000)])
        {
            let set = [("tile", "4"), ("rows", "4"), ("order", order)];
            count += verify(&mut session, driver, &case(transpose, diagonal, Dtype::F32, Shape { n, m }, 64, &set));
        }
        // Rows of the output that begin anywhere beside a whole vector, in matrices of less than a tile, of a rest, and of many.
        let registers = transpose.rung("registers").unwrap();
        for (dtype, (n, m)) in transpose.dtypes.iter().zip([(5, 31), (131, 67), (257, 1023)]) {
            for more in [("order", "diagonal"), ("gap", "3")] {
                let set = [("skew", "1"), ("tile", "32"), more];
                count += verify(&mut session, driver, &case(transpose, registers, *dtype, Shape { n, m }, 256, &set));
            }
        }
        count
    });
}

#[test]
fn special_values_are_right() {
    on_every_real_driver(|driver| {
        let (inf, nan, n) = (f32::INFINITY, f32::NAN, 1003);
        let mut count = 0;
        // NaN, infinities, and overflow.
        let all = [vec![(17, nan)], vec![(n - 1, inf)], vec![(3, inf), (1001, -inf)], vec![(500, 3e38), (501, 3e38)]];
        for (s, specials) in all.iter().enumerate() {
            let mut x = vec![1.0f32; n];
            specials.iter().for_each(|&(at, value)| x[at] = value);
            for family in FAMILIES.iter().filter(|f| f.form == Form::Vector) {
                let mut files = vec![Array::F32(x.clone())];
                files.resize(1 + usize::from(family.name == "dot"), Array::F32(vec![1.5; n]));
                let mut session = session(driver, Some(files));
                for (_, rung) in family.ladder.iter().enumerate().filter(|(r, _)| is_turn(driver, r + s)) {
                    count +=
                        verify(&mut session, driver, &case(family, rung, Dtype::F32, Shape::vector(n as u64), 64, &[]));
                }
            }
        }
        let mut session = session(driver, None);
        let matrices = [
            (Array::F32((0..25).map(|i| [0.0, -0.0, f32::MAX, inf, 1e-3][i % 5]).collect()), "non_negative"),
            (Array::F32((0..25).map(|i| [-f32::MAX, f32::MAX, inf, -1.0, 0.5][i * 3 % 5]).collect()), "signed"),
            (Array::I32((0..25).map(|i| [NO_EDGE, 1 - NO_EDGE, 0, -1, NO_EDGE - 1][i * 3 % 5]).collect()), "signed"),
        ];
        for (m, (d, weights)) in matrices.iter().enumerate() {
            let mut want = Array::zeros(d.dtype(), d.len());
            all_threads(5, d, &mut want);
            let family = &minplus::FAMILY;
            for (_, rung) in family.ladder.iter().enumerate().filter(|(r, _)| is_turn(driver, r + m)) {
                let case = case(family, rung, d.dtype(), Form::Square.shape(5, None), 64, &[("weights", weights)]);
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

#[test]
fn the_probes_of_the_ceilings_are_right() {
    on_pocl(|driver| {
        let mut session = session(driver, None);
        let mut count = 0;
        for (family, rung) in PROBES.iter().flat_map(|f| f.ladder.iter().map(move |r| (*f, r))) {
            for &dtype in &*family.dtypes {
                count += verify(&mut session, driver, &case(family, rung, dtype, Shape::vector(6400), 64, &[]));
            }
            // Those of arithmetic take compilers long.
            let tunables: Vec<_> = rung.tunables().chain(family.choices.iter().copied()).collect();
            for mut set in alone(&tunables).into_iter().filter(|_| family.ceiling.is_memory()) {
                set.push(("nreps", "3"));
                count +=
                    verify(&mut session, driver, &case(family, rung, family.dtypes[0], Shape::vector(8192), 64, &set));
            }
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
            let case =
                case(family, rung, Dtype::F32, Shape { n: 96, m: 64 }, target.max_wg.min(256), &[("nreps", "3")]);
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
            assert_eq!(args.pop(), Some(Arg::Index(0)), "timed over the same data each time");
            args.push(Arg::Index(len as u64));
            let args = args.into_iter().map(|arg| arg.bound(|index| ids[index])).collect();
            let launch =
                Launch { kernel: pass.kernel.clone(), global: pass.global, local: pass.local, args, check: None };
            if let Err(error) = device.run(program, &[launch]) {
                assert!(error.is_refusal(), "{}: {error}", rung.path);
                continue;
            }
            device.read(ids[1], 0, output.as_bytes_mut()).unwrap();
            let movement = family.problem.movement(&case).unwrap();
            let [Array::F32(input), Array::F32(output)] = [&input, &output] else { unreachable!("f32 only") };
            for (input, output) in input.chunks(len).zip(output.chunks(len)) {
                let verdict = check_moved(&Array::F32(output.to_vec()), &Array::F32(input.to_vec()), &movement);
                assert!(verdict.ok, "{}: {:?}", rung.path, verdict.why);
            }
            ids.iter().for_each(|&id| device.free(id));
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
        let family = &kernels::lab::presum::FAMILY;
        let of = |rung: &Rung, n| case(family, rung, Dtype::I32, Shape::vector(n), 8, &[]);
        for n in [64, 65, 127, 320, 383] {
            for rung in &*family.ladder {
                count += verify(&mut session, driver, &of(rung, n));
            }
        }
        assert_eq!(verify(&mut session, driver, &of(family.rung("guard").unwrap(), 63)), 0, "no whole group");
        let settings = Settings {
            warmup: 0,
            min_runs: 1,
            max_runs: 1,
            min_time: 0.0,
            timeout: 1.0,
            max_noise: 0.05,
            cache: Cache::Warm,
            clock: Clock::Event,
            least_time: None,
            candidate: None,
        };
        for (variant, rest, is_timed) in [("host", 0, false), ("host", 1, true), ("device", 1, false)] {
            let outcome = session.run(&of(family.rung(variant).unwrap(), 128 + rest), &settings);
            assert_eq!(outcome.status(), Status::Ok, "{}", outcome.reason());
            let host_tail = outcome.measured().and_then(|m| m.host_tail);
            assert_eq!(host_tail.is_some_and(|s| s > 0.0), is_timed, "{variant}, rest {rest}");
        }
        count
    });
}
