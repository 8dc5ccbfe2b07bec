//! The kernels that are experiments' own, on real drivers: every setting that a plan asks for, at small sizes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod drivers;

use drivers::{on_every_driver, session};
use gpulab::experiments::{EXPERIMENTS, Scope};
use gpulab::kernels::{Case, REPEATS, Target, WorkGroup};
use gpulab::runner::Status;

/// What a simulator, which interprets each instruction, can do too.
const SMALL: u64 = 1024;
const FEW: u64 = 2;

/// The plans' cases of the experiments' own families for this device and for one of the other shape, cut down, each once.
fn cases(target: &Target) -> Vec<Case> {
    let shapes = [true, false].map(|gpu| Target { gpu, ..target.clone() });
    let scopes = shapes.iter().map(|target| Scope { target, quick: true, seed: 1 });
    let plans = scopes.flat_map(|scope| EXPERIMENTS.iter().flat_map(move |e| e.plan(&scope)));
    let is_own = |case: &Case| EXPERIMENTS.iter().flat_map(|e| e.families()).any(|f| f.name == case.family);
    let mut all: Vec<Case> = Vec::new();
    for mut case in plans.map(|trial| trial.case).filter(is_own) {
        case.shape.n = case.shape.n.min(SMALL);
        case.wg = WorkGroup::linear(case.wg.size().min(64));
        if let Some(rounds) = case.params.get_mut(REPEATS) {
            *rounds = rounds.parse::<u64>().unwrap().min(FEW).to_string();
        }
        if !all.contains(&case) {
            all.push(case);
        }
    }
    all
}

#[test]
fn every_kernel_of_the_experiments_is_right() {
    on_every_driver("every_kernel_of_the_experiments_is_right", |driver| {
        let mut session = session(driver, None);
        let mut cases = cases(&session.device().info().target.clone());
        // Oclgrind 21.10 takes what an image gives for uninitialised, now and then and at constant coordinates too.
        let reads_images = |case: &Case| ["line", "plane", "modes"].contains(&case.variant.as_str());
        cases.retain(|case| driver != "oclgrind" || !reads_images(case));
        for case in &cases {
            let outcome = session.verify(case);
            let is_told = outcome.status == Status::Skipped && !outcome.reason.is_empty();
            assert!(outcome.status == Status::Ok || is_told, "{case:?}: {}", outcome.reason);
        }
        cases.len()
    });
}
