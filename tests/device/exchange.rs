//! What goes on between host and device, on real drivers: every kind of it moves and computes what it should.

use crate::drivers::{on_a_real_driver, on_every_driver, on_every_real_driver, open, session};
use crate::skips;
use crate::sources::edited_kernels;
use gpulab::exchange::{self, EXCHANGES, case, exchange};
use gpulab::kernels::Sources;
use gpulab::outcome::{Cache, Clock, Settings, Status};
use gpulab::runner::Session;

const SETTINGS: Settings = Settings {
    warmup: 0,
    min_runs: 1,
    max_runs: 2,
    min_time: 0.0,
    timeout: 1.0,
    max_noise: 1.0,
    cache: Cache::Warm,
    clock: Clock::Event,
    least_time: None,
    candidate: None,
};

/// Settings that make each kind take all of its ways.
const SETS: [&[(&str, u64)]; 3] = [
    &[],
    &[
        (exchange::PIECE, 68),
        (exchange::CHUNKS_SET, 3),
        (exchange::QUEUES_SET, 2),
        (exchange::PASSES_SET, 3),
    ],
    &[
        (exchange::PIECE, 4000),
        (exchange::CHUNKS_SET, 7),
        (exchange::QUEUES_SET, 4),
        (exchange::STEPS_SET, 100),
    ],
];

#[test]
fn every_exchange_is_right() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        // A simulator interprets each instruction, and llvmpipe compiles kernels anew for each launch.
        let (sizes, sets): (&[u64], _) = match driver {
            "oclgrind" | "rusticl" => (&[1000], &SETS[1..2]),
            _ => (&[7, 1000, 100_003], &SETS[..]),
        };
        let mut count = 0;
        for exchange in EXCHANGES {
            for variant in [exchange.by_wall, exchange.by_events].concat() {
                for (&n, set) in sizes
                    .iter()
                    .flat_map(|n| sets.iter().map(move |set| (n, set)))
                {
                    count += skips::run(
                        &mut session,
                        driver,
                        &case(exchange, variant, n, set, 3),
                        |session, case| {
                            let outcome = session.run(case, &SETTINGS);
                            assert!(
                                outcome.samples().iter().all(|s| s.wall > 0.0),
                                "{}",
                                exchange.name
                            );
                            outcome.end.map(drop)
                        },
                    );
                }
            }
        }
        count
    });
}

#[test]
fn what_does_not_fit_is_skipped_with_the_sum() {
    on_every_real_driver(|driver| {
        let mut session = session(driver, None);
        let outcome = session.run(
            &case(&exchange::TRANSFER, "pinned_in", 1 << 50, &[], 1),
            &SETTINGS,
        );
        assert_eq!(outcome.status(), Status::Skipped, "{}", outcome.reason());
        assert!(
            outcome.reason().contains(&(1u64 << 52).to_string()),
            "{}",
            outcome.reason()
        );
        let odd = session.run(
            &case(
                &exchange::PIPELINE,
                exchange::CHUNKS,
                2,
                &[(exchange::CHUNKS_SET, 3)],
                1,
            ),
            &SETTINGS,
        );
        assert!(
            odd.status() == Status::Skipped && odd.reason().contains("3 chunks of 2 words"),
            "{}",
            odd.reason()
        );
        2
    });
}

#[test]
fn wrong_kernels_are_found() {
    const MISTAKES: [(&str, &str, &str, &str, &str); 6] = [
        (
            "exchange/launch/count.cl",
            "launches[0]++",
            "launches[0] = 7",
            "launch",
            exchange::EVENT,
        ),
        (
            "exchange/launch/halve.cl",
            "i + half_ < n",
            "i + half_ + 1 < n",
            "launch",
            exchange::HALVING,
        ),
        (
            "exchange/launch/tree.cl",
            "i < end",
            "i + 1 < end",
            "launch",
            exchange::TREE,
        ),
        (
            "exchange/pipeline/mix.cl",
            "s < steps",
            "s + 1 < steps",
            "pipeline",
            exchange::CHUNKS,
        ),
        (
            "exchange/pipeline/mix.cl",
            "out[first + id]",
            "out[id]",
            "pipeline",
            exchange::CHUNKS,
        ),
        (
            "exchange/zerocopy/passes.cl",
            "pass < repeats",
            "pass < 1",
            "zerocopy",
            exchange::IN_PLACE,
        ),
    ];
    on_a_real_driver(|driver| {
        for (file, from, to, name, variant) in MISTAKES {
            let edited = edited_kernels(file, from, to);
            let sources = Sources {
                dir: Some(edited.path().into()),
            };
            let mut session = Session::new(Box::new(open(driver)), sources, None);
            let outcome = session.run(
                &case(exchange(name).unwrap(), variant, 1000, SETS[1], 1),
                &SETTINGS,
            );
            assert_eq!(
                outcome.status(),
                Status::WrongResult,
                "{file}: {to}: {}",
                outcome.reason()
            );
            assert!(outcome.samples().is_empty(), "no verdict, no number");
        }
        MISTAKES.len()
    });
}
