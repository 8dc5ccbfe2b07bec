//! The transposition's kernels on real drivers: shapes, tilings, types, pitches, and the loop inside the kernel.

use crate::drivers::{
    alone, is_mine, is_turn, is_whole, on_every_driver, on_every_real_driver, open, session, together,
};
use crate::skips::verify;
use gpulab::check::{check_moved, poisoned};
use gpulab::data::{Array, Dtype, Fill, Params, Shape, generate};
use gpulab::device::{BuildUnit, Device, opencl::OpenClDevice};
use gpulab::kernels::{Rung, Sources, transpose::FAMILY};
use gpulab::plan::{Arg, BufferId, Case, Launch, Plan, WorkGroup};

/// Columns and rows: one, primes, multiples of a tile or not.
const MATRICES: [(u64, u64); 10] =
    [(1, 1), (1, 1000), (1000, 1), (16, 16), (17, 31), (65, 47), (128, 130), (257, 255), (1021, 509), (1024, 1024)];
/// Those that a simulator, which interprets each instruction, has time for.
const SMALL: [(u64, u64); 4] = [(1, 1), (1, 40), (17, 31), (65, 47)];

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

#[test]
#[ignore = "long"]
fn every_shape_is_right() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        let max = session.device().info().target.max_wg;
        let small = driver == "oclgrind";
        let mut count = 0;
        for (s, &size) in if small { &SMALL[..] } else { &MATRICES }.iter().enumerate() {
            // Integers are moved as floats of their width are.
            let is_new = |dtype: Dtype| dtype == Dtype::F32 || !small && (dtype == Dtype::F64 || is_whole());
            for &dtype in FAMILY.dtypes.iter().filter(|&&dtype| is_new(dtype)) {
                let has_both = dtype == Dtype::F32 && is_mine(driver, size.0 as usize);
                let wgs: &[usize] = if small || !has_both { &[256] } else { &[64, 256] };
                // Compilers take long: of the other types each driver has some of the kernels.
                let is_meant = |(r, _): &(usize, _)| {
                    small || dtype == Dtype::F32 && is_turn(driver, r + s) || is_mine(driver, r + dtype as usize)
                };
                let kernels = FAMILY.kernels().enumerate().filter(is_meant);
                for (rung, &wg) in kernels.flat_map(|(_, rung)| wgs.iter().map(move |wg| (rung, wg))) {
                    count += verify(&mut session, driver, &case(rung, dtype, size, wg.min(max), &[]));
                }
            }
        }
        count
    });
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

#[test]
#[ignore = "long"]
fn every_tiling_is_right() {
    on_every_real_driver(|driver| {
        let mut session = session(driver, None);
        let wg = session.device().info().target.max_wg.min(256);
        let (mut count, mut tried) = (0, 0);
        for (r, rung) in FAMILY.kernels().enumerate() {
            let axes: Vec<_> = rung.tunables().chain(FAMILY.choices.iter().copied()).collect();
            // Not every value of these goes with every other.
            let is_particular = ["registers", "wide"].contains(&rung.variant());
            let sets = if is_particular { alone(&axes) } else { together(&axes) };
            let ragged = sets.into_iter().map(|set| (Dtype::F32, (131, 67), set));
            // Of four pairs of sides two, other ones for the next rung.
            let several = ["16", "32"].into_iter().flat_map(|tile| ["4", "8"].map(|rows| (tile, rows)));
            let several = several.enumerate().filter(|(i, _)| is_whole() || (i % 2 + i / 2 + r).is_multiple_of(2));
            let several = several
                .map(|(_, (tile, rows))| vec![("tile", tile), ("rows", rows), ("gap", "3"), ("order", "diagonal")]);
            let even = several.map(|set| (Dtype::F64, (192, 128), set));
            for (dtype, size, set) in ragged.chain(even) {
                tried += 1;
                if !is_mine(driver, tried) {
                    continue;
                }
                let of = |set: &[(&str, &str)]| case(rung, dtype, size, wg, set);
                let ran = verify(&mut session, driver, &of(&set));
                count += ran;
                // What cannot go together is tried apart.
                if ran == 0 && dtype == Dtype::F32 {
                    count += set.iter().map(|&one| verify(&mut session, driver, &of(&[one]))).sum::<usize>();
                }
            }
        }
        count
    });
}

/// Rows of the output that begin anywhere beside a whole vector, in matrices of less than a tile, of a rest, and of many.
#[test]
#[ignore = "long"]
fn skewed_tiles_are_right() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        let sizes = [(1, 1), (1, 9), (5, 31), (33, 71), (131, 67), (257, 1023)];
        let sizes = if driver == "oclgrind" { &sizes[..4] } else { &sizes[..] };
        let mut count = 0;
        // The simulator takes long, and what is wider or an integer moves alike.
        let dtypes = if driver == "oclgrind" && !is_whole() { &FAMILY.dtypes[..1] } else { &FAMILY.dtypes };
        for &dtype in dtypes {
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
#[ignore = "long"]
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
    ids.iter().for_each(|&id| device.free(id));
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
