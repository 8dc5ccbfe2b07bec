//! The canary on real drivers: it is measured, its result checked, and a simulator is spared it.

use crate::drivers::{on_every_driver, on_every_real_driver, open, session};
use crate::sources::edited_kernels;
use gpulab::data::{Dtype, Params, Shape};
use gpulab::kernels::Sources;
use gpulab::outcome::{Cache, Clock, Outcome, Settings, Status};
use gpulab::plan::{Case, WorkGroup};
use gpulab::runner::Session;

const SETTINGS: Settings = Settings {
    warmup: 0,
    min_runs: 3,
    max_runs: 3,
    min_time: 0.0,
    timeout: 1.0,
    max_noise: 0.05,
    cache: Cache::Warm,
    clock: Clock::Event,
    least_time: None,
    candidate: None,
};

fn run(session: &mut Session) -> Outcome {
    let case = Case {
        family: "dot".into(),
        variant: "naive".into(),
        dtype: Dtype::I32,
        shape: Shape::vector(1000),
        wg: WorkGroup::linear(8),
        params: Params::new(),
        seed: 1,
    };
    session.run(&case, &SETTINGS)
}

#[test]
fn every_case_has_its_canary() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        for _ in 0..2 {
            let outcome = run(&mut session);
            assert_eq!(outcome.status(), Status::Ok, "{}", outcome.reason());
            assert_eq!(
                outcome.measured().and_then(|m| m.canary).is_none(),
                driver == "oclgrind",
                "{:?}",
                outcome.measured().and_then(|m| m.canary)
            );
            assert!(
                outcome
                    .measured()
                    .and_then(|m| m.canary)
                    .is_none_or(|c| c.ratio >= 1.0 && c.fastest > 0.0),
                "{:?}",
                outcome.measured().and_then(|m| m.canary)
            );
        }
        2
    });
}

#[test]
fn a_canary_that_skips_a_step_is_found() {
    on_every_real_driver(|driver| {
        let kernels = edited_kernels("runner/canary.cl", "i = 0;", "i = 1;");
        let sources = Sources {
            dir: Some(kernels.path().to_owned()),
        };
        let outcome = run(&mut Session::new(Box::new(open(driver)), sources, None));
        assert_eq!(outcome.status(), Status::Failed);
        assert!(
            outcome.reason().contains("runner/canary.cl: item 0"),
            "{}",
            outcome.reason()
        );
        1
    });
}
