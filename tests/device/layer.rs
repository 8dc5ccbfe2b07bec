//! The device layer against every driver: builds, launches, copies, and what is refused.

use crate::drivers::{on_every_driver, on_one_driver, open};
use gpulab::device::{BuildUnit, Device, DeviceError, ProgramId, opencl::OpenClDevice};
use gpulab::exchange::EXCHANGES;
use gpulab::experiments::{EXPERIMENTS, Scope, Trial};
use gpulab::kernels::{self, Assembled, assemble, assemble_rung, embedded};
use gpulab::plan::{Arg, BufferId, Launch};

const SOURCE: &str = "#line 1 \"test/scale.cl\"
__kernel void scale(__global uint *out, INDEX n, uint factor, __local uint *tile) {
    size_t l = get_local_id(0);
    tile[l] = (uint)get_global_id(0) * factor;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_global_id(0) < n)
        out[get_global_id(0)] = tile[l];
}
";

fn unit(text: &str, index: &str, kernels: &[&str]) -> BuildUnit {
    BuildUnit {
        path: "test/scale.cl".to_owned(),
        text: text.to_owned(),
        defines: vec![("INDEX".to_owned(), index.to_owned())],
        kernels: kernels.iter().map(|&k| k.to_owned()).collect(),
    }
}

fn scale(out: BufferId, n: u64, factor: u32, local: usize) -> Launch {
    Launch {
        kernel: "scale".to_owned(),
        global: [64, 1, 1],
        local: [local, 1, 1],
        args: vec![
            Arg::Buffer(out),
            Arg::Index(n),
            Arg::Uint(factor),
            Arg::Local(4 * local),
        ],
        timed: true,
        check: None,
    }
}

fn built(device: &mut OpenClDevice, index: &str) -> ProgramId {
    device
        .build(&unit(SOURCE, index, &["scale"]))
        .expect("the kernel builds")
}

fn words(device: &mut OpenClDevice, buffer: gpulab::plan::BufferId) -> Vec<u32> {
    let mut bytes = [0; 256];
    device.read(buffer, 0, &mut bytes).unwrap();
    bytes
        .chunks_exact(4)
        .map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

#[test]
fn launches_get_their_arguments_in_both_index_widths() {
    on_every_driver(|driver| {
        let mut device = open(driver);
        let buffer = device.alloc(256).unwrap();
        for index in ["uint", "ulong"] {
            device.write(buffer, 0, &[0xFF; 256]).unwrap();
            let program = built(&mut device, index);
            let timing = device.run(program, &[scale(buffer, 40, 3, 16)]).unwrap();
            assert!(timing.wall_s > 0.0);
            assert!(timing.stamps.len() <= 1);
            let expected: Vec<u32> = (0..64)
                .map(|i| if i < 40 { 3 * i } else { u32::MAX })
                .collect();
            assert_eq!(words(&mut device, buffer), expected, "{index}");
        }
        1
    });
}

#[test]
fn launches_of_one_kernel_keep_their_own_arguments() {
    on_every_driver(|driver| {
        let mut device = open(driver);
        let (first, second) = (device.alloc(256).unwrap(), device.alloc(256).unwrap());
        let program = built(&mut device, "uint");
        let launches = [scale(first, 64, 1, 8), scale(second, 64, 2, 16)];
        device.run(program, &launches).unwrap();
        assert_eq!(
            (words(&mut device, first)[9], words(&mut device, second)[9]),
            (9, 18)
        );
        assert!(device.batch(program, &launches, 10).unwrap() > 0.0);
        1
    });
}

/// A blocking write returns when the host's memory may be used again, which may be before it has been carried out.
#[test]
fn launches_on_another_queue_find_what_was_written_before() {
    const ROUNDS: u32 = 100;
    on_every_driver(|driver| {
        let mut device = open(driver);
        let buffer = device.alloc(256).unwrap();
        let program = built(&mut device, "uint");
        for factor in 1..=ROUNDS {
            device.write(buffer, 0, &[0xFF; 256]).unwrap();
            device
                .batch(program, &[scale(buffer, 64, factor, 16)], 1)
                .unwrap();
            let expected: Vec<u32> = (0..64).map(|i| factor * i).collect();
            assert_eq!(words(&mut device, buffer), expected, "round {factor}");
        }
        ROUNDS as usize
    });
}

#[test]
fn a_failed_build_says_where() {
    on_every_driver(|driver| {
        let mut device = open(driver);
        let error = device
            .build(&unit(
                &SOURCE.replace("tile[l] =", "missing[l] ="),
                "uint",
                &["scale"],
            ))
            .unwrap_err();
        let DeviceError::Build { log } = &error else {
            panic!("{error}")
        };
        assert!(error.is_build() && log.contains("missing"), "{log}");
        let place = match device.info().platform.as_str() {
            // It counts the lines of the text that it was given, whatever `#line` says,
            "Oclgrind" => ":4:5",
            // and this one begins with the line after the next.
            "NVIDIA CUDA" => "test/scale.cl:4:5",
            _ => "test/scale.cl:3:5",
        };
        assert!(log.contains(place), "{log}");
        1
    });
}

const TILED: &str = "__kernel void tiled(__global uint *out) {
    __local uint tile[64];
    tile[get_local_id(0)] = out[get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - get_local_id(0)];
}
__kernel void plain(__global uint *out) { out[get_global_id(0)] = 1; }";

