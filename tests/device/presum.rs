//! The kernels of the experiment `presum` on real drivers: sizes around whole numbers of groups, and what is counted.

use crate::drivers::{on_every_driver, session};
use crate::skips::verify;
use gpulab::data::{Dtype, Params, Shape};
use gpulab::kernels;
use gpulab::outcome::{Cache, Clock, Settings, Status};
use gpulab::plan::{Case, WorkGroup};

/// Elements of a group of the small work-group used here.
const BLOCK: u64 = 64;

fn case(variant: &str, n: u64) -> Case {
    Case {
        family: "presum".into(),
        variant: variant.into(),
        dtype: Dtype::I32,
        shape: Shape::vector(n),
        wg: WorkGroup::linear(8),
        params: Params::new(),
        seed: 1,
    }
}

#[test]
#[ignore = "long"]
fn every_remedy_adds_every_element_once() {
    on_every_driver(|driver| {
        let (mut session, mut count) = (session(driver, None), 0);
        let sizes = [1, 2, 5].map(|blocks| [0, 1, BLOCK / 2, BLOCK - 1].map(|rest| blocks * BLOCK + rest));
        for n in sizes.into_iter().flatten() {
            for rung in &*kernels::lab::presum::FAMILY.ladder {
                count += verify(&mut session, driver, &case(rung.variant(), n));
            }
        }
        assert_eq!(verify(&mut session, driver, &case("guard", BLOCK - 1)), 0, "no whole group");
        count
    });
}

#[test]
#[ignore = "long"]
fn only_a_host_that_adds_is_timed() {
    on_every_driver(|driver| {
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
        let mut session = session(driver, None);
        for (variant, rest, is_timed) in [("host", 0, false), ("host", 1, true), ("device", 1, false)] {
            let outcome = session.run(&case(variant, 2 * BLOCK + rest), &settings);
            assert_eq!(outcome.status(), Status::Ok, "{}", outcome.reason());
            assert_eq!(
                outcome.measured().and_then(|m| m.host_tail).is_some_and(|s| s > 0.0),
                is_timed,
                "{variant}, rest {rest}"
            );
        }
        3
    });
}
