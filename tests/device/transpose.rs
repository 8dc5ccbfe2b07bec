//! The transposition's kernels on real drivers: folded launches, skewed tiles, and the loop inside the kernel.

use crate::drivers::{on_every_driver, on_every_real_driver, open, session};
use crate::skips::verify;
use gpulab::check::{check_moved, poisoned};
use gpulab::data::{Array, Dtype, Fill, Params, Shape, generate};
use gpulab::device::{BuildUnit, Device, opencl::OpenClDevice};
use gpulab::kernels::{Rung, Sources, transpose::FAMILY};
use gpulab::plan::{Arg, BufferId, Case, Launch, Plan, WorkGroup};

fn case(rung: &Rung, dtype: Dtype, (n, m): (u64, u64), wg: usize, params: &[(&str, &str)]) -> Case {
    Case {
        family: FAMILY.name.to_string(),
        variant: rung.variant().into(),
        dtype,
        shape: Shape { n, m },
        wg: WorkGroup::linear(wg),
        params: params.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Params>(),
        seed: 1,
    }
}

/// So many rows of tiles that they are folded into the third dimension of the launch.
#[test]
fn folded_launches_are_right() {
    on_every_real_driver(|driver| {
        let mut session = session(driver, None);
        let wg = session.device().info().target.max_wg.min(64);
        let orders = ["rows", "columns", "diagonal"].map(|order| (FAMILY.rung("diagonal").unwrap(), order));
        let cases =
            orders.into_iter().flat_map(|(rung, order)| [(rung, order, (3, 300_000)), (rung, order, (300_000, 3))]);
        cases
            .map(|(rung, order, size)| {
                let set = [("tile", "4"), ("rows", "4"), ("order", order)];
                verify(&mut session, driver, &case(rung, Dtype::F32, size, wg, &set))
            })
            .sum()
    });
}

/// Rows of the output that begin anywhere beside a whole vector, in matrices of less than a tile, of a rest, and of many.
#[test]
fn skewed_tiles_are_right() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        let sizes = [(1, 1), (1, 9), (5, 31), (33, 71), (131, 67), (257, 1023)];
        let sizes = if driver == "oclgrind" { &sizes[..4] } else { &sizes[..] };
        let mut count = 0;
        for &dtype in if driver == "pocl" { &*FAMILY.dtypes } else { &FAMILY.dtypes[..1] } {
            for (&size, order) in sizes.iter().zip(["rows", "columns", "diagonal"].into_iter().cycle()) {
                let set = [("skew", "1"), ("tile", "32"), ("order", order)];
                let rung = FAMILY.rung("registers").unwrap();
                count += verify(&mut session, driver, &case(rung, dtype, size, 256, &set));
                count += verify(&mut session, driver, &case(rung, dtype, size, 256, &[set[0], set[1], ("gap", "3")]));
            }
        }
        count
    });
}

/// A compiler could see that a kernel that repeats its work does the same again and again, and leave that out. The
/// very program that is timed is given other data for each repetition here: all of them must be moved.
#[test]
fn the_loop_inside_the_kernel_is_carried_out() {
    on_every_driver(|driver| {
        let mut device = open(driver);
        let wg = device.info().target.max_wg.min(256);
        let cases = FAMILY.kernels().map(|rung| (rung, case(rung, Dtype::F32, (96, 64), wg, &[("nreps", "3")])));
        cases.map(|(rung, case)| usize::from(repeats_its_work(&mut device, rung, &case))).sum()
    });
}

fn repeats_its_work(device: &mut OpenClDevice, rung: &Rung, case: &Case) -> bool {
    const REPEATS: usize = 3;
    let target = device.info().target.clone();
    let plan = FAMILY.plan(rung, case, &target).unwrap();
    let text = Sources::default().for_plan(rung, &plan).unwrap();
    let unit =
        BuildUnit { path: rung.path.to_string(), text, defines: plan.defines.clone(), kernels: vec![rung.kernel()] };
    let program = device.build(&unit).unwrap();
    let len = plan.buffers[0].len;
    let input = generate(Fill::Bits, case.dtype, 1, 0, 0, REPEATS * len);
    let mut output = poisoned(case.dtype, REPEATS * len);
    let ids = [&input, &output].map(|array| {
        let id = device.alloc(array.as_bytes().len()).unwrap();
        device.write(id, 0, array.as_bytes()).unwrap();
        id
    });
    let launch = launch(&plan, ids, len as u64);
    if let Err(error) = device.run(program, &[launch]) {
        assert!(error.is_refusal(), "{}: {error}", rung.path);
        return false;
    }
    device.read(ids[1], 0, output.as_bytes_mut()).unwrap();
    let movement = FAMILY.problem.movement(case).unwrap();
    for repeat in 0..REPEATS {
        let verdict = check_moved(&part(&output, repeat, len), &part(&input, repeat, len), &movement);
        assert!(verdict.ok, "{}, repetition {repeat}: {:?}", rung.path, verdict.why);
    }
    ids.iter().for_each(|&id| device.free(id.0));
    true
}

/// The plan's launch, with data that begin `skip` elements further in each repetition.
fn launch(plan: &Plan, ids: [BufferId; 2], skip: u64) -> Launch {
    let pass = &plan.passes[0];
    let mut args = pass.args.clone();
    assert_eq!(args.pop(), Some(Arg::Index(0)), "timed over the same data each time");
    args.push(Arg::Index(skip));
    let args = args.into_iter().map(|arg| arg.bound(|index| ids[index])).collect();
    Launch { kernel: pass.kernel.clone(), global: pass.global, local: pass.local, args, check: None }
}

fn part(array: &Array, index: usize, len: usize) -> Array {
    let Array::F32(values) = array else { unreachable!("f32 only") };
    Array::F32(values[index * len..][..len].to_vec())
}
