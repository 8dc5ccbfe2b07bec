//! Inputs that the device draws itself: they are those that the host makes, a driver that draws wrongly is found, and so is
//! every kernel that the checks find over data of the host.

use crate::drivers::{on_a_real_driver, on_every_real_driver, open, session};
use crate::skips::verify;
use crate::sources::edited_kernels;
use gpulab::data::{Dtype, Params, Shape};
use gpulab::kernels::{Sources, dot, reduce};
use gpulab::outcome::{Cache, Clock, Outcome, Settings, Status};
use gpulab::plan::{Case, WorkGroup};
use gpulab::runner::Session;
use std::fs;
use tempfile::TempDir;

const SETTINGS: Settings = Settings {
    warmup: 1,
    min_runs: 5,
    max_runs: 5,
    min_time: 0.0,
    timeout: 1.0,
    max_noise: 0.05,
    cache: Cache::Warm,
    clock: Clock::Event,
    least_time: None,
    candidate: None,
};

/// More than a block of the host's, and no multiple of anything.
const N: u64 = 65_536 + 4_099;

fn case(family: &str, variant: &str, dtype: Dtype, n: u64, op: Option<&str>) -> Case {
    let params = op.map(|op| ("op".to_owned(), op.to_owned())).into_iter().collect::<Params>();
    let (family, variant, shape) = (family.into(), variant.into(), Shape::vector(n));
    Case { family, variant, dtype, shape, wg: WorkGroup::linear(64), params, seed: 1 }
}

/// A session whose device draws everything that it can.
fn drawing(driver: &str, sources: Sources) -> Session {
    let mut session = Session::new(Box::new(open(driver)), sources, None);
    session.hold_at_most(0);
    session
}

fn run_edited(driver: &str, kernels: &TempDir, case: &Case) -> Outcome {
    drawing(driver, Sources { dir: Some(kernels.path().to_owned()) }).run(case, &SETTINGS)
}

/// Every operation on every element type, so that all kinds of data are drawn; each is compared with the host's on the way.
#[test]
fn all_kinds_of_data_are_drawn_as_the_host_makes_them() {
    on_every_real_driver(|driver| {
        let mut session = drawing(driver, Sources::default());
        let ops = ["sum", "min", "max", "and", "or", "xor"];
        let mut count = 0;
        let reduce = reduce::FAMILY.dtypes.iter().flat_map(|&dtype| ops.iter().map(move |&op| (dtype, op)));
        let of_bits = |op: &str| ["and", "or", "xor"].contains(&op);
        let reduce = reduce.filter(|(dtype, op)| !(dtype.is_float() && of_bits(op)));
        let dot = dot::FAMILY.dtypes.iter().map(|&dtype| ("dot", dtype, None));
        let kinds: Vec<_> = reduce.map(|(dtype, op)| ("reduce", dtype, Some(op))).chain(dot).collect();
        // PoCL draws all of them, the others, whose compilers take long, those of the scalar product.
        for (family, dtype, op) in kinds.into_iter().filter(|(family, ..)| driver == "pocl" || *family == "dot") {
            for n in [63, N] {
                count += verify(&mut session, driver, &case(family, "wide", dtype, n, op));
            }
        }
        count
    });
}

#[test]
fn who_makes_the_data_changes_no_result() {
    on_every_real_driver(|driver| {
        let (mut drawn, mut held) = (drawing(driver, Sources::default()), session(driver, None));
        let has_doubles = held.device().info().target.fp64;
        let last = if has_doubles { Dtype::F64 } else { Dtype::I64 };
        let rungs = [("dot", "vectorised", Dtype::F32), ("dot", "local", Dtype::I32), ("reduce", "wide", last)];
        for (family, variant, dtype) in rungs {
            let case = case(family, variant, dtype, N, None);
            let [drawn, held] = [&mut drawn, &mut held].map(|session| session.run(&case, &SETTINGS));
            let [one, other] = [&drawn, &held].map(|outcome| {
                let measured = outcome.measured().unwrap_or_else(|| panic!("{case:?}: {}", outcome.reason()));
                (format!("{:?}", measured.result), measured.tol)
            });
            assert_eq!(one, other, "{case:?}");
            let whole = [&drawn, &held].map(|outcome| outcome.measured().unwrap().end_to_end.is_some());
            assert_eq!(whole, [false, true], "the host sends nothing that it does not hold");
        }
        rungs.len()
    });
}