/// Local memory is told by all drivers but old PoCL, which says 0, registers by those that take NVIDIA's options: each time, though drivers keep what
/// they have built.
#[test]
fn an_inspected_unit_tells_of_each_kernel() {
    on_every_driver(|driver| {
        let mut device = open(driver);
        let unit = unit(TILED, "uint", &["plain", "tiled"]);
        let tells = device.info().extensions.contains("cl_nv_compiler_options");
        for _ in 0..2 {
            let told = device.inspect(&unit).unwrap();
            let local: Vec<u64> = told.iter().map(|told| told.own_local.unwrap()).collect();
            let is_untold =
                device.info().platform == "Portable Computing Language" && local == [0, 0];
            assert!(
                is_untold || local.len() == 2 && local[0] < 256 && local[1] >= 256,
                "{told:?}"
            );
            assert!(
                told.iter().all(|told| told.registers.is_some() == tells),
                "{told:?}"
            );
        }
        assert!(
            device
                .inspect(&BuildUnit {
                    text: "no kernel".into(),
                    ..unit
                })
                .unwrap_err()
                .is_build()
        );
        1
    });
}

#[test]
fn copies_stay_inside_their_buffers() {
    on_every_driver(|driver| {
        let mut device = open(driver);
        let (a, b) = (device.alloc(8).unwrap(), device.alloc(4).unwrap());
        device.write(a, 0, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        device.copy(a, b, 4).unwrap();
        let mut bytes = [0; 4];
        device.read(b, 0, &mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 3, 4]);
        device.read(a, 4, &mut bytes).unwrap();
        assert_eq!(bytes, [5, 6, 7, 8]);
        assert!(device.read(a, 5, &mut bytes).is_err());
        assert!(device.write(b, usize::MAX, &bytes).is_err());
        assert!(device.copy(a, b, 8).is_err());
        device.write(a, 8, &[]).expect("nothing fits everywhere");
        device.free(b.0);
        assert!(device.read(b, 0, &mut bytes).is_err());
        assert!(device.alloc(0).is_err());
        1
    });
}

#[test]
fn impossible_launches_are_errors_that_say_why() {
    on_every_driver(|driver| {
        let mut device = open(driver);
        let buffer = device.alloc(256).unwrap();
        let program = built(&mut device, "uint");
        let good = scale(buffer, 64, 1, 16);
        let mut run = |change: &dyn Fn(&mut Launch)| {
            let mut launch = good.clone();
            change(&mut launch);
            device.run(program, &[launch]).unwrap_err()
        };
        assert!(
            run(&|l| l.kernel = "other".to_owned())
                .to_string()
                .contains("no kernel `other`")
        );
        assert!(
            run(&|l| l.args.truncate(3))
                .to_string()
                .contains("has 4 arguments and was given 3")
        );
        assert!(
            run(&|l| l.args[0] = Arg::Buffer(BufferId(4711)))
                .to_string()
                .contains("argument 0 of `scale`")
        );
        assert!(
            run(&|l| l.args[1] = Arg::Index(1 << 32))
                .to_string()
                .contains("32-bit index")
        );
        assert_eq!(run(&|l| l.args[3] = Arg::Local(0)).code(), Some(-51));
        assert!(run(&|l| l.args[3] = Arg::Local(1 << 30)).is_refusal());
        assert!(run(&|l| l.local = [15, 1, 1]).is_refusal());
        assert_eq!(run(&|l| l.global = [0, 1, 1]).code(), Some(-63));
        let large = 1 << 20;
        assert!(run(&|l| (l.global, l.local) = ([large, 1, 1], [large, 1, 1])).is_refusal());
        device
            .run(program, &[good])
            .expect("the device is still sound");
        1
    });
}

/// What a kernel takes from the host by macro is known without a device: each compiles with that, fragments included.
#[test]
fn every_kernel_file_compiles_alone() {
    on_one_driver(|driver| {
        let mut device = open(driver);
        let rungs = kernels::everything()
            .flat_map(|family| family.kernels().map(move |rung| (family, rung)));
        let scope = Scope {
            target: &device.info().target.clone(),
            quick: true,
            seed: 1,
        };
        let trials: Vec<Trial> = EXPERIMENTS
            .iter()
            .flat_map(|experiment| experiment.plan(&scope))
            .collect();
        let rungs = rungs.map(|(family, rung)| {
            let unit = assemble_rung(rung, &embedded).unwrap();
            let given = kernels::given(family, rung, &unit.text);
            // Without settings some rungs of experiments do nothing.
            let of = |t: &&Trial| {
                given.is_empty() && t.case.family == family.name && t.case.variant == rung.variant()
            };
            let asked = trials
                .iter()
                .find(of)
                .and_then(|t| family.plan(rung, &t.case, scope.target).ok());
            (asked.map_or(given, |plan| plan.defines), unit)
        });
        let exchanges = EXCHANGES.iter().flat_map(|e| e.sources);
        let exchanges = exchanges.map(|path| (Vec::new(), assemble(path, &embedded).unwrap()));
        let sources: Vec<_> = rungs.chain(exchanges).collect();
        for (defines, Assembled { path, text }) in &sources {
            let kernels = vec![kernels::entry_point(path)];
            let unit = BuildUnit {
                path: path.clone(),
                text: text.clone(),
                defines: defines.clone(),
                kernels,
            };
            device
                .build(&unit)
                .unwrap_or_else(|error| panic!("{path}: {error}"));
        }
        sources.len()
    });
}