/// What a driver that miscompiles, or a memory that forgets, makes of the data. The same mistake in the print hides nothing.
#[test]
fn data_that_were_drawn_wrongly_are_found() {
    const DRAWN: &str = "elements[i] = element(draw(key, i), draw(~key, i));";
    on_a_real_driver(|driver| {
        let edits: [(&str, &str, String); 6] = [
            ("one element far from any sample", DRAWN, format!("if (i != 47777) {DRAWN}")),
            (
                "two elements exchanged",
                DRAWN,
                DRAWN.replace("(key, i)", "(key, i == 40000 ? 40001 : i == 40001 ? 40000 : i)"),
            ),
            ("the last one", "EACH_TURN(i, n)", "EACH_TURN(i, n - 1)".into()),
            ("another key", DRAWN, DRAWN.replace("(key, i)", "(key + 1, i)")),
            ("indices of 16 bits", DRAWN, DRAWN.replace("(key, i)", "(key, (ushort)i)")),
            ("nothing at all", DRAWN, ";".into()),
        ];
        for (what, from, to) in &edits {
            let outcome = run_edited(
                driver,
                &edited_kernels("runner/draw.cl", from, to),
                &case("dot", "wide", Dtype::F32, N, None),
            );
            assert_eq!(outcome.status(), Status::Failed, "{what}");
            assert!(outcome.reason().contains("test data differ from the host's"), "{what}: {}", outcome.reason());
        }
        // The same mistake in both kernels: work-items end too early.
        let kernels = edited_kernels("common/turns.cl", "i < end_; i++", "i < end_ && i < 4000; i++");
        let path = kernels.path().join("common/turns.cl");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace("i < (n); i +=", "i < (n) && i < 4000; i +=")).unwrap();
        let outcome = run_edited(driver, &kernels, &case("dot", "wide", Dtype::F32, N, None));
        assert_eq!(outcome.status(), Status::Failed);
        edits.len() + 1
    });
}

/// Each would pass if the checks over data of the device were fewer.
#[test]
fn wrong_kernels_are_found_over_drawn_data_too() {
    const SUM: &str = "sum = MULADD(x[i], y[i], sum);";
    const END: &str = "partial[id] = sum;";
    on_a_real_driver(|driver| {
        let edits: [(&str, &str, String, &str); 7] = [
            ("drops the last of each item", "i < end; i++", "i + 1 < end; i++".into(), "got"),
            ("drops one in the middle", SUM, format!("if (i != n / 3) {SUM}"), "got"),
            ("takes one twice", SUM, format!("{{ {SUM} if (i == n / 3) {SUM} }}"), "got"),
            ("takes no notice of what is not finite", SUM, format!("if (isfinite(x[i])) {SUM}"), "only element"),
            (
                "changes its input",
                END,
                format!("{END} if (begin <= n / 2 && n / 2 < end) ((__global T *)x)[n / 2] += 1;"),
                "changed its input 0",
            ),
            (
                "changes the last bit of its other input",
                END,
                format!("{END} if (begin < end && end == n) ((__global uint *)y)[n - 1] ^= 1;"),
                "changed its input 1",
            ),
            ("works only where it finds poison", END, format!("if (as_uint(partial[id]) == 0x7fc0deadu) {END}"), "got"),
        ];
        for (what, from, to, reason) in &edits {
            let outcome = run_edited(
                driver,
                &edited_kernels("dot/naive.cl", from, to),
                &case("dot", "naive", Dtype::F32, N, None),
            );
            assert_eq!(outcome.status(), Status::WrongResult, "{what}: {}", outcome.reason());
            assert!(outcome.reason().contains(reason), "{what}: {}", outcome.reason());
        }
        let kernels = edited_kernels("reduce/sequential.cl", "i < n ? x[i]", "i < n && i != n / 3 ? x[i]");
        for op in ["sum", "min", "or"] {
            let outcome = run_edited(driver, &kernels, &case("reduce", "sequential", Dtype::I32, N, Some(op)));
            assert_eq!(outcome.status(), Status::WrongResult, "{op}: {}", outcome.reason());
        }
        edits.len() + 3
    });
}
